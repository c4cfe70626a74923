//! The idle limit: it is for servers that are silent, not for readers that are
//! busy or messages that are large.

use std::time::Duration;

use bytes::Bytes;
use spanner_rows::testing::{Answer, FakeSpanner, Message, Step};
use spanner_rows::{Client, Code, RetrySettings, TypeCode};

const SQL: &str = "SELECT id, text FROM Texts";

async fn client(script: Vec<Step>, idle_limit: Duration) -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    fake.on_query(SQL, Answer::script(script));
    let client = Client::builder(fake.database())
        .endpoint(fake.endpoint())
        .retry(RetrySettings::default().idle_limit(idle_limit))
        .connect()
        .await
        .expect("the fake server takes every client");
    (fake, client)
}

fn message(id: u8, len: usize) -> Message {
    let message = match id {
        0 => Message::new().columns([("id", TypeCode::Int64), ("text", TypeCode::String)]),
        _ => Message::new(),
    };
    message
        .value(i64::from(id))
        .value("x".repeat(len))
        .resume_token(vec![id + 1])
}

/// The messages are larger than what HTTP/2 lets the server send ahead, so each
/// is still on its way when the reader comes back.
#[tokio::test]
async fn a_busy_reader_is_not_an_idle_server() {
    const LEN: usize = 6 << 20;
    let script = (0..4).map(|id| Step::Message(message(id, LEN))).collect();
    let (_fake, client) = client(script, Duration::from_millis(400)).await;
    let mut rows = client.query(SQL).rows::<(i64, &str)>().await.unwrap();
    for expected in 0..4 {
        let (id, text) = rows.next().await.unwrap().expect("four rows");
        assert_eq!((id, text.len()), (expected, LEN));
        tokio::time::sleep(Duration::from_millis(600)).await;
    }
    assert!(rows.next().await.unwrap().is_none());
}

#[tokio::test]
async fn a_message_that_trickles_in_is_a_sign_of_life() {
    let content = message(0, 1 << 20).encode();
    let mut framed = vec![0];
    framed.extend_from_slice(&(content.len() as u32).to_be_bytes());
    framed.extend_from_slice(&content);
    let pieces = framed.chunks(framed.len() / 10 + 1).flat_map(|piece| {
        let piece = Bytes::copy_from_slice(piece);
        [
            Step::Unframed(piece),
            Step::Delay(Duration::from_millis(100)),
        ]
    });
    let (_fake, client) = client(pieces.collect(), Duration::from_millis(500)).await;
    let mut rows = client.query(SQL).rows::<(i64, &str)>().await.unwrap();
    assert_eq!(rows.next().await.unwrap().expect("a row").1.len(), 1 << 20);
}

#[tokio::test]
async fn a_silent_server_is_given_up() {
    let script = vec![Step::Message(message(0, 10)), Step::Hang];
    let (_fake, client) = client(script, Duration::from_millis(300)).await;
    let mut rows = client.query(SQL).rows::<(i64, &str)>().await.unwrap();
    assert_eq!(rows.next().await.unwrap().expect("a row").0, 0);
    let error = rows.next().await.unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded);
    assert!(error.to_string().contains("idle limit"), "{error}");
    assert!(rows.next().await.unwrap().is_none());
}
