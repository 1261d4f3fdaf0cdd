//! Deforming meshes: morph targets, then skins (glTF 2.0, 3.7.2.2 and 3.7.3.3).
//!
//! Vertices are independent of one another. Chunks of vertices are deformed in parallel; all steps of a chunk run while it is in the cache.

use super::skinning::{place_chunk, skin_chunk};
use crate::{TriangleMesh, rig::Deformers};
use glam::{Affine3A, Vec3, Vec3A};
use rayon::prelude::*;
use throng_base::math::{Aabb, LARGEST_COORDINATE};

/// Vertices per task. Their positions, normals, tangents and offsets fit into a core's cache.
const CHUNK: usize = 4096;

/// The vertices of a mesh before deformation, in mesh space.
#[derive(Clone, Copy, Debug)]
pub struct BindPose<'a> {
    pub positions: &'a [[f32; 3]],
    /// One normal per position, or empty.
    pub normals: &'a [[f32; 3]],
    /// Unit tangents with the sign of the bitangent, one per position, or empty.
    pub tangents: &'a [[f32; 4]],
}

impl<'a> BindPose<'a> {
    pub fn new(mesh: &'a TriangleMesh, tangents: &'a [[f32; 4]]) -> Self {
        Self { positions: &mesh.positions, normals: &mesh.normals, tangents }
    }
}

/// The vertices of a mesh after deformation. Arrays have the lengths of the bind pose; their memory is reused.
#[derive(Clone, Debug)]
pub struct Deformed {
    pub positions: Vec<[f32; 3]>,
    /// Unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Unit tangents; the fourth number is the sign of the bitangent `cross(normal, tangent)`.
    pub tangents: Vec<[f32; 4]>,
    /// Bounds of all positions.
    pub bounds: Aabb,
}

impl Default for Deformed {
    fn default() -> Self {
        Self { positions: Vec::new(), normals: Vec::new(), tangents: Vec::new(), bounds: Aabb::EMPTY }
    }
}

/// Deforms `base` into `out`. First adds the offsets of targets with non-zero `weights`, then applies the blended transforms of `joints`
/// ([`RigPose::palette`](crate::anim::RigPose::palette)), which map to the space of the result. Without a skin, vertices stay in mesh space.
/// Deterministic, parallel.
///
/// Positions that are NaN or beyond [`LARGEST_COORDINATE`] are clamped to the valid range.
pub fn deform(base: BindPose<'_>, deformers: &Deformers, joints: &[Affine3A], weights: &[f32], out: &mut Deformed) {
    out.reserve(&base);
    let movement = Movement { deformers, weights, joints, place: None };
    out.bounds = deform_part(base, &movement, out.part(0, base.positions.len()));
}

/// The deformation of a part of a mesh.
pub(super) struct Movement<'a> {
    pub deformers: &'a Deformers,
    /// Weights of morph targets.
    pub weights: &'a [f32],
    pub joints: &'a [Affine3A],
    /// Transform that is applied to all vertices last.
    pub place: Option<Affine3A>,
}

/// Deforms the vertices of `base` into `out`, which must have the same length, and returns their bounds.
pub(super) fn deform_part(base: BindPose<'_>, movement: &Movement<'_>, out: Chunk<'_>) -> Aabb {
    let boxes: Vec<Aabb> = chunks(out)
        .into_par_iter()
        .map(|mut chunk| {
            chunk.copy(&base);
            chunk.morph(movement.deformers, movement.weights);
            skin_chunk(&mut chunk, movement.deformers, movement.joints);
            if let Some(place) = &movement.place {
                place_chunk(&mut chunk, place);
            }
            chunk.bounds()
        })
        .collect();
    boxes.into_iter().fold(Aabb::EMPTY, Aabb::union)
}

impl Deformed {
    /// Returns `mesh` in this shape.
    #[must_use]
    pub fn on(self, mesh: TriangleMesh) -> TriangleMesh {
        TriangleMesh { positions: self.positions, normals: self.normals, tangents: self.tangents, ..mesh }
    }

    /// Allocates room for the vertices of `base`.
    pub(super) fn reserve(&mut self, base: &BindPose<'_>) {
        let count = base.positions.len();
        self.positions.resize(count, [0.0; 3]);
        self.normals.resize(base.normals.len().min(count), [0.0; 3]);
        let tangents = base.tangents.len().min(count);
        self.tangents.resize(tangents, [0.0; 4]);
    }

    /// The vertices `first..end`.
    pub(super) fn part(&mut self, first: usize, end: usize) -> Chunk<'_> {
        Chunk {
            first: 0,
            positions: self.positions.get_mut(first..end).unwrap_or_default(),
            normals: self.normals.get_mut(first..end).unwrap_or_default(),
            tangents: self.tangents.get_mut(first..end).unwrap_or_default(),
        }
    }
}

impl<'a> BindPose<'a> {
    /// The vertices `first..end`.
    pub(super) fn part(&self, first: usize, end: usize) -> BindPose<'a> {
        BindPose {
            positions: self.positions.get(first..end).unwrap_or_default(),
            normals: self.normals.get(first..end).unwrap_or_default(),
            tangents: self.tangents.get(first..end).unwrap_or_default(),
        }
    }
}

/// A range of the vertices that are being deformed.
pub(super) struct Chunk<'a> {
    pub first: usize,
    pub positions: &'a mut [[f32; 3]],
    pub normals: &'a mut [[f32; 3]],
    pub tangents: &'a mut [[f32; 4]],
}

fn chunks(all: Chunk<'_>) -> Vec<Chunk<'_>> {
    let mut normals = all.normals.chunks_mut(CHUNK);
    let mut tangents = all.tangents.chunks_mut(CHUNK);
    let positions = all.positions.chunks_mut(CHUNK).enumerate();
    positions
        .map(|(index, positions)| Chunk {
            first: index * CHUNK,
            positions,
            normals: normals.next().unwrap_or_default(),
            tangents: tangents.next().unwrap_or_default(),
        })
        .collect()
}

impl Chunk<'_> {
    fn copy(&mut self, base: &BindPose<'_>) {
        fn part<T: Copy>(to: &mut [T], from: &[T], first: usize) {
            let from = from.get(first..first + to.len());
            from.into_iter().for_each(|from| to.copy_from_slice(from));
        }
        part(self.positions, base.positions, self.first);
        part(self.normals, base.normals, self.first);
        part(self.tangents, base.tangents, self.first);
    }

    /// Adds the weighted offsets of targets. Directions with offsets are normalised again.
    fn morph(&mut self, deformers: &Deformers, weights: &[f32]) {
        let weighted = deformers.targets.iter().zip(weights);
        let (mut turned_normals, mut turned_tangents) = (false, false);
        for (target, &weight) in weighted.filter(|(_, weight)| **weight != 0.0) {
            add(self.positions, &target.positions, self.first, weight);
            turned_normals |= add(self.normals, &target.normals, self.first, weight);
            turned_tangents |= add(self.tangents, &target.tangents, self.first, weight);
        }
        if turned_normals {
            for normal in &mut *self.normals {
                *normal = Vec3A::from(*normal).normalize_or(Vec3A::Y).into();
            }
        }
        if turned_tangents {
            for [x, y, z, _] in &mut *self.tangents {
                [*x, *y, *z] = Vec3A::new(*x, *y, *z).normalize_or(Vec3A::X).into();
            }
        }
    }

    /// Clamps all positions to the valid range, and returns their bounds.
    fn bounds(&mut self) -> Aabb {
        let (mut min, mut max) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        for position in &mut *self.positions {
            let p = in_range(Vec3A::from(*position));
            *position = p.into();
            (min, max) = (min.min(p), max.max(p));
        }
        Aabb { min: min.into(), max: max.into() }
    }
}

/// Adds `weight · offsets` to the first three components of each element. The first element is vertex `first`. Returns false if these
/// vertices have no offsets.
fn add<const N: usize>(to: &mut [[f32; N]], offsets: &[[f32; 3]], first: usize, weight: f32) -> bool {
    let offsets = offsets.get(first..first + to.len()).unwrap_or_default();
    for (to, offset) in to.iter_mut().zip(offsets) {
        for (to, offset) in to.iter_mut().zip(offset) {
            *to += weight * offset;
        }
    }
    !offsets.is_empty() && !to.is_empty()
}

/// A position clamped to the valid range.
#[inline]
pub(super) fn in_range(p: Vec3A) -> Vec3A {
    if p.abs().cmple(Vec3A::splat(LARGEST_COORDINATE)).all() { p } else { clamped(p) }
}

#[cold]
fn clamped(p: Vec3A) -> Vec3A {
    let coordinate = |x: f32| {
        if x.is_nan() { 0.0 } else { x.clamp(-LARGEST_COORDINATE, LARGEST_COORDINATE) }
    };
    Vec3::from(p).to_array().map(coordinate).into()
}
