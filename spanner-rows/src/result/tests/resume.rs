//! Breaks: whatever breaks, rows come once and in order, or the error comes.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use super::support::{Dice, Driver, Row, next_message};
use crate::error::{Code, Status};
use crate::result::reader::ResultReader;
use crate::result::retry::RetrySettings;
use crate::wire::samples::{Sample, SampleMessage, strategy};

/// A server that can start again behind every token it gave, and cuts what is left
/// of the result anew each time.
struct Server {
    columns: usize,
    rows: usize,
    /// The values behind each token; the first may be the rest of one.
    tokens: HashMap<Vec<u8>, VecDeque<Sample>>,
    left: VecDeque<Sample>,
    /// The last token of the current attempt.
    token: Vec<u8>,
    given: u32,
    first: bool,
}

impl Server {
    fn new(columns: usize, rows: &[Row]) -> Self {
        let left: VecDeque<_> = rows.iter().flatten().cloned().collect();
        Self {
            columns,
            rows: rows.len(),
            tokens: HashMap::from([(Vec::new(), left.clone())]),
            left,
            token: Vec::new(),
            given: 0,
            first: true,
        }
    }

    fn open(&mut self, token: &[u8]) {
        self.left = self.tokens[token].clone();
        self.token = token.to_vec();
        self.first = true;
    }

    fn message(&mut self, dice: &mut Dice) -> SampleMessage {
        let mut message = next_message(&mut self.left, dice);
        if std::mem::take(&mut self.first) && (self.token.is_empty() || dice.once_in(2)) {
            message = message.columns(&strategy::columns(self.columns));
        }
        match dice.roll(6) {
            4 => {
                self.given += 1;
                self.token = self.given.to_be_bytes().to_vec();
                self.tokens.insert(self.token.clone(), self.left.clone());
                message.token = self.token.clone();
            }
            // The same again: still stands for where it was first given.
            5 => message.token = self.token.clone(),
            _ => {}
        }
        message.last = self.left.is_empty() && dice.once_in(4);
        message
    }

    /// How many rows are complete behind `token`.
    fn rows_at(&self, token: &[u8]) -> usize {
        let left = self.tokens[token].len();
        self.rows - left.div_ceil(self.columns)
    }
}

fn retryable(dice: &mut Dice) -> Status {
    let broken = || Arc::new(std::io::Error::other("connection reset"));
    match dice.roll(8) {
        0 => Status::new(Code::Unavailable, "try again"),
        1 => Status::new(Code::Internal, "stream terminated by RST_STREAM"),
        2 => Status::new(
            Code::Internal,
            "Received unexpected EOS on DATA frame from server",
        ),
        3 => Status::new(Code::Unknown, "missing grpc-status trailer"),
        4 => Status::new(Code::Internal, "Unexpected EOF decoding stream."),
        5 => Status::new(Code::ResourceExhausted, "slow down")
            .with_retry_delay(Some(Duration::from_millis(1))),
        6 => Status::new(Code::Unknown, "h2 protocol error").with_transport(broken()),
        _ => Status::new(Code::Internal, "HTTP/2 error code: INTERNAL_ERROR"),
    }
}

/// Plays the result until it is over; `break_in` and `fatal_in` are how often it
/// breaks. Answers the driver and whether an error was fatal by itself.
fn play(
    server: &mut Server,
    settings: RetrySettings,
    dice: &mut Dice,
    break_in: usize,
    fatal_in: usize,
) -> (Driver, bool) {
    let mut driver = Driver::new(ResultReader::new(settings));
    let mut opened = 0;
    'attempt: loop {
        opened += 1;
        if dice.once_in(break_in) {
            match driver.fail(retryable(dice)) {
                Some(token) => {
                    server.open(&token);
                    continue;
                }
                None => return (driver, false),
            }
        }
        for sent in 0.. {
            if sent > 60 || opened > 60 {
                let rest = SampleMessage::of(server.left.drain(..));
                let first = std::mem::take(&mut server.first);
                let rest = match first {
                    true => rest.columns(&strategy::columns(server.columns)),
                    false => rest,
                };
                driver.receive(&rest);
            } else {
                driver.receive(&server.message(dice));
            }
            if dice.once_in(fatal_in) {
                assert_eq!(driver.fail(Status::new(Code::Internal, "Generic.")), None);
                return (driver, true);
            }
            if dice.once_in(break_in) {
                match driver.fail(retryable(dice)) {
                    Some(token) => {
                        server.open(&token);
                        continue 'attempt;
                    }
                    None => return (driver, false),
                }
            }
            if server.left.is_empty() {
                driver.end();
                return (driver, false);
            }
        }
    }
}

fn table() -> impl Strategy<Value = (usize, Vec<Row>)> {
    (1usize..4).prop_flat_map(|columns| {
        let rows = vec(vec(strategy::value(), columns), 0..6);
        (Just(columns), rows)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(768) })]

    /// Every break is repaired: the rows are those of a stream that never broke.
    #[test]
    fn breaks_do_not_show(
        (columns, rows) in table(),
        dice in vec(any::<u16>(), 0..400),
        break_in in 2usize..8,
    ) {
        let mut server = Server::new(columns, &rows);
        let settings = RetrySettings::new().give_up_after(Duration::MAX);
        let (driver, _) = play(&mut server, settings, &mut Dice::new(dice), break_in, usize::MAX);
        prop_assert!(driver.error.is_none(), "{:?}", driver.error);
        prop_assert_eq!(driver.rows, rows);
    }

    /// With little room to hold messages back, a break may be final; but what was
    /// handed out before it are the first rows, each once.
    #[test]
    fn rows_are_never_repeated_nor_left_out(
        (columns, rows) in table(),
        dice in vec(any::<u16>(), 0..400),
        break_in in 2usize..8,
        hold_messages in 0usize..4,
        hold_bytes in prop_oneof![Just(usize::MAX), 0usize..3_000],
    ) {
        let mut server = Server::new(columns, &rows);
        let settings = RetrySettings::new()
            .give_up_after(Duration::MAX)
            .hold_messages(hold_messages)
            .hold_bytes(hold_bytes);
        let (driver, _) = play(&mut server, settings, &mut Dice::new(dice), break_in, usize::MAX);
        match driver.error {
            None => prop_assert_eq!(driver.rows, rows),
            Some(_) => prop_assert!(rows.starts_with(&driver.rows), "{:?}", driver.rows),
        }
    }

    /// An error that no retry repairs comes behind the rows that a token covers, and
    /// no others.
    #[test]
    fn a_final_error_comes_behind_what_is_covered(
        (columns, rows) in table(),
        dice in vec(any::<u16>(), 0..400),
    ) {
        let mut server = Server::new(columns, &rows);
        let settings = RetrySettings::new().give_up_after(Duration::MAX);
        let (driver, fatal) = play(&mut server, settings, &mut Dice::new(dice), 5, 5);
        match driver.error {
            None => prop_assert_eq!(driver.rows, rows),
            Some(error) => {
                prop_assert!(fatal);
                prop_assert_eq!(error.code(), Code::Internal);
                let covered = server.rows_at(&server.token);
                prop_assert_eq!(&driver.rows[..], &rows[..covered]);
            }
        }
    }
}
