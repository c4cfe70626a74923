//! D7: where a row is wanted, something that is none.

use spanner_rows::{Client, Error};

struct Singer {
    id: i64,
}

async fn read(client: Client) -> Result<(), Error> {
    let batch = client.read::<Singer>("Singers").key(1_i64).one_batch().await?;
    println!("{}", batch.row(0)?.id);
    Ok(())
}

async fn one(client: Client) -> Result<Singer, Error> {
    client.query("SELECT id FROM Singers").one().await
}

fn main() {}
