//! Poses of the scene one frame earlier and one frame later, for motion vectors.

use std::sync::Arc;
use throng_device::{OtherPose, PosedMesh};
use throng_scene::Scene;
use throng_scene::anim::{self, Deformed, Moment};

/// The poses of `scene` one frame before `moment`, one frame after it, and at `moment`. Unless `moves` is set or frames have nested levels,
/// the last pose has only the camera.
pub fn other_poses(scene: &Scene, moment: &Moment, moves: bool) -> [OtherPose; 3] {
    let (time, step) = (moment.time(), 1.0 / scene.settings.fps);
    let [before, after] = [time - step, time + step]
        .map(|time| other_pose(scene, &Moment::of(scene, time).showing(moment).relative_to(moment.origin())));
    // Transforms are also computed at the moment itself. Their rounding differs from that of the transforms used for tracing, but cancels
    // between two poses computed alike.
    let now = if moves || scene.has_levels() {
        other_pose(scene, moment)
    } else {
        OtherPose::of_camera(anim::camera_at(scene, moment))
    };
    [before, after, now]
}

/// The pose of `scene` at `moment`.
pub fn other_pose(scene: &Scene, moment: &Moment) -> OtherPose {
    let mut pose = OtherPose::of_camera(anim::camera_at(scene, moment));
    if !scene.is_animated() {
        return pose;
    }
    anim::world_transforms(scene, moment, &mut pose.transforms);
    if !scene.palettes.is_empty() {
        anim::shown_meshes(scene, &scene.instances, &[], moment, &mut pose.shown);
    }
    let shapes = scene.deforming.iter().map(|deforming| {
        let mut shape = Deformed::default();
        anim::shape_at(scene, deforming, moment, &mut shape);
        PosedMesh { mesh: deforming.mesh, shape: Arc::new(shape), later: Vec::new() }
    });
    pose.shapes = shapes.collect();
    pose
}
