use googleapis_tonic_google_rpc::google::rpc;
use prost::Message as _;
use prost_types::{Any, Duration as ProtoDuration};

use super::*;
use crate::{Code, Error, Status};

fn any(name: &str, message: &impl prost::Message) -> Any {
    Any {
        type_url: format!("type.googleapis.com/google.rpc.{name}"),
        value: message.encode_to_vec(),
    }
}

fn status(details: Vec<Any>) -> Bytes {
    let status = rpc::Status {
        code: 9,
        message: "words".to_owned(),
        details,
    };
    status.encode_to_vec().into()
}

/// Each message, as others encode it, every field with a value of its own.
fn one_of_each() -> Vec<Any> {
    let text = |text: &str| text.to_owned();
    let pair = |name: &str, value: &str| (text(name), text(value));
    vec![
        any(
            "RetryInfo",
            &rpc::RetryInfo {
                retry_delay: Some(ProtoDuration {
                    seconds: 3,
                    nanos: 4_000_000,
                }),
            },
        ),
        any(
            "ErrorInfo",
            &rpc::ErrorInfo {
                reason: text("REASON"),
                domain: text("domain"),
                metadata: [pair("one", "1"), pair("two", "2")].into(),
            },
        ),
        any(
            "ResourceInfo",
            &rpc::ResourceInfo {
                resource_type: text("type"),
                resource_name: text("name"),
                owner: text("owner"),
                description: text("gone"),
            },
        ),
        any(
            "QuotaFailure",
            &rpc::QuotaFailure {
                violations: vec![rpc::quota_failure::Violation {
                    subject: text("project:p"),
                    description: text("too much"),
                    api_service: text("service"),
                    quota_metric: text("metric"),
                    quota_id: text("id"),
                    quota_dimensions: [pair("region", "r")].into(),
                    quota_value: 7,
                    future_quota_value: Some(8),
                }],
            },
        ),
        any(
            "BadRequest",
            &rpc::BadRequest {
                field_violations: vec![
                    rpc::bad_request::FieldViolation {
                        field: text("a.b"),
                        description: text("missing"),
                        reason: text("FIELD_MISSING"),
                        localized_message: Some(rpc::LocalizedMessage::default()),
                    },
                    rpc::bad_request::FieldViolation {
                        field: text("c"),
                        ..Default::default()
                    },
                ],
            },
        ),
        any(
            "PreconditionFailure",
            &rpc::PreconditionFailure {
                violations: vec![rpc::precondition_failure::Violation {
                    r#type: text("kind"),
                    subject: text("subject"),
                    description: text("no"),
                }],
            },
        ),
        any(
            "LocalizedMessage",
            &rpc::LocalizedMessage {
                locale: text("de-CH"),
                message: text("Grüezi"),
            },
        ),
        any(
            "Help",
            &rpc::Help {
                links: vec![rpc::help::Link {
                    description: text("more"),
                    url: text("https://example.com"),
                }],
            },
        ),
        any(
            "DebugInfo",
            &rpc::DebugInfo {
                stack_entries: vec![text("main")],
                detail: text("d"),
            },
        ),
    ]
}

#[test]
fn every_field_of_every_message() {
    let debug = one_of_each().pop().unwrap();
    let text = |text: &str| text.to_owned();
    let pair = |name: &str, value: &str| (text(name), text(value));
    let expected = ErrorDetails {
        retry_delay: Some(Duration::from_millis(3004)),
        errors: vec![ErrorInfo {
            reason: text("REASON"),
            domain: text("domain"),
            metadata: [pair("one", "1"), pair("two", "2")].into(),
        }],
        resources: vec![ResourceInfo {
            resource_type: text("type"),
            name: text("name"),
            owner: text("owner"),
            description: text("gone"),
        }],
        quota_violations: vec![QuotaViolation {
            subject: text("project:p"),
            description: text("too much"),
            metric: text("metric"),
            id: text("id"),
        }],
        field_violations: vec![
            FieldViolation {
                field: text("a.b"),
                description: text("missing"),
                reason: text("FIELD_MISSING"),
            },
            FieldViolation {
                field: text("c"),
                ..FieldViolation::default()
            },
        ],
        precondition_violations: vec![PreconditionViolation {
            kind: text("kind"),
            subject: text("subject"),
            description: text("no"),
        }],
        localized_messages: vec![LocalizedMessage {
            locale: text("de-CH"),
            message: text("Grüezi"),
        }],
        help_links: vec![HelpLink {
            description: text("more"),
            url: text("https://example.com"),
        }],
        others: vec![OtherDetail {
            type_url: debug.type_url,
            value: debug.value.into(),
        }],
    };
    assert_eq!(ErrorDetails::read(&status(one_of_each())), expected);
    assert!(!expected.is_empty());
    // The error hands them on.
    let error = Status::new(Code::Unknown, "").with_details(status(one_of_each()));
    assert_eq!(Error::from(error).details(), expected);
    assert!(Error::protocol("x").details().is_empty());
}

#[test]
fn several_details_of_a_kind_add_up() {
    let details = ErrorDetails::read(&status([one_of_each(), one_of_each()].concat()));
    let lengths = [
        details.errors.len(),
        details.resources.len(),
        details.quota_violations.len(),
        details.field_violations.len(),
        details.precondition_violations.len(),
        details.localized_messages.len(),
        details.help_links.len(),
        details.others.len(),
    ];
    assert_eq!(lengths, [2, 2, 2, 4, 2, 2, 2, 2]);
}

/// All details of the status, read or not.
fn count(details: &ErrorDetails) -> usize {
    usize::from(details.retry_delay.is_some())
        + details.errors.len()
        + details.resources.len()
        + details.quota_violations.len()
        + usize::from(!details.field_violations.is_empty())
        + details.precondition_violations.len()
        + details.localized_messages.len()
        + details.help_links.len()
        + details.others.len()
}

#[test]
fn of_a_status_that_is_cut_there_is_what_comes_before() {
    let whole = status(one_of_each());
    let mut seen = 0;
    for len in 0..=whole.len() {
        let details = ErrorDetails::read(&whole.slice(..len));
        let now = count(&details);
        assert!(now == seen || now == seen + 1, "{len}: {seen}, then {now}");
        seen = now;
    }
    assert_eq!(seen, 9);
}

#[test]
fn a_detail_that_cannot_be_read_is_kept_as_it_came() {
    for detail in one_of_each() {
        let mut damaged = detail.clone();
        // A text that is longer than what is left.
        damaged.value.extend([0x0a, 0x7f]);
        let other = OtherDetail {
            type_url: damaged.type_url.clone(),
            value: damaged.value.clone().into(),
        };
        let expected = ErrorDetails {
            others: vec![other],
            ..ErrorDetails::default()
        };
        let found = ErrorDetails::read(&status(vec![damaged]));
        assert_eq!(found, expected);
        // Every prefix is read or kept, but for a message without content.
        for len in 1..detail.value.len() {
            let mut cut = detail.clone();
            cut.value.truncate(len);
            let found = ErrorDetails::read(&status(vec![cut.clone()]));
            let kept = found.others.iter().any(|it| it.value == cut.value);
            assert!(kept || count(&found) == 1, "{cut:?}: {found:?}");
        }
    }
}

#[test]
fn no_bytes_panic() {
    let whole = status(one_of_each());
    for at in 0..whole.len() {
        for wrong in [0x00, 0x01, 0x0a, 0x7f, 0x80, 0xff] {
            let mut bytes = whole.to_vec();
            bytes[at] = wrong;
            ErrorDetails::read(&bytes.into());
        }
    }
    for wrong in [
        &b"\x1a\xff\xff\xff\xff\x0f"[..],
        b"\x1b\x1c",
        b"\x18\x05",
        b"\x1a\x02\x08\x01",
    ] {
        let found = ErrorDetails::read(&Bytes::from_static(wrong));
        assert!(found.is_empty(), "{wrong:?}: {found:?}");
    }
}

#[test]
fn texts_that_are_no_utf8_are_told() {
    let wrong = Any {
        type_url: "x/google.rpc.LocalizedMessage".to_owned(),
        value: b"\x0a\x02e\xff\x12\x01m".to_vec(),
    };
    let found = ErrorDetails::read(&status(vec![wrong]));
    assert_eq!(found.localized_messages[0].locale, "e\u{fffd}");
    assert_eq!(found.localized_messages[0].message, "m");
}

#[test]
fn an_error_is_one_word_wide() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Status>(), size_of::<usize>());
}
