//! Vertices of subdivision surfaces, from the points of their cages.

use super::deform::Chunk;
use crate::{
    TriangleMesh,
    rig::{Block, Group, Rows, SubdivisionSurface},
};
use glam::{Vec3A, Vec4};
use rayon::prelude::*;
use throng_base::math::Aabb;

/// Blocks per task.
const BLOCKS: usize = 128;

/// Moves the vertices and normals of `mesh` to the limit surface of a cage with the given points. Parallel.
pub fn refine(surface: &SubdivisionSurface, cage: &[[f32; 3]], mesh: &mut TriangleMesh) {
    let TriangleMesh { positions, normals, .. } = mesh;
    limit_surface(surface, cage, Chunk { first: 0, positions, normals, tangents: &mut [] });
}

/// Prepares a surface for a mesh whose bind pose has these tangents.
pub fn bind_tangents(surface: &mut SubdivisionSurface, tangents: &[[f32; 4]]) {
    let mut gathered = Vec::new();
    let mut directions = Vec::with_capacity(tangents.len());
    for block in &surface.stencils.blocks {
        surface.stencils.evaluate(block, &surface.cage, &mut gathered, |rows, sums| {
            let lanes = [1, 2].map(|sum| sums[sum].map(|lanes| lanes.to_array()));
            directions.extend(rows.lanes().map(|(index, lane)| {
                let basis = lanes.map(|axes| Vec3A::from_array(axes.map(|axis| axis[lane])));
                let tangent = tangents.get(block.first as usize + index).copied().unwrap_or_default();
                direction(tangent, basis)
            }));
        });
    }
    surface.directions = directions;
}

/// The coordinates of a tangent in the basis of the surface's tangents.
fn direction([x, y, z, sign]: [f32; 4], [u, v]: [Vec3A; 2]) -> [f32; 3] {
    let tangent = Vec3A::new(x, y, z);
    let normal = u.cross(v);
    let square = normal.length_squared();
    [tangent.cross(v).dot(normal) / square, u.cross(tangent).dot(normal) / square, sign]
}

/// Writes the limit surface of a cage to `out`, and returns its bounds. Normals and tangents are written if `out` has them. Tangents keep their
/// directions in the bind pose relative to the surface. Deterministic, parallel.
pub(super) fn limit_surface(surface: &SubdivisionSurface, cage: &[[f32; 3]], out: Chunk<'_>) -> Aabb {
    let Chunk { positions, normals, tangents, .. } = out;
    let tasks = tasks(surface, (&mut *positions, normals, tangents));
    let boxes: Vec<Aabb> =
        tasks.into_par_iter().map_init(Vec::new, |gathered, task| task.run(surface, cage, gathered)).collect();
    for &[vertex, source] in &surface.copies {
        if let Some(&position) = positions.get(source as usize) {
            positions.get_mut(vertex as usize).into_iter().for_each(|own| *own = position);
        }
    }
    boxes.into_iter().fold(Aabb::EMPTY, Aabb::union)
}

/// Blocks, and the vertices that are their results.
struct Task<'a> {
    blocks: &'a [Block],
    first: u32,
    positions: &'a mut [[f32; 3]],
    normals: &'a mut [[f32; 3]],
    tangents: &'a mut [[f32; 4]],
    directions: &'a [[f32; 3]],
}

type Arrays<'a> = (&'a mut [[f32; 3]], &'a mut [[f32; 3]], &'a mut [[f32; 4]]);

fn tasks<'a>(surface: &'a SubdivisionSurface, out: Arrays<'a>) -> Vec<Task<'a>> {
    fn cut<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
        let all = std::mem::take(rest);
        let (own, others) = all.split_at_mut(count.min(all.len()));
        *rest = others;
        own
    }
    let (mut positions, mut normals, mut tangents) = out;
    let mut tasks = Vec::new();
    for blocks in surface.stencils.blocks.chunks(BLOCKS) {
        let count = blocks.iter().map(|block| surface.stencils.count(block)).sum();
        let first = blocks[0].first;
        tasks.push(Task {
            blocks,
            first,
            positions: cut(&mut positions, count),
            normals: cut(&mut normals, count),
            tangents: cut(&mut tangents, count),
            directions: surface.directions.get(first as usize..first as usize + count).unwrap_or_default(),
        });
    }
    tasks
}

impl Task<'_> {
    fn run(mut self, surface: &SubdivisionSurface, points: &[[f32; 3]], gathered: &mut Vec<[Vec4; 3]>) -> Aabb {
        let (mut min, mut max) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        for block in self.blocks {
            let first = (block.first - self.first) as usize;
            surface.stencils.evaluate(block, points, gathered, |rows, sums| {
                let at = sums[0].map(|lanes| lanes.to_array());
                for (index, lane) in rows.lanes() {
                    let position = at.map(|axis| axis[lane]);
                    self.positions.get_mut(first + index).into_iter().for_each(|own| *own = position);
                    (min, max) = (min.min(position.into()), max.max(position.into()));
                }
                if !self.normals.is_empty() {
                    self.write_normals(first, rows, sums);
                }
                if !self.tangents.is_empty() && !self.directions.is_empty() {
                    self.write_tangents(first, rows, sums);
                }
            });
        }
        Aabb { min: min.into(), max: max.into() }
    }

    #[inline]
    fn write_normals(&mut self, first: usize, rows: Rows<'_>, [_, u, v]: &Group<3, 3>) {
        let normals = normals_of(u, v).map(|lanes| lanes.to_array());
        for (index, lane) in rows.lanes() {
            let Some(normal) = self.normals.get_mut(first + index) else { continue };
            *normal = normals.map(|axis| axis[lane]);
        }
    }

    #[inline]
    fn write_tangents(&mut self, first: usize, rows: Rows<'_>, [_, u, v]: &Group<3, 3>) {
        let [u, v] = [u, v].map(|axes| axes.map(|lanes| lanes.to_array()));
        for (index, lane) in rows.lanes() {
            let at = first + index;
            let (Some(own), Some(&[a, b, sign])) = (self.tangents.get_mut(at), self.directions.get(at)) else {
                continue;
            };
            let [u, v] = [u, v].map(|axes| Vec3A::from_array(axes.map(|axis| axis[lane])));
            let [x, y, z] = (u * a + v * b).normalize_or(Vec3A::X).to_array();
            *own = [x, y, z, sign];
        }
    }
}

/// The unit normals between tangents, with one in each lane.
#[inline]
fn normals_of([ux, uy, uz]: &[Vec4; 3], [vx, vy, vz]: &[Vec4; 3]) -> [Vec4; 3] {
    let [x, y, z] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    let square = x * x + y * y + z * z;
    if (square.cmpge(Vec4::splat(1e-30)) & square.cmplt(Vec4::splat(1e30))).all() {
        let factor = square.sqrt().recip();
        return [x * factor, y * factor, z * factor];
    }
    let [u, v] = [[ux, uy, uz], [vx, vy, vz]].map(|axes| axes.map(|axis| axis.to_array()));
    let exact = [0, 1, 2, 3].map(|lane| {
        let [u, v] = [&u, &v].map(|axes| Vec3A::from_array(axes.map(|axis| axis[lane])));
        exact_normal(u, v).to_array()
    });
    [0, 1, 2].map(|axis| Vec4::from_array(exact.map(|normal| normal[axis])))
}

/// The unit normal between tangents; +Y without a direction. Squares of very small and very large numbers are out of the range of floats.
#[cold]
fn exact_normal(u: Vec3A, v: Vec3A) -> Vec3A {
    let normal = u.cross(v);
    let square = normal.length_squared();
    if (1e-30..1e30).contains(&square) {
        return normal * square.sqrt().recip();
    }
    u.normalize_or_zero().cross(v.normalize_or_zero()).normalize_or(Vec3A::Y)
}
