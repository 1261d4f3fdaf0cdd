//! Floors of the older scenes, which have colours only.

use crate::noise::{fractal, pits, smoothstep, unit_hash, vein};
use glam::{Vec2, Vec3};

/// Weathered limestone: soft clouds of warm tones, faint strata, a few veins, and pits.
pub fn stone(at: Vec2) -> Vec3 {
    const PALE: Vec3 = Vec3::new(0.835, 0.775, 0.68);
    const DEEP: Vec3 = Vec3::new(0.69, 0.61, 0.505);
    const OCHRE: Vec3 = Vec3::new(0.8, 0.68, 0.5);
    let warp = Vec2::new(fractal(at, 3, 6, 11), fractal(at, 3, 6, 12)) - 0.5;
    let warped = at + warp * 0.14;
    let clouds = fractal(warped, 3, 5, 1);
    let iron = smoothstep(0.52, 0.78, fractal(warped, 2, 4, 2));
    let strata_phase = (warped.y * 5.0 + 0.6 * fractal(at, 2, 3, 3)) * std::f32::consts::TAU;
    let strata = 0.5 + 0.5 * strata_phase.sin();
    let vein = vein(warped, 4, 4, 0.035) * fractal(at, 4, 2, 5);
    let grain = fractal(at, 48, 2, 6) - 0.5;
    let pits = pits(warped, 23, 7).max(0.7 * pits(warped, 53, 8));
    let base = DEEP.lerp(PALE, smoothstep(0.25, 0.72, clouds));
    let stained = base.lerp(OCHRE, 0.35 * iron);
    let shade = 1.0 + 0.035 * (strata - 0.5) + 0.05 * grain - 0.1 * vein - 0.13 * pits;
    stained * shade
}

/// A floor of four dark polished slabs with lighter joints and a small lozenge on each crossing.
pub fn tiles(at: Vec2) -> Vec3 {
    const SLAB: Vec3 = Vec3::new(0.165, 0.175, 0.195);
    const SLAB_CLOUD: Vec3 = Vec3::new(0.225, 0.235, 0.255);
    const JOINT: Vec3 = Vec3::new(0.105, 0.1, 0.098);
    const LOZENGE: Vec3 = Vec3::new(0.36, 0.3, 0.215);
    const VEIN: Vec3 = Vec3::new(0.4, 0.4, 0.41);
    let grid = at * 2.0;
    let cell = grid.floor();
    let number = (cell.x as u32 % 2) + 2 * (cell.y as u32 % 2);
    let offset = Vec2::new(0.37, 0.21) * number as f32;
    let warp = Vec2::new(fractal(at, 4, 4, 31), fractal(at, 4, 4, 32)) - 0.5;
    let warped = at + offset + warp * 0.16;
    let clouds = smoothstep(0.3, 0.75, fractal(warped, 4, 5, 21));
    let veins = vein(warped, 3, 22, 0.016) * smoothstep(0.35, 0.7, fractal(at, 4, 3, 23));
    let tone = 0.94 + 0.12 * unit_hash(number, 0, 24);
    let grain = 1.0 + 0.05 * (fractal(at, 96, 2, 25) - 0.5);
    let slab = SLAB.lerp(SLAB_CLOUD, clouds).lerp(VEIN, 0.4 * veins) * tone * grain;
    let from_line = (grid - grid.round()).abs();
    let joint = from_line.min_element();
    let lozenge = from_line.x + from_line.y - 0.13;
    let bevel = 1.0 + 0.18 * smoothstep(0.034, 0.02, joint) * smoothstep(0.008, 0.014, joint);
    let floor = (slab * bevel).lerp(JOINT, smoothstep(0.013, 0.008, joint));
    let set = floor.lerp(JOINT, smoothstep(0.018, 0.01, lozenge));
    set.lerp(LOZENGE * (0.9 + 0.25 * clouds) * grain, smoothstep(0.002, -0.006, lozenge))
}
