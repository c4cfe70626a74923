//! What is known of a request when it begins.

use tokio::time::Instant;

use super::operation::Operation;
use super::trace::Scope;

/// What a client is told of how it is to be observed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    /// Whether spans have the text of statements and errors.
    #[cfg(feature = "tracing")]
    pub(crate) texts: bool,
}

/// A request that is to be followed from now on.
#[cfg_attr(
    not(feature = "tracing"),
    allow(dead_code, reason = "told, and not listened to")
)]
pub(crate) struct Start<'a> {
    pub(super) operation: Operation,
    pub(super) settings: Settings,
    pub(super) database: &'a str,
    pub(super) started: Option<Instant>,
    pub(super) scope: Option<&'a Scope>,
    pub(super) request_tag: &'a str,
    pub(super) transaction_tag: &'a str,
    pub(super) sql: &'a str,
    pub(super) table: &'a str,
}

impl<'a> Start<'a> {
    #[inline]
    pub(crate) const fn new(operation: Operation, settings: Settings, database: &'a str) -> Self {
        Self {
            operation,
            settings,
            database,
            started: None,
            scope: None,
            request_tag: "",
            transaction_tag: "",
            sql: "",
            table: "",
        }
    }

    /// When the request was made, if that was before.
    #[inline]
    pub(crate) const fn started(mut self, at: Instant) -> Self {
        self.started = Some(at);
        self
    }

    /// The request is a part of another one.
    #[inline]
    pub(crate) const fn within(mut self, scope: &'a Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    #[inline]
    pub(crate) const fn request_tag(mut self, tag: &'a str) -> Self {
        self.request_tag = tag;
        self
    }

    #[inline]
    pub(crate) const fn transaction_tag(mut self, tag: &'a str) -> Self {
        self.transaction_tag = tag;
        self
    }

    /// What the request is about.
    #[inline]
    pub(crate) const fn subject(mut self, subject: Subject<'a>) -> Self {
        match subject {
            Subject::Unknown => {}
            Subject::Sql(sql) => self.sql = sql,
            Subject::Table(table) => self.table = table,
        }
        self
    }
}

/// What a statement is about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Subject<'a> {
    #[default]
    Unknown,
    /// Told only where texts are.
    Sql(&'a str),
    Table(&'a str),
}
