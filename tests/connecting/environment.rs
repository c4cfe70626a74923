//! What the environment says. Each case runs in a process of its own, because a
//! process has one environment.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use spanner_rows::testing::FakeSpanner;
use spanner_rows::{AccessToken, Client};

use super::front::{Authority, Front, Manner};
use super::token_server::TokenServer;
use super::{assert_reads, authorizations, numbers};

const DATABASE: &str = "CONNECTING_DATABASE";
const ENDPOINT: &str = "CONNECTING_ENDPOINT";
const TOKEN: &str = "CONNECTING_TOKEN";

/// The test that the child runs: connects and reads, or prints why not.
#[tokio::test]
async fn child() {
    let Ok(database) = std::env::var(DATABASE) else {
        return;
    };
    let mut builder = Client::builder(database);
    if let Ok(endpoint) = std::env::var(ENDPOINT) {
        builder = builder.endpoint(endpoint);
    }
    if let Ok(token) = std::env::var(TOKEN) {
        builder = builder.token_source(move || {
            let token = AccessToken::new(&token);
            async move { token }
        });
    }
    match builder.connect().await {
        Ok(client) => {
            assert_reads(&client).await;
            println!("connected");
        }
        Err(error) => println!("not connected: {error}"),
    }
}

/// Runs the child with this environment and gives what it said.
async fn run(fake: &FakeSpanner, environment: &[(&str, &str)]) -> String {
    let program = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new(program);
    command
        .args(["environment::child", "--exact", "--nocapture"])
        .env_remove("SPANNER_EMULATOR_HOST")
        .env_remove("GOOGLE_APPLICATION_CREDENTIALS")
        .env_remove("GOOGLE_CLOUD_UNIVERSE_DOMAIN")
        .env_remove("GOOGLE_CLOUD_QUOTA_PROJECT")
        .env_remove("SSL_CERT_DIR")
        .env(DATABASE, fake.database())
        .envs(environment.iter().copied())
        .stderr(Stdio::inherit());
    // The server runs on this runtime: it must not be blocked.
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

/// A file of this test, with this content.
fn file(name: &str, content: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_platforms_roots_and_application_default_credentials_are_what_is_usual() {
    let (fake, authority) = (numbers().await, Authority::new());
    let front = Front::start(&fake, Manner::usual(authority.server("localhost"))).await;
    let tokens = TokenServer::start(200).await;
    let roots = file("roots.pem", &authority.pem);
    let user = file("user.json", &tokens.user().to_string());
    let said = run(
        &fake,
        &[
            (ENDPOINT, &front.endpoint()),
            ("SSL_CERT_FILE", roots.to_str().unwrap()),
            ("GOOGLE_APPLICATION_CREDENTIALS", user.to_str().unwrap()),
        ],
    )
    .await;
    assert!(
        said.contains("connected\n") && !said.contains("not connected"),
        "{said}"
    );
    let calls = authorizations(&fake);
    assert_eq!(calls.len(), 2);
    for (_, header) in calls {
        assert_eq!(header.as_deref(), Some("Bearer from-the-server"));
    }

    // Roots of the platform that have not signed our certificate, and none at all.
    let other = file("other-roots.pem", &Authority::new().pem);
    let none = file("no-roots.pem", "");
    for (roots, what) in [
        (other, "comes from none of the trusted roots"),
        (none, "this machine has no root certificates"),
    ] {
        let said = run(
            &fake,
            &[
                (ENDPOINT, &front.endpoint()),
                (TOKEN, "t"),
                ("SSL_CERT_FILE", roots.to_str().unwrap()),
            ],
        )
        .await;
        assert!(said.contains(what), "{said}");
    }
    assert_eq!(fake.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_emulator_gets_no_credentials() {
    let fake = numbers().await;
    let address = fake.address().to_string();
    let emulator = ("SPANNER_EMULATOR_HOST", address.as_str());
    let said = run(&fake, &[emulator, (TOKEN, "t")]).await;
    assert!(
        said.contains("connected\n") && !said.contains("not connected"),
        "{said}"
    );
    let calls = authorizations(&fake);
    assert_eq!(calls.len(), 2);
    assert!(
        calls.iter().all(|(_, header)| header.is_none()),
        "{calls:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_that_are_not_there_are_told_with_the_cure() {
    let fake = numbers().await;
    let missing = ("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/user.json");
    let said = run(&fake, &[missing]).await;
    assert!(
        said.contains("no Application Default Credentials"),
        "{said}"
    );
    assert!(said.contains("application-default login"), "{said}");

    let said = run(&fake, &[("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "no domain")]).await;
    assert!(said.contains("universe domain `no domain`"), "{said}");
}
