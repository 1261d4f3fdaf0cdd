//! Shapes of a scene's deforming meshes at a time.

use super::{
    deform::{Movement, deform_part},
    displace::displace_vertices,
    surface,
};
use crate::{
    Curves, NONE, Scene, Shape, TriangleMesh,
    anim::{BindPose, Deformed, Moment, RigPose},
    rig::{DeformingMesh, Piece, Rig},
};
use glam::Vec3;
use rayon::prelude::*;
use throng_base::math::Aabb;

/// Writes the shape of a deforming mesh of `scene` at `moment` to `out`; see [`shape`]. Does nothing if the mesh or its actor does not
/// exist.
pub fn shape_at(scene: &Scene, deforming: &DeformingMesh, moment: &Moment, out: &mut Deformed) {
    let actor = scene.actors.get(deforming.actor as usize);
    let mesh = scene.meshes.get(deforming.mesh as usize);
    let (Some(actor), Some(pose), Some(mesh)) = (actor, moment.actor(deforming.actor), mesh) else { return };
    match &mesh.shape {
        Shape::Triangles(mesh) => shape(mesh, deforming, &actor.rig, pose, out),
        Shape::Curves(curves) => shape_of_curves(curves, deforming, &actor.rig, pose, out),
        Shape::Sphere => {}
    }
}

/// Deforms the points of `curves` as [`shape`] deforms vertices. Bounds contain the curves with their radii.
pub fn shape_of_curves(curves: &Curves, deforming: &DeformingMesh, rig: &Rig, pose: &RigPose, out: &mut Deformed) {
    let positions: Vec<[f32; 3]> = curves.points.par_iter().map(|point| point.position).collect();
    let bind = BindPose { positions: &positions, normals: &[], tangents: &[] };
    deform_pieces(bind, deforming, rig, pose, out);
    let radius = curves.points.par_iter().map(|point| point.radius).reduce(|| 0.0, f32::max);
    if !out.bounds.is_empty() {
        out.bounds = Aabb { min: out.bounds.min - radius, max: out.bounds.max + radius };
    }
}

/// Deforms `mesh`, which has the bind pose of `deforming`, into `out`. Pieces placed by a skin or by their node end up in the rig's root
/// space; other pieces stay in mesh space. If several pieces share the mesh, hidden pieces collapse to points. Deterministic, parallel.
pub fn shape(mesh: &TriangleMesh, deforming: &DeformingMesh, rig: &Rig, pose: &RigPose, out: &mut Deformed) {
    deform_pieces(BindPose::new(mesh, &mesh.tangents), deforming, rig, pose, out);
}

fn deform_pieces(bind: BindPose<'_>, deforming: &DeformingMesh, rig: &Rig, pose: &RigPose, out: &mut Deformed) {
    out.reserve(&bind);
    out.bounds = Aabb::EMPTY;
    let (mut first, mut joints, mut cage) = (0, Vec::new(), Deformed::default());
    for piece in &deforming.pieces {
        let end = first + piece.vertex_count as usize;
        pose.palette(rig, piece.skin, &mut joints);
        let movement = Movement {
            deformers: &piece.deformers,
            weights: pose.weights(piece.node),
            joints: &joints,
            place: is_placed(piece).then(|| pose.world(piece.node)),
        };
        let (base, part) = (bind.part(first, end), out.part(first, end));
        let mut bounds = match &piece.surface {
            Some(surface) => {
                let rest = BindPose { positions: &surface.cage, normals: &[], tangents: &[] };
                cage.reserve(&rest);
                deform_part(rest, &movement, cage.part(0, surface.cage.len()));
                surface::limit_surface(surface, &cage.positions, part)
            }
            None => deform_part(base, &movement, part),
        };
        if piece.placed && !pose.is_shown(piece.node) {
            let point = pose.world(piece.node).translation.into();
            out.part(first, end).positions.fill(point);
            bounds = Aabb::of_points([Vec3::from(point)]);
        }
        out.bounds = out.bounds.union(bounds);
        first = end;
    }
    if let Some(displacement) = &deforming.displacement {
        out.bounds = displace_vertices(displacement, out.part(0, first));
    }
}

fn is_placed(piece: &Piece) -> bool {
    piece.placed && piece.skin == NONE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CurvePoint;
    use crate::rig::{Deformers, Local, MorphTarget, RigNode, Skin, Trs};
    use glam::{Affine3, Quat};
    use std::sync::Arc;

    fn node(translation: Vec3, weights: Vec<f32>) -> RigNode {
        RigNode {
            name: String::new(),
            parent: NONE,
            local: Local::Parts(Trs { translation, rotation: Quat::IDENTITY, scale: Vec3::new(-1.0, 1.0, 1.0) }),
            weights,
            visible: true,
        }
    }

    fn piece(node: u32, placed: bool, skin: u32, deformers: Deformers) -> Piece {
        Piece { vertex_count: 3, node, placed, skin, deformers: Arc::new(deformers), surface: None }
    }

    #[test]
    fn pieces_follow_their_node_their_skin_or_their_targets() {
        let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let mesh = TriangleMesh {
            positions: [corners, corners, corners].concat(),
            normals: vec![[1.0, 0.0, 0.0]; 9],
            triangles: vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]],
            ..TriangleMesh::default()
        };
        let mut rig = Rig {
            nodes: vec![node(Vec3::Y, vec![]), node(2.0 * Vec3::Z, vec![0.5])],
            skins: vec![Skin { name: String::new(), joints: vec![1], joint_from_mesh: vec![Affine3::IDENTITY] }],
            ..Rig::default()
        };
        let skinned = Deformers {
            joints_per_vertex: 4,
            joints: vec![0; 12],
            weights: [1.0, 0.0, 0.0, 0.0].repeat(3),
            targets: Vec::new(),
        };
        let target = MorphTarget { positions: vec![[0.0, 0.0, 4.0]; 3], ..MorphTarget::default() };
        let morphed = Deformers { targets: vec![target], ..Deformers::default() };
        let deforming = DeformingMesh {
            mesh: 0,
            actor: 0,
            refit: Default::default(),
            pieces: vec![
                piece(0, true, NONE, Deformers::default()),
                piece(0, true, 0, skinned),
                piece(1, false, NONE, morphed),
            ],
            displacement: None,
        };
        let (mut pose, mut out) = (RigPose::default(), Deformed::default());
        pose.evaluate(&rig, &[], 0.0);
        shape(&mesh, &deforming, &rig, &pose, &mut out);
        let second = |piece: usize| Vec3::from(out.positions[3 * piece + 1]);
        assert_eq!(second(0), Vec3::new(-1.0, 1.0, 0.0));
        assert_eq!(second(1), Vec3::new(-1.0, 0.0, 2.0));
        assert_eq!(second(2), Vec3::new(1.0, 0.0, 2.0));
        assert_eq!(out.normals[0], [-1.0, 0.0, 0.0]);
        let all = out.positions.iter().copied().map(Vec3::from);
        assert_eq!(out.bounds, Aabb::of_points(all));
        rig.nodes[0].visible = false;
        pose.evaluate(&rig, &[], 0.0);
        shape(&mesh, &deforming, &rig, &pose, &mut out);
        assert!(out.positions[..6].iter().all(|&p| p == [0.0, 1.0, 0.0]), "{:?}", out.positions);
        assert_eq!(out.positions[7], [1.0, 0.0, 2.0], "instances hide what their nodes place");
    }

    #[test]
    fn points_of_curves_are_vertices_with_a_radius() {
        let point = |x: f32| CurvePoint { position: [x, 0.0, 0.0], radius: 0.25 * (1.0 + x) };
        let curves =
            Curves { points: (0..3).map(|i| point(i as f32)).collect(), strands: vec![0], ..Curves::default() };
        let target = MorphTarget { positions: vec![[0.0; 3], [0.0; 3], [0.0, 4.0, 0.0]], ..MorphTarget::default() };
        let deforming = DeformingMesh {
            mesh: 0,
            actor: 0,
            refit: Default::default(),
            pieces: vec![piece(0, false, NONE, Deformers { targets: vec![target], ..Deformers::default() })],
            displacement: None,
        };
        let rig = Rig { nodes: vec![node(Vec3::Z, vec![0.5])], ..Rig::default() };
        let (mut pose, mut out) = (RigPose::default(), Deformed::default());
        pose.evaluate(&rig, &[], 0.0);
        shape_of_curves(&curves, &deforming, &rig, &pose, &mut out);
        assert_eq!(out.positions, [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 2.0, 0.0]]);
        assert_eq!((out.bounds.min, out.bounds.max), (Vec3::splat(-0.75), Vec3::new(2.75, 2.75, 0.75)));
        let posed = curves.posed_points(&out.positions);
        assert_eq!((posed[2].position, posed[2].radius), ([2.0, 2.0, 0.0], 0.75));
    }
}
