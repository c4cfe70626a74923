//! Where the rows come from: the fake Spanner in this process, or the emulator.

use spanner_rows::Client;
use spanner_rows::testing::{Database, Emulator, FakeSpanner, Rows};

use crate::SQL;
use crate::support::this_thread_is_the_server;

const FIRST_NAMES: [&str; 5] = ["Marc", "Catalina", "Alice", "Lea", "Zoë"];
const LAST_NAMES: [&str; 4] = ["Richards", "Smith", "Trentor", "Martin"];

/// A server with the table `Singers`.
pub(crate) enum Server {
    Fake(FakeSpanner, u64),
    Emulator(Database, u64),
}

impl Server {
    /// A client for the database.
    pub(crate) async fn client(&self) -> Result<Client, spanner_rows::Error> {
        match self {
            Self::Fake(fake, _) => {
                Client::builder(fake.database())
                    .endpoint(fake.endpoint())
                    .connect()
                    .await
            }
            Self::Emulator(database, _) => {
                Client::builder(database.name())
                    .endpoint(database.endpoint())
                    .connect()
                    .await
            }
        }
    }

    /// How many rows the table has.
    pub(crate) fn rows(&self) -> u64 {
        match self {
            Self::Fake(_, rows) | Self::Emulator(_, rows) => *rows,
        }
    }

    pub(crate) fn description(&self) -> String {
        match self {
            Self::Fake(fake, rows) => format!(
                "{rows} rows from the fake Spanner in this process, at {}",
                fake.endpoint()
            ),
            Self::Emulator(database, rows) => {
                format!("{rows} rows from {} on the emulator", database.name())
            }
        }
    }

    /// Why the process allocates at all while rows are read.
    pub(crate) fn explanation(&self) -> &'static str {
        match self {
            Self::Fake(..) => {
                ":\n    none is for a row; each message of about 32 KiB costs the client a few in the HTTP/2 library,\n    \
                 and the server, which runs in this process, next to none, because it encoded all messages before"
            }
            Self::Emulator(..) => {
                ":\n    none is for a row; each message of up to 1 MiB costs a few in the HTTP/2 library"
            }
        }
    }
}

type Singer = (
    i64,
    &'static str,
    Option<&'static str>,
    f64,
    Option<jiff::civil::Date>,
);

fn singer(i: u64) -> Singer {
    let pick = i as usize;
    let born = jiff::civil::date(1950, 1, 1);
    (
        i as i64,
        FIRST_NAMES[pick % FIRST_NAMES.len()],
        LAST_NAMES.get(pick % (LAST_NAMES.len() + 1)).copied(),
        (pick % 1_000) as f64 / 10.0,
        born.checked_add(jiff::Span::new().days(pick as i64 % 20_000))
            .ok(),
    )
}

/// Starts a fake Spanner on threads of its own, so that its allocations can be
/// told from the client's.
pub(crate) fn fake(rows: u64) -> Result<Server, Box<dyn std::error::Error>> {
    let (started, server) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime for the fake server");
        this_thread_is_the_server();
        runtime.block_on(async {
            let names = ["SingerId", "FirstName", "LastName", "Rating", "BirthDate"];
            let fake = FakeSpanner::start().await;
            fake.on_query(SQL, Rows::new(names, (0..rows).map(singer)));
            fake.on_read(
                "Singers",
                Rows::new(["SingerId", "FirstName"], [(7_i64, singer(7).1)]),
            );
            let _ = started.send(fake);
            std::future::pending::<()>().await;
        });
    });
    Ok(Server::Fake(server.recv()?, rows))
}

/// Makes instance, database and table on the emulator and fills the table.
pub(crate) async fn emulator(rows: u64) -> Result<Server, Box<dyn std::error::Error>> {
    const ROWS_PER_STATEMENT: usize = 500;
    let emulator = Emulator::start().await?;
    let database = emulator
        .create_database(&["CREATE TABLE Singers (
            SingerId INT64 NOT NULL,
            FirstName STRING(MAX) NOT NULL,
            LastName STRING(MAX),
            Rating FLOAT64 NOT NULL,
            BirthDate DATE,
        ) PRIMARY KEY (SingerId)"])
        .await?;
    let singers = (0..rows).map(singer).collect::<Vec<_>>();
    for chunk in singers.chunks(ROWS_PER_STATEMENT) {
        let values = chunk.iter().map(|(id, first, last, rating, born)| {
            let last = last.map_or("NULL".to_owned(), |last| format!("'{last}'"));
            let born = born.map_or("NULL".to_owned(), |born| format!("DATE '{born}'"));
            format!("({id}, '{first}', {last}, {rating:?}, {born})")
        });
        let values = values.collect::<Vec<_>>().join(", ");
        let columns = "SingerId, FirstName, LastName, Rating, BirthDate";
        database
            .execute(&format!("INSERT INTO Singers ({columns}) VALUES {values}"))
            .await?;
    }
    Ok(Server::Emulator(database, rows))
}
