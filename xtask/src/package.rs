//! `cargo xtask package`: whether what would be published is whole, and no more than that.

use std::error::Error;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

const CRATES: [&str; 2] = ["spanner-derive", "spanner-rows"];

/// What cargo adds by itself.
const BY_CARGO: [&str; 4] = [
    ".cargo_vcs_info.json",
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
];
const BESIDE_SOURCE: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];
/// Source, the documentation that it includes, and what its tests compare with.
const SOURCE: [&str; 3] = ["rs", "md", "snap"];

pub(crate) fn check() -> Result<(), Box<dyn Error>> {
    let mut problems = Vec::new();
    for name in CRATES {
        let files = files_of(name)?;
        problems.extend(of_list(name, &files));
        for file in files.iter().filter(|file| file.ends_with(".rs")) {
            let path = root().join(name).join(file);
            let text = fs::read_to_string(&path)?;
            problems.extend(includes_outside(Path::new(file), &text).map(|included| {
                format!("{name}/{file} includes `{included}`, which is not in the package")
            }));
        }
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let copy = fs::read(root().join(name).join(license))?;
            if copy != fs::read(root().join(license))? {
                problems.push(format!("{name}/{license} is not {license}"));
            }
        }
        println!("{name}: {} files", files.len());
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n").into())
    }
}

fn files_of(name: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = [
        "package",
        "--list",
        "--allow-dirty",
        "--locked",
        "--package",
        name,
    ];
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(root())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let list = String::from_utf8(output.stdout)?;
    Ok(list.lines().map(|line| line.replace('\\', "/")).collect())
}

/// What is missing in a package with these files, and what is too much.
fn of_list(name: &str, files: &[String]) -> Vec<String> {
    let is_there = |wanted: &&&str| files.iter().any(|file| file == **wanted);
    let needed = BESIDE_SOURCE
        .iter()
        .chain(["src/lib.rs", "Cargo.toml"].iter());
    let missing = needed.filter(|wanted| !is_there(wanted));
    let missing = missing.map(|file| format!("{name}: {file} is not in the package"));
    let surplus = files.iter().filter(|file| {
        let extension = Path::new(file)
            .extension()
            .and_then(|extension| extension.to_str());
        let source = file.starts_with("src/")
            && extension.is_some_and(|extension| SOURCE.contains(&extension));
        !(source
            || *file == "build.rs"
            || BY_CARGO
                .iter()
                .chain(&BESIDE_SOURCE)
                .any(|known| file == known))
    });
    let surplus =
        surplus.map(|file| format!("{name}: {file} is in the package, and is not source"));
    missing.chain(surplus).collect()
}

/// The files that source at this path, seen from the crate, includes from outside of it.
fn includes_outside<'a>(file: &'a Path, text: &'a str) -> impl Iterator<Item = &'a str> {
    let included = [
        "include!(\"",
        "include_str!(\"",
        "include_bytes!(\"",
        "#[path = \"",
    ]
    .into_iter()
    .flat_map(move |start| text.split(start).skip(1));
    let included = included.filter_map(|rest| rest.split('"').next());
    included.filter(move |included| {
        let folder = file.parent().unwrap_or_else(|| Path::new(""));
        let mut depth = 0_i32;
        folder.join(included).components().any(|component| {
            depth += match component {
                Component::ParentDir => -1,
                Component::Normal(_) => 1,
                _ => 0,
            };
            depth < 0
        })
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[cfg(test)]
mod tests {
    use super::{check, includes_outside, of_list};
    use std::path::Path;

    #[test]
    fn packages_are_whole() {
        check().expect("nothing is missing, and nothing too much");
    }

    #[test]
    fn what_is_wrong_is_told() {
        let files = [
            "Cargo.toml",
            "LICENSE-MIT",
            "README.md",
            "src/lib.rs",
            "src/a.json",
            "secret.rs",
        ];
        let problems = of_list("c", &files.map(str::to_owned));
        let expected = [
            "c: LICENSE-APACHE is not in the package",
            "c: src/a.json is in the package, and is not source",
            "c: secret.rs is in the package, and is not source",
        ];
        assert_eq!(problems, expected);
    }

    #[test]
    fn files_outside_of_the_package() {
        let inside = "include_str!(\"../derive.md\") #[path = \"x.rs\"]";
        assert_eq!(
            includes_outside(Path::new("src/row/mod.rs"), inside).count(),
            0
        );
        let outside = "include_str!(\"../../README.md\")";
        let found = includes_outside(Path::new("src/lib.rs"), outside).collect::<Vec<_>>();
        assert_eq!(found, ["../../README.md"]);
    }
}
