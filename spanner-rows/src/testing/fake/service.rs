//! From a request to its answer.

use std::future::pending;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use prost::Message as _;
use tonic::body::Body;
use tonic::codegen::Service;

use super::answer::{Prepared, Script};
use super::body::ScriptBody;
use super::failure::Failure;
use super::io::{Command, Control};
use super::partition::Part;
use super::prepared::{PREFIX_LEN, framed};
use super::request::{Content, Request};
use super::rows::RowsAnswer;
use super::state::State;
use super::step::Step;
use super::unary::Unary;
use crate::QueryMode;
use crate::proto::spanner::ResultSet;
use crate::proto::spanner_server::spanner_server::SpannerServer;
use crate::wire::value::ELEMENT_TAG;
use crate::wire::writer::put_bytes;

/// What the paths of all methods begin with.
const SERVICE: &str = "/google.spanner.v1.Spanner/";

/// Answers one call. An error resets it before its headers.
pub(super) async fn answer(
    state: Arc<State>,
    control: Arc<Control>,
    request: http::Request<Incoming>,
) -> Result<Response<Body>, h2::Error> {
    match try_answer(state, &control, request).await {
        Ok(Reply::Script(script)) => script_response(script, control).await,
        Ok(Reply::Response(response)) => Ok(response.map(|body| counted(body, control))),
        Err(failure) => Ok(failure_response(&failure)),
    }
}

/// The body, with its content counted as that of scripts is: what waits until
/// everything is written compares the two sums.
fn counted(body: Body, control: Arc<Control>) -> Body {
    Body::new(body.map_frame(move |frame| {
        control.queue(frame.data_ref().map_or(0, Bytes::len));
        frame
    }))
}

enum Reply {
    Script(Script),
    Response(Response<Body>),
}

async fn try_answer(
    state: Arc<State>,
    control: &Control,
    request: http::Request<Incoming>,
) -> Result<Reply, Failure> {
    let (parts, body) = request.into_parts();
    let Some(method) = parts.uri.path().strip_prefix(SERVICE) else {
        let path = parts.uri.path();
        return Err(Failure::unimplemented(format!(
            "the fake server knows no {path}"
        )));
    };
    let body = body.collect().await.map_err(|error| {
        Failure::internal(format!("the request for {method} did not arrive: {error}"))
    })?;
    let body = body.to_bytes();
    let message = unframed(&body)?;
    let mut request = Request::decode(method, parts.headers.clone(), message)?;
    request.set_connection(control.connection);

    let before = state.record(&mut request);
    let lost = match play(before, control).await {
        Before::Nothing => false,
        Before::LoseAnswer => true,
        Before::Answer(script) => return Ok(Reply::Script(script)),
    };
    let needs_session = !matches!(
        request.content(),
        Content::CreateSession(_) | Content::Other
    );
    if needs_session && !state.has_session(request.session()) {
        return Err(Failure::session_not_found(request.session()));
    }
    match request.content() {
        Content::Sql(_) | Content::Read(_) | Content::BatchWrite(_) if lost => {
            Ok(Reply::Script(Script::steps([Step::Disconnect].into())))
        }
        Content::Sql(_) | Content::Read(_) => result(&state, &request).map(Reply::Script),
        Content::BatchWrite(batch) => {
            let groups = batch.mutation_groups.len();
            batch_write(&state, &request, groups).map(Reply::Script)
        }
        _ => {
            let request = http::Request::from_parts(parts, Full::new(body));
            let mut server =
                SpannerServer::new(Unary::new(state)).max_decoding_message_size(usize::MAX);
            let Ok(response) = server.call(request).await;
            Ok(match lost {
                true => Reply::Script(Script::steps([Step::Disconnect].into())),
                false => Reply::Response(response),
            })
        }
    }
}

/// What the steps before a call leave of it.
enum Before {
    Nothing,
    /// It is done, and the answer is lost.
    LoseAnswer,
    Answer(Script),
}

/// Does what only takes time; answers the rest of the steps, if there is one
/// that is an answer.
async fn play(steps: Vec<Step>, control: &Control) -> Before {
    let mut steps = steps.into_iter();
    while let Some(step) = steps.next() {
        match step {
            Step::Delay(time) => tokio::time::sleep(time).await,
            Step::Wait(gate) => gate.pass().await,
            Step::GoAway => control.send(Command::GoAway),
            Step::LoseAnswer => return Before::LoseAnswer,
            answer => {
                let rest = std::iter::once(answer).chain(steps);
                return Before::Answer(Script::steps(rest.collect()));
            }
        }
    }
    Before::Nothing
}

/// The result of a statement or a read.
fn result(state: &State, request: &Request) -> Result<Script, Failure> {
    match state.answer(request)? {
        Prepared::Always(steps) => Ok(Script::steps(steps)),
        Prepared::InTurn(scripts) => in_turn(&scripts, request.call()),
        Prepared::Rows(rows) => {
            let transaction = state.transaction_of(request.selector());
            let Some(part) = Part::of_token(request.partition_token()) else {
                return Err(Failure::invalid_argument(
                    "the partition token was never given out",
                ));
            };
            let prepared = match request.content() {
                Content::Read(read) => {
                    rows.columns(&read.table, &read.columns, part, read.limit)?
                }
                _ if request.query_mode() == QueryMode::Plan => rows.none(),
                _ => rows.all(part),
            };
            let Some(first) = prepared.position(request.resume_token()) else {
                return Err(Failure::invalid_argument(
                    "the resume token belongs to another request",
                ));
            };
            if request.method() == "ExecuteSql" {
                let message = ResultSet {
                    metadata: Some(prepared.metadata(transaction)),
                    rows: list_values(&rows),
                    stats: rows.stats(),
                    precommit_token: None,
                };
                let message = framed(&message.encode_to_vec());
                // One message: only what comes before it has a place.
                let before = rows.interruptions(request.call(), 0);
                let before = before.into_iter().filter(|(after, _)| *after == 0);
                let steps = before.map(|(_, step)| step);
                return Ok(Script::steps(
                    steps.chain([Step::Unframed(message)]).collect(),
                ));
            }
            Ok(Script::rows(
                &rows,
                prepared,
                first,
                request.call(),
                transaction,
            ))
        }
    }
}

/// What the test said, or else every group committed.
fn batch_write(state: &State, request: &Request, groups: usize) -> Result<Script, Failure> {
    match state.answer_of_method(request.method()) {
        Some(Prepared::Always(steps)) => Ok(Script::steps(steps)),
        Some(Prepared::InTurn(scripts)) => in_turn(&scripts, request.call()),
        Some(Prepared::Rows(_)) => Err(Failure::invalid_argument(
            "a batch write is answered by steps (`Step::committed`), not by rows",
        )),
        None => {
            let groups = 0..i32::try_from(groups).unwrap_or(i32::MAX);
            let steps = groups.map(|group| Step::committed([group]));
            Ok(Script::steps(steps.map(Step::encoded).collect()))
        }
    }
}

/// The script of one call, counted from 1.
fn in_turn(scripts: &[Arc<[Step]>], call: usize) -> Result<Script, Failure> {
    match call.checked_sub(1).and_then(|index| scripts.get(index)) {
        Some(steps) => Ok(Script::steps(Arc::clone(steps))),
        None => Err(Failure::failed_precondition(format!(
            "the fake server has {} scripts for this call, and this is call {call}",
            scripts.len(),
        ))),
    }
}

/// Each row as a `google.protobuf.ListValue`.
fn list_values(rows: &RowsAnswer) -> Vec<Bytes> {
    rows.whole_rows()
        .map(|row| {
            let mut list = Vec::new();
            for value in row {
                put_bytes(&mut list, ELEMENT_TAG, value);
            }
            list.into()
        })
        .collect()
}

async fn script_response(
    mut script: Script,
    control: Arc<Control>,
) -> Result<Response<Body>, h2::Error> {
    Ok(match script.next() {
        // As servers do when nothing was sent yet.
        Step::Fail(failure) => failure_response(&failure),
        Step::Reset(code) => return Err(h2::Reason::from(code).into()),
        Step::Disconnect | Step::LoseAnswer => {
            Arc::clone(&control).flushed().await;
            control.send(Command::Disconnect);
            pending().await
        }
        first => response(Body::new(ScriptBody::new(first, script, control))),
    })
}

/// A response whose headers are its trailers.
fn failure_response(failure: &Failure) -> Response<Body> {
    let mut response = response(Body::new(Empty::new()));
    response.headers_mut().extend(failure.trailers());
    response
}

fn response(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/grpc"),
    );
    response
}

/// The one message in the body of a request.
fn unframed(body: &Bytes) -> Result<Bytes, Failure> {
    let malformed = || Failure::internal("the request body is not one gRPC message");
    let (prefix, message) = body
        .split_first_chunk::<PREFIX_LEN>()
        .ok_or_else(malformed)?;
    let [compressed, length @ ..] = *prefix;
    if compressed != 0 {
        return Err(Failure::unimplemented(
            "the fake server takes no compressed requests",
        ));
    }
    if u32::from_be_bytes(length) as usize != message.len() {
        return Err(malformed());
    }
    Ok(body.slice(PREFIX_LEN..))
}
