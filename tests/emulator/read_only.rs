//! Read-only transactions: one state of the database, whatever is written meanwhile.

use std::time::{Duration, Instant};

use spanner_rows::testing::Database;
use spanner_rows::{Client, Code, ReadOnlyTransaction, Timestamp, TimestampBound};

use crate::support;

const DDL: [&str; 1] = ["CREATE TABLE Numbers (Id INT64, Text STRING(MAX)) PRIMARY KEY (Id)"];

async fn numbers(rows: i64) -> Option<(Database, Client)> {
    let (database, client) = support::database(&DDL).await?;
    insert(&database, 0, rows).await;
    Some((database, client))
}

async fn insert(database: &Database, from: i64, to: i64) {
    let rows = (from..to).map(|id| format!("({id}, 'number {id}')"));
    let rows = rows.collect::<Vec<_>>().join(", ");
    let insert = format!("INSERT INTO Numbers (Id, Text) VALUES {rows}");
    database.execute(&insert).await.unwrap();
}

/// How many rows the transaction sees, by SQL and by key, and when.
async fn seen(transaction: &ReadOnlyTransaction) -> (i64, i64, Timestamp) {
    let query = transaction.query("SELECT COUNT(*) FROM Numbers");
    let mut rows = query.rows::<(i64,)>().await.unwrap();
    let (by_sql,) = rows.one().await.unwrap();
    let time = rows.read_timestamp().unwrap();
    let read = transaction.read::<(i64,)>("Numbers").columns(["Id"]).all();
    let mut rows = read.rows().await.unwrap();
    let by_key: Vec<(i64,)> = rows.try_collect().await.unwrap();
    assert_eq!(rows.read_timestamp(), Some(time));
    assert_eq!(transaction.read_timestamp(), Some(time));
    (by_sql, by_key.len() as i64, time)
}

#[tokio::test]
async fn it_sees_one_state_although_rows_are_written() {
    let Some((database, client)) = numbers(3).await else {
        return;
    };
    let transaction = client.read_only().start().unwrap();
    let before = seen(&transaction).await;
    assert_eq!((before.0, before.1), (3, 3));
    for from in 3..6 {
        insert(&database, from, from + 1).await;
        assert_eq!(seen(&transaction).await, before);
    }
    let after = seen(&client.read_only().start().unwrap()).await;
    assert_eq!((after.0, after.1), (6, 6));
    assert!(after.2 > before.2);
}

/// One that starts without a call sees what is there at its first query; one that begins
/// with a call, what was there then.
#[tokio::test]
async fn when_it_begins_decides() {
    let Some((database, client)) = numbers(3).await else {
        return;
    };
    let started = client.read_only().start().unwrap();
    let begun = client.read_only().begin().await.unwrap();
    let time = begun.read_timestamp().expect("it has begun");
    insert(&database, 3, 4).await;
    assert_eq!(seen(&started).await.0, 4);
    assert_eq!(seen(&begun).await, (3, 3, time));
}

#[tokio::test]
async fn bounds_of_transactions() {
    let Some((database, client)) = numbers(3).await else {
        return;
    };
    let gap = Duration::from_millis(300);
    tokio::time::sleep(gap).await;
    let then = client.read_only().begin().await.unwrap();
    let then = then.read_timestamp().unwrap();
    let then_here = Instant::now();
    tokio::time::sleep(gap).await;
    insert(&database, 3, 4).await;

    let at = |bound| client.read_only().timestamp_bound(bound);
    let read_timestamp = at(TimestampBound::ReadTimestamp(then));
    let exact_staleness = at(TimestampBound::ExactStaleness(then_here.elapsed()));
    let transaction = read_timestamp.clone().start().unwrap();
    assert_eq!(seen(&transaction).await, (3, 3, then));
    let transaction = read_timestamp.begin().await.unwrap();
    assert_eq!(seen(&transaction).await, (3, 3, then));
    let transaction = exact_staleness.clone().start().unwrap();
    assert_eq!(seen(&transaction).await.0, 3);
    let transaction = exact_staleness.begin().await.unwrap();
    assert_eq!(seen(&transaction).await.0, 3);
    let strong = at(TimestampBound::Strong).start().unwrap();
    assert_eq!(seen(&strong).await.0, 4);
}

/// The same rows in many queries at once, none of which may wait for another's reader.
#[tokio::test]
async fn queries_side_by_side() {
    let Some((database, client)) = numbers(300).await else {
        return;
    };
    let transaction = client.read_only().start().unwrap();
    let sql = "SELECT Id, Text FROM Numbers ORDER BY Id";
    let mut streams = Vec::new();
    for i in 0..8 {
        let rows = transaction.query(sql).rows::<(i64, String)>().await;
        streams.push(rows.unwrap());
        insert(&database, 1000 + i, 1001 + i).await;
    }
    let times: Vec<_> = streams.iter().map(|it| it.read_timestamp()).collect();
    assert_eq!(times, vec![transaction.read_timestamp(); 8]);
    // Row by row in turn, one of them never read.
    drop(streams.remove(3));
    for n in 0..300 {
        for rows in &mut streams[1..] {
            let row = rows.next().await.unwrap().unwrap();
            assert_eq!((row.0, &*row.1), (n, &*format!("number {n}")));
        }
    }
    for rows in &mut streams[1..] {
        assert!(rows.next().await.unwrap().is_none());
    }

    // All at the same time, the one that begins among them.
    let transaction = client.read_only().start().unwrap();
    let queries: Vec<_> = (0..16)
        .map(|_| {
            let transaction = transaction.clone();
            tokio::spawn(async move { seen(&transaction).await })
        })
        .collect();
    let mut all = Vec::new();
    for query in queries {
        all.push(query.await.unwrap());
    }
    assert_eq!(all[0].0, 308);
    assert!(all.iter().all(|seen| *seen == all[0]), "{all:?}");
}

#[tokio::test]
async fn a_first_query_that_is_wrong() {
    let Some((_database, client)) = numbers(3).await else {
        return;
    };
    let transaction = client.read_only().start().unwrap();
    let query = transaction.query("SELECT Nonsense FROM Numbers");
    let error = query.rows::<(i64,)>().await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert_eq!(transaction.read_timestamp(), None);
    assert_eq!(seen(&transaction).await.0, 3);
    let query = transaction.query("SELECT Nonsense FROM Numbers");
    query.rows::<(i64,)>().await.unwrap_err();
    assert_eq!(seen(&transaction).await.0, 3);
}
