//! Tasks read one batch at the same time; rows of a batch live side by side.

use std::sync::Arc;

use spanner_rows::{Error, RowBatch, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

async fn share(mut rows: RowStream<Singer<'_>>) -> Result<(), Error> {
    while let Some(batch) = rows.next_batch().await? {
        let all: Vec<Singer<'_>> = batch.iter().collect::<Result<_, _>>()?;
        let longest = all.iter().max_by_key(|singer| singer.name.len());
        println!("{:?}", longest.map(|singer| singer.name));
    }
    Ok(())
}

async fn two_tasks(batch: RowBatch<Singer<'static>>) {
    let batch = Arc::new(batch);
    let other = Arc::clone(&batch);
    let first = tokio::spawn(async move { other.row(0).map(|singer| singer.name.len()) });
    let last = tokio::spawn(async move {
        let mut len = 0;
        for singer in batch.iter() {
            let Ok(singer) = singer else { continue };
            tokio::task::yield_now().await;
            len += singer.name.len();
        }
        len
    });
    let _ = (first.await, last.await);
}

fn main() {
    fn send_and_sync<T: Send + Sync + 'static>() {}
    send_and_sync::<RowBatch<Singer<'static>>>();
    let _ = (share, two_tasks);
}
