//! Runs one case: a fake Spanner with scripts, a client, and what came of it.

use spanner_rows::testing::{Answer, FakeSpanner, Request, Step};
use spanner_rows::{Client, Error, OwnedValue, RetrySettings, Row, RowStream};

pub(crate) const SQL: &str = "SELECT * FROM Cases";

/// What a program saw of a result.
pub(crate) struct Seen {
    pub(crate) rows: Vec<Vec<OwnedValue>>,
    /// The error that ended the result.
    pub(crate) error: Option<Error>,
    /// The stream, unless it could not be opened.
    pub(crate) stream: Option<RowStream<Row<'static>>>,
    /// The requests that asked for the result, in order.
    pub(crate) requests: Vec<Request>,
}

/// A fake Spanner whose calls do these scripts in turn, and its client.
pub(crate) async fn server(
    scripts: Vec<Vec<Step>>,
    settings: RetrySettings,
) -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    fake.on_query(SQL, Answer::scripts(scripts));
    let client = Client::builder(fake.database())
        .endpoint(fake.endpoint())
        .retry(settings)
        .connect()
        .await
        .expect("the fake server takes every client");
    (fake, client)
}

/// Reads the whole result of the scripts, row by row, undecoded.
pub(crate) async fn read_all(scripts: Vec<Vec<Step>>, settings: RetrySettings) -> Seen {
    let (fake, client) = server(scripts, settings).await;
    let mut seen = Seen {
        rows: Vec::new(),
        error: None,
        stream: None,
        requests: Vec::new(),
    };
    match client.query(SQL).rows::<Row>().await {
        Ok(mut stream) => {
            seen.error = collect(&mut stream, &mut seen.rows).await.err();
            seen.stream = Some(stream);
        }
        Err(error) => seen.error = Some(error),
    }
    let requests = fake.requests().into_iter();
    seen.requests = requests.filter(|request| request.sql() == SQL).collect();
    seen
}

async fn collect(
    stream: &mut RowStream<Row<'static>>,
    rows: &mut Vec<Vec<OwnedValue>>,
) -> Result<(), Error> {
    while let Some(row) = stream.next().await? {
        let values = row.values().map(|value| value.map(OwnedValue::from));
        rows.push(values.collect::<Result<_, _>>()?);
    }
    // The end stays the end.
    assert!(matches!(stream.next().await, Ok(None)));
    Ok(())
}
