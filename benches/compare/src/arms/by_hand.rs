//! tonic and prost with the generated messages, and a loop of one's own: what a program does that has no client
//! library. It neither resumes nor waits for resume tokens.

use googleapis_tonic_google_spanner_v1::google::spanner::v1::ExecuteSqlRequest;
use googleapis_tonic_google_spanner_v1::google::spanner::v1::spanner_client::SpannerClient;
use prost_types::value::Kind;
use tonic::transport::{Channel, Endpoint};

use super::{Arm, Compared};
use crate::Result;
use crate::client::Counter;
use crate::server::DATABASE;
use crate::shapes::Shape;
use crate::shapes::rows::Pair;

pub(crate) struct ByHand {
    client: SpannerClient<Channel>,
}

impl Arm for ByHand {
    const NAME: &'static str = "tonic + prost by hand";

    async fn connect(address: &str) -> Result<Self> {
        let channel = Endpoint::from_shared(format!("http://{address}"))?;
        Ok(Self {
            client: SpannerClient::new(channel.connect().await?),
        })
    }

    async fn query<S: Compared>(&mut self, sql: &str, sink: &mut Counter) -> Result<()> {
        let mut messages = self
            .client
            .execute_streaming_sql(request(sql))
            .await?
            .into_inner();
        let width = S::TYPES.len();
        // Values of a row that goes on in the next message, the last of them perhaps too.
        let mut pending: Vec<Kind> = Vec::new();
        let mut is_chunked = false;
        while let Some(message) = messages.message().await? {
            let values = message.values.into_iter();
            let mut kinds = values.map(|value| value.kind.unwrap_or(Kind::NullValue(0)));
            if is_chunked && let (Some(last), Some(rest)) = (pending.last_mut(), kinds.next()) {
                append(last, rest)?;
            }
            is_chunked = message.chunked_value;
            if pending.is_empty() && !is_chunked {
                while let Some(row) = <S as Shape>::Row::convert(&mut kinds) {
                    sink.row(&row);
                }
                continue;
            }
            pending.extend(kinds);
            let whole = (pending.len() - usize::from(is_chunked)) / width * width;
            let mut rows = pending.drain(..whole);
            while let Some(row) = <S as Shape>::Row::convert(&mut rows) {
                sink.row(&row);
            }
        }
        match pending.len() {
            0 => Ok(()),
            left => Err(format!("{left} values too many").into()),
        }
    }
}

fn append(value: &mut Kind, rest: Kind) -> Result<()> {
    match (value, rest) {
        (Kind::StringValue(text), Kind::StringValue(rest)) => text.push_str(&rest),
        (value, rest) => return Err(format!("{value:?} goes on with {rest:?}").into()),
    }
    Ok(())
}

/// As every client sends it.
pub(super) fn request(sql: &str) -> ExecuteSqlRequest {
    ExecuteSqlRequest {
        session: format!("{DATABASE}/sessions/fake"),
        sql: sql.to_owned(),
        ..ExecuteSqlRequest::default()
    }
}
