//! Locks that outlive a panic.

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

/// Locks a mutex even if a thread panicked while it held the lock. The panic is reported where it happened, and the data of all our mutexes are
/// consistent between any two statements.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

/// As [`lock`], for other ways to a locked value: waits for a `Condvar`, an `RwLock`, `into_inner`.
pub fn unpoisoned<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}
