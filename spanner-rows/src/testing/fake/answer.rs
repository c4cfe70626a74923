//! What a statement or a read is answered with.

use std::sync::Arc;

use bytes::Bytes;

use super::failure::Failure;
use super::message::Message;
use super::prepared::PreparedRows;
use super::rows::{Rows, RowsAnswer};
use super::step::Step;
use crate::proto::spanner::Transaction;

/// What a statement or a read is answered with: [`Rows`], one or several scripts of [`Step`]s, or a [`Failure`].
///
/// Rows, a failure and a list of steps can be given wherever an answer is asked for.
#[derive(Clone, Debug)]
pub struct Answer(AnswerKind);

#[derive(Clone, Debug)]
enum AnswerKind {
    Rows(Box<Rows>),
    Always(Vec<Step>),
    InTurn(Vec<Vec<Step>>),
}

impl Answer {
    /// Every call does these steps, whatever token it comes with.
    pub fn script(steps: impl IntoIterator<Item = Step>) -> Self {
        Self(AnswerKind::Always(steps.into_iter().collect()))
    }

    /// The first call does the first script, the second the second, and so on. A call for which there is no script left fails with
    /// FAILED_PRECONDITION.
    pub fn scripts<S: IntoIterator<Item = Step>>(scripts: impl IntoIterator<Item = S>) -> Self {
        let scripts = scripts.into_iter();
        let scripts = scripts.map(|steps| steps.into_iter().collect());
        Self(AnswerKind::InTurn(scripts.collect()))
    }
}

impl From<Rows> for Answer {
    fn from(rows: Rows) -> Self {
        Self(AnswerKind::Rows(Box::new(rows)))
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self::script([Step::Fail(failure)])
    }
}

impl From<Vec<Step>> for Answer {
    fn from(steps: Vec<Step>) -> Self {
        Self::script(steps)
    }
}

impl<const N: usize> From<[Step; N]> for Answer {
    fn from(steps: [Step; N]) -> Self {
        Self::script(steps)
    }
}

impl From<Message> for Answer {
    fn from(message: Message) -> Self {
        Self::script([Step::Message(message)])
    }
}

/// An answer with everything encoded that can be encoded beforehand.
#[derive(Clone, Debug)]
pub(super) enum Prepared {
    Rows(Arc<RowsAnswer>),
    Always(Arc<[Step]>),
    InTurn(Arc<[Arc<[Step]>]>),
}

impl From<Answer> for Prepared {
    fn from(answer: Answer) -> Self {
        match answer.0 {
            AnswerKind::Rows(rows) => Self::Rows(Arc::new(RowsAnswer::new(*rows))),
            AnswerKind::Always(steps) => Self::Always(encoded(steps)),
            AnswerKind::InTurn(scripts) => Self::InTurn(scripts.into_iter().map(encoded).collect()),
        }
    }
}

fn encoded(steps: Vec<Step>) -> Arc<[Step]> {
    steps.into_iter().map(Step::encoded).collect()
}

/// The steps of one call, one after another. Nothing is copied.
#[derive(Debug)]
pub(super) enum Script {
    Steps { steps: Arc<[Step]>, next: usize },
    Rows(Box<RowsScript>),
}

#[derive(Debug)]
pub(super) struct RowsScript {
    rows: Arc<PreparedRows>,
    /// The message to send next.
    next: usize,
    /// For the first message, if it goes out with metadata.
    transaction: Option<Option<Transaction>>,
    /// The second part of the first message.
    rest: Option<Bytes>,
    /// With the number of messages before it, in ascending order.
    interruptions: std::vec::IntoIter<(usize, Step)>,
    upcoming: Option<(usize, Step)>,
}

impl Script {
    pub(super) fn steps(steps: Arc<[Step]>) -> Self {
        Self::Steps { steps, next: 0 }
    }

    /// The rows from the message of this number on, in the call of this number.
    pub(super) fn rows(
        answer: &RowsAnswer,
        rows: Arc<PreparedRows>,
        first: usize,
        call: usize,
        transaction: Option<Transaction>,
    ) -> Self {
        let mut interruptions = answer.interruptions(call, first).into_iter();
        Self::Rows(Box::new(RowsScript {
            transaction: rows.needs_metadata(first).then_some(transaction),
            rows,
            next: first,
            rest: None,
            upcoming: interruptions.next(),
            interruptions,
        }))
    }

    /// The next step; a script that ran out ends with OK.
    pub(super) fn next(&mut self) -> Step {
        match self {
            Self::Steps { steps, next } => {
                let step = steps.get(*next).cloned().unwrap_or(Step::End);
                *next += 1;
                step
            }
            Self::Rows(script) => script.next(),
        }
    }
}

impl RowsScript {
    fn next(&mut self) -> Step {
        if let Some(rest) = self.rest.take() {
            return Step::Unframed(rest);
        }
        if let Some((_, step)) = self.upcoming.take_if(|(after, _)| *after == self.next) {
            self.upcoming = self.interruptions.next();
            return step;
        }
        let index = self.next;
        self.next += 1;
        if let Some(transaction) = self.transaction.take()
            && let Some((head, rest)) = self.rows.frame_with_metadata(index, transaction)
        {
            self.rest = Some(rest);
            return Step::Unframed(head);
        }
        match self.rows.frame(index) {
            Some(frame) => Step::Unframed(frame.clone()),
            None => Step::End,
        }
    }
}
