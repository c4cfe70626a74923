//! A row without a struct: columns by position or name, read on demand.

use std::fmt;

use super::binder::Binder;
use super::binding::{Binding, Node};
use super::column::Column;
use super::cursor::RowCursor;
use super::error::{DecodeError, DecodeErrorKind};
use super::mode::Plain;
use super::segment::Page;
use super::spec::ColumnSpec;
use super::text::KnownText;
use super::traits::{FromColumn, SpannerRow};
use super::value::Value;
use crate::wire::value::Elements;
use crate::wire::{RowType, Type, TypeCode};

/// A row of any result, whose columns are read when they are asked for.
///
/// Prefer a derived struct or a tuple when the columns are known: it says at the
/// first row what does not fit, and finds its columns without looking.
///
/// A column and a type are compared the first time that `get` meets them. Values
/// before the wanted column are passed over, not decoded.
///
/// ```no_run
/// # use spanner_rows::{Client, Error, Row};
/// # async fn example(client: Client) -> Result<(), Error> {
/// let mut rows = client.query("SELECT * FROM Singers").rows::<Row>().await?;
/// while let Some(row) = rows.next().await? {
///     let id: i64 = row.get("SingerId")?;
///     println!("{id}: {row:?}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Row<'row> {
    page: Page<'row>,
    known: KnownText<'row>,
    values: Elements<'row>,
}

impl<'row> Row<'row> {
    /// The columns of the result.
    #[must_use]
    pub fn row_type(&self) -> &'row RowType {
        self.page.row_type()
    }

    /// The number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.row_type().len()
    }

    /// Whether the row has no columns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.row_type().is_empty()
    }

    /// Reads the column at a position or with a name into any column type.
    ///
    /// # Errors
    ///
    /// There is no such column or more than one with the name; its type does
    /// not fit `T`; the value cannot be read.
    pub fn get<T: FromColumn<'row>>(&self, column: impl ColumnIndex) -> Result<T, DecodeError> {
        let index = column.find(self.row_type())?;
        self.read(index).map_err(|error| {
            let column = u32::try_from(index).unwrap_or(u32::MAX);
            error
                .in_field("", "", std::any::type_name::<T>(), column)
                .in_column(self.column_name(index))
                .in_row(self.page.number())
        })
    }

    /// The value at a position or with a name, as it was sent.
    ///
    /// # Errors
    ///
    /// There is no such column or more than one with the name; the value is malformed.
    pub fn value(&self, column: impl ColumnIndex) -> Result<Value<'row>, DecodeError> {
        self.get(column)
    }

    /// The values in order, as they were sent.
    pub fn values(&self) -> impl Iterator<Item = Result<Value<'row>, DecodeError>> + use<'row> {
        let wire = self.page.wire();
        let mut values = self.values;
        let mut left = self.len();
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            Some(match values.next() {
                Ok(Some(span)) => Value::read(wire, span),
                Ok(None) => Err(DecodeError::new(DecodeErrorKind::Missing)),
                Err(error) => {
                    // Where the next value starts is not known.
                    left = 0;
                    Err(error.into())
                }
            })
        })
    }

    fn column_name(&self, index: usize) -> &'row str {
        self.row_type()
            .fields()
            .get(index)
            .map(crate::Field::name)
            .unwrap_or_default()
    }

    fn read<T: FromColumn<'row>>(&self, index: usize) -> Result<T, DecodeError> {
        let binding = self.page.lookup::<T>(index)?;
        if binding.decodes_bytes && !self.page.decodes_bytes(index) {
            return Err(DecodeError::invalid(
                "in a row without a struct base64 is decoded in columns of BYTES and PROTO only",
            ));
        }
        let mut values = self.values;
        for _ in 0..index {
            values.next()?;
        }
        match values.next_bytes()? {
            Some(value) => T::read(
                Column::new(&self.page, self.known, binding, value),
                &mut T::Spare::default(),
            ),
            None => Err(DecodeError::new(DecodeErrorKind::Missing)),
        }
    }
}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (field, value) in self.row_type().fields().iter().zip(self.values()) {
            match value {
                Ok(value) => map.entry(&field.name(), &value),
                Err(error) => map.entry(&field.name(), &format_args!("<{error}>")),
            };
        }
        map.finish()
    }
}

impl SpannerRow for Row<'_> {
    const COLUMNS: &'static [ColumnSpec] = &[];
    type Row<'row> = Row<'row>;
    type Lent<'row> = Row<'row>;
    type Spare = ();
    type Home = ();
    type Mode = Plain;

    fn bind(row_type: &RowType, _: &mut Binder<'_>) -> Binding {
        let mut row = row_binding(row_type);
        row.rust_type = "Row";
        row
    }

    fn decode<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        _: &mut (),
    ) -> Result<Row<'row>, DecodeError> {
        Ok(Row {
            page: *cursor.page(),
            known: cursor.known(),
            values: cursor.values(),
        })
    }

    fn recycle(_: Row<'_>, _: &mut ()) {}

    fn lend<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        home: &'row mut (),
    ) -> Result<Row<'row>, DecodeError> {
        Self::decode(cursor, home)
    }
}

/// A binding that makes every value of the type readable, BYTES decoded.
pub(super) fn binding_of(ty: &Type) -> Binding {
    let mut binding = match ty.code() {
        TypeCode::Struct => row_binding(ty.fields()),
        TypeCode::Array => {
            let mut array = Binding::default();
            array.children.extend(ty.element().map(binding_of));
            array
        }
        _ => Binding::default(),
    };
    binding.decodes_bytes = matches!(ty.code(), TypeCode::Bytes | TypeCode::Proto)
        || binding.children.iter().any(|child| child.decodes_bytes);
    binding
}

fn row_binding(row_type: &RowType) -> Binding {
    let mut row = Binding {
        node: Node::InOrder,
        ..Binding::default()
    };
    for (i, field) in row_type.fields().iter().enumerate() {
        let mut child = binding_of(field.ty());
        child.column = u32::try_from(i).unwrap_or(u32::MAX);
        row.decodes_bytes |= child.decodes_bytes;
        row.children.push(child);
    }
    row.settle();
    row
}

mod sealed {
    #[expect(unnameable_types, reason = "sealed")]
    pub trait Sealed {}
    impl Sealed for usize {}
    impl Sealed for &str {}
}

/// What names a column of a [`Row`]: its position (`usize`, from zero) or its
/// name (`&str`, spelling counts).
pub trait ColumnIndex: sealed::Sealed {
    #[doc(hidden)]
    fn find(self, row_type: &RowType) -> Result<usize, DecodeError>;
}

impl ColumnIndex for usize {
    fn find(self, row_type: &RowType) -> Result<usize, DecodeError> {
        if self < row_type.len() {
            Ok(self)
        } else {
            Err(DecodeError::invalid(format_args!(
                "there is no column {self}, the result has {}",
                row_type.len()
            )))
        }
    }
}

impl ColumnIndex for &str {
    fn find(self, row_type: &RowType) -> Result<usize, DecodeError> {
        let mut found = row_type.positions(self);
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only),
            (Some(first), Some(second)) => Err(DecodeError::invalid(format_args!(
                "two columns are called `{self}` ({first} and {second}): use a position"
            ))),
            (None, _) => Err(DecodeError::invalid(format_args!(
                "there is no column `{self}` in {row_type}"
            ))),
        }
    }
}
