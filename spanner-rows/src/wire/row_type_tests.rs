use super::*;
use crate::wire::reader::Span;

fn whole(buf: &[u8]) -> Span {
    Span {
        start: 0,
        end: buf.len(),
    }
}

/// Written by hand, field by field.
#[test]
fn every_field_of_a_type() {
    let cases: [(&[u8], Type); 8] = [
        (b"", Type::new(TypeCode::Unspecified)),
        (b"\x08\x02", Type::new(TypeCode::Int64)),
        (
            b"\x08\x0a\x20\x02",
            Type::new(TypeCode::Numeric).with_annotation(TypeAnnotation::PgNumeric),
        ),
        (
            b"\x08\x0d\x2a\x03a.B",
            Type::new(TypeCode::Proto).with_proto_type("a.B"),
        ),
        (
            b"\x08\x08\x12\x06\x08\x0e\x2a\x02cD",
            Type::array(Type::new(TypeCode::Enum).with_proto_type("cD")),
        ),
        (
            b"\x08\x09\x1a\x10\x0a\x07\x0a\x01x\x12\x02\x08\x01\x0a\x05\x12\x03\x08\x91\x01",
            Type::structure(RowType::new([
                Field::new("x", TypeCode::Bool.into()),
                Field::new("", TypeCode::Unknown(145).into()),
            ])),
        ),
        (
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            Type::new(TypeCode::Unknown(-1)),
        ),
        (
            b"\x08\x0b\x20\x07",
            Type::new(TypeCode::Json).with_annotation(TypeAnnotation::Unknown(7)),
        ),
    ];
    for (wire, ty) in cases {
        let parsed = Type::parse(wire, whole(wire), MAX_DEPTH).unwrap();
        assert_eq!(parsed, ty);
        assert_eq!(parsed.code(), ty.code());
        assert_eq!(parsed.annotation(), ty.annotation());
        assert_eq!(parsed.element(), ty.element());
        assert_eq!(parsed.fields(), ty.fields());
        assert_eq!(parsed.proto_type(), ty.proto_type());
        let mut written = Vec::new();
        ty.encode(&mut written);
        // What is zero need not be written, and is.
        let wire = if wire.is_empty() { b"\x08\x00" } else { wire };
        // An empty name is written, too.
        if !ty
            .fields()
            .fields()
            .iter()
            .any(|field| field.name().is_empty())
        {
            assert_eq!(written, wire);
        }
        assert_eq!(
            Type::parse(&written, whole(&written), MAX_DEPTH).unwrap(),
            ty
        );
    }
}

#[test]
fn types_differ_in_every_field() {
    let numeric = Type::new(TypeCode::Numeric);
    let pg = numeric.clone().with_annotation(TypeAnnotation::PgNumeric);
    let proto = Type::new(TypeCode::Proto);
    let types = [
        numeric.clone(),
        pg.clone(),
        proto.clone(),
        proto.clone().with_proto_type("a"),
        proto.with_proto_type("b"),
        Type::array(numeric.clone()),
        Type::array(pg.clone()),
        Type::structure(RowType::new([Field::new("a", numeric.clone())])),
        Type::structure(RowType::new([Field::new("b", numeric)])),
        Type::structure(RowType::new([Field::new("a", pg)])),
        Type::structure(RowType::default()),
    ];
    for (i, a) in types.iter().enumerate() {
        for (j, b) in types.iter().enumerate() {
            assert_eq!(a == b, i == j, "{a} {b}");
        }
    }
}

#[test]
fn positions_of_names() {
    let columns = ["a", "b", "a", "", "c"].map(|name| Field::new(name, TypeCode::Bool.into()));
    let columns = RowType::new(columns);
    assert_eq!(columns.position("b"), Some(1));
    assert_eq!(columns.position("c"), Some(4));
    assert_eq!(columns.position(""), Some(3));
    assert_eq!(columns.position("a"), None, "two have it");
    assert_eq!(columns.position("A"), None);
    assert!(columns.positions("a").eq([0, 2]));
    assert_eq!(columns.positions("d").count(), 0);
    assert_eq!(columns.len(), 5);
    assert!(!columns.is_empty());
    assert!(RowType::default().is_empty());
    let equal = RowType::new(columns.fields().iter().cloned());
    assert!(columns.is_same(&columns.clone()) && columns.is_same(&equal));
    assert!(!columns.is_same(&RowType::default()));
}

#[test]
fn types_as_they_are_written() {
    let pg = Type::new(TypeCode::Numeric).with_annotation(TypeAnnotation::PgNumeric);
    let columns = RowType::new([
        Field::new("id", TypeCode::Int64.into()),
        Field::new("", Type::array(pg)),
        Field::new("p", Type::new(TypeCode::Proto).with_proto_type("a.B")),
        Field::new(
            "s",
            Type::structure(RowType::new([Field::new(
                "u",
                TypeCode::Unknown(99).into(),
            )])),
        ),
    ]);
    assert_eq!(
        columns.to_string(),
        "STRUCT<id INT64, ARRAY<NUMERIC (PG NUMERIC)>, p PROTO<a.B>, s STRUCT<u unknown type 99>>"
    );
    // An ARRAY without an element type is not Spanner's, and is shown all the same.
    assert_eq!(Type::new(TypeCode::Array).to_string(), "ARRAY");
}

#[test]
fn numbers_of_types() {
    for number in -1..20 {
        assert_eq!(TypeCode::from_number(number).number(), number);
        assert_eq!(TypeAnnotation::from_number(number).number(), number);
        let known = (0..=17).contains(&number) && number != 12;
        let unknown = matches!(TypeCode::from_number(number), TypeCode::Unknown(_));
        assert_eq!(unknown, !known, "{number}");
    }
}
