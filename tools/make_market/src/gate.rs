//! A gate across the street: an arch of hewn stone below a roof. The passage is along Z.

use crate::Part;
use crate::facade::{House, STONE_SIDE, weather};
use crate::mesh::{Mesh, Sheet, Vertex, random};
use glam::{Vec2, Vec3};
use std::f32::consts::PI;

const HALF_WIDTH: f32 = 6.4;
const DEPTH: f32 = 2.2;
const RADIUS: f32 = 2.5;
const SPRING: f32 = 1.7;
const TOP: f32 = 5.4;
const STEPS: u32 = 18;

pub fn parts() -> Vec<Part> {
    let mut house = House::default();
    for back in [false, true] {
        let mut face = Mesh::default();
        front(&mut face);
        voussoirs(&mut face);
        if back {
            face = face.map(|p| Vec3::new(-p.x, p.y, -p.z), |n| Vec3::new(-n.x, n.y, -n.z));
        }
        house.stone.append(&face);
    }
    vault(&mut house.stone);
    top(&mut house);
    vec![("gate stone".into(), house.stone), ("gate roof".into(), house.roof)]
}

fn dirty(at: Vec3) -> Vec3 {
    // Soot below the vault, moss at the foot.
    weather(Vec3::new(at.x, at.y * 0.8, at.z), 50) * (0.93 + 0.07 * (at.x * 1.7).sin())
}

fn stone_vertex(position: Vec3, normal: Vec3, uv: Vec2) -> Vertex {
    Vertex { position, normal, uv: uv / STONE_SIDE, color: dirty(position) }
}

/// The front at z = DEPTH / 2 around the opening.
fn front(mesh: &mut Mesh) {
    let z = DEPTH / 2.0;
    let flat = |x: f32, y: f32| stone_vertex(Vec3::new(x, y, z), Vec3::Z, Vec2::new(x, -y));
    for side in [-1.0, 1.0] {
        let (left, right) = if side < 0.0 { (-HALF_WIDTH, -RADIUS) } else { (RADIUS, HALF_WIDTH) };
        mesh.grid([8, 10], |u, v| flat(left + (right - left) * u, TOP * v));
    }
    mesh.grid([2 * STEPS, 6], |u, v| {
        let angle = PI * (1.0 - u);
        let (x, low) = (RADIUS * angle.cos(), SPRING + RADIUS * angle.sin());
        flat(x, low + (TOP - low) * v)
    });
}

/// Wedges around the opening that stand out, with stones of the jambs below.
fn voussoirs(mesh: &mut Mesh) {
    let z = DEPTH / 2.0;
    const WEDGES: u32 = 17;
    for i in 0..WEDGES {
        let angle = |step: f32| PI * (1.0 - step / WEDGES as f32);
        let long = if i == WEDGES / 2 { 0.72 } else { 0.5 + 0.06 * random(i, 400) };
        let out = z + 0.05 + 0.02 * random(i, 401) + if i == WEDGES / 2 { 0.05 } else { 0.0 };
        let tone = Vec3::splat(0.84 + 0.16 * random(i, 402));
        let shift = Vec2::new(random(i, 403), random(i, 404));
        let at = |step: f32, r: f32, z: f32| {
            let (sin, cos) = angle(i as f32 + step).sin_cos();
            Vec3::new(cos * (RADIUS + r), SPRING + sin * (RADIUS + r), z)
        };
        let mut face = |corners: [Vec3; 4]| {
            let normal = (corners[1] - corners[0]).cross(corners[3] - corners[0]).normalize();
            let size = [(corners[1] - corners[0]).length(), (corners[3] - corners[0]).length()].map(|l| l / STONE_SIDE);
            mesh.grid([1, 1], |u, v| Vertex {
                position: corners[0].lerp(corners[1], u).lerp(corners[3].lerp(corners[2], u), v),
                normal,
                uv: shift + Vec2::new(u * size[0], -v * size[1]),
                color: tone,
            });
        };
        let (low, high) = (0.02, 0.98);
        face([at(low, -0.02, out), at(high, -0.02, out), at(high, long, out), at(low, long, out)]);
        face([at(low, long, out), at(high, long, out), at(high, long, z), at(low, long, z)]);
        face([at(low, -0.02, z - 0.2), at(high, -0.02, z - 0.2), at(high, -0.02, out), at(low, -0.02, out)]);
        face([at(low, -0.02, z), at(low, -0.02, out), at(low, long, out), at(low, long, z)]);
        face([at(high, -0.02, out), at(high, -0.02, z), at(high, long, z), at(high, long, out)]);
    }
    for side in [-1.0, 1.0] {
        for i in 0..4 {
            let y = |i: u32| SPRING * i as f32 / 4.0;
            let long = 0.4 + 0.25 * (i % 2) as f32;
            let (near, far) = (side * (RADIUS - 0.02), side * (RADIUS + long));
            let low = Vec3::new(near.min(far), y(i) + 0.008, z - 0.2);
            let high = Vec3::new(near.max(far), y(i + 1), z + 0.05 + 0.02 * random(i, 410));
            let origin = Vec2::new(random(i, 411 + side as i32 as u32), random(i, 412));
            mesh.block(low, high, STONE_SIDE, origin, |p| dirty(p) * (0.86 + 0.14 * random(i, 413)));
        }
    }
}

/// The inside of the passage, and the outer ends.
fn vault(mesh: &mut Mesh) {
    let z = DEPTH / 2.0;
    mesh.grid([STEPS * 2, 3], |u, v| {
        let (sin, cos) = (PI * u).sin_cos();
        let position = Vec3::new(RADIUS * cos, SPRING + RADIUS * sin, z - DEPTH * v);
        stone_vertex(position, Vec3::new(-cos, -sin, 0.0), Vec2::new(position.z, RADIUS * PI * u))
    });
    for side in [-1.0, 1.0] {
        let wall = |x: f32, facing: f32| {
            let corner = Vec3::new(side * x, 0.0, z * side * facing);
            Sheet::new(corner, Vec3::Z * (-2.0 * z * side * facing), Vec3::Y * if x == RADIUS { SPRING } else { TOP })
        };
        mesh.sheet(wall(RADIUS, -1.0), [3, 4], STONE_SIDE, Vec2::ZERO, dirty);
        mesh.sheet(wall(HALF_WIDTH, 1.0), [1, 1], STONE_SIDE, Vec2::ZERO, dirty);
    }
}

/// A string course, and a roof of tiles over both sides.
fn top(house: &mut House) {
    let z = DEPTH / 2.0;
    for (y, height, out) in [(4.75, 0.16, 0.1), (TOP - 0.02, 0.2, 0.16)] {
        for i in 0..10 {
            let x = |i: u32| -HALF_WIDTH + 2.0 * HALF_WIDTH * i as f32 / 10.0;
            let (low, high) = (
                Vec3::new(x(i) + 0.004, y, -z - out),
                Vec3::new(x(i + 1) - 0.004, y + height, z + out + 0.01 * random(i, 420)),
            );
            house.stone.block(low, high, STONE_SIDE, Vec2::new(random(i, 421), random(i, 422)), |_| {
                Vec3::splat(0.8 + 0.2 * random(i, 423))
            });
        }
    }
    crate::roof::with_eaves_in_front(house, [-HALF_WIDTH, HALF_WIDTH], TOP + 0.3, [-z, z], 0.9, 51);
    // Its gables are of the same stone.
    let walls = std::mem::take(&mut house.walls);
    house.stone.append(&walls);
}
