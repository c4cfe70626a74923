//! Protobuf written by hand, field by field.

/// Appends a length-delimited field.
pub(crate) fn put(out: &mut Vec<u8>, tag: u8, content: &[u8]) {
    out.push(tag);
    put_varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A `google.spanner.v1.Type`.
#[derive(Clone, Debug)]
pub(crate) enum Type {
    Scalar(u8),
    /// NUMERIC of the PostgreSQL dialect.
    PgNumeric,
    Array(Box<Self>),
    Struct(Vec<(&'static str, Self)>),
}

impl Type {
    pub(crate) fn array(element: Self) -> Self {
        Self::Array(Box::new(element))
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Scalar(code) => out.extend_from_slice(&[0x08, *code]),
            Self::PgNumeric => out.extend_from_slice(&[0x08, 10, 0x20, 2]),
            Self::Array(element) => {
                out.extend_from_slice(&[0x08, 8]);
                put(&mut out, 0x12, &element.encode());
            }
            Self::Struct(fields) => {
                out.extend_from_slice(&[0x08, 9]);
                put(&mut out, 0x1a, &struct_type(fields));
            }
        }
        out
    }
}

/// A `google.spanner.v1.StructType`.
fn struct_type(fields: &[(&str, Type)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, ty) in fields {
        let mut field = Vec::new();
        put(&mut field, 0x0a, name.as_bytes());
        put(&mut field, 0x12, &ty.encode());
        put(&mut out, 0x0a, &field);
    }
    out
}

/// A message that says what the columns are.
pub(crate) fn metadata(columns: &[(&str, Type)]) -> Vec<u8> {
    let mut metadata = Vec::new();
    put(&mut metadata, 0x0a, &struct_type(columns));
    let mut message = Vec::new();
    put(&mut message, 0x0a, &metadata);
    message
}
