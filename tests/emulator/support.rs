//! A database for one test, and a client of it.

use spanner_rows::Client;
use spanner_rows::testing::{Database, DatabaseBuilder, Emulator};

/// Makes a database; nothing where there is no emulator. The database must be
/// kept: it keeps the emulator running.
pub(crate) async fn database(ddl: &[&str]) -> Option<(Database, Client)> {
    database_with(|new| new.ddl(ddl)).await
}

/// The same for a database of another kind.
pub(crate) async fn database_with(
    kind: impl FnOnce(DatabaseBuilder) -> DatabaseBuilder,
) -> Option<(Database, Client)> {
    let emulator = Emulator::start_or_skip().await?;
    let database = kind(emulator.new_database());
    let database = database.create().await.expect("valid DDL");
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
