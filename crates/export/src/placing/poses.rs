//! Places, meshes and visibilities of all instances at all times. Only what changes is kept for more than the first time.

use crate::times::Times;
use glam::Affine3;
use std::{
    collections::{HashMap, HashSet},
    slice,
};
use throng_scene::{
    NONE, Scene,
    anim::{hidden_instances, shown_meshes, world_transforms},
};

/// The instances at all times. Places lead to the world, or to the space of the instance's assembly.
pub struct Poses {
    places: Vec<Affine3>,
    meshes: Vec<u32>,
    hidden: HashSet<u32>,
    /// Places of instances that move.
    moving: Changes<Affine3>,
    /// Meshes of instances that show several.
    changing: Changes<u32>,
    /// Visibilities of instances that appear or disappear, one per sample.
    blinking: HashMap<u32, Vec<bool>>,
}

/// Values of the instances whose value changes, one per sample.
#[derive(Default)]
struct Changes<T> {
    /// Index in `values` of each instance, or [`NONE`]; empty if nothing changes.
    slots: Vec<u32>,
    values: Vec<Vec<T>>,
}

impl<T: Copy + PartialEq> Changes<T> {
    /// Adds the values of a sample. `first` are those of the first sample.
    fn add(&mut self, first: &[T], now: &[T], (sample, count): (usize, usize)) {
        for (index, (first, now)) in first.iter().zip(now).enumerate() {
            if first == now {
                continue;
            }
            self.slots.resize(self.slots.len().max(index + 1), NONE);
            if self.slots[index] == NONE {
                self.slots[index] = self.values.len() as u32;
                self.values.push(vec![*first; count]);
            }
            self.values[self.slots[index] as usize][sample] = *now;
        }
    }

    /// The values of an instance. None if they do not change.
    fn of(&self, index: u32) -> Option<&[T]> {
        let slot = self.slots.get(index as usize)?;
        self.values.get(*slot as usize).map(Vec::as_slice)
    }
}

/// The instances at one time.
struct Pose {
    places: Vec<Affine3>,
    meshes: Vec<u32>,
    hidden: HashSet<u32>,
}

impl Pose {
    fn at(scene: &Scene, times: &Times, sample: usize) -> Self {
        let moment = times.of_objects()[sample].moment(scene);
        let (mut places, mut meshes) = (Vec::new(), Vec::new());
        world_transforms(scene, &moment, &mut places);
        shown_meshes(scene, &scene.instances, &[], &moment, &mut meshes);
        Self { places, meshes, hidden: hidden_instances(scene, &moment).into_iter().collect() }
    }
}

impl Poses {
    pub fn new(scene: &Scene, times: &Times) -> Self {
        let count = times.of_objects().len();
        let first = Pose::at(scene, times, 0);
        let (mut moving, mut changing, mut blinking) = (Changes::default(), Changes::default(), HashMap::new());
        for sample in 1..count {
            let pose = Pose::at(scene, times, sample);
            moving.add(&first.places, &pose.places, (sample, count));
            changing.add(&first.meshes, &pose.meshes, (sample, count));
            // Those that were hidden or are hidden now.
            for &index in first.hidden.union(&pose.hidden) {
                let was_shown = !first.hidden.contains(&index);
                if was_shown == pose.hidden.contains(&index) {
                    blinking.entry(index).or_insert_with(|| vec![was_shown; count]);
                }
            }
            for (index, shown) in &mut blinking {
                shown[sample] = !pose.hidden.contains(index);
            }
        }
        Self { places: first.places, meshes: first.meshes, hidden: first.hidden, moving, changing, blinking }
    }

    /// Whether the instance is visible at any time.
    pub fn is_ever_shown(&self, index: u32) -> bool {
        !self.hidden.contains(&index) || self.blinking.contains_key(&index)
    }

    /// Whether the instance is hidden at any time.
    pub fn is_ever_hidden(&self, index: u32) -> bool {
        self.hidden.contains(&index) || self.blinking.contains_key(&index)
    }

    /// Whether anything of the instance changes.
    pub fn changes(&self, index: u32) -> bool {
        self.moving.of(index).is_some() || self.shows_several(index) || self.blinking.contains_key(&index)
    }

    /// Whether it shows several meshes.
    pub fn shows_several(&self, index: u32) -> bool {
        self.changing.of(index).is_some()
    }

    /// Its places: one per sample, or one for all.
    pub fn places(&self, index: u32) -> &[Affine3] {
        self.moving.of(index).unwrap_or(slice::from_ref(&self.places[index as usize]))
    }

    /// Its meshes: one per sample, or one for all.
    pub fn meshes(&self, index: u32) -> &[u32] {
        self.changing.of(index).unwrap_or(slice::from_ref(&self.meshes[index as usize]))
    }

    /// Whether it is visible in a sample.
    pub fn is_shown(&self, index: u32, sample: usize) -> bool {
        match self.blinking.get(&index) {
            Some(shown) => shown.get(sample).copied().unwrap_or(true),
            None => !self.hidden.contains(&index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changing_values_are_kept_for_all_samples() {
        let samples = [[5, 6, 7, 8], [5, 9, 7, 8], [5, 6, 7, 1]];
        let mut changes = Changes::default();
        for sample in 1..3 {
            changes.add(&samples[0], &samples[sample], (sample, 3));
        }
        assert_eq!(
            (0..5).map(|index| changes.of(index)).collect::<Vec<_>>(),
            [None, Some(&[6, 9, 6][..]), None, Some(&[8, 8, 1][..]), None]
        );
        assert_eq!(changes.values.len(), 2);
    }
}
