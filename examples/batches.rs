//! Many borrowed rows alive at once: batches own the buffer that their rows borrow from,
//! and go to worker tasks.
//!
//! ```sh
//! cargo run --release --example batches
//! ```

#[path = "support/server.rs"]
mod server;

use std::collections::BTreeMap;

use server::{Failed, SINGERS};
use spanner_rows::{Error, RowBatch, SpannerRow};
use tokio::task::JoinSet;

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Singer<'row> {
    first_name: &'row str,
    last_name: Option<&'row str>,
    rating: f64,
}

const WORKERS: usize = 4;

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let server = server::start(20_000, |_| {}).await?;
    let mut rows = server.client.query(SINGERS).rows::<Singer>().await?;
    let mut workers = JoinSet::new();
    let (mut batches, mut best) = (0, BTreeMap::new());
    while let Some(batch) = rows.next_batch().await? {
        batches += 1;
        // Reads on while others work, but holds no more batches than there are workers.
        if workers.len() == WORKERS
            && let Some(done) = workers.join_next().await
        {
            merge(&mut best, done??);
        }
        workers.spawn(async move { best_of(&batch) });
    }
    while let Some(done) = workers.join_next().await {
        merge(&mut best, done??);
    }
    println!("{batches} batches, worked on by up to {WORKERS} tasks");
    for (name, (rating, full_name)) in best {
        println!("  best {name}: {full_name} with {rating}");
    }
    Ok(())
}

/// By first name: the best rating, and whose it is.
type Best = BTreeMap<String, (f64, String)>;

/// All rows of a batch are alive, and none of their text is copied, until the best are known.
fn best_of(batch: &RowBatch<Singer<'static>>) -> Result<Best, Error> {
    let singers = batch.iter().collect::<Result<Vec<_>, _>>()?;
    let mut best = BTreeMap::<&str, &Singer>::new();
    for singer in &singers {
        let so_far = best.entry(singer.first_name).or_insert(singer);
        if singer.rating > so_far.rating {
            *so_far = singer;
        }
    }
    let owned = best.into_iter().map(|(name, singer)| {
        let full_name = format!("{name} {}", singer.last_name.unwrap_or("(no last name)"));
        (name.to_owned(), (singer.rating, full_name))
    });
    Ok(owned.collect())
}

fn merge(all: &mut Best, part: Best) {
    for (name, (rating, full_name)) in part {
        let best = all.entry(name).or_default();
        if rating > best.0 {
            *best = (rating, full_name);
        }
    }
}
