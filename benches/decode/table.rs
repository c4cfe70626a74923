//! All arms of a run beside each other, with their ratios.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::shapes::arms::PROST;

/// What was measured, in the order in which it was.
#[derive(Debug, Default)]
pub(crate) struct Table(Vec<Line>);

#[derive(Debug)]
struct Line {
    shape: &'static str,
    arm: &'static str,
    rows: u64,
}

impl Table {
    pub(crate) fn add(&mut self, shape: &'static str, arm: &'static str, rows: u64) {
        self.0.push(Line { shape, arm, rows });
    }

    /// Prints what criterion has written since `started`.
    pub(crate) fn print(&self, started: SystemTime) {
        let times = |line: &Line| median(line, started).map(|all| all / line.rows as f64);
        let shapes = self.0.chunk_by(|one, other| one.shape == other.shape);
        for lines in shapes.filter(|lines| lines.iter().any(|line| times(line).is_some())) {
            let prost = lines.iter().find(|line| line.arm == PROST).and_then(times);
            let alone = lines.iter().find(|line| line.arm == "prost alone");
            let alone = alone.and_then(times);
            println!("\n{}", lines[0].shape);
            println!(
                "  {:<18} {:>9}  {:>15}  {:>13}",
                "", "ns/row", "× prost+convert", "× prost alone"
            );
            for line in lines {
                let Some(time) = times(line) else { continue };
                let ratio = |base: Option<f64>| {
                    base.map_or_else(|| "-".to_owned(), |base| format!("{:.2}", base / time))
                };
                let (whole, decode) = (ratio(prost), ratio(alone));
                println!("  {:<18} {time:>9.1}  {whole:>15}  {decode:>13}", line.arm);
            }
        }
    }
}

/// Nanoseconds of one go, as criterion estimated them in this run.
fn median(line: &Line, started: SystemTime) -> Option<f64> {
    let file = directory(line).join("new/estimates.json");
    if file.metadata().ok()?.modified().ok()? < started {
        return None;
    }
    let estimates = std::fs::read_to_string(file).ok()?;
    let estimates: serde_json::Value = serde_json::from_str(&estimates).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}

/// Where criterion puts the results.
fn directory(line: &Line) -> PathBuf {
    let home = std::env::var_os("CRITERION_HOME").map(PathBuf::from);
    let home = home.unwrap_or_else(|| {
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"));
        target.join("criterion")
    });
    home.join(line.shape).join(line.arm)
}
