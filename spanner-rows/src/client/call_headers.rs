//! Headers that the program adds to its calls.

use std::fmt;
use std::sync::Arc;

use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::error::Error;

/// Headers of one request that the program adds, in the closure of
/// [`ClientBuilder::call_headers`](crate::ClientBuilder::call_headers).
#[derive(Debug, Default)]
pub struct CallHeaders {
    headers: HeaderMap,
    problem: Option<String>,
}

impl CallHeaders {
    /// Sends a header with all attempts of the request, in place of one of the same name.
    ///
    /// Names are those of HTTP; a value is visible ASCII and spaces. What the client or the
    /// transport says itself cannot be said here: `authorization`, `content-type`, `host`,
    /// `te`, `user-agent` and other headers of the connection, and all names that begin with
    /// `grpc-`, `google-cloud-` or `x-goog-`, or that end with `-bin`. A header that cannot be sent fails the
    /// request with INVALID_ARGUMENT, and [`connect`](crate::ClientBuilder::connect) with
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) when it is set already then.
    pub fn insert(&mut self, name: &str, value: &str) {
        match header(name, value) {
            Ok((name, value)) => {
                self.headers.insert(name, value);
            }
            Err(problem) => {
                self.problem.get_or_insert(problem);
            }
        }
    }
}

/// Headers that belong to the connection, or that are set for every call.
const TAKEN: [&str; 12] = [
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];
const TAKEN_STARTS: [&str; 3] = ["google-cloud-", "grpc-", "x-goog-"];

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let Ok(known) = HeaderName::from_bytes(name.as_bytes()) else {
        return Err(format!("{name:?} is no name of a header"));
    };
    let lower = known.as_str();
    if TAKEN.contains(&lower) || TAKEN_STARTS.iter().any(|start| lower.starts_with(start)) {
        return Err(format!(
            "the header `{lower}` is one that the client or the connection sets: `call_headers` cannot"
        ));
    }
    if lower.ends_with("-bin") {
        return Err(format!(
            "the header `{lower}` is one of bytes (`-bin`), and `call_headers` adds text"
        ));
    }
    // The value may be private.
    let allowed = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    match HeaderValue::from_str(value) {
        Ok(value) if allowed => Ok((known, value)),
        _ => Err(format!(
            "the value of the header `{lower}` has characters other than visible ASCII and spaces"
        )),
    }
}

/// The closure of the program.
#[derive(Clone)]
pub(super) struct Adder(Arc<dyn Fn(&mut CallHeaders) + Send + Sync>);

impl Adder {
    pub(super) fn new(add: impl Fn(&mut CallHeaders) + Send + Sync + 'static) -> Self {
        Self(Arc::new(add))
    }

    /// The headers of a request that is made now.
    pub(super) fn headers(&self) -> Added {
        let mut added = CallHeaders::default();
        (self.0)(&mut added);
        Added(Some(Arc::new(added)))
    }
}

impl fmt::Debug for Adder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Adder")
    }
}

/// What the program added to one request.
#[derive(Clone, Debug, Default)]
pub(super) struct Added(Option<Arc<CallHeaders>>);

impl Added {
    /// # Errors
    ///
    /// One of them cannot be sent.
    pub(super) fn put(&self, headers: &mut HeaderMap) -> Result<(), Error> {
        let Some(added) = &self.0 else {
            return Ok(());
        };
        if let Some(problem) = &added.problem {
            return Err(Error::config(problem.clone()));
        }
        for (name, value) in &added.headers {
            headers.insert(name, value.clone());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(name: &str, value: &str) -> Option<String> {
        let adder = Adder::new({
            let (name, value) = (name.to_owned(), value.to_owned());
            move |headers| headers.insert(&name, &value)
        });
        let mut headers = HeaderMap::new();
        let put = adder.headers().put(&mut headers);
        assert_eq!(headers.len(), usize::from(put.is_ok()));
        put.err().map(|error| error.to_string())
    }

    #[test]
    fn headers_of_others_are_refused() {
        for name in [
            "authorization",
            "Authorization",
            "TE",
            "content-type",
            "grpc-timeout",
            "x-goog-spanner-request-id",
            "google-cloud-resource-prefix",
        ] {
            let problem = problem(name, "x").expect(name);
            let lower = name.to_ascii_lowercase();
            assert!(problem.starts_with(&format!("the header `{lower}` is one that")));
        }
        for name in ["traceparent", "tracestate", "x-mine", "baggage"] {
            assert_eq!(problem(name, "00-ab-cd-01"), None);
        }
    }

    #[test]
    fn what_is_no_header_is_refused() {
        assert_eq!(problem("", "x").unwrap(), "\"\" is no name of a header");
        assert_eq!(
            problem("a b", "x").unwrap(),
            "\"a b\" is no name of a header"
        );
        assert!(problem("mine-bin", "x").unwrap().contains("`mine-bin`"));
        for value in ["ü", "a\nb", "\t", "\u{7f}"] {
            let problem = problem("mine", value).unwrap();
            assert!(problem.contains("`mine`") && !problem.contains(value));
        }
    }
}
