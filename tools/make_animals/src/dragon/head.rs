//! The head: skull, open jaws with teeth, eyes under heavy brows, horns and cheek spikes.

use super::paint::Paint;
use crate::modelling::sdf::{Chain, Ellipsoid, Parts, RoundCone, TaperedBox};
use glam::{Mat3, Vec2, Vec3};

/// Position and orientation of the head. Coordinates in this file are in this frame: x towards the snout, y up, z to the right.
#[derive(Clone, Copy)]
pub struct Frame {
    pub origin: Vec3,
    pub axes: Mat3,
    pub scale: f32,
    /// Angle by which the lower jaw hangs open, in radians.
    pub gape: f32,
}

impl Frame {
    /// A point given in this frame, in units of the head.
    pub fn at(&self, x: f32, y: f32, z: f32) -> Vec3 {
        self.origin + self.axes * Vec3::new(x, y, z) * self.scale
    }

    /// Coordinates of a point in this frame, in units of the model.
    pub fn local(&self, p: Vec3) -> Vec3 {
        self.axes.transpose() * (p - self.origin)
    }

    fn child(&self, origin: Vec3, axes: Mat3) -> Self {
        Self { origin: self.at(origin.x, origin.y, origin.z), axes: self.axes * axes, ..*self }
    }

    fn chain(&self, knots: &[(Vec3, f32)]) -> Chain {
        let placed: Vec<(Vec3, f32)> =
            knots.iter().map(|&(p, radius)| (self.at(p.x, p.y, p.z), radius * self.scale)).collect();
        Chain::through(&placed)
    }

    fn ellipsoid(&self, centre: Vec3, radii: Vec3) -> Ellipsoid {
        Ellipsoid { centre: self.at(centre.x, centre.y, centre.z), axes: self.axes, radii: radii * self.scale }
    }

    fn tapered_box(&self, x: f32, length: f32, near: Vec2, far: Vec2, rise: f32) -> TaperedBox {
        TaperedBox {
            origin: self.at(x, 0.0, 0.0),
            axes: self.axes,
            length: length * self.scale,
            near: near * self.scale,
            far: far * self.scale,
            rise: rise * self.scale,
            round: far.x.min(far.y) * 0.8 * self.scale,
        }
    }
}

const SIDES: [f32; 2] = [1.0, -1.0];

/// Adds all parts of the head.
pub fn add(parts: &mut Parts, head: &Frame) {
    add_skull(parts, head);
    let jaw = jaw(head);
    add_jaw(parts, head, &jaw);
    add_eyes(parts, head);
    parts.paint(Paint::Horn);
    add_horns(parts, head, &jaw);
    parts.paint(Paint::Tooth);
    add_teeth(parts, head, &jaw);
    parts.paint(Paint::Hide);
}

/// The frame of the lower jaw, with its hinge as origin.
pub fn jaw(head: &Frame) -> Frame {
    head.child(Vec3::new(0.14, -0.16, 0.0), Mat3::from_rotation_z(-head.gape))
}

fn add_skull(parts: &mut Parts, head: &Frame) {
    parts.add(0.2, head.ellipsoid(Vec3::new(0.1, 0.04, 0.0), Vec3::new(0.44, 0.28, 0.31)));
    let snout = head.child(Vec3::new(0.0, 0.03, 0.0), Mat3::from_rotation_z(-0.06));
    parts.add(0.1, snout.tapered_box(0.2, 1.16, Vec2::new(0.19, 0.27), Vec2::new(0.125, 0.16), 0.0));
    parts.add(0.12, head.ellipsoid(Vec3::new(1.25, 0.02, 0.0), Vec3::new(0.15, 0.13, 0.17)));
    let ridge =
        [(Vec3::new(0.2, 0.27, 0.0), 0.07), (Vec3::new(0.7, 0.19, 0.0), 0.06), (Vec3::new(1.1, 0.12, 0.0), 0.05)];
    parts.add(0.08, head.chain(&ridge));
    let beak =
        [(Vec3::new(1.3, 0.02, 0.0), 0.09), (Vec3::new(1.39, -0.06, 0.0), 0.065), (Vec3::new(1.4, -0.17, 0.0), 0.035)];
    parts.add(0.05, head.chain(&beak));
    for side in SIDES {
        parts.add(0.06, head.ellipsoid(Vec3::new(1.2, 0.12, 0.1 * side), Vec3::new(0.12, 0.08, 0.075)));
        parts.carve(0.03, head.ellipsoid(Vec3::new(1.28, 0.13, 0.145 * side), Vec3::new(0.065, 0.042, 0.05)));
        let lip = [
            (Vec3::new(0.25, -0.1, 0.25 * side), 0.06),
            (Vec3::new(0.75, -0.1, 0.2 * side), 0.05),
            (Vec3::new(1.25, -0.11, 0.12 * side), 0.045),
        ];
        parts.add(0.04, head.chain(&lip));
        let cheek = Vec3::new(0.12, -0.1, 0.24 * side);
        parts.add(0.1, head.ellipsoid(cheek, Vec3::new(0.22, 0.17, 0.1)));
    }
}

fn add_jaw(parts: &mut Parts, head: &Frame, jaw: &Frame) {
    parts.add(0.1, jaw.tapered_box(-0.1, 1.2, Vec2::new(0.1, 0.24), Vec2::new(0.065, 0.12), 0.03));
    let chin = Vec3::new(1.02, 0.0, 0.0);
    parts.add(0.08, jaw.ellipsoid(chin, Vec3::new(0.13, 0.08, 0.12)));
    let throat = [(Vec3::new(-0.15, -0.12, 0.0), 0.23), (Vec3::new(0.12, -0.2, 0.0), 0.15)];
    parts.add(0.16, head.chain(&throat));
    let tongue = [
        (Vec3::new(0.2, 0.1, 0.0), 0.08),
        (Vec3::new(0.45, 0.13, 0.0), 0.08),
        (Vec3::new(0.66, 0.17, 0.0), 0.07),
        (Vec3::new(0.84, 0.28, 0.0), 0.045),
    ];
    parts.paint(Paint::Mouth);
    parts.add(0.05, jaw.chain(&tongue));
    parts.paint(Paint::Hide);
    for side in SIDES {
        let beard = [
            (Vec3::new(0.85, -0.05, 0.06 * side), 0.06),
            (Vec3::new(0.8, -0.2, 0.09 * side), 0.055),
            (Vec3::new(0.68, -0.34, 0.11 * side), 0.03),
        ];
        parts.add(0.05, jaw.chain(&beard));
    }
}

fn add_eyes(parts: &mut Parts, head: &Frame) {
    for side in SIDES {
        let eye = Vec3::new(0.5, 0.105, 0.285 * side);
        parts.carve(0.05, head.ellipsoid(eye, Vec3::new(0.17, 0.08, 0.09)));
        let ball = eye - Vec3::new(0.0, -0.005, 0.05 * side);
        parts.paint(Paint::Eye);
        parts.add(0.01, head.ellipsoid(ball, Vec3::new(0.105, 0.075, 0.08)));
        parts.paint(Paint::Hide);
        let brow = [
            (Vec3::new(0.78, 0.13, 0.17 * side), 0.05),
            (Vec3::new(0.6, 0.215, 0.235 * side), 0.08),
            (Vec3::new(0.38, 0.27, 0.265 * side), 0.09),
            (Vec3::new(0.15, 0.34, 0.32 * side), 0.06),
            (Vec3::new(-0.02, 0.43, 0.37 * side), 0.032),
        ];
        parts.add(0.06, head.chain(&brow));
    }
}

fn add_horns(parts: &mut Parts, head: &Frame, jaw: &Frame) {
    for side in SIDES {
        let horn = [
            (Vec3::new(0.12, 0.2, 0.17 * side), 0.145),
            (Vec3::new(-0.2, 0.4, 0.27 * side), 0.125),
            (Vec3::new(-0.6, 0.52, 0.38 * side), 0.098),
            (Vec3::new(-0.98, 0.66, 0.42 * side), 0.068),
            (Vec3::new(-1.24, 0.92, 0.4 * side), 0.046),
        ];
        parts.add(0.07, head.chain(&horn));
        let ear = [
            (Vec3::new(-0.02, 0.04, 0.26 * side), 0.095),
            (Vec3::new(-0.32, 0.06, 0.44 * side), 0.072),
            (Vec3::new(-0.66, 0.14, 0.54 * side), 0.032),
        ];
        parts.add(0.06, head.chain(&ear));
        let cheek = [
            (Vec3::new(-0.02, 0.0, 0.2 * side), 0.085),
            (Vec3::new(-0.26, -0.02, 0.34 * side), 0.062),
            (Vec3::new(-0.52, 0.02, 0.42 * side), 0.032),
        ];
        parts.add(0.06, jaw.chain(&cheek));
    }
}

fn add_teeth(parts: &mut Parts, head: &Frame, jaw: &Frame) {
    for side in SIDES {
        for (i, length) in [0.15, 0.17, 0.15, 0.27].into_iter().enumerate() {
            let x = 0.56 + 0.205 * i as f32;
            let z = (0.235 - 0.09 * i as f32 / 3.0) * side;
            let root = head.at(x, -0.12, z);
            let tip = head.at(x - 0.02, -0.14 - length, z * 0.97);
            parts.add(0.02, tooth(head, root, tip, 0.04 + 0.06 * length));
        }
        for (i, length) in [0.14, 0.15, 0.24].into_iter().enumerate() {
            let x = 0.5 + 0.215 * i as f32;
            let z = (0.185 - 0.08 * i as f32 / 2.0) * side;
            let root = jaw.at(x, 0.05, z);
            let tip = jaw.at(x - 0.02, 0.09 + length, z);
            parts.add(0.02, tooth(jaw, root, tip, 0.038 + 0.06 * length));
        }
    }
}

fn tooth(frame: &Frame, root: Vec3, tip: Vec3, radius: f32) -> RoundCone {
    RoundCone { a: root, b: tip, radius_a: radius * frame.scale, radius_b: 0.018 * frame.scale }
}
