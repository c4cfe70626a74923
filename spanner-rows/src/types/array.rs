//! ARRAY as `Vec` and `Box<[T]>`.

use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::memory::is_excessive;
use crate::row::mode::Kept;
use crate::row::traits::{ColumnType, FromColumn};
use crate::wire::Type;

/// The vector and its elements keep their memory from row to row; a vector that
/// takes more than 1 MiB only while values need it.
impl<T: ColumnType> ColumnType for Vec<T> {
    type Spare = VecSpare<T::Static, T::Spare>;
    type Mode = Kept;
    type Static = Vec<T::Static>;
    type At<'row> = Vec<T::At<'row>>;
}

/// What is left of a vector: its own memory and that of its elements.
#[derive(Debug)]
pub struct VecSpare<E, S> {
    /// Always empty; kept for its capacity.
    buffer: Vec<E>,
    /// One for each element that there has ever been.
    elements: Vec<S>,
}

impl<E, S> Default for VecSpare<E, S> {
    fn default() -> Self {
        Self {
            buffer: Vec::new(),
            elements: Vec::new(),
        }
    }
}

impl<E, S: Default> VecSpare<E, S> {
    #[inline]
    fn element(&mut self, i: usize) -> &mut S {
        if i >= self.elements.len() {
            self.elements.resize_with(i + 1, S::default);
        }
        &mut self.elements[i]
    }

    #[cfg(test)]
    pub(super) const fn kept(&self) -> usize {
        self.elements.len()
    }

    /// Gives back what is left of a giant array, after one of `len` elements.
    #[inline]
    fn settle(&mut self, len: usize) {
        if is_loose(&self.elements, len) {
            give_back(&mut self.elements, len);
        }
    }
}

/// Whether a vector has become much larger than what is needed now.
#[inline]
const fn is_loose<T>(vector: &Vec<T>, needed: usize) -> bool {
    let size = size_of::<T>();
    is_excessive(
        vector.capacity().saturating_mul(size),
        needed.saturating_mul(size),
    )
}

#[cold]
fn give_back<T>(vector: &mut Vec<T>, needed: usize) {
    vector.truncate(needed);
    vector.shrink_to_fit();
}

impl<'row, T: FromColumn<'row>> FromColumn<'row> for Vec<T> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.array::<Self>(ty, T::bind)
    }

    fn read(column: Column<'_, 'row>, spare: &mut Self::Spare) -> Result<Self, DecodeError> {
        let elements = column.list()?;
        let mut value = emptied::<T::Static, T>(std::mem::take(&mut spare.buffer));
        for (i, element) in elements.enumerate() {
            value.push(T::read(element?, spare.element(i))?);
        }
        let len = value.len();
        if is_loose(&value, len) {
            give_back(&mut value, len);
        }
        Ok(value)
    }

    fn set(
        &mut self,
        column: Column<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> Result<(), DecodeError> {
        let mut len = 0;
        for element in column.list()? {
            let element = element?;
            match self.get_mut(len) {
                Some(value) => value.set(element, spare.element(len))?,
                None => self.push(T::read(element, spare.element(len))?),
            }
            len += 1;
        }
        if is_loose(self, len) {
            give_back(self, len);
        }
        for (i, value) in self.drain(len..).enumerate() {
            value.recycle(spare.element(len + i));
        }
        spare.settle(len);
        Ok(())
    }

    fn recycle(mut self, spare: &mut Self::Spare) {
        let len = self.len();
        for (i, value) in self.drain(..).enumerate() {
            value.recycle(spare.element(i));
        }
        spare.settle(len);
        spare.buffer = emptied(self);
    }
}

/// Allocates for every value: a box has no capacity to keep. Its elements keep theirs.
impl<T: ColumnType> ColumnType for Box<[T]> {
    type Spare = Vec<T::Spare>;
    type Mode = T::Mode;
    type Static = Box<[T::Static]>;
    type At<'row> = Box<[T::At<'row>]>;
    const KEPT: bool = T::KEPT;
}

impl<'row, T: FromColumn<'row>> FromColumn<'row> for Box<[T]> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.array::<Self>(ty, T::bind)
    }

    fn read(column: Column<'_, 'row>, spare: &mut Self::Spare) -> Result<Self, DecodeError> {
        let len = column.elements()?.count()?;
        if is_loose(spare, len) {
            give_back(spare, len);
        }
        if spare.len() < len {
            spare.resize_with(len, T::Spare::default);
        }
        // With the exact length known, the vector becomes the box as it is.
        let mut value = Vec::with_capacity(len);
        for (element, spare) in column.list()?.zip(spare) {
            value.push(T::read(element?, spare)?);
        }
        Ok(value.into_boxed_slice())
    }

    fn recycle(self, spare: &mut Self::Spare) {
        for (value, spare) in Vec::from(self).into_iter().zip(spare) {
            value.recycle(spare);
        }
    }
}

/// An empty vector with the memory of `vector`, for elements of another type.
///
/// Collecting from a vector's own iterator reuses its memory when the layouts
/// agree, as they do for types that differ in a lifetime. Only the memory
/// depends on that, not the result.
fn emptied<A, B>(mut vector: Vec<A>) -> Vec<B> {
    vector.clear();
    vector.into_iter().filter_map(|_| None).collect()
}
