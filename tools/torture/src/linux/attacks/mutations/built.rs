//! Sample files of kinds that are neither in the repository nor written by the program.

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
    let odd = odd();
    add("odd.gltf", odd.clone().into_bytes());
    add("odd.glb", joined_glb([b"\xef\xbb\xbf", odd.as_bytes(), b"\0\0\0"].concat(), Vec::new()));
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
    add("bytes.stl", stl_bytes(0));
    add("tracks.npy", npy());
    add("colours.stl", stl_bytes(0xfc00));
    // A stage with all that the reader reads, as OpenUSD writes it.
    add("stage.usda", include_bytes!("../../../../samples/stage.usda").to_vec());
    add("stage.usdc", include_bytes!("../../../../samples/stage.usdc").to_vec());
    add("stage.usdz", include_bytes!("../../../../samples/stage.usdz").to_vec());
    add("material.mtlx", include_bytes!("../../../../samples/material.mtlx").to_vec());
    add("scene.pbrt", include_bytes!("../../../../../../crates/pbrt/tests/every.pbrt").to_vec());
    for (name, text) in VARIANTS {
        add(name, text.as_bytes().to_vec());
    }
    samples.push(Sample { name: "built rays.ray".to_owned(), bytes: scene::rays(50) });
    samples
}

/// Meshes and materials as other programs write them: with byte order marks, unusual line ends, colours, concave faces and missing
/// references.
const VARIANTS: [(&str, &str); 11] = [
    (
        "tracks.csv",
        "\u{feff}frame;id;x;y;z;yaw;scale;note\r\n0;a;0;0;0;0;1;\"x;y\"\r\n1;a;1;0;0;90;2;\r\n1;b;-1;;0;0;1;\r\n0;b;-1;0;nan;0;1;\r\n",
    ),
    (
        "tracks.jsonl",
        "{\"time\": 0, \"id\": 7, \"x\": 0, \"y\": 0, \"z\": 0, \"qx\": 0, \"qy\": 0, \"qz\": 0, \"qw\": 1}\n\n\
         {\"time\": 0.5, \"id\": \"7\", \"x\": 1, \"y\": null, \"z\": 0, \"qx\": 0, \"qy\": 1, \"qz\": 0, \"qw\": 0, \"more\": [{}]}\n",
    ),
    (
        "colours.obj",
        "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 1 1 0 0 0 1 0.5\nv 0 1 0 255 255 0\nv nan nan nan\nf 1 2 3 4\nf 1 2 5\n",
    ),
    (
        "concave.obj",
        "v 1 0 0\nv 1 .2 0\nv .2 .2 0\nv .2 1 0\nv 0 1 0\nv 0 0 0\nvt 0 1\nvn 0 0 0\nf 1 2 3 4 5/1/1 6/2/9\nf -1 -2 -4 -5\n",
    ),
    (
        "marked.obj",
        "\u{feff}mtllib house.mtl\rv 0 0 0\rv 1 0 0\r\nv 0 1 \\\n0\nvt nan 1\nusemtl roof\rf 1/1 2/1/1 3//1\r",
    ),
    (
        "options.mtl",
        "\u{feff}newmtl front\r\nmap_Kd -s 2 2 1 -o 0.5 0 -zz on letter.png\r\nmap_d -imfchan r -clamp on letter.png\r\nd 0.5\r\n\
         newmtl wall\r\nd 0\r\nTr 0\r\nmap_Ke C:\\maps\\LETTER.PNG -bm 1\r\nnewmtl roof\r\nTr 1\r\nmap_Kd gone.png\r\n",
    ),
    (
        "old.mtl",
        "newmtl wall\rKd 1 1 -1\rmap_Kd house.obj\rmap_d letter.png\rnewmtl roof\rPr 0.5\rd 0.25\rnorm letter.png\r",
    ),
    (
        "faces.ply",
        "\u{feff}ply\r\nformat ascii 1.0\r\nelement vertex 6\r\nproperty double x\r\nproperty double y\r\nproperty double z\r\n\
         property float s\r\nproperty float t\r\nelement face 3\r\nproperty list uchar int vertex_index\r\nproperty uchar red\r\n\
         property uchar green\r\nproperty uchar blue\r\nend_header\r\n0 -0.4 0 0 1\r\n1 -1 0 nan 1\r\n0 1 0 1 1\r\n-1 -1 0 0 0\r\n\
         nan nan -nan(ind) 0 0\r\n0 0 1 0 0\r\n4 1 2 3 0 255 0 0\r\n3 0 1 4 0 0 9\r\n3 0 1 5 0 255 9\r\n",
    ),
    (
        "old.ply",
        "ply\rformat ascii 1.0\relement vertex 3\rproperty float x\rproperty float y\rproperty float z\relement face 1\rproperty list uchar int vertex_indices\rend_header\r0 0 0\r1 0 0\r0 1 0\r3 0 1 2\r",
    ),
    (
        "line.stl",
        "solid a b facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 1 1 0 endloop endfacet end solid a b \
         SOLID facet FACET NORMAL 1.#QNAN 0 0 OUTER LOOP VERTEX 0 0 0 VERTEX 1 1 0 VERTEX 0 1 0 VERTEX .2 .5 0 END LOOP END FACET ENDSOLID",
    ),
    (
        "nan.stl",
        "solid\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nendloop\nendfacet\nfacet\nouter loop\nvertex 0 0 inf\nvertex 1 0 0\nvertex 1 1 0\nendloop\nendfacet\nendsolid\n",
    ),
];

/// The unit square as two triangles with 11-bit positions, encoded by draco-core.
const DRACO_QUAD: &[u8] = &[
    68, 82, 65, 67, 79, 2, 2, 1, 1, 0, 0, 0, 4, 2, 0, 2, 0, 0, 1, 31, 255, 1, 17, 1, 255, 0, 0, 1, 0, 9, 3, 0, 0, 2, 1,
    1, 1, 0, 3, 3, 1, 48, 1, 16, 3, 0, 40, 130, 152, 0, 0, 0, 0, 0, 255, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 128, 63, 11,
];

/// A glTF document and its buffer.
type Parts = (serde_json::Value, Vec<u8>);

/// A square with many faults that are not visible or can be replaced: a missing picture, a mismatched clip, a stray vertex, instances
/// without transforms, integers written as floats, lights and cameras out of range, unknown modes, and an embedded file.
fn odd() -> String {
    let corners = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [f32::NAN, 1e6, 0.0]];
    let bytes: Vec<u8> =
        corners.as_flattened().iter().flat_map(|x| x.to_le_bytes()).chain([0, 1, 2, 0, 2, 3]).collect();
    let data = |bytes: &[u8]| json!(format!("data:;base64,{}", BASE64_STANDARD.encode(bytes)));
    let guest =
        json!({"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"name": "guest"}]}).to_string();
    let file = json!({
        "asset": {"version": "2.1"}, "scene": 4, "scenes": [{"nodes": [0, 1, 9]}],
        "extensionsUsed": ["EXT_mesh_gpu_instancing", "KHR_lights_punctual"], "extensionsRequired": ["EXT_mesh_features"],
        "nodes": [
            {"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"_ID": 1}}}},
            {"camera": 0, "externalAsset": 0, "extensions": {"KHR_lights_punctual": {"light": 0}}, "children": [7]},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1, "JOINTS_0": 0}, "indices": 1, "material": 0,
            "targets": [{"POSITION": 1}]}]}],
        "materials": [{"alphaMode": "GHOST", "normalTexture": {"index": 0}, "emissiveTexture": {"index": 5},
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": -1, "roughnessFactor": "much"}}],
        "textures": [{"source": 0, "sampler": 3}], "images": [{"uri": "gone.png"}],
        "cameras": [{"type": "fisheye", "perspective": {"yfov": 9, "znear": 5, "zfar": 1}}],
        "extensions": {"KHR_lights_punctual": {"lights": [{"type": "spot", "intensity": -1, "range": 0,
            "spot": {"innerConeAngle": 0.5, "outerConeAngle": 0.5}}]}},
        "animations": [{"samplers": [{"input": 0, "output": 0}], "channels": [{"sampler": 0, "target": {"node": 0, "path": "scale"}}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 5.0},
            {"bufferView": 1, "componentType": 5121.0, "type": "SCALAR", "count": 6}],
        "bufferViews": [{"buffer": 0, "byteLength": 60}, {"buffer": 0, "byteOffset": 60, "byteLength": 6}],
        "buffers": [{"byteLength": bytes.len(), "uri": data(&bytes)}, {"byteLength": 4, "uri": "gone.bin"}],
        "files": [{"uri": data(guest.as_bytes()), "mimeType": "model/gltf+json"}], "externalAssets": [{"file": 0}],
    });
    file.to_string()
}

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

/// A DDS file with one block of 4x4 red texels, compressed as BC1.
fn dds() -> Vec<u8> {
    let mut words = [0u32; 31];
    // Header size, flags, height, width and data size; then size, flags and name of the pixel format; then the texture capability.
    for (at, word) in [(0, 124), (1, 0x81007), (2, 4), (3, 4), (4, 8), (18, 32), (19, 4), (26, 0x1000)] {
        words[at] = word;
    }
    words[20] = u32::from_le_bytes(*b"DXT1");
    let header = words.iter().flat_map(|word| word.to_le_bytes());
    b"DDS ".iter().copied().chain(header).chain([0, 0xf8, 0, 0, 0, 0, 0, 0]).collect()
}

/// A KTX2 file with one block of 4x4 texels of one colour, compressed as UASTC.
fn ktx2() -> Vec<u8> {
    let mut file = b"\xabKTX 20\xbb\r\n\x1a\n".to_vec();
    // Format and its size, width, height, depth, layers, faces, levels and scheme; then offsets of descriptors and key/value data; then the
    // offset of the level.
    let header = [0u32, 1, 4, 4, 0, 0, 1, 1, 0, 104, 44, 0, 0, 0, 0, 0, 0, 160, 0, 16, 0, 16, 0];
    let descriptor =
        [44, 0, 2 | 40 << 16, 166 | 1 << 8 | 2 << 16, 3 | 3 << 8, 16, 0, 127 << 16 | 3 << 24, 0, 0, u32::MAX];
    file.extend(header.iter().chain(&descriptor).flat_map(|word: &u32| word.to_le_bytes()));
    file.resize(160, 0);
    file.extend((0x17 | 0xff80_4020u128 << 5).to_le_bytes());
    file
}

/// A PLY file, as text or binary: a square with colours and normals, a polygon, and optional elements.
fn ply(text: bool) -> Vec<u8> {
    let encoding = if text { "ascii" } else { "binary_big_endian" };
    let mut file = format!(
        "ply\nformat {encoding} 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
         property float nx\nproperty float ny\nproperty float nz\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n\
         property list uchar short samples\nelement face 2\nproperty list uchar int vertex_indices\nelement tristrips 1\n\
         property list int int vertex_indices\nend_header\n"
    )
    .into_bytes();
    let mut add = |value: i32, bytes: &[u8]| {
        if text { file.extend(format!("{value} ").into_bytes()) } else { file.extend(bytes) }
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

/// Triangles of a tetrahedron.
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

/// An array of two frames of two matrices.
fn npy() -> Vec<u8> {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 3, 4), }\n";
    let mut file = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    for x in [-1f32, 1.0, -2.0, f32::NAN] {
        let rows = [[1.0, 0.0, 0.0, x], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
        file.extend(rows.as_flattened().iter().flat_map(|number| number.to_le_bytes()));
    }
    file
}

fn stl_bytes(attribute: u16) -> Vec<u8> {
    let mut file = b"solid".to_vec();
    file.resize(80, 0);
    file.extend((CORNERS.len() as u32).to_le_bytes());
    for corners in CORNERS {
        file.extend([0; 12]);
        file.extend(corners.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        file.extend(attribute.to_le_bytes());
    }
    file
}

/// A PNG with a palette of four colours, one of them transparent, and two pixels per byte.
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
