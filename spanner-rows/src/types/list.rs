//! ARRAY read element by element, without memory of its own.

use std::fmt;
use std::marker::PhantomData;

use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::mode::Plain;
use crate::row::segment::Page;
use crate::row::text::KnownText;
use crate::row::traits::{ColumnType, FromColumn};
use crate::wire::Type;
use crate::wire::reader::Span;
use crate::wire::value::Elements;

/// An ARRAY whose elements are decoded when they are asked for.
///
/// It borrows from the buffer of the result and allocates nothing, also where a `Vec`
/// of borrowed elements would: a `Vec<&str>` cannot be kept from row to row, only its
/// memory can. Elements may be anything that a column may be: text, `Option`s, derived rows
/// (`ARRAY<STRUCT<…>>`), lists again.
///
/// Its type is compared with the column once, as for every field; an element that
/// cannot be read is an error in its place.
///
/// ```
/// use spanner_rows::{DecodeError, List};
///
/// fn longest<'row>(names: List<'row, &'row str>) -> Result<&'row str, DecodeError> {
///     let mut longest = "";
///     for name in names {
///         let name = name?;
///         if name.len() > longest.len() {
///             longest = name;
///         }
///     }
///     Ok(longest)
/// }
/// ```
pub struct List<'row, T> {
    page: Page<'row>,
    known: KnownText<'row>,
    array: &'row Binding,
    elements: Elements<'row>,
    _element: PhantomData<fn() -> T>,
}

impl<'row, T: FromColumn<'row>> List<'row, T> {
    /// The elements in order.
    pub fn iter(&self) -> ListIter<'row, T> {
        ListIter { rest: *self }
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!({ self.elements }.next_bytes(), Ok(None))
    }
}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<'_, T> {}

impl<'row, T: FromColumn<'row> + fmt::Debug> fmt::Debug for List<'row, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        for element in self.iter() {
            match element {
                Ok(element) => list.entry(&element),
                Err(error) => list.entry(&format_args!("<{error}>")),
            };
        }
        list.finish()
    }
}

impl<'row, T: FromColumn<'row>> IntoIterator for List<'row, T> {
    type Item = Result<T, DecodeError>;
    type IntoIter = ListIter<'row, T>;

    fn into_iter(self) -> ListIter<'row, T> {
        self.iter()
    }
}

impl<'row, T: FromColumn<'row>> IntoIterator for &List<'row, T> {
    type Item = Result<T, DecodeError>;
    type IntoIter = ListIter<'row, T>;

    fn into_iter(self) -> ListIter<'row, T> {
        self.iter()
    }
}

/// The elements of a [`List`], decoded one by one.
#[derive(Clone)]
pub struct ListIter<'row, T> {
    rest: List<'row, T>,
}

impl<'row, T: FromColumn<'row>> Iterator for ListIter<'row, T> {
    type Item = Result<T, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let List {
            page,
            known,
            array,
            elements,
            ..
        } = &mut self.rest;
        let (error, at) = match elements.next_bytes() {
            Ok(Some(value)) => {
                let element = array.element()?;
                match T::read(
                    Column::new(page, *known, element, value),
                    &mut T::Spare::default(),
                ) {
                    Ok(element) => return Some(Ok(element)),
                    Err(error) => (error, value.1),
                }
            }
            Ok(None) => return None,
            Err(error) => {
                let at = elements.position();
                // Where the next element starts is not known.
                *elements = Elements::of_list(&[], Span { start: 0, end: 0 });
                (error.into(), at)
            }
        };
        Some(Err(page.in_list(error, array, at)))
    }
}

impl<'row, T: FromColumn<'row>> std::iter::FusedIterator for ListIter<'row, T> {}

impl<T> fmt::Debug for ListIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListIter").finish_non_exhaustive()
    }
}

impl<T: ColumnType> ColumnType for List<'_, T> {
    type Spare = ();
    type Mode = Plain;
    type Static = List<'static, T::Static>;
    type At<'row> = List<'row, T::At<'row>>;
}

impl<'row, T: FromColumn<'row>> FromColumn<'row> for List<'row, T> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.array::<Self>(ty, T::bind)
    }

    #[inline]
    fn read(column: Column<'_, 'row>, _: &mut ()) -> Result<Self, DecodeError> {
        Ok(Self {
            elements: column.elements()?,
            page: *column.page(),
            known: column.known(),
            array: column.binding(),
            _element: PhantomData,
        })
    }
}
