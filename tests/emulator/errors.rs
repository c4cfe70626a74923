//! What is wrong, and how it is told.

use spanner_rows::{Client, Code, DecodeErrorKind, ErrorKind, Row, SpannerRow};

use crate::support;

#[tokio::test]
async fn sql_errors_have_the_words_of_the_server() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let cases = [
        ("SELECT * FROM Nowhere", Code::InvalidArgument, "Nowhere"),
        ("SELEC 1", Code::InvalidArgument, "Syntax error"),
        ("SELECT NoSuchColumn", Code::InvalidArgument, "NoSuchColumn"),
        ("SELECT 1 / 0", Code::OutOfRange, "division by zero"),
        ("SELECT @missing + 1", Code::InvalidArgument, "missing"),
    ];
    for (sql, code, text) in cases {
        let error = match client.query(sql).rows::<Row>().await {
            Ok(mut rows) => rows.next().await.expect_err(sql),
            Err(error) => error,
        };
        assert_eq!(error.code(), code, "{sql}: {error}");
        let ErrorKind::Status { status, attempts } = error.kind() else {
            panic!("{sql}: {error:?}");
        };
        assert!(
            status.message().contains(text),
            "{sql}: {}",
            status.message()
        );
        assert!(error.to_string().contains(text), "{sql}: {error}");
        assert_eq!(*attempts, 1);
        assert!(status.request_id().is_some());
    }
}

#[derive(Debug, SpannerRow)]
struct Wrong<'row> {
    missing: i64,
    text: i64,
    number: &'row str,
    twice: bool,
    list: Vec<String>,
    fits: bool,
}

#[tokio::test]
async fn all_that_does_not_fit_is_one_error() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let sql = "SELECT 'a' AS text, 1 AS number, true AS twice, false AS twice, [1, 2] AS list, true AS fits, 0 AS Missing";
    let error = client.query(sql).rows::<Wrong>().await.unwrap_err();
    let ErrorKind::Bind(bind) = error.kind() else {
        panic!("{error:?}");
    };
    let problems = bind.problems();
    let fields: Vec<_> = problems
        .iter()
        .map(|problem| problem.field().to_owned())
        .collect();
    let expected = [
        "Wrong.missing",
        "Wrong.text",
        "Wrong.number",
        "Wrong.twice",
        "Wrong.list",
    ];
    assert_eq!(fields, expected, "{error}");
    let columns: Vec<_> = problems.iter().map(|problem| problem.column()).collect();
    assert_eq!(columns, [None, Some(0), Some(1), None, Some(4)]);
    let text = error.to_string();
    for part in [
        "`missing`",
        "there is `Missing`",
        "STRING",
        "i64",
        "INT64",
        "str",
        "two columns",
        "2 and 3",
        "elements",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("fits`"), "{text}");
}

#[derive(Debug, PartialEq, SpannerRow)]
struct NotNull<'row> {
    n: i64,
    text: &'row str,
}

#[tokio::test]
async fn null_costs_its_row_only() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let sql = "SELECT n, IF(n = 2, NULL, 'x') AS text FROM UNNEST([1, 2, 3]) AS n ORDER BY n";
    let mut rows = client.query(sql).rows::<NotNull>().await.unwrap();
    assert_eq!(
        rows.next().await.unwrap(),
        Some(NotNull { n: 1, text: "x" })
    );
    let error = rows.next().await.unwrap_err();
    assert!(error.is_row_error());
    let ErrorKind::Row(of_row) = error.kind() else {
        panic!("{error:?}");
    };
    assert_eq!(*of_row.kind(), DecodeErrorKind::Null);
    assert_eq!(
        (of_row.row(), of_row.column(), of_row.column_name()),
        (Some(1), Some(1), "text")
    );
    assert_eq!(of_row.field(), "NotNull.text");
    for part in [
        "row 1",
        "column 1 `text`",
        "field `NotNull.text`",
        "NULL",
        "str",
        "`Option`",
    ] {
        assert!(error.to_string().contains(part), "{part} in {error}");
    }
    assert_eq!(
        rows.next().await.unwrap(),
        Some(NotNull { n: 3, text: "x" })
    );
    assert_eq!(rows.next().await.unwrap(), None);

    // In a batch it is an error in its place.
    let mut rows = client.query(sql).rows::<NotNull>().await.unwrap();
    let batch = rows.next_batch().await.unwrap().unwrap();
    let seen: Vec<_> = batch.iter().map(|row| row.map(|row| row.n).ok()).collect();
    assert_eq!(seen, [Some(1), None, Some(3)]);
    assert!(rows.next_batch().await.unwrap().is_none());
}

#[derive(Debug, PartialEq, SpannerRow)]
struct OtherOrder<'row> {
    c: &'row [u8],
    a: i64,
    d: Option<&'row str>,
}

#[tokio::test]
async fn order_and_extra_columns_do_not_matter() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let queries = [
        "SELECT b'c' AS c, 1 AS a, 'd' AS d",
        "SELECT 1 AS a, 'd' AS d, b'c' AS c",
        "SELECT 'extra' AS x, 'd' AS d, [1, 2] AS y, b'c' AS c, [STRUCT('z' AS z)], 1 AS a, NULL AS last",
    ];
    for sql in queries {
        let batch = client.query(sql).one_batch::<OtherOrder>().await.unwrap();
        let expected = OtherOrder {
            c: b"c",
            a: 1,
            d: Some("d"),
        };
        assert_eq!(batch.row(0).unwrap(), expected, "{sql}");
    }
}

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(match_by = "index")]
struct ByIndex<'row> {
    first: i64,
    second: i64,
    third: &'row str,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct Pair(i64, i64);

#[tokio::test]
async fn columns_without_a_name_of_their_own_by_index() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let unnamed = client
        .query("SELECT 1, 2, 'x'")
        .one_batch::<ByIndex>()
        .await
        .unwrap();
    let expected = || ByIndex {
        first: 1,
        second: 2,
        third: "x",
    };
    assert_eq!(unnamed.row(0).unwrap(), expected());
    let twice = client
        .query("SELECT 1 AS a, 2 AS a, 'x' AS a")
        .one_batch::<ByIndex>()
        .await
        .unwrap();
    assert_eq!(twice.row(0).unwrap(), expected());
    assert_eq!(
        client
            .query("SELECT 1, 2, 'x'")
            .one::<Pair>()
            .await
            .unwrap(),
        Pair(1, 2)
    );

    let row = client
        .query("SELECT 1 AS a, 2 AS a, 'x' AS b")
        .one_batch::<Row>()
        .await
        .unwrap();
    let row = row.row(0).unwrap();
    assert_eq!(row.get::<i64>(1).unwrap(), 2);
    assert_eq!(row.get::<&str>("b").unwrap(), "x");
    assert!(
        row.get::<i64>("a")
            .unwrap_err()
            .to_string()
            .contains("0 and 1")
    );
    assert!(row.get::<i64>(3).is_err());
    assert!(row.get::<i64>("c").is_err());
    assert!(
        row.get::<i64>("b")
            .unwrap_err()
            .to_string()
            .contains("STRING")
    );

    let error = client
        .query("SELECT 1, 2")
        .rows::<ByIndex>()
        .await
        .unwrap_err();
    assert!(error.to_string().contains("position 2"), "{error}");
}

#[tokio::test]
async fn a_database_that_is_not_there() {
    let Some((database, _client)) = support::database(&[]).await else {
        return;
    };
    let connect = |name: String| {
        Client::builder(name)
            .endpoint(database.endpoint())
            .connect()
    };
    let (instance, _) = database.name().rsplit_once('/').unwrap();
    let error = connect(format!("{instance}/no-such-database"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
    assert!(error.to_string().contains("no-such-database"), "{error}");

    let error = connect("no-such-database".to_owned()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("projects/P/instances/I/databases/D"),
        "{error}"
    );
}
