//! Meshes that change shape: morph targets, then skins (glTF 2.0, 3.7.2.2 and 3.7.3.3).
//!
//! Vertices are independent of each other: chunks of them are deformed side by side, each in one go while it is in cache.

use super::skinning::{place_chunk, skin_chunk};
use crate::{
    math::{Aabb, LARGEST_COORDINATE},
    scene::{TriangleMesh, rig::Deformers},
};
use glam::{Affine3A, Vec3, Vec3A};
use rayon::prelude::*;

/// Vertices per task: their positions, normals, tangents and offsets fit a core's cache.
const CHUNK: usize = 4096;

/// The vertices of a mesh before it is deformed, in the mesh's own space.
#[derive(Clone, Copy, Debug)]
pub struct BindPose<'a> {
    pub positions: &'a [[f32; 3]],
    /// One per position, or empty.
    pub normals: &'a [[f32; 3]],
    /// Unit tangents and the sign of the bitangent, one per position, or empty.
    pub tangents: &'a [[f32; 4]],
}

impl<'a> BindPose<'a> {
    pub fn new(mesh: &'a TriangleMesh, tangents: &'a [[f32; 4]]) -> Self {
        Self {
            positions: &mesh.positions,
            normals: &mesh.normals,
            tangents,
        }
    }
}

/// Vertices after it. Arrays are as long as those of the bind pose and keep their memory.
#[derive(Clone, Debug)]
pub struct Deformed {
    pub positions: Vec<[f32; 3]>,
    /// Unit length.
    pub normals: Vec<[f32; 3]>,
    /// Unit length; the fourth number is the sign of the bitangent `cross(normal, tangent)`.
    pub tangents: Vec<[f32; 4]>,
    /// Of all positions.
    pub bounds: Aabb,
}

impl Default for Deformed {
    fn default() -> Self {
        Self {
            positions: Vec::new(),
            normals: Vec::new(),
            tangents: Vec::new(),
            bounds: Aabb::EMPTY,
        }
    }
}

/// Deforms `base` into `out`: offsets of targets whose `weights` are not 0, then the blended transforms of `joints`
/// ([`RigPose::palette`](super::RigPose::palette)), in the space that these lead to. Without a skin, vertices stay in the mesh's
/// space. Deterministic, parallel.
///
/// Positions that are no numbers, or beyond [`LARGEST_COORDINATE`], are brought back into range.
pub fn deform(
    base: BindPose<'_>,
    deformers: &Deformers,
    joints: &[Affine3A],
    weights: &[f32],
    out: &mut Deformed,
) {
    out.reserve(&base);
    let movement = Movement {
        deformers,
        weights,
        joints,
        place: None,
    };
    out.bounds = deform_part(base, &movement, out.part(0, base.positions.len()));
}

/// What is done to the vertices of a part of a mesh.
pub(super) struct Movement<'a> {
    pub deformers: &'a Deformers,
    /// Of morph targets.
    pub weights: &'a [f32],
    pub joints: &'a [Affine3A],
    /// Applied to all vertices in the end.
    pub place: Option<Affine3A>,
}

/// Deforms the vertices of `base` into `out`, which has as many, and returns their bounds.
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
    /// `mesh` in this shape.
    #[must_use]
    pub fn on(self, mesh: TriangleMesh) -> TriangleMesh {
        TriangleMesh {
            positions: self.positions,
            normals: self.normals,
            tangents: self.tangents,
            ..mesh
        }
    }

    /// Makes room for the vertices of `base`.
    pub(super) fn reserve(&mut self, base: &BindPose<'_>) {
        let count = base.positions.len();
        self.positions.resize(count, [0.0; 3]);
        self.normals.resize(base.normals.len().min(count), [0.0; 3]);
        let tangents = base.tangents.len().min(count);
        self.tangents.resize(tangents, [0.0; 4]);
    }

    /// Vertices `first` to `end`.
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
    /// Vertices `first` to `end`.
    pub(super) fn part(&self, first: usize, end: usize) -> BindPose<'a> {
        BindPose {
            positions: self.positions.get(first..end).unwrap_or_default(),
            normals: self.normals.get(first..end).unwrap_or_default(),
            tangents: self.tangents.get(first..end).unwrap_or_default(),
        }
    }
}

/// Some of the vertices that are being deformed.
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

    /// Adds the offsets of targets. Directions become unit vectors again where some were added.
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

    /// Bounds of the positions, all of which are in range afterwards.
    fn bounds(&mut self) -> Aabb {
        let limit = Vec3A::splat(LARGEST_COORDINATE);
        let (mut min, mut max) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        for position in &mut *self.positions {
            let mut p = Vec3A::from(*position);
            if !p.abs().cmple(limit).all() {
                p = in_range(p);
                *position = p.into();
            }
            (min, max) = (min.min(p), max.max(p));
        }
        Aabb {
            min: min.into(),
            max: max.into(),
        }
    }
}

/// Adds `weight · offsets`, those of the vertices from `first` on, to the first three numbers of each element. False if there
/// are none.
fn add<const N: usize>(
    to: &mut [[f32; N]],
    offsets: &[[f32; 3]],
    first: usize,
    weight: f32,
) -> bool {
    let offsets = offsets.get(first..first + to.len()).unwrap_or_default();
    for (to, offset) in to.iter_mut().zip(offsets) {
        for (to, offset) in to.iter_mut().zip(offset) {
            *to += weight * offset;
        }
    }
    !offsets.is_empty() && !to.is_empty()
}

#[cold]
fn in_range(p: Vec3A) -> Vec3A {
    let coordinate = |x: f32| {
        if x.is_nan() {
            0.0
        } else {
            x.clamp(-LARGEST_COORDINATE, LARGEST_COORDINATE)
        }
    };
    Vec3::from(p).to_array().map(coordinate).into()
}
