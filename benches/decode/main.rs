//! Time per row of decoding, without any transport: the same messages through
//! this crate in its modes, and through prost into the same owned rows.
//!
//! ```sh
//! cargo bench --bench decode                  # everything, about 4 minutes
//! cargo bench --bench decode -- strings8      # one shape and its variants
//! ```
//!
//! A table of all arms against prost comes last. Compare ratios within one run;
//! absolute times are those of one machine.

#[path = "../shapes/mod.rs"]
#[allow(dead_code, reason = "some shapes are for other harnesses")]
mod shapes;
mod table;

use std::time::{Duration, SystemTime};

use criterion::{Criterion, Throughput};
use shapes::arms::subjects;

/// Messages that are read in one go.
const MESSAGES: usize = 30;

fn main() {
    let started = SystemTime::now();
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1_200))
        .sample_size(20)
        .configure_from_args();
    let mut table = table::Table::default();
    for subject in subjects() {
        let messages = (subject.messages)(MESSAGES);
        subject.check(&messages);
        let mut group = criterion.benchmark_group(subject.shape);
        group.throughput(Throughput::Elements(messages.rows));
        for arm in &subject.arms {
            let read = arm.time;
            group.bench_function(arm.name, |b| b.iter(|| read(&messages.encoded)));
            table.add(subject.shape, arm.name, messages.rows);
        }
        group.finish();
    }
    criterion.final_summary();
    table.print(started);
}
