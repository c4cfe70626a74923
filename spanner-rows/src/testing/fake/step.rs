//! What the server does during one call, step by step.

use std::time::Duration;

use bytes::Bytes;
use prost::Message as _;
use tokio::sync::watch;

use super::failure::Failure;
use super::message::Message;
use super::prepared::framed;
use super::state::now;
use crate::proto::spanner::BatchWriteResponse;

/// One step of a scripted answer.
///
/// A script that runs out ends with the status OK, as if [`End`](Self::End) followed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Send one message of the result.
    Message(Message),
    /// Send one gRPC message with this content as it is, well-formed or not.
    Raw(Bytes),
    /// Send bytes of the response body as they are, without the five bytes of length that gRPC puts before a message. For streams that end inside
    /// a message.
    Unframed(Bytes),
    /// Wait for some time.
    Delay(Duration),
    /// Wait until the test opens the gate.
    Wait(Gate),
    /// End the call with this failure.
    Fail(Failure),
    /// End the call with the status OK.
    End,
    /// End the response body without any status.
    EndWithoutStatus,
    /// Break this call only: RST_STREAM with this HTTP/2 error code (0 NO_ERROR, 2 INTERNAL_ERROR, 7 REFUSED_STREAM, 8 CANCEL, …), once the messages
    /// before it are written. As the first step it comes before the headers of the response.
    Reset(u32),
    /// Announce with GOAWAY that this connection takes no new calls. Calls under way go on.
    GoAway,
    /// Close the TCP connection, and with it all its calls, once the messages before it are written. As the first step it comes before the headers of
    /// the response.
    Disconnect,
    /// Do what the call asks for, and close the TCP connection in place of the answer: the client cannot know whether it was done. Only in what comes
    /// before a call ([`FakeSpanner::before_next`](super::FakeSpanner::before_next), [`before_each`](super::FakeSpanner::before_each)), and only for calls
    /// with one answer, `Commit` for instance; anywhere else it is [`Disconnect`](Self::Disconnect).
    LoseAnswer,
    /// Do nothing more, and do not end either.
    Hang,
}

impl Step {
    /// An answer to a batch write (`google.spanner.v1.BatchWriteResponse`): these of its groups, counted from 0, are committed, now.
    ///
    /// In a request that comes again after a failure, groups are counted among those that it has.
    pub fn committed(groups: impl IntoIterator<Item = i32>) -> Self {
        Self::groups(groups, None)
    }

    /// As [`committed`](Self::committed), of groups that are not: with the reason.
    pub fn not_committed(groups: impl IntoIterator<Item = i32>, failure: Failure) -> Self {
        Self::groups(groups, Some(failure))
    }

    fn groups(groups: impl IntoIterator<Item = i32>, failure: Option<Failure>) -> Self {
        let response = BatchWriteResponse {
            indexes: groups.into_iter().collect(),
            commit_timestamp: failure.is_none().then(now),
            status: Some(failure.map_or_else(Default::default, |it| it.rpc_status())),
        };
        Self::Raw(response.encode_to_vec().into())
    }

    /// The same step with a message turned into the bytes that go out.
    pub(super) fn encoded(self) -> Self {
        match self {
            Self::Message(message) => Self::Unframed(framed(&message.encode())),
            Self::Raw(message) => Self::Unframed(framed(&message)),
            other => other,
        }
    }
}

/// Holds a call back until the test lets it go on.
///
/// ```
/// # async fn example(fake: spanner_rows::testing::FakeSpanner) {
/// use spanner_rows::testing::{Answer, Gate, Message, Step};
///
/// let gate = Gate::new();
/// fake.on_query(
///     "SELECT 1",
///     Answer::script([Step::Message(Message::new()), Step::Wait(gate.clone())]),
/// );
/// // … send the query from another task, then:
/// gate.reached().await;
/// gate.open();
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Gate(watch::Sender<GateState>);

#[derive(Clone, Copy, Debug, Default)]
struct GateState {
    reached: bool,
    open: bool,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self(watch::Sender::new(GateState::default()))
    }

    /// Lets every call pass, those waiting and those to come.
    pub fn open(&self) {
        self.0.send_modify(|state| state.open = true);
    }

    /// Waits until a call has come to the gate.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    pub async fn reached(&self) {
        self.wait_for(|state| state.reached).await;
    }

    /// The call's side.
    pub(super) async fn pass(self) {
        self.0.send_modify(|state| state.reached = true);
        self.wait_for(|state| state.open).await;
    }

    async fn wait_for(&self, condition: impl Fn(&GateState) -> bool) {
        let mut receiver = self.0.subscribe();
        // It fails only when the sender is gone, and `self` is a sender.
        let _ = receiver.wait_for(condition).await;
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}
