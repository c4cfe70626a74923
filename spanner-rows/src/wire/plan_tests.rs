use std::collections::BTreeMap;

use prost::Message as _;
use prost_types::value::Kind as ProtoKind;
use prost_types::{ListValue, Struct, Value};

use super::*;
use crate::proto::spanner as proto;

fn value(kind: ProtoKind) -> Value {
    Value { kind: Some(kind) }
}

fn object(entries: &[(&str, Value)]) -> Struct {
    let entries = entries.iter().cloned();
    Struct {
        fields: entries.map(|(name, it)| (name.to_owned(), it)).collect(),
    }
}

fn text_of(text: &str) -> Value {
    value(ProtoKind::StringValue(text.to_owned()))
}

fn link(child_index: i32, kind: &str, variable: &str) -> proto::plan_node::ChildLink {
    proto::plan_node::ChildLink {
        child_index,
        r#type: kind.to_owned(),
        variable: variable.to_owned(),
    }
}

fn node(index: i32, kind: i32, name: &str) -> proto::PlanNode {
    proto::PlanNode {
        index,
        kind,
        display_name: name.to_owned(),
        ..Default::default()
    }
}

fn sent() -> proto::QueryPlan {
    let rows = object(&[("total", text_of("7")), ("unit", text_of("rows"))]);
    let stats = object(&[
        ("rows", value(ProtoKind::StructValue(rows))),
        ("cached", value(ProtoKind::BoolValue(true))),
        ("factor", value(ProtoKind::NumberValue(1.5))),
        ("nothing", value(ProtoKind::NullValue(0))),
        (
            "list",
            value(ProtoKind::ListValue(ListValue {
                values: vec![text_of("a"), value(ProtoKind::NumberValue(2.0))],
            })),
        ),
    ]);
    let metadata = object(&[("scan_type", text_of("TableScan"))]);
    let short = proto::plan_node::ShortRepresentation {
        description: "$x = 1".to_owned(),
        subqueries: BTreeMap::from([("$x".to_owned(), 2)]).into_iter().collect(),
    };
    let advice = proto::query_advisor_result::IndexAdvice {
        ddl: vec!["CREATE INDEX i ON t (a)".to_owned()],
        improvement_factor: 3.25,
    };
    proto::QueryPlan {
        plan_nodes: vec![
            proto::PlanNode {
                child_links: vec![link(1, "", ""), link(3, "Split Range", "")],
                ..node(0, 1, "Distributed Union")
            },
            proto::PlanNode {
                child_links: vec![link(2, "", "x")],
                execution_stats: stats.encode_to_vec().into(),
                metadata: metadata.encode_to_vec().into(),
                ..node(1, 1, "Scan")
            },
            node(2, 1, "Unit"),
            proto::PlanNode {
                short_representation: Some(short),
                ..node(3, 2, "Function")
            },
        ],
        query_advice: Some(proto::QueryAdvisorResult {
            index_advice: vec![advice],
        }),
    }
}

#[test]
fn everything_of_a_plan_is_read() {
    let plan = QueryPlan::parse(&sent().encode_to_vec()).unwrap();
    assert_eq!(plan.nodes.len(), 4);
    let root = plan.root().unwrap();
    assert_eq!(
        (root.index, root.kind, &*root.display_name),
        (0, PlanNodeKind::Relational, "Distributed Union")
    );
    let children: Vec<_> = plan.children(root).collect();
    assert_eq!(children[1].0.kind, "Split Range");
    let scan = children[0].1;
    assert_eq!(scan.children[0].variable, "x");
    assert_eq!(
        scan.metadata,
        [(
            "scan_type".to_owned(),
            PlanValue::String("TableScan".to_owned())
        )]
    );
    let rows = scan.execution_stat("rows").unwrap();
    assert_eq!(rows.get("total").unwrap().as_str(), Some("7"));
    assert_eq!(scan.execution_stat("cached"), Some(&PlanValue::Bool(true)));
    assert_eq!(scan.execution_stat("nothing"), Some(&PlanValue::Null));
    assert_eq!(
        scan.execution_stat("list").unwrap().to_string(),
        r#"["a", 2]"#
    );
    assert_eq!(scan.execution_stat("none"), None);
    let function = children[1].1;
    assert_eq!(function.kind, PlanNodeKind::Scalar);
    let short = function.short_representation.as_ref().unwrap();
    assert_eq!(short.description, "$x = 1");
    assert_eq!(short.subqueries, [("$x".to_owned(), 2)]);
    assert_eq!(plan.index_advice[0].ddl, ["CREATE INDEX i ON t (a)"]);
    assert_eq!(plan.index_advice[0].improvement_factor, 3.25);
}

#[test]
fn a_plan_is_written_as_the_tree_of_its_operators() {
    let plan = QueryPlan::parse(&sent().encode_to_vec()).unwrap();
    assert_eq!(plan.to_string(), "Distributed Union\n  Scan\n    Unit");
    assert_eq!(QueryPlan::default().to_string(), "");
}

/// Links are numbers of the server's: in circles, to nothing, and many to one.
#[test]
fn links_of_any_kind_end() {
    let nodes = (0..40).map(|i| proto::PlanNode {
        child_links: vec![
            link(i + 1, "", ""),
            link(i + 1, "", ""),
            link(0, "", ""),
            link(-1, "", ""),
        ],
        ..node(i, 1, "Node")
    });
    let sent = proto::QueryPlan {
        plan_nodes: nodes.collect(),
        query_advice: None,
    };
    let plan = QueryPlan::parse(&sent.encode_to_vec()).unwrap();
    assert_eq!(plan.to_string().lines().count(), 40);
}

#[test]
fn what_is_malformed_or_too_deep_is_an_error() {
    let whole = sent().encode_to_vec();
    for end in 0..whole.len() {
        // Some places lie between two fields; nothing panics at the others.
        let _ = QueryPlan::parse(&whole[..end]);
    }
    assert!(QueryPlan::parse(&whole[..whole.len() - 1]).is_err());
    assert!(QueryPlan::parse(b"\x0a\x01").is_err());
    // An advice whose factor is no double.
    assert!(QueryPlan::parse(b"\x12\x04\x0a\x02\x10\x01").is_err());

    let mut deep = text_of("bottom");
    for _ in 0..200 {
        let list = ListValue { values: vec![deep] };
        deep = value(ProtoKind::ListValue(list));
    }
    let node = proto::PlanNode {
        metadata: object(&[("deep", deep)]).encode_to_vec().into(),
        ..node(0, 1, "Node")
    };
    let sent = proto::QueryPlan {
        plan_nodes: vec![node],
        query_advice: None,
    };
    let error = QueryPlan::parse(&sent.encode_to_vec()).unwrap_err();
    assert_eq!(error.kind(), WireErrorKind::TooDeep);
}
