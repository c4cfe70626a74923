//! What attributes put between a column and its field: defaults, conversions,
//! flattened rows.

use std::any::{Any, type_name};
use std::fmt::Display;

use super::binder::{BindField, Binder};
use super::binding::{Binding, Node};
use super::column::Column;
use super::cursor::RowCursor;
use super::dynamic::binding_of;
use super::error::DecodeError;
use super::mode::Mode;
use super::spec::ColumnSpec;
use super::traits::{ColumnType, FromColumn, OwnedRow, SpannerRow};
use super::value::Value;
use crate::wire::Type;

/// A row, or `Option` of one, whose columns stand among those of the row
/// around it.
///
/// What the derive asks of the type of a field with `flatten`; it asks all of
/// this trait, see [`ColumnType`](crate::ColumnType).
// The same words as for a row, so that the compiler says it once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Spanner row",
    label = "not a row",
    note = "add `#[derive(SpannerRow)]` to a struct, or use a tuple of column types such as `(i64, String)`; a field that reads one column has no `flatten`"
)]
pub trait Flatten {
    /// As [`SpannerRow::Spare`].
    type Spare: Default + Send + 'static;
    /// As [`SpannerRow::Mode`].
    type Mode: Mode;
    /// The type with `'row` in place of its lifetime.
    type At<'row>;
    /// The columns of the row.
    const COLUMNS: &'static [ColumnSpec];
    /// As [`ColumnType::KEPT`](crate::ColumnType::KEPT).
    const KEPT: bool = <Self::Mode as Mode>::KEPT;

    /// The columns, for the row around.
    #[must_use]
    fn spare_field() -> Self::Spare {
        Self::Spare::default()
    }
    /// How they are bound.
    fn bind_field() -> BindField;
    /// Reads the row.
    ///
    /// # Errors
    ///
    /// A value cannot be read.
    fn read_field<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<Self::At<'row>, DecodeError>;
    /// Reads the row over an earlier one.
    ///
    /// # Errors
    ///
    /// A value cannot be read.
    fn set_field<'row>(
        field: &mut Self::At<'row>,
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<(), DecodeError>;
    /// Puts the memory of the row into `spare`.
    fn recycle_field(field: Self::At<'_>, spare: &mut Self::Spare);
}

impl<T: SpannerRow> Flatten for T {
    type Spare = <T as SpannerRow>::Spare;
    type Mode = <T as SpannerRow>::Mode;
    type At<'row> = T::Row<'row>;
    const COLUMNS: &'static [ColumnSpec] = <T as SpannerRow>::COLUMNS;
    const KEPT: bool = <T as SpannerRow>::KEPT;

    fn bind_field() -> BindField {
        BindField::Flatten(T::bind)
    }

    #[inline]
    fn read_field<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<T::Row<'row>, DecodeError> {
        cursor.flattened(|cursor| T::decode(cursor, spare))
    }

    #[inline]
    fn set_field<'row>(
        field: &mut T::Row<'row>,
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<(), DecodeError> {
        cursor.flattened(|cursor| T::update(field, cursor, spare))
    }

    #[inline]
    fn recycle_field(field: T::Row<'_>, spare: &mut Self::Spare) {
        T::recycle(field, spare);
    }
}

/// `None` when all columns are NULL or absent. The memory of the row before is
/// kept for the next one.
impl<T: SpannerRow> Flatten for Option<T> {
    type Spare = T::Spare;
    type Mode = T::Mode;
    type At<'row> = Option<T::Row<'row>>;
    const COLUMNS: &'static [ColumnSpec] = T::COLUMNS;
    const KEPT: bool = <T as SpannerRow>::KEPT;

    fn bind_field() -> BindField {
        BindField::FlattenOption(T::bind)
    }

    #[inline]
    fn read_field<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<Self::At<'row>, DecodeError> {
        if cursor.absent() || cursor.flattened_null()? {
            return Ok(None);
        }
        T::read_field(cursor, spare).map(Some)
    }

    #[inline]
    fn set_field<'row>(
        field: &mut Self::At<'row>,
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<(), DecodeError> {
        if cursor.absent() || cursor.flattened_null()? {
            if let Some(row) = field.take() {
                T::recycle(row, spare);
            }
            return Ok(());
        }
        match field {
            Some(row) => T::set_field(row, cursor, spare),
            None => {
                *field = Some(T::read_field(cursor, spare)?);
                Ok(())
            }
        }
    }

    #[inline]
    fn recycle_field(field: Self::At<'_>, spare: &mut Self::Spare) {
        if let Some(row) = field {
            T::recycle(row, spare);
        }
    }
}

/// A column type that owns its data: what the derive asks of a type parameter.
#[diagnostic::on_unimplemented(
    message = "the `bound` of the struct does not say that `{Self}` is a column type",
    label = "a column is read into this",
    note = "add `{Self}: for<'r> FromColumn<'r> + for<'r> ColumnType<At<'r> = {Self}> + 'static` to `bound`, or leave `bound` away: the derive adds this where it is needed"
)]
pub trait OwnedColumn {}

#[diagnostic::do_not_recommend]
impl<T> OwnedColumn for T where
    T: for<'row> FromColumn<'row> + for<'row> ColumnType<At<'row> = T> + 'static
{
}

/// Stops the compilation where `T` is none.
pub const fn owned_column<T: OwnedColumn>() {}

/// The same for a type parameter that is flattened.
#[diagnostic::on_unimplemented(
    message = "the `bound` of the struct does not say that `{Self}` is a row",
    label = "flattened",
    note = "add `{Self}: OwnedRow` to `bound`, or leave `bound` away: the derive adds this where it is needed"
)]
pub trait OwnedFlattened {}

#[diagnostic::do_not_recommend]
impl<T: OwnedRow> OwnedFlattened for T {}

/// Stops the compilation where `T` is none.
pub const fn owned_row<T: OwnedFlattened>() {}

/// The memory of a field that holds a default where its column is NULL or absent.
///
/// The memory of the value before a default lies in `spare`; a default owns
/// none that is worth keeping, and must not take that place.
#[derive(Debug, Default)]
pub struct Defaulted<S> {
    spare: S,
    /// The field holds a default.
    is_default: bool,
}

impl<S> Defaulted<S> {
    /// Notes that a fresh field gets a default.
    #[inline]
    pub fn fresh_default<T>(&mut self, value: T) -> T {
        self.is_default = true;
        value
    }

    /// Reads a fresh value.
    ///
    /// # Errors
    ///
    /// As `read`.
    #[inline]
    pub fn read<T>(
        &mut self,
        read: impl FnOnce(&mut S) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        self.is_default = false;
        read(&mut self.spare)
    }

    /// Puts a default in place of what the field holds.
    #[inline]
    pub fn set_default<T>(&mut self, field: &mut T, value: T, recycle: impl FnOnce(T, &mut S)) {
        let before = std::mem::replace(field, value);
        if !self.is_default {
            recycle(before, &mut self.spare);
        }
        self.is_default = true;
    }

    /// Reads a value over what the field holds.
    ///
    /// # Errors
    ///
    /// As `read` and `set`.
    #[inline]
    pub fn set<T, C>(
        &mut self,
        field: &mut T,
        context: C,
        read: impl FnOnce(C, &mut S) -> Result<T, DecodeError>,
        set: impl FnOnce(&mut T, C, &mut S) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        if self.is_default {
            *field = read(context, &mut self.spare)?;
            self.is_default = false;
            Ok(())
        } else {
            set(field, context, &mut self.spare)
        }
    }

    /// Keeps the memory of a value; a default is dropped.
    #[inline]
    pub fn recycle<T>(&mut self, field: T, recycle: impl FnOnce(T, &mut S)) {
        if !self.is_default {
            recycle(field, &mut self.spare);
        }
    }
}

impl<'c, 'row> RowCursor<'c, 'row> {
    /// Whether the result does not have the next field's column, or none of
    /// those of the next flattened row. The field is then passed over.
    #[inline]
    pub fn absent(&mut self) -> bool {
        match self.fields.split_first() {
            Some((binding, rest)) if binding.node == Node::Absent => {
                self.fields = rest;
                true
            }
            _ => false,
        }
    }

    /// Whether the next field's column is NULL. The field is then passed over.
    ///
    /// # Errors
    ///
    /// The row is malformed or ends before this field.
    #[inline]
    pub fn null(&mut self) -> Result<bool, DecodeError> {
        let (fields, values) = (self.fields, self.values);
        let (binding, value) = self.next_value()?;
        let is_null = self.column(binding, value).is_null();
        if !is_null {
            (self.fields, self.values) = (fields, values);
        }
        Ok(is_null)
    }

    /// Whether all columns of the next flattened row are NULL or absent. The
    /// field is then passed over.
    fn flattened_null(&mut self) -> Result<bool, DecodeError> {
        let (fields, values) = (self.fields, self.values);
        let is_null = self.flattened(Self::rest_is_null)?;
        if !is_null {
            (self.fields, self.values) = (fields, values);
        }
        Ok(is_null)
    }

    /// Whether all fields not read yet are; reads as far as the first that is not.
    fn rest_is_null(&mut self) -> Result<bool, DecodeError> {
        while let Some(next) = self.fields.first() {
            let is_null = match next.node {
                Node::Absent => self.absent(),
                Node::Flattened => self.flattened(Self::rest_is_null)?,
                _ => self.null()?,
            };
            if !is_null {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the next field with a function of the user's.
    ///
    /// # Errors
    ///
    /// The function's, and as [`null`](Self::null).
    #[inline]
    pub fn with<T, E: Display + 'static>(
        &mut self,
        read: impl FnOnce(Column<'_, 'row>) -> Result<T, E>,
    ) -> Result<T, DecodeError> {
        self.read_by(|column| read(column).map_err(|error| refused(error, column)))
    }

    /// Reads the next field with `read` and converts what comes.
    ///
    /// # Errors
    ///
    /// Those of `read` and of the conversion, and as [`null`](Self::null).
    #[inline]
    pub fn convert<T, U, E: Display>(
        &mut self,
        read: impl FnOnce(Column<'_, 'row>) -> Result<T, DecodeError>,
        convert: impl FnOnce(T) -> Result<U, E>,
    ) -> Result<U, DecodeError> {
        self.read_by(|column| {
            let value = read(column)?;
            match convert(value) {
                Ok(value) => Ok(value),
                Err(error) => Err(not_converted::<U>(&error, column)),
            }
        })
    }
}

#[cold]
fn not_converted<T>(error: &dyn Display, column: Column<'_, '_>) -> DecodeError {
    DecodeError::with_excerpt(error, &excerpt(column)).into_type(type_name::<T>())
}

/// The error of a function of the user's, with the value. One of our own type says
/// already what there is to say, but for the value where it was made without.
#[cold]
fn refused<E: Display + 'static>(error: E, column: Column<'_, '_>) -> DecodeError {
    let mut error = Some(error);
    let own = (&mut error as &mut dyn Any).downcast_mut::<Option<DecodeError>>();
    match (own.and_then(Option::take), error) {
        (Some(own), _) => own.or_excerpt(|| excerpt(column)),
        (None, Some(error)) => DecodeError::with_excerpt(error, &excerpt(column)),
        (None, None) => DecodeError::with_excerpt("it was refused", &excerpt(column)),
    }
}

/// A value for which an enum has no variant.
#[cold]
#[must_use]
pub fn unknown_variant(column: Column<'_, '_>, known: &str) -> DecodeError {
    DecodeError::with_excerpt(
        format_args!(
            "no variant stands for it, there are {known}; `#[spanner(other)]` on a variant takes \
             values that are added later"
        ),
        &excerpt(column),
    )
}

/// The value for a message.
fn excerpt(column: Column<'_, '_>) -> String {
    match column.value() {
        Ok(Value::String(text)) => text.to_owned(),
        Ok(value) => value.to_string(),
        Err(_) => String::new(),
    }
}

/// What binds a column that a function of the user's reads, whatever its type;
/// a module may have a `bind` of its own in its place.
pub fn bind(ty: &Type, _: &mut Binder<'_>) -> Binding {
    binding_of(ty)
}
