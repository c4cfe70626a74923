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

#[path = "../support/server.rs"]
mod server;
#[path = "../support/allocations.rs"]
mod support;

use std::borrow::Cow;
use std::time::Instant;

use server::{Failed, SINGERS};
use spanner_rows::{Client, RowStream, SpannerRow};
use support::{Allocations, Counting, this_thread_is_the_server};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
async fn main() -> Result<(), Failed> {
    let embedded = std::env::var_os("SPANNER_EMULATOR_HOST").is_none();
    let singers = rows_wanted(if embedded { 1_000_000 } else { 5_000 })?;
    // The server's allocations are told from the client's by their thread.
    let server = server::start(singers, |_| this_thread_is_the_server()).await?;
    let client = &server.client;
    let wanted = Wanted { singers, embedded };

    borrowed(client, wanted).await?;
    owned(client, wanted).await?;

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

async fn borrowed(client: &Client, wanted: Wanted) -> Result<(), Failed> {
    let mut rows = client.query(SINGERS).rows::<Singer>().await?;
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
    measure.report(&rows, wanted)
}

async fn owned(client: &Client, wanted: Wanted) -> Result<(), Failed> {
    let mut rows = client.query(SINGERS).rows::<OwnedSinger>().await?;
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
    measure.report(&rows, wanted)
}

/// What is to come, and from where.
#[derive(Clone, Copy)]
struct Wanted {
    singers: u64,
    embedded: bool,
}

impl Wanted {
    /// Why the process allocates at all while rows are read.
    fn explanation(self) -> &'static str {
        if self.embedded {
            ":\n    none is for a row; each message of about 32 KiB costs the client a few in the HTTP/2 library,\n    \
             and the server, which runs in this process, next to none, because it encoded all messages before"
        } else {
            ":\n    none is for a row; each message of up to 1 MiB costs a few in the HTTP/2 library"
        }
    }
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

    fn report<T: SpannerRow>(&self, rows: &RowStream<T>, wanted: Wanted) -> Result<(), Failed> {
        let (seconds, allocated) = (
            self.from.0.elapsed().as_secs_f64(),
            Allocations::now().since(self.from.1),
        );
        if self.rows != wanted.singers {
            return Err(format!("{} rows came instead of {}", self.rows, wanted.singers).into());
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
            wanted.explanation(),
        );
        Ok(())
    }
}

fn rows_wanted(default: u64) -> Result<u64, Failed> {
    match std::env::var("QUICKSTART_ROWS") {
        Ok(text) => match text.parse() {
            Ok(rows) if rows >= 10 => Ok(rows),
            _ => Err(format!("QUICKSTART_ROWS is a number from 10 on, not `{text}`").into()),
        },
        Err(_) => Ok(default),
    }
}
