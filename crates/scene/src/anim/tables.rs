//! Materials, lights and the camera's projection, with animated values at a moment.

use super::{
    Moment,
    clip::{Keys, interpolate},
};
use crate::{
    Camera, Changes, Environment, Fog, Light, Material, NONE, Projection, Scene, TextureMap,
    animated::{
        Animated, AnimatedLight, AnimatedMaterial, CameraValue, LightValue, MapUse, MaterialBase, PlaceValue,
        PunctualLight, PunctualShape, Target, TexturePlace, Track,
    },
    rig::{Actor, RigNodeRef},
};
use glam::{Vec2, Vec3};
use std::sync::Arc;

/// The scene's tables at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct PosedTables {
    pub materials: Vec<Material>,
    pub maps: Vec<TextureMap>,
    pub lights: Vec<Light>,
    /// The environment, if it differs from the scene's. The same object is returned while it does not change.
    pub environment: Option<Arc<Environment>>,
    pub fog: Option<Fog>,
    /// Whether all materials emit as much light as in the scene, so that tables for light sampling stay valid.
    pub keeps_emission: bool,
}

/// Materials, maps, lights and environment of `scene` at `moment`; a pure function of both. None if no track and no key of the scene file
/// changes any of them. If several clips animate a value, the last one applies.
pub fn posed_tables(scene: &Scene, moment: &Moment) -> Option<PosedTables> {
    let changes = changes(scene, moment);
    let drives = |d: &Animated| !d.materials.is_empty() || !d.lights.is_empty();
    let is_posed = changes != Changes::default() || scene.animated.iter().any(drives);
    is_posed.then(|| tables_with(scene, moment, changes))
}

/// The tables of `scene` at `moment` for clay renders: all materials are clay, except unlit ones and the ground of a standalone model, and
/// there is no fog.
pub fn clay_tables(scene: &Scene, moment: &Moment) -> PosedTables {
    let mut tables = tables_with(scene, moment, changes(scene, moment));
    tables.fog = None;
    let stage = scene.stage.and_then(|stage| scene.instances.get(stage as usize));
    let stage = stage.and_then(|instance| scene.material_slots.get(instance.slot_base as usize).copied());
    for (row, material) in (0..).zip(&mut tables.materials) {
        if Some(row) != stage && !material.unlit {
            *material = material.in_clay();
        }
    }
    tables
}

fn changes(scene: &Scene, moment: &Moment) -> Changes {
    scene.timeline.as_ref().map(|timeline| timeline.at(moment.time())).unwrap_or_default()
}

fn tables_with(scene: &Scene, moment: &Moment, changes: Changes) -> PosedTables {
    let mut tables = PosedTables {
        materials: scene.materials.clone(),
        maps: scene.maps.clone(),
        lights: lights(scene, &changes),
        environment: changes.environment,
        fog: changes.fog.or(scene.fog),
        keeps_emission: changes.materials.is_empty() && changes.lamps.is_empty(),
    };
    for (row, material) in changes.materials {
        if let Some(own) = tables.materials.get_mut(row as usize) {
            *own = material;
        }
    }
    for (row, radiance) in changes.lamps {
        if let Some(own) = tables.materials.get_mut(row as usize) {
            own.emission = radiance;
        }
    }
    for animated in &scene.animated {
        if let Some(actor) = scene.actors.get(animated.actor as usize) {
            let values = values_at(actor, moment.time());
            tables.animate_materials(&animated.materials, &values);
            tables.animate_lights(animated, &values, moment);
        }
    }
    tables
}

/// The scene's lights with `changes`: its own lights, followed by the lights of its environment.
fn lights(scene: &Scene, changes: &Changes) -> Vec<Light> {
    let (own, suns) = scene.lights.split_at(scene.own_lights);
    let own = changes.lights.as_deref().unwrap_or(own);
    let suns = changes.suns.as_deref().unwrap_or(suns);
    [own, suns].concat()
}

/// A camera's projection at `moment`, with the field of view or height from clips.
pub fn projection_at(scene: &Scene, camera: &Camera, moment: &Moment) -> Projection {
    let mut projection = camera.projection;
    if camera.driver.is_none() {
        return projection;
    }
    for animated in &scene.animated {
        let actor = scene.actors.get(animated.actor as usize);
        let values = actor.map(|actor| values_at(actor, moment.time())).unwrap_or_default();
        for (target, [x, ..]) in values {
            if let Target::Camera { camera: driver, value } = target
                && Some(driver) == camera.driver
            {
                set_projection(&mut projection, value, x);
            }
        }
    }
    projection
}

fn set_projection(projection: &mut Projection, which: CameraValue, x: f32) {
    match (which, projection) {
        (CameraValue::FovY, Projection::Perspective { fov_y }) => *fov_y = x,
        // A height of zero would show nothing, so it is ignored.
        (CameraValue::HalfHeight, Projection::Orthographic { height }) if x != 0.0 => {
            *height = 2.0 * x.abs();
        }
        _ => {}
    }
}

type Value = (Target, [f32; 4]);

/// The value of each played track at `time`, in seconds of the scene, clamped to the range of its target.
fn values_at(actor: &Actor, time: f64) -> Vec<Value> {
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

/// The value of a track at `time`. None if the track does not fit its target, or if the value is NaN.
fn value_at(track: &Track, time: f64) -> Option<[f32; 4]> {
    let keys = Keys { interpolation: track.interpolation, times: &track.times, values: &track.values };
    let mut value = [0.0; 4];
    let own = &mut value[..track.target.components()];
    if !interpolate(keys, time, own) || own.iter().any(|x| x.is_nan()) {
        return None;
    }
    own.iter_mut().for_each(|x| *x = track.target.clamp(*x));
    Some(value)
}

impl PosedTables {
    fn animate_materials(&mut self, materials: &[AnimatedMaterial], values: &[Value]) {
        let mut bases: Vec<MaterialBase> = materials.iter().map(|m| m.base.clone()).collect();
        for (target, value) in values {
            let (Target::Material { material, .. } | Target::Place { material, .. }) = *target else {
                continue;
            };
            let first = materials.partition_point(|m| m.base.material < material);
            let end = materials.partition_point(|m| m.base.material <= material);
            for (animated, base) in materials[first..end].iter().zip(&mut bases[first..end]) {
                let Some(row) = self.materials.get_mut(animated.row as usize) else {
                    continue;
                };
                match *target {
                    Target::Material { value: which, .. } => which.set(row, base, *value),
                    Target::Place { map, value: which, .. } => {
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

    /// Sets the values of animated lights, and moves them to their nodes. Lights on hidden nodes are dark.
    fn animate_lights(&mut self, animated: &Animated, values: &[Value], moment: &Moment) {
        let lights = &animated.lights;
        let mut posed: Vec<PunctualLight> = lights.iter().map(|l| l.base).collect();
        for (target, value) in values {
            if let Target::Light { light, value: which } = *target {
                let first = lights.partition_point(|l| l.light < light);
                let end = lights.partition_point(|l| l.light <= light);
                let own = posed[first..end].iter_mut();
                own.for_each(|light| set_light(light, which, *value));
            }
        }
        for (AnimatedLight { row, node, .. }, posed) in lights.iter().zip(posed) {
            let node = RigNodeRef { actor: animated.actor, node: *node };
            let place = self.lights.get_mut(*row as usize);
            if let Some(place) = place {
                let intensity = if moment.is_shown(node) { posed.intensity } else { 0.0 };
                *place = PunctualLight { intensity, ..posed }.at(&moment.world(node));
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
