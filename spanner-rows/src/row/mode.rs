//! How a row is lent to the caller, chosen by the types of its fields.
//!
//! A field is either [`Plain`], it borrows or is a scalar and leaves nothing
//! behind, or [`Kept`], it owns memory that the next row can use again. A row
//! of plain fields is handed out by value; one kept field turns it into a
//! [`Recycled`] guard. Structs without a lifetime are lent from a [`Home`].

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::cursor::RowCursor;
use super::error::DecodeError;
use super::traits::SpannerRow;

mod sealed {
    #[expect(unnameable_types, reason = "sealed")]
    pub trait Sealed {}
    impl Sealed for super::Plain {}
    impl Sealed for super::Kept {}
}

/// How a field of a row behaves between rows: [`Plain`] or [`Kept`].
pub trait Mode: sealed::Sealed {
    /// The mode of a row with a field of this mode and one of mode `M`.
    type Or<M: Mode>: Mode;
    #[doc(hidden)]
    const KEPT: bool;
    /// What is lent of a row of this mode.
    type Lent<'row, T: SpannerRow>: Send;

    #[doc(hidden)]
    fn lend<'row, T: SpannerRow>(
        cursor: &mut RowCursor<'_, 'row>,
        home: &'row mut T::Spare,
    ) -> Result<Self::Lent<'row, T>, DecodeError>;
}

/// The mode of scalars and borrows: nothing is left of them that could be used again.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// The mode of types that own memory, which the next row writes into.
#[derive(Clone, Copy, Debug)]
pub struct Kept;

impl Mode for Plain {
    type Or<M: Mode> = M;
    const KEPT: bool = false;
    type Lent<'row, T: SpannerRow> = T::Row<'row>;

    #[inline(always)]
    fn lend<'row, T: SpannerRow>(
        cursor: &mut RowCursor<'_, 'row>,
        home: &'row mut T::Spare,
    ) -> Result<T::Row<'row>, DecodeError> {
        T::decode(cursor, home)
    }
}

impl Mode for Kept {
    type Or<M: Mode> = Self;
    const KEPT: bool = true;
    type Lent<'row, T: SpannerRow> = Recycled<'row, T>;

    #[inline(always)]
    fn lend<'row, T: SpannerRow>(
        cursor: &mut RowCursor<'_, 'row>,
        home: &'row mut T::Spare,
    ) -> Result<Recycled<'row, T>, DecodeError> {
        let row = T::decode(cursor, home)?;
        Ok(Recycled {
            row: Some(row),
            home,
        })
    }
}

/// A lent row that gives its buffers back when it is dropped.
///
/// This is what a stream lends of a struct with both a lifetime and fields that
/// own memory (`&'row str` beside `Vec<String>`), and of a tuple with such a
/// field. It derefs to the row; it cannot be taken apart by a pattern, so
/// match on `&*row`.
pub struct Recycled<'row, T: SpannerRow> {
    /// `None` only while being dropped or taken apart.
    row: Option<T::Row<'row>>,
    home: &'row mut T::Spare,
}

impl<'row, T: SpannerRow> Recycled<'row, T> {
    /// Takes the row out; its buffers are then not used again.
    ///
    /// # Panics
    ///
    /// Never: the row is there until the guard is dropped.
    #[must_use]
    pub fn into_inner(mut self) -> T::Row<'row> {
        match self.row.take() {
            Some(row) => row,
            None => unreachable!("the row leaves only with the guard"),
        }
    }
}

impl<'row, T: SpannerRow> Deref for Recycled<'row, T> {
    type Target = T::Row<'row>;

    fn deref(&self) -> &T::Row<'row> {
        match &self.row {
            Some(row) => row,
            None => unreachable!("the row leaves only with the guard"),
        }
    }
}

impl<T: SpannerRow> DerefMut for Recycled<'_, T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.row {
            Some(row) => row,
            None => unreachable!("the row leaves only with the guard"),
        }
    }
}

impl<T: SpannerRow> Drop for Recycled<'_, T> {
    fn drop(&mut self) {
        if let Some(row) = self.row.take() {
            T::recycle(row, self.home);
        }
    }
}

impl<'row, T: SpannerRow> fmt::Debug for Recycled<'row, T>
where
    T::Row<'row>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// Where a stream keeps the row of a struct without a lifetime: it is set in
/// place for every row and lent as `&mut`.
#[derive(Debug)]
pub struct Home<T, S> {
    row: Option<T>,
    spare: S,
}

impl<T, S: Default> Default for Home<T, S> {
    fn default() -> Self {
        Self {
            row: None,
            spare: S::default(),
        }
    }
}

impl<T, S> Home<T, S>
where
    T: for<'row> SpannerRow<Row<'row> = T, Spare = S>,
{
    #[doc(hidden)]
    #[inline(always)]
    pub fn lend<'row>(
        &'row mut self,
        cursor: &mut RowCursor<'_, 'row>,
    ) -> Result<&'row mut T, DecodeError> {
        match self.row {
            // Set in place: fields that fail leave a row that nobody sees, and
            // the next row sets every field anew.
            Some(ref mut row) => {
                T::update(row, cursor, &mut self.spare)?;
                Ok(row)
            }
            None => {
                let row = T::decode(cursor, &mut self.spare)?;
                Ok(self.row.insert(row))
            }
        }
    }
}

/// The mode of a row with fields of modes `A` and `B`.
pub type Or<A, B> = <A as Mode>::Or<B>;

/// What the derive makes of `KEPT`, the constant that says whether a field of a
/// row is [`Kept`].
///
/// The types that follow are chosen by a constant, not by the types of the
/// fields: a type may then be private to a public row, and where a field's type
/// is no column type the constant is in error and the compiler leaves all that
/// depends on it alone.
#[derive(Debug)]
pub struct If<const KEPT: bool>;

/// The types that [`If`] chooses.
pub trait Choice {
    /// [`Kept`] or [`Plain`].
    type Mode: Mode;
    /// `T`.
    type Spare<T: ?Sized>: ?Sized;
}

impl Choice for If<true> {
    type Mode = Kept;
    type Spare<T: ?Sized> = T;
}

impl Choice for If<false> {
    type Mode = Plain;
    type Spare<T: ?Sized> = T;
}
