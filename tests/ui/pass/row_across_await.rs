//! A row stays good while something else is awaited.

use spanner_rows::{Client, Error, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    id: i64,
    name: &'row str,
}

#[derive(SpannerRow)]
struct Document<'row> {
    id: &'row str,
    tags: Vec<String>,
}

async fn nested(client: Client) -> Result<(), Error> {
    let mut singers = client.query("SELECT 1").rows::<Singer>().await?;
    while let Some(singer) = singers.next().await? {
        let albums = client.query("SELECT @id").param("id", singer.id);
        let (count,): (i64,) = albums.one().await?;
        tokio::task::yield_now().await;
        println!("{} {count}", singer.name);
    }
    let mut documents = client.query("SELECT 1").rows::<Document>().await?;
    while let Some(document) = documents.next().await? {
        tokio::task::yield_now().await;
        println!("{} {}", document.id, document.tags.len());
    }
    Ok(())
}

fn main() {
    let _ = |client| tokio::spawn(nested(client));
}
