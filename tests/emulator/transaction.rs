//! Read-write transactions on a real server, which the emulator runs one at a time.

use std::time::Duration;

use spanner_rows::testing::Database;
use spanner_rows::{Client, Code, Error, Mutation, PartitionOptions, Transaction};

use crate::support;

const DDL: [&str; 1] = ["CREATE TABLE Numbers (Id INT64, N INT64) PRIMARY KEY (Id)"];

async fn numbers() -> Option<(Database, Client)> {
    let (database, client) = support::database(&DDL).await?;
    let insert = Mutation::insert("Numbers").columns(["Id", "N"]);
    client
        .write([insert.values([(1_i64, 0_i64), (2, 0)])])
        .await
        .unwrap();
    Some((database, client))
}

async fn values(client: &Client) -> Vec<i64> {
    let query = client.query("SELECT N FROM Numbers ORDER BY Id");
    let mut rows = query.rows::<(i64,)>().await.unwrap();
    let rows: Vec<(i64,)> = rows.try_collect().await.unwrap();
    rows.into_iter().map(|row| row.0).collect()
}

async fn n(tx: &Transaction, id: i64) -> Result<i64, Error> {
    let query = tx.query("SELECT N FROM Numbers WHERE Id = @id");
    let (n,): (i64,) = query.param("id", id).one().await?;
    Ok(n)
}

async fn set(tx: &Transaction, id: i64, n: i64) -> Result<i64, Error> {
    let dml = tx.dml("UPDATE Numbers SET N = @n WHERE Id = @id");
    dml.param("n", n).param("id", id).execute().await
}

#[tokio::test]
async fn statements_reads_batches_and_mutations() {
    let Some((_database, client)) = numbers().await else {
        return;
    };
    let run = client.transaction().run_with_commit(|tx| async move {
        assert_eq!(set(&tx, 1, 10).await?, 1);
        assert_eq!(set(&tx, 99, 10).await?, 0);
        // It sees what it wrote.
        assert_eq!(n(&tx, 1).await?, 10);
        let read = tx.read::<(i64,)>("Numbers").columns(["N"]).key(1_i64);
        assert_eq!(read.one().await?, (10,));
        let insert =
            tx.dml("INSERT INTO Numbers (Id, N) VALUES (3, 30), (4, 40) THEN RETURN Id, N");
        let mut rows = insert.rows::<(i64, i64)>().await?;
        let returned: Vec<_> = rows.try_collect().await?;
        assert_eq!(returned, [(3, 30), (4, 40)]);
        let counts = tx
            .batch_dml([
                tx.dml("UPDATE Numbers SET N = N + @by WHERE Id > 2")
                    .param("by", 1_i64),
                tx.dml("DELETE FROM Numbers WHERE Id = 4"),
            ])
            .await?;
        assert_eq!(counts, [2, 1]);
        let failed = tx
            .batch_dml([
                tx.dml("UPDATE Numbers SET N = 5 WHERE Id = 2"),
                tx.dml("UPDATE Nonsense SET N = 5 WHERE Id = 2"),
            ])
            .await
            .unwrap_err();
        assert_eq!(failed.counts(), [1]);
        assert_eq!(failed.error().code(), Code::InvalidArgument, "{failed}");
        tx.buffer([Mutation::insert("Numbers")
            .set("Id", 7_i64)
            .set("N", 70_i64)])?;
        Ok::<_, Error>(())
    });
    let ((), committed) = run.await.unwrap();
    assert!(committed.timestamp.seconds() > 0);
    assert_eq!(values(&client).await, [10, 5, 31, 70]);
}

#[tokio::test]
async fn each_kind_of_statement_may_begin() {
    let Some((_database, client)) = numbers().await else {
        return;
    };
    let run = |first: usize| {
        client.transaction().run(move |tx| async move {
            match first {
                0 => drop(n(&tx, 1).await?),
                1 => drop(set(&tx, 1, 1).await?),
                2 => drop(
                    tx.batch_dml([tx.dml("DELETE FROM Numbers WHERE Id = 77")])
                        .await?,
                ),
                3 => {
                    let read = tx.read::<(i64,)>("Numbers").columns(["N"]).key(1_i64);
                    read.one().await?;
                }
                4 => {
                    let wrong = tx.query("SELECT Nonsense FROM Numbers");
                    wrong.rows::<(i64,)>().await.unwrap_err();
                }
                _ => {}
            }
            let n = n(&tx, 2).await?;
            set(&tx, 2, n + 1).await
        })
    };
    for first in 0..6 {
        assert_eq!(run(first).await.unwrap(), 1, "{first}");
    }
    assert_eq!(values(&client).await, [1, 6]);
    client
        .transaction()
        .run(|_| async { Ok::<_, Error>(()) })
        .await
        .unwrap();
}

#[tokio::test]
async fn rolled_back() {
    let Some((_database, client)) = numbers().await else {
        return;
    };
    let run = client.transaction().run(|tx| async move {
        set(&tx, 1, 10).await?;
        tx.buffer([Mutation::delete("Numbers").all()])?;
        // An error of the closure.
        tx.query("SELECT Nonsense").rows::<(i64,)>().await?;
        Ok::<_, Error>(())
    });
    assert_eq!(run.await.unwrap_err().code(), Code::InvalidArgument);
    let run = client.transaction().run(|tx| async move {
        set(&tx, 1, 10).await?;
        std::future::pending::<Result<(), Error>>().await
    });
    tokio::time::timeout(Duration::from_millis(500), run)
        .await
        .unwrap_err();
    assert_eq!(values(&client).await, [0, 0]);
    // The locks are free again: soon, though the emulator aborts those who do not wait.
    client
        .transaction()
        .run(|tx| async move { set(&tx, 1, 3).await })
        .await
        .unwrap();
    assert_eq!(values(&client).await, [3, 0]);
}

#[tokio::test]
async fn conflicting_writers() {
    let Some((database, client)) = numbers().await else {
        return;
    };
    let mut tasks = Vec::new();
    for _ in 0..2 {
        let client = support::client(&database).await;
        tasks.push(tokio::spawn(async move {
            let run = client.transaction().run(|tx| async move {
                let (a, b) = (n(&tx, 1).await?, n(&tx, 2).await?);
                tokio::time::sleep(Duration::from_millis(50)).await;
                set(&tx, 1, b + 1).await?;
                set(&tx, 2, a + 1).await
            });
            run.await.unwrap();
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(values(&client).await, [2, 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_increments_from_eight_tasks() {
    let Some((database, client)) = numbers().await else {
        return;
    };
    let mut tasks = Vec::new();
    for task in 0..8 {
        let client = support::client(&database).await;
        tasks.push(tokio::spawn(async move {
            for i in 0..125 {
                let run = client.transaction().run(move |tx| async move {
                    let old = n(&tx, 1).await?;
                    // By DML and by mutation in turn.
                    if (task + i) % 2 == 0 {
                        set(&tx, 1, old + 1).await?;
                        return Ok(());
                    }
                    let new = Mutation::update("Numbers").set("Id", 1_i64);
                    tx.buffer([new.set("N", old + 1)])
                });
                run.await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(values(&client).await, [1000, 0]);
}

/// The emulator's sessions are not multiplexed, so each transaction has one of its own
/// (`client/own_session.rs`): those of one client abort each other, as those of several do, and
/// are not lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_writers_of_few_clients() {
    let Some((database, client)) = numbers().await else {
        return;
    };
    let clients = [client.clone(), support::client(&database).await];
    let mut tasks = Vec::new();
    for task in 0..8 {
        let client = clients[task % 2].clone();
        tasks.push(tokio::spawn(async move {
            for i in 0..20 {
                let run = client.transaction().run(move |tx| async move {
                    let old = n(&tx, 1).await?;
                    match (task + i) % 3 {
                        0 => drop(set(&tx, 1, old + 1).await?),
                        1 => {
                            let dml = tx.dml("UPDATE Numbers SET N = @n WHERE Id = 1");
                            let batch = tx.batch_dml([dml.param("n", old + 1)]);
                            batch.await?;
                        }
                        _ => {
                            let new = Mutation::update("Numbers").set("Id", 1_i64);
                            tx.buffer([new.set("N", old + 1)])?;
                        }
                    }
                    Ok::<_, Error>(())
                });
                run.await.unwrap();
                let add = Mutation::insert("Numbers").set("Id", 1000 + (task * 100 + i) as i64);
                client.write([add.set("N", 1_i64)]).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let values = values(&client).await;
    assert_eq!((values[0], values.len()), (160, 162));
}

#[tokio::test]
async fn other_transactions_of_the_client_go_on() {
    let Some((_database, client)) = numbers().await else {
        return;
    };
    let snapshot = client.read_only().start().unwrap();
    let sum = async || {
        let sum = snapshot.query("SELECT SUM(N), COUNT(*) FROM Numbers");
        sum.one::<(i64, i64)>().await.unwrap()
    };
    assert_eq!(sum().await, (0, 2));
    let all = snapshot.query("SELECT N FROM Numbers");
    let parts = all.partitions(PartitionOptions::default()).await.unwrap();
    // A write, a transaction, partitioned DML and another snapshot.
    let row = Mutation::update("Numbers").set("Id", 1_i64).set("N", 5_i64);
    client.write([row]).await.unwrap();
    let run = client.transaction().run(|tx| async move {
        assert_eq!(n(&tx, 1).await?, 5);
        set(&tx, 2, 5).await
    });
    run.await.unwrap();
    let dml = client.partitioned_dml("UPDATE Numbers SET N = N + 1 WHERE TRUE");
    dml.execute().await.unwrap();
    let newer = client.read_only().start().unwrap();
    let newest = newer.query("SELECT SUM(N) FROM Numbers").one::<(i64,)>();
    assert_eq!(newest.await.unwrap(), (12,));
    assert_eq!(sum().await, (0, 2));
    drop((snapshot, newer));
    // The parts are read in their transaction, also when that has no handle any more.
    set_both(&client, 9).await;
    let mut read = Vec::new();
    for part in &parts {
        let mut rows = client.read_partition(part).rows::<(i64,)>().await.unwrap();
        while let Some((n,)) = rows.next().await.unwrap() {
            read.push(n);
        }
    }
    assert_eq!(read, [0, 0]);
}

async fn set_both(client: &Client, n: i64) {
    let run = client.transaction().run(|tx| async move {
        set(&tx, 1, n).await?;
        set(&tx, 2, n).await
    });
    run.await.unwrap();
}
