//! The same rows in the three ways that a struct can have: borrowed, owned, and both.
//!
//! ```sh
//! cargo run --example borrowed_and_owned
//! ```
//!
//! No attribute chooses; the types of the fields do.

#[path = "support/server.rs"]
mod server;

use server::{Failed, SINGERS};
use spanner_rows::{Client, SpannerRow};

/// Borrowed: all text lies in the message that came from the server.
#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Borrowed<'row> {
    singer_id: i64,
    first_name: &'row str,
    last_name: Option<&'row str>,
}

/// Owned: no lifetime. The rows can be kept.
#[derive(Clone, Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Owned {
    singer_id: i64,
    first_name: String,
    last_name: Option<String>,
}

/// Both: what is to be kept is a `String`, what is only looked at is a `&str`.
#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Both<'row> {
    first_name: &'row str,
    last_name: Option<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    let server = server::start(1_000, |_| {}).await?;
    borrowed(&server.client).await?;
    owned(&server.client).await?;
    both(&server.client).await?;
    Ok(())
}

/// Each row is lent by value, until the next one is asked for.
async fn borrowed(client: &Client) -> Result<(), Failed> {
    let mut rows = client.query(SINGERS).rows::<Borrowed>().await?;
    let mut longest = (0, String::new());
    while let Some(singer) = rows.next().await? {
        let letters = singer.first_name.len() + singer.last_name.map_or(0, str::len);
        if letters > longest.0 {
            longest = (
                letters,
                format!("{} {}", singer.singer_id, singer.first_name),
            );
        }
    }
    println!(
        "borrowed: the longest name has {} bytes, that of singer {}",
        longest.0, longest.1
    );
    Ok(())
}

/// Each row is lent as `&mut`, and set anew in place: its strings keep their memory.
async fn owned(client: &Client) -> Result<(), Failed> {
    let mut rows = client.query(SINGERS).rows::<Owned>().await?;
    let mut kept = Vec::new();
    while let Some(singer) = rows.next().await? {
        if singer.last_name.is_none() && kept.len() < 2 {
            // Taken out; the next row gets new memory for it.
            kept.push(std::mem::take(&mut singer.first_name));
        }
    }
    println!("owned: without a last name there are {kept:?} and others");

    // All of them. Each has memory of its own.
    let all: Vec<Owned> = client
        .query(SINGERS)
        .rows::<Owned>()
        .await?
        .try_collect()
        .await?;
    println!(
        "owned: {} rows are kept, the last is {:?}",
        all.len(),
        all.last()
    );
    Ok(())
}

/// Each row is lent in a guard, which derefs to it and gives the `String` back for the next.
async fn both(client: &Client) -> Result<(), Failed> {
    let mut rows = client.query(SINGERS).rows::<Both>().await?;
    let mut of_alice = Vec::new();
    while let Some(mut singer) = rows.next().await? {
        if singer.first_name == "Alice" && of_alice.len() < 3 {
            of_alice.extend(singer.last_name.take());
        }
    }
    println!("both: singers named Alice are called {of_alice:?}");
    Ok(())
}
