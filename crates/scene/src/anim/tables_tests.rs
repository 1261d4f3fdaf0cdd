//! Tests the effect of tracks on materials, maps, lights and cameras.

use super::{Moment, PosedTables, camera_at, posed_tables};
use crate::{
    Alpha, Light, Lobes, Material, MaterialKind, NONE, Projection, Scene, TextureMap,
    animated::{
        Animated, AnimatedLight, AnimatedMaterial, CameraValue, LightValue, MapUse, MaterialBase, MaterialValue,
        PlaceValue, PunctualLight, PunctualShape, Target, TexturePlace, Track,
    },
    rig::{Actor, Clip, Interpolation, Playback, Rig},
};
use glam::{Affine3A, Vec2, Vec3};
use std::sync::Arc;

const MATERIAL: u32 = 7;
const LIGHT: u32 = 3;

fn base_color() -> MapUse {
    MapUse::at("pbrMetallicRoughness/baseColorTexture").expect("a use")
}

fn material(value: &str) -> Target {
    Target::Material { material: MATERIAL, value: MaterialValue::at(value).expect("a value") }
}

fn track(target: Target, interpolation: Interpolation, values: &[f32]) -> Track {
    Track { target, interpolation, times: vec![0.0, 2.0], values: values.to_vec() }
}

/// A track that rises from 0 to `values` within two seconds.
fn rise(target: Target, values: &[f32]) -> Track {
    let zeros = values.iter().map(|_| 0.0);
    let values: Vec<f32> = zeros.chain(values.iter().copied()).collect();
    track(target, Interpolation::Linear, &values)
}

/// A scene that plays each of `clips`. It has a light, and a material in row 1 with its own map.
fn scene(clips: Vec<Vec<Track>>) -> Scene {
    let playbacks = (0..clips.len()).map(|clip| Playback { clip: clip as u32, looped: false, ..Playback::default() });
    let playbacks = playbacks.collect();
    let clip = |tracks| Clip { duration: 2.0, tracks, ..Clip::default() };
    let rig = Rig { clips: clips.into_iter().map(clip).collect(), ..Rig::default() };
    let base = PunctualLight { color: Vec3::ONE, intensity: 2.0, range: None, shape: PunctualShape::Point };
    Scene {
        materials: vec![Material::default(), layered()],
        maps: vec![TextureMap::plain(0)],
        lights: vec![base.at(&Affine3A::IDENTITY)],
        actors: vec![Actor { rig: Arc::new(rig), playbacks }],
        animated: vec![Animated {
            actor: 0,
            materials: vec![AnimatedMaterial {
                row: 1,
                base: MaterialBase {
                    material: MATERIAL,
                    emissive: Vec3::new(0.5, 0.25, 0.0),
                    emissive_strength: 4.0,
                    attenuation_color: Vec3::splat(0.5),
                    attenuation_distance: 2.0,
                    multiscatter_color: Vec3::ZERO,
                    places: vec![(base_color(), TexturePlace::default())],
                },
            }],
            lights: vec![AnimatedLight { light: LIGHT, row: 0, node: NONE, base }],
            camera: Some(1),
        }],
        ..Scene::default()
    }
}

fn layered() -> Material {
    Material {
        kind: MaterialKind::Layered,
        color_map: 0,
        alpha: Alpha::Mask(0.5),
        lobes: Lobes { thin: 0, ..Lobes::default() },
        ..Material::default()
    }
}

fn tables(scene: &Scene, time: f64) -> PosedTables {
    posed_tables(scene, &Moment::of(scene, time)).expect("something is animated")
}

/// The animated material at one second.
fn row(tracks: Vec<Track>) -> Material {
    tables(&scene(vec![tracks]), 1.0).materials[1]
}

#[test]
fn every_factor_has_its_place() {
    type Read = fn(&Material) -> f32;
    let scalars: [(&str, Read); 21] = [
        ("pbrMetallicRoughness/metallicFactor", |m| m.lobes.metallic),
        ("pbrMetallicRoughness/roughnessFactor", |m| m.lobes.roughness),
        ("normalTexture/scale", |m| m.lobes.normal_scale),
        ("extensions/KHR_materials_emissive_strength/emissiveStrength", |m| 2.0 * m.emission.x),
        ("alphaCutoff", |m| match m.alpha {
            Alpha::Mask(cutoff) => cutoff,
            _ => f32::NAN,
        }),
        ("extensions/KHR_materials_dispersion/dispersion", |m| m.lobes.dispersion),
        ("extensions/KHR_materials_specular/specularFactor", |m| m.lobes.specular),
        ("extensions/KHR_materials_transmission/transmissionFactor", |m| m.lobes.transmission),
        ("extensions/KHR_materials_diffuse_transmission/diffuseTransmissionFactor", |m| m.lobes.diffuse_transmission),
        ("extensions/KHR_materials_clearcoat/clearcoatFactor", |m| m.lobes.clearcoat),
        ("extensions/KHR_materials_clearcoat/clearcoatRoughnessFactor", |m| m.lobes.clearcoat_roughness),
        ("extensions/KHR_materials_clearcoat/clearcoatNormalTexture/scale", |m| m.lobes.clearcoat_normal_scale),
        ("extensions/KHR_materials_sheen/sheenRoughnessFactor", |m| m.lobes.sheen_roughness),
        ("extensions/KHR_materials_iridescence/iridescenceFactor", |m| m.lobes.iridescence),
        ("extensions/KHR_materials_iridescence/iridescenceThicknessMinimum", |m| m.lobes.iridescence_thickness[0]),
        ("extensions/KHR_materials_iridescence/iridescenceThicknessMaximum", |m| m.lobes.iridescence_thickness[1]),
        ("extensions/KHR_materials_anisotropy/anisotropyStrength", |m| m.lobes.anisotropy),
        ("extensions/KHR_materials_anisotropy/anisotropyRotation", |m| m.lobes.anisotropy_rotation),
        // At this time, the base transmits half of the light over two units, and the track over half a unit.
        ("extensions/KHR_materials_volume/attenuationDistance", |m| 0.25 * m.lobes.extinction[0] / 2f32.ln()),
        // An index between 0 and 1 becomes 1.
        ("extensions/KHR_materials_ior/ior", |m| 0.5 * m.lobes.ior),
        ("extensions/KHR_materials_iridescence/iridescenceIor", |m| 0.5 * m.lobes.iridescence_ior),
    ];
    for (value, read) in scalars {
        let found = read(&row(vec![rise(material(value), &[1.0])]));
        assert!((found - 0.5).abs() < 1e-6, "{value:?}: {found}");
    }
    type ReadColor = fn(&Material) -> [f32; 3];
    let colors: [(&str, ReadColor); 4] = [
        ("extensions/KHR_materials_specular/specularColorFactor", |m| m.lobes.specular_color),
        ("extensions/KHR_materials_diffuse_transmission/diffuseTransmissionColorFactor", |m| {
            m.lobes.diffuse_transmission_color
        }),
        ("extensions/KHR_materials_sheen/sheenColorFactor", |m| m.lobes.sheen_color),
        // The base has an emissive strength of 4.
        ("emissiveFactor", |m| (m.emission / 4.0).into()),
    ];
    for (value, read) in colors {
        let found = read(&row(vec![rise(material(value), &[1.0, 0.5, 0.0])]));
        assert_eq!(found, [0.5, 0.25, 0.0], "{value:?}");
    }
}

#[test]
fn strength_and_factor_of_emission_go_together() {
    let strength = || rise(material("extensions/KHR_materials_emissive_strength/emissiveStrength"), &[6.0]);
    assert_eq!(row(vec![strength()]).emission, Vec3::new(1.5, 0.75, 0.0));
    let factor = rise(material("emissiveFactor"), &[0.0, 0.0, 1.0]);
    assert_eq!(row(vec![factor, strength()]).emission, Vec3::new(0.0, 0.0, 1.5));
}

#[test]
fn colour_distance_and_thickness_make_a_volume() {
    let color = rise(material("extensions/KHR_materials_volume/attenuationColor"), &[1.0, 0.5, 0.0]);
    let distance = rise(material("extensions/KHR_materials_volume/attenuationDistance"), &[2.0]);
    let thick = row(vec![color, distance, rise(material("extensions/KHR_materials_volume/thicknessFactor"), &[1.0])]);
    assert_eq!(thick.lobes.thin, 0);
    // The volume equals one without animation, including the absorption of black.
    let still = crate::absorption(Vec3::new(0.5, 0.25, 0.0), 1.0);
    assert_eq!(Vec3::from(thick.lobes.extinction), still);
    let left = (-still).map(f32::exp);
    assert!(left.abs_diff_eq(Vec3::new(0.5, 0.25, 0.0), 1e-5), "{left}");
    let thin = row(vec![rise(material("extensions/KHR_materials_volume/thicknessFactor"), &[0.0])]);
    assert_eq!((thin.lobes.thin, thin.lobes.extinction), (1, [0.0; 3]));
}

#[test]
fn base_colour_is_albedo_and_opacity_or_what_unlit_surfaces_show() {
    let target = material("pbrMetallicRoughness/baseColorFactor");
    let mut scene = scene(vec![vec![rise(target, &[1.0, 0.5, 0.0, 0.5])]]);
    let shown = tables(&scene, 1.0);
    assert_eq!(shown.materials[0], scene.materials[0], "others stay");
    let shown = shown.materials[1];
    assert_eq!((shown.color, shown.opacity), (Vec3::new(0.5, 0.25, 0.0), 0.25));
    scene.materials[1].unlit = true;
    scene.materials[1].alpha = Alpha::Opaque;
    let shown = tables(&scene, 1.0).materials[1];
    assert_eq!((shown.emission, shown.opacity), (Vec3::new(0.5, 0.25, 0.0), 1.0));
}

#[test]
fn steps_lines_and_splines_go_number_by_number() {
    let target = material("pbrMetallicRoughness/roughnessFactor");
    let at = |track: Track, time| {
        let scene = scene(vec![vec![track]]);
        tables(&scene, time).materials[1].lobes.roughness
    };
    let step = || track(target, Interpolation::Step, &[0.25, 0.75]);
    assert_eq!([1.9, 2.0].map(|t| at(step(), t)), [0.25, 0.75]);
    let line = || track(target, Interpolation::Linear, &[0.25, 0.75]);
    assert_eq!([0.0, 0.5, 2.0, 9.0].map(|t| at(line(), t)), [0.25, 0.375, 0.75, 0.75]);
    // In-tangent, value and out-tangent of each key. In the middle, the Hermite basis is 1/2, 1/8, 1/2 and -1/8.
    let keys = [0.0, 0.25, 0.5, 0.25, 0.5, 0.0];
    let spline = track(target, Interpolation::CubicSpline, &keys);
    let expected = 0.5 * 0.25 + 2.0 * 0.5 / 8.0 + 0.5 * 0.5 - 2.0 * 0.25 / 8.0;
    assert!((at(spline, 1.0) - expected).abs() < 1e-6);
}

#[test]
fn values_stay_within_the_bounds_of_the_specification() {
    let keys = [0.0, 1.0, 9.0, -9.0, 1.0, 0.0];
    let target = material("pbrMetallicRoughness/metallicFactor");
    let overshoot = track(target, Interpolation::CubicSpline, &keys);
    assert_eq!(row(vec![overshoot]).lobes.metallic, 1.0);
    let below = rise(material("extensions/KHR_materials_ior/ior"), &[1.5]);
    assert_eq!(row(vec![below]).lobes.ior, 1.0);
    let dark = rise(material("extensions/KHR_materials_emissive_strength/emissiveStrength"), &[-1.0]);
    assert_eq!(row(vec![dark]).emission, Vec3::ZERO);
}

#[test]
fn the_last_clip_wins() {
    let clip = |x: f32| vec![rise(material("pbrMetallicRoughness/roughnessFactor"), &[x])];
    let both = scene(vec![clip(0.2), clip(0.8)]);
    assert_eq!(tables(&both, 1.0).materials[1].lobes.roughness, 0.4);
}

#[test]
fn textures_move_turn_and_grow() {
    let place = |value| Target::Place { material: MATERIAL, map: base_color(), value };
    let tracks = vec![
        rise(place(PlaceValue::Offset), &[0.5, 1.0]),
        rise(place(PlaceValue::Rotation), &[1.0]),
        rise(place(PlaceValue::Scale), &[4.0, 6.0]),
    ];
    let expected = TexturePlace { offset: Vec2::new(0.25, 0.5), rotation: 0.5, scale: Vec2::new(2.0, 3.0) };
    let scene = scene(vec![tracks]);
    assert_eq!(tables(&scene, 1.0).maps[0].transform, expected.matrix());
    assert_eq!(scene.maps[0], TextureMap::plain(0), "the scene is as it was");
}

#[test]
fn lights_change_colour_and_intensity() {
    let of = |value| Target::Light { light: LIGHT, value };
    let tracks = vec![rise(of(LightValue::Color), &[1.0, 0.5, 0.0]), rise(of(LightValue::Intensity), &[20.0])];
    let light = tables(&scene(vec![tracks]), 1.0).lights[0];
    let expected = Light::Point { position: Vec3::ZERO, intensity: Vec3::new(5.0, 2.5, 0.0), range: None };
    assert_eq!(light, expected);
}

#[test]
fn only_the_camera_in_use_zooms() {
    let zoom = |camera, value, x| rise(Target::Camera { camera, value }, &[x]);
    let tracks =
        vec![zoom(0, CameraValue::FovY, 0.5), zoom(1, CameraValue::FovY, 2.0), zoom(1, CameraValue::HalfHeight, -6.0)];
    let mut scene = scene(vec![tracks]);
    scene.camera.driver = Some(1);
    let seen = |scene: &Scene| camera_at(scene, &Moment::of(scene, 1.0)).projection;
    assert_eq!(seen(&scene), Projection::Perspective { fov_y: 1.0 });
    scene.camera.projection = Projection::Orthographic { height: 1.0 };
    assert_eq!(seen(&scene), Projection::Orthographic { height: 6.0 });
}

#[test]
fn a_scene_that_nothing_drives_keeps_its_tables() {
    let scene = Scene { animated: Vec::new(), ..scene(vec![]) };
    assert_eq!(posed_tables(&scene, &Moment::of(&scene, 1.0)), None);
}
