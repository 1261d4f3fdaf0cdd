//! Writes animals as .glb files: one quantised mesh (KHR_mesh_quantization) with one material, facing +Z.

use super::atlas::Atlas;
use super::clip::{Clip, Morphing, Movement};
use super::gltf::{Data, File, I16, U8, U16};
use super::skeleton::Skeleton;
use super::vertices::Vertices;
use glam::{Mat4, Quat, Vec3};
use serde_json::{Value, json};
use std::f32::consts::FRAC_1_SQRT_2;

/// How an animal is animated.
pub enum Life<'a> {
    Bones { skeleton: &'a Skeleton, clips: &'a [Movement] },
    Targets { clips: &'a [Morphing] },
}

/// Contents of the file.
pub struct Animal<'a> {
    pub name: &'static str,
    pub vertices: &'a Vertices,
    pub atlas: &'a Atlas,
    /// Roughness of the paint: 0 is glossy, 1 is matt.
    pub roughness: f32,
    pub life: Life<'a>,
}

/// Rotation from the models' orientation (facing +X) to glTF's (facing +Z).
const FACING: [f32; 4] = [0.0, -FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2];
/// Index of the node with this rotation.
const STAND: usize = 0;

impl Animal<'_> {
    /// The bytes of the file; reproducible.
    pub fn to_glb(&self) -> Vec<u8> {
        let mut file = File::new();
        file.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
        file.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
        file.json["scene"] = json!(0);
        self.add_material(&mut file);
        let scale = self.vertices.positions.iter().map(|p| p.abs().max_element()).fold(0.0, f32::max);
        self.add_mesh(&mut file, scale);
        let stand = json!({"name": self.name, "rotation": FACING, "children": [STAND + 1]});
        file.add("nodes", stand);
        match &self.life {
            Life::Bones { skeleton, clips } => self.add_bones(&mut file, skeleton, clips, scale),
            Life::Targets { clips } => self.add_morphing(&mut file, clips, scale),
        }
        file.glb()
    }

    fn add_material(&self, file: &mut File) {
        let view = file.view(&self.atlas.png(), None);
        file.add("images", json!({"bufferView": view, "mimeType": "image/png"}));
        const CLAMP_TO_EDGE: u32 = 33071;
        file.add("samplers", json!({"wrapS": CLAMP_TO_EDGE, "wrapT": CLAMP_TO_EDGE}));
        file.add("textures", json!({"source": 0, "sampler": 0}));
        let surface = json!({
            "baseColorTexture": {"index": 0, "texCoord": 1}, "metallicFactor": 0, "roughnessFactor": self.roughness,
        });
        file.add("materials", json!({"name": "skin", "pbrMetallicRoughness": surface}));
    }

    fn add_mesh(&self, file: &mut File, scale: f32) {
        let vertices = self.vertices;
        let positions: Vec<Vec3> = vertices.positions.iter().map(|p| *p / scale).collect();
        let mut attributes = json!({
            "POSITION": add_vectors(file, &positions, true),
            "NORMAL": add_vectors(file, &vertices.normals, false),
            "TEXCOORD_0": add_tiling(file, vertices),
            "TEXCOORD_1": add_paint(file, vertices),
        });
        if !vertices.influences.is_empty() {
            let [joints, weights] = add_influences(file, vertices);
            attributes["JOINTS_0"] = json!(joints);
            attributes["WEIGHTS_0"] = json!(weights);
        }
        let indices: Vec<u16> = vertices.triangles.as_flattened().iter().map(|&i| i as u16).collect();
        assert!(vertices.positions.len() < 0xffff, "indices have 16 bits");
        let indices = file.accessor(&Data {
            bytes: bytemuck::cast_slice(&indices),
            count: indices.len(),
            component: U16,
            kind: "SCALAR",
            normalized: false,
            stride: None,
        });
        let mut primitive = json!({"attributes": attributes, "indices": indices, "material": 0});
        let mut mesh = json!({"name": self.name});
        if !vertices.targets.is_empty() {
            let names: Vec<&str> = vertices.targets.iter().map(|target| target.name).collect();
            mesh["extras"] = json!({"targetNames": names});
            primitive["targets"] = self.add_targets(file, scale);
        }
        mesh["primitives"] = json!([primitive]);
        file.add("meshes", mesh);
    }

    fn add_targets(&self, file: &mut File, scale: f32) -> Value {
        let targets = self.vertices.targets.iter().map(|target| {
            let positions: Vec<Vec3> = target.positions.iter().map(|p| *p / scale).collect();
            let (position, normal) = (add_vectors(file, &positions, true), add_vectors(file, &target.normals, false));
            json!({"POSITION": position, "NORMAL": normal})
        });
        targets.collect()
    }

    fn add_bones(&self, file: &mut File, skeleton: &Skeleton, clips: &[Movement], scale: f32) {
        let first = STAND + 1;
        for (i, joint) in skeleton.joints.iter().enumerate() {
            let from = joint.parent.map_or(Vec3::ZERO, |parent| skeleton.joints[parent].at);
            let children = skeleton.joints.iter().enumerate().filter(|(_, other)| other.parent == Some(i));
            let children: Vec<usize> = children.map(|(child, _)| first + child).collect();
            let mut node = json!({"name": joint.name, "translation": (joint.at - from).to_array()});
            if !children.is_empty() {
                node["children"] = json!(children);
            }
            file.add("nodes", node);
        }
        let mesh = file.add("nodes", json!({"name": "skin", "mesh": 0, "skin": 0}));
        file.add("scenes", json!({"nodes": [STAND, mesh]}));
        // Positions are stored relative to `scale`. Joints use the model's size.
        let binds: Vec<[f32; 16]> = skeleton
            .joints
            .iter()
            .map(|joint| Mat4::from_translation(-joint.at) * Mat4::from_scale(Vec3::splat(scale)))
            .map(|bind| bind.to_cols_array())
            .collect();
        let binds = file.floats(binds.as_flattened(), "MAT4", 16);
        let joints: Vec<usize> = (0..skeleton.joints.len()).map(|joint| first + joint).collect();
        let skin = json!({"name": self.name, "joints": joints, "inverseBindMatrices": binds, "skeleton": first});
        file.add("skins", skin);
        for clip in clips {
            add_movement(file, skeleton, clip, first);
        }
    }

    fn add_morphing(&self, file: &mut File, clips: &[Morphing], scale: f32) {
        let size = [scale; 3];
        let node = file.add("nodes", json!({"name": "skin", "mesh": 0, "scale": size}));
        file.add("scenes", json!({"nodes": [STAND]}));
        for clip in clips {
            let times = add_times(file, clip);
            let weights = clip.keys.concat();
            let output = file.floats(&weights, "SCALAR", 1);
            let channel = json!({"sampler": 0, "target": {"node": node, "path": "weights"}});
            let sampler = json!({"input": times, "output": output});
            file.add("animations", json!({"name": clip.name, "channels": [channel], "samplers": [sampler]}));
        }
    }
}

fn add_movement(file: &mut File, skeleton: &Skeleton, clip: &Movement, first: usize) {
    let times = add_times(file, clip);
    let (mut channels, mut samplers) = (Vec::new(), Vec::new());
    let mut add = |output: usize, joint: usize, path: &str| {
        channels.push(json!({"sampler": samplers.len(), "target": {"node": first + joint, "path": path}}));
        samplers.push(json!({"input": times, "output": output}));
    };
    for (i, joint) in skeleton.joints.iter().enumerate() {
        if clip.keys.iter().any(|pose| pose.turns[i] != Quat::IDENTITY) {
            add(add_turns(file, clip.keys.iter().map(|pose| pose.turns[i])), i, "rotation");
        }
        if clip.keys.iter().any(|pose| pose.offsets[i] != Vec3::ZERO) {
            let from = joint.parent.map_or(Vec3::ZERO, |parent| skeleton.joints[parent].at);
            let places: Vec<[f32; 3]> =
                clip.keys.iter().map(|pose| (joint.at - from + pose.offsets[i]).to_array()).collect();
            add(file.floats(places.as_flattened(), "VEC3", 3), i, "translation");
        }
    }
    file.add("animations", json!({"name": clip.name, "channels": channels, "samplers": samplers}));
}

fn add_times<T: Clone>(file: &mut File, clip: &Clip<T>) -> usize {
    let times: Vec<f32> = clip.times().collect();
    file.floats(&times, "SCALAR", 1)
}

/// Adds rotations. The signs of consecutive quaternions match, so that interpolation takes the shorter way.
fn add_turns(file: &mut File, turns: impl Iterator<Item = Quat>) -> usize {
    let mut last = Quat::IDENTITY;
    let turns: Vec<[i16; 4]> = turns
        .map(|turn| {
            last = if turn.dot(last) < 0.0 { -turn } else { turn };
            last.to_array().map(quantise)
        })
        .collect();
    file.accessor(&Data {
        bytes: bytemuck::cast_slice(&turns),
        count: turns.len(),
        component: I16,
        kind: "VEC4",
        normalized: true,
        stride: None,
    })
}

/// Adds vectors inside the unit cube.
fn add_vectors(file: &mut File, vectors: &[Vec3], bounded: bool) -> usize {
    let padded: Vec<[i16; 4]> = vectors.iter().map(|v| v.extend(0.0).to_array().map(quantise)).collect();
    let accessor = file.accessor(&Data {
        bytes: bytemuck::cast_slice(&padded),
        count: padded.len(),
        component: I16,
        kind: "VEC3",
        normalized: true,
        stride: Some(size_of::<[i16; 4]>()),
    });
    if bounded {
        let bound = |pick: fn(i16, i16) -> i16| {
            let all = padded.iter().copied().reduce(|a, b| [0, 1, 2, 3].map(|k| pick(a[k], b[k])));
            all.unwrap_or_default()[..3].to_vec()
        };
        file.json["accessors"][accessor]["min"] = json!(bound(i16::min));
        file.json["accessors"][accessor]["max"] = json!(bound(i16::max));
    }
    accessor
}

fn quantise(x: f32) -> i16 {
    (x.clamp(-1.0, 1.0) * f32::from(i16::MAX)).round() as i16
}

/// Adds texture coordinates. In glTF, v = 0 is the top of the texture; in OBJ, the bottom.
fn add_tiling(file: &mut File, vertices: &Vertices) -> usize {
    let coords: Vec<[f32; 2]> = vertices.looks.iter().map(|look| [look.tiling.x, 1.0 - look.tiling.y]).collect();
    file.floats(coords.as_flattened(), "VEC2", 2)
}

fn add_paint(file: &mut File, vertices: &Vertices) -> usize {
    let level = |x: f32| (x * f32::from(u16::MAX)).round() as u16;
    let coords: Vec<[u16; 2]> = vertices.looks.iter().map(|look| look.paint.to_array().map(level)).collect();
    file.accessor(&Data {
        bytes: bytemuck::cast_slice(&coords),
        count: coords.len(),
        component: U16,
        kind: "VEC2",
        normalized: true,
        stride: None,
    })
}

fn add_influences(file: &mut File, vertices: &Vertices) -> [usize; 2] {
    let joints: Vec<[u8; 4]> = vertices.influences.iter().map(|i| i.joints).collect();
    let weights: Vec<[u8; 4]> = vertices.influences.iter().map(|i| i.weights).collect();
    [(joints, false), (weights, true)].map(|(bytes, normalized)| {
        file.accessor(&Data {
            bytes: bytes.as_flattened(),
            count: bytes.len(),
            component: U8,
            kind: "VEC4",
            normalized,
            stride: None,
        })
    })
}
