//! The traits between generated code, column types and the streams.

use std::convert::Infallible;
use std::fmt::Display;

use super::adapt::Defaulted;
use super::binder::{BindField, Binder};
use super::binding::Binding;
use super::column::Column;
use super::cursor::RowCursor;
use super::error::DecodeError;
use super::mode::Mode;
use super::spec::ColumnSpec;
use crate::wire::{RowType, Type};

/// A row of a result: a struct with `#[derive(SpannerRow)]`, a tuple of column
/// types, or [`Row`](crate::Row) when there is no struct.
///
/// The trait is implemented by the derive and by this crate only.
///
/// Columns are bound once per result set ([`bind`](Self::bind)): names become
/// positions and types are compared. Decoding a row then reads by position.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Spanner row",
    label = "not a row",
    note = "add `#[derive(SpannerRow)]` to a struct, or use a tuple of column types such as `(i64, String)`; a field that reads one column has no `flatten`"
)]
pub trait SpannerRow {
    /// The columns that the row reads, as a tree.
    const COLUMNS: &'static [ColumnSpec];
    /// The row with the lifetime of the buffers it borrows from.
    type Row<'row>: Send;
    /// What a stream lends: the row, a guard around it, or a reference to it.
    type Lent<'row>: Send;
    /// Memory that is left of a row and that the next row can use.
    type Spare: Default + Send + 'static;
    /// What a stream keeps between rows.
    type Home: Default + Send + 'static;
    /// [`Kept`](crate::Kept) when `Spare` is worth keeping, else [`Plain`](crate::Plain).
    type Mode: Mode;

    /// As [`ColumnType::KEPT`].
    #[doc(hidden)]
    const KEPT: bool = <Self::Mode as Mode>::KEPT;

    /// Matches the columns of a result (or the fields of a STRUCT) with those
    /// of the row. Problems go to the binder, all of them.
    #[doc(hidden)]
    fn bind(row_type: &RowType, binder: &mut Binder<'_>) -> Binding;

    /// Reads a fresh row, which may take memory from `spare`.
    #[doc(hidden)]
    fn decode<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<Self::Row<'row>, DecodeError>;

    /// Reads a row over an earlier one. After an error the row holds fields of
    /// both and must not be shown.
    #[doc(hidden)]
    fn update<'row>(
        row: &mut Self::Row<'row>,
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<(), DecodeError> {
        let fresh = Self::decode(cursor, spare)?;
        Self::recycle(std::mem::replace(row, fresh), spare);
        Ok(())
    }

    /// Puts the memory of a row that is no longer needed into `spare`.
    #[doc(hidden)]
    fn recycle(row: Self::Row<'_>, spare: &mut Self::Spare);

    /// Reads the next row of a stream into what the stream keeps, and lends it.
    #[doc(hidden)]
    fn lend<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        home: &'row mut Self::Home,
    ) -> Result<Self::Lent<'row>, DecodeError>;
}

/// A row that borrows nothing, so that it can be kept, collected and sent.
///
/// Every struct without a lifetime that derives [`SpannerRow`] has it, and every
/// tuple of such column types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be handed out alone: it borrows from the buffer of the result, or is no row",
    label = "not a row that owns its data",
    note = "a row with a lifetime: use a struct without one, or `one_batch()` / `next_batch()`, which keep the buffer with the rows",
    note = "no row yet: add `#[derive(SpannerRow)]` to the struct, or use a tuple of column types such as `(i64, String)`"
)]
pub trait OwnedRow: for<'row> SpannerRow<Row<'row> = Self> + Sized + Send + 'static {}

/// The half of a column type that does not depend on the row's lifetime.
///
/// A type of your own says here what it leaves behind; the reading is in
/// [`FromColumn`]. For a type that owns nothing worth keeping:
///
/// ```
/// use spanner_rows::{Binder, Binding, Column, ColumnType, DecodeError, FromColumn, Plain, Type};
///
/// struct Celsius(f64);
///
/// impl ColumnType for Celsius {
///     type Spare = ();
///     type Mode = Plain;
///     type Static = Self;
///     type At<'row> = Self;
/// }
///
/// impl FromColumn<'_> for Celsius {
///     fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
///         <f64 as FromColumn<'_>>::bind(ty, binder)
///     }
///     fn read(column: Column<'_, '_>, spare: &mut ()) -> Result<Self, DecodeError> {
///         f64::read(column, spare).map(Celsius)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a Spanner column",
    label = "not a column type",
    note = "columns are read into bool, i64, f64, f32, text (`&str`, `Cow<str>`, `String`, `Box<str>`, `Arc<str>`), bytes (`&[u8]`, `Cow<[u8]>`, `Vec<u8>`, `Bytes`, `[u8; N]`), `Numeric`, `Timestamp`, `Interval`, `Value`, `Option`, `Vec` and `List` of these, and derived rows and tuples for STRUCT",
    note = "types of other crates need a feature of spanner-rows: `jiff`, `chrono`, `time`, `rust_decimal`, `bigdecimal`, `uuid`, `serde_json` or `prost`",
    note = "to convert from a column type, put `#[spanner(try_from = \"i64\")]` on the field; for a row whose columns stand among these, `#[spanner(flatten)]`",
    note = "for an enum `#[derive(SpannerEnum)]`; for another type of your own implement `ColumnType` and `FromColumn`"
)]
pub trait ColumnType {
    /// Memory that is left of a value and that the next value can use; `()` when there is none.
    type Spare: Default + Send + 'static;
    /// [`Kept`](crate::Kept) when `Spare` is worth keeping, else [`Plain`](crate::Plain).
    type Mode: Mode;
    /// The type with `'static` in place of its lifetime; the type itself when it has none.
    /// It names the memory of an emptied `Vec`, nothing is ever stored in it.
    type Static: Send + 'static;
    /// The type with `'row` in place of its lifetime; the type itself when it has none.
    type At<'row>: FromColumn<'row> + ColumnType<Spare = Self::Spare, Static = Self::Static>;

    // What the derive asks of the type of a field. It asks all of this trait,
    // so that the compiler says the same, and thus once, wherever a type that
    // lacks it stands in generated code.

    // Types around others take theirs from those: a constant that depends on one in
    // error is not told of, a type that depends on it is.
    #[doc(hidden)]
    const KEPT: bool = <Self::Mode as Mode>::KEPT;

    /// For the type of a field that is converted into another one: nothing is
    /// kept, but the type has to be a column type.
    #[doc(hidden)]
    const CONVERTED: bool = false;

    #[doc(hidden)]
    fn spare_field() -> Self::Spare {
        Self::Spare::default()
    }

    #[doc(hidden)]
    fn bind_field() -> BindField {
        BindField::Column(<Self::At<'static> as FromColumn<'static>>::bind)
    }

    #[doc(hidden)]
    #[inline(always)]
    fn read_field<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<Self::At<'row>, DecodeError> {
        cursor.read(spare)
    }

    #[doc(hidden)]
    #[inline(always)]
    fn set_field<'row>(
        field: &mut Self::At<'row>,
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<(), DecodeError> {
        cursor.set(field, spare)
    }

    #[doc(hidden)]
    #[inline(always)]
    fn recycle_field<'row>(field: Self::At<'row>, spare: &mut Self::Spare) {
        field.recycle(spare);
    }

    // Of the one field of a transparent struct or of a variant.

    #[doc(hidden)]
    fn bind_column(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        <Self::At<'static> as FromColumn<'static>>::bind(ty, binder)
    }

    #[doc(hidden)]
    #[inline(always)]
    fn read_column<'row>(
        column: Column<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<Self::At<'row>, DecodeError> {
        Self::At::read(column, spare)
    }

    #[doc(hidden)]
    fn read_fresh<'row>(column: Column<'_, 'row>) -> Result<Self::At<'row>, DecodeError> {
        Self::At::read(column, &mut Self::Spare::default())
    }

    #[doc(hidden)]
    #[inline(always)]
    fn set_column<'row>(
        field: &mut Self::At<'row>,
        column: Column<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<(), DecodeError> {
        field.set(column, spare)
    }

    // Of the type of a field that holds a default where its column is NULL.

    #[doc(hidden)]
    fn spare_default() -> Defaulted<Self::Spare> {
        Defaulted::default()
    }

    #[doc(hidden)]
    #[inline(always)]
    fn read_default<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Defaulted<Self::Spare>,
    ) -> Result<Self::At<'row>, DecodeError> {
        spare.read(|spare| cursor.read(spare))
    }

    #[doc(hidden)]
    #[inline(always)]
    fn set_default<'row>(
        field: &mut Self::At<'row>,
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Defaulted<Self::Spare>,
    ) -> Result<(), DecodeError> {
        spare.set(
            field,
            cursor,
            |cursor, spare| cursor.read(spare),
            |field, cursor, spare| cursor.set(field, spare),
        )
    }

    #[doc(hidden)]
    #[inline(always)]
    fn put_default<'row>(
        field: &mut Self::At<'row>,
        value: Self::At<'row>,
        spare: &mut Defaulted<Self::Spare>,
    ) {
        spare.set_default(field, value, FromColumn::recycle);
    }

    #[doc(hidden)]
    #[inline(always)]
    fn recycle_default<'row>(field: Self::At<'row>, spare: &mut Defaulted<Self::Spare>) {
        spare.recycle(field, FromColumn::recycle);
    }

    // Of a type that is converted into that of the field.

    #[doc(hidden)]
    #[inline(always)]
    fn from_field<'row, T: From<Self::At<'row>>>(
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<T, DecodeError> {
        cursor.convert(
            |column| Self::At::read(column, spare),
            |value| Ok::<_, Infallible>(T::from(value)),
        )
    }

    #[doc(hidden)]
    #[inline(always)]
    fn try_from_field<'row, T: TryFrom<Self::At<'row>, Error: Display>>(
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<T, DecodeError> {
        cursor.convert(|column| Self::At::read(column, spare), T::try_from)
    }
}

/// A type that one column, one element of an ARRAY or one field of a STRUCT can
/// be read into.
///
/// Implement it, with [`ColumnType`], for types of your own. Methods will only
/// ever be added with a default.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a Spanner column",
    label = "not a column type",
    note = "columns are read into bool, i64, f64, f32, text (`&str`, `Cow<str>`, `String`, `Box<str>`, `Arc<str>`), bytes (`&[u8]`, `Cow<[u8]>`, `Vec<u8>`, `Bytes`, `[u8; N]`), `Numeric`, `Timestamp`, `Interval`, `Value`, `Option`, `Vec` and `List` of these, and derived rows and tuples for STRUCT",
    note = "types of other crates need a feature of spanner-rows: `jiff`, `chrono`, `time`, `rust_decimal`, `bigdecimal`, `uuid`, `serde_json` or `prost`",
    note = "to convert from a column type, put `#[spanner(try_from = \"i64\")]` on the field; for a row whose columns stand among these, `#[spanner(flatten)]`",
    note = "for an enum `#[derive(SpannerEnum)]`; for another type of your own implement `ColumnType` and `FromColumn`"
)]
pub trait FromColumn<'row>: ColumnType + Sized + Send {
    /// Compares the column's type with this one, once per result set.
    ///
    /// Usually one call of [`Binder::scalar`] or the `bind` of another type; a
    /// type that does not fit is reported to the binder, not returned.
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding;

    /// Reads the value.
    ///
    /// # Errors
    ///
    /// The value is NULL, has another form than its type says, or is out of range.
    fn read(column: Column<'_, 'row>, spare: &mut Self::Spare) -> Result<Self, DecodeError>;

    /// Reads the value over an earlier one, whose memory may be used again.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read). What is then in `self` is not specified; it is
    /// not shown to the user and is set or dropped next.
    fn set(
        &mut self,
        column: Column<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<(), DecodeError> {
        let fresh = Self::read(column, spare)?;
        std::mem::replace(self, fresh).recycle(spare);
        Ok(())
    }

    /// Puts the memory of a value that is no longer needed into `spare`.
    fn recycle(self, spare: &mut Self::Spare) {
        let _ = (self, spare);
    }
}
