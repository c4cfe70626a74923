//! Reaching a server: TLS, credentials, and several connections.
//!
//! Servers are a `FakeSpanner` on this machine, behind one that speaks TLS with
//! certificates made here.

mod credentials;
mod environment;
mod front;
mod pool;
mod tls;
mod token_server;

use spanner_rows::testing::{FakeSpanner, Rows};
use spanner_rows::{Client, ClientBuilder, Error};

const SQL: &str = "SELECT n FROM Numbers";

/// A server with ten rows.
async fn numbers() -> FakeSpanner {
    let fake = FakeSpanner::start().await;
    fake.on_query(SQL, Rows::new(["n"], (0..10_i64).map(|n| (n,))));
    fake
}

fn builder(fake: &FakeSpanner, endpoint: &str) -> ClientBuilder {
    Client::builder(fake.database()).endpoint(endpoint)
}

async fn read(client: &Client) -> Result<Vec<(i64,)>, Error> {
    let mut rows = client.query(SQL).rows::<(i64,)>().await?;
    rows.try_collect().await
}

async fn assert_reads(client: &Client) {
    let rows = read(client).await.expect("the connection is made");
    assert_eq!(rows, (0..10).map(|n| (n,)).collect::<Vec<_>>());
}

/// How often each method was called, and with which `authorization`.
fn authorizations(fake: &FakeSpanner) -> Vec<(String, Option<String>)> {
    let of = |request: &spanner_rows::testing::Request| {
        let header = request.header("authorization");
        (request.method().to_owned(), header.map(str::to_owned))
    };
    fake.take_requests().iter().map(of).collect()
}

#[test]
fn clients_and_what_makes_them_go_anywhere() {
    fn anywhere<T: Clone + Send + Sync + 'static>() {}
    anywhere::<Client>();
    anywhere::<ClientBuilder>();
    anywhere::<spanner_rows::AccessToken>();
}
