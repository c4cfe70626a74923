//! Which database is exported: the fake one in this process, one on the emulator, or yours.

use jiff::civil::date;
use spanner_rows::testing::{Database, Emulator, FakeSpanner, Rows};
use spanner_rows::{Client, Interval, Mutation, Numeric, SpannerEncode, Timestamp};
use uuid::Uuid;

use crate::Failure;
use crate::options::all_of;

/// The table that is made where none is named.
pub const TABLE: &str = "Everything";

const DDL: &str = "CREATE TABLE Everything (
    Id INT64 NOT NULL,
    Name STRING(MAX),
    Active BOOL,
    Score FLOAT64,
    Ratio FLOAT32,
    Photo BYTES(MAX),
    Born DATE,
    Seen TIMESTAMP,
    Price NUMERIC,
    Tags ARRAY<STRING(MAX)>,
    Visits ARRAY<TIMESTAMP>,
    Prices ARRAY<NUMERIC>,
) PRIMARY KEY (Id)";

/// A database and a client of it. It must be kept: it keeps the server running.
#[derive(Debug)]
pub struct Source {
    pub client: Client,
    /// How it is called in the report.
    pub name: String,
    /// Whether it was made for this run, with [`TABLE`], and is gone afterwards.
    pub made: bool,
    server: Option<Server>,
}

#[derive(Debug)]
#[expect(dead_code, reason = "kept, so that they keep running")]
enum Server {
    Fake(FakeSpanner),
    Emulator(Database),
}

impl Source {
    /// What the environment says, as `--help` explains it.
    pub async fn from_environment() -> Result<Self, Failure> {
        if let Ok(database) = std::env::var("SPANNER_DATABASE") {
            return Ok(Self {
                // An emulator that SPANNER_EMULATOR_HOST names is asked by this, too.
                client: Client::connect(&database).await?,
                name: database,
                made: false,
                server: None,
            });
        }
        if std::env::var_os("SPANNER_EMULATOR_HOST").is_some() {
            return Self::emulator(&Emulator::start().await?, rows_wanted(5_000)?).await;
        }
        Self::fake(rows_wanted(100_000)?).await
    }

    /// A fake server in this process. It has three columns more: types that the
    /// emulator does not keep in tables.
    pub async fn fake(rows: i64) -> Result<Self, Failure> {
        let fake = FakeSpanner::start().await;
        let all = (0..rows).map(|i| FakeRow {
            row: DemoRow::new(i),
            key: (i % 11 != 9).then(|| Uuid::from_u128(0x0123_4567_89ab_cdef << 64 | i as u128)),
            age: (i % 7 != 0)
                .then(|| Interval::new(i as i32 % 1_000, -1, 1))
                .flatten(),
            albums: (i % 5 != 0).then(|| (0..i % 3).map(Album::new).collect()),
        });
        fake.on_query(&all_of(TABLE), Rows::of(all));
        let client = Client::builder(fake.database()).endpoint(fake.endpoint());
        Ok(Self {
            client: client.connect().await?,
            name: "the fake Spanner in this process".to_owned(),
            made: true,
            server: Some(Server::Fake(fake)),
        })
    }

    /// A database of its own on an emulator.
    pub async fn emulator(emulator: &Emulator, rows: i64) -> Result<Self, Failure> {
        const ROWS_PER_COMMIT: usize = 500;
        let database = emulator.create_database(&[DDL]).await?;
        let client = Client::builder(database.name()).endpoint(database.endpoint());
        let client = client.connect().await?;
        let all: Vec<_> = (0..rows).map(DemoRow::new).collect();
        for rows in all.chunks(ROWS_PER_COMMIT) {
            client.write([Mutation::insert(TABLE).rows(rows)]).await?;
        }
        Ok(Self {
            client,
            name: format!("{} on the emulator", database.name()),
            made: true,
            server: Some(Server::Emulator(database)),
        })
    }

    /// The fake server, for those who want it to fail.
    pub fn fake_server(&self) -> Option<&FakeSpanner> {
        match &self.server {
            Some(Server::Fake(fake)) => Some(fake),
            _ => None,
        }
    }
}

fn rows_wanted(default: i64) -> Result<i64, Failure> {
    match std::env::var("EXPORT_ROWS") {
        Ok(text) => text
            .parse()
            .map_err(|_| format!("EXPORT_ROWS is a number, not `{text}`").into()),
        Err(_) => Ok(default),
    }
}

/// A value of every type, with NULL in its turn.
#[derive(Clone, Debug, SpannerEncode)]
#[spanner(rename_all = "PascalCase")]
struct DemoRow {
    id: i64,
    name: Option<String>,
    active: Option<bool>,
    score: Option<f64>,
    ratio: Option<f32>,
    photo: Option<Vec<u8>>,
    born: Option<jiff::civil::Date>,
    seen: Option<Timestamp>,
    price: Option<Numeric>,
    tags: Option<Vec<Option<String>>>,
    visits: Option<Vec<Timestamp>>,
    prices: Option<Vec<Option<Numeric>>>,
}

#[derive(Clone, Debug, SpannerEncode)]
#[spanner(rename_all = "PascalCase")]
struct FakeRow {
    #[spanner(flatten)]
    row: DemoRow,
    key: Option<Uuid>,
    age: Option<Interval>,
    albums: Option<Vec<Album>>,
}

#[derive(Clone, Debug, SpannerEncode)]
#[spanner(rename_all = "PascalCase")]
struct Album {
    title: String,
    sold: Option<i64>,
    tracks: Vec<String>,
}

impl Album {
    fn new(i: i64) -> Self {
        Self {
            title: format!("Album {i}"),
            sold: (i > 0).then_some(i * 1_000),
            tracks: (0..i).map(|track| format!("Track {track}")).collect(),
        }
    }
}

impl DemoRow {
    fn new(i: i64) -> Self {
        // Every eleventh row has NULL in a column, each in another one.
        let some = |column: i64| i % 11 != column;
        let time = |more: i64| {
            Timestamp::new(
                -62_135_596_800 + (i * 97_003 + more) * 86_399,
                (i % 1_000) as u32 * 1_000,
            )
        };
        let price = |more: i64| {
            Numeric::from_scaled(i128::from(i - 500) * 1_234_567_890_123_456_789 + i128::from(more))
        };
        Self {
            id: i,
            name: some(0).then(|| format!("Zoë \"{i}\"\n")),
            active: some(1).then_some(i % 2 == 0),
            score: some(2).then_some(match i % 50 {
                7 => f64::NAN,
                8 => f64::INFINITY,
                9 => f64::NEG_INFINITY,
                _ => i as f64 / 7.0,
            }),
            ratio: some(3).then_some(match i % 50 {
                10 => f32::NAN,
                _ => i as f32 / 3.0,
            }),
            photo: some(4).then(|| (0..i % 40).map(|byte| (byte * 7) as u8).collect()),
            born: some(5).then(|| {
                let days = jiff::Span::new().days(i * 31 % 3_600_000);
                date(1, 1, 1)
                    .checked_add(days)
                    .unwrap_or(jiff::civil::Date::MAX)
            }),
            seen: time(0).filter(|_| some(6)),
            price: price(0).filter(|_| some(7)),
            tags: some(8).then(|| {
                (0..i % 4)
                    .map(|tag| (tag != 1).then(|| format!("tag {tag}")))
                    .collect()
            }),
            visits: some(10).then(|| (0..i % 3).filter_map(time).collect()),
            prices: some(8).then(|| {
                (0..i % 3)
                    .map(|more| price(more).filter(|_| more != 1))
                    .collect()
            }),
        }
    }
}
