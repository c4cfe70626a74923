//! Where each field of a row finds its column: made once per result set,
//! followed for every row.

/// A row's fields, or a column's element type, matched with a result.
///
/// A tree that mirrors the Rust type. Made by [`Binder`](crate::Binder).
#[derive(Debug, Default)]
pub struct Binding {
    /// Values to pass over before this one, when columns are read in order.
    pub(crate) skip: u32,
    /// The value is the one that comes next, whenever it is this field's turn.
    pub(crate) comes_next: bool,
    /// The position among the columns of the result or the fields of the STRUCT.
    pub(crate) column: u32,
    /// The place in the table of positions, when columns are read out of order.
    pub(crate) slot: u32,
    pub(crate) node: Node,
    /// How many fields the STRUCT has.
    pub(crate) width: u32,
    /// The fields of a row, or the one element type of an array.
    pub(crate) children: Vec<Self>,
    /// The field of the struct, for messages.
    pub(crate) field: &'static str,
    /// The Rust type, for messages.
    pub(crate) rust_type: &'static str,
    /// BYTES are read decoded somewhere in this value.
    pub(crate) decodes_bytes: bool,
    /// Of a row: which columns hold such values, and the child that reads each,
    /// in the order of the columns.
    pub(crate) decoded_columns: Vec<(u32, u32)>,
    /// The value is read as text somewhere.
    pub(crate) reads_text: bool,
}

/// What a node of the tree stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Node {
    /// One value; `children` holds the element type of an array.
    #[default]
    Value,
    /// A row whose columns come in the order of its fields.
    InOrder,
    /// A row whose columns come in another order.
    OutOfOrder,
    /// A row whose columns stand among those of the row around it.
    Flattened,
    /// A column, or all columns of a flattened row, that the result does not
    /// have: the field gets its default.
    Absent,
}

impl Binding {
    /// The binding of the only child: the element of an array.
    pub(crate) fn element(&self) -> Option<&Self> {
        self.children.first()
    }

    /// Whether this is neither a row nor an array.
    pub(crate) const fn is_one_value(&self) -> bool {
        matches!(self.node, Node::Value) && self.children.is_empty()
    }

    /// Settles how the values of a row are found: passing over those between,
    /// if the fields come in the order of the columns, else through a table.
    pub(crate) fn settle(&mut self) {
        let mut columns = Vec::new();
        collect_columns(&self.children, &mut columns);
        let in_order = columns.is_sorted_by(|a, b| a < b);
        self.node = if in_order {
            Node::InOrder
        } else {
            Node::OutOfOrder
        };
        let mut next = Next { column: 0, slot: 0 };
        settle_leaves(&mut self.children, in_order, &mut next);
        self.note_decoded_columns();
    }

    fn note_decoded_columns(&mut self) {
        let mut noted = Vec::new();
        for (i, child) in (0..).zip(&mut self.children) {
            if child.node == Node::Flattened {
                child.note_decoded_columns();
                noted.extend(child.decoded_columns.iter().map(|(column, _)| (*column, i)));
            } else if child.decodes_bytes {
                noted.push((child.column, i));
            }
        }
        noted.sort_unstable();
        noted.dedup();
        self.decoded_columns = noted;
    }

    /// The first field that reads a column, with the row to which it belongs.
    pub(crate) fn reader_of(&self, column: u32) -> Option<(&'static str, &Self)> {
        self.children.iter().find_map(|child| match child.node {
            Node::Flattened => child.reader_of(column),
            Node::Absent => None,
            _ => (child.column == column).then_some((self.rust_type, child)),
        })
    }

    /// The columns of the row in the order in which the fields read them.
    pub(crate) fn columns_read(&self) -> Vec<u32> {
        let mut columns = Vec::new();
        collect_columns(&self.children, &mut columns);
        columns
    }
}

struct Next {
    column: u32,
    slot: u32,
}

fn settle_leaves(fields: &mut [Binding], in_order: bool, next: &mut Next) {
    for field in fields {
        match field.node {
            Node::Flattened => {
                settle_leaves(&mut field.children, in_order, next);
                continue;
            }
            Node::Absent => continue,
            _ => {}
        }
        field.slot = next.slot;
        next.slot += 1;
        if in_order {
            field.skip = field.column - next.column;
            field.comes_next = field.skip == 0;
            next.column = field.column + 1;
        }
    }
}

fn collect_columns(fields: &[Binding], columns: &mut Vec<u32>) {
    for field in fields {
        match field.node {
            Node::Flattened => collect_columns(&field.children, columns),
            Node::Absent => {}
            _ => columns.push(field.column),
        }
    }
}
