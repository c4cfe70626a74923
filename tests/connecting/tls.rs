//! Who is trusted, and what is said when one side does not accept the other.

use std::time::{Duration, Instant};

use spanner_rows::{Client, ClientBuilder, Code, Error, ErrorKind};

use super::front::{Authority, Front, Manner};
use super::{assert_reads, builder, numbers};

/// Connecting fails with this code and these words, at the first attempt.
async fn refused(builder: ClientBuilder, code: Code, words: &str) {
    let started = Instant::now();
    let error = builder.connect().await.expect_err(words);
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(error.code(), code, "{error}");
    let ErrorKind::Status { attempts, .. } = error.kind() else {
        panic!("{error:?}");
    };
    assert_eq!(*attempts, 1, "{error}");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_server_with_a_trusted_certificate_is_read_from() {
    let (fake, authority) = (numbers().await, Authority::new());
    let front = Front::start(&fake, Manner::usual(authority.server("localhost"))).await;
    let client = builder(&fake, &front.endpoint())
        .root_certificates(Authority::new().pem)
        .root_certificates(authority.pem)
        .without_credentials()
        .connect()
        .await
        .unwrap();
    assert_reads(&client).await;
    assert_eq!(front.connections(), 1);
}

#[tokio::test]
async fn another_root_is_refused() {
    let (fake, authority) = (numbers().await, Authority::of_name("twin"));
    let front = Front::start(&fake, Manner::usual(authority.server("localhost"))).await;
    for (number, other) in [Authority::new(), Authority::of_name("twin")]
        .into_iter()
        .enumerate()
    {
        let builder = builder(&fake, &front.endpoint())
            .root_certificates(other.pem)
            .without_credentials();
        let words = "comes from none of the trusted roots";
        refused(builder, Code::FailedPrecondition, words).await;
        assert_eq!(front.connections(), number + 1);
    }
    assert_eq!(fake.requests().len(), 0);
}

#[tokio::test]
async fn another_name_is_refused_unless_it_is_given() {
    let (fake, authority) = (numbers().await, Authority::new());
    let front = Front::start(&fake, Manner::usual(authority.server("spanner.test"))).await;
    for endpoint in [front.endpoint(), front.endpoint_by_number()] {
        let builder = builder(&fake, &endpoint)
            .root_certificates(authority.pem.as_str())
            .without_credentials();
        let words = "certificate is for another name";
        refused(builder.clone(), Code::FailedPrecondition, words).await;
        let wrong = builder.clone().server_name("other.test");
        refused(wrong, Code::FailedPrecondition, words).await;

        let client = builder.server_name("spanner.test").connect().await;
        assert_reads(&client.unwrap()).await;
    }
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let (fake, authority) = (numbers().await, Authority::new());
    let expired = authority.expired_server("localhost");
    let front = Front::start(&fake, Manner::usual(expired)).await;
    let builder = builder(&fake, &front.endpoint())
        .root_certificates(authority.pem)
        .without_credentials();
    refused(builder, Code::FailedPrecondition, "certificate has expired").await;
}

#[tokio::test]
async fn a_server_that_wants_to_know_its_clients() {
    let (fake, authority) = (numbers().await, Authority::new());
    let clients = Authority::new();
    let manner = Manner {
        clients: Some(&clients),
        ..Manner::usual(authority.server("localhost"))
    };
    let front = Front::start(&fake, manner).await;
    let builder = builder(&fake, &front.endpoint())
        .root_certificates(authority.pem.as_str())
        .without_credentials();

    let words = "the server wants a client certificate";
    refused(builder.clone(), Code::Unauthenticated, words).await;

    let stranger = authority.client();
    let other = builder
        .clone()
        .client_certificate(stranger.chain, stranger.key);
    let words = "the server does not accept the client certificate";
    refused(other, Code::Unauthenticated, words).await;
    assert_eq!(fake.requests().len(), 0);

    let known = clients.client();
    let client = builder.client_certificate(known.chain, known.key);
    assert_reads(&client.connect().await.unwrap()).await;
}

#[tokio::test]
async fn servers_of_another_kind_are_told_apart() {
    let (fake, authority) = (numbers().await, Authority::new());
    let plain = format!("https://localhost:{}", fake.address().port());
    let at = |endpoint: &str| {
        builder(&fake, endpoint)
            .root_certificates(authority.pem.as_str())
            .without_credentials()
    };
    refused(at(&plain), Code::FailedPrecondition, "not in TLS").await;

    let manner = Manner {
        alpn: &[],
        ..Manner::usual(authority.server("localhost"))
    };
    let no_h2 = Front::start(&fake, manner).await;
    let words = "does not offer HTTP/2";
    refused(at(&no_h2.endpoint()), Code::FailedPrecondition, words).await;

    let manner = Manner {
        alpn: &["http/1.1"],
        ..Manner::usual(authority.server("localhost"))
    };
    let http_1 = Front::start(&fake, manner).await;
    let words = "the server refuses TLS as this client speaks it";
    refused(at(&http_1.endpoint()), Code::FailedPrecondition, words).await;
}

#[tokio::test]
async fn a_server_that_is_away_is_tried_again() {
    let (fake, authority) = (numbers().await, Authority::new());
    // A port that nobody listens on, until somebody does.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("https://{}", listener.local_addr().unwrap());
    drop(listener);
    let connecting = builder(&fake, &endpoint)
        .root_certificates(authority.pem)
        .without_credentials()
        .connect();
    let waited = tokio::time::timeout(Duration::from_millis(300), connecting);
    assert!(waited.await.is_err(), "it gave up at once");
}

#[tokio::test]
async fn the_settings_of_connections_hold_over_tls() {
    let (fake, authority) = (numbers().await, Authority::new());
    let front = Front::start(&fake, Manner::usual(authority.server("localhost"))).await;
    let client = builder(&fake, &front.endpoint())
        .root_certificates(authority.pem)
        .without_credentials()
        .frame_size(77_777)
        .stream_window(99_999)
        .connect()
        .await
        .unwrap();
    assert_reads(&client).await;
    // The preface, then a SETTINGS frame: nine bytes of head, six for each setting.
    let preface = front.preface();
    let settings = preface.strip_prefix(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice());
    let settings = settings.expect("HTTP/2 over TLS");
    let len = usize::from(settings[1]) << 8 | usize::from(settings[2]);
    let setting = |id: u8| {
        let mut all = settings[9..9 + len].chunks(6);
        let found = all.find(|setting| setting[..2] == [0, id])?;
        Some(u32::from_be_bytes(found[2..].try_into().unwrap()))
    };
    assert_eq!(setting(4), Some(99_999), "SETTINGS_INITIAL_WINDOW_SIZE");
    assert_eq!(setting(5), Some(77_777), "SETTINGS_MAX_FRAME_SIZE");
}

/// What `connect` says of settings that cannot be used.
async fn config_error(builder: ClientBuilder) -> String {
    let error: Error = builder.connect().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_named_and_not_shown() {
    let builder = || {
        Client::builder("projects/p/instances/i/databases/d")
            .endpoint("https://localhost:1")
            .without_credentials()
    };
    let (one, other) = (Authority::new().client(), Authority::new().client());

    let error = config_error(builder().root_certificates("no certificate")).await;
    assert!(
        error.contains("the root certificates must be PEM"),
        "{error}"
    );

    let swapped = builder().client_certificate(one.key.as_str(), one.chain.as_str());
    let error = config_error(swapped).await;
    assert!(
        error.contains("the client certificate must be PEM"),
        "{error}"
    );
    assert!(!error.contains(key_text(&one.key)), "{error}");

    let mixed = builder().client_certificate(one.chain.as_str(), other.key.as_str());
    let error = config_error(mixed).await;
    assert!(error.contains("the TLS settings cannot be used"), "{error}");
    assert!(!error.contains(key_text(&other.key)), "{error}");

    let error = config_error(builder().server_name("not a name")).await;
    assert!(error.contains("the TLS settings cannot be used"), "{error}");

    let plain = builder()
        .endpoint("localhost:1")
        .server_name("spanner.test");
    let error = config_error(plain).await;
    assert!(error.contains("write `https://localhost:1`"), "{error}");
}

#[tokio::test]
async fn keys_are_not_seen() {
    let (fake, authority) = (numbers().await, Authority::new());
    let manner = Manner {
        clients: Some(&authority),
        ..Manner::usual(authority.server("localhost"))
    };
    let front = Front::start(&fake, manner).await;
    let me = authority.client();
    let builder = builder(&fake, &front.endpoint())
        .root_certificates(authority.pem.as_str())
        .client_certificate(me.chain, me.key.as_str())
        .without_credentials();
    let shown = format!("{builder:?} {builder:#?}");
    let client = builder.connect().await.unwrap();
    let shown = format!("{shown} {client:?} {client:#?}");
    assert!(!shown.contains(key_text(&me.key)), "{shown}");
    // As numbers, as bytes are shown.
    let bytes = format!("{:?}", &me.key.as_bytes()[40..60]);
    assert!(!shown.contains(bytes.trim_matches(['[', ']'])), "{shown}");
}

/// A line from the middle of a key.
fn key_text(pem: &str) -> &str {
    pem.lines().nth(1).unwrap()
}
