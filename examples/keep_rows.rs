//! Keeping rows: as owned ones, or as borrowed ones together with the buffer that they
//! borrow from.
//!
//! ```sh
//! cargo run --example keep_rows
//! ```

#[path = "support/server.rs"]
mod server;

use std::collections::HashMap;
use std::sync::Arc;

use server::{Failed, SINGERS};
use spanner_rows::{Client, Error, RowBatch, SpannerRow};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    let server = server::start(2_000, |_| {}).await?;
    owned(&server.client).await?;
    pinned(&server.client).await?;
    one(&server.client).await?;
    Ok(())
}

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct OwnedSinger {
    singer_id: i64,
    first_name: String,
}

/// The plain way: each row has memory of its own. Prefer it when few rows of many are kept.
async fn owned(client: &Client) -> Result<(), Failed> {
    let mut rows = client.query(SINGERS).rows::<OwnedSinger>().await?;
    let all: Vec<OwnedSinger> = rows.try_collect().await?;
    let by_id: HashMap<_, _> = all
        .into_iter()
        .map(|singer| (singer.singer_id, singer.first_name))
        .collect();
    println!("owned: {} singers, number 7 is {}", by_id.len(), by_id[&7]);
    Ok(())
}

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Singer<'row> {
    singer_id: i64,
    first_name: &'row str,
    last_name: Option<&'row str>,
}

/// A row and the batch that it lies in, which other rows share. It is as `'static` as an
/// owned row, and takes no memory of its own; the batch stays as long as one row of it.
#[derive(Clone)]
struct Pinned {
    batch: Arc<RowBatch<Singer<'static>>>,
    row: usize,
}

impl Pinned {
    /// Decodes the row, which costs some nanoseconds for each column.
    fn get(&self) -> Result<Singer<'_>, Error> {
        self.batch.row(self.row)
    }
}

/// Prefer it when most rows are kept: nothing is copied.
async fn pinned(client: &Client) -> Result<(), Failed> {
    let mut rows = client.query(SINGERS).rows::<Singer>().await?;
    let mut by_id = HashMap::new();
    while let Some(batch) = rows.next_batch().await? {
        let batch = Arc::new(batch);
        for (row, singer) in batch.iter().enumerate() {
            let pinned = Pinned {
                batch: Arc::clone(&batch),
                row,
            };
            by_id.insert(singer?.singer_id, pinned);
        }
    }
    let kept = by_id[&7].clone();
    let singer = tokio::spawn(async move {
        let singer = kept.get()?;
        Ok::<_, Error>(format!(
            "{} {}",
            singer.first_name,
            singer.last_name.unwrap_or("(no last name)")
        ))
    });
    println!(
        "pinned: {} singers, number 7 is {}",
        by_id.len(),
        singer.await??
    );
    Ok(())
}

/// A single row that borrows: the batch has it, and nothing else.
async fn one(client: &Client) -> Result<(), Failed> {
    let batch = client
        .read::<Singer>("Singers")
        .key(7_i64)
        .one_batch()
        .await?;
    println!("one: number 7 is {}", batch.row(0)?.first_name);
    Ok(())
}
