//! Colours of the animated dragons: the paint of each part of the skin, and its place in the atlas.

use super::body::Dragon;
use super::head;
use super::texcoords::Chart;
use crate::modelling::mesher::Mesh;
use crate::modelling::sdf::smoothstep;
use crate::rigging::atlas::{Atlas, Painter};
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::f32::consts::PI;

/// Kinds of skin; also the order of the tiles in the atlas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Hide,
    Membrane,
    Horn,
    Tooth,
    Mouth,
    Eye,
}

impl From<Paint> for u8 {
    fn from(paint: Paint) -> Self {
        paint as u8
    }
}

pub const ATLAS: Atlas = Atlas { tiles: &TILES };

const KINDS: [Paint; 6] = [Paint::Hide, Paint::Membrane, Paint::Horn, Paint::Tooth, Paint::Mouth, Paint::Eye];
const TILES: [Painter; 6] = [hide, membrane, horn, tooth, mouth, eye];
const BACK: Vec3 = Vec3::new(0.09, 0.22, 0.2);
const FLANK: Vec3 = Vec3::new(0.16, 0.38, 0.31);
const BELLY: Vec3 = Vec3::new(0.82, 0.66, 0.38);
const IVORY: Vec3 = Vec3::new(0.93, 0.87, 0.72);

/// Across: from the back to the belly. Down: along the body, with rows of darker bands.
fn hide(at: Vec2) -> Vec3 {
    let band = 0.5 + 0.5 * (at.y * PI * 2.0 * 8.0).cos();
    let back = BACK.lerp(FLANK, smoothstep(0.1, 0.6, at.x + 0.16 * band));
    back.lerp(BELLY, smoothstep(0.62, 0.8, at.x))
}

/// Across: from a bone to the middle between two bones.
fn membrane(at: Vec2) -> Vec3 {
    const DEEP: Vec3 = Vec3::new(0.62, 0.2, 0.1);
    const THIN: Vec3 = Vec3::new(0.9, 0.5, 0.2);
    let skin = DEEP.lerp(THIN, smoothstep(0.25, 1.0, at.x));
    FLANK.lerp(skin, smoothstep(0.12, 0.42, at.x))
}

/// Across: from the root to the tip.
fn horn(at: Vec2) -> Vec3 {
    const ROOT: Vec3 = Vec3::new(0.2, 0.25, 0.2);
    ROOT.lerp(IVORY, smoothstep(0.05, 0.9, at.x))
}

fn tooth(at: Vec2) -> Vec3 {
    (IVORY * 0.75).lerp(IVORY * 1.05, at.x)
}

fn mouth(at: Vec2) -> Vec3 {
    Vec3::new(0.45, 0.1, 0.1).lerp(Vec3::new(0.75, 0.3, 0.28), at.x)
}

/// Across: from the pupil to the rim.
fn eye(at: Vec2) -> Vec3 {
    let iris = Vec3::new(1.0, 0.72, 0.1).lerp(Vec3::new(0.9, 0.35, 0.05), at.x);
    iris * smoothstep(0.12, 0.3, at.x)
}

/// Atlas coordinates of each triangle's corners.
pub fn paint(dragon: &Dragon, mesh: &Mesh) -> Vec<[Vec2; 3]> {
    let triangles = mesh.triangles.par_iter();
    triangles
        .map(|corners| {
            let points = corners.map(|corner| mesh.points[corner as usize]);
            let middle = (points[0] + points[1] + points[2]) / 3.0;
            let normal = (points[1] - points[0]).cross(points[2] - points[0]).normalize_or_zero();
            let kind = kind_at(dragon, middle, normal);
            points.map(|p| ATLAS.place(kind as usize, place_in_tile(dragon, kind, p)))
        })
        .collect()
}

fn kind_at(dragon: &Dragon, p: Vec3, normal: Vec3) -> Paint {
    let (paint, _) = dragon.paint_at(p);
    match KINDS[usize::from(paint)] {
        Paint::Hide if matches!(dragon.chart_at(p), Chart::Wing(_)) => Paint::Membrane,
        Paint::Eye if !dragon.awake => Paint::Hide,
        Paint::Hide if in_mouth(dragon, p, normal) => Paint::Mouth,
        kind => kind,
    }
}

/// Whether plain hide is inside the mouth: below the upper jaw or above the lower jaw.
fn in_mouth(dragon: &Dragon, p: Vec3, normal: Vec3) -> bool {
    const UPRIGHT: f32 = 0.55;
    let jaw = head::jaw(&dragon.head);
    let (above, below) = (dragon.head.local(p), jaw.local(p));
    let between = above.x > 0.2 && above.x < 1.5 && above.y < -0.04 && below.y > -0.04;
    let down = -normal.dot(dragon.head.axes.y_axis);
    let up = normal.dot(jaw.axes.y_axis);
    between && above.z.abs() < 0.28 && (down > UPRIGHT || up > UPRIGHT)
}

fn place_in_tile(dragon: &Dragon, kind: Paint, p: Vec3) -> Vec2 {
    let (_, from_hide) = dragon.paint_at(p);
    match kind {
        Paint::Hide => hide_place(dragon, p),
        Paint::Membrane => {
            let wing = &dragon.wings[usize::from(p.z < 0.0)];
            let bare = if wing.before_arm(p) { 0.0 } else { wing.bone_distance(p) / 0.75 };
            Vec2::new(bare, 0.5)
        }
        Paint::Horn => Vec2::new(from_hide / 0.45, 0.5),
        Paint::Tooth => Vec2::new(from_hide / 0.1, 0.5),
        Paint::Mouth => Vec2::new(from_hide / 0.15, 0.5),
        Paint::Eye => Vec2::new(1.0 - from_hide / 0.12, 0.5),
    }
}

fn hide_place(dragon: &Dragon, p: Vec3) -> Vec2 {
    let trunk = dragon.spine.place(p);
    let along = trunk.along / dragon.spine.length();
    match dragon.chart_at(p) {
        Chart::Trunk => Vec2::new(trunk.angle.abs() / PI, along),
        Chart::Leg(i) => Vec2::new(0.2 + 0.3 * dragon.legs[i].place(p).along / 2.0, along),
        Chart::Head => {
            let under = 0.35 - dragon.head.local(p).y * 0.8;
            Vec2::new(under.clamp(0.05, 0.6), along)
        }
        Chart::Wing(_) | Chart::Spade => Vec2::new(0.25, along),
    }
}
