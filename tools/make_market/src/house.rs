//! Five houses, 5.6 m wide, that face +Z with their doors at z = 0, and a garden wall.

use crate::Part;
use crate::facade::{Filling, House, Opening, STONE_SIDE, WALL_SIDE, Wall, door, surround, wall, weather, window};
use crate::mesh::{Mesh, clean, random};
use crate::roof;
use glam::{Vec2, Vec3};

const HALF: f32 = 2.8;
const DEPTH: f32 = 7.0;
const GROUND: f32 = 3.0;

/// A storey above the ground floor.
#[derive(Clone, Copy)]
struct Storey {
    height: f32,
    /// How far its front stands out.
    front: f32,
    timber: bool,
    shutters: bool,
    stone_frames: bool,
    windows: u32,
}

pub fn parts() -> Vec<Part> {
    let timber = Storey { height: 2.6, front: 0.35, timber: true, shutters: false, stone_frames: false, windows: 2 };
    let plaster = Storey { height: 2.8, front: 0.0, timber: false, shutters: true, stone_frames: false, windows: 2 };
    let brick = Storey { height: 2.7, front: 0.0, timber: false, shutters: false, stone_frames: true, windows: 3 };
    let houses = [
        ("house a", build(1, &[timber, Storey { front: 0.62, ..timber }], true, true)),
        ("house b", build(2, &[plaster, plaster], false, false)),
        ("house c", build(3, &[brick, brick], false, false)),
        ("house d", build(4, &[timber], false, true)),
        ("house e", build(5, &[Storey { windows: 3, ..plaster }], true, false)),
    ];
    let mut parts: Vec<Part> = houses.into_iter().flat_map(|(name, house)| named(name, house)).collect();
    parts.push(("garden wall".into(), garden_wall()));
    parts.push(("garden coping".into(), garden_coping()));
    parts
}

/// The meshes of a house that have triangles, with their names.
pub fn named(name: &str, house: House) -> Vec<Part> {
    let House { base, walls, timber, frames, glass, shutters, stone, roof, bricks } = house;
    [
        ("base", base),
        ("walls", walls),
        ("timber", timber),
        ("frames", frames),
        ("glass", glass),
        ("shutters", shutters),
        ("stone", stone),
        ("roof", roof),
        ("chimney", bricks),
    ]
    .into_iter()
    .filter(|(_, mesh)| !mesh.triangles.is_empty())
    .map(|(part, mesh)| (format!("{name} {part}"), mesh))
    .collect()
}

fn build(seed: u32, storeys: &[Storey], gable: bool, shop: bool) -> House {
    let mut house = House::default();
    ground_floor(&mut house, seed, shop);
    let mut bottom = GROUND;
    let mut below = 0.0;
    for (i, storey) in storeys.iter().enumerate() {
        upper_floor(&mut house, *storey, bottom, below, seed * 10 + i as u32);
        bottom += storey.height;
        below = storey.front;
    }
    sides(&mut house, bottom, below, seed);
    let timber = storeys[0].timber;
    if gable {
        gable_front(&mut house, bottom, below, timber, seed);
        roof::with_gable_in_front(&mut house, [-HALF, HALF], bottom, [-DEPTH, below], 1.05, seed);
        roof::chimney(&mut house, Vec3::new(1.5, bottom + 1.6, -4.0), seed);
    } else {
        roof::with_eaves_in_front(&mut house, [-HALF, HALF], bottom, [-DEPTH, below], 0.95, seed);
        if !timber {
            // A cornice.
            house.stone.block(
                Vec3::new(-HALF, bottom - 0.28, below - 0.1),
                Vec3::new(HALF, bottom - 0.1, below + 0.1),
                STONE_SIDE,
                Vec2::new(0.2, 0.1),
                clean,
            );
            house.stone.block(
                Vec3::new(-HALF, bottom - 0.1, below - 0.1),
                Vec3::new(HALF, bottom + 0.02, below + 0.17),
                STONE_SIDE,
                Vec2::new(0.7, 0.4),
                clean,
            );
        }
        roof::chimney(&mut house, Vec3::new(-1.6, bottom + 2.6, -DEPTH / 2.0), seed);
    }
    house
}

fn ground_floor(house: &mut House, seed: u32, shop: bool) {
    const REVEAL: f32 = 0.24;
    let entry = Opening::new(if seed.is_multiple_of(2) { -2.1 } else { 1.0 }, 0.16, 1.05, 2.15);
    let left = if seed.is_multiple_of(2) { -0.5 } else { -2.3 };
    let windows: Vec<Opening> = if shop {
        vec![Opening::new(left, 0.8, 2.5, 1.65)]
    } else {
        vec![Opening::new(left + 0.1, 1.0, 0.95, 1.35), Opening::new(left + 1.6, 1.0, 0.95, 1.35)]
    };
    let mut openings = windows.clone();
    openings.push(entry);
    let front = Wall {
        x: [-HALF, HALF],
        y: [0.0, GROUND],
        z: 0.0,
        reveal: REVEAL,
        side: WALL_SIDE,
        shift: 0.37 * seed as f32,
        seed,
    };
    wall(&mut house.base, &front, &openings);
    // A plinth.
    let mut plinth = |from: f32, to: f32, n: u32| {
        if to - from > 0.1 {
            let origin = Vec2::new(random(seed, n), 0.3);
            house.stone.block(Vec3::new(from, 0.0, -0.1), Vec3::new(to, 0.42, 0.06), STONE_SIDE, origin, |at| {
                weather(at, seed)
            });
        }
    };
    plinth(-HALF, entry.left - 0.26, 300);
    plinth(entry.left + entry.width + 0.26, HALF, 301);
    door(house, entry, 0.0, REVEAL, seed);
    for (i, o) in windows.into_iter().enumerate() {
        let panes = if shop { [4, 3] } else { [2, 3] };
        let filling = Filling { reveal: REVEAL, shutters: !shop, sill: true, stone_frame: shop || seed == 3, panes };
        window(house, o, 0.0, Filling { shutters: filling.shutters && seed != 3, ..filling }, seed * 100 + i as u32);
    }
}

fn upper_floor(house: &mut House, storey: Storey, bottom: f32, below: f32, seed: u32) {
    let z = storey.front;
    let top = bottom + storey.height;
    let count = storey.windows;
    let width = if storey.timber {
        1.0
    } else if count == 3 {
        0.9
    } else {
        1.0
    };
    let sill = bottom + if storey.timber { 0.85 } else { 0.75 };
    let height = if storey.timber { 1.2 } else { 1.5 };
    let middle = |i: u32| -HALF + 2.0 * HALF * (i as f32 + 0.5) / count as f32;
    let openings: Vec<Opening> =
        (0..count).map(|i| Opening::new(middle(i) - width / 2.0, sill, width, height)).collect();
    let front =
        Wall { x: [-HALF, HALF], y: [bottom, top], z, reveal: 0.14, side: WALL_SIDE, shift: 0.41 * seed as f32, seed };
    wall(&mut house.walls, &front, &openings);
    for (i, &o) in openings.iter().enumerate() {
        let filling = Filling {
            reveal: if storey.timber { 0.08 } else { 0.16 },
            shutters: storey.shutters,
            sill: !storey.timber,
            stone_frame: storey.stone_frames,
            panes: [2, 3],
        };
        window(house, o, z, filling, seed * 100 + 50 + i as u32);
    }
    if storey.timber {
        timber_front(house, [bottom, top], z, &openings, seed);
        jetty(house, bottom, [below, z], seed);
    } else {
        // A string course.
        house.stone.block(
            Vec3::new(-HALF, bottom - 0.08, z - 0.1),
            Vec3::new(HALF, bottom + 0.1, z + 0.07),
            STONE_SIDE,
            Vec2::new(random(seed, 310), 0.2),
            clean,
        );
    }
}

/// Posts, rails and braces on a wall.
fn timber_front(house: &mut House, [bottom, top]: [f32; 2], z: f32, openings: &[Opening], seed: u32) {
    const SIZE: [f32; 2] = [0.19, 0.1];
    let z = z + 0.015;
    let point = |x: f32, y: f32| Vec3::new(x, y, z);
    let mut number = seed * 40;
    let mut beam = |from: Vec3, to: Vec3, size: [f32; 2]| {
        number += 1;
        let wide = if (to - from).x.abs() > (to - from).y.abs() { Vec3::Y } else { Vec3::X };
        // Hewn by hand: no two are quite straight.
        let off = |n: u32| {
            Vec3::new(0.03 * (random(number, n) - 0.5), 0.03 * (random(number, n + 1) - 0.5), 0.008 * random(number, 9))
        };
        house.timber.beam(from + off(5), to + off(7), size, wide, number, clean);
    };
    beam(point(-HALF, bottom + 0.12), point(HALF, bottom + 0.12), [0.24, 0.13]);
    beam(point(-HALF, top - 0.1), point(HALF, top - 0.1), [0.2, 0.12]);
    let sill = openings[0].bottom - 0.1;
    let head = openings[0].bottom + openings[0].height + 0.09;
    beam(point(-HALF, sill), point(HALF, sill), [0.18, 0.11]);
    for x in [-HALF + 0.1, HALF - 0.1, 0.0] {
        beam(point(x, bottom + 0.2), point(x, top - 0.15), SIZE);
    }
    for o in openings {
        for x in [o.left - 0.09, o.left + o.width + 0.09] {
            beam(point(x, bottom + 0.2), point(x, top - 0.15), SIZE);
        }
        beam(point(o.left - 0.1, head), point(o.left + o.width + 0.1, head), [0.17, 0.11]);
        // A cross below the window.
        let (low, high) = (bottom + 0.24, sill - 0.06);
        beam(point(o.left, low), point(o.left + o.width, high), [0.12, 0.07]);
        beam(point(o.left, high), point(o.left + o.width, low), [0.12, 0.072]);
    }
    for sign in [-1.0, 1.0] {
        beam(point(sign * (HALF - 0.15), sill + 0.05), point(sign * (HALF - 0.72), top - 0.18), [0.16, 0.085]);
    }
}

/// The underside of a storey that stands out, with the ends of its joists and brackets.
fn jetty(house: &mut House, y: f32, [back, front]: [f32; 2], seed: u32) {
    let size = Vec3::new(2.0 * HALF, 0.05, front - back + 0.1);
    let low = Vec3::new(-HALF, y - 0.02, back - 0.1);
    house.frames.block(low, low + size, 1.6, Vec2::ZERO, |_| Vec3::splat(0.7));
    let count = 10;
    for i in 0..count {
        let x = -HALF + 0.14 + (2.0 * HALF - 0.28) * i as f32 / (count - 1) as f32;
        house.timber.beam(
            Vec3::new(x, y - 0.1, back - 0.2),
            Vec3::new(x, y - 0.1, front + 0.06),
            [0.14, 0.17],
            Vec3::X,
            seed * 60 + i,
            clean,
        );
    }
    for x in [-HALF + 0.12, HALF - 0.12, 0.0] {
        house.timber.beam(
            Vec3::new(x, y - 0.75, back + 0.04),
            Vec3::new(x, y - 0.18, front - 0.02),
            [0.13, 0.14],
            Vec3::X,
            seed * 60 + 30,
            clean,
        );
    }
}

fn sides(house: &mut House, top: f32, front: f32, seed: u32) {
    let dirty = |at: Vec3| weather(at, seed);
    for sign in [-1.0, 1.0] {
        let x = sign * (HALF - 0.02);
        let corner = Vec3::new(x, 0.0, if sign > 0.0 { front } else { -DEPTH });
        let along = Vec3::Z * if sign > 0.0 { -(DEPTH + front) } else { DEPTH + front };
        house.walls.sheet(
            crate::mesh::Sheet::new(corner, along, Vec3::Y * top),
            [8, 8],
            WALL_SIDE,
            Vec2::new(random(seed, 320), 0.0),
            dirty,
        );
    }
    let back = crate::mesh::Sheet::new(Vec3::new(HALF, 0.0, -DEPTH), -Vec3::X * 2.0 * HALF, Vec3::Y * top);
    house.walls.sheet(back, [1, 1], WALL_SIDE, Vec2::ZERO, clean);
}

/// The wall below a gable, with a window.
fn gable_front(house: &mut House, bottom: f32, z: f32, timber: bool, seed: u32) {
    const PITCH: f32 = 1.05;
    let top = bottom + HALF * PITCH;
    let o = Opening::new(-0.42, bottom + 0.55, 0.84, 1.1);
    // Strips of the triangle beside, below and above the window.
    let edge = |y: f32| HALF - (y - bottom) / PITCH;
    let mut strip = |y: [f32; 2], x: fn(f32, f32, f32) -> f32, from: f32| {
        house.walls.grid([4, 2], |u, v| {
            let y = y[0] + (y[1] - y[0]) * v;
            let position = Vec3::new(x(u, edge(y), from), y, z);
            crate::mesh::Vertex {
                position,
                normal: Vec3::Z,
                uv: Vec2::new(position.x, -y) / WALL_SIDE,
                color: weather(position, seed),
            }
        });
    };
    let between = |u: f32, edge: f32, _: f32| -edge + 2.0 * edge * u;
    strip([bottom, o.bottom], between, 0.0);
    strip([o.bottom, o.bottom + o.height], |u, edge, half| -edge + (edge - half) * u, 0.42);
    strip([o.bottom, o.bottom + o.height], |u, edge, half| half + (edge - half) * u, 0.42);
    strip([o.bottom + o.height, top - 0.01], between, 0.0);
    let filling = Filling { reveal: 0.08, shutters: !timber, sill: !timber, stone_frame: false, panes: [2, 3] };
    window(house, o, z, filling, seed * 1000);
    if !timber {
        surround(&mut house.stone, Opening::new(-0.12, top - 0.75, 0.24, 0.24), z, 0.08, seed);
        return;
    }
    let point = |x: f32, y: f32| Vec3::new(x, y, z + 0.015);
    let mut beams = vec![(point(-HALF, bottom + 0.1), point(HALF, bottom + 0.1))];
    for sign in [-1.0, 1.0] {
        let x = sign * 0.52;
        beams.push((point(x, bottom), point(x, bottom + (HALF - 0.52) * PITCH)));
        beams.push((point(sign * 1.5, bottom + 0.15), point(sign * 0.62, bottom + 1.7)));
        beams.push((point(sign * 1.62, bottom), point(sign * 1.62, bottom + (HALF - 1.62) * PITCH)));
    }
    for (y, half) in [(o.bottom - 0.09, 2.1), (o.bottom + o.height + 0.09, 1.2)] {
        beams.push((point(-half, y), point(half, y)));
    }
    for (i, (from, to)) in beams.into_iter().enumerate() {
        let wide = if (to - from).x.abs() > (to - from).y.abs() { Vec3::Y } else { Vec3::X };
        house.timber.beam(from, to, [0.18, 0.09 + 0.004 * i as f32], wide, seed * 90 + i as u32, clean);
    }
}

/// A wall of the height of a man in a gap between houses.
fn garden_wall() -> Mesh {
    let mut mesh = Mesh::default();
    let front = Wall { x: [-HALF, HALF], y: [0.0, 2.3], z: 0.0, reveal: 0.2, side: WALL_SIDE, shift: 0.0, seed: 9 };
    wall(&mut mesh, &front, &[]);
    mesh
}

/// The stones on top of a garden wall.
fn garden_coping() -> Mesh {
    let mut mesh = Mesh::default();
    for i in 0..8 {
        let x = |i: u32| -HALF + 2.0 * HALF * i as f32 / 8.0;
        let out = 0.06 + 0.02 * random(i, 330);
        let (low, high) =
            (Vec3::new(x(i) + 0.004, 2.3, -0.4), Vec3::new(x(i + 1) - 0.004, 2.44 + 0.02 * random(i, 331), out));
        mesh.block(low, high, STONE_SIDE, Vec2::new(random(i, 332), random(i, 333)), |_| {
            Vec3::splat(0.75 + 0.25 * random(i, 334))
        });
    }
    mesh
}
