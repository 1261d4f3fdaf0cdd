//! The triangles of an object in world space at the first frame.

use crate::{files, subjects::Found};
use glam::{Affine3A, Vec3, Vec3A};
use throng_scene::anim::{self, Moment};
use throng_scene::{Placed, Scene};

/// Bytes of memory per triangle for keeping a path outside a solid.
const BYTES_PER_TRIANGLE: u64 = 120;

/// The triangles of an object, including all copies in its assemblies.
///
/// # Errors
/// If memory does not suffice. The text is the end of a sentence about the object.
pub fn of(scene: &Scene, found: &Found) -> Result<Vec<[Vec3; 3]>, String> {
    let counts = scene.per_placed(|mesh| scene.meshes[mesh].triangles().map_or(0, |mesh| mesh.triangles.len() as u64));
    let own = found.instances.iter().map(|&index| counts[scene.instances[index as usize].mesh as usize]);
    let count = own.fold(0, u64::saturating_add);
    files::fits(count.saturating_mul(BYTES_PER_TRIANGLE))
        .map_err(|lack| format!("has {count} triangles, and keeping out of them {lack}: name a smaller thing"))?;
    let moment = Moment::of(scene, scene.settings.start);
    let mut solid = Solid { scene, moment: &moment, triangles: Vec::with_capacity(count as usize) };
    let world = anim::way_world(scene, &moment, &found.around);
    found.instances.iter().for_each(|&index| solid.add(index, world));
    Ok(solid.triangles)
}

struct Solid<'a> {
    scene: &'a Scene,
    moment: &'a Moment,
    triangles: Vec<[Vec3; 3]>,
}

impl Solid<'_> {
    /// Adds everything that an instance places; `around` is the transform of its level.
    fn add(&mut self, index: u32, around: Affine3A) {
        let world = around * anim::instance_world(self.scene, self.moment, index);
        match self.scene.placed_by(&self.scene.instances[index as usize]) {
            Placed::Assembly(assembly) => {
                self.scene.assemblies[assembly].instances.clone().for_each(|inner| self.add(inner, world));
            }
            Placed::Mesh(mesh) => {
                let Some(mesh) = self.scene.meshes[mesh].triangles() else { return };
                let point = |v: u32| Vec3::from(world.transform_point3a(Vec3A::from(mesh.positions[v as usize])));
                self.triangles.extend(mesh.triangles.iter().map(|triangle| triangle.map(point)));
            }
        }
    }
}
