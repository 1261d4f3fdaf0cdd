//! Beaver-tail tiles: flat tiles of clay with round ends, in rows that overlap.

use crate::coursed::choose;
use crate::noise::{fractal, smoothstep, unit_hash};
use crate::surface::Surface;
use glam::{Vec2, Vec3};

/// Side of the square in metres.
pub const SIDE: f32 = 2.16;
const ROWS: i32 = 12;
const PER_ROW: i32 = 12;
/// Share of a row by which the middle of a tile's end is lower than its corners.
const TAIL: f32 = 0.42;

/// Tiles that overlap towards the eaves, which are at the bottom.
pub fn tiles(at: Vec2) -> Surface {
    let y = at.y.rem_euclid(1.0) * ROWS as f32;
    let row = y as i32;
    // The end of the tile above lies on top.
    let over = tile(at.x, y.fract() + 1.0, row - 1, at);
    over.unwrap_or_else(|| tile(at.x, y.fract(), row, at).unwrap_or(GAP))
}

const GAP: Surface = Surface { color: Vec3::new(0.14, 0.1, 0.08), height: 0.0, roughness: 0.95 };

/// The tile of a row at this many rows below its upper edge; none below its end or in the joint beside it.
fn tile(x: f32, below: f32, row: i32, at: Vec2) -> Option<Surface> {
    const CLAYS: [(f32, Vec3); 5] = [
        (5.0, Vec3::new(0.6, 0.34, 0.24)),
        (3.0, Vec3::new(0.66, 0.41, 0.29)),
        (2.0, Vec3::new(0.5, 0.3, 0.23)),
        (1.5, Vec3::new(0.44, 0.29, 0.24)),
        (1.0, Vec3::new(0.56, 0.42, 0.33)),
    ];
    let row = row.rem_euclid(ROWS);
    let x = x.rem_euclid(1.0) * PER_ROW as f32 + if row % 2 == 1 { 0.5 } else { 0.0 };
    let column = (x as i32).rem_euclid(PER_ROW) as u32;
    let random = |seed| unit_hash(column, row as u32, seed);
    let across = x.fract() * 2.0 - 1.0 + 0.03 * (random(190) - 0.5);
    let slip = 0.12 * (random(191) - 0.5);
    let end = 1.0 + slip + TAIL * (1.0 - across * across).max(0.0).sqrt();
    if below > end || (below < 1.0 && across.abs() > 0.965) {
        return None;
    }
    let grit = fractal(at, 110, 3, 192) - 0.5;
    let lichen = smoothstep(0.58, 0.7, fractal(at, 6, 5, 193)) * smoothstep(0.3, 0.6, fractal(at, 40, 3, 194));
    let soot = smoothstep(0.4, 0.8, fractal(at, 3, 4, 195));
    let moss = smoothstep(0.62, 0.7, fractal(at, 5, 4, 196)) * smoothstep(0.5, 0.0, below);
    let clay = choose(&CLAYS, random(197)) * (0.84 + 0.32 * random(198)) * (1.0 + 0.3 * grit);
    let clay = clay * (1.0 - 0.32 * soot) * (1.0 - 0.25 * smoothstep(0.06, 0.0, end - below));
    let color = clay.lerp(Vec3::new(0.6, 0.58, 0.46), 0.5 * lichen).lerp(Vec3::new(0.27, 0.3, 0.13), 0.8 * moss);
    let edge = smoothstep(0.0, 0.07, end - below) * smoothstep(1.0, 0.86, across.abs());
    Some(Surface {
        color,
        height: 0.004
            + 0.012 * below
            + 0.006 * edge
            + 0.004 * across * (random(199) - 0.5)
            + 0.0018 * grit
            + 0.008 * moss,
        roughness: 0.85,
    })
}
