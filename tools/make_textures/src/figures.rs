//! Woodcuts for posters. Shades are lines whose widths vary, as an engraver cuts them.

use crate::letters::Stroke;
use crate::noise::unit_hash;
use glam::Vec2;
use std::f32::consts::{PI, TAU};

/// A picture in a square about `middle` with this half side.
pub type Figure = fn(Vec2, f32) -> Vec<Stroke>;

/// Level lines over a shape, thick where `dark` (0 to 1; below 0 is outside) is large.
fn hatch(middle: Vec2, size: f32, lines: u32, dark: impl Fn(Vec2) -> f32) -> Vec<Stroke> {
    const STEPS: u32 = 90;
    let mut strokes = Vec::new();
    let gap = 2.0 * size / lines as f32;
    for line in 0..lines {
        let y = (line as f32 + 0.5) / lines as f32 * 2.0 - 1.0;
        for step in 0..STEPS {
            let x = (step as f32 + 0.5) / STEPS as f32 * 2.0 - 1.0;
            let shade = dark(Vec2::new(x, y));
            if shade > 0.04 {
                let at = middle + Vec2::new(x, y + 0.02 * (6.0 * x).sin()) * size;
                let half = Vec2::new(size / STEPS as f32, 0.0);
                strokes.push(Stroke { from: at - half, to: at + half, width: gap * 0.98 * shade.min(1.0) });
            }
        }
    }
    strokes
}

/// Shade of a ball at a point relative to its middle and radius, lit from the upper left; below 0 outside.
fn ball(at: Vec2) -> f32 {
    let squared = at.length_squared();
    if squared > 1.0 {
        return -1.0;
    }
    let lit = (at.x * -0.5 + at.y * -0.6 + (1.0 - squared).sqrt() * 0.62).max(0.0);
    if squared > 0.92 { 1.0 } else { 0.95 - 0.95 * lit }
}

pub fn apple(middle: Vec2, size: f32) -> Vec<Stroke> {
    let mut strokes = hatch(middle, size, 34, |at| {
        let dimple = 0.22 * (-(at.x * at.x) / 0.05).exp();
        let shape =
            Vec2::new(at.x / (0.86 - 0.12 * at.y), (at.y - 0.12 - dimple * if at.y < 0.0 { 1.0 } else { -0.3 }) / 0.8);
        ball(shape)
    });
    let curve = |from: Vec2, by: Vec2, to: Vec2, width: f32| {
        (0..12).map(move |i| {
            let at = |i: i32| {
                let t = i as f32 / 12.0;
                middle + (from.lerp(by, t)).lerp(by.lerp(to, t), t) * size
            };
            Stroke { from: at(i), to: at(i + 1), width: width * size }
        })
    };
    strokes.extend(curve(Vec2::new(0.0, -0.5), Vec2::new(0.0, -0.8), Vec2::new(0.14, -1.0), 0.07));
    strokes.extend(curve(Vec2::new(0.05, -0.7), Vec2::new(0.3, -1.1), Vec2::new(0.72, -0.9), 0.035));
    strokes.extend(curve(Vec2::new(0.05, -0.7), Vec2::new(0.5, -0.55), Vec2::new(0.72, -0.9), 0.07));
    strokes
}

pub fn sun(middle: Vec2, size: f32) -> Vec<Stroke> {
    let mut strokes = hatch(middle, size * 0.52, 20, |at| {
        let eyes = [-0.36, 0.36].iter().any(|x| (at - Vec2::new(*x, -0.2)).length() < 0.13);
        let smile = (at.length() - 0.58).abs() < 0.07 && at.y > 0.22;
        if eyes || smile { 1.0 } else { ball(at) }
    });
    for ray in 0..32 {
        let angle = ray as f32 / 32.0 * TAU;
        let long = if ray % 2 == 0 { 0.98 } else { 0.8 };
        let at = |radius: f32| middle + Vec2::from_angle(angle) * radius * size;
        for part in 0..6 {
            let (near, far) = (part as f32 / 6.0, (part + 1) as f32 / 6.0);
            let radius = |t: f32| 0.6 + (long - 0.6) * t;
            strokes.push(Stroke { from: at(radius(near)), to: at(radius(far)), width: 0.075 * size * (1.05 - near) });
        }
    }
    strokes
}

/// A swarm on a spiral, small far inside and large outside.
pub fn swarm(middle: Vec2, size: f32) -> Vec<Stroke> {
    let mut strokes = Vec::new();
    for i in 0..150 {
        let along = (i as f32 / 150.0).sqrt();
        let angle = along * 7.0 + (i % 3) as f32 * TAU / 3.0;
        let off = (unit_hash(i, 0, 200) - 0.5) * 0.2;
        let at = middle + Vec2::from_angle(angle) * (along * 0.95 + off) * size * Vec2::new(1.0, 0.8).length() * 0.78;
        let heading = Vec2::from_angle(angle + PI / 2.0);
        let span = size * (0.02 + 0.085 * along);
        let side = heading.perp();
        let flap = 0.25 + 0.5 * unit_hash(i, 1, 201);
        let mut line = |from: Vec2, to: Vec2, width: f32| strokes.push(Stroke { from, to, width: width * span });
        line(at - heading * span * 0.9, at - heading * span * 0.2, 0.1);
        line(at - heading * span * 0.2, at + heading * span * 0.5, 0.22);
        line(at + heading * span * 0.5, at + heading * span * 0.75, 0.16);
        for sign in [-1.0, 1.0] {
            let elbow = at + side * sign * span * 0.5 + heading * span * flap;
            let tip = at + side * sign * span * 1.1 - heading * span * 0.25;
            line(at + heading * span * 0.1, elbow, 0.2);
            line(elbow, tip, 0.13);
            line(elbow, at + side * sign * span * 0.55 - heading * span * 0.3, 0.08);
            line(elbow, at + side * sign * span * 0.8 - heading * span * 0.3, 0.08);
        }
    }
    strokes
}

/// Rooms in rooms, as between two mirrors.
pub fn mirrors(middle: Vec2, size: f32) -> Vec<Stroke> {
    let mut strokes = Vec::new();
    let mut half = 0.98 * size;
    for depth in 0..11 {
        let corners =
            [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| middle + Vec2::new(x, y * 0.8) * half);
        for i in 0..4 {
            strokes.push(Stroke { from: corners[i], to: corners[(i + 1) % 4], width: 0.07 * half });
        }
        // Tiles of the floor, and shade on the ceiling.
        for i in 0..9 {
            let x = (i as f32 / 8.0 * 2.0 - 1.0) * half;
            let line = |y: f32, share: f32| {
                (middle + Vec2::new(x, y * half * 0.8), middle + Vec2::new(x * 0.74, y * half * 0.8 * share))
            };
            let (from, to) = line(1.0, 0.74);
            strokes.push(Stroke { from, to, width: 0.016 * half });
            let (from, to) = line(-1.0, 0.74);
            strokes.push(Stroke { from, to, width: if depth % 2 == 0 { 0.09 } else { 0.03 } * half });
        }
        half *= 0.74;
    }
    strokes
}

/// A bull's head from the front.
pub fn bull(middle: Vec2, size: f32) -> Vec<Stroke> {
    let mut strokes = hatch(middle, size, 36, |at| {
        let width = if at.y < -0.1 { 0.36 } else { 0.36 - 0.2 * (at.y + 0.1) };
        let face = ball(Vec2::new(at.x / width, (at.y - 0.22) / 0.78));
        let ear = ball(Vec2::new((at.x.abs() - 0.52) / 0.24, (at.y + 0.12 - 0.2 * (at.x.abs() - 0.5)) / 0.1));
        let eyes = (Vec2::new(at.x.abs() - 0.2, at.y - 0.08) / Vec2::new(0.07, 0.05)).length() < 1.0;
        let nose = (Vec2::new(at.x.abs() - 0.1, at.y - 0.8) / Vec2::new(0.06, 0.04)).length() < 1.0;
        if eyes || nose { 1.0 } else { face.max(ear) }
    });
    for sign in [-1.0, 1.0] {
        for i in 0..16 {
            let at = |i: i32| {
                let t = i as f32 / 16.0;
                let x = 0.24 + 0.72 * (t * 1.9).sin() * (1.0 - 0.12 * t);
                middle + Vec2::new(sign * x, -0.34 - 0.1 * t + 0.08 * (t * PI).sin() - 0.5 * t * t * t) * size
            };
            strokes.push(Stroke { from: at(i), to: at(i + 1), width: 0.15 * size * (1.05 - i as f32 / 16.0) });
        }
    }
    strokes
}

/// A shield with a tower.
pub fn arms(middle: Vec2, size: f32) -> Vec<Stroke> {
    hatch(middle, size, 40, |at| {
        let half = 0.7 * (1.0 - ((at.y + 0.2).max(0.0) / 1.15).powi(3));
        if at.x.abs() > half || at.y.abs() > 0.93 {
            return -1.0;
        }
        let tower = at.x.abs() < 0.24 && (-0.35..0.45).contains(&at.y);
        let battlement = at.x.abs() < 0.33
            && (-0.58..-0.33).contains(&at.y)
            && (at.y > -0.46 || ((at.x + 0.33) * 7.6).fract() < 0.55);
        let gate = (at - Vec2::new(0.0, 0.3)).length() < 0.11 || (at.x.abs() < 0.11 && (0.3..0.45).contains(&at.y));
        if half - at.x.abs() < 0.06 || at.y < -0.87 || gate {
            1.0
        } else if tower || battlement {
            0.12
        } else {
            0.5
        }
    })
}
