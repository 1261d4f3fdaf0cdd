//! How far a device is with the frame under way, while it works.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The samples that a frame has and those that it will have at most, in any unit. The device counts, and others look at any time.
#[derive(Debug, Default)]
pub struct FrameProgress {
    done: AtomicU64,
    all: AtomicU64,
}

impl FrameProgress {
    /// Goes on with a frame that has `done` of `all` samples.
    pub(crate) fn begin(&self, done: u64, all: u64) {
        self.all.store(all, Relaxed);
        self.done.store(done, Relaxed);
    }

    pub(crate) fn add(&self, samples: u64) {
        self.done.fetch_add(samples, Relaxed);
    }

    /// Tells that no frame is under way.
    pub(crate) fn end(&self) {
        self.begin(0, 0);
    }

    /// The share of the frame that is done, from 0 to 1.
    pub fn share(&self) -> f64 {
        let [done, all] = [&self.done, &self.all].map(|count| count.load(Relaxed) as f64);
        if all > 0.0 { (done / all).min(1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_never_more_than_all() {
        let progress = FrameProgress::default();
        assert_eq!(progress.share(), 0.0);
        progress.begin(10, 40);
        assert_eq!(progress.share(), 0.25);
        progress.add(10);
        assert_eq!(progress.share(), 0.5);
        progress.add(100);
        assert_eq!(progress.share(), 1.0);
        progress.end();
        assert_eq!(progress.share(), 0.0);
    }
}
