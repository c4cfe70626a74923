//! The peer sends its clients to another connection, as servers do all day.

use std::sync::Arc;

use tokio::sync::{Barrier, Notify};

use super::peer::{Peer, soon};
use super::wire::{self, Part};
use super::{ROWS, SQL, answer, assert_all, body, parts, read};

/// The stream goes on to its end while new calls are on another connection.
#[tokio::test]
async fn streams_under_way_finish() {
    let go_on = Arc::new(Notify::new());
    let (told, tell) = (Arc::new(Notify::new()), go_on.clone());
    let its = told.clone();
    let peer = Peer::start(move |call| {
        let (told, go_on) = (its.clone(), go_on.clone());
        async move {
            if call.number > 1 {
                assert_eq!(call.connection_number(), 2);
                return answer(&call).await;
            }
            let body = body(&call);
            let first = parts()[0].framed().len();
            call.head().await;
            call.data(&body[..first]).await;
            call.go_away(call.stream, wire::NO_ERROR).await;
            // The client has read that when it answers.
            call.ping().await;
            told.notify_one();
            go_on.notified().await;
            call.data(&body[first..]).await;
            call.ok().await;
        }
    })
    .await;
    let client = peer.client().await;
    let mut rows = client.query(SQL).rows::<(i64, String)>().await.unwrap();
    assert_eq!(soon(rows.next()).await.unwrap().unwrap().0, 0);
    soon(told.notified()).await;
    for _ in 0..3 {
        assert_all(read(&client).await, "behind GOAWAY");
    }
    tell.notify_one();
    let rest: Vec<(i64, String)> = soon(rows.try_collect()).await.unwrap();
    assert!(rest.iter().map(|row| row.0).eq(1..ROWS.len() as i64));
    assert_eq!(peer.take_tokens(), ["", "", "", ""]);
    assert_eq!(peer.connections(), 2);
}

/// GOAWAY says that some streams were not looked at; the one below them goes on.
#[tokio::test]
async fn streams_above_are_refused() {
    let second_is_there = Arc::new(Notify::new());
    let peer = Peer::start(move |call| {
        let second_is_there = second_is_there.clone();
        async move {
            match call.number {
                1 => {
                    call.head().await;
                    call.data(&parts()[0].framed()).await;
                    soon(second_is_there.notified()).await;
                    call.go_away(call.stream, wire::NO_ERROR).await;
                    call.data(&body(&call)[parts()[0].framed().len()..]).await;
                    call.ok().await;
                }
                2 => second_is_there.notify_one(),
                _ => {
                    assert_eq!(call.connection_number(), 2);
                    answer(&call).await;
                }
            }
        }
    })
    .await;
    let client = peer.client().await;
    let mut rows = client.query(SQL).rows::<(i64, String)>().await.unwrap();
    assert_all(read(&client).await, "the second stream");
    let all: Vec<(i64, String)> = soon(rows.try_collect()).await.unwrap();
    assert!(all.iter().map(|row| row.0).eq(0..ROWS.len() as i64));
    assert_eq!(peer.take_tokens(), ["", "", ""]);
    assert_eq!(peer.connections(), 2);
}

/// The peer is overwhelmed and ends everything: every stream is taken up again on
/// one other connection.
#[tokio::test]
async fn a_connection_that_is_killed_with_all_its_streams() {
    const STREAMS: usize = 20;
    let all_there = Arc::new(Barrier::new(STREAMS));
    let peer = Peer::start(move |call| {
        let all_there = all_there.clone();
        async move {
            if call.connection_number() > 1 {
                return answer(&call).await;
            }
            call.head().await;
            call.data(&parts()[0].framed()).await;
            if all_there.wait().await.is_leader() {
                call.go_away(0, wire::ENHANCE_YOUR_CALM).await;
                call.connection.close().await;
            }
        }
    })
    .await;
    let client = peer.client().await;
    let reads = (0..STREAMS).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { read(&client).await })
    });
    for read in reads.collect::<Vec<_>>() {
        assert_all(read.await.unwrap(), "a stream of many");
    }
    let mut tokens = peer.take_tokens();
    assert_eq!(tokens.len(), 2 * STREAMS);
    let again = tokens.split_off(STREAMS);
    assert!(tokens.iter().all(String::is_empty));
    assert!(again.iter().all(|token| token == "a"), "{again:?}");
    assert_eq!(peer.connections(), 2);
}

/// First a warning that allows all streams, then the real one: a graceful end.
#[tokio::test]
async fn two_warnings_and_an_end() {
    let peer = Peer::start(move |call| async move {
        call.go_away(i32::MAX as u32, wire::NO_ERROR).await;
        answer(&call).await;
        call.go_away(call.stream, wire::NO_ERROR).await;
        call.connection.close().await;
    })
    .await;
    let client = peer.client().await;
    for n in 1..=10 {
        assert_all(read(&client).await, "a read");
        assert_eq!(peer.take_tokens(), [""]);
        assert_eq!(peer.connections(), n);
    }
}

/// A stream that is silent when its connection ends is not forgotten.
#[tokio::test]
async fn nothing_is_left_waiting() {
    for with_rows in [false, true] {
        let peer = Peer::start(move |call| async move {
            if call.number > 1 {
                return answer(&call).await;
            }
            if with_rows {
                call.head().await;
                call.data(&Part::first().row(0, "zero").token("a").framed())
                    .await;
            }
            call.go_away(call.stream, wire::NO_ERROR).await;
            call.ping().await;
            call.connection.close().await;
        })
        .await;
        assert_all(read(&peer.client().await).await, "with or without rows");
        let token = if with_rows { "a" } else { "" };
        assert_eq!(peer.take_tokens(), ["", token]);
        assert_eq!(peer.connections(), 2);
    }
}
