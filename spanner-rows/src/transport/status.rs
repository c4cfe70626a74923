//! Trailers and failures of the connection as [`Status`].
//!
//! Trailers are read here and not by tonic, which panics on details that are
//! not base64.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::response::Parts;
use http::{HeaderMap, StatusCode, header};
use percent_encoding::percent_decode;
use prost::Message;

use crate::error::{Code, Status};
use crate::proto::rpc;

const STATUS: &str = "grpc-status";
const MESSAGE: &str = "grpc-message";
/// A serialised `google.rpc.Status`.
const DETAILS: &str = "grpc-status-details-bin";
/// A serialised `google.rpc.RetryInfo`.
const RETRY_INFO: &str = "google.rpc.retryinfo-bin";
const RETRY_INFO_TYPE: &str = "google.rpc.RetryInfo";

/// The final status, if these headers or trailers have one.
pub(super) fn from_headers(headers: &HeaderMap) -> Option<Result<(), Status>> {
    let number = headers.get(STATUS)?.to_str().ok();
    match number.and_then(|number| number.trim().parse().ok()) {
        Some(0) => Some(Ok(())),
        number => Some(Err(error_from(
            Code::from_number(number.unwrap_or(-1)),
            headers,
        ))),
    }
}

fn error_from(code: Code, headers: &HeaderMap) -> Status {
    let message = headers.get(MESSAGE).map_or_else(String::new, |message| {
        percent_decode(message.as_bytes())
            .decode_utf8_lossy()
            .into_owned()
    });
    let details = binary(headers, DETAILS).unwrap_or_default();
    let delay = delay_in_details(&details)
        .or_else(|| delay_of(&rpc::RetryInfo::decode(binary(headers, RETRY_INFO)?).ok()?));
    Status::new(code, message)
        .with_details(details)
        .with_retry_delay(delay)
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

fn delay_in_details(details: &Bytes) -> Option<Duration> {
    let status = rpc::Status::decode(details.clone()).ok()?;
    let is_retry_info = |url: &str| url.rsplit('/').next() == Some(RETRY_INFO_TYPE);
    let mut infos = status
        .details
        .iter()
        .filter(|any| is_retry_info(&any.type_url));
    infos.find_map(|any| delay_of(&rpc::RetryInfo::decode(&*any.value).ok()?))
}

/// A delay of nothing asks for nothing. (The conversion of `prost_types` panics
/// on some values.)
fn delay_of(info: &rpc::RetryInfo) -> Option<Duration> {
    let delay = info.retry_delay?;
    let nanos = u32::try_from(delay.nanos)
        .ok()
        .filter(|nanos| *nanos < 1_000_000_000)?;
    let delay = Duration::new(u64::try_from(delay.seconds).ok()?, nanos);
    (!delay.is_zero()).then_some(delay)
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

/// The status of a call whose connection failed. Its code is always
/// UNAVAILABLE; tonic's own depends on which of its features are compiled in.
pub(super) fn from_failure(error: impl StdError + Send + Sync + 'static) -> Status {
    Status::new(Code::Unavailable, all_texts(&error)).with_transport(Arc::new(error))
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
fn all_texts(error: &(dyn StdError + 'static)) -> String {
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
    use super::*;
    use http::HeaderValue;
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
        for number in ["", "99", "-3", "abc", "99999999999999999999"] {
            assert_eq!(status(&[("grpc-status", number)]).code(), Code::Unknown);
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

    #[test]
    fn a_delay_that_is_none() {
        for (seconds, nanos) in [(0, 0), (-1, 0), (1, i32::MAX), (i64::MIN, i32::MIN)] {
            let text = base64(&retry_info(seconds, nanos));
            let status = status(&[("grpc-status", "8"), ("google.rpc.retryinfo-bin", &text)]);
            assert_eq!(status.retry_delay(), None, "{seconds} {nanos}");
        }
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
