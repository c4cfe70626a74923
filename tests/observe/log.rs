//! A subscriber that keeps the spans and events of this crate.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

pub(crate) type Fields = BTreeMap<&'static str, String>;

#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    spans: Vec<SpanKept>,
    events: Vec<EventKept>,
    entered: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct SpanKept {
    pub(crate) name: &'static str,
    pub(crate) parent: Option<&'static str>,
    pub(crate) fields: Fields,
    references: usize,
    /// How often it was the current one.
    pub(crate) entered: usize,
}

impl SpanKept {
    pub(crate) fn is_closed(&self) -> bool {
        self.references == 0
    }

    pub(crate) fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct EventKept {
    pub(crate) span: Option<&'static str>,
    pub(crate) level: Level,
    pub(crate) message: String,
    pub(crate) fields: Fields,
}

impl EventKept {
    /// All of it but times and ids, which are not the same each time.
    pub(crate) fn in_short(&self) -> String {
        let varies = ["seconds", "delay_seconds", "request_id"];
        let fields = self
            .fields
            .iter()
            .filter(|(name, _)| !varies.contains(name));
        let fields = fields.map(|(name, value)| format!(" {name}={value}"));
        let fields: String = fields.collect();
        format!("{} {}{fields}", self.level, self.message)
    }
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap()
    }

    pub(crate) fn spans(&self) -> Vec<SpanKept> {
        self.lock().spans.clone()
    }

    /// The only span of this name.
    pub(crate) fn span(&self, name: &str) -> SpanKept {
        let spans = self.spans();
        let mut named = spans.iter().filter(|span| span.name == name);
        let span = named
            .next()
            .unwrap_or_else(|| panic!("no {name}: {spans:?}"));
        assert!(named.next().is_none(), "several {name}: {spans:?}");
        span.clone()
    }

    pub(crate) fn events(&self) -> Vec<EventKept> {
        self.lock().events.clone()
    }

    /// The events in spans of this name, in short.
    pub(crate) fn events_in(&self, span: &str) -> Vec<String> {
        let events = self.events().into_iter();
        let inside = events.filter(|event| event.span == Some(span));
        inside.map(|event| event.in_short()).collect()
    }

    /// The events outside of all spans, in short.
    pub(crate) fn events_outside(&self) -> Vec<String> {
        let events = self.events().into_iter();
        let outside = events.filter(|event| event.span.is_none());
        outside.map(|event| event.in_short()).collect()
    }

    pub(crate) fn clear(&self) {
        self.lock().events.clear();
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock().fmt(f)
    }
}

struct Into<'a>(&'a mut Fields);

impl Visit for Into<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

/// Spans of the tests have the target of their file.
fn is_kept(metadata: &Metadata<'_>) -> bool {
    metadata.target() == "spanner_rows" || metadata.target().starts_with("observe")
}

impl Kept {
    fn span(&mut self, id: &Id) -> &mut SpanKept {
        &mut self.spans[id.into_u64() as usize - 1]
    }

    fn name(&mut self, id: Option<&Id>) -> Option<&'static str> {
        id.map(|id| self.span(id).name)
    }

    fn current(&self) -> Option<Id> {
        self.entered.last().map(|id| Id::from_u64(*id))
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_kept(metadata)
    }

    fn new_span(&self, new: &Attributes<'_>) -> Id {
        let mut kept = self.lock();
        let parent = match new.is_contextual() {
            true => kept.current(),
            false => new.parent().cloned(),
        };
        let mut fields = Fields::new();
        new.record(&mut Into(&mut fields));
        let parent = kept.name(parent.as_ref());
        kept.spans.push(SpanKept {
            name: new.metadata().name(),
            parent,
            fields,
            references: 1,
            entered: 0,
        });
        Id::from_u64(kept.spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        values.record(&mut Into(&mut self.lock().span(id).fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut kept = self.lock();
        let parent = match event.is_contextual() {
            true => kept.current(),
            false => event.parent().cloned(),
        };
        let mut fields = Fields::new();
        event.record(&mut Into(&mut fields));
        let span = kept.name(parent.as_ref());
        kept.events.push(EventKept {
            span,
            level: *event.metadata().level(),
            message: fields.remove("message").unwrap_or_default(),
            fields,
        });
    }

    fn enter(&self, id: &Id) {
        let mut kept = self.lock();
        kept.span(id).entered += 1;
        kept.entered.push(id.into_u64());
    }

    fn exit(&self, _: &Id) {
        self.lock().entered.pop();
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.lock().span(id).references += 1;
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut kept = self.lock();
        let span = kept.span(&id);
        span.references -= 1;
        span.is_closed()
    }
}
