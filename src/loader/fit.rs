//! Meshes scaled to a size that a scene wants, whatever units their files have.

use super::meshes::MeshSource;
use crate::{
    math::Aabb,
    scene::{
        NONE, Shape,
        rig::{Local, Rig, RigNode},
    },
};
use glam::{Affine3, Vec3};

/// A scale about a point that becomes the origin.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    pivot: Vec3,
    scale: f32,
}

impl Fit {
    /// Makes `bounds` as large as a box of this `size` has room for, with the middle of their floor at the origin.
    ///
    /// # Errors
    /// The end of a sentence about the mesh, when such a scale is out of range.
    pub fn new(bounds: &Aabb, size: Vec3) -> Result<Self, String> {
        let (center, extent) = (bounds.center(), bounds.extent());
        // A flat side has room anywhere.
        let scale = (size / extent).min_element();
        match scale.is_normal() && center.is_finite() {
            true => Ok(Self { pivot: center.with_y(bounds.min.y), scale }),
            false => Err(format!("cannot be scaled from {extent} to {size}")),
        }
    }

    fn point(&self, point: [f32; 3]) -> [f32; 3] {
        // What is far from the origin keeps more of its digits than with a matrix.
        ((Vec3::from(point) - self.pivot) * self.scale).into()
    }

    /// The same as a transform, from the space of the file to that of the scene.
    pub fn transform(&self) -> Affine3 {
        Affine3::from_scale(Vec3::splat(self.scale)) * Affine3::from_translation(-self.pivot)
    }

    /// Scales a mesh at rest.
    pub fn mesh(&self, source: &mut MeshSource) {
        let points = source.points.iter_mut();
        points.for_each(|p| *p = self.point(*p));
        if let Shape::Triangles(mesh) = &mut source.mesh.shape {
            mesh.positions.iter_mut().for_each(|p| *p = self.point(*p));
        }
    }

    /// Puts a new node, number 0, above all nodes of a rig.
    pub fn rig(&self, rig: &mut Rig) {
        let joints = rig.skins.iter_mut().flat_map(|skin| &mut skin.joints);
        joints.for_each(|joint| *joint += 1);
        let channels = rig.clips.iter_mut().flat_map(|clip| &mut clip.channels);
        channels.for_each(|channel| channel.node += 1);
        for node in &mut rig.nodes {
            node.parent = if node.parent == NONE { 0 } else { node.parent + 1 };
        }
        let local = Local::Matrix(self.transform());
        let name = "fit".to_owned();
        rig.nodes.insert(0, RigNode { name, parent: NONE, local, weights: Vec::new(), visible: true });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_side_gets_the_size_and_the_floor_the_origin() {
        let bounds = Aabb { min: Vec3::new(1e6, 100.0, -4.0), max: Vec3::new(1e6 + 2.0, 101.0, 4.0) };
        let fit = Fit::new(&bounds, Vec3::splat(4.0)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(fit.point(bounds.min.into()), [-0.5, 0.0, -2.0]);
        assert_eq!(fit.point(bounds.max.into()), [0.5, 0.5, 2.0]);
        let low = Fit::new(&bounds, Vec3::new(4.0, 0.25, 4.0)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(low.point(bounds.max.into()), [0.25, 0.25, 1.0]);
    }

    #[test]
    fn what_has_no_size_cannot_be_scaled() {
        let flat = Aabb { min: Vec3::ZERO, max: Vec3::ZERO };
        assert!(Fit::new(&flat, Vec3::ONE).is_err_and(|e| e == "cannot be scaled from [0, 0, 0] to [1, 1, 1]"));
        let huge = Aabb { min: Vec3::splat(-3e38), max: Vec3::splat(3e38) };
        assert!(Fit::new(&huge, Vec3::ONE).is_err());
    }
}
