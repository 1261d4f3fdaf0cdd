//! Real files of the folder that `THRONG_DATA` names: what is in them.

use crate::loader::LoadError;
use crate::loader::gltf::{GltfOptions, Model, load_model};
use std::path::{Path, PathBuf};

/// A file of `assets/gltf`; None, with a line, where it is not there.
pub(super) fn find(file: &str) -> Option<PathBuf> {
    let data = std::env::var_os("THRONG_DATA");
    let path = data.map(|d| Path::new(&d).join("assets/gltf").join(file));
    let found = path.filter(|p| p.is_file());
    if found.is_none() {
        println!("skipped: THRONG_DATA does not name a folder with assets/gltf/{file}");
    }
    found
}

fn load(file: &str) -> Option<Result<Model, LoadError>> {
    find(file).map(|path| load_model(&path, &GltfOptions::default()))
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
        ("BoxMeshopt.glb", [1, 1, 1, 12, 1, 0, 0, 0]),
        ("CornellBox/CornellBox.glb", [4, 6, 6, 36, 5, 0, 0, 0]),
        ("FlightHelmet/FlightHelmet.gltf", [6, 6, 6, 94722, 6, 15, 0, 0]),
        ("Fox.glb", [26, 1, 1, 576, 1, 1, 3, 1]),
        ("GltfPrimitives/gltf_primitives.glb", [1, 4, 4, 12, 4, 0, 0, 0]),
        ("MorphStressTest.gltf", [1, 2, 2, 2412, 2, 2, 3, 0]),
        ("SimpleSkin/SimpleSkin.gltf", [3, 1, 1, 8, 0, 0, 1, 1]),
        ("transmission/KHR_materials_transmission.gltf", [1, 3, 3, 12689, 3, 4, 0, 0]),
    ];
    for (file, expected) in files {
        if let Some(loaded) = load(file) {
            let model = loaded.unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((counts(&model), model.warnings.len()), (expected, 0), "{file}");
        }
    }
}

#[test]
fn files_without_their_buffers_say_so() {
    for (file, buffer) in [("BoxDraco.gltf", "0.bin"), ("many-cubes.gltf", "many-cubes.bin")] {
        if let Some(Err(e)) = load(file) {
            let expected = "no such file: put it beside the model";
            assert_eq!(e.message(), format!("/buffers/0/uri: `{buffer}`: {expected}"));
        }
    }
}

/// The helmet's own tangents were made by the same algorithm.
#[test]
fn generated_tangents_are_those_of_the_file() {
    let Some(Ok(model)) = load("FlightHelmet/FlightHelmet.gltf") else {
        return;
    };
    let (mut near, mut all) = (0usize, 0usize);
    for mesh in model.meshes {
        let mut made = mesh.mesh.clone();
        made.tangents.clear();
        assert!(crate::loader::gltf::tangents::generate(&mut made, &mut Default::default(), 0, glam::Mat2::IDENTITY));
        for (ours, theirs) in made.triangles.iter().zip(&mesh.mesh.triangles) {
            for (a, b) in ours.iter().zip(theirs) {
                let (a, b) = (made.tangents[*a as usize], mesh.mesh.tangents[*b as usize]);
                let dot: f32 = (0..3).map(|i| a[i] * b[i]).sum();
                near += usize::from(dot > 0.95 && a[3] == b[3]);
                all += 1;
            }
        }
    }
    // Their tool welded some vertices otherwise.
    assert!(near * 1000 > all * 995, "{near} of {all}");
}
