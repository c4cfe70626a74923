use proptest::prelude::*;
use prost::{Message, Name};

use super::support::{read, read_error, sent, texts, through_wire};
use crate::types::encode::ToColumn;
use crate::types::proto::{Proto, ProtoEnum};
use crate::wire::TypeCode;

#[derive(Clone, PartialEq, Message)]
struct Track {
    #[prost(string, tag = "1")]
    title: String,
    #[prost(int64, repeated, tag = "2")]
    plays: Vec<i64>,
}

impl Name for Track {
    const NAME: &'static str = "Track";
    const PACKAGE: &'static str = "music";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
enum Genre {
    Pop = 0,
    Rock = -3,
}

#[test]
fn messages() {
    let Proto(track) = read::<Proto<Track>>(TypeCode::Proto, "CgNhYmM=").unwrap();
    assert_eq!((track.title.as_str(), track.plays.len()), ("abc", 0));
    assert!(read::<Proto<Track>>(TypeCode::Bytes, "").is_ok());
    for bad in ["CgNhYg==", "CgNhYmM"] {
        let error = read_error::<Proto<Track>>(TypeCode::Proto, bad);
        assert!(error.contains("cannot read"), "{error}");
    }
    assert_eq!(
        Proto::<Track>::column_type().proto_type(),
        Some("music.Track")
    );
}

#[test]
fn nothing_is_left_of_the_message_before() {
    let first = Track {
        title: "a".repeat(50),
        plays: vec![1, 2, 3],
    };
    let text = sent(&Proto(first.clone()));
    let seen =
        texts(TypeCode::Proto, [&text, "", "CgNhYg==", &text, "CgFi"]).over::<Proto<Track>>();
    assert_eq!(*seen[0].as_ref().unwrap(), Proto(first.clone()));
    assert_eq!(*seen[1].as_ref().unwrap(), Proto(Track::default()));
    assert!(seen[2].is_err());
    assert_eq!(*seen[3].as_ref().unwrap(), Proto(first));
    assert_eq!(
        *seen[4].as_ref().unwrap(),
        Proto(Track {
            title: "b".to_owned(),
            plays: vec![]
        })
    );
}

/// Without the `prost` feature's types, and only from ENUM: INT64 has 64 bits.
#[test]
fn numbers_of_enums() {
    assert_eq!(read::<i32>(TypeCode::Enum, "-3").unwrap(), -3);
    assert_eq!(read::<Option<i32>>(TypeCode::Enum, "7").unwrap(), Some(7));
    let error = texts(TypeCode::Int64, ["0"]).bind_error::<i32>();
    assert!(
        error.contains("is INT64, which i32 cannot be read from: it reads ENUM; make the field `i64`, or put `#[spanner(try_from = \"i64\")]` on it"),
        "{error}"
    );
    let error = texts(TypeCode::String, ["0"]).bind_error::<i32>();
    assert!(error.ends_with("it reads ENUM"), "{error}");
}

#[test]
fn enums() {
    assert_eq!(
        read::<ProtoEnum<Genre>>(TypeCode::Enum, "-3").unwrap(),
        ProtoEnum(Genre::Rock)
    );
    assert_eq!(
        read::<ProtoEnum<i32>>(TypeCode::Enum, "7").unwrap(),
        ProtoEnum(7)
    );
    assert_eq!(read::<i64>(TypeCode::Enum, "7").unwrap(), 7);
    let error = read_error::<ProtoEnum<Genre>>(TypeCode::Enum, "7");
    assert!(error.contains("no value of this number"), "{error}");
    for error in [
        read_error::<ProtoEnum<i32>>(TypeCode::Enum, "2147483648"),
        read_error::<i32>(TypeCode::Enum, "2147483648"),
        read_error::<i32>(TypeCode::Enum, "-2147483649"),
    ] {
        assert!(error.contains("32 bits"), "{error}");
    }
    let error = texts(TypeCode::Int64, ["0"]).bind_error::<ProtoEnum<Genre>>();
    assert!(error.contains("it reads ENUM"), "{error}");
    assert_eq!(sent(&ProtoEnum(Genre::Rock)), "-3");
    assert_eq!(sent(&ProtoEnum(Genre::Pop)), "0");
}

proptest! {
    #[test]
    fn reads_what_is_sent(title: String, plays: Vec<i64>) {
        let value = Proto(Track { title, plays });
        prop_assert_eq!(through_wire(&value).unwrap(), value);
    }

    #[test]
    fn every_enum_number(number: i32) {
        let wrapped = read::<ProtoEnum<i32>>(TypeCode::Enum, &number.to_string()).unwrap();
        prop_assert_eq!(wrapped, ProtoEnum(number));
        prop_assert_eq!(read::<i32>(TypeCode::Enum, &number.to_string()).unwrap(), number);
    }

    #[test]
    fn any_bytes(bytes: Vec<u8>) {
        let expected = Track::decode(bytes.as_slice()).ok();
        let read = read::<Proto<Track>>(TypeCode::Proto, &sent(&bytes)).ok();
        prop_assert_eq!(read.map(|value| value.0), expected);
    }
}
