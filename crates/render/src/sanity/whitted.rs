//! Warnings about scenes that the integrator `whitted` cannot show correctly.

use super::named;
use glam::Vec3;
use std::f32::consts::PI;
use throng_scene::{Environment, FloatImage, Light, LightSource, Scene};

/// Radiance above which a surface counts as a lamp, whatever else lights the scene.
const LAMP: f32 = 4.0;
/// Brightness, relative to the mean of the picture, above which a part of an environment counts as a sun or a lamp; and the share of all
/// light from these parts above which a warning is given.
const SUN: f32 = 200.0;
const SUN_SHARE: f32 = 0.25;

/// Warnings about features of the scene that `whitted` leaves out.
pub fn warnings(scene: &Scene) -> Vec<String> {
    let has_fog = scene.is_foggy() || scene.timeline.as_ref().is_some_and(|timeline| timeline.changes_fog());
    let fog = has_fog.then(|| "whitted shows no fog; use --integrator path".into());
    [about_emission(scene), about_materials(scene), about_sun(scene), fog].into_iter().flatten().collect()
}

fn about_emission(scene: &Scene) -> Option<String> {
    let source = scene.light_source();
    let others = other_light(scene);
    // `whitted` supports lights with an extent. Their materials follow all others in the table.
    let own = scene.lights.iter().filter(|light| matches!(light, Light::Lamp { .. })).count();
    let first_own = scene.materials.len().saturating_sub(own);
    let lights = |row: &usize| {
        let material = &scene.materials[*row];
        let radiance = material.emission.max_element();
        let is_lamp = radiance >= LAMP || radiance > others;
        // Unlit surfaces illuminate nothing with any integrator.
        radiance > 0.0 && (source == LightSource::Materials || is_lamp && !material.unlit && *row < first_own)
    };
    let rows: Vec<usize> = scene.used_materials().into_iter().filter(lights).collect();
    let lamps = (!rows.is_empty()).then(|| named(scene, rows))?;
    Some(match source {
        LightSource::Materials => {
            format!(
                "all light comes from {lamps}, but whitted ignores light from emissive surfaces; use --integrator path"
            )
        }
        LightSource::Lights | LightSource::Nothing => {
            format!("whitted ignores light from emissive surfaces, such as {lamps}; use --integrator path")
        }
    })
}

/// Upper bound of the irradiance from lights and the environment; infinite if lamps may be close.
fn other_light(scene: &Scene) -> f32 {
    let sky = match &scene.environment {
        Environment::Constant { radiance } => radiance.max_element(),
        Environment::Gradient { zenith, horizon, nadir } => zenith.max(*horizon).max(*nadir).max_element(),
        Environment::Image { pixels, .. } => mean_brightness(pixels),
    };
    let light = |light: &Light| match light {
        Light::Sun { irradiance, .. } | Light::Moon { irradiance, .. } => irradiance.max_element(),
        Light::Point { intensity, .. } | Light::Spot { intensity, .. } | Light::Lamp { intensity, .. } => {
            if intensity.max_element() > 0.0 { f32::INFINITY } else { 0.0 }
        }
    };
    PI * sky + scene.lights.iter().map(light).sum::<f32>()
}

fn about_materials(scene: &Scene) -> Option<String> {
    let mut rows = scene.used_materials();
    rows.retain(|&row| scene.materials[row].needs_paths());
    let clear: Vec<usize> = rows.iter().copied().filter(|&row| scene.materials[row].lobes.transmission > 0.0).collect();
    let materials = (!rows.is_empty()).then(|| named(scene, rows))?;
    let blocks =
        if clear.is_empty() { String::new() } else { format!(", and lets no light through {}", named(scene, clear)) };
    Some(format!(
        "whitted supports only matt surfaces and mirrors, and renders {materials} as matt{blocks}; use --integrator path"
    ))
}

fn about_sun(scene: &Scene) -> Option<String> {
    let Environment::Image { pixels, .. } = &scene.environment else {
        return None;
    };
    (share_of_suns(pixels) > SUN_SHARE).then(|| {
        "whitted blurs the picture of the environment: most light of the sun or lamps in it and all of their shadows are lost; use \
         --integrator path"
            .into()
    })
}

/// Solid angle of the pixels in each row, up to a constant factor.
fn row_weights(image: &FloatImage) -> impl Iterator<Item = f32> {
    let height = image.height.max(1) as f32;
    (0..image.height).map(move |row| (PI * (row as f32 + 0.5) / height).sin())
}

/// Brightness of each pixel, and its solid angle up to a constant factor.
fn brightness(image: &FloatImage) -> impl Iterator<Item = (f32, f32)> {
    let rows = image.data.chunks(image.width.max(1) as usize).zip(row_weights(image));
    rows.flat_map(|(row, weight)| row.iter().map(move |&pixel| (Vec3::from(pixel).max_element(), weight)))
}

fn mean_brightness(image: &FloatImage) -> f32 {
    let (light, area) = brightness(image).fold((0.0f64, 0.0f64), |(light, area), (pixel, weight)| {
        (light + f64::from(pixel * weight), area + f64::from(weight))
    });
    if area > 0.0 { (light / area) as f32 } else { 0.0 }
}

/// Share of an environment's light that comes from parts far brighter than the mean.
fn share_of_suns(image: &FloatImage) -> f32 {
    let bright = SUN * mean_brightness(image);
    let (all, suns) = brightness(image).fold((0.0f64, 0.0f64), |(all, suns), (pixel, weight)| {
        let light = f64::from(pixel * weight);
        (all + light, suns + if pixel > bright { light } else { 0.0 })
    });
    if all > 0.0 { (suns / all) as f32 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sky(sun: f32) -> FloatImage {
        let mut data = vec![[1.0; 3]; 64 * 32];
        data[10 * 64 + 7] = [sun; 3];
        FloatImage { width: 64, height: 32, data }
    }

    #[test]
    fn a_sun_in_a_picture_is_told_from_bright_clouds() {
        assert_eq!(share_of_suns(&sky(1.0)), 0.0);
        assert_eq!(share_of_suns(&sky(30.0)), 0.0);
        assert!(share_of_suns(&sky(1e5)) > 0.9);
        assert_eq!(share_of_suns(&FloatImage::default()), 0.0);
    }
}
