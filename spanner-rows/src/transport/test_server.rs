//! An HTTP/2 server that does what a test tells it, right or wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, Request, Response};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::endpoint::Endpoint;

pub(super) struct Server {
    pub(super) endpoint: Endpoint,
    connections: Arc<AtomicU32>,
}

/// One request, and what can be done with it.
pub(super) struct Exchange {
    /// Requests are counted from 1.
    pub(super) number: u32,
    pub(super) request: Request<RecvStream>,
    respond: SendResponse<Bytes>,
    connection: mpsc::Sender<Fate>,
}

/// What becomes of the whole connection.
pub(super) enum Fate {
    Close,
    GoAway(Reason),
}

impl Server {
    /// Starts a server that hands every request to `handler`.
    pub(super) async fn start<F>(handler: impl Fn(Exchange) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let connections = Arc::new(AtomicU32::new(0));
        let (handler, requests) = (Arc::new(handler), Arc::new(AtomicU32::new(0)));
        let count = connections.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(connection(socket, handler.clone(), requests.clone()));
            }
        });
        Self {
            endpoint: Endpoint::resolve(Some(&address), None, None).unwrap(),
            connections,
        }
    }

    /// The same server, to which all that is sent needs so long.
    pub(super) async fn behind_slow_uplink(&self, delay: Duration) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = self.endpoint.to_string();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                let (mut from_client, mut to_client) = client.into_split();
                let (mut from_server, mut to_server) = server.into_split();
                tokio::spawn(async move {
                    let mut block = vec![0; 64 << 10];
                    while let Ok(len @ 1..) = from_client.read(&mut block).await {
                        tokio::time::sleep(delay).await;
                        if to_server.write_all(&block[..len]).await.is_err() {
                            break;
                        }
                    }
                });
                tokio::spawn(async move {
                    let _ = tokio::io::copy(&mut from_server, &mut to_client).await;
                });
            }
        });
        Endpoint::resolve(Some(&address), None, None).unwrap()
    }

    pub(super) fn connections(&self) -> u32 {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn connection<F>(
    socket: TcpStream,
    handler: Arc<impl Fn(Exchange) -> F>,
    requests: Arc<AtomicU32>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connection = h2::server::handshake(socket).await.unwrap();
    let (fates, mut fate) = mpsc::channel(1);
    loop {
        tokio::select! {
            accepted = connection.accept() => match accepted {
                Some(Ok((request, respond))) => {
                    tokio::spawn(handler(Exchange {
                        number: requests.fetch_add(1, Ordering::SeqCst) + 1,
                        request,
                        respond,
                        connection: fates.clone(),
                    }));
                }
                _ => return,
            },
            Some(fate) = fate.recv() => match fate {
                Fate::Close => return,
                Fate::GoAway(reason) => connection.abrupt_shutdown(reason),
            },
        }
    }
}

impl Exchange {
    /// Begins an answer as a gRPC server does.
    pub(super) fn begin(&mut self) -> SendStream<Bytes> {
        let head = Response::builder().header("content-type", "application/grpc");
        self.respond
            .send_response(head.body(()).unwrap(), false)
            .unwrap()
    }

    /// Answers with headers only.
    pub(super) fn headers_only(&mut self, head: Response<()>) {
        self.respond.send_response(head, true).unwrap();
    }

    /// Begins an answer with these headers.
    pub(super) fn begin_with(&mut self, head: Response<()>) -> SendStream<Bytes> {
        self.respond.send_response(head, false).unwrap()
    }

    /// Resets the stream before any answer.
    pub(super) fn reset(&mut self, reason: Reason) {
        self.respond.send_reset(reason);
    }

    pub(super) async fn connection(&self, fate: Fate) {
        self.connection.send(fate).await.ok().unwrap();
    }

    /// The request's body.
    pub(super) async fn body(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        let body = self.request.body_mut();
        while let Some(block) = body.data().await {
            let block = block.unwrap();
            body.flow_control().release_capacity(block.len()).unwrap();
            all.extend_from_slice(&block);
        }
        all
    }
}

/// The message with its gRPC prefix.
pub(super) fn framed(message: &[u8]) -> Bytes {
    let mut out = BytesMut::new();
    out.put_u8(0);
    out.put_u32(message.len() as u32);
    out.put_slice(message);
    out.freeze()
}

pub(super) fn trailers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    for (name, value) in pairs {
        trailers.append(*name, value.parse().unwrap());
    }
    trailers
}

pub(super) fn ok() -> HeaderMap {
    trailers(&[("grpc-status", "0")])
}
