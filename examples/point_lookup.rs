//! Reads single rows by key, as a web server does, and prints how long it took.
//!
//! ```sh
//! cargo run --release --example point_lookup
//! ```
//!
//! `LOOKUPS` sets how many (2,000 unless said), `AT_ONCE` how many at a time (8).

#[path = "support/server.rs"]
mod server;

use std::time::{Duration, Instant};

use server::Failed;
use spanner_rows::{Client, Error, SpannerRow};
use tokio::task::JoinSet;

const SINGERS: u64 = 1_000;

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Singer<'row> {
    singer_id: i64,
    first_name: &'row str,
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let (lookups, at_once) = (number("LOOKUPS", 2_000)?, number("AT_ONCE", 8)?);
    let server = server::start(SINGERS, |_| {}).await?;
    // The first call makes the session and the connection; the others find them.
    look_up(&server.client, 0).await?;

    let started = Instant::now();
    let mut workers = JoinSet::new();
    for worker in 0..at_once {
        let client = server.client.clone();
        workers.spawn(async move {
            let mut times = Vec::new();
            for i in (worker..lookups).step_by(at_once) {
                times.push(look_up(&client, i as u64 * 7 % SINGERS).await?);
            }
            Ok::<_, Error>(times)
        });
    }
    let mut times = Vec::new();
    while let Some(done) = workers.join_next().await {
        times.extend(done??);
    }
    let seconds = started.elapsed().as_secs_f64();

    times.sort_unstable();
    println!(
        "{} lookups, {at_once} at a time: {:.0} per second",
        times.len(),
        times.len() as f64 / seconds
    );
    for (name, share) in [("half", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("all", 1.0)] {
        println!("  {name:>4} within {:?}", percentile(&times, share));
    }
    Ok(())
}

async fn look_up(client: &Client, id: u64) -> Result<Duration, Error> {
    let started = Instant::now();
    // `one_batch`: the row borrows from the message; `one` would copy the name.
    let batch = client
        .read::<Singer>("Singers")
        .key(id as i64)
        .one_batch()
        .await?;
    let singer = batch.row(0)?;
    assert_eq!(singer.singer_id, id as i64, "{}", singer.first_name);
    Ok(started.elapsed())
}

/// `times` are in order, and not empty.
fn percentile(times: &[Duration], share: f64) -> Duration {
    let rank = (times.len() as f64 * share).ceil() as usize;
    times[rank.clamp(1, times.len()) - 1]
}

fn number(name: &str, default: usize) -> Result<usize, Failed> {
    match std::env::var(name).map(|text| text.parse()) {
        Err(_) => Ok(default),
        Ok(Ok(number)) if number > 0 => Ok(number),
        Ok(_) => Err(format!("{name} is a number from 1 on").into()),
    }
}
