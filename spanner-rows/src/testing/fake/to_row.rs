//! Rust values that make a row.

use super::rows::Values;
use crate::{ToColumn, Type, ValueWriter};

/// A Rust row for [`Rows`](super::Rows): a tuple of one to sixteen values, each of a type that can be a query parameter ([`ToColumn`]).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a row for the fake server",
    label = "not a row",
    note = "a row is a tuple of values that can be query parameters; a row of one value is written `(value,)`"
)]
pub trait ToRow {
    /// The types of the columns.
    fn column_types() -> Vec<Type>;

    /// Writes the values in the order of the columns.
    fn write(&self, out: &mut RowWriter<'_>);
}

/// Takes the values of one row.
#[derive(Debug)]
pub struct RowWriter<'a>(&'a mut Values);

impl<'a> RowWriter<'a> {
    pub(super) const fn new(values: &'a mut Values) -> Self {
        Self(values)
    }

    /// Adds the value of the next column.
    pub fn column(&mut self, value: &(impl ToColumn + ?Sized)) {
        self.0.push(|out| value.write(ValueWriter::new(out)));
    }
}

impl<R: ToRow + ?Sized> ToRow for &R {
    fn column_types() -> Vec<Type> {
        R::column_types()
    }

    fn write(&self, out: &mut RowWriter<'_>) {
        R::write(self, out);
    }
}

macro_rules! tuple_rows {
    ($($($column:ident $i:tt)+;)+) => { $(
        impl<$($column: ToColumn),+> ToRow for ($($column,)+) {
            fn column_types() -> Vec<Type> {
                vec![$($column::column_type()),+]
            }

            fn write(&self, out: &mut RowWriter<'_>) {
                $(out.column(&self.$i);)+
            }
        }
    )+ };
}

tuple_rows! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13 O 14;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13 O 14 P 15;
}
