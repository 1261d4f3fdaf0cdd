//! A model with a bending mast, as a glTF file.

use base64::Engine;
use serde_json::{Value, json};

/// A buffer with its views and accessors.
#[derive(Default)]
struct Data {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Data {
    fn add(&mut self, component: u32, kind: &str, count: usize, bytes: &[u8]) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let view = self.views.len();
        self.views.push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()}));
        self.accessors.push(json!({"bufferView": view, "componentType": component, "count": count, "type": kind}));
        self.bytes.extend(bytes);
        view
    }

    fn floats(&mut self, kind: &str, width: usize, values: &[f32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.add(5126, kind, values.len() / width, &bytes)
    }

    fn indices(&mut self, values: &[u16]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.add(5123, "SCALAR", values.len(), &bytes)
    }
}

/// Positions, joints, weights and indices of the strip, as accessors.
fn strip(data: &mut Data) -> [usize; 4] {
    let levels = 9;
    let (mut positions, mut joints, mut weights, mut triangles) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for level in 0..levels {
        let y = level as f32 * 0.25;
        let upper = (y - 0.5).clamp(0.0, 1.0);
        for x in [-0.25f32, 0.25] {
            positions.extend([x, y, 0.0]);
            joints.extend([0u8, 1, 0, 0]);
            weights.extend([1.0 - upper, upper, 0.0, 0.0]);
        }
        let first = 2 * level as u16;
        if level + 1 < levels {
            triangles.extend([first, first + 1, first + 3, first, first + 3, first + 2]);
        }
    }
    [
        data.floats("VEC3", 3, &positions),
        data.add(5121, "VEC4", joints.len() / 4, &joints),
        data.floats("VEC4", 4, &weights),
        data.indices(&triangles),
    ]
}

/// A strip with a joint at half its height, which `Bend` turns by 90 degrees in a second; a triangle, which `Slide` moves in two seconds
/// and `Vanish` shrinks to nothing; and a camera.
pub fn mast() -> Vec<u8> {
    let mut data = Data::default();
    let [positions, joints, weights, triangles] = strip(&mut data);
    let corners = data.floats("VEC3", 3, &[0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0]);
    let mut binds = [0.0f32; 32];
    for i in [0, 5, 10, 15, 16, 21, 26, 31] {
        binds[i] = 1.0;
    }
    binds[29] = -1.0;
    let binds = data.floats("MAT4", 16, &binds);
    let second = data.floats("SCALAR", 1, &[0.0, 1.0]);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let turns = data.floats("VEC4", 4, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half]);
    let two_seconds = data.floats("SCALAR", 1, &[0.0, 2.0]);
    let places = data.floats("VEC3", 3, &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    let sizes = data.floats("VEC3", 3, &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    let clip = |name: &str, node: usize, path: &str, input: usize, output: usize| {
        json!({"name": name, "samplers": [{"input": input, "output": output}],
            "channels": [{"sampler": 0, "target": {"node": node, "path": path}}]})
    };
    let encoded = base64::engine::general_purpose::STANDARD.encode(&data.bytes);
    let file = json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1, 3, 4]}],
        "nodes": [
            {"mesh": 0, "skin": 0},
            {"children": [2]},
            {"translation": [0, 1, 0]},
            {"mesh": 1, "translation": [1, 0, 0]},
            {"camera": 0, "translation": [0, 1, 5]},
        ],
        "cameras": [{"name": "Front", "type": "perspective", "perspective": {"yfov": 0.7, "znear": 0.1}}],
        "skins": [{"joints": [1, 2], "inverseBindMatrices": binds}],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights},
                "indices": triangles}]},
            {"primitives": [{"attributes": {"POSITION": corners}}]},
        ],
        "animations": [
            clip("Bend", 2, "rotation", second, turns),
            clip("Slide", 3, "translation", two_seconds, places),
            clip("Vanish", 3, "scale", second, sizes),
        ],
        "buffers": [{"byteLength": data.bytes.len(),
            "uri": format!("data:application/octet-stream;base64,{encoded}")}],
        "bufferViews": data.views,
        "accessors": data.accessors,
    });
    file.to_string().into_bytes()
}
