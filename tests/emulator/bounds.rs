//! Every timestamp bound, for queries and for reads by key: write, wait, read the past.

use std::time::{Duration, Instant, SystemTime};

use spanner_rows::testing::Database;
use spanner_rows::{Client, Code, RowStream, SpannerRow, Timestamp, TimestampBound};

use crate::support;

const DDL: [&str; 1] = ["CREATE TABLE Versions (Id INT64, Version INT64) PRIMARY KEY (Id)"];

/// Between two writes, so that a time between them is far from both.
const GAP: Duration = Duration::from_millis(400);

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Row {
    version: i64,
}

struct Versions {
    _database: Database,
    client: Client,
    /// A time at which there was no row.
    before: Timestamp,
    /// A time at which version 1 was there.
    between: Timestamp,
    /// The same on this machine's other clock.
    between_here: Instant,
    /// A time at which version 2 was there.
    after: Timestamp,
}

/// Version 1, then version 2.
async fn versions() -> Option<Versions> {
    let (database, client) = support::database(&DDL).await?;
    let before = now(&client).await;
    tokio::time::sleep(GAP).await;
    let insert = "INSERT INTO Versions (Id, Version) VALUES (1, 1)";
    database.execute(insert).await.unwrap();
    tokio::time::sleep(GAP).await;
    let between = now(&client).await;
    let between_here = Instant::now();
    tokio::time::sleep(GAP).await;
    let update = "UPDATE Versions SET Version = 2 WHERE Id = 1";
    database.execute(update).await.unwrap();
    let after = now(&client).await;
    Some(Versions {
        _database: database,
        client,
        before,
        between,
        between_here,
        after,
    })
}

/// The time of a strong read.
async fn now(client: &Client) -> Timestamp {
    let mut rows = client.query("SELECT 1").rows::<(i64,)>().await.unwrap();
    rows.one().await.unwrap();
    rows.read_timestamp().expect("it is always asked for")
}

/// The version seen, and the time at which; by SQL and by key.
async fn seen(client: &Client, bound: TimestampBound) -> [(Option<i64>, Timestamp); 2] {
    async fn only(mut rows: RowStream<Row>) -> (Option<i64>, Timestamp) {
        let row = rows.optional().await.unwrap();
        let time = rows.read_timestamp().expect("it is always asked for");
        (row.map(|row| row.version), time)
    }
    let query = client.query("SELECT Version FROM Versions WHERE Id = 1");
    let query = query.timestamp_bound(bound).rows::<Row>().await.unwrap();
    let read = client.read::<Row>("Versions").key(1_i64);
    let read = read.timestamp_bound(bound).rows().await.unwrap();
    [only(query).await, only(read).await]
}

#[tokio::test]
async fn strong_reads_see_the_latest() {
    let Some(at) = versions().await else { return };
    for (version, time) in seen(&at.client, TimestampBound::Strong).await {
        assert_eq!(version, Some(2));
        assert!(time >= at.after, "{time} {}", at.after);
    }
}

#[tokio::test]
async fn a_read_timestamp_is_read_at_exactly() {
    let Some(at) = versions().await else { return };
    for (wanted, expected) in [
        (at.before, None),
        (at.between, Some(1)),
        (at.after, Some(2)),
    ] {
        let seen = seen(&at.client, TimestampBound::ReadTimestamp(wanted)).await;
        assert_eq!(seen, [(expected, wanted); 2]);
    }
}

#[tokio::test]
async fn an_exact_staleness_reads_that_long_ago() {
    let Some(at) = versions().await else { return };
    let staleness = at.between_here.elapsed();
    let seen = seen(&at.client, TimestampBound::ExactStaleness(staleness)).await;
    for (version, time) in seen {
        assert_eq!(version, Some(1));
        assert!(at.before < time && time < at.after, "{time}");
    }
}

#[tokio::test]
async fn a_min_read_timestamp_is_never_undercut() {
    let Some(at) = versions().await else { return };
    for (version, time) in seen(&at.client, TimestampBound::MinReadTimestamp(at.after)).await {
        assert_eq!(version, Some(2));
        assert!(time >= at.after, "{time} {}", at.after);
    }
    for (version, time) in seen(&at.client, TimestampBound::MinReadTimestamp(at.between)).await {
        assert!(matches!(version, Some(1 | 2)), "{version:?}");
        assert!(time >= at.between, "{time} {}", at.between);
    }
}

#[tokio::test]
async fn a_max_staleness_is_never_exceeded() {
    let Some(at) = versions().await else { return };
    // Longer ago than the second write: nothing older than it may be seen.
    tokio::time::sleep(GAP).await;
    let bound = TimestampBound::MaxStaleness(GAP / 2);
    for (version, time) in seen(&at.client, bound).await {
        assert_eq!(version, Some(2));
        assert!(time > at.after, "{time} {}", at.after);
    }
    let bound = TimestampBound::MaxStaleness(at.between_here.elapsed());
    for (version, time) in seen(&at.client, bound).await {
        assert!(matches!(version, Some(1 | 2)), "{version:?}");
        assert!(time > at.before, "{time} {}", at.before);
    }
}

#[tokio::test]
async fn a_time_before_the_retention_period_is_refused() {
    let Some(at) = versions().await else { return };
    let day = Duration::from_secs(24 * 60 * 60);
    let yesterday = Timestamp::try_from(SystemTime::now() - day).unwrap();
    for bound in [
        TimestampBound::ReadTimestamp(yesterday),
        TimestampBound::ExactStaleness(day),
    ] {
        let query = at.client.query("SELECT Version FROM Versions");
        let query = query.timestamp_bound(bound);
        let error = query.optional::<Row>().await.err().unwrap();
        assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
    }
}
