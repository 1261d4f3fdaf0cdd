//! Widths of lines, which glTF files do not have.

use super::{MeshPart, Model, ModelMesh};
use glam::{Affine3, Vec3};
use throng_base::math::Aabb;
use throng_scene::{NONE, anim::RigPose};

/// Width of lines relative to the diagonal of the model's bounds.
const DEFAULT: f32 = 0.002;

/// Sets the radii of a model's lines to a `width` in the model's space; without one, to a width in proportion to the model, which is stored in
/// [`Model::default_line_width`].
pub fn set(model: &mut Model, width: Option<f32>) {
    if !model.meshes.iter().any(ModelMesh::has_lines) {
        return;
    }
    let mut pose = RigPose::default();
    pose.evaluate(&model.rig, &[], 0.0);
    if width.is_none() {
        model.default_line_width = Some(rounded(DEFAULT * bounds(model, &pose).diagonal()));
    }
    let width = width.or(model.default_line_width).unwrap_or_default();
    let mut scales = vec![None; model.meshes.len()];
    for part in &model.parts {
        let placement = place(part, &pose) * part.placements.first().copied().unwrap_or_default();
        scales[part.mesh as usize].get_or_insert(placement.matrix3.determinant().abs().cbrt());
    }
    for (mesh, scale) in model.meshes.iter_mut().zip(scales).filter(|(mesh, _)| mesh.has_lines()) {
        let radius = 0.5 * width / scale.unwrap_or(1.0);
        mesh.line_radius = if radius.is_finite() { radius } else { 0.5 * width };
    }
}

/// The transform from a part's placements to the model's space at rest.
fn place(part: &MeshPart, pose: &RigPose) -> Affine3 {
    if part.skin == NONE { pose.world(part.node).into() } else { Affine3::IDENTITY }
}

fn bounds(model: &Model, pose: &RigPose) -> Aabb {
    let boxes: Vec<Aabb> = model
        .meshes
        .iter()
        .map(|mesh| Aabb::of_points(mesh.mesh.positions.iter().map(|&point| Vec3::from(point))))
        .collect();
    let of_part = |part: &MeshPart| {
        let from_node = place(part, pose);
        let copies =
            part.placements.iter().map(|placement| boxes[part.mesh as usize].transformed(&(from_node * *placement)));
        copies.fold(Aabb::EMPTY, Aabb::union)
    };
    model.parts.iter().map(of_part).fold(Aabb::EMPTY, Aabb::union)
}

/// A number with two significant digits, which can be told to a user.
fn rounded(width: f32) -> f32 {
    let text = format!("{width:.1e}");
    text.parse().ok().filter(|&width: &f32| width.is_finite() && width > 0.0).unwrap_or(1e-3)
}
