//! What tracks make of materials, maps, lights and cameras.

use super::{Moment, PosedTables, camera_at, posed_tables};
use crate::scene::{
    Alpha, Light, Lobes, Material, MaterialKind, NONE, Projection, Scene, TextureMap,
    animated::{
        Animated, AnimatedLight, AnimatedMaterial, CameraValue, LightValue, MapUse, MaterialBase,
        MaterialValue, PlaceValue, PunctualLight, PunctualShape, Target, TexturePlace, Track,
    },
    rig::{Actor, Clip, Interpolation, Playback, Rig},
};
use glam::{Affine3A, Vec2, Vec3};
use std::sync::Arc;

const MATERIAL: u32 = 7;
const LIGHT: u32 = 3;

fn material(value: MaterialValue) -> Target {
    Target::Material {
        material: MATERIAL,
        value,
    }
}

fn track(target: Target, interpolation: Interpolation, values: &[f32]) -> Track {
    Track {
        target,
        interpolation,
        times: vec![0.0, 2.0],
        values: values.to_vec(),
    }
}

/// From 0 to `values` within two seconds.
fn rise(target: Target, values: &[f32]) -> Track {
    let zeros = values.iter().map(|_| 0.0);
    let values: Vec<f32> = zeros.chain(values.iter().copied()).collect();
    track(target, Interpolation::Linear, &values)
}

/// A material with a map of its own, whose row is 1, and a light, while each of `clips` is played.
fn scene(clips: Vec<Vec<Track>>) -> Scene {
    let playbacks = (0..clips.len()).map(|clip| Playback {
        clip: clip as u32,
        looped: false,
        ..Playback::default()
    });
    let playbacks = playbacks.collect();
    let clip = |tracks| Clip {
        duration: 2.0,
        tracks,
        ..Clip::default()
    };
    let rig = Rig {
        clips: clips.into_iter().map(clip).collect(),
        ..Rig::default()
    };
    let base = PunctualLight {
        color: Vec3::ONE,
        intensity: 2.0,
        range: None,
        shape: PunctualShape::Point,
    };
    Scene {
        materials: vec![Material::default(), layered()],
        maps: vec![TextureMap::plain(0)],
        lights: vec![base.at(&Affine3A::IDENTITY)],
        actors: vec![Actor {
            rig: Arc::new(rig),
            playbacks,
        }],
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
                    places: vec![(MapUse::BaseColor, TexturePlace::default())],
                },
            }],
            lights: vec![AnimatedLight {
                light: LIGHT,
                row: 0,
                node: NONE,
                base,
            }],
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
        lobes: Lobes {
            thin: false,
            ..Lobes::default()
        },
        ..Material::default()
    }
}

fn tables(scene: &Scene, time: f32) -> PosedTables {
    posed_tables(scene, &Moment::of(scene, time)).expect("something is animated")
}

/// The animated material at one second.
fn row(tracks: Vec<Track>) -> Material {
    tables(&scene(vec![tracks]), 1.0).materials[1]
}

#[test]
fn every_factor_has_its_place() {
    use MaterialValue as M;
    type Read = fn(&Material) -> f32;
    let scalars: [(M, Read); 21] = [
        (M::Metallic, |m| m.lobes.metallic),
        (M::Roughness, |m| m.lobes.roughness),
        (M::NormalScale, |m| m.lobes.normal_scale),
        (M::EmissiveStrength, |m| 2.0 * m.emission.x),
        (M::AlphaCutoff, |m| match m.alpha {
            Alpha::Mask(cutoff) => cutoff,
            _ => f32::NAN,
        }),
        (M::Dispersion, |m| m.lobes.dispersion),
        (M::Specular, |m| m.lobes.specular),
        (M::Transmission, |m| m.lobes.transmission),
        (M::DiffuseTransmission, |m| m.lobes.diffuse_transmission),
        (M::Clearcoat, |m| m.lobes.clearcoat),
        (M::ClearcoatRoughness, |m| m.lobes.clearcoat_roughness),
        (M::ClearcoatNormalScale, |m| m.lobes.clearcoat_normal_scale),
        (M::SheenRoughness, |m| m.lobes.sheen_roughness),
        (M::Iridescence, |m| m.lobes.iridescence),
        (M::IridescenceThicknessMinimum, |m| {
            m.lobes.iridescence_thickness[0]
        }),
        (M::IridescenceThicknessMaximum, |m| {
            m.lobes.iridescence_thickness[1]
        }),
        (M::Anisotropy, |m| m.lobes.anisotropy),
        (M::AnisotropyRotation, |m| m.lobes.anisotropy_rotation),
        // Half of the light is left after two units, and after half a unit at this time.
        (M::AttenuationDistance, |m| {
            0.25 * m.lobes.absorption.x / 2f32.ln()
        }),
        // Nothing lies between 0 and 1.
        (M::Ior, |m| 0.5 * m.lobes.ior),
        (M::IridescenceIor, |m| 0.5 * m.lobes.iridescence_ior),
    ];
    for (value, read) in scalars {
        let found = read(&row(vec![rise(material(value), &[1.0])]));
        assert!((found - 0.5).abs() < 1e-6, "{value:?}: {found}");
    }
    type ReadColor = fn(&Material) -> Vec3;
    let colors: [(M, ReadColor); 4] = [
        (M::SpecularColor, |m| m.lobes.specular_color),
        (M::DiffuseTransmissionColor, |m| {
            m.lobes.diffuse_transmission_color
        }),
        (M::SheenColor, |m| m.lobes.sheen_color),
        // The base has a strength of 4.
        (M::Emissive, |m| m.emission / 4.0),
    ];
    for (value, read) in colors {
        let found = read(&row(vec![rise(material(value), &[1.0, 0.5, 0.0])]));
        assert_eq!(found, Vec3::new(0.5, 0.25, 0.0), "{value:?}");
    }
}

#[test]
fn strength_and_factor_of_emission_go_together() {
    let strength = || rise(material(MaterialValue::EmissiveStrength), &[6.0]);
    assert_eq!(row(vec![strength()]).emission, Vec3::new(1.5, 0.75, 0.0));
    let factor = rise(material(MaterialValue::Emissive), &[0.0, 0.0, 1.0]);
    assert_eq!(
        row(vec![factor, strength()]).emission,
        Vec3::new(0.0, 0.0, 1.5)
    );
}

#[test]
fn colour_distance_and_thickness_make_a_volume() {
    let color = rise(material(MaterialValue::AttenuationColor), &[1.0, 0.5, 0.0]);
    let distance = rise(material(MaterialValue::AttenuationDistance), &[2.0]);
    let thick = row(vec![
        color,
        distance,
        rise(material(MaterialValue::Thickness), &[1.0]),
    ]);
    assert!(!thick.lobes.thin);
    // As for a volume that stands still, down to what black absorbs.
    let still = crate::scene::absorption(Vec3::new(0.5, 0.25, 0.0), 1.0);
    assert_eq!(thick.lobes.absorption, still);
    let left = (-still).map(f32::exp);
    assert!(left.abs_diff_eq(Vec3::new(0.5, 0.25, 0.0), 1e-5), "{left}");
    let thin = row(vec![rise(material(MaterialValue::Thickness), &[0.0])]);
    assert_eq!((thin.lobes.thin, thin.lobes.absorption), (true, Vec3::ZERO));
}

#[test]
fn base_colour_is_albedo_and_opacity_or_what_unlit_surfaces_show() {
    let target = material(MaterialValue::BaseColor);
    let mut scene = scene(vec![vec![rise(target, &[1.0, 0.5, 0.0, 0.5])]]);
    let shown = tables(&scene, 1.0);
    assert_eq!(shown.materials[0], scene.materials[0], "others stay");
    let shown = shown.materials[1];
    assert_eq!(
        (shown.color, shown.opacity),
        (Vec3::new(0.5, 0.25, 0.0), 0.25)
    );
    scene.materials[1].unlit = true;
    scene.materials[1].alpha = Alpha::Opaque;
    let shown = tables(&scene, 1.0).materials[1];
    assert_eq!(
        (shown.emission, shown.opacity),
        (Vec3::new(0.5, 0.25, 0.0), 1.0)
    );
}

#[test]
fn steps_lines_and_splines_go_number_by_number() {
    let target = material(MaterialValue::Roughness);
    let at = |track: Track, time| {
        let scene = scene(vec![vec![track]]);
        tables(&scene, time).materials[1].lobes.roughness
    };
    let step = || track(target, Interpolation::Step, &[0.25, 0.75]);
    assert_eq!([1.9, 2.0].map(|t| at(step(), t)), [0.25, 0.75]);
    let line = || track(target, Interpolation::Linear, &[0.25, 0.75]);
    assert_eq!(
        [0.0, 0.5, 2.0, 9.0].map(|t| at(line(), t)),
        [0.25, 0.375, 0.75, 0.75]
    );
    // In-tangent, value and out-tangent of each key; the Hermite basis in the middle is 1/2, 1/8, 1/2 and -1/8.
    let keys = [0.0, 0.25, 0.5, 0.25, 0.5, 0.0];
    let spline = track(target, Interpolation::CubicSpline, &keys);
    let expected = 0.5 * 0.25 + 2.0 * 0.5 / 8.0 + 0.5 * 0.5 - 2.0 * 0.25 / 8.0;
    assert!((at(spline, 1.0) - expected).abs() < 1e-6);
}

#[test]
fn values_stay_within_the_bounds_of_the_specification() {
    let keys = [0.0, 1.0, 9.0, -9.0, 1.0, 0.0];
    let target = material(MaterialValue::Metallic);
    let overshoot = track(target, Interpolation::CubicSpline, &keys);
    assert_eq!(row(vec![overshoot]).lobes.metallic, 1.0);
    let below = rise(material(MaterialValue::Ior), &[1.5]);
    assert_eq!(row(vec![below]).lobes.ior, 1.0);
    let dark = rise(material(MaterialValue::EmissiveStrength), &[-1.0]);
    assert_eq!(row(vec![dark]).emission, Vec3::ZERO);
}

#[test]
fn the_last_clip_wins() {
    let clip = |x: f32| vec![rise(material(MaterialValue::Roughness), &[x])];
    let both = scene(vec![clip(0.2), clip(0.8)]);
    assert_eq!(tables(&both, 1.0).materials[1].lobes.roughness, 0.4);
}

#[test]
fn textures_move_turn_and_grow() {
    let place = |value| Target::Place {
        material: MATERIAL,
        map: MapUse::BaseColor,
        value,
    };
    let tracks = vec![
        rise(place(PlaceValue::Offset), &[0.5, 1.0]),
        rise(place(PlaceValue::Rotation), &[1.0]),
        rise(place(PlaceValue::Scale), &[4.0, 6.0]),
    ];
    let expected = TexturePlace {
        offset: Vec2::new(0.25, 0.5),
        rotation: 0.5,
        scale: Vec2::new(2.0, 3.0),
    };
    let scene = scene(vec![tracks]);
    assert_eq!(tables(&scene, 1.0).maps[0].transform, expected.matrix());
    assert_eq!(
        scene.maps[0],
        TextureMap::plain(0),
        "the scene is as it was"
    );
}

#[test]
fn lights_change_colour_and_intensity() {
    let of = |value| Target::Light {
        light: LIGHT,
        value,
    };
    let tracks = vec![
        rise(of(LightValue::Color), &[1.0, 0.5, 0.0]),
        rise(of(LightValue::Intensity), &[20.0]),
    ];
    let light = tables(&scene(vec![tracks]), 1.0).lights[0];
    let expected = Light::Point {
        position: Vec3::ZERO,
        intensity: Vec3::new(5.0, 2.5, 0.0),
    };
    assert_eq!(light, expected);
}

#[test]
fn only_the_camera_in_use_zooms() {
    let zoom = |camera, value, x| rise(Target::Camera { camera, value }, &[x]);
    let tracks = vec![
        zoom(0, CameraValue::FovY, 0.5),
        zoom(1, CameraValue::FovY, 2.0),
        zoom(1, CameraValue::HalfHeight, -6.0),
    ];
    let mut scene = scene(vec![tracks]);
    let seen = |scene: &Scene| camera_at(scene, &Moment::of(scene, 1.0)).projection;
    assert_eq!(seen(&scene), Projection::Perspective { fov_y: 1.0 });
    scene.camera.projection = Projection::Orthographic { height: 1.0 };
    assert_eq!(seen(&scene), Projection::Orthographic { height: 6.0 });
}

#[test]
fn a_scene_that_nothing_drives_keeps_its_tables() {
    let scene = Scene {
        animated: Vec::new(),
        ..scene(vec![])
    };
    assert_eq!(posed_tables(&scene, &Moment::of(&scene, 1.0)), None);
}
