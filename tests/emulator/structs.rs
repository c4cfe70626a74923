//! Arrays of structs in a result, also nested, borrowed and owned.

use spanner_rows::SpannerRow;

use crate::support;

/// Singers with albums with songs, made up in SQL: no table is needed.
const SQL: &str = "SELECT s AS Id, CONCAT('singer ', CAST(s AS STRING)) AS Name,
    ARRAY(
        SELECT AS STRUCT CONCAT('album ', CAST(a AS STRING), IF(a = 2, ' 🎷', '')) AS Title, IF(a = 1, NULL, 1990 + a) AS Year,
            ARRAY(SELECT AS STRUCT t AS Number, CAST(CONCAT('song ', CAST(t AS STRING)) AS BYTES) AS Data
                FROM UNNEST(GENERATE_ARRAY(1, a)) AS t ORDER BY t) AS Songs
        FROM UNNEST(GENERATE_ARRAY(1, s)) AS a ORDER BY a) AS Albums
    FROM UNNEST(GENERATE_ARRAY(0, 4)) AS s ORDER BY s";

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Singer {
    id: i64,
    name: String,
    albums: Vec<Album>,
}

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Album {
    title: String,
    year: Option<i64>,
    songs: Vec<Song>,
}

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Song {
    number: i64,
    data: Vec<u8>,
}

/// Its nested columns in another order than the result's, one left out.
#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct SingerRef<'row> {
    albums: Vec<AlbumRef<'row>>,
    name: &'row str,
    id: i64,
}

#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct AlbumRef<'row> {
    songs: Vec<SongRef<'row>>,
    title: &'row str,
}

#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct SongRef<'row> {
    data: &'row [u8],
    number: i64,
}

fn expected() -> Vec<Singer> {
    let song = |number: i64| Song {
        number,
        data: format!("song {number}").into_bytes(),
    };
    let album = |a: i64| Album {
        title: format!("album {a}{}", if a == 2 { " 🎷" } else { "" }),
        year: (a > 1).then_some(1990 + a),
        songs: (1..=a).map(song).collect(),
    };
    let singer = |id: i64| Singer {
        id,
        name: format!("singer {id}"),
        albums: (1..=id).map(album).collect(),
    };
    (0..5).map(singer).collect()
}

#[tokio::test]
async fn owned() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let all: Vec<Singer> = client
        .query(SQL)
        .rows::<Singer>()
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    assert_eq!(all, expected());

    // The same into memory that is used again: longer and longer, then from the largest down.
    let backwards = SQL.replace("ORDER BY s", "ORDER BY s DESC");
    let mut forwards = client.query(SQL).rows::<Singer>().await.unwrap();
    for expected in expected() {
        assert_eq!(*forwards.next().await.unwrap().unwrap(), expected);
    }
    let mut backwards = client.query(backwards).rows::<Singer>().await.unwrap();
    for expected in expected().into_iter().rev() {
        assert_eq!(*backwards.next().await.unwrap().unwrap(), expected);
    }
}

#[tokio::test]
async fn borrowed() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let mut rows = client.query(SQL).rows::<SingerRef>().await.unwrap();
    for expected in expected() {
        let row = rows
            .next()
            .await
            .unwrap()
            .expect("as many rows as asked for");
        assert_eq!((row.id, row.name), (expected.id, expected.name.as_str()));
        assert_eq!(row.albums.len(), expected.albums.len());
        for (album, expected) in row.albums.iter().zip(&expected.albums) {
            assert_eq!(album.title, expected.title);
            let songs = album.songs.iter().map(|song| (song.number, song.data));
            let expected = expected
                .songs
                .iter()
                .map(|song| (song.number, song.data.as_slice()));
            assert!(songs.eq(expected));
        }
    }
    assert!(rows.next().await.unwrap().is_none());
}

/// NULL among structs, unnamed fields, tuples in place of derived rows.
#[tokio::test]
async fn tuples_and_null() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let sql = "SELECT [STRUCT(1, 'a'), NULL, (2, 'b')], ARRAY(SELECT AS STRUCT 1, 'a' FROM UNNEST([0]) AS x WHERE x > 0), CAST(NULL AS ARRAY<STRUCT<INT64, STRING>>)";
    type Pairs = Vec<Option<(i64, String)>>;
    let (pairs, empty, null): (Pairs, Pairs, Option<Pairs>) =
        client.query(sql).one().await.unwrap();
    assert_eq!(
        pairs,
        [Some((1, "a".to_owned())), None, Some((2, "b".to_owned()))]
    );
    assert_eq!((empty.len(), null), (0, None));
}

#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct WrongSong {
    number: String,
    length: i64,
}

#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct WrongAlbum {
    songs: Vec<WrongSong>,
    year: i64,
}

#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct WrongSinger {
    albums: Vec<WrongAlbum>,
}

/// What is wrong deep inside is told with the whole way to it.
#[tokio::test]
async fn nested_structs_that_do_not_fit() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let error = client.query(SQL).rows::<WrongSinger>().await.unwrap_err();
    let text = error.to_string();
    for part in [
        "WrongSinger.albums",
        "WrongAlbum.songs",
        "WrongSong.number",
        "INT64",
        "WrongSong.length",
        "`Length`",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
