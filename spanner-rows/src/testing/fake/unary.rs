//! The calls with one answer that say nothing about a statement.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::state::{State, now};
use crate::proto::spanner::{
    BeginTransactionRequest, CommitRequest, CommitResponse, CreateSessionRequest,
    GetSessionRequest, RollbackRequest, Session, Transaction,
};
use crate::proto::spanner_server::spanner_server::Spanner;

/// Sessions and transactions. Statements and reads never come here.
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

    async fn commit(&self, _: Request<CommitRequest>) -> Result<Response<CommitResponse>, Status> {
        Ok(Response::new(CommitResponse {
            commit_timestamp: Some(now()),
            ..CommitResponse::default()
        }))
    }

    async fn rollback(&self, _: Request<RollbackRequest>) -> Result<Response<()>, Status> {
        Ok(Response::new(()))
    }
}
