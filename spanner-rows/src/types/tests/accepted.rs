//! Which Spanner types each Rust type reads: these, and no others.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use super::support::values;
use crate::row::traits::ColumnType;
use crate::types::base64::Base64;
use crate::types::list::List;
use crate::types::pg_numeric::PgNumeric;
use crate::wire::TypeCode::{self, *};
use crate::wire::{Field, RowType, Type};

const CODES: [TypeCode; 18] = [
    Unspecified,
    Bool,
    Int64,
    Float64,
    Float32,
    Timestamp,
    Date,
    String,
    Bytes,
    Array,
    Struct,
    Numeric,
    Json,
    Proto,
    Enum,
    Interval,
    Uuid,
    Unknown(99),
];

/// `T` binds to columns of these types and says so of all others.
fn reads<T: ColumnType>(accepted: &[TypeCode]) {
    for code in CODES {
        let ty = match code {
            Array => Type::array(Bool.into()),
            Struct => Type::structure(RowType::new([Field::new("a", Bool.into())])),
            code => Type::new(code),
        };
        let bound = values(ty.clone(), []).bind::<T>();
        let name = std::any::type_name::<T>();
        match (bound, accepted.contains(&code)) {
            (Ok(_), true) => {}
            (Err(error), false) => {
                let error = error.to_string();
                assert!(error.contains(&ty.to_string()), "{name}: {error}");
            }
            (_, accepted) => panic!("{name} from {code}, accepted: {accepted}"),
        }
        // What an array reads is what its elements read.
        let bound = values(Type::array(ty), []).bind::<Vec<T>>();
        assert_eq!(
            bound.is_ok(),
            accepted.contains(&code),
            "{name} from ARRAY of {code}"
        );
    }
}

#[test]
fn each_type_reads_what_it_says() {
    const TEXT: &[TypeCode] = &[String, Json, Uuid];
    reads::<bool>(&[Bool]);
    reads::<i64>(&[Int64, Enum]);
    reads::<i32>(&[Enum]);
    reads::<f64>(&[Float64, Float32]);
    reads::<f32>(&[Float32]);
    reads::<&str>(TEXT);
    reads::<Cow<'_, str>>(TEXT);
    reads::<std::string::String>(TEXT);
    reads::<Box<str>>(TEXT);
    reads::<Arc<str>>(TEXT);
    reads::<&[u8]>(&[Bytes, Proto]);
    reads::<Cow<'_, [u8]>>(&[Bytes, Proto]);
    reads::<Vec<u8>>(&[Bytes, Proto]);
    reads::<Box<[u8]>>(&[Bytes, Proto]);
    reads::<bytes::Bytes>(&[Bytes, Proto]);
    reads::<[u8; 3]>(&[Bytes, Proto]);
    reads::<Base64<'_>>(&[Bytes, Proto]);
    reads::<crate::types::timestamp::Timestamp>(&[Timestamp]);
    reads::<SystemTime>(&[Timestamp]);
    reads::<crate::types::numeric::Numeric>(&[Numeric]);
    reads::<PgNumeric>(&[Numeric]);
    reads::<PgNumeric<&str>>(&[Numeric]);
    reads::<crate::types::interval::Interval>(&[Interval]);
    reads::<Vec<bool>>(&[Array]);
    reads::<Box<[bool]>>(&[Array]);
    reads::<List<'_, bool>>(&[Array]);
    reads::<Option<bool>>(&[Bool]);
    reads::<(bool,)>(&[Struct]);
}

#[cfg(feature = "jiff")]
#[test]
fn types_of_jiff() {
    reads::<jiff::Timestamp>(&[Timestamp]);
    reads::<jiff::civil::Date>(&[Date]);
    reads::<jiff::Span>(&[Interval]);
}

#[cfg(feature = "chrono")]
#[test]
fn types_of_chrono() {
    reads::<chrono::DateTime<chrono::Utc>>(&[Timestamp]);
    reads::<chrono::NaiveDate>(&[Date]);
}

#[cfg(feature = "time")]
#[test]
fn types_of_time() {
    reads::<time::OffsetDateTime>(&[Timestamp]);
    reads::<time::Date>(&[Date]);
}

#[cfg(feature = "rust_decimal")]
#[test]
fn types_of_rust_decimal() {
    reads::<rust_decimal::Decimal>(&[Numeric]);
}

#[cfg(feature = "bigdecimal")]
#[test]
fn types_of_bigdecimal() {
    reads::<bigdecimal::BigDecimal>(&[Numeric]);
}

#[cfg(feature = "uuid")]
#[test]
fn types_of_uuid() {
    reads::<uuid::Uuid>(&[Uuid, String]);
}
