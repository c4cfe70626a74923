//! What the server knows: answers, sessions and the requests it got.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::answer::{Answer, Prepared};
use super::failure::Failure;
use super::request::Request;
use super::step::Step;
use super::writes::Writes;
use crate::proto::spanner::transaction_options::Mode;
use crate::proto::spanner::transaction_options::read_only::TimestampBound;
use crate::proto::spanner::transaction_selector::Selector;
use crate::proto::spanner::{
    CommitRequest, CommitResponse, MultiplexedSessionPrecommitToken, Transaction,
    TransactionOptions, TransactionSelector,
};

/// Says what comes before a call.
pub(super) type BeforeEach = Arc<dyn Fn(&Request) -> Vec<Step> + Send + Sync>;

/// Answers what nothing else does.
pub(super) type Fallback = Arc<dyn Fn(&Request) -> Option<Answer> + Send + Sync>;

#[derive(Debug)]
pub(super) struct State {
    database: String,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    answers: BTreeMap<Question, Prepared>,
    fallback: Option<Fallback>,
    /// Steps before the next calls of a method.
    before: HashMap<String, VecDeque<Vec<Step>>>,
    before_each: Option<BeforeEach>,
    calls: HashMap<Question, usize>,
    requests: Vec<Request>,
    sessions: BTreeSet<String>,
    sessions_made: usize,
    transactions_begun: usize,
    writes: Writes,
}

/// What an answer belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Question {
    Query(String),
    Read(String),
    IndexRead { table: String, index: String },
    Method(String),
}

impl State {
    pub(super) fn new(database: String) -> Self {
        Self {
            database,
            inner: Mutex::default(),
        }
    }

    pub(super) fn database(&self) -> &str {
        &self.database
    }

    // What the test sets and asks.

    pub(super) fn set_answer(&self, question: Question, answer: Prepared) {
        let mut inner = self.lock();
        inner.calls.remove(&question);
        inner.answers.insert(question, answer);
    }

    pub(super) fn set_fallback(&self, fallback: Fallback) {
        self.lock().fallback = Some(fallback);
    }

    pub(super) fn add_before(&self, method: &str, steps: Vec<Step>) {
        let mut inner = self.lock();
        inner
            .before
            .entry(method.to_owned())
            .or_default()
            .push_back(steps);
    }

    pub(super) fn set_before_each(&self, handler: BeforeEach) {
        self.lock().before_each = Some(handler);
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    pub(super) fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.lock().requests)
    }

    pub(super) fn forget_sessions(&self) {
        self.lock().sessions.clear();
    }

    // What a call does.

    /// Takes down the request, tells it which call it is, and answers the steps
    /// that come before it.
    pub(super) fn record(&self, request: &mut Request) -> Vec<Step> {
        let mut inner = self.lock();
        let question = inner.question(request);
        let calls = inner.calls.entry(question).or_default();
        *calls += 1;
        request.set_call(*calls);
        inner.requests.push(request.clone());
        let before = inner.before.get_mut(request.method());
        if let Some(steps) = before.and_then(VecDeque::pop_front) {
            return steps;
        }
        let handler = inner.before_each.clone();
        // The handler may ask the server something.
        drop(inner);
        handler.map_or_else(Vec::new, |handler| handler(request))
    }

    pub(super) fn answer(&self, request: &Request) -> Result<Prepared, Failure> {
        let inner = self.lock();
        let question = inner.question(request);
        if let Some(answer) = inner.answers.get(&question) {
            return Ok(answer.clone());
        }
        let fallback = inner.fallback.clone();
        let unknown = inner.unknown(&question);
        // The handler may ask the server something.
        drop(inner);
        match fallback.and_then(|fallback| fallback(request)) {
            Some(answer) => Ok(answer.into()),
            None => Err(unknown),
        }
    }

    /// What the test said that a method answers.
    pub(super) fn answer_of_method(&self, method: &str) -> Option<Prepared> {
        let question = Question::Method(method.to_owned());
        self.lock().answers.get(&question).cloned()
    }

    pub(super) fn create_session(&self) -> String {
        let mut inner = self.lock();
        inner.sessions_made += 1;
        let session = format!("{}/sessions/fake-{}", self.database, inner.sessions_made);
        inner.sessions.insert(session.clone());
        session
    }

    pub(super) fn has_session(&self, session: &str) -> bool {
        self.lock().sessions.contains(session)
    }

    /// The transaction of a statement or read, as its metadata names it.
    pub(super) fn transaction_of(
        &self,
        selector: Option<&TransactionSelector>,
    ) -> Option<Transaction> {
        match selector?.selector.as_ref()? {
            Selector::Begin(options) => Some(self.begin(options)),
            Selector::SingleUse(options) => {
                let read_timestamp = read_timestamp(options)?;
                Some(Transaction {
                    read_timestamp: Some(read_timestamp),
                    ..Transaction::default()
                })
            }
            Selector::Id(_) => None,
        }
    }

    pub(super) fn begin(&self, options: &TransactionOptions) -> Transaction {
        let mut inner = self.lock();
        inner.transactions_begun += 1;
        let id = Bytes::from(format!("fake-transaction-{}", inner.transactions_begun));
        let writes = matches!(options.mode, Some(Mode::ReadWrite(_)));
        Transaction {
            precommit_token: writes.then(|| inner.writes.begin(id.clone())),
            id,
            read_timestamp: read_timestamp(options),
        }
    }

    pub(super) fn commit(&self, request: &CommitRequest) -> Result<CommitResponse, Failure> {
        self.lock().writes.commit(request)
    }

    pub(super) fn rollback(&self, id: &[u8]) {
        self.lock().writes.rollback(id);
    }

    pub(super) fn next_token(&self, id: &[u8]) -> Option<MultiplexedSessionPrecommitToken> {
        self.lock().writes.next_token(id)
    }

    /// The answer to a statement of a batch.
    pub(super) fn statement(&self, sql: &str) -> Result<Prepared, Failure> {
        let inner = self.lock();
        let question = Question::query(sql);
        let answer = inner.answers.get(&question).cloned();
        answer.ok_or_else(|| inner.unknown(&question))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn question(&self, request: &Request) -> Question {
        if !request.sql().is_empty() {
            return Question::query(request.sql());
        }
        if request.table().is_empty() {
            return Question::Method(request.method().to_owned());
        }
        let table = request.table().to_owned();
        let of_index = Question::IndexRead {
            table: table.clone(),
            index: request.index().to_owned(),
        };
        // An answer for the table is one for its indexes, unless they have one.
        if self.answers.contains_key(&of_index) {
            of_index
        } else {
            Question::Read(table)
        }
    }

    fn unknown(&self, question: &Question) -> Failure {
        let known: Vec<_> = self.answers.keys().map(ToString::to_string).collect();
        let known = if known.is_empty() {
            "nothing".to_owned()
        } else {
            known.join("; ")
        };
        Failure::invalid_argument(format!(
            "the fake server has no answer for {question}; it has answers for {known}"
        ))
    }
}

impl Question {
    /// Statements are told apart by their text, without space around it.
    pub(super) fn query(sql: &str) -> Self {
        Self::Query(sql.trim().to_owned())
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(sql) => write!(f, "the statement {sql:?}"),
            Self::Read(table) => write!(f, "reads of table {table:?}"),
            Self::IndexRead { table, index } => {
                write!(f, "reads of table {table:?} by index {index:?}")
            }
            Self::Method(method) => write!(f, "the method {method}"),
        }
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner")
            .field("answers", &self.answers.keys())
            .field("requests", &self.requests.len())
            .field("sessions", &self.sessions)
            .finish_non_exhaustive()
    }
}

/// The time that was asked for, or one that may be chosen: now.
fn read_timestamp(options: &TransactionOptions) -> Option<prost_types::Timestamp> {
    let Some(Mode::ReadOnly(read_only)) = &options.mode else {
        return None;
    };
    let time = match &read_only.timestamp_bound {
        Some(TimestampBound::ReadTimestamp(time)) => *time,
        Some(TimestampBound::ExactStaleness(staleness)) => {
            let staleness = Duration::try_from(*staleness).unwrap_or_default();
            let then = SystemTime::now().checked_sub(staleness);
            then.map_or_else(now, Into::into)
        }
        _ => now(),
    };
    read_only.return_read_timestamp.then_some(time)
}

pub(super) fn now() -> prost_types::Timestamp {
    SystemTime::now().into()
}
