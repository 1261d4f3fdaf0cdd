//! Writes the small tiling textures of the demo scenes: `stone.png` and `tiles.png`.
//!
//! ```text
//! cargo run --release -p make_textures [folder]
//! ```
//!
//! The noise uses a lattice that wraps around, so the textures tile without a seam. It uses a fixed hash, so the files are reproducible.
//! The default folder is `assets`.

use glam::{Vec2, Vec3};
use image::{ImageResult, Rgb, RgbImage};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const SIZE: u32 = 512;

/// Colour at a position in the unit square.
type Painter = fn(Vec2) -> Vec3;

fn main() -> ExitCode {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets")), PathBuf::from);
    let textures: [(&str, Painter); 2] = [("stone.png", stone), ("tiles.png", tiles)];
    for (name, colour) in textures {
        let path = folder.join(name);
        if let Err(error) = save(&path, colour) {
            eprintln!("cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
        println!("{}", path.display());
    }
    ExitCode::SUCCESS
}

/// Evaluates a colour (sRGB, 0 to 1) over the unit square and saves it.
fn save(path: &Path, colour: Painter) -> ImageResult<()> {
    let image = RgbImage::from_fn(SIZE, SIZE, |x, y| {
        let at = (Vec2::new(x as f32, y as f32) + 0.5) / SIZE as f32;
        let levels = (colour(at).clamp(Vec3::ZERO, Vec3::ONE) * 255.0).round();
        Rgb(levels.to_array().map(|level| level as u8))
    });
    image.save(path)
}

/// Weathered limestone: soft clouds of warm tones, faint strata, a few veins, and pits.
fn stone(at: Vec2) -> Vec3 {
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
fn tiles(at: Vec2) -> Vec3 {
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

/// A thin line where a noise crosses its middle value: 1 on the line, 0 elsewhere.
fn vein(at: Vec2, cells: i32, seed: u32, width: f32) -> f32 {
    let off_middle = (fractal(at, cells, 4, seed) - 0.5).abs();
    let line = (1.0 - off_middle / width).max(0.0);
    line * line
}

/// Small round holes with soft rims, scattered over a lattice.
fn pits(at: Vec2, cells: i32, seed: u32) -> f32 {
    const SHARE: f32 = 0.13;
    let scaled = at * cells as f32;
    let cell = scaled.floor();
    let mut deepest: f32 = 0.0;
    for dy in -1..=1 {
        for dx in -1..=1 {
            let neighbour = cell + Vec2::new(dx as f32, dy as f32);
            let x = (neighbour.x as i32).rem_euclid(cells) as u32;
            let y = (neighbour.y as i32).rem_euclid(cells) as u32;
            if unit_hash(x, y, seed) > SHARE {
                continue;
            }
            let jitter = Vec2::new(unit_hash(x, y, seed + 100), unit_hash(x, y, seed + 200));
            let radius = 0.12 + 0.22 * unit_hash(x, y, seed + 300);
            let stretch = Vec2::new(1.0, 0.7 + 0.6 * unit_hash(x, y, seed + 400));
            let distance = ((scaled - neighbour - 0.2 - jitter * 0.6) * stretch).length();
            deepest = deepest.max(smoothstep(radius, radius * 0.3, distance));
        }
    }
    deepest
}

/// Sum of octaves of tiling value noise, from about 0 to 1 with mean 0.5.
fn fractal(at: Vec2, cells: i32, octaves: u32, seed: u32) -> f32 {
    let mut sum = 0.0;
    let mut weight = 0.0;
    for octave in 0..octaves {
        let share = 0.55f32.powi(octave as i32);
        sum += share * noise(at, cells << octave, seed * 16 + octave);
        weight += share;
    }
    sum / weight
}

/// Value noise on a lattice of `cells` by `cells` that wraps around the unit square.
fn noise(at: Vec2, cells: i32, seed: u32) -> f32 {
    let scaled = at * cells as f32;
    let low = scaled.floor();
    let t = scaled - low;
    let t = t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let value = |dx: i32, dy: i32| {
        let x = (low.x as i32 + dx).rem_euclid(cells) as u32;
        let y = (low.y as i32 + dy).rem_euclid(cells) as u32;
        unit_hash(x, y, seed)
    };
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    mix(mix(value(0, 0), value(1, 0), t.x), mix(value(0, 1), value(1, 1), t.x), t.y)
}

/// A number from 0 to 1 that depends only on a lattice point and a seed.
fn unit_hash(x: u32, y: u32, seed: u32) -> f32 {
    let mut h = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77);
    h ^= seed.wrapping_mul(0xC2B2_AE3D).rotate_left(13);
    for _ in 0..2 {
        h = (h ^ (h >> 16)).wrapping_mul(0x7FEB_352D);
        h = (h ^ (h >> 15)).wrapping_mul(0x846C_A68B);
    }
    (h >> 8) as f32 / (1 << 24) as f32
}

/// Hermite step from 0 at `from` to 1 at `to`; `from` may be the larger one.
fn smoothstep(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
