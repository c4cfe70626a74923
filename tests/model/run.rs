//! Plays a case and compares what came out with what has to.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use spanner_rows::{Client, ErrorKind, Row};

use crate::reader::{self, Ended, Outcome};
use crate::reference::{End, Prediction, predict, read_at};
use crate::rows::{Borrowed, BoxFuture, Mixed, Owned};
use crate::scenario::{Break, Limits, Metadata, Plan, RowKind, Scenario};
use crate::server::{Asked, Server};

/// Far longer than any case takes: a stream that hangs is told.
const LIMIT: Duration = Duration::from_secs(30);

/// Plays it; says what is wrong.
pub(crate) fn run(scenario: &Scenario) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (outcomes, asked) = runtime.block_on(async {
        let server = Server::start(scenario).await;
        let client = Client::builder(server.fake.database()).endpoint(server.fake.endpoint());
        let client = client.retry(scenario.limits.settings()).connect().await;
        let client = client.map_err(|error| format!("no connection: {error}"))?;
        let all = read_all(&client, &scenario.streams);
        let all = tokio::time::timeout(LIMIT, all).await;
        let outcomes = all.map_err(|_| format!("not at its end after {LIMIT:?}"))?;
        Ok::<_, String>((outcomes, server.asked()))
    })?;
    for (i, outcome) in outcomes.iter().enumerate() {
        let checked = check(scenario, &scenario.streams[i], outcome, &asked[i]);
        checked.map_err(|what| {
            let ended = &outcome.ended;
            let tokens: Vec<_> = asked[i].iter().map(|asked| &asked.token).collect();
            let rows = outcome.rows.len();
            format!("stream {i}: {what} ({rows} rows, then {ended:?}; asked with {tokens:?})")
        })?;
    }
    Ok(())
}

/// Reads all streams at the same time.
async fn read_all(client: &Client, plans: &[Plan]) -> Vec<Outcome> {
    let plans = plans.iter().enumerate();
    let mut running: Vec<_> = plans
        .map(|(i, plan)| (Some(read_one(client, i, plan)), None))
        .collect();
    poll_fn(|cx| {
        for (future, outcome) in &mut running {
            if let Some(Poll::Ready(ready)) = future.as_mut().map(|future| future.as_mut().poll(cx))
            {
                *future = None;
                *outcome = Some(ready);
            }
        }
        match running.iter().all(|(future, _)| future.is_none()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    running
        .into_iter()
        .filter_map(|(_, outcome)| outcome)
        .collect()
}

fn read_one<'a>(client: &'a Client, i: usize, plan: &'a Plan) -> BoxFuture<'a, Outcome> {
    match plan.row {
        RowKind::Borrowed => Box::pin(reader::read::<Borrowed<'static>>(client, i, plan)),
        RowKind::Owned => Box::pin(reader::read::<Owned>(client, i, plan)),
        RowKind::Mixed => Box::pin(reader::read::<Mixed<'static>>(client, i, plan)),
        RowKind::Dynamic => Box::pin(reader::read::<Row<'static>>(client, i, plan)),
    }
}

fn check(
    scenario: &Scenario,
    plan: &Plan,
    outcome: &Outcome,
    asked: &[Asked],
) -> Result<(), String> {
    let expected = plan.rows();
    if outcome.rows.len() > expected.len() {
        return Err(format!("there are only {} rows", expected.len()));
    }
    for (i, (seen, expected)) in outcome.rows.iter().zip(&expected).enumerate() {
        if seen != &expected[..outcome.width] {
            return Err(format!("row {i} is {seen:?}, not {expected:?}"));
        }
    }
    if outcome.at_end.as_ref().is_some_and(|end| end.revived) {
        return Err("something came behind the end".to_owned());
    }
    let disturbed = scenario.is_disturbed();
    check_requests(plan, asked, disturbed)?;

    // What others break, and calls that the server never saw, are not foretold.
    if disturbed && (scenario.streams.len() > 1 || scenario.limits.max_attempts.is_some()) {
        return check_loosely(&scenario.limits, plan, outcome);
    }
    let prediction = predict(plan, &scenario.limits);
    check_exactly(&prediction, outcome, asked, disturbed)?;
    check_end(plan, &prediction, outcome)
}

/// The same request each time, but for the token and the attempt.
fn check_requests(plan: &Plan, asked: &[Asked], disturbed: bool) -> Result<(), String> {
    let Some(first) = asked.first() else {
        return if disturbed {
            Ok(())
        } else {
            Err("nothing was asked".to_owned())
        };
    };
    let mut before: Option<&Asked> = None;
    for (i, request) in asked.iter().enumerate() {
        let attempt = request.id.1;
        let attempt_is_right = match before {
            _ if !disturbed => attempt as usize == i + 1,
            None => true,
            Some(before) => attempt > before.id.1,
        };
        if request.id.0 != first.id.0 || !attempt_is_right {
            return Err(format!("request {i} has the id {:?}", request.id));
        }
        if request.rest != first.rest {
            return Err(format!("request {i} is another one"));
        }
        let position = |token: &str| match token {
            "" => Ok(0),
            token => match plan.position(token) {
                Some((_, at)) => Ok(at),
                None => Err(format!(
                    "request {i} has the token {token}, which was never sent"
                )),
            },
        };
        let before_it = before.map_or(Ok(0), |before| position(&before.token))?;
        if position(&request.token)? < before_it {
            return Err(format!("request {i} goes back"));
        }
        before = Some(request);
    }
    Ok(())
}

fn check_loosely(limits: &Limits, plan: &Plan, outcome: &Outcome) -> Result<(), String> {
    let ends = |end: fn(&Break) -> bool| plan.attempts.iter().any(|attempt| end(&attempt.end));
    match &outcome.ended {
        Ended::Complete => {
            let all = plan.rows().len();
            if outcome.rows.len() < all && !ends(|end| *end == Break::Ok) {
                return Err(format!("of {all} rows some are missing"));
            }
        }
        Ended::Failed(_) => {
            let changes =
                |attempt: &crate::scenario::Attempt| attempt.metadata == Metadata::Changed;
            let has_reason = *limits != Limits::default()
                || ends(|end| matches!(end, Break::Ok | Break::Fatal(_)))
                || plan.attempts.iter().any(changes);
            if !has_reason {
                return Err("an error without a reason".to_owned());
            }
        }
        Ended::Stopped => {}
    }
    Ok(())
}

fn check_exactly(
    prediction: &Prediction,
    outcome: &Outcome,
    asked: &[Asked],
    disturbed: bool,
) -> Result<(), String> {
    let stopped = matches!(outcome.ended, Ended::Stopped);
    let tokens: Vec<_> = asked.iter().map(|asked| asked.token.as_str()).collect();
    let expected = &prediction.tokens;
    let right = match tokens.len().cmp(&expected.len()) {
        std::cmp::Ordering::Greater => false,
        std::cmp::Ordering::Less if !stopped => false,
        _ => tokens == expected[..tokens.len()],
    };
    if !right {
        return Err(format!("it had to ask with {expected:?}"));
    }
    let rows = prediction.rows;
    let may_miss = stopped || outcome.lossy;
    if outcome.rows.len() > rows || (outcome.rows.len() < rows && !may_miss) {
        return Err(format!("it had to give {rows} rows"));
    }
    let right = match (&outcome.ended, prediction.end) {
        (Ended::Stopped, _) | (Ended::Complete, End::Complete) => true,
        (Ended::Failed(error), End::Protocol) => matches!(error.kind(), ErrorKind::Protocol(_)),
        (Ended::Failed(error), End::Status { code, attempts }) => match error.kind() {
            ErrorKind::Status {
                status,
                attempts: made,
            } => status.code() == code && (*made == attempts || (disturbed && *made > attempts)),
            _ => false,
        },
        _ => false,
    };
    if right {
        Ok(())
    } else {
        Err(format!("it had to end with {:?}", prediction.end))
    }
}

/// What a stream says of itself at its end.
fn check_end(plan: &Plan, prediction: &Prediction, outcome: &Outcome) -> Result<(), String> {
    let (Some(at_end), Ended::Complete) = (&outcome.at_end, &outcome.ended) else {
        return Ok(());
    };
    let read_at = prediction.read_in.map(read_at);
    if at_end.read_timestamp != read_at {
        return Err(format!(
            "read at {:?}, not {read_at:?}",
            at_end.read_timestamp
        ));
    }
    let at_once = plan.attempts.iter().any(|attempt| attempt.end == Break::Ok);
    let mut sends_stats = plan
        .versions
        .iter()
        .map(|parts| parts.iter().any(|part| part.stats));
    let expected = sends_stats.next();
    let settled = !at_once && sends_stats.all(|stats| Some(stats) == expected);
    if settled && expected != Some(at_end.stats) {
        return Err(format!("statistics: {}", at_end.stats));
    }
    Ok(())
}
