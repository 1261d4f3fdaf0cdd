//! Positions of the objects that lenses, cameras and motions refer to.

use super::{
    Moment,
    transforms::{node_world, way_world},
};
use crate::{Anchor, Scene};
use glam::{Affine3A, Vec3};

/// The mean position of `anchors`, in world space.
pub fn middle(scene: &Scene, moment: &Moment, anchors: &[Anchor]) -> Vec3 {
    middle_of(scene, anchors, &worlds(scene, moment))
}

/// `world_from_object` of the object or node to which an anchor is attached.
pub fn anchor_world(scene: &Scene, moment: &Moment, anchor: &Anchor) -> Affine3A {
    world_of(scene, anchor, &worlds(scene, moment))
}

fn worlds(scene: &Scene, moment: &Moment) -> (impl Fn(&[u32]) -> Affine3A, impl Fn(u32) -> Affine3A) {
    (|way: &[u32]| way_world(scene, moment, way), |node| node_world(scene, moment, node))
}

/// The mean position of `anchors`. `worlds` returns the transform of an instance, given the way to it, and of a node, given its number.
pub fn middle_of(
    scene: &Scene,
    anchors: &[Anchor],
    worlds: &(impl Fn(&[u32]) -> Affine3A, impl Fn(u32) -> Affine3A),
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
    (way, node): &(impl Fn(&[u32]) -> Affine3A, impl Fn(u32) -> Affine3A),
) -> Affine3A {
    match anchor {
        Anchor::Instance { instance, .. } => way(&[*instance]),
        Anchor::Nested { steps, .. } => way(&scene.way_along(steps).collect::<Vec<u32>>()),
        Anchor::Node { node: index } => node(*index),
    }
}
