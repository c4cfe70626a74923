//! Code over any row needs no more than `T: SpannerRow`.

use spanner_rows::{Client, Error, OwnedRow, RowBatch, RowStream, SpannerRow};

async fn count<T: SpannerRow>(rows: &mut RowStream<T>) -> Result<usize, Error> {
    let mut count = 0;
    while let Some(row) = rows.next().await? {
        drop(row);
        count += 1;
    }
    Ok(count)
}

async fn batches<T: SpannerRow>(client: &Client, sql: &str) -> Result<Vec<RowBatch<T>>, Error> {
    let mut rows = client.query(sql).rows::<T>().await?;
    let mut batches = Vec::new();
    while let Some(batch) = rows.next_batch().await? {
        batches.push(batch);
    }
    Ok(batches)
}

async fn look<T, F>(mut rows: RowStream<T>, mut look: F) -> Result<(), Error>
where
    T: SpannerRow,
    F: FnMut(T::Lent<'_>),
{
    while let Some(row) = rows.next().await? {
        look(row);
    }
    Ok(())
}

async fn all<T: OwnedRow>(client: &Client, sql: &str) -> Result<Vec<T>, Error> {
    client.query(sql).rows::<T>().await?.try_collect().await
}

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

#[derive(SpannerRow)]
struct Count {
    n: i64,
}

async fn run(client: Client) -> Result<(), Error> {
    let mut rows = client.query("SELECT 1").rows::<Singer>().await?;
    count(&mut rows).await?;
    look(rows, |singer| println!("{}", singer.name)).await?;
    batches::<Singer>(&client, "SELECT 1").await?;
    all::<Count>(&client, "SELECT 1").await?;
    Ok(())
}

fn main() {
    let _ = run;
}
