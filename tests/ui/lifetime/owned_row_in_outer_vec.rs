//! A row without a lifetime is lent too; `try_collect` hands rows out.

use spanner_rows::{Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Count {
    n: i64,
}

async fn collect(mut rows: RowStream<Count>) -> Result<(), Error> {
    let mut all = Vec::new();
    while let Some(count) = rows.next().await? {
        all.push(count);
    }
    println!("{}", all.len());
    Ok(())
}

fn main() {}
