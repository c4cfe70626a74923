//! What the settings of queries and reads become, field by field, read with messages
//! that others generated.

use std::time::Duration;

use googleapis_tonic_google_spanner_v1::google::spanner::v1 as theirs;
use theirs::transaction_options::read_only::TimestampBound as Sent;
use theirs::transaction_options::{Mode, ReadOnly};
use theirs::transaction_selector::Selector;

use super::request_tests::{Named, sent, sent_read};
use super::test_transport::Recorder;
use crate::error::ErrorKind;
use crate::{Timestamp, TimestampBound};

fn single_use(bound: Sent) -> Option<theirs::TransactionSelector> {
    let read_only = ReadOnly {
        timestamp_bound: Some(bound),
        return_read_timestamp: true,
    };
    let options = theirs::TransactionOptions {
        mode: Some(Mode::ReadOnly(read_only)),
        ..Default::default()
    };
    Some(theirs::TransactionSelector {
        selector: Some(Selector::SingleUse(options)),
    })
}

/// Every bound, and what it is on the wire.
fn bounds() -> [(TimestampBound, Sent); 5] {
    let time = Timestamp::new(-5, 7).unwrap();
    let sent_time = prost_types::Timestamp {
        seconds: -5,
        nanos: 7,
    };
    let staleness = Duration::new(300, 9);
    let sent_staleness = prost_types::Duration {
        seconds: 300,
        nanos: 9,
    };
    [
        (TimestampBound::Strong, Sent::Strong(true)),
        (
            TimestampBound::ReadTimestamp(time),
            Sent::ReadTimestamp(sent_time),
        ),
        (
            TimestampBound::ExactStaleness(staleness),
            Sent::ExactStaleness(sent_staleness),
        ),
        (
            TimestampBound::MinReadTimestamp(time),
            Sent::MinReadTimestamp(sent_time),
        ),
        (
            TimestampBound::MaxStaleness(staleness),
            Sent::MaxStaleness(sent_staleness),
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn every_bound_of_queries_and_reads() {
    for (bound, expected) in bounds() {
        let query = |client: &crate::Client| client.query("SELECT 1").timestamp_bound(bound);
        let (call, request) = sent(query).await;
        assert_eq!(request.transaction, single_use(expected), "{bound}");
        assert_eq!(request.sql, "SELECT 1");
        assert!(call.headers.get("x-goog-spanner-route-to-leader").is_none());

        let read = |client: &crate::Client| {
            let read = client.read::<Named>("T").all();
            read.timestamp_bound(bound)
        };
        let (call, request) = sent_read(read).await;
        assert_eq!(request.transaction, single_use(expected), "{bound}");
        assert_eq!(request.table, "T");
        assert!(call.headers.get("x-goog-spanner-route-to-leader").is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_staleness_beyond_all_time_is_told_without_sending() {
    let recorder = Recorder::sessions_only();
    let query = recorder.client().query("SELECT 1");
    let query = query.timestamp_bound(TimestampBound::MaxStaleness(Duration::MAX));
    let error = query.rows::<(i64,)>().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error:?}");
    assert_eq!(recorder.calls().len(), 0);
}
