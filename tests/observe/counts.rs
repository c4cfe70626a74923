//! A recorder that keeps every number.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

#[derive(Clone, Default)]
pub(crate) struct Counts(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    /// Counters and gauges.
    numbers: BTreeMap<String, f64>,
    /// The most that a gauge ever was.
    most: BTreeMap<String, f64>,
    times: BTreeMap<String, Vec<f64>>,
    described: BTreeMap<String, Option<Unit>>,
}

impl Counts {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap()
    }

    /// A counter or gauge by its name without `spanner_rows.`, with its labels.
    pub(crate) fn get(&self, name: &str) -> u64 {
        let kept = self.lock();
        kept.numbers.get(name).map_or(0, |number| *number as u64)
    }

    pub(crate) fn most(&self, name: &str) -> u64 {
        let kept = self.lock();
        kept.most.get(name).map_or(0, |number| *number as u64)
    }

    pub(crate) fn times(&self, name: &str) -> Vec<f64> {
        self.lock().times.get(name).cloned().unwrap_or_default()
    }

    /// Everything that was counted whose name begins so.
    pub(crate) fn all(&self, start: &str) -> Vec<(String, u64)> {
        let kept = self.lock();
        let all = kept
            .numbers
            .iter()
            .filter(|(name, _)| name.starts_with(start));
        all.map(|(name, number)| (name.clone(), *number as u64))
            .collect()
    }

    /// Every name that is used, without labels, and those that are explained.
    pub(crate) fn names(&self) -> (Vec<String>, Vec<String>) {
        let kept = self.lock();
        let used = kept.numbers.keys().chain(kept.times.keys());
        let mut used: Vec<_> = used
            .filter_map(|name| name.split('{').next())
            .map(str::to_owned)
            .collect();
        used.sort();
        used.dedup();
        (used, kept.described.keys().cloned().collect())
    }

    fn describe(&self, name: &KeyName, unit: Option<Unit>) {
        let name = name.as_str().replace("spanner_rows.", "");
        self.lock().described.insert(name, unit);
    }

    fn number(&self, key: &Key) -> Arc<Number> {
        let labels: Vec<_> = key
            .labels()
            .map(|label| format!("{}={}", label.key(), label.value()))
            .collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        let name = key.name().strip_prefix("spanner_rows.").expect("our name");
        Arc::new(Number(format!("{name}{labels}"), self.clone()))
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock().fmt(f)
    }
}

struct Number(String, Counts);

impl Number {
    fn add(&self, number: f64) {
        let mut kept = self.1.lock();
        let sum = kept.numbers.entry(self.0.clone()).or_default();
        *sum += number;
        let sum = *sum;
        assert!(sum >= 0.0, "{} is {sum}", self.0);
        let most = kept.most.entry(self.0.clone()).or_default();
        *most = most.max(sum);
    }
}

impl CounterFn for Number {
    fn increment(&self, number: u64) {
        self.add(number as f64);
    }

    fn absolute(&self, _: u64) {
        panic!("{} is set", self.0);
    }
}

impl GaugeFn for Number {
    fn increment(&self, number: f64) {
        self.add(number);
    }

    fn decrement(&self, number: f64) {
        self.add(-number);
    }

    fn set(&self, _: f64) {
        panic!("{} is set: there are several streams", self.0);
    }
}

impl HistogramFn for Number {
    fn record(&self, number: f64) {
        let mut kept = self.1.lock();
        kept.times.entry(self.0.clone()).or_default().push(number);
    }
}

impl Recorder for Counts {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, unit);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, unit);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, unit);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.number(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.number(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.number(key))
    }
}
