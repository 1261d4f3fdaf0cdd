//! Noise on lattices that wrap around the unit square.

use glam::Vec2;

/// A thin line where a noise crosses its middle value: 1 on the line, 0 elsewhere.
pub fn vein(at: Vec2, cells: i32, seed: u32, width: f32) -> f32 {
    let off_middle = (fractal(at, cells, 4, seed) - 0.5).abs();
    let line = (1.0 - off_middle / width).max(0.0);
    line * line
}

/// Small round holes with soft rims, scattered over a lattice.
pub fn pits(at: Vec2, cells: i32, seed: u32) -> f32 {
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
pub fn fractal(at: Vec2, cells: i32, octaves: u32, seed: u32) -> f32 {
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
pub fn noise(at: Vec2, cells: i32, seed: u32) -> f32 {
    stretched(at, [cells; 2], seed)
}

/// [`noise`] on a lattice with different numbers of cells along both axes.
pub fn stretched(at: Vec2, [across, along]: [i32; 2], seed: u32) -> f32 {
    let scaled = at * Vec2::new(across as f32, along as f32);
    let low = scaled.floor();
    let t = scaled - low;
    let t = t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let value = |dx: i32, dy: i32| {
        let x = (low.x as i32 + dx).rem_euclid(across) as u32;
        let y = (low.y as i32 + dy).rem_euclid(along) as u32;
        unit_hash(x, y, seed)
    };
    mix(mix(value(0, 0), value(1, 0), t.x), mix(value(0, 1), value(1, 1), t.x), t.y)
}

/// A number from 0 to 1 that depends only on a lattice point and a seed.
pub fn unit_hash(x: u32, y: u32, seed: u32) -> f32 {
    let mut h = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77);
    h ^= seed.wrapping_mul(0xC2B2_AE3D).rotate_left(13);
    for _ in 0..2 {
        h = (h ^ (h >> 16)).wrapping_mul(0x7FEB_352D);
        h = (h ^ (h >> 15)).wrapping_mul(0x846C_A68B);
    }
    (h >> 8) as f32 / (1 << 24) as f32
}

/// Hermite step from 0 at `from` to 1 at `to`; `from` may be the larger one.
pub fn smoothstep(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Linear interpolation from `a` at 0 to `b` at 1.
pub fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// [`fractal`] on a lattice with different numbers of cells along both axes, for the grain of wood.
pub fn grain(at: Vec2, [across, along]: [i32; 2], octaves: u32, seed: u32) -> f32 {
    let (mut sum, mut weight) = (0.0, 0.0);
    for octave in 0..octaves {
        let share = 0.6f32.powi(octave as i32);
        sum += share * stretched(at, [across << octave, along << octave], seed * 16 + octave);
        weight += share;
    }
    sum / weight
}

/// An offset of up to half a unit in any direction, by which edges are made uneven.
pub fn wobble(at: Vec2, cells: i32, octaves: u32, seed: u32) -> Vec2 {
    Vec2::new(fractal(at, cells, octaves, seed), fractal(at, cells, octaves, seed + 1)) - 0.5
}
