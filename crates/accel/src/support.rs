//! The vertices of a mesh that can be extreme in some direction. They give the exact box of a transformed mesh with a few dot products.
//!
//! The corners of a transformed bounding box overestimate a rotated mesh by far. The convex hull is exact, but has hundreds of vertices. Therefore
//! directions are grouped into cells of a cube map, and each cell stores the vertices that are extreme for some direction inside it.

use crate::Buffer;
use glam::{Affine3, Vec3, Vec4};
use rayon::prelude::*;
use std::ops::Range;
use throng_base::math::{Aabb, transformed_reach};

/// Number of cells along one edge of a cube face, a power of two.
const RESOLUTION: usize = throng_abi::SUPPORT_EDGE as usize;
/// Number of cells of a whole cube map.
const CELLS: usize = throng_abi::SUPPORT_CELLS as usize;
/// Maximum number of different positions of meshes that are searched exhaustively. A map takes 147 KB, far more than such a mesh.
const SMALL: usize = 32;
/// Maximum number of vertices of meshes in which equal positions are looked for. Vertices with several normals or texture coordinates share one.
const MOST_COMPARED: usize = 8 * SMALL;
/// The number of blocks per cell is a multiple of this, so that the end of most loops over them is predictable.
const TOGETHER: usize = 2;
/// Maximum number of candidates per cell; cells with more store a rectangle around them instead. Flat undersides have many candidates in the single
/// direction that they face, and there the rectangle is nearly exact.
const CROWD: usize = 32;
/// Maximum number of vertices whose cells are computed at once.
const MOST_AT_ONCE: usize = 1 << 18;
/// A larger cell, before its division, is replaced by the rectangle if it has more than this many times its share of the vertices. It would otherwise
/// pass nearly all of them on to each of its parts.
const MOST_SHARES: usize = 8;

/// Number of points per block in the search for the farthest one.
const CHUNK: usize = 256;

/// Maximum deviation of a transform's row from an axis, relative to its length, for the row to count as axis-aligned. It enlarges a box by a
/// millionth of the mesh.
const OFF_AXIS: f32 = 1e-6;

/// Candidates for the extreme vertex, per direction cell.
#[derive(Clone)]
pub struct SupportMap {
    /// The candidates of cell `c` are in `blocks[starts[c]..starts[c + 1]]`. Small meshes have a single cell.
    pub starts: Buffer<u32>,
    pub blocks: Buffer<Block>,
    /// Box of the untransformed vertices.
    pub bounds: Aabb,
}

/// Four points, stored by coordinate, so that their dot products fit SIMD registers. A short last block repeats its first point.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
pub struct Block {
    x: Vec4,
    y: Vec4,
    z: Vec4,
}

impl Block {
    fn new(points: &[Vec3]) -> Self {
        let lane = |i: usize| *points.get(i).unwrap_or(&points[0]);
        let [a, b, c, d] = std::array::from_fn(lane);
        Self { x: Vec4::new(a.x, b.x, c.x, d.x), y: Vec4::new(a.y, b.y, c.y, d.y), z: Vec4::new(a.z, b.z, c.z, d.z) }
    }

    fn is_finite(&self) -> bool {
        [self.x, self.y, self.z].iter().all(|axis| axis.is_finite())
    }
}

/// Points, stored by coordinate, so that compilers vectorise loops over them.
struct Points {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
}

impl Points {
    fn of(points: &[Vec3]) -> Self {
        Self {
            x: points.iter().map(|p| p.x).collect(),
            y: points.iter().map(|p| p.y).collect(),
            z: points.iter().map(|p| p.z).collect(),
        }
    }

    fn len(&self) -> usize {
        self.x.len()
    }

    fn get(&self, i: usize) -> Vec3 {
        Vec3::new(self.x[i], self.y[i], self.z[i])
    }

    fn iter(&self) -> impl Iterator<Item = Vec3> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Dot products of the points in `range` with `d`.
    fn along(&self, range: Range<usize>, d: Vec3) -> impl Iterator<Item = f32> + '_ {
        let coordinates = self.x[range.clone()].iter().zip(&self.y[range.clone()]);
        let coordinates = coordinates.zip(&self.z[range]);
        coordinates.map(move |((x, y), z)| x * d.x + y * d.y + z * d.z)
    }

    /// Index of the first of the points that are farthest in `direction`; `None` if there are no points.
    fn farthest(&self, direction: Vec3) -> Option<usize> {
        let (mut most, mut chunk) = (f32::NEG_INFINITY, 0..0);
        for begin in (0..self.len()).step_by(CHUNK) {
            let own = begin..(begin + CHUNK).min(self.len());
            // Explicit lanes, because the compiler must not reorder comparisons of floats.
            let mut lanes = [f32::NEG_INFINITY; 8];
            let mut dots = self.along(own.clone(), direction);
            for _ in 0..own.len() / lanes.len() {
                for (lane, along) in lanes.iter_mut().zip(&mut dots) {
                    *lane = if along > *lane { along } else { *lane };
                }
            }
            let farthest = dots.chain(lanes).fold(f32::NEG_INFINITY, f32::max);
            if farthest > most {
                (most, chunk) = (farthest, own);
            }
        }
        let begin = chunk.start;
        let mut dots = self.along(chunk, direction);
        dots.position(|along| along == most).map(|i| begin + i)
    }

    /// The points whose entry in `dropped` is 0.
    fn without(&self, dropped: &[u32]) -> Self {
        let count = dropped.iter().filter(|&&d| d == 0).count();
        let kept = |from: &[f32]| {
            // Every value is written, and the next one overwrites a dropped one, because a branch would be unpredictable.
            let (mut to, mut next) = (vec![0.0; count + 1], 0);
            for (value, dropped) in from.iter().zip(dropped) {
                to[next] = *value;
                next += usize::from(*dropped == 0);
            }
            to.truncate(count);
            to
        };
        Self { x: kept(&self.x), y: kept(&self.y), z: kept(&self.z) }
    }
}

/// A cone of directions: all directions that deviate from `center` by at most the angle with the given sine. `directions` are samples of it.
struct Cone {
    directions: Vec<Vec3>,
    center: Vec3,
    sine: f32,
}

/// Whether a row of a matrix only scales an axis, to the accuracy that a box needs.
fn is_along_axis(row: Vec3) -> bool {
    let row = row.abs();
    row.element_sum() <= row.max_element() * (1.0 + OFF_AXIS)
}

impl SupportMap {
    /// Builds the map by halving the cells level by level, so that each cell only tests the candidates of its parent. Takes a few milliseconds per
    /// 10,000 vertices. Large sets are divided, because the candidates of all cells take several times the memory of the vertices.
    pub fn new(vertices: &[Vec3]) -> Self {
        let bounds = Aabb::of_points(vertices.iter().copied());
        if vertices.len() <= MOST_COMPARED {
            let positions = different(vertices);
            if positions.len() <= SMALL {
                return Self::of_cells(&[positions], bounds);
            }
        }
        let parts = vertices.chunks(MOST_AT_ONCE).map(|vertices| {
            let vertices = Points::of(vertices);
            let faces: Vec<Vec<Vec<Vec3>>> = (0..6).into_par_iter().map(|face| face_cells(face, &vertices)).collect();
            faces.into_iter().flatten().collect()
        });
        Self::of_cells(&parts.reduce(joined).unwrap_or_default(), bounds)
    }

    fn of_cells(cells: &[Vec<Vec3>], bounds: Aabb) -> Self {
        let (mut starts, mut blocks) = (vec![0], Vec::new());
        for points in cells {
            let begin = blocks.len();
            blocks.extend(points.chunks(4).map(Block::new));
            while let Some(&last) = blocks.last()
                && !(blocks.len() - begin).is_multiple_of(TOGETHER)
            {
                blocks.push(last);
            }
            starts.push(blocks.len() as u32);
        }
        Self { starts: Buffer::copied(&starts), blocks: Buffer::copied(&blocks), bounds }
    }

    /// Maximum sizes in bytes of starts and blocks.
    pub const MOST_BYTES: [usize; 2] = [(CELLS + 1) * size_of::<u32>(), CELLS * CROWD.div_ceil(4) * size_of::<Block>()];

    /// The start of each cell's blocks, and the coordinates of their points, as in [`TlasBuild`](throng_abi::TlasBuild).
    pub fn parts(&self) -> (&[u32], &[f32]) {
        (&self.starts, bytemuck::cast_slice(&self.blocks))
    }

    /// Whether there is a cell for every direction, and all blocks of each cell exist and are finite. Queries then stay inside the map, and at worst
    /// return a box that is too small.
    pub fn is_sound(&self) -> bool {
        let end = self.starts.last().map(|&end| end as usize);
        [2, CELLS + 1].contains(&self.starts.len())
            && self.starts.is_sorted()
            && end == Some(self.blocks.len())
            && self.blocks.iter().all(Block::is_finite)
    }

    pub fn bytes(&self) -> usize {
        self.starts.bytes() + self.blocks.bytes()
    }

    /// The tightest box around the transformed vertices, widened by the rounding error. If `transform` maps axes to axes, this is the transformed
    /// box.
    pub fn transformed_bounds(&self, transform: &Affine3) -> Aabb {
        let rows = transform.matrix3.transpose();
        let slack = rounding_slack(transform, self.bounds.reach());
        let boxed = self.bounds.transformed(transform);
        if [rows.x_axis, rows.y_axis, rows.z_axis].into_iter().all(is_along_axis) {
            return Aabb { min: boxed.min - slack, max: boxed.max + slack };
        }
        let (x, y, z) = (self.extent(rows.x_axis), self.extent(rows.y_axis), self.extent(rows.z_axis));
        let (min, max) = (Vec3::new(x.0, y.0, z.0), Vec3::new(x.1, y.1, z.1));
        let t = transform.translation;
        // The transformed box is at least as large, except where a crowded cell was simplified.
        Aabb { min: (min + t).max(boxed.min) - slack, max: (max + t).min(boxed.max) + slack }
    }

    /// Minimum and maximum dot product of a vertex with `direction`.
    fn extent(&self, direction: Vec3) -> (f32, f32) {
        let (ahead, behind) = if self.starts.len() == 2 { (0, 0) } else { cells_of(direction) };
        (-self.support(behind, -direction), self.support(ahead, direction))
    }

    /// Maximum dot product with `direction`, which must lie in `cell`.
    fn support(&self, cell: usize, direction: Vec3) -> f32 {
        let range = self.starts[cell] as usize..self.starts[cell + 1] as usize;
        let (x, y, z) = (Vec4::splat(direction.x), Vec4::splat(direction.y), Vec4::splat(direction.z));
        let along = |b: &Block| b.x * x + b.y * y + b.z * z;
        let (groups, _) = self.blocks[range].as_chunks::<TOGETHER>();
        let best = groups.iter().fold(Vec4::NEG_INFINITY, |best, [a, b]| best.max(along(a).max(along(b))));
        best.max_element()
    }
}

/// Each of these positions once.
fn different(vertices: &[Vec3]) -> Vec<Vec3> {
    let mut positions = vertices.to_vec();
    positions.sort_unstable_by_key(|position| position.to_array().map(f32::to_bits));
    positions.dedup();
    positions
}

/// Upper bound of the rounding error, per axis, of a transformed point within `reach` of the origin: a few ulps of the sum of the terms.
pub fn rounding_slack(transform: &Affine3, reach: Vec3) -> Vec3 {
    let terms = transformed_reach(transform, reach);
    8.0 * f32::EPSILON * (terms + transform.translation.abs())
}

/// The candidates of each cell of a face, row by row.
fn face_cells(face: usize, vertices: &Points) -> Vec<Vec<Vec3>> {
    let mut cells = vec![candidates(vertices, &cone(face, 0, 0, 1))];
    let mut resolution = 1;
    while resolution < RESOLUTION {
        let parents = std::mem::take(&mut cells);
        let finer = 2 * resolution;
        let most = match finer {
            RESOLUTION => CROWD,
            _ => (MOST_SHARES * vertices.len() / (finer * finer)).max(CROWD),
        };
        for (x, y) in (0..finer).flat_map(|y| (0..finer).map(move |x| (x, y))) {
            let (parent, cone) = (&parents[y / 2 * resolution + x / 2], cone(face, x, y, finer));
            let mut cell = candidates(parent, &cone);
            if cell.len() > most {
                cell = Points::of(&cover(&cell, &cone));
            }
            cells.push(cell);
        }
        resolution = finer;
    }
    cells.iter().map(|cell| cell.iter().collect()).collect()
}

/// The candidates of each cell among those of two sets of vertices.
fn joined(one: Vec<Vec<Vec3>>, other: Vec<Vec<Vec3>>) -> Vec<Vec<Vec3>> {
    let pairs = one.into_par_iter().zip(other).enumerate();
    let join = |(index, (one, other)): (usize, (Vec<Vec3>, Vec<Vec3>))| {
        let (row, column) = (index / RESOLUTION, index % RESOLUTION);
        let cone = cone(row / RESOLUTION, column, row % RESOLUTION, RESOLUTION);
        let cell = candidates(&Points::of(&[one, other].concat()), &cone);
        if cell.len() > CROWD { cover(&cell, &cone).into() } else { cell.iter().collect() }
    };
    pairs.map(join).collect()
}

/// Four points that reach at least as far as `points` in every direction of the cone: the rectangle around them, seen along the cone's axis, at the
/// height of the farthest point.
fn cover(points: &Points, cone: &Cone) -> [Vec3; 4] {
    let (s, t) = cone.center.any_orthonormal_pair();
    let in_frame = |p: Vec3| Vec3::new(p.dot(s), p.dot(t), p.dot(cone.center));
    let around = Aabb::of_points(points.iter().map(in_frame));
    // Rounding error of the conversion to the frame and back.
    let slack = Vec3::splat(8.0 * f32::EPSILON * around.reach().max_element());
    let (min, max) = (around.min - slack, around.max + slack);
    let corner = |x: f32, y: f32| s * x + t * y + cone.center * max.z;
    [corner(min.x, min.y), corner(max.x, min.y), corner(min.x, max.y), corner(max.x, max.y)]
}

/// The cells of a direction and of its opposite. Faces are +X, -X, +Y, -Y, +Z, -Z. Their rows and columns run along the two other axes in order, so
/// the opposite cell is the mirror image on the next face.
fn cells_of(d: Vec3) -> (usize, usize) {
    let a = d.abs();
    // Selects and a table instead of branches, because the longest axis is unpredictable.
    let of_yz = if a.y >= a.z { 1 } else { 2 };
    let axis = if a.x >= a.y.max(a.z) { 0 } else { of_yz };
    let along = [d.x, d.y, d.z, d.x, d.y];
    let scale = 0.5 * RESOLUTION as f32 / along[axis].abs().max(f32::MIN_POSITIVE);
    let cell = |v: f32| ((v * scale + 0.5 * RESOLUTION as f32) as usize).min(RESOLUTION - 1);
    let (row, column) = (cell(along[axis + 2]), cell(along[axis + 1]));
    let negative = usize::from(along[axis] < 0.0);
    let index = |face, row, column| (face * RESOLUTION + row) * RESOLUTION + column;
    (
        index(axis * 2 + negative, row, column),
        index(axis * 2 + 1 - negative, RESOLUTION - 1 - row, RESOLUTION - 1 - column),
    )
}

/// The cone around cell (x, y) of a face with `resolution` cells along an edge, and its corner directions.
fn cone(face: usize, x: usize, y: usize, resolution: usize) -> Cone {
    let axis = face / 2;
    let direction = |u: f32, v: f32| {
        let mut d = Vec3::ZERO;
        d[axis] = if face.is_multiple_of(2) { 1.0 } else { -1.0 };
        d[(axis + 1) % 3] = (x as f32 + u) * 2.0 / resolution as f32 - 1.0;
        d[(axis + 2) % 3] = (y as f32 + v) * 2.0 / resolution as f32 - 1.0;
        d.normalize()
    };
    let center = direction(0.5, 0.5);
    let corners = [direction(0.0, 0.0), direction(1.0, 0.0), direction(0.0, 1.0), direction(1.0, 1.0)];
    // Slightly more than the corners, for directions that rounding moves into the neighbouring cell.
    let sine = corners.iter().map(|c| center.cross(*c).length()).fold(0.0, f32::max) * 1.001 + 1e-5;
    Cone {
        // The centre comes first, because its winner eliminates most of the other vertices.
        directions: [center].into_iter().chain(corners).collect(),
        center,
        sine,
    }
}

/// Removes the vertices that some winner exceeds in every direction of the cone, and returns the others. Winners are the farthest vertices in the
/// cone's `directions`. Of vertices equal to a winner, only the first is kept.
fn candidates(vertices: &Points, cone: &Cone) -> Points {
    let winners = cone.directions.iter().filter_map(|d| vertices.farthest(*d));
    let mut winners: Vec<usize> = winners.collect();
    winners.sort_unstable();
    winners.dedup();
    // The maximum of dot(v - w, d) over the cone is negative exactly if the angle between v - w and the cone's centre exceeds a right angle plus the
    // cone's half angle.
    let (center, sine2) = (cone.center, cone.sine * cone.sine);
    let mut beaten = vec![0u32; vertices.len()];
    for winner in winners {
        let w = vertices.get(winner);
        let coordinates = vertices.x.iter().zip(&vertices.y).zip(&vertices.z);
        for (i, (((x, y), z), beaten)) in coordinates.zip(&mut beaten).enumerate() {
            let (x, y, z) = (x - w.x, y - w.y, z - w.z);
            let along = x * center.x + y * center.y + z * center.z;
            let squared = x * x + y * y + z * z;
            let is_equal = u32::from(x.abs() + y.abs() + z.abs() == 0.0);
            *beaten |= u32::from(along < 0.0) & u32::from(along * along > squared * sine2);
            *beaten |= is_equal & u32::from(i != winner);
        }
    }
    vertices.without(&beaten)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{EulerRot, Quat};
    use std::f32::consts::FRAC_PI_2;
    use throng_base::math::hash_unit;

    fn cloud(n: u32, seed: u32) -> Vec<Vec3> {
        let random = |i| hash_unit(seed, i) * 2.0 - 1.0;
        (0..n).map(|i| Vec3::new(random(3 * i), 2.0 * random(3 * i + 1), 0.3 * random(3 * i + 2))).collect()
    }

    #[test]
    fn boxes_of_crowds_are_never_too_small() {
        // A dome over a flat underside of 10,000 points, which all belong to one direction; and a similar shape stretched to a rod.
        let dome = (0..10_000u32).flat_map(|i| {
            let (x, z) = ((i % 100) as f32 - 50.0, (i / 100) as f32 - 50.0);
            let top = (5000.0 - x * x - z * z).max(0.0).sqrt();
            [Vec3::new(x, 0.0, z), Vec3::new(x, top, z)]
        });
        let dome: Vec<Vec3> = dome.collect();
        let rod = dome.iter().map(|p| *p * Vec3::new(10.0, 1e-5, 1e-5)).collect();
        for points in [dome, rod] {
            let map = SupportMap::new(&points);
            for i in 0..100u32 {
                let angle = |k: u32| hash_unit(5, 3 * i + k) * 7.0;
                let turn = Quat::from_euler(EulerRot::XYZ, angle(0), angle(1), angle(2));
                let turn = if i % 2 == 0 { turn } else { Quat::from_rotation_y(angle(0)) };
                let transform = Affine3::from_quat(turn);
                let exact = Aabb::of_points(points.iter().map(|p| transform.transform_point3(*p)));
                assert!(map.transformed_bounds(&transform).contains(&exact), "{i}");
            }
        }
    }

    #[test]
    fn small_meshes_need_no_cells() {
        // The corners of a cube, with a normal for each of three faces.
        let corners = (0..24u32).map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2 & 1) as f32));
        assert!(SupportMap::new(&corners.collect::<Vec<_>>()).bytes() < 500);
        assert!(SupportMap::new(&cloud(SMALL as u32, 1)).bytes() < 1000);
        assert!(SupportMap::new(&cloud(SMALL as u32 + 1, 1)).bytes() > 100_000);
    }

    #[test]
    fn the_box_is_tight_and_never_too_small() {
        for n in [1, 5, 9, 40, 2000] {
            let points = cloud(n, n);
            let map = SupportMap::new(&points);
            for i in 0..200u32 {
                // The first transforms map axes to axes.
                let turn = |k: u32| {
                    if i < 40 { (i >> (2 * k) & 3) as f32 * FRAC_PI_2 } else { hash_unit(77, 4 * i + k) * 7.0 }
                };
                let angle = |k: u32| hash_unit(77, 4 * i + k) * 7.0;
                let rotation = Quat::from_euler(EulerRot::XYZ, turn(0), turn(1), turn(2));
                let scale = Vec3::new(angle(3) - 3.0, 0.5, 1.0);
                let transform =
                    Affine3::from_scale_rotation_translation(scale, rotation, Vec3::new(3.0, -2.0, angle(1)));
                let exact = Aabb::of_points(points.iter().map(|p| transform.transform_point3(*p)));
                let found = map.transformed_bounds(&transform);
                assert!(found.contains(&exact), "{n} points, transform {i}: {found:?} lacks {exact:?}");
                // Small clouds have no crowded cells.
                let slack = if n < 100 { 3e-5 } else { 0.02 * exact.diagonal() };
                assert!((found.min - exact.min).abs().max_element() < slack, "{n} {i} {found:?} {exact:?}");
                assert!((found.max - exact.max).abs().max_element() < slack);
            }
        }
    }

    #[test]
    fn boxes_of_large_sets_are_as_tight() {
        let points = cloud(2 * MOST_AT_ONCE as u32 + 1000, 9);
        let map = SupportMap::new(&points);
        for i in 0..4u32 {
            let transform = Affine3::from_quat(Quat::from_rotation_z(i as f32) * Quat::from_rotation_x(0.3 * i as f32));
            let exact = Aabb::of_points(points.iter().map(|p| transform.transform_point3(*p)));
            let found = map.transformed_bounds(&transform);
            assert!(
                found.contains(&exact) && (found.extent() - exact.extent()).max_element() < 0.01,
                "{found:?} {exact:?}"
            );
        }
    }

    #[test]
    fn cells_keep_few_candidates() {
        let map = SupportMap::new(&cloud(5000, 3));
        assert!(map.blocks.len() / CELLS < 15, "{} blocks for {CELLS} cells", map.blocks.len());
    }
}
