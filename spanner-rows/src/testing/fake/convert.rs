//! Between the types of this crate and generated messages.

use std::time::Duration;

use prost_types::value::Kind;

use crate::proto::spanner;
use crate::proto::spanner::transaction_options::Mode;
use crate::proto::spanner::transaction_options::read_only::TimestampBound as Bound;
use crate::{
    Field, OwnedValue, RowType, Timestamp, TimestampBound, Type, TypeAnnotation, TypeCode,
};

pub(super) fn to_struct_type(row_type: &RowType) -> spanner::StructType {
    let fields = row_type.fields().iter();
    spanner::StructType {
        fields: fields
            .map(|field| spanner::struct_type::Field {
                name: field.name().to_owned(),
                r#type: Some(to_type(field.ty())),
            })
            .collect(),
    }
}

fn to_type(ty: &Type) -> spanner::Type {
    spanner::Type {
        code: ty.code().number(),
        array_element_type: ty.element().map(|element| Box::new(to_type(element))),
        struct_type: (ty.code() == TypeCode::Struct).then(|| to_struct_type(ty.fields())),
        type_annotation: ty.annotation().number(),
        proto_type_fqn: ty.proto_type().unwrap_or_default().to_owned(),
    }
}

pub(super) fn from_type(ty: &spanner::Type) -> Type {
    let code = TypeCode::from_number(ty.code);
    let plain = match (&ty.array_element_type, &ty.struct_type) {
        (Some(element), _) if code == TypeCode::Array => Type::array(from_type(element)),
        (_, Some(fields)) if code == TypeCode::Struct => {
            let fields = fields.fields.iter().map(|field| {
                let ty = field.r#type.as_ref();
                let unspecified = || Type::new(TypeCode::Unspecified);
                Field::new(field.name.as_str(), ty.map_or_else(unspecified, from_type))
            });
            Type::structure(RowType::new(fields))
        }
        _ => Type::new(code),
    };
    let plain = if ty.proto_type_fqn.is_empty() {
        plain
    } else {
        plain.with_proto_type(ty.proto_type_fqn.as_str())
    };
    plain.with_annotation(TypeAnnotation::from_number(ty.type_annotation))
}

/// `None` for what Spanner has no value for: a JSON object, or no kind at all.
pub(super) fn from_value(value: prost_types::Value) -> Option<OwnedValue> {
    Some(match value.kind? {
        Kind::NullValue(_) => OwnedValue::Null,
        Kind::BoolValue(value) => OwnedValue::Bool(value),
        Kind::NumberValue(value) => OwnedValue::Number(value),
        Kind::StringValue(text) => OwnedValue::String(text),
        Kind::ListValue(list) => OwnedValue::List(from_list(list)?),
        Kind::StructValue(_) => return None,
    })
}

pub(super) fn from_list(list: prost_types::ListValue) -> Option<Vec<OwnedValue>> {
    list.values.into_iter().map(from_value).collect()
}

pub(super) fn to_timestamp(timestamp: Timestamp) -> prost_types::Timestamp {
    prost_types::Timestamp {
        seconds: timestamp.seconds(),
        // At most 999,999,999.
        nanos: timestamp.nanoseconds() as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_survive_the_way_there_and_back() {
        let inner = RowType::new([
            Field::new("", Type::new(TypeCode::Unknown(99))),
            Field::new("e", Type::new(TypeCode::Enum).with_proto_type("a.B")),
        ]);
        let numeric = Type::new(TypeCode::Numeric).with_annotation(TypeAnnotation::PgNumeric);
        for ty in [
            Type::array(Type::structure(inner)),
            Type::array(Type::array(numeric)),
        ] {
            assert_eq!(from_type(&to_type(&ty)), ty);
        }
    }
}

/// How a read-only transaction is bound in time; `None` when it is none, or has no time
/// that there is.
pub(super) fn from_options(options: &spanner::TransactionOptions) -> Option<TimestampBound> {
    let Some(Mode::ReadOnly(read_only)) = &options.mode else {
        return None;
    };
    Some(match &read_only.timestamp_bound {
        None | Some(Bound::Strong(_)) => TimestampBound::Strong,
        Some(Bound::ReadTimestamp(time)) => TimestampBound::ReadTimestamp(from_timestamp(time)?),
        Some(Bound::MinReadTimestamp(time)) => {
            TimestampBound::MinReadTimestamp(from_timestamp(time)?)
        }
        Some(Bound::ExactStaleness(time)) => {
            TimestampBound::ExactStaleness(Duration::try_from(*time).ok()?)
        }
        Some(Bound::MaxStaleness(time)) => {
            TimestampBound::MaxStaleness(Duration::try_from(*time).ok()?)
        }
    })
}

fn from_timestamp(time: &prost_types::Timestamp) -> Option<Timestamp> {
    Timestamp::new(time.seconds, u32::try_from(time.nanos).ok()?)
}
