//! A program that reads from Spanner, and its unit tests, which need no server.
//!
//! ```sh
//! cargo run --example testing
//! cargo test --example testing
//! ```
//!
//! Code under test takes a `Client`. In production that is `Client::connect`, in tests one
//! of a `FakeSpanner` (in `[dev-dependencies]`: `spanner-rows`, feature `testing`).

#[path = "support/server.rs"]
mod server;

use server::Failed;
use spanner_rows::{Client, Error, SpannerRow};

const BEST: &str = "SELECT FirstName, LastName, Rating FROM Singers WHERE Rating >= @least";

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Singer<'row> {
    first_name: &'row str,
    last_name: Option<&'row str>,
    rating: f64,
}

/// What is to be tested: the full names of good singers, the best first.
async fn best_singers(client: &Client, least: f64) -> Result<Vec<String>, Error> {
    let mut rows = client
        .query(BEST)
        .param("least", least)
        .rows::<Singer>()
        .await?;
    let mut singers = Vec::new();
    while let Some(singer) = rows.next().await? {
        let name = match singer.last_name {
            Some(last_name) => format!("{} {last_name}", singer.first_name),
            None => singer.first_name.to_owned(),
        };
        singers.push((singer.rating, name));
    }
    singers.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    Ok(singers.into_iter().map(|(_, name)| name).collect())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    let server = server::start(10, |fake| {
        let columns = ["FirstName", "LastName", "Rating"];
        let rows = [("Zoë", Some("Richards"), 0.9), ("Lea", None, 0.8)];
        fake.on_query(BEST, spanner_rows::testing::Rows::new(columns, rows));
    });
    println!("{:?}", best_singers(&server.await?.client, 0.75).await?);
    println!("The tests of it: cargo test --example testing");
    Ok(())
}

#[cfg(test)]
mod tests {
    use spanner_rows::testing::{Failure, FakeSpanner, Rows, Step};
    use spanner_rows::{Code, ErrorKind, OwnedValue};

    use super::*;

    const COLUMNS: [&str; 3] = ["FirstName", "LastName", "Rating"];

    /// A server for one test, and a client of it.
    async fn spanner() -> (FakeSpanner, Client) {
        let fake = FakeSpanner::start().await;
        let client = Client::builder(fake.database()).endpoint(fake.endpoint());
        let client = client
            .connect()
            .await
            .expect("the fake server takes every client");
        (fake, client)
    }

    #[tokio::test]
    async fn the_best_come_first() {
        let (fake, client) = spanner().await;
        let rows = [("Lea", None, 0.5), ("Zoë", Some("Smith"), 0.75)];
        fake.on_query(BEST, Rows::new(COLUMNS, rows));
        assert_eq!(
            best_singers(&client, 0.5).await.unwrap(),
            ["Zoë Smith", "Lea"]
        );

        // What was asked.
        let requests = fake.requests();
        let query = requests
            .iter()
            .find(|request| request.sql() == BEST)
            .unwrap();
        assert_eq!(query.param("least"), Some(OwnedValue::Number(0.5)));
    }

    /// The client repairs it; the program sees every row once.
    #[tokio::test]
    async fn a_connection_breaks() {
        let (fake, client) = spanner().await;
        let rows = (0..100).map(|i| ("Lea", None::<&str>, f64::from(i)));
        let rows = Rows::new(COLUMNS, rows).message_size(64);
        fake.on_query(BEST, rows.interrupt(1, 3, Step::Disconnect));
        assert_eq!(best_singers(&client, 0.0).await.unwrap().len(), 100);
        let calls = fake.requests();
        assert_eq!(
            calls.iter().filter(|request| request.sql() == BEST).count(),
            2
        );
    }

    #[tokio::test]
    async fn the_server_refuses() {
        let (fake, client) = spanner().await;
        fake.on_query(BEST, Failure::permission_denied("not for you"));
        let error = best_singers(&client, 0.0).await.unwrap_err();
        assert_eq!(error.code(), Code::PermissionDenied);
    }

    /// A column of the schema was changed, and the struct was not.
    #[tokio::test]
    async fn the_schema_has_changed() {
        let (fake, client) = spanner().await;
        fake.on_query(BEST, Rows::new(COLUMNS, [("Lea", "Smith", 5_i64)]));
        let error = best_singers(&client, 0.0).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Bind(_)), "{error}");
    }
}
