//! What transactions do where sessions are not multiplexed.

use std::sync::Arc;

use super::super::Client;
use super::super::test_transport::Recorder;
use super::Session;
use crate::error::{Code, Status};
use crate::proto::spanner as proto;
use crate::transport::Method;
use prost::Message as _;

/// A server of numbered sessions.
fn server(multiplexed: bool) -> Arc<Recorder> {
    Recorder::new(move |n, call| match call.method {
        Method::CreateSession => {
            let session = proto::Session {
                name: format!("projects/p/instances/i/databases/d/sessions/{n}"),
                multiplexed,
                ..proto::Session::default()
            };
            Ok(vec![session.encode_to_vec().into()])
        }
        _ => Err(Status::new(Code::PermissionDenied, "only sessions here")),
    })
}

async fn take(client: &Client) -> Arc<Session> {
    client.inner.sessions.for_transaction().await.unwrap()
}

fn number(session: &Session) -> &str {
    session.name().rsplit('/').next().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_multiplexed_one_serves_all() {
    let recorder = server(true);
    let client = recorder.client();
    let (a, b) = (take(&client).await, take(&client).await);
    assert!(Arc::ptr_eq(&a, &b));
    assert!(Arc::ptr_eq(&a, &client.session().await.unwrap()));
    assert_eq!(recorder.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn each_transaction_has_one_and_leaves_it_to_the_next() {
    let recorder = server(false);
    let client = recorder.client();
    let shared = client.session().await.unwrap();
    assert_eq!(number(&shared), "1");
    let (a, b) = (take(&client).await, take(&client).await);
    assert_eq!((number(&a), number(&b)), ("2", "3"));
    // Whoever has it last gives it back.
    let also_a = a.clone();
    drop(a);
    assert_eq!(number(&*take(&client).await), "4");
    drop(also_a);
    let again = take(&client).await;
    assert_eq!(number(&again), "2");
    assert!(again.params().to_str().unwrap().ends_with("%2F2"));
    drop(b);
    assert_eq!(number(&*take(&client).await), "3");
    assert_eq!(recorder.calls().len(), 4);
    // Reads go on with theirs.
    assert!(Arc::ptr_eq(&shared, &client.session().await.unwrap()));
}

#[tokio::test(start_paused = true)]
async fn one_that_is_lost_or_kept_serves_nobody_else() {
    let recorder = server(false);
    let client = recorder.client();
    let sessions = &client.inner.sessions;
    let (a, b, c) = (
        take(&client).await,
        take(&client).await,
        take(&client).await,
    );
    c.keep();
    drop((b, c));
    // Those that wait for a transaction are gone with it.
    sessions.forget(&a);
    drop(a);
    assert_eq!(number(&*take(&client).await), "5");
    assert_eq!(number(&client.session().await.unwrap()), "1");
}

#[tokio::test(start_paused = true)]
async fn it_may_outlive_its_client() {
    let client = server(false).client();
    let session = take(&client).await;
    drop(client);
    drop(session);
}
