//! How long tokens are kept, and who asks for the next one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{advance, timeout};

use super::credentials::{Credentials, Pairs, Source};
use super::token::{AccessToken, TokenError, TokenFuture, TokenSource};
use crate::error::Code;

const HOUR: Duration = Duration::from_secs(3600);
const MINUTE: Duration = Duration::from_secs(60);

/// One answer of a source.
enum Next {
    /// A token, and how long it lives.
    Token(&'static str, Option<Duration>),
    Fails,
    /// A token for an hour, once the test says so.
    Later(oneshot::Receiver<()>, &'static str),
}

/// Gives what the test has said, in this order.
#[derive(Clone)]
struct Scripted(Arc<Mutex<VecDeque<Next>>>);

impl Scripted {
    fn new(answers: impl IntoIterator<Item = Next>) -> (Self, Credentials) {
        let source = Self(Arc::new(Mutex::new(answers.into_iter().collect())));
        let credentials = Credentials::new(Source::Program(Arc::new(source.clone())));
        (source, credentials)
    }

    fn left(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl TokenSource for Scripted {
    fn token(&self) -> TokenFuture<'_> {
        Box::pin(async {
            let next = self.0.lock().unwrap().pop_front();
            match next.expect("one answer for each question") {
                Next::Token(text, None) => AccessToken::new(text),
                Next::Token(text, Some(life)) => Ok(AccessToken::new(text)?.expires_in(life)),
                Next::Fails => Err(TokenError::transient("busy")),
                Next::Later(told, text) => {
                    told.await.unwrap();
                    Ok(AccessToken::new(text)?.expires_in(HOUR))
                }
            }
        })
    }
}

fn bearer(headers: &Pairs) -> &str {
    headers[0].1.to_str().unwrap()
}

async fn assert_token(credentials: &Credentials, token: &str) {
    let headers = credentials.headers().await.unwrap();
    assert_eq!(bearer(&headers), format!("Bearer {token}"));
    assert!(headers[0].1.is_sensitive());
}

#[tokio::test(start_paused = true)]
async fn the_next_token_is_asked_for_before_the_old_one_ends() {
    let (source, credentials) = Scripted::new([
        Next::Token("1", Some(HOUR)),
        Next::Token("2", Some(HOUR)),
        Next::Token("3", Some(MINUTE)),
        Next::Token("4", Some(HOUR)),
    ]);
    assert_token(&credentials, "1").await;
    advance(HOUR - 5 * MINUTE).await;
    assert_token(&credentials, "1").await;
    advance(MINUTE + Duration::from_millis(1)).await;
    assert_token(&credentials, "2").await;
    advance(2 * HOUR).await;
    assert_token(&credentials, "3").await;
    // A token with a short life is replaced at half of it.
    advance(MINUTE / 2 - Duration::from_secs(1)).await;
    assert_token(&credentials, "3").await;
    advance(Duration::from_secs(2)).await;
    assert_token(&credentials, "4").await;
    assert_eq!(source.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_old_token_serves_while_there_is_no_next_one() {
    let (source, credentials) = Scripted::new([
        Next::Token("1", Some(HOUR)),
        Next::Fails,
        Next::Fails,
        Next::Fails,
        Next::Token("2", Some(HOUR)),
    ]);
    assert_token(&credentials, "1").await;
    advance(HOUR - 3 * MINUTE).await;
    for _ in 0..5 {
        // A source that has just failed is left alone for a while.
        assert_token(&credentials, "1").await;
        assert_eq!(source.left(), 3);
    }
    advance(Duration::from_secs(11)).await;
    assert_token(&credentials, "1").await;
    assert_eq!(source.left(), 2);
    // In its last seconds it is not used any more.
    advance(3 * MINUTE - Duration::from_secs(20)).await;
    let status = credentials.headers().await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.is_transport());
    assert!(status.message().contains("busy"), "{status}");
    assert_token(&credentials, "2").await;
}

#[tokio::test(start_paused = true)]
async fn one_asks_and_all_others_wait_for_the_first_token() {
    let (tell, told) = oneshot::channel();
    let (source, credentials) = Scripted::new([Next::Later(told, "1")]);
    let credentials = Arc::new(credentials);
    let all: Vec<_> = (0..10)
        .map(|_| {
            let credentials = credentials.clone();
            tokio::spawn(async move { assert_token(&credentials, "1").await })
        })
        .collect();
    tokio::time::sleep(MINUTE).await;
    tell.send(()).unwrap();
    for one in all {
        one.await.unwrap();
    }
    assert_eq!(source.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn one_asks_and_all_others_go_on_with_the_old_token() {
    let (tell, told) = oneshot::channel();
    let (_, credentials) = Scripted::new([Next::Token("1", Some(HOUR)), Next::Later(told, "2")]);
    assert_token(&credentials, "1").await;
    advance(HOUR - 3 * MINUTE).await;
    let credentials = Arc::new(credentials);
    let asking = credentials.clone();
    let asking = tokio::spawn(async move { assert_token(&asking, "2").await });
    tokio::task::yield_now().await;
    for _ in 0..5 {
        assert_token(&credentials, "1").await;
    }
    tell.send(()).unwrap();
    asking.await.unwrap();
    assert_token(&credentials, "2").await;
}

#[tokio::test(start_paused = true)]
async fn whoever_asks_may_be_cancelled() {
    let (_tell, never) = oneshot::channel();
    let (_, credentials) =
        Scripted::new([Next::Later(never, "lost"), Next::Token("1", Some(HOUR))]);
    let cancelled = timeout(MINUTE, credentials.headers()).await;
    assert!(cancelled.is_err());
    assert_token(&credentials, "1").await;
}

#[tokio::test(start_paused = true)]
async fn tokens_without_expiry_are_not_kept_and_nobody_waits() {
    let (_tell, never) = oneshot::channel();
    let (_, credentials) = Scripted::new([
        Next::Token("1", None),
        Next::Later(never, "lost"),
        Next::Token("2", None),
    ]);
    assert_token(&credentials, "1").await;
    // One that gets no answer does not hold up the next.
    let credentials = Arc::new(credentials);
    let asking = credentials.clone();
    let asking = tokio::spawn(async move { asking.headers().await.is_ok() });
    tokio::task::yield_now().await;
    let second = timeout(MINUTE, assert_token(&credentials, "2")).await;
    second.unwrap();
    asking.abort();
}

#[tokio::test(start_paused = true)]
async fn only_the_headers_that_were_refused_are_forgotten() {
    let (_, credentials) =
        Scripted::new([Next::Token("1", Some(HOUR)), Next::Token("2", Some(HOUR))]);
    let first = credentials.headers().await.unwrap();
    credentials.refused(&first);
    assert_token(&credentials, "2").await;
    // Somebody who was slower hears the same of the first ones.
    credentials.refused(&first);
    assert_token(&credentials, "2").await;
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_over_is_used_by_nobody_else() {
    let over = Some(Duration::ZERO);
    let (source, credentials) =
        Scripted::new([Next::Token("1", over), Next::Token("2", Some(HOUR))]);
    assert_token(&credentials, "1").await;
    assert_token(&credentials, "2").await;
    assert_eq!(source.left(), 0);
}

#[tokio::test]
async fn debug_shows_no_token() {
    let (_, credentials) = Scripted::new([Next::Token("s3cret", Some(HOUR))]);
    let headers = credentials.headers().await.unwrap();
    assert!(!format!("{credentials:?} {headers:?}").contains("s3cret"));
}
