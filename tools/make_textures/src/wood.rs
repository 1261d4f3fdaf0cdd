//! Old boards, and the striped cloth of awnings.

use crate::noise::{fractal, grain, mix, noise, smoothstep, unit_hash};
use crate::surface::Surface;
use glam::{Vec2, Vec3};

/// Side of the square in metres: eight boards of 20 cm.
pub const SIDE: f32 = 1.6;
const BOARDS: u32 = 8;

/// Weathered boards along v, pale enough to be tinted.
pub fn planks(at: Vec2) -> Surface {
    let x = at.x.rem_euclid(1.0) * BOARDS as f32;
    let board = x as u32 % BOARDS;
    let across = (x.fract() - 0.5) * SIDE / BOARDS as f32;
    let edge = SIDE / BOARDS as f32 / 2.0 - across.abs() - 0.0025 - 0.002 * noise(at, 24, 160);
    // Each board has a grain of its own.
    let moved = Vec2::new(at.x, at.y + unit_hash(board, 0, 161));
    let knot = knot(across, moved.y, board);
    let bent = moved + Vec2::new(0.012 * knot.x + 0.006 * (fractal(moved, 3, 2, 162) - 0.5), 0.0);
    let rings = grain(bent, [88, 2], 3, 163);
    let fibres = grain(bent, [300, 8], 2, 164) - 0.5;
    let cracks = smoothstep(0.67, 0.76, grain(bent, [120, 3], 2, 165));
    let grey = smoothstep(0.3, 0.75, fractal(at, 3, 4, 166));
    let tone = 0.8 + 0.36 * unit_hash(board, 1, 167);
    let fresh = Vec3::new(0.6, 0.46, 0.32).lerp(Vec3::new(0.45, 0.32, 0.21), smoothstep(0.35, 0.65, rings));
    let weathered = Vec3::new(0.56, 0.53, 0.48).lerp(Vec3::new(0.43, 0.39, 0.34), smoothstep(0.35, 0.65, rings));
    let color = fresh.lerp(weathered, 0.25 + 0.6 * grey) * tone * (1.0 + 0.3 * fibres);
    let color = color.lerp(Vec3::new(0.25, 0.17, 0.11), 0.75 * knot.y).lerp(Vec3::new(0.17, 0.14, 0.11), 0.8 * cracks);
    let gap = smoothstep(0.0015, -0.001, edge);
    Surface {
        color: color.lerp(Vec3::new(0.12, 0.1, 0.08), gap) * (1.0 - 0.2 * smoothstep(0.008, 0.0, edge)),
        height: 0.008 + 0.0022 * (rings - 0.5) + 0.0012 * fibres - 0.003 * cracks - 0.007 * gap
            + 0.002 * smoothstep(0.0, 0.01, edge)
            + 0.002 * (unit_hash(board, 2, 168) - 0.5),
        roughness: 0.75,
    }
}

/// How far a knot pushes the grain aside (x), and how much of it is at a point of a board (y).
fn knot(across: f32, along: f32, board: u32) -> Vec2 {
    let mut sum = Vec2::ZERO;
    for i in 0..2 {
        if unit_hash(board, i, 170) > 0.6 {
            continue;
        }
        let y = along.rem_euclid(1.0) - unit_hash(board, i, 171);
        let y = (y - y.round()) * SIDE;
        let x = across - 0.1 * (unit_hash(board, i, 172) - 0.5);
        let size = 0.007 + 0.009 * unit_hash(board, i, 173);
        let distance = Vec2::new(x, y * 0.6).length() / size;
        let away = x.signum() * (-distance * 0.5).exp();
        sum += Vec2::new(-away, smoothstep(1.25, 0.7, distance));
    }
    sum
}

/// Four bands of striped linen, one below the other: red, blue, green and ochre. Stripes run along v.
pub fn cloth(at: Vec2) -> Vec3 {
    const DYES: [Vec3; 4] =
        [Vec3::new(0.66, 0.2, 0.16), Vec3::new(0.2, 0.32, 0.5), Vec3::new(0.24, 0.42, 0.28), Vec3::new(0.74, 0.5, 0.2)];
    const LINEN: Vec3 = Vec3::new(0.83, 0.78, 0.68);
    let band = (at.y.rem_euclid(1.0) * 4.0) as usize % 4;
    let stripe = (at.x * 6.0 + 0.02 * (fractal(at, 30, 2, 180) - 0.5)).rem_euclid(1.0);
    let dyed = smoothstep(0.24, 0.25, (stripe - 0.5).abs());
    let fine = smoothstep(0.012, 0.008, ((stripe - 0.5).abs() - 0.205).abs());
    let color = LINEN.lerp(DYES[band], (1.0 - dyed).max(0.85 * fine));
    let weave = 1.0 + 0.12 * (noise(at, 256, 181) - 0.5);
    let faded = smoothstep(0.35, 0.75, fractal(at, 5, 4, 182));
    let stains = smoothstep(0.6, 0.75, fractal(at, 6, 5, 183));
    let color = color.lerp(LINEN * mix(0.95, 1.0, faded), 0.22 * faded) * weave;
    color * (1.0 - 0.14 * stains) * (0.96 + 0.08 * fractal(at, 4, 3, 184))
}
