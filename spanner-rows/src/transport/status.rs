//! Trailers and failures of the connection as [`Status`].
//!
//! Trailers are read here and not by tonic, which panics on details that are
//! not base64.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::response::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use percent_encoding::percent_decode;

use super::tls;
use crate::error::{Code, Status};
use crate::error_details::{ErrorDetails, type_name};
use crate::wire::writer::put_bytes;

const STATUS: &str = "grpc-status";
const MESSAGE: &str = "grpc-message";
/// A serialised `google.rpc.Status`.
const DETAILS: &str = "grpc-status-details-bin";
/// The messages of `google.rpc` that may also come in a trailer of their own: its name is that
/// of the type, in small letters, and `-bin`.
const OWN_TRAILERS: [&str; 10] = [
    "google.rpc.RetryInfo",
    "google.rpc.ResourceInfo",
    "google.rpc.ErrorInfo",
    "google.rpc.QuotaFailure",
    "google.rpc.PreconditionFailure",
    "google.rpc.BadRequest",
    "google.rpc.LocalizedMessage",
    "google.rpc.Help",
    "google.rpc.RequestInfo",
    "google.rpc.DebugInfo",
];
/// What a type URL begins with.
const TYPES: &str = "type.googleapis.com/";
/// The tags of `google.protobuf.Any.type_url` and `value`.
const TYPE_URL: u8 = 1 << 3 | 2;
const VALUE: u8 = 2 << 3 | 2;
/// The tag of `google.rpc.Status.details`.
const ANY: u8 = 3 << 3 | 2;
/// `ResourceInfo.resource_type` of a session that the server does not know.
const SESSION_TYPE: &str = "google.spanner.v1.Session";

/// The final status, if these headers or trailers have one. When they have
/// several, OK counts only if all say so.
pub(super) fn from_headers(headers: &HeaderMap) -> Option<Result<(), Status>> {
    let mut numbers = headers.get_all(STATUS).iter().peekable();
    numbers.peek()?;
    let failure = numbers
        .map(|text| (text, number(text)))
        .find(|(_, number)| *number != Some(0));
    let Some((text, number)) = failure else {
        return Some(Ok(()));
    };
    Some(Err(error_from(text, number.unwrap_or(-1), headers)))
}

/// A number as gRPC writes it, in digits only.
fn number(text: &HeaderValue) -> Option<i32> {
    let text = text.to_str().ok()?;
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

fn error_from(text: &HeaderValue, number: i32, headers: &HeaderMap) -> Status {
    let code = Code::from_number(number);
    let message = match headers.get(MESSAGE) {
        Some(message) => percent_decode(message.as_bytes())
            .decode_utf8_lossy()
            .into_owned(),
        None if code.number() != number => format!("the server ended with grpc-status {text:?}"),
        None => String::new(),
    };
    status_of(code, message, all_details(headers))
}

/// A status, with what its details say to this client.
pub(crate) fn status_of(code: Code, message: String, details: Bytes) -> Status {
    let infos = ErrorDetails::read(&details);
    let mut resources = infos.resources.iter();
    let no_session = resources.any(|info| type_name(&info.resource_type) == SESSION_TYPE);
    Status::new(code, message)
        .with_retry_delay(infos.retry_delay)
        .with_session_not_found(no_session)
        .with_details(details)
}

/// A serialised `google.rpc.Status` with all details. Servers send what there is to say in the
/// details, in a trailer of its own, or in both.
fn all_details(headers: &HeaderMap) -> Bytes {
    let details = binary(headers, DETAILS).unwrap_or_default();
    let mut more = Vec::new();
    for name in OWN_TRAILERS {
        let trailer = format!("{}-bin", name.to_ascii_lowercase());
        let Some(content) = binary(headers, &trailer) else {
            continue;
        };
        let mut any = Vec::with_capacity(content.len() + 60);
        put_bytes(&mut any, TYPE_URL, format!("{TYPES}{name}").as_bytes());
        put_bytes(&mut any, VALUE, &content);
        if !details.windows(any.len()).any(|part| part == any) {
            put_bytes(&mut more, ANY, &any);
        }
    }
    if more.is_empty() {
        return details;
    }
    // Two messages, one behind the other, are one. What was sent may be damaged, so it is last.
    more.extend_from_slice(&details);
    more.into()
}

/// The content of a binary header. gRPC sends base64 with or without padding; a
/// proxy may have joined several values with commas.
fn binary(headers: &HeaderMap, name: &str) -> Option<Bytes> {
    headers
        .get_all(name)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .find_map(|text| base64_simd::forgiving_decode_to_vec(text).ok())
        .map(Bytes::from)
}

/// Whether an answer without a status in its headers is one of a gRPC server.
///
/// The codes follow "HTTP to gRPC Status Code Mapping" of the gRPC project.
pub(super) fn check_head(head: &Parts) -> Result<(), Status> {
    let code = match head.status {
        StatusCode::OK => return check_content_type(&head.headers),
        StatusCode::BAD_REQUEST => Code::Internal,
        StatusCode::UNAUTHORIZED => Code::Unauthenticated,
        StatusCode::FORBIDDEN => Code::PermissionDenied,
        StatusCode::NOT_FOUND => Code::Unimplemented,
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Code::Unavailable,
        _ => Code::Unknown,
    };
    Err(Status::new(
        code,
        format!(
            "the server answered with HTTP status {} and no gRPC status",
            head.status
        ),
    ))
}

fn check_content_type(headers: &HeaderMap) -> Result<(), Status> {
    match headers.get(header::CONTENT_TYPE) {
        Some(found) if !found.as_bytes().starts_with(b"application/grpc") => Err(Status::new(
            Code::Unknown,
            format!("the answer is not gRPC: its content type is {found:?}"),
        )),
        _ => Ok(()),
    }
}

/// The status of a call whose connection failed. Its code is
/// UNAVAILABLE; tonic's own depends on which of its features are compiled in.
///
/// A peer that does not accept the other's certificate is no failure of the
/// connection: another attempt would meet the same.
pub(super) fn from_failure(error: impl StdError + Send + Sync + 'static) -> Status {
    if has_run_out_of_time(&error) {
        let text = "the server did not begin to answer in the time that the request has";
        return Status::new(Code::DeadlineExceeded, text);
    }
    let text = all_texts(&error);
    match tls::refusal(&text) {
        Some((code, meaning)) => Status::new(code, format!("{meaning} ({text})")),
        None => Status::new(Code::Unavailable, text).with_transport(Arc::new(error)),
    }
}

/// Whether it was tonic that ended the call, by the header `grpc-timeout`: this side's
/// own decision and no failure of the connection.
fn has_run_out_of_time(error: &(dyn StdError + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<tonic::TimeoutExpired>() {
            return true;
        }
        next = error.source();
    }
    false
}

/// The status of an answer that stopped before its end without saying why.
pub(super) fn broken(text: &'static str) -> Status {
    Status::new(Code::Unavailable, text).with_transport(Arc::new(BrokenAnswer))
}

/// The failure behind a [`broken`] answer.
#[derive(Debug)]
struct BrokenAnswer;

impl fmt::Display for BrokenAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the peer or a proxy ended the stream")
    }
}

impl StdError for BrokenAnswer {}

/// The outermost error says little ("transport error"); what happened is in its sources.
pub(super) fn all_texts(error: &(dyn StdError + 'static)) -> String {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        // A status of tonic prints its source by itself.
        let part = match error.downcast_ref::<tonic::Status>() {
            Some(status) => status.message().to_owned(),
            None => error.to_string(),
        };
        if !part.is_empty() && !text.contains(&part) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&part);
        }
        next = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::proto::rpc;
    use http::HeaderValue;
    use prost::Message as _;
    use prost_types::{Any, Duration as ProtoDuration};

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        map
    }

    fn status(pairs: &[(&'static str, &str)]) -> Status {
        from_headers(&headers(pairs)).unwrap().unwrap_err()
    }

    fn retry_info(seconds: i64, nanos: i32) -> Vec<u8> {
        let retry_delay = Some(ProtoDuration { seconds, nanos });
        rpc::RetryInfo { retry_delay }.encode_to_vec()
    }

    fn details(info: Vec<u8>) -> Vec<u8> {
        let other = Any {
            type_url: "type.googleapis.com/google.rpc.DebugInfo".to_owned(),
            value: vec![0xff],
        };
        let info = Any {
            type_url: "type.googleapis.com/google.rpc.RetryInfo".to_owned(),
            value: info,
        };
        rpc::Status {
            code: 14,
            message: "busy".to_owned(),
            details: vec![other, info],
        }
        .encode_to_vec()
    }

    fn base64(bytes: &[u8]) -> String {
        base64_simd::STANDARD.encode_to_string(bytes)
    }

    #[test]
    fn ok_and_absent() {
        assert!(from_headers(&headers(&[])).is_none());
        assert!(
            from_headers(&headers(&[("grpc-status", "0")]))
                .unwrap()
                .is_ok()
        );
    }

    #[test]
    fn one_of_several_statuses_that_is_not_ok() {
        for statuses in [["0", "13"], ["13", "0"]] {
            let status = status(&statuses.map(|number| ("grpc-status", number)));
            assert_eq!(status.code(), Code::Internal);
            assert_eq!(status.to_string(), "INTERNAL");
        }
        let twice = headers(&[("grpc-status", "0"), ("grpc-status", "00")]);
        assert!(from_headers(&twice).unwrap().is_ok());
    }

    #[test]
    fn code_and_message() {
        let status = status(&[
            ("grpc-status", "5"),
            ("grpc-message", "no table %22T%C3%A4%22 100%"),
        ]);
        assert_eq!(status.code(), Code::NotFound);
        assert_eq!(status.message(), "no table \"T\u{e4}\" 100%");
        assert!(!status.is_transport());
    }

    #[test]
    fn odd_metadata_is_no_reason_to_panic() {
        for number in [
            "",
            "99",
            "-3",
            "abc",
            "99999999999999999999",
            "-0",
            "+0",
            "0,0",
            "0x0",
        ] {
            let status = status(&[("grpc-status", number)]);
            assert_eq!(status.code(), Code::Unknown);
            let text = format!("the server ended with grpc-status {number:?}");
            assert_eq!(status.message(), text);
            assert_eq!(status.to_string(), format!("UNKNOWN: {text}"));
        }
        let mut map = headers(&[("grpc-status-details-bin", "*not base64*")]);
        map.insert("grpc-status", HeaderValue::from_bytes(b"\xff").unwrap());
        map.insert(
            "grpc-message",
            HeaderValue::from_bytes(b"\xff%zz%C3").unwrap(),
        );
        map.insert(
            "google.rpc.retryinfo-bin",
            HeaderValue::from_bytes(b"\xff\xfe").unwrap(),
        );
        let status = from_headers(&map).unwrap().unwrap_err();
        assert_eq!(status.code(), Code::Unknown);
        assert!(status.details().is_empty());
        assert_eq!(status.retry_delay(), None);
    }

    #[test]
    fn details_that_are_no_message_are_kept() {
        let status = status(&[("grpc-status", "13"), ("grpc-status-details-bin", "/////w")]);
        assert_eq!(&status.details()[..], [0xff; 4]);
        assert_eq!(status.retry_delay(), None);
    }

    #[test]
    fn retry_info_in_the_details() {
        let details = details(retry_info(2, 500_000_000));
        for text in [
            base64(&details),
            base64(&details).trim_end_matches('=').to_owned(),
        ] {
            let status = status(&[("grpc-status", "14"), ("grpc-status-details-bin", &text)]);
            assert_eq!(status.retry_delay(), Some(Duration::from_millis(2500)));
            assert_eq!(status.details(), &details);
        }
    }

    #[test]
    fn retry_info_in_its_own_trailer() {
        let text = base64(&retry_info(0, 7_000_000));
        for value in [text.clone(), format!("!!,{text}")] {
            let status = status(&[("grpc-status", "8"), ("google.rpc.retryinfo-bin", &value)]);
            assert_eq!(status.retry_delay(), Some(Duration::from_millis(7)));
        }
    }

    fn resource_info(resource_type: &str) -> Vec<u8> {
        rpc::ResourceInfo {
            resource_type: resource_type.to_owned(),
            ..rpc::ResourceInfo::default()
        }
        .encode_to_vec()
    }

    #[test]
    fn a_session_that_is_not_found() {
        const SESSION: &str = "type.googleapis.com/google.spanner.v1.Session";
        const DATABASE: &str = "type.googleapis.com/google.spanner.admin.database.v1.Database";
        for (kind, expected) in [(SESSION, true), (DATABASE, false)] {
            let any = |name: &str, value| Any {
                type_url: format!("type.googleapis.com/{name}"),
                value,
            };
            let details = rpc::Status {
                details: vec![
                    any("google.rpc.ResourceInfo", vec![0xff]),
                    any("google.rpc.RetryInfo", resource_info(SESSION)),
                    any("google.rpc.ResourceInfo", resource_info(kind)),
                ],
                ..rpc::Status::default()
            };
            for (name, content) in [
                ("grpc-status-details-bin", details.encode_to_vec()),
                ("google.rpc.resourceinfo-bin", resource_info(kind)),
            ] {
                let gone = status(&[("grpc-status", "5"), (name, &base64(&content))]);
                assert_eq!(gone.is_session_not_found(), expected, "{name} {kind}");
                // Another code is another failure.
                let busy = status(&[("grpc-status", "9"), (name, &base64(&content))]);
                assert!(!busy.is_session_not_found());
            }
        }
        let text = "Session not found: projects/p/instances/i/databases/d/sessions/s";
        let gone = status(&[("grpc-status", "5"), ("grpc-message", text)]);
        assert!(gone.is_session_not_found());
        let gone = status(&[("grpc-status", "5"), ("grpc-message", "Table not found: T")]);
        assert!(!gone.is_session_not_found());
    }

    #[test]
    fn a_delay_that_is_none() {
        for (seconds, nanos) in [(0, 0), (-1, 0), (1, i32::MAX), (i64::MIN, i32::MIN)] {
            let text = base64(&retry_info(seconds, nanos));
            let status = status(&[("grpc-status", "8"), ("google.rpc.retryinfo-bin", &text)]);
            assert_eq!(status.retry_delay(), None, "{seconds} {nanos}");
        }
    }

    #[test]
    fn details_in_trailers_of_their_own_are_details() {
        let help = b"\x0a\x08\x0a\x01d\x12\x03u:/";
        let in_details = details(retry_info(2, 0));
        let status = status(&[
            ("grpc-status", "8"),
            ("grpc-status-details-bin", &base64(&in_details)),
            // Told twice.
            ("google.rpc.retryinfo-bin", &base64(&retry_info(2, 0))),
            ("google.rpc.help-bin", &base64(help)),
            ("google.rpc.resourceinfo-bin", &base64(&resource_info("r"))),
            ("google.rpc.badrequest-bin", "*"),
        ]);
        let all = status.error_details();
        assert_eq!(all.retry_delay, Some(Duration::from_secs(2)));
        assert_eq!(all.help_links[0].url, "u:/");
        assert_eq!(all.resources[0].resource_type, "r");
        assert_eq!(all.others.len(), 1, "{all:?}");
        let sent = rpc::Status::decode(status.details().clone()).unwrap();
        assert_eq!((sent.code, sent.details.len()), (14, 4));
    }

    #[test]
    fn damaged_details_do_not_hide_a_trailer() {
        let status = status(&[
            ("grpc-status", "10"),
            ("grpc-status-details-bin", "/////w"),
            ("google.rpc.retryinfo-bin", &base64(&retry_info(3, 0))),
        ]);
        assert_eq!(status.retry_delay(), Some(Duration::from_secs(3)));
    }

    fn head(status: u16, content_type: &str) -> Parts {
        let response = http::Response::builder()
            .status(status)
            .header("content-type", content_type);
        response.body(()).unwrap().into_parts().0
    }

    #[test]
    fn answers_of_servers_that_do_not_speak_grpc() {
        assert!(check_head(&head(200, "application/grpc")).is_ok());
        assert!(check_head(&head(200, "application/grpc+proto")).is_ok());
        for (number, code) in [
            (200, Code::Unknown),
            (400, Code::Internal),
            (401, Code::Unauthenticated),
            (403, Code::PermissionDenied),
            (404, Code::Unimplemented),
            (429, Code::Unavailable),
            (500, Code::Unknown),
            (502, Code::Unavailable),
            (503, Code::Unavailable),
            (504, Code::Unavailable),
        ] {
            let status = check_head(&head(number, "text/html")).unwrap_err();
            assert_eq!(status.code(), code, "{number}");
            assert!(!status.is_transport());
        }
    }

    #[test]
    fn a_failure_is_told_with_its_causes() {
        let io = std::io::Error::new(std::io::ErrorKind::ConnectionReset, "reset by peer");
        let status = from_failure(tonic::Status::from_error(Box::new(io)));
        assert_eq!(status.code(), Code::Unavailable);
        assert_eq!(status.message(), "reset by peer");
        assert!(status.is_transport());
        assert!(StdError::source(&status).is_some());
        assert!(broken("x").is_transport());
    }
}
