//! What is released when, and what a broken stream is taken up again with.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use super::retry::{Budget, RetrySettings, retryable};
use crate::error::Status;
use crate::wire::message::Message;
use crate::wire::metadata::PrecommitToken;

/// Holds messages back until a resume token covers them.
///
/// Rows that were handed out must never come again, and a broken stream starts
/// again behind the last token: so what came after that token has to wait, and
/// is dropped when the stream breaks.
#[derive(Debug, Default)]
pub(crate) struct Resumer {
    /// The last token received; empty for none, which means from the start.
    token: Vec<u8>,
    /// Received and not released, in order.
    held: VecDeque<Message>,
    /// The memory of those.
    held_bytes: usize,
    /// Whether something was released that `token` does not cover. The stream
    /// cannot be taken up again until the next token.
    uncovered: bool,
    finished: bool,
    budget: Budget,
    /// How many times the request was repeated.
    retries: u32,
    transaction_id: Bytes,
    precommit: Option<PrecommitToken>,
}

/// Room for this many held messages is kept; more of it is given back.
const KEPT_CAPACITY: usize = 16;

/// The next attempt of a request, as [`RowReader::fail`](crate::RowReader::fail) asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// How long to wait before.
    pub after: Duration,
    /// Goes into the request (`ExecuteSqlRequest.resume_token`,
    /// `ReadRequest.resume_token`), all else of which stays the same; empty to start over.
    pub resume_token: Bytes,
    /// The number of the attempt; the first one, which failed, was 1.
    pub attempt: u32,
}

impl Resumer {
    /// Takes in a message; answers whether all that is held is released by it.
    pub(crate) fn receive(&mut self, mut message: Message, settings: &RetrySettings) -> bool {
        self.note_control(&mut message);
        let last = message.last;
        // The same token again is no new point to start from: what lies between
        // would come twice.
        let progress = !message.resume_token.is_empty() && message.resume_token != self.token;
        if progress {
            // Copied, because a slice would keep the whole message.
            self.token.clear();
            self.token.extend_from_slice(&message.resume_token);
            self.uncovered = false;
            self.budget.progress();
        }
        message.resume_token = Bytes::new();
        self.held_bytes = self.held_bytes.saturating_add(message.held_len());
        self.held.push_back(message);
        if last {
            self.finished = true;
        } else if !progress && !self.uncovered {
            self.uncovered = !settings.may_hold(self.held_bytes, self.held.len());
            return self.uncovered;
        }
        true
    }

    /// What counts as soon as it is received, even of a message that is dropped
    /// later.
    fn note_control(&mut self, message: &mut Message) {
        if let Some(metadata) = &message.metadata {
            if self.transaction_id.is_empty() {
                self.transaction_id = metadata.transaction_id().clone();
            }
            if let Some(token) = metadata.precommit() {
                self.note_precommit(token.clone());
            }
        }
        if let Some(token) = message.precommit.take() {
            self.note_precommit(token);
        }
    }

    fn note_precommit(&mut self, token: PrecommitToken) {
        if self
            .precommit
            .as_ref()
            .is_none_or(|known| known.seq_num < token.seq_num)
        {
            self.precommit = Some(token);
        }
    }

    /// Takes the next released message; to be called when [`receive`](Self::receive)
    /// or [`finish`](Self::finish) released them, until there is none.
    pub(crate) fn released(&mut self) -> Option<Message> {
        let message = self.held.pop_front();
        match &message {
            Some(message) => {
                self.held_bytes = self.held_bytes.saturating_sub(message.held_len());
            }
            None => self.held.shrink_to(KEPT_CAPACITY),
        }
        message
    }

    /// The stream ended well: everything held is released.
    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }

    /// Nothing more is to be received or released.
    pub(crate) fn stop(&mut self) {
        self.finished = true;
        self.drop_held();
    }

    /// The stream broke. Answers the next attempt, or nothing if there is to be
    /// none. Either way nothing that is held is ever released.
    pub(crate) fn fail(
        &mut self,
        status: &Status,
        settings: &RetrySettings,
        now: Duration,
        random: u64,
    ) -> Option<Retry> {
        self.drop_held();
        let delay = if self.finished || self.uncovered || !retryable(status) {
            None
        } else {
            self.budget
                .spend(settings, status.retry_delay(), now, random)
        };
        let Some(after) = delay else {
            self.finished = true;
            return None;
        };
        Some(self.retry(after))
    }

    /// Whether there is no other attempt because there is no time for it.
    pub(crate) const fn is_out_of_time(&self) -> bool {
        self.budget.is_out_of_time()
    }

    /// The session of the request is gone, and it can be sent on another one.
    /// Answers the next attempt if it may start over there: tokens belong to their
    /// session, so nothing may have been released and no token received.
    #[cfg(any(feature = "client", test))]
    pub(crate) fn start_over(&mut self) -> Option<Retry> {
        if self.finished || self.uncovered || !self.token.is_empty() {
            return None;
        }
        self.drop_held();
        Some(self.retry(Duration::ZERO))
    }

    fn retry(&mut self, after: Duration) -> Retry {
        self.retries = self.retries.saturating_add(1);
        Retry {
            after,
            resume_token: self.resume_token(),
            attempt: self.attempt(),
        }
    }

    fn drop_held(&mut self) {
        self.held.clear();
        self.held.shrink_to(KEPT_CAPACITY);
        self.held_bytes = 0;
    }

    /// Whether messages are no longer looked at.
    pub(crate) const fn is_finished(&self) -> bool {
        self.finished
    }

    /// The number of the current attempt, from 1.
    pub(crate) const fn attempt(&self) -> u32 {
        self.retries.saturating_add(1)
    }

    /// What the request carries when the stream is opened now.
    pub(crate) fn resume_token(&self) -> Bytes {
        Bytes::copy_from_slice(&self.token)
    }

    /// The transaction that the request began; empty if none is known.
    pub(crate) const fn transaction_id(&self) -> &Bytes {
        &self.transaction_id
    }

    /// The precommit token with the highest number.
    pub(crate) const fn precommit(&self) -> Option<&PrecommitToken> {
        self.precommit.as_ref()
    }

    /// The memory of what is held back.
    pub(crate) const fn held_bytes(&self) -> usize {
        self.held_bytes
    }
}
