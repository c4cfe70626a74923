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
    assert!(header("x-goog-spanner-request-id").ends_with(".1.1.1"));
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
