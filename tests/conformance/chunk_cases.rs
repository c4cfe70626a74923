//! `tests/data/chunk-cases.json`: chunked values, whole streams, resumes.

use std::time::Duration;

use serde_json::Value as Json;
use spanner_rows::testing::{Failure, Message, Step};
use spanner_rows::{Code, ErrorKind, Field, OwnedValue, RetrySettings, RowCount, RowType};

use crate::json::{add_values, column, type_of, value};
use crate::run::{Seen, read_all};

/// Cases that need a read-only transaction which begins with the query; the
/// state machine's own tests run them.
const OF_TRANSACTIONS: [&str; 2] = [
    "resume-inline-begin-keeps-begin-until-id-known",
    "resume-inline-begin-no-id-returned",
];

fn cases(group: &str) -> Vec<Json> {
    let file: Json = serde_json::from_str(include_str!("../data/chunk-cases.json")).unwrap();
    let all = file["cases"].as_array().unwrap();
    assert_eq!(all.len() as u64, file["count"].as_u64().unwrap());
    let of_group = all.iter().filter(|case| case["group"] == group);
    of_group.cloned().collect()
}

fn id(case: &Json) -> &str {
    case["id"].as_str().unwrap()
}

#[tokio::test]
async fn merge() {
    let cases = cases("merge");
    assert!(cases.len() >= 18);
    for case in cases {
        let row_type = RowType::new([Field::new("v", type_of(case["type"].as_str().unwrap()))]);
        let first = add_values(Message::new().row_type(&row_type), &[case["a"].clone()]);
        let second = add_values(Message::new(), &[case["b"].clone()]);
        let script = vec![Step::Message(first.chunked()), Step::Message(second)];
        let seen = read_all(vec![script], RetrySettings::default()).await;

        let expected = match case["expect"].get("result") {
            Some(result) => vec![vec![value(result)]],
            None => vec![],
        };
        compare(&case, &seen, &expected);
    }
}

#[tokio::test]
async fn stream() {
    let cases = cases("stream");
    assert!(cases.len() >= 30);
    for case in cases {
        run(&case).await;
    }
}

#[tokio::test]
async fn resume() {
    let cases = cases("resume");
    assert!(cases.len() >= 18);
    for case in cases {
        if !OF_TRANSACTIONS.contains(&id(&case)) {
            run(&case).await;
        }
    }
}

async fn run(case: &Json) {
    let columns = case["columns"].as_array().unwrap();
    let row_type = RowType::new(columns.iter().map(|text| column(text.as_str().unwrap())));
    let attempts = case["attempts"].as_array().unwrap();
    let scripts = attempts.iter().map(|attempt| script(attempt, &row_type));
    let seen = read_all(scripts.collect(), settings(case)).await;

    let rows = case["expect"]["rows"].as_array().unwrap();
    let rows = rows.iter().map(|row| match value(row) {
        OwnedValue::List(values) => values,
        other => panic!("{other} is not a row"),
    });
    compare(case, &seen, &rows.collect::<Vec<_>>());

    let tokens = seen.requests.iter().map(|request| request.resume_token());
    let expected = attempts
        .iter()
        .map(|attempt| text(&attempt["expect_request"]["resume_token"]));
    assert!(
        tokens.eq(expected.map(str::as_bytes)),
        "{}: resume tokens {:?}",
        id(case),
        seen.requests
    );
    if let Some(stats) = case["expect"].get("stats") {
        compare_stats(case, &seen, stats);
    }
}

/// Few waits, so that the cases run quickly, and the case's hold limit.
fn settings(case: &Json) -> RetrySettings {
    let settings = RetrySettings::default().initial_delay(Duration::from_millis(1));
    match case["config"]["max_held_messages"].as_u64() {
        Some(messages) => settings.hold_messages(messages as usize),
        None => settings,
    }
}

fn script(attempt: &Json, row_type: &RowType) -> Vec<Step> {
    let resumed = !text(&attempt["expect_request"]["resume_token"]).is_empty();
    let events = attempt["events"].as_array().unwrap().iter().enumerate();
    let steps = events.map(|(i, event)| match event.get("status") {
        Some(status) => end(status),
        None => Step::Message(message(event, row_type, i == 0 && !resumed)),
    });
    steps.collect()
}

fn end(status: &Json) -> Step {
    let code = text(&status["code"]);
    if code == "OK" {
        return Step::End;
    }
    let failure = Failure::new(code_of(code), text(&status["message"]));
    Step::Fail(match status["retry_delay_ms"].as_u64() {
        Some(delay) => failure.retry_after(Duration::from_millis(delay)),
        None => failure,
    })
}

fn message(event: &Json, row_type: &RowType, first: bool) -> Message {
    let mut message = Message::new();
    if event["metadata"] == true || (first && event["no_metadata"] != true) {
        message = message.row_type(row_type);
        if let Some(id) = event["transaction_id"].as_str() {
            message = message.transaction_id(id.to_owned());
        }
    }
    assert!(
        !event["metadata"].is_array(),
        "no case has another row type yet"
    );
    if let Some(values) = event["values"].as_array() {
        message = add_values(message, values);
    }
    if event["chunked_value"] == true {
        message = message.chunked();
    }
    if let Some(token) = event["resume_token"].as_str() {
        message = message.resume_token(token.to_owned());
    }
    if event["last"] == true {
        message = message.last();
    }
    if let Some(stats) = event["stats"]["query_stats"].as_object() {
        message = message.query_stats(stats.iter().map(|(key, value)| (key.clone(), text(value))));
    }
    if let Some(rows) = event["stats"]["row_count_exact"].as_i64() {
        message = message.row_count(rows);
    }
    if let Some(precommit) = event.get("precommit") {
        let seq_num = precommit["seq"].as_i64().unwrap() as i32;
        message = message.precommit_token(text(&precommit["token"]).to_owned(), seq_num);
    }
    message
}

fn compare(case: &Json, seen: &Seen, rows: &[Vec<OwnedValue>]) {
    let id = id(case);
    assert_eq!(seen.rows, rows, "{id}: rows; error: {:?}", seen.error);
    match (case["expect"]["error"].as_str(), &seen.error) {
        (None, None) => {}
        (Some(code), Some(error)) => {
            assert_eq!(error.code(), code_of(code), "{id}: {error}");
            // A fault of the stream, not of one row's values.
            let of_row = matches!(error.kind(), ErrorKind::Row(_));
            assert!(!of_row, "{id}: {error}");
        }
        (expected, error) => panic!("{id}: expected {expected:?}, got {error:?}"),
    }
}

fn compare_stats(case: &Json, seen: &Seen, expected: &Json) {
    let id = id(case);
    let stream = seen.stream.as_ref().expect("a stream");
    let stats = stream.stats().unwrap_or_else(|| panic!("{id}: no stats"));
    if let Some(rows) = expected["row_count_exact"].as_i64() {
        assert_eq!(stats.row_count(), Some(RowCount::Exact(rows)), "{id}");
    }
    for (key, value) in expected["query_stats"].as_object().into_iter().flatten() {
        assert_eq!(
            stats.query_stat(key),
            Some(&crate::json::value(value)),
            "{id}: {key}"
        );
    }
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

pub(crate) fn code_of(text: &str) -> Code {
    (1..=16)
        .map(Code::from_number)
        .find(|code| code.to_string() == text)
        .unwrap_or_else(|| panic!("unknown code `{text}`"))
}
