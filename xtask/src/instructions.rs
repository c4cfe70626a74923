//! Instructions per row of decoding, counted by callgrind and kept in a table that is checked in.
//!
//! Counts repeat exactly for one compiler, one C library and one set of CPU features, so a table is compared
//! only with one that was made with the same.

mod table;

use std::error::Error;
use std::fmt::Write as _;

use self::table::{Line, Table};
use crate::callgrind::{self, root};

const FILE: &str = "benches/instructions/table.tsv";

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
    if !callgrind::is_there() {
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
    let counts = callgrind::run("instructions", "instructions::measured", shape)?;
    let mut table = Table {
        environment: callgrind::environment()?,
        lines: Vec::new(),
    };
    table.environment.push(("cpu".to_owned(), counts.cpu));
    for (line, total) in counts.lines {
        let [shape, arm, rows] = &line[..] else {
            return Err(format!("the benchmark printed {line:?}").into());
        };
        table.lines.push(Line {
            shape: shape.clone(),
            arm: arm.clone(),
            count: total as f64 / rows.parse::<f64>()?,
        });
    }
    Ok(table)
}
