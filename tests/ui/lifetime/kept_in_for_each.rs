use spanner_rows::{Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

async fn names(mut rows: RowStream<Singer<'_>>) -> Result<(), Error> {
    let mut names = Vec::new();
    rows.for_each(|singer| names.push(singer.name)).await?;
    println!("{}", names.len());
    Ok(())
}

fn main() {}
