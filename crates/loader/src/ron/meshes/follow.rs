//! `Fur` on a model that moves: each strand follows the point of the surface on which it grows, with the joints and morph targets of the
//! corners of its triangle.

use crate::{meshes::MeshSource, model::MeshMotion, ron::scatter::sites::Site};
use glam::{Affine3A, Vec3, Vec3A};
use std::{ops::Range, sync::Arc};
use throng_scene::{
    CurvePoint, NONE, Shape, TriangleMesh,
    anim::{Deformed, RigPose, shape},
    rig::{Actor, Deformers, DeformingMesh, MorphTarget, Piece},
};

/// A mesh that moves, and its pose at rest.
pub struct MovingMesh<'a> {
    mesh: &'a TriangleMesh,
    actor: &'a Actor,
    deforming: &'a DeformingMesh,
    pose: RigPose,
    /// Vertices of each piece.
    vertices: Vec<Range<u32>>,
}

impl<'a> MovingMesh<'a> {
    /// None for a mesh that does not move.
    pub fn of(source: &'a MeshSource) -> Option<Self> {
        let (MeshMotion::Alive { actor, deforming, .. }, Shape::Triangles(mesh)) = (&source.motion, &source.mesh.shape)
        else {
            return None;
        };
        let mut pose = RigPose::default();
        pose.evaluate(&actor.rig, &[], 0.0);
        let mut next = 0;
        let vertices = deforming.pieces.iter().map(|piece| {
            let first = next;
            next += piece.vertex_count;
            first..next
        });
        Some(Self { mesh, actor, deforming, vertices: vertices.collect(), pose })
    }

    /// The mesh at rest.
    pub fn at_rest(&self, name: &str) -> MeshSource {
        let mut shaped = Deformed::default();
        shape(self.mesh, self.deforming, &self.actor.rig, &self.pose, &mut shaped);
        MeshSource::of_unsplit_shape(name, shaped.on(self.mesh.clone()), NONE)
    }

    fn corners(&self, site: &Site) -> [u32; 3] {
        self.mesh.triangles.get(site.triangle as usize).copied().unwrap_or_default()
    }

    fn piece(&self, site: &Site) -> usize {
        let corner = self.corners(site)[0];
        self.vertices.partition_point(|vertices| vertices.end <= corner).min(self.vertices.len().saturating_sub(1))
    }

    /// Sorts sites by the pieces of the mesh that they are on.
    pub fn sort(&self, sites: &mut [(u32, Site)]) {
        sites.sort_by_key(|(_, site)| self.piece(site));
    }

    /// Moves strands from the rest pose to the space before deformation, and returns how they follow the mesh. `points` are `per_strand` for
    /// each of the `sites`, which are sorted.
    pub fn follow(&self, sites: &[(u32, Site)], per_strand: usize, points: &mut [CurvePoint]) -> MeshMotion {
        let mut pieces = Vec::new();
        for own in sites.chunk_by(|(_, a), (_, b)| self.piece(a) == self.piece(b)) {
            let first: usize = pieces.iter().map(|piece: &Piece| piece.vertex_count as usize).sum();
            let points = &mut points[first..first + own.len() * per_strand];
            pieces.push(self.follow_piece(self.piece(&own[0].1), own, per_strand, points));
        }
        let deforming = DeformingMesh { pieces, ..self.deforming.clone() };
        MeshMotion::Alive { actor: self.actor.clone(), deforming, animated: Default::default() }
    }

    fn follow_piece(&self, index: usize, sites: &[(u32, Site)], per_strand: usize, points: &mut [CurvePoint]) -> Piece {
        let (piece, first) = (&self.deforming.pieces[index], self.vertices[index].start);
        let from = &piece.deformers;
        let (mut joints, weights) = (Vec::new(), self.pose.weights(piece.node));
        self.pose.palette(&self.actor.rig, piece.skin, &mut joints);
        let per_vertex = if joints.is_empty() { 0 } else { from.joints_per_vertex as usize };
        let mut to = Deformers { joints_per_vertex: 3 * per_vertex as u32, ..Deformers::default() };
        to.targets = vec![MorphTarget::default(); from.targets.len()];
        for ((_, site), own) in sites.iter().zip(points.chunks_mut(per_strand)) {
            let corners = self.corners(site).map(|corner| (corner - first) as usize);
            let (mut indices, mut shares) = (Vec::new(), Vec::new());
            for (corner, share) in corners.into_iter().zip(site.weights) {
                let influences = per_vertex * corner..per_vertex * (corner + 1);
                indices.extend(from.joints.get(influences.clone()).unwrap_or_default());
                shares.extend(from.weights.get(influences).unwrap_or_default().iter().map(|weight| weight * share));
            }
            let offsets: Vec<Vec3> = from.targets.iter().map(|target| offset(target, corners, site.weights)).collect();
            let moved: Vec3 = offsets.iter().zip(weights).map(|(offset, weight)| *offset * *weight).sum();
            let placed = match per_vertex {
                0 if piece.placed && piece.skin == NONE => self.pose.world(piece.node),
                0 => Affine3A::IDENTITY,
                _ => blended(&indices, &shares, &joints),
            };
            let back = if placed.matrix3.determinant() == 0.0 { Affine3A::IDENTITY } else { placed.inverse() };
            for point in own {
                point.position = (back.transform_point3(Vec3::from(point.position)) - moved).into();
                to.joints.extend(&indices);
                to.weights.extend(&shares);
                let targets = to.targets.iter_mut().zip(&offsets);
                targets.for_each(|(target, offset)| target.positions.push(offset.to_array()));
            }
        }
        // Widths do not change, so neither do they by the scale of the way back.
        Piece { vertex_count: points.len() as u32, deformers: Arc::new(to), surface: None, ..piece.clone() }
    }
}

/// The offset of a point in a triangle.
fn offset(target: &MorphTarget, corners: [usize; 3], weights: [f32; 3]) -> Vec3 {
    let of = |(corner, weight): (usize, f32)| {
        target.positions.get(corner).map_or(Vec3::ZERO, |&offset| Vec3::from(offset) * weight)
    };
    corners.into_iter().zip(weights).map(of).sum()
}

/// The weighted sum of joints, as vertices are moved.
fn blended(indices: &[u16], weights: &[f32], joints: &[Affine3A]) -> Affine3A {
    let mut sum = Affine3A { matrix3: glam::Mat3A::ZERO, translation: Vec3A::ZERO };
    for (&joint, &weight) in indices.iter().zip(weights) {
        let joint = joints.get(joint as usize).unwrap_or(&Affine3A::IDENTITY);
        sum.matrix3 += joint.matrix3 * weight;
        sum.translation += joint.translation * weight;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::alive;
    use glam::{Affine3, Quat};
    use throng_scene::{
        Curves,
        anim::shape_of_curves,
        rig::{Local, Playback, Rig, RigNode, Skin, Trs},
    };

    /// A triangle whose corners follow a joint that is turned by a quarter about +Z and moved.
    fn source() -> MeshSource {
        let local = Trs {
            translation: Vec3::new(5.0, 0.0, 0.0),
            rotation: Quat::from_rotation_z(std::f32::consts::FRAC_PI_2),
            scale: Vec3::splat(2.0),
        };
        let node = RigNode {
            name: String::new(),
            parent: NONE,
            local: Local::Parts(local),
            weights: vec![0.5],
            visible: true,
        };
        let skin = Skin { name: String::new(), joints: vec![0], joint_from_mesh: vec![Affine3::IDENTITY] };
        let rig = Rig { nodes: vec![node], skins: vec![skin], clips: Vec::new() };
        let deformers = Deformers {
            joints_per_vertex: 4,
            joints: vec![0; 12],
            weights: [1.0, 0.0, 0.0, 0.0].repeat(3),
            targets: vec![MorphTarget { positions: vec![[0.0, 0.0, 3.0]; 3], ..MorphTarget::default() }],
        };
        let mesh = TriangleMesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            triangles: vec![[0, 1, 2]],
            ..TriangleMesh::default()
        };
        let motion = alive(3, rig, 0, deformers, Playback::default());
        MeshSource { motion, ..MeshSource::of_unsplit_shape("skin", mesh, 0) }
    }

    #[test]
    fn strands_are_where_they_grew_and_turn_with_their_joint() {
        let source = source();
        let moving = MovingMesh::of(&source).unwrap_or_else(|| panic!("it moves"));
        let rest = moving.at_rest("skin");
        let Shape::Triangles(mesh) = &rest.mesh.shape else { panic!("triangles") };
        assert!(Vec3::from(mesh.positions[1]).abs_diff_eq(Vec3::new(5.0, 2.0, 3.0), 1e-5), "{:?}", mesh.positions);
        let weights = [0.5, 0.25, 0.25];
        let site = Site { point: Vec3::new(4.5, 0.5, 3.0), normal: Vec3::Z, triangle: 0, weights };
        let grown = [0.0, 1.0].map(|z| CurvePoint { position: [4.5, 0.5, 3.0 + z], radius: 0.1 });
        let mut points = grown.to_vec();
        let MeshMotion::Alive { actor, deforming, .. } = moving.follow(&[(0, site)], 2, &mut points) else {
            panic!("still")
        };
        assert!(Vec3::from(points[1].position).abs_diff_eq(Vec3::new(0.25, 0.25, 0.5), 1e-5), "{points:?}");
        let curves = Curves { points, strands: vec![0], ..Curves::default() };
        let shape_in = |pose: &RigPose| {
            let mut out = Deformed::default();
            shape_of_curves(&curves, &deforming, &actor.rig, pose, &mut out);
            out.positions
        };
        for (point, expected) in shape_in(&moving.pose).iter().zip(grown) {
            assert!(Vec3::from(*point).abs_diff_eq(expected.position.into(), 1e-5), "{point:?}");
        }
    }
}
