//! Conversion of the lights of a glTF file (KHR_lights_punctual) to the renderer's.
//!
//! Candela and lux are used directly as radiant intensity and irradiance, as in other viewers. Emissive factors are likewise used as
//! radiance, so the parts of a file are consistent. Lights exported by Blender with its standard units are 683 times brighter. They cause a
//! warning, and `--exposure` corrects them.

use super::parts::Posed;
use crate::gltf::{LightShape, ModelLight};
use glam::Vec3;
use std::collections::HashSet;
use throng_scene::{
    Light,
    animated::{AnimatedLight, PunctualLight, PunctualShape, Target, Track},
};

/// Intensity in candela or lux above which a file is probably not intended for exposure 0.
const DAZZLING: f32 = 2000.0;

/// A model's lights as lights of the scene.
#[derive(Default)]
pub struct Lights {
    /// All lights at the first frame, before tracks are applied.
    pub all: Vec<Light>,
    /// Lights that nodes or tracks animate, in the order of the file's lights.
    pub animated: Vec<AnimatedLight>,
    /// Warnings about very bright lights.
    pub doubts: Vec<String>,
}

/// Converts the lights that are visible at any time; `tracks` are the played ones.
pub fn convert<'a>(lights: &[ModelLight], posed: &Posed, tracks: impl Iterator<Item = &'a Track>) -> Lights {
    let animated = tracks.filter_map(|track| match track.target {
        Target::Light { light, .. } => Some(light),
        _ => None,
    });
    let animated: HashSet<u32> = animated.collect();
    let mut found = Lights::default();
    for light in lights {
        let appears = posed.live.appears(light.node);
        if !appears && !posed.pose.is_shown(light.node) {
            continue;
        }
        let base = punctual(light);
        let shown = base.at(&posed.pose.world(light.node));
        if animated.contains(&light.light) || posed.live.moves(light.node) || appears {
            found.animated.push(AnimatedLight {
                light: light.light,
                row: found.all.len() as u32,
                node: light.node,
                base,
            });
        }
        found.all.push(shown);
    }
    found.animated.sort_by_key(|animated| animated.light);
    found.doubts.extend(lights.iter().filter_map(about));
    found
}

fn punctual(light: &ModelLight) -> PunctualLight {
    PunctualLight {
        color: Vec3::from(light.color),
        intensity: light.intensity,
        range: light.range,
        shape: match light.shape {
            LightShape::Directional => PunctualShape::Directional,
            LightShape::Point => PunctualShape::Point,
            LightShape::Spot { inner, outer } => PunctualShape::Spot { inner, outer },
        },
    }
}

fn about(light: &ModelLight) -> Option<String> {
    let name = &light.name;
    (light.intensity >= DAZZLING).then(|| {
        format!(
            "the light `{name}` has {} candela or lux: if the picture is too bright, try --exposure -9.4, which undoes \
             Blender's factor of 683",
            light.intensity
        )
    })
}
