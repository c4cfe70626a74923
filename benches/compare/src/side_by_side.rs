//! A scan in partitions, as far as a client is concerned: rows per second with one query and with two at once, each in
//! a task of its own, on one client and two cores. The server needs its share of the same cores.

use std::future::Future;
use std::time::Instant;

use spanner_rows::Client;
use tokio::task::JoinSet;

use crate::Result;
use crate::arms::ours;
use crate::cases::Case;
use crate::run::Server;
use crate::shapes::content::{Discard, Sink as _};
use crate::shapes::rows::{Narrow, Strings8};

const ROUNDS: usize = 9;
/// One after another in each task.
const QUERIES: u64 = 4;

pub(crate) fn run() -> Result<()> {
    println!("rows/s with 1 task and with 2, and the ratio (medians of {ROUNDS} rounds)");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    for name in ["strings8-32KiB", "narrow-32KiB"] {
        let case = Case::named(name)?;
        let server = Server::start(&case, "all")?;
        runtime.block_on(async {
            let client = ours::client(&server.address).await?;
            if name.starts_with("narrow") {
                report(&case, "ours, borrowed next", || narrow_next(client.clone())).await?;
                report(&case, "ours, borrowed batch", || {
                    narrow_batch(client.clone())
                })
                .await?;
            } else {
                report(&case, "ours, borrowed next", || {
                    strings_next(client.clone())
                })
                .await?;
                report(&case, "ours, borrowed batch", || {
                    strings_batch(client.clone())
                })
                .await?;
            }
            Result::Ok(())
        })?;
    }
    Ok(())
}

async fn report<F>(case: &Case, arm: &str, query: impl Fn() -> F) -> Result<()>
where
    F: Future<Output = Result<u64>> + Send + 'static,
{
    let (mut one, mut two) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        one.push(rate(case, 1, &query).await?);
        two.push(rate(case, 2, &query).await?);
    }
    let (one, two) = (median(one), median(two));
    println!(
        "  {:<16} {arm:<22} {one:>12.0} {two:>12.0} {:>6.2}",
        case.name(),
        two / one
    );
    Ok(())
}

/// Rows per second of all tasks together.
async fn rate<F>(case: &Case, tasks: u64, query: impl Fn() -> F) -> Result<f64>
where
    F: Future<Output = Result<u64>> + Send + 'static,
{
    let started = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..tasks {
        running.spawn(query());
    }
    let mut rows = 0;
    while let Some(read) = running.join_next().await {
        rows += read??;
    }
    let expected = tasks * QUERIES * case.rows;
    if rows != expected {
        return Err(format!("{rows} rows came instead of {expected}").into());
    }
    Ok(rows as f64 / started.elapsed().as_secs_f64())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

macro_rules! queries {
    ($($next:ident $batch:ident $row:ident;)+) => {$(
        async fn $next(client: Client) -> Result<u64> {
            let mut count = 0;
            for _ in 0..QUERIES {
                let mut rows = client.query("SELECT").rows::<$row>().await?;
                while let Some(row) = rows.next().await? {
                    Discard.row(&row);
                    count += 1;
                }
            }
            Ok(count)
        }

        async fn $batch(client: Client) -> Result<u64> {
            let mut count = 0;
            for _ in 0..QUERIES {
                let mut rows = client.query("SELECT").rows::<$row>().await?;
                while let Some(batch) = rows.next_batch().await? {
                    for row in &batch {
                        Discard.row(&row?);
                        count += 1;
                    }
                }
            }
            Ok(count)
        }
    )+};
}

queries! {
    strings_next strings_batch Strings8;
    narrow_next narrow_batch Narrow;
}
