//! A card of ivy: leaves on a transparent ground.

use crate::noise::{fractal, smoothstep, unit_hash};
use glam::{Vec2, Vec3, Vec4};

/// Number of leaves, of which later ones lie on top.
const LEAVES: u32 = 64;

struct Leaf {
    at: Vec2,
    /// Direction of the tip.
    tip: Vec2,
    size: f32,
    color: Vec3,
}

/// Colour and alpha of a cluster of ivy that fills most of a disc.
pub fn leaves() -> impl Fn(Vec2) -> Vec4 {
    let leaves: Vec<Leaf> = (0..LEAVES).map(leaf).collect();
    move |at| {
        for leaf in leaves.iter().rev() {
            if let Some(color) = leaf.color(at) {
                return color.extend(1.0);
            }
        }
        // Below the edges of filtered leaves.
        Vec4::new(0.26, 0.33, 0.14, 0.0)
    }
}

fn leaf(number: u32) -> Leaf {
    let random = |salt| unit_hash(number, salt, 220);
    // Outer leaves first, so that inner ones cover their stalks.
    let radius = 0.41 * (1.0 - number as f32 / LEAVES as f32).powf(0.6);
    let angle = number as f32 * 2.4 + random(0);
    let at = Vec2::splat(0.5) + Vec2::from_angle(angle) * radius;
    // They hang, and point outwards.
    let tip = (Vec2::from_angle(angle) * 0.7 + Vec2::new(0.0, 0.6) + Vec2::new(random(1) - 0.5, random(2) - 0.5))
        .normalize_or(Vec2::Y);
    let size = 0.075 + 0.05 * random(3);
    let size = size.min(at.min_element().min((Vec2::ONE - at).min_element()) * 0.95);
    let green = Vec3::new(0.27, 0.37, 0.14).lerp(Vec3::new(0.4, 0.47, 0.18), random(4));
    let old = smoothstep(0.8, 1.0, random(5));
    Leaf {
        at,
        tip,
        size,
        color: green.lerp(Vec3::new(0.56, 0.42, 0.16), 0.8 * old) * (0.66 + 0.5 * number as f32 / LEAVES as f32),
    }
}

impl Leaf {
    /// Colour at a point; none outside of the leaf.
    fn color(&self, at: Vec2) -> Option<Vec3> {
        let off = (at - self.at) / self.size;
        if off.length_squared() > 1.4 {
            return None;
        }
        let local = Vec2::new(off.dot(self.tip.perp()), off.dot(self.tip));
        let (mut inside, mut vein) = (f32::NEG_INFINITY, 0.0f32);
        // Lobes: direction in degrees from the tip, length, width.
        for (turn, length, width) in
            [(0.0f32, 1.0, 0.5), (62.0, 0.86, 0.42), (-62.0, 0.86, 0.42), (125.0, 0.62, 0.36), (-125.0, 0.62, 0.36)]
        {
            let axis = Vec2::from_angle(turn.to_radians() + std::f32::consts::FRAC_PI_2);
            let along = local.dot(axis) / length;
            let across = local.dot(axis.perp()).abs();
            if !(0.0..=1.0).contains(&along) {
                continue;
            }
            let half = width * (1.0 - along).powf(0.7) * (along + 0.42).min(1.0);
            inside = inside.max(half - across);
            vein = vein.max(smoothstep(0.045, 0.015, across) * (1.0 - 0.6 * along));
        }
        let inside = inside.max(0.3 - local.length());
        if inside < 0.0 {
            return None;
        }
        let mottled = 1.0 + 0.4 * (fractal(at, 60, 3, 221) - 0.5);
        let rim = 1.0 - 0.25 * smoothstep(0.05, 0.0, inside);
        let half_turned = if local.x > 0.0 { 1.05 } else { 0.95 };
        Some((self.color * mottled * rim * half_turned).lerp(Vec3::new(0.56, 0.6, 0.36), 0.55 * vein))
    }
}
