use proptest::prelude::*;
use uuid::Uuid;

use super::support::{read, read_error, sent, through_wire, values};
use crate::row::value::OwnedValue;
use crate::wire::TypeCode;

#[test]
fn either_case() {
    let text = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
    let expected = Uuid::try_parse(text).unwrap();
    for ty in [TypeCode::Uuid, TypeCode::String] {
        assert_eq!(read::<Uuid>(ty, text).unwrap(), expected);
        assert_eq!(read::<Uuid>(ty, &text.to_uppercase()).unwrap(), expected);
    }
    assert_eq!(sent(&expected), text);
    assert_eq!(read::<String>(TypeCode::Uuid, text).unwrap(), text);
}

#[test]
fn what_is_refused() {
    for text in [
        "",
        "not-a-uuid",
        "f81d4fae7dec11d0a76500a0c91e6bf6",
        "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}",
        "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf61",
        "f81d4fae-7dec-11d0-a76500-a0c91e6bf6",
        "f81d4fag-7dec-11d0-a765-00a0c91e6bf6",
        "é1d4fae-7dec-11d0-a765-00a0c91e6bf6",
    ] {
        let error = read_error::<Uuid>(TypeCode::Uuid, text);
        assert!(error.contains("is not a UUID"), "{error}");
    }
    values(TypeCode::Uuid, [OwnedValue::Null]).read::<Uuid, _>(0, |value| {
        let error = value.unwrap_err().to_string();
        assert!(error.contains("`Option`"), "{error}");
    });
}

proptest! {
    #[test]
    fn reads_what_is_sent(bits: u128) {
        let value = Uuid::from_u128(bits);
        prop_assert_eq!(through_wire(&value).unwrap(), value);
        let upper = value.to_string().to_uppercase();
        prop_assert_eq!(read::<Uuid>(TypeCode::Uuid, &upper).unwrap(), value);
    }

    #[test]
    fn refuses_a_wrong_byte_anywhere(bits: u128, at in 0_usize..36, byte in 0_u8..128) {
        let mut text = Uuid::from_u128(bits).to_string().into_bytes();
        text[at] = byte;
        let text = String::from_utf8(text).unwrap();
        prop_assert_eq!(read::<Uuid>(TypeCode::Uuid, &text).ok(), Uuid::try_parse(&text).ok());
    }

    #[test]
    fn any_text(text: String) {
        prop_assert!(read::<Uuid>(TypeCode::Uuid, &text).is_err());
    }
}
