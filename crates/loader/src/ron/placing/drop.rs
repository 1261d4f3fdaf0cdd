//! Copies that are moved onto the ground.

use super::resolved::{ChosenCopy, Item};
use crate::land::ground::Ground;
use glam::{Affine3, Quat, Vec3, Vec3Swizzles};
use rayon::prelude::*;
use throng_scene::desc::{Align, DropDesc};

/// The copies of an item, moved vertically onto the ground. Copies whose origin is outside the ground are removed. Alignment rotates copies
/// about their origins.
pub fn onto(ground: &Ground, item: &Item, desc: &DropDesc) -> Vec<ChosenCopy> {
    let dropped = |i: u32| {
        let (number, copy) = item.copy(i);
        let origin = copy.translation;
        let point = ground.at(origin.xz())?;
        let place = Vec3::new(origin.x, point.height + desc.lift.0, origin.z);
        let turn = match desc.align {
            Align::None => Quat::IDENTITY,
            Align::Normal => Quat::from_rotation_arc(Vec3::Y, point.normal),
        };
        let moved = Affine3 { translation: Vec3::ZERO, ..copy };
        Some((number, Affine3::from_rotation_translation(turn, place) * moved))
    };
    (0..item.count() as u32).into_par_iter().filter_map(dropped).collect()
}
