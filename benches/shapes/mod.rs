//! Rows of the shapes that are compared, and their messages as the service sends them.
//!
//! Every harness uses them: `decode`, `instructions`, and `compare`, which is a workspace of its own.
//!
//! | file | what is in it |
//! |---|---|
//! | `arms` | the ways of reading that are measured beside each other |
//! | `rows` | the structs of the rows, borrowed and owned |
//! | `convert` | from prost's values to the owned structs |
//! | `content` | what a row contains, as hashes that all readers must agree on |
//! | `messages` | rows cut into encoded messages |
//! | `random` | the same content in every run |

pub(crate) mod arms;
pub(crate) mod content;
pub(crate) mod convert;
pub(crate) mod messages;
pub(crate) mod random;
pub(crate) mod rows;

use spanner_rows::{OwnedValue, TypeCode};

use self::random::Random;
use self::rows::{
    Chunked, Codec4k, Customer, Exact12, Narrow, NullCustomer, NullStrings8, Pair, Point, Single,
    Strings8, Wide10,
};

/// A kind of row, and what its columns contain.
pub(crate) trait Shape {
    const NAME: &'static str;
    const TYPES: &'static [TypeCode];
    type Row: Pair;

    /// The values of one row.
    fn values(random: &mut Random) -> Vec<OwnedValue>;
}

/// Columns are called `a`, `b` and so on, as the fields are.
pub(crate) fn columns<S: Shape>() -> impl Iterator<Item = (String, TypeCode)> {
    let names = (b'a'..=b'z').map(|letter| char::from(letter).to_string());
    names.zip(S::TYPES.iter().copied())
}

macro_rules! shapes {
    ($($(#[$doc:meta])* $shape:ident $name:literal $row:ty, [$($ty:ident)+], $random:ident => $values:expr;)+) => {$(
        $(#[$doc])*
        pub(crate) struct $shape;

        impl Shape for $shape {
            const NAME: &'static str = $name;
            const TYPES: &'static [TypeCode] = &[$(TypeCode::$ty),+];
            type Row = $row;

            fn values($random: &mut Random) -> Vec<OwnedValue> {
                $values.into()
            }
        }
    )+};
}

shapes! {
    /// STRING of 24, 36 and 1,600 bytes.
    CustomerShape "customer" Customer<'static>, [String String String],
        random => [24, 36, 1_600].map(|len| random.ascii(len));

    /// One of everything: BYTES 32, JSON of about 62 bytes, STRING 32, TIMESTAMP with nanoseconds.
    Exact12Shape "exact12" Exact12<'static>,
        [Bool Bytes Date Float32 Float64 Interval Json Int64 Numeric String Timestamp Uuid],
        random => [
            random.boolean(), random.base64(32), random.date(), random.float32(), random.float64(), random.interval(),
            random.json(), random.integer(), random.numeric(), random.ascii(32), random.timestamp(), random.uuid(),
        ];

    /// Eight STRING of 24 bytes.
    Strings8Shape "strings8" Strings8<'static>, [String String String String String String String String],
        random => [24; 8].map(|len| random.ascii(len));

    /// INT64 and STRING 16.
    NarrowShape "narrow" Narrow<'static>, [Int64 String],
        random => [random.integer(), random.ascii(16)];

    /// 4 INT64, 4 STRING of 16 to 40 bytes, FLOAT64, TIMESTAMP.
    Wide10Shape "wide10" Wide10<'static>,
        [Int64 Int64 Int64 Int64 String String String String Float64 Timestamp],
        random => [
            random.integer(), random.integer(), random.integer(), random.integer(), random.ascii_between(16, 40),
            random.ascii_between(16, 40), random.ascii_between(16, 40), random.ascii_between(16, 40),
            random.float64(), random.timestamp(),
        ];

    /// STRING 24.
    SingleShape "single" Single<'static>, [String], random => [random.ascii(24)];

    /// Eight STRING of 0 to 48 bytes.
    Vary8Shape "vary8" Strings8<'static>, [String String String String String String String String],
        random => [(); 8].map(|()| random.ascii_between(0, 48));

    /// As `customer`, a tenth of the values NULL.
    NullCustomerShape "customer, 10 % NULL" NullCustomer<'static>, [String String String],
        random => [24, 36, 1_600].map(|len| random.or_null(|random| random.ascii(len)));

    /// As `customer`, the text of several scripts, of the same length in bytes.
    TextCustomerShape "customer, not ASCII" Customer<'static>, [String String String],
        random => [24, 36, 1_600].map(|len| random.text(len));

    /// As `strings8`, a tenth of the values NULL.
    NullStrings8Shape "strings8, 10 % NULL" NullStrings8<'static>,
        [String String String String String String String String],
        random => [24; 8].map(|len| random.or_null(|random| random.ascii(len)));

    /// As `strings8`, the text of several scripts, of the same length in bytes.
    TextStrings8Shape "strings8, not ASCII" Strings8<'static>,
        [String String String String String String String String],
        random => [24; 8].map(|len| random.text(len));

    /// STRING 16, FLOAT64, BOOL, INT64.
    Codec4kShape "codec4k" Codec4k<'static>, [String Float64 Bool Int64],
        random => [random.ascii(16), random.float64(), random.boolean(), random.integer()];

    /// INT64 and STRING of 10,000 bytes, which is split over messages.
    ChunkedShape "chunked" Chunked<'static>, [Int64 String],
        random => [random.integer(), random.ascii(10_000)];

    /// INT64, STRING 20, FLOAT64, BOOL, TIMESTAMP: one row per query.
    PointShape "point" Point<'static>, [Int64 String Float64 Bool Timestamp],
        random => [random.integer(), random.ascii(20), random.float64(), random.boolean(), random.timestamp()];
}
