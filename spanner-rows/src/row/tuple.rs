//! Tuples of column types are rows, matched by position, and STRUCT columns.

use super::binder::{BindField, Binder};
use super::binding::Binding;
use super::column::Column;
use super::cursor::RowCursor;
use super::error::DecodeError;
use super::mode::{Mode, Or, Plain};
use super::spec::ColumnSpec;
use super::traits::{ColumnType, FromColumn, OwnedRow, SpannerRow};
use crate::wire::{RowType, Type};

/// The mode of a row with fields of these modes.
macro_rules! fold {
    () => { Plain };
    ($first:ident $($rest:ident)*) => { Or<$first::Mode, fold!($($rest)*)> };
}

macro_rules! tuple {
    ($($ty:ident $i:tt)+) => {
        impl<$($ty: ColumnType),+> SpannerRow for ($($ty,)+) {
            const COLUMNS: &'static [ColumnSpec] = &[$(ColumnSpec::at(stringify!($i), $i)),+];
            type Row<'row> = ($($ty::At<'row>,)+);
            type Lent<'row> = <fold!($($ty)+) as Mode>::Lent<'row, Self>;
            type Spare = ($($ty::Spare,)+);
            type Home = Self::Spare;
            type Mode = fold!($($ty)+);

            fn bind(row_type: &RowType, binder: &mut Binder<'_>) -> Binding {
                let fields = [$(BindField::Column(<$ty::At<'static> as FromColumn<'static>>::bind)),+];
                binder.row("tuple", Self::COLUMNS, &fields, row_type)
            }

            #[inline(always)]
            fn decode<'row>(
                cursor: &mut RowCursor<'_, 'row>,
                spare: &mut Self::Spare,
            ) -> Result<Self::Row<'row>, DecodeError> {
                Ok(($($ty::read_field(cursor, &mut spare.$i)?,)+))
            }

            #[inline(always)]
            fn update<'row>(
                row: &mut Self::Row<'row>,
                cursor: &mut RowCursor<'_, 'row>,
                spare: &mut Self::Spare,
            ) -> Result<(), DecodeError> {
                $($ty::set_field(&mut row.$i, cursor, &mut spare.$i)?;)+
                Ok(())
            }

            #[inline(always)]
            fn recycle(row: Self::Row<'_>, spare: &mut Self::Spare) {
                $(row.$i.recycle(&mut spare.$i);)+
            }

            #[inline(always)]
            fn lend<'row>(
                cursor: &mut RowCursor<'_, 'row>,
                home: &'row mut Self::Home,
            ) -> Result<Self::Lent<'row>, DecodeError> {
                <fold!($($ty)+) as Mode>::lend::<Self>(cursor, home)
            }
        }

        impl<$($ty: ColumnType),+> OwnedRow for ($($ty,)+)
        where
            Self: for<'row> SpannerRow<Row<'row> = Self> + Send + 'static
        {}

        impl<$($ty: ColumnType),+> ColumnType for ($($ty,)+) {
            type Spare = <Self as SpannerRow>::Spare;
            type Mode = fold!($($ty)+);
            type Static = ($($ty::Static,)+);
            type At<'row> = ($($ty::At<'row>,)+);
            const KEPT: bool = $($ty::KEPT)||+;
        }

        impl<'row, $($ty: FromColumn<'row>),+> FromColumn<'row> for ($($ty,)+) {
            fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
                let fields = [$(BindField::Column(<$ty as FromColumn<'row>>::bind)),+];
                binder.structure::<Self>(ty, |row_type, binder| {
                    binder.row("tuple", <Self as SpannerRow>::COLUMNS, &fields, row_type)
                })
            }

            fn read(
                column: Column<'_, 'row>,
                spare: &mut Self::Spare,
            ) -> Result<Self, DecodeError> {
                column.structure(|cursor| Ok(($(cursor.read::<$ty>(&mut spare.$i)?,)+)))
            }

            fn set(
                &mut self,
                column: Column<'_, 'row>,
                spare: &mut Self::Spare,
            ) -> Result<(), DecodeError> {
                column.structure(|cursor| {
                    $(cursor.set::<$ty>(&mut self.$i, &mut spare.$i)?;)+
                    Ok(())
                })
            }

            fn recycle(self, spare: &mut Self::Spare) {
                $(self.$i.recycle(&mut spare.$i);)+
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
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11);
