//! Mutations: every kind, every type, and the time of the commit.

use spanner_rows::testing::Database;
use spanner_rows::{
    Client, Code, CommitTimestamp, Json, KeyRange, Mutation, Numeric, SpannerEncode, SpannerRow,
    Timestamp,
};

use crate::support;

const DDL: [&str; 2] = [
    "CREATE TABLE Numbers (Id INT64, Text STRING(MAX), Other STRING(MAX),
        Stamp TIMESTAMP OPTIONS (allow_commit_timestamp = true)) PRIMARY KEY (Id)",
    "CREATE TABLE Pairs (A STRING(MAX), B INT64) PRIMARY KEY (A, B DESC)",
];

async fn database() -> Option<(Database, Client)> {
    support::database(&DDL).await
}

#[derive(Clone, Debug, PartialEq, SpannerRow, SpannerEncode)]
#[spanner(rename_all = "PascalCase")]
struct Number {
    id: i64,
    text: Option<String>,
}

fn number(id: i64, text: &str) -> Number {
    Number {
        id,
        text: Some(text.to_owned()),
    }
}

async fn numbers(client: &Client) -> Vec<(i64, Option<String>, Option<String>)> {
    let query = client.query("SELECT Id, Text, Other FROM Numbers ORDER BY Id");
    let mut rows = query.rows().await.unwrap();
    rows.try_collect().await.unwrap()
}

fn row(id: i64, text: Option<&str>, other: Option<&str>) -> (i64, Option<String>, Option<String>) {
    (id, text.map(str::to_owned), other.map(str::to_owned))
}

#[tokio::test]
async fn every_kind() {
    let Some((_database, client)) = database().await else {
        return;
    };
    let insert = Mutation::insert("Numbers")
        .columns(["Id", "Text", "Other"])
        .values((1..=6_i64).map(|id| (id, format!("text {id}"), "other")));
    client.write([insert]).await.unwrap();

    let told = client
        .write([
            Mutation::update("Numbers").row(number(1, "updated")),
            Mutation::insert_or_update("Numbers").rows([number(2, "upserted"), number(7, "new")]),
            Mutation::replace("Numbers").rows([number(3, "replaced"), number(8, "new")]),
            Mutation::delete("Numbers").key(4_i64).key(99_i64),
        ])
        .return_commit_stats(true)
        .await
        .unwrap();
    assert!(told.timestamp.seconds() > 0);
    assert_eq!(
        numbers(&client).await,
        [
            row(1, Some("updated"), Some("other")),
            row(2, Some("upserted"), Some("other")),
            row(3, Some("replaced"), None),
            row(5, Some("text 5"), Some("other")),
            row(6, Some("text 6"), Some("other")),
            row(7, Some("new"), None),
            row(8, Some("new"), None),
        ]
    );
    // In their order.
    let last = Mutation::delete("Numbers").key(6_i64);
    let again = Mutation::insert("Numbers").row(number(6, "again"));
    client.write([last, again]).await.unwrap();
    let ranges = Mutation::delete("Numbers").range(1_i64..4).range(7_i64..);
    client.write([ranges]).await.unwrap();
    let left = [
        row(5, Some("text 5"), Some("other")),
        row(6, Some("again"), None),
    ];
    assert_eq!(numbers(&client).await, left);
    client
        .write([Mutation::delete("Numbers").all()])
        .await
        .unwrap();
    assert_eq!(numbers(&client).await, []);
    // Nothing to do is done.
    client.write([]).await.unwrap();
    client
        .write([Mutation::insert("Numbers").rows([] as [Number; 0])])
        .await
        .unwrap();
}

#[tokio::test]
async fn all_or_none() {
    let Some((_database, client)) = database().await else {
        return;
    };
    let one = Mutation::insert("Numbers").row(number(1, "one"));
    client.write([one.clone()]).await.unwrap();
    let two = Mutation::insert("Numbers").row(number(2, "two"));
    let error = client.write([two.clone(), one]).await.unwrap_err();
    assert_eq!(error.code(), Code::AlreadyExists, "{error}");
    let missing = Mutation::update("Numbers").row(number(3, "three"));
    let error = client.write([two, missing]).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
    assert_eq!(numbers(&client).await, [row(1, Some("one"), None)]);
}

#[tokio::test]
async fn keys_of_several_columns() {
    let Some((_database, client)) = database().await else {
        return;
    };
    let pairs = ["a", "b", "c"]
        .into_iter()
        .flat_map(|a| (0..4_i64).map(move |b| (a, b)));
    let insert = Mutation::insert("Pairs").columns(["A", "B"]).values(pairs);
    client.write([insert]).await.unwrap();
    let delete = Mutation::delete("Pairs")
        .key(("a", 1_i64))
        .range(KeyRange::prefix("b"))
        // Descending: from the larger one on.
        .range(("c", 3_i64)..("c", 1));
    client.write([delete]).await.unwrap();
    let query = client.query("SELECT A, B FROM Pairs ORDER BY A, B");
    let mut rows = query.rows::<(String, i64)>().await.unwrap();
    let rows: Vec<_> = rows.try_collect().await.unwrap();
    let left = [("a", 0), ("a", 2), ("a", 3), ("c", 0), ("c", 1)];
    assert_eq!(rows, left.map(|(a, b)| (a.to_owned(), b)));
}

#[tokio::test]
async fn the_time_of_the_commit() {
    let Some((_database, client)) = database().await else {
        return;
    };
    let mutations = [1_i64, 2].map(|id| {
        let mutation = Mutation::insert("Numbers").set("Id", id);
        mutation.set("Stamp", CommitTimestamp)
    });
    let committed = client.write(mutations).await.unwrap();
    let query = client.query("SELECT Stamp FROM Numbers ORDER BY Id");
    let mut rows = query.rows::<(Timestamp,)>().await.unwrap();
    let times: Vec<(Timestamp,)> = rows.try_collect().await.unwrap();
    assert_eq!(times, [(committed.timestamp,); 2]);
    let nothing = Mutation::update("Numbers")
        .set("Id", 1_i64)
        .set("Stamp", None::<CommitTimestamp>);
    client.write([nothing]).await.unwrap();
    let query = client.query("SELECT Stamp FROM Numbers WHERE Id = 1");
    assert_eq!(query.one::<(Option<Timestamp>,)>().await.unwrap().0, None);
}

#[derive(Clone, Debug, PartialEq, SpannerRow, SpannerEncode)]
struct Everything {
    id: i64,
    b: Option<bool>,
    i: Option<i64>,
    f32: Option<f32>,
    f64: Option<f64>,
    n: Option<Numeric>,
    s: Option<String>,
    y: Option<Vec<u8>>,
    d: Option<jiff::civil::Date>,
    t: Option<Timestamp>,
    j: Option<Json<serde_json::Value>>,
    bs: Option<Vec<Option<bool>>>,
    is: Option<Vec<Option<i64>>>,
    fs: Option<Vec<f64>>,
    ns: Option<Vec<Numeric>>,
    ss: Option<Vec<Option<String>>>,
    ys: Option<Vec<Vec<u8>>>,
    ds: Option<Vec<jiff::civil::Date>>,
    ts: Option<Vec<Timestamp>>,
}

#[tokio::test]
async fn every_type() {
    let table = "CREATE TABLE Everything (id INT64, b BOOL, i INT64, f32 FLOAT32, f64 FLOAT64,
        n NUMERIC, s STRING(MAX), y BYTES(MAX), d DATE, t TIMESTAMP, j JSON,
        bs ARRAY<BOOL>, `is` ARRAY<INT64>, fs ARRAY<FLOAT64>, ns ARRAY<NUMERIC>,
        ss ARRAY<STRING(MAX)>, ys ARRAY<BYTES(MAX)>, ds ARRAY<DATE>, ts ARRAY<TIMESTAMP>,
        ) PRIMARY KEY (id)";
    let Some((_database, client)) = support::database(&[table]).await else {
        return;
    };
    let numeric = |text: &str| text.parse::<Numeric>().unwrap();
    let (day, time) = (
        jiff::civil::date(9999, 12, 31),
        Timestamp::new(-62_135_596_800, 1).unwrap(),
    );
    let full = Everything {
        id: 1,
        b: Some(true),
        i: Some(i64::MIN),
        f32: Some(1.1),
        f64: Some(f64::NEG_INFINITY),
        n: Some(numeric("-99999999999999999999999999999.999999999")),
        s: Some("Zoë \u{0} \u{10FFFF}".to_owned()),
        y: Some((0..=255).collect()),
        d: Some(day),
        t: Some(time),
        j: Some(Json(serde_json::json!({"a": [1, null, "x"]}))),
        bs: Some(vec![Some(true), None]),
        is: Some(vec![Some(i64::MAX), None]),
        fs: Some(vec![0.5, f64::INFINITY]),
        ns: Some(vec![numeric("0.000000001")]),
        ss: Some(vec![Some(String::new()), None]),
        ys: Some(vec![Vec::new(), vec![255]]),
        ds: Some(vec![day]),
        ts: Some(vec![time]),
    };
    let empty = Everything {
        id: 2,
        b: None,
        i: None,
        f32: None,
        f64: None,
        n: None,
        s: None,
        y: None,
        d: None,
        t: None,
        j: None,
        bs: None,
        is: Some(Vec::new()),
        fs: None,
        ns: None,
        ss: None,
        ys: None,
        ds: None,
        ts: None,
    };
    let rows = [full, empty];
    client
        .write([Mutation::insert("Everything").rows(&rows)])
        .await
        .unwrap();
    let mut read = client
        .read::<Everything>("Everything")
        .all()
        .rows()
        .await
        .unwrap();
    let read: Vec<Everything> = read.try_collect().await.unwrap();
    assert_eq!(read, rows);
    // The same over what is there.
    let turned = rows.clone().map(|row| Everything {
        id: 3 - row.id,
        ..row
    });
    client
        .write([Mutation::replace("Everything").rows(&turned)])
        .await
        .unwrap();
    let mut read = client
        .read::<Everything>("Everything")
        .all()
        .rows()
        .await
        .unwrap();
    let read: Vec<Everything> = read.try_collect().await.unwrap();
    assert_eq!(read, [turned[1].clone(), turned[0].clone()]);
}

/// The emulator has none, and it is said what to do.
#[tokio::test]
async fn batch_write_is_told_to_be_missing() {
    let Some((_database, client)) = database().await else {
        return;
    };
    let group = [Mutation::insert("Numbers").row(number(1, "one"))];
    let mut results = client.batch_write([group]).start().unwrap();
    let error = results.next().await.unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented);
    assert!(error.to_string().contains("write each group by"), "{error}");
    assert_eq!(results.unanswered(), [0]);
    assert_eq!(numbers(&client).await, []);
}
