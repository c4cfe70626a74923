//! The loop over a stream is a future that can be sent, whatever its row.

use spanner_rows::{Client, Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

#[derive(SpannerRow)]
struct Document<'row> {
    id: &'row str,
    tags: Vec<String>,
}

#[derive(SpannerRow)]
struct Count {
    n: i64,
}

async fn print(client: Client) -> Result<(), Error> {
    let mut rows = client.query("SELECT 1").rows::<Singer>().await?;
    while let Some(Singer { name }) = rows.next().await? {
        println!("{name}");
    }
    let mut rows = client.query("SELECT 1").rows::<Document>().await?;
    while let Some(document) = rows.next().await? {
        let Document { id, tags } = &*document;
        println!("{id} {}", tags.len());
    }
    let mut rows = client.query("SELECT 1").rows::<Count>().await?;
    while let Some(Count { n }) = rows.next().await? {
        *n += 1;
    }
    let mut rows = client.query("SELECT 1").rows::<(i64, &str)>().await?;
    while let Some((n, name)) = rows.next().await? {
        println!("{n} {name}");
    }
    Ok(())
}

async fn drain<T: SpannerRow + 'static>(mut rows: RowStream<T>) -> Result<u64, Error> {
    let mut count = 0;
    while rows.next().await?.is_some() {
        count += 1;
    }
    Ok(count)
}

async fn spawn(client: Client) -> Result<(), Error> {
    tokio::spawn(print(client.clone()));
    tokio::spawn(drain(client.query("SELECT 1").rows::<Singer>().await?));
    tokio::spawn(drain(client.query("SELECT 1").rows::<Document>().await?));
    tokio::spawn(drain(client.query("SELECT 1").rows::<Count>().await?));
    Ok(())
}

fn main() {
    let _ = spawn;
}
