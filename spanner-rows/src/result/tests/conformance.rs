//! The scripted cases.

use serde_json::Value;

use super::script::{self, Attempt, Event, list, proto_json, run, sample, text};
use super::support::Driver;
use crate::error::Code;
use crate::result::reader::ResultReader;
use crate::result::retry::RetrySettings;
use crate::row::value::OwnedValue;
use crate::wire::samples::{Sample, SampleMessage};
use crate::wire::{Field, RowCount, RowType, TypeCode};

/// The name of the error, as the cases write it.
fn code(driver: &Driver) -> Option<String> {
    driver.code().map(|code| code.to_string())
}

fn check(case: &Value, driver: &Driver) {
    let expect = &case["expect"];
    assert_eq!(driver.rows, script::rows(&expect["rows"]), "rows");
    assert_eq!(code(driver).as_deref(), expect["error"].as_str(), "error");
    if let Some(stats) = expect.get("stats") {
        let found = driver.reader.stats().expect("stats");
        let exact = stats["row_count_exact"].as_i64().map(RowCount::Exact);
        assert_eq!(found.row_count(), exact);
        let wanted = stats["query_stats"].as_object();
        let wanted: Vec<_> = wanted.into_iter().flatten().collect();
        assert_eq!(found.query_stats().count(), wanted.len());
        for (name, value) in wanted {
            let value = OwnedValue::String(text(value).to_owned());
            assert_eq!(found.query_stat(name), Some(&value));
        }
    }
    if let Some(id) = expect.get("transaction_id") {
        assert_eq!(driver.reader.transaction_id().unwrap(), text(id));
    }
    if let Some(token) = expect.get("precommit_token") {
        assert_eq!(driver.reader.precommit_token().unwrap().token, text(token));
    }
}

/// Runs all cases of a group, and names those that fail.
fn group(name: &str, count: usize, run_case: impl Fn(&Value) + std::panic::RefUnwindSafe) {
    let file = script::data("chunk-cases.json");
    let cases: Vec<_> = list(&file["cases"])
        .iter()
        .filter(|case| case["group"] == name)
        .collect();
    assert_eq!(cases.len(), count, "cases in group {name}");
    let failed: Vec<_> = cases
        .into_iter()
        .filter(|case| std::panic::catch_unwind(|| run_case(case)).is_err())
        .map(|case| text(&case["id"]))
        .collect();
    assert!(failed.is_empty(), "failed: {failed:#?}");
}

/// A merge case is a result of one value in two messages.
#[test]
fn merge_cases() {
    group("merge", 19, |case| {
        let ty = script::type_of(text(&case["type"]));
        let row_type = RowType::new([Field::new("f", ty)]);
        let mut driver = Driver::new(ResultReader::new(RetrySettings::new()));
        driver
            .receive(
                &SampleMessage::of([sample(&case["a"])])
                    .columns(&row_type)
                    .chunked(),
            )
            .receive(&SampleMessage::of([sample(&case["b"])]))
            .end();
        let expect = &case["expect"];
        let rows: Vec<_> = expect
            .get("result")
            .map(|result| vec![sample(result)])
            .into_iter()
            .collect();
        assert_eq!(driver.rows, rows);
        assert_eq!(code(&driver).as_deref(), expect["error"].as_str());
    });
}

#[test]
fn stream_cases() {
    group("stream", 34, |case| {
        check(case, &run(script::reader(case), script::attempts(case)));
    });
}

#[test]
fn resume_cases() {
    group("resume", 18, |case| {
        check(case, &run(script::reader(case), script::attempts(case)));
    });
}

/// The same by way of the row layer: joined rows are read by the code that reads all rows.
#[test]
fn rows_of_all_cases_through_the_row_layer() {
    let file = script::data("chunk-cases.json");
    let mut compared = 0;
    for case in list(&file["cases"]) {
        if case["group"] != "stream" {
            continue;
        }
        let mut reader = script::reader(case);
        let mut rows = Vec::new();
        for event in script::attempts(case).into_iter().flat_map(|a| a.events) {
            if let Event::Message(message) = event {
                reader.receive(message.encode());
            }
        }
        reader.end();
        while let Ok(Some(batch)) = reader.pop() {
            rows.extend(script::owned_rows(&reader, &batch));
        }
        let expected: Vec<Vec<_>> = script::rows(&case["expect"]["rows"])
            .iter()
            .map(|row| row.iter().map(script::owned).collect())
            .collect();
        assert_eq!(rows, expected, "{}", case["id"]);
        compared += rows.len();
    }
    assert!(compared > 40, "{compared} rows");
}

/// The 16 cases that the public clients share. They are not part of this
/// repository; the variable names the file.
#[test]
fn acceptance_cases() {
    let Ok(path) = std::env::var("SPANNER_ROWS_ACCEPTANCE") else {
        eprintln!(
            "NOT RUN: set SPANNER_ROWS_ACCEPTANCE to the path of \
             streaming-read-acceptance-test.json to run the shared acceptance cases"
        );
        return;
    };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: Value = serde_json::from_str(&text).unwrap();
    let cases = list(&file["tests"]);
    assert_eq!(cases.len(), 16);
    for case in cases {
        let events = list(&case["chunks"])
            .iter()
            .map(|chunk| serde_json::from_str(script::text(chunk)).unwrap())
            .map(|chunk: Value| Event::Message(Box::new(proto_json::message(&chunk))))
            .collect();
        let attempt = Attempt {
            token: Vec::new(),
            transaction: None,
            events,
        };
        let driver = run(ResultReader::new(RetrySettings::new()), vec![attempt]);
        assert_eq!(code(&driver), None, "{}", case["name"]);
        let expected = script::rows(&case["result"]["value"]);
        assert_eq!(driver.rows, expected, "{}", case["name"]);
    }
}

fn bug_case(id: &str) -> Value {
    let file = script::data("bug-cases.json");
    let case = list(&file).iter().find(|case| case["id"] == id);
    case.unwrap_or_else(|| panic!("no case {id}")).clone()
}

fn run_bug_case(id: &str) -> Driver {
    let case = bug_case(id);
    run(
        ResultReader::new(RetrySettings::new()),
        proto_json::attempts(&case["wire"]),
    )
}

fn texts(texts: &[&str]) -> Vec<Vec<Sample>> {
    texts.iter().map(|text| vec![Sample::text(text)]).collect()
}

#[test]
fn bug_chunk_numbers_not_mergeable() {
    let numbers = [1.0, 2.0, 3.0].map(Sample::Number).to_vec();
    let driver = run_bug_case("chunk-numbers-not-mergeable");
    assert_eq!(driver.rows, [[Sample::List(numbers)]]);
    assert!(driver.error.is_none());
}

#[test]
fn bug_chunk_empty_message_between() {
    let driver = run_bug_case("chunk-empty-message-between");
    assert_eq!(driver.rows, texts(&["abcd"]));
    assert!(driver.error.is_none());
}

#[test]
fn bug_chunk_never_completed() {
    let driver = run_bug_case("chunk-never-completed");
    assert_eq!(driver.rows, texts(&[]));
    assert_eq!(driver.code(), Some(Code::Internal));
}

#[test]
fn bug_retry_no_token_yet() {
    let driver = run_bug_case("retry-no-token-yet");
    assert_eq!(driver.rows, texts(&["1", "2"]));
    assert!(driver.error.is_none());
}

#[test]
fn bug_retry_unexpected_eos() {
    let driver = run_bug_case("retry-unexpected-eos");
    assert_eq!(driver.rows, texts(&["1", "2"]));
    assert!(driver.error.is_none());
}

#[test]
fn bug_values_without_metadata() {
    let driver = run_bug_case("values-without-metadata");
    assert_eq!(driver.rows, texts(&[]));
    assert_eq!(driver.code(), Some(Code::Internal));
}

/// 15 breaks, each after one more row and token, with as few attempts as can be.
#[test]
fn bug_retry_budget_resets_on_progress() {
    assert!(bug_case("retry-budget-resets-on-progress")["wire"].is_string());
    let row_type = RowType::new([Field::new("i", TypeCode::Int64.into())]);
    let attempts = (0..15)
        .map(|k| {
            let mut message =
                SampleMessage::of([Sample::text(&k.to_string())]).token(format!("r{}", k + 1));
            if k == 0 {
                message = message.columns(&row_type);
            }
            let mut events = Vec::new();
            if k == 14 {
                events.push(Event::Message(Box::new(message.last())));
            } else {
                events.push(Event::Message(Box::new(message)));
                events.push(Event::Status(Some(super::support::unavailable())));
            }
            Attempt {
                token: if k == 0 {
                    Vec::new()
                } else {
                    format!("r{k}").into()
                },
                transaction: None,
                events,
            }
        })
        .collect();
    let driver = run(
        ResultReader::new(RetrySettings::new().max_attempts(2)),
        attempts,
    );
    let numbers: Vec<_> = (0..15).map(|k| k.to_string()).collect();
    assert_eq!(driver.texts(), numbers);
    assert!(driver.error.is_none());
}

/// A value without a kind stands where a value stands: it is for the row layer to
/// refuse it, and the next value is where it should be.
#[test]
fn bug_value_without_kind() {
    assert!(text(&bug_case("value-without-kind")["wire"]).contains("12 00"));
    let row_type = RowType::new([Field::new("i", TypeCode::Int64.into())]);
    let mut first = SampleMessage::of([]).columns(&row_type).encode().to_vec();
    first.extend_from_slice(b"\x12\x00\x12\x03\x1a\x011");
    let attempt = Attempt {
        token: Vec::new(),
        transaction: None,
        events: vec![Event::Raw(first)],
    };
    let driver = run(ResultReader::new(RetrySettings::new()), vec![attempt]);
    assert_eq!(driver.rows, [[Sample::Unset], [Sample::text("1")]]);
    assert!(driver.error.is_none());
}

/// Cases that are about other layers still are well-formed results here.
#[test]
fn all_scripted_bug_cases_assemble() {
    let file = script::data("bug-cases.json");
    let mut count = 0;
    for case in list(&file).iter().filter(|case| case["wire"].is_array()) {
        let driver = run(
            ResultReader::new(RetrySettings::new()),
            proto_json::attempts(&case["wire"]),
        );
        let broken = ["chunk-never-completed", "values-without-metadata"];
        let expected = broken.contains(&text(&case["id"]));
        assert_eq!(driver.error.is_some(), expected, "{}", case["id"]);
        count += 1;
    }
    assert!(count >= 10, "{count} cases");
}
