//! Programs that must not compile, with what the compiler says, and programs
//! that must. See `ui/README.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler whose messages are kept.
const RUSTC: &str = "1.95.";

const FAILING: &[&str] = &[
    "attr",
    "encode",
    "flatten",
    "generics",
    "lifetime",
    "type",
    "unsupported",
];

#[test]
fn programs() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    let version = rustc_version();
    if version.starts_with(RUSTC) {
        for folder in FAILING {
            cases.compile_fail(format!("tests/ui/{folder}/*.rs"));
        }
    } else {
        println!(
            "messages were NOT compared: they are those of rustc {RUSTC}x, this is rustc {version}"
        );
    }
}

/// The version of the compiler that builds the programs, such as `1.95.0`.
fn rustc_version() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("-vV")
        .output()
        .expect("the compiler tells its version");
    let text = String::from_utf8_lossy(&output.stdout);
    let release = text.lines().find_map(|line| line.strip_prefix("release: "));
    release.expect("the version has a release").to_owned()
}

#[test]
fn every_program_has_its_messages_and_the_other_way_round() {
    let mut folders = BTreeSet::new();
    for path in files(Path::new("tests/ui")) {
        let folder = path.parent().and_then(Path::file_name).expect("a folder");
        let folder = folder.to_string_lossy().into_owned();
        let kind = path
            .extension()
            .map(|kind| kind.to_string_lossy().into_owned());
        let sibling = |kind| path.with_extension(kind).is_file();
        match kind.as_deref() {
            Some("stderr") => {
                assert_ne!(folder, "pass", "{} cannot be compared", path.display());
                assert!(sibling("rs"), "{} has no program", path.display());
            }
            Some("rs") if folder == "pass" => {}
            Some("rs") => {
                assert!(sibling("stderr"), "{} has no messages", path.display());
                folders.insert(folder);
            }
            _ => assert!(path.ends_with("README.md"), "{} is astray", path.display()),
        }
    }
    let run: BTreeSet<_> = FAILING.iter().map(ToString::to_string).collect();
    assert_eq!(folders, run, "the folders that are run");
}

#[test]
fn the_readme_names_every_program() {
    let readme = fs::read_to_string("tests/ui/README.md").expect("there is a README");
    let named: BTreeSet<_> = readme
        .split('`')
        .filter(|word| word.ends_with(".rs") && !word.starts_with("tests/"))
        .map(str::to_owned)
        .collect();
    let root = Path::new("tests/ui");
    let present: BTreeSet<_> = files(root)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|kind| kind == "rs"))
        .map(|path| {
            let path = path.strip_prefix(root).expect("it was found there");
            path.to_string_lossy().replace('\\', "/")
        })
        .collect();
    assert_eq!(named, present);
}

/// All files below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}
