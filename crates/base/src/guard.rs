//! A guard around third-party decoders: a panic while decoding a file becomes an error for that file instead of ending the program.

use std::{
    any::Any,
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local! {
    /// Number of guarded calls on this thread's stack.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Returns the result of `decode`. A panic becomes an error, which `damaged` creates from the panic's message.
///
/// Only the calling thread is guarded; a decoder with several threads needs a guard on each.
pub fn guarded<T, E>(decode: impl FnOnce() -> Result<T, E>, damaged: impl FnOnce(&str) -> E) -> Result<T, E> {
    DEPTH.set(DEPTH.get() + 1);
    // Unwind safe, because all state of the decoder is dropped with it.
    let result = catch_unwind(AssertUnwindSafe(decode));
    DEPTH.set(DEPTH.get() - 1);
    result.unwrap_or_else(|panic| Err(damaged(words(&*panic))))
}

/// Whether a panic on this thread will become an error and must not be printed.
pub fn is_active() -> bool {
    DEPTH.get() > 0
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("its decoder failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_its_words() {
        let decode = |index: usize| {
            guarded(
                || [1, 2].get(index).copied().ok_or_else(|| panic!("no {index}")),
                |words| format!("damaged: {words}"),
            )
        };
        assert_eq!(decode(1), Ok(2));
        assert_eq!(decode(7), Err("damaged: no 7".to_owned()));
    }

    #[test]
    fn the_guard_is_active_within_and_on_its_own_thread_only() {
        let elsewhere = || std::thread::spawn(is_active).join().ok();
        let within = guarded(|| Ok::<_, ()>((is_active(), elsewhere())), |_| ());
        assert_eq!(within, Ok((true, Some(false))));
        let after_a_panic = guarded::<(), _>(|| panic!("odd"), |_| is_active());
        assert_eq!(after_a_panic, Err(false));
    }
}
