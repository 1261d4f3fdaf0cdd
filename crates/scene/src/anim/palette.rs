//! Crowds: instances with nearly equal poses share one deformed mesh.
//!
//! A looped clip has a palette of poses at equal time steps. Memory and work depend on the palette, not on the size of the crowd.

use crate::rig::PoseBuckets;

impl PoseBuckets {
    /// Time of the pose of `bucket`, in seconds of the clip: in [0, duration), and 0 for the first bucket.
    pub fn time(&self, bucket: u32) -> f64 {
        let count = self.count.max(1);
        let share = f64::from(bucket % count) / f64::from(count);
        f64::from(self.duration) * share
    }

    /// The bucket whose pose is closest to an instance's pose at `time` seconds. The instance starts at `phase` of the clip's duration and
    /// plays it at `speed`; a negative speed plays it backwards.
    pub fn bucket(&self, phase: f32, speed: f32, time: f64) -> u32 {
        let count = self.count.max(1);
        let rounds = if self.duration > 0.0 { f64::from(speed) * time / f64::from(self.duration) } else { 0.0 };
        let within = (f64::from(phase) + rounds).rem_euclid(1.0);
        // Past the last pose, the first one is closer. NaN counts as 0.
        (within * f64::from(count)).round() as u32 % count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(throng_testing::same_cases(256))]

        #[test]
        fn a_bucket_shows_the_nearest_pose(
            count in 1u32..100,
            duration in 0.1f32..10.0,
            phase in -2.0f32..2.0,
            speed in -2.0f32..2.0,
            time in 0.0f64..50.0,
        ) {
            let buckets = PoseBuckets { count, duration };
            let bucket = buckets.bucket(phase, speed, time);
            prop_assert!(bucket < count);
            let exact = f64::from(phase) * f64::from(duration) + f64::from(speed) * time;
            let off = (buckets.time(bucket) - exact).rem_euclid(f64::from(duration));
            let off = off.min(f64::from(duration) - off);
            prop_assert!(off <= f64::from(duration) * (0.5 / f64::from(count) + 1e-6));
        }
    }

    #[test]
    fn poses_are_evenly_spaced_and_the_end_is_the_beginning() {
        let buckets = PoseBuckets { count: 4, duration: 2.0 };
        let times: Vec<f64> = (0..5).map(|bucket| buckets.time(bucket)).collect();
        assert_eq!(times, [0.0, 0.5, 1.0, 1.5, 0.0]);
        assert_eq!(buckets.bucket(0.99, 1.0, 0.0), 0);
    }

    #[test]
    fn a_clip_without_length_and_a_palette_without_poses_have_one() {
        let still = PoseBuckets { count: 0, duration: 0.0 };
        assert_eq!((still.time(0), still.bucket(0.7, 1.0, 3.0)), (0.0, 0));
        let nothing = PoseBuckets { count: 8, duration: 1.0 };
        assert_eq!(nothing.bucket(f32::NAN, 1.0, 3.0), 0);
    }
}
