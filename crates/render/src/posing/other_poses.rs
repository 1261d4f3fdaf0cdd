//! Poses of the scene one frame earlier and one frame later, for motion vectors.

use crate::posing::divided::ids;
use std::sync::{Arc, OnceLock};
use throng_device::{OtherPose, PosedMesh};
use throng_scene::anim::{self, Deformed, Moment, OrderedInstances};
use throng_scene::{NONE, Scene};

/// The instances of a scene that ever move. Only their transforms are in other poses.
pub struct Movers {
    instances: OrderedInstances,
    /// For each instance of the scene, its index in `instances`, or [`NONE`].
    places: Arc<Vec<u32>>,
}

impl Movers {
    /// None if more than half of the instances move.
    fn new(scene: &Scene) -> Option<Self> {
        let moving = anim::moving_instances(scene, None);
        let ids = ids(&moving, true);
        if 2 * ids.len() > moving.len() {
            return None;
        }
        let mut places = vec![NONE; moving.len()];
        (0..).zip(&ids).for_each(|(place, &id)| places[id as usize] = place);
        Some(Self { instances: OrderedInstances::new(scene, ids), places: Arc::new(places) })
    }

    /// The instances in `known`, which are found out first if nobody has.
    pub fn shared<'a>(scene: &Scene, known: &'a OnceLock<Option<Self>>) -> Option<&'a Self> {
        if known.get().is_none() {
            // Several posers may do this at the same time. None of them waits for another, whose threads it may be needed by.
            let found = Self::new(scene);
            let _ = known.set(found);
        }
        known.get()?.as_ref()
    }
}

/// The poses of `scene` one frame before `moment`, one frame after it, and at `moment`. Unless `moves` is set or frames have nested levels,
/// the last pose has only the camera.
pub fn other_poses(scene: &Scene, moment: &Moment, moves: bool, movers: Option<&Movers>) -> [OtherPose; 3] {
    let (time, step) = (moment.time(), 1.0 / scene.settings.fps);
    let [before, after] = [time - step, time + step].map(|time| {
        other_pose_of(scene, &Moment::of(scene, time).showing(moment).relative_to(moment.origin()), movers)
    });
    // Transforms are also computed at the moment itself. Their rounding differs from that of the transforms used for tracing, but cancels
    // between two poses computed alike.
    let now = if moves || scene.has_levels() {
        other_pose_of(scene, moment, movers)
    } else {
        OtherPose::of_camera(anim::camera_at(scene, moment))
    };
    [before, after, now]
}

/// The pose of `scene` at `moment`.
pub fn other_pose(scene: &Scene, moment: &Moment) -> OtherPose {
    other_pose_of(scene, moment, None)
}

/// The pose of `scene` at `moment`, with the transforms of `movers`, or of all instances.
pub fn other_pose_of(scene: &Scene, moment: &Moment, movers: Option<&Movers>) -> OtherPose {
    let mut pose = OtherPose::of_camera(anim::camera_at(scene, moment));
    if !scene.is_animated() {
        return pose;
    }
    match movers {
        Some(movers) => {
            anim::ordered_transforms(scene, &movers.instances, moment, &mut pose.transforms);
            pose.places = Some(movers.places.clone());
        }
        None => anim::world_transforms(scene, moment, &mut pose.transforms),
    }
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
