//! The accept loop and the connections.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::io::{Command, Control, CountingStream};
use super::service;
use super::state::State;

/// As many calls at once as the service allows on one connection.
const CONCURRENT_CALLS: u32 = 100;

/// How long a closed connection waits for the client to close its side.
const LINGER: Duration = Duration::from_secs(1);

/// Serves connections until `stop` has no sender any more.
pub(super) async fn serve(listener: TcpListener, state: Arc<State>, mut stop: watch::Receiver<()>) {
    let mut number = 0;
    loop {
        let accepted = tokio::select! {
            _ = stop.changed() => return,
            accepted = listener.accept() => accepted,
        };
        // A connection that failed before it began is the client's to notice.
        if let Ok((stream, _)) = accepted {
            number += 1;
            let connection = serve_connection(stream, number, Arc::clone(&state));
            let mut stop = stop.clone();
            tokio::spawn(async move {
                tokio::select! {
                    _ = stop.changed() => {}
                    () = connection => {}
                }
            });
        }
    }
}

async fn serve_connection(stream: TcpStream, number: usize, state: Arc<State>) {
    // Without it the last message of an answer would wait for an acknowledgement.
    let _ = stream.set_nodelay(true);
    let Ok((stream, second_handle)) = two_handles(stream) else {
        return;
    };

    let control = Arc::new(Control::new(number));
    let mut commands = control.commands();
    let io = TokioIo::new(CountingStream::new(stream, Arc::clone(&control)));
    let service = service_fn(move |request| {
        let (state, control) = (Arc::clone(&state), Arc::clone(&control));
        service::answer(state, control, request)
    });
    let mut connection = Box::pin(
        http2::Builder::new(TokioExecutor::new())
            .max_concurrent_streams(CONCURRENT_CALLS)
            .serve_connection(io, service),
    );
    loop {
        tokio::select! {
            // However it ended, this connection is done.
            _ = connection.as_mut() => return,
            changed = commands.changed() => {
                if changed.is_err() {
                    // No call can send a command any more; let it end by itself.
                    let _ = connection.as_mut().await;
                    return;
                }
                match *commands.borrow_and_update() {
                    Command::Serve => {}
                    Command::GoAway => connection.as_mut().graceful_shutdown(),
                    Command::Disconnect => break,
                }
            }
        }
    }
    drop(connection);
    close(second_handle).await;
}

/// The stream and another handle of it, which keeps it open when the connection
/// that owns the stream is dropped.
fn two_handles(stream: TcpStream) -> std::io::Result<(TcpStream, TcpStream)> {
    let stream = stream.into_std()?;
    let second = stream.try_clone()?;
    Ok((TcpStream::from_std(stream)?, TcpStream::from_std(second)?))
}

/// Ends the stream, and waits for the client to do the same: closing while it
/// still sends could take from it what it has not read yet.
async fn close(mut stream: TcpStream) {
    let drained = async {
        tokio::io::AsyncWriteExt::shutdown(&mut stream).await?;
        while stream.read(&mut [0; 1024]).await? > 0 {}
        Ok::<_, std::io::Error>(())
    };
    // A client that does not close is cut off.
    let _ = tokio::time::timeout(LINGER, drained).await;
}
