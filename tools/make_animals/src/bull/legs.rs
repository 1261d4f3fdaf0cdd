//! The bull's legs, which stand vertically.

use super::paint::Paint;
use crate::modelling::sdf::{Chain, Ellipsoid, Parts, TaperedBox};
use glam::{Mat3, Vec2, Vec3};

/// The joints of a leg from the trunk down to the toe, and the flesh around them.
#[derive(Clone, Copy)]
pub struct Leg {
    /// Shoulder or hip, elbow or stifle, knee or hock, fetlock, and the toe on the ground.
    pub joints: [Vec3; 5],
    pub radii: [f32; 5],
}

/// Front right and left, hind right and left.
pub fn legs() -> [Leg; 4] {
    let fore = |side| Leg {
        joints: place(
            [(0.62, 1.04, 0.2), (0.4, 0.82, 0.21), (0.46, 0.45, 0.185), (0.45, 0.165, 0.18), (0.6, 0.0, 0.18)],
            side,
        ),
        radii: [0.15, 0.115, 0.066, 0.052, 0.05],
    };
    let hind = |side| Leg {
        joints: place(
            [(-0.64, 1.14, 0.15), (-0.43, 0.8, 0.2), (-0.82, 0.5, 0.17), (-0.76, 0.165, 0.165), (-0.61, 0.0, 0.165)],
            side,
        ),
        radii: [0.2, 0.14, 0.066, 0.052, 0.05],
    };
    [fore(1.0), fore(-1.0), hind(1.0), hind(-1.0)]
}

fn place(joints: [(f32, f32, f32); 5], side: f32) -> [Vec3; 5] {
    joints.map(|(x, y, z)| Vec3::new(x, y, z * side))
}

impl Leg {
    /// Distance to the leg without details of the skin.
    pub fn distance(&self, p: Vec3) -> f32 {
        let bones = self.joints.windows(2).zip(self.radii.windows(2));
        let distances = bones.map(|(ends, radii)| {
            let bone = ends[1] - ends[0];
            let t = ((p - ends[0]).dot(bone) / bone.length_squared()).clamp(0.0, 1.0);
            p.distance(ends[0] + bone * t) - radii[0] - (radii[1] - radii[0]) * t
        });
        distances.fold(f32::INFINITY, f32::min)
    }
}

/// Adds a leg. A `hind` leg has its knee in front and a hock behind.
pub fn add(parts: &mut Parts, leg: &Leg, hind: bool) {
    let [top, elbow, knee, fetlock, toe] = leg.joints;
    let [_, thick, joint, ankle, _] = leg.radii;
    if hind {
        add_thigh(parts, leg);
    } else {
        add_shoulder(parts, leg);
    }
    let belly = elbow.lerp(knee, 0.3);
    let calf = if hind { Vec3::new(-0.025, 0.0, 0.0) } else { Vec3::new(0.012, 0.0, 0.0) };
    let lower = [
        (top.lerp(elbow, 0.75), thick * 1.1),
        (elbow, thick),
        (belly + calf, thick * 0.86),
        (elbow.lerp(knee, 0.72), joint * 1.06),
        (knee, joint),
    ];
    parts.add(0.08, Chain::through(&lower));
    let cannon = [
        (knee, joint),
        (knee.lerp(fetlock, 0.3), joint * 0.74),
        (knee.lerp(fetlock, 0.75), joint * 0.66),
        (fetlock, ankle),
    ];
    parts.add(0.03, Chain::through(&cannon));
    if hind {
        let point = knee + Vec3::new(-0.05, 0.055, 0.0);
        let tendon = [(point, 0.036), (elbow.lerp(knee, 0.45) + Vec3::new(-0.1, 0.03, 0.0), 0.04)];
        parts.add(0.04, Chain::through(&tendon));
    }
    let pastern = fetlock.lerp(toe, 0.32);
    parts.add(0.03, Chain::through(&[(fetlock, ankle), (pastern, ankle * 0.86)]));
    parts.add(0.02, Chain::through(&[(fetlock, 0.03), (fetlock + Vec3::new(-0.055, -0.03, 0.0), 0.026)]));
    add_hoof(parts, pastern, toe);
}

/// A hoof: flat below, sloping in front, open at the back.
fn add_hoof(parts: &mut Parts, pastern: Vec3, toe: Vec3) {
    parts.paint(Paint::Hoof);
    let ground = Vec3::new(pastern.x + 0.035, 0.0, toe.z);
    let upright = Mat3::from_cols(Vec3::Y, Vec3::NEG_X, Vec3::Z);
    let lean = 0.035;
    parts.add(
        0.015,
        TaperedBox {
            origin: ground,
            axes: upright,
            length: 0.1,
            near: Vec2::new(0.078, 0.066),
            far: Vec2::new(0.052, 0.05),
            rise: lean,
            round: 0.024,
        },
    );
    parts.paint(Paint::Hide);
}

fn add_shoulder(parts: &mut Parts, leg: &Leg) {
    let [top, elbow, ..] = leg.joints;
    let side = top.z.signum();
    let blade = Mat3::from_rotation_z(-0.45);
    parts.add(
        0.12,
        Ellipsoid { centre: Vec3::new(0.52, 1.16, 0.2 * side), axes: blade, radii: Vec3::new(0.2, 0.36, 0.11) },
    );
    parts.add(
        0.1,
        Ellipsoid {
            centre: top.lerp(elbow, 0.45),
            axes: Mat3::from_rotation_z(0.8),
            radii: Vec3::new(0.24, 0.15, 0.1),
        },
    );
}

fn add_thigh(parts: &mut Parts, leg: &Leg) {
    let [hip, stifle, hock, ..] = leg.joints;
    let side = hip.z.signum();
    let centre = Vec3::new(-0.66, 1.02, 0.185 * side);
    parts.add(0.14, Ellipsoid { centre, axes: Mat3::from_rotation_z(0.35), radii: Vec3::new(0.25, 0.36, 0.13) });
    let ham = [
        (Vec3::new(-0.84, 1.12, 0.13 * side), 0.12),
        (Vec3::new(-0.84, 0.88, 0.16 * side), 0.12),
        (stifle.lerp(hock, 0.4), 0.085),
    ];
    parts.add(0.1, Chain::through(&ham));
    parts.add(0.1, Chain::through(&[(hip, 0.17), (stifle, 0.13)]));
}
