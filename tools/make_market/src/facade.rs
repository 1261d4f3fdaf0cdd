//! Walls with openings, and what is in the openings.

use crate::mesh::{Mesh, Sheet, clean, random, smoothstep, waves};
use glam::{Vec2, Vec3};

/// Side in metres of the textures of plaster, old walls and bricks.
pub const WALL_SIDE: f32 = 3.0;
/// Side in metres of the texture of hewn stone.
pub const STONE_SIDE: f32 = 2.4;

/// An opening in a wall: left, bottom, width and height in metres.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    pub left: f32,
    pub bottom: f32,
    pub width: f32,
    pub height: f32,
}

/// Meshes of a house, one for each material.
#[derive(Clone, Debug, Default)]
pub struct House {
    /// Walls of the ground floor.
    pub base: Mesh,
    /// Walls above.
    pub walls: Mesh,
    pub timber: Mesh,
    /// Frames of windows, and soffits.
    pub frames: Mesh,
    pub glass: Mesh,
    /// Shutters and doors.
    pub shutters: Mesh,
    pub stone: Mesh,
    pub roof: Mesh,
    pub bricks: Mesh,
}

/// How an opening is filled.
#[derive(Clone, Copy, Debug)]
pub struct Filling {
    pub reveal: f32,
    pub shutters: bool,
    pub sill: bool,
    pub stone_frame: bool,
    /// Panes across and upwards.
    pub panes: [u32; 2],
}

/// Dirt of a wall at a point: splashes at its foot, and clouds.
pub fn weather(at: Vec3, seed: u32) -> Vec3 {
    let clouds = waves(Vec2::new(at.x + at.z * 0.7, at.y * 0.6) * 0.9, seed) * 0.6
        + waves(Vec2::new(at.x + at.z, at.y) * 2.3, seed + 1) * 0.4;
    let foot = smoothstep(1.1 + 0.5 * clouds, 0.0, at.y);
    Vec3::ONE.lerp(Vec3::new(0.5, 0.48, 0.4), 0.75 * foot) * (0.92 + 0.08 * clouds)
}

/// A wall that faces +Z, and how it is textured.
#[derive(Clone, Copy, Debug)]
pub struct Wall {
    /// Left and right ends.
    pub x: [f32; 2],
    /// Bottom and top.
    pub y: [f32; 2],
    pub z: f32,
    /// Depth of its openings.
    pub reveal: f32,
    /// Side of the texture in metres.
    pub side: f32,
    /// Offset of the texture's u.
    pub shift: f32,
    pub seed: u32,
}

/// Adds a wall with openings and their reveals.
pub fn wall(mesh: &mut Mesh, wall: &Wall, openings: &[Opening]) {
    let &Wall { x: [left, right], y: [bottom, top], z, reveal, side, shift, seed } = wall;
    let cuts = |ends: [f32; 2], at: &dyn Fn(&Opening) -> [f32; 2]| {
        let mut cuts: Vec<f32> =
            openings.iter().flat_map(at).chain(ends).filter(|&x| x >= ends[0] && x <= ends[1]).collect();
        cuts.sort_by(f32::total_cmp);
        cuts.dedup();
        cuts
    };
    let xs = cuts([left, right], &|o| [o.left, o.left + o.width]);
    let ys = cuts([bottom, top], &|o| [o.bottom, o.bottom + o.height]);
    let dirty = |at: Vec3| weather(at, seed) * stain(at, openings);
    for y in ys.windows(2) {
        for x in xs.windows(2) {
            let middle = Vec2::new(x[0] + x[1], y[0] + y[1]) / 2.0;
            if openings.iter().any(|o| o.contains(middle)) {
                continue;
            }
            let sheet = Sheet::new(Vec3::new(x[0], y[0], z), Vec3::X * (x[1] - x[0]), Vec3::Y * (y[1] - y[0]));
            // Walls that are seen from near by need finer dirt.
            let cell = ((top - bottom) / 6.0).clamp(0.5, 2.5);
            let cells = [x[1] - x[0], y[1] - y[0]].map(|length| (length / cell).ceil() as u32);
            mesh.sheet(sheet, cells, side, Vec2::new(shift + x[0] / side, 1.0 - y[0] / side), dirty);
        }
    }
    for o in openings {
        let low = Vec3::new(o.left, o.bottom, z - reveal);
        let (x, y, z) = (Vec3::X * o.width, Vec3::Y * o.height, Vec3::Z * reveal);
        for sheet in [
            Sheet::new(low + z, -z, y),
            Sheet::new(low + x, z, y),
            Sheet::new(low + y + z, x, -z),
            Sheet::new(low, x, z),
        ] {
            mesh.sheet(
                sheet,
                [1, 1],
                side,
                Vec2::new(shift + sheet.corner.x / side, 1.0 - sheet.corner.y / side),
                |at| weather(at, seed),
            );
        }
    }
}

impl Opening {
    pub fn new(left: f32, bottom: f32, width: f32, height: f32) -> Self {
        Self { left, bottom, width, height }
    }

    fn contains(&self, at: Vec2) -> bool {
        at.x > self.left && at.x < self.left + self.width && at.y > self.bottom && at.y < self.bottom + self.height
    }
}

/// What rain has washed off sills: darker below the openings.
fn stain(at: Vec3, openings: &[Opening]) -> f32 {
    let below = openings.iter().filter(|o| {
        o.bottom > 0.3 && at.y <= o.bottom + 0.01 && at.x >= o.left - 0.1 && at.x <= o.left + o.width + 0.1
    });
    below.map(|o| 1.0 - 0.22 * smoothstep(1.0, 0.0, o.bottom - at.y)).fold(1.0, f32::min)
}

/// Fills an opening of a wall at `z` with a window.
pub fn window(house: &mut House, o: Opening, z: f32, filling: Filling, seed: u32) {
    let back = z - filling.reveal;
    let (right, top) = (o.left + o.width, o.bottom + o.height);
    let low = Vec3::new(o.left, o.bottom, back);
    house.glass.sheet(Sheet::new(low, Vec3::X * o.width, Vec3::Y * o.height), [1, 1], 1.0, Vec2::ZERO, clean);
    let mut bar = |from: [f32; 2], to: [f32; 2], size: [f32; 2], n: u32| {
        let at = |p: [f32; 2]| Vec3::new(p[0], p[1], back + size[1] / 2.0);
        let wide = if from[0] == to[0] { Vec3::X } else { Vec3::Y };
        house.frames.beam(at(from), at(to), size, wide, seed + n, clean);
    };
    const CASING: f32 = 0.07;
    let half = CASING / 2.0;
    bar([o.left + half, o.bottom], [o.left + half, top], [CASING, 0.07], 1);
    bar([right - half, o.bottom], [right - half, top], [CASING, 0.07], 2);
    bar([o.left, top - half], [right, top - half], [CASING, 0.072], 3);
    bar([o.left, o.bottom + half], [right, o.bottom + half], [CASING, 0.072], 4);
    for i in 1..filling.panes[0] {
        let x = o.left + o.width * i as f32 / filling.panes[0] as f32;
        bar([x, o.bottom], [x, top], [if 2 * i == filling.panes[0] { 0.07 } else { 0.032 }, 0.055], 4 + i);
    }
    for i in 1..filling.panes[1] {
        let y = o.bottom + o.height * i as f32 / filling.panes[1] as f32;
        bar([o.left, y], [right, y], [0.032, 0.05], 9 + i);
    }
    if filling.sill {
        let low = Vec3::new(o.left - 0.08, o.bottom - 0.09, back);
        house.stone.block(
            low,
            Vec3::new(right + 0.08, o.bottom, z + 0.09),
            STONE_SIDE,
            Vec2::new(random(seed, 20), random(seed, 21)),
            clean,
        );
    }
    if filling.stone_frame {
        surround(&mut house.stone, o, z, 0.16, seed);
    }
    if filling.shutters {
        for (hinge, sign) in [(o.left - 0.02, -1.0), (right + 0.02, 1.0)] {
            // Some hang a little loose.
            let open = 0.04 + 0.3 * random(seed, 30 + sign as i32 as u32).powi(4);
            shutter(
                &mut house.shutters,
                Vec3::new(hinge, o.bottom - 0.02, z + 0.02),
                Vec3::new(sign, 0.0, open),
                o.width / 2.0,
                o.height + 0.04,
                seed,
            );
        }
    }
}

/// A frame of stones around an opening that stand out from the wall.
pub fn surround(stone: &mut Mesh, o: Opening, z: f32, width: f32, seed: u32) {
    let (right, top) = (o.left + o.width, o.bottom + o.height);
    let mut add = |low: [f32; 2], high: [f32; 2], n: u32| {
        let out = 0.04 + 0.012 * random(seed, n);
        let origin = Vec2::new(random(seed, 40 + n), random(seed, 50 + n));
        let dirty = |at: Vec3| weather(at, seed) * (0.86 + 0.14 * random(seed, 60 + n));
        stone.block(
            Vec3::new(low[0], low[1], z - 0.15),
            Vec3::new(high[0], high[1], z + out),
            STONE_SIDE,
            origin,
            dirty,
        );
    };
    let stones = (o.height / 0.42).round().max(1.0) as u32;
    for i in 0..stones {
        let y = |i: u32| o.bottom + o.height * i as f32 / stones as f32;
        let long = |side: u32| width * (1.0 + 0.5 * ((i + side) % 2) as f32);
        add([o.left - long(0), y(i) + 0.006], [o.left, y(i + 1)], i);
        add([right, y(i) + 0.006], [right + long(1), y(i + 1)], 10 + i);
    }
    add([o.left - 1.3 * width, top + 0.006], [right + 1.3 * width, top + 0.2], 30);
}

/// A shutter of boards with two battens, from its hinge at the bottom.
fn shutter(mesh: &mut Mesh, hinge: Vec3, open: Vec3, width: f32, height: f32, seed: u32) {
    let along = open.normalize();
    let out = Vec3::new(0.0, 0.0, 1.0);
    let boards = (width / 0.14).round().max(2.0) as u32;
    for i in 0..boards {
        let at = hinge + along * width * ((i as f32 + 0.5) / boards as f32);
        mesh.beam(at, at + Vec3::Y * height, [width / boards as f32 - 0.006, 0.028], along, seed * 7 + i, clean);
    }
    for share in [0.16, 0.84] {
        let at = hinge + Vec3::Y * height * share + out * 0.024;
        mesh.beam(at, at + along * width, [0.1, 0.022], Vec3::Y, seed * 11 + (share * 10.0) as u32, clean);
    }
}

/// Fills an opening with a door of boards in a frame of stone.
pub fn door(house: &mut House, o: Opening, z: f32, reveal: f32, seed: u32) {
    let boards = (o.width / 0.17).round() as u32;
    let dirty = |at: Vec3| Vec3::ONE * (0.55 + 0.45 * smoothstep(0.0, 0.7, at.y));
    for i in 0..boards {
        let x = o.left + o.width * (i as f32 + 0.5) / boards as f32;
        let at = Vec3::new(x, o.bottom, z - reveal);
        house.shutters.beam(
            at,
            at + Vec3::Y * o.height,
            [o.width / boards as f32 - 0.005, 0.05],
            Vec3::X,
            seed * 5 + i,
            dirty,
        );
    }
    for y in [0.3, o.height / 2.0, o.height - 0.3] {
        let at = Vec3::new(o.left, o.bottom + y, z - reveal + 0.04);
        house.shutters.beam(at, at + Vec3::X * o.width, [0.14, 0.035], Vec3::Y, seed * 3 + y as u32, dirty);
    }
    surround(&mut house.stone, o, z, 0.2, seed);
    let step = Vec3::new(o.left - 0.25, 0.0, z - 0.1);
    house.stone.block(
        step,
        Vec3::new(o.left + o.width + 0.25, o.bottom + 0.02, z + 0.3),
        STONE_SIDE,
        Vec2::new(0.3, random(seed, 70)),
        |at| weather(at, seed),
    );
}
