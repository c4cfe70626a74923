use spanner_rows::{Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Document<'row> {
    id: &'row str,
    tags: Vec<String>,
}

async fn print(mut rows: RowStream<Document<'_>>) -> Result<(), Error> {
    while let Some(Document { id, tags }) = rows.next().await? {
        println!("{id} {}", tags.len());
    }
    Ok(())
}

fn main() {}
