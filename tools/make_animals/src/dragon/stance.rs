//! Poses in which the dragon is modelled.

use super::limbs::Leg;
use super::wing::Pose;
use crate::modelling::sdf::Bounds;
use crate::modelling::spine::Knot;
use glam::{Mat3, Vec3};

const GAPE: f32 = 0.6;

/// A pose.
pub struct Stance {
    /// Knots of the trunk from the tail to the head, and the index of the knot whose back points straight up.
    pub trunk: Vec<Knot>,
    pub level: usize,
    /// Axes of the head.
    pub head: Mat3,
    pub legs: [Leg; 4],
    pub wings: [Pose; 2],
    /// Angle by which the lower jaw hangs open, in radians.
    pub gape: f32,
    pub awake: bool,
    pub edges: Edges,
    /// Whether scales and belly plates are modelled; they need a fine mesh.
    pub scales: bool,
    /// A box around the whole animal, with a margin.
    pub bounds: Bounds,
}

/// Edge lengths of the mesh, up to a common factor: on creases and rims, and on the wings (the longest). The last two are reductions: on
/// the trunk, and further on the head.
#[derive(Clone, Copy)]
pub struct Edges {
    pub creases: f32,
    pub wings: f32,
    pub trunk_less: f32,
    pub head_less: f32,
}

const FINE: Edges = Edges { creases: 0.06, wings: 0.17, trunk_less: 0.082, head_less: 0.012 };
/// For meshes with few triangles, which give more of them to the head.
const LIGHT: Edges = Edges { creases: 0.075, wings: 0.24, trunk_less: 0.11, head_less: 0.06 };

/// Standing, with one paw and both wings raised: the statue of `dragon.obj`.
pub fn standing() -> Stance {
    Stance {
        trunk: standing_trunk(),
        level: 11,
        head: Mat3::from_rotation_y(0.34) * Mat3::from_rotation_x(0.1) * Mat3::from_rotation_z(-0.16),
        legs: standing_legs(),
        wings: raised_wings(),
        gape: GAPE,
        awake: true,
        edges: FINE,
        scales: true,
        bounds: Bounds { min: Vec3::new(-6.2, -0.3, -5.7), max: Vec3::new(5.6, 7.0, 5.7) },
    }
}

/// The bind pose: symmetric and stretched out on all fours, with level wings. Each joint is near the middle of its range of motion.
pub fn spread() -> Stance {
    Stance {
        trunk: spread_trunk(),
        level: 11,
        head: Mat3::from_rotation_z(-0.1),
        legs: [fore_leg(1.0), fore_leg(-1.0), hind_leg(1.0, 0.0), hind_leg(-1.0, 0.0)],
        wings: [1.0, -1.0].map(level_wing),
        gape: GAPE,
        awake: true,
        edges: LIGHT,
        scales: false,
        bounds: Bounds { min: Vec3::new(-10.0, -0.3, -8.2), max: Vec3::new(6.2, 6.6, 8.2) },
    }
}

/// Asleep on its belly, with neck and tail curled to the right and the wings lowered to the ground.
pub fn asleep() -> Stance {
    Stance {
        trunk: curled_trunk(),
        level: 11,
        head: Mat3::from_rotation_y(-2.5) * Mat3::from_rotation_z(-0.2),
        legs: [lying_fore_leg(1.0), lying_fore_leg(-1.0), lying_hind_leg(1.0), lying_hind_leg(-1.0)],
        wings: [1.0, -1.0].map(lowered_wing),
        gape: 0.1,
        awake: false,
        edges: LIGHT,
        scales: false,
        bounds: Bounds { min: Vec3::new(-6.2, -0.3, -4.6), max: Vec3::new(4.2, 3.2, 5.4) },
    }
}

fn curled_trunk() -> Vec<Knot> {
    vec![
        knot(-1.7, 0.15, 3.95, 0.06, 0.06, 0.06),
        knot(-2.55, 0.15, 3.9, 0.1, 0.1, 0.1),
        knot(-3.4, 0.17, 3.55, 0.14, 0.14, 0.14),
        knot(-4.0, 0.19, 2.9, 0.18, 0.18, 0.18),
        knot(-4.25, 0.23, 2.05, 0.22, 0.22, 0.22),
        knot(-4.05, 0.29, 1.25, 0.26, 0.26, 0.27),
        knot(-3.45, 0.37, 0.6, 0.32, 0.32, 0.33),
        knot(-2.65, 0.46, 0.2, 0.4, 0.4, 0.4),
        knot(-1.85, 0.56, 0.03, 0.5, 0.5, 0.5),
        knot(-1.1, 0.63, 0.0, 0.58, 0.58, 0.6),
        knot(-0.3, 0.69, 0.0, 0.6, 0.66, 0.64),
        knot(0.45, 0.8, 0.0, 0.66, 0.8, 0.72),
        knot(1.1, 0.92, 0.02, 0.64, 0.82, 0.66),
        knot(1.72, 1.05, 0.15, 0.52, 0.62, 0.5),
        knot(2.28, 1.06, 0.5, 0.42, 0.46, 0.4),
        knot(2.62, 1.0, 1.05, 0.34, 0.37, 0.33),
        knot(2.68, 0.9, 1.68, 0.29, 0.32, 0.29),
        knot(2.45, 0.82, 2.28, 0.27, 0.29, 0.27),
        knot(2.02, 0.76, 2.75, 0.25, 0.26, 0.26),
    ]
}

fn lying_fore_leg(side: f32) -> Leg {
    let at = |x: f32, y: f32, z: f32| [x, y, z * side];
    front_leg(
        at(0.95, 0.8, 0.5),
        at(0.5, 0.42, 0.98),
        at(1.15, 0.22, 1.08),
        at(1.42, 0.15, 1.12),
        Vec3::new(1.0, 0.0, 0.12 * side),
    )
}

fn lying_hind_leg(side: f32) -> Leg {
    let at = |x: f32, y: f32, z: f32| Vec3::new(x, y, z * side);
    Leg {
        hip: at(-1.05, 0.78, 0.42),
        knee: at(-0.42, 0.72, 1.02),
        ankle: at(-1.12, 0.26, 1.15),
        ball: at(-0.8, 0.15, 1.2),
        ..hind_leg(side, 0.0)
    }
}

/// A wing that hangs from the shoulder like a tent, with its fingers on the ground.
fn lowered_wing(side: f32) -> Pose {
    let mirror = Vec3::new(1.0, 1.0, side);
    let outwards = Vec3::new(-0.84, 0.12, 0.53).normalize();
    let back = Vec3::new(-0.42, -0.36, 0.83);
    let back = (back - outwards * back.dot(outwards)).normalize();
    let convex = -outwards.cross(back);
    Pose {
        shoulder: Vec3::new(0.75, 1.4, 0.42 * side),
        axes: Mat3::from_cols(outwards * mirror, back * mirror, convex * mirror),
        arch: 0.1,
        size: 0.8,
    }
}

/// A straight neck and tail, which bend equally well in all directions.
fn spread_trunk() -> Vec<Knot> {
    vec![
        knot(-8.35, 1.32, 0.0, 0.06, 0.06, 0.06),
        knot(-7.65, 1.2, 0.0, 0.1, 0.1, 0.1),
        knot(-6.83, 1.1, 0.0, 0.14, 0.14, 0.14),
        knot(-5.98, 1.06, 0.0, 0.18, 0.18, 0.18),
        knot(-5.13, 1.1, 0.0, 0.22, 0.22, 0.22),
        knot(-4.27, 1.2, 0.0, 0.26, 0.26, 0.27),
        knot(-3.42, 1.38, 0.0, 0.32, 0.32, 0.33),
        knot(-2.6, 1.62, 0.0, 0.4, 0.4, 0.4),
        knot(-1.8, 1.87, 0.0, 0.5, 0.5, 0.5),
        knot(-1.1, 2.05, 0.0, 0.58, 0.56, 0.56),
        knot(-0.3, 2.1, 0.0, 0.6, 0.64, 0.58),
        knot(0.45, 2.15, 0.0, 0.66, 0.86, 0.68),
        knot(1.1, 2.35, 0.0, 0.64, 0.84, 0.64),
        knot(1.7, 2.72, 0.0, 0.52, 0.62, 0.5),
        knot(2.18, 3.18, 0.0, 0.42, 0.46, 0.4),
        knot(2.6, 3.68, 0.0, 0.34, 0.37, 0.33),
        knot(3.03, 4.13, 0.0, 0.29, 0.32, 0.29),
        knot(3.5, 4.48, 0.0, 0.27, 0.29, 0.27),
        knot(3.95, 4.66, 0.0, 0.25, 0.26, 0.26),
    ]
}

/// A wing straight out to one side, with a slight slope towards the tail.
fn level_wing(side: f32) -> Pose {
    let slope = Mat3::from_rotation_z(0.13);
    Pose {
        shoulder: Vec3::new(0.75, 2.72, 0.42 * side),
        axes: slope * Mat3::from_cols(Vec3::Z * side, Vec3::NEG_X, Vec3::Y),
        arch: 0.07,
        size: 1.28,
    }
}

/// A standing front leg on one side.
fn fore_leg(side: f32) -> Leg {
    let at = |x: f32, y: f32, z: f32| [x, y, z * side];
    front_leg(
        at(1.0, 1.85, 0.5),
        at(0.5, 1.2, 0.92),
        at(0.95, 0.5, 0.98),
        at(1.12, 0.16, 1.02),
        Vec3::new(1.0, 0.0, 0.15 * side),
    )
}

fn standing_trunk() -> Vec<Knot> {
    vec![
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
    ]
}

fn knot(x: f32, y: f32, z: f32, back: f32, belly: f32, side: f32) -> Knot {
    Knot { point: Vec3::new(x, y, z), back, belly, side }
}

fn standing_legs() -> [Leg; 4] {
    [
        front_leg([1.0, 1.85, 0.5], [0.5, 1.2, 0.92], [0.95, 0.5, 0.98], [1.12, 0.16, 1.02], Vec3::new(1.0, 0.0, 0.15)),
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
        ..front_leg([1.05, 1.85, -0.5], [1.15, 1.12, -0.95], [1.85, 1.15, -1.0], [2.1, 0.98, -1.04], toes)
    }
}

/// A hind leg on one side, moved `forward` of the hips.
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

/// Raised wings: the right one reaches farther out, the left one is higher.
fn raised_wings() -> [Pose; 2] {
    [
        Pose { shoulder: Vec3::new(0.75, 2.75, 0.42), axes: wing_axes(0.0, 1.0), arch: 0.11, size: 1.0 },
        Pose { shoulder: Vec3::new(0.75, 2.75, -0.42), axes: wing_axes(0.16, -1.0), arch: 0.13, size: 1.0 },
    ]
}

/// Axes of a wing that slants equally to the front, the side and the top, so that it is visible from every side. `raise` rotates it about
/// the body's length.
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
