//! The read-write transactions that the server has begun, and how they ended.

use std::collections::HashMap;

use bytes::Bytes;

use super::failure::Failure;
use super::state::now;
use crate::proto::spanner::mutation::Operation;
use crate::proto::spanner::{
    CommitRequest, CommitResponse, MultiplexedSessionPrecommitToken, Mutation, commit_request,
    commit_response,
};

#[derive(Debug, Default)]
pub(super) struct Writes(HashMap<Bytes, Writing>);

#[derive(Debug)]
enum Writing {
    /// With the number of the last precommit token.
    Open(i32),
    Committed(CommitResponse),
    RolledBack,
}

impl Writes {
    /// Begins a transaction; answers its first token.
    pub(super) fn begin(&mut self, id: Bytes) -> MultiplexedSessionPrecommitToken {
        let first = token(&id, 1);
        self.0.insert(id, Writing::Open(1));
        first
    }

    /// The next token of a transaction that is open.
    pub(super) fn next_token(&mut self, id: &[u8]) -> Option<MultiplexedSessionPrecommitToken> {
        match self.0.get_mut(id) {
            Some(Writing::Open(number)) => {
                *number += 1;
                Some(token(id, *number))
            }
            _ => None,
        }
    }

    /// Commits once: whoever asks again gets the first answer again. A transaction that a
    /// script began is not known here, and may do what it likes.
    pub(super) fn commit(&mut self, request: &CommitRequest) -> Result<CommitResponse, Failure> {
        let id = match &request.transaction {
            Some(commit_request::Transaction::TransactionId(id)) => id.clone(),
            _ => Bytes::new(),
        };
        match self.0.get(&id) {
            Some(Writing::Committed(answer)) => return Ok(answer.clone()),
            Some(Writing::RolledBack) => {
                return Err(Failure::failed_precondition(
                    "the transaction has been rolled back",
                ));
            }
            Some(Writing::Open(_)) if request.precommit_token.is_none() => {
                return Err(Failure::failed_precondition(
                    "a commit on a multiplexed session needs a precommit token",
                ));
            }
            Some(Writing::Open(_)) | None => {}
        }
        let counted = || commit_response::CommitStats {
            mutation_count: request.mutations.iter().map(count).sum(),
        };
        let answer = CommitResponse {
            commit_timestamp: Some(now()),
            commit_stats: request.return_commit_stats.then(counted),
            ..CommitResponse::default()
        };
        if let Some(writing) = self.0.get_mut(&id) {
            *writing = Writing::Committed(answer.clone());
        }
        Ok(answer)
    }

    pub(super) fn rollback(&mut self, id: &[u8]) {
        if let Some(writing @ Writing::Open(_)) = self.0.get_mut(id) {
            *writing = Writing::RolledBack;
        }
    }
}

fn token(id: &[u8], number: i32) -> MultiplexedSessionPrecommitToken {
    let mut token = id.to_vec();
    token.extend(format!(" token {number}").bytes());
    MultiplexedSessionPrecommitToken {
        precommit_token: token.into(),
        seq_num: number,
    }
}

/// The values of a mutation, or the keys and ranges of a deletion.
fn count(mutation: &Mutation) -> i64 {
    let count = match &mutation.operation {
        Some(
            Operation::Insert(write)
            | Operation::Update(write)
            | Operation::InsertOrUpdate(write)
            | Operation::Replace(write),
        ) => write.columns.len() * write.values.len(),
        Some(Operation::Delete(delete)) => delete
            .key_set
            .as_ref()
            .map_or(0, |set| set.keys.len() + set.ranges.len()),
        None => 0,
    };
    count as i64
}
