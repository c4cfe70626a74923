//! Streams rows of a table into a borrowed and an owned struct, and prints a few
//! of them, how fast it went, and how much was allocated.
//!
//! ```sh
//! cargo run --release --example quickstart
//! ```
//!
//! Without anything else it starts a fake Spanner in this process. With
//! `SPANNER_EMULATOR_HOST` set it makes an instance, a database and a table on
//! that emulator and reads the same structs from there. `QUICKSTART_ROWS` sets
//! the number of rows.

mod servers;
#[path = "../support/allocations.rs"]
mod support;

use std::borrow::Cow;
use std::time::Instant;

use servers::{Server, emulator, fake};
use spanner_rows::{Client, RowStream, SpannerRow};
use support::{Allocations, Counting};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What every part of this example reads.
const SQL: &str =
    "SELECT SingerId, FirstName, LastName, Rating, BirthDate FROM Singers ORDER BY SingerId";

/// Borrowed: the struct has a lifetime, and its text lies in the received message.
#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Singer<'row> {
    singer_id: i64,
    first_name: Cow<'row, str>,
    last_name: Option<&'row str>,
    rating: f64,
}

/// Owned: no lifetime. The stream keeps one `OwnedSinger` and sets it anew for
/// every row, so its strings keep their memory.
#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct OwnedSinger {
    singer_id: i64,
    first_name: String,
    last_name: Option<String>,
    birth_date: Option<jiff::civil::Date>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = if std::env::var_os("SPANNER_EMULATOR_HOST").is_some() {
        emulator(rows_wanted(5_000)?).await?
    } else {
        fake(rows_wanted(1_000_000)?)?
    };
    let client = server.client().await?;
    println!("{}\n", server.description());

    borrowed(&client, &server).await?;
    owned(&client, &server).await?;

    // A row by its key, into a tuple; the text borrows from the batch.
    let batch = client
        .read::<(i64, &str)>("Singers")
        .columns(["SingerId", "FirstName"])
        .key(7_i64)
        .one_batch()
        .await?;
    let (id, name) = batch.row(0)?;
    println!("by key: singer {id} is {name}");
    Ok(())
}

async fn borrowed(client: &Client, server: &Server) -> Result<(), Box<dyn std::error::Error>> {
    let mut rows = client.query(SQL).rows::<Singer>().await?;
    println!("borrowed rows (Singer<'row>: text borrows from the message)");
    let mut measure = Measure::start();
    let mut best = 0.0_f64;
    while let Some(singer) = rows.next().await? {
        measure.row();
        best = best.max(singer.rating);
        if measure.rows <= 3 {
            let last_name = singer.last_name.unwrap_or("(no last name)");
            println!("  {} {} {last_name}", singer.singer_id, singer.first_name);
        }
    }
    println!("  best rating: {best}");
    measure.report(&rows, server)
}

async fn owned(client: &Client, server: &Server) -> Result<(), Box<dyn std::error::Error>> {
    let mut rows = client.query(SQL).rows::<OwnedSinger>().await?;
    println!("owned rows (OwnedSinger: lent as &mut, memory reused)");
    let mut measure = Measure::start();
    let mut letters = 0;
    while let Some(singer) = rows.next().await? {
        measure.row();
        letters += singer.first_name.len() + singer.last_name.as_deref().map_or(0, str::len);
        if measure.rows <= 3 {
            let born = singer
                .birth_date
                .map_or_else(|| "unknown".to_owned(), |day| day.to_string());
            println!("  {} {}, born {born}", singer.singer_id, singer.first_name);
        }
    }
    println!("  letters in all names: {letters}");
    measure.report(&rows, server)
}

/// Time and allocations between the first and the last row.
struct Measure {
    rows: u64,
    from: (Instant, Allocations),
}

impl Measure {
    fn start() -> Self {
        Self {
            rows: 0,
            from: (Instant::now(), Allocations::now()),
        }
    }

    fn row(&mut self) {
        self.rows += 1;
        if self.rows == 1 {
            self.from = (Instant::now(), Allocations::now());
        }
    }

    fn report<T: SpannerRow>(
        &self,
        rows: &RowStream<T>,
        server: &Server,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let (seconds, allocated) = (
            self.from.0.elapsed().as_secs_f64(),
            Allocations::now().since(self.from.1),
        );
        if self.rows != server.rows() {
            return Err(format!("{} rows came instead of {}", self.rows, server.rows()).into());
        }
        let n = self.rows as f64;
        println!(
            "  {} rows of {} columns, {:.0} rows/s",
            self.rows,
            rows.row_type().len(),
            n / seconds
        );
        println!(
            "  allocations per row: {:.4} in this process, of which the client made {:.4} and the server {:.4}{}\n",
            allocated.all as f64 / n,
            allocated.client() as f64 / n,
            allocated.server as f64 / n,
            server.explanation(),
        );
        Ok(())
    }
}

fn rows_wanted(default: u64) -> Result<u64, Box<dyn std::error::Error>> {
    match std::env::var("QUICKSTART_ROWS") {
        Ok(text) => match text.parse() {
            Ok(rows) if rows >= 10 => Ok(rows),
            _ => Err(format!("QUICKSTART_ROWS is a number from 10 on, not `{text}`").into()),
        },
        Err(_) => Ok(default),
    }
}
