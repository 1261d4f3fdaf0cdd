//! Builder of small glTF files for tests.

use base64::Engine;
use bytemuck::NoUninit;
use serde_json::{Value, json};

pub const I8: u32 = 5120;
pub const U8: u32 = 5121;
pub const I16: u32 = 5122;
pub const U16: u32 = 5123;
pub const U32: u32 = 5125;
pub const F32: u32 = 5126;

#[derive(Clone)]
pub struct Builder {
    pub json: Value,
    pub bin: Vec<u8>,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// A scene with one empty node.
    pub fn new() -> Self {
        Self {
            json: json!({
                "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{}],
            }),
            bin: Vec::new(),
        }
    }

    /// One node with one mesh of one triangle: (0,0,0), (1,0,0), (0,1,0).
    pub fn triangle() -> Self {
        let mut b = Self::new();
        let positions = b.floats(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        b.add("meshes", json!({"primitives": [{"attributes": {"POSITION": positions}}]}));
        b.json["nodes"][0]["mesh"] = json!(0);
        b
    }

    /// Appends to a list of the file and returns the index.
    pub fn add(&mut self, list: &str, value: Value) -> usize {
        let slot = &mut self.json[list];
        if slot.is_null() {
            *slot = json!([]);
        }
        let list = slot.as_array_mut().expect("a list");
        list.push(value);
        list.len() - 1
    }

    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = json!({"buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len()});
        self.bin.extend(bytes);
        self.add("bufferViews", view)
    }

    /// An accessor of packed values with a separate view.
    pub fn accessor<T: NoUninit>(&mut self, component: u32, kind: &str, values: &[T]) -> usize {
        let view = self.view(bytemuck::cast_slice(values));
        let (count, kind) = (values.len(), json!(kind));
        self.add("accessors", json!({"bufferView": view, "componentType": component, "type": kind, "count": count}))
    }

    pub fn floats<const N: usize>(&mut self, values: &[[f32; N]]) -> usize
    where
        [f32; N]: NoUninit,
    {
        let kind = match N {
            1 => "SCALAR",
            2 => "VEC2",
            3 => "VEC3",
            4 => "VEC4",
            _ => "MAT4",
        };
        self.accessor(F32, kind, values)
    }

    /// The first primitive of the first mesh.
    pub fn primitive(&mut self) -> &mut Value {
        &mut self.json["meshes"][0]["primitives"][0]
    }

    /// An animation with one channel.
    pub fn animation(&mut self, target: Value, input: usize, output: usize, mode: &str) -> usize {
        let animation = json!({
            "samplers": [{"input": input, "output": output, "interpolation": mode}],
            "channels": [{"sampler": 0, "target": target}],
        });
        self.add("animations", animation)
    }

    /// Adds the picture as a texture, with its image in the buffer.
    pub fn texture(&mut self, picture: &[u8]) -> usize {
        let view = self.view(picture);
        let image = self.add("images", json!({"bufferView": view, "mimeType": "image/png"}));
        self.add("textures", json!({"source": image}))
    }

    /// The file as .glb, with a binary chunk.
    pub fn glb(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        if !self.bin.is_empty() && json["buffers"].is_null() {
            json["buffers"] = json!([{"byteLength": self.bin.len()}]);
        }
        let mut bytes = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
        for (kind, fill, data) in [(b"JSON", b' ', json.to_string().as_bytes()), (b"BIN\0", 0, &self.bin)] {
            let length = data.len().next_multiple_of(4);
            bytes.extend((length as u32).to_le_bytes());
            bytes.extend(kind);
            bytes.extend(data);
            bytes.resize(bytes.len().next_multiple_of(4), fill);
        }
        let length = bytes.len() as u32;
        bytes[8..12].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    /// The file as .gltf, with the buffer in a data URI.
    pub fn gltf(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        let data = base64::engine::general_purpose::STANDARD.encode(&self.bin);
        let uri = format!("data:application/octet-stream;base64,{data}");
        json["buffers"] = json!([{"byteLength": self.bin.len(), "uri": uri}]);
        json.to_string().into_bytes()
    }
}

/// A triangle that moves by 4 along X within a second in a clip "Go", and a static triangle with a normal at z = 9.
pub fn walker() -> Builder {
    let mut b = Builder::triangle();
    let positions = b.floats(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    let normals = b.floats(&[[0.0, 0.0, 1.0]; 3]);
    let red = b.add("materials", json!({"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}}));
    b.add(
        "meshes",
        json!({"primitives": [
            {"attributes": {"POSITION": positions, "NORMAL": normals}, "material": red},
        ]}),
    );
    b.add("nodes", json!({"mesh": 1, "translation": [0, 0, 9], "scale": [-1, 1, 1]}));
    b.json["scenes"][0]["nodes"] = json!([0, 1]);
    let times = b.floats(&[[0.0], [1.0]]);
    let places = b.floats(&[[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]]);
    b.animation(json!({"node": 0, "path": "translation"}), times, places, "LINEAR");
    b.json["animations"][0]["name"] = json!("Go");
    let colors = b.floats(&[[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]]);
    let pointer = json!({"pointer": "/materials/0/pbrMetallicRoughness/baseColorFactor"});
    let target = json!({"path": "pointer", "extensions": {"KHR_animation_pointer": pointer}});
    b.animation(target, times, colors, "LINEAR");
    b.json["animations"][1]["name"] = json!("Blush");
    b
}

/// A PNG of one colour.
pub fn png(width: u32, height: u32, color: [u8; 3]) -> Vec<u8> {
    encoded(width, height, color, image::ImageFormat::Png)
}

pub fn encoded(width: u32, height: u32, color: [u8; 3], format: image::ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::RgbImage::from_pixel(width, height, image::Rgb(color)).write_to(&mut bytes, format).expect("encodes");
    bytes.into_inner()
}
