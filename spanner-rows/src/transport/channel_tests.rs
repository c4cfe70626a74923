//! Answers over a real connection, right ones and broken ones.

use std::future::poll_fn;
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use http::Response;
use tokio::net::TcpListener;

use super::channel::TonicTransport;
use super::endpoint::Endpoint;
use super::settings::ConnectionSettings;
use super::test_server::{Exchange, Fate, Server, framed, ok, trailers};
use super::{Call, Lane, Messages, Method, Transport};
use crate::error::{Code, Error, Status};

fn call(body: &'static [u8]) -> Call {
    Call {
        method: Method::ExecuteStreamingSql,
        headers: trailers(&[("x-test", "yes")]),
        body: Bytes::from_static(body),
        lane: Lane::Any,
    }
}

fn connect(endpoint: &Endpoint) -> Result<TonicTransport, Error> {
    TonicTransport::new(endpoint, &ConnectionSettings::default(), None)
}

async fn next(messages: &mut Box<dyn Messages>) -> Option<Result<Bytes, Status>> {
    poll_fn(|cx| messages.poll_message(cx)).await
}

/// All messages, and how the answer ended.
async fn read(transport: &TonicTransport) -> (Vec<Bytes>, Result<(), Status>) {
    let mut messages = match transport.open(call(b"request")).await {
        Ok(messages) => messages,
        Err(status) => return (vec![], Err(status)),
    };
    let mut all = Vec::new();
    let end = loop {
        match next(&mut messages).await {
            Some(Ok(message)) => all.push(message),
            Some(Err(status)) => break Err(status),
            None => break Ok(()),
        }
    };
    assert!(
        next(&mut messages).await.is_none(),
        "an answer that is over stays over"
    );
    (all, end)
}

/// How an answer ends that the handler gives.
async fn answer<F>(
    handler: impl Fn(Exchange) -> F + Send + Sync + 'static,
) -> (Vec<Bytes>, Result<(), Status>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let server = Server::start(handler).await;
    read(&connect(&server.endpoint).unwrap()).await
}

fn assert_broken(end: Result<(), Status>, text: &str) {
    let status = end.unwrap_err();
    assert!(status.is_transport(), "{status:?}");
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().contains(text), "{status}");
}

#[tokio::test]
async fn messages_and_the_end() {
    let (messages, end) = answer(|mut exchange| async move {
        assert_eq!(
            exchange.request.uri().path(),
            "/google.spanner.v1.Spanner/ExecuteStreamingSql"
        );
        assert_eq!(exchange.request.method(), "POST");
        let headers = exchange.request.headers().clone();
        assert_eq!(headers["x-test"], "yes");
        assert_eq!(headers["te"], "trailers");
        assert_eq!(headers["content-type"], "application/grpc");
        let agent = headers["user-agent"].to_str().unwrap();
        assert!(agent.starts_with("spanner-rows/0."), "{agent}");
        assert_eq!(exchange.body().await, b"\0\0\0\0\x07request");

        let mut stream = exchange.begin();
        let two = [framed(b"one"), framed(b"two")].concat();
        stream.send_data(two.into(), false).unwrap();
        stream.send_data(framed(b""), false).unwrap();
        stream.send_trailers(ok()).unwrap();
    })
    .await;
    assert_eq!(messages, ["one", "two", ""]);
    end.unwrap();
}

#[tokio::test]
async fn large_messages_arrive() {
    for size in [5 << 20, 20 << 20] {
        let (messages, end) = answer(move |mut exchange| async move {
            let message: Vec<u8> = (0..size).map(|i: u32| (i / 7) as u8).collect();
            let mut stream = exchange.begin();
            stream.send_data(framed(&message), false).unwrap();
            stream.send_data(framed(b"after"), false).unwrap();
            stream.send_trailers(ok()).unwrap();
        })
        .await;
        end.unwrap();
        assert_eq!(messages[0].len(), size as usize);
        assert!(
            (0..size)
                .zip(&messages[0])
                .all(|(i, byte)| *byte == (i / 7) as u8)
        );
        assert_eq!(messages[1], "after");
    }
}

#[tokio::test]
async fn a_large_request_arrives() {
    let body = vec![b'x'; 6 << 20].leak();
    let server = Server::start(|mut exchange| async move {
        let len = exchange.body().await.len();
        let mut stream = exchange.begin();
        stream
            .send_data(framed(len.to_string().as_bytes()), false)
            .unwrap();
        stream.send_trailers(ok()).unwrap();
    })
    .await;
    let transport = connect(&server.endpoint).unwrap();
    let answer = transport.unary(call(body)).await.unwrap();
    assert_eq!(answer, ((6 << 20) + 5).to_string());
}

#[tokio::test]
async fn a_reset_stream_is_never_a_clean_end() {
    for reason in [
        Reason::NO_ERROR,
        Reason::CANCEL,
        Reason::INTERNAL_ERROR,
        Reason::REFUSED_STREAM,
        Reason::ENHANCE_YOUR_CALM,
    ] {
        let (messages, end) = answer(move |mut exchange| async move {
            let mut stream = exchange.begin();
            stream.send_data(framed(b"one"), false).unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
            stream.send_reset(reason);
        })
        .await;
        assert_eq!(messages, ["one"], "{reason:?}");
        assert_broken(end, "");
        let (_, end) = answer(move |mut exchange| async move { exchange.reset(reason) }).await;
        assert_broken(end, "");
    }
}

#[tokio::test]
async fn an_end_without_trailers_is_an_error() {
    let (messages, end) = answer(|mut exchange| async move {
        exchange.begin().send_data(framed(b"one"), true).unwrap();
    })
    .await;
    assert_eq!(messages, ["one"]);
    assert_broken(end, "no final status");

    let (_, end) = answer(|mut exchange| async move {
        let mut stream = exchange.begin();
        stream.send_trailers(trailers(&[("x-other", "1")])).unwrap();
    })
    .await;
    assert_broken(end, "no final status");

    let (_, end) = answer(|mut exchange| async move {
        let head = Response::builder().header("content-type", "application/grpc");
        exchange.headers_only(head.body(()).unwrap());
    })
    .await;
    assert_broken(end, "no final status");
}

#[tokio::test]
async fn an_end_inside_a_message_is_an_error_even_with_ok() {
    for with_ok in [false, true] {
        let (messages, end) = answer(move |mut exchange| async move {
            let mut stream = exchange.begin();
            let body = [framed(b"one"), framed(b"two").slice(..7)].concat();
            stream.send_data(body.into(), !with_ok).unwrap();
            if with_ok {
                stream.send_trailers(ok()).unwrap();
            }
        })
        .await;
        assert_eq!(messages, ["one"]);
        assert_broken(end, "inside a message");
    }
}

#[tokio::test]
async fn a_closed_connection_is_an_error_and_the_next_call_connects_again() {
    for reason in [
        None,
        Some(Reason::NO_ERROR),
        Some(Reason::ENHANCE_YOUR_CALM),
    ] {
        let server = Server::start(move |mut exchange| async move {
            let mut stream = exchange.begin();
            stream.send_data(framed(b"one"), false).unwrap();
            if exchange.number == 1 {
                tokio::time::sleep(Duration::from_millis(50)).await;
                let fate = reason.map_or(Fate::Close, Fate::GoAway);
                exchange.connection(fate).await;
            } else {
                stream.send_trailers(ok()).unwrap();
            }
        })
        .await;
        let transport = connect(&server.endpoint).unwrap();
        let (messages, end) = read(&transport).await;
        assert_eq!(messages, ["one"], "{reason:?}");
        assert_broken(end, "");
        let (messages, end) = read(&transport).await;
        assert_eq!(messages, ["one"]);
        end.unwrap();
        assert_eq!(server.connections(), 2);
    }
}

#[tokio::test]
async fn the_server_s_own_status() {
    let (messages, end) = answer(|mut exchange| async move {
        let mut stream = exchange.begin();
        stream.send_data(framed(b"one"), false).unwrap();
        let aborted = [("grpc-status", "10"), ("grpc-message", "come%20again")];
        stream.send_trailers(trailers(&aborted)).unwrap();
    })
    .await;
    assert_eq!(messages, ["one"]);
    let status = end.unwrap_err();
    assert_eq!(
        (status.code(), status.message()),
        (Code::Aborted, "come again")
    );
    assert!(!status.is_transport());

    let (_, end) = answer(|mut exchange| async move {
        let head = Response::builder()
            .header("content-type", "application/grpc")
            .header("grpc-status", "3")
            .header("grpc-status-details-bin", "*** not base64 ***");
        exchange.headers_only(head.body(()).unwrap());
    })
    .await;
    let status = end.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.details().is_empty());
}

#[tokio::test]
async fn ok_in_the_headers_is_the_end() {
    let head = || {
        let head = Response::builder().header("grpc-status", "0");
        head.body(()).unwrap()
    };
    let (messages, end) = answer(move |mut exchange| async move {
        exchange.headers_only(head());
    })
    .await;
    assert!(messages.is_empty());
    end.unwrap();

    let (messages, end) = answer(move |mut exchange| async move {
        let mut stream = exchange.begin_with(head());
        stream.send_data(framed(b"late"), true).unwrap();
    })
    .await;
    assert!(messages.is_empty());
    assert_eq!(end.unwrap_err().code(), Code::Internal);
}

#[tokio::test]
async fn a_proxy_s_page_is_an_error() {
    for (status, code) in [(503, Code::Unavailable), (200, Code::Unknown)] {
        let (_, end) = answer(move |mut exchange| async move {
            let head = Response::builder()
                .status(status)
                .header("content-type", "text/html");
            let mut stream = exchange.begin_with(head.body(()).unwrap());
            stream.send_data("<html>".into(), true).unwrap();
        })
        .await;
        assert_eq!(end.unwrap_err().code(), code);
    }
}

#[tokio::test]
async fn nobody_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let endpoint = Endpoint::resolve(Some(&address), None, None).unwrap();
    let (_, end) = read(&connect(&endpoint).unwrap()).await;
    assert_broken(end, "refused");
}

#[tokio::test]
async fn a_message_too_large_is_refused_before_it_comes() {
    let (_, end) = answer(|mut exchange| async move {
        let mut stream = exchange.begin();
        stream
            .send_data(Bytes::from_static(&[0, 0xff, 0xff, 0xff, 0xff]), false)
            .unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    assert_eq!(end.unwrap_err().code(), Code::OutOfRange);
}

#[tokio::test]
async fn answers_dropped_early_do_not_break_the_connection() {
    let server = Server::start(|mut exchange| async move {
        let mut stream = exchange.begin();
        while stream.send_data(framed(b"more"), false).is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    // The server learns late that nobody listens, and goes on sending until then.
    let endpoint = server.behind_slow_uplink(Duration::from_millis(50)).await;
    let transport = connect(&endpoint).unwrap();
    for round in 0..6 {
        let opening: Vec<_> = (0..120)
            .map(|_| tokio::spawn(transport.open(call(b""))))
            .collect();
        let mut answers = Vec::new();
        for opened in opening {
            let opened = opened.await.unwrap();
            answers.push(opened.unwrap_or_else(|status| panic!("round {round}: {status}")));
        }
        // All of them go at once.
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn streams_that_nobody_reads_hold_up_no_others() {
    let server = Server::start(|mut exchange| async move {
        let mut stream = exchange.begin();
        stream.send_data(framed(&vec![0; 4 << 20]), false).unwrap();
        stream.send_trailers(ok()).unwrap();
    })
    .await;
    let transport = connect(&server.endpoint).unwrap();
    let mut unread = Vec::new();
    for _ in 0..20 {
        unread.push(transport.open(call(b"")).await.unwrap());
        // Until the window of the stream is used up.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let other = tokio::time::timeout(Duration::from_secs(20), transport.unary(call(b"")));
    assert_eq!(other.await.unwrap().unwrap().len(), 4 << 20);
}

/// A peer that accepts the connection and then says nothing at all.
#[tokio::test]
async fn a_dead_peer_is_noticed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let endpoint = Endpoint::resolve(Some(&address), None, None).unwrap();
    let transport = connect(&endpoint).unwrap();
    let opened = tokio::spawn(async move { transport.open(call(b"")).await.err() });
    let (socket, _) = listener.accept().await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    // The connection stands; from here on time runs as fast as it can.
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    let status = opened.await.unwrap().unwrap();
    assert!(status.is_transport());
    assert!(
        (120..=145).contains(&start.elapsed().as_secs()),
        "{:?}",
        start.elapsed()
    );
    drop(socket);
}

#[test]
fn no_runtime_is_an_error_not_a_panic() {
    let endpoint = Endpoint::resolve(Some("127.0.0.1:1"), None, None).unwrap();
    let error = connect(&endpoint).unwrap_err();
    assert!(error.to_string().contains("tokio runtime"));
}
