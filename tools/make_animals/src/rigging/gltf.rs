//! JSON and binary data of a glTF file under construction.

use serde_json::{Value, json};

pub const I16: u32 = 5122;
pub const U8: u32 = 5121;
pub const U16: u32 = 5123;
pub const F32: u32 = 5126;

/// Contents of an accessor.
pub struct Data<'a> {
    pub bytes: &'a [u8],
    pub count: usize,
    pub component: u32,
    pub kind: &'static str,
    /// Whether integers represent values up to 1.
    pub normalized: bool,
    /// Bytes from one element to the next; None if packed.
    pub stride: Option<usize>,
}

/// A file under construction.
pub struct File {
    pub json: Value,
    bytes: Vec<u8>,
}

impl File {
    pub fn new() -> Self {
        let generator = "throng, examples/make_animals";
        let asset = json!({"version": "2.0", "generator": generator, "copyright": "MIT OR Apache-2.0"});
        Self { json: json!({"asset": asset}), bytes: Vec::new() }
    }

    /// Appends to one of the file's lists and returns the index.
    pub fn add(&mut self, list: &str, value: Value) -> usize {
        let slot = &mut self.json[list];
        if slot.is_null() {
            *slot = json!([]);
        }
        let list = slot.as_array_mut().expect("lists are arrays");
        list.push(value);
        list.len() - 1
    }

    pub fn view(&mut self, bytes: &[u8], stride: Option<usize>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()});
        if let Some(stride) = stride {
            view["byteStride"] = json!(stride);
        }
        self.bytes.extend(bytes);
        self.add("bufferViews", view)
    }

    pub fn accessor(&mut self, data: &Data) -> usize {
        let view = self.view(data.bytes, data.stride);
        let mut accessor = json!({
            "bufferView": view, "componentType": data.component, "count": data.count, "type": data.kind,
        });
        if data.normalized {
            accessor["normalized"] = json!(true);
        }
        self.add("accessors", accessor)
    }

    /// Adds packed floats. Includes the bounds, which key times require.
    pub fn floats(&mut self, values: &[f32], kind: &'static str, components: usize) -> usize {
        let accessor = self.accessor(&Data {
            bytes: bytemuck::cast_slice(values),
            count: values.len() / components,
            component: F32,
            kind,
            normalized: false,
            stride: None,
        });
        if components == 1 {
            let least = values.iter().copied().fold(f32::INFINITY, f32::min);
            let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            self.json["accessors"][accessor]["min"] = json!([least]);
            self.json["accessors"][accessor]["max"] = json!([most]);
        }
        accessor
    }

    /// The file in binary form.
    pub fn glb(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.json["buffers"] = json!([{"byteLength": self.bytes.len()}]);
        let mut text = self.json.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let length = 12 + 8 + text.len() + 8 + self.bytes.len();
        let mut glb = Vec::with_capacity(length);
        glb.extend(b"glTF");
        glb.extend(2u32.to_le_bytes());
        glb.extend((length as u32).to_le_bytes());
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &self.bytes)] {
            glb.extend((chunk.len() as u32).to_le_bytes());
            glb.extend(kind);
            glb.extend(chunk);
        }
        glb
    }
}
