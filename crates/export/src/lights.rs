//! Lights and the environment.

use crate::{ExportError, textures::Textures};
use glam::{DAffine3, DMat3, DVec3, Vec3};
use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI};
use throng_scene::{Environment, FloatImage, Integrator, Light, Scene, Stars};
use throng_usd::{LayerValue, OwnSky, Prim, names::Names};

/// Size of a picture of a gradient. It varies only from row to row.
const GRADIENT_SIZE: (u32, u32) = (4, 1024);

/// The scope with the environment and all lights.
///
/// # Errors
/// If the picture of the environment cannot be encoded.
pub fn prims(scene: &Scene, textures: &mut Textures, warnings: &mut Vec<String>) -> Result<Prim, ExportError> {
    let mut names = Names::default();
    let mut children = vec![dome(&scene.environment, names.unique("Environment"), textures)?];
    let mut lacks = Lacks::default();
    for light in &scene.lights {
        children.extend(prim(light, &mut names, &mut lacks));
    }
    let is_whitted = scene.settings.integrator == Integrator::Whitted;
    let stars = matches!(&scene.environment, Environment::Image { stars, .. } if stars.faintest > 0.0);
    let baked = !matches!(scene.environment, Environment::Constant { .. });
    for (is_so, line) in [
        (baked, "the environment is written as a picture"),
        (stars, "stars are left out for other programs: throng reads them back"),
        (lacks.range, "ranges of lights are left out: USD has none"),
        (lacks.phase, "moons are written as full ones"),
        (lacks.lamp && is_whitted, "visible lamps light nothing with the integrator whitted, when the file is read"),
    ] {
        if is_so {
            warnings.push(line.to_owned());
        }
    }
    Ok(Prim { children, ..Prim::new("Lights", "Scope") })
}

/// What USD has nothing for.
#[derive(Default)]
struct Lacks {
    range: bool,
    phase: bool,
    lamp: bool,
}

fn dome(environment: &Environment, name: String, textures: &mut Textures) -> Result<Prim, ExportError> {
    let mut dome = Prim::new(name, "DomeLight");
    let color = match environment {
        Environment::Constant { radiance } => *radiance,
        _ => Vec3::ONE,
    };
    emission(&mut dome, color, false);
    match environment {
        Environment::Constant { .. } => {}
        Environment::Gradient { zenith, horizon, nadir } => {
            let colors = [zenith, horizon, nadir].map(|color| color.to_array()).to_vec();
            dome.set_uniform(OwnSky::GRADIENT, "color3f[]", LayerValue::Float3s(colors)).is_custom = true;
            picture(&mut dome, &gradient(*zenith, *horizon, *nadir), textures)?;
        }
        Environment::Image { pixels, rotation, stars } => {
            // The picture's middle is at +X here, and at +Z in USD.
            let turn = DMat3::from_rotation_y(f64::from(rotation + FRAC_PI_2));
            place(&mut dome, &DAffine3::from_mat3(turn));
            if *stars != Stars::default() {
                let numbers = vec![[stars.faintest, stars.dimming, stars.turn]];
                dome.set_uniform(OwnSky::STARS, "float3[]", LayerValue::Float3s(numbers)).is_custom = true;
            }
            picture(&mut dome, pixels, textures)?;
        }
    }
    Ok(dome)
}

fn picture(dome: &mut Prim, pixels: &FloatImage, textures: &mut Textures) -> Result<(), ExportError> {
    let asset = textures.environment(pixels)?;
    dome.set("inputs:texture:file", "asset", LayerValue::Asset(asset));
    dome.set("inputs:texture:format", "token", LayerValue::token("latlong"));
    Ok(())
}

/// A picture of a gradient, which is linear in the sine of the elevation.
fn gradient(zenith: Vec3, horizon: Vec3, nadir: Vec3) -> FloatImage {
    let (width, height) = GRADIENT_SIZE;
    let row = |y: u32| {
        let sine = (PI * (0.5 - (y as f32 + 0.5) / height as f32)).sin();
        let end = if sine > 0.0 { zenith } else { nadir };
        horizon.lerp(end, sine.abs()).to_array()
    };
    let data = (0..height).flat_map(|y| std::iter::repeat_n(row(y), width as usize)).collect();
    FloatImage { width, height, data }
}

fn emission(light: &mut Prim, color: Vec3, normalize: bool) {
    light.set("inputs:intensity", "float", LayerValue::Float(1.0));
    light.set("inputs:color", "color3f", LayerValue::Float3(color.to_array()));
    if normalize {
        light.set("inputs:normalize", "bool", LayerValue::Bool(true));
    }
}

fn place(light: &mut Prim, world_from_light: &DAffine3) {
    light.set("xformOp:transform", "matrix4d", LayerValue::Matrix(*world_from_light));
    light.set_uniform("xformOpOrder", "token[]", LayerValue::Tokens(vec!["xformOp:transform".to_owned()]));
}

/// A place whose -Z axis has this direction.
fn towards(direction: Vec3, position: Vec3) -> DAffine3 {
    let back = -direction.as_dvec3().normalize_or(DVec3::NEG_Z);
    let right = DVec3::Y.cross(back).try_normalize().unwrap_or(DVec3::X);
    DAffine3::from_mat3_translation(DMat3::from_cols(right, back.cross(right), back), position.as_dvec3())
}

fn prim(light: &Light, names: &mut Names, lacks: &mut Lacks) -> Option<Prim> {
    Some(match *light {
        Light::Sun { direction, irradiance, angular_radius } => {
            distant(names.unique("Sun"), direction, irradiance, angular_radius)
        }
        Light::Moon { direction, irradiance, angular_radius, .. } => {
            lacks.phase = true;
            distant(names.unique("Moon"), direction, irradiance, angular_radius)
        }
        Light::Point { position, intensity, range } => {
            lacks.range |= range.is_some();
            let mut point = Prim::new(names.unique("Point"), "SphereLight");
            sphere(&mut point, intensity, 0.0);
            place(&mut point, &DAffine3::from_translation(position.as_dvec3()));
            point
        }
        Light::Spot { position, direction, intensity, inner, outer, radius, range } => {
            lacks.range |= range.is_some();
            let mut spot = Prim::new(names.unique("Spot"), "SphereLight");
            sphere(&mut spot, intensity, radius);
            spot.schemas.push("ShapingAPI");
            spot.set("inputs:shaping:cone:angle", "float", LayerValue::Float(outer.to_degrees()));
            spot.set("inputs:shaping:cone:softness", "float", LayerValue::Float(softness(inner, outer)));
            place(&mut spot, &towards(direction, position));
            spot
        }
        // Its surface is an instance with an emissive material.
        Light::Lamp { .. } => {
            lacks.lamp = true;
            return None;
        }
    })
}

/// A distant light, whose colour is its irradiance, but for the cosine within its disc.
fn distant(name: String, direction: Vec3, irradiance: Vec3, angular_radius: f32) -> Prim {
    let mut sun = Prim::new(name, "DistantLight");
    // Suns here spread their irradiance over their solid angle, and distant lights over its projection.
    let flux = PI * angular_radius.sin().powi(2);
    let solid_angle = 4.0 * PI * (0.5 * angular_radius).sin().powi(2);
    let color = if flux > 0.0 { irradiance * (flux / solid_angle) } else { irradiance };
    emission(&mut sun, color, true);
    sun.set("inputs:angle", "float", LayerValue::Float((2.0 * angular_radius).to_degrees()));
    place(&mut sun, &towards(-direction, Vec3::ZERO));
    sun
}

/// A sphere that emits `intensity` in each direction: a quarter of its normalised radiance.
fn sphere(light: &mut Prim, intensity: Vec3, radius: f32) {
    emission(light, 4.0 * intensity, true);
    light.set("inputs:radius", "float", LayerValue::Float(radius));
    if radius == 0.0 {
        light.set("treatAsPoint", "bool", LayerValue::Bool(true));
    }
}

/// The softness whose falloff is half as bright where that of a spot light here is: where its cosine has passed the square root of a half of
/// the way from the outer to the inner cone.
fn softness(inner: f32, outer: f32) -> f32 {
    let middle = outer.cos() + (inner.cos() - outer.cos()) * FRAC_1_SQRT_2;
    (2.0 * (1.0 - middle.min(1.0).acos() / outer.max(1e-4))).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gradient_has_its_colors_at_the_poles_and_the_horizon() {
        let picture = gradient(Vec3::X, Vec3::Y, Vec3::Z);
        let row = |y: u32| Vec3::from(picture.data[(y * picture.width) as usize]);
        assert!(row(0).distance(Vec3::X) < 1e-4 && row(picture.height - 1).distance(Vec3::Z) < 1e-4);
        assert!(row(picture.height / 2).distance(Vec3::Y) < 3e-3);
    }

    #[test]
    fn a_cone_is_soft_between_its_angles() {
        assert!(softness(0.5, 0.5) < 1e-3);
        let soft = softness(0.0, 0.5);
        assert!(soft > 0.8 && soft < 1.0, "{soft}");
    }

    #[test]
    fn lights_shine_in_their_direction() {
        let place = towards(Vec3::new(0.0, -1.0, 0.0), Vec3::ONE);
        assert!((place.transform_vector3(DVec3::NEG_Z) - DVec3::NEG_Y).length() < 1e-12);
        assert!((place.matrix3.determinant() - 1.0).abs() < 1e-12);
    }
}
