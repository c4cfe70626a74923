//! Query parameters of every type, NULL and arrays included.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::SystemTime;

use jiff::civil::{Date, date};
use serde_json::value::RawValue;
use spanner_rows::{
    Base64, Client, Json, Numeric, OwnedRow, SpannerEncode, SpannerRow, Timestamp, ToColumn,
};

use crate::support;

/// Sends a value, has its type looked at by the server, and reads it back.
async fn echo<T>(client: &Client, ty: &str, value: T)
where
    T: ToColumn + Debug,
    (T, bool): OwnedRow,
{
    // The cast does not compile in SQL if the parameter has a type that cannot be compared with it.
    let sql = format!("SELECT @p, (@p = CAST(NULL AS {ty})) IS NULL");
    let sent = format!("{value:?}");
    let (read, typed): (T, bool) = client
        .query(sql)
        .param("p", value)
        .one()
        .await
        .unwrap_or_else(|error| panic!("{ty} {sent}: {error}"));
    assert!(typed);
    assert_eq!(format!("{read:?}"), sent);
}

/// The same for an array: arrays cannot be compared, so an element is.
async fn echo_array<T>(client: &Client, ty: &str, values: Vec<T>)
where
    T: ToColumn + Debug,
    (Vec<T>, bool): OwnedRow,
{
    let sql = format!(
        "SELECT @p, (SELECT LOGICAL_AND(e = CAST(NULL AS {ty})) FROM UNNEST(@p) AS e) IS NULL"
    );
    let sent = format!("{values:?}");
    let (read, typed): (Vec<T>, bool) = client
        .query(sql)
        .param("p", values)
        .one()
        .await
        .unwrap_or_else(|error| panic!("ARRAY<{ty}> {sent}: {error}"));
    assert!(typed);
    assert_eq!(format!("{read:?}"), sent);
}

async fn echo_all<T>(client: &Client, ty: &str, values: &[T])
where
    T: ToColumn + Debug + Clone,
    (T, bool): OwnedRow,
    (Option<T>, bool): OwnedRow,
    (Vec<T>, bool): OwnedRow,
    (Vec<Option<T>>, bool): OwnedRow,
{
    for value in values {
        echo(client, ty, value.clone()).await;
        echo(client, ty, Some(value.clone())).await;
    }
    echo(client, ty, None::<T>).await;
    echo_array(client, ty, Vec::<T>::new()).await;
    echo_array(client, ty, values.to_vec()).await;
    let mut with_null: Vec<_> = values.iter().cloned().map(Some).collect();
    with_null.insert(0, None);
    with_null.push(None);
    echo_array(client, ty, with_null).await;
}

#[tokio::test]
async fn every_type() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let client = &client;
    echo_all(client, "BOOL", &[true, false]).await;
    echo_all(client, "INT64", &[i64::MIN, i64::MAX, 0, -1]).await;
    let doubles = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        f64::MAX,
        5e-324,
        0.1,
    ];
    echo_all(client, "FLOAT64", &doubles).await;
    let singles = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        -0.0,
        f32::MAX,
        0.1,
        3.0,
    ];
    echo_all(client, "FLOAT32", &singles).await;
    let texts = ["", "a", "\0", "żółć 🎷", "'; --"].map(str::to_owned);
    echo_all(client, "STRING", &texts).await;
    echo_all(client, "STRING", &texts.map(String::into_boxed_str)).await;
    echo_all(
        client,
        "BYTES",
        &[vec![], vec![0, 255], (0..=255).collect::<Vec<u8>>()],
    )
    .await;
    let instants = [
        Timestamp::MIN,
        Timestamp::MAX,
        Timestamp::new(-1, 1).unwrap(),
    ];
    echo_all(client, "TIMESTAMP", &instants).await;
    let instants = [
        jiff::Timestamp::UNIX_EPOCH,
        "2024-02-29T23:59:59.000000001Z".parse().unwrap(),
    ];
    echo_all(client, "TIMESTAMP", &instants).await;
    echo_all(
        client,
        "DATE",
        &[date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29)],
    )
    .await;
}

/// Types of other crates, and the other types for the same columns.
#[tokio::test]
async fn more_types() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let client = &client;
    let numbers = [
        Numeric::MIN,
        Numeric::MAX,
        Numeric::ZERO,
        "-0.000000001".parse().unwrap(),
    ];
    echo_all(client, "NUMERIC", &numbers).await;
    let numbers = ["-79228162514264337593.543950335", "0", "1.5"];
    let decimals = numbers.map(|text| text.parse::<rust_decimal::Decimal>().unwrap());
    echo_all(client, "NUMERIC", &decimals).await;
    let numbers = ["99999999999999999999999999999.999999999", "-0.5"];
    let decimals = numbers.map(|text| text.parse::<bigdecimal::BigDecimal>().unwrap());
    echo_all(client, "NUMERIC", &decimals).await;

    let texts = ["", "żółć 🎷"];
    echo_all(client, "STRING", &texts.map(Arc::<str>::from)).await;
    let all: Vec<u8> = (0..=255).collect();
    let blobs = [&[][..], &[0, 255], &all];
    echo_all(client, "BYTES", &blobs.map(bytes::Bytes::copy_from_slice)).await;
    echo_all(client, "BYTES", &blobs.map(Box::<[u8]>::from)).await;
    echo_all(client, "BYTES", &[[0, 1, 2, 255], [255; 4]]).await;
    echo_all(client, "BYTES", &[[0_u8; 0]]).await;

    let instants = [
        Timestamp::MIN,
        Timestamp::MAX,
        Timestamp::new(-1, 1).unwrap(),
    ];
    let system = instants.map(|instant| SystemTime::try_from(instant).unwrap());
    echo_all(client, "TIMESTAMP", &system).await;
    let chrono = instants.map(|instant| {
        let nanoseconds = instant.nanoseconds();
        chrono::DateTime::from_timestamp(instant.seconds(), nanoseconds).unwrap()
    });
    echo_all(client, "TIMESTAMP", &chrono).await;
    let time = instants.map(|instant| {
        let whole = time::OffsetDateTime::from_unix_timestamp(instant.seconds()).unwrap();
        whole + time::Duration::nanoseconds(instant.nanoseconds().into())
    });
    echo_all(client, "TIMESTAMP", &time).await;
    let days = [(1, 1, 1), (9999, 12, 31), (2024, 2, 29)];
    let chrono = days.map(|(y, m, d)| chrono::NaiveDate::from_ymd_opt(y, m, d).unwrap());
    echo_all(client, "DATE", &chrono).await;
    let time = days.map(|(y, m, d)| {
        let month = time::Month::try_from(m as u8).unwrap();
        time::Date::from_calendar_date(y, month, d as u8).unwrap()
    });
    echo_all(client, "DATE", &time).await;
}

/// JSON cannot be compared, so a function that takes nothing else looks at it.
#[tokio::test]
async fn json() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let documents = [
        "null",
        "{}",
        r#"{"a":[1,"żółć \" 🎷"],"b":{"c":-1.5}}"#,
        "[]",
        "true",
    ];
    for document in documents {
        let value: serde_json::Value = serde_json::from_str(document).unwrap();
        let raw: &RawValue = serde_json::from_str(document).unwrap();
        let sql = "SELECT TO_JSON_STRING(@value), JSON_TYPE(@raw), TO_JSON_STRING(@json), TO_JSON_STRING(@many[OFFSET(1)]), @value, @many[OFFSET(0)]";
        let query = client.query(sql).param("value", &value).param("raw", raw);
        let query = query.param("json", Json(&value));
        let query = query.param("many", vec![None, Some(value.clone())]);
        type Sent = (
            String,
            String,
            String,
            String,
            serde_json::Value,
            Option<serde_json::Value>,
        );
        let row: Sent = query.one().await.unwrap();
        let ty = match &value {
            serde_json::Value::Null => "null",
            serde_json::Value::Bool(_) => "boolean",
            serde_json::Value::Array(_) => "array",
            _ => "object",
        };
        assert_eq!((row.0.as_str(), row.1.as_str()), (document, ty));
        assert_eq!((row.2.as_str(), row.3.as_str()), (document, document));
        assert_eq!((row.4, row.5), (value, None));
    }
    // SQL's NULL, and JSON's.
    let sql = "SELECT @a IS NULL, @b IS NULL, JSON_TYPE(@b)";
    let query = client.query(sql).param("a", None::<serde_json::Value>);
    let row: (bool, bool, String) = query.param("b", Json(None::<i64>)).one().await.unwrap();
    assert_eq!(row, (true, false, "null".to_owned()));
}

/// What borrows can be sent, too.
#[tokio::test]
async fn borrowed_values() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let bytes: &[u8] = &[1, 2];
    let row: (
        String,
        String,
        Vec<u8>,
        Vec<u8>,
        Vec<String>,
        Option<String>,
    ) = client
        .query("SELECT @a, @b, @c, CONCAT(@d, @g), ARRAY_CONCAT(@e, @h), @f")
        .param("a", "text")
        .param("b", Cow::Borrowed("cow"))
        .param("c", bytes)
        .param("d", Cow::Borrowed(bytes))
        .param("e", &["x", "y"][..])
        .param("f", None::<&str>)
        .param("g", Base64::new("+/8="))
        .param("h", Box::<[&str]>::from(["z"]))
        .one()
        .await
        .unwrap();
    let expected = (
        "text",
        "cow",
        vec![1, 2],
        vec![1, 2, 0xfb, 0xff],
        vec!["x", "y", "z"],
        None,
    );
    assert_eq!(
        (row.0.as_str(), row.1.as_str(), row.2, row.3),
        (expected.0, expected.1, expected.2, expected.3)
    );
    assert_eq!(
        (row.4, row.5),
        (
            expected.4.iter().map(|text| (*text).to_owned()).collect(),
            expected.5
        )
    );
}

/// Parameters select rows; names differ from one another by more than case.
#[tokio::test]
async fn parameters_in_conditions() {
    let ddl = "CREATE TABLE Days (Day DATE NOT NULL, Note BYTES(MAX)) PRIMARY KEY (Day)";
    let Some((database, client)) = support::database(&[ddl]).await else {
        return;
    };
    let insert = "INSERT INTO Days (Day, Note) VALUES (DATE '2024-02-28', b'a'), (DATE '2024-02-29', b'b'), (DATE '2024-03-01', NULL)";
    database.execute(insert).await.unwrap();
    let days: Vec<(Date,)> = client
        .query("SELECT Day FROM Days WHERE Day >= @first AND (Note = @note OR @note IS NULL) ORDER BY Day")
        .param("first", date(2024, 2, 29))
        .param("note", None::<Vec<u8>>)
        .rows::<(Date,)>()
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    assert_eq!(days, [(date(2024, 2, 29),), (date(2024, 3, 1),)]);
    let day: Option<(Date,)> = client
        .query("SELECT Day FROM Days WHERE Note IN UNNEST(@notes)")
        .param("notes", vec![b"b".to_vec(), b"z".to_vec()])
        .optional()
        .await
        .unwrap();
    assert_eq!(day, Some((date(2024, 2, 29),)));
}

#[derive(Clone, Debug, PartialEq, SpannerRow, SpannerEncode)]
#[spanner(rename_all = "PascalCase")]
struct Name {
    first: String,
    last: Option<String>,
    #[spanner(try_from = "i64")]
    rank: u8,
    tags: Vec<String>,
    #[spanner(flatten(prefix = "Home"))]
    home: Option<Home>,
}

#[derive(Clone, Debug, PartialEq, SpannerRow, SpannerEncode)]
#[spanner(rename_all = "PascalCase")]
struct Home {
    city: String,
}

#[tokio::test]
async fn structs() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let name = |rank, city: Option<&str>| Name {
        first: "Marc".to_owned(),
        last: city.map(str::to_owned),
        rank,
        tags: vec!["a".to_owned(); usize::from(rank)],
        home: city.map(|city| Home {
            city: city.to_owned(),
        }),
    };
    // A STRUCT cannot be a column of a result, its fields can; an ARRAY of it is one.
    let one = name(3, Some("Bern"));
    let read: Name = client
        .query("SELECT @n.First, @n.Last, @n.Rank, @n.Tags, @n.HomeCity")
        .param("n", &one)
        .one()
        .await
        .unwrap();
    assert_eq!(read, one);

    let all: Vec<_> = (0..5)
        .map(|rank| name(rank, (rank % 2 == 1).then_some("Rom")))
        .collect();
    let (back,): (Vec<Name>,) = client
        .query("SELECT ARRAY(SELECT AS STRUCT * FROM UNNEST(@all) ORDER BY Rank)")
        .param("all", &all)
        .one()
        .await
        .unwrap();
    assert_eq!(back, all);

    let missing: (bool, bool, i64) = client
        .query("SELECT @n IS NULL, @n.First IS NULL, ARRAY_LENGTH(@none)")
        .param("n", None::<Name>)
        .param("none", Vec::<Name>::new())
        .one()
        .await
        .unwrap();
    assert_eq!(missing, (true, true, 0));
}
