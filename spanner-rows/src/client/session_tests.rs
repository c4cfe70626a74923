//! The session: made once, shared, failures reported and retried.

use std::time::Duration;

use prost::Message as _;
use tokio::time::{Instant, timeout};

use super::test_transport::{DATABASE, Recorder, SESSION, session};
use crate::error::{Code, ErrorKind, Status};
use crate::proto::spanner as proto;
use crate::transport::Method;

fn status(code: Code) -> Status {
    Status::new(code, "no session today")
}

#[tokio::test(start_paused = true)]
async fn it_is_multiplexed_and_asked_for_with_the_right_headers() {
    let recorder = Recorder::sessions_only();
    let made = recorder.client().session().await.unwrap();
    assert_eq!(made.name(), SESSION);
    assert_eq!(
        made.params(),
        "session=projects%2Fp%2Finstances%2Fi%2Fdatabases%2Fd%2Fsessions%2Fs%201"
    );

    let call = recorder.last();
    assert_eq!(call.method, Method::CreateSession);
    let request = proto::CreateSessionRequest::decode(call.body).unwrap();
    assert_eq!(request.database, DATABASE);
    let session = request.session.unwrap();
    assert!(session.multiplexed);
    assert_eq!(session.creator_role, "reader");
    assert!(session.labels.is_empty());
    let header = |name| call.headers.get(name).unwrap().to_str().unwrap();
    assert_eq!(header("google-cloud-resource-prefix"), DATABASE);
    assert_eq!(
        header("x-goog-request-params"),
        "database=projects%2Fp%2Finstances%2Fi%2Fdatabases%2Fd"
    );
    assert_eq!(header("x-goog-spanner-route-to-leader"), "true");
    assert!(header("x-goog-spanner-request-id").ends_with(".0.1.1"));
}

#[tokio::test(start_paused = true)]
async fn many_callers_share_one() {
    let recorder = Recorder::sessions_only();
    let client = recorder.client();
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.session().await.unwrap() })
        })
        .collect();
    let first = client.session().await.unwrap();
    for caller in callers {
        assert!(std::sync::Arc::ptr_eq(&first, &caller.await.unwrap()));
    }
    assert_eq!(recorder.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failure_reaches_all_who_wait_and_the_next_use_tries_again() {
    let recorder = Recorder::new(|n, _| match n {
        1 => Err(status(Code::NotFound)),
        _ => Ok(vec![session("second")]),
    });
    let client = recorder.client();
    let waiting = {
        let client = client.clone();
        tokio::spawn(async move { client.session().await.unwrap_err() })
    };
    let errors = [client.session().await.unwrap_err(), waiting.await.unwrap()];
    assert_eq!(recorder.calls().len(), 1);
    for error in errors {
        assert_eq!(error.code(), Code::NotFound);
        let ErrorKind::Status { status, attempts } = error.kind() else {
            panic!("{error:?}");
        };
        assert_eq!((status.message(), *attempts), ("no session today", 1));
        assert!(status.request_id().unwrap().ends_with(".1.1"));
    }
    assert_eq!(client.session().await.unwrap().name(), "second");
    assert_eq!(recorder.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn passing_failures_are_retried_in_place() {
    let broken = status(Code::Unknown).with_transport(std::sync::Arc::new(std::fmt::Error));
    let recorder = Recorder::new(move |n, _| match n {
        1 => Err(status(Code::Unavailable)),
        2 => Err(status(Code::ResourceExhausted)),
        3 => Err(status(Code::DeadlineExceeded)),
        4 => Err(broken.clone()),
        _ => Ok(vec![session("fifth")]),
    });
    assert_eq!(recorder.client().session().await.unwrap().name(), "fifth");
    let ids: Vec<_> = recorder
        .calls()
        .iter()
        .map(|call| {
            call.headers["x-goog-spanner-request-id"]
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let (first, _) = ids[0].rsplit_once('.').unwrap();
    let expected: Vec<_> = (1..=5)
        .map(|attempt| format!("{first}.{attempt}"))
        .collect();
    assert_eq!(ids, expected);
}

#[tokio::test(start_paused = true)]
async fn retries_end() {
    let recorder = Recorder::new(|_, _| Err(status(Code::Unavailable)));
    let error = recorder.client().session().await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
    assert!(error.to_string().contains("after 10 attempts"), "{error}");
    assert_eq!(recorder.calls().len(), 10);
}

#[tokio::test(start_paused = true)]
async fn the_delay_that_the_server_asks_for_is_kept() {
    let delay = Some(Duration::from_secs(9));
    let recorder = Recorder::new(move |n, _| match n {
        1 => Err(status(Code::Unavailable).with_retry_delay(delay)),
        _ => Ok(vec![session("s")]),
    });
    let start = Instant::now();
    recorder.client().session().await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_millis(9_200));

    // One that is past the limit is not worth waiting for.
    for delay in [Duration::from_secs(60), Duration::MAX] {
        let recorder =
            Recorder::new(move |_, _| Err(status(Code::Unavailable).with_retry_delay(Some(delay))));
        let start = Instant::now();
        recorder.client().session().await.unwrap_err();
        assert_eq!(start.elapsed(), Duration::from_millis(100));
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_not_waited_for_for_ever() {
    let start = Instant::now();
    let recorder = Recorder::slow(Duration::from_secs(3600));
    let error = recorder.client().session().await.unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded);
    assert_eq!(start.elapsed(), Duration::from_secs(30));
    assert_eq!(recorder.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_first_caller_may_be_cancelled() {
    let recorder = Recorder::sessions_only();
    let client = recorder.client();
    timeout(Duration::from_millis(10), client.session())
        .await
        .unwrap_err();
    client.session().await.unwrap();
    assert_eq!(recorder.calls().len(), 1);
}

#[test]
fn a_runtime_that_ends_does_not_leave_waiters_for_ever() {
    let recorder = Recorder::sessions_only();
    let client = recorder.client();
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let first = runtime();
    first.block_on(async {
        timeout(Duration::from_millis(10), client.session())
            .await
            .unwrap_err();
    });
    drop(first);
    // The task that was making the session is gone with its runtime.
    runtime().block_on(client.session()).unwrap();
    assert_eq!(recorder.calls().len(), 2);
}

#[test]
fn a_runtime_that_stands_still_does_not_hold_up_others() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().start_paused(true).build().unwrap()
    };
    let recorder = Recorder::sessions_only();
    let client = recorder.client();
    let still = runtime();
    still.block_on(async {
        timeout(Duration::from_millis(10), client.session())
            .await
            .unwrap_err();
    });
    // Its task goes on making the session, but nobody drives it.
    runtime().block_on(async {
        let start = Instant::now();
        let error = client.session().await.unwrap_err();
        assert!(error.to_string().contains("stands still"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(40));
    });
    still.block_on(client.session()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_that_makes_no_sense_is_an_error() {
    let cases: [(Vec<&'static [u8]>, &str); 4] = [
        (vec![b""], "no name"),
        (vec![b"\xff"], "cannot be read"),
        (vec![], "no message"),
        (vec![b"", b""], "several messages"),
    ];
    for (messages, text) in cases {
        let recorder = Recorder::new(move |_, _| {
            Ok(messages
                .iter()
                .map(|message| bytes::Bytes::from_static(message))
                .collect())
        });
        let error = recorder.client().session().await.unwrap_err();
        assert_eq!(error.code(), Code::Internal);
        assert!(error.to_string().contains(text), "{error}");
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A recorder whose n-th session is named by its number, or fails.
fn numbered(fails: impl Fn(u32) -> bool + Send + Sync + 'static) -> std::sync::Arc<Recorder> {
    Recorder::new(move |n, _| match fails(n) {
        true => Err(status(Code::PermissionDenied)),
        false => Ok(vec![session(&n.to_string())]),
    })
}

#[tokio::test(start_paused = true)]
async fn an_old_session_serves_until_the_new_one_is_there() {
    let recorder = numbered(|_| false);
    let client = recorder.client();
    let first = client.session().await.unwrap();
    tokio::time::advance(7 * DAY - Duration::from_secs(1)).await;
    assert_eq!(client.session().await.unwrap().name(), "1");
    assert_eq!(recorder.calls().len(), 1);
    tokio::time::advance(Duration::from_secs(2)).await;
    // Nobody waits, and one new session is enough for all who come.
    let start = Instant::now();
    for _ in 0..5 {
        assert_eq!(client.session().await.unwrap().name(), "1");
        tokio::task::yield_now().await;
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(client.session().await.unwrap().name(), "2");
    assert_eq!(recorder.calls().len(), 2);
    // Whoever has the old one keeps it, and the new one lasts as long.
    assert_eq!(first.name(), "1");
    tokio::time::advance(7 * DAY - Duration::from_secs(1)).await;
    assert_eq!(client.session().await.unwrap().name(), "2");
    assert_eq!(recorder.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_replaced_is_kept() {
    let recorder = numbered(|n| n == 2);
    let client = recorder.client();
    client.session().await.unwrap();
    tokio::time::advance(8 * DAY).await;
    client.session().await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(recorder.calls().len(), 2);
    // It is not tried again with every use, but after ten minutes.
    tokio::time::advance(Duration::from_secs(9 * 60)).await;
    assert_eq!(client.session().await.unwrap().name(), "1");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(recorder.calls().len(), 2);
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(client.session().await.unwrap().name(), "1");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(client.session().await.unwrap().name(), "3");
}

#[tokio::test(start_paused = true)]
async fn a_lost_session_is_replaced_once() {
    let recorder = numbered(|_| false);
    let client = recorder.client();
    let lost = client.session().await.unwrap();
    // Everybody who used it says so.
    client.inner.sessions.forget(&lost);
    let next = client.session().await.unwrap();
    client.inner.sessions.forget(&lost);
    client.inner.sessions.forget(&lost);
    assert!(std::sync::Arc::ptr_eq(
        &next,
        &client.session().await.unwrap()
    ));
    assert_eq!(next.name(), "2");
    assert_eq!(recorder.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_session_lost_while_it_is_being_replaced() {
    let recorder = numbered(|n| n == 2);
    let client = recorder.client();
    let lost = client.session().await.unwrap();
    tokio::time::advance(8 * DAY).await;
    client.session().await.unwrap();
    client.inner.sessions.forget(&lost);
    // The replacement under way is waited for; it fails, and so the next use asks again.
    client.session().await.unwrap_err();
    assert_eq!(client.session().await.unwrap().name(), "3");
}
