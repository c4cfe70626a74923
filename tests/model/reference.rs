//! What has to come out, worked out in the plainest way: the rules of a result
//! stream once more, without wire bytes, buffers or waiting.

use bytes::Bytes;
use spanner_rows::testing::Message;
use spanner_rows::{Code, OwnedValue, Timestamp};

use crate::scenario::{Break, COLUMNS, Limits, Metadata, Part, Plan, row_type};

pub(crate) type Row = Vec<OwnedValue>;

/// Puts rows together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assembly {
    pub(crate) rows: Vec<Row>,
    partial: Row,
    pending: bool,
}

impl Assembly {
    pub(crate) fn of(parts: &[Part]) -> Self {
        let mut assembly = Self::default();
        for part in parts {
            assembly.take(&part.values, part.chunked);
        }
        assembly
    }

    fn take(&mut self, values: &[OwnedValue], chunked: bool) {
        for (i, value) in values.iter().enumerate() {
            if self.pending {
                let before = self.partial.pop().expect("a value is pending");
                self.partial.push(merge(before, value.clone()));
            } else {
                self.partial.push(value.clone());
            }
            self.pending = chunked && i + 1 == values.len();
            if self.partial.len() == COLUMNS.len() && !self.pending {
                self.rows.push(std::mem::take(&mut self.partial));
            }
        }
    }

    pub(crate) fn is_between_rows(&self) -> bool {
        self.partial.is_empty()
    }
}

fn merge(a: OwnedValue, b: OwnedValue) -> OwnedValue {
    match (a, b) {
        (OwnedValue::String(a), OwnedValue::String(b)) => OwnedValue::String(a + &b),
        (OwnedValue::List(mut a), OwnedValue::List(mut b)) => {
            let joins = matches!(
                (a.last(), b.first()),
                (Some(OwnedValue::String(_)), Some(OwnedValue::String(_)))
                    | (Some(OwnedValue::List(_)), Some(OwnedValue::List(_)))
            );
            if joins {
                let (x, y) = (a.pop().expect("there is one"), b.remove(0));
                a.push(merge(x, y));
            }
            a.extend(b);
            OwnedValue::List(a)
        }
        (a, b) => panic!("a chunked value goes on as another kind: {a:?}, {b:?}"),
    }
}

/// A message as one call sends it.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) encoded: Bytes,
    pub(crate) token: String,
    last: bool,
    pub(crate) pause: u64,
    /// Its columns are not those of the rows before it.
    changes_columns: bool,
    /// Of the result, up to here.
    rows: usize,
    between_rows: bool,
}

impl Plan {
    /// All rows, their columns in the order of [`COLUMNS`].
    pub(crate) fn rows(&self) -> Vec<Row> {
        Assembly::of(&self.versions[0]).rows
    }

    /// What the call of this number (from 0) sends if it does not break; nothing
    /// if no such token was ever given out.
    pub(crate) fn sent(&self, call: usize, token: &str) -> Option<Vec<Sent>> {
        let attempt = self.attempts.get(call);
        let (version, first) = if token.is_empty() {
            let version = attempt.map_or(0, |attempt| attempt.version);
            (version % self.versions.len(), 0)
        } else {
            self.position(token)?
        };
        let parts = &self.versions[version];
        let mut assembly = Assembly::of(&parts[..first]);
        let mut pieces = Vec::new();
        for part in &parts[first..] {
            let half = part.values.len() / 2;
            if half > 0 && attempt.is_some_and(|attempt| attempt.split) {
                pieces.push(Part {
                    values: part.values[..half].to_vec(),
                    ..Part::default()
                });
                pieces.push(Part {
                    values: part.values[half..].to_vec(),
                    ..part.clone()
                });
            } else {
                pieces.push(part.clone());
            }
        }
        let mut metadata = match attempt.map(|attempt| attempt.metadata) {
            _ if token.is_empty() => Some(version),
            None | Some(Metadata::Nothing) => None,
            Some(Metadata::Again) => Some(version),
            Some(Metadata::Changed) => Some(version + 1),
        };
        let sent = pieces.into_iter().map(|part| {
            assembly.take(&part.values, part.chunked);
            let metadata = metadata.take();
            Sent {
                encoded: encode(&part, metadata, call),
                token: part.token,
                last: part.last,
                pause: part.pause,
                changes_columns: metadata.is_some_and(|columns| columns != version),
                rows: assembly.rows.len(),
                between_rows: assembly.is_between_rows(),
            }
        });
        Some(sent.collect())
    }

    /// The version, and the message behind the first one with this token.
    pub(crate) fn position(&self, token: &str) -> Option<(usize, usize)> {
        self.versions.iter().enumerate().find_map(|(i, parts)| {
            let at = parts.iter().position(|part| part.token == token)?;
            Some((i, at + 1))
        })
    }
}

fn encode(part: &Part, metadata: Option<usize>, call: usize) -> Bytes {
    let mut message = Message::new().values(part.values.iter().cloned());
    if let Some(columns) = metadata {
        message = message
            .row_type(&row_type(columns))
            .read_timestamp(read_at(call));
    }
    if part.chunked {
        message = message.chunked();
    }
    if !part.token.is_empty() {
        message = message.resume_token(part.token.clone());
    }
    if part.stats {
        message = message.query_stats([("rows_returned", "some")]);
    }
    if part.last {
        message = message.last();
    }
    message.encode()
}

/// When the call of this number reads.
pub(crate) fn read_at(call: usize) -> Timestamp {
    Timestamp::new(1_000 + call as i64, 0).expect("a time in 1970")
}

/// What a stream must give when nothing but its own plan disturbs it.
#[derive(Debug)]
pub(crate) struct Prediction {
    /// The tokens of its requests.
    pub(crate) tokens: Vec<String>,
    pub(crate) rows: usize,
    pub(crate) end: End,
    /// Which call's time the rows have; nothing if there are none.
    pub(crate) read_in: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Complete,
    Status { code: Code, attempts: u32 },
    Protocol,
}

/// What the client keeps over the calls.
#[derive(Default)]
struct Client {
    token: String,
    held: Vec<Sent>,
    uncovered: bool,
    failures: u32,
    rows: usize,
    between_rows: bool,
    read_in: Option<usize>,
}

pub(crate) fn predict(plan: &Plan, limits: &Limits) -> Prediction {
    let mut client = Client {
        between_rows: true,
        ..Client::default()
    };
    let mut tokens = Vec::new();
    let end = loop {
        let call = tokens.len();
        tokens.push(client.token.clone());
        if let Some(end) = client.call(plan, limits, call) {
            break end;
        }
    };
    Prediction {
        tokens,
        rows: client.rows,
        end,
        read_in: client.read_in,
    }
}

impl Client {
    /// One call; nothing if another one follows.
    fn call(&mut self, plan: &Plan, limits: &Limits, call: usize) -> Option<End> {
        let sent = plan.sent(call, &self.token).expect("a token of the plan");
        let attempt = plan.attempts.get(call);
        let goes_on = attempt.is_none_or(|attempt| attempt.end == Break::GoAway);
        let arrive = match attempt {
            Some(attempt) if !goes_on => attempt.after.min(sent.len()),
            _ => sent.len(),
        };
        for message in &sent[..arrive] {
            if let Some(end) = self.receive(message, limits, call) {
                return Some(end);
            }
        }
        let inside = attempt.is_some_and(|attempt| attempt.inside > 0) && arrive < sent.len();
        match attempt.map(|attempt| attempt.end) {
            None | Some(Break::GoAway) => Some(self.complete(call)),
            Some(Break::Ok) if !inside => Some(self.complete(call)),
            Some(end) => {
                self.held.clear();
                let (code, retry) = end.means();
                self.failures += 1;
                let spent = limits.max_attempts.is_some_and(|max| self.failures >= max);
                let attempts = call as u32 + 1;
                (!retry || self.uncovered || spent).then_some(End::Status { code, attempts })
            }
        }
    }

    fn receive(&mut self, message: &Sent, limits: &Limits, call: usize) -> Option<End> {
        self.held.push(message.clone());
        let progress = !message.token.is_empty() && message.token != self.token;
        if progress {
            self.token.clone_from(&message.token);
            self.uncovered = false;
            self.failures = 0;
        }
        if message.last {
            return Some(self.complete(call));
        }
        if !progress && !self.uncovered {
            let bytes = self.held.iter().map(|held| held.encoded.len()).sum();
            self.uncovered = !limits.may_hold(bytes, self.held.len());
            if !self.uncovered {
                return None;
            }
        }
        self.release(call)
    }

    fn release(&mut self, call: usize) -> Option<End> {
        for message in std::mem::take(&mut self.held) {
            self.read_in.get_or_insert(call);
            if message.changes_columns {
                return Some(End::Protocol);
            }
            self.rows = message.rows;
            self.between_rows = message.between_rows;
        }
        None
    }

    fn complete(&mut self, call: usize) -> End {
        match self.release(call) {
            Some(end) => end,
            // No message, no metadata.
            None if self.read_in.is_none() => End::Protocol,
            None if self.between_rows => End::Complete,
            None => End::Protocol,
        }
    }
}
