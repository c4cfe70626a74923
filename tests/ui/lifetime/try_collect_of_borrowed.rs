use spanner_rows::{Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

async fn all(mut rows: RowStream<Singer<'_>>) -> Result<(), Error> {
    let singers: Vec<Singer> = rows.try_collect().await?;
    println!("{}", singers.len());
    Ok(())
}

fn main() {}
