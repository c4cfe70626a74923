//! What a read-only transaction sends, field by field, read with messages that others
//! generated.

use std::sync::Arc;
use std::time::Duration;

use googleapis_tonic_google_spanner_v1::google::spanner::v1 as theirs;
use prost::Message as _;
use theirs::transaction_options::read_only::TimestampBound as Sent;
use theirs::transaction_options::{Mode, ReadOnly};
use theirs::transaction_selector::Selector;

use super::request_tests::Named;
use super::test_transport::{Recorder, SESSION, session};
use crate::error::{Code, Status};
use crate::transport::{Call, Method};
use crate::{Priority, Timestamp, TimestampBound};

/// Begins transactions with this id; answers statements with one column and no rows.
fn server() -> Arc<Recorder> {
    Recorder::new(|_, call| {
        let transaction = theirs::Transaction {
            id: b"id".as_slice().into(),
            read_timestamp: Some(prost_types::Timestamp {
                seconds: 5,
                nanos: 6,
            }),
            ..Default::default()
        };
        let column = theirs::struct_type::Field {
            name: "n".to_owned(),
            r#type: Some(theirs::Type {
                code: theirs::TypeCode::Int64.into(),
                ..Default::default()
            }),
        };
        match call.method {
            Method::CreateSession => Ok(vec![session(SESSION)]),
            Method::BeginTransaction => Ok(vec![transaction.encode_to_vec().into()]),
            Method::ExecuteStreamingSql => {
                let first = theirs::PartialResultSet {
                    metadata: Some(theirs::ResultSetMetadata {
                        row_type: Some(theirs::StructType {
                            fields: vec![column],
                        }),
                        transaction: Some(transaction),
                        ..Default::default()
                    }),
                    ..Default::default()
                };
                Ok(vec![first.encode_to_vec().into()])
            }
            _ => Err(Status::new(Code::PermissionDenied, "only queries here")),
        }
    })
}

fn stale() -> (TimestampBound, theirs::TransactionOptions) {
    let read_only = ReadOnly {
        timestamp_bound: Some(Sent::ExactStaleness(prost_types::Duration {
            seconds: 10,
            nanos: 11,
        })),
        return_read_timestamp: true,
    };
    let options = theirs::TransactionOptions {
        mode: Some(Mode::ReadOnly(read_only)),
        ..Default::default()
    };
    let bound = TimestampBound::ExactStaleness(Duration::new(10, 11));
    (bound, options)
}

fn selector(selector: Selector) -> Option<theirs::TransactionSelector> {
    Some(theirs::TransactionSelector {
        selector: Some(selector),
    })
}

fn sql(call: &Call) -> theirs::ExecuteSqlRequest {
    assert_eq!(call.method, Method::ExecuteStreamingSql);
    theirs::ExecuteSqlRequest::decode(call.body.clone()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn statements_of_a_transaction() {
    let recorder = server();
    let (bound, options) = stale();
    let builder = recorder.client().read_only().timestamp_bound(bound);
    let transaction = builder.start().unwrap();
    for _ in 0..2 {
        let query = transaction.query("SELECT @p").priority(Priority::Low);
        query.rows::<(i64,)>().await.unwrap();
    }
    let read = transaction.read::<Named>("T").key(7_i64);
    read.rows().await.unwrap_err();
    assert_eq!(transaction.read_timestamp(), Timestamp::new(5, 6));

    let calls = recorder.calls();
    let [_, first, second, read] = &*calls else {
        panic!("{calls:?}")
    };
    let expected = theirs::ExecuteSqlRequest {
        session: SESSION.to_owned(),
        transaction: selector(Selector::Begin(options)),
        sql: "SELECT @p".to_owned(),
        request_options: Some(theirs::RequestOptions {
            priority: 1,
            ..Default::default()
        }),
        ..Default::default()
    };
    assert_eq!(sql(first), expected);
    let in_it = selector(Selector::Id(b"id".as_slice().into()));
    let expected = theirs::ExecuteSqlRequest {
        transaction: in_it.clone(),
        ..expected
    };
    assert_eq!(sql(second), expected);
    assert_eq!(read.method, Method::StreamingRead);
    let read = theirs::ReadRequest::decode(read.body.clone()).unwrap();
    assert_eq!(read.session, SESSION);
    assert_eq!(read.transaction, in_it);
    assert_eq!(read.table, "T");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_begins() {
    let recorder = server();
    let (bound, options) = stale();
    let client = recorder.client();
    client.session().await.unwrap();
    let builder = client.read_only().timestamp_bound(bound);
    let transaction = builder.begin().await.unwrap();
    assert_eq!(transaction.read_timestamp(), Timestamp::new(5, 6));
    let call = recorder.last();
    assert_eq!(call.method, Method::BeginTransaction);
    let request = theirs::BeginTransactionRequest::decode(call.body).unwrap();
    let expected = theirs::BeginTransactionRequest {
        session: SESSION.to_owned(),
        options: Some(options),
        ..Default::default()
    };
    assert_eq!(request, expected);
    let header = |name| call.headers.get(name).map(|it| it.to_str().unwrap());
    assert_eq!(header("x-goog-spanner-route-to-leader"), None);
    assert_eq!(header("grpc-timeout"), Some("30000m"));
    assert!(
        header("x-goog-spanner-request-id")
            .unwrap()
            .ends_with(".2.1")
    );

    transaction
        .query("SELECT 1")
        .rows::<(i64,)>()
        .await
        .unwrap();
    let in_it = selector(Selector::Id(b"id".as_slice().into()));
    assert_eq!(sql(&recorder.last()).transaction, in_it);
}

/// A server that answers nothing, or nonsense, begins no transaction.
#[tokio::test(start_paused = true)]
async fn calls_that_begin_nothing() {
    for (answer, why) in [
        (&b""[..], "no transaction returned"),
        (b"\x0a", "cannot be read"),
    ] {
        let recorder = Recorder::new(move |_, call| match call.method {
            Method::CreateSession => Ok(vec![session(SESSION)]),
            _ => Ok(vec![answer.into()]),
        });
        let error = recorder.client().read_only().begin().await.unwrap_err();
        assert_eq!(error.code(), Code::Internal);
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(recorder.calls().len(), 2);
    }
}
