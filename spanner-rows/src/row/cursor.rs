//! The cursor that generated code reads a row from, field by field.

use super::binding::{Binding, Node};
use super::column::Column;
use super::error::{DecodeError, DecodeErrorKind};
use super::segment::Page;
use super::traits::FromColumn;
use crate::wire::value::Elements;

/// Stands in a row and hands out the value of one field after another.
///
/// Fields are read in the order of the struct. When that is the order of the
/// columns too, values are taken straight from the wire and those between are
/// passed over; else their places come from a table made once per buffer.
#[derive(Debug)]
pub struct RowCursor<'c, 'row> {
    page: &'c Page<'row>,
    /// The fields not read yet.
    pub(super) fields: &'row [Binding],
    /// The name of the row's type, for messages.
    owner: &'static str,
    pub(super) values: Elements<'row>,
    order: Order<'row>,
}

/// The bytes of a value and where they lie in the buffer.
type Found<'row> = (&'row [u8], usize);

#[derive(Clone, Copy, Debug)]
enum Order<'row> {
    /// Fields come in the order of the columns.
    Same,
    /// The places of the columns, one per field.
    Table(&'row [u32]),
    /// A STRUCT whose fields come in another order: its values from the start.
    Again(Elements<'row>),
}

impl<'c, 'row> RowCursor<'c, 'row> {
    #[inline(always)]
    pub(crate) fn new(
        page: &'c Page<'row>,
        row: &'row Binding,
        values: Elements<'row>,
        positions: &'row [u32],
    ) -> Self {
        Self {
            page,
            fields: &row.children,
            owner: row.rust_type,
            values,
            order: match row.node {
                Node::OutOfOrder if positions.is_empty() => Order::Again(values),
                Node::OutOfOrder => Order::Table(positions),
                _ => Order::Same,
            },
        }
    }

    /// Reads the next field.
    #[doc(hidden)]
    #[inline(always)]
    pub fn read<T: FromColumn<'row>>(&mut self, spare: &mut T::Spare) -> Result<T, DecodeError> {
        let (binding, value) = self.next_value()?;
        match T::read(Column::new(self.page, binding, value), spare) {
            Ok(value) => Ok(value),
            Err(error) => Err(self.in_field(error, binding)),
        }
    }

    /// Reads the next field over an earlier value.
    #[doc(hidden)]
    #[inline(always)]
    pub fn set<T: FromColumn<'row>>(
        &mut self,
        value: &mut T,
        spare: &mut T::Spare,
    ) -> Result<(), DecodeError> {
        let (binding, column) = self.next_value()?;
        match value.set(Column::new(self.page, binding, column), spare) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.in_field(error, binding)),
        }
    }

    /// Reads the next field, a row whose columns stand among those of this one.
    #[doc(hidden)]
    #[inline]
    pub fn flattened<R>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        let Some((binding, rest)) = self.fields.split_first() else {
            return Err(DecodeError::new(DecodeErrorKind::Missing));
        };
        let outer = std::mem::replace(&mut self.owner, binding.rust_type);
        self.fields = &binding.children;
        let read = read(self);
        self.fields = rest;
        self.owner = outer;
        match read {
            Ok(value) => Ok(value),
            Err(error) => Err(error.in_flattened(outer, binding.field)),
        }
    }

    /// Reads the next field with `read`.
    #[inline(always)]
    pub(super) fn read_by<T>(
        &mut self,
        read: impl FnOnce(Column<'c, 'row>) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let (binding, value) = self.next_value()?;
        match read(Column::new(self.page, binding, value)) {
            Ok(value) => Ok(value),
            Err(error) => Err(self.in_field(error, binding)),
        }
    }

    #[inline(always)]
    pub(super) fn next_value(&mut self) -> Result<(&'row Binding, Found<'row>), DecodeError> {
        let Some((binding, rest)) = self.fields.split_first() else {
            return Err(DecodeError::new(DecodeErrorKind::Missing));
        };
        self.fields = rest;
        if matches!(self.order, Order::Same)
            && binding.skip == 0
            && let Ok(Some(value)) = self.values.next_bytes()
        {
            return Ok((binding, value));
        }
        match self.find(binding) {
            Ok(value) => Ok((binding, value)),
            Err(error) => Err(self.in_field(error, binding)),
        }
    }

    /// A value that does not simply come next.
    #[inline(never)]
    fn find(&mut self, binding: &Binding) -> Result<Found<'row>, DecodeError> {
        let found = match self.order {
            Order::Same => {
                for _ in 0..binding.skip {
                    self.values.next_bytes()?;
                }
                self.values.next_bytes()?
            }
            Order::Table(positions) => match positions.get(binding.slot as usize) {
                Some(at) => self.values.at(*at as usize).next_bytes()?,
                None => None,
            },
            Order::Again(mut values) => {
                for _ in 0..binding.column {
                    values.next_bytes()?;
                }
                values.next_bytes()?
            }
        };
        found.ok_or_else(|| DecodeError::new(DecodeErrorKind::Missing))
    }

    pub(crate) const fn page(&self) -> &'c Page<'row> {
        self.page
    }

    pub(crate) const fn values(&self) -> Elements<'row> {
        self.values
    }

    #[cold]
    fn in_field(&self, error: DecodeError, binding: &Binding) -> DecodeError {
        error.in_field(self.owner, binding.field, binding.rust_type, binding.column)
    }
}
