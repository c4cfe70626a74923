//! Several connections.

use spanner_rows::testing::{Answer, Gate, Message, Step};
use spanner_rows::{AccessToken, Client, ErrorKind, TypeCode};

use super::front::{Authority, Front, Manner};
use super::{assert_reads, authorizations, builder, numbers};

const HELD: &str = "SELECT n FROM Held";

/// How many connections there are while so many results are open at once.
async fn connections(channels: Option<usize>, per_channel: usize, results: usize) -> usize {
    let (fake, authority) = (numbers().await, Authority::new());
    let gate = Gate::new();
    let first = Message::new()
        .columns([("n", TypeCode::Int64)])
        .value(1_i64);
    let steps = [
        Step::Message(first.resume_token("t")),
        Step::Wait(gate.clone()),
    ];
    fake.on_query(HELD, Answer::script(steps));
    let front = Front::start(&fake, Manner::usual(authority.server("localhost"))).await;
    let mut builder = builder(&fake, &front.endpoint())
        .root_certificates(authority.pem)
        .without_credentials()
        .streams_per_channel(per_channel);
    if let Some(channels) = channels {
        builder = builder.channels(channels);
    }
    let client = builder.connect().await.unwrap();
    let mut open = Vec::new();
    for _ in 0..results {
        let mut rows = client.query(HELD).rows::<(i64,)>().await.unwrap();
        assert_eq!(rows.next().await.unwrap(), Some((1,)));
        open.push(rows);
    }
    let while_open = front.connections();
    gate.open();
    for mut rows in open {
        assert_eq!(rows.next().await.unwrap(), None);
    }
    // One request after another takes no new connection, whatever went before.
    for _ in 0..5 {
        assert_reads(&client).await;
    }
    assert_eq!(front.connections(), while_open);
    while_open
}

#[tokio::test]
async fn results_that_are_open_at_once_spread_over_the_connections() {
    assert_eq!(connections(None, 1, 1).await, 1);
    assert_eq!(connections(None, 1, 3).await, 3);
    assert_eq!(connections(None, 1, 9).await, 4);
    assert_eq!(connections(Some(1), 1, 9).await, 1);
    assert_eq!(connections(Some(6), 1, 9).await, 6);
    assert_eq!(connections(Some(6), 4, 4).await, 1);
    assert_eq!(connections(Some(6), 4, 9).await, 3);
}

#[tokio::test]
async fn all_connections_are_made_ahead_when_that_is_wanted() {
    for (warm_up, expected) in [(false, 1), (true, 3)] {
        let (fake, authority) = (numbers().await, Authority::new());
        let front = Front::start(&fake, Manner::usual(authority.server("localhost"))).await;
        let client = builder(&fake, &front.endpoint())
            .root_certificates(authority.pem)
            .token_source(|| async { AccessToken::new("t") })
            .channels(3)
            .warm_up(warm_up)
            .connect()
            .await
            .unwrap();
        assert_eq!(front.connections(), expected);
        assert_reads(&client).await;
        assert_eq!(front.connections(), expected);
        let calls = authorizations(&fake);
        assert!(
            calls.iter().all(|(_, header)| header.is_some()),
            "{calls:?}"
        );
    }
}

#[tokio::test]
async fn no_connection_at_all_is_no_client() {
    for channels in [0, 257] {
        let builder = Client::builder("projects/p/instances/i/databases/d")
            .endpoint("localhost:1")
            .channels(channels);
        let error = builder.connect().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error:?}");
        assert!(error.to_string().contains("1 to 256"), "{error}");
    }
    let builder = Client::builder("projects/p/instances/i/databases/d")
        .endpoint("localhost:1")
        .streams_per_channel(0);
    let error = builder.connect().await.unwrap_err().to_string();
    assert!(error.contains("at least one"), "{error}");
}
