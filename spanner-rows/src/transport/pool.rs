//! Several channels to one server, and which one a call takes.
//!
//! A server takes a limited number of calls at once on a connection (Google's
//! front ends: 100); more wait in a queue that nobody sees. A connection is also
//! one task that moves the bytes of all its calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tonic::transport::Channel;

/// Channels, and how many calls run on each.
#[derive(Debug)]
pub(super) struct Pool {
    slots: Box<[Slot]>,
}

#[derive(Debug)]
struct Slot {
    channel: Channel,
    running: AtomicUsize,
}

impl Pool {
    pub(super) fn new(channels: impl Iterator<Item = Channel>) -> Arc<Self> {
        let slots = channels.map(|channel| Slot {
            channel,
            running: AtomicUsize::new(0),
        });
        Arc::new(Self {
            slots: slots.collect(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The channel with the fewest calls for one more. Of equal ones it is the
    /// first: a client that does little keeps one connection warm.
    pub(super) fn take(self: &Arc<Self>) -> Running {
        // Two that choose at the same moment may take the same one, which is no harm.
        let running = |index: &usize| self.slots[*index].running.load(Ordering::Relaxed);
        let index = (0..self.slots.len()).min_by_key(running).unwrap_or(0);
        self.slots[index].running.fetch_add(1, Ordering::Relaxed);
        Running {
            pool: self.clone(),
            index,
        }
    }
}

/// One call, which runs on a channel until this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    pool: Arc<Pool>,
    index: usize,
}

impl Running {
    pub(super) fn channel(&self) -> Channel {
        self.pool.slots[self.index].channel.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.pool.slots[self.index]
            .running
            .fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(count: usize) -> Arc<Pool> {
        let endpoint = tonic::transport::Endpoint::from_static("http://127.0.0.1:1");
        Pool::new((0..count).map(|_| endpoint.connect_lazy()))
    }

    #[tokio::test]
    async fn calls_go_where_the_fewest_are() {
        let pool = pool(3);
        let mut running: Vec<_> = (0..7).map(|_| pool.take()).collect();
        let places: Vec<_> = running.iter().map(|call| call.index).collect();
        assert_eq!(places, [0, 1, 2, 0, 1, 2, 0]);
        // Two of the third end: the next two go there, then it is even.
        running.retain(|call| call.index != 2);
        let next: Vec<_> = (0..4).map(|_| pool.take()).collect();
        let places: Vec<_> = next.iter().map(|call| call.index).collect();
        assert_eq!(places, [2, 2, 1, 2]);
    }

    #[tokio::test]
    async fn one_call_after_another_keeps_to_one_channel() {
        let pool = pool(4);
        for _ in 0..10 {
            assert_eq!(pool.take().index, 0);
        }
        let load = |slot: &Slot| slot.running.load(Ordering::Relaxed);
        assert!(pool.slots.iter().all(|slot| load(slot) == 0));
    }
}
