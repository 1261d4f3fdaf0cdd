//! Clips: poses, or weights of morph targets, at equal steps of time. The last key is the first one again.

use super::pose::Pose;

/// Something that changes in a loop.
pub struct Clip<T> {
    pub name: &'static str,
    /// Seconds.
    pub duration: f32,
    /// What it is at the times `duration · i / (keys.len() - 1)`.
    pub keys: Vec<T>,
}

pub type Movement = Clip<Pose>;
/// One weight per morph target and key.
pub type Morphing = Clip<Vec<f32>>;

impl<T: Clone> Clip<T> {
    /// Samples `at`, a function of the phase from 0 to 1, at `steps` phases.
    pub fn looped(name: &'static str, duration: f32, steps: usize, at: impl Fn(f32) -> T) -> Self {
        let mut keys: Vec<T> = (0..steps).map(|i| at(i as f32 / steps as f32)).collect();
        keys.push(keys[0].clone());
        Self { name, duration, keys }
    }

    /// Times of the keys.
    pub fn times(&self) -> impl Iterator<Item = f32> {
        let last = (self.keys.len() - 1) as f32;
        (0..self.keys.len()).map(move |i| self.duration * i as f32 / last)
    }
}
