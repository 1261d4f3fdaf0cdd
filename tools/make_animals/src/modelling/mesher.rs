//! Converts the signed distance into a closed triangle mesh by marching tetrahedra.
//!
//! Tetrahedra have no ambiguous cases, so the mesh is always closed and manifold. It has many uneven triangles, which are corrected by
//! remeshing.

use super::sdf::Bounds;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// A triangle mesh; triangles are counter-clockwise seen from outside.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    pub points: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

/// Cells per side of a block. Blocks far from the surface are skipped.
const BLOCK: i32 = 8;
/// The six tetrahedra of a cube. Each is given by the order of axes along a path from the low to the high corner, and by whether that order
/// is even.
const WALKS: [([i32; 3], bool); 6] = [
    ([0, 1, 2], true),
    ([1, 2, 0], true),
    ([2, 0, 1], true),
    ([0, 2, 1], false),
    ([2, 1, 0], false),
    ([1, 0, 2], false),
];

/// A mesh vertex, identified by its grid edge.
#[derive(Clone, Copy)]
struct Crossing {
    edge: u64,
    point: Vec3,
}

/// Meshes the zero surface of `distance` on a grid of cells of size `cell`.
pub fn mesh(distance: &(dyn Fn(Vec3) -> f32 + Sync), bounds: Bounds, cell: f32) -> Mesh {
    let blocks = ((bounds.max - bounds.min) / (cell * BLOCK as f32)).ceil().as_ivec3();
    let grid = Grid { distance, origin: bounds.min, cell, stride: blocks * BLOCK + 1 };
    let count = blocks.x * blocks.y * blocks.z;
    let soups: Vec<Vec<[Crossing; 3]>> = (0..count)
        .into_par_iter()
        .map(|i| {
            let at = IVec3::new(i % blocks.x, i / blocks.x % blocks.y, i / blocks.x / blocks.y);
            grid.march_block(at * BLOCK)
        })
        .collect();
    largest_piece(&weld(&soups))
}

struct Grid<'a> {
    distance: &'a (dyn Fn(Vec3) -> f32 + Sync),
    origin: Vec3,
    cell: f32,
    stride: IVec3,
}

impl Grid<'_> {
    fn point(&self, at: IVec3) -> Vec3 {
        self.origin + at.as_vec3() * self.cell
    }

    /// Triangles of one block; empty if its centre is far from the surface.
    fn march_block(&self, base: IVec3) -> Vec<[Crossing; 3]> {
        const SLACK: f32 = 1.35;
        let half = self.cell * BLOCK as f32 * 0.5;
        let centre = self.point(base) + half;
        if (self.distance)(centre).abs() > half * 3f32.sqrt() * SLACK {
            return Vec::new();
        }
        let side = BLOCK + 1;
        let values: Vec<f32> = (0..side * side * side)
            .map(|i| IVec3::new(i % side, i / side % side, i / side / side))
            .map(|at| (self.distance)(self.point(base + at)))
            .collect();
        let value = |at: IVec3| values[(at.x + side * (at.y + side * at.z)) as usize];
        let mut triangles = Vec::new();
        for i in 0..BLOCK * BLOCK * BLOCK {
            let low = IVec3::new(i % BLOCK, i / BLOCK % BLOCK, i / BLOCK / BLOCK);
            for (walk, even) in WALKS {
                let mut corners = [low; 4];
                for step in 0..3 {
                    corners[step + 1] = corners[step];
                    corners[step + 1][walk[step] as usize] += 1;
                }
                if !even {
                    corners.swap(1, 2);
                }
                let tetrahedron = corners.map(|at| (base + at, value(at)));
                self.march_tetrahedron(&tetrahedron, &mut triangles);
            }
        }
        triangles
    }

    /// Cuts a tetrahedron of positive orientation.
    fn march_tetrahedron(&self, corners: &[(IVec3, f32); 4], out: &mut Vec<[Crossing; 3]>) {
        /// Even permutations of the corners, by the first corner.
        const ODD_ONE_FIRST: [[usize; 4]; 4] = [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]];
        /// Even permutations of the corners, by the first pair.
        const PAIR_FIRST: [[usize; 4]; 6] =
            [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 2, 0], [2, 3, 0, 1]];
        let inside: Vec<usize> = (0..4).filter(|&i| corners[i].1 < 0.0).collect();
        let cut = |a: usize, b: usize| self.crossing(corners[a], corners[b]);
        match inside.len() {
            1 => {
                let [i, a, b, c] = ODD_ONE_FIRST[inside[0]];
                out.push([cut(i, a), cut(i, b), cut(i, c)]);
            }
            2 => {
                let pair = [inside[0], inside[1]];
                for [i, j, k, l] in PAIR_FIRST {
                    if [i, j] == pair {
                        out.push([cut(i, k), cut(i, l), cut(j, l)]);
                        out.push([cut(i, k), cut(j, l), cut(j, k)]);
                    }
                }
            }
            3 => {
                let outside = 6 - inside.iter().sum::<usize>();
                let [o, a, b, c] = ODD_ONE_FIRST[outside];
                out.push([cut(o, a), cut(o, c), cut(o, b)]);
            }
            _ => {}
        }
    }

    /// The vertex on a grid edge, kept slightly away from the ends so that vertices never coincide.
    fn crossing(&self, a: (IVec3, f32), b: (IVec3, f32)) -> Crossing {
        let (low, high) = if a.0.cmple(b.0).all() { (a, b) } else { (b, a) };
        let step = high.0 - low.0;
        let direction = (step.x + 2 * step.y + 4 * step.z) as u64;
        let [x, y, z] = low.0.to_array().map(|v| v as u64);
        let [nx, ny, _] = self.stride.to_array().map(|v| v as u64);
        let t = (low.1 / (low.1 - high.1)).clamp(0.05, 0.95);
        Crossing { edge: (x + nx * (y + ny * z)) * 8 + direction, point: self.point(low.0).lerp(self.point(high.0), t) }
    }
}

/// Numbers the vertices in order of first use.
fn weld(soups: &[Vec<[Crossing; 3]>]) -> Mesh {
    let mut mesh = Mesh::default();
    let mut numbers: HashMap<u64, u32> = HashMap::new();
    for triangle in soups.iter().flatten() {
        let corners = triangle.map(|crossing| {
            *numbers.entry(crossing.edge).or_insert_with(|| {
                mesh.points.push(crossing.point);
                mesh.points.len() as u32 - 1
            })
        });
        mesh.triangles.push(corners);
    }
    mesh
}

/// The connected component with the most vertices. Others are bubbles inside the solid.
fn largest_piece(mesh: &Mesh) -> Mesh {
    let mut parents: Vec<u32> = (0..mesh.points.len() as u32).collect();
    for &[a, b, c] in &mesh.triangles {
        for other in [b, c] {
            let (root, other_root) = (find_root(&mut parents, a), find_root(&mut parents, other));
            parents[root.max(other_root) as usize] = root.min(other_root);
        }
    }
    let roots: Vec<u32> = (0..parents.len() as u32).map(|vertex| find_root(&mut parents, vertex)).collect();
    let mut sizes = vec![0u32; roots.len()];
    for &root in &roots {
        sizes[root as usize] += 1;
    }
    let largest = (0..sizes.len()).max_by_key(|&root| sizes[root]).unwrap_or(0) as u32;
    let mut numbers = vec![u32::MAX; roots.len()];
    let mut kept = Mesh::default();
    for (vertex, &root) in roots.iter().enumerate() {
        if root == largest {
            numbers[vertex] = kept.points.len() as u32;
            kept.points.push(mesh.points[vertex]);
        }
    }
    kept.triangles = mesh
        .triangles
        .iter()
        .filter(|corners| roots[corners[0] as usize] == largest)
        .map(|corners| corners.map(|corner| numbers[corner as usize]))
        .collect();
    kept
}

/// The root of a vertex's component, with path compression.
fn find_root(parents: &mut [u32], mut vertex: u32) -> u32 {
    while parents[vertex as usize] != vertex {
        let next = parents[vertex as usize];
        parents[vertex as usize] = parents[next as usize];
        vertex = next;
    }
    vertex
}
