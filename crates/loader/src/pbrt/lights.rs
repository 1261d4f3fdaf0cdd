//! Lights without geometry.

use crate::{files, image};
use glam::{DAffine3, DVec3, Vec3};
use rayon::prelude::*;
use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI};
use std::{f64::consts, path::Path};
use throng_pbrt::{Light as Own, LightKind, Scene};
use throng_scene::{Environment, FloatImage, Light, Stars};

/// Width of a picture of several infinite lights at least, if one of them is a picture.
const LEAST_WIDTH: u32 = 512;

/// The light of a scene without geometry.
#[derive(Default)]
pub struct Lit {
    pub lights: Vec<Light>,
    /// Radiance from all directions.
    pub environment: Option<Environment>,
    pub warnings: Vec<String>,
}

/// Converts all lights. `outer` leads from the file's world to the scene's.
pub fn convert(scene: &Scene, file: &Path, outer: &DAffine3) -> Lit {
    let mut lit = Lit::default();
    let mut sky = Sky::default();
    for light in &scene.lights {
        let place = *outer * light.world_from_light;
        let in_file = |message: &str| format!("{}: {}: {message}", file.display(), light.name);
        if !place.is_finite() || place.matrix3.determinant() == 0.0 {
            lit.warnings.push(in_file("its transform cannot be inverted; it is left out"));
            continue;
        }
        if let LightKind::Infinite { .. } = light.kind {
            if let Err(message) = sky.add(light, place) {
                lit.warnings.push(in_file(&message));
            }
            continue;
        }
        lit.lights.extend(local(&light.kind, &place));
    }
    lit.environment = sky.environment();
    lit
}

/// A light at a place or from a direction.
fn local(kind: &LightKind, place: &DAffine3) -> Option<Light> {
    let point = |at: &[f32; 3]| place.transform_point3(Vec3::from(*at).as_dvec3());
    Some(match kind {
        LightKind::Infinite { .. } => return None,
        LightKind::Distant { irradiance, direction } => {
            let direction = place.transform_vector3(Vec3::from(*direction).as_dvec3()).try_normalize()?;
            Light::Sun { direction: direction.as_vec3(), irradiance: Vec3::from(*irradiance), angular_radius: 0.0 }
        }
        LightKind::Point { intensity, position } => {
            Light::Point { position: point(position).as_vec3(), intensity: Vec3::from(*intensity), range: None }
        }
        LightKind::Spot { intensity, position, target, angles } => {
            let (from, to) = (point(position), point(target));
            let [inner, outer] = angles.map(|angle| angle.to_radians().clamp(0.0, FRAC_PI_2));
            let outer = outer.max(1e-4);
            // pbrt's falloff is half in the middle of the cosines; that of `Light::Spot` is half where its cosine has passed the square
            // root of a half of the way.
            let middle = 0.5 * (inner.cos() + outer.cos());
            let inner = (outer.cos() + (middle - outer.cos()) / FRAC_1_SQRT_2).min(1.0).acos();
            Light::Spot {
                position: from.as_vec3(),
                direction: (to - from).try_normalize()?.as_vec3(),
                intensity: Vec3::from(*intensity),
                inner: inner.min(outer),
                outer,
                radius: 0.0,
                range: None,
            }
        }
    })
}

/// All infinite lights together.
#[derive(Default)]
struct Sky {
    /// Sum of those that are the same everywhere.
    even: Vec3,
    is_lit: bool,
    pictures: Vec<Panorama>,
}

/// A picture of all directions.
struct Panorama {
    pixels: FloatImage,
    light_from_world: DAffine3,
}

impl Sky {
    fn add(&mut self, light: &Own, place: DAffine3) -> Result<(), String> {
        let LightKind::Infinite { radiance, picture, illuminance } = &light.kind else { return Ok(()) };
        self.is_lit = true;
        let radiance = Vec3::from(*radiance);
        let Some(file) = picture else {
            self.even += radiance * illuminance.map_or(1.0, |lux| lux / PI);
            return Ok(());
        };
        if !files::exists(file) {
            self.even += radiance * 0.5;
            return Err(format!("its picture {} does not exist; even light takes its place", file.display()));
        }
        match image::load(file) {
            Ok(loaded) => {
                let mut pixels = image::radiance(&loaded, 1.0);
                pixels.data.iter_mut().for_each(|texel| *texel = (Vec3::from(*texel) * radiance).to_array());
                self.pictures.push(Panorama { pixels, light_from_world: place.inverse() });
            }
            Err(error) => {
                self.even += radiance * 0.5;
                return Err(format!("its picture is replaced by even light: {error}"));
            }
        }
        match illuminance {
            Some(_) => Err("the illuminance of its picture is left out".to_owned()),
            None => Ok(()),
        }
    }

    fn environment(self) -> Option<Environment> {
        if !self.is_lit {
            return None;
        }
        if self.pictures.is_empty() {
            return Some(Environment::Constant { radiance: self.even });
        }
        let width_of = |own: &Panorama| if own.is_square() { 2 * own.pixels.width } else { own.pixels.width };
        let width = self.pictures.iter().map(width_of).max().unwrap_or(1).max(LEAST_WIDTH);
        let height = (width / 2).max(1);
        let texel = |index: u64| {
            let (x, y) = (index % u64::from(width), index / u64::from(width));
            let azimuth = ((x as f64 + 0.5) / f64::from(width) - 0.5) * consts::TAU;
            let polar = (y as f64 + 0.5) / f64::from(height) * consts::PI;
            let direction = DVec3::new(azimuth.cos() * polar.sin(), polar.cos(), azimuth.sin() * polar.sin());
            let sum: Vec3 = self.pictures.iter().map(|own| own.at(direction)).sum();
            (sum + self.even).to_array()
        };
        let data = (0..u64::from(width) * u64::from(height)).into_par_iter().map(texel).collect();
        let pixels = FloatImage { width, height, data };
        Some(Environment::Image { pixels, rotation: 0.0, stars: Stars::default() })
    }
}

impl Panorama {
    /// Whether the picture has the square mapping of version 4, and not longitude and latitude.
    fn is_square(&self) -> bool {
        self.pixels.width == self.pixels.height
    }

    /// The radiance from a direction of the world.
    fn at(&self, direction: DVec3) -> Vec3 {
        let d = self.light_from_world.transform_vector3(direction).normalize_or(DVec3::Z);
        let (s, t) = if self.is_square() {
            square(d)
        } else {
            ((d.y.atan2(d.x) / consts::TAU).rem_euclid(1.0), d.z.clamp(-1.0, 1.0).acos() / consts::PI)
        };
        let FloatImage { width, height, data } = &self.pixels;
        let (x, y) = (s * f64::from(*width) - 0.5, t * f64::from(*height) - 0.5);
        let texel = |x: f64, y: f64| {
            let column = if self.is_square() {
                (x as i64).clamp(0, i64::from(*width) - 1)
            } else {
                (x as i64).rem_euclid(i64::from(*width))
            };
            let row = (y as i64).clamp(0, i64::from(*height) - 1);
            data.get((row * i64::from(*width) + column) as usize).map_or(Vec3::ZERO, |texel| Vec3::from(*texel))
        };
        let (left, top) = (x.floor(), y.floor());
        let (across, down) = ((x - left) as f32, (y - top) as f32);
        let upper = texel(left, top).lerp(texel(left + 1.0, top), across);
        upper.lerp(texel(left, top + 1.0).lerp(texel(left + 1.0, top + 1.0), across), down)
    }
}

/// The place in the unit square of a direction: the equal-area mapping of Clarberg 2008.
fn square(d: DVec3) -> (f64, f64) {
    let a = d.abs();
    let radius = (1.0 - a.z).max(0.0).sqrt();
    let (most, least) = (a.x.max(a.y), a.x.min(a.y));
    let angle = if most > 0.0 { (least / most).atan() * 2.0 / consts::PI } else { 0.0 };
    let v = radius * if a.x < a.y { 1.0 - angle } else { angle };
    let u = radius - v;
    let (u, v) = if d.z < 0.0 { (1.0 - v, 1.0 - u) } else { (u, v) };
    (0.5 * (u.copysign(d.x) + 1.0), 0.5 * (v.copysign(d.y) + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_square_has_the_axes_where_pbrt_has_them() {
        let near = |d: DVec3, expected: (f64, f64)| {
            let (s, t) = square(d);
            assert!((s - expected.0).abs() < 1e-9 && (t - expected.1).abs() < 1e-9, "{d}: {s} {t}");
        };
        near(DVec3::Z, (0.5, 0.5));
        near(DVec3::X, (1.0, 0.5));
        near(DVec3::Y, (0.5, 1.0));
        near(DVec3::NEG_Y, (0.5, 0.0));
        let (s, t) = square(DVec3::new(1e-9, 1e-9, -1.0));
        assert!(s > 0.99 && t > 0.99);
    }

    #[test]
    fn spot_lights_are_half_as_bright_where_pbrt_has_them_so() {
        let kind =
            LightKind::Spot { intensity: [1.0; 3], position: [0.0; 3], target: [0.0, 0.0, 1.0], angles: [20.0, 30.0] };
        let Some(Light::Spot { inner, outer, .. }) = local(&kind, &DAffine3::IDENTITY) else { panic!() };
        let middle = 0.5 * (20f32.to_radians().cos() + outer.cos());
        let falloff = ((middle - outer.cos()) / (inner.cos() - outer.cos())).powi(2);
        assert!((falloff - 0.5).abs() < 1e-3, "{falloff}");
    }
}
