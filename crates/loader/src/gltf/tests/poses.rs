//! Tests of the poses of loaded models against a reference evaluator (`pose_reference`): nodes and every vertex.

use super::{
    builder::{Builder, U8},
    pose_reference::{Pose, Reference},
    shared::find,
};
use crate::gltf::{GltfOptions, MeshPart, Model, load_model_bytes};
use glam::{DMat4, DVec3};
use serde_json::json;
use std::{collections::HashMap, path::Path};
use throng_scene::anim::{BindPose, Deformed, RigPose, deform};
use throng_scene::{NONE, rig::Playback};

/// Maximum error, in diagonals of the model.
const TOLERANCE: f64 = 1e-5;

/// Shares of a clip's duration; the last one is beyond its end.
const TIMES: [f32; 8] = [0.0, 0.013, 0.2, 0.37, 0.5, 0.81, 1.0, 1.2];

#[test]
fn poses_of_real_files_are_those_of_an_independent_evaluator() {
    for file in ["Fox.glb", "MorphStressTest.gltf", "SimpleSkin/SimpleSkin.gltf"] {
        if let Some(path) = find(file) {
            let bytes = std::fs::read(&path).expect("a file");
            let error = greatest_error(&bytes, path.parent().expect("a folder"));
            println!("{file}: {error:e} of the diagonal");
            assert!(error < TOLERANCE, "{file}: {error}");
        }
    }
}

#[test]
fn skins_targets_and_splines_together_are_those_of_an_independent_evaluator() {
    let bytes = everything().glb();
    let error = greatest_error(&bytes, Path::new(""));
    assert!(error < TOLERANCE, "{error}");
}

/// A triangle on two joints with two targets; clips of all interpolations.
fn everything() -> Builder {
    let mut b = Builder::triangle();
    b.json["nodes"] = json!([
        {"name": "root", "scale": [2, 1, 0.5], "rotation": [0, 0.6, 0, 0.8], "children": [1, 2]},
        {"name": "skinned", "mesh": 0, "skin": 0, "translation": [9, 9, 9], "weights": [0.25, 0.5]},
        {"name": "hip", "translation": [0.5, 1, 0], "children": [3]},
        {"name": "knee", "rotation": [0.5, 0.5, -0.5, 0.5], "translation": [0, 1, 0], "children": [4]},
        {"name": "free", "mesh": 0, "translation": [0, 0, 3]},
    ]);
    let inverse = |x: f32| {
        let mut m = glam::Mat4::from_rotation_x(x).to_cols_array();
        m[13] = -x;
        m
    };
    let matrices = b.floats(&[inverse(0.3), inverse(1.7)]);
    b.add("skins", json!({"joints": [2, 3], "inverseBindMatrices": matrices}));
    let joints = b.accessor(U8, "VEC4", &[[0u8, 1, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]]);
    let weights = b.floats(&[[0.25, 0.75, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]]);
    b.primitive()["attributes"]["JOINTS_0"] = json!(joints);
    b.primitive()["attributes"]["WEIGHTS_0"] = json!(weights);
    let first = b.floats(&[[0.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0]]);
    let second = b.floats(&[[1.0, 0.5, 0.0], [0.0, 0.0, -2.0], [0.0, 0.25, 0.0]]);
    b.primitive()["targets"] = json!([{"POSITION": first}, {"POSITION": second}]);
    for mode in ["STEP", "LINEAR", "CUBICSPLINE"] {
        add_clip(&mut b, mode);
    }
    b
}

/// Adds a clip that animates each property of some node at three keys.
fn add_clip(b: &mut Builder, mode: &str) {
    let times = b.floats(&[[0.25f32], [0.5], [2.0]]);
    let parts = if mode == "CUBICSPLINE" { 3 } else { 1 };
    let mut seed = 1u32;
    let mut random = |_| {
        seed = throng_base::math::hash_u32(seed);
        seed as f32 / u32::MAX as f32 - 0.4
    };
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for (node, path, width) in [
        (0, "translation", 3),
        (2, "rotation", 4),
        (3, "rotation", 4),
        (3, "scale", 3),
        (1, "weights", 2),
        (4, "weights", 2),
    ] {
        let values: Vec<f32> = (0..3 * parts * width).map(&mut random).collect();
        let output = match width {
            4 => {
                let unit = |q: &[f32]| glam::Vec4::from_slice(q).normalize().to_array();
                b.floats(&values.chunks(4).map(unit).collect::<Vec<_>>())
            }
            3 => b.floats(values.as_chunks::<3>().0),
            _ => b.floats(values.as_chunks::<1>().0),
        };
        channels.push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
        samplers.push(json!({"input": times, "output": output, "interpolation": mode}));
    }
    b.add("animations", json!({"name": mode, "samplers": samplers, "channels": channels}));
}

/// The greatest error of all nodes and vertices, at all times of all clips, in diagonals of the model.
fn greatest_error(bytes: &[u8], folder: &Path) -> f64 {
    let loaded = load_model_bytes(bytes, Some(folder), &GltfOptions::default());
    let model = loaded.unwrap_or_else(|e| panic!("{e}"));
    let reference = Reference::open(bytes, folder);
    let mut compare = Compare::new(&model, &reference);
    assert!(!model.rig.clips.is_empty());
    for (clip, index) in model.rig.clips.iter().zip(0..) {
        assert!(clip.duration > 0.0 && !clip.channels.is_empty());
        for share in TIMES {
            compare.at(index, share * clip.duration);
        }
        let keys = &clip.channels[0].times;
        compare.at(index, keys[keys.len() / 2]);
    }
    assert!(compare.vertices > 0);
    compare.greatest
}

struct Compare<'a> {
    model: &'a Model,
    reference: &'a Reference,
    /// For each node of the rig, its index in the file.
    file_index: Vec<usize>,
    greatest: f64,
    vertices: usize,
}

impl<'a> Compare<'a> {
    fn new(model: &'a Model, reference: &'a Reference) -> Self {
        let names = (0..model.rig.nodes.len()).map(|i| (reference.name(i), i));
        let by_name: HashMap<String, usize> = names.collect();
        assert_eq!(by_name.len(), model.rig.nodes.len(), "names differ");
        let nodes = model.rig.nodes.iter();
        Self { model, reference, file_index: nodes.map(|n| by_name[&n.name]).collect(), greatest: 0.0, vertices: 0 }
    }

    fn at(&mut self, clip: u32, time: f32) {
        let playback = Playback { clip, looped: false, ..Playback::default() };
        let mut pose = RigPose::default();
        pose.evaluate(&self.model.rig, &[playback], time.into());
        let expected = self.reference.pose(clip as usize, f64::from(time));
        let diagonal = diagonal(&expected);
        for (node, ours) in pose.worlds().iter().enumerate() {
            let index = self.file_index[node];
            let matrix = glam::Mat4::from(*ours).to_cols_array().map(f64::from);
            self.note_matrix(DMat4::from_cols_array(&matrix), expected.worlds[index], diagonal);
        }
        let mut next_primitive = HashMap::new();
        for part in &self.model.parts {
            let k = next_primitive.entry(part.node).or_insert(0);
            let index = self.file_index[part.node as usize];
            let corners = self.corners(part, &pose);
            let theirs = &expected.primitives[index][*k];
            assert_eq!(corners.len(), theirs.len());
            for (ours, theirs) in corners.iter().zip(theirs) {
                self.note(ours.distance(*theirs) / diagonal);
            }
            self.vertices += corners.len();
            *k += 1;
        }
    }

    /// The corners of a part's triangles, in the order of its triangles.
    fn corners(&self, part: &MeshPart, pose: &RigPose) -> Vec<DVec3> {
        let mesh = &self.model.meshes[part.mesh as usize];
        let (mut joints, mut out) = (Vec::new(), Deformed::default());
        pose.palette(&self.model.rig, part.skin, &mut joints);
        let bind = BindPose::new(&mesh.mesh, &mesh.mesh.tangents);
        deform(bind, &mesh.deformers, &joints, pose.weights(part.node), &mut out);
        let corner = |&v: &u32| {
            let position = glam::Vec3::from(out.positions[v as usize]);
            match part.skin {
                NONE => pose.world(part.node).transform_point3(position),
                _ => position,
            }
        };
        let vertices = mesh.mesh.triangles.as_flattened();
        vertices.iter().map(corner).map(|p| p.as_dvec3()).collect()
    }

    fn note_matrix(&mut self, ours: DMat4, theirs: DMat4, diagonal: f64) {
        self.note(ours.w_axis.distance(theirs.w_axis) / diagonal);
        let axes = |m: &DMat4| [m.x_axis, m.y_axis, m.z_axis];
        let longest = axes(&theirs).map(|a| a.length()).into_iter().fold(0.0, f64::max);
        for (a, b) in axes(&ours).into_iter().zip(axes(&theirs)) {
            self.note(a.distance(b) / longest);
        }
    }

    fn note(&mut self, error: f64) {
        assert!(error.is_finite());
        self.greatest = self.greatest.max(error);
    }
}

/// The diagonal of the box around all vertices.
fn diagonal(pose: &Pose) -> f64 {
    let all = || pose.primitives.iter().flatten().flatten();
    let least = all().fold(DVec3::INFINITY, |a, b| a.min(*b));
    let most = all().fold(DVec3::NEG_INFINITY, |a, b| a.max(*b));
    least.distance(most)
}
