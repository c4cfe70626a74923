//! Columns of a result that no field reads.

use crate::row::binding::Binding;
use crate::wire::RowType;

/// Tells which columns of the result the row has no field for: they are sent and passed over
/// for every row. Once for each result, and again when its columns change.
#[cfg(feature = "tracing")]
pub(crate) fn tell_unread_columns(row: &'static str, binding: &Binding, row_type: &RowType) {
    if !tracing::enabled!(target: "spanner_rows", tracing::Level::DEBUG) {
        return;
    }
    let read = binding.columns_read();
    let fields = (0_u32..).zip(row_type.fields());
    let unread: Vec<_> = fields
        .filter(|(position, _)| !read.contains(position))
        .map(|(_, field)| field.name())
        .collect();
    if !unread.is_empty() {
        let columns = unread.join(", ");
        tracing::event!(
            target: "spanner_rows",
            tracing::Level::DEBUG,
            row,
            columns,
            "columns are sent that the row does not read"
        );
    }
}

#[cfg(not(feature = "tracing"))]
#[inline(always)]
pub(crate) const fn tell_unread_columns(_: &'static str, _: &Binding, _: &RowType) {}
