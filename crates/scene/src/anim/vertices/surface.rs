//! Vertices of subdivision surfaces, from the points of their cages.

use super::deform::{BindPose, Chunk};
use crate::{
    TriangleMesh,
    rig::{Block, SubdivisionSurface},
};
use glam::{Vec3A, Vec4};
use rayon::prelude::*;
use throng_base::math::Aabb;

/// Blocks per task.
const BLOCKS: usize = 128;

/// Moves the vertices and normals of `mesh` to the limit surface of a cage with the given points. Parallel.
pub fn refine(surface: &SubdivisionSurface, cage: &[[f32; 3]], mesh: &mut TriangleMesh) {
    let TriangleMesh { positions, normals, .. } = mesh;
    let bind = BindPose { positions: &[], normals: &[], tangents: &[] };
    limit_surface(surface, cage, bind, Chunk { first: 0, positions, normals, tangents: &mut [] });
}

/// Writes the limit surface of a cage to `out`, and returns its bounds. Normals and tangents are written if `out` has them; tangents keep
/// their directions in the bind pose relative to the surface. Deterministic, parallel.
pub(super) fn limit_surface(
    surface: &SubdivisionSurface,
    cage: &[[f32; 3]],
    bind: BindPose<'_>,
    out: Chunk<'_>,
) -> Aabb {
    let points = wide(cage);
    let rest = if bind.tangents.is_empty() { Vec::new() } else { wide(&surface.cage) };
    let Chunk { positions, normals, tangents, .. } = out;
    let tasks = tasks(surface, (&mut *positions, normals, tangents), bind.tangents);
    let run = |gathered: &mut (Vec<Vec4>, Vec<[Vec4; 3]>), task: Task<'_>| task.run(surface, &points, &rest, gathered);
    let boxes: Vec<Aabb> = tasks.into_par_iter().map_init(Default::default, run).collect();
    for &[vertex, source] in &surface.copies {
        if let Some(&position) = positions.get(source as usize) {
            positions.get_mut(vertex as usize).into_iter().for_each(|own| *own = position);
        }
    }
    boxes.into_iter().fold(Aabb::EMPTY, Aabb::union)
}

fn wide(points: &[[f32; 3]]) -> Vec<Vec4> {
    points.iter().map(|&[x, y, z]| Vec4::new(x, y, z, 0.0)).collect()
}

/// Blocks, and the vertices that are their results.
struct Task<'a> {
    blocks: &'a [Block],
    first: u32,
    positions: &'a mut [[f32; 3]],
    normals: &'a mut [[f32; 3]],
    tangents: &'a mut [[f32; 4]],
    bind_tangents: &'a [[f32; 4]],
}

type Arrays<'a> = (&'a mut [[f32; 3]], &'a mut [[f32; 3]], &'a mut [[f32; 4]]);

fn tasks<'a>(surface: &'a SubdivisionSurface, out: Arrays<'a>, bind_tangents: &'a [[f32; 4]]) -> Vec<Task<'a>> {
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
            bind_tangents: bind_tangents.get(first as usize..first as usize + count).unwrap_or_default(),
        });
    }
    tasks
}

impl Task<'_> {
    fn run(
        self,
        surface: &SubdivisionSurface,
        points: &[Vec4],
        rest: &[Vec4],
        (gathered, sums): &mut (Vec<Vec4>, Vec<[Vec4; 3]>),
    ) -> Aabb {
        let (mut min, mut max) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        for block in self.blocks {
            sums.clear();
            if !self.bind_tangents.is_empty() {
                surface.stencils.evaluate(block, rest, gathered, |_, sum| sums.push(sum));
            }
            surface.stencils.evaluate(block, points, gathered, |index, sum| {
                let vertex = (index - self.first) as usize;
                let Some(position) = self.positions.get_mut(vertex) else { return };
                let [at, u, v] = sum.map(Vec3A::from_vec4);
                *position = at.into();
                (min, max) = (min.min(at), max.max(at));
                if let Some(normal) = self.normals.get_mut(vertex) {
                    *normal = normal_of(u, v).into();
                }
                let before = sums.get((index - block.first) as usize).map(|[_, u, v]| [*u, *v]);
                if let (Some(tangent), Some(before), Some(bind)) =
                    (self.tangents.get_mut(vertex), before, self.bind_tangents.get(vertex))
                {
                    *tangent = carried(*bind, before.map(Vec3A::from_vec4), [u, v]);
                }
            });
        }
        Aabb { min: min.into(), max: max.into() }
    }
}

/// The unit normal between tangents; +Y without a direction.
#[inline]
fn normal_of(u: Vec3A, v: Vec3A) -> Vec3A {
    let normal = u.cross(v);
    let square = normal.length_squared();
    if (1e-30..1e30).contains(&square) {
        return normal * square.sqrt().recip();
    }
    // The squares of very small and very large numbers are out of the range of floats.
    u.normalize_or_zero().cross(v.normalize_or_zero()).normalize_or(Vec3A::Y)
}

/// A tangent of the bind pose on the moved surface. It keeps its coordinates in the basis of the surface's own tangents.
fn carried(tangent: [f32; 4], [u, v]: [Vec3A; 2], moved: [Vec3A; 2]) -> [f32; 4] {
    let [x, y, z, sign] = tangent;
    let tangent = Vec3A::new(x, y, z);
    let normal = u.cross(v);
    let square = normal.length_squared();
    let (a, b) = (tangent.cross(v).dot(normal) / square, u.cross(tangent).dot(normal) / square);
    let [x, y, z] = (moved[0] * a + moved[1] * b).try_normalize().unwrap_or(tangent).to_array();
    [x, y, z, sign]
}
