//! `next()` can be dropped and called again.

use std::time::Duration;

use spanner_rows::{Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    name: &'row str,
}

async fn read(mut rows: RowStream<Singer<'_>>) -> Result<(), Error> {
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            row = rows.next() => match row? {
                Some(singer) => println!("{}", singer.name),
                None => break,
            },
            _ = ticks.tick() => println!("still there"),
        }
        match tokio::time::timeout(Duration::from_millis(5), rows.next()).await {
            Ok(Ok(Some(singer))) => println!("{}", singer.name),
            Ok(Ok(None)) => break,
            Ok(Err(error)) => return Err(error),
            Err(_too_long) => {}
        }
    }
    Ok(())
}

fn main() {
    let _ = read;
}
