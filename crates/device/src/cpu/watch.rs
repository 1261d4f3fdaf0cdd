//! Stops long launches early. Kernels cannot check for a stop, so a thread checks while they run and sets `TreeParams::detour`.
//!
//! Traversal reads this value whenever it enters an instance, in place of the test for assemblies, so the check costs nothing. Rays end there, and
//! the results of the launch are discarded.

use crate::Stop;
use std::{
    mem,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};
use throng_base::sync::lock;

/// Time between two checks.
const INTERVAL: Duration = Duration::from_millis(50);
/// Number of intervals without a launch after which the watching thread ends.
const IDLE: u32 = 20;

/// A running launch.
struct Watched {
    number: u64,
    stop: *const Stop<'static>,
    flag: *const AtomicU32,
    /// The value of the flag that ends the launch.
    ends: u32,
}

// SAFETY: `Stop` and the flag are `Sync`, and `watched` keeps both alive while the launch is listed.
unsafe impl Send for Watched {}

struct Launches {
    all: Vec<Watched>,
    next: u64,
    has_thread: bool,
}

static LAUNCHES: Mutex<Launches> = Mutex::new(Launches { all: Vec::new(), next: 0, has_thread: false });

/// Runs `work`. Sets `flag` to `ends` while it runs if `stop` returns true; its results are to be discarded then.
pub fn watched<T>(stop: &Stop, flag: &AtomicU32, ends: u32, work: impl FnOnce() -> T) -> T {
    /// Removes the launch from the list when dropped, even if `work` panics.
    struct Listed(u64);
    impl Drop for Listed {
        fn drop(&mut self) {
            lock(&LAUNCHES).all.retain(|launch| launch.number != self.0);
        }
    }
    // SAFETY: only the lifetime changes. The launch is removed from the list before `stop` ends.
    let stop = unsafe { mem::transmute::<*const Stop<'_>, *const Stop<'static>>(stop) };
    let mut launches = lock(&LAUNCHES);
    let listed = Listed(launches.next);
    launches.next += 1;
    launches.all.push(Watched { number: listed.0, stop, flag, ends });
    // If no thread can be started, a stop takes effect only between batches.
    launches.has_thread = launches.has_thread || start();
    drop(launches);
    let done = work();
    drop(listed);
    done
}

fn start() -> bool {
    let watch = || {
        let mut idle = 0;
        loop {
            thread::sleep(INTERVAL);
            let mut launches = lock(&LAUNCHES);
            idle = if launches.all.is_empty() { idle + 1 } else { 0 };
            if idle >= IDLE {
                launches.has_thread = false;
                return;
            }
            for launch in &launches.all {
                // SAFETY: the launch is listed, so both are alive.
                let (stop, flag) = unsafe { (&*launch.stop, &*launch.flag) };
                if stop() {
                    flag.store(launch.ends, Relaxed);
                }
            }
        }
    };
    thread::Builder::new().name("stop".into()).stack_size(256 << 10).spawn(watch).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::atomic::AtomicBool, time::Instant};

    #[test]
    fn work_that_asks_nobody_is_told_to_end() {
        let (stop, flag) = (AtomicBool::new(false), AtomicU32::new(0));
        let begun = Instant::now();
        let turns = watched(&|| stop.load(Relaxed), &flag, 7, || {
            let mut turns = 0u32;
            while flag.load(Relaxed) != 7 {
                turns += 1;
                stop.store(turns > 3, Relaxed);
                thread::sleep(Duration::from_millis(1));
                assert!(begun.elapsed() < Duration::from_secs(60), "nobody has set the flag");
            }
            turns
        });
        assert!(turns > 3);
        // Finished launches are not signalled.
        flag.store(0, Relaxed);
        thread::sleep(3 * INTERVAL);
        assert_eq!(flag.load(Relaxed), 0);
    }
}
