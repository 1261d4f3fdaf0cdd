//! Motion blur of cameras and instances: keys at equal time steps, as many as their rotation needs.
//!
//! Kernels interpolate linearly between keys. Every point therefore moves along a straight line, and a box around both keys contains it at
//! all times. Interpolated rotations would not have this property.

use super::{
    CameraPose, Moment, camera_at,
    transforms::{PlacedNodes, Placing},
    turning::Turning,
};
use crate::{CameraPath, Focus, Instance, Scene, Shutter};
use crate::{ShutterKeys, ShutterSpan};
use glam::Vec3;
use rayon::prelude::*;
use throng_abi::InstanceKey;
use throng_base::math::rows_from_affine;

/// Segments per radian of rotation. With this number, linear interpolation is off by 1/1800 of the distance from the axis.
const SEGMENTS_PER_RADIAN: f32 = 15.0;
/// Maximum number of segments of an instance: enough for one rotation at that error, or ten rotations at fifty times the error.
const MOST_SEGMENTS: u32 = 128;
/// Maximum total number of keys, of 48 bytes each. Above it, the instances with the finest steps get coarser ones.
const MOST_KEYS: u64 = 1 << 26;
/// Number of segments of a camera's path.
const CAMERA_SEGMENTS: u32 = 32;
/// Instances per task.
const CHUNK: usize = 2048;

/// The time during which the shutter is open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShutterTime {
    /// Opening time of the shutter, in seconds of the scene's time.
    pub open: f64,
    /// Seconds from the opening to the closing.
    pub seconds: f64,
    /// Time of the frame, in seconds.
    pub frame: f64,
    /// As [`Moment::origin`].
    pub origin: Vec3,
}

impl ShutterTime {
    /// The open time of `shutter` in the frame of `scene` at time `frame`, in seconds. `origin` is the origin of positions.
    pub fn new(scene: &Scene, shutter: Shutter, frame: f64, origin: Vec3) -> Self {
        let [open, close] = shutter.span().map(f64::from);
        let fps = scene.settings.fps;
        Self { open: frame + open / fps, seconds: (close - open) / fps, frame, origin }
    }

    /// The time at which `share` of the open time has passed, in seconds.
    pub fn at(&self, share: f64) -> f64 {
        self.open + self.seconds * share
    }

    /// `segments` + 1 times at equal steps.
    pub(super) fn times(self, segments: u32) -> impl Iterator<Item = f64> {
        (0..=segments).map(move |key| self.at(f64::from(key) / f64::from(segments)))
    }
}

/// Camera poses at equal time steps, from the opening to the closing; empty if the camera does not move.
pub fn camera_shutter_keys(scene: &Scene, time: ShutterTime) -> Vec<CameraPose> {
    // Rigs affect the camera only if it is on a node or follows an object, or if its lens does.
    let (camera, _) = scene.camera_of(time.frame);
    let focus = camera.lens.as_ref().map(|lens| &lens.focus);
    let keyed = camera.tracks.focus.iter().map(|(_, focus)| focus);
    let follows = matches!(camera.path, CameraPath::Node { .. })
        || camera.eye.is_some()
        || camera.target.is_some()
        || scene.camera_has_keys
        || focus.into_iter().chain(keyed).any(|focus| matches!(focus, Focus::On(_)));
    let moment = |at: f64| {
        if follows {
            Moment::of(scene, at).in_frame(time.frame).relative_to(time.origin)
        } else {
            Moment::without_actors(at).in_frame(time.frame).relative_to(time.origin)
        }
    };
    let poses: Vec<CameraPose> = time.times(CAMERA_SEGMENTS).map(|time| camera_at(scene, &moment(time))).collect();
    if poses.windows(2).all(|pair| pair[0] == pair[1]) { Vec::new() } else { poses }
}

/// Fills `out` with the shutter keys of `instances`. `ids` are their numbers in the scene; empty if they are in the scene's order.
/// Instances without a motion, group or rig that moves them have no keys. Deterministic, parallel.
pub fn instance_shutter_keys(
    scene: &Scene,
    instances: &[Instance],
    ids: &[u32],
    time: ShutterTime,
    out: &mut ShutterKeys,
) {
    out.clear();
    let id = |index: usize| ids.get(index).map_or(index as u32, |id| *id);
    let finest = plan(scene, (instances, &id), time, &mut out.spans);
    let Some(last) = out.spans.last() else { return };
    let count = last.first as usize + key_count(last);
    out.keys.resize(count, InstanceKey::default());
    if count == 0 {
        out.spans.clear();
        return;
    }
    let moment = |t| Moment::of(scene, t).in_frame(time.frame).relative_to(time.origin);
    let moments: Vec<Moment> = time.times(finest).map(moment).collect();
    let moments: Vec<Placed> = moments.iter().map(|moment| Placed::new(scene, moment)).collect();
    let fill = |chunk: usize, spans: &[ShutterSpan], keys: &mut [InstanceKey]| {
        let mut rest = keys;
        for (offset, span) in spans.iter().enumerate() {
            let index = chunk * CHUNK + offset;
            let (own, others) = std::mem::take(&mut rest).split_at_mut(key_count(span));
            for (step, key) in own.iter_mut().enumerate() {
                let moment = &moments[step * (finest / span.segments) as usize];
                let world = moment.placing.world(&moment.nodes, id(index), &instances[index]);
                key.world_from_object = rows_from_affine(&world);
            }
            rest = others;
        }
    };
    let chunks = split_keys(&out.spans, &mut out.keys);
    let chunks = chunks.into_par_iter().enumerate();
    chunks.for_each(|(chunk, (spans, keys))| fill(chunk, spans, keys));
}

/// A scene at a moment, with the transforms of all nodes.
struct Placed<'a> {
    placing: Placing<'a>,
    nodes: PlacedNodes,
}

impl<'a> Placed<'a> {
    fn new(scene: &'a Scene, moment: &'a Moment) -> Self {
        let placing = Placing::new(scene, moment);
        let nodes = placing.nodes();
        Self { placing, nodes }
    }
}

/// Computes the span of every instance, and returns the maximum number of segments, which is a multiple of all others. `id` maps an index to
/// the number in the scene.
fn plan(
    scene: &Scene,
    (instances, id): (&[Instance], &(impl Fn(usize) -> u32 + Sync)),
    time: ShutterTime,
    spans: &mut Vec<ShutterSpan>,
) -> u32 {
    let turning = Turning::new(scene, time);
    let wanted = |index: usize, instance: &Instance| match turning.of(id(index), instance) {
        turned if turned > 0.0 => segments(turned),
        _ => 0,
    };
    let all = instances.par_iter().enumerate().with_min_len(CHUNK);
    let all = all.map(|(index, instance)| ShutterSpan { first: 0, segments: wanted(index, instance) });
    all.collect_into_vec(spans);
    let mut most = MOST_SEGMENTS;
    let total = |spans: &[ShutterSpan]| spans.iter().map(|span| key_count(span) as u64).sum::<u64>();
    while most > 1 && total(spans) > MOST_KEYS {
        most /= 2;
        let capped = spans.iter_mut();
        capped.for_each(|span| span.segments = span.segments.min(most));
    }
    let mut first = 0;
    for span in spans.iter_mut() {
        span.first = first;
        first += key_count(span) as u32;
    }
    spans.iter().map(|span| span.segments).max().unwrap_or(0)
}

/// Number of segments for a rotation in radians. It is a power of two, so that keys of different instances share moments.
fn segments(turned: f32) -> u32 {
    let wanted = (turned * SEGMENTS_PER_RADIAN).ceil();
    (wanted as u32).clamp(1, MOST_SEGMENTS).next_power_of_two()
}

fn key_count(span: &ShutterSpan) -> usize {
    match span.segments {
        0 => 0,
        segments => segments as usize + 1,
    }
}

/// Splits spans into chunks, each with its keys.
fn split_keys<'a>(
    spans: &'a [ShutterSpan],
    keys: &'a mut [InstanceKey],
) -> Vec<(&'a [ShutterSpan], &'a mut [InstanceKey])> {
    let mut rest = keys;
    let chunks = spans.chunks(CHUNK).map(|spans| {
        let count = spans.iter().map(key_count).sum();
        let (own, others) = std::mem::take(&mut rest).split_at_mut(count);
        rest = others;
        (spans, own)
    });
    chunks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anim::world_transforms;
    use crate::{Motion, MotionPart, NONE, Node, Phase};
    use glam::Affine3;
    use std::f32::consts::TAU;
    use throng_base::math::affine_from_rows;

    /// A scene with a static instance, an instance that spins in a swaying group, and an instance that spins fast.
    fn scene() -> Scene {
        let motion = |part| Motion { parts: vec![part], phase: Phase::Same };
        let spin = |period| motion(MotionPart::Spin { axis: Vec3::Y, period });
        let sway = motion(MotionPart::Sway { axis: Vec3::Z, angle: 1.0, period: 3.0 });
        let instance = |x: f32, node, motion| Instance {
            local: Affine3::from_translation(Vec3::X * x),
            node,
            mesh: 0,
            slot_base: 0,
            motion,
        };
        Scene {
            motions: vec![spin(2.0), spin(0.01), sway],
            nodes: vec![Node { local: Affine3::IDENTITY, parent: NONE, motion: 2, follows: None }],
            instances: vec![instance(0.0, NONE, NONE), instance(1.0, 0, 0), instance(2.0, NONE, 1)],
            ..Scene::default()
        }
    }

    fn shutter() -> ShutterTime {
        ShutterTime { open: 0.7, seconds: 0.1, frame: 0.75, origin: Vec3::ZERO }
    }

    fn keys(ids: &[u32]) -> ShutterKeys {
        let scene = scene();
        let ordered = |id: &u32| scene.instances[*id as usize];
        let instances: Vec<_> = ids.iter().map(ordered).collect();
        let mut keys = ShutterKeys::default();
        instance_shutter_keys(&scene, &instances, ids, shutter(), &mut keys);
        keys
    }

    #[test]
    fn keys_are_where_instances_are_at_their_times() {
        let (scene, keys) = (scene(), keys(&[0, 1, 2]));
        assert!(keys.of(keys.span(0)).is_empty());
        for instance in [1, 2] {
            let span = keys.span(instance);
            for (step, key) in keys.of(span).iter().enumerate() {
                let time = shutter().at(step as f64 / f64::from(span.segments));
                let mut expected = Vec::new();
                world_transforms(&scene, &Moment::of(&scene, time), &mut expected);
                let found = affine_from_rows(&key.world_from_object);
                assert_eq!(found, expected[instance]);
            }
        }
    }

    #[test]
    fn what_turns_more_has_more_keys_up_to_a_limit() {
        let keys = keys(&[0, 1, 2]);
        let slow = TAU * 0.05 + TAU / 30.0;
        assert_eq!(keys.span(1).segments, segments(slow));
        assert_eq!(keys.span(2).segments, MOST_SEGMENTS);
    }

    #[test]
    fn instances_in_another_order_have_the_same_keys() {
        let (plain, other) = (keys(&[0, 1, 2]), keys(&[2, 0, 1]));
        for (instance, place) in [(0, 1), (1, 2), (2, 0)] {
            let keys = |keys: &ShutterKeys, at: usize| keys.of(keys.span(at)).to_vec();
            assert_eq!(keys(&plain, instance), keys(&other, place));
        }
    }

    #[test]
    fn a_scene_at_rest_has_no_keys() {
        let mut scene = scene();
        scene.motions.clear();
        let mut keys = ShutterKeys::default();
        instance_shutter_keys(&scene, &scene.instances, &[], shutter(), &mut keys);
        assert!(keys.is_empty() && keys.spans.is_empty());
        assert!(camera_shutter_keys(&scene, shutter()).is_empty());
    }
}
