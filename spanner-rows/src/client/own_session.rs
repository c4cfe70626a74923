//! Sessions of their own for transactions, from a server whose sessions are not multiplexed.
//!
//! The service makes the session that is asked for, a multiplexed one, which any number of
//! transactions share. Google's emulator answers `Session.multiplexed: false`, and its session
//! is one of the old kind: it keeps one transaction, and when the next one begins it forgets
//! the one before, which then fails with FAILED_PRECONDITION ("Invalid transaction ID") whatever
//! is asked of it. Such a server gives each transaction a session of its own here; a session
//! comes back when nobody has it any more, and serves another transaction. What needs no
//! transaction of its own (single queries and reads) shares one session as ever.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use http::HeaderValue;

use super::session::{Session, Sessions};
use crate::error::Status;

/// Sessions that no transaction has.
#[derive(Debug, Default)]
pub(super) struct Idle(Mutex<Vec<(String, HeaderValue)>>);

/// What makes a session come back.
#[derive(Debug)]
pub(super) struct Lent {
    to: Weak<Idle>,
    /// It is not to serve another transaction.
    kept: AtomicBool,
}

impl Sessions {
    /// The session for a transaction of several requests, or why there is none and after how
    /// many attempts.
    ///
    /// Cancel safe: a session that is then not used expires on the server.
    pub(super) async fn for_transaction(&self) -> Result<Arc<Session>, (Status, u32)> {
        let shared = self.get().await?;
        if shared.is_multiplexed() {
            return Ok(shared);
        }
        let idle = self.idle();
        let session = match idle.take() {
            Some((name, params)) => Session::new(name, params),
            None => self.make().await?,
        };
        Ok(Arc::new(session.lent(Lent {
            to: Arc::downgrade(idle),
            kept: AtomicBool::new(false),
        })))
    }
}

impl Idle {
    fn take(&self) -> Option<(String, HeaderValue)> {
        self.lock().pop()
    }

    /// Sessions expire together: where one is gone, others are.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(String, HeaderValue)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lent {
    /// The session stays with its transaction.
    pub(super) fn keep(&self) {
        self.kept.store(true, Ordering::Relaxed);
    }

    pub(super) fn give_back(&self, name: String, params: HeaderValue) {
        if let Some(idle) = self.to.upgrade()
            && !self.kept.load(Ordering::Relaxed)
        {
            idle.lock().push((name, params));
        }
    }
}

#[cfg(test)]
#[path = "own_session_tests.rs"]
mod tests;
