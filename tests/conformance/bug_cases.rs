//! `tests/data/bug-cases.json`: what went wrong in other clients.
//!
//! The scripts are in the file; what is to come of them is written there in
//! words, so it is repeated here.

use std::time::Duration;

use serde_json::{Value as Json, json};
use spanner_rows::testing::{Failure, FakeSpanner, Message, Step};
use spanner_rows::{
    Client, Code, Column, DecodeError, ErrorKind, FromColumn, OwnedValue, PgNumeric, RetrySettings,
    SpannerRow, TypeCode,
};

use crate::chunk_cases::code_of;
use crate::json::value;
use crate::proto_json::message;
use crate::run::{SQL, read_all, server};

/// Cases that are not scripts of messages, and what covers them.
const ELSEWHERE: [(&str, &str); 5] = [
    ("retry-budget-resets-on-progress", "`fifteen_breaks` below"),
    ("cancelled-next-loses-rest", "`cancelled_next` below"),
    ("value-without-kind", "`value_without_kind` below"),
    ("unknown-attribute", "the compile-fail tests"),
    (
        "parallel-queries-inline-begin",
        "nothing yet: it needs transactions that begin with a query",
    ),
];

fn cases() -> Vec<Json> {
    let file: Json = serde_json::from_str(include_str!("../data/bug-cases.json")).unwrap();
    file.as_array().unwrap().clone()
}

/// The script of a case, for typed reading.
fn scripts_of(id: &str) -> Vec<Vec<Step>> {
    let cases = cases();
    let case = cases.iter().find(|case| case["id"] == id);
    scripts(case.unwrap_or_else(|| panic!("there is no case `{id}`")))
}

fn scripts(case: &Json) -> Vec<Vec<Step>> {
    let calls = case["wire"].as_array().expect("scripts").iter();
    calls
        .map(|call| {
            let events = call["events"].as_array().unwrap().iter();
            events.map(step).collect()
        })
        .collect()
}

fn step(event: &Json) -> Step {
    match event.get("error") {
        Some(error) => {
            let code = code_of(error["code"].as_str().unwrap());
            Step::Fail(Failure::new(code, error["message"].as_str().unwrap()))
        }
        None => Step::Message(message(event)),
    }
}

/// The rows of a scripted case, or the code of its error.
fn expected(id: &str) -> Result<Json, Code> {
    Ok(match id {
        "chunk-never-completed" | "values-without-metadata" => return Err(Code::Internal),
        "chunk-numbers-not-mergeable" => json!([[[1.0, 2.0, 3.0]]]),
        "chunk-empty-message-between" => json!([["abcd"]]),
        "retry-no-token-yet" | "retry-unexpected-eos" => json!([["1"], ["2"]]),
        "float-nonfinite-to-f32" => json!([["Infinity"], ["NaN"]]),
        "pg-numeric-nan" => json!([["NaN"]]),
        "int64-into-i32-range" => json!([["2147483648"]]),
        "reused-destination-null-after-value" => json!([
            ["r1", "foobar", ["a", "b", "c"]],
            ["r2", null, ["d"]],
            ["r3", null, null]
        ]),
        "borrowed-row-kept-past-next" => json!([["a"], ["b"]]),
        "row-and-type-order" => json!([["x", "1"]]),
        "duplicate-and-unnamed-columns" => json!([["1", "2", "3", "4"]]),
        "deep-nesting-change-stream" => json!([[[[[[[["{\"id\":\"1\"}"]], "00000000"]], []]]]]),
        "shadowed-prelude" => json!([["1"]]),
        other => panic!("what is to come of the case `{other}`?"),
    })
}

#[tokio::test]
async fn scripted() {
    let cases = cases();
    assert_eq!(cases.len(), 20);
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        if ELSEWHERE.iter().any(|(elsewhere, _)| *elsewhere == id) {
            continue;
        }
        let settings = RetrySettings::default().initial_delay(Duration::from_millis(1));
        let seen = read_all(scripts(case), settings).await;
        match expected(id) {
            Ok(rows) => {
                assert!(seen.error.is_none(), "{id}: {:?}", seen.error);
                let rows_seen = seen.rows.into_iter().map(OwnedValue::List).collect();
                assert_eq!(OwnedValue::List(rows_seen), value(&rows), "{id}");
            }
            Err(code) => {
                assert_eq!(seen.error.expect(id).code(), code, "{id}");
                assert!(seen.rows.is_empty(), "{id}");
            }
        }
        let tokens = seen.requests.iter().map(|request| request.resume_token());
        let wire = case["wire"].as_array().unwrap().iter();
        let expected = wire.map(|call| call["expectResumeToken"].as_str().unwrap().as_bytes());
        assert!(tokens.eq(expected), "{id}: {:?}", seen.requests);
    }
}

async fn of_case(id: &str) -> (FakeSpanner, Client) {
    server(scripts_of(id), RetrySettings::default()).await
}

/// FLOAT64 does not become `f32`: told before any row.
#[tokio::test]
async fn float_into_f32() {
    let (_fake, client) = of_case("float-nonfinite-to-f32").await;
    let error = client.query(SQL).rows::<(f32,)>().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Bind(_)), "{error:?}");
    assert!(error.to_string().contains("FLOAT64"), "{error}");

    let (_fake, client) = of_case("float-nonfinite-to-f32").await;
    let mut rows = client.query(SQL).rows::<(f64,)>().await.unwrap();
    assert_eq!(rows.next().await.unwrap(), Some((f64::INFINITY,)));
    assert!(rows.next().await.unwrap().unwrap().0.is_nan());

    // Who wants it says so.
    let (_fake, client) = of_case("float-nonfinite-to-f32").await;
    let mut rows = client.query(SQL).rows::<Rounded>().await.unwrap();
    assert_eq!(rows.next().await.unwrap().unwrap().f, f32::INFINITY);
    assert!(rows.next().await.unwrap().unwrap().f.is_nan());
}

#[derive(SpannerRow)]
struct Rounded {
    #[spanner(with = "rounded")]
    f: f32,
}

fn rounded(column: Column<'_, '_>) -> Result<f32, DecodeError> {
    f64::read(column, &mut ()).map(|value| value as f32)
}

#[derive(Debug, SpannerRow)]
struct Signed {
    #[spanner(try_from = "i64")]
    i: i32,
}

#[derive(Debug, SpannerRow)]
struct Unsigned {
    #[spanner(try_from = "i64")]
    i: u32,
}

#[tokio::test]
async fn narrower_integers() {
    let (_fake, client) = of_case("int64-into-i32-range").await;
    let error = client.query(SQL).one::<Signed>().await.unwrap_err();
    assert!(error.is_row_error(), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("column 0 `i`") && text.contains("range"),
        "{text}"
    );

    let (_fake, client) = of_case("int64-into-i32-range").await;
    let row = client.query(SQL).one::<Unsigned>().await.unwrap();
    assert_eq!(row.i, 2_147_483_648);
}

#[tokio::test]
async fn a_numeric_that_is_no_number() {
    let (_fake, client) = of_case("pg-numeric-nan").await;
    let (number,): (PgNumeric,) = client.query(SQL).one().await.unwrap();
    assert_eq!(number.to_string(), "NaN");

    let (_fake, client) = of_case("pg-numeric-nan").await;
    let error = client
        .query(SQL)
        .one::<(rust_decimal::Decimal,)>()
        .await
        .unwrap_err();
    assert!(error.to_string().contains("`n`"), "{error}");
}

#[derive(Debug, PartialEq, SpannerRow)]
struct Reused {
    id: String,
    other: Option<String>,
    tags: Option<Vec<String>>,
}

/// Nothing of a row is left in the next.
#[tokio::test]
async fn reused_destination() {
    let (_fake, client) = of_case("reused-destination-null-after-value").await;
    let mut rows = client.query(SQL).rows::<Reused>().await.unwrap();
    let mut expect = async |id: &str, other: Option<&str>, tags: Option<&[&str]>| {
        let expected = Reused {
            id: id.to_owned(),
            other: other.map(str::to_owned),
            tags: tags.map(|tags| tags.iter().map(|tag| (*tag).to_owned()).collect()),
        };
        assert_eq!(*rows.next().await.unwrap().unwrap(), expected);
    };
    expect("r1", Some("foobar"), Some(&["a", "b", "c"])).await;
    expect("r2", None, Some(&["d"])).await;
    expect("r3", None, None).await;
}

#[derive(Debug, PartialEq, SpannerRow)]
struct ByName<'row> {
    a: i64,
    b: &'row str,
}

#[tokio::test]
async fn columns_in_another_order() {
    let (_fake, client) = of_case("row-and-type-order").await;
    let mut rows = client.query(SQL).rows::<ByName>().await.unwrap();
    assert_eq!(rows.next().await.unwrap(), Some(ByName { a: 1, b: "x" }));
}

#[derive(Debug, SpannerRow)]
struct Count {
    count: i64,
}

#[tokio::test]
async fn columns_with_one_name() {
    let (_fake, client) = of_case("duplicate-and-unnamed-columns").await;
    let error = client.query(SQL).rows::<Count>().await.unwrap_err();
    assert!(
        error.to_string().contains("two columns have that name"),
        "{error}"
    );

    let (_fake, client) = of_case("duplicate-and-unnamed-columns").await;
    let row: (i64, i64, i64, i64) = client.query(SQL).one().await.unwrap();
    assert_eq!(row, (1, 2, 3, 4));

    let (_fake, client) = of_case("duplicate-and-unnamed-columns").await;
    let row = client.query(SQL).one::<Fourth>().await.unwrap();
    assert_eq!(row.count, 4);
}

#[derive(Debug, SpannerRow)]
struct Fourth {
    #[spanner(index = 3)]
    count: i64,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct ChangeStream<'row> {
    #[spanner(rename = "ChangeRecord")]
    records: Vec<ChangeRecord<'row>>,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct ChangeRecord<'row> {
    data_change_record: Vec<DataChange<'row>>,
    heartbeat_record: Vec<Heartbeat>,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct DataChange<'row> {
    mods: Vec<Mod>,
    record_sequence: &'row str,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct Mod {
    #[spanner(json)]
    keys: Keys,
}

#[derive(Debug, PartialEq, serde::Deserialize)]
struct Keys {
    id: String,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct Heartbeat {
    timestamp: jiff::Timestamp,
}

#[tokio::test]
async fn change_records() {
    let (_fake, client) = of_case("deep-nesting-change-stream").await;
    let mut rows = client.query(SQL).rows::<ChangeStream>().await.unwrap();
    let row = rows.next().await.unwrap().unwrap();
    let change = DataChange {
        mods: vec![Mod {
            keys: Keys { id: "1".to_owned() },
        }],
        record_sequence: "00000000",
    };
    let record = ChangeRecord {
        data_change_record: vec![change],
        heartbeat_record: vec![],
    };
    assert_eq!(row.records, [record]);
}

/// An error for its row; the next value is where it should be.
#[tokio::test]
async fn value_without_kind() {
    let message = Message::new()
        .columns([("i", TypeCode::Int64)])
        .raw_value(&b""[..])
        .value(7_i64);
    let script = vec![vec![Step::Message(message)]];
    let (_fake, client) = server(script, RetrySettings::default()).await;
    let mut rows = client.query(SQL).rows::<(Option<i64>,)>().await.unwrap();
    let error = rows.next().await.unwrap_err();
    assert!(error.is_row_error(), "{error:?}");
    assert_eq!(rows.next().await.unwrap(), Some((Some(7),)));
}

/// `streams` calls, each with one row and a token and then a break, but the last.
fn one_row_each(streams: i64, failure: &Failure) -> Vec<Vec<Step>> {
    let scripts = (0..streams).map(|k| {
        let message = Message::new().value(k).resume_token(format!("r{}", k + 1));
        let message = match k {
            0 => message.columns([("i", TypeCode::Int64)]),
            _ => message,
        };
        match k + 1 == streams {
            true => vec![Step::Message(message.last())],
            false => vec![Step::Message(message), Step::Fail(failure.clone())],
        }
    });
    scripts.collect()
}

#[tokio::test]
async fn fifteen_breaks() {
    let scripts = one_row_each(15, &Failure::unavailable(""));
    let settings = RetrySettings::default().max_attempts(2);
    let (fake, client) = server(scripts, settings).await;
    let mut rows = client.query(SQL).rows::<(i64,)>().await.unwrap();
    let all: Vec<(i64,)> = rows.try_collect().await.unwrap();
    assert!(all.into_iter().eq((0..15).map(|k| (k,))));
    let requests = fake.requests();
    let reads = requests.iter().filter(|request| request.sql() == SQL);
    let tokens = reads.map(|request| request.resume_token().to_vec());
    let expected = (0..15).map(|k| match k {
        0 => vec![],
        k => format!("r{k}").into_bytes(),
    });
    assert!(tokens.eq(expected));
}

#[tokio::test]
async fn cancelled_next() {
    let failure = Failure::unavailable("").retry_after(Duration::from_millis(60));
    let (_fake, client) = server(one_row_each(4, &failure), RetrySettings::default()).await;
    let mut rows = client.query(SQL).rows::<(i64,)>().await.unwrap();
    let (mut seen, mut cancelled) = (Vec::new(), 0);
    loop {
        match tokio::time::timeout(Duration::from_millis(20), rows.next()).await {
            Ok(row) => match row.unwrap() {
                Some((i,)) => seen.push(i),
                None => break,
            },
            Err(_) => cancelled += 1,
        }
        assert!(cancelled < 500, "no row comes any more");
    }
    assert_eq!(seen, [0, 1, 2, 3]);
    assert!(cancelled >= 3, "{cancelled} calls were cancelled");
}
