//! Text, bytes and numbers that own what they hold: sent, read afresh, set in place, and
//! what they leave behind.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use super::support::{Owned, sent, text, texts, through_wire, values};
use crate::result::retry::RetrySettings;
use crate::result::rows::RowReader;
use crate::row::traits::FromColumn;
use crate::row::value::OwnedValue;
use crate::types::base64::Base64;
use crate::types::encode::ToColumn;
use crate::types::pg_numeric::PgNumeric;
use crate::wire::samples::{Sample, SampleMessage};
use crate::wire::{Field, RowType, Type, TypeCode};

/// Each value as it is sent, and all of them read one over another and afresh.
fn check<T>(expected: &[T])
where
    T: Owned + ToColumn + Clone + PartialEq + Debug,
{
    let column = |value: &T| {
        let back = through_wire(value).unwrap();
        assert_eq!(back, *value);
        text(&sent(value))
    };
    let rows: Vec<_> = expected.iter().map(column).collect();
    let seen = values(T::column_type(), rows.clone()).over::<T>();
    let seen: Vec<_> = seen.into_iter().map(Result::unwrap).collect();
    assert_eq!(seen, expected);
    // And as elements, in boxes that are made anew.
    let lists = [
        OwnedValue::List(rows.clone()),
        OwnedValue::List(vec![]),
        OwnedValue::List(rows[1..].to_vec()),
    ];
    let seen = values(Type::array(T::column_type()), lists).over::<Box<[T]>>();
    let seen: Vec<_> = seen
        .into_iter()
        .map(|row| row.unwrap().into_vec())
        .collect();
    assert_eq!(seen, [expected.to_vec(), vec![], expected[1..].to_vec()]);
}

#[test]
fn text_and_bytes() {
    let texts = ["", "a", "longer than those before", "żółw", "b"];
    check(&texts.map(str::to_owned));
    check(&texts.map(Box::<str>::from));
    check(&texts.map(Arc::<str>::from));
    let blobs = [&b""[..], b"a", b"\0\xff", b"longer than those before", b"b"];
    check(&blobs.map(<[u8]>::to_vec));
    check(&blobs.map(Box::<[u8]>::from));
    check(&blobs.map(bytes::Bytes::from_static));
}

#[test]
fn numbers() {
    let doubles = [
        0.0,
        -0.0,
        1.5,
        f64::MIN,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    for value in doubles {
        let back = through_wire(&value).unwrap();
        assert_eq!(back.to_bits(), value.to_bits());
        let single = value as f32;
        assert_eq!(through_wire(&single).unwrap().to_bits(), single.to_bits());
    }
    assert!(through_wire(&f64::NAN).unwrap().is_nan());
    assert!(through_wire(&f32::NAN).unwrap().is_nan());
    // What JSON does not have is sent as text.
    assert_eq!(sent(&f64::NAN), "NaN");
    assert_eq!(sent(&f64::INFINITY), "Infinity");
    assert_eq!(sent(&f64::NEG_INFINITY), "-Infinity");
    for value in [true, false] {
        assert_eq!(through_wire(&value).unwrap(), value);
    }
    for value in [0, 1, -1, i64::MAX, i64::MIN] {
        assert_eq!(through_wire(&value).unwrap(), value);
    }
}

#[test]
fn memory_is_left_behind() {
    let mut spare = String::new();
    FromColumn::recycle(String::from("long enough to see"), &mut spare);
    assert!(spare.capacity() >= 18);
    let mut spare = Vec::new();
    FromColumn::recycle(vec![1_u8; 20], &mut spare);
    assert!(spare.capacity() >= 20);
    let mut spare = String::new();
    let number = "12345678.90".parse::<PgNumeric>().unwrap();
    FromColumn::recycle(number, &mut spare);
    assert!(spare.capacity() >= 11);
}

/// The vector's own memory and that of its elements, those beyond a shorter one too.
#[test]
fn vectors_keep_their_memory() {
    let list = |words: &[&str]| Sample::List(words.iter().map(|word| Sample::text(word)).collect());
    let long = "longer than anything else here";
    let lists = [
        &[long; 4][..],
        &["a"],
        &["b", "c", "d", "e"],
        &[],
        &["f"; 4],
    ];
    let row_type = RowType::new([Field::new("v", Type::array(TypeCode::String.into()))]);
    let message = SampleMessage::of(lists.map(list)).columns(&row_type);
    let mut reader = RowReader::<(Vec<String>,)>::new(&RetrySettings::new());
    reader.receive(message.encode());
    reader.end();
    let mut first = None;
    for words in lists {
        let guard = reader.next().unwrap().unwrap();
        let (row,) = &*guard;
        assert_eq!(*row, words);
        let place = row.as_ptr();
        let places: BTreeSet<_> = row.iter().map(|word| word.as_ptr()).collect();
        let (vector, all) = first.get_or_insert_with(|| (place, places.clone()));
        assert_eq!(place, *vector);
        assert!(places.is_subset(all), "{words:?}");
    }
}

#[test]
fn base64_prints_as_it_is() {
    texts(TypeCode::Bytes, ["+/8="]).read::<Base64<'_>, _>(0, |value| {
        let value = value.unwrap();
        assert_eq!(value.to_string(), "+/8=");
        assert_eq!(format!("{value:>6}"), "  +/8=");
    });
}

#[test]
fn a_commit_timestamp_is_a_word_that_the_server_replaces() {
    use crate::types::commit_timestamp::CommitTimestamp;
    assert_eq!(sent(&CommitTimestamp), "spanner.commit_timestamp()");
    let ty = <CommitTimestamp as ToColumn>::column_type();
    assert_eq!(ty.code(), TypeCode::Timestamp);
}
