//! A fake server that does as little as it can: it answers every statement with messages that were encoded and framed
//! before. Calls about sessions are answered, and everything else is refused.
//!
//! No message says `last`: gcloud-spanner then breaks the stream off before its end, and after some hundred short
//! queries its connection is closed.

use std::convert::Infallible;
use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use googleapis_tonic_google_spanner_v1::google::spanner::v1::{
    BatchCreateSessionsRequest, BatchCreateSessionsResponse, Session,
};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message as _;
use tokio::net::TcpListener;

use crate::Result;
use crate::cases::Case;
use crate::process;

/// The only database, and its only session.
pub(crate) const DATABASE: &str = "projects/fake/instances/fake/databases/fake";
const SESSION: &str = "projects/fake/instances/fake/databases/fake/sessions/fake";

/// Serves until the process is ended, and says its address in the first line. `cores` is the core to stay on, or `all`.
pub(crate) fn serve(case: &str, cores: &str) -> Result<()> {
    let runtime = if cores == "all" {
        tokio::runtime::Runtime::new()?
    } else {
        process::pin(cores.parse()?)?;
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
    };
    let case = Case::named(case)?;
    let messages = (case.messages)(case.rows, case.message_size);
    let frames: Arc<[Bytes]> = messages.encoded.iter().map(framed).collect();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        std::io::stdout().flush()?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let frames = frames.clone();
            let service = service_fn(move |request| answer(request, frames.clone()));
            let connection = http2::Builder::new(TokioExecutor::new())
                // Several messages go into one write.
                .max_send_buf_size(1024 * 1024)
                .serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    })
}

async fn answer(
    request: Request<Incoming>,
    frames: Arc<[Bytes]>,
) -> std::result::Result<Response<Answer>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes());
    let message = body
        .ok()
        .and_then(|body| Some(body.slice_ref(body.get(PREFIX..)?)));
    let message = message.unwrap_or_default();
    let method = head.uri.path().rsplit('/').next().unwrap_or_default();
    let session = || Session {
        name: SESSION.to_owned(),
        multiplexed: true,
        ..Session::default()
    };
    let frames: Arc<[Bytes]> = match method {
        "ExecuteStreamingSql" => frames,
        "CreateSession" | "GetSession" => [framed(&session().encode_to_vec().into())].into(),
        "BatchCreateSessions" => {
            // As many as asked for: gcloud-spanner would go on without end if there were more.
            let request = BatchCreateSessionsRequest::decode(message).unwrap_or_default();
            let sessions = BatchCreateSessionsResponse {
                session: (0..request.session_count).map(|_| session()).collect(),
            };
            [framed(&sessions.encode_to_vec().into())].into()
        }
        "DeleteSession" => [framed(&Bytes::new())].into(),
        _ => [].into(),
    };
    let status = if frames.is_empty() { "12" } else { "0" };
    let body = Answer {
        frames,
        next: 0,
        status: Some(HeaderValue::from_static(status)),
    };
    let mut response = Response::new(body);
    let content_type = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert("content-type", content_type);
    Ok(response)
}

/// Frames by reference, and the status behind them.
struct Answer {
    frames: Arc<[Bytes]>,
    next: usize,
    status: Option<HeaderValue>,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, Infallible>>> {
        let frame = self.frames.get(self.next).cloned();
        self.next += 1;
        let frame = match frame {
            Some(frame) => Some(Frame::data(frame)),
            None => self.status.take().map(|status| {
                let mut trailers = HeaderMap::new();
                trailers.insert("grpc-status", status);
                Frame::trailers(trailers)
            }),
        };
        Poll::Ready(frame.map(Ok))
    }
}

/// What gRPC puts before a message: a flag for compression and the length.
const PREFIX: usize = 5;

fn framed(message: &Bytes) -> Bytes {
    let mut frame = vec![0];
    frame.extend((message.len() as u32).to_be_bytes());
    frame.extend_from_slice(message);
    frame.into()
}
