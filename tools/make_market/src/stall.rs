//! A stall, 2.6 m wide, that faces +Z: a frame, a table, an awning, trays, and the heaps that goods lie on.

use crate::Part;
use crate::mesh::{Mesh, Vertex, clean, smoothstep, waves};
use glam::{Vec2, Vec3};
use std::f32::consts::{PI, TAU};

const HALF: f32 = 1.3;
const DEPTH: f32 = 1.2;

pub fn parts() -> Vec<Part> {
    let mut parts: Vec<Part> = vec![
        ("stall wood".into(), wood()),
        ("crate".into(), tray(0.34)),
        ("tray".into(), tray(0.16)),
        ("heap".into(), heap()),
    ];
    for band in 0..4 {
        parts.push((format!("awning {}", band + 1), awning(band)));
    }
    parts
}

fn wood() -> Mesh {
    let mut mesh = Mesh::default();
    let mut beam = |from: [f32; 3], to: [f32; 3], size: [f32; 2], wide: Vec3, n: u32| {
        mesh.beam(from.into(), to.into(), size, wide, 500 + n, |at| {
            Vec3::ONE * (0.6 + 0.4 * smoothstep(0.0, 0.5, at.y))
        });
    };
    for (i, x) in [-HALF, HALF].into_iter().enumerate() {
        let i = 10 * i as u32;
        beam([x, 0.0, 0.35], [x, 2.08, 0.35], [0.08, 0.08], Vec3::X, i);
        beam([x, 0.0, -DEPTH], [x, 2.7, -DEPTH], [0.08, 0.08], Vec3::X, i + 1);
        beam([x, 1.97, 0.75], [x, 2.7, -DEPTH - 0.1], [0.06, 0.08], Vec3::X, i + 2);
        beam([x, 0.72, 0.3], [x, 0.72, -DEPTH], [0.06, 0.08], Vec3::X, i + 3);
        beam([x, 0.1, -0.9], [x, 0.7, 0.3], [0.05, 0.05], Vec3::X, i + 4);
    }
    beam([-HALF - 0.15, 2.08, 0.4], [HALF + 0.15, 2.08, 0.4], [0.07, 0.06], Vec3::Y, 20);
    beam([-HALF, 2.64, -DEPTH], [HALF, 2.64, -DEPTH], [0.07, 0.06], Vec3::Y, 21);
    for i in 0..6 {
        let z = 0.36 - 0.19 * i as f32;
        beam([-HALF - 0.06, 0.79, z], [HALF + 0.06, 0.79, z], [0.18, 0.035], Vec3::Z, 30 + i);
    }
    for i in 0..3 {
        let y = 0.66 - 0.2 * i as f32;
        beam([-HALF, y, 0.37], [HALF, y, 0.37], [0.185, 0.025], Vec3::Y, 40 + i);
    }
    mesh
}

/// A tray of slats, 0.6 by 0.4, as high as this.
fn tray(height: f32) -> Mesh {
    let mut mesh = Mesh::default();
    let (x, z) = (0.3, 0.2);
    let rows = (height / 0.09).round() as u32;
    let slat = height / rows as f32;
    let mut number = 600 + rows;
    let mut board = |from: Vec3, to: Vec3, size: [f32; 2], wide: Vec3| {
        number += 1;
        mesh.beam(from, to, size, wide, number, clean);
    };
    for row in 0..rows {
        let y = (row as f32 + 0.5) * slat;
        for side in [-1.0, 1.0] {
            board(Vec3::new(-x, y, side * z), Vec3::new(x, y, side * z), [slat * 0.8, 0.012], Vec3::Y);
            board(Vec3::new(side * x, y, -z), Vec3::new(side * x, y, z), [slat * 0.8, 0.012], Vec3::Y);
        }
    }
    for i in 0..4 {
        let z = -z + 0.05 + 0.1 * i as f32;
        board(Vec3::new(-x, 0.01, z), Vec3::new(x, 0.01, z), [0.085, 0.012], Vec3::Z);
    }
    for (sx, sz) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
        let at = Vec3::new(sx * (x - 0.02), 0.0, sz * (z - 0.02));
        board(at, at + Vec3::Y * (height + 0.02), [0.03, 0.03], Vec3::X);
    }
    mesh
}

/// A low dome that fits into a tray, for goods to lie on.
fn heap() -> Mesh {
    let mut mesh = Mesh::default();
    mesh.grid([10, 8], |u, v| {
        let (x, z) = (u * 2.0 - 1.0, 1.0 - v * 2.0);
        let rise = 0.09 * (1.0 - x * x) * (1.0 - z * z);
        let position = Vec3::new(x * 0.26, rise, z * 0.165);
        Vertex { position, normal: Vec3::Y, uv: Vec2::new(u, v), color: Vec3::ONE }
    });
    mesh.smooth()
}

/// Cloth in one of four bands of its texture, which sags and ends in scallops.
fn awning(band: u32) -> Mesh {
    let mut mesh = Mesh::default();
    let row = |v: f32| (band as f32 + 0.06 + 0.88 * v) / 4.0;
    let (front, back) = (Vec3::new(0.0, 1.98, 0.85), Vec3::new(0.0, 2.78, -DEPTH - 0.12));
    let half = HALF + 0.2;
    let sag = |u: f32, v: f32| {
        0.07 * (v * PI).sin() * (0.4 + 0.6 * (u * PI).sin()) + 0.012 * waves(Vec2::new(u * 6.0, v * 4.0), band)
    };
    mesh.grid([20, 10], |u, v| {
        let position = front.lerp(back, v) + Vec3::new((u * 2.0 - 1.0) * half, -sag(u, v), 0.0);
        Vertex { position, normal: Vec3::Y, uv: Vec2::new(u, row(0.75 * (1.0 - v))), color: Vec3::ONE }
    });
    // The valance hangs from the front edge, in a scallop per stripe.
    mesh.grid([60, 3], |u, v| {
        let drop = 0.15 + 0.07 * ((u * 6.0 + 0.5) * TAU / 2.0).sin().abs();
        let wave = 0.03 * waves(Vec2::new(u * 7.0, 0.0), band + 10) * (1.0 - v);
        let position = front + Vec3::new((u * 2.0 - 1.0) * half, -drop * (1.0 - v) - sag(u, 0.0), 0.015 + wave);
        Vertex { position, normal: Vec3::Z, uv: Vec2::new(u, row(0.78 + 0.2 * (1.0 - v))), color: Vec3::ONE }
    });
    mesh.smooth()
}
