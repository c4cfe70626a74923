//! Counts the allocations of the process, apart for threads that are marked as
//! the server's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, counting.
pub(crate) struct Counting;

static ALL: AtomicU64 = AtomicU64::new(0);
static SERVER: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static ON_SERVER: Cell<bool> = const { Cell::new(false) };
}

/// Counts what the calling thread allocates from now on as the server's.
pub(crate) fn this_thread_is_the_server() {
    ON_SERVER.set(true);
}

/// How many allocations there have been.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocations {
    /// In the whole process.
    pub(crate) all: u64,
    /// On threads marked as the server's.
    pub(crate) server: u64,
}

impl Allocations {
    /// Since the process started.
    pub(crate) fn now() -> Self {
        Self {
            all: ALL.load(Ordering::Relaxed),
            server: SERVER.load(Ordering::Relaxed),
        }
    }

    /// Since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            all: self.all - earlier.all,
            server: self.server - earlier.server,
        }
    }

    /// On threads that are not the server's.
    pub(crate) fn client(self) -> u64 {
        self.all - self.server
    }
}

fn count() {
    ALL.fetch_add(1, Ordering::Relaxed);
    // While a thread is being torn down its flag is gone; that is nobody's row.
    if ON_SERVER.try_with(Cell::get).unwrap_or(false) {
        SERVER.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every method hands its arguments to `System` unchanged and returns
// what `System` returns, so `System`'s guarantees are this allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}
