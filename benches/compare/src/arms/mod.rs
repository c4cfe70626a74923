//! The readers. Each turns the answer to a query into rows of the case's shape.

pub(crate) mod by_hand;
pub(crate) mod floor;
pub(crate) mod gcloud;
pub(crate) mod official;
pub(crate) mod ours;

use google_cloud_type::model::Date as OfficialDate;
use google_cloud_wkt::Timestamp as OfficialTimestamp;
use jiff::civil::Date;
use spanner_rows::{Interval, Numeric};
use time::{Date as TimeDate, OffsetDateTime};

use crate::Result;
use crate::client::Counter;
use crate::shapes::content::{Content, Feed, Hash, Hashes};
use crate::shapes::{
    ChunkedShape, Codec4kShape, CustomerShape, Exact12Shape, NarrowShape, PointShape, Shape,
    Strings8Shape, Vary8Shape, Wide10Shape,
};
use gcloud::FromGcloud;
use google_cloud_spanner::result::FromRow;

/// A way of reading.
pub(crate) trait Arm: Sized {
    const NAME: &'static str;

    /// Connects to the server at `host:port`.
    async fn connect(address: &str) -> Result<Self>;

    /// Runs the query and gives every row to `sink`.
    async fn query<S: Compared>(&mut self, sql: &str, sink: &mut Counter) -> Result<()>;
}

/// In the order of the tables.
pub(crate) const NAMES: [&str; 8] = [
    official::Official::NAME,
    gcloud::Gcloud::NAME,
    by_hand::ByHand::NAME,
    ours::BorrowedNext::NAME,
    ours::OwnedNext::NAME,
    ours::Batch::NAME,
    ours::Fresh::NAME,
    floor::Floor::NAME,
];

/// A shape, and the rows that other clients read it into: of owned values, each of the type that its client
/// has for the column, else text.
pub(crate) trait Compared: Shape + 'static {
    type Official: FromRow + Content;
    type Gcloud: FromGcloud + Content;
}

macro_rules! compared {
    ($($shape:ty: $official:ty, $gcloud:ty;)+) => {$(
        impl Compared for $shape {
            type Official = $official;
            type Gcloud = $gcloud;
        }
    )+};
}

type Three = (String, String, String);
type Eight = (
    String,
    String,
    String,
    String,
    String,
    String,
    String,
    String,
);

#[rustfmt::skip]
compared! {
    CustomerShape: Three, Three;
    Exact12Shape:
        (
            bool, Vec<u8>, OfficialDate, f32, f64, Text<Interval>, String, i64, google_cloud_spanner::Decimal, String,
            OfficialTimestamp, uuid::Uuid,
        ),
        (
            bool, Vec<u8>, TimeDate, f64, f64, Text<Interval>, String, i64, gcloud_spanner::bigdecimal::BigDecimal, String,
            OffsetDateTime, Text<uuid::Uuid>,
        );
    Wide10Shape:
        (i64, i64, i64, i64, String, String, String, String, f64, OfficialTimestamp),
        (i64, i64, i64, i64, String, String, String, String, f64, OffsetDateTime);
    NarrowShape: (i64, String), (i64, String);
    Codec4kShape: (String, f64, bool, i64), (String, f64, bool, i64);
    Strings8Shape: Eight, Eight;
    ChunkedShape: (i64, String), (i64, String);
    Vary8Shape: Eight, Eight;
    PointShape: (i64, String, f64, bool, OfficialTimestamp), (i64, String, f64, bool, OffsetDateTime);
}

/// A value that a client has no type for: text, and parsed only to be compared.
pub(crate) struct Text<T> {
    pub(crate) text: String,
    pub(crate) stands_for: std::marker::PhantomData<T>,
}

impl<T> From<String> for Text<T> {
    fn from(text: String) -> Self {
        Self {
            text,
            stands_for: std::marker::PhantomData,
        }
    }
}

impl<T: Feed + std::str::FromStr> Feed for Text<T> {
    fn feed(&self, hash: &mut Hash) {
        if let Ok(value) = self.text.parse::<T>() {
            value.feed(hash);
        }
    }
}

macro_rules! feed {
    ($($ty:ty: $value:ident => $same:expr;)+) => {$(
        impl Feed for $ty {
            fn feed(&self, hash: &mut Hash) {
                let $value = self;
                $same.feed(hash);
            }
        }
    )+};
}

feed! {
    OfficialDate: date => Date::new(date.year as i16, date.month as i8, date.day as i8).expect("a date");
    TimeDate: date => Date::new(date.year() as i16, u8::from(date.month()) as i8, date.day() as i8).expect("a date");
    OfficialTimestamp: time => jiff::Timestamp::new(time.seconds(), time.nanos()).expect("a time");
    OffsetDateTime: time => jiff::Timestamp::from_nanosecond(time.unix_timestamp_nanos()).expect("a time");
    google_cloud_spanner::Decimal: number => number.to_string().parse::<Numeric>().expect("a number");
    gcloud_spanner::bigdecimal::BigDecimal: number => number.to_string().parse::<Numeric>().expect("a number");
}

macro_rules! content {
    ($($ty:ident $index:tt)+) => {
        impl<$($ty: Feed),+> Content for ($($ty,)+) {
            fn feed(&self, out: &mut Hashes) {
                $(out.column($index, &self.$index);)+
            }
        }
    };
}

content! { A 0 B 1 }
content! { A 0 B 1 C 2 }
content! { A 0 B 1 C 2 D 3 }
content! { A 0 B 1 C 2 D 3 E 4 }
content! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 }
content! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 }
content! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 }
