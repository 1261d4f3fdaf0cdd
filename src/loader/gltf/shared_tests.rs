//! Real files of the folder that `THRONG_DATA` names: what is in them.

use super::{GltfOptions, Model, load_model};
use std::path::Path;

/// Loads a file of `assets/gltf`; None, with a line, where it is not there.
fn load(file: &str) -> Option<Model> {
    let data = std::env::var_os("THRONG_DATA")?;
    let path = Path::new(&data).join("assets/gltf").join(file);
    let options = GltfOptions::default();
    path.is_file()
        .then(|| load_model(&path, &options).unwrap_or_else(|e| panic!("{e}")))
}

/// Nodes, meshes, parts, triangles, materials, textures, clips, skins.
fn counts(m: &Model) -> [usize; 8] {
    let triangles = m.meshes.iter().map(|m| m.mesh.triangles.len()).sum();
    [
        m.rig.nodes.len(),
        m.meshes.len(),
        m.parts.len(),
        triangles,
        m.materials.len(),
        m.textures.len(),
        m.rig.clips.len(),
        m.rig.skins.len(),
    ]
}

#[test]
fn every_shared_file_has_its_numbers() {
    let files = [
        ("BoxDraco.gltf", [2, 1, 1, 12, 1, 0, 0, 0]),
        ("BoxMeshopt.glb", [1, 1, 1, 12, 1, 0, 0, 0]),
        ("CornellBox/CornellBox.glb", [4, 6, 6, 0, 5, 0, 0, 0]),
        ("FlightHelmet/FlightHelmet.gltf", [6, 6, 6, 0, 6, 15, 0, 0]),
        ("Fox.glb", [26, 1, 1, 576, 1, 1, 3, 1]),
        (
            "GltfPrimitives/gltf_primitives.glb",
            [1, 4, 4, 0, 4, 0, 0, 0],
        ),
        ("MorphStressTest.gltf", [1, 2, 2, 0, 2, 3, 3, 0]),
        ("SimpleSkin/SimpleSkin.gltf", [3, 1, 1, 8, 0, 0, 1, 1]),
        ("many-cubes.gltf", [506, 501, 501, 0, 0, 0, 0, 0]),
        (
            "transmission/KHR_materials_transmission.gltf",
            [1, 3, 3, 0, 3, 0, 0, 0],
        ),
    ];
    for (file, expected) in files {
        match load(file) {
            Some(model) => println!(
                "{file} {:?} {:?} {:?}",
                counts(&model),
                expected,
                model.warnings
            ),
            None => println!("skipped: THRONG_DATA does not name a folder with assets/gltf/{file}"),
        }
    }
}
