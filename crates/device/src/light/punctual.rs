//! Suns, point and spot lights, and lamps, in the form that kernels read.

use super::{LightBounds, luminance};
use glam::Vec3;
use throng_abi::{self as abi, LightRecord};
use throng_scene::Light;

/// The records of all lights: suns first, then the others in their original order.
pub fn light_records(lights: &[Light]) -> Vec<LightRecord> {
    let is_sun = |light: &&Light| matches!(light, Light::Sun { .. } | Light::Moon { .. });
    let (suns, others): (Vec<&Light>, Vec<&Light>) = lights.iter().partition(is_sun);
    let mut records: Vec<LightRecord> = suns.into_iter().chain(others).map(light_record).collect();
    let total = sun_irradiance(&records);
    for record in &mut records[..] {
        if record.kind == abi::LIGHT_SUN && total > 0.0 {
            record.probability = luminance(record.power.into()) / total;
        }
    }
    records
}

pub fn sun_count(records: &[LightRecord]) -> u32 {
    let suns = records.iter().filter(|r| r.kind == abi::LIGHT_SUN);
    suns.count() as u32
}

/// Luminance of the irradiance of all suns together.
pub fn sun_irradiance(records: &[LightRecord]) -> f32 {
    let suns = records.iter().filter(|r| r.kind == abi::LIGHT_SUN);
    suns.map(|r| luminance(r.power.into())).sum()
}

fn light_record(light: &Light) -> LightRecord {
    let record = |kind, vector: Vec3, power: Vec3| LightRecord {
        vector: vector.into(),
        kind,
        power: power.into(),
        cap: 0.0,
        axis: [0.0; 3],
        cone_scale: 0.0,
        cone_offset: 1.0,
        probability: 0.0,
        radius: 0.0,
        phase_cosine: 1.0,
    };
    match *light {
        Light::Point { position, intensity, range } => {
            LightRecord { cap: inverse(range), ..record(abi::LIGHT_POINT, position, intensity) }
        }
        Light::Sun { direction, irradiance, angular_radius } => {
            LightRecord { cap: cap(angular_radius), ..record(abi::LIGHT_SUN, direction, irradiance) }
        }
        Light::Moon { direction, irradiance, angular_radius, bright_limb, phase_cosine } => LightRecord {
            cap: cap(angular_radius),
            axis: bright_limb.into(),
            phase_cosine,
            ..record(abi::LIGHT_SUN, direction, irradiance)
        },
        Light::Spot { position, direction, intensity, inner, outer, radius, range } => {
            let (scale, offset) = cone_falloff(inner, outer);
            LightRecord {
                axis: direction.into(),
                cone_scale: scale,
                cone_offset: offset,
                radius,
                cap: inverse(range),
                ..record(abi::LIGHT_SPOT, position, intensity)
            }
        }
        Light::Lamp { position, direction: None, intensity, radius } => {
            LightRecord { radius, ..record(abi::LIGHT_SPHERE, position, intensity) }
        }
        Light::Lamp { position, direction: Some(direction), intensity, radius } => {
            LightRecord { axis: direction.into(), radius, ..record(abi::LIGHT_DISC, position, intensity) }
        }
    }
}

/// The reciprocal of a range; 0 for no range. The result is always finite.
fn inverse(range: Option<f32>) -> f32 {
    range.map_or(0.0, |range| range.max(f32::MIN_POSITIVE).recip())
}

/// One minus the cosine of an angular radius.
fn cap(angular_radius: f32) -> f32 {
    2.0 * (0.5 * angular_radius).sin().powi(2)
}

/// Scale and offset of a spot's falloff: KHR_lights_punctual, "Inner and Outer Cone Angles".
fn cone_falloff(inner: f32, outer: f32) -> (f32, f32) {
    let scale = 1.0 / (inner.cos() - outer.cos()).max(0.001);
    (scale, -outer.cos() * scale)
}

/// Bounds relative to `origin` and power of a point or spot light in a light tree; none for other lights. The light's range is ignored,
/// since it can only reduce the light. The power of a spot is the geometric mean of its intensity and its mean over all directions, since
/// the tree does not store directions.
pub fn bounds(record: &LightRecord, origin: Vec3) -> Option<LightBounds> {
    let power = luminance(record.power.into());
    let share = match record.kind {
        abi::LIGHT_POINT => 1.0,
        abi::LIGHT_SPOT => (0.5 * (1.0 + record.cone_offset / record.cone_scale)).clamp(1e-3, 1.0),
        _ => return None,
    };
    let (position, axis) = (Vec3::from(record.vector) - origin, Vec3::from(record.axis));
    let reach = record.radius * (Vec3::ONE - axis * axis).max(Vec3::ZERO).map(f32::sqrt);
    (power > 0.0).then(|| LightBounds { min: position - reach, max: position + reach, power: power * share.sqrt() })
}
