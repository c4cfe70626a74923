//! Access tokens that the program brings.

use std::error::Error as StdError;
use std::fmt;
use std::time::{Duration, SystemTime};

use http::HeaderValue;
use tokio::time::Instant;

use super::BoxFuture;

/// What a [`TokenSource`] gives, some time.
pub type TokenFuture<'a> = BoxFuture<'a, Result<AccessToken, TokenError>>;

/// Where access tokens come from, for
/// [`ClientBuilder::token_source`](crate::ClientBuilder::token_source).
///
/// Prefer Application Default Credentials (the default, feature `auth`) where they
/// can be had; this is for tokens from elsewhere: a vault, a side car, a test.
///
/// # Who caches
///
/// A token [with an expiry](AccessToken::expires_in) is kept by the client and
/// used until shortly before; four minutes ahead (or at half of a shorter life)
/// the source is asked for the next one, while the old one goes on serving. A
/// token without an expiry is used for one attempt of one request: the source is
/// asked each time, by many at once, and has to keep tokens itself. When the
/// server answers UNAUTHENTICATED, a kept token is forgotten; the request is not
/// sent again.
///
/// Any function that returns a future of a token is a source:
///
/// ```no_run
/// # async fn token_of_the_vault() -> Result<String, std::io::Error> { Ok(String::new()) }
/// # async fn example() -> Result<(), spanner_rows::Error> {
/// use std::time::Duration;
///
/// use spanner_rows::{AccessToken, Client, TokenError};
///
/// let client = Client::builder("projects/p/instances/i/databases/d")
///     .token_source(|| async {
///         let token = token_of_the_vault().await.map_err(TokenError::transient)?;
///         Ok(AccessToken::new(&token)?.expires_in(Duration::from_secs(3600)))
///     })
///     .connect()
///     .await?;
/// # let _ = client;
/// # Ok(())
/// # }
/// ```
pub trait TokenSource: Send + Sync {
    /// A token that can be used now.
    ///
    /// The future may be dropped at any time, and is when the request that
    /// waits for it is.
    fn token(&self) -> TokenFuture<'_>;
}

impl<F, T> TokenSource for F
where
    F: Fn() -> T + Send + Sync,
    T: Future<Output = Result<AccessToken, TokenError>> + Send + 'static,
{
    fn token(&self) -> TokenFuture<'_> {
        Box::pin(self())
    }
}

/// An OAuth 2.0 access token. `Debug` does not show it.
#[derive(Clone)]
pub struct AccessToken {
    pub(super) authorization: HeaderValue,
    pub(super) quota_project: Option<HeaderValue>,
    pub(super) expires: Option<Instant>,
}

impl AccessToken {
    /// A token, without the word `Bearer` before it.
    ///
    /// # Errors
    ///
    /// The text is empty or has characters that a header cannot have; the error
    /// does not show it.
    pub fn new(token: &str) -> Result<Self, TokenError> {
        let printable = |byte: u8| byte.is_ascii_graphic();
        if token.is_empty() || !token.bytes().all(printable) {
            let text = "the access token is empty or has characters that a header cannot have";
            return Err(TokenError::permanent(text));
        }
        let mut authorization =
            HeaderValue::from_str(&format!("Bearer {token}")).map_err(TokenError::permanent)?;
        authorization.set_sensitive(true);
        Ok(Self {
            authorization,
            quota_project: None,
            expires: None,
        })
    }

    /// The token expires so long from now; see [who caches](TokenSource#who-caches).
    #[must_use]
    pub fn expires_in(mut self, time: Duration) -> Self {
        // What lasts longer than a clock counts does not expire while we run.
        let longest = Duration::from_secs(100 * 365 * 24 * 3600);
        self.expires = Instant::now().checked_add(time.min(longest));
        self
    }

    /// The token expires at this time; see [who caches](TokenSource#who-caches).
    #[must_use]
    pub fn expires_at(self, time: SystemTime) -> Self {
        let left = time.duration_since(SystemTime::now());
        self.expires_in(left.unwrap_or_default())
    }

    /// The project that pays for the requests (header `x-goog-user-project`).
    ///
    /// # Errors
    ///
    /// The name has characters that a header cannot have.
    pub fn quota_project(mut self, project: &str) -> Result<Self, TokenError> {
        let project = HeaderValue::from_str(project).map_err(TokenError::permanent)?;
        self.quota_project = Some(project);
        Ok(self)
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessToken")
            .field("quota_project", &self.quota_project)
            .finish_non_exhaustive()
    }
}

/// Why a [`TokenSource`] has no token.
///
/// The text becomes part of the error of the request: it should say what is wrong
/// and how to mend it, and no secrets.
#[derive(Debug)]
pub struct TokenError {
    transient: bool,
    source: Box<dyn StdError + Send + Sync>,
}

impl TokenError {
    /// A failure that may pass: the request is tried again as after a broken
    /// connection (code UNAVAILABLE).
    pub fn transient(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            transient: true,
            source: source.into(),
        }
    }

    /// A failure that stays: the request fails at once (code UNAUTHENTICATED).
    pub fn permanent(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            transient: false,
            source: source.into(),
        }
    }

    /// Whether the failure may pass.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        self.transient
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.source, f)
    }
}

impl StdError for TokenError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        // Its own text is shown above; what is behind it is the next one.
        self.source.source()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_no_token_is_refused_without_showing_it() {
        for text in ["", "tok en", "tok\nen", "t\u{f6}ken", "token\0"] {
            let error = AccessToken::new(text).unwrap_err();
            assert!(!error.is_transient());
            assert!(text.is_empty() || !format!("{error:?} {error}").contains(text));
        }
        assert!(AccessToken::new("t").unwrap().quota_project("\n").is_err());
    }

    #[test]
    fn the_header_is_sensitive_and_debug_does_not_show_the_token() {
        let token = AccessToken::new("s3cret").unwrap();
        assert_eq!(token.authorization, "Bearer s3cret");
        assert!(token.authorization.is_sensitive());
        let token = token.quota_project("payer").unwrap();
        assert!(!format!("{token:?}").contains("s3cret"));
        assert!(format!("{token:?}").contains("payer"));
    }

    #[tokio::test(start_paused = true)]
    async fn expiry_may_be_any_time() {
        let token = || AccessToken::new("t").unwrap();
        let left = |token: AccessToken| token.expires.map(|at| at - Instant::now());
        let minute = Duration::from_secs(60);
        assert_eq!(left(token()), None);
        assert_eq!(left(token().expires_in(minute)), Some(minute));
        assert!(left(token().expires_in(Duration::MAX)) > Some(minute));
        assert_eq!(
            left(token().expires_at(SystemTime::UNIX_EPOCH)),
            Some(Duration::ZERO)
        );
        let soon = left(token().expires_at(SystemTime::now() + minute)).unwrap();
        assert!(soon <= minute && soon > minute / 2, "{soon:?}");
    }
}
