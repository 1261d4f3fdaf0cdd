//! Roofs of tiles, and chimneys.

use crate::facade::{House, WALL_SIDE};
use crate::mesh::{Mesh, Sheet, clean, random, waves};
use glam::{Vec2, Vec3};

/// Side in metres of the texture of roof tiles.
const TILES_SIDE: f32 = 2.16;
const THICK: f32 = 0.1;

/// Adds a slope from its eaves (left to right as seen from its front) up to the ridge, slightly uneven, with its edges and underside.
fn slope(house: &mut House, eaves: [Vec3; 2], ridge: Vec3, seed: u32) {
    let along = eaves[1] - eaves[0];
    let up = ridge - eaves[0];
    let normal = along.cross(up).normalize();
    let cells = [along.length(), up.length()].map(|length| (length / 0.8).ceil() as u32);
    let size = Vec2::new(along.length(), up.length()) / TILES_SIDE;
    let shift = Vec2::new(random(seed, 80), random(seed, 81));
    let at = |x: f32, y: f32| {
        let flat = eaves[0] + along * x + up * y;
        // The roof sags between its ends.
        let sag = 0.05 * (x * std::f32::consts::PI).sin() * (y * 2.5).min(1.0)
            + 0.02 * waves(Vec2::new(x * 5.0, y * 5.0), seed);
        flat + normal * (THICK - sag)
    };
    let tone = |at: Vec3| Vec3::ONE * (0.9 + 0.1 * waves(Vec2::new(at.x, at.y + at.z) * 0.8, seed));
    let mut tiles = Mesh::default();
    tiles.grid(cells, |x, y| crate::mesh::Vertex {
        position: at(x, y),
        normal,
        uv: shift + Vec2::new(x, -y) * size,
        color: tone(at(x, y)),
    });
    house.roof.append(&tiles.smooth());
    // Edges of the tiles, and the boards below.
    let rise = normal * (THICK - 0.01);
    let edge = |from: Vec3, to: Vec3| Sheet::new(from, to - from, rise);
    let rim = |_: Vec3| Vec3::splat(0.7);
    for sheet in [edge(eaves[0], eaves[1]), edge(eaves[1], eaves[1] + up), edge(eaves[0] + up, eaves[0])] {
        house.roof.sheet(sheet, [1, 1], TILES_SIDE, shift, rim);
    }
    house.frames.sheet(Sheet::new(eaves[1], -along, up), [1, 1], 1.6, Vec2::ZERO, |_| Vec3::splat(0.6));
}

/// A row of ridge tiles between two points.
fn ridge(house: &mut House, from: Vec3, to: Vec3, seed: u32) {
    let tiles = ((to - from).length() / 0.36).round() as u32;
    for i in 0..tiles {
        let at = |i: f32| from.lerp(to, i / tiles as f32) + Vec3::Y * THICK;
        let (low, high) = (at(i as f32 - 0.08), at(i as f32 + 1.0));
        let side = (to - from).normalize().cross(Vec3::Y) * 0.14;
        let tone = Vec3::splat(0.75 + 0.25 * random(seed, 90 + i));
        let origin = Vec2::new(random(seed, 120 + i), 0.5);
        let lift = Vec3::Y * 0.09;
        house.roof.sheet(Sheet::new(low - side, high - low, side + lift), [1, 1], 9.0, origin, |_| tone);
        house.roof.sheet(Sheet::new(low + lift, high - low, side - lift), [1, 1], 9.0, origin, |_| tone);
    }
}

/// Adds a roof whose eaves are in front (at `front`) and behind (at `back`).
pub fn with_eaves_in_front(
    house: &mut House,
    [left, right]: [f32; 2],
    eaves: f32,
    [back, front]: [f32; 2],
    pitch: f32,
    seed: u32,
) {
    const OVER: f32 = 0.45;
    let middle = (front + back) / 2.0;
    let top = eaves + (front - middle) * pitch;
    let low = eaves - OVER * pitch;
    let point = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
    slope(house, [point(left, low, front + OVER), point(right, low, front + OVER)], point(left, top, middle), seed);
    slope(house, [point(right, low, back - OVER), point(left, low, back - OVER)], point(right, top, middle), seed + 1);
    ridge(house, point(left, top, middle), point(right, top, middle), seed);
    // Rafters below the eaves.
    let count = ((right - left) / 0.62) as u32;
    for i in 0..count {
        let x = left + (i as f32 + 0.5) * (right - left) / count as f32;
        house.timber.beam(
            point(x, eaves - 0.1, front - 0.1),
            point(x, low - 0.07, front + OVER - 0.04),
            [0.1, 0.13],
            Vec3::X,
            seed + 200 + i,
            clean,
        );
    }
    gables(&mut house.walls, [left, right], eaves, top, [back, middle, front], seed);
}

/// The triangles of the walls at the left and right, below a ridge along X.
fn gables(mesh: &mut Mesh, [left, right]: [f32; 2], eaves: f32, top: f32, [back, middle, front]: [f32; 3], seed: u32) {
    for x in [left + 0.06, right - 0.06] {
        let first = mesh.vertices.len() as u32;
        let normal = Vec3::X * if x == left + 0.06 { -1.0 } else { 1.0 };
        for (y, z) in [(eaves, back), (eaves, front), (top, middle)] {
            let uv = Vec2::new(z / WALL_SIDE + 0.1 * seed as f32, -y / WALL_SIDE);
            mesh.vertices.push(crate::mesh::Vertex {
                position: Vec3::new(x, y, z),
                normal,
                uv,
                color: Vec3::splat(0.9),
            });
        }
        mesh.triangles.push([first, first + 1, first + 2]);
    }
}

/// Adds a roof with a gable in front, with boards along its edges.
pub fn with_gable_in_front(
    house: &mut House,
    [left, right]: [f32; 2],
    eaves: f32,
    [back, front]: [f32; 2],
    pitch: f32,
    seed: u32,
) {
    const OVER: f32 = 0.4;
    let middle = (left + right) / 2.0;
    let top = eaves + (right - middle) * pitch;
    let side = 0.22;
    let low = eaves - side * pitch;
    let point = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
    let out = front + OVER;
    slope(house, [point(right + side, low, out), point(right + side, low, back)], point(middle, top, out), seed);
    slope(house, [point(left - side, low, back), point(left - side, low, out)], point(middle, top, back), seed + 1);
    ridge(house, point(middle, top, back), point(middle, top, out), seed);
    for (x, n) in [(left - side, 0), (right + side, 1)] {
        house.timber.beam(
            point(x, low - 0.06, out - 0.04),
            point(middle, top - 0.06, out - 0.04),
            [0.2, 0.06],
            Vec3::Y,
            seed + 210 + n,
            clean,
        );
    }
    house.timber.beam(
        point(middle, top - 0.15, front),
        point(middle, top - 0.15, out),
        [0.14, 0.14],
        Vec3::X,
        seed + 220,
        clean,
    );
}

/// A chimney of bricks with two pots.
pub fn chimney(house: &mut House, at: Vec3, seed: u32) {
    let half = Vec3::new(0.35, 0.0, 0.28);
    let shade = |p: Vec3| Vec3::ONE * (1.0 - 0.3 * ((p.y - at.y) / 2.0).clamp(0.0, 1.0));
    house.bricks.block(
        at - half - Vec3::Y * 1.2,
        at + half + Vec3::Y * 1.3,
        WALL_SIDE,
        Vec2::new(random(seed, 130), 0.0),
        shade,
    );
    house.bricks.block(
        at - half * 1.18 + Vec3::Y * 1.3,
        at + half * 1.18 + Vec3::Y * 1.46,
        WALL_SIDE,
        Vec2::new(random(seed, 131), 0.0),
        shade,
    );
    for x in [-0.16, 0.16] {
        let mut pot = Mesh::default();
        let profile = [(0.12, 0.0), (0.1, 0.3), (0.12, 0.32), (0.12, 0.38), (0.08, 0.38)].map(|(r, y)| Vec2::new(r, y));
        pot.turned(&profile, 10, Vec2::ONE, |_| Vec3::splat(0.6));
        house.roof.append(&pot.map(|p| p * 1.0 + at + Vec3::new(x, 1.46, 0.0), |n| n));
    }
}
