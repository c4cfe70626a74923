//! The official client and this one in one program.
//!
//! ```sh
//! cargo run --manifest-path examples/Cargo.toml -p beside_official
//! ```
//!
//! Without anything else it asks a fake Spanner in this process; with
//! `SPANNER_EMULATOR_HOST` set, a database that it makes on that emulator.

use beside_official::{Both, COUNT, DDL, Failure, SINGERS};
use google_cloud_auth::credentials::anonymous;
use spanner_rows::testing::{Emulator, FakeSpanner, Rows};

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let credentials = anonymous::Builder::new().build();
    if std::env::var_os("SPANNER_EMULATOR_HOST").is_some() {
        let database = Emulator::start().await?.create_database(&[DDL]).await?;
        let insert = "INSERT INTO Singers (SingerId, FirstName) SELECT n, 'Zoë' FROM UNNEST(GENERATE_ARRAY(1, 100)) AS n";
        database.execute(insert).await?;
        let both = Both::connect(database.name(), Some(&database.endpoint()), credentials).await?;
        show(&both).await
    } else {
        let fake = FakeSpanner::start().await;
        fake.on_query(COUNT, Rows::new(["n"], [(100_i64,)]));
        let singers = Rows::new(
            ["SingerId", "FirstName"],
            (1..=100_i64).map(|id| (id, "Zoë")),
        );
        fake.on_query(SINGERS, singers);
        fake.on_read(
            "Singers",
            Rows::new(["SingerId", "FirstName"], [(7_i64, "Marc")]),
        );
        let both = Both::connect(fake.database(), Some(&fake.endpoint()), credentials).await?;
        show(&both).await
    }
}

async fn show(both: &Both) -> Result<(), Failure> {
    let (count, ids) = both.same_state().await?;
    println!(
        "the official client counts {count} singers, and this one reads {} at the same timestamp",
        ids.len()
    );

    let name = both.reads_what_was_written(7, "Marc").await?;
    println!("the official client writes singer 7, and this one reads {name:?}");

    let texts = both.official_partitions(51, 4).await?;
    let read = both.read_official_partitions(&texts).await?;
    println!(
        "the official client makes {} partitions, and this one reads {} singers from them",
        texts.len(),
        read.len()
    );
    Ok(())
}
