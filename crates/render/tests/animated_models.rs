//! Tests of standalone models with animated materials, lights and cameras, including their pictures.

use glam::Vec3;
use serde_json::json;
use std::{fs, sync::Arc};
use throng_device::{CpuDevice, Delivery, Device, FrameSettings, fake::settings};
use throng_loader::{LoadOptions, options::CameraChoice};
use throng_render::Poser;
use throng_scene::{Integrator, Scene, ToneMap};
use throng_testing::gltf::*;

/// Two squares side by side with equal but separate materials, seen from the front by a camera that shows nothing else. Their texture is
/// red on the left and green on the right.
fn squares() -> Builder {
    let mut b = Builder::new();
    let mut picture = image::RgbImage::from_pixel(2, 1, image::Rgb([255, 0, 0]));
    picture.put_pixel(1, 0, image::Rgb([0, 255, 0]));
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).expect("encodes");
    let texture = b.texture(&bytes.into_inner());
    let positions = b.floats(&[[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]);
    // Every point of a square shows the centre of the red texel.
    let coordinates = b.floats(&[[0.25, 0.5]; 4]);
    let indices = b.accessor(U16, "SCALAR", &[0u16, 1, 2, 0, 2, 3]);
    for _ in 0..2 {
        let pbr = json!({"baseColorTexture": {"index": texture}, "metallicFactor": 0});
        let material = b.add("materials", json!({"pbrMetallicRoughness": pbr}));
        let attributes = json!({"POSITION": positions, "TEXCOORD_0": coordinates});
        let primitive = json!({"attributes": attributes, "indices": indices, "material": material});
        b.add("meshes", json!({"primitives": [primitive]}));
    }
    b.add("cameras", json!({"type": "orthographic", "orthographic": {"xmag": 2, "ymag": 1, "znear": 0.1, "zfar": 9}}));
    b.json["nodes"] = json!([
        {"mesh": 0, "translation": [-1, 0, 0]},
        {"mesh": 1, "translation": [1, 0, 0]},
        {"camera": 0, "translation": [0, 0, 4]},
    ]);
    b.json["scenes"][0]["nodes"] = json!([0, 1, 2]);
    b
}

/// A clip of one second that changes the value at `pointer` from the first to the second one.
fn animate<const N: usize>(b: &mut Builder, pointer: &str, values: [[f32; N]; 2])
where
    [f32; N]: bytemuck::NoUninit,
{
    let (times, values) = (b.floats::<1>(&[[0.0], [1.0]]), b.floats(&values));
    let target = json!({"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": pointer}}});
    b.animation(target, times, values, "LINEAR");
}

fn scene(b: &Builder) -> Scene {
    let mut options = LoadOptions::default();
    options.model.animation.clips = vec!["all".to_owned()];
    options.model.animation.once = true;
    options.model.camera = Some(CameraChoice::Of("0".to_owned()));
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.glb");
    fs::write(&path, b.glb()).expect("written");
    throng_loader::load_with(&path, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// The colours at the centres of the left and right squares, at the first frame and one second later.
fn colors(scene: Scene, integrator: Integrator) -> [[Vec3; 2]; 2] {
    let scene = Arc::new(scene);
    let mut device = CpuDevice::new().expect("a CPU");
    device.load(scene.clone()).expect("loads");
    let mut poser = Poser::new(scene.clone(), device.node_layout());
    let settings = FrameSettings {
        width: 8,
        height: 4,
        samples: 16,
        bounces: 1,
        integrator,
        tone_map: ToneMap::None,
        ..settings()
    };
    [1, 25].map(|number| {
        let frame = poser.pose(number).frame;
        device.submit(frame, &settings, Delivery::default()).expect("starts");
        let pixels = device.collect(&|| false).expect("renders").pixels;
        let pixel = |x: usize| {
            let at = 3 * (8 + x);
            Vec3::new(pixels[at].into(), pixels[at + 1].into(), pixels[at + 2].into()) / 255.0
        };
        [pixel(1), pixel(6)]
    })
}

#[test]
fn an_animated_material_changes_and_one_that_looks_alike_does_not() {
    let mut b = squares();
    let factor = "/materials/0/pbrMetallicRoughness/baseColorFactor";
    animate(&mut b, factor, [[1.0; 4], [0.0, 0.0, 0.0, 1.0]]);
    let scene = scene(&b);
    assert_eq!(scene.settings.frames, 25);
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    let [first, last] = colors(scene, Integrator::Albedo);
    assert_eq!(first, [Vec3::X, Vec3::X]);
    assert_eq!(last, [Vec3::ZERO, Vec3::X]);
}

#[test]
fn a_texture_that_moves_shows_its_other_texels() {
    let mut b = squares();
    let offset = "/materials/1/pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform/offset";
    animate(&mut b, offset, [[0.0, 0.0], [0.5, 0.0]]);
    let [first, last] = colors(scene(&b), Integrator::Albedo);
    assert_eq!(first, [Vec3::X, Vec3::X]);
    assert_eq!(last, [Vec3::X, Vec3::Y]);
}

#[test]
fn emission_and_lights_change_what_is_seen() {
    let mut b = squares();
    b.json["materials"][0]["emissiveFactor"] = json!([0, 0, 1]);
    let strength = "/materials/0/extensions/KHR_materials_emissive_strength/emissiveStrength";
    animate(&mut b, strength, [[0.0], [1.0]]);
    let [first, last] = colors(scene(&b), Integrator::Whitted);
    let blue = [first, last].map(|[left, _]| left.z);
    assert!(blue[0] < 0.05 && blue[1] > 0.95, "{blue:?}");
    assert!(first[1].abs_diff_eq(last[1], 0.05), "another look of the noise");

    let mut b = squares();
    b.json["extensionsUsed"] = json!(["KHR_lights_punctual"]);
    b.json["extensions"]["KHR_lights_punctual"] = json!({"lights": [{"type": "directional"}]});
    b.json["nodes"][2]["extensions"]["KHR_lights_punctual"] = json!({"light": 0});
    let intensity = "/extensions/KHR_lights_punctual/lights/0/intensity";
    animate(&mut b, intensity, [[3.0], [0.0]]);
    let [first, last] = colors(scene(&b), Integrator::Whitted);
    assert!(first[0].x > 4.0 * last[0].x, "{} {}", first[0], last[0]);
}

#[test]
fn a_camera_zooms() {
    let mut b = squares();
    animate(&mut b, "/cameras/0/orthographic/ymag", [[1.0], [100.0]]);
    let [first, last] = colors(scene(&b), Integrator::Albedo);
    assert_eq!(first, [Vec3::X, Vec3::X]);
    assert_ne!(last, first);
}

#[test]
fn values_that_do_not_change_give_a_still_picture_with_these_values() {
    let mut b = squares();
    let factor = "/materials/0/pbrMetallicRoughness/baseColorFactor";
    animate(&mut b, factor, [[0.0, 0.0, 0.0, 1.0]; 2]);
    let scene = scene(&b);
    assert_eq!(scene.settings.frames, 1);
    assert!(!scene.is_animated());
    assert_eq!(colors(scene, Integrator::Albedo)[0], [Vec3::ZERO, Vec3::X]);
}

#[test]
fn values_of_what_is_not_there_drive_nothing() {
    let mut b = squares();
    b.add("materials", json!({}));
    animate(&mut b, "/materials/2/alphaCutoff", [[0.0], [1.0]]);
    let scene = scene(&b);
    assert!(scene.actors.is_empty() && scene.animated.is_empty());
    assert_eq!(scene.settings.frames, 1);
}
