//! Where the things are that lenses, cameras and motions keep to.

use super::{
    Moment,
    transforms::{instance_world, node_world},
};
use crate::scene::{Anchor, Scene};
use glam::{Affine3A, Vec3};

/// `world_from_object` of what a way leads to, see [`Scene::way_to`].
pub fn way_world(scene: &Scene, moment: &Moment, way: &[u32]) -> Affine3A {
    product(way.iter().map(|&index| instance_world(scene, moment, index)))
}

fn product(transforms: impl Iterator<Item = Affine3A>) -> Affine3A {
    transforms.fold(Affine3A::IDENTITY, |outer, own| outer * own)
}

/// The mean of `anchors`, in world space.
pub fn middle(scene: &Scene, moment: &Moment, anchors: &[Anchor]) -> Vec3 {
    middle_of(scene, anchors, &worlds(scene, moment))
}

/// `world_from_object` of what an anchor is on.
pub fn anchor_world(scene: &Scene, moment: &Moment, anchor: &Anchor) -> Affine3A {
    world_of(scene, anchor, &worlds(scene, moment))
}

fn worlds(scene: &Scene, moment: &Moment) -> (impl Fn(u32) -> Affine3A, impl Fn(u32) -> Affine3A) {
    (|index| instance_world(scene, moment, index), |node| node_world(scene, moment, node))
}

/// The mean of `anchors`; `worlds` are the transforms of instances and nodes by their numbers.
pub fn middle_of(
    scene: &Scene,
    anchors: &[Anchor],
    worlds: &(impl Fn(u32) -> Affine3A, impl Fn(u32) -> Affine3A),
) -> Vec3 {
    let place = |anchor: &Anchor| {
        let world = world_of(scene, anchor, worlds);
        match *anchor {
            Anchor::Instance { point, .. } | Anchor::Nested { point, .. } => world.transform_point3(point),
            Anchor::Node { .. } => world.translation.into(),
        }
    };
    anchors.iter().map(place).sum::<Vec3>() / anchors.len().max(1) as f32
}

fn world_of(
    scene: &Scene,
    anchor: &Anchor,
    (instance, node): &(impl Fn(u32) -> Affine3A, impl Fn(u32) -> Affine3A),
) -> Affine3A {
    match anchor {
        Anchor::Instance { instance: index, .. } => instance(*index),
        Anchor::Nested { steps, .. } => product(scene.way_along(steps).map(instance)),
        Anchor::Node { node: index } => node(*index),
    }
}
