//! The program's allocator.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    io::Write as _,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

/// The system's allocator, except that running out of memory ends the program with one clear line and exit code 1.
///
/// By default Rust aborts: SIGABRT, a core dump, exit code 134. Allocations in other crates are too numerous and too deep to return every failure as
/// an error. Nothing has to be saved, because finished frames are already complete files.
pub struct OneLineOnFailure;

// SAFETY: every call is passed on unchanged to `System`, and its results are returned unchanged unless they are null.
unsafe impl GlobalAlloc for OneLineOnFailure {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller fulfils the contract of `GlobalAlloc::alloc`.
        check(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller fulfils the contract of `GlobalAlloc::alloc_zeroed`.
        check(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller fulfils the contract of `GlobalAlloc::realloc`.
        check(unsafe { System.realloc(ptr, layout, new_size) }, new_size)
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfils the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

fn check(ptr: *mut u8, size: usize) -> *mut u8 {
    if ptr.is_null() {
        out_of_memory(size);
    }
    ptr
}

/// Reports failure without allocating and without locks, because the calling thread may hold any lock. If several threads run out of memory, the
/// first one reports it.
#[cold]
fn out_of_memory(size: usize) -> ! {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    while IS_TOLD.swap(true, Relaxed) {
        std::thread::sleep(Duration::from_millis(1));
    }
    // One write for the whole line, so that other output cannot split it.
    let mut line = [0; 128];
    let mut rest = &mut line[..];
    let _ =
        writeln!(rest, "throng: error: out of memory: {size} more bytes were needed; try a smaller --size or scene");
    let length = 128 - rest.len();
    // SAFETY: the line is valid for its length; a failed write has nowhere to be reported.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), length as _) };
    // SAFETY: `_exit` takes no pointers. It runs no destructors, which might allocate.
    unsafe { libc::_exit(1) }
}
