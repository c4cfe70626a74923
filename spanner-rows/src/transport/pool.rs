//! Several channels to one server, and which one a call takes.
//!
//! A server takes a limited number of calls at once on a connection (Google's
//! front ends: 100); more wait in a queue that nobody sees. A connection is also
//! one task that moves the bytes of all its calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tonic::transport::Channel;

use super::{Lane, Place};

/// Channels, and how many calls run on each.
#[derive(Debug)]
pub(super) struct Pool {
    slots: Box<[Slot]>,
    /// How many calls a channel takes before the next one takes any.
    per_channel: usize,
}

#[derive(Debug)]
struct Slot {
    channel: Channel,
    running: Arc<AtomicUsize>,
}

impl Pool {
    pub(super) fn new(channels: impl Iterator<Item = Channel>, per_channel: usize) -> Arc<Self> {
        let slots = channels.map(|channel| Slot {
            channel,
            running: Arc::default(),
        });
        Arc::new(Self {
            slots: slots.collect(),
            per_channel,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// A place on the first channel that has room, so that a client that does little
    /// keeps one connection warm; or else on the one with the fewest calls.
    pub(super) fn place(&self) -> Place {
        // Two that choose at the same moment may take the same one, which is no harm.
        let mut channels = 0..self.len();
        let with_room = channels.find(|index| self.running(*index) < self.per_channel);
        let fewest = || (0..self.len()).min_by_key(|index| self.running(*index));
        self.place_on(with_room.or_else(fewest).unwrap_or(0))
    }

    /// The channel for one more call.
    pub(super) fn take(self: &Arc<Self>, lane: &Lane) -> Running {
        let place = match lane {
            Lane::Only(place) => self.place_on(place.index),
            Lane::Rather(place) => {
                let least = self.place();
                // The place that is held is one of those that are counted here.
                let enough = self.running(least.index).max(self.per_channel);
                match self.running(place.index) <= enough {
                    true => self.place_on(place.index),
                    false => least,
                }
            }
            Lane::Any => self.place(),
        };
        Running {
            pool: self.clone(),
            place,
        }
    }

    fn running(&self, index: usize) -> usize {
        self.slots[index].running.load(Ordering::Relaxed)
    }

    fn place_on(&self, index: usize) -> Place {
        Place::new(index, self.slots[index].running.clone())
    }
}

/// One call, which runs on a channel until this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    pool: Arc<Pool>,
    place: Place,
}

impl Running {
    pub(super) fn channel(&self) -> Channel {
        self.pool.slots[self.place.index].channel.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(count: usize) -> Arc<Pool> {
        packed(count, 1)
    }

    fn packed(count: usize, per_channel: usize) -> Arc<Pool> {
        let endpoint = tonic::transport::Endpoint::from_static("http://127.0.0.1:1");
        Pool::new((0..count).map(|_| endpoint.connect_lazy()), per_channel)
    }

    #[tokio::test]
    async fn a_channel_is_filled_before_the_next() {
        let pool = packed(2, 3);
        let mut running: Vec<_> = (0..8).map(|_| pool.take(&Lane::Any)).collect();
        let places: Vec<_> = running.iter().map(|call| call.place.index).collect();
        assert_eq!(places, [0, 0, 0, 1, 1, 1, 0, 1]);
        running.retain(|call| call.place.index != 0);
        assert_eq!(pool.take(&Lane::Any).place.index, 0);
        // One that has its place there stays, as long as there is room.
        let lane = Lane::Rather(Arc::new(pool.place_on(1)));
        running.truncate(1);
        assert_eq!(pool.take(&lane).place.index, 1);
    }

    #[tokio::test]
    async fn calls_go_where_the_fewest_are() {
        let pool = pool(3);
        let mut running: Vec<_> = (0..7).map(|_| pool.take(&Lane::Any)).collect();
        let places: Vec<_> = running.iter().map(|call| call.place.index).collect();
        assert_eq!(places, [0, 1, 2, 0, 1, 2, 0]);
        // Two of the third end: the next two go there, then it is even.
        running.retain(|call| call.place.index != 2);
        let next: Vec<_> = (0..4).map(|_| pool.take(&Lane::Any)).collect();
        let places: Vec<_> = next.iter().map(|call| call.place.index).collect();
        assert_eq!(places, [2, 2, 1, 2]);
    }

    #[tokio::test]
    async fn one_call_after_another_keeps_to_one_channel() {
        let pool = pool(4);
        for _ in 0..10 {
            assert_eq!(pool.take(&Lane::Any).place.index, 0);
        }
        let load = |slot: &Slot| slot.running.load(Ordering::Relaxed);
        assert!(pool.slots.iter().all(|slot| load(slot) == 0));
    }

    #[tokio::test]
    async fn a_transaction_keeps_its_channel() {
        let pool = pool(3);
        let first = Lane::Only(Arc::new(pool.place()));
        // Another one goes elsewhere, also while no call of the first one runs.
        let second = Lane::Only(Arc::new(pool.place()));
        let places = |lane: &Lane| {
            let calls: Vec<_> = (0..5).map(|_| pool.take(lane)).collect();
            calls
                .iter()
                .map(|call| call.place.index)
                .collect::<Vec<_>>()
        };
        assert_eq!(places(&first), [0; 5]);
        assert_eq!(places(&second), [1; 5]);
        assert_eq!(places(&Lane::Any), [2, 0, 1, 2, 0]);
        drop((first, second));
        assert_eq!(places(&Lane::Any), [0, 1, 2, 0, 1]);
    }

    #[tokio::test]
    async fn one_that_only_reads_keeps_it_while_it_is_free() {
        let pool = pool(3);
        let _other = pool.take(&Lane::Any);
        let lane = Lane::Rather(Arc::new(pool.place()));
        for _ in 0..5 {
            assert_eq!(pool.take(&lane).place.index, 1);
        }
        let calls: Vec<_> = (0..5).map(|_| pool.take(&lane)).collect();
        let places: Vec<_> = calls.iter().map(|call| call.place.index).collect();
        assert_eq!(places, [1, 2, 1, 0, 2]);
    }
}
