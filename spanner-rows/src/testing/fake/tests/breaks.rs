//! Calls and connections that break, stall and wait.

use super::*;

#[tokio::test]
async fn a_failure_comes_after_the_messages_before_it() {
    let fake = FakeSpanner::start().await;
    let failure = Step::Fail(Failure::unavailable("later"));
    fake.on_query("SELECT 1", four_messages().interrupt(1, 2, failure));
    let mut client = Client::connect(&fake).await;

    let (messages, end) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(values(&messages), four_values()[..2]);
    assert_eq!(end.unwrap().code(), Code::Unavailable);

    // The second call is not interrupted; it goes on where the first ended.
    let mut request = client.sql("SELECT 1");
    request.resume_token = messages[1].resume_token.clone();
    let (messages, end) = client.run(request).await;
    assert!(end.is_none());
    assert_eq!(values(&messages), four_values()[2..]);
}

#[tokio::test]
async fn interruptions_count_messages_from_the_start_of_the_result() {
    let fake = FakeSpanner::start().await;
    let failure = |text| Step::Fail(Failure::unavailable(text));
    let rows = four_messages()
        .interrupt(2, 1, failure("behind the start of the second call"))
        .interrupt(2, 3, failure("here"))
        .interrupt_every(4, failure("at the end"));
    fake.on_query("SELECT 1", rows);
    let mut client = Client::connect(&fake).await;

    let (all, end) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(all.len(), 4);
    assert_eq!(end.unwrap().message(), "at the end");
    let mut request = client.sql("SELECT 1");
    request.resume_token = all[1].resume_token.clone();
    let (rest, end) = client.run(request).await;
    assert_eq!(values(&rest), four_values()[2..3]);
    assert_eq!(end.unwrap().message(), "here");
}

#[tokio::test]
async fn a_connection_breaks_after_the_messages_before_it() {
    let fake = FakeSpanner::start().await;
    // Larger than any buffer on the way, so that "before it" means something.
    let rows = (0..4).map(|i| (i.to_string().repeat(3 << 20),));
    let rows = Rows::new(["n"], rows).cut(Cut::BetweenRows).message_size(1);
    fake.on_query("SELECT 1", rows.interrupt(1, 3, Step::Disconnect));
    let mut client = Client::connect(&fake).await;

    let (messages, end) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(messages.len(), 3);
    assert!(end.is_some());

    // The channel connects again.
    let mut request = client.sql("SELECT 1");
    request.resume_token = messages[2].resume_token.clone();
    let (messages, end) = client.run(request).await;
    assert!(end.is_none(), "{end:?}");
    assert_eq!(messages.len(), 1);
}

#[tokio::test]
async fn a_break_at_once_takes_all_calls_of_the_connection() {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT 1", [Step::Hang]);
    fake.on_query("SELECT 2", [Step::Disconnect]);
    let mut client = Client::connect(&fake).await;

    let mut hanging = client.stream(client.sql("SELECT 1")).await.unwrap();
    let (_, end) = client.run(client.sql("SELECT 2")).await;
    assert!(end.is_some());
    assert!(within(hanging.message()).await.is_err());
}

#[tokio::test]
async fn a_reset_comes_after_the_messages_before_it_with_its_code() {
    let fake = FakeSpanner::start().await;
    let mut client = Client::connect(&fake).await;
    for code in [1, 2, 7, 8, 11] {
        fake.on_query(
            "SELECT 1",
            four_messages().interrupt(1, 3, Step::Reset(code)),
        );
        let (messages, end) = client.run(client.sql("SELECT 1")).await;
        assert_eq!(values(&messages), four_values()[..3], "code {code}");
        let end = end.unwrap();
        let reason = h2_reason(&end);
        // The client library takes CANCEL for an end without status.
        if code != 8 {
            assert_eq!(reason, Some(h2::Reason::from(code)), "{end:?}");
        }
    }
    // NO_ERROR and CANCEL look like an end of the body without trailers.
    fake.on_query("SELECT 1", four_messages().interrupt(1, 3, Step::Reset(0)));
    let (messages, end) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(messages.len(), 3);
    assert!(end.is_some());
}

fn h2_reason(status: &Status) -> Option<h2::Reason> {
    let mut error: &dyn std::error::Error = status;
    loop {
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            return error.reason();
        }
        error = error.source()?;
    }
}

#[tokio::test]
async fn a_body_can_end_without_status_or_inside_a_message() {
    let fake = FakeSpanner::start().await;
    let message = Step::Message(Message::new().value("a"));
    fake.on_query("SELECT 1", [message.clone(), Step::EndWithoutStatus]);
    let half = Step::Unframed(Bytes::from_static(&[0, 0, 0, 0, 9, 1, 2]));
    fake.on_query("SELECT 2", [message, half, Step::EndWithoutStatus]);
    let mut client = Client::connect(&fake).await;

    for sql in ["SELECT 1", "SELECT 2"] {
        let (messages, end) = client.run(client.sql(sql)).await;
        assert_eq!(values(&messages), [text("a")], "{sql}");
        assert!(end.is_some(), "{sql}");
    }
}

#[tokio::test]
async fn calls_wait_at_a_gate() {
    let fake = FakeSpanner::start().await;
    let gate = Gate::new();
    let rows = four_messages().interrupt(1, 2, Step::Wait(gate.clone()));
    fake.on_query("SELECT 1", rows);
    let mut client = Client::connect(&fake).await;

    let mut stream = client.stream(client.sql("SELECT 1")).await.unwrap();
    within(gate.reached()).await;
    assert!(within(stream.message()).await.unwrap().is_some());
    assert!(within(stream.message()).await.unwrap().is_some());
    let soon = Duration::from_millis(50);
    let third = tokio::time::timeout(soon, stream.message()).await;
    assert!(third.is_err(), "the gate is closed");
    gate.open();
    assert!(within(stream.message()).await.unwrap().is_some());
}

#[tokio::test]
async fn delays_take_their_time() {
    let fake = FakeSpanner::start().await;
    let delay = Duration::from_millis(60);
    let rows = four_messages().interrupt_every(1, Step::Delay(delay));
    fake.on_query("SELECT 1", rows);
    let mut client = Client::connect(&fake).await;

    let start = std::time::Instant::now();
    let (messages, _) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(messages.len(), 4);
    assert!(start.elapsed() >= delay);
}

#[tokio::test]
async fn goaway_lets_the_call_finish() {
    let fake = FakeSpanner::start().await;
    let rows = four_messages().interrupt(1, 1, Step::GoAway).interrupt(
        1,
        1,
        Step::Delay(Duration::from_millis(50)),
    );
    fake.on_query("SELECT 1", rows);
    let mut client = Client::connect(&fake).await;

    let mut first = client.stream(client.sql("SELECT 1")).await.unwrap();
    assert!(within(first.message()).await.unwrap().is_some());
    // Once GOAWAY has come, calls go over a new connection. A call that was on
    // its way may fail, so there is a second try.
    tokio::time::sleep(Duration::from_millis(20)).await;
    client.run(client.sql("SELECT 1")).await;
    let (second, end) = client.run(client.sql("SELECT 1")).await;
    assert!(end.is_none(), "{end:?}");
    assert_eq!(second.len(), 4);
    let mut left = 0;
    while within(first.message()).await.unwrap().is_some() {
        left += 1;
    }
    assert_eq!(left, 3);
}

#[tokio::test]
async fn the_server_waits_for_a_client_that_does_not_read() {
    let fake = FakeSpanner::start().await;
    let rows = (0..100).map(|_| ("x".repeat(100 << 10),));
    let gate = Gate::new();
    let rows = Rows::new(["n"], rows)
        .cut(Cut::BetweenRows)
        .message_size(1)
        .interrupt(1, 99, Step::Wait(gate.clone()));
    fake.on_query("SELECT 1", rows);
    let mut client = Client::connect(&fake).await;

    let mut stream = client.stream(client.sql("SELECT 1")).await.unwrap();
    let soon = Duration::from_millis(100);
    let early = tokio::time::timeout(soon, gate.reached()).await;
    assert!(
        early.is_err(),
        "10 MB were sent to a client that does not read"
    );
    for _ in 0..99 {
        assert!(within(stream.message()).await.unwrap().is_some());
    }
    within(gate.reached()).await;
}

#[tokio::test]
async fn it_is_gone_when_dropped() {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT 1", [Step::Hang]);
    let mut client = Client::connect(&fake).await;
    let mut stream = client.stream(client.sql("SELECT 1")).await.unwrap();
    let address = fake.address();

    drop(fake);
    assert!(within(stream.message()).await.is_err());
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}
