//! Between the types of this crate and generated messages.

use std::time::Duration;

use prost::Message as _;
use prost_types::value::Kind;

use crate::proto::spanner;
use crate::proto::spanner::transaction_options::Mode;
use crate::proto::spanner::transaction_options::read_only::TimestampBound as Bound;
use crate::{
    Field, OwnedValue, PlanNode, PlanNodeKind, PlanValue, QueryPlan, RowType, Timestamp,
    TimestampBound, Type, TypeAnnotation, TypeCode,
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

pub(super) fn to_query_plan(plan: &QueryPlan) -> spanner::QueryPlan {
    let advice = plan.index_advice.iter();
    spanner::QueryPlan {
        plan_nodes: plan.nodes.iter().map(to_plan_node).collect(),
        query_advice: (!plan.index_advice.is_empty()).then(|| spanner::QueryAdvisorResult {
            index_advice: advice
                .map(|advice| spanner::query_advisor_result::IndexAdvice {
                    ddl: advice.ddl.clone(),
                    improvement_factor: advice.improvement_factor,
                })
                .collect(),
        }),
    }
}

fn to_plan_node(node: &PlanNode) -> spanner::PlanNode {
    let links = node.children.iter();
    let short = node.short_representation.as_ref();
    spanner::PlanNode {
        index: node.index,
        kind: match node.kind {
            PlanNodeKind::Unspecified => 0,
            PlanNodeKind::Relational => 1,
            PlanNodeKind::Scalar => 2,
        },
        display_name: node.display_name.clone(),
        child_links: links
            .map(|link| spanner::plan_node::ChildLink {
                child_index: link.child_index,
                r#type: link.kind.clone(),
                variable: link.variable.clone(),
            })
            .collect(),
        short_representation: short.map(|short| spanner::plan_node::ShortRepresentation {
            description: short.description.clone(),
            subqueries: short.subqueries.iter().cloned().collect(),
        }),
        metadata: to_struct(&node.metadata).encode_to_vec().into(),
        execution_stats: to_struct(&node.execution_stats).encode_to_vec().into(),
    }
}

fn to_struct(entries: &[(String, PlanValue)]) -> prost_types::Struct {
    let entries = entries.iter();
    prost_types::Struct {
        fields: entries
            .map(|(name, value)| (name.clone(), to_plan_value(value)))
            .collect(),
    }
}

fn to_plan_value(value: &PlanValue) -> prost_types::Value {
    let kind = match value {
        PlanValue::Null => Kind::NullValue(0),
        PlanValue::Bool(value) => Kind::BoolValue(*value),
        PlanValue::Number(value) => Kind::NumberValue(*value),
        PlanValue::String(text) => Kind::StringValue(text.clone()),
        PlanValue::List(list) => Kind::ListValue(prost_types::ListValue {
            values: list.iter().map(to_plan_value).collect(),
        }),
        PlanValue::Object(entries) => Kind::StructValue(to_struct(entries)),
    };
    prost_types::Value { kind: Some(kind) }
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
