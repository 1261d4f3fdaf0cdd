//! The street: a carriageway of cobbles between pavements, along a line that winds about the X axis.

use crate::Part;
use crate::mesh::{Mesh, Vertex, smoothstep, waves};
use glam::{Vec2, Vec3};

const FROM: f32 = -16.0;
const TO: f32 = 150.0;
/// Side in metres of the texture of cobbles, and of that of slabs.
const COBBLES_SIDE: f32 = 2.4;
const KERB: f32 = 3.9;
const HOUSES: f32 = 6.4;

/// Distance of the middle of the street from the X axis. `scenes/market.ron` has the same line.
fn middle(x: f32) -> f32 {
    5.0 * (x / 30.0).sin()
}

pub fn parts() -> Vec<Part> {
    vec![("cobbles".into(), cobbles()), ("pavement".into(), pavement())]
}

/// A point of the street at a distance along it and to its right.
fn place(along: f32, across: f32, height: f32) -> Vec3 {
    let slope = (middle(along + 0.1) - middle(along - 0.1)) / 0.2;
    let right = Vec2::new(-slope, 1.0).normalize();
    Vec3::new(along + right.x * across, height, middle(along) + right.y * across)
}

fn cobbles() -> Mesh {
    let mut mesh = Mesh::default();
    mesh.grid([((TO - FROM) / 0.7) as u32, 14], |u, v| {
        let along = FROM + (TO - FROM) * u;
        let across = KERB * (1.0 - 2.0 * v);
        let gutter = smoothstep(0.8, 0.15, KERB - across.abs());
        let bumps =
            0.022 * waves(Vec2::new(along, across) * 0.55, 800) + 0.012 * waves(Vec2::new(along, across) * 1.3, 801);
        let crown = 0.1 * (1.0 - (across / KERB).powi(2));
        let position = place(along, across, crown + bumps - 0.03 * gutter);
        let ruts = [-0.85f32, 0.85].iter().map(|rut| smoothstep(0.5, 0.1, (across - rut).abs())).fold(0.0, f32::max);
        let stains = smoothstep(
            0.1,
            0.7,
            waves(Vec2::new(along, across) * 0.45, 802) + 0.4 * waves(Vec2::new(along, across) * 1.6, 803),
        );
        let tone = 0.86 + 0.14 * ruts - 0.26 * gutter - 0.2 * stains;
        let color = Vec3::splat(tone) * Vec3::ONE.lerp(Vec3::new(0.86, 0.95, 0.75), gutter);
        Vertex { position, normal: Vec3::Y, uv: Vec2::new(along, -across) / COBBLES_SIDE, color }
    });
    mesh.smooth()
}

/// Slabs on both sides, with kerbs, up to the houses.
fn pavement() -> Mesh {
    // Distance from the middle, and height, from the gutter to the houses.
    const PROFILE: [(f32, f32); 6] =
        [(KERB - 0.03, -0.1), (KERB, 0.11), (KERB + 0.16, 0.125), (KERB + 0.17, 0.12), (5.0, 0.13), (HALF_TOP, 0.15)];
    const HALF_TOP: f32 = HOUSES;
    let mut mesh = Mesh::default();
    for side in [-1.0, 1.0] {
        let mut strip = Mesh::default();
        let rows = PROFILE.len() as u32 - 1;
        strip.grid([((TO - FROM) / 0.9) as u32, rows], |u, v| {
            let along = FROM + (TO - FROM) * u;
            let i = (v * rows as f32).round() as usize;
            let (across, height) = PROFILE[i];
            let bumps = 0.012 * waves(Vec2::new(along * 0.8, side * across), 810);
            let position = place(along, side * across, height + bumps);
            let stains = smoothstep(-0.2, 0.8, waves(Vec2::new(along * 0.7, side * across), 811));
            let foot = smoothstep(1.0, 0.0, HOUSES - 1.2 - across);
            let tone =
                0.9 - 0.22 * stains - 0.2 * foot * smoothstep(-0.3, 0.6, waves(Vec2::new(along * 1.4, side), 812));
            // Kerbs are one course of stones, slabs a square.
            let uv = Vec2::new(along / 2.4, (if i < 3 { 0.06 * i as f32 } else { across / 2.4 }) * side);
            Vertex { position, normal: Vec3::Y, uv, color: Vec3::splat(tone) * if i == 0 { 0.6 } else { 1.0 } }
        });
        // The grid faces up on the left side of the street.
        if side > 0.0 {
            for triangle in &mut strip.triangles {
                triangle.swap(1, 2);
            }
        }
        mesh.append(&strip.smooth());
    }
    mesh
}
