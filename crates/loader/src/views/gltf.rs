//! The cameras of a glTF file, at rest.

use super::{
    calibration::OwnOptics,
    cameras::{Cameras, Seen},
    pose::{Convention, Pose},
};
use crate::{
    LoadError,
    gltf::{self, GltfOptions, ModelCamera},
};
use glam::DMat3;
use std::path::Path;
use throng_scene::{Optics, Projection, anim::RigPose};

/// Reads the cameras at the nodes of a file's default scene, in the order of the file.
///
/// # Errors
/// As [`gltf::load_model`]. Also if a node is not a place for a camera.
pub fn read(path: &Path) -> Result<Cameras, LoadError> {
    let options = GltfOptions { skip_tangents: true, skip_environment: true, ..GltfOptions::default() };
    let model = gltf::load_model(path, &options)?;
    let mut rest = RigPose::default();
    rest.evaluate(&model.rig, &[], 0.0);
    let mut cameras = Cameras::new("camera");
    let about_cameras = model.warnings.iter().filter(|warning| warning.contains("camera"));
    cameras.warnings = about_cameras.map(|warning| format!("{}: {warning}", path.display())).collect();
    for (number, ModelCamera { name, node, projection, .. }) in (0..).zip(model.cameras) {
        let pose = pose(&rest, node).map_err(|message| cameras.fault(path, number, &name, &message))?;
        let optics = OwnOptics::Given(Optics::Plain(match projection {
            gltf::Projection::Perspective { fov_y, .. } => Projection::Perspective { fov_y },
            gltf::Projection::Orthographic { half_height, .. } => {
                Projection::Orthographic { height: 2.0 * half_height }
            }
        }));
        cameras.list.push(Seen { number, name, pose, has_y_up: false, optics, time: None });
    }
    Ok(cameras)
}

/// The pose of a node's camera, which scales of the node do not change.
fn pose(rest: &RigPose, node: u32) -> Result<Pose, String> {
    let world = rest.world(node);
    let matrix = world.matrix3;
    let axes = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|axis| axis.as_dvec3().normalize_or_zero());
    let [right, up, back] = axes;
    let eye = world.translation.as_dvec3();
    let pose = Pose::new(eye, DMat3::from_cols(right, up, back), Convention::OpenGl);
    pose.map_err(|message| format!("its node {message}"))
}
