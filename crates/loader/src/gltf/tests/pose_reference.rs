//! A reference evaluator of glTF files that is independent of the loader and of `anim`. It uses the `gltf` crate's readers, double
//! precision, recursion, and the literal formulas of the specification. Files must be valid.

use glam::{DMat4, DQuat, DVec3, DVec4};
use gltf::{
    Document, Gltf, Node, Primitive,
    animation::{Channel, Interpolation, util::ReadOutputs},
    buffer::Source,
    scene::Transform,
};
use std::path::Path;

pub struct Reference {
    document: Document,
    buffers: Vec<Vec<u8>>,
}

/// A pose of a file, indexed by its nodes.
pub struct Pose {
    pub worlds: Vec<DMat4>,
    /// The corners of each primitive's triangles, in scene space.
    pub primitives: Vec<Vec<Vec<DVec3>>>,
}

/// The properties of a node that clips animate.
struct State {
    translation: DVec3,
    rotation: DQuat,
    scale: DVec3,
    weights: Vec<f64>,
}

impl Reference {
    pub fn open(bytes: &[u8], folder: &Path) -> Self {
        let Gltf { document, mut blob } = Gltf::from_slice_without_validation(bytes).expect("a valid file");
        let read = |source| match source {
            Source::Bin => blob.take().expect("a binary chunk"),
            Source::Uri(uri) => match uri.split_once(";base64,") {
                Some((_, data)) => {
                    use base64::Engine;
                    let engine = base64::engine::general_purpose::STANDARD;
                    engine.decode(data).expect("base64")
                }
                None => std::fs::read(folder.join(uri)).expect("a buffer"),
            },
        };
        let buffers = document.buffers().map(|b| b.source()).map(read).collect();
        Self { document, buffers }
    }

    /// The name that the loader gives a node.
    pub fn name(&self, node: usize) -> String {
        let node = self.document.nodes().nth(node).expect("a node");
        let index = node.index();
        node.name().map_or(format!("node {index}"), str::to_owned)
    }

    pub fn pose(&self, clip: usize, time: f64) -> Pose {
        let mut states: Vec<State> = self.document.nodes().map(|n| at_rest(&n)).collect();
        let animation = self.document.animations().nth(clip).expect("a clip");
        for channel in animation.channels() {
            self.drive(&mut states[channel.target().node().index()], &channel, time);
        }
        let mut worlds = vec![DMat4::NAN; states.len()];
        let scene = self.document.default_scene();
        let scene = scene.or(self.document.scenes().next()).expect("a scene");
        for root in scene.nodes() {
            place(&root, DMat4::IDENTITY, &states, &mut worlds);
        }
        let shapes = self.document.nodes().map(|node| {
            let primitives = node.mesh().into_iter().flat_map(|m| m.primitives());
            primitives.map(|p| self.shape(&node, &p, &states, &worlds)).collect()
        });
        Pose { primitives: shapes.collect(), worlds }
    }

    fn drive(&self, state: &mut State, channel: &Channel, time: f64) {
        let reader = channel.reader(|b| self.buffers.get(b.index()).map(Vec::as_slice));
        let times: Vec<f64> = reader.read_inputs().expect("times").map(f64::from).collect();
        let mode = channel.sampler().interpolation();
        let flat =
            |values: &mut dyn Iterator<Item = [f32; 3]>| -> Vec<f64> { values.flatten().map(f64::from).collect() };
        match reader.read_outputs().expect("values") {
            ReadOutputs::Translations(mut values) => {
                state.translation = DVec3::from_slice(&sample(&times, &flat(&mut values), mode, time));
            }
            ReadOutputs::Scales(mut values) => {
                state.scale = DVec3::from_slice(&sample(&times, &flat(&mut values), mode, time));
            }
            ReadOutputs::Rotations(values) => {
                let values: Vec<f64> = values.into_f32().flatten().map(f64::from).collect();
                state.rotation = rotation(&times, &values, mode, time);
            }
            ReadOutputs::MorphTargetWeights(values) => {
                let values: Vec<f64> = values.into_f32().map(f64::from).collect();
                state.weights = sample(&times, &values, mode, time);
            }
        }
    }

    fn shape(&self, node: &Node, p: &Primitive, states: &[State], worlds: &[DMat4]) -> Vec<DVec3> {
        let reader = p.reader(|b| self.buffers.get(b.index()).map(Vec::as_slice));
        let wide = |v: [f32; 3]| DVec3::from(v.map(f64::from));
        let positions = reader.read_positions().expect("positions");
        let mut vertices: Vec<DVec3> = positions.map(wide).collect();
        let weights = &states[node.index()].weights;
        for ((offsets, _, _), weight) in reader.read_morph_targets().zip(weights) {
            for (vertex, offset) in vertices.iter_mut().zip(offsets.into_iter().flatten()) {
                *vertex += *weight * wide(offset);
            }
        }
        let blends = self.blends(node, p, worlds, vertices.len());
        let placed = vertices.iter().zip(&blends).map(|(v, m)| m.transform_point3(*v));
        let placed: Vec<DVec3> = placed.collect();
        match reader.read_indices() {
            Some(indices) => indices.into_u32().map(|i| placed[i as usize]).collect(),
            None => placed,
        }
    }

    /// For each vertex of a primitive, the transform to scene space: of its node, or a blend of its joints' transforms.
    fn blends(&self, node: &Node, p: &Primitive, worlds: &[DMat4], count: usize) -> Vec<DMat4> {
        let Some(skin) = node.skin() else {
            return vec![worlds[node.index()]; count];
        };
        let reader = skin.reader(|b| self.buffers.get(b.index()).map(Vec::as_slice));
        let mut inverses = reader.read_inverse_bind_matrices().into_iter().flatten();
        let joints: Vec<DMat4> = skin
            .joints()
            .map(|joint| {
                let inverse = inverses.next().map(|m| m.as_flattened().to_vec());
                let inverse = inverse
                    .map_or(DMat4::IDENTITY, |m| DMat4::from_cols_array(&std::array::from_fn(|i| f64::from(m[i]))));
                worlds[joint.index()] * inverse
            })
            .collect();
        let mut blends = vec![DMat4::ZERO; count];
        for set in 0.. {
            let reader = p.reader(|b| self.buffers.get(b.index()).map(Vec::as_slice));
            let (Some(indices), Some(weights)) = (reader.read_joints(set), reader.read_weights(set)) else {
                break;
            };
            let influences = indices.into_u16().zip(weights.into_f32());
            for (blend, (indices, weights)) in blends.iter_mut().zip(influences) {
                for (joint, weight) in indices.into_iter().zip(weights) {
                    *blend += joints[joint as usize] * f64::from(weight);
                }
            }
        }
        blends
    }
}

fn at_rest(node: &Node) -> State {
    assert!(!matches!(node.transform(), Transform::Matrix { .. }), "not in these files");
    let (translation, rotation, scale) = node.transform().decomposed();
    let targets = node.mesh().and_then(|m| m.primitives().next());
    let targets = targets.map_or(0, |p| p.morph_targets().count());
    let mesh = node.mesh();
    let weights = node.weights().or(mesh.as_ref().and_then(|m| m.weights()));
    let weights = weights.map(|w| w.iter().copied().map(f64::from).collect());
    State {
        translation: DVec3::from(translation.map(f64::from)),
        rotation: DQuat::from_array(rotation.map(f64::from)).normalize(),
        scale: DVec3::from(scale.map(f64::from)),
        weights: weights.unwrap_or(vec![0.0; targets]),
    }
}

fn place(node: &Node, parent: DMat4, states: &[State], worlds: &mut [DMat4]) {
    let state = &states[node.index()];
    let local =
        DMat4::from_translation(state.translation) * DMat4::from_quat(state.rotation) * DMat4::from_scale(state.scale);
    worlds[node.index()] = parent * local;
    for child in node.children() {
        place(&child, parent * local, states, worlds);
    }
}

/// The keys before and after `time`, and the position between them. Outside of all keys, the closest key twice and 0.
fn segment(times: &[f64], time: f64) -> (usize, usize, f64) {
    let last = times.len() - 1;
    if time <= times[0] {
        return (0, 0, 0.0);
    }
    for key in 0..last {
        if time < times[key + 1] {
            return (key, key + 1, (time - times[key]) / (times[key + 1] - times[key]));
        }
    }
    (last, last, 0.0)
}

/// Interpolation by glTF 2.0, appendix C, except for linear rotations.
fn sample(times: &[f64], values: &[f64], mode: Interpolation, time: f64) -> Vec<f64> {
    let (key, next, t) = segment(times, time);
    if mode == Interpolation::CubicSpline {
        let width = values.len() / times.len() / 3;
        let seconds = times[next] - times[key];
        let part = |key: usize, part: usize, i: usize| values[(key * 3 + part) * width + i];
        let one = |i| {
            (2.0 * t.powi(3) - 3.0 * t.powi(2) + 1.0) * part(key, 1, i)
                + seconds * (t.powi(3) - 2.0 * t.powi(2) + t) * part(key, 2, i)
                + (-2.0 * t.powi(3) + 3.0 * t.powi(2)) * part(next, 1, i)
                + seconds * (t.powi(3) - t.powi(2)) * part(next, 0, i)
        };
        return (0..width).map(one).collect();
    }
    let width = values.len() / times.len();
    let share = if mode == Interpolation::Step { 0.0 } else { t };
    let value = |key: usize, i: usize| values[key * width + i];
    let one = |i| (1.0 - share) * value(key, i) + share * value(next, i);
    (0..width).map(one).collect()
}

fn rotation(times: &[f64], values: &[f64], mode: Interpolation, time: f64) -> DQuat {
    if mode != Interpolation::Linear {
        return DQuat::from_slice(&sample(times, values, mode, time)).normalize();
    }
    let (key, next, t) = segment(times, time);
    let [a, b] = [key, next].map(|k| DVec4::from_slice(&values[4 * k..]).normalize());
    // Appendix C.4: along the shorter arc.
    let (cosine, sign) = (a.dot(b).abs().min(1.0), a.dot(b).signum());
    let angle = cosine.acos();
    if angle < 1e-7 {
        return DQuat::from_vec4(a.lerp(b * sign, t).normalize());
    }
    let mixed = (((1.0 - t) * angle).sin() * a + sign * (t * angle).sin() * b) / angle.sin();
    DQuat::from_vec4(mixed.normalize())
}
