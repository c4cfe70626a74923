//! What every call carries besides its message, and the ids of requests.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http::header::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::call_headers::{Added, Adder};
use super::database::DatabaseName;
use crate::error::Error;
use crate::transport::channel::GRPC_VERSION;

/// Names the database on every data call.
const RESOURCE_PREFIX: HeaderName = HeaderName::from_static("google-cloud-resource-prefix");
/// The part of the request that the service routes by.
const REQUEST_PARAMS: HeaderName = HeaderName::from_static("x-goog-request-params");
/// Which library calls.
const API_CLIENT: HeaderName = HeaderName::from_static("x-goog-api-client");
/// Only for what a leader must do; reads may go to any replica.
const ROUTE_TO_LEADER: HeaderName = HeaderName::from_static("x-goog-spanner-route-to-leader");
/// The service is to record its own part of traces.
const END_TO_END_TRACING: HeaderName = HeaderName::from_static("x-goog-spanner-end-to-end-tracing");
const TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-goog-spanner-request-id");

/// Everything but the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Tells this process from others in the server's logs.
static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());
static CLIENTS: AtomicU64 = AtomicU64::new(1);

/// Not known: the transport chooses one for each attempt, and all attempts of a
/// request have the same id but for the last number.
const CHANNEL: u32 = 0;

/// The headers of one client's calls.
#[derive(Debug)]
pub(super) struct Headers {
    common: HeaderMap,
    /// Whether a leader is asked for where only one can help.
    route_to_leader: bool,
    client: u64,
    requests: AtomicU64,
    /// What the program adds.
    adder: Option<Adder>,
}

impl Headers {
    pub(super) fn new(
        database: &DatabaseName,
        end_to_end_tracing: bool,
        route_to_leader: bool,
        adder: Option<Adder>,
    ) -> Result<Self, Error> {
        if let Some(adder) = &adder {
            // What is wrong each time is told before any request.
            adder.headers().put(&mut HeaderMap::new())?;
        }
        let api_client = format!(
            "gl-rust/{} gccl/{} grpc/{GRPC_VERSION}",
            env!("SPANNER_ROWS_RUSTC_VERSION"),
            env!("CARGO_PKG_VERSION"),
        );
        let mut common = HeaderMap::new();
        common.insert(RESOURCE_PREFIX, value(database.as_str())?);
        common.insert(API_CLIENT, value(&api_client)?);
        if end_to_end_tracing {
            common.insert(END_TO_END_TRACING, HeaderValue::from_static("true"));
        }
        Ok(Self {
            common,
            route_to_leader,
            client: CLIENTS.fetch_add(1, Ordering::Relaxed),
            requests: AtomicU64::new(1),
            adder,
        })
    }

    /// The id of a new request, without its last part, the attempt.
    pub(super) fn new_request(&self) -> RequestId {
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        let (process, client) = (*PROCESS, self.client);
        RequestId {
            text: format!("1.{process:016x}.{client}.{CHANNEL}.{request}"),
            added: self.adder.as_ref().map(Adder::headers).unwrap_or_default(),
        }
    }

    /// Whether the program adds headers to its requests.
    pub(super) const fn asks_program(&self) -> bool {
        self.adder.is_some()
    }

    /// The headers of one attempt of a read.
    pub(super) fn of_read(&self, params: &HeaderValue, id: &AttemptId) -> Result<HeaderMap, Error> {
        let mut headers = self.common.clone();
        headers.insert(REQUEST_PARAMS, params.clone());
        headers.insert(REQUEST_ID, value(&id.text)?);
        id.added.put(&mut headers)?;
        Ok(headers)
    }

    /// The headers of one attempt of a call that only a leader can do.
    pub(super) fn of_leader(
        &self,
        params: &HeaderValue,
        id: &AttemptId,
    ) -> Result<HeaderMap, Error> {
        let mut headers = self.of_read(params, id)?;
        if self.route_to_leader {
            headers.insert(ROUTE_TO_LEADER, HeaderValue::from_static("true"));
        }
        Ok(headers)
    }
}

/// The id that all attempts of a request have in common.
#[derive(Clone, Debug)]
pub(super) struct RequestId {
    text: String,
    /// The headers that the program adds to all attempts.
    added: Added,
}

/// The id of one attempt.
#[derive(Clone, Debug)]
pub(super) struct AttemptId {
    pub(super) text: Arc<str>,
    added: Added,
}

/// Without the attempt.
impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl RequestId {
    /// The id of one attempt, counted from 1.
    pub(super) fn attempt(&self, attempt: u32) -> AttemptId {
        AttemptId {
            text: format!("{}.{attempt}", self.text).into(),
            added: self.added.clone(),
        }
    }
}

/// `x-goog-request-params` for one field of the request.
pub(super) fn request_params(field: &str, content: &str) -> Result<HeaderValue, Error> {
    value(&format!(
        "{field}={}",
        utf8_percent_encode(content, ENCODED)
    ))
}

/// Tells the server how much time is left for the call.
///
/// The value has at most eight digits ("gRPC over HTTP2", `TimeoutValue`).
pub(super) fn put_timeout(headers: &mut HeaderMap, left: Duration) -> Result<(), Error> {
    const LARGEST: u128 = 99_999_999;
    let text = match left.as_millis() {
        // A server takes no time for less than none.
        0 => "1m".to_owned(),
        millis if millis <= LARGEST => format!("{millis}m"),
        millis => format!("{}S", (millis / 1000).min(LARGEST)),
    };
    headers.insert(TIMEOUT, value(&text)?);
    Ok(())
}

fn value(text: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_str(text)
        .map_err(|_| Error::config(format!("{text:?} cannot be sent in a header")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers() -> Headers {
        let database = DatabaseName::parse("projects/a:b/instances/i/databases/d").unwrap();
        Headers::new(&database, false, true, None).unwrap()
    }

    fn id() -> AttemptId {
        AttemptId {
            text: "id".into(),
            added: Added::default(),
        }
    }

    fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
        headers.get(name).unwrap().to_str().unwrap()
    }

    #[test]
    fn params_are_percent_encoded() {
        let params = request_params("session", "projects/a:b/sessions/x y+ü~-._").unwrap();
        assert_eq!(
            params,
            "session=projects%2Fa%3Ab%2Fsessions%2Fx%20y%2B%C3%BC~-._"
        );
    }

    #[test]
    fn the_time_left_has_at_most_eight_digits() {
        let sent = |left| {
            let mut headers = HeaderMap::new();
            put_timeout(&mut headers, left).unwrap();
            text(&headers, "grpc-timeout").to_owned()
        };
        assert_eq!(sent(Duration::ZERO), "1m");
        assert_eq!(sent(Duration::from_micros(999)), "1m");
        assert_eq!(sent(Duration::from_millis(1500)), "1500m");
        assert_eq!(sent(Duration::from_millis(99_999_999)), "99999999m");
        assert_eq!(sent(Duration::from_millis(100_000_000)), "100000S");
        assert_eq!(sent(Duration::MAX), "99999999S");
    }

    #[test]
    fn a_read_says_who_calls_and_for_what() {
        let (headers, params) = (headers(), request_params("session", "s").unwrap());
        let sent = headers.of_read(&params, &id()).unwrap();
        assert_eq!(
            text(&sent, "google-cloud-resource-prefix"),
            "projects/a:b/instances/i/databases/d"
        );
        assert_eq!(text(&sent, "x-goog-request-params"), "session=s");
        assert_eq!(text(&sent, "x-goog-spanner-request-id"), "id");
        assert!(sent.get("x-goog-spanner-route-to-leader").is_none());
        let api_client = text(&sent, "x-goog-api-client");
        let versions: Vec<_> = api_client
            .split(' ')
            .map(|part| part.split_once('/').unwrap())
            .collect();
        assert_eq!(
            versions.iter().map(|part| part.0).collect::<Vec<_>>(),
            ["gl-rust", "gccl", "grpc"]
        );
        for (name, version) in versions {
            let numbers: Vec<_> = version.split('.').collect();
            assert_eq!(numbers.len(), 3, "{name}/{version}");
            assert!(
                numbers[..2].iter().all(|n| n.parse::<u32>().is_ok()),
                "{name}/{version}"
            );
        }
    }

    #[test]
    fn a_leader_is_asked_for() {
        let (headers, params) = (headers(), request_params("database", "d").unwrap());
        let sent = headers.of_leader(&params, &id()).unwrap();
        assert_eq!(text(&sent, "x-goog-spanner-route-to-leader"), "true");
    }

    #[test]
    fn ids_count_requests_and_attempts() {
        let (one, two) = (headers(), headers());
        let parts = |id: &RequestId, attempt| {
            let id = id.attempt(attempt).text;
            let parts: Vec<_> = id.split('.').map(str::to_owned).collect();
            assert_eq!(parts.len(), 6, "{id}");
            parts
        };
        let first = one.new_request();
        let (a, b) = (parts(&first, 1), parts(&first, 2));
        assert_eq!(a[0], "1");
        assert_eq!(a[1].len(), 16);
        assert!(
            a[1].bytes()
                .all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c))
        );
        assert_eq!(a[3..], ["0", "1", "1"]);
        assert_eq!(a[..5], b[..5]);
        assert_eq!(b[5], "2");
        assert_eq!(parts(&one.new_request(), 1)[4], "2");
        let other = parts(&two.new_request(), 1);
        assert_eq!(other[1], a[1]);
        assert_ne!(other[2], a[2]);
        assert_eq!(other[4], "1");
    }

    #[test]
    fn the_version_of_the_grpc_library_is_the_one_compiled_in() {
        let lock = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
        // A packaged crate has no lock file beside it.
        if let Ok(lock) = std::fs::read_to_string(lock) {
            let entry = format!("name = \"tonic\"\nversion = \"{GRPC_VERSION}\"\n");
            assert!(
                lock.replace("\r\n", "\n").contains(&entry),
                "GRPC_VERSION is out of date"
            );
        }
    }
}
