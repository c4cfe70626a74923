//! Which state of the database a read sees.

use std::fmt;
use std::time::Duration;

use super::request::{integer_tag, put_integer, tag};
use crate::error::Error;
use crate::types::timestamp::Timestamp;
use crate::wire::writer::with_length;

/// Fields of `google.spanner.v1.TransactionOptions.ReadOnly`.
const STRONG: u8 = integer_tag(1);
const MIN_READ_TIMESTAMP: u8 = tag(2);
const MAX_STALENESS: u8 = tag(3);
const READ_TIMESTAMP: u8 = tag(4);
const EXACT_STALENESS: u8 = tag(5);
const RETURN_READ_TIMESTAMP: u8 = integer_tag(6);

/// Field `read_only` of `google.spanner.v1.TransactionOptions`.
const READ_ONLY: u8 = tag(2);

/// Fields of `google.protobuf.Timestamp` and `google.protobuf.Duration` alike.
const SECONDS: u8 = 1;
const NANOSECONDS: u8 = 2;

/// The longest time that `google.protobuf.Duration` allows: about 10,000 years.
const LONGEST: Duration = Duration::from_secs(315_576_000_000);

/// Which state of the database a read sees
/// (`google.spanner.v1.TransactionOptions.ReadOnly`).
///
/// A strong read sees everything committed before it. One that may be stale can be
/// answered by the nearest replica without asking a leader. The point in time that
/// was read is told by [`RowStream::read_timestamp`](crate::RowStream::read_timestamp).
///
/// Old states are kept for the version retention period of the database, an hour
/// unless it is set otherwise; before that a read fails with FAILED_PRECONDITION.
///
/// ```no_run
/// # async fn example(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
/// use std::time::Duration;
/// use spanner_rows::TimestampBound;
///
/// let (count,): (i64,) = client
///     .query("SELECT COUNT(*) FROM Singers")
///     .timestamp_bound(TimestampBound::MaxStaleness(Duration::from_secs(15)))
///     .one()
///     .await?;
/// # let _ = count;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimestampBound {
    /// Everything committed before the read began (`strong`).
    #[default]
    Strong,
    /// The state at this time (`read_timestamp`). A time in the future is waited for.
    ReadTimestamp(Timestamp),
    /// The state this long ago (`exact_staleness`), to the nanosecond; at most 10,000 years.
    ExactStaleness(Duration),
    /// The state at this time or a later one, which the server chooses
    /// (`min_read_timestamp`). Only for a query or read outside of a transaction.
    MinReadTimestamp(Timestamp),
    /// The state this long ago or a later one, which the server chooses
    /// (`max_staleness`); at most 10,000 years. Only for a query or read outside of a
    /// transaction.
    MaxStaleness(Duration),
}

impl TimestampBound {
    /// Whether the server chooses the time, which it does for single reads only.
    pub(super) const fn is_single_use(self) -> bool {
        matches!(self, Self::MinReadTimestamp(_) | Self::MaxStaleness(_))
    }

    /// Says what is wrong with the bound.
    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Self::ExactStaleness(staleness) | Self::MaxStaleness(staleness)
                if staleness > LONGEST =>
            {
                Err(Error::config(format!(
                    "a staleness of {} seconds is longer than the 10,000 years that can be sent",
                    staleness.as_secs()
                )))
            }
            _ => Ok(()),
        }
    }

    /// Appends the content of a `TransactionOptions` message: read-only, with the
    /// read timestamp returned.
    pub(super) fn encode_options(self, out: &mut Vec<u8>) {
        out.push(READ_ONLY);
        with_length(out, |out| {
            match self {
                Self::Strong => out.extend_from_slice(&[STRONG, 1]),
                Self::ReadTimestamp(time) => put_timestamp(out, READ_TIMESTAMP, time),
                Self::MinReadTimestamp(time) => put_timestamp(out, MIN_READ_TIMESTAMP, time),
                Self::ExactStaleness(time) => put_duration(out, EXACT_STALENESS, time),
                Self::MaxStaleness(time) => put_duration(out, MAX_STALENESS, time),
            }
            out.extend_from_slice(&[RETURN_READ_TIMESTAMP, 1]);
        });
    }
}

impl fmt::Display for TimestampBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Strong => f.write_str("strong"),
            Self::ReadTimestamp(time) => write!(f, "at {time}"),
            Self::ExactStaleness(time) => write!(f, "{time:?} ago"),
            Self::MinReadTimestamp(time) => write!(f, "at {time} or later"),
            Self::MaxStaleness(time) => write!(f, "{time:?} ago or later"),
        }
    }
}

fn put_timestamp(out: &mut Vec<u8>, tag: u8, time: Timestamp) {
    // Before 1970 the number is negative: the ten bytes of its two's complement.
    put_time(out, tag, time.seconds() as u64, time.nanoseconds());
}

fn put_duration(out: &mut Vec<u8>, tag: u8, time: Duration) {
    put_time(out, tag, time.as_secs(), time.subsec_nanos());
}

fn put_time(out: &mut Vec<u8>, tag: u8, seconds: u64, nanoseconds: u32) {
    out.push(tag);
    with_length(out, |out| {
        put_integer(out, SECONDS, seconds);
        put_integer(out, NANOSECONDS, u64::from(nanoseconds));
    });
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;
    use crate::proto::spanner::TransactionOptions;
    use crate::proto::spanner::transaction_options::read_only::TimestampBound as Sent;
    use crate::proto::spanner::transaction_options::{Mode, ReadOnly};

    fn options(bound: TimestampBound) -> TransactionOptions {
        let mut out = Vec::new();
        bound.encode_options(&mut out);
        TransactionOptions::decode(&*out).unwrap()
    }

    fn expected(bound: Sent) -> TransactionOptions {
        let read_only = ReadOnly {
            timestamp_bound: Some(bound),
            return_read_timestamp: true,
        };
        TransactionOptions {
            mode: Some(Mode::ReadOnly(read_only)),
            ..Default::default()
        }
    }

    #[test]
    fn each_bound_is_sent_as_itself() {
        assert_eq!(
            options(TimestampBound::default()),
            expected(Sent::Strong(true))
        );
        for (seconds, nanos) in [(0, 0), (1, 0), (0, 1), (-1, 999_999_999), (1 << 40, 7)] {
            let Some(time) = Timestamp::new(seconds, nanos) else {
                continue;
            };
            let sent = prost_types::Timestamp {
                seconds,
                nanos: nanos as i32,
            };
            assert_eq!(
                options(TimestampBound::ReadTimestamp(time)),
                expected(Sent::ReadTimestamp(sent))
            );
            assert_eq!(
                options(TimestampBound::MinReadTimestamp(time)),
                expected(Sent::MinReadTimestamp(sent))
            );
        }
        for time in [Duration::ZERO, Duration::new(1, 1), LONGEST] {
            let sent = prost_types::Duration {
                seconds: time.as_secs() as i64,
                nanos: time.subsec_nanos() as i32,
            };
            assert_eq!(
                options(TimestampBound::ExactStaleness(time)),
                expected(Sent::ExactStaleness(sent))
            );
            assert_eq!(
                options(TimestampBound::MaxStaleness(time)),
                expected(Sent::MaxStaleness(sent))
            );
        }
    }

    #[test]
    fn a_staleness_that_cannot_be_sent_is_refused() {
        let longer = LONGEST + Duration::from_nanos(1);
        for bound in [
            TimestampBound::ExactStaleness(longer),
            TimestampBound::MaxStaleness(Duration::MAX),
        ] {
            let error = bound.check().unwrap_err().to_string();
            assert!(error.contains("10,000 years"), "{error}");
        }
        TimestampBound::MaxStaleness(LONGEST).check().unwrap();
    }
}
