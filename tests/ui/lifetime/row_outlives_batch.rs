use spanner_rows::{Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

async fn longest(mut rows: RowStream<Singer<'_>>) -> Result<(), Error> {
    let mut longest = "";
    while let Some(batch) = rows.next_batch().await? {
        for singer in batch.iter() {
            let singer = singer?;
            if singer.name.len() > longest.len() {
                longest = singer.name;
            }
        }
    }
    println!("{longest}");
    Ok(())
}

fn main() {}
