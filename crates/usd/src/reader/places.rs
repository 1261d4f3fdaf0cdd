//! Lights and cameras in groups, and their places in the world.
//!
//! The stage has them in world space. Few are in prototypes, so each of their copies becomes one of its own.

use super::{
    cameras,
    groups::placed,
    inherit, lights,
    pictures::Pictures,
    values::{Values, compact},
};
use crate::{Camera, Content, Group, Item, Light, Sampled};
use glam::{DAffine3, DMat3, DVec3};
use openusd::usd::Prim;
use std::collections::HashMap;

/// Copies of lights or cameras at most.
const MOST: usize = 1000;

/// A light or a camera in a group.
pub struct Inner {
    /// Its prim.
    pub prim: Prim,
    /// Its path under the name of its group.
    pub name: String,
    /// Its place in the group.
    pub place: Sampled<DAffine3>,
    /// Whether it is visible in the group.
    pub shown: Sampled<bool>,
    /// Whether it is a light.
    pub is_light: bool,
}

/// A place of a group in the world.
#[derive(Clone)]
struct Placed {
    name: String,
    world_from_group: Sampled<DAffine3>,
    shown: Sampled<bool>,
}

impl Placed {
    /// Name of something in the group, under the name of this place.
    fn name_of(&self, group: &Group, name: &str) -> String {
        match name.strip_prefix(group.name.as_str()) {
            Some(rest) if !self.name.is_empty() => format!("{}{rest}", self.name),
            _ => name.to_owned(),
        }
    }
}

/// All lights and cameras. `inner` has the contents of groups by their index; groups are in order.
pub fn all(
    values: &Values,
    pictures: &Pictures,
    groups: &[Group],
    inner: &HashMap<usize, Vec<Inner>>,
) -> (Vec<Light>, Vec<Camera>) {
    let (mut lights, mut cameras) = (Vec::new(), Vec::new());
    let holds = holds(groups, inner);
    let world = Placed {
        name: String::new(),
        world_from_group: Sampled::Still(DAffine3::IDENTITY),
        shown: Sampled::Still(true),
    };
    let mut stack = vec![(0, world)];
    let mut left = MOST;
    while let Some((group, at)) = stack.pop() {
        for inner in inner.get(&group).into_iter().flatten() {
            if group != 0 && left == 0 {
                let text = "is placed more often than lights and cameras may be";
                values.warn(format!("{}: {text} ({MOST}); the rest is left out", inner.name));
                return (lights, cameras);
            }
            left -= usize::from(group != 0);
            read(values, pictures, &groups[group], &at, inner, &mut lights, &mut cameras);
        }
        let items = groups[group].items.iter().rev();
        let items = items.filter(|item| placed(&item.content).iter().any(|&inner| holds[inner as usize]));
        items.for_each(|item| push_places(&mut stack, &groups[group], &at, item, &holds));
    }
    (lights, cameras)
}

/// Whether each group, or one that it places, has a light or a camera.
fn holds(groups: &[Group], inner: &HashMap<usize, Vec<Inner>>) -> Vec<bool> {
    let mut holds = vec![false; groups.len()];
    for index in (0..groups.len()).rev() {
        let mut placed = groups[index].items.iter().flat_map(|item| placed(&item.content));
        holds[index] = inner.contains_key(&index) || placed.any(|&inner| holds[inner as usize]);
    }
    holds
}

fn read(
    values: &Values,
    pictures: &Pictures,
    group: &Group,
    at: &Placed,
    inner: &Inner,
    lights: &mut Vec<Light>,
    cameras: &mut Vec<Camera>,
) {
    let world = product(&at.world_from_group, &inner.place);
    let name = at.name_of(group, &inner.name);
    if inner.is_light {
        let shown = inherit::both(&at.shown, &inner.shown);
        if let Some(mut light) = lights::read(values, pictures, &inner.prim, world, shown) {
            // A light of geometry has the name of its shape.
            if light.name == inner.prim.path().as_str() {
                light.name = name;
            }
            lights.push(light);
        }
    } else if let Some(mut camera) = cameras::read(values, &inner.prim, world) {
        camera.name = name;
        cameras.push(camera);
    }
}

/// Puts the places of the groups that an item places on the stack.
fn push_places(stack: &mut Vec<(usize, Placed)>, group: &Group, at: &Placed, item: &Item, holds: &[bool]) {
    let name = at.name_of(group, &item.name);
    let world_from_item = product(&at.world_from_group, &item.group_from_item);
    let shown = inherit::both(&at.shown, &item.shown);
    match &item.content {
        Content::Shape { .. } => {}
        Content::Group(group) => {
            stack.push((*group as usize, Placed { name, world_from_group: world_from_item, shown }));
        }
        Content::Copies(copies) => {
            for (copy, &of) in copies.of.iter().enumerate().take(MOST + 1) {
                let group = copies.prototypes[of as usize] as usize;
                if !holds[group] {
                    continue;
                }
                // An absent copy has the place that it has at another time, and is hidden.
                let place = copies.places.map(|places| DAffine3::from_mat4(glam::Mat4::from(places[copy]).as_dmat4()));
                let there = place.map(|place| place.is_finite());
                let known = match &place {
                    Sampled::Still(place) => Some(*place),
                    Sampled::Moving(samples) => samples.iter().map(|(_, place)| *place).find(DAffine3::is_finite),
                };
                let Some(known) = known.filter(DAffine3::is_finite) else { continue };
                let place = place.map(|place| if place.is_finite() { *place } else { known });
                let placed = Placed {
                    name: format!("{name}/{copy}"),
                    world_from_group: product(&world_from_item, &place),
                    shown: inherit::both(&shown, &there),
                };
                stack.push((group, placed));
            }
        }
    }
}

/// Product of two places over time.
pub fn product(a: &Sampled<DAffine3>, b: &Sampled<DAffine3>) -> Sampled<DAffine3> {
    match (a, b) {
        (Sampled::Still(a), b) => b.map(|b| *a * *b),
        (a, Sampled::Still(b)) => a.map(|a| *a * *b),
        (Sampled::Moving(first), Sampled::Moving(second)) => {
            let mut times: Vec<f64> = first.iter().chain(second).map(|(time, _)| *time).collect();
            times.sort_by(f64::total_cmp);
            times.dedup();
            let samples = times.into_iter().map(|time| (time, at(a, time) * at(b, time))).collect();
            compact(samples).unwrap_or(Sampled::Still(DAffine3::IDENTITY))
        }
    }
}

/// The place at a time, interpolated between samples.
pub fn at(place: &Sampled<DAffine3>, time: f64) -> DAffine3 {
    let samples = match place {
        Sampled::Still(place) => return *place,
        Sampled::Moving(samples) => samples,
    };
    let after = samples.partition_point(|(sample, _)| *sample <= time);
    match (after.checked_sub(1).map(|before| &samples[before]), samples.get(after)) {
        (Some((from, a)), Some((to, b))) => {
            let share = (time - from) / (to - from);
            let mix = |a: DVec3, b: DVec3| a + (b - a) * share;
            let matrix = DMat3::from_cols(
                mix(a.matrix3.x_axis, b.matrix3.x_axis),
                mix(a.matrix3.y_axis, b.matrix3.y_axis),
                mix(a.matrix3.z_axis, b.matrix3.z_axis),
            );
            DAffine3::from_mat3_translation(matrix, mix(a.translation, b.translation))
        }
        (Some((_, place)), None) | (None, Some((_, place))) => *place,
        (None, None) => DAffine3::IDENTITY,
    }
}
