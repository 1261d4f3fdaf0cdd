//! Meshes: triangles, curves and spheres.

use super::curves::Curves;
use glam::Vec3;
use rayon::prelude::*;
use std::sync::Arc;
use throng_base::math::Aabb;

/// Number of vertices per task when computing the bounds of a mesh.
const BOUNDED: usize = 1 << 16;

/// A shape with one BLAS, independent of the number of its instances.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// Name in the scene file or model.
    pub name: String,
    /// Its geometry.
    pub shape: Shape,
    /// Number of material slots its triangles use (at least 1).
    pub slot_count: u32,
}

/// The geometry of a mesh.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A surface of triangles.
    Triangles(TriangleMesh),
    /// Hair, grass or fibres. Shared with the trees.
    Curves(Arc<Curves>),
    /// The analytic sphere of radius 1 at the origin of object space.
    Sphere,
}

/// Indexed triangles in object space, counter-clockwise seen from outside.
#[derive(Clone, Debug, Default)]
pub struct TriangleMesh {
    /// Vertices in object space.
    pub positions: Vec<[f32; 3]>,
    /// Indices into `positions` (and into `normals` and `uvs` where present); never empty.
    pub triangles: Vec<[u32; 3]>,
    /// Unit shading normals, one per position, or empty: flat shading.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates: one per position, or empty.
    pub uvs: Vec<[f32; 2]>,
    /// A second set of texture coordinates: one per position, or empty.
    pub uvs1: Vec<[f32; 2]>,
    /// Linear colour and alpha that multiply the material's: one per position, or empty.
    pub colors: Vec<[f32; 4]>,
    /// Unit tangents along increasing `u`, one per position, or empty. The bitangent, along increasing `v`, is `cross(normal, tangent.xyz)
    /// * tangent.w`, and `w` is 1 or -1.
    pub tangents: Vec<[f32; 4]>,
    /// Material slot of each triangle, or empty: all 0.
    pub slots: Vec<u32>,
}

impl Mesh {
    /// Bounds in object space.
    pub fn bounds(&self) -> Aabb {
        match &self.shape {
            Shape::Triangles(m) => {
                let bounds = |part: &[[f32; 3]]| Aabb::of_points(part.iter().copied().map(Vec3::from));
                m.positions.par_chunks(BOUNDED).map(bounds).reduce(|| Aabb::EMPTY, Aabb::union)
            }
            Shape::Curves(curves) => curves.bounds(),
            Shape::Sphere => Aabb { min: Vec3::NEG_ONE, max: Vec3::ONE },
        }
    }

    /// The triangles of the mesh; None for other shapes.
    #[inline]
    pub fn triangles(&self) -> Option<&TriangleMesh> {
        match &self.shape {
            Shape::Triangles(triangles) => Some(triangles),
            Shape::Curves(_) | Shape::Sphere => None,
        }
    }

    /// Number of primitives: triangles, segments of curves, or 1 for a sphere.
    #[inline]
    pub fn prim_count(&self) -> usize {
        match &self.shape {
            Shape::Triangles(m) => m.triangles.len(),
            Shape::Curves(curves) => curves.segment_count(),
            Shape::Sphere => 1,
        }
    }
}
