//! Colours of the bull: a black-brown hide with the pale back stripe and pale muzzle of the aurochs.

use super::body::Bull;
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
    Muzzle,
    Horn,
    Hoof,
    Eye,
    Tuft,
}

impl From<Paint> for u8 {
    fn from(paint: Paint) -> Self {
        paint as u8
    }
}

const KINDS: [Paint; 6] = [Paint::Hide, Paint::Muzzle, Paint::Horn, Paint::Hoof, Paint::Eye, Paint::Tuft];
const TILES: [Painter; 6] = [hide, muzzle, horn, hoof, eye, tuft];

pub const ATLAS: Atlas = Atlas { tiles: &TILES };

const BLACK: Vec3 = Vec3::new(0.2, 0.15, 0.125);
const BROWN: Vec3 = Vec3::new(0.5, 0.31, 0.18);
const PALE: Vec3 = Vec3::new(0.72, 0.6, 0.46);

/// Across: from the back to the belly, with the pale stripe first. Down: from the hooves to the withers.
fn hide(at: Vec2) -> Vec3 {
    let flank = smoothstep(0.15, 0.5, at.x) * (1.0 - smoothstep(0.6, 0.95, at.x));
    let coat = BLACK.lerp(BROWN, flank * smoothstep(0.25, 0.6, at.y));
    let stripe = (1.0 - smoothstep(0.04, 0.1, at.x)) * smoothstep(0.5, 0.6, at.y);
    coat.lerp(PALE * 0.75, stripe * 0.8)
}

/// Across: from the nose to the face.
fn muzzle(at: Vec2) -> Vec3 {
    const NOSE: Vec3 = Vec3::new(0.16, 0.13, 0.13);
    NOSE.lerp(PALE, smoothstep(0.25, 0.5, at.x)).lerp(BLACK, smoothstep(0.7, 1.0, at.x))
}

/// Across: from the root to the black tip.
fn horn(at: Vec2) -> Vec3 {
    const IVORY: Vec3 = Vec3::new(0.88, 0.82, 0.68);
    let shaft = BLACK.lerp(IVORY, smoothstep(0.0, 0.18, at.x));
    shaft.lerp(Vec3::splat(0.12), smoothstep(0.68, 0.95, at.x))
}

fn hoof(at: Vec2) -> Vec3 {
    Vec3::new(0.12, 0.1, 0.09).lerp(Vec3::new(0.27, 0.22, 0.18), at.x)
}

fn eye(_: Vec2) -> Vec3 {
    Vec3::new(0.04, 0.03, 0.03)
}

fn tuft(_: Vec2) -> Vec3 {
    BLACK * 0.75
}

/// Position on the head at which the muzzle begins.
const MUZZLE: f32 = 0.36;
/// Position of the hide's darkest colour.
const DARK: f32 = 0.16;

/// Atlas coordinates of each triangle's corners.
pub fn paint(bull: &Bull, mesh: &Mesh) -> Vec<[Vec2; 3]> {
    let triangles = mesh.triangles.par_iter();
    triangles
        .map(|corners| {
            let points = corners.map(|corner| mesh.points[corner as usize]);
            let middle = (points[0] + points[1] + points[2]) / 3.0;
            let kind = kind_at(bull, middle);
            points.map(|p| ATLAS.place(kind as usize, place_in_tile(bull, kind, p)))
        })
        .collect()
}

fn kind_at(bull: &Bull, p: Vec3) -> Paint {
    match KINDS[usize::from(bull.paint_at(p).0)] {
        Paint::Hide | Paint::Muzzle if bull.head.local(p).x > MUZZLE => Paint::Muzzle,
        Paint::Muzzle => Paint::Hide,
        kind => kind,
    }
}

fn place_in_tile(bull: &Bull, kind: Paint, p: Vec3) -> Vec2 {
    let (_, from_hide) = bull.paint_at(p);
    match kind {
        Paint::Hide => {
            let trunk = bull.spine.place(p);
            let leg = bull.legs.iter().map(|leg| leg.distance(p)).fold(f32::INFINITY, f32::min);
            let on_leg = smoothstep(0.0, 0.08, trunk.distance - leg.max(0.0));
            let on_head = smoothstep(-0.12, 0.14, bull.head.local(p).x) * smoothstep(1.15, 1.3, p.x);
            let dark = on_leg.max(on_head);
            let around = trunk.angle.abs() / PI * (1.0 - dark) + dark * DARK;
            Vec2::new(around, (p.y / 1.6).clamp(0.0, 1.0))
        }
        Paint::Muzzle => Vec2::new(((0.56 - bull.head.local(p).x) / (0.56 - MUZZLE)).clamp(0.0, 1.0), 0.5),
        Paint::Horn => Vec2::new(from_hide / 0.62, 0.5),
        Paint::Hoof => Vec2::new(p.y / 0.1, 0.5),
        Paint::Eye | Paint::Tuft => Vec2::splat(0.5),
    }
}
