//! The server through a plain gRPC client made of the generated code.

mod answers;
mod breaks;
mod requests;
mod rows;

use std::time::Duration;

use bytes::Bytes;
use prost::Message as _;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};

use super::*;
use crate::OwnedValue;
use crate::proto::spanner::spanner_client::SpannerClient;
use crate::proto::spanner::{
    CreateSessionRequest, ExecuteSqlRequest, PartialResultSet, ReadRequest, Session,
};

/// A connection with a session.
struct Client {
    spanner: SpannerClient<Channel>,
    session: String,
}

impl Client {
    async fn connect(fake: &FakeSpanner) -> Self {
        let endpoint = Endpoint::from_shared(fake.endpoint()).unwrap();
        let channel = endpoint.connect().await.unwrap();
        let mut spanner = SpannerClient::new(channel).max_decoding_message_size(usize::MAX);
        let request = CreateSessionRequest {
            database: fake.database().to_owned(),
            session: Some(Session {
                multiplexed: true,
                ..Session::default()
            }),
        };
        let session = spanner.create_session(request).await.unwrap().into_inner();
        assert!(session.multiplexed);
        Self {
            spanner,
            session: session.name,
        }
    }

    fn sql(&self, sql: &str) -> ExecuteSqlRequest {
        ExecuteSqlRequest {
            session: self.session.clone(),
            sql: sql.to_owned(),
            ..ExecuteSqlRequest::default()
        }
    }

    fn read(&self, table: &str, columns: &[&str]) -> ReadRequest {
        ReadRequest {
            session: self.session.clone(),
            table: table.to_owned(),
            columns: columns.iter().map(ToString::to_string).collect(),
            ..ReadRequest::default()
        }
    }

    async fn stream(
        &mut self,
        request: ExecuteSqlRequest,
    ) -> Result<Streaming<PartialResultSet>, Status> {
        let response = self.spanner.execute_streaming_sql(request).await?;
        Ok(response.into_inner())
    }

    /// All messages, and how it ended.
    async fn run(&mut self, request: ExecuteSqlRequest) -> (Vec<PartialResultSet>, Option<Status>) {
        collect(self.spanner.execute_streaming_sql(request).await).await
    }

    async fn run_read(&mut self, request: ReadRequest) -> (Vec<PartialResultSet>, Option<Status>) {
        collect(self.spanner.streaming_read(request).await).await
    }
}

async fn collect(
    response: Result<tonic::Response<Streaming<PartialResultSet>>, Status>,
) -> (Vec<PartialResultSet>, Option<Status>) {
    let mut stream = match response {
        Ok(response) => response.into_inner(),
        Err(status) => return (Vec::new(), Some(status)),
    };
    let mut messages = Vec::new();
    loop {
        match within(stream.message()).await {
            Ok(Some(message)) => messages.push(message),
            Ok(None) => return (messages, None),
            Err(status) => return (messages, Some(status)),
        }
    }
}

/// Nothing here takes long.
async fn within<F: Future>(future: F) -> F::Output {
    let limit = Duration::from_secs(10);
    tokio::time::timeout(limit, future).await.expect("it hangs")
}

/// The names of the columns in the metadata of a message.
fn column_names(message: &PartialResultSet) -> Vec<&str> {
    let metadata = message.metadata.as_ref().expect("metadata");
    let fields = &metadata.row_type.as_ref().expect("a row type").fields;
    fields.iter().map(|field| field.name.as_str()).collect()
}

/// The values of messages whose values are not cut.
fn values(messages: &[PartialResultSet]) -> Vec<OwnedValue> {
    let values = messages.iter().flat_map(|message| &message.values);
    values.map(value).collect()
}

fn value(encoded: &Bytes) -> OwnedValue {
    let value = prost_types::Value::decode(encoded.clone()).unwrap();
    convert::from_value(value).unwrap()
}

fn text(text: &str) -> OwnedValue {
    OwnedValue::String(text.to_owned())
}

/// Four messages of one row each: ("0"), ("1"), ("2"), ("3").
fn four_messages() -> Rows {
    let rows = (0..4).map(|i| (i.to_string(),));
    Rows::new(["n"], rows).cut(Cut::BetweenRows).message_size(1)
}

fn four_values() -> Vec<OwnedValue> {
    ["0", "1", "2", "3"].map(text).to_vec()
}
