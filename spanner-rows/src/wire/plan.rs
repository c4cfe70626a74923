//! How a statement is executed: `google.spanner.v1.QueryPlan`.

use std::collections::BTreeSet;
use std::fmt;

use super::error::{WireError, WireErrorKind};
use super::reader::{Fields, MAX_DEPTH, Span};
use super::row_type::string;
use super::value::{self, Elements, Kind};

/// How a statement is, or was, executed (`google.spanner.v1.QueryPlan`).
///
/// Comes with [`ResultStats::query_plan`](crate::ResultStats::query_plan) when the
/// [mode](crate::QueryMode) of the query asks for it. `Display` writes the operators as a
/// tree.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct QueryPlan {
    /// The operators and expressions in pre-order: the root is the first one, each stands
    /// at the place of its [`index`](PlanNode::index) (`plan_nodes`).
    pub nodes: Vec<PlanNode>,
    /// Indexes that would make the statement cheaper (`query_advice`).
    pub index_advice: Vec<IndexAdvice>,
}

/// One operator or expression of a plan (`google.spanner.v1.PlanNode`).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PlanNode {
    /// Its place in [`QueryPlan::nodes`], from 0.
    pub index: i32,
    /// What it is.
    pub kind: PlanNodeKind,
    /// Its name for people.
    pub display_name: String,
    /// What it reads from.
    pub children: Vec<PlanLink>,
    /// An expression in short, with the nodes of its subqueries by name; of scalar nodes only.
    pub short_representation: Option<ShortRepresentation>,
    /// Properties of the node, which differ by operator.
    pub metadata: Vec<(String, PlanValue)>,
    /// What executing it took; only with [`QueryMode::Profile`](crate::QueryMode::Profile).
    pub execution_stats: Vec<(String, PlanValue)>,
}

/// What a node of a plan is (`google.spanner.v1.PlanNode.Kind`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanNodeKind {
    /// Not said, or one that this version does not know.
    #[default]
    Unspecified,
    /// An operator that gives rows.
    Relational,
    /// An expression.
    Scalar,
}

/// The way from a node of a plan to one that it reads from
/// (`google.spanner.v1.PlanNode.ChildLink`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanLink {
    /// The [index](PlanNode::index) of the child.
    pub child_index: i32,
    /// What the child is to its parent, for instance `Build` or `Probe`; often empty.
    pub kind: String,
    /// The variable that the child gives a value to; empty for none.
    pub variable: String,
}

/// An expression in short (`google.spanner.v1.PlanNode.ShortRepresentation`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShortRepresentation {
    /// The expression.
    pub description: String,
    /// Variables that the description names, and the indexes of the nodes that give them.
    pub subqueries: Vec<(String, i32)>,
}

/// An index that would make the statement cheaper
/// (`google.spanner.v1.QueryAdvisorResult.IndexAdvice`).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct IndexAdvice {
    /// The statements that make it, if they are run in this order.
    pub ddl: Vec<String>,
    /// By what factor the cost is estimated to fall.
    pub improvement_factor: f64,
}

/// A value of a node's metadata or statistics, in the form of JSON
/// (`google.protobuf.Value`).
#[derive(Clone, Debug, PartialEq)]
pub enum PlanValue {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string; most numbers come as such.
    String(String),
    /// A list.
    List(Vec<Self>),
    /// An object.
    Object(Vec<(String, Self)>),
}

impl QueryPlan {
    /// The node that gives the result.
    #[must_use]
    pub fn root(&self) -> Option<&PlanNode> {
        self.nodes.first()
    }

    /// The nodes that a node reads from, with what they are to it.
    pub fn children<'a>(
        &'a self,
        node: &'a PlanNode,
    ) -> impl Iterator<Item = (&'a PlanLink, &'a PlanNode)> {
        node.children.iter().filter_map(|link| {
            let index = usize::try_from(link.child_index).ok()?;
            Some((link, self.nodes.get(index)?))
        })
    }

    /// Reads a serialised `QueryPlan`.
    pub(super) fn parse(wire: &[u8]) -> Result<Self, WireError> {
        let mut plan = Self::default();
        let mut fields = Fields::new(wire, Span::whole(wire));
        while let Some(field) = fields.next()? {
            match field.tag.field {
                1 => plan.nodes.push(PlanNode::parse(wire, field.message()?)?),
                2 => {
                    let mut advice = Fields::new(wire, field.message()?);
                    while let Some(field) = advice.next()? {
                        if field.tag.field == 1 {
                            let advice = IndexAdvice::parse(wire, field.message()?)?;
                            plan.index_advice.push(advice);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(plan)
    }
}

/// The operators, each indented below the one that reads from it.
impl fmt::Display for QueryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A list instead of recursion, and every node once: the links are the server's.
        let mut seen = BTreeSet::new();
        let mut to_write: Vec<_> = self.root().map(|root| (0, "", root)).into_iter().collect();
        while let Some((depth, link, node)) = to_write.pop() {
            if !seen.insert(node.index) {
                continue;
            }
            if depth > 0 {
                writeln!(f)?;
            }
            write!(f, "{:1$}", "", 2 * depth)?;
            if !link.is_empty() {
                write!(f, "{link}: ")?;
            }
            f.write_str(&node.display_name)?;
            let operators: Vec<_> = self
                .children(node)
                .filter(|(_, child)| child.kind != PlanNodeKind::Scalar)
                .map(|(link, child)| (depth + 1, &*link.kind, child))
                .collect();
            to_write.extend(operators.into_iter().rev());
        }
        Ok(())
    }
}

impl PlanNode {
    /// A node with a name, at this place in the plan.
    pub fn new(index: i32, kind: PlanNodeKind, display_name: impl Into<String>) -> Self {
        Self {
            index,
            kind,
            display_name: display_name.into(),
            ..Self::default()
        }
    }

    /// One of the figures of the execution, by name.
    #[must_use]
    pub fn execution_stat(&self, name: &str) -> Option<&PlanValue> {
        get(&self.execution_stats, name)
    }

    fn parse(wire: &[u8], span: Span) -> Result<Self, WireError> {
        let mut node = Self::default();
        let mut fields = Fields::new(wire, span);
        while let Some(field) = fields.next()? {
            match field.tag.field {
                1 => node.index = field.integer()? as i32,
                2 => node.kind = PlanNodeKind::from_number(field.integer()?),
                3 => node.display_name = text(wire, field.message()?)?,
                4 => node.children.push(PlanLink::parse(wire, field.message()?)?),
                5 => {
                    let short = node.short_representation.get_or_insert_default();
                    short.read(wire, field.message()?)?;
                }
                6 => read_object(wire, field.message()?, &mut node.metadata, MAX_DEPTH)?,
                7 => read_object(wire, field.message()?, &mut node.execution_stats, MAX_DEPTH)?,
                _ => {}
            }
        }
        Ok(node)
    }
}

impl PlanNodeKind {
    const fn from_number(number: u64) -> Self {
        match number {
            1 => Self::Relational,
            2 => Self::Scalar,
            _ => Self::Unspecified,
        }
    }
}

impl PlanLink {
    /// A link to the node with this index.
    #[must_use]
    pub fn new(child_index: i32) -> Self {
        Self {
            child_index,
            ..Self::default()
        }
    }

    fn parse(wire: &[u8], span: Span) -> Result<Self, WireError> {
        let mut link = Self::default();
        let mut fields = Fields::new(wire, span);
        while let Some(field) = fields.next()? {
            match field.tag.field {
                1 => link.child_index = field.integer()? as i32,
                2 => link.kind = text(wire, field.message()?)?,
                3 => link.variable = text(wire, field.message()?)?,
                _ => {}
            }
        }
        Ok(link)
    }
}

impl ShortRepresentation {
    fn read(&mut self, wire: &[u8], span: Span) -> Result<(), WireError> {
        let mut fields = Fields::new(wire, span);
        while let Some(field) = fields.next()? {
            match field.tag.field {
                1 => self.description = text(wire, field.message()?)?,
                2 => {
                    let (mut name, mut index) = (String::new(), 0);
                    let mut entry = Fields::new(wire, field.message()?);
                    while let Some(part) = entry.next()? {
                        match part.tag.field {
                            1 => name = text(wire, part.message()?)?,
                            2 => index = part.integer()? as i32,
                            _ => {}
                        }
                    }
                    self.subqueries.push((name, index));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl IndexAdvice {
    fn parse(wire: &[u8], span: Span) -> Result<Self, WireError> {
        let mut advice = Self::default();
        let mut fields = Fields::new(wire, span);
        while let Some(field) = fields.next()? {
            match field.tag.field {
                1 => advice.ddl.push(text(wire, field.message()?)?),
                2 => advice.improvement_factor = field.double(wire)?,
                _ => {}
            }
        }
        Ok(advice)
    }
}

impl PlanValue {
    /// The value of this name in an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(entries) => get(entries, name),
            _ => None,
        }
    }

    /// The text of a string.
    #[must_use]
    pub const fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    fn parse(wire: &[u8], span: Span, depth: usize) -> Result<Self, WireError> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(WireError::new(WireErrorKind::TooDeep, span.start));
        };
        Ok(match value::read(wire, span)? {
            Kind::Null | Kind::Unset => Self::Null,
            Kind::Bool(value) => Self::Bool(value),
            Kind::Number(value) => Self::Number(value),
            Kind::String(span) => Self::String(text(wire, span)?),
            Kind::List(span) => {
                let mut list = Vec::new();
                let mut elements = Elements::of_list(wire, span);
                while let Some(element) = elements.next()? {
                    list.push(Self::parse(wire, element, depth)?);
                }
                Self::List(list)
            }
            Kind::Struct(span) => {
                let mut entries = Vec::new();
                read_object(wire, span, &mut entries, depth)?;
                Self::Object(entries)
            }
        })
    }
}

/// As JSON.
impl fmt::Display for PlanValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::String(text) => write!(f, "{text:?}"),
            Self::List(elements) => {
                f.write_str("[")?;
                for (i, element) in elements.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{element}")?;
                }
                f.write_str("]")
            }
            Self::Object(entries) => {
                f.write_str("{")?;
                for (i, (name, value)) in entries.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{name:?}: {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// `google.protobuf.Struct`: a map, that is, entries of a key and a value. Of entries
/// with the same name the last one counts.
fn read_object(
    wire: &[u8],
    span: Span,
    entries: &mut Vec<(String, PlanValue)>,
    depth: usize,
) -> Result<(), WireError> {
    let mut fields = Fields::new(wire, span);
    while let Some(field) = fields.next()? {
        if field.tag.field != 1 {
            continue;
        }
        let (mut name, mut value) = (String::new(), PlanValue::Null);
        let mut parts = Fields::new(wire, field.message()?);
        while let Some(part) = parts.next()? {
            match part.tag.field {
                1 => name = text(wire, part.message()?)?,
                2 => value = PlanValue::parse(wire, part.message()?, depth)?,
                _ => {}
            }
        }
        entries.push((name, value));
    }
    Ok(())
}

/// Of entries with the same name the last one counts.
fn get<'a>(entries: &'a [(String, PlanValue)], name: &str) -> Option<&'a PlanValue> {
    let mut entries = entries.iter().rev();
    entries.find_map(|(known, value)| (known == name).then_some(value))
}

fn text(wire: &[u8], span: Span) -> Result<String, WireError> {
    string(wire, span).map(str::to_owned)
}

#[cfg(all(test, feature = "client"))]
#[path = "plan_tests.rs"]
mod tests;
