//! A mesh under construction: sheets, boxes, boards and turned shapes with texture coordinates and colours.

use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

/// Side of the texture of boards in metres, and its number of boards.
const BOARDS_SIDE: f32 = 1.6;
const BOARDS: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    pub position: Vec3,
    pub normal: Vec3,
    /// v downwards, as in glTF.
    pub uv: Vec2,
    /// Linear factor on the colour of the material.
    pub color: Vec3,
}

#[derive(Clone, Debug, Default)]
pub struct Mesh {
    pub vertices: Vec<Vertex>,
    pub triangles: Vec<[u32; 3]>,
}

/// A parallelogram: a corner, and the edges from it to the right and upwards as its front shows them.
#[derive(Clone, Copy, Debug)]
pub struct Sheet {
    pub corner: Vec3,
    pub along: Vec3,
    pub up: Vec3,
}

impl Sheet {
    pub fn new(corner: Vec3, along: Vec3, up: Vec3) -> Self {
        Self { corner, along, up }
    }

    pub fn normal(&self) -> Vec3 {
        self.along.cross(self.up).normalize()
    }

    pub fn at(&self, x: f32, y: f32) -> Vec3 {
        self.corner + self.along * x + self.up * y
    }
}

impl Mesh {
    /// Adds a grid of `cells` over a sheet. Texture coordinates and colours depend on the position on the sheet, 0 to 1 from its corner.
    pub fn grid(&mut self, cells: [u32; 2], at: impl Fn(f32, f32) -> Vertex) {
        let first = self.vertices.len() as u32;
        for j in 0..=cells[1] {
            for i in 0..=cells[0] {
                self.vertices.push(at(i as f32 / cells[0] as f32, j as f32 / cells[1] as f32));
            }
        }
        let row = cells[0] + 1;
        for j in 0..cells[1] {
            for i in 0..cells[0] {
                let corner = first + j * row + i;
                self.triangles
                    .extend([[corner, corner + 1, corner + row + 1], [corner, corner + row + 1, corner + row]]);
            }
        }
    }

    /// Adds a flat sheet whose texture has this side in metres. `origin` is the texture coordinate of the sheet's corner.
    pub fn sheet(&mut self, sheet: Sheet, cells: [u32; 2], side: f32, origin: Vec2, color: impl Fn(Vec3) -> Vec3) {
        let size = Vec2::new(sheet.along.length(), sheet.up.length()) / side;
        self.grid(cells, |x, y| {
            let position = sheet.at(x, y);
            Vertex { position, normal: sheet.normal(), uv: origin + Vec2::new(x, -y) * size, color: color(position) }
        });
    }

    /// Adds a box between two corners, textured by the metre.
    pub fn block(&mut self, low: Vec3, high: Vec3, side: f32, origin: Vec2, color: impl Fn(Vec3) -> Vec3 + Copy) {
        for sheet in faces(low, high) {
            self.sheet(sheet, [1, 1], side, origin, color);
        }
    }

    /// Adds a beam or board between two points, each of whose sides shows one board of the texture. `wide` is the direction of the width.
    pub fn beam(
        &mut self,
        from: Vec3,
        to: Vec3,
        [width, depth]: [f32; 2],
        wide: Vec3,
        number: u32,
        color: impl Fn(Vec3) -> Vec3,
    ) {
        let along = (to - from).normalize();
        let deep = along.cross(wide).normalize();
        let wide = deep.cross(along);
        let (w, d) = (wide * width / 2.0, deep * depth / 2.0);
        let corners = [-w - d, w - d, w + d, -w + d];
        let board = (random(number, 1) * BOARDS as f32) as u32;
        let start = random(number, 2);
        let length = (to - from).length() / BOARDS_SIDE;
        for side in 0..4 {
            let (a, b) = (corners[side], corners[(side + 1) % 4]);
            let normal = (a + b).normalize();
            let left = ((board + side as u32) % BOARDS) as f32 + 0.06;
            let breadth = ((b - a).length() / BOARDS_SIDE * BOARDS as f32).min(0.88);
            self.grid([1, 1], |x, y| Vertex {
                position: from.lerp(to, y) + a.lerp(b, x),
                normal,
                uv: Vec2::new((left + x * breadth) / BOARDS as f32, start - y * length),
                color: color(from.lerp(to, y)),
            });
        }
        for (end, normal, order) in [(from, -along, [0, 3, 2, 1]), (to, along, [0, 1, 2, 3])] {
            let ring = order.map(|i| end + corners[i]);
            self.grid([1, 1], |x, y| Vertex {
                position: ring[0].lerp(ring[1], x) + (ring[3] - ring[0]) * y,
                normal,
                uv: Vec2::new((board as f32 + 0.2 + 0.5 * x) / BOARDS as f32, start - 0.02 * y),
                color: color(end) * 0.75,
            });
        }
    }

    /// Adds a shape turned about the Y axis, from points (radius, y) upwards. `wrap` is the number of textures around it and per metre upwards.
    pub fn turned(&mut self, profile: &[Vec2], segments: u32, wrap: Vec2, color: impl Fn(Vec3) -> Vec3) {
        let last = profile.len() - 1;
        self.grid([segments, last as u32], |x, y| {
            let i = (y * last as f32).round() as usize;
            let slope = profile[(i + 1).min(last)] - profile[i.saturating_sub(1)];
            let (sin, cos) = (-x * TAU).sin_cos();
            let out = Vec2::new(slope.y, -slope.x).normalize_or(Vec2::X);
            let position = Vec3::new(profile[i].x * cos, profile[i].y, profile[i].x * sin);
            let normal = Vec3::new(out.x * cos, out.y, out.x * sin);
            Vertex { position, normal, uv: Vec2::new(x * wrap.x, -profile[i].y * wrap.y), color: color(position) }
        });
    }

    /// Moves, turns and scales everything.
    pub fn map(mut self, position: impl Fn(Vec3) -> Vec3, normal: impl Fn(Vec3) -> Vec3) -> Self {
        for vertex in &mut self.vertices {
            vertex.position = position(vertex.position);
            vertex.normal = normal(vertex.normal).normalize();
        }
        self
    }

    pub fn append(&mut self, other: &Self) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(&other.vertices);
        self.triangles.extend(other.triangles.iter().map(|triangle| triangle.map(|vertex| vertex + first)));
    }

    /// Replaces the normals by those of the shape, smooth where faces share vertices.
    pub fn smooth(mut self) -> Self {
        let mut sums = vec![Vec3::ZERO; self.vertices.len()];
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|vertex| self.vertices[vertex as usize].position);
            for &vertex in triangle {
                sums[vertex as usize] += (b - a).cross(c - a);
            }
        }
        for (vertex, sum) in self.vertices.iter_mut().zip(sums) {
            vertex.normal = sum.normalize_or(vertex.normal);
        }
        self
    }
}

/// The faces of a box, all of which face outwards.
fn faces(low: Vec3, high: Vec3) -> [Sheet; 6] {
    let size = high - low;
    let (x, y, z) = (Vec3::X * size.x, Vec3::Y * size.y, Vec3::Z * size.z);
    [
        Sheet::new(low + z, x, y),
        Sheet::new(low + x, -x, y),
        Sheet::new(low + x + z, -z, y),
        Sheet::new(low, z, y),
        Sheet::new(low + y + z, x, -z),
        Sheet::new(low, x, z),
    ]
}

/// A number from 0 to 1 that depends on two numbers only.
pub fn random(number: u32, salt: u32) -> f32 {
    let mut h = number.wrapping_mul(0x9E37_79B1) ^ salt.wrapping_mul(0x85EB_CA77).rotate_left(11);
    for _ in 0..2 {
        h = (h ^ (h >> 16)).wrapping_mul(0x7FEB_352D);
        h = (h ^ (h >> 15)).wrapping_mul(0x846C_A68B);
    }
    (h >> 8) as f32 / (1 << 24) as f32
}

/// Smooth noise over a plane, -1 to 1, with a wavelength of about 1.
pub fn waves(at: Vec2, seed: u32) -> f32 {
    let low = at.floor();
    let t = at - low;
    let t = t * t * (3.0 - 2.0 * t);
    let value = |dx: i32, dy: i32| {
        random((low.x as i32 + dx) as u32 ^ ((low.y as i32 + dy) as u32).rotate_left(16), seed) * 2.0 - 1.0
    };
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    mix(mix(value(0, 0), value(1, 0), t.x), mix(value(0, 1), value(1, 1), t.x), t.y)
}

/// Hermite step from 0 at `from` to 1 at `to`; `from` may be the larger one.
pub fn smoothstep(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

pub fn clean(_: Vec3) -> Vec3 {
    Vec3::ONE
}
