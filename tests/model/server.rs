//! The server: it knows the plan of each stream, answers each call by its token,
//! and writes down what it was asked.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use googleapis_tonic_google_spanner_v1::google::spanner::v1 as google;
use prost::Message as _;
use spanner_rows::testing::{Answer, Failure, FakeSpanner, Request, Step};

use crate::reference::Sent;
use crate::scenario::{Break, Call, Plan, Scenario};

/// A request for a stream.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) token: String,
    /// The request id without the attempt, and the attempt.
    pub(crate) id: (String, u32),
    /// All else.
    pub(crate) rest: Vec<u8>,
}

type Log = Arc<Mutex<Vec<Vec<Asked>>>>;

pub(crate) struct Server {
    pub(crate) fake: FakeSpanner,
    log: Log,
}

impl Server {
    pub(crate) async fn start(scenario: &Scenario) -> Self {
        let fake = FakeSpanner::start().await;
        let log = Log::new(Mutex::new(vec![Vec::new(); scenario.streams.len()]));
        for delay in &scenario.delays {
            let steps = [Step::Delay(Duration::from_millis(*delay))];
            fake.before_next("ExecuteStreamingSql", steps.clone());
            fake.before_next("StreamingRead", steps);
        }
        let plans = scenario.streams.clone();
        let written = Arc::clone(&log);
        fake.on_any(move |request| {
            let i = stream_of(request)?;
            let mut log = written.lock().unwrap_or_else(PoisonError::into_inner);
            let asked = asked(request)?;
            let token = asked.token.clone();
            let calls = log.get_mut(i)?;
            calls.push(asked);
            Some(answer(plans.get(i)?, calls.len() - 1, &token))
        });
        Self { fake, log }
    }

    /// The requests for each stream.
    pub(crate) fn asked(&self) -> Vec<Vec<Asked>> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.clone()
    }
}

/// How the statement or the table of a stream is called.
pub(crate) fn name(call: Call, stream: usize) -> String {
    match call {
        Call::Query => format!("SELECT * FROM Stream{stream}"),
        Call::Read => format!("Stream{stream}"),
    }
}

fn stream_of(request: &Request) -> Option<usize> {
    let name = match request.table() {
        "" => request.sql(),
        table => table,
    };
    name.rsplit_once("Stream")?.1.parse().ok()
}

/// Reads the request with messages that others generated.
fn asked(request: &Request) -> Option<Asked> {
    let body = request.body().clone();
    let (token, rest) = if request.table().is_empty() {
        let mut message = google::ExecuteSqlRequest::decode(body).ok()?;
        let token = std::mem::take(&mut message.resume_token);
        (token, message.encode_to_vec())
    } else {
        let mut message = google::ReadRequest::decode(body).ok()?;
        let token = std::mem::take(&mut message.resume_token);
        (token, message.encode_to_vec())
    };
    let id = request.header("x-goog-spanner-request-id")?;
    let (id, attempt) = id.rsplit_once('.')?;
    Some(Asked {
        token: String::from_utf8(token.to_vec()).ok()?,
        id: (id.to_owned(), attempt.parse().ok()?),
        rest,
    })
}

/// A stream that asks so often does not get ahead.
const TOO_MANY: usize = 1_000;

fn answer(plan: &Plan, call: usize, token: &str) -> Answer {
    if call > TOO_MANY {
        return Failure::invalid_argument("too many calls").into();
    }
    let Some(sent) = plan.sent(call, token) else {
        return Failure::invalid_argument(format!("no token `{token}` was given out")).into();
    };
    let Some(attempt) = plan.attempts.get(call) else {
        return Answer::script(messages(&sent));
    };
    let mut steps = Vec::new();
    if attempt.headers {
        steps.push(Step::Delay(Duration::ZERO));
    }
    let (before, behind) = sent.split_at(attempt.after.min(sent.len()));
    steps.extend(messages(before));
    if let Some(next) = behind.first()
        && attempt.inside > 0
        && attempt.end != Break::GoAway
    {
        let frame = framed(&next.encoded);
        let part = attempt.inside.min(frame.len() - 1);
        steps.push(Step::Unframed(frame.slice(..part)));
    }
    steps.extend(attempt.end.steps());
    if attempt.end == Break::GoAway {
        steps.extend(messages(behind));
    }
    Answer::script(steps)
}

fn messages(sent: &[Sent]) -> Vec<Step> {
    let mut steps = Vec::new();
    for message in sent {
        if message.pause > 0 {
            steps.push(Step::Delay(Duration::from_millis(message.pause)));
        }
        steps.push(Step::Raw(message.encoded.clone()));
    }
    steps
}

fn framed(message: &[u8]) -> Bytes {
    let mut frame = vec![0];
    frame.extend((message.len() as u32).to_be_bytes());
    frame.extend(message);
    frame.into()
}
