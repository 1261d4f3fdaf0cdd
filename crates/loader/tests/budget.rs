//! Loading takes little memory beyond the scene. The global allocator counts allocations, so this is a separate test program.

use std::{fmt::Write, fs, path::Path};
use throng_loader::load;
use throng_scene::{Scene, TriangleMesh};
use throng_testing::memory::{self, Counting};

#[global_allocator]
static COUNTING: Counting = Counting;

/// A sheet of hills with `cells` cells per side, whose slope is at most `steepness`.
fn sheet(cells: u32, steepness: f32) -> TriangleMesh {
    let row = cells + 1;
    let point = |i: u32| {
        let [x, z] = [i % row, i / row].map(|n| n as f32);
        [x, steepness * (0.7 * x).sin() * (0.7 * z).cos(), z]
    };
    let cell = |i: u32| {
        let a = i / cells * row + i % cells;
        [[a, a + row, a + 1], [a + row, a + row + 1, a + 1]]
    };
    TriangleMesh {
        positions: (0..row * row).map(point).collect(),
        triangles: (0..cells * cells).flat_map(cell).collect(),
        ..TriangleMesh::default()
    }
}

fn bytes_of<T: Copy>(values: &[[T; 3]], bytes: impl Fn(T) -> [u8; 4]) -> Vec<u8> {
    values.as_flattened().iter().flat_map(|&value| bytes(value)).collect()
}

fn ply(mesh: &TriangleMesh, encoding: &str) -> String {
    format!(
        "ply\nformat {encoding} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        mesh.positions.len(),
        mesh.triangles.len()
    )
}

fn binary_ply(mesh: &TriangleMesh) -> Vec<u8> {
    let mut file = ply(mesh, "binary_little_endian").into_bytes();
    file.extend(bytes_of(&mesh.positions, f32::to_le_bytes));
    mesh.triangles.iter().for_each(|t| {
        file.push(3);
        file.extend(bytes_of(&[*t], u32::to_le_bytes));
    });
    file
}

fn ascii_ply(mesh: &TriangleMesh) -> Vec<u8> {
    let mut file = ply(mesh, "ascii");
    mesh.positions.iter().for_each(|[x, y, z]| writeln!(file, "{x} {y} {z}").expect("writes"));
    mesh.triangles.iter().for_each(|[a, b, c]| writeln!(file, "3 {a} {b} {c}").expect("writes"));
    file.into_bytes()
}

fn obj(mesh: &TriangleMesh) -> Vec<u8> {
    let mut file = String::new();
    mesh.positions.iter().for_each(|[x, y, z]| writeln!(file, "v {x} {y} {z}").expect("writes"));
    let triangles = mesh.triangles.iter().map(|t| t.map(|v| v + 1));
    triangles.for_each(|[a, b, c]| writeln!(file, "f {a} {b} {c}").expect("writes"));
    file.into_bytes()
}

fn stl(mesh: &TriangleMesh) -> Vec<u8> {
    let mut file = vec![0; 80];
    file.extend((mesh.triangles.len() as u32).to_le_bytes());
    for triangle in &mesh.triangles {
        file.extend([0; 12]);
        file.extend(bytes_of(&triangle.map(|v| mesh.positions[v as usize]), f32::to_le_bytes));
        file.extend([0; 2]);
    }
    file
}

fn scn(mesh: &TriangleMesh) -> Vec<u8> {
    let mut file = b"SCN1\0\0\0\0".to_vec();
    let counts = [1, 1, mesh.positions.len(), mesh.triangles.len()];
    counts.iter().for_each(|&count| file.extend((count as u32).to_le_bytes()));
    file.extend(bytes_of(&mesh.positions, f32::to_le_bytes));
    file.extend(bytes_of(&mesh.triangles, u32::to_le_bytes));
    file.extend([0; 4]);
    file.extend(bytes_of(&[[1., 0., 0.], [0., 0., 1.], [0., 0., 0.], [0., 1., 0.]], f32::to_le_bytes));
    file
}

fn glb(mesh: &TriangleMesh) -> Vec<u8> {
    let parts = [bytes_of(&mesh.positions, f32::to_le_bytes), bytes_of(&mesh.triangles, u32::to_le_bytes)];
    let [vertices, indices] = parts.each_ref().map(Vec::len);
    let view = |offset, length| format!(r#"{{"buffer":0,"byteOffset":{offset},"byteLength":{length}}}"#);
    let accessor = |view, component, kind, count| {
        format!(r#"{{"bufferView":{view},"componentType":{component},"type":"{kind}","count":{count}}}"#)
    };
    let count = mesh.positions.len();
    let accessors = [accessor(0, 5126, "VEC3", count), accessor(1, 5125, "SCALAR", indices / 4)].join(",");
    let mut json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0}}],
        "buffers":[{{"byteLength":{}}}],"bufferViews":[{},{}],"accessors":[{accessors}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,"NORMAL":0}},"indices":1}}]}}]}}"#,
        vertices + indices,
        view(0, vertices),
        view(vertices, indices),
    );
    while json.len() % 4 != 0 {
        json.push(' ');
    }
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend(((28 + json.len() + vertices + indices) as u32).to_le_bytes());
    file.extend((json.len() as u32).to_le_bytes());
    file.extend(b"JSON");
    file.extend(json.into_bytes());
    file.extend(((vertices + indices) as u32).to_le_bytes());
    file.extend(b"BIN\0");
    parts.iter().for_each(|part| file.extend(part));
    file
}

/// Bytes of all vertices and triangles of a scene.
fn mesh_bytes(scene: &Scene) -> usize {
    let of_mesh = |mesh: &TriangleMesh| {
        12 * (mesh.positions.len() + mesh.normals.len() + mesh.triangles.len())
            + 8 * (mesh.uvs.len() + mesh.uvs1.len())
            + 16 * (mesh.colors.len() + mesh.tangents.len())
            + 4 * mesh.slots.len()
    };
    scene.meshes.iter().filter_map(|mesh| mesh.triangles()).map(of_mesh).sum()
}

/// Bytes that are allocated at the peak of loading a file, and bytes of the scene's meshes.
fn measured(path: &Path) -> [usize; 2] {
    let (scene, peak) = memory::peak(|| load(path).unwrap_or_else(|e| panic!("{e}")));
    [peak, mesh_bytes(&scene)]
}

/// The peak grows with the mesh by at most these factors, for a smooth surface, and for one whose vertices are split at most edges.
#[test]
fn loading_takes_little_more_than_the_meshes() {
    type Written = fn(&TriangleMesh) -> Vec<u8>;
    let formats: [(&str, Written, [f64; 2]); 6] = [
        ("binary.ply", binary_ply, [1.3, 1.7]),
        ("ascii.ply", ascii_ply, [1.3, 1.7]),
        ("mesh.obj", obj, [3.5, 1.9]),
        ("mesh.stl", stl, [1.3, 1.7]),
        ("mesh.glb", glb, [1.3, 1.3]),
        ("mesh.scn", scn, [1.1, 1.1]),
    ];
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut wrong = Vec::new();
    for (name, written, most) in formats {
        let path = folder.path().join(name);
        let load = |cells, steepness| {
            fs::write(&path, written(&sheet(cells, steepness))).expect("writes");
            measured(&path)
        };
        // The first load of a format also fills tables that stay. What a small mesh takes, for example while its sky is computed, is not counted.
        load(2, 0.2);
        let small = load(2, 0.2);
        for (steepness, most) in [0.2, 10.0].into_iter().zip(most) {
            let large = load(316, steepness);
            let [peak, mesh] = [0, 1].map(|i| (large[i] - small[i]) as f64);
            if peak > most * mesh {
                wrong.push(format!("{name}, {steepness}: {:.2} times the mesh", peak / mesh));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
