//! A call that fails, as the service would fail it.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use prost::Message as _;
use prost_types::Any;

use crate::Code;
use crate::proto::rpc;
use crate::wire::writer::put_bytes;

/// How a call fails: a gRPC status with what the service may attach to it.
///
/// ```
/// use std::time::Duration;
/// use spanner_rows::testing::Failure;
///
/// let busy = Failure::resource_exhausted("too many requests").retry_after(Duration::from_millis(5));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    code: i32,
    message: String,
    details: Vec<Any>,
    trailers: Vec<(String, Bytes)>,
}

impl Failure {
    /// A failure with this code and text.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code: code.number(),
            message: message.into(),
            details: Vec::new(),
            trailers: Vec::new(),
        }
    }

    /// CANCELLED.
    pub fn cancelled(message: impl Into<String>) -> Self {
        Self::new(Code::Cancelled, message)
    }

    /// UNKNOWN.
    pub fn unknown(message: impl Into<String>) -> Self {
        Self::new(Code::Unknown, message)
    }

    /// INVALID_ARGUMENT: for instance a statement that does not parse.
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// DEADLINE_EXCEEDED.
    pub fn deadline_exceeded(message: impl Into<String>) -> Self {
        Self::new(Code::DeadlineExceeded, message)
    }

    /// NOT_FOUND: for instance a table or a session.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// ALREADY_EXISTS: for instance a row that is inserted twice.
    pub fn already_exists(message: impl Into<String>) -> Self {
        Self::new(Code::AlreadyExists, message)
    }

    /// PERMISSION_DENIED.
    pub fn permission_denied(message: impl Into<String>) -> Self {
        Self::new(Code::PermissionDenied, message)
    }

    /// RESOURCE_EXHAUSTED.
    pub fn resource_exhausted(message: impl Into<String>) -> Self {
        Self::new(Code::ResourceExhausted, message)
    }

    /// FAILED_PRECONDITION.
    pub fn failed_precondition(message: impl Into<String>) -> Self {
        Self::new(Code::FailedPrecondition, message)
    }

    /// ABORTED: the transaction has to run again.
    pub fn aborted(message: impl Into<String>) -> Self {
        Self::new(Code::Aborted, message)
    }

    /// UNIMPLEMENTED.
    pub fn unimplemented(message: impl Into<String>) -> Self {
        Self::new(Code::Unimplemented, message)
    }

    /// INTERNAL.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    /// UNAVAILABLE: worth another try.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Code::Unavailable, message)
    }

    /// The failure of a session that is gone, as the service words and marks it.
    pub fn session_not_found(session: &str) -> Self {
        Self::not_found(format!("Session not found: {session}"))
            .resource("type.googleapis.com/google.spanner.v1.Session", session)
    }

    /// Asks to wait before the next try: `google.rpc.RetryInfo` among the details in the trailer `grpc-status-details-bin`.
    #[must_use]
    pub fn retry_after(self, delay: Duration) -> Self {
        self.detail("google.rpc.RetryInfo", retry_info(delay))
    }

    /// As [`retry_after`](Self::retry_after), but in a trailer of its own, `google.rpc.retryinfo-bin`.
    #[must_use]
    pub fn retry_after_trailer(self, delay: Duration) -> Self {
        self.trailer("google.rpc.retryinfo-bin", retry_info(delay))
    }

    /// Says which resource it is about: `google.rpc.ResourceInfo` among the details.
    #[must_use]
    pub fn resource(self, resource_type: &str, resource_name: &str) -> Self {
        self.detail(
            "google.rpc.ResourceInfo",
            resource_info(resource_type, resource_name),
        )
    }

    /// As [`resource`](Self::resource), but in a trailer of its own, `google.rpc.resourceinfo-bin`.
    #[must_use]
    pub fn resource_trailer(self, resource_type: &str, resource_name: &str) -> Self {
        self.trailer(
            "google.rpc.resourceinfo-bin",
            resource_info(resource_type, resource_name),
        )
    }

    /// Says why the call failed, for programs: `google.rpc.ErrorInfo` among the details.
    ///
    /// ```
    /// # use spanner_rows::testing::Failure;
    /// let metadata = [("quota_metric", "spanner.googleapis.com/api_requests")];
    /// let busy = Failure::resource_exhausted("too many requests")
    ///     .error_info("RATE_LIMIT_EXCEEDED", "spanner.googleapis.com", metadata);
    /// ```
    #[must_use]
    pub fn error_info<'a>(
        self,
        reason: &str,
        domain: &str,
        metadata: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut content = texts([reason, domain]);
        for (name, value) in metadata {
            put_bytes(&mut content, tag(3), &texts([name, value]));
        }
        self.detail("google.rpc.ErrorInfo", content)
    }

    /// Says which quota is used up: `google.rpc.QuotaFailure` among the details.
    #[must_use]
    pub fn quota_violation(self, subject: &str, description: &str) -> Self {
        self.detail(
            "google.rpc.QuotaFailure",
            only(&texts([subject, description])),
        )
    }

    /// Says which field of the request is wrong: `google.rpc.BadRequest` among the details.
    #[must_use]
    pub fn field_violation(self, field: &str, description: &str) -> Self {
        self.detail("google.rpc.BadRequest", only(&texts([field, description])))
    }

    /// Says what is not as it has to be: `google.rpc.PreconditionFailure` among the details.
    #[must_use]
    pub fn precondition_violation(self, kind: &str, subject: &str, description: &str) -> Self {
        self.detail(
            "google.rpc.PreconditionFailure",
            only(&texts([kind, subject, description])),
        )
    }

    /// Adds words for users: `google.rpc.LocalizedMessage` among the details.
    #[must_use]
    pub fn localized_message(self, locale: &str, message: &str) -> Self {
        self.detail("google.rpc.LocalizedMessage", texts([locale, message]))
    }

    /// Says where to read more: `google.rpc.Help` among the details.
    #[must_use]
    pub fn help(self, description: &str, url: &str) -> Self {
        self.detail("google.rpc.Help", only(&texts([description, url])))
    }

    /// Adds a detail: the full name of a message and its encoding.
    #[must_use]
    pub fn detail(mut self, message_name: &str, content: impl Into<Vec<u8>>) -> Self {
        self.details.push(Any {
            type_url: format!("type.googleapis.com/{message_name}"),
            value: content.into(),
        });
        self
    }

    /// Adds a trailer. The content of one whose name ends in `-bin` is sent as base64. A name or content that HTTP does not allow is left out.
    #[must_use]
    pub fn trailer(mut self, name: &str, content: impl Into<Bytes>) -> Self {
        self.trailers.push((name.to_owned(), content.into()));
        self
    }

    /// As part of an answer.
    pub(super) fn rpc_status(&self) -> rpc::Status {
        rpc::Status {
            code: self.code,
            message: self.message.clone(),
            details: self.details.clone(),
        }
    }

    /// As the library of the server has it, without details.
    pub(super) fn status(&self) -> tonic::Status {
        tonic::Status::new(self.code.into(), self.message.as_str())
    }

    /// The trailers of the answer, `grpc-status` and all.
    pub(super) fn trailers(&self) -> HeaderMap {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from(self.code));
        append(
            &mut trailers,
            "grpc-message",
            percent_encoded(&self.message).as_bytes(),
        );
        if !self.details.is_empty() {
            append(
                &mut trailers,
                "grpc-status-details-bin",
                base64(&self.rpc_status().encode_to_vec()).as_bytes(),
            );
        }
        for (name, content) in &self.trailers {
            if name.ends_with("-bin") {
                append(&mut trailers, name, base64(content).as_bytes());
            } else {
                append(&mut trailers, name, content);
            }
        }
        trailers
    }
}

/// The trailers of a call that succeeded.
pub(super) fn ok_trailers() -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    trailers
}

fn retry_info(delay: Duration) -> Vec<u8> {
    rpc::RetryInfo {
        // A delay too long for the protocol's type is left out.
        retry_delay: delay.try_into().ok(),
    }
    .encode_to_vec()
}

fn resource_info(resource_type: &str, resource_name: &str) -> Vec<u8> {
    rpc::ResourceInfo {
        resource_type: resource_type.to_owned(),
        resource_name: resource_name.to_owned(),
        owner: String::new(),
        description: "The resource does not exist.".to_owned(),
    }
    .encode_to_vec()
}

/// The tag of a field with a length.
const fn tag(field: u8) -> u8 {
    field << 3 | 2
}

/// A message with texts in its first fields.
fn texts<const N: usize>(texts: [&str; N]) -> Vec<u8> {
    let mut message = Vec::new();
    for (field, text) in (1..).zip(texts) {
        put_bytes(&mut message, tag(field), text.as_bytes());
    }
    message
}

/// A message with another one in its first field.
fn only(content: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    put_bytes(&mut message, tag(1), content);
    message
}

fn append(trailers: &mut HeaderMap, name: &str, content: &[u8]) {
    let name = HeaderName::try_from(name);
    if let (Ok(name), Ok(content)) = (name, HeaderValue::from_bytes(content)) {
        trailers.append(name, content);
    }
}

fn base64(content: &[u8]) -> String {
    base64_simd::STANDARD_NO_PAD.encode_to_string(content)
}

/// `grpc-message` is percent-encoded outside of printable ASCII.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if matches!(byte, b' '..=b'~') && byte != b'%' {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_survives_the_header() {
        let failure = Failure::internal("100 % größer\n");
        let trailers = failure.trailers();
        assert_eq!(trailers["grpc-message"], "100 %25 gr%C3%B6%C3%9Fer%0A");
        assert_eq!(trailers["grpc-status"], "13");
        assert!(!trailers.contains_key("grpc-status-details-bin"));
    }

    #[test]
    fn details_hold_the_whole_status() {
        let failure = Failure::session_not_found("a/b").retry_after(Duration::from_millis(1500));
        let trailers = failure.trailers();
        let details = base64_simd::STANDARD_NO_PAD
            .decode_to_vec(trailers["grpc-status-details-bin"].as_bytes())
            .unwrap();
        let status = rpc::Status::decode(&details[..]).unwrap();
        assert_eq!(status.code, 5);
        assert_eq!(status.message, "Session not found: a/b");
        let resource = rpc::ResourceInfo::decode(&status.details[0].value[..]).unwrap();
        assert_eq!(resource.resource_name, "a/b");
        let retry = rpc::RetryInfo::decode(&status.details[1].value[..]).unwrap();
        let delay = retry.retry_delay.unwrap();
        assert_eq!((delay.seconds, delay.nanos), (1, 500_000_000));
    }

    #[test]
    fn impossible_trailers_are_left_out() {
        let failure = Failure::internal("x")
            .trailer("no such name", "v")
            .trailer("fine", "line\nbreak");
        assert_eq!(failure.trailers().len(), 2);
    }
}
