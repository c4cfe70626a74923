//! Two streams advance independently, a row of each alive at a time.

use spanner_rows::{Error, RowStream, SpannerRow};

#[derive(SpannerRow)]
struct Singer<'row> {
    id: i64,
    name: &'row str,
}

#[derive(SpannerRow)]
struct Album<'row> {
    singer_id: i64,
    title: &'row str,
}

async fn join(
    mut singers: RowStream<Singer<'_>>,
    mut albums: RowStream<Album<'_>>,
) -> Result<(), Error> {
    let mut album = albums.next().await?;
    while let Some(singer) = singers.next().await? {
        while let Some(current) = &album {
            if current.singer_id > singer.id {
                break;
            }
            if current.singer_id == singer.id {
                println!("{} {}", singer.name, current.title);
            }
            album = albums.next().await?;
        }
    }
    Ok(())
}

fn main() {
    let _ = join;
}
