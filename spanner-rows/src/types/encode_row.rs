//! Rust structs as rows that are sent: STRUCT parameters, and rows of the fake server.

use super::encode::ToColumn;
use crate::wire::writer::ListWriter;
use crate::wire::{Field, RowType, Type, ValueWriter};

/// A struct whose fields are written as columns; `#[derive(SpannerEncode)]` implements it.
///
/// A struct that has it is also a [`ToColumn`]: as a parameter it is a STRUCT, and a
/// `Vec` of it an ARRAY of STRUCT. `FakeSpanner` answers with rows made of it
/// (`testing::Rows::of`). Prefer a tuple for a row of few columns in a test.
///
/// ```
/// use spanner_rows::{SpannerEncode, ToColumn};
///
/// #[derive(SpannerEncode)]
/// #[spanner(rename_all = "PascalCase")]
/// struct Name<'a> {
///     first_name: &'a str,
///     last_name: Option<&'a str>,
/// }
///
/// assert_eq!(
///     Name::column_type().to_string(),
///     "STRUCT<FirstName STRING, LastName STRING>"
/// );
/// # let _ = Name { first_name: "Marc", last_name: None };
/// ```
///
/// # Attributes
///
/// Those of [`SpannerRow`](macro@crate::SpannerRow), so that one struct can derive both and is
/// written as it is read:
///
/// * `rename`, `rename_all`, `flatten` and its prefix name the columns. Fields of tuple structs
///   have columns without a name. An `alias` is for reading only.
/// * `skip` leaves the field out, in both directions; `read_only` when writing only, for columns
///   that the database computes.
/// * `from = "T"` and `try_from = "T"`: written as a `T`, made by `T: From<Field>` of a clone of
///   the field; an `Option` around the field stays around the `T`.
/// * `with(module = "m")`: written as what `m::encode` returns, a function of a reference to the
///   field; its type has to be [`ToColumn`].
/// * `json`: written as JSON; `None` of an `Option` is NULL. Needs the feature `serde_json`.
///
/// ```
/// use spanner_rows::{SpannerEncode, SpannerRow, ToColumn};
///
/// #[derive(SpannerRow, SpannerEncode)]
/// struct Album {
///     id: i64,
///     #[spanner(try_from = "i64")]
///     year: u16,
///     #[spanner(with(module = "cents"))]
///     price: f64,
///     #[spanner(read_only)]
///     title_length: i64,
/// }
///
/// mod cents {
///     use spanner_rows::{Column, DecodeError};
///
///     pub fn decode(column: Column<'_, '_>) -> Result<f64, DecodeError> {
///         Ok(column.text()?.parse::<i32>().map_err(DecodeError::invalid)?.into())
///     }
///
///     pub fn encode(price: &f64) -> i64 {
///         price.round() as i64
///     }
/// }
///
/// assert_eq!(
///     Album::column_type().to_string(),
///     "STRUCT<id INT64, year INT64, price INT64>"
/// );
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent as a row",
    label = "not a row to send",
    note = "add `#[derive(SpannerEncode)]` to the struct"
)]
pub trait SpannerEncode {
    /// How many columns there are.
    const WIDTH: usize;

    /// Appends the columns, `prefix` before their names.
    fn push_columns(prefix: &str, columns: &mut Vec<Field>);

    /// Writes a value for every column, in their order.
    fn write_columns(&self, out: &mut ListWriter<'_>);

    /// The columns, with their types.
    #[must_use]
    fn row_type() -> RowType {
        let mut columns = Vec::with_capacity(Self::WIDTH);
        Self::push_columns("", &mut columns);
        RowType::new(columns)
    }
}

impl<T: SpannerEncode + ?Sized> SpannerEncode for &T {
    const WIDTH: usize = T::WIDTH;

    fn push_columns(prefix: &str, columns: &mut Vec<Field>) {
        T::push_columns(prefix, columns);
    }

    fn write_columns(&self, out: &mut ListWriter<'_>) {
        T::write_columns(self, out);
    }
}

/// A tuple is a STRUCT whose fields have no names, as it is when it is read.
macro_rules! tuple {
    ($($ty:ident $i:tt)+) => {
        impl<$($ty: ToColumn),+> ToColumn for ($($ty,)+) {
            fn column_type() -> Type {
                Type::structure(RowType::new([$(Field::new("", $ty::column_type())),+]))
            }

            fn write(&self, out: ValueWriter<'_>) {
                out.list(|columns| {
                    $(columns.element(|out| self.$i.write(out));)+
                });
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0 B 1);
tuple!(A 0 B 1 C 2);
tuple!(A 0 B 1 C 2 D 3);
tuple!(A 0 B 1 C 2 D 3 E 4);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);

/// What a field with `flatten` is: a row, or an `Option` of one, whose `None`
/// makes all its columns NULL.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent as a row",
    label = "not a row to send",
    note = "add `#[derive(SpannerEncode)]` to the struct; a field that is one column has no `flatten`"
)]
pub trait EncodeFlattened {
    /// How many columns there are.
    const WIDTH: usize;

    /// Appends the columns, `prefix` before their names.
    fn push_columns(prefix: &str, columns: &mut Vec<Field>);

    /// Writes a value for every column.
    fn write_columns(&self, out: &mut ListWriter<'_>);
}

impl<T: SpannerEncode> EncodeFlattened for T {
    const WIDTH: usize = T::WIDTH;

    fn push_columns(prefix: &str, columns: &mut Vec<Field>) {
        T::push_columns(prefix, columns);
    }

    fn write_columns(&self, out: &mut ListWriter<'_>) {
        T::write_columns(self, out);
    }
}

impl<T: SpannerEncode> EncodeFlattened for Option<T> {
    const WIDTH: usize = T::WIDTH;

    fn push_columns(prefix: &str, columns: &mut Vec<Field>) {
        T::push_columns(prefix, columns);
    }

    fn write_columns(&self, out: &mut ListWriter<'_>) {
        match self {
            Some(row) => row.write_columns(out),
            None => (0..T::WIDTH).for_each(|_| out.element(|out| out.null())),
        }
    }
}

/// A row that is a STRUCT.
#[must_use]
pub fn struct_type<T: SpannerEncode>() -> Type {
    Type::structure(T::row_type())
}

/// Writes a row as a STRUCT.
pub fn write_struct<T: SpannerEncode>(row: &T, out: ValueWriter<'_>) {
    out.list(|columns| row.write_columns(columns));
}

/// Appends one column.
pub fn push_column(prefix: &str, name: &str, ty: Type, columns: &mut Vec<Field>) {
    let name = if prefix.is_empty() || name.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}{name}")
    };
    columns.push(Field::new(name, ty));
}

/// The prefix of rows in rows.
#[must_use]
pub fn prefixed(outer: &str, inner: &str) -> String {
    format!("{outer}{inner}")
}

/// Columns that are gathered.
pub type Columns = Vec<Field>;

/// The type of what a function makes of a field.
#[must_use]
pub fn encoded_type<'field, F: 'field, V: ToColumn>(_: impl FnOnce(&'field F) -> V) -> Type {
    V::column_type()
}

/// Writes the value of a column.
pub fn write_column<V: ToColumn + ?Sized>(value: &V, out: &mut ListWriter<'_>) {
    out.element(|out| value.write(out));
}
