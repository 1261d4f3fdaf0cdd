//! The program: an allocator that fails politely, and [`throng::cli::run`].

use std::{
    alloc::{GlobalAlloc, Layout, System},
    process::ExitCode,
};

#[global_allocator]
static ALLOCATOR: OneLineOnFailure = OneLineOnFailure;

fn main() -> ExitCode {
    throng::cli::run()
}

/// The system's allocator, except that running out of memory ends the program with one clear line and exit code 1.
///
/// By default Rust aborts: SIGABRT, a core dump, exit code 134. Allocations are too many and too deep in other
/// crates to hand every failure up as an error, and nothing has to be saved, because finished frames are complete
/// files already.
struct OneLineOnFailure;

// SAFETY: every call is passed on unchanged to `System`, whose results are returned unchanged unless they are null.
unsafe impl GlobalAlloc for OneLineOnFailure {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        check(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        check(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`.
        check(unsafe { System.realloc(ptr, layout, new_size) }, new_size)
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

fn check(ptr: *mut u8, size: usize) -> *mut u8 {
    if ptr.is_null() {
        out_of_memory(size);
    }
    ptr
}

/// Allocates nothing and takes no lock: whoever is out of memory may hold any of them.
#[cold]
fn out_of_memory(size: usize) -> ! {
    let mut digits = [0; 20];
    let start = write_decimal(size, &mut digits);
    print(b"throng: error: out of memory: ");
    print(&digits[start..]);
    print(b" more bytes were needed; try a smaller --size or scene\n");
    // SAFETY: `_exit` takes no pointers. It runs no destructors, which might allocate.
    unsafe { libc::_exit(1) }
}

/// Writes `number` at the end of `digits` and returns where it starts. No usize has more than 20 digits.
fn write_decimal(mut number: usize, digits: &mut [u8; 20]) -> usize {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return start;
        }
    }
}

fn print(text: &[u8]) {
    // SAFETY: `text` is valid for its whole length; a failed write has nowhere to be reported.
    unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len() as _) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_fill_the_buffer_from_the_end() {
        for number in [0, 7, 10, usize::MAX] {
            let mut digits = [0; 20];
            let start = write_decimal(number, &mut digits);
            assert_eq!(digits[start..], *number.to_string().as_bytes());
        }
    }
}
