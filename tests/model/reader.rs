//! The reader: does what the plan says, and tells what it saw.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use spanner_rows::{Client, Error, ErrorKind, RowStream, Timestamp};

use crate::reference::Row;
use crate::rows::ModelRow;
use crate::scenario::{Action, COLUMNS, Call, Plan, What};
use crate::server;

/// What a reader saw.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) rows: Vec<Row>,
    pub(crate) ended: Ended,
    /// How many of the columns were read.
    pub(crate) width: usize,
    /// Rows may have gone with the error, as documented of `try_collect` and `optional`.
    pub(crate) lossy: bool,
    /// Of a stream that is at its end and still there.
    pub(crate) at_end: Option<AtEnd>,
}

#[derive(Debug)]
pub(crate) enum Ended {
    Complete,
    Stopped,
    Failed(Error),
}

#[derive(Debug)]
pub(crate) struct AtEnd {
    pub(crate) stats: bool,
    pub(crate) read_timestamp: Option<Timestamp>,
    /// Something came behind the end.
    pub(crate) revived: bool,
}

pub(crate) async fn read<T: ModelRow>(client: &Client, stream: usize, plan: &Plan) -> Outcome {
    let mut outcome = Outcome {
        rows: Vec::new(),
        ended: Ended::Stopped,
        width: T::WIDTH,
        lossy: false,
        at_end: None,
    };
    let name = server::name(plan.call, stream);
    let opened = match plan.call {
        Call::Query => client.query(name).param("id", 7_i64).rows::<T>().await,
        Call::Read => {
            let read = client.read::<T>(name).columns(COLUMNS);
            read.all().rows().await
        }
    };
    match opened {
        Ok(rows) => outcome.read(rows, &plan.reader).await,
        Err(error) => outcome.ended = Ended::Failed(error),
    }
    outcome
}

/// What one action came to.
enum Step {
    GoOn,
    End(Result<(), Error>),
}

impl Outcome {
    async fn read<T: ModelRow>(&mut self, mut rows: RowStream<T>, actions: &[Action]) {
        for action in actions {
            for _ in 0..action.times {
                match action.what {
                    What::Stop => return,
                    What::Pause(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                    What::Stream => {
                        let end = T::stream(rows, &mut self.rows).await;
                        return self.end(end);
                    }
                    what => match self.act(&mut rows, what, action.polls).await {
                        Step::GoOn => {}
                        Step::End(end) => return self.finish(rows, end).await,
                    },
                }
            }
        }
        loop {
            if let Step::End(end) = self.act(&mut rows, What::Next, None).await {
                return self.finish(rows, end).await;
            }
        }
    }

    async fn act<T: ModelRow>(
        &mut self,
        rows: &mut RowStream<T>,
        what: What,
        polls: Option<usize>,
    ) -> Step {
        let out = &mut self.rows;
        let done = match what {
            What::Next => polled(rows.next(), polls)
                .await
                .map(|row| row.map(|row| row.map(|row| out.push(T::lent(&row))))),
            What::Batch => polled(rows.next_batch(), polls).await.map(|batch| {
                let Some(batch) = batch? else { return Ok(None) };
                assert!(!batch.is_empty(), "a batch without rows");
                for row in &batch {
                    out.push(T::row(&row?));
                }
                Ok(Some(()))
            }),
            What::ForEach => {
                let all = rows.for_each(|row| out.push(T::lent(&row)));
                polled(all, polls).await.map(|end| end.map(|()| None))
            }
            What::Extend => {
                let all = T::extend(rows, out);
                polled(all, polls).await.map(|end| end.map(|()| None))
            }
            What::Collect => match T::collect(rows).await {
                Ok(all) => {
                    out.extend(all);
                    Some(Ok(None))
                }
                Err(error) => {
                    self.lossy = true;
                    Some(Err(error))
                }
            },
            What::Only => match polled(T::only(rows), polls).await {
                Some(Err(error)) if matches!(error.kind(), ErrorKind::ManyRows) => {
                    Some(Ok(Some(())))
                }
                Some(Err(error)) => {
                    self.lossy = true;
                    Some(Err(error))
                }
                Some(Ok(row)) => Some(Ok(row.map(|row| out.push(row)))),
                None => None,
            },
            What::Pause(_) | What::Stream | What::Stop => None,
        };
        match done {
            Some(Ok(Some(()))) => Step::GoOn,
            Some(Ok(None)) => Step::End(Ok(())),
            Some(Err(error)) => Step::End(Err(error)),
            None => {
                // Dropped unready: something else has its turn.
                tokio::task::yield_now().await;
                Step::GoOn
            }
        }
    }

    fn end(&mut self, end: Result<(), Error>) {
        self.ended = match end {
            Ok(()) => Ended::Complete,
            Err(error) => Ended::Failed(error),
        };
    }

    async fn finish<T: ModelRow>(&mut self, mut rows: RowStream<T>, end: Result<(), Error>) {
        self.end(end);
        let revived = !matches!(rows.next().await, Ok(None))
            || !matches!(rows.next_batch().await, Ok(None))
            || !matches!(T::only(&mut rows).await, Ok(None))
            || rows
                .for_each(|_| panic!("a row behind the end"))
                .await
                .is_err();
        self.at_end = Some(AtEnd {
            stats: rows.stats().is_some(),
            read_timestamp: rows.read_timestamp(),
            revived,
        });
    }
}

/// Polls a future at most so many times, then drops it.
async fn polled<F: Future>(future: F, polls: Option<usize>) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|cx| match (future.as_mut().poll(cx), &mut left) {
        (Poll::Ready(output), _) => Poll::Ready(Some(output)),
        (Poll::Pending, Some(0 | 1)) => Poll::Ready(None),
        (Poll::Pending, Some(left)) => {
            *left -= 1;
            Poll::Pending
        }
        (Poll::Pending, None) => Poll::Pending,
    })
    .await
}
