//! The lights of a glTF file (KHR_lights_punctual) as the renderer's.
//!
//! Candela and lux are taken as radiant intensity and irradiance, one to one: as viewers do, and as emissive factors are
//! taken as radiance, so the parts of a file agree with each other. What Blender exports with its standard units is 683
//! times as bright; that is told, and `--exposure` corrects it.

use super::{live::Live, parts::Posed};
use crate::{
    loader::gltf::{LightShape, ModelLight},
    scene::Light,
};
use glam::Vec3;

/// From this many candela or lux on, a file was hardly made to be seen at exposure 0.
const DAZZLING: f32 = 2000.0;

/// The lights as they are at the first frame, and what of them is not as in the file.
pub fn convert(lights: &[ModelLight], posed: &Posed) -> (Vec<Light>, Vec<String>) {
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    for light in lights {
        match one(light, posed) {
            Some(light) => found.push(light),
            None => warnings.push(format!("not drawn yet: spot light `{}`", light.name)),
        }
    }
    warnings.extend(lights.iter().filter_map(|light| about(light, posed.live)));
    (found, warnings)
}

fn one(light: &ModelLight, posed: &Posed) -> Option<Light> {
    let world = posed.pose.world(light.node);
    let power = Vec3::from(light.color) * light.intensity;
    match light.shape {
        LightShape::Directional => {
            let towards = world.transform_vector3(Vec3::Z);
            Some(Light::Sun {
                direction: towards.normalize_or(Vec3::Z),
                irradiance: power,
                angular_radius: 0.0,
            })
        }
        LightShape::Point => Some(Light::Point {
            position: world.translation.into(),
            intensity: power,
        }),
        LightShape::Spot { .. } => None,
    }
}

fn about(light: &ModelLight, live: &Live) -> Option<String> {
    let name = &light.name;
    if matches!(light.shape, LightShape::Spot { .. }) {
        return None;
    }
    if live.moves(light.node) {
        return Some(format!(
            "not drawn yet: the animation moves the light `{name}`, which stays where it is at the first frame"
        ));
    }
    (light.intensity >= DAZZLING).then(|| {
        format!(
            "the light `{name}` has {} candela or lux: if the picture is too bright, try --exposure -9.4, which undoes \
             Blender's factor of 683",
            light.intensity
        )
    })
}
