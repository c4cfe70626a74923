//! What a server says of a failure beside its code and its words, as types.
//!
//! The field numbers are those of `google/rpc/status.proto`, `google/rpc/error_details.proto`
//! and `google/protobuf/any.proto`.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;

use crate::wire::WireError;
use crate::wire::reader::{Fields, Span};

/// What a server says of a failure beside its code and its words: the messages of
/// `google/rpc/error_details.proto` that came with it.
///
/// Made by [`Error::details`](crate::Error::details). Prefer the code and, for the time to
/// wait, [`Error::retry_delay`](crate::Error::retry_delay) where they are enough: what is in
/// here is for people and for tools, and a server need not send any of it.
///
/// Nothing is lost: a detail of another type, and one that cannot be read, is in
/// [`others`](Self::others) as it came. Which row, index, key or constraint is at fault is no
/// part of the details; the server says it in the message of the status only. (The emulator
/// puts nothing at all into the details of violated keys, indexes and constraints.)
///
/// ```
/// use spanner_rows::{Code, Error, Status};
///
/// fn is_over_quota(error: &Error) -> bool {
///     let details = error.details();
///     details.errors.iter().any(|info| info.reason == "RATE_LIMIT_EXCEEDED")
/// }
///
/// let error = Error::from(Status::new(Code::ResourceExhausted, "too many requests"));
/// assert!(error.details().is_empty());
/// assert!(!is_over_quota(&error));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorDetails {
    /// How long to wait before the next attempt (`RetryInfo.retry_delay`); `None` where the
    /// server asks for no time or for none that there is.
    pub retry_delay: Option<Duration>,
    /// Why the request failed, for programs (`ErrorInfo`).
    pub errors: Vec<ErrorInfo>,
    /// What the failure is about (`ResourceInfo`).
    pub resources: Vec<ResourceInfo>,
    /// The quotas that are used up (`QuotaFailure.violations`).
    pub quota_violations: Vec<QuotaViolation>,
    /// What is wrong with the request (`BadRequest.field_violations`).
    pub field_violations: Vec<FieldViolation>,
    /// What is not as it has to be (`PreconditionFailure.violations`).
    pub precondition_violations: Vec<PreconditionViolation>,
    /// Words for users (`LocalizedMessage`).
    pub localized_messages: Vec<LocalizedMessage>,
    /// Where to read more (`Help.links`).
    pub help_links: Vec<HelpLink>,
    /// All other details.
    pub others: Vec<OtherDetail>,
}

/// Why a request failed, for programs (`google.rpc.ErrorInfo`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorInfo {
    /// The cause, unique within the domain: `RATE_LIMIT_EXCEEDED`.
    pub reason: String,
    /// Who says it: `spanner.googleapis.com`.
    pub domain: String,
    /// More, by name.
    pub metadata: BTreeMap<String, String>,
}

/// What a failure is about (`google.rpc.ResourceInfo`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceInfo {
    /// What kind of thing it is: `type.googleapis.com/google.spanner.v1.Session`.
    pub resource_type: String,
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub owner: String,
    /// What happened to it.
    pub description: String,
}

/// A quota that is used up (`google.rpc.QuotaFailure.Violation`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuotaViolation {
    /// Whose quota it is: `project:…`.
    pub subject: String,
    /// Which one, and what can be done.
    pub description: String,
    /// The metric that is counted (`quota_metric`), where the server names it.
    pub metric: String,
    /// The name of the quota (`quota_id`), where the server names it.
    pub id: String,
}

/// What is wrong with a field of a request (`google.rpc.BadRequest.FieldViolation`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldViolation {
    /// The path of the field.
    pub field: String,
    /// What is wrong with it.
    pub description: String,
    /// The same for programs: `REQUIRED_FIELD_MISSING`.
    pub reason: String,
}

/// What is not as it has to be for a request (`google.rpc.PreconditionFailure.Violation`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreconditionViolation {
    /// The kind of the condition (`type`).
    pub kind: String,
    /// What it is a condition of.
    pub subject: String,
    /// How it fails, and what can be done.
    pub description: String,
}

/// Words for users (`google.rpc.LocalizedMessage`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocalizedMessage {
    /// The language, as BCP 47 writes it: `de-CH`.
    pub locale: String,
    /// The words.
    pub message: String,
}

/// Where to read more (`google.rpc.Help.Link`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HelpLink {
    /// What is there.
    pub description: String,
    /// The address.
    pub url: String,
}

/// A detail of a type that is not known here, or that cannot be read (`google.protobuf.Any`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherDetail {
    /// The type: `type.googleapis.com/google.rpc.DebugInfo`.
    pub type_url: String,
    /// The serialised message.
    pub value: Bytes,
}

impl ErrorDetails {
    /// Reads a serialised `google.rpc.Status`. Of one that is damaged there is what comes
    /// before the damage.
    pub(crate) fn read(status: &Bytes) -> Self {
        let mut details = Self::default();
        let mut fields = Fields::new(status, Span::whole(status));
        while let Ok(Some(field)) = fields.next() {
            // `Status.details`
            if field.tag.field == 3
                && let Ok(any) = field.message()
                && let Ok(detail) = OtherDetail::read(status, any)
            {
                details.add(detail);
            }
        }
        details
    }

    /// Whether the server said nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, detail: OtherDetail) {
        if self.read_known(&detail).is_none() {
            self.others.push(detail);
        }
    }

    /// Adds a detail of a known type; nothing of it when it cannot be read.
    fn read_known(&mut self, detail: &OtherDetail) -> Option<()> {
        let wire = &*detail.value;
        match type_name(&detail.type_url) {
            "google.rpc.RetryInfo" => {
                let asked = delay(wire).ok()?;
                self.retry_delay = self.retry_delay.or(asked);
            }
            "google.rpc.ErrorInfo" => self.errors.push(ErrorInfo::read(wire).ok()?),
            "google.rpc.ResourceInfo" => {
                let [resource_type, name, owner, description] = texts(wire, [1, 2, 3, 4]).ok()?;
                self.resources.push(ResourceInfo {
                    resource_type,
                    name,
                    owner,
                    description,
                });
            }
            "google.rpc.QuotaFailure" => self.quota_violations.extend(each(wire, |wire| {
                let [subject, description, metric, id] = texts(wire, [1, 2, 4, 5])?;
                Ok(QuotaViolation {
                    subject,
                    description,
                    metric,
                    id,
                })
            })?),
            "google.rpc.BadRequest" => self.field_violations.extend(each(wire, |wire| {
                let [field, description, reason] = texts(wire, [1, 2, 3])?;
                Ok(FieldViolation {
                    field,
                    description,
                    reason,
                })
            })?),
            "google.rpc.PreconditionFailure" => {
                self.precondition_violations.extend(each(wire, |wire| {
                    let [kind, subject, description] = texts(wire, [1, 2, 3])?;
                    Ok(PreconditionViolation {
                        kind,
                        subject,
                        description,
                    })
                })?);
            }
            "google.rpc.LocalizedMessage" => {
                let [locale, message] = texts(wire, [1, 2]).ok()?;
                self.localized_messages
                    .push(LocalizedMessage { locale, message });
            }
            "google.rpc.Help" => self.help_links.extend(each(wire, |wire| {
                let [description, url] = texts(wire, [1, 2])?;
                Ok(HelpLink { description, url })
            })?),
            _ => return None,
        }
        Some(())
    }
}

impl OtherDetail {
    fn read(wire: &Bytes, any: Span) -> Result<Self, WireError> {
        let mut detail = Self::default();
        let mut fields = Fields::new(wire, any);
        while let Some(field) = fields.next()? {
            match field.tag.field {
                1 => detail.type_url = text(field.message()?.of(wire)),
                2 => {
                    let span = field.message()?;
                    detail.value = wire.slice(span.start..span.end);
                }
                _ => {}
            }
        }
        Ok(detail)
    }
}

impl ErrorInfo {
    fn read(wire: &[u8]) -> Result<Self, WireError> {
        let [reason, domain] = texts(wire, [1, 2])?;
        let mut metadata = BTreeMap::new();
        let mut fields = Fields::new(wire, Span::whole(wire));
        while let Some(field) = fields.next()? {
            if field.tag.field == 3 {
                let [name, value] = texts(field.message()?.of(wire), [1, 2])?;
                metadata.insert(name, value);
            }
        }
        Ok(Self {
            reason,
            domain,
            metadata,
        })
    }
}

/// A type URL without the server that is to know the type.
pub(crate) fn type_name(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or(url)
}

/// The messages in field 1 of another one; all of them or none.
fn each<T>(wire: &[u8], read: impl Fn(&[u8]) -> Result<T, WireError>) -> Option<Vec<T>> {
    let mut list = Vec::new();
    let mut fields = Fields::new(wire, Span::whole(wire));
    while let Some(field) = fields.next().ok()? {
        if field.tag.field == 1 {
            list.push(read(field.message().ok()?.of(wire)).ok()?);
        }
    }
    Some(list)
}

/// The fields of these numbers, which are texts; the last one counts where one comes twice.
fn texts<const N: usize>(wire: &[u8], numbers: [u32; N]) -> Result<[String; N], WireError> {
    let mut texts = [const { String::new() }; N];
    let mut fields = Fields::new(wire, Span::whole(wire));
    while let Some(field) = fields.next()? {
        if let Some(place) = numbers.iter().position(|it| *it == field.tag.field) {
            texts[place] = text(field.message()?.of(wire));
        }
    }
    Ok(texts)
}

/// Words for people are worth reading also where they are no UTF-8.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The delay in a `RetryInfo`: field 1, a `google.protobuf.Duration`. A delay of nothing asks
/// for nothing, and one that is none of the protocol's for nothing that can be done.
fn delay(wire: &[u8]) -> Result<Option<Duration>, WireError> {
    let (mut seconds, mut nanos) = (0, 0);
    let mut fields = Fields::new(wire, Span::whole(wire));
    while let Some(field) = fields.next()? {
        if field.tag.field != 1 {
            continue;
        }
        let mut parts = Fields::new(wire, field.message()?);
        while let Some(part) = parts.next()? {
            match part.tag.field {
                1 => seconds = part.integer()?,
                2 => nanos = part.integer()?,
                _ => {}
            }
        }
    }
    // Negative ones are the largest numbers on the wire.
    let seconds = i64::try_from(seconds).ok().map(i64::unsigned_abs);
    let nanos = u32::try_from(nanos)
        .ok()
        .filter(|nanos| *nanos < 1_000_000_000);
    let delay = seconds
        .zip(nanos)
        .map(|(seconds, nanos)| Duration::new(seconds, nanos));
    Ok(delay.filter(|delay| !delay.is_zero()))
}

#[cfg(all(test, feature = "client"))]
#[path = "error_details_tests.rs"]
mod tests;
