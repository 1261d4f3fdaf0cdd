//! Files that neither the repository has nor the program makes.

use super::{containers::joined_glb, corpus::Sample};
use crate::linux::scene;
use base64::{Engine, prelude::BASE64_STANDARD};
use image::ImageFormat;
use serde_json::json;

pub fn built() -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>| {
        let name = format!("built {name}");
        samples.push(Sample { name, bytes });
    };
    for (name, (json, bin)) in [("draco", draco()), ("meshopt", meshopt())] {
        add(&format!("{name}.glb"), joined_glb(json.to_string().into(), bin.clone()));
        let mut json = json;
        json["buffers"][0]["uri"] =
            json!(format!("data:application/octet-stream;base64,{}", BASE64_STANDARD.encode(&bin)));
        add(&format!("{name}.gltf"), json.to_string().into());
    }
    add("picture.png", scene::picture(ImageFormat::Png, 3));
    add("picture.jpg", scene::picture(ImageFormat::Jpeg, 3));
    add("picture.webp", scene::picture(ImageFormat::WebP, 3));
    add("picture.gif", scene::picture(ImageFormat::Gif, 3));
    add("picture.tga", scene::picture(ImageFormat::Tga, 3));
    add("picture.bmp", scene::picture(ImageFormat::Bmp, 3));
    add("picture.tiff", scene::picture(ImageFormat::Tiff, 3));
    add("palette.png", palette());
    add("picture.dds", dds());
    add("picture.ktx2", ktx2());
    add("text.ply", ply(true));
    add("bytes.ply", ply(false));
    add("text.stl", stl_text());
    add("bytes.stl", stl_bytes());
    samples.push(Sample { name: "built rays.ray".to_owned(), bytes: scene::rays(50) });
    samples
}

/// The unit square as two triangles, with positions of 11 bits, written by draco-core.
const DRACO_QUAD: &[u8] = &[
    68, 82, 65, 67, 79, 2, 2, 1, 1, 0, 0, 0, 4, 2, 0, 2, 0, 0, 1, 31, 255, 1, 17, 1, 255, 0, 0, 1, 0, 9, 3, 0, 0, 2, 1,
    1, 1, 0, 3, 3, 1, 48, 1, 16, 3, 0, 40, 130, 152, 0, 0, 0, 0, 0, 255, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 128, 63, 11,
];

/// A document, and its buffer.
type Parts = (serde_json::Value, Vec<u8>);

fn draco() -> Parts {
    let json = json!({
        "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "extensionsUsed": ["KHR_draco_mesh_compression"], "extensionsRequired": ["KHR_draco_mesh_compression"],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "extensions": {
            "KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}}}]}],
        "accessors": [
            {"componentType": 5126, "type": "VEC3", "count": 4, "min": [0, 0, 0], "max": [1, 1, 0]},
            {"componentType": 5123, "type": "SCALAR", "count": 6}],
        "bufferViews": [{"buffer": 0, "byteLength": DRACO_QUAD.len()}],
        "buffers": [{"byteLength": DRACO_QUAD.len()}],
    });
    (json, DRACO_QUAD.to_vec())
}

fn meshopt() -> Parts {
    const SIDE: u32 = 8;
    let positions: Vec<[f32; 3]> =
        (0..SIDE * SIDE).map(|i| [(i % SIDE) as f32, (i * i % 7) as f32 * 0.1, (i / SIDE) as f32]).collect();
    let corners = (0..SIDE * (SIDE - 1)).filter(|i| i % SIDE < SIDE - 1);
    let indices: Vec<u32> = corners.flat_map(|i| [i, i + SIDE, i + 1, i + 1, i + SIDE, i + SIDE + 1]).collect();
    let vertices = meshopt::encode_vertex_buffer(&positions).unwrap_or_default();
    let triangles = meshopt::encode_index_buffer(&indices, positions.len()).unwrap_or_default();
    let view = |offset: usize, data: &[u8], count: usize, stride: usize, mode: &str| {
        json!({"buffer": 1, "byteLength": count * stride, "extensions": {"EXT_meshopt_compression": {
            "buffer": 0, "byteOffset": offset, "byteLength": data.len(), "byteStride": stride, "count": count, "mode": mode}}})
    };
    let start = vertices.len().next_multiple_of(4);
    let mut bin = vertices.clone();
    bin.resize(start, 0);
    bin.extend(&triangles);
    let json = json!({
        "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "extensionsUsed": ["EXT_meshopt_compression"], "extensionsRequired": ["EXT_meshopt_compression"],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": positions.len(), "min": [0, 0, 0], "max": [7, 1, 7]},
            {"bufferView": 1, "componentType": 5125, "type": "SCALAR", "count": indices.len()}],
        "bufferViews": [
            view(0, &vertices, positions.len(), 12, "ATTRIBUTES"),
            view(start, &triangles, indices.len(), 4, "TRIANGLES")],
        "buffers": [{"byteLength": bin.len()}, {"byteLength": 1 << 16}],
    });
    (json, bin)
}

/// A block of 4x4 red texels, compressed as BC1.
fn dds() -> Vec<u8> {
    let mut words = [0u32; 31];
    // Size, flags, height, width and bytes; size, flags and name of the format; a texture.
    for (at, word) in [(0, 124), (1, 0x81007), (2, 4), (3, 4), (4, 8), (18, 32), (19, 4), (26, 0x1000)] {
        words[at] = word;
    }
    words[20] = u32::from_le_bytes(*b"DXT1");
    let header = words.iter().flat_map(|word| word.to_le_bytes());
    b"DDS ".iter().copied().chain(header).chain([0, 0xf8, 0, 0, 0, 0, 0, 0]).collect()
}

/// A block of 4x4 texels of one colour, compressed as UASTC.
fn ktx2() -> Vec<u8> {
    let mut file = b"\xabKTX 20\xbb\r\n\x1a\n".to_vec();
    // Format and its size, width, height, depth, layers, faces, levels, scheme; where descriptors and values are; where the level is.
    let header = [0u32, 1, 4, 4, 0, 0, 1, 1, 0, 104, 44, 0, 0, 0, 0, 0, 0, 160, 0, 16, 0, 16, 0];
    let descriptor =
        [44, 0, 2 | 40 << 16, 166 | 1 << 8 | 2 << 16, 3 | 3 << 8, 16, 0, 127 << 16 | 3 << 24, 0, 0, u32::MAX];
    file.extend(header.iter().chain(&descriptor).flat_map(|word: &u32| word.to_le_bytes()));
    file.resize(160, 0);
    file.extend((0x17 | 0xff80_4020u128 << 5).to_le_bytes());
    file
}

/// A square of vertices with colours and normals, a polygon and what programs leave out, as text or in bytes.
fn ply(text: bool) -> Vec<u8> {
    let encoding = if text { "ascii" } else { "binary_big_endian" };
    let mut file = format!(
        "ply\nformat {encoding} 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
         property float nx\nproperty float ny\nproperty float nz\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n\
         property list uchar short samples\nelement face 2\nproperty list uchar int vertex_indices\nelement tristrips 1\n\
         property list int int vertex_indices\nend_header\n"
    )
    .into_bytes();
    let mut add = |value: i32, bytes: &[u8]| match text {
        true => file.extend(format!("{value} ").into_bytes()),
        false => file.extend(bytes),
    };
    for [x, y] in [[0, 0], [1, 0], [1, 1], [0, 1]] {
        for value in [x, y, 0, 0, 0, 1] {
            add(value, &(value as f32).to_be_bytes());
        }
        for value in [255, 100, 0, 1] {
            add(value, &[value as u8]);
        }
        add(-9, &(-9i16).to_be_bytes());
    }
    for corners in [&[0, 1, 2, 3][..], &[2, 1, 0]] {
        add(corners.len() as i32, &[corners.len() as u8]);
        corners.iter().for_each(|&corner: &i32| add(corner, &corner.to_be_bytes()));
    }
    for value in [9, 0, 1, 3, 2, -1, 0, 1, 2, 3] {
        add(value, &value.to_be_bytes());
    }
    file
}

/// A tetrahedron.
const CORNERS: [[[f32; 3]; 3]; 4] = [
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
    [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
];

fn stl_text() -> Vec<u8> {
    let vertex = |[x, y, z]: &[f32; 3]| format!("vertex {x} {y} {z}\n");
    let facet = |corners: &[[f32; 3]; 3]| {
        let vertices: String = corners.iter().map(vertex).collect();
        format!("facet normal 0 0 1\nouter loop\n{vertices}endloop\nendfacet\n")
    };
    let facets: String = CORNERS.iter().map(facet).collect();
    format!("solid a\n{facets}endsolid a\n").into_bytes()
}

fn stl_bytes() -> Vec<u8> {
    let mut file = b"solid".to_vec();
    file.resize(80, 0);
    file.extend((CORNERS.len() as u32).to_le_bytes());
    for corners in CORNERS {
        file.extend([0; 12]);
        file.extend(corners.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        file.extend([0; 2]);
    }
    file
}

/// Four colours, one of them transparent, two pixels a byte.
fn palette() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 64, 64);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Four);
    encoder.set_palette((0..12).collect::<Vec<u8>>());
    encoder.set_trns(vec![255, 128, 0, 255]);
    let pixels: Vec<u8> = (0..32 * 64).map(|i| (i % 4 * 17) as u8).collect();
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels));
    written.expect("memory takes all that is written");
    bytes
}
