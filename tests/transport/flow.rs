//! Much at once, and readers and writers that are held back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::largest::{Watched, take_largest};
use super::peer::{Manner, Peer, soon};
use super::wire::{self, Part};
use super::{SQL, answer, assert_all, parts, read};

#[global_allocator]
static ALLOCATOR: Watched = Watched;

const MIB: usize = 1 << 20;

/// More than the window of a stream, in one message and in one value.
#[tokio::test]
async fn a_message_of_five_mib() {
    let long: Arc<str> = (0..5 * MIB / 8)
        .map(|i| format!("{i:8}"))
        .collect::<String>()
        .into();
    let text = long.clone();
    let peer = Peer::start(move |call| {
        let text = text.clone();
        async move {
            call.head().await;
            let parts = [
                Part::first().row(0, "before").token("a"),
                Part::more().row(1, &text).row(2, "after"),
            ];
            for part in parts {
                call.data(&part.framed()).await;
            }
            call.ok().await;
        }
    })
    .await;
    let (rows, error) = read(&peer.client().await).await;
    assert!(error.is_none(), "{error:?}");
    let texts: Vec<_> = rows.iter().map(|row| row.1.as_str()).collect();
    assert_eq!(rows.len(), 3);
    assert!(texts == ["before", &*long, "after"]);
}

/// A length is a claim: memory is taken for what comes.
#[tokio::test]
async fn a_message_that_claims_a_hundred_mib() {
    for claimed in [100 * MIB, i32::MAX as usize] {
        let peer = Peer::start(move |call| async move {
            if call.number > 1 {
                return answer(&call).await;
            }
            call.head().await;
            call.data(&parts()[0].framed()).await;
            let mut prefix = vec![0];
            prefix.extend_from_slice(&u32::try_from(claimed).unwrap().to_be_bytes());
            call.data(&prefix).await;
            call.data(&[0; 100_000]).await;
            call.reset(wire::INTERNAL_ERROR).await;
        })
        .await;
        let client = peer.client().await;
        take_largest();
        assert_all(read(&client).await, "a claim");
        let largest = take_largest();
        assert!(largest < 3 * MIB, "{largest} bytes at once for {claimed}");
        assert_eq!(peer.take_tokens(), ["", "a"]);
    }
}

/// Whoever does not read lets the server send no more than the window, and
/// whoever goes on gets everything.
#[tokio::test]
async fn a_slow_reader_holds_back_the_peer() {
    const PART: usize = 64 << 10;
    const PARTS: usize = 128;
    let (peer, mut reads) = Peer::by_hand(Manner::default()).await;
    let client = peer.client().await;
    let query = tokio::spawn(async move { client.query(SQL).rows::<(i64, String)>().await });
    let call = reads.next().await;
    let sent = Arc::new(AtomicUsize::new(0));
    let (sender, count) = (call.clone(), sent.clone());
    tokio::spawn(async move {
        let text = "x".repeat(PART);
        sender.head().await;
        for n in 0..PARTS {
            let part = if n == 0 { Part::first() } else { Part::more() };
            let part = part.row(n as i64, &text).token(&n.to_string());
            sender.data(&part.framed()).await;
            count.fetch_add(1, Ordering::SeqCst);
        }
        sender.ok().await;
    });
    let mut rows = query.await.unwrap().unwrap();
    assert_eq!(soon(rows.next()).await.unwrap().unwrap().0, 0);
    call.until_held_back().await;
    // Nobody reads, so a window stays as it is.
    call.ping().await;
    let ahead = sent.load(Ordering::SeqCst) * PART;
    assert!((MIB..3 * MIB).contains(&ahead), "{ahead} bytes ahead");
    // Others on the connection are not held up.
    let other = rows_of_another_call(&peer, &mut reads).await;
    assert_all(other, "another call");
    let mut n = 1;
    while let Some(row) = soon(rows.next()).await.unwrap() {
        assert_eq!((row.0, row.1.len()), (n, PART));
        n += 1;
    }
    assert_eq!(n, PARTS as i64);
    assert_eq!(call.reset_seen(), None);
}

async fn rows_of_another_call(
    peer: &Peer,
    reads: &mut super::peer::Reads,
) -> (Vec<(i64, String)>, Option<spanner_rows::Error>) {
    let client = peer.client().await;
    let reading = tokio::spawn(async move { read(&client).await });
    answer(&reads.next().await).await;
    reading.await.unwrap()
}

/// The peer takes a request byte by byte, or one call at a time.
#[tokio::test]
async fn a_peer_that_holds_back_the_client() {
    let manner = Manner {
        settings: vec![
            (wire::INITIAL_WINDOW_SIZE, 1),
            (wire::MAX_CONCURRENT_STREAMS, 1),
        ],
        ..Manner::default()
    };
    let (peer, mut reads) = Peer::by_hand(manner).await;
    let client = peer.client().await;
    let sql: &'static str = Box::leak(format!("SELECT 1 {}", "-".repeat(3000)).into_boxed_str());
    let mut running = Vec::new();
    for _ in 0..3 {
        let client = client.clone();
        running.push(tokio::spawn(async move {
            let mut rows = client.query(sql).rows::<(i64, String)>().await?;
            rows.try_collect::<Vec<_>>().await
        }));
    }
    for reading in running {
        let call = reads.next().await;
        let message = &call.request[5..];
        // `ExecuteSqlRequest.sql`
        assert_eq!(wire::find_field(message, 3), Some(sql.as_bytes()));
        answer(&call).await;
        assert_eq!(reading.await.unwrap().unwrap().len(), 6);
    }
    assert_eq!(peer.connections(), 1);
}

/// One who counts wrongly and sends more than was allowed.
#[tokio::test]
async fn more_than_the_window() {
    let (peer, mut reads) = Peer::by_hand(Manner::default()).await;
    let client = peer.client().await;
    let query = tokio::spawn(async move { client.query(SQL).rows::<(i64, String)>().await });
    let call = reads.next().await;
    call.head().await;
    call.data(&parts()[0].framed()).await;
    let mut rows = query.await.unwrap().unwrap();
    assert_eq!(soon(rows.next()).await.unwrap().unwrap().0, 0);
    // Nobody reads now.
    let row = Part::more().row(1, &"x".repeat(4 * MIB)).framed();
    for bytes in row.chunks(16_384) {
        call.frame(wire::DATA, 0, bytes).await;
    }
    call.until_reset_or_closed().await;
    let rest = tokio::spawn(async move { rows.try_collect::<Vec<_>>().await });
    answer(&reads.next().await).await;
    let rest = soon(rest).await.unwrap().unwrap();
    assert!(rest.iter().map(|row| row.0).eq(1..6));
    assert_eq!(peer.take_tokens(), ["", "a"]);
}
