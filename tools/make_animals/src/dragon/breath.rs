//! Breathing of the sleeping dragon as morph targets: belly, ribs and throat expand.

use super::body::Dragon;
use crate::modelling::mesher::Mesh;
use crate::modelling::sdf::smoothstep;
use crate::modelling::solid::face_normals;
use crate::rigging::clip::{Clip, Morphing};
use crate::rigging::vertices::Target;
use glam::Vec3;
use rayon::prelude::*;
use std::f32::consts::{PI, TAU};

/// A part of the trunk that expands.
struct Swelling {
    name: &'static str,
    /// First and last knot of the trunk, and the length over which the effect fades out beyond them.
    knots: [usize; 2],
    fade: f32,
    /// Distance by which the skin moves outwards.
    height: f32,
    /// Share of that distance on the back; it grows to 1 on the belly.
    back: f32,
}

const SWELLINGS: [Swelling; 3] = [
    Swelling { name: "belly", knots: [9, 10], fade: 1.0, height: 0.26, back: 0.35 },
    Swelling { name: "chest", knots: [11, 12], fade: 0.9, height: 0.23, back: 0.6 },
    Swelling { name: "throat", knots: [15, 17], fade: 0.5, height: 0.16, back: 0.1 },
];

/// The morph targets of all parts.
pub fn targets(dragon: &Dragon, mesh: &Mesh, normals: &[Vec3]) -> Vec<Target> {
    let before = face_normals(mesh);
    SWELLINGS
        .iter()
        .map(|swelling| {
            let positions: Vec<Vec3> = mesh.points.par_iter().map(|&p| swelling.offset(dragon, p)).collect();
            let points = mesh.points.iter().zip(&positions).map(|(p, offset)| *p + *offset).collect();
            let after = face_normals(&Mesh { points, triangles: mesh.triangles.clone() });
            let turned = normals.iter().zip(before.iter().zip(&after)).map(|(&normal, (before, after))| {
                let turn = after.normalize_or_zero() - before.normalize_or_zero();
                (normal + turn).normalize_or(normal) - normal
            });
            Target { name: swelling.name, normals: turned.collect(), positions }
        })
        .collect()
}

impl Swelling {
    /// Offset of a skin point, outwards from the trunk's axis. Attached parts move along; points on the ground stay.
    fn offset(&self, dragon: &Dragon, p: Vec3) -> Vec3 {
        const RIDES: f32 = 0.8;
        const GROUND: f32 = 0.5;
        let place = dragon.spine.place(p);
        let [first, last] = self.knots.map(|knot| dragon.spine.knot(knot).along);
        let beyond = (first - place.along).max(place.along - last).max(0.0);
        let along = 1.0 - smoothstep(0.0, self.fade, beyond);
        let near = 1.0 - smoothstep(0.0, RIDES, place.distance);
        let under = smoothstep(0.0, 1.0, place.angle.abs() / PI);
        let around = self.back + (1.0 - self.back) * under;
        let free = smoothstep(0.0, GROUND, p.y);
        let axis = dragon.spine.station(place.along).point;
        (p - axis).normalize_or(Vec3::Y) * (self.height * along * near * around * free)
    }
}

/// One breath: the belly expands first, then the ribs; air leaves through the throat; a pause follows.
pub fn breathe() -> Morphing {
    Clip::looped("Breathe", 5.0, 40, |phase| {
        let breath = |delay: f32| {
            let t = (phase - delay).rem_euclid(1.0);
            smoothstep(0.0, 0.42, t) * (1.0 - smoothstep(0.46, 0.92, t))
        };
        let throat =
            (0.5 - 0.5 * ((phase - 0.42) * TAU / 0.5).cos()) * f32::from(u8::from((0.42..0.92).contains(&phase)));
        vec![breath(0.0), breath(0.06), 0.35 * breath(0.03) + 0.65 * throat]
    })
}
