//! Where the examples read: a fake Spanner in this process, or the emulator that
//! `SPANNER_EMULATOR_HOST` names. Both have the table `Singers`.

use spanner_rows::testing::{Database, Emulator, FakeSpanner, Request, Rows};
use spanner_rows::{Client, OwnedValue};

pub(crate) type Failed = Box<dyn std::error::Error>;

/// All singers, in order.
pub(crate) const SINGERS: &str =
    "SELECT SingerId, FirstName, LastName, Rating, BirthDate FROM Singers ORDER BY SingerId";

const DDL: &str = "CREATE TABLE Singers (
    SingerId INT64 NOT NULL,
    FirstName STRING(MAX) NOT NULL,
    LastName STRING(MAX),
    Rating FLOAT64 NOT NULL,
    BirthDate DATE,
) PRIMARY KEY (SingerId)";
const COLUMNS: [&str; 5] = ["SingerId", "FirstName", "LastName", "Rating", "BirthDate"];

const FIRST_NAMES: [&str; 5] = ["Marc", "Catalina", "Alice", "Lea", "Zoë"];
const LAST_NAMES: [&str; 4] = ["Richards", "Smith", "Trentor", "Martin"];

/// A server with some singers, and a client of it.
pub(crate) struct Server {
    pub(crate) client: Client,
    /// Stops when it is dropped.
    _emulator: Option<Database>,
}

/// Starts or fills a server with this many singers. The fake server answers what else the
/// example asks as `answers` says, which runs on that server's thread.
pub(crate) async fn start(
    singers: u64,
    answers: impl FnOnce(&FakeSpanner) + Send + 'static,
) -> Result<Server, Failed> {
    if std::env::var_os("SPANNER_EMULATOR_HOST").is_some() {
        let database = emulator(singers).await?;
        let client = Client::connect(database.name()).await?;
        eprintln!("{singers} singers in {} on the emulator\n", database.name());
        return Ok(Server {
            client,
            _emulator: Some(database),
        });
    }
    let (database, endpoint) = fake(singers, answers)?;
    let client = Client::builder(database)
        .endpoint(&*endpoint)
        .connect()
        .await?;
    eprintln!("{singers} singers on the fake Spanner in this process, at {endpoint}\n");
    Ok(Server {
        client,
        _emulator: None,
    })
}

type Singer = (
    i64,
    &'static str,
    Option<&'static str>,
    f64,
    Option<jiff::civil::Date>,
);

pub(crate) fn singer(i: u64) -> Singer {
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

/// Starts a fake Spanner on a thread of its own, which lives as long as the process;
/// answers its database and where it listens.
fn fake(
    singers: u64,
    answers: impl FnOnce(&FakeSpanner) + Send + 'static,
) -> Result<(String, String), Failed> {
    let (started, server) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime for the fake server");
        runtime.block_on(async {
            let fake = FakeSpanner::start().await;
            fake.on_any(move |request| by_key(request, singers).map(Into::into));
            answers(&fake);
            fake.on_query(SINGERS, Rows::new(COLUMNS, (0..singers).map(singer)));
            let _ = started.send((fake.database().to_owned(), fake.endpoint()));
            std::future::pending::<()>().await;
        });
    });
    Ok(server.recv()?)
}

/// The rows that a read of the table asks for. (A fake server answers as it is told.)
fn by_key(request: &Request, singers: u64) -> Option<Rows> {
    if request.table() != "Singers" {
        return None;
    }
    let ids = request
        .keys()
        .into_iter()
        .filter_map(|key| match key.first() {
            Some(OwnedValue::String(id)) => id.parse::<u64>().ok(),
            _ => None,
        });
    let rows = ids.filter(|id| *id < singers).map(singer);
    Some(Rows::new(COLUMNS, rows))
}

/// Makes instance, database and table on the emulator and fills the table.
async fn emulator(singers: u64) -> Result<Database, Failed> {
    const ROWS_PER_STATEMENT: usize = 500;
    let emulator = Emulator::start().await?;
    let database = emulator.create_database(&[DDL]).await?;
    let singers = (0..singers).map(singer).collect::<Vec<_>>();
    for chunk in singers.chunks(ROWS_PER_STATEMENT) {
        let values = chunk.iter().map(|(id, first, last, rating, born)| {
            let last = last.map_or("NULL".to_owned(), |last| format!("'{last}'"));
            let born = born.map_or("NULL".to_owned(), |born| format!("DATE '{born}'"));
            format!("({id}, '{first}', {last}, {rating:?}, {born})")
        });
        let values = values.collect::<Vec<_>>().join(", ");
        let columns = COLUMNS.join(", ");
        database
            .execute(&format!("INSERT INTO Singers ({columns}) VALUES {values}"))
            .await?;
    }
    Ok(database)
}
