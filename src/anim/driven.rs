//! Materials, lights and the camera's projection as tracks have them at a moment.

use super::{
    Moment,
    clip::{Keys, interpolate},
};
use crate::scene::{
    Alpha, Light, Material, NONE, Projection, Scene, TextureMap, absorption,
    driven::{
        CameraValue, Driven, DrivenLight, DrivenMaterial, LightValue, MapUse, MaterialBase,
        MaterialValue, PlaceValue, PunctualLight, PunctualShape, Target, TexturePlace, Track,
    },
    rig::{Actor, RigNodeRef},
};
use glam::{Vec2, Vec3};

/// The scene's tables as they are at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct PosedLooks {
    pub materials: Vec<Material>,
    pub maps: Vec<TextureMap>,
    pub lights: Vec<Light>,
}

/// What materials and lights are at `moment`; None where nothing drives them. A pure function of both. Where several clips drive
/// the same value, the last one does.
pub fn looks_at(scene: &Scene, moment: &Moment) -> Option<PosedLooks> {
    let drives = |d: &Driven| !d.materials.is_empty() || !d.lights.is_empty();
    if !scene.driven.iter().any(drives) {
        return None;
    }
    let mut looks = PosedLooks {
        materials: scene.materials.clone(),
        maps: scene.maps.clone(),
        lights: scene.lights.clone(),
    };
    for driven in &scene.driven {
        if let Some(actor) = scene.actors.get(driven.actor as usize) {
            let values = values_at(actor, moment.time());
            looks.drive_materials(&driven.materials, &values);
            looks.drive_lights(driven, &values, moment);
        }
    }
    Some(looks)
}

/// What the camera's picture spans at `moment`.
pub fn projection_at(scene: &Scene, moment: &Moment) -> Projection {
    let mut projection = scene.camera.projection;
    for driven in &scene.driven {
        let actor = scene.actors.get(driven.actor as usize);
        let (Some(actor), Some(own)) = (actor, driven.camera) else {
            continue;
        };
        for (target, [x, ..]) in values_at(actor, moment.time()) {
            let Target::Camera { camera, value } = target else {
                continue;
            };
            if camera == own {
                set_projection(&mut projection, value, x);
            }
        }
    }
    projection
}

fn set_projection(projection: &mut Projection, which: CameraValue, x: f32) {
    match (which, projection) {
        (CameraValue::FovY, Projection::Perspective { fov_y }) => *fov_y = x,
        // Nothing at all cannot be seen.
        (CameraValue::HalfHeight, Projection::Orthographic { height }) if x != 0.0 => {
            *height = 2.0 * x.abs();
        }
        _ => {}
    }
}

type Value = (Target, [f32; 4]);

/// The value of each track that is played at `time`, in seconds, within its bounds.
fn values_at(actor: &Actor, time: f32) -> Vec<Value> {
    let mut values = Vec::new();
    for playback in &actor.playbacks {
        let Some(clip) = actor.rig.clips.get(playback.clip as usize) else {
            continue;
        };
        let time = playback.clip_time(clip.duration, time);
        let tracks = clip.tracks.iter();
        values.extend(tracks.filter_map(|track| Some((track.target, value_at(track, time)?))));
    }
    values
}

/// None if the track does not fit its target, and where numbers overflow.
fn value_at(track: &Track, time: f32) -> Option<[f32; 4]> {
    let keys = Keys {
        interpolation: track.interpolation,
        times: &track.times,
        values: &track.values,
    };
    let mut value = [0.0; 4];
    let own = &mut value[..track.target.components()];
    let (low, high) = track.target.bounds();
    if !interpolate(keys, time, own) || own.iter().any(|x| x.is_nan()) {
        return None;
    }
    own.iter_mut().for_each(|x| *x = x.clamp(low, high));
    Some(value)
}

impl PosedLooks {
    fn drive_materials(&mut self, materials: &[DrivenMaterial], values: &[Value]) {
        let mut bases: Vec<MaterialBase> = materials.iter().map(|m| m.base.clone()).collect();
        for (target, value) in values {
            let (Target::Material { material, .. } | Target::Place { material, .. }) = *target
            else {
                continue;
            };
            let first = materials.partition_point(|m| m.base.material < material);
            let end = materials.partition_point(|m| m.base.material <= material);
            for (driven, base) in materials[first..end].iter().zip(&mut bases[first..end]) {
                let Some(row) = self.materials.get_mut(driven.row as usize) else {
                    continue;
                };
                match *target {
                    Target::Material { value: which, .. } => set(row, base, which, *value),
                    Target::Place {
                        map, value: which, ..
                    } => {
                        let index = *map.of(row);
                        let moved = self.maps.get_mut(index as usize).filter(|_| index != NONE);
                        if let (Some(moved), Some(place)) = (moved, place_of(base, map)) {
                            set_place(place, which, *value);
                            moved.transform = place.matrix();
                        }
                    }
                    Target::Light { .. } | Target::Camera { .. } => {}
                }
            }
        }
    }

    /// Lights also follow their nodes.
    fn drive_lights(&mut self, driven: &Driven, values: &[Value], moment: &Moment) {
        let lights = &driven.lights;
        let mut posed: Vec<PunctualLight> = lights.iter().map(|l| l.base).collect();
        for (target, value) in values {
            if let Target::Light {
                light,
                value: which,
            } = *target
            {
                let first = lights.partition_point(|l| l.light < light);
                let end = lights.partition_point(|l| l.light <= light);
                let own = posed[first..end].iter_mut();
                own.for_each(|light| set_light(light, which, *value));
            }
        }
        for (DrivenLight { row, node, .. }, posed) in lights.iter().zip(posed) {
            let world = moment.world(RigNodeRef {
                actor: driven.actor,
                node: *node,
            });
            let place = self.lights.get_mut(*row as usize);
            if let Some(place) = place {
                *place = posed.at(&world);
            }
        }
    }
}

fn place_of(base: &mut MaterialBase, map: MapUse) -> Option<&mut TexturePlace> {
    let own = base.places.iter_mut().find(|(own, _)| *own == map);
    own.map(|(_, place)| place)
}

fn set_place(place: &mut TexturePlace, which: PlaceValue, [x, y, ..]: [f32; 4]) {
    match which {
        PlaceValue::Offset => place.offset = Vec2::new(x, y),
        PlaceValue::Rotation => place.rotation = x,
        PlaceValue::Scale => place.scale = Vec2::new(x, y),
    }
}

fn set_light(light: &mut PunctualLight, which: LightValue, [x, y, z, _]: [f32; 4]) {
    match (which, &mut light.shape) {
        (LightValue::Color, _) => light.color = Vec3::new(x, y, z),
        (LightValue::Intensity, _) => light.intensity = x,
        (LightValue::Range, _) => light.range = Some(x),
        (LightValue::InnerConeAngle, PunctualShape::Spot { inner, .. }) => *inner = x,
        (LightValue::OuterConeAngle, PunctualShape::Spot { outer, .. }) => *outer = x,
        (LightValue::InnerConeAngle | LightValue::OuterConeAngle, _) => {}
    }
}

/// Changes a material's row, and the part of `base` that values are put together from.
fn set(row: &mut Material, base: &mut MaterialBase, which: MaterialValue, value: [f32; 4]) {
    use MaterialValue as M;
    let [x, y, z, alpha] = value;
    let color = Vec3::new(x, y, z);
    let layers = &mut row.layers;
    match which {
        M::BaseColor => {
            match row.unlit {
                true => row.emission = color,
                false => row.color = color,
            }
            if row.alpha != Alpha::Opaque {
                row.opacity = alpha;
            }
        }
        M::Emissive | M::EmissiveStrength => {
            match which {
                M::Emissive => base.emissive = color,
                _ => base.emissive_strength = x,
            }
            if !row.unlit {
                row.emission = base.emissive * base.emissive_strength;
            }
        }
        M::AlphaCutoff => {
            if let Alpha::Mask(cutoff) = &mut row.alpha {
                *cutoff = x;
            }
        }
        M::AttenuationDistance | M::AttenuationColor | M::Thickness => {
            match which {
                M::AttenuationColor => base.attenuation_color = color,
                M::AttenuationDistance => base.attenuation_distance = x,
                _ => layers.thin = x == 0.0,
            }
            layers.absorption = match layers.thin {
                true => Vec3::ZERO,
                false => absorption(base.attenuation_color, base.attenuation_distance),
            };
        }
        // 0 stands for infinity; nothing else lies below 1.
        M::Ior => layers.ior = if x == 0.0 { 0.0 } else { x.max(1.0) },
        M::Metallic => layers.metallic = x,
        M::Roughness => layers.roughness = x,
        M::NormalScale => layers.normal_scale = x,
        M::Dispersion => layers.dispersion = x,
        M::Specular => layers.specular = x,
        M::SpecularColor => layers.specular_color = color,
        M::Transmission => layers.transmission = x,
        M::DiffuseTransmission => layers.diffuse_transmission = x,
        M::DiffuseTransmissionColor => layers.diffuse_transmission_color = color,
        M::Clearcoat => layers.clearcoat = x,
        M::ClearcoatRoughness => layers.clearcoat_roughness = x,
        M::ClearcoatNormalScale => layers.clearcoat_normal_scale = x,
        M::SheenColor => layers.sheen_color = color,
        M::SheenRoughness => layers.sheen_roughness = x,
        M::Iridescence => layers.iridescence = x,
        M::IridescenceIor => layers.iridescence_ior = x,
        M::IridescenceThicknessMinimum => layers.iridescence_thickness[0] = x,
        M::IridescenceThicknessMaximum => layers.iridescence_thickness[1] = x,
        M::Anisotropy => layers.anisotropy = x,
        M::AnisotropyRotation => layers.anisotropy_rotation = x,
    }
}
