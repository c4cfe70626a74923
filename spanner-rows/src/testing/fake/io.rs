//! The server's end of a connection: it can be told to break, and knows how much of the results has been written.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};

/// How long a break waits for the messages before it: a client that does not
/// read would hold it up for ever.
const FLUSH_LIMIT: Duration = Duration::from_secs(5);

/// What a call can ask of its connection; the later in this list, the stronger.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(super) enum Command {
    #[default]
    Serve,
    GoAway,
    Disconnect,
}

/// Shared by a connection and the calls on it.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// Which of the connections it is, counted from 1.
    pub(super) connection: usize,
    command: watch::Sender<Command>,
    /// Bytes of response bodies handed to the connection, and written by it.
    queued: AtomicU64,
    written: AtomicU64,
    progress: Notify,
}

impl Control {
    pub(super) fn new(connection: usize) -> Self {
        Self {
            connection,
            ..Self::default()
        }
    }

    pub(super) fn send(&self, command: Command) {
        // Calls that ask at the same moment: the connection sees the strongest only.
        self.command.send_if_modified(|strongest| {
            let stronger = command > *strongest;
            if stronger {
                *strongest = command;
            }
            stronger
        });
    }

    pub(super) fn commands(&self) -> watch::Receiver<Command> {
        self.command.subscribe()
    }

    /// Counts a piece of a response body.
    pub(super) fn queue(&self, bytes: usize) {
        self.queued.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Waits until what was queued so far is written.
    pub(super) async fn flushed(self: Arc<Self>) {
        let goal = self.queued.load(Ordering::Relaxed);
        let written = async {
            loop {
                let progress = self.progress.notified();
                if self.written.load(Ordering::Relaxed) >= goal {
                    return;
                }
                progress.await;
            }
        };
        // Whether it was written or not, the break comes now.
        let _ = tokio::time::timeout(FLUSH_LIMIT, written).await;
    }
}

/// A TCP stream that counts the content of the DATA frames it writes.
#[derive(Debug)]
pub(super) struct CountingStream {
    stream: TcpStream,
    frames: FrameCounter,
    control: Arc<Control>,
}

impl CountingStream {
    pub(super) fn new(stream: TcpStream, control: Arc<Control>) -> Self {
        Self {
            stream,
            frames: FrameCounter::default(),
            control,
        }
    }

    fn count<'a>(&mut self, written: usize, buffers: impl Iterator<Item = &'a [u8]>) {
        let mut left = written;
        let mut data = 0;
        for buffer in buffers {
            let part = buffer.get(..left).unwrap_or(buffer);
            data += self.frames.data_in(part);
            left -= part.len();
        }
        self.control.written.fetch_add(data, Ordering::Relaxed);
        self.control.progress.notify_waiters();
    }
}

impl AsyncRead for CountingStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for CountingStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, buffer);
        if let Poll::Ready(Ok(written)) = result {
            self.count(written, std::iter::once(buffer));
        }
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, buffers);
        if let Poll::Ready(Ok(written)) = result {
            self.count(written, buffers.iter().map(|buffer| &**buffer));
        }
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Follows the HTTP/2 frames in the bytes that a server writes.
///
/// A frame is nine bytes (length in three, type, flags, stream in four) and its
/// content. Our server never pads, so all content of a DATA frame is body.
#[derive(Debug, Default)]
struct FrameCounter {
    header: [u8; 9],
    header_len: usize,
    content_left: usize,
}

impl FrameCounter {
    const DATA: u8 = 0;

    /// How many of these bytes are content of DATA frames.
    fn data_in(&mut self, mut bytes: &[u8]) -> u64 {
        let mut data = 0;
        while !bytes.is_empty() {
            if self.header_len < self.header.len() {
                let missing = self.header.len() - self.header_len;
                let (part, rest) = bytes.split_at(missing.min(bytes.len()));
                self.header[self.header_len..][..part.len()].copy_from_slice(part);
                self.header_len += part.len();
                bytes = rest;
                if self.header_len < self.header.len() {
                    break;
                }
                let [a, b, c, ..] = self.header;
                self.content_left = u32::from_be_bytes([0, a, b, c]) as usize;
            }
            let (content, rest) = bytes.split_at(self.content_left.min(bytes.len()));
            if self.header[3] == Self::DATA {
                data += content.len() as u64;
            }
            self.content_left -= content.len();
            bytes = rest;
            if self.content_left == 0 {
                self.header_len = 0;
            }
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::FrameCounter;

    #[test]
    fn only_content_of_data_frames_counts_however_it_is_cut() {
        let mut bytes = Vec::new();
        for (kind, len) in [(4_u8, 6_u8), (0, 5), (1, 3), (0, 0), (0, 200)] {
            bytes.extend([0, 0, len, kind, 0, 0, 0, 0, 1]);
            bytes.extend(std::iter::repeat_n(0xAA, usize::from(len)));
        }
        for size in 1..=bytes.len() {
            let mut counter = FrameCounter::default();
            let data: u64 = bytes.chunks(size).map(|part| counter.data_in(part)).sum();
            assert_eq!(data, 205, "written {size} bytes at a time");
        }
    }
}
