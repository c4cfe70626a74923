//! The headers that say who calls: where they come from and how long they are kept.

use std::error::Error as StdError;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::time::Instant;

use super::status::all_texts;
use super::token::{AccessToken, TokenError, TokenSource};
use crate::error::{Code, Status};

/// Which project pays.
const QUOTA_PROJECT: HeaderName = HeaderName::from_static("x-goog-user-project");
/// How long before its end a token is replaced, if it lives twice as long.
const AHEAD: Duration = Duration::from_secs(4 * 60);
/// A token is not used in its last seconds: it has a way to go, and clocks differ.
const MARGIN: Duration = Duration::from_secs(10);
/// When to ask again for the next token, after a failure, while the old one serves.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(10);
/// Credentials of google-cloud-auth keep their tokens and renew them minutes
/// before they expire; asking them costs allocations, so it is not done each time.
#[cfg(feature = "auth")]
const ASK_GOOGLE_AFTER: Duration = Duration::from_secs(10);

/// Where the headers come from.
#[derive(Clone)]
pub(crate) enum Source {
    Program(Arc<dyn TokenSource>),
    #[cfg(feature = "auth")]
    Google(google_cloud_auth::credentials::Credentials),
}

/// Says which kind it is; what it holds is not to be seen.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Program(_) => "Program",
            #[cfg(feature = "auth")]
            Self::Google(_) => "Google",
        })
    }
}

/// The headers of calls, kept while they are good.
pub(super) struct Credentials {
    source: Source,
    kept: Mutex<Option<Kept>>,
    /// Held by the one who asks the source for what all will use.
    asking: tokio::sync::Mutex<()>,
    /// The source gives tokens without expiry: there is nothing to wait for.
    keeps_itself: AtomicBool,
}

pub(super) type Pairs = Arc<[(HeaderName, HeaderValue)]>;

#[derive(Clone)]
struct Kept {
    headers: Pairs,
    /// From then on the next one is asked for.
    fresh_until: Instant,
    usable_until: Instant,
}

impl Credentials {
    pub(super) fn new(source: Source) -> Self {
        Self {
            source,
            kept: Mutex::new(None),
            asking: tokio::sync::Mutex::new(()),
            keeps_itself: AtomicBool::new(false),
        }
    }

    /// Headers that can be used now.
    ///
    /// Cancel safe: whoever comes next asks again.
    pub(super) async fn headers(&self) -> Result<Pairs, Status> {
        let old = match self.usable() {
            Some(kept) if Instant::now() < kept.fresh_until => return Ok(kept.headers),
            old => old,
        };
        if let Some(old) = old {
            // One asks, the others go on with what is there, as all do when asking fails.
            let Ok(_asking) = self.asking.try_lock() else {
                return Ok(old.headers);
            };
            return match self.ask().await {
                Ok(headers) => Ok(headers),
                Err(_) => {
                    self.put_off();
                    Ok(old.headers)
                }
            };
        }
        if self.keeps_itself.load(Ordering::Relaxed) {
            return self.ask().await;
        }
        let _asking = self.asking.lock().await;
        match self.usable() {
            Some(kept) => Ok(kept.headers),
            None => self.ask().await,
        }
    }

    /// The server refused a call with these headers.
    pub(super) fn refused(&self, headers: &Pairs) {
        let mut kept = self.lock();
        // Others may have got new ones since.
        if kept
            .as_ref()
            .is_some_and(|kept| Arc::ptr_eq(&kept.headers, headers))
        {
            *kept = None;
        }
    }

    fn usable(&self) -> Option<Kept> {
        let kept = self.lock();
        kept.as_ref()
            .filter(|kept| Instant::now() < kept.usable_until)
            .cloned()
    }

    fn put_off(&self) {
        if let Some(kept) = &mut *self.lock() {
            kept.fresh_until = Instant::now() + ASK_AGAIN_AFTER;
        }
    }

    async fn ask(&self) -> Result<Pairs, Status> {
        let (headers, times) = match &self.source {
            Source::Program(source) => {
                let token = source.token().await.map_err(no_token)?;
                (pairs(&token), times(&token))
            }
            #[cfg(feature = "auth")]
            Source::Google(credentials) => {
                let until = Instant::now() + ASK_GOOGLE_AFTER;
                (google::headers(credentials).await?, Some((until, until)))
            }
        };
        self.keeps_itself.store(times.is_none(), Ordering::Relaxed);
        *self.lock() = times.map(|(fresh_until, usable_until)| Kept {
            headers: headers.clone(),
            fresh_until,
            usable_until,
        });
        Ok(headers)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// Puts the headers into those of a call.
pub(super) fn put(headers: &mut HeaderMap, pairs: &Pairs) {
    for (name, value) in pairs.iter() {
        headers.insert(name.clone(), value.clone());
    }
}

fn pairs(token: &AccessToken) -> Pairs {
    let project = token.quota_project.iter();
    std::iter::once((AUTHORIZATION, token.authorization.clone()))
        .chain(project.map(|project| (QUOTA_PROJECT, project.clone())))
        .collect()
}

/// Until when a token is fresh, and until when it is used.
fn times(token: &AccessToken) -> Option<(Instant, Instant)> {
    let now = Instant::now();
    let life = token.expires?.saturating_duration_since(now);
    let fresh_for = life - AHEAD.min(life / 2);
    let usable_for = life - MARGIN.min(life / 4);
    Some((now + fresh_for, now + usable_for))
}

fn no_token(error: TokenError) -> Status {
    let transient = error.is_transient();
    unauthenticated(transient, error)
}

/// The status of a call that is not sent because there are no credentials for it.
fn unauthenticated(transient: bool, error: impl StdError + Send + Sync + 'static) -> Status {
    let text = format!(
        "there are no credentials for the request: {}",
        all_texts(&error)
    );
    match transient {
        true => Status::new(Code::Unavailable, text).with_transport(Arc::new(error)),
        false => Status::new(Code::Unauthenticated, text),
    }
}

#[cfg(feature = "auth")]
pub(crate) mod google {
    //! Credentials of google-cloud-auth.

    use google_cloud_auth::credentials::{Builder, CacheableResource, Credentials};
    use http::Extensions;

    use super::{Pairs, all_texts, unauthenticated};
    use crate::error::{Error, Status};

    /// What reading and writing data takes.
    const SCOPE: &str = "https://www.googleapis.com/auth/spanner.data";

    /// Application Default Credentials of this machine.
    pub(crate) fn default(universe: Option<&str>) -> Result<Credentials, Error> {
        // google-cloud-auth needs a provider for the whole process when it does not
        // bring one; somebody else's goes first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Builder::default().with_scopes([SCOPE]);
        let builder = match universe {
            Some(universe) => builder.with_universe_domain(universe),
            None => builder,
        };
        builder.build().map_err(|error| {
            Error::config(format!(
                "there are no Application Default Credentials: {}; run `gcloud auth \
                 application-default login`, let GOOGLE_APPLICATION_CREDENTIALS name a file, or give \
                 credentials in the program (`ClientBuilder::credentials`, `token_source`, \
                 `without_credentials`)",
                all_texts(&error)
            ))
        })
    }

    pub(super) async fn headers(credentials: &Credentials) -> Result<Pairs, Status> {
        let answer = credentials.headers(Extensions::new()).await;
        match answer.map_err(|error| unauthenticated(error.is_transient(), error))? {
            CacheableResource::New { data, .. } => {
                let pairs = data.iter().map(|(name, value)| {
                    let mut value = value.clone();
                    value.set_sensitive(true);
                    (name.clone(), value)
                });
                Ok(pairs.collect())
            }
            // Said only to those who name what they have, and nobody does.
            CacheableResource::NotModified => {
                let text = "the credentials say that nothing has changed, where nothing was known";
                Err(unauthenticated(false, std::io::Error::other(text)))
            }
        }
    }
}
