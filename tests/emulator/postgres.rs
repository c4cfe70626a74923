//! The PostgreSQL dialect: NUMERIC of any length and `NaN`, JSONB, OID, parameters, and
//! the other types under their names there.

use std::borrow::Cow;
use std::sync::Arc;

use bigdecimal::BigDecimal;
use jiff::civil::{Date, date};
use rust_decimal::Decimal;
use serde_json::value::RawValue;
use spanner_rows::testing::{Database, Dialect};
use spanner_rows::{
    Client, Code, Json, List, Numeric, OwnedValue, PgNumeric, Row, SpannerRow, Timestamp, Type,
    TypeAnnotation, TypeCode, Value,
};

use crate::support;
use crate::ways::read_as;

const DDL: &str = "CREATE TABLE everything (
    id bigint PRIMARY KEY,
    num numeric,
    doc jsonb,
    nums numeric[],
    docs jsonb[],
    flag boolean,
    double float8,
    single float4,
    name varchar,
    bytes bytea,
    instant timestamptz,
    day date
)";

async fn database(ddl: &[&str]) -> Option<(Database, Client)> {
    support::database_with(|new| new.dialect(Dialect::PostgreSql).ddl(ddl)).await
}

/// As Spanner prints them: zeros behind the point are kept, those before digits not.
fn numbers() -> Vec<Option<String>> {
    // The most digits that the dialect has, before the point and behind it.
    let longest = format!("-{}.{}7", "9".repeat(131_072), "0".repeat(16_382));
    let numbers = [
        "NaN",
        "0",
        "-0.0000000001",
        "12.500",
        "NaN",
        "99999999999999999999999999999.999999999",
        "-99999999999999999999999999999.999999999",
        "99999999999999999999999999999.9999999991",
        "123456789012345678901234567890123456789012345.00000000000000000001",
        &longest,
        "0.000",
        "1000000000",
    ];
    let mut numbers: Vec<_> = numbers.iter().map(|n| Some((*n).to_owned())).collect();
    numbers.insert(0, None);
    numbers.insert(5, None);
    numbers.push(None);
    numbers
}

/// As Spanner prints them: keys in order, a space behind `:` and `,`, numbers exact.
fn documents() -> Vec<Option<String>> {
    let documents = [
        None,
        Some("null"),
        Some("{}"),
        Some("[]"),
        Some(r#"{"a": {"b": [1, [2, {"c": null}]]}, "z": true}"#),
        None,
        Some(r#""quoted \" \\ \n żółć 🎷""#),
        Some("[123456789012345678901234567890.5, 1.0000000000000000001]"),
        Some("-1.50"),
        Some("false"),
    ];
    documents.map(|text| text.map(str::to_owned)).to_vec()
}

/// All, none, NULL, one, one NULL.
fn lists(all: Vec<Option<String>>) -> Vec<Option<Vec<Option<String>>>> {
    let (some, null) = (vec![all[1].clone()], vec![None]);
    vec![Some(all), Some(vec![]), None, Some(some), Some(null)]
}

fn literal(value: &Option<String>, ty: &str) -> String {
    match value {
        // As an escape string, in which `\` stands for itself when doubled.
        Some(text) => format!("(E'{}')::{ty}", text.replace('\\', r"\\")),
        None => format!("NULL::{ty}"),
    }
}

fn array(values: &Option<Vec<Option<String>>>, ty: &str) -> String {
    match values {
        Some(values) => {
            let values: Vec<_> = values.iter().map(|value| literal(value, ty)).collect();
            format!("ARRAY[{}]::{ty}[]", values.join(", "))
        }
        None => "NULL".to_owned(),
    }
}

/// Rows with these texts in two columns: a value and an array of them.
async fn table(
    ty: &str,
    (column, values): (&str, Vec<Option<String>>),
    (array_column, arrays): (&str, Vec<Option<Vec<Option<String>>>>),
) -> Option<(Database, Client)> {
    let (database, client) = database(&[DDL]).await?;
    let values = (0..).zip(&values).map(|(id, value)| {
        let value = literal(value, ty);
        format!("INSERT INTO everything (id, {column}) VALUES ({id}, {value})")
    });
    // Behind the others.
    let arrays = (100..).zip(&arrays).map(|(id, values)| {
        let values = array(values, ty);
        format!("INSERT INTO everything (id, {array_column}) VALUES ({id}, {values})")
    });
    let inserts: Vec<_> = values.chain(arrays).collect();
    let inserts: Vec<_> = inserts.iter().map(String::as_str).collect();
    database.execute_all(&inserts).await.unwrap();
    Some((database, client))
}

async fn type_of(client: &Client, sql: &str) -> Type {
    let query = client.query(format!("{sql} LIMIT 1"));
    let batch = query.one_batch::<Row>().await.unwrap();
    batch.row_type().fields()[0].ty().clone()
}

#[tokio::test]
async fn numeric() {
    // The longest number is in a row only: an array of it all is long for DML.
    let mut short = numbers();
    short.retain(|n| n.as_ref().is_none_or(|n| n.len() < 100));
    let arrays = lists(short);
    let columns = (("num", numbers()), ("nums", arrays.clone()));
    let Some((_database, client)) = table("numeric", columns.0, columns.1).await else {
        return;
    };
    let sql = "SELECT num FROM everything WHERE id < 100 ORDER BY id";
    read_as! { client, sql, numbers();
        PgNumeric => |number| number.as_str().to_owned();
        PgNumeric<&str> => |number| number.as_str().to_owned();
        OwnedValue => |value| match value {
            OwnedValue::String(text) => text.clone(),
            other => panic!("{other}"),
        };
    }
    let ty = Type::new(TypeCode::Numeric).with_annotation(TypeAnnotation::PgNumeric);
    assert_eq!(type_of(&client, sql).await, ty);

    let sql = "SELECT nums FROM everything WHERE id >= 100 ORDER BY id";
    read_as! { client, sql, arrays.clone();
        Vec<Option<PgNumeric>> => |numbers| numbers.iter().map(|n| n.as_ref().map(ToString::to_string)).collect();
        Box<[Option<PgNumeric<&str>>]> => |numbers| numbers.iter().map(|n| n.map(|n| n.to_string())).collect();
        List<Option<PgNumeric<&str>>> => |numbers| numbers.iter().map(|n| n.unwrap().map(|n| n.to_string())).collect();
        List<Option<PgNumeric>> => |numbers| numbers.iter().map(|n| n.unwrap().map(|n| n.to_string())).collect();
    }
    assert_eq!(type_of(&client, sql).await, Type::array(ty));
}

/// What holds less than the dialect has reads what fits, and says of the rest what does.
#[tokio::test]
async fn shorter_numbers() {
    let none = ("nums", Vec::new());
    let Some((_database, client)) = table("numeric", ("num", numbers()), none).await else {
        return;
    };
    macro_rules! reads {
        ($($ty:ty, $fits:expr;)+) => {$(
            let sql = "SELECT num FROM everything ORDER BY id";
            let mut rows = client.query(sql).rows::<(Option<$ty>,)>().await.unwrap();
            let fits: fn(&str) -> Option<$ty> = $fits;
            for expected in numbers() {
                let read = rows.next().await;
                match (expected.as_deref().map(fits), read) {
                    (None, Ok(Some((None,)))) => {}
                    (Some(Some(expected)), Ok(Some((Some(read),)))) => assert_eq!(expected, read),
                    (Some(None), Err(error)) => {
                        assert!(error.is_row_error(), "{error}");
                        assert!(error.to_string().contains("Numeric`"), "{error}");
                    }
                    (expected, read) => panic!("{expected:?} read as {read:?}"),
                }
            }
            assert!(rows.next().await.unwrap().is_none());
        )+};
    }
    reads! {
        Numeric, |text| text.parse().ok();
        BigDecimal, |text| text.parse().ok();
        Decimal, |text| Decimal::from_str_exact(text).ok();
    }
}

#[tokio::test]
async fn jsonb() {
    let columns = (("doc", documents()), ("docs", lists(documents())));
    let Some((_database, client)) = table("jsonb", columns.0, columns.1).await else {
        return;
    };
    let sql = "SELECT doc FROM everything WHERE id < 100 ORDER BY id";
    read_as! { client, sql, documents();
        &str => |text| (*text).to_owned();
        String => |text| text.clone();
        Cow<str> => |text| text.to_string();
        Box<str> => |text| text.to_string();
        Arc<str> => |text| text.to_string();
        &RawValue => |raw| raw.get().to_owned();
        OwnedValue => |value| match value {
            OwnedValue::String(text) => text.clone(),
            other => panic!("{other}"),
        };
    }
    let tree = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let trees: Vec<_> = documents().into_iter().map(|text| text.map(tree)).collect();
    read_as! { client, sql, trees.clone();
        serde_json::Value => |value| value.clone();
        Json<serde_json::Value> => |value| value.0.clone();
        // JSON's `null` is not SQL's NULL.
        Json<Option<serde_json::Value>> => |value| value.0.clone().unwrap_or_default();
    }
    let ty = Type::new(TypeCode::Json).with_annotation(TypeAnnotation::PgJsonb);
    assert_eq!(type_of(&client, sql).await, ty);

    let sql = "SELECT docs FROM everything WHERE id >= 100 ORDER BY id";
    read_as! { client, sql, lists(documents());
        Vec<Option<String>> => |texts| texts.clone();
        List<Option<&str>> => |texts| texts.iter().map(|t| t.unwrap().map(str::to_owned)).collect();
        Vec<Option<&RawValue>> => |raws| raws.iter().map(|r| r.map(|r| r.get().to_owned())).collect();
    }
    assert_eq!(type_of(&client, sql).await, Type::array(ty));
    let (docs,): (Vec<Option<serde_json::Value>>,) = client
        .query("SELECT docs FROM everything WHERE id = 100")
        .one()
        .await
        .unwrap();
    assert_eq!(docs, trees);

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Document {
        a: serde_json::Value,
        z: bool,
    }
    let sql = "SELECT doc FROM everything WHERE id IN (2, 4) ORDER BY id";
    let mut rows = client.query(sql).rows::<(Json<Document>,)>().await.unwrap();
    let error = rows.next().await.unwrap_err();
    assert!(error.is_row_error(), "{error}");
    assert!(rows.next().await.unwrap().expect("two rows").0.0.z);
}

/// Of the catalog's numbers: no table may have them.
#[tokio::test]
async fn oid() {
    let Some((_database, client)) = database(&[]).await else {
        return;
    };
    let expected = [Some(0), None, Some(i64::from(u32::MAX)), Some(26)];
    let sql = "SELECT 0::oid UNION ALL SELECT NULL UNION ALL SELECT 4294967295::oid UNION ALL SELECT oid FROM pg_catalog.pg_type WHERE typname = 'oid'";
    let mut seen: Vec<(Option<i64>,)> = client
        .query(sql)
        .rows::<(Option<i64>,)>()
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    seen.sort();
    let mut sorted = expected.map(|oid| (oid,));
    sorted.sort();
    assert_eq!(seen, sorted);

    let oid = Type::new(TypeCode::Int64).with_annotation(TypeAnnotation::PgOid);
    for oid_or_null in expected {
        let sql = oid_or_null.map_or_else(
            || "SELECT NULL::oid".to_owned(),
            |oid| format!("SELECT {oid}::oid"),
        );
        read_as! { client, &sql, [oid_or_null];
            i64 => |oid| *oid;
            OwnedValue => |value| match value {
                OwnedValue::String(text) => text.parse().unwrap(),
                other => panic!("{other}"),
            };
        }
        assert_eq!(type_of(&client, &sql).await, oid);
    }

    let sql = "SELECT ARRAY[0::oid, NULL, 4294967295::oid]";
    let elements = vec![Some(0), None, Some(i64::from(u32::MAX))];
    read_as! { client, sql, [Some(elements.clone())];
        Vec<Option<i64>> => |oids| oids.clone();
        Box<[Option<i64>]> => |oids| oids.to_vec();
        List<Option<i64>> => |oids| oids.iter().map(Result::unwrap).collect();
    }
    assert_eq!(type_of(&client, sql).await, Type::array(oid));

    let batch = client.query(sql).one_batch::<Row>().await.unwrap();
    let row = batch.row(0).unwrap();
    let Value::List(list) = row.value(0).unwrap() else {
        panic!("{row:?}");
    };
    let text = Value::String;
    assert!(list.iter().eq([text("0"), Value::Null, text("4294967295")]));

    // Not 32 bits with a sign.
    let query = client.query("SELECT 1::oid");
    let error = query.rows::<(i32,)>().await.expect_err("not an ENUM");
    let error = error.to_string();
    assert!(error.contains("INT64 (PG OID)"), "{error}");
}

/// Parameters are `$1`, whose name is `p1`.
#[tokio::test]
async fn parameters() {
    let Some((_database, client)) = database(&[]).await else {
        return;
    };
    for number in numbers() {
        let sent = number.map(|text| PgNumeric::new(text).unwrap());
        let query = client.query("SELECT $1, $1::text");
        let query = query.param("p1", &sent);
        let read: (Option<PgNumeric>, Option<String>) = query.one().await.unwrap();
        let text = |number: &Option<PgNumeric>| number.as_ref().map(ToString::to_string);
        assert_eq!(text(&read.0), text(&sent));
        // The server read it as the same number.
        assert_eq!(read.1, text(&sent));
    }
    let sent = vec![
        Some(PgNumeric::NAN),
        None,
        Some(PgNumeric::new("-1.50").unwrap()),
    ];
    let query = client.query("SELECT $1").param("p1", &sent);
    let (read,): (Vec<Option<PgNumeric>>,) = query.one().await.unwrap();
    assert_eq!(format!("{read:?}"), format!("{sent:?}"));
    // `Numeric` is GoogleSQL's, and goes as the dialect's own.
    let query = client
        .query("SELECT $1")
        .param("p1", PgNumeric::from(Numeric::MIN));
    assert_eq!(query.one::<(Numeric,)>().await.unwrap().0, Numeric::MIN);
    let query = client.query("SELECT $1").param("p1", Numeric::MIN);
    let error = query.one::<(PgNumeric,)>().await.unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented, "{error}");

    // Documents go as text. (The emulator does not survive a NULL there.)
    for document in documents().into_iter().flatten() {
        let query = client.query("SELECT $1::jsonb").param("p1", &document);
        let (read,): (String,) = query.one().await.unwrap();
        assert_eq!(read, document);
    }
    let tree = serde_json::json!({"a": [1, null]});
    let query = client
        .query("SELECT $1::jsonb")
        .param("p1", tree.to_string());
    assert_eq!(query.one::<(serde_json::Value,)>().await.unwrap().0, tree);
    let query = client.query("SELECT $1::jsonb").param("p1", &tree);
    let error = query.one::<(serde_json::Value,)>().await.unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented, "{error}");

    let sql = "SELECT typname, $2::oid FROM pg_catalog.pg_type WHERE oid = $1";
    let query = client
        .query(sql)
        .param("p1", 26_i64)
        .param("p2", None::<i64>);
    let read: (String, Option<i64>) = query.one().await.unwrap();
    assert_eq!(read, ("oid".to_owned(), None));
}

#[derive(Debug, SpannerRow)]
struct Everything<'row> {
    id: i64,
    num: Option<PgNumeric<&'row str>>,
    doc: Option<&'row RawValue>,
    nums: Option<Vec<Option<PgNumeric>>>,
    docs: Option<Vec<Option<&'row str>>>,
    flag: Option<bool>,
    double: Option<f64>,
    single: Option<f32>,
    name: Option<&'row str>,
    bytes: Option<&'row [u8]>,
    instant: Option<Timestamp>,
    day: Option<Date>,
}

/// All types in one struct, which is set anew for every row, by a query and by a read.
#[tokio::test]
async fn every_type() {
    let Some((database, client)) = database(&[DDL]).await else {
        return;
    };
    let full = "SELECT 1, 'NaN'::numeric, '{}'::jsonb, ARRAY['1.0'::numeric, NULL::numeric], ARRAY[NULL::jsonb, '1'::jsonb], true, \
        'NaN'::float8, '-Infinity'::float4, 'żółć'::varchar, '\\x00ff'::bytea, '9999-12-31 23:59:59.999999Z'::timestamptz, '0001-01-01'::date";
    let columns = "id, num, doc, nums, docs, flag, double, single, name, bytes, instant, day";
    database
        .execute_all(&[
            "INSERT INTO everything (id) VALUES (0), (2)",
            &format!("INSERT INTO everything ({columns}) {full}"),
        ])
        .await
        .unwrap();
    let sql = format!("SELECT {columns} FROM everything ORDER BY id");
    let query = client.query(sql).rows::<Everything>().await.unwrap();
    let read = client.read("everything").all().rows().await.unwrap();
    for mut rows in [query, read] {
        for id in 0..3 {
            let row: &Everything<'_> = &rows.next().await.unwrap().expect("three rows");
            assert_eq!(row.id, id);
            let shown = format!("{row:?}");
            if id != 1 {
                assert_eq!(shown.matches("None").count(), 11, "{shown}");
                continue;
            }
            assert!(row.num.is_some_and(|number| number.is_nan()));
            assert_eq!(row.doc.map(RawValue::get), Some("{}"));
            let nums = row.nums.as_deref().unwrap();
            assert_eq!(
                (nums[0].as_ref().map(PgNumeric::as_str), &nums[1]),
                (Some("1.0"), &None)
            );
            assert_eq!(row.docs, Some(vec![None, Some("1")]));
            assert_eq!(row.flag, Some(true));
            assert!(row.double.is_some_and(f64::is_nan));
            assert_eq!(row.single, Some(f32::NEG_INFINITY));
            assert_eq!((row.name, row.bytes), (Some("żółć"), Some(&[0, 255][..])));
            let last = Timestamp::new(Timestamp::MAX.seconds(), 999_999_000).unwrap();
            assert_eq!(row.instant, Some(last));
            assert_eq!(row.day, Some(date(1, 1, 1)));
        }
        assert!(rows.next().await.unwrap().is_none());
    }
}
