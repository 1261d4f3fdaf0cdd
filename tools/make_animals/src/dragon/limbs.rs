//! Legs: thigh, shin, foot and clawed toes, posed joint by joint.

use super::paint::Paint;
use crate::modelling::sdf::{Chain, Ellipsoid, Parts, RoundCone};
use glam::{Mat3, Vec3};

/// The joints of a leg, from the trunk down.
pub struct Leg {
    pub hip: Vec3,
    pub knee: Vec3,
    pub ankle: Vec3,
    /// The middle of the foot, where the toes begin.
    pub ball: Vec3,
    /// Direction in which the toes point, and the direction out of the back of the foot.
    pub toes: Vec3,
    pub instep: Vec3,
    /// Radii at hip, knee, ankle and ball.
    pub radii: [f32; 4],
    /// Centre of the leg's main muscle, as an offset from the middle of the thigh.
    pub muscle: Vec3,
    /// Downward curl of the toes.
    pub curl: f32,
}

/// Position of a point relative to a leg.
#[derive(Clone, Copy, Debug)]
pub struct LegPosition {
    /// Distance to the leg without details of the skin.
    pub distance: f32,
    /// Position along the leg, measured from the hip.
    pub along: f32,
    /// Angle around the leg, 0 on the outside.
    pub angle: f32,
    /// Distance to the bone, with an upper limit.
    pub radius: f32,
}

impl Leg {
    /// Finds the nearest position along the leg.
    pub fn place(&self, p: Vec3) -> LegPosition {
        const MOST_MUSCLE: f32 = 1.8;
        let tip = self.ball + self.toes * 0.7;
        let joints = [self.hip, self.knee, self.ankle, self.ball, tip];
        let [hip, knee, ankle, ball] = self.radii;
        let radii = [hip, knee, ankle, ball, ball];
        let heading = |i: usize| (joints[i + 1] - joints[i]).normalize();
        let bend = |i: usize| heading(i.saturating_sub(1)) + heading(i.min(3));
        let outwards = Vec3::Z * self.hip.z.signum();
        let mut along = 0.0;
        let mut best: Option<LegPosition> = None;
        for i in 0..4 {
            let bone = joints[i + 1] - joints[i];
            let t = ((p - joints[i]).dot(bone) / bone.length_squared()).clamp(0.0, 1.0);
            let from_axis = p - (joints[i] + bone * t);
            let radius = radii[i] + (radii[i + 1] - radii[i]) * t;
            let distance = from_axis.length() - radius;
            if best.is_none_or(|best| distance < best.distance) {
                let front = outwards.cross(bend(i).lerp(bend(i + 1), t)).normalize();
                best = Some(LegPosition {
                    distance,
                    along: along + bone.length() * t,
                    angle: from_axis.dot(front).atan2(from_axis.dot(outwards)),
                    radius: from_axis.length().clamp(radius, radius * MOST_MUSCLE),
                });
            }
            along += bone.length();
        }
        best.expect("a leg has bones")
    }
}

/// Adds a leg.
pub fn add(parts: &mut Parts, leg: &Leg) {
    add_thigh(parts, leg);
    let [_, knee, ankle, ball] = leg.radii;
    let shin = (leg.ankle - leg.knee).normalize();
    let behind = (leg.hip.lerp(leg.ankle, 0.5) - leg.knee).normalize();
    parts.add(
        0.12,
        Chain::through(&[(leg.knee, knee * 0.92), (leg.knee.lerp(leg.ankle, 0.4), knee * 0.8), (leg.ankle, ankle)]),
    );
    let calf = leg.knee.lerp(leg.ankle, 0.3) + behind * (knee * 0.28);
    parts.add(
        0.1,
        Ellipsoid {
            centre: calf,
            axes: frame_along(shin),
            radii: Vec3::new(knee * 0.8, leg.knee.distance(leg.ankle) * 0.42, knee * 0.85),
        },
    );
    parts.add(0.1, cone(leg.ankle, leg.ball, ankle, ball));
    let heel = leg.ankle + (leg.ankle - leg.ball.lerp(leg.knee, 0.5)).normalize() * ankle;
    parts.add(0.07, cone(leg.ankle, heel, ankle * 0.85, ankle * 0.55));
    let spur = heel - leg.toes * 0.2 + leg.instep * 0.1;
    parts.add(0.05, cone(heel, spur, ankle * 0.5, 0.032));
    let knob = leg.knee - behind * (knee * 0.35) - shin * (knee * 0.1);
    parts.add(0.1, cone(leg.knee, knob, knee * 0.75, knee * 0.5));
    add_toes(parts, leg);
}

fn add_thigh(parts: &mut Parts, leg: &Leg) {
    let [hip, knee, ..] = leg.radii;
    let axis = (leg.knee - leg.hip).normalize();
    let middle = leg.hip.lerp(leg.knee, 0.34) + leg.muscle;
    let length = leg.hip.distance(leg.knee);
    parts.add(
        0.28,
        Ellipsoid {
            centre: middle,
            axes: frame_along(axis),
            radii: Vec3::new(hip * 1.12, length * 0.55 + hip * 0.2, hip * 0.78),
        },
    );
    parts.add(0.2, cone(leg.hip, leg.knee, hip * 0.8, knee));
}

fn add_toes(parts: &mut Parts, leg: &Leg) {
    let side = leg.toes.cross(leg.instep).normalize();
    let ball = leg.radii[3];
    parts.add(
        0.08,
        Ellipsoid {
            centre: leg.ball + leg.toes * 0.05,
            axes: Mat3::from_cols(leg.toes, leg.instep, side),
            radii: Vec3::new(ball * 1.5, ball * 0.95, ball * 1.6),
        },
    );
    let down = -leg.instep;
    for spread in [-1.0f32, 0.0, 1.0] {
        let heading = (leg.toes + side * (spread * 0.52)).normalize();
        let reach = 0.46 - 0.07 * spread * spread;
        let root = leg.ball + side * (spread * ball * 0.85);
        let knuckle = root + heading * (reach * 0.6) + leg.instep * 0.06 + down * (leg.curl * 0.3);
        let end = root + heading * reach + down * (0.02 + leg.curl);
        parts.add(0.05, Chain::through(&[(root, ball * 0.82), (knuckle, ball * 0.78), (end, ball * 0.6)]));
        let arch = end + heading * 0.18 + leg.instep * 0.06 + down * (leg.curl * 0.4);
        let point = end + heading * 0.36 + down * (0.07 + leg.curl * 1.5);
        parts.paint(Paint::Horn);
        parts.add(0.02, Chain::through(&[(end, ball * 0.56), (arch, ball * 0.42), (point, 0.022)]));
        parts.paint(Paint::Hide);
    }
}

/// Axes for a muscle that runs along a bone, flattened sideways.
fn frame_along(bone: Vec3) -> Mat3 {
    let across = bone.cross(Vec3::Z).normalize();
    Mat3::from_cols(across, bone, across.cross(bone))
}

fn cone(a: Vec3, b: Vec3, radius_a: f32, radius_b: f32) -> RoundCone {
    RoundCone { a, b, radius_a, radius_b }
}
