//! Ends that are late, early, or said twice.

use std::time::{Duration, Instant};

use spanner_rows::{Client, Code, RowStream};

use super::peer::{Call, Manner, Peer, Reads, soon};
use super::wire::{self, Part};
use super::{SQL, answer, assert_all, read};

type Row = (i64, String);

async fn by_hand() -> (Peer, Client, Reads) {
    let (peer, reads) = Peer::by_hand(Manner::default()).await;
    let client = peer.client().await;
    (peer, client, reads)
}

/// A read, and its call, to which the peer has sent one message.
async fn begun(client: &Client, reads: &mut Reads, part: Part) -> (RowStream<Row>, Call) {
    let asking = client.clone();
    let opened = tokio::spawn(async move { asking.query(SQL).rows::<Row>().await });
    let call = reads.next().await;
    call.head().await;
    call.data(&part.framed()).await;
    (soon(opened).await.unwrap().unwrap(), call)
}

/// Makes sure that everything the client has sent so far has arrived: another
/// call on the same connection comes behind it.
async fn everything_arrived(client: &Client, reads: &mut Reads, call: &Call) {
    let asking = client.clone();
    let reading = tokio::spawn(async move { read(&asking).await });
    let next = reads.next().await;
    assert_eq!(next.connection_number(), call.connection_number());
    answer(&next).await;
    assert_all(soon(reading).await.unwrap(), "the next call");
}

/// The server says which message is the last and takes its time with the
/// trailers: the end is told at once, and the stream is not reset.
#[tokio::test]
async fn late_trailers_behind_the_last_message() {
    let (peer, client, mut reads) = by_hand().await;
    for dropped in [false, true] {
        for taken in [0, 1, 2] {
            let last = Part::first().row(0, "zero").last();
            let (mut rows, call) = begun(&client, &mut reads, last).await;
            for n in 0..taken {
                let row = soon(rows.next()).await.unwrap();
                assert_eq!(row.map(|row| row.0), [Some(0), None][n]);
            }
            let mut rows = Some(rows).filter(|_| !dropped);
            everything_arrived(&client, &mut reads, &call).await;
            assert_eq!(call.reset_seen(), None, "{dropped} {taken}");
            // What comes behind the last message is of no interest.
            call.data(&Part::more().row(1, "one").framed()).await;
            call.trailers(&[("grpc-status", "13")]).await;
            everything_arrived(&client, &mut reads, &call).await;
            assert_eq!(call.reset_seen(), None, "{dropped} {taken}");
            if let Some(rows) = &mut rows {
                let rest: Vec<Row> = soon(rows.try_collect()).await.unwrap();
                assert_eq!(rest.len(), usize::from(taken == 0));
            }
        }
    }
    assert_eq!(peer.connections(), 1);
}

/// Trailers that never come are not waited for for ever.
#[tokio::test]
async fn no_trailers_behind_the_last_message() {
    let (_peer, client, mut reads) = by_hand().await;
    let last = Part::first().row(0, "zero").last();
    let start = Instant::now();
    let (mut rows, call) = begun(&client, &mut reads, last).await;
    assert_eq!(soon(rows.one()).await.unwrap().0, 0);
    drop(rows);
    assert_eq!(call.until_reset().await, wire::CANCEL);
    let waited = start.elapsed();
    assert!(waited > Duration::from_secs(4), "{waited:?}");
}

/// One who leaves early cancels.
#[tokio::test]
async fn streams_dropped_early_are_cancelled() {
    let (peer, client, mut reads) = by_hand().await;
    // Rows that are held, rows that are there, rows that were taken.
    for (token, taken) in [("", 0), ("a", 0), ("a", 1), ("a", 2)] {
        let part = Part::first().row(0, "zero").row(1, "one").token(token);
        let (mut rows, call) = begun(&client, &mut reads, part).await;
        for n in 0..taken {
            assert_eq!(soon(rows.next()).await.unwrap().unwrap().0, n);
        }
        assert_eq!(call.reset_seen(), None);
        drop(rows);
        assert_eq!(call.until_reset().await, wire::CANCEL);
    }
    // So does one who does not wait for the answer to begin.
    let asking = client.clone();
    let opening = tokio::spawn(async move { asking.query(SQL).rows::<Row>().await.map(drop) });
    let call = reads.next().await;
    opening.abort();
    assert_eq!(call.until_reset().await, wire::CANCEL);
    assert_eq!(peer.connections(), 1);
}

/// Data that is already on its way when a stream is dropped disturbs nobody.
#[tokio::test]
async fn data_for_dropped_streams() {
    let (peer, client, mut reads) = by_hand().await;
    for _ in 0..300 {
        let (rows, call) = begun(&client, &mut reads, Part::first().row(0, "zero")).await;
        drop(rows);
        for _ in 0..4 {
            call.frame(wire::DATA, 0, &Part::more().row(1, "one").framed())
                .await;
        }
        call.ok().await;
    }
    let (rows, call) = begun(&client, &mut reads, Part::first().row(0, "zero")).await;
    everything_arrived(&client, &mut reads, &call).await;
    drop(rows);
    assert_eq!(peer.connections(), 1);
}

/// Every way to ask for more finds nothing behind the end, and does not ask the server.
async fn assert_ended(mut rows: RowStream<Row>, reads: &mut Reads) {
    for _ in 0..2 {
        assert!(rows.next().await.unwrap().is_none());
        assert!(rows.next_batch().await.unwrap().is_none());
        assert!(rows.optional().await.unwrap().is_none());
        assert!(rows.optional_batch().await.unwrap().is_none());
        assert_eq!(rows.one().await.unwrap_err().code(), Code::NotFound);
        assert_eq!(rows.one_batch().await.unwrap_err().code(), Code::NotFound);
        assert!(rows.try_collect::<Vec<_>>().await.unwrap().is_empty());
        let mut more = Vec::new();
        rows.extend(&mut more).await.unwrap();
        rows.for_each(|row| more.push(row.clone())).await.unwrap();
        assert!(more.is_empty());
    }
    let mut stream = rows.into_stream();
    for _ in 0..2 {
        assert!(stream_next(&mut stream).await.is_none());
    }
    reads.assert_none();
}

async fn stream_next(
    stream: &mut spanner_rows::OwnedRowStream<Row>,
) -> Option<Result<Row, spanner_rows::Error>> {
    std::future::poll_fn(|cx| futures_core::Stream::poll_next(std::pin::Pin::new(stream), cx)).await
}

/// How a result may be over for good.
#[derive(Clone, Copy, Debug)]
enum Over {
    Ok,
    Last,
    Status,
    /// A message that cannot be read.
    Malformed,
    /// A message that is against the rules: the end inside of a row.
    HalfARow,
    /// Compressed.
    Prefix,
}

impl Over {
    async fn happen(self, call: &Call) {
        match self {
            Self::Ok => call.ok().await,
            Self::Last => call.data(&Part::more().last().framed()).await,
            Self::Status => call.trailers(&[("grpc-status", "7")]).await,
            Self::Malformed => call.data(&wire::framed(&[0xff; 9])).await,
            Self::HalfARow => {
                call.data(&Part::more().value("1").framed()).await;
                call.ok().await;
            }
            Self::Prefix => call.data(&[1, 0, 0, 0, 0]).await,
        }
    }

    const fn code(self) -> Option<Code> {
        match self {
            Self::Ok | Self::Last => None,
            Self::Status => Some(Code::PermissionDenied),
            Self::Malformed | Self::HalfARow | Self::Prefix => Some(Code::Internal),
        }
    }
}

/// Asks in one of the ways until the result is over.
async fn ask(way: usize, rows: &mut RowStream<Row>) -> Result<usize, Code> {
    let mut count = 0;
    let code = |error: spanner_rows::Error| error.code();
    match way {
        0 => {
            while rows.next().await.map_err(code)?.is_some() {
                count += 1;
            }
        }
        1 => {
            while let Some(batch) = rows.next_batch().await.map_err(code)? {
                count += batch.len();
            }
        }
        2 => rows.for_each(|_| count += 1).await.map_err(code)?,
        3 => count = rows.try_collect::<Vec<_>>().await.map_err(code)?.len(),
        4 => rows.one().await.map(|_| count = 1).map_err(code)?,
        5 => rows.one_batch().await.map(|_| count = 1).map_err(code)?,
        6 => rows.optional().await.map(|_| count = 1).map_err(code)?,
        _ => rows
            .optional_batch()
            .await
            .map(|_| count = 1)
            .map_err(code)?,
    }
    Ok(count)
}

#[tokio::test]
async fn what_is_over_stays_over() {
    let (_peer, client, mut reads) = by_hand().await;
    for over in [
        Over::Ok,
        Over::Last,
        Over::Status,
        Over::Malformed,
        Over::HalfARow,
        Over::Prefix,
    ] {
        for way in 0..8 {
            let part = Part::first().row(0, "zero").token("a");
            let (mut rows, call) = begun(&client, &mut reads, part).await;
            over.happen(&call).await;
            let found = soon(ask(way, &mut rows)).await;
            let expected = over.code().map_or(Ok(1), Err);
            assert_eq!(found, expected, "{over:?}, way {way}");
            assert_ended(rows, &mut reads).await;
        }
    }
}

/// A stream may outlive its runtime, and be dropped where there is none.
#[test]
fn streams_dropped_outside_of_a_runtime() {
    #[derive(Clone, Copy, Debug)]
    enum State {
        Open,
        /// All of it is here, and more would come.
        LastReceived,
        Ended,
        /// Waiting before another attempt.
        BackingOff,
        /// The other attempt is not answered.
        Reopening,
    }
    for state in [
        State::Open,
        State::LastReceived,
        State::Ended,
        State::BackingOff,
        State::Reopening,
    ] {
        for runtime_first in [false, true] {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let (mut rows, call, again) = runtime.block_on(async {
                let (peer, mut reads) = Peer::by_hand(Manner::default()).await;
                let mut settings = super::peer::at_once();
                if matches!(state, State::BackingOff) {
                    let day = Duration::from_secs(24 * 3600);
                    settings = settings
                        .initial_delay(day)
                        .max_delay(day)
                        .give_up_after(day);
                }
                let client = peer.builder().retry(settings).connect().await.unwrap();
                let mut part = Part::first().row(0, "zero").token("a");
                if matches!(state, State::LastReceived) {
                    part = part.last();
                }
                let (mut rows, call) = begun(&client, &mut reads, part).await;
                match state {
                    State::Open | State::LastReceived => {}
                    State::Ended => call.ok().await,
                    State::BackingOff | State::Reopening => call.reset(wire::CANCEL).await,
                }
                assert_eq!(soon(rows.next()).await.unwrap().unwrap().0, 0);
                let mut again = None;
                match state {
                    State::Ended => assert!(soon(rows.next()).await.unwrap().is_none()),
                    State::Reopening => {
                        tokio::select! {
                            row = rows.next() => panic!("{row:?}"),
                            call = reads.next() => again = Some(call),
                        }
                    }
                    State::BackingOff => {
                        // The reset is behind the row and before the pong.
                        call.ping().await;
                        let waiting = tokio::time::timeout(Duration::from_millis(20), rows.next());
                        assert!(waiting.await.is_err());
                    }
                    State::Open | State::LastReceived => {}
                }
                (rows, call, again)
            });
            if runtime_first {
                drop(runtime);
                // Asked outside of its runtime, it has an answer or waits; it does not panic.
                let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
                if matches!(state, State::Ended | State::LastReceived) {
                    let next = std::pin::pin!(rows.next());
                    assert!(matches!(
                        next.poll(&mut cx),
                        std::task::Poll::Ready(Ok(None))
                    ));
                }
                drop(rows);
            } else {
                drop(rows);
                drop(runtime);
            }
            drop((call, again));
        }
    }
}
