//! Instances in an order that memory likes: neighbours in space are neighbours in memory.

use super::world_transforms;
use crate::{
    math::Aabb,
    scene::{Instance, Scene},
};
use glam::{Affine3, Vec3};
use rayon::prelude::*;

/// Instances of a scene and their names: `instances[i]` is number `ids[i]` of the scene.
pub struct OrderedInstances {
    instances: Vec<Instance>,
    ids: Vec<u32>,
}

impl OrderedInstances {
    /// Along the curve of Morton (1966) through the places that the instances have at time 0. Whatever then walks them in the
    /// order of a tree finds the data of the next one in the caches; motions rarely take instances so far that this is lost,
    /// and nothing but speed depends on it. As much memory again as the scene's instances, 100 ns per instance and core.
    pub fn along_curve(scene: &Scene) -> Self {
        let mut transforms = Vec::new();
        world_transforms(scene, 0.0, &mut transforms);
        let bounds = Aabb::of_points(
            transforms
                .iter()
                .map(|t| t.translation)
                .filter(|p| p.is_finite()),
        );
        let code = |t: &Affine3| u64::from(curve_position(&bounds, t.translation));
        let mut keys: Vec<u64> = transforms
            .par_iter()
            .enumerate()
            .map(|(id, transform)| code(transform) << 32 | id as u64)
            .collect();
        keys.par_sort_unstable();
        let ids: Vec<u32> = keys.into_par_iter().map(|key| key as u32).collect();
        let instances = ids
            .par_iter()
            .map(|&id| scene.instances[id as usize])
            .collect();
        Self { instances, ids }
    }

    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    pub fn ids(&self) -> &[u32] {
        &self.ids
    }
}

/// The place of a point on the curve through the box: ten bits of each coordinate, interleaved.
fn curve_position(bounds: &Aabb, point: Vec3) -> u32 {
    let cells = (point - bounds.min) / bounds.extent().max(Vec3::splat(f32::MIN_POSITIVE)) * 1023.0;
    // Casts turn what is no number into 0.
    let [x, y, z] = cells
        .to_array()
        .map(|c| spread(c.clamp(0.0, 1023.0) as u32));
    x << 2 | y << 1 | z
}

/// Puts two zeros between each two of ten bits.
fn spread(bits: u32) -> u32 {
    let bits = (bits | bits << 16) & 0x0300_00ff;
    let bits = (bits | bits << 8) & 0x0300_f00f;
    let bits = (bits | bits << 4) & 0x030c_30c3;
    (bits | bits << 2) & 0x0924_9249
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{math::hash_unit, scene::NONE};

    fn scene(places: impl Iterator<Item = Vec3>) -> Scene {
        let instance = |place| Instance {
            local: Affine3::from_translation(place),
            node: NONE,
            mesh: 0,
            slot_base: 0,
            motion: NONE,
        };
        Scene {
            instances: places.map(instance).collect(),
            ..Scene::default()
        }
    }

    fn scattered() -> Scene {
        scene((0..4000).map(|i| Vec3::from([0, 1, 2].map(|seed| 100.0 * hash_unit(seed, i)))))
    }

    #[test]
    fn neighbours_in_the_order_are_neighbours_in_space() {
        let steps = |instances: &[Instance]| {
            let pairs = instances.windows(2);
            pairs
                .map(|w| w[0].local.translation.distance(w[1].local.translation))
                .sum::<f32>()
        };
        let scene = scattered();
        let ordered = OrderedInstances::along_curve(&scene);
        assert!(steps(ordered.instances()) < 0.2 * steps(&scene.instances));
    }

    #[test]
    fn every_instance_is_there_under_its_name() {
        let scene = scattered();
        let ordered = OrderedInstances::along_curve(&scene);
        for (instance, &id) in ordered.instances().iter().zip(ordered.ids()) {
            let original = &scene.instances[id as usize];
            assert_eq!(instance.local, original.local);
        }
        let mut ids = ordered.ids().to_vec();
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..4000));
    }

    #[test]
    fn places_that_coincide_or_are_no_numbers_have_an_order_too() {
        for place in [Vec3::ONE, Vec3::NAN, Vec3::INFINITY] {
            let ordered = OrderedInstances::along_curve(&scene(std::iter::repeat_n(place, 5)));
            assert_eq!(ordered.ids(), [0, 1, 2, 3, 4]);
        }
        assert!(
            OrderedInstances::along_curve(&Scene::default())
                .ids()
                .is_empty()
        );
    }
}
