//! The pose: the animal put together from trunk, head, legs, wings and plates.

use crate::head;
use crate::limbs::{self, Leg};
use crate::sdf::{Blade, Bounds, Parts, RoundCone, Shape, smoothstep};
use crate::spine::{Knot, Place, Spine, Station};
use crate::wing::{self, Pose, Sheet};
use glam::{Mat3, Vec2, Vec3};
use std::f32::consts::PI;
use std::sync::Arc;

/// The least that `Dragon::edge_length` gives.
pub const SHORTEST_EDGE: f32 = 0.045;

/// The dragon as one solid.
pub struct Dragon {
    pub spine: Spine,
    pub wings: [Arc<Sheet>; 2],
    parts: Parts,
    pub legs: [Leg; 4],
    pub head: head::Frame,
    skull: Vec3,
    paws: Vec<Vec3>,
}

impl Dragon {
    pub fn new() -> Self {
        let spine = trunk();
        let mut parts = Parts::default();
        let neck_end = spine.station(spine.length());
        let legs = legs();
        for leg in &legs {
            limbs::add(&mut parts, leg);
        }
        let wings = wing_poses().map(|pose| Arc::new(Sheet::new(pose)));
        for wing in &wings {
            wing::add_bones(&mut parts, wing);
            parts.add(0.07, SharedSheet(Arc::clone(wing)));
        }
        let head = head_frame(&neck_end);
        head::add(&mut parts, &head);
        add_plates(&mut parts, &spine);
        add_spade(&mut parts, &spine.station(0.0));
        Self {
            spine,
            wings,
            parts,
            head,
            skull: head.origin + head.axes.x_axis * 0.5,
            paws: legs.iter().map(|leg| leg.ball + leg.toes * 0.35).collect(),
            legs,
        }
    }

    /// Signed distance to the skin.
    pub fn distance(&self, p: Vec3) -> f32 {
        let (smooth, place) = self.smooth_distance(p);
        if smooth.abs() > 0.2 {
            return smooth;
        }
        smooth - self.relief(p, &place)
    }

    /// Gradient of the distance, by central differences over `step`.
    pub fn gradient(&self, p: Vec3, step: f32) -> Vec3 {
        gradient(&|p| self.distance(p), p, step)
    }

    /// Distance to the skin without its scales.
    fn smooth_distance(&self, p: Vec3) -> (f32, Place) {
        let place = self.spine.place(p);
        (self.parts.distance(p, place.distance), place)
    }

    /// How long the edges of the mesh may be at `p`, up to a common factor: short where the skin
    /// bends sharply or where the eye looks, long on the flat skin of the wings.
    pub fn edge_length(&self, p: Vec3) -> f32 {
        const ANGLE_PER_EDGE: f32 = 1.1;
        let head = 1.0 - smoothstep(0.9, 1.6, p.distance(self.skull));
        let paw = self
            .paws
            .iter()
            .map(|paw| 1.0 - smoothstep(0.4, 0.8, p.distance(*paw)))
            .fold(0.0, f32::max);
        let trunk = self.spine.place(p);
        let near_trunk = 1.0 - smoothstep(1.2, 1.8, trunk.from_axis / trunk.radius);
        let shortest = 0.06 - (0.06 - SHORTEST_EDGE) * head.max(0.85 * paw);
        let longest = 0.17 - 0.082 * near_trunk.max(head) - 0.012 * head;
        (ANGLE_PER_EDGE / self.curvature(p)).clamp(shortest, longest)
    }

    /// How fast the normal of the smooth skin turns along the surface, in radians per unit of
    /// length, in the direction in which it turns fastest.
    fn curvature(&self, p: Vec3) -> f32 {
        const REACH: f32 = 0.025;
        const STEP: f32 = 0.01;
        let normal =
            |p: Vec3| gradient(&|p| self.smooth_distance(p).0, p, STEP).normalize_or(Vec3::Y);
        let (u, v) = normal(p).any_orthonormal_pair();
        [u, v]
            .into_iter()
            .map(|way| normal(p + way * REACH).distance(normal(p - way * REACH)) / (2.0 * REACH))
            .fold(1e-3, f32::hypot)
    }

    /// Height of scales and belly plates over the smooth skin.
    fn relief(&self, p: Vec3, place: &Place) -> f32 {
        let trunk = 1.0 - smoothstep(1.3, 1.9, place.from_axis / place.radius);
        let near_skull = smoothstep(0.35, 0.7, p.distance(self.skull));
        let near_tip = smoothstep(0.3, 1.2, place.along);
        let weight = trunk * near_skull * near_tip;
        if weight == 0.0 {
            return 0.0;
        }
        let under = place.angle.abs() / PI;
        let belly = smoothstep(0.68, 0.76, under);
        weight * (belly * belly_plates(place) + (1.0 - belly) * scales(place))
    }

    /// A box around the whole animal, with a margin.
    pub fn bounds(&self) -> Bounds {
        Bounds {
            min: Vec3::new(-6.2, -0.3, -5.7),
            max: Vec3::new(5.6, 7.0, 5.7),
        }
    }
}

fn gradient(distance: &dyn Fn(Vec3) -> f32, p: Vec3, step: f32) -> Vec3 {
    let along = |axis: Vec3| distance(p + axis * step) - distance(p - axis * step);
    Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z)) / (2.0 * step)
}

/// Overlapping cross-wise plates: each rises slowly and ends in a step.
fn belly_plates(place: &Place) -> f32 {
    const PITCH: f32 = 0.4;
    let t = (place.along / PITCH).rem_euclid(1.0);
    0.04 * (smoothstep(0.0, 0.35, t) - smoothstep(0.35, 1.0, t))
}

/// Diamond scales in staggered rows, with fewer around the trunk where it is thin.
fn scales(place: &Place) -> f32 {
    const PITCH: f32 = 0.44;
    let around = (place.radius * 2.0 * PI / PITCH).max(4.0);
    let u = place.along / PITCH;
    let v = place.angle / (2.0 * PI) * around;
    let wave = |x: f32| (x * PI).cos().powi(2);
    let diamond = wave(u + v) * wave(u - v);
    0.045 * diamond.sqrt() * (place.radius / 0.4).min(1.0)
}

/// Lets the parts list and the caller share a wing.
struct SharedSheet(Arc<Sheet>);

impl Shape for SharedSheet {
    fn distance(&self, p: Vec3) -> f32 {
        self.0.distance(p)
    }

    fn bounds(&self) -> Bounds {
        self.0.bounds()
    }
}

fn trunk() -> Spine {
    let knot = |x: f32, y: f32, z: f32, back: f32, belly: f32, side: f32| Knot {
        point: Vec3::new(x, y, z),
        back,
        belly,
        side,
    };
    let knots = [
        knot(-3.85, 1.75, 1.55, 0.06, 0.06, 0.06),
        knot(-4.4, 1.35, 1.75, 0.1, 0.1, 0.1),
        knot(-4.95, 0.75, 1.5, 0.14, 0.14, 0.14),
        knot(-5.05, 0.32, 0.8, 0.18, 0.18, 0.18),
        knot(-4.65, 0.24, 0.05, 0.22, 0.22, 0.22),
        knot(-3.95, 0.42, -0.42, 0.26, 0.26, 0.27),
        knot(-3.2, 0.85, -0.45, 0.32, 0.32, 0.33),
        knot(-2.5, 1.4, -0.2, 0.4, 0.4, 0.4),
        knot(-1.8, 1.85, -0.03, 0.5, 0.5, 0.5),
        knot(-1.1, 2.05, 0.0, 0.58, 0.56, 0.56),
        knot(-0.3, 2.1, 0.0, 0.6, 0.64, 0.58),
        knot(0.45, 2.15, 0.0, 0.66, 0.86, 0.68),
        knot(1.1, 2.35, 0.0, 0.64, 0.84, 0.64),
        knot(1.65, 2.75, 0.06, 0.52, 0.62, 0.5),
        knot(2.02, 3.3, 0.19, 0.42, 0.46, 0.4),
        knot(2.12, 3.9, 0.28, 0.34, 0.37, 0.33),
        knot(2.24, 4.45, 0.26, 0.29, 0.32, 0.29),
        knot(2.6, 4.85, 0.12, 0.27, 0.29, 0.27),
        knot(3.0, 4.93, -0.08, 0.25, 0.26, 0.26),
    ];
    Spine::through(&knots, 11)
}

fn head_frame(neck_end: &Station) -> head::Frame {
    let axes =
        Mat3::from_rotation_y(0.34) * Mat3::from_rotation_x(0.1) * Mat3::from_rotation_z(-0.16);
    head::Frame {
        origin: neck_end.point,
        axes,
        scale: 1.2,
    }
}

fn legs() -> [Leg; 4] {
    [
        front_leg(
            [1.0, 1.85, 0.5],
            [0.5, 1.2, 0.92],
            [0.95, 0.5, 0.98],
            [1.12, 0.16, 1.02],
            Vec3::new(1.0, 0.0, 0.15),
        ),
        raised_front_leg(),
        hind_leg(1.0, 0.35),
        hind_leg(-1.0, -0.35),
    ]
}

fn front_leg(hip: [f32; 3], knee: [f32; 3], ankle: [f32; 3], ball: [f32; 3], toes: Vec3) -> Leg {
    Leg {
        hip: hip.into(),
        knee: knee.into(),
        ankle: ankle.into(),
        ball: ball.into(),
        toes: toes.normalize(),
        instep: Vec3::Y,
        radii: [0.45, 0.25, 0.18, 0.16],
        muscle: Vec3::new(0.05, 0.05, 0.02),
        curl: 0.02,
    }
}

fn raised_front_leg() -> Leg {
    let toes = Vec3::new(0.86, -0.45, -0.2).normalize();
    let side = toes.cross(Vec3::Y).normalize();
    Leg {
        instep: side.cross(toes),
        curl: 0.09,
        ..front_leg(
            [1.05, 1.85, -0.5],
            [1.15, 1.12, -0.95],
            [1.85, 1.15, -1.0],
            [2.1, 0.98, -1.04],
            toes,
        )
    }
}

/// A hind leg on a side, moved `forward` of the hips.
fn hind_leg(side: f32, forward: f32) -> Leg {
    let step = |x: f32, y: f32, z: f32, share: f32| Vec3::new(x + forward * share, y, z * side);
    Leg {
        hip: step(-1.05, 1.8, 0.42, 0.1),
        knee: step(-0.55, 1.12, 0.98, 0.7),
        ankle: step(-1.32, 0.6, 0.98, 1.0),
        ball: step(-1.05, 0.165, 1.04, 1.0),
        toes: Vec3::new(1.0, 0.0, 0.22 * side).normalize(),
        instep: Vec3::Y,
        radii: [0.58, 0.27, 0.18, 0.165],
        muscle: Vec3::new(-0.1, 0.05, 0.0),
        curl: 0.02,
    }
}

/// The right wing reaches further out, the left one is raised higher.
fn wing_poses() -> [Pose; 2] {
    [
        Pose {
            shoulder: Vec3::new(0.75, 2.75, 0.42),
            axes: wing_axes(0.0, 1.0),
            arch: 0.11,
        },
        Pose {
            shoulder: Vec3::new(0.75, 2.75, -0.42),
            axes: wing_axes(0.16, -1.0),
            arch: 0.13,
        },
    ]
}

/// Axes of a wing that slants equally to the front, the side and the top, so that it shows from
/// every side; `raise` turns it up about the length of the body.
fn wing_axes(raise: f32, side: f32) -> Mat3 {
    let outwards = Vec3::new(-0.25, 0.62, 0.74).normalize();
    let back = Vec3::new(-0.75, -0.5, 0.2);
    let back = (back - outwards * back.dot(outwards)).normalize();
    let raised = Mat3::from_rotation_x(-raise);
    let mirror = Vec3::new(1.0, 1.0, side);
    let (outwards, back) = (raised * outwards, raised * back);
    let convex = -outwards.cross(back);
    Mat3::from_cols(outwards * mirror, back * mirror, convex * mirror)
}

/// A row of plates that lean backwards, from the nape to the tail.
fn add_plates(parts: &mut Parts, spine: &Spine) {
    let length = spine.length();
    let mut along = length - 0.42;
    while along > 0.9 {
        let station = spine.station(along);
        let share = along / length;
        let height =
            0.22 + 0.4 * smoothstep(0.0, 0.55, share) * (1.0 - 0.45 * smoothstep(0.8, 1.0, share));
        parts.add(0.05, plate(&station, height));
        along -= 0.18 + 0.62 * height;
    }
}

fn plate(station: &Station, height: f32) -> Blade {
    let foot = height * 0.5;
    let sunk = station.back * 0.25;
    Blade {
        origin: station.point + station.up * (station.back - 0.02),
        axes: Mat3::from_cols(station.forward, station.up, station.right),
        outline: vec![
            Vec2::new(-foot * 0.8, -sunk),
            Vec2::new(foot, -sunk),
            Vec2::new(foot * 0.75, height * 0.35),
            Vec2::new(-foot * 0.9, height),
            Vec2::new(-foot * 0.85, height * 0.35),
        ],
        half_thickness: 0.05 + height * 0.12,
        thinning: 0.14,
        round: 0.04,
    }
}

/// The spade at the tip of the tail.
fn add_spade(parts: &mut Parts, tip: &Station) {
    let axes = Mat3::from_cols(tip.right, -tip.forward, tip.up);
    let outline = [
        (0.0, -0.14),
        (0.24, -0.26),
        (0.5, -0.24),
        (0.43, 0.14),
        (0.22, 0.54),
        (0.0, 1.02),
        (-0.22, 0.54),
        (-0.43, 0.14),
        (-0.5, -0.24),
        (-0.24, -0.26),
    ];
    parts.add(
        0.06,
        Blade {
            origin: tip.point,
            axes,
            outline: outline.into_iter().map(Vec2::from).collect(),
            half_thickness: 0.1,
            thinning: 0.05,
            round: 0.05,
        },
    );
    parts.add(
        0.08,
        RoundCone {
            a: tip.point,
            b: tip.point - tip.forward * 0.75,
            radius_a: 0.09,
            radius_b: 0.045,
        },
    );
}
