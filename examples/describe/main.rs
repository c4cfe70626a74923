//! Prints the struct that reads a table or a statement, to paste into a program.
//!
//! ```sh
//! cargo run --example describe -- --table Singers
//! cargo run --example describe -- --owned "SELECT SingerId, FirstName FROM Singers"
//! ```
//!
//! `SPANNER_DATABASE=projects/P/instances/I/databases/D` names the database; with
//! `SPANNER_EMULATOR_HOST` it is one of that emulator. Without it, the example has a table
//! `Singers` of its own: on that emulator, or on a fake Spanner in this process, which
//! knows this table only.

mod arguments;
mod embedded;
#[path = "../support/server.rs"]
mod server;

use std::process::ExitCode;

use arguments::{Arguments, Of, USAGE};
use server::{Failed, SINGERS, Server};
use spanner_rows::{Client, Description, Error};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Not as `main` would show it, by `Debug`.
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Failed> {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{USAGE}");
            return Ok(());
        }
        Err(problem) => return Err(format!("{problem}\n\n{USAGE}").into()),
    };
    let client = match std::env::var("SPANNER_DATABASE") {
        Ok(database) => Client::connect(database).await?,
        Err(_) => {
            let Server { client, .. } = server::start(10, embedded::tables).await?;
            client
        }
    };
    let description = describe(&client, &arguments.of).await?;
    print!("{}", arguments.applied_to(description));
    Ok(())
}

async fn describe(client: &Client, of: &Of) -> Result<Description, Error> {
    match of {
        Of::Table(table) => client.describe_table(table).await,
        Of::Statement(sql) => client.query(sql).describe().await,
        Of::Nothing => client.query(SINGERS).describe().await,
    }
}
