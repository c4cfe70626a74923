//! What a query of one row costs, and that spans and counters to which nobody listens add
//! nothing to it: this test is the same with and without the feature `observe`.

use std::hint::black_box;

use spanner_rows::testing::Rows;

use super::{Allocations, Server};

const SQL: &str = "SELECT n FROM Numbers WHERE id = @id";

const QUERIES: u64 = 200;

/// Allocations of the client for each query, most of them the HTTP/2 library's and tonic's.
const LIMIT: f64 = 72.0;

pub(crate) fn costs_no_more_than_ever(runtime: &tokio::runtime::Runtime, server: &Server) {
    server.fake.on_query(SQL, Rows::new(["n"], [(7_i64,)]));
    let per_query = runtime.block_on(async {
        let client = server.client().await;
        let mut before = Allocations::now();
        for i in 0..2 * QUERIES {
            // The connection has found its sizes.
            if i == QUERIES {
                before = Allocations::now();
            }
            let query = client.query(SQL).param("id", 7_i64);
            let (n,): (i64,) = query.one().await.unwrap();
            black_box(n);
        }
        Allocations::now().since(before).client() as f64 / QUERIES as f64
    });
    println!("a query of one row: {per_query:.2} allocations of the client");
    assert!(per_query <= LIMIT, "{per_query} allocations for a query");
}
