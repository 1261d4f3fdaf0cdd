//! A counting allocator. A test program that measures memory makes [`Counting`] its global allocator, and measures one thing at a time.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// The system allocator, with a count of the allocated bytes.
pub struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// Calls `work`, and returns its result and the number of bytes that were allocated at the peak of the call in addition to those before it. The count is
/// shared by all threads.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    let made = work();
    (made, MOST.load(Relaxed) - before)
}

// SAFETY: all calls are forwarded to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(now, Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, data: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Large memory shrinks in place. If it grows, it may be copied.
        let more = if size > layout.size() { size } else { 0 };
        MOST.fetch_max(NOW.fetch_add(more, Relaxed) + more, Relaxed);
        NOW.fetch_sub(if more > 0 { layout.size() } else { layout.size() - size }, Relaxed);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(data, layout, size) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(data, layout) }
    }
}
