//! An answer breaks off: in every way, anywhere.

use std::sync::{Arc, Mutex};

use spanner_rows::{Code, ErrorKind};

use super::peer::{Call, Peer, at_once, soon};
use super::wire::{self, Part};
use super::{SQL, answer, assert_all, body, never, parts, read};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Break {
    Reset(u32),
    /// Closes the connection.
    Close,
    /// Says GOAWAY for this reason and closes.
    GoAway(u32),
    /// Says GOAWAY and that the stream was not looked at.
    Disown,
    /// Ends the stream without trailers.
    End,
    /// Ends it with trailers that say nothing.
    TrailersWithoutStatus,
    /// Sends bytes that are no frame.
    Garbage,
}

impl Break {
    const ALL: [Self; 17] = [
        Self::Reset(wire::NO_ERROR),
        Self::Reset(wire::PROTOCOL_ERROR),
        Self::Reset(wire::INTERNAL_ERROR),
        Self::Reset(wire::FLOW_CONTROL_ERROR),
        Self::Reset(wire::STREAM_CLOSED),
        Self::Reset(wire::REFUSED_STREAM),
        Self::Reset(wire::CANCEL),
        Self::Reset(wire::ENHANCE_YOUR_CALM),
        Self::Reset(wire::HTTP_1_1_REQUIRED),
        Self::Reset(0xdead_beef),
        Self::Close,
        Self::GoAway(wire::NO_ERROR),
        Self::GoAway(wire::ENHANCE_YOUR_CALM),
        Self::Disown,
        Self::End,
        Self::TrailersWithoutStatus,
        Self::Garbage,
    ];

    async fn happen(self, call: &Call) {
        match self {
            Self::Reset(reason) => call.reset(reason).await,
            Self::Close => call.connection.close().await,
            Self::GoAway(reason) => {
                call.go_away(call.stream, reason).await;
                call.connection.close().await;
            }
            Self::Disown => call.go_away(call.stream - 2, wire::NO_ERROR).await,
            Self::End => call.frame(wire::DATA, wire::END_STREAM, &[]).await,
            Self::TrailersWithoutStatus => call.trailers(&[("x-other", "1")]).await,
            Self::Garbage => call.connection.write(&[0xff; 64]).await,
        }
    }

    /// Every byte for the breaks that look most like an end, and for the others
    /// what is around the ends of messages and some places within them.
    fn places(self) -> Vec<Place> {
        let every = matches!(
            self,
            Self::Reset(wire::NO_ERROR | wire::INTERNAL_ERROR) | Self::Close | Self::End
        );
        let mut ends = vec![0];
        for part in parts() {
            ends.push(ends[ends.len() - 1] + part.framed().len());
        }
        let near_end = |at: usize| ends.iter().any(|end| at.abs_diff(*end) <= 1);
        let behind = (0..=len()).filter(|at| every || at % 11 == 3 || near_end(*at));
        let behind = behind.map(Place::Behind);
        [Place::BeforeHeaders].into_iter().chain(behind).collect()
    }

    /// Words of the error that tell one break from another.
    fn words(self, place: Place) -> &'static str {
        match (self, place) {
            // The HTTP/2 library takes these for the end of the body.
            (
                Self::Reset(wire::NO_ERROR)
                | Self::Disown
                | Self::End
                | Self::TrailersWithoutStatus,
                Place::Behind(_),
            ) => "the server gave no final status",
            (Self::Reset(wire::NO_ERROR) | Self::Disown, _) => "not a result of an error",
            (Self::Reset(wire::PROTOCOL_ERROR) | Self::End | Self::TrailersWithoutStatus, _) => {
                "protocol error"
            }
            (Self::Reset(wire::INTERNAL_ERROR), _) => "internal error",
            (Self::Reset(wire::FLOW_CONTROL_ERROR), _) => "flow-control",
            (Self::Reset(wire::STREAM_CLOSED), _) => "half-closed",
            (Self::Reset(wire::REFUSED_STREAM), _) => "refused stream",
            (Self::Reset(wire::CANCEL), _) => "no longer needed",
            (Self::Reset(wire::ENHANCE_YOUR_CALM), _) => "excessive load",
            (Self::Reset(wire::HTTP_1_1_REQUIRED), _) => "requires HTTP/1.1",
            (Self::Reset(_), _) => "unknown reason",
            (Self::Close | Self::GoAway(_), _) => "broken pipe",
            (Self::Garbage, _) => "invalid size",
        }
    }

    /// Whether the connection goes with the stream.
    fn ends_connection(self, place: Place) -> bool {
        match self {
            Self::Close | Self::GoAway(_) | Self::Disown | Self::Garbage => true,
            // Data before headers is against the rules of HTTP/2.
            Self::End => matches!(place, Place::BeforeHeaders),
            Self::Reset(_) | Self::TrailersWithoutStatus => false,
        }
    }
}

/// Where an answer breaks off.
#[derive(Clone, Copy, Debug)]
enum Place {
    BeforeHeaders,
    /// Behind so many bytes of the body.
    Behind(usize),
}

impl Place {
    async fn begin(self, call: &Call) {
        if let Self::Behind(len) = self {
            call.head().await;
            call.data(&body(call)[..len]).await;
        }
    }

    /// The token that the next call has.
    fn token(self) -> &'static str {
        let Self::Behind(mut left) = self else {
            return "";
        };
        let mut token = "";
        for (part, its) in parts().iter().zip(["a", "", "b", "c", ""]) {
            match left.checked_sub(part.framed().len()) {
                Some(rest) => left = rest,
                None => break,
            }
            if !its.is_empty() {
                token = its;
            }
        }
        token
    }
}

fn len() -> usize {
    parts().iter().map(|part| part.framed().len()).sum()
}

async fn break_everywhere(breaks: &[Break]) {
    for &kind in breaks {
        let place = Arc::new(Mutex::new(Place::BeforeHeaders));
        let its = place.clone();
        let peer = Peer::start(move |call| {
            let place = *its.lock().unwrap();
            async move {
                if call.number == 1 {
                    place.begin(&call).await;
                    kind.happen(&call).await;
                } else {
                    answer(&call).await;
                }
            }
        })
        .await;
        let client = peer.client().await;
        let places = kind.places();
        for &now in &places {
            *place.lock().unwrap() = now;
            let what = format!("{kind:?} {now:?}");
            assert_all(read(&client).await, &what);
            assert_eq!(peer.take_tokens(), ["", now.token()], "{what}");
        }
        let ended = places.iter().filter(|place| kind.ends_connection(**place));
        let connections = 1 + ended.count();
        assert_eq!(peer.connections(), connections, "{kind:?}");
    }
}

#[tokio::test]
async fn streams_that_are_reset() {
    let is_reset = |kind: &Break| matches!(kind, Break::Reset(_));
    let (resets, _): (Vec<_>, Vec<_>) = Break::ALL.into_iter().partition(is_reset);
    break_everywhere(&resets).await;
}

#[tokio::test]
async fn streams_that_end_early() {
    break_everywhere(&[Break::End, Break::TrailersWithoutStatus]).await;
}

#[tokio::test]
async fn connections_that_are_closed() {
    let kinds = [
        Break::Close,
        Break::GoAway(wire::NO_ERROR),
        Break::GoAway(wire::ENHANCE_YOUR_CALM),
    ];
    break_everywhere(&kinds).await;
}

#[tokio::test]
async fn connections_that_go_bad() {
    break_everywhere(&[Break::Disown, Break::Garbage]).await;
}

/// A result that has ended is complete, whatever breaks right behind it.
#[tokio::test]
async fn breaks_behind_the_end() {
    for kind in Break::ALL {
        let peer = Peer::start(move |call| async move {
            answer(&call).await;
            kind.happen(&call).await;
        })
        .await;
        let client = peer.client().await;
        assert_all(read(&client).await, &format!("{kind:?}"));
        assert_eq!(peer.take_tokens(), [""], "{kind:?}");
    }
}

/// TCP itself breaks, and what was sent before may be lost.
#[tokio::test]
async fn connections_that_are_aborted() {
    for at in (0..=len()).step_by(5) {
        let place = Place::Behind(at);
        let peer = Peer::start(move |call| async move {
            if call.number == 1 {
                place.begin(&call).await;
                call.connection.abort().await;
            } else {
                answer(&call).await;
            }
        })
        .await;
        assert_all(read(&peer.client().await).await, &format!("{at} bytes"));
        let tokens = peer.take_tokens();
        assert_eq!((tokens.len(), tokens[0].as_str()), (2, ""));
        assert!(tokens[1].as_str() <= place.token(), "{at}: {tokens:?}");
        assert_eq!(peer.connections(), 2);
    }
}

/// OK is the end between two messages only.
#[tokio::test]
async fn ok_inside_a_message_is_no_end() {
    let all = parts().map(|part| part.framed());
    for message in 0..all.len() {
        let start: usize = all[..message].iter().map(Vec::len).sum();
        for len in [1, 4, 5, 6, all[message].len() - 1] {
            let peer = Peer::start(move |call| async move {
                if call.number == 1 {
                    call.head().await;
                    call.data(&body(&call)[..start + len]).await;
                    call.ok().await;
                } else {
                    answer(&call).await;
                }
            })
            .await;
            let what = format!("{len} bytes of message {message}");
            assert_all(read(&peer.client().await).await, &what);
            let token = Place::Behind(start).token();
            assert_eq!(peer.take_tokens(), ["", token], "{what}");
        }
    }
}

/// One who wants no second attempt gets the rows that a token covers, and is
/// told in the same way whatever happened.
#[tokio::test]
async fn every_break_as_an_error() {
    let places = [Place::BeforeHeaders, Place::Behind(0), Place::Behind(len())];
    for kind in Break::ALL {
        for place in places {
            let peer = Peer::start(move |call| async move {
                place.begin(&call).await;
                kind.happen(&call).await;
            })
            .await;
            let client = peer.builder().retry(never()).connect().await.unwrap();
            let (rows, error) = read(&client).await;
            let what = format!("{kind:?} {place:?}");
            // Rows 0 to 3 are behind tokens; 4 begins before one and ends behind it.
            let covered = if matches!(place, Place::Behind(1..)) {
                4
            } else {
                0
            };
            assert_eq!(rows.len(), covered, "{what}");
            let error = error.expect(&what);
            let ErrorKind::Status { status, attempts } = error.kind() else {
                panic!("{what}: {error:?}");
            };
            assert_eq!((status.code(), *attempts), (Code::Unavailable, 1), "{what}");
            assert!(status.is_transport(), "{what}");
            assert!(status.request_id().is_some(), "{what}");
            assert!(
                status.message().contains(kind.words(place)),
                "{what}: {error}"
            );
        }
    }
}

/// A stream that never gets further is given up, after as many attempts as it may make.
#[tokio::test]
async fn breaks_without_progress() {
    for kind in [Break::Reset(wire::INTERNAL_ERROR), Break::Close, Break::End] {
        let peer = Peer::start(move |call| async move {
            call.head().await;
            let first = Part::first().row(0, "zero").token("a").framed();
            if call.number == 1 {
                call.data(&first).await;
            }
            kind.happen(&call).await;
        })
        .await;
        let settings = at_once().max_attempts(4);
        let client = peer.builder().retry(settings).connect().await.unwrap();
        let mut rows = client.query(SQL).rows::<(i64, String)>().await.unwrap();
        assert_eq!(soon(rows.next()).await.unwrap().unwrap().0, 0);
        let error = soon(rows.next()).await.unwrap_err();
        assert_eq!(error.code(), Code::Unavailable);
        assert!(error.to_string().ends_with("(after 4 attempts)"), "{error}");
        assert!(rows.next().await.unwrap().is_none());
        let tokens = peer.take_tokens();
        assert_eq!(tokens.iter().filter(|token| token.is_empty()).count(), 1);
        // A call on a connection that is being closed may fail before it is sent.
        assert!(tokens[1..].iter().all(|token| token == "a"), "{tokens:?}");
        assert!((2..=4).contains(&tokens.len()), "{tokens:?}");
    }
}
