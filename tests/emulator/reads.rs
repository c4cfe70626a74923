//! Reads by key, keys, range and index.

use spanner_rows::testing::Database;
use spanner_rows::{Client, Code, ErrorKind, KeyRange, Read, Row, SpannerRow};

use crate::support;

const DDL: [&str; 2] = [
    "CREATE TABLE Albums (SingerId INT64 NOT NULL, AlbumId STRING(MAX), Title STRING(MAX), Year INT64) PRIMARY KEY (SingerId, AlbumId)",
    "CREATE INDEX AlbumsByTitle ON Albums (Title) STORING (Year)",
];

/// NULL sorts before all else; the titles are in another order than the keys.
const ALBUMS: [(i64, Option<&str>, &str, Option<i64>); 8] = [
    (1, None, "No key", None),
    (1, Some("a"), "Total Junk", Some(1991)),
    (1, Some("b"), "Go, Go, Go", Some(1992)),
    (2, Some("a"), "Green", Some(1993)),
    (2, Some("b"), "Forever", None),
    (2, Some("c"), "Terrified", Some(1995)),
    (3, Some("a"), "Nothing", Some(1996)),
    (5, Some("z"), "żółć", Some(1997)),
];

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Album {
    title: String,
    singer_id: i64,
    album_id: Option<String>,
    year: Option<i64>,
}

async fn albums() -> Option<(Database, Client)> {
    let (database, client) = support::database(&DDL).await?;
    let values = ALBUMS.map(|(singer, album, title, year)| {
        let album = album.map_or_else(|| "NULL".to_owned(), |album| format!("'{album}'"));
        let year = year.map_or_else(|| "NULL".to_owned(), |year| year.to_string());
        format!("({singer}, {album}, '{title}', {year})")
    });
    let insert = format!(
        "INSERT INTO Albums (SingerId, AlbumId, Title, Year) VALUES {}",
        values.join(", ")
    );
    database.execute(&insert).await.unwrap();
    Some((database, client))
}

/// The titles of what a read finds, in order.
async fn titles(read: Read<Album>) -> Vec<String> {
    let mut rows = read.rows().await.unwrap();
    let mut titles = Vec::new();
    while let Some(album) = rows.next().await.unwrap() {
        let expected = ALBUMS
            .iter()
            .find(|expected| expected.2 == album.title)
            .unwrap();
        assert_eq!(
            (album.singer_id, album.album_id.as_deref()),
            (expected.0, expected.1)
        );
        assert_eq!(album.year, expected.3);
        titles.push(album.title.clone());
    }
    titles
}

#[tokio::test]
async fn by_key() {
    let Some((_database, client)) = albums().await else {
        return;
    };
    let read = || client.read::<Album>("Albums");
    let album = read().key((2_i64, "b")).one().await.unwrap();
    assert_eq!((album.title.as_str(), album.year), ("Forever", None));
    // A part of a key may be NULL.
    assert_eq!(titles(read().key((1_i64, None::<&str>))).await, ["No key"]);
    assert_eq!(read().key((4_i64, "a")).optional().await.unwrap(), None);
    let error = read().key((4_i64, "a")).one().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoRow), "{error}");
    // Several keys, in any order, one of them twice, one of no row.
    let keys = [(3_i64, "a"), (1, "b"), (9, "x"), (3, "a")];
    assert_eq!(titles(read().keys(keys)).await, ["Go, Go, Go", "Nothing"]);
    assert_eq!(titles(read().keys([(0_i64, ""); 0])).await, [""; 0]);
    // A key that is too short is the server's to refuse.
    let error = read().key(1_i64).rows().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Status { .. }), "{error}");
}

#[tokio::test]
async fn by_range() {
    let Some((_database, client)) = albums().await else {
        return;
    };
    let range = |range: KeyRange| titles(client.read::<Album>("Albums").range(range));
    let (b, c) = ((1_i64, "b"), (2_i64, "c"));
    assert_eq!(
        range(KeyRange::closed_closed(b, c)).await,
        ["Go, Go, Go", "Green", "Forever", "Terrified"]
    );
    assert_eq!(
        range(KeyRange::closed_open(b, c)).await,
        ["Go, Go, Go", "Green", "Forever"]
    );
    assert_eq!(
        range(KeyRange::open_closed(b, c)).await,
        ["Green", "Forever", "Terrified"]
    );
    assert_eq!(range(KeyRange::open_open(b, c)).await, ["Green", "Forever"]);
    assert_eq!(
        range(KeyRange::prefix(1_i64)).await,
        ["No key", "Total Junk", "Go, Go, Go"]
    );
    assert_eq!(range(KeyRange::prefix(4_i64)).await, [""; 0]);
    assert_eq!(
        range(KeyRange::open_closed(1_i64, 2_i64)).await,
        ["Green", "Forever", "Terrified"]
    );

    // Ranges of Rust, also with open ends.
    let read = || client.read::<Album>("Albums");
    assert_eq!(
        titles(read().range(2_i64..3)).await,
        ["Green", "Forever", "Terrified"]
    );
    assert_eq!(
        titles(read().range(2_i64..=3)).await,
        ["Green", "Forever", "Terrified", "Nothing"]
    );
    assert_eq!(titles(read().range(3_i64..)).await, ["Nothing", "żółć"]);
    assert_eq!(
        titles(read().range(..(1_i64, "b"))).await,
        ["No key", "Total Junk"]
    );
    assert_eq!(
        titles(read().range(..=(1_i64, "b"))).await,
        ["No key", "Total Junk", "Go, Go, Go"]
    );
    // Keys and ranges together; what is in both comes once.
    let both = read()
        .key((5_i64, "z"))
        .range(KeyRange::prefix(3_i64))
        .range(3_i64..=4);
    assert_eq!(titles(both).await, ["Nothing", "żółć"]);
}

#[tokio::test]
async fn everything_and_limits() {
    let Some((_database, client)) = albums().await else {
        return;
    };
    let all = ALBUMS.map(|album| album.2);
    assert_eq!(titles(client.read("Albums").all()).await, all);
    assert_eq!(titles(client.read("Albums").all().limit(3)).await, all[..3]);
    assert_eq!(titles(client.read("Albums").all().limit(99)).await, all);
    let range = client.read("Albums").range(2_i64..).limit(2);
    assert_eq!(titles(range).await, ["Green", "Forever"]);
}

#[tokio::test]
async fn by_index() {
    let Some((_database, client)) = albums().await else {
        return;
    };
    let read = || client.read::<Album>("Albums").index("AlbumsByTitle");
    assert_eq!(titles(read().key("Green")).await, ["Green"]);
    let mut sorted = ALBUMS.map(|album| album.2);
    sorted.sort_unstable();
    assert_eq!(titles(read().all()).await, sorted);
    assert_eq!(
        titles(read().range("G".."H")).await,
        ["Go, Go, Go", "Green"]
    );
    assert_eq!(
        titles(read().range("Total Junk"..).limit(1)).await,
        ["Total Junk"]
    );

    let error = client
        .read::<Album>("Albums")
        .index("NoSuchIndex")
        .all()
        .rows()
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
    assert!(error.to_string().contains("NoSuchIndex"), "{error}");
}

/// Rows that name no columns get a list.
#[tokio::test]
async fn columns_by_list() {
    let Some((_database, client)) = albums().await else {
        return;
    };
    let mut rows = client
        .read::<(&str, i64)>("Albums")
        .columns(["Title", "SingerId"])
        .range(3_i64..)
        .rows()
        .await
        .unwrap();
    assert_eq!(rows.next().await.unwrap(), Some(("Nothing", 3)));
    assert_eq!(rows.next().await.unwrap(), Some(("żółć", 5)));
    assert_eq!(rows.next().await.unwrap(), None);

    let batch = client
        .read::<Row>("Albums")
        .columns(["Year"])
        .key((2_i64, "c"))
        .one_batch()
        .await
        .unwrap();
    assert_eq!(batch.row(0).unwrap().get::<i64>("Year").unwrap(), 1995);

    let error = client.read::<Row>("Albums").all().rows().await.unwrap_err();
    assert!(error.to_string().contains(".columns("), "{error}");
    let error = client.read::<Album>("Albums").rows().await.unwrap_err();
    assert!(error.to_string().contains(".all()"), "{error}");
    let read = client
        .read::<(i64,)>("Albums")
        .columns(["NoSuchColumn"])
        .all();
    let error = read.rows().await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
    assert!(error.to_string().contains("NoSuchColumn"), "{error}");
}
