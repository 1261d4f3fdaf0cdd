//! Writes parts as a .glb file with one scene each (KHR_mesh_quantization for normals).

use crate::Part;
use crate::mesh::Mesh;
use std::fmt::Write as _;

/// The bytes of the file; reproducible.
pub fn file(parts: &[Part]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut views, mut accessors, mut meshes) = (String::new(), String::new(), String::new());
    let (mut nodes, mut scenes) = (String::new(), String::new());
    for (i, (name, mesh)) in parts.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        let first = 5 * i;
        add_part(mesh, &mut bytes, &mut views, &mut accessors, comma);
        let attributes = format!(
            r#"{{"POSITION":{first},"NORMAL":{},"TEXCOORD_0":{},"COLOR_0":{}}}"#,
            first + 1,
            first + 2,
            first + 3
        );
        write_to(
            &mut meshes,
            &format!(
                r#"{comma}{{"name":"{name}","primitives":[{{"attributes":{attributes},"indices":{}}}]}}"#,
                first + 4
            ),
        );
        write_to(&mut nodes, &format!(r#"{comma}{{"name":"{name}","mesh":{i}}}"#));
        write_to(&mut scenes, &format!(r#"{comma}{{"name":"{name}","nodes":[{i}]}}"#));
    }
    let asset = r#"{"version":"2.0","generator":"throng, tools/make_market","copyright":"MIT OR Apache-2.0"}"#;
    let quantized = r#"["KHR_mesh_quantization"]"#;
    let mut json = format!(
        r#"{{"asset":{asset},"extensionsUsed":{quantized},"extensionsRequired":{quantized},"scene":0,"scenes":[{scenes}],"nodes":[{nodes}],"meshes":[{meshes}],"accessors":[{accessors}],"bufferViews":[{views}],"buffers":[{{"byteLength":{}}}]}}"#,
        bytes.len()
    );
    json.extend(std::iter::repeat_n(' ', json.len().next_multiple_of(4) - json.len()));
    glb(json.as_bytes(), &bytes)
}

/// Adds the views and accessors of positions, normals, texture coordinates, colours and indices.
fn add_part(mesh: &Mesh, bytes: &mut Vec<u8>, views: &mut String, accessors: &mut String, mut comma: &str) {
    let count = mesh.vertices.len();
    assert!(count < 0xffff, "indices have 16 bits");
    let positions = || mesh.vertices.iter().map(|vertex| vertex.position);
    let bounds = |f: fn(glam::Vec3, glam::Vec3) -> glam::Vec3| positions().reduce(f).unwrap_or_default().to_array();
    let (low, high) = (bounds(glam::Vec3::min), bounds(glam::Vec3::max));
    let floats = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let signed = |x: f32| ((x.clamp(-1.0, 1.0) * 127.0).round() as i8).to_le_bytes()[0];
    let level = |x: f32| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
    let vertices = &mesh.vertices;
    let lists: [(Vec<u8>, usize, String); 5] = [
        (
            positions().flat_map(|p| floats(&p.to_array())).collect(),
            12,
            format!(r#""componentType":5126,"count":{count},"type":"VEC3","min":{low:?},"max":{high:?}"#),
        ),
        (
            vertices.iter().flat_map(|v| [signed(v.normal.x), signed(v.normal.y), signed(v.normal.z), 0]).collect(),
            4,
            format!(r#""componentType":5120,"normalized":true,"count":{count},"type":"VEC3""#),
        ),
        (
            vertices.iter().flat_map(|v| floats(&v.uv.to_array())).collect(),
            8,
            format!(r#""componentType":5126,"count":{count},"type":"VEC2""#),
        ),
        (
            vertices.iter().flat_map(|v| [level(v.color.x), level(v.color.y), level(v.color.z), 255]).collect(),
            4,
            format!(r#""componentType":5121,"normalized":true,"count":{count},"type":"VEC4""#),
        ),
        (
            mesh.triangles.as_flattened().iter().flat_map(|&i| (i as u16).to_le_bytes()).collect(),
            0,
            format!(r#""componentType":5123,"count":{},"type":"SCALAR""#, 3 * mesh.triangles.len()),
        ),
    ];
    for (list, stride, accessor) in lists {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let view = views.matches("byteOffset").count();
        let stride = if stride > 0 { format!(r#","byteStride":{stride}"#) } else { String::new() };
        write_to(
            views,
            &format!(r#"{comma}{{"buffer":0,"byteOffset":{},"byteLength":{}{stride}}}"#, bytes.len(), list.len()),
        );
        write_to(accessors, &format!(r#"{comma}{{"bufferView":{view},{accessor}}}"#));
        bytes.extend(list);
        comma = ",";
    }
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

fn glb(json: &[u8], bytes: &[u8]) -> Vec<u8> {
    let length = 12 + 8 + json.len() + 8 + bytes.len();
    let mut glb = Vec::with_capacity(length);
    glb.extend(b"glTF");
    glb.extend(2u32.to_le_bytes());
    glb.extend((length as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", bytes)] {
        glb.extend((chunk.len() as u32).to_le_bytes());
        glb.extend(kind);
        glb.extend(chunk);
    }
    glb
}

fn write_to(text: &mut String, more: &str) {
    write!(text, "{more}").expect("a string takes whatever is written to it");
}
