//! A Spanner server in process, for tests.
//!
//! | file | what it does |
//! |---|---|
//! | `server`, `io` | connections: accept, serve, break |
//! | `service`, `unary`, `state`, `writes` | from a request to its answer |
//! | `answer`, `step`, `message`, `failure` | what a test writes as an answer |
//! | `rows`, `to_row`, `cutter`, `prepared` | answers made of rows: encoded, cut, ready to be sent |
//! | `body` | plays an answer |
//! | `partition` | parts of such answers |
//! | `request`, `request_options`, `request_write` | what a test asks about requests |

mod answer;
mod body;
mod convert;
mod cutter;
mod failure;
mod io;
mod message;
mod partition;
mod prepared;
mod request;
mod request_options;
mod request_write;
mod rows;
mod server;
mod service;
mod state;
mod step;
mod to_row;
mod unary;
mod writes;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;

pub use self::answer::Answer;
pub use self::cutter::Cut;
pub use self::failure::Failure;
pub use self::message::Message;
pub use self::request::{Request, RequestKeyRange, RequestTransaction};
pub use self::request_write::RequestMutation;
pub use self::rows::Rows;
pub use self::step::{Gate, Step};
pub use self::to_row::{RowWriter, ToRow};

use self::answer::Prepared;
use self::partition::Part;
use self::state::{Question, State};

/// The only database of the server.
const DATABASE: &str = "projects/fake/instances/fake/databases/fake";

/// A Spanner server in process that answers with what the test gave it.
///
/// It speaks the real protocol over a loopback port, so a client is pointed at it and nothing else changes. It runs no SQL and keeps no data: a statement
/// is known by its text, a read by its table. It stops when it is dropped.
///
/// Read-write transactions begin, commit and roll back as those of the service on a multiplexed session: they have precommit tokens, without which no
/// commit succeeds, and a commit that comes again gets the same answer. What went wrong in between is said by [`before_next`](Self::before_next), for
/// instance ABORTED; what was to be written is seen in [`requests`](Self::requests).
///
/// ```
/// use spanner_rows::testing::{FakeSpanner, Rows};
///
/// # async fn example() {
/// let fake = FakeSpanner::start().await;
/// fake.on_query(
///     "SELECT SingerId, FirstName FROM Singers",
///     Rows::new(["SingerId", "FirstName"], [(1_i64, "Marc"), (2, "Catalina")]),
/// );
///
/// // … point a client at fake.endpoint() and fake.database(), run the query, and then:
/// for request in fake.requests() {
///     println!("{} {}", request.method(), request.sql());
/// }
/// # }
/// ```
///
/// What happens within an answer (messages, tokens, failures, delays, broken connections) is said by [`Rows`] and [`Step`].
#[derive(Debug)]
pub struct FakeSpanner {
    address: SocketAddr,
    state: Arc<State>,
    /// Connections end when it is dropped.
    _running: watch::Sender<()>,
}

impl FakeSpanner {
    /// Starts a server on a free port of 127.0.0.1. It runs on the current tokio runtime.
    ///
    /// # Panics
    ///
    /// If no port can be opened.
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a free port on 127.0.0.1 for the fake Spanner");
        let address = listener.local_addr().expect("the address of a listener");
        let state = Arc::new(State::new(DATABASE.to_owned()));
        let (running, stop) = watch::channel(());
        tokio::spawn(server::serve(listener, Arc::clone(&state), stop));
        Self {
            address,
            state,
            _running: running,
        }
    }

    /// Where it listens, as `http://127.0.0.1:port`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it listens, as `127.0.0.1:port`: the form of SPANNER_EMULATOR_HOST.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The name of its database, as `projects/…/instances/…/databases/…`.
    #[must_use]
    pub fn database(&self) -> &str {
        self.state.database()
    }

    /// Answers a statement. Its text has to be the same, but for space before and after; parameters do not matter.
    ///
    /// A second answer for the same statement replaces the first, and its calls are counted from 1 again.
    pub fn on_query(&self, sql: &str, answer: impl Into<Answer>) {
        self.set_answer(Question::query(sql), answer.into());
    }

    /// Answers reads of a table, by primary key and by index.
    ///
    /// Rows are sent with the columns that the read asks for, and not more than its limit. Its keys do not matter: where they should, use
    /// [`on_any`](Self::on_any).
    pub fn on_read(&self, table: &str, answer: impl Into<Answer>) {
        self.set_answer(Question::Read(table.to_owned()), answer.into());
    }

    /// As [`on_read`](Self::on_read), for reads by one secondary index only.
    pub fn on_index_read(&self, table: &str, index: &str, answer: impl Into<Answer>) {
        let question = Question::IndexRead {
            table: table.to_owned(),
            index: index.to_owned(),
        };
        self.set_answer(question, answer.into());
    }

    /// Answers batch writes with steps (see [`Step::committed`] and [`Step::not_committed`]). Unless this was said, every group is committed.
    ///
    /// ```
    /// # use spanner_rows::testing::{Answer, FakeSpanner, Failure, Step};
    /// # fn example(fake: &FakeSpanner) {
    /// let exists = Failure::already_exists("Row [1] in table Singers already exists");
    /// fake.on_batch_write([Step::committed([0, 2]), Step::not_committed([1], exists)]);
    /// # }
    /// ```
    pub fn on_batch_write(&self, answer: impl Into<Answer>) {
        self.set_answer(Question::Method("BatchWrite".to_owned()), answer.into());
    }

    /// Answers statements and reads for which nothing else was said, by looking at the request.
    ///
    /// A second handler replaces the first. If the handler answers `None`, as if there is none, the call fails with INVALID_ARGUMENT and a text that says
    /// what was asked and what is known.
    ///
    /// ```
    /// # use spanner_rows::testing::{Answer, FakeSpanner, Rows};
    /// # fn example(fake: &FakeSpanner) {
    /// fake.on_any(|request| {
    ///     let id = request.param("id")?;
    ///     let rows = Rows::of_values([("id", request.param_type("id")?)], [[id]]);
    ///     Some(rows.into())
    /// });
    /// # }
    /// ```
    pub fn on_any(&self, handler: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static) {
        self.state.set_fallback(Arc::new(handler));
    }

    /// Does these steps before the next call of a method, for instance `CreateSession` or `StreamingRead`, is answered.
    ///
    /// A step that is an answer or a failure takes the place of the answer. Called several times, each call is for one call of the method.
    pub fn before_next(&self, method: &str, steps: impl IntoIterator<Item = Step>) {
        self.state.add_before(method, steps.into_iter().collect());
    }

    /// As [`before_next`](Self::before_next) for every call of any method, by looking at the request, unless that was said for it.
    ///
    /// A second handler replaces the first. Prefer it for servers that fail at random.
    ///
    /// ```
    /// # use spanner_rows::testing::{FakeSpanner, Step};
    /// # fn example(fake: &FakeSpanner) {
    /// // Every commit of this transaction is done, and its answer is lost.
    /// fake.before_each(|request| match request.method() {
    ///     "Commit" if request.transaction_tag() == "transfer" => vec![Step::LoseAnswer],
    ///     _ => vec![],
    /// });
    /// # }
    /// ```
    pub fn before_each(&self, handler: impl Fn(&Request) -> Vec<Step> + Send + Sync + 'static) {
        self.state.set_before_each(Arc::new(handler));
    }

    /// Forgets all sessions, as a server does after some weeks: calls that use one fail with NOT_FOUND.
    pub fn forget_sessions(&self) {
        self.state.forget_sessions();
    }

    /// The requests so far, in the order in which they came.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.state.requests()
    }

    /// As [`requests`](Self::requests), and forgets them.
    pub fn take_requests(&self) -> Vec<Request> {
        self.state.take_requests()
    }

    fn set_answer(&self, question: Question, answer: Answer) {
        let prepared = Prepared::from(answer);
        if let Prepared::Rows(rows) = &prepared {
            // Encoded now, so that the first call is as fast as the others.
            rows.all(Part::ALL);
        }
        self.state.set_answer(question, prepared);
    }
}

#[cfg(test)]
mod tests;
