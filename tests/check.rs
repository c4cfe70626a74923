//! A row held against a statement or a table: what is sent, and what is told.

use spanner_rows::testing::{Answer, FakeSpanner, Gate, Message, Rows, Step};
use spanner_rows::{Client, ErrorKind, QueryMode, SpannerRow, TypeCode};

const SQL: &str = "SELECT name, n FROM Counts WHERE n > @least";

#[derive(SpannerRow)]
struct Count {
    name: String,
    n: i64,
}

async fn server() -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.expect("every client is taken");
    (fake, client)
}

#[tokio::test]
async fn a_statement_is_planned_and_not_run() {
    let (fake, client) = server().await;
    let message = Message::new()
        .columns([("name", TypeCode::String), ("n", TypeCode::Int64)])
        .undeclared_parameters([("least", TypeCode::Int64)]);
    fake.on_query(SQL, message);
    let checked = client.query(SQL).check::<Count>().await.unwrap();
    assert_eq!(checked.row_type().position("n"), Some(1));
    let parameters = checked.undeclared_parameters();
    assert_eq!(parameters.fields()[0].name(), "least");
    let requests = fake.requests();
    let request = requests.last().unwrap();
    assert_eq!(request.query_mode(), QueryMode::Plan);
    assert_eq!(request.sql(), SQL);
}

#[tokio::test]
async fn a_row_that_does_not_fit_is_told_of() {
    let (fake, client) = server().await;
    fake.on_query(SQL, Rows::new(["Name", "n"], [("a", 1.5)]));
    let error = client.query(SQL).check::<Count>().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Bind(_)), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("`name`") && text.contains("FLOAT64"),
        "{text}"
    );
}

/// A server that takes no notice of the mode sends rows; they are no error and not read on.
#[tokio::test]
async fn rows_that_come_nevertheless_are_left_alone() {
    let (fake, client) = server().await;
    let first = Message::new()
        .columns([("name", TypeCode::String), ("n", TypeCode::Int64)])
        .value("a")
        .value("not a number")
        .resume_token("t");
    let gate = Gate::new();
    let steps = [Step::Message(first), Step::Wait(gate)];
    fake.on_query(SQL, Answer::script(steps));
    client.query(SQL).check::<Count>().await.unwrap();
}

#[tokio::test]
async fn a_table_is_asked_for_no_row() {
    let (fake, client) = server().await;
    fake.on_read("Counts", Rows::new(["name", "n"], [("", 0_i64); 0]));
    let read = client.read::<Count>("Counts").index("ByN").key("k").all();
    let checked = read.check().await.unwrap();
    assert_eq!(checked.row_type().len(), 2);
    let requests = fake.requests();
    let request = requests.last().unwrap();
    assert_eq!(request.columns(), ["name", "n"]);
    assert_eq!(request.index(), "ByN");
    assert!(request.keys().is_empty() && !request.all_keys());
    assert!(request.key_ranges().is_empty());
}
