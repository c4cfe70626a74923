//! Reads that agree with each other, and a read-write transaction that is run again when
//! the server aborts it.
//!
//! ```sh
//! cargo run --example transactions
//! ```
//!
//! The fake server has answers and no tables: there, nothing changes.

#[path = "support/server.rs"]
mod server;

use std::fmt;

use server::Failed;
use spanner_rows::testing::{Failure, FakeSpanner, Rows, Step};
use spanner_rows::{Client, Error, Mutation};

const RATING: &str = "SELECT Rating FROM Singers WHERE SingerId = @id";
const LOWER: &str = "UPDATE Singers SET Rating = Rating - @points WHERE SingerId = @id";
const COUNT: &str = "SELECT COUNT(*), MAX(Rating) FROM Singers";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    let server = server::start(10, answers).await?;
    let client = &server.client;
    snapshot(client).await?;

    let moved = move_rating(client, 9, 3, 0.5).await?;
    println!("moved: singer 3 has {moved} now");
    match move_rating(client, 9, 3, 1_000.0).await {
        Err(MoveError::TooFew(rating)) => {
            println!("refused: {rating} points are not enough, and nothing was changed")
        }
        other => println!("unexpected: {other:?}"),
    }
    snapshot(client).await
}

/// Any number of reads that see the same point in time. It takes no locks.
async fn snapshot(client: &Client) -> Result<(), Failed> {
    let snapshot = client.read_only().start()?;
    let (singers, best): (i64, Option<f64>) = snapshot.query(COUNT).one().await?;
    let batch = snapshot
        .read::<(i64, &str)>("Singers")
        .columns(["SingerId", "FirstName"])
        .key(9_i64)
        .one_batch()
        .await?;
    println!(
        "{singers} singers, the best with {best:?}; number 9 is {}",
        batch.row(0)?.1
    );
    Ok(())
}

#[derive(Debug)]
enum MoveError {
    TooFew(f64),
    Spanner(Error),
}

/// So that `?` works in the transaction, and the client sees what aborted it.
impl From<Error> for MoveError {
    fn from(error: Error) -> Self {
        Self::Spanner(error)
    }
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew(rating) => write!(f, "{rating} points are not enough"),
            Self::Spanner(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for MoveError {}

/// Takes points from one singer and gives them to another: both or nothing. The closure is
/// run again when the transaction is aborted, so it changes nothing but the database.
async fn move_rating(client: &Client, from: i64, to: i64, points: f64) -> Result<f64, MoveError> {
    client
        .transaction()
        .run(|tx| async move {
            let (has,): (f64,) = tx.query(RATING).param("id", from).one().await?;
            if has < points {
                // An error of your own rolls the transaction back.
                return Err(MoveError::TooFew(has));
            }
            tx.dml(LOWER)
                .param("id", from)
                .param("points", points)
                .execute()
                .await?;
            // Mutations are sent with the commit: statements do not see them.
            let (had,): (f64,) = tx.query(RATING).param("id", to).one().await?;
            let raised = Mutation::update("Singers")
                .set("SingerId", to)
                .set("Rating", had + points);
            tx.buffer([raised])?;
            Ok(had + points)
        })
        .await
}

/// What the fake server says; the first commit it aborts.
fn answers(fake: &FakeSpanner) {
    fake.on_query(RATING, Rows::new(["Rating"], [(0.9,)]));
    fake.on_query(COUNT, Rows::new(["", ""], [(10_i64, 0.9)]));
    fake.on_query(LOWER, Rows::changed(1));
    fake.before_next(
        "Commit",
        [Step::Fail(Failure::aborted(
            "another transaction was first",
        ))],
    );
}
