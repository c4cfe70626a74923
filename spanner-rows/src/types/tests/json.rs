use std::borrow::Cow;
use std::collections::HashMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::support::{read, read_error, sent, texts, through_wire, values};
use crate::row::value::OwnedValue;
use crate::types::json::{BorrowedJson, Json, JsonDocument};
use crate::wire::{Type, TypeAnnotation, TypeCode};

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Owned {
    name: String,
    tags: Vec<u32>,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Borrowed<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    plain: &'a str,
}

impl JsonDocument for Borrowed<'_> {
    type At<'row> = Borrowed<'row>;
    type Static = Borrowed<'static>;
}

fn jsonb() -> Type {
    Type::new(TypeCode::Json).with_annotation(TypeAnnotation::PgJsonb)
}

#[test]
fn deserialised() {
    let text = r#"{"name": "x", "tags": [1, 2]}"#;
    for ty in [
        Type::new(TypeCode::Json),
        jsonb(),
        Type::new(TypeCode::String),
    ] {
        let Json(value) = read::<Json<Owned>>(ty.clone(), text).unwrap();
        assert_eq!((value.name.as_str(), &*value.tags), ("x", &[1, 2][..]));
        assert_eq!(
            read::<Value>(ty, text).unwrap(),
            json!({"name": "x", "tags": [1, 2]})
        );
    }
    let error = read_error::<Json<Owned>>(TypeCode::Json, r#"{"name": 1}"#);
    assert!(error.contains("expected a string"), "{error}");
    let error = read_error::<Value>(TypeCode::Json, "{");
    assert!(error.contains("EOF"), "{error}");
}

#[test]
fn borrowed() {
    let values = texts(
        TypeCode::Json,
        [
            r#"{"name": "x", "plain": "y"}"#,
            r#"{"name": "\u0078", "plain": "y"}"#,
            r#"{"name": "", "plain": "\n"}"#,
        ],
    );
    values.read::<BorrowedJson<Borrowed<'_>>, _>(0, |value| {
        let BorrowedJson(value) = value.unwrap();
        assert!(matches!(value.name, Cow::Borrowed("x")));
        assert_eq!(value.plain, "y");
    });
    values.read::<BorrowedJson<Borrowed<'_>>, _>(1, |value| {
        assert!(matches!(value.unwrap().0.name, Cow::Owned(name) if name == "x"));
    });
    values.read::<BorrowedJson<Borrowed<'_>>, _>(2, |value| {
        assert!(value.unwrap_err().to_string().contains("borrowed string"));
    });
    values.read::<&RawValue, _>(1, |value| {
        let raw = value.unwrap();
        assert_eq!(raw.get(), r#"{"name": "\u0078", "plain": "y"}"#);
        assert_eq!(
            serde_json::from_str::<Borrowed<'_>>(raw.get())
                .unwrap()
                .plain,
            "y"
        );
    });
    texts(TypeCode::Json, ["{\"a\":}"]).read::<&RawValue, _>(0, |value| {
        assert!(value.is_err());
    });
}

#[test]
fn null_and_null() {
    let values = values(
        TypeCode::Json,
        [OwnedValue::Null, OwnedValue::String("null".to_owned())],
    );
    values.read::<Option<Json<Option<i32>>>, _>(0, |value| assert_eq!(value.unwrap(), None));
    values.read::<Option<Json<Option<i32>>>, _>(1, |value| {
        assert_eq!(value.unwrap(), Some(Json(None)));
    });
    values.read::<Option<Value>, _>(1, |value| assert_eq!(value.unwrap(), Some(Value::Null)));
    values.read::<Value, _>(0, |value| assert!(value.is_err()));
}

#[test]
fn digits_are_kept_as_text() {
    let text = "[123456789012345678901234567890, 1.0000000000000000001]";
    texts(TypeCode::Json, [text]).read::<&RawValue, _>(0, |value| {
        assert_eq!(value.unwrap().get(), text);
    });
    assert_eq!(read::<String>(jsonb(), text).unwrap(), text);
}

#[test]
fn sent_as_json() {
    let owned = Owned {
        name: "ü\"".to_owned(),
        tags: vec![],
    };
    assert_eq!(sent(&Json(&owned)), r#"{"name":"ü\"","tags":[]}"#);
    let raw: Box<RawValue> = serde_json::from_str(" [1 , 2]").unwrap();
    assert_eq!(sent(&*raw), "[1 , 2]");
    let refused = sent(&Json(HashMap::from([(vec![1], 1)])));
    assert!(
        serde_json::from_str::<Value>(&refused).is_err(),
        "{refused}"
    );
    assert!(refused.contains("key must be a string"), "{refused}");
}

proptest! {
    #[test]
    fn reads_what_is_sent(name: String, tags: Vec<u32>) {
        let value = Json(Owned { name, tags });
        prop_assert_eq!(&through_wire(&value).unwrap(), &value);
        let tree = serde_json::to_value(&value.0).unwrap();
        prop_assert_eq!(through_wire(&tree).unwrap(), tree);
    }

    #[test]
    fn any_text(text: String) {
        let expected = serde_json::from_str::<Value>(&text).ok();
        prop_assert_eq!(read::<Value>(TypeCode::Json, &text).ok(), expected);
    }
}
