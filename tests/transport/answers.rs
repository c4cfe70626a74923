//! Answers that are HTTP and not gRPC, or gRPC in unusual ways.

use std::time::{Duration, Instant};

use spanner_rows::{Code, Error, ErrorKind, RetrySettings};

use super::peer::{Call, Peer, soon};
use super::wire::{self, Part, field, integer};
use super::{SQL, answer, assert_all, assert_status, body, never, parts, read};

/// The error of a read to which the peer always answers so, how many rows came
/// before it, and how many calls were made.
async fn error_of<F>(reads: impl Fn(Call) -> F + Send + Sync + 'static) -> (Error, usize, usize)
where
    F: Future<Output = ()> + Send + 'static,
{
    let peer = Peer::start(reads).await;
    let (rows, error) = read(&peer.client().await).await;
    (
        error.expect("an error"),
        rows.len(),
        peer.take_tokens().len(),
    )
}

async fn page(call: &Call, status: &str, content_type: &str) {
    let head = [(":status", status), ("content-type", content_type)];
    call.headers(&head, false).await;
    let page = b"<html><title>Bad Gateway</title></html>";
    call.frame(wire::DATA, wire::END_STREAM, page).await;
}

#[tokio::test]
async fn pages_of_proxies() {
    // Those that say that the server is away for now.
    for status in ["429", "502", "503", "504"] {
        let peer = Peer::start(move |call| async move {
            match call.number {
                1 | 2 => page(&call, status, "text/html").await,
                _ => answer(&call).await,
            }
        })
        .await;
        assert_all(read(&peer.client().await).await, status);
        assert_eq!(peer.take_tokens().len(), 3);
        assert_eq!(peer.connections(), 1);
    }
    for (status, code) in [
        ("400", Code::Internal),
        ("401", Code::Unauthenticated),
        ("403", Code::PermissionDenied),
        ("404", Code::Unimplemented),
        ("500", Code::Unknown),
        ("204", Code::Unknown),
        ("302", Code::Unknown),
    ] {
        let proxy = move |call: Call| async move { page(&call, status, "text/html").await };
        let (error, rows, calls) = error_of(proxy).await;
        assert_status(&error, code, 1, &format!("HTTP status {status}"));
        assert_eq!((rows, calls), (0, 1));
    }
    let proxy = |call: Call| async move { page(&call, "200", "text/html; charset=utf-8").await };
    let (error, rows, calls) = error_of(proxy).await;
    let text = "not gRPC: its content type is \"text/html; charset=utf-8\"";
    assert_status(&error, Code::Unknown, 1, text);
    assert_eq!((rows, calls), (0, 1));
}

/// A page instead of the rest of a result: the rows before it are kept.
#[tokio::test]
async fn a_page_in_the_middle_of_a_result() {
    let (error, rows, calls) = error_of(|call| async move {
        match call.number {
            1 => {
                call.head().await;
                call.data(&parts()[0].framed()).await;
                call.reset(wire::INTERNAL_ERROR).await;
            }
            _ => page(&call, "404", "text/html").await,
        }
    })
    .await;
    assert_status(&error, Code::Unimplemented, 2, "HTTP status 404");
    assert_eq!((rows, calls), (1, 2));
}

/// The content type may say more, and need not be there.
#[tokio::test]
async fn heads_that_are_fine() {
    let heads: [&[(&str, &str)]; 4] = [
        &[("content-type", "application/grpc+proto")],
        &[],
        &[
            ("content-type", "application/grpc"),
            ("server-timing", "gfet4t7; dur=3"),
        ],
        &[
            ("content-type", "application/grpc"),
            ("grpc-encoding", "identity"),
        ],
    ];
    for head in heads {
        let peer = Peer::start(move |call| async move {
            call.headers(&[&[(":status", "200")], head].concat(), false)
                .await;
            call.data(&body(&call)).await;
            call.ok().await;
        })
        .await;
        assert_all(read(&peer.client().await).await, &format!("{head:?}"));
        assert_eq!(peer.take_tokens(), [""]);
    }
}

/// Answers of one frame of headers.
#[tokio::test]
async fn trailers_only() {
    let (error, _, calls) = error_of(|call| async move {
        let status = [("grpc-status", "3"), ("grpc-message", "no such column")];
        call.trailers_only(&status).await;
    })
    .await;
    assert_status(&error, Code::InvalidArgument, 1, "no such column");
    assert_eq!(calls, 1);

    // OK without any message: the result has no columns.
    let ok = |call: Call| async move { call.trailers_only(&[("grpc-status", "0")]).await };
    let (error, _, calls) = error_of(ok).await;
    assert!(matches!(error.kind(), ErrorKind::Protocol(_)), "{error:?}");
    assert!(error.to_string().contains("which columns"), "{error}");
    assert_eq!(calls, 1);

    // OK in the headers, and then rows all the same.
    let (error, rows, calls) = error_of(|call| async move {
        let head = [(":status", "200"), ("grpc-status", "0")];
        call.headers(&head, false).await;
        call.data(&body(&call)).await;
        call.ok().await;
    })
    .await;
    assert_status(&error, Code::Internal, 1, "after its final status");
    assert_eq!((rows, calls), (0, 1));
}

/// A proxy's page with headers of an answer.
#[tokio::test]
async fn pages_that_say_ok() {
    let (error, _, calls) = error_of(|call| async move {
        call.headers(&[(":status", "500"), ("grpc-status", "0")], true)
            .await;
    })
    .await;
    assert_status(&error, Code::Unknown, 1, "HTTP status 500");
    assert_eq!(calls, 1);
    // The other way round, an error is an error.
    let (error, _, calls) = error_of(|call| async move {
        call.headers(&[(":status", "502"), ("grpc-status", "5")], true)
            .await;
    })
    .await;
    assert_status(&error, Code::NotFound, 1, "");
    assert_eq!(calls, 1);
}

/// What the trailers say, behind rows that a token covers and others.
async fn failing(trailers: &'static [(&'static str, &'static str)]) -> Error {
    let (error, rows, calls) = error_of(move |call| async move {
        call.head().await;
        call.data(&body(&call)).await;
        call.trailers(trailers).await;
    })
    .await;
    assert_eq!((rows, calls), (4, 1), "{error}");
    error
}

#[tokio::test]
async fn statuses() {
    let error = failing(&[
        ("grpc-status", "10"),
        (
            "grpc-message",
            "100%25 r%C3%B3%C5%BCne: %22a%22%0Ab 5% %zz %",
        ),
    ])
    .await;
    let text = "100% r\u{f3}\u{17c}ne: \"a\"\nb 5% %zz %";
    assert_status(&error, Code::Aborted, 1, text);

    for status in [
        "99",
        "-1",
        "-0",
        "+0",
        "abc",
        "",
        "0x0",
        "0.0",
        "4294967296",
    ] {
        let trailers = Box::leak(Box::new([("grpc-status", status), ("grpc-message", "odd")]));
        assert_status(&failing(trailers).await, Code::Unknown, 1, "odd");
        let text = format!("ended with grpc-status {status:?}");
        let error = failing(&trailers[..1]).await;
        assert_status(&error, Code::Unknown, 1, &text);
    }
    // Two that do not agree.
    let error = failing(&[("grpc-status", "0"), ("grpc-status", "13")]).await;
    assert_status(&error, Code::Internal, 1, "");
    assert_eq!(error.to_string(), "INTERNAL");
    // A message that is no UTF-8, and details that are no base64.
    let error = failing(&[
        ("grpc-status", "9"),
        ("grpc-message", "a%FFb"),
        ("grpc-status-details-bin", "!!! no base64 !!!"),
        ("google.rpc.retryinfo-bin", "\u{fc}"),
    ])
    .await;
    assert_status(&error, Code::FailedPrecondition, 1, "a\u{fffd}b");
    let ErrorKind::Status { status, .. } = error.kind() else {
        unreachable!()
    };
    assert!(status.details().is_empty());
    assert_eq!(status.retry_delay(), None);
}

/// `google.rpc.RetryInfo` of so many milliseconds.
fn retry_info(millis: u64) -> Vec<u8> {
    field(1, &integer(2, millis * 1_000_000))
}

fn base64(bytes: &[u8], padded: bool) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let mut bits = 0_u32;
        for i in 0..3 {
            bits = bits << 8 | u32::from(*chunk.get(i).unwrap_or(&0));
        }
        for i in 0..4 {
            if i <= chunk.len() {
                out.push(DIGITS[(bits >> (18 - 6 * i) & 63) as usize] as char);
            } else if padded {
                out.push('=');
            }
        }
    }
    out
}

/// A `google.rpc.Status` with a RetryInfo behind other details.
fn details(millis: u64) -> Vec<u8> {
    let any = |name: &str, value: &[u8]| {
        let url = field(
            1,
            format!("type.googleapis.com/google.rpc.{name}").as_bytes(),
        );
        field(3, &[url, field(2, value)].concat())
    };
    let other = any("DebugInfo", b"\xff\xff");
    let info = any("RetryInfo", &retry_info(millis));
    [integer(1, 8), field(2, b"busy"), other, info].concat()
}

/// The server says when to come again: neither sooner, nor much later.
#[tokio::test]
async fn retry_info_is_obeyed() {
    const DELAY: u64 = 80;
    for (code, trailer, value) in [
        (
            "14",
            "grpc-status-details-bin",
            base64(&details(DELAY), true),
        ),
        (
            "8",
            "grpc-status-details-bin",
            base64(&details(DELAY), false),
        ),
        (
            "14",
            "google.rpc.retryinfo-bin",
            base64(&retry_info(DELAY), true),
        ),
        (
            "8",
            "google.rpc.retryinfo-bin",
            base64(&retry_info(DELAY), false),
        ),
    ] {
        let value: &str = Box::leak(value.into_boxed_str());
        let peer = Peer::start(move |call| async move {
            if call.number > 1 {
                return answer(&call).await;
            }
            call.head().await;
            call.data(&parts()[0].framed()).await;
            call.trailers(&[("grpc-status", code), (trailer, value)])
                .await;
        })
        .await;
        // Without the server's word the client would wait for hours.
        let long = Duration::from_secs(24 * 3600);
        let settings = RetrySettings::default()
            .initial_delay(long)
            .max_delay(long)
            .give_up_after(2 * long);
        let client = peer.builder().retry(settings).connect().await.unwrap();
        let start = Instant::now();
        assert_all(read(&client).await, trailer);
        assert!(start.elapsed() >= Duration::from_millis(DELAY), "{trailer}");
        assert_eq!(peer.take_tokens(), ["", "a"]);
    }
}

#[tokio::test]
async fn details_are_handed_on() {
    let sent = details(30);
    let value: &str = Box::leak(base64(&sent, true).into_boxed_str());
    let peer = Peer::start(move |call| async move {
        call.trailers_only(&[("grpc-status", "14"), ("grpc-status-details-bin", value)])
            .await;
    })
    .await;
    let client = peer.builder().retry(never()).connect().await.unwrap();
    let (_, error) = read(&client).await;
    let error = error.unwrap();
    let ErrorKind::Status { status, .. } = error.kind() else {
        panic!("{error:?}");
    };
    assert_eq!(status.details(), &sent);
    assert_eq!(status.retry_delay(), Some(Duration::from_millis(30)));
    assert!(!status.is_transport());
}

/// Many and long trailers are read; more than is sensible is an error, not a
/// wrong end.
#[tokio::test]
async fn huge_trailers() {
    for (len, fits) in [(20_000, true), (200_000, false)] {
        let text: &str = Box::leak("x".repeat(len).into_boxed_str());
        let peer = Peer::start(move |call| async move {
            call.head().await;
            call.data(&body(&call)).await;
            let trailers = [("grpc-status", "5"), ("grpc-message", text)];
            let block = wire::header_block(&trailers);
            let mut chunks = block.chunks(16_000).peekable();
            let mut kind = wire::HEADERS;
            while let Some(chunk) = chunks.next() {
                let mut flags = 0;
                if kind == wire::HEADERS {
                    flags |= wire::END_STREAM;
                }
                if chunks.peek().is_none() {
                    flags |= wire::END_HEADERS;
                }
                call.frame(kind, flags, chunk).await;
                kind = wire::CONTINUATION;
            }
        })
        .await;
        let client = peer.builder().retry(never()).connect().await.unwrap();
        let (rows, error) = read(&client).await;
        assert_eq!(rows.len(), 4);
        let error = error.unwrap();
        match fits {
            true => assert_status(&error, Code::NotFound, 1, text),
            false => assert_status(&error, Code::Unavailable, 1, ""),
        }
    }
}

/// Bytes before a message that gRPC does not know, or that were not agreed on.
#[tokio::test]
async fn prefixes_of_messages() {
    for (prefix, code, text) in [
        ([1, 0, 0, 0, 4], Code::Internal, "a compressed message"),
        ([2, 0, 0, 0, 4], Code::Internal, "not gRPC"),
        ([b'<', b'h', b't', b'm', b'l'], Code::Internal, "not gRPC"),
        (
            [0, 0xff, 0xff, 0xff, 0xff],
            Code::OutOfRange,
            "4294967295 bytes",
        ),
        ([0, 0x80, 0, 0, 0], Code::OutOfRange, "2147483648 bytes"),
    ] {
        let (error, rows, calls) = error_of(move |call| async move {
            call.head().await;
            call.data(&parts()[0].framed()).await;
            // The rest never comes: nobody waits for it.
            call.data(&[&prefix[..], b"what"].concat()).await;
        })
        .await;
        assert_status(&error, code, 1, text);
        assert_eq!((rows, calls), (1, 1));
    }
}

/// A message that cannot be read is the end, whatever the server says next.
#[tokio::test]
async fn messages_that_are_no_messages() {
    let (error, rows, calls) = error_of(|call| async move {
        call.head().await;
        call.data(&parts()[0].framed()).await;
        call.data(&wire::framed(&[0x12, 0xff])).await;
        call.data(&Part::more().row(1, "one").token("b").framed())
            .await;
        call.ok().await;
    })
    .await;
    assert!(matches!(error.kind(), ErrorKind::Wire(_)), "{error:?}");
    assert_eq!((rows, calls), (1, 1));
}

/// Errors of calls are none of the connection, and none of the session.
#[tokio::test]
async fn a_broken_query_leaves_the_client_usable() {
    let peer = Peer::start(|call| async move {
        match call.number {
            1 => call.trailers_only(&[("grpc-status", "7")]).await,
            2 => page(&call, "500", "text/plain").await,
            _ => answer(&call).await,
        }
    })
    .await;
    let client = peer.client().await;
    for _ in 0..2 {
        let query = client.query(SQL).rows::<(i64, String)>();
        assert!(soon(query).await.is_err());
    }
    assert_all(read(&client).await, "the third");
    assert_eq!(peer.connections(), 1);
}
