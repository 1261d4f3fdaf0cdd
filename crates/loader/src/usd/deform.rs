//! Meshes of a stage whose points move: by time samples, joints and blend shapes. All become morph targets and skins of a rig.

use super::{clock::Clock, mesh::Built};
use crate::model::MeshMotion;
use glam::{Affine3A, Quat, Vec3};
use std::sync::Arc;
use throng_scene::{
    NONE, TriangleMesh,
    anim::{BindPose, Deformed, RigPose, deform, turn_mirrored},
    rig::{
        Actor, Channel, Clip, Deformers, DeformingMesh, Interpolation, Local, MorphTarget, Piece, Playback, Property,
        RefitPolicy, Rig, RigNode, Skin, Trs,
    },
};
use throng_usd::{BlendShape, JointPose, PolygonMesh, Sampled, SkeletonPose};

/// The node whose weights morph the mesh. Joints follow it.
const HOLDER: u32 = 0;
/// Number of joints per vertex is a multiple of this.
const GROUP: usize = 4;

/// The triangles of a mesh, and how they move.
pub struct Moving {
    pub mesh: TriangleMesh,
    pub motion: MeshMotion,
}

/// The points of a cage at rest, and its deformers if it moves. They go with the rig of [`moving`].
pub fn of_cage(
    mesh: &PolygonMesh,
    skeleton: Option<&SkeletonPose>,
    clock: &Clock,
) -> (Vec<[f32; 3]>, Option<Deformers>) {
    let points = mesh.points.first();
    let target = |moved: &[[f32; 3]]| {
        let pairs = moved.iter().zip(points);
        let positions = pairs.map(|(to, from)| (Vec3::from(*to) - Vec3::from(*from)).to_array()).collect();
        MorphTarget { positions, ..MorphTarget::default() }
    };
    match (skeleton.zip(mesh.skin.as_ref()), &mesh.points) {
        (Some((skeleton, skin)), _) => {
            let skinned = Skinned { mesh, skeleton, skin, clock };
            let deformers = skinned.deformers(0..points.len() as u32, &target);
            let played = skinned.played(deformers.targets.len());
            if played.moves {
                return (points.clone(), Some(deformers));
            }
            let rest = TriangleMesh { positions: points.clone(), ..TriangleMesh::default() };
            (posed(rest, &deformers, &played.joints, &played.weights).positions, None)
        }
        (None, Sampled::Moving(samples)) => {
            let targets = samples[1..].iter().map(|(_, moved)| target(moved)).collect();
            (points.clone(), Some(Deformers { targets, ..Deformers::default() }))
        }
        (None, Sampled::Still(_)) => (points.clone(), None),
    }
}

/// The mesh with its movement: of its skeleton if it has one, otherwise of its points.
pub fn moving(mesh: &PolygonMesh, built: Built, skeleton: Option<&SkeletonPose>, clock: &Clock) -> Moving {
    match (skeleton.zip(mesh.skin.as_ref()), &mesh.points) {
        (Some((skeleton, skin)), _) => Skinned { mesh, skeleton, skin, clock }.moving(built),
        (None, Sampled::Moving(samples)) => by_samples(built, samples, clock),
        (None, Sampled::Still(_)) => Moving { mesh: built.mesh, motion: MeshMotion::Still },
    }
}

fn holder(targets: usize) -> RigNode {
    let local = Local::Parts(Trs { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE });
    RigNode { name: String::new(), parent: NONE, local, weights: vec![0.0; targets], visible: true }
}

/// The time of samples in a clip, which begins with the first one.
struct ClipTime<'a> {
    clock: &'a Clock,
    first: f64,
}

impl ClipTime<'_> {
    fn seconds(&self, code: f64) -> f32 {
        (self.clock.seconds(code) - self.first) as f32
    }

    fn times<'s, T: 's>(&self, samples: impl Iterator<Item = &'s (f64, T)>) -> Vec<f32> {
        samples.map(|(code, _)| self.seconds(*code)).collect()
    }

    fn playback(&self) -> Playback {
        Playback { clip: 0, speed: 1.0, offset: -self.first, looped: false }
    }
}

/// Each sample after the first one is a morph target, and its weight is 1 at its time.
fn by_samples(built: Built, samples: &[(f64, Vec<[f32; 3]>)], clock: &Clock) -> Moving {
    let time = ClipTime { clock, first: clock.seconds(samples[0].0) };
    let targets: Vec<MorphTarget> = samples[1..].iter().map(|(_, points)| target(&built, points)).collect();
    let count = targets.len();
    let one_hot = |sample: usize| (1..=count).map(move |target| if target == sample { 1.0 } else { 0.0 });
    let times = time.times(samples.iter());
    let channel = Channel {
        node: HOLDER,
        property: Property::Weights,
        interpolation: Interpolation::Linear,
        values: (0..=count).flat_map(one_hot).collect(),
        times,
    };
    let rig = Rig { nodes: vec![holder(count)], skins: Vec::new(), clips: vec![clip(vec![channel])] };
    alive(built.mesh, rig, NONE, Deformers { targets, ..Deformers::default() }, time.playback())
}

/// The offsets from a mesh's vertices to those with other points.
fn target(built: &Built, points: &[[f32; 3]]) -> MorphTarget {
    let (positions, normals) = built.at(points);
    // Authored normals need not be averages; offsets are between averages.
    let base = built.normals();
    let offset = |(to, from): (&[f32; 3], &[f32; 3])| [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
    MorphTarget {
        positions: positions.iter().zip(&built.mesh.positions).map(offset).collect(),
        normals: normals.iter().zip(&base).map(offset).collect(),
        tangents: Vec::new(),
    }
}

fn clip(channels: Vec<Channel>) -> Clip {
    let last = |channel: &Channel| channel.times.last().copied().unwrap_or_default();
    Clip { duration: channels.iter().map(last).fold(0.0, f32::max), channels, ..Clip::default() }
}

fn alive(mesh: TriangleMesh, rig: Rig, skin: u32, deformers: Deformers, playback: Playback) -> Moving {
    let piece = Piece {
        vertex_count: mesh.positions.len() as u32,
        node: HOLDER,
        placed: false,
        skin,
        deformers: Arc::new(deformers),
        surface: None,
    };
    // Indices of mesh and actor are assigned when the mesh is placed.
    let deforming =
        DeformingMesh { mesh: 0, actor: 0, refit: RefitPolicy::default(), pieces: vec![piece], displacement: None };
    let actor = Actor { rig: Arc::new(rig), playbacks: vec![playback] };
    Moving { mesh, motion: MeshMotion::Alive { actor, deforming, animated: Default::default() } }
}

/// A mesh that joints and blend shapes deform.
struct Skinned<'a> {
    mesh: &'a PolygonMesh,
    skeleton: &'a SkeletonPose,
    skin: &'a throng_usd::Skin,
    clock: &'a Clock,
}

/// The rig of a skinned mesh, and its first pose.
struct Played {
    rig: Rig,
    playback: Playback,
    /// Index of the skin, or [`NONE`].
    skin: u32,
    joints: Vec<Affine3A>,
    weights: Vec<f32>,
    /// Whether there is more than one pose.
    moves: bool,
}

impl Skinned<'_> {
    fn moving(self, mut built: Built) -> Moving {
        let deformers = self.deformers(built.points.iter().copied(), &|moved| target(&built, moved));
        let Played { rig, playback, skin, joints, weights, moves } = self.played(deformers.targets.len());
        turn_mirrored(&mut built.mesh.triangles, &deformers, &joints);
        if moves {
            return alive(built.mesh, rig, skin, deformers, playback);
        }
        Moving { mesh: posed(built.mesh, &deformers, &joints, &weights), motion: MeshMotion::Still }
    }

    fn played(&self, targets: usize) -> Played {
        let weighed = self.weights();
        let first = self.first_time(&weighed);
        let time = ClipTime { clock: self.clock, first };
        let joint_count = self.skeleton.joints.len();
        let skin = if self.skin.joints_per_point > 0 && joint_count > 0 { 0 } else { NONE };
        let mut channels = self.joint_channels(&time);
        let mut root = holder(targets);
        root.weights = weighed.first().clone();
        if let Sampled::Moving(samples) = &weighed {
            channels.push(Channel {
                node: HOLDER,
                property: Property::Weights,
                interpolation: Interpolation::Linear,
                times: time.times(samples.iter()),
                values: samples.iter().flat_map(|(_, weights)| weights.iter().copied()).collect(),
            });
        }
        let moves = !channels.is_empty();
        let rig = Rig { nodes: self.nodes(root), skins: vec![self.bind()], clips: vec![clip(channels)] };
        let mut joints = Vec::new();
        let mut pose = RigPose::default();
        pose.evaluate(&rig, &[time.playback()], 0.0);
        pose.palette(&rig, skin, &mut joints);
        Played { playback: time.playback(), skin, joints, weights: pose.weights(HOLDER).to_vec(), moves, rig }
    }

    /// Time of the first sample in seconds; 0 if nothing moves.
    fn first_time(&self, weights: &Sampled<Vec<f32>>) -> f64 {
        let of_pose = match &self.skeleton.pose {
            Sampled::Moving(samples) => samples.first().map(|(code, _)| *code),
            Sampled::Still(_) => None,
        };
        let of_weights = match weights {
            Sampled::Moving(samples) => samples.first().map(|(code, _)| *code),
            Sampled::Still(_) => None,
        };
        let codes = of_pose.into_iter().chain(of_weights);
        codes.map(|code| self.clock.seconds(code)).reduce(f64::min).unwrap_or_default()
    }

    /// The holder of weights, and a node for each joint.
    fn nodes(&self, root: RigNode) -> Vec<RigNode> {
        let rest = self.skeleton.pose.first();
        let joint = |(index, joint): (usize, &throng_usd::Joint)| {
            let pose = rest.get(index).copied().unwrap_or(STILL);
            let JointPose { translation, rotation, scale } = pose;
            RigNode {
                name: joint.name.clone(),
                parent: if joint.parent == NONE { NONE } else { joint.parent + 1 },
                local: Local::Parts(Trs { translation, rotation, scale }),
                weights: Vec::new(),
                visible: true,
            }
        };
        [root].into_iter().chain(self.skeleton.joints.iter().enumerate().map(joint)).collect()
    }

    fn bind(&self) -> Skin {
        let from_mesh = self.skin.skeleton_from_mesh;
        let inverse = |joint: &throng_usd::Joint| (joint.bind.inverse() * from_mesh).as_affine3();
        Skin {
            name: self.skeleton.name.clone(),
            joints: (1..=self.skeleton.joints.len() as u32).collect(),
            joint_from_mesh: self.skeleton.joints.iter().map(inverse).collect(),
        }
    }

    fn joint_channels(&self, time: &ClipTime) -> Vec<Channel> {
        let Sampled::Moving(samples) = &self.skeleton.pose else { return Vec::new() };
        let times = time.times(samples.iter());
        let mut channels = Vec::new();
        for joint in 0..self.skeleton.joints.len() {
            let pose = |sample: &(f64, Vec<JointPose>)| sample.1.get(joint).copied().unwrap_or(STILL);
            let mut add = |property: Property, width: usize, of: &dyn Fn(JointPose) -> Vec<f32>| {
                let values: Vec<f32> = samples.iter().flat_map(|sample| of(pose(sample))).collect();
                if values.chunks(width).any(|value| *value != values[..width]) {
                    channels.push(Channel {
                        node: joint as u32 + 1,
                        property,
                        interpolation: Interpolation::Linear,
                        times: times.clone(),
                        values,
                    });
                }
            };
            add(Property::Translation, 3, &|pose| pose.translation.to_array().to_vec());
            add(Property::Rotation, 4, &|pose| pose.rotation.to_array().to_vec());
            add(Property::Scale, 3, &|pose| pose.scale.to_array().to_vec());
        }
        channels
    }

    /// The deformers of vertices at these points. `target` makes the target of moved points.
    fn deformers(&self, vertices: impl Iterator<Item = u32>, target: &dyn Fn(&[[f32; 3]]) -> MorphTarget) -> Deformers {
        let per_point = self.skin.joints_per_point as usize;
        let per_vertex = per_point.next_multiple_of(GROUP);
        let mut deformers = Deformers { joints_per_vertex: per_vertex as u32, ..Deformers::default() };
        for point in vertices.filter(|_| per_point > 0) {
            let first = point as usize * per_point;
            let joints = self.skin.joints[first..first + per_point].iter().map(|&joint| joint as u16);
            deformers.joints.extend(joints.chain(std::iter::repeat_n(0, per_vertex - per_point)));
            deformers.weights.extend(&self.skin.weights[first..first + per_point]);
            deformers.weights.extend(std::iter::repeat_n(0.0, per_vertex - per_point));
        }
        let points = self.mesh.points.first();
        for shape in &self.skin.shapes {
            deformers.targets.extend(shape.keys.iter().map(|key| {
                let mut moved = points.clone();
                let mut by = |point: usize, offset: &[f32; 3]| {
                    if let Some(moved) = moved.get_mut(point) {
                        *moved = (Vec3::from(*moved) + Vec3::from(*offset)).to_array();
                    }
                };
                let all = shape.points.is_empty();
                let offsets = key.offsets.iter().enumerate();
                offsets.for_each(|(i, offset)| match shape.points.get(i) {
                    Some(&point) => by(point as usize, offset),
                    None if all => by(i, offset),
                    None => {}
                });
                target(&moved)
            }));
        }
        deformers
    }

    /// The weight of each target over time.
    fn weights(&self) -> Sampled<Vec<f32>> {
        let of_shape = |shape: &BlendShape| {
            let named = self.skeleton.shape_weights.iter().find(|(name, _)| *name == shape.name);
            named.map_or(Sampled::Still(0.0), |(_, weights)| weights.clone())
        };
        let tracks: Vec<(&BlendShape, Sampled<f32>)> =
            self.skin.shapes.iter().map(|shape| (shape, of_shape(shape))).collect();
        let mut codes: Vec<f64> = tracks.iter().flat_map(|(_, track)| codes_of(track)).collect();
        codes.sort_by(f64::total_cmp);
        codes.dedup();
        let at = |code: f64| {
            let of = |(shape, track): &(&BlendShape, Sampled<f32>)| key_weights(shape, number_at(track, code));
            tracks.iter().flat_map(of).collect::<Vec<f32>>()
        };
        match &codes[..] {
            [] => Sampled::Still(at(0.0)),
            codes => Sampled::Moving(codes.iter().map(|&code| (code, at(code))).collect()),
        }
    }
}

const STILL: JointPose = JointPose { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

fn codes_of<T>(track: &Sampled<T>) -> Vec<f64> {
    match track {
        Sampled::Still(_) => Vec::new(),
        Sampled::Moving(samples) => samples.iter().map(|(code, _)| *code).collect(),
    }
}

fn number_at(track: &Sampled<f32>, code: f64) -> f32 {
    let (a, b, share) = track.around(code);
    a + (b - a) * share as f32
}

/// The weights of a blend shape's keys, of which the two around `weight` are mixed. Beyond the last key, and below the first, the
/// nearest key is scaled.
fn key_weights(shape: &BlendShape, weight: f32) -> Vec<f32> {
    let mut weights = vec![0.0; shape.keys.len()];
    let at = |key: usize| shape.keys[key].weight;
    let after = shape.keys.partition_point(|key| key.weight <= weight);
    // The mesh itself is a key at 0.
    let zero = shape.keys.partition_point(|key| key.weight < 0.0);
    let below = |index: usize| if index > zero { Some(index - 1) } else { None };
    let (low, high) = match weight {
        w if w >= 0.0 => (below(after.max(zero)), (after < shape.keys.len()).then_some(after)),
        _ => (after.checked_sub(1), (after < zero).then_some(after)),
    };
    // Without a key on this side of the mesh, that on the other side goes the other way.
    let other = || if weight < 0.0 { (zero < shape.keys.len()).then_some(zero) } else { zero.checked_sub(1) };
    let low = if low.is_none() && high.is_none() { other() } else { low };
    match (low, high) {
        (Some(low), Some(high)) => {
            let share = (weight - at(low)) / (at(high) - at(low));
            (weights[low], weights[high]) = (1.0 - share, share);
        }
        (Some(one), None) | (None, Some(one)) => weights[one] = weight / at(one),
        (None, None) => {}
    }
    weights
}

fn posed(source: TriangleMesh, deformers: &Deformers, joints: &[Affine3A], weights: &[f32]) -> TriangleMesh {
    let mut out = Deformed::default();
    deform(BindPose::new(&source, &source.tangents), deformers, joints, weights, &mut out);
    out.on(source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_usd::BlendKey;

    fn shape(weights: &[f32]) -> BlendShape {
        let key = |&weight: &f32| BlendKey { weight, ..BlendKey::default() };
        BlendShape { keys: weights.iter().map(key).collect(), ..BlendShape::default() }
    }

    #[test]
    fn in_between_shapes_are_mixed_with_their_neighbours() {
        let smile = shape(&[0.5, 1.0]);
        assert_eq!(key_weights(&smile, 0.25), [0.5, 0.0]);
        assert_eq!(key_weights(&smile, 0.75), [0.5, 0.5]);
        assert_eq!(key_weights(&smile, 1.0), [0.0, 1.0]);
        assert_eq!(key_weights(&smile, 2.0), [0.0, 2.0]);
        assert_eq!(key_weights(&smile, -0.5), [-1.0, 0.0]);
        assert_eq!(key_weights(&smile, 0.0), [0.0, 0.0]);
        let both = shape(&[-1.0, 1.0]);
        assert_eq!([key_weights(&both, -0.5), key_weights(&both, 0.5)], [[0.5, 0.0], [0.0, 0.5]]);
    }
}
