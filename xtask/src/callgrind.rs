//! Programs of `benches/` under callgrind: what they print, and the instructions that a function of theirs took.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Paths are told from here.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(crate) fn is_there() -> bool {
    version_of("valgrind").is_ok()
}

/// What a program printed and what was counted.
pub(crate) struct Counts {
    /// The features of the CPU by which code chooses, which the program prints first.
    pub(crate) cpu: String,
    /// The fields of each further line, which tabs separate, and the instructions of the call that the
    /// line is about.
    pub(crate) lines: Vec<(Vec<String>, u64)>,
}

/// Runs the benchmark. Each call of `function` is counted, and the program prints one line for each.
pub(crate) fn run(bench: &str, function: &str, argument: &str) -> Result<Counts, Box<dyn Error>> {
    let program = build(bench)?;
    let dumps = std::env::temp_dir().join(format!("{bench}-{}", std::process::id()));
    std::fs::create_dir_all(&dumps)?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .arg(format!("--toggle-collect={function}"))
        .arg(format!("--dump-after={function}"))
        .arg(format!(
            "--callgrind-out-file={}",
            dumps.join("out").display()
        ))
        .arg(program)
        .arg(argument)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let mut counts = Counts {
        cpu: String::new(),
        lines: Vec::new(),
    };
    for line in String::from_utf8(output.stdout)?.lines() {
        if let Some(cpu) = line.strip_prefix("cpu\t") {
            cpu.clone_into(&mut counts.cpu);
            continue;
        }
        let dump = dumps.join(format!("out.{}", counts.lines.len() + 1));
        let fields = line.split('\t').map(str::to_owned).collect();
        counts.lines.push((fields, total(&dump)?));
    }
    std::fs::remove_dir_all(dumps)?;
    Ok(counts)
}

/// The versions that counts depend on.
pub(crate) fn environment() -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let programs = [
        ("rustc", "rustc"),
        ("libc", "ldd"),
        ("valgrind", "valgrind"),
    ];
    let version = |(name, program): (&str, &str)| Ok((name.to_owned(), version_of(program)?));
    programs.into_iter().map(version).collect()
}

/// As users build: optimised, without link-time optimisation.
fn build(bench: &str) -> Result<PathBuf, Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root())
        .args(["bench", "--locked", "--no-run", "--bench", bench])
        .arg("--message-format=json")
        .stderr(Stdio::inherit())
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
