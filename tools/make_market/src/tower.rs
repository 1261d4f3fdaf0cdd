//! The tower at the end of the street: hewn stone, openings with louvres for the bells, a steep roof.

use crate::Part;
use crate::facade::{House, Opening, STONE_SIDE, Wall, wall};
use crate::mesh::{Mesh, Vertex, clean, random};
use glam::{Vec2, Vec3};

const HALF: f32 = 4.0;
const HEIGHT: f32 = 27.0;
const SPIRE: f32 = 15.0;

pub fn parts() -> Vec<Part> {
    let mut house = House::default();
    for side in 0..4 {
        let mut face = House::default();
        front(&mut face);
        let turn = |p: Vec3| match side {
            0 => p,
            1 => Vec3::new(p.z, p.y, -p.x),
            2 => Vec3::new(-p.x, p.y, -p.z),
            _ => Vec3::new(-p.z, p.y, p.x),
        };
        house.stone.append(&face.stone.map(turn, turn));
        house.timber.append(&face.timber.map(turn, turn));
        house.roof.append(&face.roof.map(turn, turn));
    }
    vec![("tower stone".into(), house.stone), ("tower louvres".into(), house.timber), ("tower roof".into(), house.roof)]
}

/// The side at z = `HALF`.
fn front(house: &mut House) {
    let openings =
        [Opening::new(-2.2, 20.5, 1.5, 4.4), Opening::new(0.7, 20.5, 1.5, 4.4), Opening::new(-0.4, 13.0, 0.8, 2.4)];
    let side =
        Wall { x: [-HALF, HALF], y: [0.0, HEIGHT], z: HALF, reveal: 0.5, side: STONE_SIDE, shift: 0.2, seed: 900 };
    wall(&mut house.stone, &side, &openings);
    for (i, o) in (0..).zip(openings) {
        for slat in 0..(o.height / 0.5) as u32 {
            let at = Vec3::new(o.left, o.bottom + 0.25 + 0.5 * slat as f32, HALF - 0.35);
            house.timber.beam(
                at,
                at + Vec3::X * o.width,
                [0.55, 0.05],
                Vec3::new(0.0, 0.6, 0.8),
                900 + 20 * i + slat,
                |_| Vec3::splat(0.6),
            );
        }
    }
    for (y, height, out) in [(10.5, 0.35, 0.2), (19.0, 0.35, 0.2), (HEIGHT - 0.3, 0.7, 0.4)] {
        let low = Vec3::new(-HALF - out, y, HALF - 0.2);
        house.stone.block(
            low,
            Vec3::new(HALF + out, y + height, HALF + out),
            STONE_SIDE,
            Vec2::new(random(y as u32, 901), 0.4),
            clean,
        );
    }
    let mut slope = Mesh::default();
    let half = HALF + 0.5;
    slope.grid([6, 12], |x, y| {
        // Steeper above its foot.
        let width = half * (1.0 - y) * (0.75 + 0.25 * (1.0 - y).powi(3)).min(1.0);
        let position = Vec3::new((x * 2.0 - 1.0) * width, HEIGHT + 0.3 + SPIRE * y, width);
        Vertex { position, normal: Vec3::Z, uv: Vec2::new(position.x, -position.y) / 2.16, color: Vec3::ONE }
    });
    house.roof.append(&slope.smooth());
}
