//! Cases at random, in the way that proptest can make smaller.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use spanner_rows::{Code, OwnedValue};

use crate::reference::{Assembly, Row};
use crate::scenario::{
    Action, Attempt, Break, Call, Limits, Metadata, Part, Plan, RowKind, Scenario, TEXTS, What,
};

pub(crate) fn scenarios() -> impl Strategy<Value = Scenario> {
    let streams = prop_oneof![
        3 => vec(plan(), 1),
        1 => vec(plan(), 2..4),
    ];
    let delays = prop_oneof![4 => Just(Vec::new()), 1 => vec(0_u64..3, 0..4)];
    (limits(), delays, streams).prop_map(|(mut limits, delays, streams)| {
        let mut scenario = Scenario {
            limits: Limits::default(),
            delays,
            streams,
        };
        if scenario.is_disturbed() {
            // The count of attempts would be anybody's guess.
            limits.max_attempts = None;
        }
        scenario.limits = limits;
        scenario
    })
}

fn limits() -> impl Strategy<Value = Limits> {
    prop_oneof![
        6 => Just(Limits::default()),
        2 => (0_usize..5).prop_map(|n| Limits { hold_messages: Some(n), ..Limits::default() }),
        2 => prop_oneof![Just(0), Just(1 << 30)]
            .prop_map(|n| Limits { hold_bytes: Some(n), ..Limits::default() }),
        1 => (1_u32..5).prop_map(|n| Limits { max_attempts: Some(n), ..Limits::default() }),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let rows = [
        RowKind::Borrowed,
        RowKind::Owned,
        RowKind::Mixed,
        RowKind::Dynamic,
    ];
    (
        select(vec![Call::Query, Call::Query, Call::Read]),
        select(rows.to_vec()),
        vec(row(), 0..7),
        (cuts(), cuts()),
        (any::<bool>(), any::<bool>()),
        vec(attempt(), 0..7),
        vec(action(), 0..8),
    )
        .prop_map(|(call, row, rows, cuts, (stats, last), attempts, reader)| {
            let reversed: Vec<Row> = rows
                .iter()
                .map(|row| row.iter().rev().cloned().collect())
                .collect();
            let mut versions = vec![cut(&rows, &cuts.0, 'a')];
            if attempts.iter().any(|attempt| attempt.version > 0) {
                versions.push(cut(&reversed, &cuts.1, 'b'));
            }
            for parts in &mut versions {
                let end = parts.last_mut().expect("a message at least");
                (end.stats, end.last) = (stats, last);
            }
            Plan {
                call,
                row,
                versions,
                attempts,
                reader,
            }
        })
}

fn row() -> impl Strategy<Value = Row> {
    let element = || nullable(text(12));
    let pair =
        (nullable(integer()), nullable(text(12))).prop_map(|(k, v)| OwnedValue::List(vec![k, v]));
    (
        integer(),
        nullable(prop_oneof![12 => text(20).boxed(), 1 => long_text().boxed()]),
        nullable(any::<bool>().prop_map(OwnedValue::Bool)),
        nullable(float()),
        nullable(bytes()),
        nullable(vec(element(), 0..5).prop_map(OwnedValue::List)),
        nullable(vec(nullable(pair), 0..4).prop_map(OwnedValue::List)),
    )
        .prop_map(|(n, text, flag, x, data, list, pairs)| vec![n, text, flag, x, data, list, pairs])
}

fn nullable(value: impl Strategy<Value = OwnedValue>) -> impl Strategy<Value = OwnedValue> {
    option::weighted(0.85, value).prop_map(|value| value.unwrap_or(OwnedValue::Null))
}

fn integer() -> impl Strategy<Value = OwnedValue> {
    prop_oneof![0_i64..100, any::<i64>()].prop_map(|n| OwnedValue::String(n.to_string()))
}

fn float() -> impl Strategy<Value = OwnedValue> {
    let special = ["NaN", "Infinity", "-Infinity"].map(str::to_owned).to_vec();
    prop_oneof![
        3 => (-1000_i32..1000).prop_map(|n| OwnedValue::Number(f64::from(n) / 8.0)),
        1 => select(special).prop_map(OwnedValue::String),
    ]
}

fn text(len: usize) -> impl Strategy<Value = OwnedValue> {
    let letters = select(vec!['a', 'b', '"', ' ', '\0', 'ż', '€', '🎷']);
    vec(letters, 0..len).prop_map(|letters| OwnedValue::String(letters.into_iter().collect()))
}

/// Longer than messages that are copied, and than a frame.
fn long_text() -> impl Strategy<Value = OwnedValue> {
    let unit = select(vec!["x", "aż", "🎷€"]);
    (unit, prop_oneof![3000_usize..6000, 60_000_usize..90_000])
        .prop_map(|(unit, chars)| OwnedValue::String(unit.chars().cycle().take(chars).collect()))
}

fn bytes() -> impl Strategy<Value = OwnedValue> {
    use base64::Engine as _;
    let encode = |bytes| base64::engine::general_purpose::STANDARD.encode::<Vec<u8>>(bytes);
    vec(any::<u8>(), 0..12).prop_map(move |bytes| OwnedValue::String(encode(bytes)))
}

fn attempt() -> impl Strategy<Value = Attempt> {
    let after = prop_oneof![2 => Just(0), 6 => 0_usize..6, 2 => 0_usize..40];
    let inside = prop_oneof![3 => Just(0_usize), 1 => 1_usize..40];
    let metadata = prop_oneof![
        6 => Just(Metadata::Nothing),
        4 => Just(Metadata::Again),
        1 => Just(Metadata::Changed),
    ];
    let version = prop_oneof![3 => Just(0_usize), 1 => Just(1)];
    let switches = (any::<bool>(), prop::bool::weighted(0.25));
    (after, inside, switches, version, metadata, end()).prop_map(
        |(after, inside, (headers, split), version, metadata, end)| Attempt {
            after,
            inside,
            headers,
            version,
            split,
            metadata,
            end,
        },
    )
}

fn end() -> impl Strategy<Value = Break> {
    let codes = (1..17).map(Code::from_number);
    let codes: Vec<_> = codes.filter(|code| *code != Code::Unavailable).collect();
    prop_oneof![
        8 => Just(Break::Unavailable),
        1 => (1_u64..3).prop_map(Break::UnavailableDelay),
        1 => (1_u64..3).prop_map(Break::Exhausted),
        1 => (1_u64..3).prop_map(Break::ExhaustedTrailer),
        2 => (0..TEXTS.len()).prop_map(Break::Internal),
        6 => select(vec![0, 1, 2, 3, 7, 8, 11]).prop_map(Break::Reset),
        3 => Just(Break::NoStatus),
        2 => Just(Break::Disconnect),
        1 => Just(Break::GoAwayDisconnect),
        1 => Just(Break::GoAway),
        2 => select(codes).prop_map(Break::Fatal),
        1 => Just(Break::Ok),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let polls = || prop_oneof![2 => Just(None), 3 => (1_usize..5).prop_map(Some)];
    let repeated = [
        What::Next,
        What::Next,
        What::Batch,
        What::ForEach,
        What::Extend,
        What::Only,
    ];
    let action = |what, times, polls| Action { what, times, polls };
    prop_oneof![
        20 => (select(repeated.to_vec()), 1_usize..9, polls())
            .prop_map(move |(what, times, polls)| action(what, times, polls)),
        3 => (0_u64..4).prop_map(move |ms| action(What::Pause(ms), 1, None)),
        1 => Just(action(What::Collect, 1, None)),
        1 => Just(action(What::Stream, 1, None)),
        1 => Just(action(What::Stop, 1, None)),
    ]
}

/// Numbers that say where to cut and which token to give; taken in turn, and
/// all zeros when there are no more.
fn cuts() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..60)
}

/// Cuts rows into messages.
fn cut(rows: &[Row], cuts: &[u8], version: char) -> Vec<Part> {
    let mut cutter = Cutter {
        cuts: cuts.iter(),
        version,
        tokens: 0,
        parts: Vec::new(),
        values: Vec::new(),
    };
    for value in rows.iter().flatten() {
        if cutter.one_in(3) {
            cutter.end_message(false);
        }
        let pieces = cutter.pieces(value);
        let last = pieces.len() - 1;
        for (i, piece) in pieces.into_iter().enumerate() {
            cutter.values.push(piece);
            if i < last {
                cutter.end_message(true);
            }
        }
    }
    cutter.end_message(false);
    assert_eq!(
        Assembly::of(&cutter.parts).rows,
        rows,
        "the cutter is wrong"
    );
    cutter.parts
}

struct Cutter<'c> {
    cuts: std::slice::Iter<'c, u8>,
    version: char,
    tokens: usize,
    parts: Vec<Part>,
    values: Vec<OwnedValue>,
}

impl Cutter<'_> {
    fn number(&mut self) -> usize {
        self.cuts.next().copied().unwrap_or_default().into()
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.number() % n == n - 1
    }

    fn end_message(&mut self, chunked: bool) {
        let part = Part {
            values: std::mem::take(&mut self.values),
            chunked,
            token: self.token(),
            pause: u64::from(self.one_in(20)),
            ..Part::default()
        };
        self.parts.push(part);
        if self.one_in(8) {
            // Without values `chunked_value` means nothing.
            let part = Part {
                token: self.token(),
                chunked: self.one_in(2),
                ..Part::default()
            };
            self.parts.push(part);
        }
    }

    /// None, a new one, or the one before once more.
    fn token(&mut self) -> String {
        match self.number() % 8 {
            1..=3 => {
                self.tokens += 1;
                format!("{}{}", self.version, self.tokens)
            }
            4 | 5 if self.tokens > 0 => format!("{}{}", self.version, self.tokens),
            _ => String::new(),
        }
    }

    /// The value in one or several pieces.
    fn pieces(&mut self, value: &OwnedValue) -> Vec<OwnedValue> {
        if !self.one_in(3) {
            return vec![value.clone()];
        }
        match value {
            OwnedValue::String(text) => self.text_pieces(text),
            OwnedValue::List(elements) => self.list_pieces(elements),
            whole => vec![whole.clone()],
        }
    }

    fn text_pieces(&mut self, text: &str) -> Vec<OwnedValue> {
        let mut ends: Vec<usize> = (0..1 + self.number() % 3)
            .map(|_| self.number() * (text.len() + 1) / 256)
            .collect();
        ends.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for mut end in ends {
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let end = end.max(start);
            pieces.push(OwnedValue::String(text[start..end].to_owned()));
            start = end;
        }
        pieces.push(OwnedValue::String(text[start..].to_owned()));
        pieces
    }

    fn list_pieces(&mut self, elements: &[OwnedValue]) -> Vec<OwnedValue> {
        let mut pieces = Vec::new();
        let mut piece = Vec::new();
        for (i, element) in elements.iter().enumerate() {
            let inside = self.pieces(element);
            let last = inside.len() - 1;
            for (j, part) in inside.into_iter().enumerate() {
                piece.push(part);
                if j < last {
                    pieces.push(OwnedValue::List(std::mem::take(&mut piece)));
                }
            }
            if i + 1 < elements.len() && self.one_in(4) {
                pieces.push(OwnedValue::List(std::mem::take(&mut piece)));
                // What goes on is joined with the element before: with nothing. Where
                // the two cannot be joined, nothing need come between them.
                let next = elements.get(i + 1);
                match element {
                    OwnedValue::String(_)
                        if matches!(next, Some(OwnedValue::String(_))) || self.one_in(2) =>
                    {
                        piece.push(OwnedValue::String(String::new()));
                    }
                    OwnedValue::List(_)
                        if matches!(next, Some(OwnedValue::List(_))) || self.one_in(2) =>
                    {
                        piece.push(OwnedValue::List(Vec::new()));
                    }
                    _ => {}
                }
            }
        }
        pieces.push(OwnedValue::List(piece));
        if self.one_in(6) {
            pieces.insert(0, OwnedValue::List(Vec::new()));
        }
        pieces
    }
}
