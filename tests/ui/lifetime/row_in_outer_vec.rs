use spanner_rows::{Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

async fn collect(mut rows: RowStream<Singer<'_>>) -> Result<(), Error> {
    let mut all = Vec::new();
    while let Some(singer) = rows.next().await? {
        all.push(singer);
    }
    println!("{}", all.len());
    Ok(())
}

fn main() {}
