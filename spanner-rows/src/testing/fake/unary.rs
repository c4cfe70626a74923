//! The calls with one answer, but for single statements.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::answer::Prepared;
use super::partition::Part;
use super::state::{State, now};
use super::step::Step;
use crate::proto::rpc;
use crate::proto::spanner::transaction_selector::Selector;
use crate::proto::spanner::{
    BeginTransactionRequest, CommitRequest, CommitResponse, CreateSessionRequest,
    ExecuteBatchDmlRequest, ExecuteBatchDmlResponse, GetSessionRequest, Partition,
    PartitionOptions, PartitionQueryRequest, PartitionReadRequest, PartitionResponse, ResultSet,
    ResultSetMetadata, RollbackRequest, Session, Transaction,
};
use crate::proto::spanner_server::spanner_server::Spanner;

/// Sessions, transactions and batches of DML. Single statements and reads never come here.
pub(super) struct Unary {
    state: Arc<State>,
}

impl Unary {
    pub(super) const fn new(state: Arc<State>) -> Self {
        Self { state }
    }
}

#[tonic::async_trait]
impl Spanner for Unary {
    async fn create_session(
        &self,
        request: Request<CreateSessionRequest>,
    ) -> Result<Response<Session>, Status> {
        let request = request.into_inner();
        if request.database != self.state.database() {
            return Err(Status::not_found(format!(
                "Database not found: {}; the fake server has {}",
                request.database,
                self.state.database()
            )));
        }
        let template = request.session.unwrap_or_default();
        Ok(Response::new(Session {
            name: self.state.create_session(),
            create_time: Some(now()),
            ..template
        }))
    }

    async fn get_session(
        &self,
        request: Request<GetSessionRequest>,
    ) -> Result<Response<Session>, Status> {
        Ok(Response::new(Session {
            name: request.into_inner().name,
            multiplexed: true,
            ..Session::default()
        }))
    }

    async fn begin_transaction(
        &self,
        request: Request<BeginTransactionRequest>,
    ) -> Result<Response<Transaction>, Status> {
        let options = request.into_inner().options.unwrap_or_default();
        Ok(Response::new(self.state.begin(&options)))
    }

    async fn commit(
        &self,
        request: Request<CommitRequest>,
    ) -> Result<Response<CommitResponse>, Status> {
        let committed = self.state.commit(request.get_ref());
        committed.map(Response::new).map_err(|it| it.status())
    }

    async fn rollback(&self, request: Request<RollbackRequest>) -> Result<Response<()>, Status> {
        self.state.rollback(&request.get_ref().transaction_id);
        Ok(Response::new(()))
    }

    async fn execute_batch_dml(
        &self,
        request: Request<ExecuteBatchDmlRequest>,
    ) -> Result<Response<ExecuteBatchDmlResponse>, Status> {
        let request = request.into_inner();
        let selector = request.transaction.as_ref();
        let mut answer = ExecuteBatchDmlResponse {
            status: Some(rpc::Status::default()),
            ..ExecuteBatchDmlResponse::default()
        };
        for statement in &request.statements {
            let changed = match self.state.statement(&statement.sql) {
                Ok(Prepared::Rows(rows)) => rows.stats(),
                Ok(Prepared::Always(steps)) => match steps.first() {
                    Some(Step::Fail(failure)) => {
                        answer.status = Some(failure.rpc_status());
                        break;
                    }
                    _ => None,
                },
                Ok(Prepared::InTurn(_)) => None,
                Err(failure) => {
                    answer.status = Some(failure.rpc_status());
                    break;
                }
            };
            answer.result_sets.push(ResultSet {
                stats: changed,
                ..ResultSet::default()
            });
        }
        // The first result names the transaction, if there is one.
        if let Some(first) = answer.result_sets.first_mut() {
            first.metadata = Some(ResultSetMetadata {
                transaction: self.state.transaction_of(selector),
                ..ResultSetMetadata::default()
            });
        }
        if let Some(Selector::Id(id)) = selector.and_then(|it| it.selector.as_ref()) {
            answer.precommit_token = self.state.next_token(id);
        }
        Ok(Response::new(answer))
    }

    async fn partition_query(
        &self,
        request: Request<PartitionQueryRequest>,
    ) -> Result<Response<PartitionResponse>, Status> {
        Ok(partitions(request.into_inner().partition_options))
    }

    async fn partition_read(
        &self,
        request: Request<PartitionReadRequest>,
    ) -> Result<Response<PartitionResponse>, Status> {
        Ok(partitions(request.into_inner().partition_options))
    }
}

/// As many as there are to be, or a few.
fn partitions(options: Option<PartitionOptions>) -> Response<PartitionResponse> {
    const FEW: usize = 3;
    const MOST: usize = 10_000;
    let asked = options.map_or(0, |options| options.max_partitions);
    let count = match usize::try_from(asked) {
        Ok(count) if count > 0 => count.min(MOST),
        _ => FEW,
    };
    let partitions = (0..count).map(|index| Partition {
        partition_token: Part { index, count }.token(),
    });
    Response::new(PartitionResponse {
        partitions: partitions.collect(),
        transaction: None,
    })
}
