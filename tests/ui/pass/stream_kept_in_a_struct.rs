//! A stream is returned from a function and kept.

use spanner_rows::{Client, Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

struct Reader {
    rows: RowStream<Singer<'static>>,
    seen: u64,
}

async fn open(client: &Client) -> Result<RowStream<Singer<'static>>, Error> {
    client.query("SELECT 1").rows().await
}

impl Reader {
    async fn new(client: &Client) -> Result<Self, Error> {
        let rows = open(client).await?;
        Ok(Self { rows, seen: 0 })
    }

    async fn next(&mut self) -> Result<Option<Singer<'_>>, Error> {
        self.seen += 1;
        self.rows.next().await
    }
}

async fn read(client: Client) -> Result<(), Error> {
    let mut reader = Reader::new(&client).await?;
    while let Some(singer) = reader.next().await? {
        println!("{}", singer.name);
    }
    Ok(())
}

fn main() {
    let _ = |client| tokio::spawn(read(client));
}
