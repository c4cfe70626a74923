//! Counters and histograms of one request, through the facade `metrics`.

use std::time::Duration;

use metrics::{
    Counter, Gauge, Key, Label, Metadata, Unit, counter, describe_counter, describe_gauge,
    describe_histogram, gauge, with_recorder,
};

use super::operation::{Operation, Outcome, for_each_operation};

const ROWS: &str = "spanner_rows.rows";
const BYTES: &str = "spanner_rows.bytes";
const MESSAGES: &str = "spanner_rows.messages";
const HELD_BYTES: &str = "spanner_rows.held_bytes";
const RESUMES: &str = "spanner_rows.resumes";
const RETRIES: &str = "spanner_rows.retries";
const REQUESTS: &str = "spanner_rows.requests";
const TIME_TO_FIRST_ROW: &str = "spanner_rows.time_to_first_row";
const DURATION: &str = "spanner_rows.duration";

const METADATA: Metadata<'static> =
    Metadata::new("spanner_rows", metrics::Level::INFO, Some(module_path!()));

/// Tells the recorder what the counters mean.
pub(crate) fn describe() {
    describe_counter!(ROWS, Unit::Count, "Rows of results that were released");
    describe_counter!(BYTES, Unit::Bytes, "Bytes of messages of results");
    describe_counter!(MESSAGES, Unit::Count, "Messages of results");
    describe_gauge!(
        HELD_BYTES,
        Unit::Bytes,
        "Bytes of messages that all open results hold back until a resume token comes"
    );
    describe_counter!(
        RESUMES,
        Unit::Count,
        "Results that broke and were taken up again behind their last resume token"
    );
    describe_counter!(
        RETRIES,
        Unit::Count,
        "Attempts that failed and were followed by another one, by cause"
    );
    describe_counter!(
        REQUESTS,
        Unit::Count,
        "Requests that are over, by operation and outcome"
    );
    describe_histogram!(
        TIME_TO_FIRST_ROW,
        Unit::Seconds,
        "Time from making a request to its first row"
    );
    describe_histogram!(
        DURATION,
        Unit::Seconds,
        "Time from making a request to the end of its result, by operation and outcome"
    );
}

/// The handles of the recorder that was in force when the request began. Those that are
/// needed for every message are asked for once.
pub(super) struct Meter {
    rows: Counter,
    bytes: Counter,
    messages: Counter,
    held: Gauge,
}

impl Meter {
    pub(super) fn start(operation: Operation) -> Self {
        if operation.has_rows() {
            Self {
                rows: counter!(ROWS),
                bytes: counter!(BYTES),
                messages: counter!(MESSAGES),
                held: gauge!(HELD_BYTES),
            }
        } else {
            Self {
                rows: Counter::noop(),
                bytes: Counter::noop(),
                messages: Counter::noop(),
                held: Gauge::noop(),
            }
        }
    }

    pub(super) fn message(&self, bytes: u64) {
        self.messages.increment(1);
        self.bytes.increment(bytes);
    }

    pub(super) fn rows(&self, rows: u64) {
        self.rows.increment(rows);
    }

    pub(super) fn held(&self, before: usize, now: usize) {
        if now > before {
            self.held.increment((now - before) as f64);
        } else if now < before {
            self.held.decrement((before - now) as f64);
        }
    }

    pub(super) fn first_row(&self, operation: Operation, after: Duration) {
        // Every table of labels begins with the operation.
        let labels = &labels(operation, Outcome::End)[..1];
        record(TIME_TO_FIRST_ROW, labels, after);
    }

    pub(super) fn again(&self, cause: &'static str, resumed: bool) {
        counter!(RETRIES, "cause" => cause).increment(1);
        if resumed {
            counter!(RESUMES).increment(1);
        }
    }

    pub(super) fn finish(&self, operation: Operation, outcome: Outcome, after: Duration) {
        let labels = labels(operation, outcome);
        let key = Key::from_static_parts(REQUESTS, labels);
        with_recorder(|recorder| recorder.register_counter(&key, &METADATA)).increment(1);
        record(DURATION, labels, after);
    }
}

fn record(name: &'static str, labels: &'static [Label], time: Duration) {
    let key = Key::from_static_parts(name, labels);
    with_recorder(|recorder| recorder.register_histogram(&key, &METADATA))
        .record(time.as_secs_f64());
}

/// The labels of an operation and its outcome, made at compile time: with a list made for
/// each request it would allocate, whether anybody counts or not.
fn labels(operation: Operation, outcome: Outcome) -> &'static [Label; 2] {
    macro_rules! of_operation {
        ($variant:ident, $span:literal, ($outcome:ident)) => {{
            static LABELS: [[Label; 2]; 4] = [
                pair(Operation::$variant, Outcome::End),
                pair(Operation::$variant, Outcome::Error),
                pair(Operation::$variant, Outcome::Dropped),
                pair(Operation::$variant, Outcome::RolledBack),
            ];
            match $outcome {
                Outcome::End => &LABELS[0],
                Outcome::Error => &LABELS[1],
                Outcome::Dropped => &LABELS[2],
                Outcome::RolledBack => &LABELS[3],
            }
        }};
    }
    for_each_operation!(of_operation!(operation, (outcome)))
}

const fn pair(operation: Operation, outcome: Outcome) -> [Label; 2] {
    [
        Label::from_static_parts("operation", operation.name()),
        Label::from_static_parts("outcome", outcome.name()),
    ]
}

impl std::fmt::Debug for Meter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meter").finish_non_exhaustive()
    }
}
