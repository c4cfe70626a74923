//! What was measured, as medians over the rounds, and as a table.

use std::fmt::Write as _;

use serde::Serialize;

use crate::arms::{Arm as _, floor::Floor, official::Official};
use crate::cases::Case;
use crate::client::{Round, Spread};

/// One case.
#[derive(Serialize)]
pub(crate) struct Measured {
    pub(crate) shape: String,
    pub(crate) message_bytes: usize,
    pub(crate) rows_per_query: u64,
    pub(crate) arms: Vec<ArmMeasured>,
}

/// One arm; every figure is the median of the rounds.
#[derive(Serialize)]
pub(crate) struct ArmMeasured {
    pub(crate) arm: &'static str,
    pub(crate) rows_per_second: f64,
    pub(crate) cpu_ns_per_row: f64,
    /// The lowest and the highest of a round.
    pub(crate) cpu_ns_per_row_range: (f64, f64),
    pub(crate) allocations_per_row: f64,
    pub(crate) allocated_bytes_per_row: f64,
    pub(crate) allocations_per_query: f64,
    pub(crate) live_bytes: f64,
    pub(crate) peak_memory_kib: f64,
    pub(crate) end_memory_kib: f64,
    pub(crate) latency_ns: Spread,
    pub(crate) first_row_ns: Spread,
}

impl Measured {
    pub(crate) fn new(case: &Case, arms: impl Iterator<Item = (&'static str, Vec<Round>)>) -> Self {
        Self {
            shape: case.shape.to_owned(),
            message_bytes: case.message_size,
            rows_per_query: case.rows,
            arms: arms
                .map(|(arm, rounds)| ArmMeasured::new(arm, &rounds))
                .collect(),
        }
    }

    /// CPU of the arm with this name.
    pub(crate) fn cpu_of(&self, name: &str) -> f64 {
        let arm = self.arms.iter().find(|arm| arm.arm == name);
        arm.map_or(f64::NAN, |arm| arm.cpu_ns_per_row)
    }
}

impl ArmMeasured {
    fn new(arm: &'static str, rounds: &[Round]) -> Self {
        let per_row = |what: fn(&Round) -> u64| {
            values(rounds, |round| what(round) as f64 / round.rows as f64)
        };
        let plain = |what: fn(&Round) -> u64| median(&values(rounds, |round| what(round) as f64));
        let spread = |what: fn(&Round) -> &Spread| {
            let of = |part: fn(&Spread) -> u64| {
                median(&values(rounds, |round| part(what(round)) as f64)) as u64
            };
            Spread {
                mean: of(|spread| spread.mean),
                p50: of(|spread| spread.p50),
                p90: of(|spread| spread.p90),
                p99: of(|spread| spread.p99),
            }
        };
        let cpu = per_row(|round| round.cpu);
        let edge = |edge: Option<&f64>| edge.copied().unwrap_or(f64::NAN);
        Self {
            arm,
            rows_per_second: 1e9 / median(&per_row(|round| round.wall)),
            cpu_ns_per_row: median(&cpu),
            cpu_ns_per_row_range: (edge(cpu.first()), edge(cpu.last())),
            allocations_per_row: median(&per_row(|round| round.allocations)),
            allocated_bytes_per_row: median(&per_row(|round| round.allocated)),
            allocations_per_query: median(&values(rounds, |round| {
                round.allocations as f64 / round.queries as f64
            })),
            live_bytes: plain(|round| round.live),
            peak_memory_kib: plain(|round| round.peak_memory),
            end_memory_kib: plain(|round| round.memory),
            latency_ns: spread(|round| &round.latency),
            first_row_ns: spread(|round| &round.first_row),
        }
    }
}

/// In ascending order.
fn values(rounds: &[Round], of: impl Fn(&Round) -> f64) -> Vec<f64> {
    let mut values: Vec<f64> = rounds.iter().map(of).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

fn median(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// For people.
pub(crate) fn table(case: &Measured) -> String {
    let (official, floor) = (case.cpu_of(Official::NAME), case.cpu_of(Floor::NAME));
    let mut text = format!(
        "\n{}: {} rows per query, messages of {} KiB\n",
        case.shape,
        case.rows_per_query,
        case.message_bytes / 1024
    );
    let _ = writeln!(
        text,
        "  {:<22} {:>11} {:>10} {:>10} {:>8} {:>8} {:>9} {:>9}  {:>8}/{:<8} {:>27}  {:>9}",
        "",
        "rows/s",
        "CPU ns/row",
        "× official",
        "× floor",
        "allocs",
        "bytes",
        "per query",
        "peak KiB",
        "end",
        "latency p50/p90/p99 µs",
        "1st row"
    );
    for arm in &case.arms {
        let micros = |nanos: u64| nanos as f64 / 1e3;
        let latency = &arm.latency_ns;
        let latency = format!(
            "{:.0}/{:.0}/{:.0}",
            micros(latency.p50),
            micros(latency.p90),
            micros(latency.p99)
        );
        let _ = writeln!(
            text,
            "  {:<22} {:>11.0} {:>10.1} {:>10.2} {:>8.2} {:>8.3} {:>9.0} {:>9.1}  {:>8.0}/{:<8.0} {latency:>27}  {:>9.0}",
            arm.arm,
            arm.rows_per_second,
            arm.cpu_ns_per_row,
            official / arm.cpu_ns_per_row,
            arm.cpu_ns_per_row / floor,
            arm.allocations_per_row,
            arm.allocated_bytes_per_row,
            arm.allocations_per_query,
            arm.peak_memory_kib,
            arm.end_memory_kib,
            micros(arm.first_row_ns.p50),
        );
    }
    text
}
