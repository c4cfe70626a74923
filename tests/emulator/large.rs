//! Results much larger than one message, so that the server cuts them, also
//! inside values.

use spanner_rows::{Client, Query, Row, SpannerRow, Value};

use crate::support;

/// Characters of one to four bytes.
const PIECE: &str = "aż€🎷";

#[derive(Debug, SpannerRow)]
struct Long<'row> {
    n: i64,
    text: &'row str,
    bytes: &'row [u8],
    ints: Vec<i64>,
    texts: Vec<&'row str>,
    end: &'row str,
}

#[derive(Debug, SpannerRow)]
struct LongOwned {
    n: i64,
    text: String,
    bytes: Vec<u8>,
    ints: Vec<i64>,
    texts: Vec<String>,
    end: String,
}

/// Two rows of 1.5 MiB of text and as many bytes, and arrays of more than 1 MiB
/// on the wire, with a short one between. The emulator makes no value of more
/// than 1 MiB itself, so the long ones are parameters.
const SQL: &str = "SELECT n,
        CASE n WHEN 1 THEN @text1 WHEN 3 THEN @text3 ELSE '' END AS text,
        CASE n WHEN 1 THEN @bytes1 WHEN 3 THEN @bytes3 ELSE b'' END AS bytes,
        CASE n WHEN 1 THEN @ints1 WHEN 3 THEN @ints3 ELSE [] END AS ints,
        CASE n WHEN 1 THEN @texts1 WHEN 3 THEN @texts3 ELSE [] END AS texts,
        CONCAT('end of ', CAST(n AS STRING)) AS `end`
    FROM UNNEST([1, 2, 3]) AS n ORDER BY n";

fn query(client: &Client) -> Query {
    [1, 3].into_iter().fold(client.query(SQL), |query, n| {
        query
            .param(format!("text{n}"), long_text(n))
            .param(format!("bytes{n}"), long_bytes(n))
            .param(format!("ints{n}"), ints(n).collect::<Vec<_>>())
            .param(format!("texts{n}"), texts(n).collect::<Vec<_>>())
    })
}

fn ints(n: i64) -> std::ops::Range<i64> {
    if n == 2 { 0..0 } else { n..150_000 + n }
}

fn texts(n: i64) -> impl Iterator<Item = String> {
    let numbers = if n == 2 { 0..0 } else { 0..100_000 };
    numbers.map(move |i| format!("é{}", i * n))
}

fn long_text(n: i64) -> String {
    if n == 2 {
        return String::new();
    }
    let i = usize::try_from(n).unwrap();
    format!("{n}{}|{n}", PIECE.repeat(157_000 + i))
}

fn long_bytes(n: i64) -> Vec<u8> {
    if n == 2 {
        return vec![];
    }
    let i = usize::try_from(n).unwrap();
    let mut bytes = n.to_string().into_bytes();
    bytes.extend([0, 255, 127].repeat(260_000));
    bytes.extend([128].repeat(700_000 + i));
    bytes
}

fn check(n: i64, text: &str, bytes: &[u8], ints: &[i64], end: &str) {
    assert!(text == long_text(n), "text of row {n}");
    assert!(bytes == long_bytes(n), "bytes of row {n}");
    assert!(ints.iter().copied().eq(self::ints(n)), "numbers of row {n}");
    assert_eq!(end, format!("end of {n}"));
}

fn check_texts<'a>(n: i64, found: impl Iterator<Item = &'a str>) {
    assert!(found.eq(texts(n)), "texts of row {n}");
}

#[tokio::test]
async fn long_values_borrowed() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let mut rows = query(&client).rows::<Long>().await.unwrap();
    let mut seen = 0;
    while let Some(row) = rows.next().await.unwrap() {
        seen += 1;
        assert_eq!(row.n, seen);
        check(row.n, row.text, row.bytes, &row.ints, row.end);
        check_texts(row.n, row.texts.iter().copied());
    }
    assert_eq!(seen, 3);
}

#[tokio::test]
async fn long_values_owned() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let mut rows = query(&client).rows::<LongOwned>().await.unwrap();
    let mut seen = 0;
    while let Some(row) = rows.next().await.unwrap() {
        seen += 1;
        assert_eq!(row.n, seen);
        check(row.n, &row.text, &row.bytes, &row.ints, &row.end);
        check_texts(row.n, row.texts.iter().map(String::as_str));
    }
    assert_eq!(seen, 3);
}

#[tokio::test]
async fn long_values_in_batches_and_undecoded() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let mut rows = query(&client).rows::<Row>().await.unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = rows.next_batch().await.unwrap() {
        batches.push(batch);
    }
    // All of them alive, read when the stream is done with.
    drop(rows);
    let mut seen = 0;
    for row in batches.iter().flatten() {
        let row = row.unwrap();
        seen += 1;
        let n: i64 = row.get("n").unwrap();
        assert_eq!(n, seen);
        let ints: Vec<i64> = row.get("ints").unwrap();
        check(
            n,
            row.get("text").unwrap(),
            row.get("bytes").unwrap(),
            &ints,
            row.get("end").unwrap(),
        );
        let Value::List(texts) = row.value("texts").unwrap() else {
            panic!("an ARRAY is a list");
        };
        let texts: Vec<_> = texts.iter().collect();
        check_texts(
            n,
            texts.iter().map(|text| match text {
                Value::String(text) => *text,
                other => panic!("{other} is not text"),
            }),
        );
    }
    assert_eq!(seen, 3);
}

#[derive(Debug, SpannerRow)]
struct Small<'row> {
    n: i64,
    text: &'row str,
    list: Vec<Option<&'row str>>,
}

/// Many small rows: cuts fall between rows, columns and elements.
#[tokio::test]
async fn many_rows() {
    const ROWS: i64 = 60_000;
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let sql = "SELECT n, REPEAT('é', CAST(MOD(n, 40) AS INT64)) AS text, IF(MOD(n, 3) = 0, [CAST(n AS STRING), NULL, ''], []) AS list
        FROM (SELECT 10000 * a + b AS n FROM UNNEST(GENERATE_ARRAY(0, 5)) AS a, UNNEST(GENERATE_ARRAY(1, 10000)) AS b) ORDER BY n";
    let mut rows = client.query(sql).rows::<Small>().await.unwrap();
    let mut n = 0;
    while let Some(row) = rows.next().await.unwrap() {
        n += 1;
        assert_eq!(row.n, n);
        assert_eq!(row.text.len() as i64, n % 40 * 2);
        assert!(row.text.chars().all(|c| c == 'é'));
        let number = n.to_string();
        let list: &[Option<&str>] = if n % 3 == 0 {
            &[Some(&number), None, Some("")]
        } else {
            &[]
        };
        assert_eq!(row.list, list);
    }
    assert_eq!(n, ROWS);
}

/// Long values that were stored: just below what SQL can make, above it on the wire.
#[tokio::test]
async fn stored_values() {
    let ddl = "CREATE TABLE Files (Id INT64 NOT NULL, Text STRING(MAX), Data BYTES(MAX)) PRIMARY KEY (Id)";
    let Some((database, client)) = support::database(&[ddl]).await else {
        return;
    };
    for id in 1..=3 {
        let insert = format!(
            "INSERT INTO Files (Id, Text, Data)
            VALUES ({id}, REPEAT('{PIECE}', 104000 + {id}), REPEAT(b'\\x00\\xff\\x0{id}', 349000))"
        );
        database.execute(&insert).await.unwrap();
    }
    let mut rows = client
        .read::<(i64, &str, &[u8])>("Files")
        .columns(["Id", "Text", "Data"])
        .all()
        .rows()
        .await
        .unwrap();
    let mut seen = 0;
    while let Some((id, text, data)) = rows.next().await.unwrap() {
        seen += 1;
        assert_eq!(id, seen);
        let expected = PIECE.repeat(104_000 + id as usize);
        assert!(text == expected, "text of {id}");
        let expected = [0, 255, id as u8].repeat(349_000);
        assert!(data == expected, "data of {id}");
    }
    assert_eq!(seen, 3);
}
