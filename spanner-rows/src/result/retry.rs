//! Whether an error is worth another attempt, and when that is made.

use std::time::Duration;

use crate::error::{Code, Status};

/// When a result stream that broke is taken up again, and how much is held back
/// to make that possible.
///
/// The defaults suit reads of any length: every break of a stream that makes
/// progress is repaired, however many there are. "Progress" is a new resume token
/// from the server; the budget below starts afresh with each.
///
/// ```
/// # use std::time::Duration;
/// # use spanner_rows::RetrySettings;
/// let settings = RetrySettings::new()
///     .max_attempts(5)
///     .give_up_after(Duration::from_secs(60));
/// # assert_eq!(settings, settings.clone());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RetrySettings {
    initial_delay: Duration,
    multiplier: f64,
    max_delay: Duration,
    give_up_after: Duration,
    max_attempts: Option<u32>,
    timeout: Option<Duration>,
    idle_limit: Duration,
    hold_bytes: usize,
    hold_messages: usize,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self {
            initial_delay: Duration::from_millis(20),
            multiplier: 1.5,
            max_delay: Duration::from_secs(32),
            give_up_after: Duration::from_secs(10 * 60),
            max_attempts: None,
            timeout: None,
            idle_limit: Duration::from_secs(30 * 60),
            hold_bytes: 128 << 20,
            hold_messages: usize::MAX,
        }
    }
}

impl RetrySettings {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The settings for a caller who would rather see every error: no second attempt.
    ///
    /// One thing is no error of the read: when the session of the client is gone, a read
    /// that has given nothing yet is still sent once more, on a new session.
    #[must_use]
    pub fn never() -> Self {
        Self::default().max_attempts(1)
    }

    /// The longest wait before the first retry without progress. Default: 20 ms.
    ///
    /// Waits are chosen at random between nothing and the longest one ("full
    /// jitter"). A wait that the server asks for (`google.rpc.RetryInfo`)
    /// replaces them.
    #[must_use]
    pub fn initial_delay(mut self, delay: Duration) -> Self {
        self.initial_delay = delay;
        self
    }

    /// By how much the longest wait grows with each retry without progress.
    /// Default: 1.5; less than 1 counts as 1.
    #[must_use]
    pub fn multiplier(mut self, factor: f64) -> Self {
        // Also what is not a number becomes 1.
        self.multiplier = factor.max(1.0);
        self
    }

    /// Where the longest wait stops growing. Default: 32 s.
    #[must_use]
    pub fn max_delay(mut self, delay: Duration) -> Self {
        self.max_delay = delay;
        self
    }

    /// How long to go on trying without progress, counted from the first error
    /// after the last progress. Default: 10 minutes.
    ///
    /// A retry that would have to wait until later than that is not made. A
    /// stream that fails once after hours of silence has its full budget.
    #[must_use]
    pub fn give_up_after(mut self, time: Duration) -> Self {
        self.give_up_after = time;
        self
    }

    /// How many attempts in a row may fail without progress; 1 means no retry.
    /// Default: no such limit.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = Some(attempts);
        self
    }

    /// How long a request may take as a whole, from the moment it is sent to the end of
    /// its result, waits for the session and all retries included. Default: no limit.
    ///
    /// A result that takes longer ends with DEADLINE_EXCEEDED, behind the rows that
    /// are there; the server is told the limit, too (`grpc-timeout`). Time in which
    /// nobody asks for a row counts. A wait that would go beyond the limit is not begun:
    /// the request ends at once, with the same code. What had failed before is
    /// [`Status::cause`]. Prefer it for lookups that must answer in time,
    /// and [`give_up_after`](Self::give_up_after) for long results.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    /// How long to wait for a message before the stream is given up with
    /// DEADLINE_EXCEEDED. Default: 30 minutes.
    #[must_use]
    pub fn idle_limit(mut self, time: Duration) -> Self {
        self.idle_limit = time;
        self
    }

    /// How many bytes of messages are held back while the server sends no resume
    /// token. Default: 128 MiB; 0 holds nothing back.
    ///
    /// Rows are handed out only once a resume token covers them, or at the end of
    /// the result: that is what keeps a repaired stream from repeating rows. When
    /// a result exceeds this limit without a token, rows are handed out anyway,
    /// and a break before the next token is final. In normal service nearly every
    /// message carries a token.
    #[must_use]
    pub fn hold_bytes(mut self, bytes: usize) -> Self {
        self.hold_bytes = bytes;
        self
    }

    /// As [`hold_bytes`](Self::hold_bytes), by the number of messages. Default:
    /// unlimited.
    #[must_use]
    pub fn hold_messages(mut self, messages: usize) -> Self {
        self.hold_messages = messages;
        self
    }

    /// How long whoever waits for messages is to wait for one.
    #[cfg(any(feature = "client", test))]
    pub(crate) const fn idle(&self) -> Duration {
        self.idle_limit
    }

    /// How long the request may take as a whole.
    pub(crate) const fn total(&self) -> Option<Duration> {
        self.timeout
    }

    /// Whether this much may be held back.
    pub(crate) const fn may_hold(&self, bytes: usize, messages: usize) -> bool {
        bytes <= self.hold_bytes && messages <= self.hold_messages
    }

    /// The longest wait before the retry that follows this many failures.
    fn longest_delay(&self, failures: u32) -> Duration {
        let exponent = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
        let seconds = self.initial_delay.as_secs_f64() * self.multiplier.powi(exponent);
        match Duration::try_from_secs_f64(seconds) {
            Ok(delay) => delay.min(self.max_delay),
            // Infinite, or zero times infinity.
            Err(_) => self.max_delay,
        }
    }
}

/// What was spent on retries since the last progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Budget {
    failures: u32,
    /// When the first of the failures was.
    since: Option<Duration>,
    /// There was no time left for the wait before the next attempt.
    out_of_time: bool,
}

impl Budget {
    /// The stream got ahead: everything spent is forgotten.
    pub(crate) fn progress(&mut self) {
        *self = Self::default();
    }

    /// Notes a failure at `now`, counted from the start of the request; answers how long to wait before the next
    /// attempt, or nothing when there is to be none. `random` is used up.
    pub(crate) fn spend(
        &mut self,
        settings: &RetrySettings,
        asked: Option<Duration>,
        now: Duration,
        random: u64,
    ) -> Option<Duration> {
        self.failures = self.failures.saturating_add(1);
        if settings
            .max_attempts
            .is_some_and(|max| self.failures >= max)
        {
            return None;
        }
        let delay = match asked {
            Some(asked) if !asked.is_zero() => asked,
            _ => part(settings.longest_delay(self.failures), random),
        };
        let since = *self.since.get_or_insert(now);
        let resumes_at = now.saturating_add(delay);
        // The limit that comes first is the one that is told.
        let gives_up_at = since.saturating_add(settings.give_up_after);
        self.out_of_time = settings
            .timeout
            .is_some_and(|timeout| resumes_at >= timeout && gives_up_at >= timeout);
        (!self.out_of_time && resumes_at <= gives_up_at).then_some(delay)
    }

    /// Whether it was the time for the whole request that forbade the next attempt.
    pub(crate) const fn is_out_of_time(&self) -> bool {
        self.out_of_time
    }
}

/// The status of a request that took longer than it may, or would with its next attempt.
pub(crate) fn too_late(timeout: Duration) -> Status {
    let text = format!("the request took longer than {timeout:?}, its timeout");
    Status::new(Code::DeadlineExceeded, text)
}

/// A part of `whole`, evenly spread over `random`.
fn part(whole: Duration, random: u64) -> Duration {
    let nanos = whole.as_nanos().min(u128::from(u64::MAX));
    Duration::from_nanos(((nanos * u128::from(random)) >> 64) as u64)
}

/// Texts of statuses with which a broken connection is reported, by servers and
/// proxies and by the client side alike, under a code that says nothing.
const BROKEN_CONNECTION: [&str; 8] = [
    // Proxies and servers.
    "RST_STREAM",
    "Received Rst Stream",
    "Received unexpected EOS on DATA frame from server",
    "HTTP/2 error code: INTERNAL_ERROR",
    "Connection closed with unknown cause",
    "Authentication backend internal server error",
    // The gRPC library of this crate: the body ended without the trailers that
    // end a result, or inside a message. Such a stream is never complete.
    "missing grpc-status trailer",
    "Unexpected EOF decoding stream",
];

/// Whether another attempt may succeed where this one failed.
///
/// What this process decided itself (its own deadline, its own cancellation) is
/// not a failure of the connection; whoever makes the status tells them apart.
pub(crate) fn retryable(status: &Status) -> bool {
    match status.code() {
        Code::Unavailable => true,
        Code::DeadlineExceeded => false,
        _ if status.is_transport() => true,
        // An overloaded server says when to come back. Without that this is a
        // quota, or a message too large to send, which no repetition makes smaller.
        Code::ResourceExhausted => status.retry_delay().is_some(),
        Code::Internal | Code::Unknown => BROKEN_CONNECTION
            .iter()
            .any(|text| status.message().contains(text)),
        _ => false,
    }
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
