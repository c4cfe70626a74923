//! Follows a change stream on the emulator and prints who did what: the result with
//! the deepest nesting that Spanner has, read into borrowed structs (`records.rs`).
//!
//! ```sh
//! cargo run --example change_stream
//! ```
//!
//! Takes the emulator that `SPANNER_EMULATOR_HOST` names, or starts one; where there
//! is none it says that it was skipped. With a client of a real database, `follow`
//! reads its change stream.

mod records;

use std::collections::HashSet;

use jiff::Timestamp;
use records::{Change, DataChange, Mod};
use spanner_rows::testing::{Database, Emulator};
use spanner_rows::{Client, Error};

const DDL: [&str; 2] = [
    "CREATE TABLE Singers (
        SingerId INT64 NOT NULL,
        Name STRING(MAX),
        Fee NUMERIC,
        Tags ARRAY<STRING(MAX)>,
        Extra JSON,
    ) PRIMARY KEY (SingerId)",
    "CREATE CHANGE STREAM SingerChanges FOR Singers",
];

/// Each line is a transaction.
const WORK: [&[&str]; 4] = [
    &[
        r#"INSERT INTO Singers (SingerId, Name, Fee, Tags, Extra) VALUES
            (1, 'Marc', 1250.5, ['jazz', 'solo'], JSON '{"agent": "Zoë"}'), (2, 'Alice', NULL, NULL, NULL)"#,
    ],
    &[
        "UPDATE Singers SET Fee = 1300 WHERE SingerId = 1",
        "INSERT INTO Singers (SingerId, Name) VALUES (3, 'Lea')",
    ],
    &["UPDATE Singers SET Tags = ['choir'] WHERE SingerId >= 2"],
    &["DELETE FROM Singers WHERE SingerId = 1"],
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let emulator = match Emulator::start().await {
        Ok(emulator) => emulator,
        Err(error) if error.is_absent() => {
            println!("SKIPPED: {error}");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let database = emulator.create_database(&DDL).await?;
    let client = Client::builder(database.name())
        .endpoint(database.endpoint())
        .connect()
        .await?;

    let from = now(&client).await?;
    work(&database).await?;
    let to = now(&client).await?;
    follow(&client, from, to).await?;
    Ok(())
}

/// The server's time: it counts, not this machine's.
async fn now(client: &Client) -> Result<Timestamp, Error> {
    let (now,): (Timestamp,) = client.query("SELECT CURRENT_TIMESTAMP()").one().await?;
    Ok(now)
}

async fn work(database: &Database) -> Result<(), Box<dyn std::error::Error>> {
    for transaction in WORK {
        database.execute_all(transaction).await?;
    }
    Ok(())
}

/// A part of the key space for some time: when it is split or merged, it ends and
/// names its children.
struct Partition {
    /// None: ask which partitions there are.
    token: Option<String>,
    parents: Vec<String>,
    from: Timestamp,
}

/// Reads all partitions, those that come up on the way included.
async fn follow(client: &Client, from: Timestamp, to: Timestamp) -> Result<(), Error> {
    let mut waiting = vec![Partition {
        token: None,
        parents: Vec::new(),
        from,
    }];
    let mut known = HashSet::new();
    let mut done = HashSet::new();
    // The changes of a key are in order when a partition is read after all of its
    // parents. Partitions that are ready could be read at the same time.
    while let Some(ready) = waiting
        .iter()
        .position(|partition| partition.parents.iter().all(|token| done.contains(token)))
    {
        let partition = waiting.swap_remove(ready);
        let children = read(client, &partition, to).await?;
        done.extend(partition.token);
        // A child of several parents is named by each of them.
        waiting.extend(children.into_iter().filter(|child| {
            let token = child.token.clone().unwrap_or_default();
            known.insert(token)
        }));
    }
    Ok(())
}

/// Prints the records of one partition and answers its children.
async fn read(
    client: &Client,
    partition: &Partition,
    to: Timestamp,
) -> Result<Vec<Partition>, Error> {
    match &partition.token {
        None => println!("which partitions there are, from {}", partition.from),
        Some(token) => println!("partition {}, from {}", short(token), partition.from),
    }
    let mut rows = client
        .query(
            "SELECT ChangeRecord FROM READ_SingerChanges(
                start_timestamp => @start, end_timestamp => @end,
                partition_token => @token, heartbeat_milliseconds => 10000)",
        )
        .param("start", partition.from)
        .param("end", to)
        .param("token", partition.token.as_deref())
        .rows::<Change>()
        .await?;
    let mut children = Vec::new();
    while let Some(change) = rows.next().await? {
        for record in &change.change_record {
            for data in &record.data_change_record {
                print(data);
            }
            for heartbeat in &record.heartbeat_record {
                println!("  nothing more until {}", heartbeat.timestamp);
            }
            for next in &record.child_partitions_record {
                for child in &next.child_partitions {
                    println!("  goes on in partition {}", short(child.token));
                    let parents = child.parent_partition_tokens.iter();
                    children.push(Partition {
                        token: Some(child.token.to_owned()),
                        parents: parents.map(|&token| token.to_owned()).collect(),
                        from: next.start_timestamp,
                    });
                }
            }
        }
    }
    Ok(children)
}

fn print(data: &DataChange<'_>) {
    println!(
        "  {} {} {} (transaction {}, record {} of {})",
        data.commit_timestamp,
        data.mod_type,
        data.table_name,
        data.server_transaction_id,
        data.record_sequence,
        data.number_of_records_in_transaction,
    );
    for change in &data.mods {
        print_mod(data, change);
    }
}

fn print_mod(data: &DataChange<'_>, change: &Mod<'_>) {
    for column in &data.column_types {
        let (name, ty) = (column.name, &column.r#type.0);
        if let Some(key) = change.key(name) {
            println!("    {name} = {key}");
        }
        match (change.before(name), change.after(name)) {
            // Not captured, or written as it was.
            (None, None) => {}
            (Some(old), Some(new)) if old == new => {}
            (Some(old), Some(new)) => println!("      {name} {ty}: {old} → {new}"),
            (Some(old), None) => println!("      {name} {ty}: was {old}"),
            (None, Some(new)) => println!("      {name} {ty}: {new}"),
        }
    }
}

/// Tokens are long; their ends differ.
fn short(token: &str) -> &str {
    token.get(token.len().saturating_sub(8)..).unwrap_or(token)
}
