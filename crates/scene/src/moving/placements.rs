//! Transforms of instances from code that moves them between frames.

use glam::Affine3;
use std::sync::Arc;

/// Transforms that replace [`Instance::local`](crate::Instance::local) of some instances. The scene itself stays as it is, and so do its trees of
/// meshes.
#[derive(Clone, Debug, Default)]
pub struct Placements {
    /// First instance of a run, and the transforms of the run; ascending, and without overlaps.
    runs: Vec<(u32, Arc<[Affine3]>)>,
}

impl Placements {
    /// Sets the transforms of the instances from `first` on, of which none was set before, or exactly these were.
    pub fn set(&mut self, first: u32, transforms: Arc<[Affine3]>) {
        match self.runs.binary_search_by_key(&first, |run| run.0) {
            Ok(found) => self.runs[found].1 = transforms,
            Err(place) => self.runs.insert(place, (first, transforms)),
        }
    }

    /// The transform of an instance, if it was set.
    pub fn get(&self, instance: u32) -> Option<&Affine3> {
        let run = self.runs.partition_point(|run| run.0 <= instance).checked_sub(1)?;
        let (first, transforms) = &self.runs[run];
        transforms.get((instance - first) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn instances_of_each_run_have_its_transforms() {
        let run = |x: f32, count: usize| vec![Affine3::from_translation(Vec3::splat(x)); count].into();
        let mut placements = Placements::default();
        placements.set(10, run(1.0, 2));
        placements.set(3, run(2.0, 4));
        placements.set(10, run(3.0, 2));
        let x = |instance| placements.get(instance).map(|transform| transform.translation.x);
        assert_eq!(
            [2, 3, 6, 7, 9, 10, 11, 12].map(x),
            [None, Some(2.0), Some(2.0), None, None, Some(3.0), Some(3.0), None]
        );
    }
}
