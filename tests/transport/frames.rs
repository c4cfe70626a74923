//! HTTP/2 as it is allowed, though few servers use it so, and as it is not.

use super::peer::{Call, Manner, Peer};
use super::wire::{self, Part, header_block};
use super::{answer, assert_all, assert_status, body, never, parts, read};
use spanner_rows::Code;

/// Reads with a peer that answers in an unusual way which is right.
async fn read_well<F>(what: &str, answer: impl Fn(Call) -> F + Send + Sync + 'static)
where
    F: Future<Output = ()> + Send + 'static,
{
    let peer = Peer::start(answer).await;
    let client = peer.client().await;
    for _ in 0..2 {
        assert_all(read(&client).await, what);
        assert_eq!(peer.take_tokens(), [""], "{what}");
    }
    assert_eq!(peer.connections(), 1, "{what}");
}

#[tokio::test]
async fn data_in_small_frames() {
    for size in [1, 2, 7] {
        read_well(
            &format!("{size} bytes in a frame"),
            move |call| async move {
                call.head().await;
                for bytes in body(&call).chunks(size) {
                    call.data(bytes).await;
                }
                call.ok().await;
            },
        )
        .await;
    }
}

#[tokio::test]
async fn data_with_padding_and_without_content() {
    read_well("padding", |call| async move {
        call.head().await;
        for (i, bytes) in body(&call).chunks(5).enumerate() {
            let padding = i * 37 % 256;
            let mut payload = vec![padding as u8];
            payload.extend_from_slice(bytes);
            payload.resize(1 + bytes.len() + padding, 0);
            call.frame(wire::DATA, wire::PADDED, &payload).await;
            if i % 5 == 0 {
                call.frame(wire::DATA, 0, &[]).await;
            }
        }
        call.ok().await;
    })
    .await;
}

/// Headers with everything that may be around them, over several frames.
#[tokio::test]
async fn headers_in_pieces() {
    const PRIORITY: u8 = 0x20;
    async fn in_pieces(call: &Call, headers: &[(&str, &str)], end: u8) {
        let block = header_block(headers);
        let (first, rest) = block.split_at(3);
        let (second, third) = rest.split_at(rest.len() / 2);
        let padding = 9;
        let mut payload = vec![padding, 0, 0, 0, 0, 16];
        payload.extend_from_slice(first);
        payload.extend_from_slice(&[0; 9]);
        call.frame(wire::HEADERS, wire::PADDED | PRIORITY | end, &payload)
            .await;
        call.frame(wire::CONTINUATION, 0, second).await;
        call.frame(wire::CONTINUATION, wire::END_HEADERS, third)
            .await;
    }
    read_well("headers in pieces", |call| async move {
        let head = [(":status", "200"), ("content-type", "application/grpc")];
        in_pieces(&call, &head, 0).await;
        call.data(&body(&call)).await;
        let trailers = [("grpc-status", "0"), ("x-more", "x")];
        in_pieces(&call, &trailers, wire::END_STREAM).await;
    })
    .await;
}

#[tokio::test]
async fn informational_headers() {
    read_well("103", |call| async move {
        call.headers(&[(":status", "103"), ("link", "</x>")], false)
            .await;
        call.headers(&[(":status", "100")], false).await;
        answer(&call).await;
    })
    .await;
}

/// Frames of the connection and frames that nobody knows, between those of the stream.
#[tokio::test]
async fn frames_in_between() {
    const PRIORITY: u8 = 2;
    read_well("frames in between", |call| async move {
        call.head().await;
        for (i, bytes) in body(&call).chunks(9).enumerate() {
            let number = (i as u32 + 1).to_be_bytes();
            call.frame(0xbe, 0xff, b"who knows").await;
            call.frame(PRIORITY, 0, &[0, 0, 0, 0, 16]).await;
            call.frame(wire::WINDOW_UPDATE, 0, &number).await;
            for frame in [
                wire::frame(0x0a, 0, 0, b"\0\0h2=\":443\""),
                wire::frame(0xfe, 0xff, 0, b""),
                wire::frame(wire::WINDOW_UPDATE, 0, 0, &number),
                wire::frame(wire::PING, 0, 0, &[i as u8; 8]),
                wire::settings(&[(wire::INITIAL_WINDOW_SIZE, 65_535 + i as u32), (0xabcd, 7)]),
            ] {
                call.connection.write(&frame).await;
            }
            call.data(bytes).await;
        }
        call.ok().await;
    })
    .await;
}

/// One who wants a sign of life all the time gets it, and the result comes all the same.
#[tokio::test]
async fn floods_of_pings_and_settings() {
    read_well("floods", |call| async move {
        call.head().await;
        for part in &parts() {
            for i in 0..500_u64 {
                let ping = wire::frame(wire::PING, 0, 0, &i.to_be_bytes());
                call.connection.write(&ping).await;
            }
            for _ in 0..20 {
                call.connection.write(&wire::settings(&[])).await;
            }
            call.data(&part.framed()).await;
        }
        call.ok().await;
    })
    .await;
}

/// Against the rules, behind the first message.
#[tokio::test]
async fn peers_that_break_the_rules() {
    let push = [&2_u32.to_be_bytes()[..], &header_block(&[(":path", "/")])].concat();
    let breaches: [(&str, Vec<u8>); 13] = [
        (
            "a push",
            wire::frame(wire::PUSH_PROMISE, wire::END_HEADERS, 3, &push),
        ),
        ("data on no stream", wire::frame(wire::DATA, 0, 0, b"x")),
        (
            "data on a stream to come",
            wire::frame(wire::DATA, 0, 99, b"x"),
        ),
        (
            "headers on a stream to come",
            wire::frame(wire::HEADERS, wire::END_HEADERS, 99, &[]),
        ),
        ("no window", wire::frame(wire::WINDOW_UPDATE, 0, 0, &[0; 4])),
        (
            "too large a window",
            wire::frame(wire::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
        ),
        (
            "a bad setting",
            wire::settings(&[(wire::INITIAL_WINDOW_SIZE, u32::MAX)]),
        ),
        ("half a setting", wire::frame(wire::SETTINGS, 0, 0, &[0; 5])),
        ("a long ping", wire::frame(wire::PING, 0, 0, &[0; 9])),
        ("half a GOAWAY", wire::frame(wire::GOAWAY, 0, 0, &[0; 3])),
        (
            "more headers of none",
            wire::frame(wire::CONTINUATION, wire::END_HEADERS, 3, &[]),
        ),
        (
            "bad compression",
            wire::frame(wire::HEADERS, wire::END_HEADERS, 3, &[0xff; 12]),
        ),
        (
            "too large a frame",
            wire::frame(wire::DATA, 0, 3, &[0; 70_000]),
        ),
    ];
    for (what, breach) in breaches {
        let breach: &[u8] = Box::leak(breach.into_boxed_slice());
        let peer = Peer::start(move |call| async move {
            if call.number > 1 {
                return answer(&call).await;
            }
            assert_eq!(call.stream, 3);
            call.head().await;
            call.data(&parts()[0].framed()).await;
            call.connection.write(breach).await;
            call.until_closed().await;
        })
        .await;
        assert_all(read(&peer.client().await).await, what);
        assert_eq!(peer.take_tokens(), ["", "a"], "{what}");
        assert_eq!(peer.connections(), 2, "{what}");
    }
}

/// Breaches that cost one stream only.
#[tokio::test]
async fn streams_that_break_the_rules() {
    for (what, trailers) in [
        ("upper case", [("grpc-status", "0"), ("X-Upper", "1")]),
        (
            "a connection header",
            [("grpc-status", "0"), ("connection", "close")],
        ),
    ] {
        let peer = Peer::start(move |call| async move {
            if call.number > 1 {
                return answer(&call).await;
            }
            call.head().await;
            call.data(&parts()[0].framed()).await;
            call.trailers(&trailers).await;
        })
        .await;
        assert_all(read(&peer.client().await).await, what);
        assert_eq!(peer.take_tokens(), ["", "a"], "{what}");
    }
    // Trailers that are not the end.
    let peer = Peer::start(|call| async move {
        if call.number > 1 {
            return answer(&call).await;
        }
        call.head().await;
        call.data(&parts()[0].framed()).await;
        call.headers(&[("grpc-status", "0")], false).await;
    })
    .await;
    assert_all(read(&peer.client().await).await, "no end");
    assert_eq!(peer.take_tokens(), ["", "a"]);
    // A length that the body does not have.
    for length in ["3", "100000"] {
        let peer = Peer::start(move |call| async move {
            if call.number > 1 {
                return answer(&call).await;
            }
            call.headers(&[(":status", "200"), ("content-length", length)], false)
                .await;
            call.data(&Part::first().row(0, "zero").framed()).await;
            call.ok().await;
        })
        .await;
        assert_all(read(&peer.client().await).await, length);
        assert_eq!(peer.take_tokens(), ["", ""], "{length}");
    }
}

/// Headers without end.
#[tokio::test]
async fn a_flood_of_continuations() {
    let peer = Peer::start(|call| async move {
        if call.number > 1 {
            return answer(&call).await;
        }
        call.frame(wire::HEADERS, 0, &header_block(&[(":status", "200")]))
            .await;
        for _ in 0..2000 {
            let more = header_block(&[("x-more", "and more")]);
            call.frame(wire::CONTINUATION, 0, &more).await;
        }
        call.until_closed().await;
    })
    .await;
    assert_all(read(&peer.client().await).await, "a flood");
    assert_eq!(peer.take_tokens(), ["", ""]);
    assert_eq!(peer.connections(), 2);
}

/// Another protocol on the port.
#[tokio::test]
async fn a_peer_that_speaks_another_language() {
    let greetings: [&[u8]; 4] = [
        b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"\x15\x03\x01\0\x02\x02\x16",
        b"",
    ];
    let manner = Manner {
        greetings: greetings.to_vec(),
        ..Manner::default()
    };
    let peer = Peer::with_manner(manner, |call| async move { answer(&call).await }).await;
    // The session is asked for until a peer gives it.
    assert_all(read(&peer.client().await).await, "behind the others");
    assert_eq!(peer.connections(), 1 + greetings.len());
}

/// What the client's side finds wrong is told, too.
#[tokio::test]
async fn errors_name_the_breach() {
    let peer = Peer::start(|call| async move {
        call.head().await;
        call.connection
            .write(&wire::frame(wire::SETTINGS, 0, 0, &[0; 5]))
            .await;
    })
    .await;
    let client = peer.builder().retry(never()).connect().await.unwrap();
    let error = read(&client).await.1.unwrap();
    assert_status(&error, Code::Unavailable, 1, "connection error detected");
}
