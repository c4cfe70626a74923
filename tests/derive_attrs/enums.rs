//! `SpannerEnum`: texts, numbers, other values, parameters.

use spanner_rows::testing::{FakeSpanner, Rows};
use spanner_rows::{Client, OwnedValue, SpannerEnum, SpannerRow, ToColumn, Type, TypeCode};

use crate::support::{collect, contains, int, list, misfit, reader, row, string, text};

#[derive(Clone, Debug, PartialEq, SpannerEnum)]
#[spanner(rename_all = "SCREAMING_SNAKE_CASE")]
enum Status {
    Active,
    #[spanner(rename = "on hold", alias = "PAUSED", alias = "")]
    Waiting,
    LongGone,
    #[spanner(other)]
    Other(String),
}

#[derive(Clone, Copy, Debug, PartialEq, SpannerEnum)]
enum Strict {
    A,
    r#B,
}

#[derive(Debug, PartialEq, SpannerEnum)]
enum Genre<'a> {
    Rock,
    #[spanner(other)]
    Other {
        name: &'a str,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, SpannerEnum)]
#[repr(i64)]
enum Priority {
    Lowest = -5,
    Low,
    High = BASE + 1,
    #[spanner(other)]
    Unknown(i64),
}

const BASE: i64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, SpannerEnum)]
enum Small {
    Zero = 0,
    Two = 2,
    Three,
}

#[derive(Debug, PartialEq, SpannerEnum)]
#[spanner(repr = "number")]
enum Counted {
    Zero,
    One,
    #[spanner(other)]
    More,
}

#[derive(Clone, Copy, Debug, PartialEq, SpannerEnum)]
#[spanner(repr = "text")]
enum Named {
    One = 1,
}

#[derive(Debug, SpannerRow)]
struct All<'row> {
    status: Status,
    before: Option<Status>,
    history: Vec<Status>,
    genre: Genre<'row>,
    priority: Priority,
    #[spanner(null_default = "zero")]
    small: Small,
    counted: Counted,
    named: Named,
}

fn zero() -> Small {
    Small::Zero
}

fn columns() -> [(&'static str, Type); 8] {
    [
        ("status", string()),
        ("before", string()),
        ("history", Type::array(string())),
        ("genre", string()),
        ("priority", int()),
        ("small", int()),
        ("counted", Type::new(TypeCode::Enum)),
        ("named", string()),
    ]
}

#[test]
fn values_become_variants() {
    let mut values = row(["ACTIVE", "-", "-", "Rock", "-5", "3", "1", "One"]);
    values[2] = list(row(["on hold", "PAUSED", "", "LONG_GONE", "Waiting"]));
    let mut more = row(["new", "ACTIVE", "-", "Polka", "7", "-", "-1", "One"]);
    more[2] = list([]);
    let mut rows = reader::<All>(&columns(), [values, more]);
    {
        let first = rows.next().unwrap().unwrap();
        assert_eq!((&first.status, &first.before), (&Status::Active, &None));
        let waiting = Status::Waiting;
        let history = [
            waiting.clone(),
            waiting.clone(),
            waiting,
            Status::LongGone,
            Status::Other("Waiting".to_owned()),
        ];
        assert_eq!(first.history, history);
        assert_eq!(
            (&first.genre, first.priority),
            (&Genre::Rock, Priority::Lowest)
        );
        assert_eq!((first.small, &first.counted), (Small::Three, &Counted::One));
        assert_eq!(first.named, Named::One);
    }
    let second = rows.next().unwrap().unwrap();
    assert_eq!(second.status, Status::Other("new".to_owned()));
    assert_eq!(second.before, Some(Status::Active));
    assert_eq!(second.genre, Genre::Other { name: "Polka" });
    assert_eq!(second.priority, Priority::Unknown(7));
    assert_eq!(
        (second.small, &second.counted),
        (Small::Zero, &Counted::More)
    );
}

#[test]
fn discriminants_count_on_and_can_be_constants() {
    for (number, priority) in [
        ("-5", Priority::Lowest),
        ("-4", Priority::Low),
        ("11", Priority::High),
    ] {
        let rows: Vec<(Priority,)> = collect(&[("", int())], [row([number])]).unwrap();
        assert_eq!(rows[0].0, priority);
    }
}

#[test]
fn a_value_without_a_variant_is_an_error_that_lists_them() {
    let mut rows = reader::<(Strict,)>(&[("s", string())], [row(["b"]), row(["-"]), row(["B"])]);
    let error = rows.next().unwrap_err();
    assert!(error.is_row_error());
    contains(
        &error.to_string(),
        &[
            "\"b\"",
            "::Strict: no variant stands for it",
            "\"A\", \"B\"",
        ],
    );
    contains(&rows.next().unwrap_err().to_string(), &["NULL"]);
    assert_eq!(rows.next().unwrap().unwrap(), (Strict::B,));
    let mut rows = reader::<(Small,)>(&[("s", int())], [row(["1"]), row(["x"])]);
    contains(
        &rows.next().unwrap_err().to_string(),
        &["\"1\"", "Zero, Two, Three"],
    );
    contains(
        &rows.next().unwrap_err().to_string(),
        &["\"x\"", "not a decimal integer"],
    );
}

#[test]
fn the_type_of_the_column_has_to_fit() {
    contains(
        &misfit::<(Strict,)>(&[("s", int())]),
        &["is INT64", "Strict", "it reads STRING"],
    );
    contains(
        &misfit::<(Small,)>(&[("s", string())]),
        &["is STRING", "it reads INT64 or ENUM"],
    );
}

/// The type and the value of a parameter, as the server gets and gives it back.
async fn written<T: ToColumn>(value: T) -> (Type, OwnedValue) {
    let fake = FakeSpanner::start().await;
    fake.on_query("q", Rows::new(["v"], [(value,)]));
    let client = Client::builder(fake.database())
        .endpoint(fake.endpoint())
        .connect()
        .await
        .unwrap();
    let (value,) = client.query("q").one::<(OwnedValue,)>().await.unwrap();
    (T::column_type(), value)
}

#[tokio::test]
async fn variants_are_written_as_they_are_read() {
    let string = |value| (string(), text(value));
    let number = |value| (int(), text(value));
    assert_eq!(written(Status::Active).await, string("ACTIVE"));
    assert_eq!(written(Status::Waiting).await, string("on hold"));
    let other = Status::Other("x".to_owned());
    assert_eq!(written(&other).await, string("x"));
    let other = Genre::Other { name: "Polka" };
    assert_eq!(written(other).await, string("Polka"));
    assert_eq!(written(Named::One).await, string("One"));
    assert_eq!(written(Priority::High).await, number("11"));
    assert_eq!(written(Priority::Unknown(99)).await, number("99"));
    assert_eq!(written(Small::Three).await, number("3"));
    assert_eq!(written(Strict::A).await, string("A"));
}
