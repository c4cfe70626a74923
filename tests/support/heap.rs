//! Counts the memory that is allocated, apart for threads that are marked as the
//! server's. The two share nothing but a socket, so each frees what it took.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

/// The system's allocator, counting bytes.
pub(crate) struct Counting;

static CLIENT: AtomicI64 = AtomicI64::new(0);
static CLIENT_PEAK: AtomicI64 = AtomicI64::new(0);
static SERVER: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static ON_SERVER: Cell<bool> = const { Cell::new(false) };
}

/// Counts what the calling thread takes from now on as the server's.
pub(crate) fn this_thread_is_the_server() {
    ON_SERVER.set(true);
}

/// The bytes that all threads but the server's hold.
pub(crate) fn held() -> i64 {
    CLIENT.load(Ordering::Relaxed)
}

/// The most that these have held at once since the last time this was asked.
pub(crate) fn take_peak() -> i64 {
    CLIENT_PEAK.swap(held(), Ordering::Relaxed).max(held())
}

/// The bytes that the server's threads hold.
#[allow(dead_code, reason = "not every test looks at the server")]
pub(crate) fn held_by_the_server() -> i64 {
    SERVER.load(Ordering::Relaxed)
}

fn count(bytes: i64) {
    // While a thread is being torn down its flag is gone.
    if ON_SERVER.try_with(Cell::get).unwrap_or(false) {
        SERVER.fetch_add(bytes, Ordering::Relaxed);
    } else {
        let now = CLIENT.fetch_add(bytes, Ordering::Relaxed) + bytes;
        CLIENT_PEAK.fetch_max(now, Ordering::Relaxed);
    }
}

// SAFETY: every method hands its arguments to `System` unchanged and returns
// what `System` returns, so `System`'s guarantees are this allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}
