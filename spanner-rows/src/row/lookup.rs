//! Columns bound on demand: what [`Row::get`](crate::Row::get) asks for, bound
//! once for each column and Rust type and kept as long as the result's columns.

use std::any::{TypeId, type_name};
use std::sync::OnceLock;

use super::binding::Binding;
use super::traits::ColumnType;

/// For each column the bindings that were asked for, one behind another.
///
/// They are only ever added, so that what is found can be lent. A program asks
/// for few types of one column, nearly always for one.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    columns: OnceLock<Box<[Link]>>,
}

type Link = OnceLock<Box<Node>>;

#[derive(Debug)]
struct Node {
    key: Key,
    binding: Binding,
    next: Link,
}

/// A column type whatever its lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    of_static: TypeId,
    /// Tells types apart that share a `Static`.
    name: &'static str,
}

impl Lookups {
    /// The binding of column `index` of `columns` for `T`, made with `bind` the
    /// first time; `None` when there is no such column.
    pub(crate) fn get<T: ColumnType, E>(
        &self,
        columns: usize,
        index: usize,
        bind: impl Fn() -> Result<Binding, E>,
    ) -> Option<Result<&Binding, E>> {
        let key = Key {
            of_static: TypeId::of::<T::Static>(),
            name: type_name::<T>(),
        };
        let links = self
            .columns
            .get_or_init(|| (0..columns).map(|_| Link::new()).collect());
        let mut link = links.get(index)?;
        loop {
            let node = match link.get() {
                Some(node) => node,
                None => match bind() {
                    // Another task may have put its node here meanwhile, of this type or another.
                    Ok(binding) => link.get_or_init(|| {
                        Box::new(Node {
                            key,
                            binding,
                            next: Link::new(),
                        })
                    }),
                    Err(error) => return Some(Err(error)),
                },
            };
            if node.key == key {
                return Some(Ok(&node.binding));
            }
            link = &node.next;
        }
    }
}
