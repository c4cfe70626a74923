use spanner_rows::{Client, Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

async fn one(mut rows: RowStream<Singer<'_>>) -> Result<(), Error> {
    let singer = rows.one().await?;
    println!("{}", singer.name);
    Ok(())
}

async fn query(client: Client) -> Result<(), Error> {
    let singer: Singer = client.query("SELECT 1").one().await?;
    println!("{}", singer.name);
    Ok(())
}

fn main() {}
