//! Clips: poses or morph weights at equal time steps. The last key equals the first.

use super::pose::Pose;

/// A looped animation of values of type `T`.
pub struct Clip<T> {
    pub name: &'static str,
    /// Duration in seconds.
    pub duration: f32,
    /// Values at the times `duration · i / (keys.len() - 1)`.
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

    /// Times of the keys, in seconds.
    pub fn times(&self) -> impl Iterator<Item = f32> {
        let last = (self.keys.len() - 1) as f32;
        (0..self.keys.len()).map(move |i| self.duration * i as f32 / last)
    }
}
