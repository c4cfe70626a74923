//! Instructions per row of decoding, counted by callgrind and kept in a table that is checked in.
//!
//! Counts repeat exactly for one compiler, one C library and one set of CPU features, so a table is compared
//! only with one that was made with the same.

mod table;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::table::{Line, Table};

const FILE: &str = "benches/instructions/table.tsv";

/// Paths are told from here.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// By how much a count may rise.
const TOLERANCE: f64 = 0.03;

/// Counts, prints, and writes the table anew.
pub(crate) fn write() -> Result<(), Box<dyn Error>> {
    let table = measure("")?;
    println!("{}", table.beside_limits());
    std::fs::write(root().join(FILE), table.to_file())?;
    println!("written to {FILE}");
    Ok(())
}

/// Counts and prints the shapes whose names begin so.
pub(crate) fn print(shape: &str) -> Result<(), Box<dyn Error>> {
    println!("{}", measure(shape)?.beside_limits());
    Ok(())
}

/// Counts, prints, and fails if a count rose against the table that is checked in.
pub(crate) fn check() -> Result<(), Box<dyn Error>> {
    if version_of("valgrind").is_err() {
        println!(
            "SKIPPED: instruction counts were not compared, because valgrind is not installed"
        );
        return Ok(());
    }
    let found = measure("")?;
    println!("{}", found.beside_limits());
    let kept = Table::from_file(&std::fs::read_to_string(root().join(FILE))?)?;
    if let Some(difference) = kept.environment_differs(&found) {
        println!("SKIPPED: instruction counts were not compared with {FILE}, because {difference}");
        return Ok(());
    }
    if kept.names().ne(found.names()) {
        return Err(
            format!("{FILE} has other arms; write it anew: cargo xtask instructions").into(),
        );
    }
    let worse = kept.worse(&found, TOLERANCE);
    if worse.is_empty() {
        println!(
            "no count is more than {:.0} % above {FILE}",
            TOLERANCE * 100.0
        );
        return Ok(());
    }
    let mut message = format!("more instructions than in {FILE}:\n");
    for (kept, found) in worse {
        let rise = (found.count / kept.count - 1.0) * 100.0;
        writeln!(
            message,
            "  {}, {}: {:.0} instead of {:.0} per row (+{rise:.1} %)",
            kept.shape, kept.arm, found.count, kept.count
        )?;
    }
    message += "if that is meant, write the table anew: cargo xtask instructions";
    Err(message.into())
}

fn measure(shape: &str) -> Result<Table, Box<dyn Error>> {
    let program = build()?;
    let counts = tempdir()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .args([
            "--toggle-collect=instructions::measured",
            "--dump-after=instructions::measured",
        ])
        .arg(format!(
            "--callgrind-out-file={}",
            counts.join("out").display()
        ))
        .arg(program)
        .arg(shape)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let mut table = Table {
        environment: vec![
            ("rustc".to_owned(), version_of("rustc")?),
            ("libc".to_owned(), version_of("ldd")?),
            ("valgrind".to_owned(), version_of("valgrind")?),
        ],
        lines: Vec::new(),
    };
    for line in String::from_utf8(output.stdout)?.lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["cpu", features] => table
                .environment
                .push(("cpu".to_owned(), features.to_owned())),
            [shape, arm, rows] => {
                let dump = counts.join(format!("out.{}", table.lines.len() + 1));
                let count = total(&dump)? as f64 / rows.parse::<f64>()?;
                table.lines.push(Line {
                    shape: shape.to_owned(),
                    arm: arm.to_owned(),
                    count,
                });
            }
            _ => return Err(format!("the benchmark printed {line:?}").into()),
        }
    }
    std::fs::remove_dir_all(counts)?;
    Ok(table)
}

/// As users build: optimised, without link-time optimisation.
fn build() -> Result<PathBuf, Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root())
        .args([
            "bench",
            "--locked",
            "--no-run",
            "--bench",
            "instructions",
            "--message-format=json",
        ])
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("the benchmark does not build".into());
    }
    let messages = String::from_utf8(output.stdout)?;
    let executable = messages.lines().rev().find_map(|line| {
        let (_, rest) = line.split_once(r#""executable":""#)?;
        let (path, _) = rest.split_once('"')?;
        Some(PathBuf::from(path))
    });
    executable.ok_or_else(|| "cargo named no executable".into())
}

/// A new folder for callgrind's files.
fn tempdir() -> Result<PathBuf, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("instructions-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The instructions that one of callgrind's files counts.
fn total(file: &Path) -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("callgrind did not write {}: {error}", file.display()))?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let total = total.ok_or_else(|| format!("{} has no total", file.display()))?;
    Ok(total.trim().parse()?)
}

/// The first line of what a program says of itself.
fn version_of(program: &str) -> Result<String, Box<dyn Error>> {
    let output = Command::new(program).arg("--version").output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}
