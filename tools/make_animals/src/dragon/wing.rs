//! A wing: a cupped sheet of skin between an arm and four long fingers.
//!
//! The wing is laid out flat, in a plane with `p` outwards from the shoulder and `q` towards the trailing edge. A height above this plane
//! arches the whole wing and lets the skin sag between the fingers.

use super::paint::Paint;
use crate::modelling::sdf::{Bounds, Chain, Parts, Shape, polygon_distance};
use glam::{Mat3, Vec2, Vec3};

/// Position, orientation, arch and size of a wing.
pub struct Pose {
    pub shoulder: Vec3,
    /// Columns: outwards, towards the trailing edge, out of the convex side.
    pub axes: Mat3,
    pub arch: f32,
    /// Scale of the whole wing.
    pub size: f32,
}

const ELBOW: Vec2 = Vec2::new(1.05, 0.5);
const WRIST: Vec2 = Vec2::new(2.4, -0.5);
/// The bend and the tip of each finger.
const FINGERS: [[Vec2; 2]; 4] = [
    [Vec2::new(3.9, -0.9), Vec2::new(5.2, 0.35)],
    [Vec2::new(3.8, 0.35), Vec2::new(4.95, 2.25)],
    [Vec2::new(3.2, 1.05), Vec2::new(3.7, 3.5)],
    [Vec2::new(2.35, 1.25), Vec2::new(2.1, 3.75)],
];
/// End of the trailing edge on the flank, and inner end of the leading edge.
const FLANK: Vec2 = Vec2::new(-0.15, 2.15);
const ROOT: Vec2 = Vec2::new(-0.35, -0.1);
const HALF_THICKNESS: f32 = 0.056;
const SAG: f32 = 0.42;
const FINGER_STEPS: usize = 8;
const SCALLOP_STEPS: usize = 9;

/// The flat layout of the wing and its placement.
pub struct Sheet {
    pose: Pose,
    outline: Vec<Vec2>,
    /// Polylines on which the skin does not sag: the arm and the fingers.
    ribs: Vec<Vec<Vec2>>,
}

impl Sheet {
    pub fn new(pose: Pose) -> Self {
        let fingers = FINGERS.iter().map(|[bend, tip]| bezier(WRIST, *bend, *tip, FINGER_STEPS));
        let arm = [bezier(Vec2::ZERO, ELBOW * 0.55, ELBOW, 3), bezier(ELBOW, (ELBOW + WRIST) * 0.5, WRIST, 3)];
        Self { pose, outline: outline(), ribs: arm.into_iter().chain(fingers).collect() }
    }

    /// Coordinates of `p` in the plane of the wing, and its height above the plane.
    pub fn flatten(&self, p: Vec3) -> Vec3 {
        self.pose.axes.transpose() * (p - self.pose.shoulder) / self.pose.size
    }

    /// The point on the middle of the skin above a position in the plane.
    pub fn lift(&self, at: Vec2) -> Vec3 {
        self.pose.shoulder + self.pose.axes * at.extend(self.height(at)) * self.pose.size
    }

    /// Distance to the middle of the skin, without the thickness of skin and bones.
    pub fn skin_distance(&self, p: Vec3) -> f32 {
        let flat = self.flatten(p);
        let at = flat.truncate();
        let beside = polygon_distance(&self.outline, at).max(0.0);
        beside.hypot(flat.z - self.height(at)) * self.pose.size
    }

    /// Distance of a point on the skin from the nearest bone.
    pub fn bone_distance(&self, p: Vec3) -> f32 {
        let at = self.flatten(p).truncate();
        let ribs = self.ribs.iter().map(|rib| polyline_distance(rib, at));
        ribs.fold(f32::INFINITY, f32::min) * self.pose.size
    }

    /// Whether a point on the skin lies between the arm and the leading edge.
    pub fn before_arm(&self, p: Vec3) -> bool {
        let at = self.flatten(p).truncate();
        let (a, b) = if at.x < ELBOW.x { (Vec2::ZERO, ELBOW) } else { (ELBOW, WRIST) };
        at.x < WRIST.x && (b - a).perp_dot(at - a) < 0.0
    }

    /// Shoulder, elbow and wrist.
    pub fn arm(&self) -> [Vec3; 3] {
        [Vec2::ZERO, ELBOW, WRIST].map(|at| self.lift(at))
    }

    /// The knuckle and the tip of each finger, from the leading edge to the body.
    pub fn fingers(&self) -> [[Vec3; 2]; 4] {
        FINGERS.map(|[bend, tip]| [WRIST.lerp(bend, 0.5).lerp(bend.lerp(tip, 0.5), 0.5), tip].map(|at| self.lift(at)))
    }

    /// Height of the skin: an arch over the span, plus a sag that is zero on every rib.
    fn height(&self, at: Vec2) -> f32 {
        let from_wrist = at.x - 1.8;
        let arch = -self.pose.arch * (from_wrist * from_wrist * 0.6 + (at.y - 0.2).powi(2) * 0.5);
        let closeness: f32 = self.ribs.iter().map(|rib| 1.0 / (polyline_distance(rib, at) + 1e-3)).sum();
        arch + SAG / closeness
    }
}

impl Shape for Sheet {
    fn distance(&self, p: Vec3) -> f32 {
        const ROUND: f32 = 0.054;
        const SLOPE: f32 = 0.9;
        let flat = self.flatten(p);
        let at = flat.truncate();
        let across = (flat.z - self.height(at)).abs() * SLOPE - HALF_THICKNESS;
        let outside = Vec2::new(polygon_distance(&self.outline, at), across) + ROUND;
        (outside.max(Vec2::ZERO).length() + outside.max_element().min(0.0) - ROUND) * self.pose.size
    }

    fn bounds(&self) -> Bounds {
        Bounds::of_balls(self.outline.iter().map(|&corner| (self.lift(corner), 0.5)))
    }
}

/// Adds the arm, the fingers and the claws of a wing. The caller adds the skin and keeps it for texture coordinates.
pub fn add_bones(parts: &mut Parts, sheet: &Sheet) {
    let bone = |points: &[Vec2], radii: &[f32]| {
        let knots: Vec<(Vec3, f32)> =
            points.iter().zip(radii).map(|(&at, &radius)| (sheet.lift(at), radius * sheet.pose.size)).collect();
        Chain::through(&knots)
    };
    let inner = Vec2::new(-0.35, 0.12);
    parts.add(0.22, bone(&[inner, Vec2::ZERO, ELBOW * 0.5, ELBOW], &[0.3, 0.27, 0.23, 0.16]));
    parts.add(0.1, bone(&[ELBOW, ELBOW.lerp(WRIST, 0.4), WRIST], &[0.15, 0.16, 0.125]));
    for (i, [bend, tip]) in FINGERS.iter().enumerate() {
        let points = bezier(WRIST, *bend, *tip + (*tip - *bend) * 0.05, 4);
        let thick = if i == 0 { 0.135 } else { 0.115 };
        let radii = [thick, thick * 0.86, thick * 0.76, thick * 0.68, 0.06];
        parts.add(0.09, bone(&points, &radii));
    }
    let wrist = sheet.lift(WRIST);
    let hook = sheet.pose.axes * Vec3::new(0.16, -0.34, 0.1) * sheet.pose.size;
    let point = sheet.pose.axes * Vec3::new(0.42, -0.5, 0.02) * sheet.pose.size;
    parts.paint(Paint::Horn);
    parts.add(0.05, Chain::through(&[(wrist, 0.12), (wrist + hook, 0.085), (wrist + point, 0.035)]));
    parts.paint(Paint::Hide);
}

/// The flat outline: the leading edge past the wrist, finger tips with scallops between them, and the inner edge along the flank.
fn outline() -> Vec<Vec2> {
    let mut corners = bezier(ROOT, Vec2::new(0.9, 0.28), WRIST, SCALLOP_STEPS);
    corners.extend(bezier(WRIST, FINGERS[0][0], FINGERS[0][1], FINGER_STEPS));
    for pair in FINGERS.windows(2) {
        corners.extend(scallop(pair[0][1], pair[1][1], WRIST, 0.42));
    }
    corners.extend(scallop(FINGERS[3][1], FLANK, ELBOW, 0.5));
    corners.push(Vec2::new(-0.4, 1.2));
    corners.dedup_by(|a, b| a.distance(*b) < 1e-4);
    corners
}

/// A curved edge from `a` to `b`, drawn in towards `centre`.
fn scallop(a: Vec2, b: Vec2, centre: Vec2, depth: f32) -> Vec<Vec2> {
    let middle = (a + b) * 0.5;
    bezier(a, middle + (centre - middle) * depth, b, SCALLOP_STEPS)
}

fn bezier(a: Vec2, b: Vec2, c: Vec2, steps: usize) -> Vec<Vec2> {
    (0..=steps)
        .map(|i| {
            let t = i as f32 / steps as f32;
            a.lerp(b, t).lerp(b.lerp(c, t), t)
        })
        .collect()
}

fn polyline_distance(line: &[Vec2], p: Vec2) -> f32 {
    line.windows(2)
        .map(|pair| {
            let (edge, to_p) = (pair[1] - pair[0], p - pair[0]);
            let t = (to_p.dot(edge) / edge.length_squared()).clamp(0.0, 1.0);
            (to_p - edge * t).length_squared()
        })
        .fold(f32::INFINITY, f32::min)
        .sqrt()
}
