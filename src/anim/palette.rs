//! Crowds: instances whose poses are nearly the same share one deformed mesh.
//!
//! A clip that is looped has a palette of poses at evenly spaced times. Memory and work grow with the palette, not with
//! the crowd.

/// The palette of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseBuckets {
    /// Number of poses; 0 counts as 1.
    pub count: u32,
    /// Seconds that one round of the clip takes at speed 1. 0 for a clip of a single pose.
    pub duration: f32,
}

impl PoseBuckets {
    /// Time of the pose of `bucket`, in seconds of the clip: in [0, duration), the first one at 0.
    pub fn time(&self, bucket: u32) -> f32 {
        let count = self.count.max(1);
        let share = f64::from(bucket % count) / f64::from(count);
        (f64::from(self.duration) * share) as f32
    }

    /// The bucket whose pose is nearest to that of an instance at `time` seconds: one that began `phase` rounds into the
    /// clip and plays it at `speed`, backwards if that is negative.
    pub fn bucket(&self, phase: f32, speed: f32, time: f32) -> u32 {
        let count = self.count.max(1);
        let rounds = if self.duration > 0.0 {
            f64::from(speed) * f64::from(time) / f64::from(self.duration)
        } else {
            0.0
        };
        let within = (f64::from(phase) + rounds).rem_euclid(1.0);
        // Beyond the last pose, the first one is nearer. What is no number counts as 0.
        (within * f64::from(count)).round() as u32 % count
    }
}
