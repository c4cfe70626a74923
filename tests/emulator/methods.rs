//! Every way to take rows from a stream.

use std::pin::Pin;

use spanner_rows::{Client, ErrorKind, SpannerRow, Timestamp};

use crate::support;

#[derive(Debug, PartialEq, SpannerRow)]
struct Numbered<'row> {
    n: i64,
    text: &'row str,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct NumberedOwned {
    n: i64,
    text: String,
}

/// Rows 1 to `@rows`; the server makes arrays of at most 16,000 elements.
const SQL: &str = "SELECT n, CONCAT('row ', CAST(n AS STRING)) AS text
    FROM (SELECT a * 4000 + b AS n FROM UNNEST(GENERATE_ARRAY(0, 9)) AS a, UNNEST(GENERATE_ARRAY(1, 4000)) AS b)
    WHERE n <= @rows ORDER BY n";

/// More than one message.
const MANY: i64 = 40_000;

fn row(n: i64) -> NumberedOwned {
    NumberedOwned {
        n,
        text: format!("row {n}"),
    }
}

async fn client() -> Option<(spanner_rows::testing::Database, Client)> {
    support::database(&[]).await
}

#[tokio::test]
async fn one_and_optional() {
    let Some((_database, client)) = client().await else {
        return;
    };
    let query = |rows: i64| client.query(SQL).param("rows", rows);
    assert_eq!(query(1).one::<NumberedOwned>().await.unwrap(), row(1));
    assert_eq!(
        query(1).one::<(i64, String)>().await.unwrap(),
        (1, "row 1".to_owned())
    );
    assert_eq!(
        query(1).optional::<NumberedOwned>().await.unwrap(),
        Some(row(1))
    );
    assert_eq!(query(0).optional::<NumberedOwned>().await.unwrap(), None);
    let batch = query(1).one_batch::<Numbered>().await.unwrap();
    assert_eq!(batch.len(), 1);
    assert_eq!(
        batch.row(0).unwrap(),
        Numbered {
            n: 1,
            text: "row 1"
        }
    );

    let no_row = query(0).one::<NumberedOwned>().await.unwrap_err();
    assert!(matches!(no_row.kind(), ErrorKind::NoRow), "{no_row}");
    let no_row = query(0).one_batch::<Numbered>().await.unwrap_err();
    assert!(matches!(no_row.kind(), ErrorKind::NoRow), "{no_row}");
    for rows in [2, 3, MANY] {
        let many = query(rows).one::<NumberedOwned>().await.unwrap_err();
        assert!(matches!(many.kind(), ErrorKind::ManyRows), "{many}");
        let many = query(rows).optional::<NumberedOwned>().await.unwrap_err();
        assert!(matches!(many.kind(), ErrorKind::ManyRows), "{many}");
        let many = query(rows).one_batch::<Numbered>().await.unwrap_err();
        assert!(matches!(many.kind(), ErrorKind::ManyRows), "{many}");
    }

    // Of a stream: one row too many takes none away.
    let mut rows = query(2).rows::<Numbered>().await.unwrap();
    let many = rows.optional_batch().await.unwrap_err();
    assert!(matches!(many.kind(), ErrorKind::ManyRows), "{many}");
    assert_eq!(
        rows.next().await.unwrap(),
        Some(Numbered {
            n: 1,
            text: "row 1"
        })
    );
    let last = rows.optional_batch().await.unwrap().unwrap();
    assert_eq!(
        last.row(0).unwrap(),
        Numbered {
            n: 2,
            text: "row 2"
        }
    );
    assert!(rows.optional_batch().await.unwrap().is_none());
}

#[tokio::test]
async fn collect_and_extend() {
    let Some((_database, client)) = client().await else {
        return;
    };
    let query = || client.query(SQL).param("rows", MANY);
    let all: Vec<NumberedOwned> = query()
        .rows::<NumberedOwned>()
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    assert!(
        all.iter()
            .eq((1..=MANY).map(row).collect::<Vec<_>>().iter())
    );
    let all: std::collections::BTreeMap<i64, String> = query()
        .rows::<(i64, String)>()
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    assert_eq!(all.len() as i64, MANY);
    assert_eq!(all[&77], "row 77");

    let mut rows = query().rows::<NumberedOwned>().await.unwrap();
    assert_eq!(rows.next().await.unwrap().map(|row| row.n), Some(1));
    let mut rest = vec![row(1)];
    rows.extend(&mut rest).await.unwrap();
    assert!(rest.into_iter().eq((1..=MANY).map(row)));
    assert!(rows.next().await.unwrap().is_none());
}

#[tokio::test]
async fn for_each_row() {
    let Some((_database, client)) = client().await else {
        return;
    };
    let mut rows = client
        .query(SQL)
        .param("rows", MANY)
        .rows::<Numbered>()
        .await
        .unwrap();
    assert_eq!(rows.next().await.unwrap().map(|row| row.n), Some(1));
    let mut seen = 1;
    rows.for_each(|row| {
        seen += 1;
        assert_eq!((row.n, row.text), (seen, format!("row {seen}").as_str()));
    })
    .await
    .unwrap();
    assert_eq!(seen, MANY);
    rows.for_each(|row| panic!("{row:?} behind the end"))
        .await
        .unwrap();
}

#[tokio::test]
async fn batches() {
    let Some((_database, client)) = client().await else {
        return;
    };
    let mut rows = client
        .query(SQL)
        .param("rows", MANY)
        .rows::<Numbered>()
        .await
        .unwrap();
    // Some rows one by one, the rest of their message as a batch, one more, and so on.
    let mut seen = 0;
    let mut batches = 0;
    'rows: loop {
        for _ in 0..3 {
            match rows.next().await.unwrap() {
                Some(row) => {
                    seen += 1;
                    assert_eq!(row.n, seen);
                }
                None => break 'rows,
            }
        }
        if let Some(batch) = rows.next_batch().await.unwrap() {
            batches += 1;
            assert!(!batch.is_empty());
            assert_eq!(batch.iter().len(), batch.len());
            for i in 0..batch.len() {
                seen += 1;
                assert_eq!(
                    batch.row(i).unwrap(),
                    Numbered {
                        n: seen,
                        text: &format!("row {seen}")
                    }
                );
            }
        }
    }
    assert_eq!(seen, MANY);
    assert!(batches > 0);
    assert!(rows.next_batch().await.unwrap().is_none());
}

#[tokio::test]
async fn as_a_stream() {
    let Some((_database, client)) = client().await else {
        return;
    };
    let rows = client
        .query(SQL)
        .param("rows", MANY)
        .rows::<NumberedOwned>()
        .await
        .unwrap();
    let mut stream = rows.into_stream();
    let mut seen = 0;
    while let Some(next) = next(&mut stream).await {
        seen += 1;
        assert_eq!(next.unwrap(), row(seen));
    }
    assert_eq!(seen, MANY);
    assert!(next(&mut stream).await.is_none());
}

async fn next<S: futures_core::Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    std::future::poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)).await
}

/// The point in time is known with the first rows, and is the same to the end.
#[tokio::test]
async fn read_timestamp_and_metadata() {
    let Some((database, client)) =
        support::database(&["CREATE TABLE T (Id INT64) PRIMARY KEY (Id)"]).await
    else {
        return;
    };
    database
        .execute("INSERT INTO T (Id) VALUES (1)")
        .await
        .unwrap();
    let mut rows = client
        .query("SELECT Id FROM T")
        .rows::<(i64,)>()
        .await
        .unwrap();
    assert_eq!(rows.row_type().to_string(), "STRUCT<Id INT64>");
    assert_eq!(rows.read_timestamp(), None);
    assert!(rows.metadata().is_none());
    assert_eq!(rows.next().await.unwrap(), Some((1,)));
    let first = rows.read_timestamp().expect("a read timestamp");
    assert_eq!(rows.metadata().unwrap().read_timestamp(), Some(first));
    assert_eq!(rows.next().await.unwrap(), None);
    assert_eq!(rows.read_timestamp(), Some(first));
    let year_2020 = Timestamp::new(1_577_836_800, 0).unwrap();
    assert!(first > year_2020, "{first}");

    database
        .execute("INSERT INTO T (Id) VALUES (2)")
        .await
        .unwrap();
    let mut rows = client
        .read::<(i64,)>("T")
        .columns(["Id"])
        .all()
        .rows()
        .await
        .unwrap();
    let both: Vec<(i64,)> = rows.try_collect().await.unwrap();
    assert_eq!(both, [(1,), (2,)]);
    assert!(rows.read_timestamp().unwrap() > first);
}
