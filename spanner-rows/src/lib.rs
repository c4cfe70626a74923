//! Read Google Cloud Spanner at the speed of walking the bytes that arrive.
//!
//! Derive [`SpannerRow`] on a struct and stream rows into it. Text borrows from
//! the receive buffer or is written into strings that every row uses again;
//! nothing is allocated per row, and a borrowed row that is kept too long does
//! not compile.
//!
//! ```no_run
//! use spanner_rows::{Client, SpannerRow};
//!
//! #[derive(SpannerRow)]
//! #[spanner(rename_all = "PascalCase")]
//! struct Singer<'row> {
//!     singer_id: i64,
//!     first_name: &'row str,
//!     last_name: Option<&'row str>,
//! }
//!
//! # async fn example() -> Result<(), spanner_rows::Error> {
//! let client = Client::connect("projects/p/instances/i/databases/d").await?;
//! let mut rows = client
//!     .query("SELECT SingerId, FirstName, LastName FROM Singers WHERE SingerId > @id")
//!     .param("id", 100_i64)
//!     .rows::<Singer>()
//!     .await?;
//! while let Some(singer) = rows.next().await? {
//!     println!("{} {}", singer.singer_id, singer.first_name);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//!
//! * how it is all used: the [`guide`]
//! * rows: [`SpannerRow`] (the derive and the trait), tuples, [`Row`] without a struct
//! * columns: the implementations of [`FromColumn`]; [`Value`] for any type
//! * reading: [`Client`], [`Query`], [`Read`], [`RowStream`], [`RowBatch`]
//! * which state of the database: [`TimestampBound`], [`ReadOnlyTransaction`]
//! * writing: [`Client::write`], [`Mutation`], [`CommitTimestamp`]; [`Client::transaction`], [`Transaction`], [`Dml`]
//! * plans and figures: [`QueryMode`], [`ResultStats`], [`QueryPlan`]
//! * connecting: [`ClientBuilder`], [`TokenSource`]
//! * what can go wrong: [`Error`], [`ErrorDetails`], [`RetrySettings`]
//! * the struct for a table or a statement, written for you: [`Description`]
//! * tests of your own: [`testing`]
//! * what happens while it runs: [`observability`]
//! * another transport: [`RowReader`]
//!
//! # Borrowed or owned
//!
//! The types of the fields decide, no attribute does. A struct whose fields only
//! borrow or are scalars is lent by value; a struct without a lifetime is lent as
//! `&mut` and set in place for every row; a struct with both is lent in a guard
//! ([`Recycled`]). See [`RowStream::next`].
//!
//! # Features
//!
//! | feature | what |
//! |---|---|
//! | `auth` (default) | Application Default Credentials, and credentials of google-cloud-auth |
//! | `client` (default) | [`Client`] and [`RowStream`]: gRPC over tonic, on tokio |
//! | `derive` (default) | `#[derive(SpannerRow)]` |
//! | `jiff` (default) | TIMESTAMP and DATE as types of jiff |
//! | `chrono`, `time` | the same as types of chrono and of time |
//! | `rust_decimal`, `bigdecimal` | NUMERIC as types of these crates |
//! | `uuid` | UUID as `uuid::Uuid` |
//! | `serde` | [`Row`], [`Value`], [`OwnedValue`] and [`Partition`] through serde |
//! | `serde_json` | JSON as `serde_json::Value`, `&RawValue`, or what serde deserialises |
//! | `prost` | PROTO and ENUM as types that prost generates |
//! | `tracing`, `metrics` | [spans, events and counters](observability) |
//! | `testing` | [`testing::FakeSpanner`] and [`testing::Emulator`] |
//!
//! Without default features the crate decodes messages that you bring
//! ([`RowReader`]), and depends on neither tokio nor tonic nor prost.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
mod client;
mod describe;
mod error;
mod error_details;
#[cfg(all(any(doc, doctest), feature = "derive", feature = "testing"))]
#[cfg_attr(docsrs, doc(cfg(all())))]
pub mod guide;
mod observe;
#[cfg(feature = "client")]
mod proto;
mod result;
mod row;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;
#[cfg(feature = "client")]
mod transport;
mod types;
mod wire;

#[cfg(feature = "client")]
pub use client::{
    Client,
    batch_write::{BatchWrite, BatchWriteResult, BatchWriteStream},
    bound::TimestampBound,
    builder::ClientBuilder,
    call_headers::CallHeaders,
    commit::{CommitResult, CommitStats},
    key::{Key, KeyRange},
    mutation::Mutation,
    options::{DirectedReads, LockHint, OrderBy, Priority, QueryMode, ReplicaType, Replicas},
    partition::{Partition, PartitionOptions},
    partition_read::{PartitionBatches, PartitionRead, PartitionedRead},
    partition_text::PartitionFormError,
    partitioned_dml::PartitionedDml,
    query::Query,
    read::Read,
    read_only::{ReadOnlyBuilder, ReadOnlyTransaction},
    transaction::{Transaction, batch::BatchDmlError, dml::Dml, runner::TransactionBuilder},
    write::Write,
    write_settings::{IsolationLevel, ReadLockMode},
};
pub use describe::{Description, Library};
pub use error::{Code, Error, ErrorKind, Status};
pub use error_details::{
    ErrorDetails, ErrorInfo, FieldViolation, HelpLink, LocalizedMessage, OtherDetail,
    PreconditionViolation, QuotaViolation, ResourceInfo,
};
pub use result::batch::{BatchRows, RowBatch};
pub use result::resumer::Retry;
pub use result::retry::RetrySettings;
pub use result::rows::RowReader;
#[cfg(feature = "client")]
pub use result::stream::{OwnedRowStream, RowStream};
pub use row::binder::{BindError, Binder, Problem};
pub use row::binding::Binding;
pub use row::column::{Column, ListReader};
pub use row::dynamic::{ColumnIndex, Row};
pub use row::error::{DecodeError, DecodeErrorKind};
pub use row::mode::{Kept, Mode, Plain, Recycled};
pub use row::traits::{ColumnType, FromColumn, OwnedRow, SpannerRow};
pub use row::value::{OwnedValue, Value, ValueList};
#[cfg(feature = "derive")]
#[cfg_attr(docsrs, doc(cfg(feature = "derive")))]
/// Writes a struct as a row; documented at the trait [`SpannerEncode`](trait@SpannerEncode).
pub use spanner_derive::SpannerEncode;
#[cfg(feature = "derive")]
#[cfg_attr(docsrs, doc(cfg(feature = "derive")))]
#[doc = include_str!("derive_enum.md")]
pub use spanner_derive::SpannerEnum;
#[cfg(feature = "derive")]
#[cfg_attr(docsrs, doc(cfg(feature = "derive")))]
#[doc = include_str!("derive.md")]
pub use spanner_derive::SpannerRow;
#[cfg(feature = "client")]
pub use transport::token::{AccessToken, TokenError, TokenFuture, TokenSource};
pub use types::array::VecSpare;
pub use types::base64::Base64;
pub use types::commit_timestamp::CommitTimestamp;
pub use types::encode::ToColumn;
pub use types::encode_row::SpannerEncode;
pub use types::interval::{Interval, IntervalError};
#[cfg(feature = "serde_json")]
#[cfg_attr(docsrs, doc(cfg(feature = "serde_json")))]
pub use types::json::{BorrowedJson, Json, JsonDocument};
pub use types::list::{List, ListIter};
pub use types::numeric::{Numeric, NumericError};
pub use types::pg_numeric::PgNumeric;
#[cfg(feature = "prost")]
#[cfg_attr(docsrs, doc(cfg(feature = "prost")))]
pub use types::proto::{Proto, ProtoEnum};
pub use types::timestamp::{TimeRangeError, Timestamp};
pub use wire::writer::ListWriter;
pub use wire::{
    Field, IndexAdvice, PlanLink, PlanNode, PlanNodeKind, PlanValue, PrecommitToken, QueryPlan,
    ResultMetadata, ResultStats, RowCount, RowType, ShortRepresentation, Type, TypeAnnotation,
    TypeCode, ValueWriter, WireError, WireErrorKind,
};

#[cfg(feature = "client")]
#[doc = include_str!("observability.md")]
pub mod observability {}

/// What generated code uses; not part of the promise of this crate.
#[doc(hidden)]
pub mod __private {
    pub use crate::row::adapt::{
        Defaulted, Flatten, OwnedColumn, OwnedFlattened, bind, owned_column, owned_row,
        unknown_variant,
    };
    pub use crate::row::binder::BindField;
    pub use crate::row::cursor::RowCursor;
    pub use crate::row::json::{JsonEncode, JsonField};
    pub use crate::row::mode::{Choice, Home, If, Or};
    pub use crate::row::spec::ColumnSpec;
    pub use crate::types::encode_row::{
        Columns, EncodeFlattened, encoded_type, prefixed, push_column, struct_type, write_column,
        write_struct,
    };
    pub use core;
}
