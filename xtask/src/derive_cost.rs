//! What the derive costs those who use it: the expansion of many structs, beside
//! that of serde's `Deserialize` for the same structs, and a clean build of the
//! macro with its dependencies.
//!
//! The three packages that are compiled for it differ in the derive only, so that
//! what the one without says is taken off the other two. The least of several runs
//! counts: whatever else the machine does can only add to it.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const STRUCTS: usize = 100;
const FIELDS: usize = 20;

/// One of the packages.
struct Package {
    name: &'static str,
    /// What stands before each struct.
    derive: &'static str,
    dependency: &'static str,
}

const PACKAGES: [Package; 3] = [
    Package {
        name: "without",
        derive: "",
        dependency: "",
    },
    Package {
        name: "spanner",
        derive: "#[derive(spanner_rows::SpannerRow)]\n",
        dependency: "spanner-rows = { path = \"ROOT/spanner-rows\", default-features = false, \
                     features = [\"derive\"] }\n",
    },
    Package {
        name: "serde",
        derive: "#[derive(serde::Deserialize)]\n",
        dependency: "serde = { version = \"1\", features = [\"derive\"] }\n",
    },
];

/// What the compiler says of one package.
#[derive(Clone, Copy)]
struct Times {
    expansion: Duration,
    /// Of the whole `cargo check`.
    total: Duration,
}

/// Measures, each thing `rounds` times, and prints what came out.
pub(crate) fn measure(rounds: usize) -> Result<(), Box<dyn Error>> {
    let root = workspace_root()?;
    let folder = root.join("target/derive-cost");
    write_packages(&root, &folder)?;

    let mut least: [Option<Times>; 3] = [None; 3];
    // One run more, to build what the packages depend on.
    for round in 0..=rounds {
        for (package, least) in PACKAGES.iter().zip(&mut least) {
            let times = check(&folder, package)?;
            if round > 0 {
                *least = Some(least.map_or(times, |least| Times {
                    expansion: least.expansion.min(times.expansion),
                    total: least.total.min(times.total),
                }));
            }
        }
    }
    let [Some(without), Some(spanner), Some(serde)] = least else {
        return Err("give at least one round".into());
    };
    println!(
        "{STRUCTS} structs of {FIELDS} fields, least of {rounds} runs, less the same structs \
         without a derive:\n"
    );
    println!("{:24}{:>14}{:>14}", "", "SpannerRow", "Deserialize");
    let line = |name: &str, of: fn(Times) -> Duration| {
        let [spanner, serde] = [spanner, serde].map(|times| of(times).saturating_sub(of(without)));
        println!(
            "{name:24}{:>11} ms{:>11} ms",
            spanner.as_millis(),
            serde.as_millis()
        );
    };
    line("expansion of macros", |times| times.expansion);
    line("cargo check", |times| times.total);

    let clean = (0..rounds)
        .map(|_| clean_build(&folder))
        .collect::<Result<Vec<_>, _>>()?;
    let clean = clean.into_iter().min().unwrap_or_default();
    println!(
        "\nclean build of spanner-derive and its dependencies, as a dependency: {:.2} s",
        clean.as_secs_f64()
    );
    Ok(())
}

fn workspace_root() -> Result<PathBuf, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    Ok(root.ok_or("xtask has no folder above it")?.to_owned())
}

fn write_packages(root: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let members = PACKAGES
        .map(|package| format!("{:?}", package.name))
        .join(", ");
    write(
        &folder.join("Cargo.toml"),
        &format!("[workspace]\nmembers = [{members}, \"macro\"]\nresolver = \"3\"\n"),
    )?;
    // The versions that the repository is tested with.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    for package in &PACKAGES {
        let source = structs(package.derive);
        write_package(root, folder, package.name, package.dependency, &source)?;
    }
    let derive = "spanner-derive = { path = \"ROOT/spanner-derive\" }\n";
    write_package(root, folder, "macro", derive, "")
}

fn write_package(
    root: &Path,
    folder: &Path,
    name: &str,
    dependency: &str,
    source: &str,
) -> Result<(), Box<dyn Error>> {
    let folder = folder.join(name);
    let root = root
        .to_str()
        .ok_or("the path of the repository is not UTF-8")?;
    let dependency = dependency.replace("ROOT", &root.escape_default().to_string());
    let manifest = format!(
        "[package]\nname = \"derive-cost-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{dependency}"
    );
    write(&folder.join("Cargo.toml"), &manifest)?;
    write(&folder.join("src/lib.rs"), source)
}

fn write(path: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)?;
    Ok(())
}

/// Every other struct borrows.
fn structs(derive: &str) -> String {
    const OWNED: [&str; 5] = ["i64", "String", "Option<f64>", "Vec<String>", "bool"];
    const BORROWED: [&str; 5] = ["i64", "&'a str", "Option<f64>", "Option<&'a str>", "bool"];
    let mut source = String::new();
    for number in 0..STRUCTS {
        let (lifetime, types) = match number % 2 {
            0 => ("", OWNED),
            _ => ("<'a>", BORROWED),
        };
        let _ = writeln!(source, "{derive}pub struct Row{number}{lifetime} {{");
        for (field, ty) in (0..FIELDS).zip(types.iter().cycle()) {
            let _ = writeln!(source, "    pub field_{field}: {ty},");
        }
        source.push_str("}\n\n");
    }
    source
}

/// Checks one package anew and reads what the compiler says of its passes.
fn check(folder: &Path, package: &Package) -> Result<Times, Box<dyn Error>> {
    let name = format!("derive-cost-{}", package.name);
    // Changed, for cargo.
    let source = structs(package.derive);
    write(&folder.join(package.name).join("src/lib.rs"), &source)?;
    let output = cargo(
        folder,
        "target",
        ["rustc", "-p", &name, "--profile", "check"],
    )
    // Of this one crate: the others are built as everywhere.
    .env("RUSTC_BOOTSTRAP", name.replace('-', "_"))
    .args(["--lib", "--", "-Ztime-passes"])
    .output()?;
    let text = success(&output)?;
    let seconds = |pass: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with("time:") && line.split_whitespace().last() == Some(pass));
        let time = line.and_then(|line| line["time:".len()..].split(';').next());
        let seconds = time.and_then(|time| time.trim().parse().ok());
        seconds
            .map(Duration::from_secs_f64)
            .ok_or_else(|| format!("the compiler did not tell the time of `{pass}`:\n{text}"))
    };
    Ok(Times {
        expansion: seconds("macro_expand_crate")?,
        total: seconds("total")?,
    })
}

/// Builds the macro where nothing is built yet.
fn clean_build(folder: &Path) -> Result<Duration, Box<dyn Error>> {
    let target = folder.join("clean");
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    let start = Instant::now();
    let output = cargo(folder, "clean", ["build", "-p", "derive-cost-macro"])
        // As for a crate from a registry.
        .env("CARGO_INCREMENTAL", "0")
        .output()?;
    success(&output)?;
    Ok(start.elapsed())
}

fn cargo<const N: usize>(folder: &Path, target: &str, arguments: [&str; N]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join(target))
        .args(arguments);
    command
}

/// All that a command printed, when it succeeded.
fn success(output: &Output) -> Result<String, Box<dyn Error>> {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        Ok(text)
    } else {
        Err(text.into())
    }
}
