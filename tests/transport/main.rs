//! Every way in which the other side of a connection can fail, on a peer that
//! speaks HTTP/2 frame by frame: the rows come exactly once and in order, or
//! there is an error that says what happened.
//!
//! The same files are compiled twice: here, with tonic's `server` feature, and
//! in the workspace `tests/as-users`, with what a program has that only reads.
//! tonic tells failures of HTTP/2 in other words and codes in one than in the other.
//!
//! | file | what the peer does |
//! |---|---|
//! | `breaks` | breaks off: in every way, anywhere in an answer |
//! | `goaway` | sends its clients to another connection |
//! | `answers` | answers, but not as a gRPC server should |
//! | `frames` | uses HTTP/2 in ways that are allowed, or are not |
//! | `flow` | sends much, or to one who does not read |
//! | `endings` | says that it is done, and is not quite |
//! | `silence` | says nothing any more |
//!
//! `peer` is that peer, `wire` what it says in bytes, `largest` watches memory.

mod answers;
mod breaks;
mod endings;
mod flow;
mod frames;
mod goaway;
mod largest;
mod peer;
mod silence;
mod wire;

use peer::Call;
use spanner_rows::{Client, Code, Error, ErrorKind, RetrySettings};
use wire::Part;

const SQL: &str = "SELECT n, text FROM Numbers";

/// The rows of [`parts`].
const ROWS: [(i64, &str); 6] = [
    (0, "zero"),
    (1, "one"),
    (2, "two"),
    (3, "three"),
    (4, "four"),
    (5, "five"),
];

/// A result in five messages, cut inside of rows and values, with tokens there, too.
fn parts() -> [Part; 5] {
    [
        Part::first().row(0, "zero").token("a"),
        Part::more().row(1, "one").row(2, "tw").chunked(),
        Part::more().value("o").row(3, "three").token("b"),
        Part::more().row(4, "fo").chunked().token("c"),
        Part::more().value("ur").row(5, "five"),
    ]
}

/// With which message of [`parts`] a call begins that has this token.
fn start_at(token: &str) -> usize {
    match token {
        "" => 0,
        "a" => 1,
        "b" => 3,
        "c" => 4,
        _ => panic!("nobody gave the token {token:?}"),
    }
}

/// The messages behind the token of the call, in one piece.
fn body(call: &Call) -> Vec<u8> {
    let parts = &parts()[start_at(&call.token)..];
    parts.iter().flat_map(Part::framed).collect()
}

/// A right answer.
async fn answer(call: &Call) {
    call.head().await;
    call.data(&body(call)).await;
    call.ok().await;
}

/// All rows, and the error that ended them.
async fn read(client: &Client) -> (Vec<(i64, String)>, Option<Error>) {
    let mut rows = Vec::new();
    let reading = async {
        let mut stream = client.query(SQL).rows::<(i64, String)>().await?;
        let end = stream.extend(&mut rows).await;
        assert!(stream.next().await.unwrap().is_none());
        end
    };
    let error = peer::soon(reading).await.err();
    (rows, error)
}

/// Exactly the rows of [`parts`].
#[track_caller]
fn assert_all((rows, error): (Vec<(i64, String)>, Option<Error>), what: &str) {
    assert!(error.is_none(), "{what}: {error:?}");
    let rows: Vec<_> = rows.iter().map(|(n, text)| (*n, text.as_str())).collect();
    assert_eq!(rows, ROWS, "{what}");
}

/// The error of a server's status, told after so many attempts.
#[track_caller]
fn assert_status(error: &Error, code: Code, attempts: u32, text: &str) {
    let ErrorKind::Status {
        status,
        attempts: made,
    } = error.kind()
    else {
        panic!("{error:?}");
    };
    assert_eq!((status.code(), *made), (code, attempts), "{error}");
    assert!(status.message().contains(text), "{error}");
    let id = status.request_id().expect("a request id");
    assert!(id.ends_with(&format!(".{attempts}")), "{id}");
}

/// Settings of one who would rather see every error.
fn never() -> RetrySettings {
    RetrySettings::never()
}
