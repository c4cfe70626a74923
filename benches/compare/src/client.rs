//! One arm in a process of its own. It does what it is told on standard input, line by line, and answers on standard
//! output in JSON.

use std::hint::black_box;
use std::io::{BufRead as _, Write as _};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use crate::Result;
use crate::allocations::Allocations;
use crate::arms::by_hand::ByHand;
use crate::arms::floor::Floor;
use crate::arms::gcloud::Gcloud;
use crate::arms::official::Official;
use crate::arms::ours::{Batch, BorrowedNext, Fresh, OwnedNext};
use crate::arms::{Arm, Compared};
use crate::cases::Case;
use crate::process::{cpu_time, memory, pin};
use crate::shapes::content::{Content, Hash, Hashes};

/// The core of all clients.
const CORE: usize = 0;

/// Read one query and tell what it contains.
pub(crate) const CHECK: &str = "check";
/// Read the case's queries and tell what that cost.
pub(crate) const ROUND: &str = "round";

/// The answer to [`CHECK`].
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Contents {
    pub(crate) rows: u64,
    /// A hash of each column.
    pub(crate) columns: Vec<u64>,
}

/// The answer to [`ROUND`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Round {
    pub(crate) rows: u64,
    pub(crate) queries: u64,
    /// In nanoseconds, of the whole process.
    pub(crate) cpu: u64,
    pub(crate) wall: u64,
    pub(crate) allocations: u64,
    pub(crate) allocated: u64,
    /// Bytes in use at the end.
    pub(crate) live: u64,
    /// KiB.
    pub(crate) peak_memory: u64,
    pub(crate) memory: u64,
    /// Nanoseconds of a whole query.
    pub(crate) latency: Spread,
    /// Nanoseconds up to its first row.
    pub(crate) first_row: Spread,
}

/// How a time is spread over the queries.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Spread {
    pub(crate) mean: u64,
    pub(crate) p50: u64,
    pub(crate) p90: u64,
    pub(crate) p99: u64,
}

pub(crate) fn serve(arm: &str, case: &str, address: &str) -> Result<()> {
    let case = Case::named(case)?;
    (case.client)(arm, &case, address)
}

/// Reads rows of a shape.
pub(crate) fn run<S: Compared>(arm: &str, case: &Case, address: &str) -> Result<()> {
    let read = match arm {
        Official::NAME => obey::<Official, S>,
        Gcloud::NAME => obey::<Gcloud, S>,
        ByHand::NAME => obey::<ByHand, S>,
        BorrowedNext::NAME => obey::<BorrowedNext, S>,
        OwnedNext::NAME => obey::<OwnedNext, S>,
        Batch::NAME => obey::<Batch, S>,
        Fresh::NAME => obey::<Fresh, S>,
        Floor::NAME => obey::<Floor, S>,
        _ => return Err(format!("there is no arm {arm}").into()),
    };
    read(case, address)
}

fn obey<A: Arm, S: Compared>(case: &Case, address: &str) -> Result<()> {
    pin(CORE)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut arm = runtime.block_on(A::connect(address))?;
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let answer = match line?.as_str() {
            CHECK => serde_json::to_string(&check::<A, S>(&runtime, &mut arm, case)?)?,
            ROUND => serde_json::to_string(&round::<A, S>(&runtime, &mut arm, case)?)?,
            other => return Err(format!("told to do {other:?}").into()),
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn check<A: Arm, S: Compared>(runtime: &Runtime, arm: &mut A, case: &Case) -> Result<Contents> {
    let mut counter = Counter {
        hashes: Some(Box::default()),
        ..Counter::default()
    };
    runtime.block_on(arm.query::<S>(&case.name(), &mut counter))?;
    Ok(Contents {
        rows: counter.rows,
        columns: counter
            .hashes
            .unwrap_or_default()
            .columns
            .into_iter()
            .map(Hash::get)
            .collect(),
    })
}

fn round<A: Arm, S: Compared>(runtime: &Runtime, arm: &mut A, case: &Case) -> Result<Round> {
    let sql = case.name();
    let queries = case.queries as usize;
    let mut latencies = Vec::with_capacity(queries);
    let mut first_rows = Vec::with_capacity(queries);
    let mut rows = 0;
    let allocations = Allocations::now();
    let (cpu, started) = (cpu_time(), Instant::now());
    let mut now = started;
    runtime.block_on(async {
        for _ in 0..queries {
            let mut counter = Counter::default();
            arm.query::<S>(&sql, &mut counter).await?;
            rows += counter.rows;
            first_rows.extend(counter.first.map(|first| first - now));
            let end = Instant::now();
            latencies.push(end - now);
            now = end;
        }
        Result::Ok(())
    })?;
    let (cpu, wall) = (cpu_time() - cpu, started.elapsed());
    let end = Allocations::now();
    let allocations = end.since(allocations);
    let is_read = A::NAME != Floor::NAME;
    let expected = case.rows * u64::from(case.queries);
    if is_read && rows != expected {
        return Err(format!("{rows} rows came instead of {expected}").into());
    }
    let memory = memory()?;
    Ok(Round {
        rows: expected,
        queries: u64::from(case.queries),
        cpu: nanos(cpu),
        wall: nanos(wall),
        allocations: allocations.count,
        allocated: allocations.bytes,
        live: end.live(),
        peak_memory: memory.peak,
        memory: memory.now,
        latency: spread(&mut latencies),
        first_row: spread(&mut first_rows),
    })
}

/// Counts rows and looks at the clock once. Rows are checked and timed by the same compiled code.
#[derive(Default)]
pub(crate) struct Counter {
    pub(crate) rows: u64,
    first: Option<Instant>,
    hashes: Option<Box<Hashes>>,
}

impl Counter {
    #[inline(always)]
    pub(crate) fn row(&mut self, row: &impl Content) {
        self.rows += 1;
        black_box(row);
        if self.rows == 1 || self.hashes.is_some() {
            self.look_at(row);
        }
    }

    #[cold]
    #[inline(never)]
    fn look_at(&mut self, row: &impl Content) {
        self.first.get_or_insert_with(Instant::now);
        if let Some(hashes) = &mut self.hashes {
            row.feed(hashes);
        }
    }
}

fn spread(times: &mut [Duration]) -> Spread {
    times.sort_unstable();
    let at =
        |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
    let at = |share| at(share).copied().map_or(0, nanos);
    let sum: Duration = times.iter().sum();
    Spread {
        mean: nanos(sum) / times.len().max(1) as u64,
        p50: at(50),
        p90: at(90),
        p99: at(99),
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
