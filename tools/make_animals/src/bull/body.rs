//! The bull's body: trunk, head with horns, legs and tail.

use super::legs::{self, Leg};
use super::paint::Paint;
use crate::modelling::sdf::{Bounds, Chain, Ellipsoid, Parts, TaperedBox, smoothstep};
use crate::modelling::solid::{Solid, curvature};
use crate::modelling::spine::{Knot, Spine};
use glam::{Mat3, Vec2, Vec3};

/// The bull as one solid, standing on y = 0 and facing +X.
pub struct Bull {
    pub spine: Spine,
    pub legs: [Leg; 4],
    pub head: Head,
    /// Joints of the tail, from the rump to the tip.
    pub tail: [Vec3; 5],
    parts: Parts,
}

/// The frame of the head: x towards the muzzle, y out of the forehead, z to the right.
#[derive(Clone, Copy)]
pub struct Head {
    pub origin: Vec3,
    pub axes: Mat3,
}

impl Head {
    pub fn at(&self, x: f32, y: f32, z: f32) -> Vec3 {
        self.origin + self.axes * Vec3::new(x, y, z)
    }

    /// Coordinates of a point in this frame.
    pub fn local(&self, p: Vec3) -> Vec3 {
        self.axes.transpose() * (p - self.origin)
    }

    fn chain(&self, knots: &[(Vec3, f32)]) -> Chain {
        let placed: Vec<(Vec3, f32)> = knots.iter().map(|&(p, r)| (self.at(p.x, p.y, p.z), r)).collect();
        Chain::through(&placed)
    }

    fn ellipsoid(&self, centre: Vec3, radii: Vec3) -> Ellipsoid {
        Ellipsoid { centre: self.at(centre.x, centre.y, centre.z), axes: self.axes, radii }
    }
}

const SIDES: [f32; 2] = [1.0, -1.0];
const FINENESS: f32 = 0.35;

impl Bull {
    pub fn new() -> Self {
        let spine = Spine::through(&trunk(), 4);
        let mut parts = Parts::default();
        add_flesh(&mut parts);
        let legs = legs::legs();
        for (i, leg) in legs.iter().enumerate() {
            legs::add(&mut parts, leg, i >= 2);
        }
        let head = Head { origin: Vec3::new(1.36, 1.42, 0.0), axes: Mat3::from_rotation_z(-0.8) };
        add_head(&mut parts, &head);
        let tail = tail();
        add_tail(&mut parts, &tail);
        Self { spine, legs, head, tail, parts }
    }

    /// The paint of the skin at `p`, and its distance from plain hide.
    pub fn paint_at(&self, p: Vec3) -> (u8, f32) {
        self.parts.paint_at(p, self.spine.place(p).distance)
    }
}

impl Solid for Bull {
    fn distance(&self, p: Vec3) -> f32 {
        self.parts.distance(p, self.spine.place(p).distance)
    }

    fn bounds(&self) -> Bounds {
        Bounds { min: Vec3::new(-1.75, -0.06, -0.62), max: Vec3::new(2.05, 2.0, 0.62) }
    }

    fn shortest_edge(&self) -> f32 {
        0.016
    }

    fn edge_length(&self, p: Vec3) -> f32 {
        const ANGLE_PER_EDGE: f32 = 1.0;
        let head = 1.0 - smoothstep(0.3, 0.55, p.distance(self.head.at(0.22, 0.0, 0.0)));
        let hoof = 1.0 - smoothstep(0.1, 0.3, p.y);
        let longest = 0.062 - 0.022 * head.max(0.6 * hoof);
        (ANGLE_PER_EDGE / curvature(&|p| self.distance(p), p, FINENESS)).clamp(0.02, longest)
    }

    fn fineness(&self) -> f32 {
        FINENESS
    }
}

/// From the rump to the poll.
fn trunk() -> Vec<Knot> {
    let knot =
        |x: f32, y: f32, back: f32, belly: f32, side: f32| Knot { point: Vec3::new(x, y, 0.0), back, belly, side };
    vec![
        knot(-1.0, 1.2, 0.13, 0.16, 0.15),
        knot(-0.84, 1.17, 0.23, 0.3, 0.25),
        knot(-0.58, 1.12, 0.31, 0.35, 0.31),
        knot(-0.22, 1.09, 0.32, 0.4, 0.345),
        knot(0.16, 1.09, 0.35, 0.43, 0.35),
        knot(0.5, 1.12, 0.42, 0.44, 0.32),
        knot(0.8, 1.18, 0.4, 0.42, 0.25),
        knot(1.04, 1.27, 0.32, 0.34, 0.19),
        knot(1.22, 1.35, 0.24, 0.25, 0.155),
        knot(1.36, 1.41, 0.16, 0.18, 0.13),
    ]
}

/// Hump, brisket and dewlap, hips.
fn add_flesh(parts: &mut Parts) {
    let mut flesh = |blend: f32, centre: Vec3, tilt: f32, radii: Vec3| {
        parts.add(blend, Ellipsoid { centre, axes: Mat3::from_rotation_z(tilt), radii });
    };
    flesh(0.2, Vec3::new(0.5, 1.44, 0.0), -0.05, Vec3::new(0.38, 0.17, 0.14));
    flesh(0.12, Vec3::new(0.78, 0.82, 0.0), 0.5, Vec3::new(0.24, 0.17, 0.13));
    flesh(0.1, Vec3::new(1.02, 0.98, 0.0), 0.75, Vec3::new(0.28, 0.14, 0.05));
    flesh(0.08, Vec3::new(-0.3, 0.7, 0.0), -0.12, Vec3::new(0.2, 0.07, 0.06));
    for side in SIDES {
        flesh(0.12, Vec3::new(-0.6, 1.36, 0.16 * side), 0.3, Vec3::new(0.14, 0.07, 0.07));
    }
}

fn add_head(parts: &mut Parts, head: &Head) {
    parts.add(0.1, head.ellipsoid(Vec3::new(0.07, 0.0, 0.0), Vec3::new(0.17, 0.135, 0.135)));
    parts.add(
        0.06,
        TaperedBox {
            origin: head.at(0.02, -0.01, 0.0),
            axes: head.axes,
            length: 0.46,
            near: Vec2::new(0.115, 0.115),
            far: Vec2::new(0.07, 0.068),
            rise: -0.02,
            round: 0.055,
        },
    );
    let jaw = [
        (Vec3::new(0.04, -0.1, 0.0), 0.085),
        (Vec3::new(0.22, -0.12, 0.0), 0.062),
        (Vec3::new(0.42, -0.075, 0.0), 0.05),
    ];
    parts.add(0.05, head.chain(&jaw));
    parts.paint(Paint::Muzzle);
    parts.add(0.05, head.ellipsoid(Vec3::new(0.475, -0.025, 0.0), Vec3::new(0.075, 0.078, 0.088)));
    parts.paint(Paint::Hide);
    for side in SIDES {
        add_face(parts, head, side);
        add_ear_and_horn(parts, head, side);
    }
}

fn add_face(parts: &mut Parts, head: &Head, side: f32) {
    parts.add(0.06, head.ellipsoid(Vec3::new(0.1, -0.06, 0.085 * side), Vec3::new(0.13, 0.1, 0.045)));
    parts.add(0.03, head.ellipsoid(Vec3::new(0.135, 0.075, 0.1 * side), Vec3::new(0.06, 0.034, 0.034)));
    parts.carve(0.012, head.ellipsoid(Vec3::new(0.52, 0.005, 0.055 * side), Vec3::new(0.03, 0.018, 0.02)));
    parts.paint(Paint::Eye);
    parts.add(0.008, head.ellipsoid(Vec3::new(0.15, 0.045, 0.117 * side), Vec3::new(0.034, 0.028, 0.024)));
    parts.paint(Paint::Hide);
}

fn add_ear_and_horn(parts: &mut Parts, head: &Head, side: f32) {
    let droop = Mat3::from_rotation_x(0.25 * side) * Mat3::from_rotation_y(0.35 * side);
    let ear = Ellipsoid {
        centre: head.at(-0.03, 0.02, 0.235 * side),
        axes: head.axes * droop,
        radii: Vec3::new(0.05, 0.024, 0.125),
    };
    parts.add(0.03, ear);
    parts.add(
        0.06,
        head.chain(&[(Vec3::new(-0.03, 0.08, 0.05 * side), 0.07), (Vec3::new(-0.03, 0.085, 0.13 * side), 0.056)]),
    );
    let horn = [
        (Vec3::new(-0.03, 0.085, 0.12 * side), 0.05),
        (Vec3::new(-0.05, 0.12, 0.28 * side), 0.047),
        (Vec3::new(-0.01, 0.24, 0.4 * side), 0.038),
        (Vec3::new(0.08, 0.38, 0.42 * side), 0.025),
        (Vec3::new(0.12, 0.5, 0.36 * side), 0.011),
    ];
    parts.paint(Paint::Horn);
    parts.add(0.02, head.chain(&horn));
    parts.paint(Paint::Hide);
}

/// The tail starts at a slant, so that it can both hang and stream.
fn tail() -> [Vec3; 5] {
    [(-0.98, 1.33), (-1.14, 1.22), (-1.27, 1.02), (-1.37, 0.8), (-1.46, 0.56)].map(|(x, y)| Vec3::new(x, y, 0.0))
}

fn add_tail(parts: &mut Parts, tail: &[Vec3; 5]) {
    let root = Vec3::new(-0.85, 1.33, 0.0);
    parts.add(
        0.08,
        Chain::through(&[(root, 0.07), (tail[0], 0.055), (tail[1], 0.036), (tail[2], 0.03), (tail[3], 0.028)]),
    );
    parts.paint(Paint::Tuft);
    let (middle, way) = (tail[3].lerp(tail[4], 0.45), (tail[4] - tail[3]).normalize());
    let across = way.cross(Vec3::Z);
    parts.add(
        0.03,
        Ellipsoid { centre: middle, axes: Mat3::from_cols(across, way, Vec3::Z), radii: Vec3::new(0.05, 0.17, 0.05) },
    );
    parts.paint(Paint::Hide);
}
