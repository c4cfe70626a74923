use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use proptest::prelude::*;

use super::support::{read, read_error, sent, texts, through_wire};
use crate::types::base64::Base64;
use crate::wire::TypeCode;

#[test]
fn fixed_length() {
    assert_eq!(
        read::<[u8; 2]>(TypeCode::Bytes, "+/8=").unwrap(),
        [0xfb, 0xff]
    );
    assert!(read::<[u8; 0]>(TypeCode::Bytes, "").is_ok());
    for text in ["+/8=", ""] {
        let error = read_error::<[u8; 3]>(TypeCode::Bytes, text);
        assert!(error.contains("the array has 3"), "{error}");
    }
    for bad in ["+/8", "+/8!", "+/9=", "-_8=", "===="] {
        let error = read_error::<[u8; 2]>(TypeCode::Bytes, bad);
        assert!(error.contains("base64") || error.contains("has"), "{error}");
    }
    let error = texts(TypeCode::String, ["+/8="]).bind_error::<[u8; 2]>();
    assert!(error.contains("it reads BYTES or PROTO"), "{error}");
}

#[test]
fn undecoded() {
    let values = texts(TypeCode::Proto, ["CgNhYmM=", "+/8"]);
    values.read::<Base64<'_>, _>(0, |value| {
        let value = value.unwrap();
        assert_eq!((value.as_str(), value.decoded_len()), ("CgNhYmM=", Some(5)));
        assert_eq!(value.decode().unwrap(), b"\x0a\x03abc");
        let mut out = vec![1];
        value.decode_into(&mut out).unwrap();
        assert_eq!(out, b"\x01\x0a\x03abc");
        assert_eq!(sent(&value), "CgNhYmM=");
    });
    values.read::<Base64<'_>, _>(1, |value| {
        let value = value.unwrap();
        assert_eq!(value.decoded_len(), None);
        let mut out = vec![1];
        assert!(
            value
                .decode_into(&mut out)
                .unwrap_err()
                .to_string()
                .contains("base64")
        );
        assert_eq!(out, [1]);
    });
}

#[test]
fn shared_text() {
    let text: Arc<str> = read(TypeCode::String, "größe").unwrap();
    assert_eq!(&*text, "größe");
    assert_eq!(through_wire(&text).unwrap(), text);
}

proptest! {
    #[test]
    fn agrees_with_the_base64_crate(bytes: Vec<u8>) {
        let text = BASE64_STANDARD.encode(&bytes);
        prop_assert_eq!(sent(&bytes), text.as_str());
        let values = texts(TypeCode::Bytes, [text.as_str()]);
        values.read::<&[u8], _>(0, |value| assert_eq!(value.unwrap(), bytes));
        values.read::<Base64<'_>, _>(0, |value| assert_eq!(value.unwrap().decode().unwrap(), bytes));
        prop_assert_eq!(read::<Vec<u8>>(TypeCode::Bytes, &text).unwrap(), bytes.as_slice());
        prop_assert_eq!(&*read::<Box<[u8]>>(TypeCode::Bytes, &text).unwrap(), bytes.as_slice());
        prop_assert_eq!(through_wire(&Bytes::from(bytes.clone())).unwrap(), bytes);
    }

    #[test]
    fn fixed(bytes: [u8; 20]) {
        prop_assert_eq!(through_wire(&bytes).unwrap(), bytes);
    }

    #[test]
    fn nearly_base64(text in "[A-Za-z0-9+/=_-]{0,12}") {
        let expected = BASE64_STANDARD.decode(&text).ok();
        prop_assert_eq!(&read::<Vec<u8>>(TypeCode::Bytes, &text).ok(), &expected);
        prop_assert_eq!(&Base64::new(&text).decode().ok(), &expected);
        let fixed = read::<[u8; 6]>(TypeCode::Bytes, &text).ok();
        prop_assert_eq!(fixed, expected.and_then(|bytes| bytes.try_into().ok()));
    }
}
