//! `cargo xtask msrv`: whether `rust-version` is what the dependencies need.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const CRATES: [&str; 2] = ["spanner-derive", "spanner-rows"];

/// What tells users the version.
const DOCUMENTS: [&str; 3] = [
    "README.md",
    "spanner-derive/README.md",
    "spanner-rows/src/guide/promises.md",
];

/// Major, minor and patch.
type Version = (u64, u64, u64);

/// Fails unless the minimum Rust version of the workspace is the highest of those that the
/// dependencies of the published crates have in their manifests, with all features.
pub(crate) fn check() -> Result<(), Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let arguments = [
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--all-features",
    ];
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(&root)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let (version, verdict) = judge(&serde_json::from_slice(&output.stdout)?)?;
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root.join(document))?;
        // Not as the beginning of another one.
        let mut behind = text.split(&*version).skip(1);
        if !behind.any(|rest| !rest.starts_with(|c: char| c.is_ascii_digit())) {
            return Err(format!("{document} does not say that rust-version is {version}").into());
        }
    }
    println!("{verdict}");
    Ok(())
}

/// The version and what holds, or what is wrong, in words.
fn judge(metadata: &Value) -> Result<(String, String), String> {
    let packages = list(&metadata["packages"]).map(|package| (text(&package["id"]), package));
    let packages = packages.collect::<BTreeMap<_, _>>();
    let own = |id: &&str| CRATES.contains(&text(&packages[id]["name"]));
    let roots = packages.keys().copied().filter(own).collect::<Vec<_>>();
    let mut declared = BTreeSet::new();
    for id in &roots {
        let package = packages[id];
        let version = version(package)
            .ok_or_else(|| format!("{} has no rust-version", text(&package["name"])))?;
        declared.insert(version);
    }
    let [declared] = declared.into_iter().collect::<Vec<_>>()[..] else {
        return Err("the crates have not one rust-version".to_owned());
    };

    let reached = reached(metadata, &roots);
    let others = reached
        .iter()
        .filter(|id| !roots.contains(*id))
        .map(|id| packages[id]);
    let needed = others.filter_map(|package| Some((version(package)?, text(&package["name"]))));
    let needed = needed.collect::<Vec<_>>();
    let highest = needed
        .iter()
        .map(|(version, _)| *version)
        .max()
        .unwrap_or_default();
    let by = needed
        .iter()
        .filter(|(version, _)| *version == highest)
        .map(|(_, name)| *name);
    let by = by.collect::<Vec<_>>().join(", ");
    let (is, wanted) = (shown(declared), shown(highest));
    if declared == highest {
        let count = reached.len() - roots.len();
        let verdict = format!("rust-version is {is}, which {by} need; {count} dependencies");
        Ok((is, verdict))
    } else {
        Err(format!(
            "rust-version is {is}, the highest of the dependencies is {wanted}, of {by}: change `rust-version` in Cargo.toml"
        ))
    }
}

/// All packages that these need when they are built, for any platform.
fn reached<'a>(metadata: &'a Value, roots: &[&'a str]) -> BTreeSet<&'a str> {
    let nodes = list(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), node));
    let nodes = nodes.collect::<BTreeMap<_, _>>();
    let mut reached = BTreeSet::new();
    let mut waiting = roots.to_vec();
    while let Some(id) = waiting.pop() {
        if !reached.insert(id) {
            continue;
        }
        for dependency in nodes
            .get(id)
            .into_iter()
            .flat_map(|node| list(&node["deps"]))
        {
            // `dev` is for tests only; the kind of a normal dependency is null.
            if list(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev") {
                waiting.push(text(&dependency["pkg"]));
            }
        }
    }
    reached
}

fn version(package: &Value) -> Option<Version> {
    let mut parts = package["rust_version"]
        .as_str()?
        .split('.')
        .map(|part| part.parse().ok());
    let major = parts.next()??;
    Some((
        major,
        parts.next().flatten().unwrap_or(0),
        parts.next().flatten().unwrap_or(0),
    ))
}

fn shown((major, minor, patch): Version) -> String {
    if patch == 0 {
        format!("{major}.{minor}")
    } else {
        format!("{major}.{minor}.{patch}")
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{check, judge};
    use serde_json::{Value, json};

    #[test]
    fn it_is_what_the_dependencies_need() {
        check().expect("rust-version is right");
    }

    fn metadata(own: &str) -> Value {
        let package = |name: &str, version: Option<&str>| json!({"id": name, "name": name, "rust_version": version});
        let dependency =
            |name: &str, kind: Option<&str>| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        json!({
            "packages": [
                package("spanner-rows", Some(own)), package("old", None), package("direct", Some("1.70.0")),
                package("far", Some("1.80")), package("test-only", Some("1.99")),
            ],
            "resolve": {"nodes": [
                {"id": "spanner-rows", "deps": [
                    dependency("direct", None), dependency("old", Some("build")), dependency("test-only", Some("dev")),
                ]},
                {"id": "direct", "deps": [dependency("far", None)]},
            ]},
        })
    }

    #[test]
    fn the_highest_counts() {
        assert!(
            judge(&metadata("1.80"))
                .unwrap()
                .1
                .contains("1.80, which far need; 3 dependencies")
        );
        for wrong in ["1.79", "1.80.1", "1.99"] {
            let problem = judge(&metadata(wrong)).unwrap_err();
            assert!(
                problem.contains("the highest of the dependencies is 1.80, of far"),
                "{problem}"
            );
        }
    }
}
