use spanner_rows::{Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

async fn compare(mut rows: RowStream<Singer<'_>>) -> Result<bool, Error> {
    let first = rows.next().await?;
    let second = rows.next().await?;
    Ok(first.map(|row| row.name) == second.map(|row| row.name))
}

fn main() {}
