//! The camera, its shutter and the medium around it.

use super::{RATE, contents::medium};
use crate::usd::{Clock, cameras};
use glam::{DAffine3, DVec3, Vec3};
use throng_pbrt::{Camera as Own, CameraKind, Scene as File};
use throng_scene::{Camera, Fog, Projection, Scene, Shutter};
use throng_usd::{self as usd, CameraLens, Sampled, Times};

/// Focal length of the lens that a camera is described with: one unit in tenths.
const FOCAL_LENGTH: f32 = 10.0;

/// The camera in the scene. `aspect` is the width of pictures divided by their height. `outer` leads from the file's world to the scene's.
pub fn camera(scene: &mut Scene, file: &File, own: &Own, outer: &DAffine3, aspect: f32) -> Camera {
    let clock = Clock::new(&Times { range: Some((0.0, 0.0)), per_second: RATE });
    // USD's cameras look along -Z, with the same X and Y.
    let turned = DAffine3::from_scale(DVec3::new(1.0, 1.0, -1.0));
    let place = &own.world_from_camera;
    let [start, end] = file.times.map(f64::from);
    let world_from_camera = if place.moves() && start < end {
        Sampled::Moving(vec![(start, place.start * turned), (end, place.end * turned)])
    } else {
        Sampled::Still(place.start * turned)
    };
    let scale = place.start.matrix3.determinant().abs().cbrt() as f32;
    let camera = usd::Camera {
        name: "camera".to_owned(),
        world_from_camera,
        lens: Sampled::Still(lens(own, scale)),
        orthographic: own.kind == CameraKind::Orthographic,
        shutter: own.shutter.map(f64::from),
    };
    let mut converted = cameras::convert(scene, &camera, &clock, outer, aspect);
    if own.kind == CameraKind::Spherical {
        (converted.projection, converted.lens) = (Projection::Equirectangular, None);
    }
    converted
}

/// `scale` is the length of the camera's unit in the world.
fn lens(own: &Own, scale: f32) -> CameraLens {
    let [x0, x1, y0, y1] = own.screen;
    let unit = match own.kind {
        CameraKind::Perspective(degrees) => FOCAL_LENGTH * (0.5 * degrees.to_radians()).tan(),
        _ => FOCAL_LENGTH * scale,
    };
    let radius = own.lens_radius * scale;
    CameraLens {
        aperture: [unit * (x1 - x0), unit * (y1 - y0)],
        offset: [0.5 * unit * (x0 + x1), 0.5 * unit * (y0 + y1)],
        focal_length: FOCAL_LENGTH,
        f_stop: if radius > 0.0 { 0.05 * FOCAL_LENGTH / radius } else { 0.0 },
        focus_distance: own.focal_distance * scale,
        exposure: 0.0,
    }
}

/// The shutter of the camera, if anything in the file moves.
pub fn shutter(file: &File, own: &Own) -> Option<Shutter> {
    let items = || file.groups.iter().flat_map(|group| &group.items).any(|item| item.place.moves());
    let copies = || file.groups.iter().flat_map(|group| &group.copies).any(|copies| !copies.moving.is_empty());
    if !(own.world_from_camera.moves() || items() || copies()) {
        return None;
    }
    let [open, close] = own.shutter;
    Shutter::new(open, close).ok().filter(Shutter::is_open)
}

/// The medium around the camera, as fog of the whole scene.
pub fn fog(file: &File) -> Option<Fog> {
    let own = medium(file, file.camera.as_ref()?.medium)?;
    let scattering = Vec3::from(own.scattering);
    let extinction = Vec3::from(own.absorption) + scattering;
    let density = extinction.element_sum() / 3.0;
    let albedo = (scattering / density).clamp(Vec3::ZERO, Vec3::ONE);
    (density > 0.0).then_some(Fog { density, albedo, anisotropy: own.anisotropy, thinning: None, top: None })
}
