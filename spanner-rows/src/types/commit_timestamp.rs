//! The time of a commit, before there is one.

use super::encode::ToColumn;
use crate::wire::{Type, TypeCode, ValueWriter};

/// What the server puts in place of a [`CommitTimestamp`].
const PLACEHOLDER: &str = "spanner.commit_timestamp()";

/// The time of the commit, which the server fills in: for TIMESTAMP columns with the option
/// `allow_commit_timestamp = true`.
///
/// The server takes it in [mutations](crate::Mutation) only; in DML call the SQL function
/// `PENDING_COMMIT_TIMESTAMP()`.
///
/// ```
/// use spanner_rows::{CommitTimestamp, Mutation};
///
/// let mutation = Mutation::insert("Events")
///     .set("Id", 1_i64)
///     .set("HappenedAt", CommitTimestamp);
/// # let _ = mutation;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommitTimestamp;

impl ToColumn for CommitTimestamp {
    fn column_type() -> Type {
        Type::new(TypeCode::Timestamp)
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.string(PLACEHOLDER);
    }
}
