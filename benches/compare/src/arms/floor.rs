//! The transport alone: tonic as it is, and messages that nobody decodes.

use bytes::{Buf as _, Bytes};
use googleapis_tonic_google_spanner_v1::google::spanner::v1::ExecuteSqlRequest;
use http::uri::PathAndQuery;
use prost::Message as _;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use super::{Arm, Compared, by_hand};
use crate::Result;
use crate::client::Counter;

pub(crate) struct Floor {
    client: Grpc<Channel>,
}

impl Arm for Floor {
    const NAME: &'static str = "transport alone";

    async fn connect(address: &str) -> Result<Self> {
        let channel = Endpoint::from_shared(format!("http://{address}"))?;
        Ok(Self {
            client: Grpc::new(channel.connect().await?),
        })
    }

    async fn query<S: Compared>(&mut self, sql: &str, _: &mut Counter) -> Result<()> {
        self.client.ready().await?;
        let path = PathAndQuery::from_static("/google.spanner.v1.Spanner/ExecuteStreamingSql");
        let request = Request::new(by_hand::request(sql));
        let answer = self.client.server_streaming(request, path, Undecoded);
        let mut messages = answer.await?.into_inner();
        while let Some(message) = messages.message().await? {
            std::hint::black_box(&message);
        }
        Ok(())
    }
}

/// Takes each message as it comes.
#[derive(Clone, Copy)]
struct Undecoded;

impl Codec for Undecoded {
    type Encode = ExecuteSqlRequest;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Undecoded {
    type Item = ExecuteSqlRequest;
    type Error = Status;

    fn encode(
        &mut self,
        request: ExecuteSqlRequest,
        out: &mut EncodeBuf<'_>,
    ) -> std::result::Result<(), Status> {
        request
            .encode(out)
            .map_err(|error| Status::internal(error.to_string()))
    }
}

impl Decoder for Undecoded {
    type Item = Bytes;
    type Error = Status;

    fn decode(
        &mut self,
        message: &mut DecodeBuf<'_>,
    ) -> std::result::Result<Option<Bytes>, Status> {
        Ok(Some(message.copy_to_bytes(message.remaining())))
    }
}
