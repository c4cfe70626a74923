//! A read with a timestamp bound that breaks: it is sent again with the same bound, and
//! shows one point in time.

use std::time::Duration;

use spanner_rows::testing::{Answer, Failure, FakeSpanner, Message, Step};
use spanner_rows::{Client, Timestamp, TimestampBound, TypeCode};

const SQL: &str = "SELECT n FROM Numbers";
const COLUMNS: [(&str, TypeCode); 1] = [("n", TypeCode::Int64)];

async fn server() -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.expect("every client is taken");
    (fake, client)
}

fn time(seconds: i64) -> Timestamp {
    Timestamp::new(seconds, 5).unwrap()
}

fn first(n: i64, read_at: i64) -> Message {
    let message = Message::new().columns(COLUMNS).value(n);
    message.read_timestamp(time(read_at))
}

fn broken() -> Step {
    Step::Fail(Failure::unavailable("later"))
}

/// All requests agree in the part that says what is read and when.
fn assert_same_selectors(fake: &FakeSpanner, calls: usize, method: &str) {
    let requests = fake.take_requests();
    let sent = requests.iter().filter(|it| it.method() == method);
    let sent: Vec<_> = sent.collect();
    assert_eq!(sent.len(), calls);
    for request in &sent {
        assert_eq!(
            request.timestamp_bound(),
            Some(TimestampBound::MaxStaleness(Duration::from_secs(15)))
        );
        assert_eq!(request.transaction(), sent[0].transaction());
        assert_eq!(request.header("x-goog-spanner-route-to-leader"), None);
    }
}

/// Nothing was handed out: the server may choose again, and what it chose last counts.
#[tokio::test]
async fn a_read_that_gave_nothing_may_start_over_at_another_time() {
    let (fake, client) = server().await;
    let scripts = || {
        Answer::scripts([
            vec![Step::Message(first(1, 100)), broken()],
            vec![Step::Message(first(2, 200))],
        ])
    };
    fake.on_query(SQL, scripts());
    fake.on_read("Numbers", scripts());
    let bound = TimestampBound::MaxStaleness(Duration::from_secs(15));

    let query = client.query(SQL).timestamp_bound(bound);
    let mut rows = query.rows::<(i64,)>().await.unwrap();
    assert_eq!(rows.read_timestamp(), None, "it may still change");
    assert_eq!(rows.next().await.unwrap(), Some((2,)));
    assert_eq!(rows.read_timestamp(), Some(time(200)));
    assert_same_selectors(&fake, 2, "ExecuteStreamingSql");

    let read = client.read::<(i64,)>("Numbers").columns(["n"]).all();
    let mut rows = read.timestamp_bound(bound).rows().await.unwrap();
    assert_eq!(rows.next().await.unwrap(), Some((2,)));
    assert_eq!(rows.read_timestamp(), Some(time(200)));
    assert_same_selectors(&fake, 2, "StreamingRead");
}

/// Something was handed out: the token stands for the time, and the time stays.
#[tokio::test]
async fn a_read_that_goes_on_stays_at_its_time() {
    let (fake, client) = server().await;
    let token = || Step::Message(first(1, 100).resume_token("one"));
    fake.on_query(
        SQL,
        Answer::scripts([
            vec![token(), broken()],
            vec![Step::Message(Message::new().value(2_i64))],
        ]),
    );
    let query = client.query(SQL);
    let query = query.timestamp_bound(TimestampBound::MaxStaleness(Duration::from_secs(15)));
    let mut rows = query.rows::<(i64,)>().await.unwrap();
    assert_eq!(rows.next().await.unwrap(), Some((1,)));
    assert_eq!(rows.next().await.unwrap(), Some((2,)));
    assert_eq!(rows.read_timestamp(), Some(time(100)));
    let requests = fake.requests();
    assert_eq!(requests[2].resume_token(), b"one");
    assert_same_selectors(&fake, 2, "ExecuteStreamingSql");
}
