//! Meshes whose vertices move by samples over time: each sample is a morph target.

use super::MeshMotion;
use glam::{Quat, Vec3};
use std::sync::Arc;
use throng_scene::{
    NONE,
    rig::{
        Actor, Channel, Clip, Deformers, DeformingMesh, Interpolation, Local, MorphTarget, Piece, Playback, Property,
        RefitPolicy, Rig, RigNode, Trs,
    },
};

/// The node whose weights morph the mesh.
pub const HOLDER: u32 = 0;

/// A node without a transform, with the weights of morph targets.
pub fn holder(targets: usize) -> RigNode {
    let local = Local::Parts(Trs { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE });
    RigNode { name: String::new(), parent: NONE, local, weights: vec![0.0; targets], visible: true }
}

/// A clip of these channels, which ends with the last key.
pub fn clip_of(channels: Vec<Channel>) -> Clip {
    let last = |channel: &Channel| channel.times.last().copied().unwrap_or_default();
    Clip { duration: channels.iter().map(last).fold(0.0, f32::max), channels, ..Clip::default() }
}

/// The movement of `vertices` vertices by an actor that plays a clip. Indices of mesh and actor are assigned when the mesh is placed.
pub fn alive(vertices: usize, rig: Rig, skin: u32, deformers: Deformers, playback: Playback) -> MeshMotion {
    let piece = Piece {
        vertex_count: vertices as u32,
        node: HOLDER,
        placed: false,
        skin,
        deformers: Arc::new(deformers),
        surface: None,
    };
    let deforming =
        DeformingMesh { mesh: 0, actor: 0, refit: RefitPolicy::default(), pieces: vec![piece], displacement: None };
    let actor = Actor { rig: Arc::new(rig), playbacks: vec![playback] };
    MeshMotion::Alive { actor, deforming, animated: Default::default() }
}

/// A key of [`sampled_motion`]: its time in seconds, and the number of the sample that is shown then.
pub type SampleKey = (f64, usize);

/// The movement of vertices by `targets`, the offsets of each sample after the first one. `keys` have ascending times. Between keys, vertices
/// move along straight lines.
pub fn sampled_motion(targets: Vec<MorphTarget>, vertices: usize, keys: &[SampleKey], looped: bool) -> MeshMotion {
    let count = targets.len();
    let one_hot = |&(_, sample): &SampleKey| (1..=count).map(move |target| if target == sample { 1.0 } else { 0.0 });
    let seconds: Vec<f64> = keys.iter().map(|(second, _)| *second).collect();
    weighted_motion(targets, vertices, (&seconds, keys.iter().flat_map(one_hot).collect()), looped)
}

/// The movement of vertices by `targets` with their weights at ascending times in seconds. Between these, weights are interpolated linearly.
pub fn weighted_motion(
    targets: Vec<MorphTarget>,
    vertices: usize,
    (seconds, weights): (&[f64], Vec<f32>),
    looped: bool,
) -> MeshMotion {
    let first = seconds.first().copied().unwrap_or_default();
    let channel = Channel {
        node: HOLDER,
        property: Property::Weights,
        interpolation: Interpolation::Linear,
        times: seconds.iter().map(|second| (second - first) as f32).collect(),
        values: weights,
    };
    let rig = Rig { nodes: vec![holder(targets.len())], skins: Vec::new(), clips: vec![clip_of(vec![channel])] };
    let deformers = Deformers { targets, ..Deformers::default() };
    alive(vertices, rig, NONE, deformers, Playback { clip: 0, speed: 1.0, offset: -first, looped })
}

/// Offsets from `rest` to other positions of the same vertices.
pub fn offsets(moved: &[[f32; 3]], rest: impl Iterator<Item = [f32; 3]>) -> MorphTarget {
    let positions = moved.iter().zip(rest).map(|(to, from)| [to[0] - from[0], to[1] - from[1], to[2] - from[2]]);
    MorphTarget { positions: positions.collect(), ..MorphTarget::default() }
}
