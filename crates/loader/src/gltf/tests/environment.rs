//! Tests of image-based light, from cube maps and spherical harmonics.

use super::builder::*;
use crate::gltf::GltfOptions;
use glam::{Quat, Vec3};
use image::{ImageFormat, RgbImage, RgbaImage};
use serde_json::{Value, json};
use std::{f32::consts::FRAC_PI_2, io::Cursor};
use throng_scene::FloatImage;

const AXES: [Vec3; 6] = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z];
const COLORS: [[u8; 3]; 6] = [[255, 0, 0], [0, 255, 255], [0, 255, 0], [255, 0, 255], [0, 0, 255], [255, 255, 0]];

/// A file whose scene has `light`.
fn lit_by(mut b: Builder, light: Value) -> Builder {
    b.json["extensions"]["EXT_lights_image_based"] = json!({"lights": [light]});
    b.json["scenes"][0]["extensions"]["EXT_lights_image_based"] = json!({"light": 0});
    b.json["extensionsRequired"] = json!(["EXT_lights_image_based"]);
    b
}

/// A file with a cube map of these pictures, and with the members `more` in its light.
pub fn with_faces(mut b: Builder, faces: &[Vec<u8>; 6], more: Value) -> Builder {
    let first = b.json["images"].as_array().map_or(0, Vec::len);
    for face in faces {
        let view = b.view(face);
        b.add("images", json!({"bufferView": view, "mimeType": "image/png"}));
    }
    let images: Vec<usize> = (first..first + 6).collect();
    let mut light = json!({"specularImages": [images], "specularImageSize": 8});
    for (name, value) in more.as_object().into_iter().flatten() {
        light[name] = value.clone();
    }
    lit_by(b, light)
}

/// A file with a cube map that has one colour per face.
pub fn colored(b: Builder, more: Value) -> Builder {
    with_faces(b, &COLORS.map(|color| png(8, 8, color)), more)
}

fn environment(b: &Builder) -> FloatImage {
    b.load().environment.expect("an environment")
}

/// The pixel in a direction.
fn seen(image: &FloatImage, d: Vec3) -> Vec3 {
    let d = d.normalize();
    let u = 0.5 + d.z.atan2(d.x) / std::f32::consts::TAU;
    let v = d.y.acos() / std::f32::consts::PI;
    let at = |share: f32, count: u32| ((share * count as f32) as u32).min(count - 1) as usize;
    Vec3::from(image.data[at(v, image.height) * image.width as usize + at(u, image.width)])
}

fn color(face: usize) -> Vec3 {
    Vec3::from(COLORS[face].map(|x| f32::from(x) / 255.0))
}

#[test]
fn each_face_is_seen_along_its_axis() {
    let image = environment(&colored(Builder::new(), json!({})));
    assert_eq!((image.width, image.height), (32, 16));
    for (face, axis) in AXES.into_iter().enumerate() {
        assert_eq!(seen(&image, axis), color(face), "{axis}");
    }
}

#[test]
fn the_light_is_rotated_by_its_quaternion_and_with_the_scene() {
    let quarter = Quat::from_rotation_y(FRAC_PI_2);
    let b = colored(Builder::new(), json!({"rotation": quarter.to_array()}));
    let with_scene = Quat::from_rotation_x(FRAC_PI_2);
    let rotated = b.load_with(&GltfOptions { rotation: with_scene, ..GltfOptions::default() }).environment;
    for (image, rotation) in [(environment(&b), quarter), (rotated.expect("an environment"), with_scene * quarter)] {
        for (face, axis) in AXES.into_iter().enumerate() {
            assert_eq!(seen(&image, rotation * axis), color(face), "{axis} by {rotation}");
        }
    }
    let turned = environment(&b);
    assert_eq!(seen(&turned, Vec3::NEG_Z), color(0), "a quarter turn about +Y takes +X to -Z");
}

#[test]
fn faces_are_seen_from_within_without_mirroring() {
    let marked = |marked: fn(u32, u32) -> bool| {
        let mut bytes = Cursor::new(Vec::new());
        let face = RgbImage::from_fn(8, 8, |x, y| image::Rgb([255 * u8::from(marked(x, y)); 3]));
        face.write_to(&mut bytes, ImageFormat::Png).expect("encodes");
        let face = bytes.into_inner();
        environment(&with_faces(Builder::new(), &std::array::from_fn(|_| face.clone()), json!({})))
    };
    // Right and up direction of each face, seen from the centre.
    let right = [Vec3::Z, Vec3::NEG_Z, Vec3::NEG_X, Vec3::NEG_X, Vec3::NEG_X, Vec3::X];
    let top = [Vec3::Y, Vec3::Y, Vec3::NEG_Z, Vec3::Z, Vec3::Y, Vec3::Y];
    for (sides, image) in [(right, marked(|x, _| x >= 4)), (top, marked(|_, y| y < 4))] {
        for (axis, side) in AXES.into_iter().zip(sides) {
            assert_eq!(seen(&image, axis + 0.6 * side), Vec3::ONE, "{axis} to {side}");
            assert_eq!(seen(&image, axis - 0.6 * side), Vec3::ZERO, "{axis} from {side}");
        }
    }
    for (face, axis) in AXES.into_iter().enumerate() {
        assert_eq!(axis.cross(top[face]), right[face], "right-handed");
    }
}

#[test]
fn alpha_divides_and_intensity_multiplies() {
    let mut bytes = Cursor::new(Vec::new());
    let face = RgbaImage::from_pixel(8, 8, image::Rgba([255, 188, 0, 51]));
    face.write_to(&mut bytes, ImageFormat::Png).expect("encodes");
    let face = bytes.into_inner();
    let faces = std::array::from_fn(|_| face.clone());
    let image = environment(&with_faces(Builder::new(), &faces, json!({"intensity": 2.0})));
    let expected = Vec3::new(10.0, 5.0, 0.0);
    assert!(seen(&image, Vec3::ONE).abs_diff_eq(expected, 0.05), "{}", seen(&image, Vec3::ONE));
}

#[test]
fn harmonics_stand_for_missing_pictures() {
    let mut coefficients = [[0.0f32; 3]; 9];
    coefficients[0] = [1.0 / 0.282_095, 0.0, 0.0];
    coefficients[1] = [0.0, 1.0, 0.0];
    let b = lit_by(Builder::new(), json!({"irradianceCoefficients": coefficients}));
    let model = b.load();
    let path = "/extensions/EXT_lights_image_based/lights/0";
    let message = "there are no specularImages; its light is computed from its irradianceCoefficients";
    assert_eq!(model.warnings, [format!("{path}: {message}")]);
    let image = model.environment.expect("an environment");
    assert!(seen(&image, Vec3::Y).abs_diff_eq(Vec3::new(1.0, 0.4886, 0.0), 0.01));
    assert!(seen(&image, Vec3::NEG_Y).abs_diff_eq(Vec3::X, 0.01), "light is not negative");
}

#[test]
fn only_the_chosen_scene_s_light_is_read_and_only_if_it_is_wanted() {
    let mut b = colored(Builder::new(), json!({}));
    b.add("scenes", json!({"nodes": [0]}));
    let other = GltfOptions { scene: Some("1".to_owned()), ..GltfOptions::default() };
    assert_eq!(b.load_with(&other).environment, None);
    b.json["images"][0] = json!({"uri": "missing.png"});
    assert_eq!(b.warned("/images/0/uri: ").environment, None);
    let without = GltfOptions { skip_environment: true, ..GltfOptions::default() };
    assert_eq!(b.load_with(&without).environment, None);
}

#[test]
fn a_faulty_light_is_left_out_with_a_warning_of_its_place() {
    let path = "/extensions/EXT_lights_image_based/lights/0";
    for (more, expected) in [
        (json!({"intensity": -1.0}), format!("{path}/intensity: the intensity must be finite and not negative")),
        (json!({"rotation": [0, 0, 0, 0]}), format!("{path}/rotation: the rotation has no direction: correct it")),
        (json!({"specularImages": [[0, 1, 2, 3, 4, 9]]}), format!("{path}/specularImages/0/5: there is no image 9: ")),
        (json!({"specularImages": []}), format!("{path}: the light has no specularImages: export the file again")),
    ] {
        assert_eq!(colored(Builder::new(), more).warned(&expected).environment, None);
    }
    let faces = |odd: Vec<u8>, what: &str| {
        let mut faces = COLORS.map(|color| png(8, 8, color));
        faces[3] = odd;
        let expected = format!("{path}/specularImages/0/3: {what}; the light around the scene is left out");
        with_faces(Builder::new(), &faces, json!({})).warned(&expected)
    };
    faces(png(8, 4, [0; 3]), "a face of 8x4 pixels is not square: export it again");
    faces(png(4, 4, [0; 3]), "the face has 4 pixels a side, and the first has 8: make them alike");
    let mut b = colored(Builder::new(), json!({}));
    b.json["scenes"][0]["extensions"]["EXT_lights_image_based"] = json!({"light": 1});
    let expected = "/scenes/0/extensions/EXT_lights_image_based/light: there is no image-based light 1: the file has 1";
    b.warned(expected);
}
