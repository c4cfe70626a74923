//! The stream ends with the function, and the buffer of the row with it.

use spanner_rows::{Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

async fn first<'a>(mut rows: RowStream<Singer<'a>>) -> Result<Option<Singer<'a>>, Error> {
    let first = rows.next().await?;
    Ok(first)
}

fn main() {}
