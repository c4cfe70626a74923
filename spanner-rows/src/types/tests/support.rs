//! Results with one column, read without a stream.

use crate::row::binder::BindError;
use crate::row::error::DecodeError;
use crate::row::segment::{Segment, Shape};
use crate::row::traits::{ColumnType, FromColumn, SpannerRow};
use crate::row::value::OwnedValue;
use crate::types::encode::ToColumn;
use crate::wire::value::VALUES_TAG;
use crate::wire::writer::{put_bytes, put_value};
use crate::wire::{Field, RowType, Type, TypeCode, ValueWriter};

/// The values of one column, one per row.
pub(super) struct Values {
    row_type: RowType,
    segment: Segment,
}

pub(super) fn values(ty: impl Into<Type>, values: impl IntoIterator<Item = OwnedValue>) -> Values {
    written(ty, values, |value, out| value.write(out))
}

pub(super) fn texts<'t>(ty: impl Into<Type>, texts: impl IntoIterator<Item = &'t str>) -> Values {
    values(ty, texts.into_iter().map(text))
}

pub(super) fn text(text: &str) -> OwnedValue {
    OwnedValue::String(text.to_owned())
}

fn written<V>(
    ty: impl Into<Type>,
    values: impl IntoIterator<Item = V>,
    write: impl Fn(&V, ValueWriter<'_>),
) -> Values {
    let mut wire = Vec::new();
    let mut starts = vec![0];
    for value in values {
        put_value(&mut wire, VALUES_TAG, |out| write(&value, out));
        starts.push(wire.len() as u32);
    }
    Values {
        row_type: RowType::new([Field::new("v", ty.into())]),
        segment: Segment::new(wire.into(), starts, None),
    }
}

impl Values {
    pub(super) fn bind<T: ColumnType>(&self) -> Result<Shape, BindError> {
        Shape::bind::<(T,)>(self.row_type.clone())
    }

    /// Reads row `i` into fresh memory and hands it to `look`.
    pub(super) fn read<T: ColumnType, R>(
        &self,
        i: usize,
        look: impl FnOnce(Result<T::At<'_>, DecodeError>) -> R,
    ) -> R {
        let shape = self.bind::<T>().unwrap_or_else(|error| panic!("{error}"));
        let row = self.segment.read(&shape, i, i as u64, |cursor| {
            <(T,) as SpannerRow>::decode(cursor, &mut Default::default())
        });
        look(row.map(|(value,)| value))
    }

    /// Reads row `from` and sets what came of it to row `to`; both borrow from one buffer.
    pub(super) fn read_and_set<T: ColumnType, R>(
        &self,
        from: usize,
        to: usize,
        look: impl FnOnce(T::At<'_>) -> R,
    ) -> R {
        let shape = self.bind::<T>().unwrap_or_else(|error| panic!("{error}"));
        let mut spare = <(T,) as SpannerRow>::Spare::default();
        let row = self.segment.read(&shape, from, 0, |cursor| {
            <(T,) as SpannerRow>::decode(cursor, &mut spare)
        });
        let mut row = row.unwrap_or_else(|error| panic!("{error}"));
        let set = self.segment.read(&shape, to, 0, |cursor| {
            <(T,) as SpannerRow>::update(&mut row, cursor, &mut spare)
        });
        set.unwrap_or_else(|error| panic!("{error}"));
        look(row.0)
    }

    /// Reads all rows one over another, as a stream does with a kept row, and each
    /// once more from the memory that the one before left; both must agree.
    pub(super) fn over<T>(&self) -> Vec<Result<T, DecodeError>>
    where
        T: Owned + Clone + PartialEq + std::fmt::Debug,
    {
        let shape = self.bind::<T>().unwrap_or_else(|error| panic!("{error}"));
        let mut seen = Vec::new();
        let mut kept: Option<(T,)> = None;
        let mut spare = <(T,) as SpannerRow>::Spare::default();
        let mut recycled = <(T,) as SpannerRow>::Spare::default();
        for i in 0..self.segment.rows() {
            let set = self.segment.read(&shape, i, 0, |cursor| match &mut kept {
                Some(row) => {
                    <(T,) as SpannerRow>::update(row, cursor, &mut spare).map(|()| row.0.clone())
                }
                None => {
                    let row = <(T,) as SpannerRow>::decode(cursor, &mut spare)?;
                    Ok(kept.insert(row).0.clone())
                }
            });
            let fresh = self.segment.read(&shape, i, 0, |cursor| {
                <(T,) as SpannerRow>::decode(cursor, &mut recycled)
            });
            match (&set, fresh) {
                (Ok(set), Ok(fresh)) => {
                    assert_eq!(*set, fresh.0, "row {i}");
                    <(T,) as SpannerRow>::recycle(fresh, &mut recycled);
                }
                (Err(set), Err(fresh)) => assert_eq!(set.to_string(), fresh.to_string()),
                (set, fresh) => panic!("row {i}: {set:?} set, {fresh:?} fresh"),
            }
            seen.push(set);
        }
        seen
    }

    /// Reads all rows one over another, and from what the one before left, and
    /// shows each value with the number of its row.
    pub(super) fn over_with<T: Owned>(&self, look: impl Fn(usize, &T)) {
        let shape = self.bind::<T>().unwrap_or_else(|error| panic!("{error}"));
        let mut spare = <(T,) as SpannerRow>::Spare::default();
        let mut recycled = <(T,) as SpannerRow>::Spare::default();
        let mut kept: Option<(T,)> = None;
        for i in 0..self.segment.rows() {
            let read = self.segment.read(&shape, i, 0, |cursor| match &mut kept {
                Some(row) => <(T,) as SpannerRow>::update(row, cursor, &mut spare),
                None => {
                    kept = Some(<(T,) as SpannerRow>::decode(cursor, &mut spare)?);
                    Ok(())
                }
            });
            read.unwrap_or_else(|error| panic!("{error}"));
            look(i, &kept.as_ref().expect("it was read").0);
            let fresh = self.segment.read(&shape, i, 0, |cursor| {
                <(T,) as SpannerRow>::decode(cursor, &mut recycled)
            });
            let fresh = fresh.unwrap_or_else(|error| panic!("{error}"));
            look(i, &fresh.0);
            <(T,) as SpannerRow>::recycle(fresh, &mut recycled);
        }
    }

    pub(super) fn bind_error<T: ColumnType>(&self) -> String {
        self.bind::<T>().expect_err("must not fit").to_string()
    }
}

/// One value of these bytes, well formed or not.
pub(super) fn raw(ty: Type, value: &[u8]) -> Values {
    let mut wire = Vec::new();
    put_bytes(&mut wire, VALUES_TAG, value);
    let starts = vec![0, wire.len() as u32];
    Values {
        row_type: RowType::new([Field::new("v", ty)]),
        segment: Segment::new(wire.into(), starts, None),
    }
}

/// A column type without a lifetime.
pub(super) trait Owned:
    for<'row> ColumnType<At<'row> = Self> + for<'row> FromColumn<'row> + 'static
{
}

impl<T> Owned for T where
    T: for<'row> ColumnType<At<'row> = T> + for<'row> FromColumn<'row> + 'static
{
}

/// Reads one text into a type that owns what it holds.
pub(super) fn read<T: Owned>(ty: impl Into<Type>, value: &str) -> Result<T, DecodeError> {
    texts(ty, [value]).read::<T, _>(0, |value| value)
}

/// The message of the error that reading one text gives.
pub(super) fn read_error<T: Owned + std::fmt::Debug>(ty: impl Into<Type>, value: &str) -> String {
    read::<T>(ty, value)
        .expect_err("must not be readable")
        .to_string()
}

/// Writes a value as a parameter and reads it back.
pub(super) fn through_wire<T: Owned + ToColumn>(value: &T) -> Result<T, DecodeError> {
    written(T::column_type(), [value], |value, out| value.write(out)).read::<T, _>(0, |value| value)
}

/// The text that a parameter is sent as.
pub(super) fn sent<T: ToColumn + ?Sized>(value: &T) -> String {
    let values = written(TypeCode::String, [value], |value, out| value.write(out));
    values.read::<String, _>(0, |value| value.expect("a string"))
}
