//! Who calls: on which calls it is said, and where never.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use google_cloud_auth::credentials::{api_key_credentials, user_account};
use spanner_rows::testing::{Failure, FakeSpanner, Rows, Step};
use spanner_rows::{AccessToken, Client, Code, ErrorKind, TokenError};

use super::front::{Authority, Front, Manner};
use super::token_server::TokenServer;
use super::{SQL, assert_reads, authorizations, builder, numbers, read};

/// How often a source was asked.
#[derive(Clone, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    fn next(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn bearer(fake: &FakeSpanner) -> Vec<String> {
    let all = authorizations(fake).into_iter();
    all.map(|(_, header)| header.unwrap_or_default()).collect()
}

#[tokio::test]
async fn every_call_says_who_calls() {
    let (fake, authority) = (numbers().await, Authority::new());
    // A result that breaks twice and is taken up again.
    let broken = Rows::new(["n"], (0..10_i64).map(|n| (n,)))
        .message_size(1)
        .token_every(1)
        .interrupt(1, 3, Step::Disconnect)
        .interrupt(2, 6, Step::Fail(Failure::unavailable("away")));
    fake.on_query(SQL, broken);
    fake.on_read("Numbers", Rows::new(["n"], [(1_i64,)]));
    let front = Front::start(&fake, Manner::usual(authority.server("localhost"))).await;
    let client = builder(&fake, &front.endpoint())
        .root_certificates(authority.pem)
        .token_source(|| async { AccessToken::new("t0ken")?.quota_project("payer") })
        .connect()
        .await
        .unwrap();
    assert_reads(&client).await;
    let read = client.read::<(i64,)>("Numbers").columns(["n"]).key(1_i64);
    let (one,) = read.one().await.unwrap();
    assert_eq!(one, 1);

    for request in fake.requests() {
        assert_eq!(request.header("authorization"), Some("Bearer t0ken"));
        assert_eq!(request.header("x-goog-user-project"), Some("payer"));
    }
    let methods: Vec<_> = authorizations(&fake).into_iter().map(|it| it.0).collect();
    let query = "ExecuteStreamingSql";
    assert_eq!(
        methods,
        ["CreateSession", query, query, query, "StreamingRead"]
    );
}

#[tokio::test]
async fn a_server_on_this_machine_gets_credentials_only_when_they_are_given() {
    let fake = numbers().await;
    let client = builder(&fake, &fake.endpoint()).connect().await.unwrap();
    assert_reads(&client).await;
    assert_eq!(bearer(&fake), ["", ""]);

    let given = builder(&fake, &fake.endpoint()).token_source(|| async { AccessToken::new("t") });
    let client = given.clone().connect().await.unwrap();
    assert_reads(&client).await;
    assert_eq!(bearer(&fake), ["Bearer t", "Bearer t"]);

    let client = given.without_credentials().connect().await.unwrap();
    assert_reads(&client).await;
    assert_eq!(bearer(&fake), ["", ""]);
}

#[tokio::test]
async fn another_machine_gets_nothing_in_plain_text() {
    let asked = Count::default();
    for endpoint in ["http://10.0.0.1:9010", "http://spanner.googleapis.com:443"] {
        let asked = asked.clone();
        let builder = Client::builder("projects/p/instances/i/databases/d")
            .endpoint(endpoint)
            .token_source(move || {
                asked.next();
                async { AccessToken::new("t0ken") }
            });
        let error = builder.connect().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("without TLS") && text.contains("credentials"));
        assert!(!text.contains("t0ken"));
    }
    assert_eq!(asked.get(), 0);
}

#[tokio::test]
async fn a_token_without_an_expiry_is_asked_for_each_time() {
    let (fake, asked) = (numbers().await, Count::default());
    let source = asked.clone();
    let client = builder(&fake, &fake.endpoint())
        .token_source(move || {
            let token = format!("token-{}", source.next());
            async move { AccessToken::new(&token) }
        })
        .connect()
        .await
        .unwrap();
    assert_reads(&client).await;
    assert_reads(&client).await;
    let used = bearer(&fake);
    assert_eq!(used, ["Bearer token-1", "Bearer token-2", "Bearer token-3"]);
}

#[tokio::test]
async fn a_token_with_an_expiry_is_kept() {
    let (fake, asked) = (numbers().await, Count::default());
    let source = asked.clone();
    let client = builder(&fake, &fake.endpoint())
        .token_source(move || {
            let token = format!("token-{}", source.next());
            async move { Ok(AccessToken::new(&token)?.expires_in(Duration::from_secs(3600))) }
        })
        .connect()
        .await
        .unwrap();
    for _ in 0..5 {
        assert_reads(&client).await;
    }
    assert_eq!(asked.get(), 1);
    assert_eq!(bearer(&fake), ["Bearer token-1"; 6]);

    // One that the server refuses is not used again; the request is not repeated.
    let refusal = Failure::new(Code::Unauthenticated, "revoked");
    fake.before_next("ExecuteStreamingSql", [Step::Fail(refusal)]);
    let error = read(&client).await.unwrap_err();
    assert_eq!(error.code(), Code::Unauthenticated);
    assert!(!format!("{error:?} {error}").contains("token-1"));
    assert_reads(&client).await;
    assert_eq!(bearer(&fake), ["Bearer token-1", "Bearer token-2"]);
}

#[tokio::test]
async fn a_source_that_fails_for_good_is_told_at_once() {
    let (fake, asked) = (numbers().await, Count::default());
    let source = asked.clone();
    let builder = builder(&fake, &fake.endpoint()).token_source(move || {
        source.next();
        async { Err(TokenError::permanent("the vault is sealed: unseal it")) }
    });
    let error = builder.connect().await.unwrap_err();
    assert_eq!(error.code(), Code::Unauthenticated);
    assert!(error.to_string().contains("the vault is sealed"), "{error}");
    assert_eq!(asked.get(), 1);
    assert_eq!(fake.requests().len(), 0);
}

#[tokio::test]
async fn a_source_that_fails_for_now_is_asked_again() {
    let (fake, asked) = (numbers().await, Count::default());
    let source = asked.clone();
    let client = builder(&fake, &fake.endpoint())
        .token_source(move || {
            // The second of every three is good.
            let good = source.next() % 3 == 2;
            async move {
                let busy = || TokenError::transient("the vault is busy");
                good.then(|| AccessToken::new("t")).ok_or_else(busy)?
            }
        })
        .connect()
        .await
        .unwrap();
    assert_eq!(asked.get(), 2);
    assert_reads(&client).await;
    assert_eq!(asked.get(), 5);
    assert_eq!(bearer(&fake), ["Bearer t", "Bearer t"]);
}

#[tokio::test]
async fn tokens_are_not_seen() {
    let fake = numbers().await;
    let builder = builder(&fake, &fake.endpoint()).token_source(|| async {
        Ok(AccessToken::new("s3cret")?.expires_in(Duration::from_secs(60)))
    });
    let shown = format!("{builder:?} {builder:#?}");
    let client = builder.connect().await.unwrap();
    assert_reads(&client).await;
    let failure = Failure::new(Code::PermissionDenied, "no");
    fake.before_next("ExecuteStreamingSql", [Step::Fail(failure)]);
    let error = read(&client).await.unwrap_err();
    let query = client.query(SQL);
    let shown = format!("{shown} {client:?} {client:#?} {error:?} {error} {query:?}");
    assert!(!shown.contains("s3cret"), "{shown}");

    let key = api_key_credentials::Builder::new("s3cret").build();
    let builder = Client::builder(fake.database()).credentials(key);
    assert!(!format!("{builder:?} {builder:#?}").contains("s3cret"));
}

#[tokio::test]
async fn credentials_of_google_cloud_auth_are_used_with_all_their_headers() {
    let (fake, tokens) = (numbers().await, TokenServer::start(200).await);
    // It asks the program for its cryptography.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let user = user_account::Builder::new(tokens.user()).build().unwrap();
    let client = builder(&fake, &fake.endpoint())
        .credentials(user)
        .connect()
        .await
        .unwrap();
    for _ in 0..3 {
        assert_reads(&client).await;
    }
    for request in fake.requests() {
        let header = request.header("authorization");
        assert_eq!(header, Some("Bearer from-the-server"));
        assert_eq!(request.header("x-goog-user-project"), Some("payer"));
    }
    assert_eq!(bearer(&fake).len(), 4);
    assert_eq!(tokens.asked(), 1);

    let key = api_key_credentials::Builder::new("the-key").build();
    let with_key = builder(&fake, &fake.endpoint()).credentials(key);
    assert_reads(&with_key.connect().await.unwrap()).await;
    let requests = fake.take_requests();
    let keys: Vec<_> = requests
        .iter()
        .map(|it| it.header("x-goog-api-key"))
        .collect();
    assert_eq!(keys, [Some("the-key"); 2]);
}

#[tokio::test]
async fn credentials_that_the_token_server_refuses_are_told_at_once() {
    let (fake, tokens) = (numbers().await, TokenServer::start(401).await);
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let user = user_account::Builder::new(tokens.user()).build().unwrap();
    let started = Instant::now();
    let builder = builder(&fake, &fake.endpoint()).credentials(user);
    let error = builder.connect().await.unwrap_err();
    assert_eq!(error.code(), Code::Unauthenticated, "{error}");
    let text = format!("{error} {error:?}");
    assert!(text.contains("there are no credentials"), "{text}");
    assert!(!text.contains("not-to-be-seen") && !text.contains("nor-this-one"));
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(fake.requests().len(), 0);
}
