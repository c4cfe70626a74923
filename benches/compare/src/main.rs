//! Compares ways of reading Spanner from Rust over gRPC, in one run.
//!
//! ```sh
//! cargo run --release --manifest-path benches/compare/Cargo.toml
//! cargo run --release --manifest-path benches/compare/Cargo.toml -- --shape strings8 --rounds 5
//! cargo run --release --manifest-path benches/compare/Cargo.toml -- side-by-side
//! ```
//!
//! One process serves encoded messages, pinned to a core; every arm is a process of its own, pinned to another, and
//! they take turns. Before anything is timed every field of every row is compared, as a hash per column.
//!
//! | file | job |
//! |---|---|
//! | `run` | starts the processes, has them take turns |
//! | `cases` | what is read: shapes, rows, sizes of messages |
//! | `server` | the fake server |
//! | `client` | one arm: checks, then measures a round whenever it is told to |
//! | `arms/` | the readers |
//! | `allocations`, `process` | allocations; CPU time, memory, cores |
//! | `report`, `chart` | table and JSON; SVG |
//! | `side_by_side` | one and two queries at once on two cores |

mod allocations;
mod arms;
mod cases;
mod chart;
mod client;
mod process;
mod report;
mod run;
mod server;
#[path = "../../shapes/mod.rs"]
#[allow(dead_code, reason = "other harnesses use the rest")]
mod shapes;
mod side_by_side;

use std::error::Error;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

/// What went wrong, for people.
type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["server", case, cores] => server::serve(case, cores),
        ["client", arm, case, address] => client::serve(arm, case, address),
        ["side-by-side"] => side_by_side::run(),
        _ => run::run(&run::Options::parse(&arguments)?),
    }
}
