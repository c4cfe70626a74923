//! Rows without a lifetime are handed out.

use std::collections::BTreeSet;

use spanner_rows::{Client, Error, RowStream, SpannerRow};

#[derive(Eq, Ord, PartialEq, PartialOrd, SpannerRow)]
struct Count {
    name: String,
    n: i64,
}

async fn all(mut rows: RowStream<Count>) -> Result<Vec<Count>, Error> {
    rows.try_collect().await
}

async fn set(mut rows: RowStream<Count>) -> Result<BTreeSet<Count>, Error> {
    rows.try_collect().await
}

async fn one(client: Client) -> Result<(Count, Option<Count>, (i64, String)), Error> {
    let one = client.query("SELECT 1").one::<Count>().await?;
    let optional = client.query("SELECT 1").optional().await?;
    let tuple = client.query("SELECT 1").one().await?;
    Ok((one, optional, tuple))
}

async fn cloned(mut rows: RowStream<Count>) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    while let Some(count) = rows.next().await? {
        names.push(std::mem::take(&mut count.name));
    }
    Ok(names)
}

fn main() {
    let _ = (all, set, one, cloned);
}
