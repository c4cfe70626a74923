//! The chunking cases that Google's clients share, from a file of theirs.

use serde_json::Value as Json;
use spanner_rows::testing::Step;
use spanner_rows::{OwnedValue, RetrySettings};

use crate::json::value;
use crate::proto_json::message;
use crate::run::read_all;

/// Names the file, `streaming-read-acceptance-test.json`.
const VARIABLE: &str = "SPANNER_ROWS_ACCEPTANCE";

#[tokio::test]
async fn streaming_read_acceptance() {
    let Some(path) = std::env::var_os(VARIABLE) else {
        eprintln!("SKIPPED: the shared acceptance cases; {VARIABLE} does not name their file");
        return;
    };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let file: Json = serde_json::from_str(&text).unwrap();
    let cases = file["tests"].as_array().unwrap();
    assert_eq!(cases.len(), 16);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let chunks = case["chunks"].as_array().unwrap();
        let messages = chunks.iter().map(|chunk| {
            let chunk: Json = serde_json::from_str(chunk.as_str().unwrap()).unwrap();
            Step::Message(message(&chunk))
        });
        let seen = read_all(vec![messages.collect()], RetrySettings::default()).await;
        assert!(seen.error.is_none(), "{name}: {:?}", seen.error);
        let rows = seen.rows.into_iter().map(OwnedValue::List).collect();
        assert_eq!(
            OwnedValue::List(rows),
            value(&case["result"]["value"]),
            "{name}"
        );
    }
}
