//! The structs of the rows, each borrowed and owned.

use jiff::Timestamp;
use jiff::civil::Date;
use prost_types::value::Kind;
use spanner_rows::{DecodeError, Interval, Numeric, OwnedRow, Row, SpannerRow};
use uuid::Uuid;

use super::content::{Content, Feed, Hashes};
use super::convert::FromKind;

/// A borrowed row and what belongs to it.
pub(crate) trait Pair:
    for<'row> SpannerRow<Row<'row>: Content, Lent<'row>: Content>
{
    /// The same row, owned.
    type Owned: OwnedRow + Content + for<'row> SpannerRow<Lent<'row>: Content>;
    /// Its last column.
    type Last<'row>: Feed;
    const LAST: usize;

    /// The next row of values that prost decoded.
    fn convert(kinds: &mut impl Iterator<Item = Kind>) -> Option<Self::Owned>;

    /// All columns by position.
    fn read<'row>(row: &Row<'row>) -> Result<Self::Row<'row>, DecodeError>;

    /// The last column only.
    fn read_last<'row>(row: &Row<'row>) -> Result<Self::Last<'row>, DecodeError>;
}

macro_rules! pair {
    ($borrowed:ident, $owned:ident { $($field:ident)+ }, last<$row:lifetime> $last:ty) => {
        impl Content for $borrowed<'_> {
            fn feed(&self, out: &mut Hashes) {
                let mut columns = 0..;
                $(out.column(columns.next().unwrap_or_default(), &self.$field);)+
            }
        }

        impl Content for $owned {
            fn feed(&self, out: &mut Hashes) {
                let mut columns = 0..;
                $(out.column(columns.next().unwrap_or_default(), &self.$field);)+
            }
        }

        impl Pair for $borrowed<'static> {
            type Owned = $owned;
            type Last<$row> = $last;
            const LAST: usize = [$(stringify!($field)),+].len() - 1;

            #[inline]
            fn convert(kinds: &mut impl Iterator<Item = Kind>) -> Option<$owned> {
                Some($owned { $($field: FromKind::from_kind(kinds.next()?)),+ })
            }

            #[inline]
            fn read<$row>(row: &Row<$row>) -> Result<$borrowed<$row>, DecodeError> {
                let mut columns = 0_usize..;
                Ok($borrowed { $($field: row.get(columns.next().unwrap_or_default())?),+ })
            }

            #[inline]
            fn read_last<$row>(row: &Row<$row>) -> Result<$last, DecodeError> {
                row.get(Self::LAST)
            }
        }
    };
}

#[derive(SpannerRow)]
pub(crate) struct Customer<'row> {
    a: &'row str,
    b: &'row str,
    c: &'row str,
}

#[derive(SpannerRow)]
pub(crate) struct OwnedCustomer {
    a: String,
    b: String,
    c: String,
}

pair!(Customer, OwnedCustomer { a b c }, last<'row> &'row str);

#[derive(SpannerRow)]
pub(crate) struct NullCustomer<'row> {
    a: Option<&'row str>,
    b: Option<&'row str>,
    c: Option<&'row str>,
}

#[derive(SpannerRow)]
pub(crate) struct OwnedNullCustomer {
    a: Option<String>,
    b: Option<String>,
    c: Option<String>,
}

pair!(NullCustomer, OwnedNullCustomer { a b c }, last<'row> Option<&'row str>);

#[derive(SpannerRow)]
pub(crate) struct Exact12<'row> {
    a: bool,
    b: &'row [u8],
    c: Date,
    d: f32,
    e: f64,
    f: Interval,
    g: &'row str,
    h: i64,
    i: Numeric,
    j: &'row str,
    k: Timestamp,
    l: Uuid,
}

#[derive(SpannerRow)]
pub(crate) struct OwnedExact12 {
    a: bool,
    b: Vec<u8>,
    c: Date,
    d: f32,
    e: f64,
    f: Interval,
    g: String,
    h: i64,
    i: Numeric,
    j: String,
    k: Timestamp,
    l: Uuid,
}

pair!(Exact12, OwnedExact12 { a b c d e f g h i j k l }, last<'row> Uuid);

#[derive(SpannerRow)]
pub(crate) struct Strings8<'row> {
    a: &'row str,
    b: &'row str,
    c: &'row str,
    d: &'row str,
    e: &'row str,
    f: &'row str,
    g: &'row str,
    h: &'row str,
}

#[derive(SpannerRow)]
pub(crate) struct OwnedStrings8 {
    a: String,
    b: String,
    c: String,
    d: String,
    e: String,
    f: String,
    g: String,
    h: String,
}

pair!(Strings8, OwnedStrings8 { a b c d e f g h }, last<'row> &'row str);

#[derive(SpannerRow)]
pub(crate) struct NullStrings8<'row> {
    a: Option<&'row str>,
    b: Option<&'row str>,
    c: Option<&'row str>,
    d: Option<&'row str>,
    e: Option<&'row str>,
    f: Option<&'row str>,
    g: Option<&'row str>,
    h: Option<&'row str>,
}

#[derive(SpannerRow)]
pub(crate) struct OwnedNullStrings8 {
    a: Option<String>,
    b: Option<String>,
    c: Option<String>,
    d: Option<String>,
    e: Option<String>,
    f: Option<String>,
    g: Option<String>,
    h: Option<String>,
}

pair!(NullStrings8, OwnedNullStrings8 { a b c d e f g h }, last<'row> Option<&'row str>);

#[derive(SpannerRow)]
pub(crate) struct Narrow<'row> {
    a: i64,
    b: &'row str,
}

#[derive(SpannerRow)]
pub(crate) struct OwnedNarrow {
    a: i64,
    b: String,
}

pair!(Narrow, OwnedNarrow { a b }, last<'row> &'row str);

#[derive(SpannerRow)]
pub(crate) struct Wide10<'row> {
    a: i64,
    b: i64,
    c: i64,
    d: i64,
    e: &'row str,
    f: &'row str,
    g: &'row str,
    h: &'row str,
    i: f64,
    j: Timestamp,
}

#[derive(SpannerRow)]
pub(crate) struct OwnedWide10 {
    a: i64,
    b: i64,
    c: i64,
    d: i64,
    e: String,
    f: String,
    g: String,
    h: String,
    i: f64,
    j: Timestamp,
}

pair!(Wide10, OwnedWide10 { a b c d e f g h i j }, last<'row> Timestamp);

#[derive(SpannerRow)]
pub(crate) struct Single<'row> {
    a: &'row str,
}

#[derive(SpannerRow)]
pub(crate) struct OwnedSingle {
    a: String,
}

pair!(Single, OwnedSingle { a }, last<'row> &'row str);

#[derive(SpannerRow)]
pub(crate) struct Codec4k<'row> {
    a: &'row str,
    b: f64,
    c: bool,
    d: i64,
}

#[derive(SpannerRow)]
pub(crate) struct OwnedCodec4k {
    a: String,
    b: f64,
    c: bool,
    d: i64,
}

pair!(Codec4k, OwnedCodec4k { a b c d }, last<'row> i64);

/// Of the fields as [`Narrow`], but kept apart: a type of its own is bound and
/// compiled on its own.
#[derive(SpannerRow)]
pub(crate) struct Chunked<'row> {
    a: i64,
    b: &'row str,
}

#[derive(SpannerRow)]
pub(crate) struct OwnedChunked {
    a: i64,
    b: String,
}

pair!(Chunked, OwnedChunked { a b }, last<'row> &'row str);

#[derive(SpannerRow)]
pub(crate) struct Point<'row> {
    a: i64,
    b: &'row str,
    c: f64,
    d: bool,
    e: Timestamp,
}

#[derive(SpannerRow)]
pub(crate) struct OwnedPoint {
    a: i64,
    b: String,
    c: f64,
    d: bool,
    e: Timestamp,
}

pair!(Point, OwnedPoint { a b c d e }, last<'row> Timestamp);
