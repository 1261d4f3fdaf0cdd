//! Places, meshes and visibilities of all instances at all times. Only what changes is kept for more than the first time.

use crate::times::Times;
use glam::Affine3;
use std::{
    collections::{HashMap, HashSet},
    slice,
};
use throng_scene::{
    Scene,
    anim::{hidden_instances, shown_meshes, world_transforms},
};

/// The instances at all times. Places lead to the world, or to the space of the instance's assembly.
pub struct Poses {
    places: Vec<Affine3>,
    meshes: Vec<u32>,
    hidden: HashSet<u32>,
    /// Places of instances that move, one per sample.
    moving: HashMap<u32, Vec<Affine3>>,
    /// Meshes of instances that show several, one per sample.
    changing: HashMap<u32, Vec<u32>>,
    /// Visibilities of instances that appear or disappear, one per sample.
    blinking: HashMap<u32, Vec<bool>>,
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
        let (mut moving, mut changing, mut blinking) = (HashMap::new(), HashMap::new(), HashMap::new());
        for sample in 1..count {
            let pose = Pose::at(scene, times, sample);
            extend(&mut moving, &first.places, &pose.places, (sample, count));
            extend(&mut changing, &first.meshes, &pose.meshes, (sample, count));
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

    /// Whether anything of the instance changes.
    pub fn changes(&self, index: u32) -> bool {
        self.moving.contains_key(&index) || self.shows_several(index) || self.blinking.contains_key(&index)
    }

    /// Whether it shows several meshes.
    pub fn shows_several(&self, index: u32) -> bool {
        self.changing.contains_key(&index)
    }

    /// Its places: one per sample, or one for all.
    pub fn places(&self, index: u32) -> &[Affine3] {
        self.moving.get(&index).map_or(slice::from_ref(&self.places[index as usize]), Vec::as_slice)
    }

    /// Its meshes: one per sample, or one for all.
    pub fn meshes(&self, index: u32) -> &[u32] {
        self.changing.get(&index).map_or(slice::from_ref(&self.meshes[index as usize]), Vec::as_slice)
    }

    /// Whether it is visible in a sample.
    pub fn is_shown(&self, index: u32, sample: usize) -> bool {
        match self.blinking.get(&index) {
            Some(shown) => shown.get(sample).copied().unwrap_or(true),
            None => !self.hidden.contains(&index),
        }
    }
}

/// Adds the values of a sample to those of the instances whose values changed so far.
fn extend<T: Copy + PartialEq>(
    known: &mut HashMap<u32, Vec<T>>,
    first: &[T],
    now: &[T],
    (sample, count): (usize, usize),
) {
    for (index, (first, now)) in (0..).zip(first.iter().zip(now)) {
        if first != now {
            known.entry(index).or_insert_with(|| vec![*first; count]);
        }
    }
    for (index, values) in known.iter_mut() {
        values[sample] = now[*index as usize];
    }
}
