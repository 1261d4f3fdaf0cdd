//! Scaling of meshes to the size that a scene specifies, independent of the units of their files.

use crate::meshes::MeshSource;
use glam::{Affine3, Vec3};
use std::sync::Arc;
use throng_base::math::Aabb;
use throng_scene::{
    NONE, Shape,
    rig::{Local, Rig, RigNode},
};

/// A scale about a pivot, which is moved to the origin.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    pivot: Vec3,
    scale: f32,
}

impl Fit {
    /// Scales `bounds` to the largest size that fits into a box of this `size`, and moves the centre of their floor to the origin.
    ///
    /// # Errors
    /// If this scale is out of range. The text is the end of a sentence about the mesh.
    pub fn new(bounds: &Aabb, size: Vec3) -> Result<Self, String> {
        let (center, extent) = (bounds.center(), bounds.extent());
        // A side without extent fits any size.
        let scale = (size / extent).min_element();
        if scale.is_normal() && center.is_finite() {
            Ok(Self { pivot: center.with_y(bounds.min.y), scale })
        } else {
            Err(format!("cannot be scaled from {extent} to {size}"))
        }
    }

    fn point(&self, point: [f32; 3]) -> [f32; 3] {
        // For positions far from the origin, this is more precise than a matrix.
        ((Vec3::from(point) - self.pivot) * self.scale).into()
    }

    /// The scale as a transform from the space of the file to the space of the scene.
    pub fn transform(&self) -> Affine3 {
        Affine3::from_scale(Vec3::splat(self.scale)) * Affine3::from_translation(-self.pivot)
    }

    /// Scales a static mesh.
    pub fn mesh(&self, source: &mut MeshSource) {
        let points = source.points.iter_mut();
        points.for_each(|p| *p = self.point(*p));
        source.cage.iter_mut().for_each(|cage| cage.cage.map_points(|p| self.point(p)));
        match &mut source.mesh.shape {
            Shape::Triangles(mesh) => mesh.positions.iter_mut().for_each(|p| *p = self.point(*p)),
            Shape::Curves(curves) => {
                for point in &mut Arc::make_mut(curves).points {
                    point.position = self.point(point.position);
                    point.radius *= self.scale;
                }
            }
            Shape::Sphere => (),
        }
    }

    /// Adds a node with number 0 above all nodes of a rig, which scales it.
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
