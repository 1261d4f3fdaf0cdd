//! Progress of the frame that a device is working on.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The number of samples that a frame has and its maximum, in any unit. The device updates them; other threads may read them at any time.
#[derive(Debug, Default)]
pub struct FrameProgress {
    done: AtomicU64,
    all: AtomicU64,
    /// Number of finished frames among those that contribute to the frame that is written, and their total number minus one.
    parts: AtomicU64,
    more_parts: AtomicU64,
}

impl FrameProgress {
    /// Continues a frame that has `done` of `all` samples.
    pub(crate) fn begin(&self, done: u64, all: u64) {
        self.all.store(all, Relaxed);
        self.done.store(done, Relaxed);
    }

    pub(crate) fn add(&self, samples: u64) {
        self.done.fetch_add(samples, Relaxed);
    }

    /// Records that no frame is under way.
    pub(crate) fn end(&self) {
        self.begin(0, 0);
    }

    /// Records that `parts` frames contribute to the frame that is written, and that `before` of them are finished.
    #[doc(hidden)]
    pub fn set_part(&self, before: u32, parts: u32) {
        self.parts.store(before.into(), Relaxed);
        self.more_parts.store(parts.saturating_sub(1).into(), Relaxed);
    }

    /// Records that no frame is under way, and that no part of one is finished.
    #[doc(hidden)]
    pub fn reset(&self) {
        self.end();
        self.set_part(0, 1);
    }

    /// Fraction of the frame that is done, from 0 to 1.
    pub fn share(&self) -> f64 {
        let counts = [&self.done, &self.all, &self.parts, &self.more_parts];
        let [done, all, parts, more_parts] = counts.map(|count| count.load(Relaxed) as f64);
        let part = if all > 0.0 { (done / all).min(1.0) } else { 0.0 };
        ((parts + part) / (more_parts + 1.0)).min(1.0)
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
        progress.set_part(2, 4);
        assert_eq!(progress.share(), 0.75);
        progress.end();
        assert_eq!(progress.share(), 0.5);
        progress.reset();
        assert_eq!(progress.share(), 0.0);
    }
}
