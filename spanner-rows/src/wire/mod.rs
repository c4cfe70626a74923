//! The protobuf wire format, read by hand: what a message holds, without
//! building a tree of values.
//!
//! Nothing here knows about Rust structs, tasks or sockets.

pub(crate) mod base64;
pub(crate) mod error;
pub(crate) mod message;
pub(crate) mod metadata;
pub(crate) mod plan;
pub(crate) mod reader;
pub(crate) mod row_type;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod stats;
pub(crate) mod utf8;
pub(crate) mod value;
pub(crate) mod writer;

pub use error::{WireError, WireErrorKind};
pub use metadata::{PrecommitToken, ResultMetadata};
pub use plan::{
    IndexAdvice, PlanLink, PlanNode, PlanNodeKind, PlanValue, QueryPlan, ShortRepresentation,
};
pub use row_type::{Field, RowType, Type, TypeAnnotation, TypeCode};
pub use stats::{ResultStats, RowCount};
pub use writer::ValueWriter;
