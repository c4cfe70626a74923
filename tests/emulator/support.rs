//! A database for one test, and a client of it.

use spanner_rows::Client;
use spanner_rows::testing::{Database, Emulator};

/// Makes a database; nothing where there is no emulator. The database must be
/// kept: it keeps the emulator running.
pub(crate) async fn database(ddl: &[&str]) -> Option<(Database, Client)> {
    let emulator = Emulator::start_or_skip().await?;
    let database = emulator.create_database(ddl).await.expect("valid DDL");
    let client = client(&database).await;
    Some((database, client))
}

pub(crate) async fn client(database: &Database) -> Client {
    Client::builder(database.name())
        .endpoint(database.endpoint())
        .connect()
        .await
        .expect("the database exists")
}
