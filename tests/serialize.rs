//! Rows without a struct, and values, through serde.

use serde_json::json;
use spanner_rows::testing::Message;
use spanner_rows::{
    Field, OwnedValue, RetrySettings, Row, RowReader, RowType, Type, TypeAnnotation, TypeCode,
};

fn text(text: &str) -> OwnedValue {
    OwnedValue::String(text.to_owned())
}

/// What becomes of the only row of a result.
fn json_of(columns: &[(&str, Type)], values: Vec<OwnedValue>) -> Result<String, String> {
    let mut rows = RowReader::<Row<'_>>::new(&RetrySettings::default());
    let columns = columns.iter().map(|(name, ty)| (*name, ty.clone()));
    rows.receive(
        Message::new()
            .columns(columns)
            .values(values)
            .last()
            .encode(),
    );
    let row = rows.next().unwrap().unwrap();
    serde_json::to_string(&row).map_err(|error| error.to_string())
}

#[test]
fn the_types_of_the_columns_decide() {
    let scalar = Type::new;
    let track = Type::structure(RowType::new([
        Field::new("no", scalar(TypeCode::Int64)),
        Field::new("title", scalar(TypeCode::String)),
    ]));
    let oid = scalar(TypeCode::Int64).with_annotation(TypeAnnotation::PgOid);
    let columns = [
        ("yes", scalar(TypeCode::Bool)),
        ("least", scalar(TypeCode::Int64)),
        ("oid", oid),
        ("kind", scalar(TypeCode::Enum)),
        ("half", scalar(TypeCode::Float64)),
        ("nan", scalar(TypeCode::Float32)),
        ("bytes", scalar(TypeCode::Bytes)),
        ("number", scalar(TypeCode::Numeric)),
        ("document", scalar(TypeCode::Json)),
        ("nothing", scalar(TypeCode::Int64)),
        ("numbers", Type::array(scalar(TypeCode::Int64))),
        ("tracks", Type::array(track)),
    ];
    let list = |values: &[OwnedValue]| OwnedValue::List(values.to_vec());
    let values = vec![
        OwnedValue::Bool(true),
        text("-9223372036854775808"),
        text("26"),
        text("3"),
        OwnedValue::Number(0.5),
        text("NaN"),
        text("+/8="),
        text("1.50"),
        text("{\"a\":\"\u{e9}\"}"),
        OwnedValue::Null,
        list(&[text("1"), OwnedValue::Null, text("2")]),
        list(&[list(&[text("1"), text("One")]), OwnedValue::Null]),
    ];
    let expected = concat!(
        r#"{"yes":true,"least":-9223372036854775808,"oid":26,"kind":3,"half":0.5,"nan":"NaN","#,
        r#""bytes":"+/8=","number":"1.50","document":"{\"a\":\"é\"}","nothing":null,"#,
        r#""numbers":[1,null,2],"tracks":[{"no":1,"title":"One"},null]}"#
    );
    assert_eq!(json_of(&columns, values).unwrap(), expected);
}

#[test]
fn columns_of_the_same_name_are_all_there() {
    let columns = [
        ("n", Type::new(TypeCode::Int64)),
        ("n", Type::new(TypeCode::String)),
    ];
    let json = json_of(&columns, vec![text("1"), text("1")]).unwrap();
    assert_eq!(json, r#"{"n":1,"n":"1"}"#);
}

#[test]
fn what_is_not_of_its_type_is_told_with_its_column() {
    let columns = [("n", Type::new(TypeCode::Int64))];
    let error = json_of(&columns, vec![text("x")]).unwrap_err();
    assert!(
        error.contains("`n`") && error.contains("\"x\" is no INT64"),
        "{error}"
    );

    let inner = Type::structure(RowType::new([
        Field::new("a", Type::new(TypeCode::Int64)),
        Field::new("b", Type::new(TypeCode::Int64)),
    ]));
    let short = OwnedValue::List(vec![text("1")]);
    let error = json_of(&[("s", inner)], vec![short]).unwrap_err();
    assert!(error.contains("`s`") && error.contains("`b`"), "{error}");
}

#[test]
fn values_are_what_they_were() {
    let value = OwnedValue::List(vec![
        OwnedValue::Null,
        OwnedValue::Bool(false),
        OwnedValue::Number(-0.0),
        OwnedValue::Number(1e300),
        text("9007199254740993"),
        text("NaN"),
        OwnedValue::List(vec![]),
    ]);
    let json = serde_json::to_string(&value).unwrap();
    let expected = r#"[null,false,-0.0,1e+300,"9007199254740993","NaN",[]]"#;
    assert_eq!(json, expected);
    assert_eq!(serde_json::from_str::<OwnedValue>(&json).unwrap(), value);
    assert_eq!(
        serde_json::from_value::<OwnedValue>(json!([7, u64::MAX, "a"])).unwrap(),
        OwnedValue::List(vec![text("7"), text("18446744073709551615"), text("a")])
    );
    let error = serde_json::from_value::<OwnedValue>(json!({"a": 1})).unwrap_err();
    assert!(error.to_string().contains("a sequence of these"), "{error}");
}
