//! A peer that says nothing any more, with and without a connection that works.

use std::time::{Duration, Instant};

use spanner_rows::{Code, ErrorKind};

use super::peer::{Manner, Peer, at_once, soon};
use super::wire::Part;
use super::{answer, assert_all, assert_status, body, never, parts, read};

/// Signs of life are wanted so often, and given up so soon. Slow machines must
/// answer in this time, too.
const INTERVAL: Duration = Duration::from_millis(200);
const TIMEOUT: Duration = Duration::from_millis(800);

trait Wary {
    fn wary(self) -> Self;
}

impl Wary for spanner_rows::ClientBuilder {
    fn wary(self) -> Self {
        self.keep_alive_interval(INTERVAL)
            .keep_alive_timeout(TIMEOUT)
    }
}

/// The machine at the other end is gone, and nobody says so: in the middle of a
/// result, before it, behind a message that is not complete.
#[tokio::test]
async fn a_peer_that_dies_in_the_middle() {
    let first = parts()[0].framed().len();
    for (len, token) in [
        (None, ""),
        (Some(0), ""),
        (Some(first), "a"),
        (Some(first + 9), "a"),
    ] {
        let peer = Peer::start(move |call| async move {
            if call.number > 1 {
                return answer(&call).await;
            }
            if let Some(len) = len {
                call.head().await;
                call.data(&body(&call)[..len]).await;
            }
            call.go_deaf();
        })
        .await;
        let client = peer.builder().wary().connect().await.unwrap();
        let start = Instant::now();
        assert_all(read(&client).await, &format!("{len:?}"));
        assert!(start.elapsed() >= TIMEOUT, "{:?}", start.elapsed());
        // A machine that is slow enough looks dead, too.
        assert_eq!(peer.take_tokens()[..2], ["", token]);
        assert!(peer.connections() >= 2);
    }
}

/// A connection that is made and then dead, before a session could be made on it.
#[tokio::test]
async fn a_connection_that_was_never_alive() {
    let manner = Manner {
        dead: 1,
        ..Manner::default()
    };
    let peer = Peer::with_manner(manner, |call| async move { answer(&call).await }).await;
    let client = soon(peer.builder().wary().connect()).await.unwrap();
    assert_all(read(&client).await, "behind a dead connection");
    assert!(peer.connections() >= 2);
}

/// The dead peer as an error.
#[tokio::test]
async fn a_dead_peer_as_an_error() {
    let peer = Peer::start(|call| async move {
        call.head().await;
        call.data(&parts()[0].framed()).await;
        call.go_deaf();
    })
    .await;
    let client = peer.builder().wary().retry(never());
    let client = client.connect().await.unwrap();
    let (rows, error) = read(&client).await;
    assert_eq!(rows.len(), 1);
    let error = error.unwrap();
    assert_status(&error, Code::Unavailable, 1, "stream closed");
    let ErrorKind::Status { status, .. } = error.kind() else {
        unreachable!()
    };
    assert!(status.is_transport());
}

/// A server that works for long is not a dead one: it answers pings.
#[tokio::test]
async fn a_slow_server_is_no_dead_one() {
    let peer = Peer::start(|call| async move {
        call.head().await;
        call.data(&parts()[0].framed()).await;
        // Several signs of life are asked for and given.
        call.until_pings(4).await;
        call.data(&body(&call)[parts()[0].framed().len()..]).await;
        call.until_pings(2).await;
        call.ok().await;
    })
    .await;
    let client = peer.builder().keep_alive_interval(INTERVAL);
    let client = client.connect().await.unwrap();
    assert_all(read(&client).await, "a slow server");
    assert_eq!(peer.take_tokens(), [""]);
    assert_eq!(peer.connections(), 1);
}

/// A connection that works, and nothing on it: final after the idle limit, as
/// documented, and the call is cancelled.
#[tokio::test]
async fn silence_has_a_limit() {
    let limit = Duration::from_millis(400);
    // Before the answer, before the first message, behind a message, within one.
    let first = parts()[0].framed().len();
    for (len, rows_before) in [
        (None, 0),
        (Some(0), 0),
        (Some(first), 1),
        (Some(first + 9), 1),
    ] {
        let (peer, mut reads) = Peer::by_hand(Manner::default()).await;
        let client = peer.builder().retry(at_once().idle_limit(limit));
        let client = client.connect().await.unwrap();
        let start = Instant::now();
        let reading = tokio::spawn(async move { read(&client).await });
        let call = reads.next().await;
        if let Some(len) = len {
            call.head().await;
            call.data(&body(&call)[..len]).await;
        }
        let (rows, error) = soon(reading).await.unwrap();
        assert!(start.elapsed() >= limit);
        assert_eq!(rows.len(), rows_before);
        let text = "no message came for 400ms, the idle limit";
        let error = error.unwrap();
        let ErrorKind::Status { status, attempts } = error.kind() else {
            panic!("{error:?}");
        };
        assert_eq!((status.code(), *attempts), (Code::DeadlineExceeded, 1));
        assert!(status.message().contains(text), "{error}");
        assert!(!status.is_transport());
        assert_eq!(call.until_reset().await, super::wire::CANCEL);
        reads.assert_none();
    }
}

/// The limit is on silence, not on the stream: it counts from the last byte on.
#[tokio::test]
async fn whoever_trickles_is_not_silent() {
    let limit = Duration::from_millis(1000);
    let peer = Peer::start(move |call| async move {
        call.head().await;
        let body: Vec<u8> = [Part::first().row(0, "zero"), Part::more().row(1, "one")]
            .iter()
            .flat_map(Part::framed)
            .collect();
        for byte in &body {
            tokio::time::sleep(limit / 25).await;
            call.data(&[*byte]).await;
        }
        call.ok().await;
    })
    .await;
    let client = peer.builder().retry(at_once().idle_limit(limit));
    let client = client.connect().await.unwrap();
    let start = Instant::now();
    let (rows, error) = read(&client).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(rows.len(), 2);
    assert!(start.elapsed() > 2 * limit);
}

/// Times longer than any clock can tell mean for ever.
#[tokio::test]
async fn patience_without_limit() {
    for longest in [Duration::MAX, Duration::from_secs(u64::MAX / 2)] {
        let peer = Peer::start(|call| async move { answer(&call).await }).await;
        let settings = at_once().idle_limit(longest).give_up_after(longest);
        let client = peer
            .builder()
            .connect_timeout(longest)
            .keep_alive_interval(longest)
            .keep_alive_timeout(longest)
            .retry(settings.clone());
        let client = client.connect().await.unwrap();
        assert_all(read(&client).await, "no limits");
        // With pings that are answered, or not.
        let client = peer.builder().keep_alive_interval(INTERVAL);
        let client = client.keep_alive_timeout(longest).retry(settings);
        let client = client.connect().await.unwrap();
        let first = client.query(super::SQL).rows::<(i64, String)>().await;
        tokio::time::sleep(2 * INTERVAL).await;
        assert_all(read(&client).await, "no limits, with pings");
        drop(first);
        assert_eq!(peer.connections(), 2);
    }
}
