use spanner_rows::{Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

async fn spawn_each(mut rows: RowStream<Singer<'static>>) -> Result<(), Error> {
    while let Some(singer) = rows.next().await? {
        tokio::spawn(async move { println!("{}", singer.name) });
    }
    Ok(())
}

fn main() {}
