//! The guard of a mixed row gives memory back when it is dropped, so it must be
//! gone before the next row.

use spanner_rows::{Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Document<'row> {
    id: &'row str,
    tags: Vec<String>,
}

async fn compare(mut rows: RowStream<Document<'_>>) -> Result<(), Error> {
    let first = rows.next().await?;
    let second = rows.next().await?;
    drop(second);
    drop(first);
    Ok(())
}

fn main() {}
