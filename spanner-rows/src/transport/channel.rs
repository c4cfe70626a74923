//! Sends calls over channels of tonic.
//!
//! The channel gives connecting, reconnecting and HTTP/2. The gRPC half, five
//! bytes before each message and a status in the trailers, is done here: bodies
//! are encoded already, and answers are wanted as bytes.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderValue, TE};
use http::{Request, Uri, Version};
use http_body::{Body, Frame, SizeHint};
use tonic::codegen::Service;

use super::answer::Answer;
use super::credentials::{Credentials, Source};
use super::endpoint::Endpoint;
use super::frames::PREFIX_LEN;
use super::pool::{Pool, Running};
use super::settings::ConnectionSettings;
use super::{BoxFuture, Call, Messages, Place, Transport, credentials, status};
use crate::error::{Code, Error, Status};

/// The version of the gRPC library, for the header `x-goog-api-client`.
pub(crate) const GRPC_VERSION: &str = "0.14.9";

const USER_AGENT: &str = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));

/// Longer than any connection lives. hyper adds the times of the settings to the
/// present one and panics when that is no point in time any more.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
/// A status with details may be larger than the 16 KiB that hyper allows.
const MAX_HEADER_LIST_SIZE: u32 = 32 << 10;
/// What still arrives for a stream that was dropped is ignored as long as the
/// stream is remembered; for a forgotten one it counts as an error of the
/// connection, which breaks after 1024 of them. h2 remembers 50.
const REMEMBERED_STREAMS: usize = 1024;

/// Connections to the server, each made with its first call and again after it breaks.
#[derive(Clone, Debug)]
pub(crate) struct TonicTransport {
    pool: Arc<Pool>,
    credentials: Option<Arc<Credentials>>,
}

impl TonicTransport {
    /// Prepares the connections; nothing is sent yet.
    pub(crate) fn new(
        endpoint: &Endpoint,
        settings: &ConnectionSettings,
        credentials: Option<Source>,
    ) -> Result<Self, Error> {
        settings.check()?;
        // Channels start a task; without a runtime that would be a panic.
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(Error::config(
                "a client is made inside a tokio runtime, there is none here",
            ));
        }
        let channel = prepared(endpoint, settings)?;
        let count = settings.channels_to(endpoint);
        // Whatever was decided above: nothing secret goes to an emulator.
        let credentials = credentials.filter(|_| !endpoint.is_emulator());
        Ok(Self {
            pool: Pool::new(
                (0..count).map(|_| channel.connect_lazy()),
                settings.streams_per_channel,
            ),
            credentials: credentials.map(|source| Arc::new(Credentials::new(source))),
        })
    }
}

fn prepared(
    endpoint: &Endpoint,
    settings: &ConnectionSettings,
) -> Result<tonic::transport::Endpoint, Error> {
    let unusable = |error: tonic::transport::Error| {
        let text = status::all_texts(&error);
        Error::config(format!("the endpoint `{endpoint}` cannot be used: {text}"))
    };
    let connect_timeout = settings.connect_timeout.min(LONGEST);
    let channel = tonic::transport::Endpoint::from_shared(endpoint.uri())
        .and_then(|channel| channel.user_agent(USER_AGENT))
        .map_err(unusable)?
        .connect_timeout(connect_timeout)
        .http2_keep_alive_interval(settings.keep_alive_interval.min(LONGEST))
        .keep_alive_timeout(settings.keep_alive_timeout.min(LONGEST))
        .keep_alive_while_idle(true)
        .max_frame_size(settings.frame_size)
        .initial_stream_window_size(settings.stream_window)
        .initial_connection_window_size(settings.connection_window)
        .http2_max_header_list_size(MAX_HEADER_LIST_SIZE)
        .http2_max_concurrent_reset_streams(REMEMBERED_STREAMS);
    if endpoint.is_tls() {
        let tls = settings.tls.config(connect_timeout)?;
        return channel.tls_config(tls).map_err(|error| {
            let text = status::all_texts(&error);
            Error::config(match text.contains("no native certs found") {
                true => {
                    "this machine has no root certificates: install them (the package is often \
                         `ca-certificates`) or give some with `ClientBuilder::root_certificates`"
                        .to_owned()
                }
                false => format!("the TLS settings cannot be used: {text}"),
            })
        });
    }
    if !settings.tls.are_default() && !endpoint.is_emulator() {
        return Err(Error::config(format!(
            "the endpoint `{endpoint}` is spoken to in plain text, where TLS settings mean nothing: \
             write `https://{endpoint}`"
        )));
    }
    Ok(channel)
}

impl Transport for TonicTransport {
    fn channels(&self) -> usize {
        self.pool.len()
    }

    fn place(&self) -> Place {
        self.pool.place()
    }

    fn open(&self, call: Call) -> BoxFuture<'static, Result<Box<dyn Messages>, Status>> {
        let running = self.pool.take(&call.lane);
        let credentials = self.credentials.clone();
        Box::pin(async move {
            let mut request = request(call)?;
            let mut used = None;
            if let Some(credentials) = &credentials {
                let headers = credentials.headers().await?;
                credentials::put(request.headers_mut(), &headers);
                used = Some((credentials, headers));
            }
            match (send(request, running).await, used) {
                (Ok(answer), _) => Ok(Box::new(answer) as Box<dyn Messages>),
                (Err(status), Some((credentials, headers))) => {
                    if status.code() == Code::Unauthenticated {
                        credentials.refused(&headers);
                    }
                    Err(status)
                }
                (Err(status), None) => Err(status),
            }
        })
    }
}

async fn send(request: Request<tonic::body::Body>, running: Running) -> Result<Answer, Status> {
    let mut channel = running.channel();
    poll_fn(|cx| channel.poll_ready(cx))
        .await
        .map_err(status::from_failure)?;
    let response = channel.call(request).await.map_err(status::from_failure)?;
    let (head, body) = response.into_parts();
    Answer::new(&head, body, running)
}

fn request(call: Call) -> Result<Request<tonic::body::Body>, Status> {
    let body = framed(&call.body)?;
    let mut request = Request::new(tonic::body::Body::new(OneBlock(Some(body))));
    *request.method_mut() = http::Method::POST;
    *request.version_mut() = Version::HTTP_2;
    *request.uri_mut() = Uri::from_static(call.method.path());
    *request.headers_mut() = call.headers;
    request
        .headers_mut()
        .insert(TE, HeaderValue::from_static("trailers"));
    request
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    Ok(request)
}

/// The message with its gRPC prefix, in one block: each block is a frame of its own.
fn framed(message: &[u8]) -> Result<Bytes, Status> {
    let Some(len) = u32::try_from(message.len())
        .ok()
        .filter(|len| *len <= i32::MAX as u32)
    else {
        let text = format!(
            "the request has {} bytes, the limit is {}",
            message.len(),
            i32::MAX
        );
        return Err(Status::new(Code::InvalidArgument, text));
    };
    let mut block = BytesMut::with_capacity(PREFIX_LEN + message.len());
    block.put_u8(0);
    block.put_u32(len);
    block.put_slice(message);
    Ok(block.freeze())
}

/// A body of one block.
#[derive(Debug)]
struct OneBlock(Option<Bytes>);

impl Body for OneBlock {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|block| Ok(Frame::data(block))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |block| block.len() as u64))
    }
}
