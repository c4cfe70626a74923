//! Answers that no server gives: any bytes in any pieces as the body, any headers as
//! the status.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::collection::vec;
use proptest::prelude::*;

use super::frames::Frames;
use super::status::from_headers;
use crate::error::Code;

/// What a body is: its messages, and how it goes on behind them.
#[derive(Clone, Debug, PartialEq)]
struct Body {
    messages: Vec<Vec<u8>>,
    rest: Rest,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rest {
    Nothing,
    /// A part of a message, or of the bytes before one.
    Part,
    Error(Code),
}

/// The rules of gRPC in the simplest form.
fn naive(mut body: &[u8]) -> Body {
    let mut messages = Vec::new();
    let rest = loop {
        let Some((prefix, behind)) = body.split_first_chunk::<5>() else {
            break if body.is_empty() {
                Rest::Nothing
            } else {
                Rest::Part
            };
        };
        let [flag, len @ ..] = *prefix;
        let len = u32::from_be_bytes(len) as usize;
        if flag != 0 {
            break Rest::Error(Code::Internal);
        }
        if len >= 1 << 31 {
            break Rest::Error(Code::OutOfRange);
        }
        let Some((message, behind)) = behind.split_at_checked(len) else {
            break Rest::Part;
        };
        messages.push(message.to_vec());
        body = behind;
    };
    Body { messages, rest }
}

fn cut(body: &[u8], cuts: &[usize]) -> Body {
    let mut frames = Frames::default();
    let mut messages = Vec::new();
    let mut left = body;
    let mut cuts = cuts.iter().cycle();
    while !left.is_empty() {
        let len = cuts
            .next()
            .map_or(left.len(), |cut| *cut)
            .clamp(1, left.len());
        let (block, behind) = left.split_at(len);
        left = behind;
        frames.push(Bytes::copy_from_slice(block));
        loop {
            match frames.next() {
                Ok(Some(message)) => messages.push(message.to_vec()),
                Ok(None) => break,
                Err(status) => {
                    let rest = Rest::Error(status.code());
                    return Body { messages, rest };
                }
            }
        }
    }
    let rest = if frames.is_between_messages() {
        Rest::Nothing
    } else {
        Rest::Part
    };
    Body { messages, rest }
}

/// Messages of any length, mostly announced as they are.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let message = (
        prop_oneof![40 => Just(0u8), 1 => any::<u8>()],
        prop_oneof![20 => Just(None), 1 => any::<u32>().prop_map(Some), 2 => (0u32..40).prop_map(Some)],
        prop_oneof![8 => vec(any::<u8>(), 0..30), 1 => vec(any::<u8>(), 4_000..9_000)],
    );
    vec(message, 0..8).prop_map(|messages| {
        let mut body = Vec::new();
        for (flag, announced, content) in messages {
            body.push(flag);
            let len = announced.unwrap_or(content.len() as u32);
            body.extend_from_slice(&len.to_be_bytes());
            body.extend_from_slice(&content);
        }
        body
    })
}

fn header_value() -> impl Strategy<Value = HeaderValue> {
    let bytes = prop_oneof![
        vec(any::<u8>(), 0..40),
        "-?[0-9]{0,12}".prop_map(String::into_bytes),
        "[A-Za-z0-9+/=,]{0,60}".prop_map(String::into_bytes),
        "(%[0-9A-F]{2}|[a-z%]){0,20}".prop_map(String::into_bytes),
        // A delay, whole or damaged, as bytes in base64.
        (vec(any::<u8>(), 0..4), vec(any::<u8>(), 0..4)).prop_map(|(before, behind)| {
            let details = [&before[..], b"\x0a\x04\x08\x07\x10\x09", &behind].concat();
            base64_simd::STANDARD.encode_to_string(details).into_bytes()
        }),
    ];
    bytes.prop_filter_map("no header", |bytes| HeaderValue::from_bytes(&bytes).ok())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_body_in_any_pieces(body in body(), cuts in vec(1usize..6_000, 0..6)) {
        prop_assert_eq!(cut(&body, &cuts), naive(&body));
    }

    #[test]
    fn any_body_byte_by_byte(body in vec(prop_oneof![4 => Just(0u8), 1 => any::<u8>()], 0..80)) {
        prop_assert_eq!(cut(&body, &[1]), naive(&body));
    }

    #[test]
    fn any_headers_are_a_status_or_none(
        values in vec((0usize..5, header_value()), 0..8),
    ) {
        const NAMES: [&str; 5] = [
            "grpc-status",
            "grpc-message",
            "grpc-status-details-bin",
            "google.rpc.retryinfo-bin",
            "other",
        ];
        let mut headers = HeaderMap::new();
        for (name, value) in values {
            headers.append(HeaderName::from_static(NAMES[name]), value);
        }
        // In digits only; the first that is not zero counts.
        let digits = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
        let number = |value: &HeaderValue| {
            value.to_str().ok().filter(digits).and_then(|text| text.parse::<i32>().ok())
        };
        let numbers: Vec<_> = headers.get_all("grpc-status").iter().map(number).collect();
        let failure = numbers.iter().find(|number| **number != Some(0));
        match (from_headers(&headers), failure) {
            (None, None) => prop_assert!(numbers.is_empty()),
            (Some(Ok(())), None) => prop_assert!(!numbers.is_empty()),
            (Some(Err(status)), Some(number)) => {
                let known = number.filter(|number| (1..=16).contains(number));
                prop_assert_eq!(status.code().number(), known.unwrap_or(2), "{:?}", number);
                prop_assert!(status.retry_delay().is_none_or(|delay| !delay.is_zero()));
            }
            (status, number) => prop_assert!(false, "{status:?} {number:?}"),
        }
    }
}
