//! A model as one mesh, in which its parts follow one another, each with its deformers.

use super::{ModelMaterials, unweld::unweld};
use crate::{
    budget,
    gltf::{MeshPart, Model, ModelMesh},
    materials::Materials,
};
use glam::{Affine3, Vec3};
use std::{collections::HashMap, sync::Arc};
use throng_scene::anim::{RigPose, turn_mirrored};
use throng_scene::{
    NONE, TriangleMesh,
    rig::{Deformers, DeformingMesh, MorphTarget, Piece, Rig},
};

/// A model in its bind pose.
pub struct FlatModel {
    pub mesh: TriangleMesh,
    /// Table row of each material slot.
    pub materials: Vec<u32>,
    slot_of: HashMap<u32, u32>,
    pub rig: Arc<Rig>,
    /// The vertices, piece by piece. The indices of mesh and actor are 0.
    pub deforming: DeformingMesh,
}

/// The materials of a model.
pub enum FlatMaterials<'a> {
    Own(ModelMaterials<'a>),
    /// One table row for the whole model.
    Replaced(u32),
}

impl FlatMaterials<'_> {
    /// Row of a model's material in `table`. Removes tangents from `mesh` that the material does not use.
    pub fn row(&mut self, table: &mut Materials, material: u32, mesh: &mut TriangleMesh) -> u32 {
        match self {
            Self::Own(materials) => materials.material(table, material, mesh),
            Self::Replaced(row) => *row,
        }
    }
}

/// Joins the parts of a model into one mesh. The model's rig is passed separately. Parts without normals are shaded flat; if no part has
/// normals, neither has the mesh. Lines are left out. Every copy of a mesh is expanded; [`flat_bytes`] returns the memory for this.
pub fn flatten(model: &Model, rig: Arc<Rig>, materials: &mut FlatMaterials, table: &mut Materials) -> FlatModel {
    let mut rest = RigPose::default();
    rest.evaluate(&rig, &[], 0.0);
    let smooth = model.meshes.iter().any(|m| !m.mesh.normals.is_empty());
    let mut flat = FlatModel {
        mesh: TriangleMesh::default(),
        materials: Vec::new(),
        slot_of: HashMap::new(),
        rig,
        deforming: DeformingMesh {
            mesh: 0,
            actor: 0,
            refit: Default::default(),
            pieces: Vec::new(),
            displacement: None,
        },
    };
    for part in &model.parts {
        let source = &model.meshes[part.mesh as usize];
        if source.has_lines() {
            continue;
        }
        let (mut mesh, deformers) = if smooth && source.mesh.normals.is_empty() {
            unweld(&source.mesh, &source.deformers)
        } else {
            (source.mesh.clone(), source.deformers.clone())
        };
        let mut joints = Vec::new();
        rest.palette(&flat.rig, part.skin, &mut joints);
        turn_mirrored(&mut mesh.triangles, &deformers, &joints);
        let deformers = Arc::new(deformers);
        let slot = flat.slot(materials.row(table, source.material, &mut mesh));
        for placement in &part.placements {
            flat.append(part, &mesh, &deformers, (placement, slot), &rest);
        }
    }
    flat
}

/// Bytes of memory of a model as one mesh.
pub fn flat_bytes(model: &Model) -> u64 {
    let of_part = |part: &MeshPart| {
        let ModelMesh { mesh, deformers, .. } = &model.meshes[part.mesh as usize];
        let joints = model.rig.joint_count(part.skin);
        let each = budget::of_deforming_mesh(mesh, deformers, joints);
        each.saturating_mul(part.placements.len() as u64)
    };
    model.parts.iter().map(of_part).fold(0, u64::saturating_add)
}

impl FlatModel {
    fn slot(&mut self, row: u32) -> u32 {
        *self.slot_of.entry(row).or_insert_with(|| {
            self.materials.push(row);
            self.materials.len() as u32 - 1
        })
    }

    fn append(
        &mut self,
        part: &MeshPart,
        mesh: &TriangleMesh,
        deformers: &Arc<Deformers>,
        (placement, slot): (&Affine3, u32),
        rest: &RigPose,
    ) {
        let first = self.mesh.positions.len() as u32;
        let node = match part.skin {
            NONE => Affine3::from(rest.world(part.node)),
            _ => Affine3::IDENTITY,
        };
        // The winding of mirrored triangles is reversed; otherwise they would show their backs.
        let mirrored = (node * *placement).matrix3.determinant() < 0.0;
        let triangle = |&[a, b, c]: &[u32; 3]| {
            if mirrored { [first + a, first + c, first + b] } else { [first + a, first + b, first + c] }
        };
        let count = mesh.positions.len();
        append_vertices(&mut self.mesh, &placed(mesh, placement), first as usize);
        self.mesh.triangles.extend(mesh.triangles.iter().map(triangle));
        let slots = std::iter::repeat_n(slot, mesh.triangles.len());
        self.mesh.slots.extend(slots);
        self.deforming.pieces.push(Piece {
            vertex_count: count as u32,
            node: part.node,
            placed: true,
            skin: part.skin,
            deformers: placed_deformers(deformers, placement),
            surface: None,
        });
    }
}

/// Appends vertices to the `first` existing ones. Attributes that one of the meshes lacks are filled with default values.
fn append_vertices(to: &mut TriangleMesh, from: &TriangleMesh, first: usize) {
    let end = first + from.positions.len();
    to.positions.extend_from_slice(&from.positions);
    append(&mut to.normals, &from.normals, [0.0, 1.0, 0.0], first, end);
    append(&mut to.uvs, &from.uvs, [0.0; 2], first, end);
    append(&mut to.uvs1, &from.uvs1, [0.0; 2], first, end);
    append(&mut to.colors, &from.colors, [1.0; 4], first, end);
    append(&mut to.tangents, &from.tangents, [1.0, 0.0, 0.0, 1.0], first, end);
}

fn append<T: Copy>(to: &mut Vec<T>, from: &[T], default: T, first: usize, end: usize) {
    if to.is_empty() && from.is_empty() {
        return;
    }
    to.resize(first, default);
    to.extend_from_slice(from);
    to.resize(end, default);
}

fn placed(mesh: &TriangleMesh, placement: &Affine3) -> TriangleMesh {
    let mut placed = mesh.clone();
    if *placement == Affine3::IDENTITY {
        return placed;
    }
    for position in &mut placed.positions {
        *position = placement.transform_point3(Vec3::from(*position)).into();
    }
    let turn = placement.matrix3.inverse().transpose();
    for normal in &mut placed.normals {
        let turned = (turn * Vec3::from(*normal)).normalize_or(Vec3::from(*normal));
        *normal = turned.into();
    }
    // Mirroring flips the side of the bitangent.
    let side = placement.matrix3.determinant().signum();
    for [x, y, z, sign] in &mut placed.tangents {
        let tangent = Vec3::new(*x, *y, *z);
        [*x, *y, *z] = (placement.matrix3 * tangent).normalize_or(tangent).into();
        *sign *= side;
    }
    placed
}

/// Deformers with offsets transformed by the placement of the mesh.
fn placed_deformers(deformers: &Arc<Deformers>, placement: &Affine3) -> Arc<Deformers> {
    let turn = |offsets: &Vec<[f32; 3]>| {
        let offset = |o: &[f32; 3]| (placement.matrix3 * Vec3::from(*o)).into();
        offsets.iter().map(offset).collect()
    };
    let target = |target: &MorphTarget| MorphTarget {
        positions: turn(&target.positions),
        normals: turn(&target.normals),
        tangents: turn(&target.tangents),
    };
    if *placement == Affine3::IDENTITY || deformers.targets.is_empty() {
        return deformers.clone();
    }
    Arc::new(Deformers { targets: deformers.targets.iter().map(target).collect(), ..Deformers::clone(deformers) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_image_has_its_bitangent_on_the_other_side() {
        let mesh = TriangleMesh {
            positions: vec![[0.0; 3]],
            normals: vec![[0.0, 1.0, 0.0]],
            tangents: vec![[1.0, 0.0, 0.0, 1.0]],
            ..TriangleMesh::default()
        };
        for scale in [Vec3::new(-2.0, 1.0, 1.0), Vec3::new(2.0, 3.0, 1.0)] {
            let placement = Affine3::from_scale(scale);
            let placed = placed(&mesh, &placement);
            let [x, y, z, side] = placed.tangents[0];
            let bitangent = Vec3::from(placed.normals[0]).cross(Vec3::new(x, y, z)) * side;
            // It was along -Z before, and the scale does not change that.
            assert!(bitangent.abs_diff_eq(Vec3::NEG_Z, 1e-6), "{scale}");
        }
    }
}
