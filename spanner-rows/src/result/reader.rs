//! The reader of a result: messages and failures in, rows and decisions out.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use super::assembler::{Assembler, Batch, Spares, no_metadata};
use super::resumer::{Resumer, Retry};
use super::retry::{RetrySettings, too_late};
use crate::error::{Error, Status};
use crate::observe::Tally;
use crate::row::segment::Segment;
use crate::types::timestamp::Timestamp;
use crate::wire::RowType;
use crate::wire::message::{Layout, Message};
use crate::wire::metadata::{PrecommitToken, ResultMetadata};
use crate::wire::stats::ResultStats;

/// Reads one result, over as many attempts as it takes.
///
/// Whoever owns the connection calls
/// * [`receive`](Self::receive) with each message,
/// * [`end`](Self::end) when the stream ended with OK,
/// * [`fail`](Self::fail) when it ended with anything else, also when it could not be
///   opened; the answer says whether and when to open it again,
///
/// and after each of them [`pop`](Self::pop) until it has nothing more. All rows and
/// all errors come out of `pop`, errors behind the rows that came before them. When
/// [`is_finished`](Self::is_finished) says so, nothing more need be received.
///
/// Everything that is to outlive a cancelled call lives here.
#[derive(Debug, Default)]
pub(crate) struct ResultReader {
    settings: RetrySettings,
    expects_transaction_id: bool,
    resumer: Resumer,
    assembler: Assembler,
    /// Where the messages received, released or not, leave the rows.
    layout: Layout,
    /// The columns as received, which a restart may still change.
    received: Option<RowType>,
    /// Rows released and not handed out.
    ready: VecDeque<Batch>,
    /// Comes behind those.
    error: Option<Error>,
    /// The end is the result's, not that of an error.
    complete: bool,
    /// The server said that no message follows.
    last_seen: bool,
    tally: Tally,
    spares: Spares,
}

impl ResultReader {
    /// A reader of a result that nothing is known of.
    pub(crate) fn new(settings: RetrySettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The request begins a transaction: the first message must bring its id.
    pub(crate) fn expecting_transaction_id(mut self) -> Self {
        self.expects_transaction_id = true;
        self
    }

    /// Takes in a message. Messages after the end are ignored.
    pub(crate) fn receive(&mut self, message: Bytes) {
        if self.is_finished() {
            return;
        }
        match self.read(message) {
            Ok(message) => {
                self.last_seen = message.last;
                if self.resumer.receive(message, &self.settings) {
                    self.release();
                }
            }
            Err(error) => self.stop(error),
        }
        if self.last_seen {
            self.complete();
        }
    }

    /// Walks a message and takes note of where it leaves the rows.
    fn read(&mut self, message: Bytes) -> Result<Message, Error> {
        let message = Message::parse(message, self.layout, self.spares.take_for_message())?;
        if message.before.columns.is_none() {
            return Err(no_metadata());
        }
        let metadata = message.metadata.as_ref();
        if self.expects_transaction_id
            && self.resumer.transaction_id().is_empty()
            && metadata.is_none_or(|metadata| metadata.transaction_id().is_empty())
        {
            return Err(Error::protocol(
                "no transaction returned: the request began one, and the first message has no id",
            ));
        }
        if self.received.is_none() {
            self.received = metadata.map(|metadata| metadata.row_type().clone());
        }
        self.layout = message.after;
        Ok(message)
    }

    fn release(&mut self) {
        while let Some(message) = self.resumer.released() {
            match self.assembler.take(message, &mut self.spares) {
                Ok(batch) if batch.is_empty() => {}
                Ok(batch) => {
                    self.tally.add(batch.len());
                    self.ready.push_back(batch);
                }
                Err(error) => return self.stop(error),
            }
        }
    }

    /// The stream ended with OK.
    pub(crate) fn end(&mut self) {
        if !self.is_finished() {
            self.resumer.finish();
            self.release();
            self.complete();
        }
    }

    fn complete(&mut self) {
        if self.error.is_none() {
            match self.assembler.end() {
                Ok(()) => self.complete = true,
                Err(error) => self.stop(error),
            }
        }
    }

    /// Ends the result with an error. Rows released before it are still handed out.
    fn stop(&mut self, error: Error) {
        self.resumer.stop();
        self.error = Some(error);
    }

    /// The stream ended with a status other than OK, or was not opened at all.
    /// `now` is the time since the request was first sent, `random` evenly spread over all numbers.
    ///
    /// Answers the next attempt; nothing when there is to be none, because the
    /// result was complete or because `pop` has the error.
    #[must_use]
    pub(crate) fn fail(&mut self, status: Status, now: Duration, random: u64) -> Option<Retry> {
        if self.is_finished() {
            return None;
        }
        let attempt = self.resumer.attempt();
        let retry = self.resumer.fail(&status, &self.settings, now, random);
        if retry.is_none() {
            let status = match self.settings.total() {
                Some(timeout) if self.resumer.is_out_of_time() => {
                    too_late(timeout).with_cause(Some(status))
                }
                _ => status,
            };
            self.stop(Error::status(status, attempt));
        }
        self.forget_held();
        retry
    }

    /// The session of the request is gone, and the request can be sent on another
    /// one. Answers the next attempt; nothing when the result cannot start over,
    /// and is then to [`fail`](Self::fail).
    #[cfg(any(feature = "client", test))]
    #[must_use]
    pub(crate) fn start_over(&mut self) -> Option<Retry> {
        let retry = self.resumer.start_over()?;
        self.forget_held();
        Some(retry)
    }

    /// What was received and not released is gone.
    fn forget_held(&mut self) {
        self.layout = self.assembler.layout();
        self.received = self.row_type().cloned();
    }

    /// Takes the next rows out, at least one; nothing when there are none for now,
    /// or, once [`is_finished`](Self::is_finished), for ever.
    ///
    /// # Errors
    ///
    /// What ended the result; once, behind the last rows.
    pub(crate) fn pop(&mut self) -> Result<Option<Batch>, Error> {
        match self.ready.pop_front() {
            Some(batch) => Ok(Some(batch)),
            None => self.error.take().map_or(Ok(None), Err),
        }
    }

    /// Ends the result without a word: what there was to say has been said.
    pub(crate) fn abandon(&mut self) {
        self.resumer.stop();
        self.ready.clear();
        self.error = None;
    }

    /// Takes rows back that are done with, to use their tables again.
    pub(crate) fn recycle(&mut self, rows: Segment) {
        self.spares.put_segment(rows);
    }

    /// Whether nothing more is to be received: the result is complete, or failed.
    /// There may still be something to [`pop`](Self::pop).
    pub(crate) const fn is_finished(&self) -> bool {
        self.resumer.is_finished()
    }

    /// Whether the server said that no message follows: the stream is then to be
    /// read to its end nevertheless, so that it is not reset.
    #[cfg(any(feature = "client", test))]
    pub(crate) const fn saw_last(&self) -> bool {
        self.last_seen
    }

    /// The columns according to what was received. Known after the first message
    /// that was taken in; a restart before anything was released forgets them and
    /// may bring others.
    pub(crate) const fn received_row_type(&self) -> Option<&RowType> {
        self.received.as_ref()
    }

    /// The columns of the rows that [`pop`](Self::pop) hands out. Known, and never
    /// changed, from the first release on.
    pub(crate) fn row_type(&self) -> Option<&RowType> {
        self.metadata().map(ResultMetadata::row_type)
    }

    /// The metadata of the result; nothing before the first release.
    pub(crate) const fn metadata(&self) -> Option<&ResultMetadata> {
        self.assembler.metadata()
    }

    /// The point in time that the rows show; nothing before the first release.
    pub(crate) fn read_timestamp(&self) -> Option<Timestamp> {
        self.metadata()?.read_timestamp()
    }

    /// The statistics of the result; nothing before its end.
    pub(crate) fn stats(&self) -> Option<&ResultStats> {
        self.assembler.stats().filter(|_| self.complete)
    }

    /// The transaction that the request began, as soon as it is received; a
    /// request that is repeated then names it instead of beginning another.
    pub(crate) fn transaction_id(&self) -> Option<&Bytes> {
        let id = self.resumer.transaction_id();
        (!id.is_empty()).then_some(id)
    }

    /// The precommit token with the highest number received.
    pub(crate) const fn precommit_token(&self) -> Option<&PrecommitToken> {
        self.resumer.precommit()
    }

    /// The number of the current attempt, from 1.
    #[cfg(any(feature = "client", test))]
    pub(crate) const fn attempt(&self) -> u32 {
        self.resumer.attempt()
    }

    /// The memory of the messages that are held back.
    pub(crate) const fn held_bytes(&self) -> usize {
        self.resumer.held_bytes()
    }

    /// How many rows were released, where anybody is told.
    #[cfg(feature = "client")]
    pub(crate) const fn tally(&self) -> Tally {
        self.tally
    }

    /// What ended the result, until [`pop`](Self::pop) has told it.
    #[cfg(feature = "client")]
    pub(crate) const fn stopped_by(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// What the result was made with.
    #[cfg(feature = "client")]
    pub(crate) const fn settings(&self) -> &RetrySettings {
        &self.settings
    }
}
