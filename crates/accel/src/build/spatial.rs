//! Spatial splits: long diagonal triangles fill little of their boxes, which overlap many neighbours. Before a tree is built, each of these boxes is
//! replaced by several boxes of parts of the triangle (Karras and Aila 2013, "Fast Parallel Construction of High-Quality Bounding Volume
//! Hierarchies", section 5). Several leaves then refer to the whole triangle.
//!
//! Two details differ from the paper. If a diagonal line is cut into n parts, their boxes have 1/n of the surface area of the whole box in total. The
//! total area is therefore minimal if the number of cuts is proportional to the square root of the possible gain. Also, a box is cut across its
//! longest side, at the coarsest grid plane in the middle half, so that parts of neighbouring triangles end at common planes.

use crate::{build::BuildPrim, surface::Surface};
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use throng_base::math::Aabb;

/// Maximum number of additional parts, relative to the number of triangles.
const MOST_PARTS: u64 = 1;
/// Maximum average number of boxes per triangle.
pub const MOST_BOXES: usize = 1 + MOST_PARTS as usize;
/// Surface area of the boxes of many small parts of a triangle, relative to the triangle's projected area along the axes. No cut can go below it.
const LEAST_SURFACE: f32 = 3.0;
/// Minimum gain of the first cut of a box, relative to the mean triangle's projected area along the axes. It corresponds to the cost of a leaf.
const LEAST_GAIN: f64 = 8.0;
/// Steps of the search for the minimum gain per cut that uses up the budget.
const SEARCH_STEPS: u32 = 12;
/// Number of halvings of the grid's sides.
const LEVELS: u32 = 20;
/// Minimum distance of a cut from the end of a box, relative to its side.
const MARGIN: f64 = 0.25;
/// Maximum number of corners of a triangle after clipping to a box.
const MOST_CORNERS: usize = 9;
/// Number of triangles that one task processes.
const CHUNK: usize = 1024;

/// Maximum number of boxes for a tree of high quality: one per triangle, and one per additional part.
pub fn most_boxes(surface: &Surface<'_>) -> usize {
    let cuts = Cuts::plan(surface).map_or(0, |cuts| cuts.total());
    surface.triangles.len() + cuts as usize
}

/// Cuts triangles in parts if that pays off. `prims` are the boxes of all triangles, in order. The first part of a triangle replaces its box, and others
/// are appended, each with the triangle's ID. Deterministic, parallel.
pub fn split_boxes(prims: &mut Vec<BuildPrim>, surface: &Surface<'_>) {
    let (Some(cuts), Some(grid)) = (Cuts::plan(surface), Grid::around(prims)) else { return };
    let chunks = prims.par_chunks_mut(CHUNK).zip(cuts.gains.par_chunks(CHUNK));
    let others: Vec<Vec<BuildPrim>> = chunks
        .map(|(prims, gains)| {
            let (mut parts, mut others) = (Vec::new(), Vec::new());
            for (prim, &gain) in prims.iter_mut().zip(gains) {
                let whole = ClippedTriangle::of(prim, surface);
                grid.cut(&whole, cuts.of(gain), prim.id, &mut parts);
                *prim = parts[0];
                others.extend(parts.drain(..).skip(1));
            }
            others
        })
        .collect();
    drop(cuts);
    prims.reserve_exact(others.iter().map(Vec::len).sum());
    prims.extend(others.into_iter().flatten());
}

/// The number of cuts of each triangle.
struct Cuts {
    /// Half the surface area that the boxes of many parts of each triangle would save.
    gains: Vec<f32>,
    /// Approximate gain of the last cut.
    least: f64,
}

impl Cuts {
    /// Plans the cuts; `None` if no triangle is worth one.
    fn plan(surface: &Surface<'_>) -> Option<Self> {
        let triangles = (0..surface.triangles.len()).into_par_iter();
        let triangles = triangles.with_min_len(CHUNK);
        let (gains, own): (Vec<f32>, Vec<f32>) = triangles.map(|i| gain(i, surface)).unzip();
        let total: f64 = own.iter().map(|&own| f64::from(own)).sum();
        let most = f64::from(gains.iter().copied().fold(0.0, f32::max));
        let least = LEAST_GAIN * total / own.len() as f64;
        // Also false if the total area is 0.
        let worth_it = least > 0.0 && most >= least;
        worth_it.then(|| Self { gains, least }.within(own.len() as u64 * MOST_PARTS))
    }

    /// Raises the minimum gain per cut until the budget suffices for all cuts.
    fn within(mut self, budget: u64) -> Self {
        let lowest = self.least;
        while self.total() > budget {
            self.least *= 4.0;
        }
        if self.least == lowest {
            return self;
        }
        let (mut low, mut high) = (0.25 * self.least, self.least);
        for _ in 0..SEARCH_STEPS {
            self.least = 0.5 * (low + high);
            if self.total() <= budget {
                high = self.least;
            } else {
                low = self.least;
            }
        }
        self.least = high;
        self
    }

    /// Number of cuts of a triangle with this gain.
    fn of(&self, gain: f32) -> u64 {
        (f64::from(gain) / self.least).sqrt() as u64
    }

    fn total(&self) -> u64 {
        let gains = self.gains.par_iter().with_min_len(CHUNK);
        gains.map(|&gain| self.of(gain)).sum()
    }
}

/// Returns half the surface area that boxes of many parts of a triangle would save, and the triangle's projected area along the axes.
fn gain(triangle: usize, surface: &Surface<'_>) -> (f32, f32) {
    let [a, b, c] = surface.corners(triangle).map(Vec3::from);
    let own = 0.5 * (b - a).cross(c - a).abs().element_sum();
    let gain = surface.bounds(triangle).half_area() - LEAST_SURFACE * own;
    (gain.max(0.0), own)
}

fn corners(triangle: u32, surface: &Surface<'_>) -> [DVec3; 3] {
    let corners = surface.corners(triangle as usize);
    corners.map(|corner| Vec3::from(corner).as_dvec3())
}

/// A cube around a mesh, whose sides are halved [`LEVELS`] times.
struct Grid {
    origin: DVec3,
    /// Side length of the smallest cells.
    cell: f64,
}

impl Grid {
    /// Creates the grid around all boxes; `None` if they have no extent.
    fn around(prims: &[BuildPrim]) -> Option<Self> {
        let all = prims.iter().map(BuildPrim::bounds);
        let all = all.fold(Aabb::EMPTY, Aabb::union);
        let grid =
            Self { origin: all.min.as_dvec3(), cell: f64::from(all.extent().max_element()) / f64::from(1 << LEVELS) };
        (grid.cell > 0.0 && grid.cell.is_finite()).then_some(grid)
    }

    /// Cuts a part up to `cuts` times, and appends the boxes. Fewer cuts are made if the precision of floats does not allow more.
    fn cut(&self, part: &ClippedTriangle, cuts: u64, triangle: u32, out: &mut Vec<BuildPrim>) {
        let halves = (cuts > 0).then(|| self.halves(part)).flatten();
        let Some(halves) = halves else {
            out.push(BuildPrim::new(&part.bounds, triangle));
            return;
        };
        let [left, right] = halves.each_ref().map(ClippedTriangle::length);
        let first = ((cuts - 1) as f64 * left / (left + right)).round() as u64;
        for (half, cuts) in halves.iter().zip([first, cuts - 1 - first]) {
            self.cut(half, cuts, triangle, out);
        }
    }

    /// Cuts a part in two; `None` if the precision of floats is insufficient.
    fn halves(&self, part: &ClippedTriangle) -> Option<[ClippedTriangle; 2]> {
        let axis = part.bounds.extent().max_position();
        let (min, max) = (f64::from(part.bounds.min[axis]), f64::from(part.bounds.max[axis]));
        let margin = MARGIN * (max - min);
        let plane = self.plane_between(axis, min + margin, max - margin);
        let halves = [false, true].map(|upper| part.half(axis, plane, upper));
        let sound = min < plane && plane < max && halves.iter().all(|half| !half.bounds.is_empty());
        sound.then_some(halves)
    }

    /// Returns the coarsest grid plane across `axis` between `min` and `max`, or the middle if there is none.
    fn plane_between(&self, axis: usize, min: f64, max: f64) -> f64 {
        let cell = |position: f64| ((position - self.origin[axis]) / self.cell) as u32;
        let (first, last) = (cell(min), cell(max));
        match (first ^ last).checked_ilog2() {
            Some(level) => self.origin[axis] + f64::from(last >> level << level) * self.cell,
            None => 0.5 * (min + max),
        }
    }
}

/// A part of a triangle.
struct ClippedTriangle {
    corners: [DVec3; MOST_CORNERS],
    count: usize,
    bounds: Aabb,
}

impl ClippedTriangle {
    /// The part that is the whole triangle.
    fn of(prim: &BuildPrim, surface: &Surface<'_>) -> Self {
        let mut part = Self { corners: [DVec3::ZERO; MOST_CORNERS], count: 3, bounds: prim.bounds() };
        part.corners[..3].copy_from_slice(&corners(prim.id, surface));
        part
    }

    fn length(&self) -> f64 {
        f64::from(self.bounds.extent().max_element())
    }

    /// Clips the part to one side of a plane (Sutherland and Hodgman 1974, "Reentrant Polygon Clipping").
    fn half(&self, axis: usize, plane: f64, upper: bool) -> Self {
        let corners = &self.corners[..self.count];
        let is_outside = |p: &DVec3| {
            if upper { p[axis] < plane } else { p[axis] > plane }
        };
        let mut half = Self { corners: [DVec3::ZERO; MOST_CORNERS], count: 0, bounds: Aabb::EMPTY };
        let behind = corners.iter().cycle().skip(self.count.saturating_sub(1));
        for (before, corner) in behind.zip(corners) {
            if is_outside(before) != is_outside(corner) {
                let share = (plane - before[axis]) / (corner[axis] - before[axis]);
                let mut crossing = before.lerp(*corner, share);
                crossing[axis] = plane;
                half.push(crossing);
            }
            if !is_outside(corner) {
                half.push(*corner);
            }
        }
        half.bounds = half.rounded_bounds().intersection(self.bounds);
        half
    }

    fn push(&mut self, corner: DVec3) {
        // Each plane that clips a convex polygon adds at most one corner, and a box has six planes.
        debug_assert!(self.count < MOST_CORNERS);
        if let Some(place) = self.corners.get_mut(self.count) {
            *place = corner;
            self.count += 1;
        }
    }

    /// The smallest box with float coordinates that contains all corners.
    fn rounded_bounds(&self) -> Aabb {
        let down = |x: f64| {
            let near = x as f32;
            if f64::from(near) > x { near.next_down() } else { near }
        };
        let up = |x: f64| -down(-x);
        let mut bounds = Aabb::EMPTY;
        for corner in &self.corners[..self.count] {
            let [x, y, z] = corner.to_array();
            bounds.min = bounds.min.min(Vec3::new(down(x), down(y), down(z)));
            bounds.max = bounds.max.max(Vec3::new(up(x), up(y), up(z)));
        }
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Blas, NodeLayout, Quality, blas::build_prims, validate::Coverage};
    use throng_base::math::hash_unit;
    use throng_scene::TriangleMesh;

    /// Triangles without common vertices; `corner(3 * triangle + corner)` returns each corner.
    fn soup(count: u32, corner: impl Fn(u32) -> Vec3) -> TriangleMesh {
        TriangleMesh {
            positions: (0..3 * count).map(|i| corner(i).into()).collect(),
            triangles: (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
            ..TriangleMesh::default()
        }
    }

    fn random(seed: u32) -> Vec3 {
        Vec3::from([0, 1, 2].map(|axis| hash_unit(axis, seed)))
    }

    /// Needles in all directions, far from the origin so that floats round them.
    fn needles(count: u32, thickness: f32) -> TriangleMesh {
        soup(count, |i| {
            let (needle, corner) = (i / 3, i % 3);
            let from = Vec3::new(7.3, -4.1, 0.9) + random(3 * needle);
            let along = random(3 * needle + 1) - 0.5;
            let aside = thickness * (random(3 * needle + 2) - 0.5);
            from + [Vec3::ZERO, along, aside][corner as usize]
        })
    }

    fn parts_of(mesh: &TriangleMesh) -> Option<Vec<BuildPrim>> {
        let surface = mesh.into();
        let mut prims = build_prims(&surface);
        split_boxes(&mut prims, &surface);
        (prims.len() > mesh.triangles.len()).then_some(prims)
    }

    #[test]
    fn parts_make_up_their_triangles_and_are_no_more_than_allowed() {
        for mesh in [
            needles(3000, 0.01),
            needles(40, 1e-5),
            // Small triangles, and one so long that the grid's finest cells are larger than the others.
            soup(300, |i| match i {
                0 => Vec3::splat(1e9),
                _ => 0.01 * random(i),
            }),
        ] {
            let parts = parts_of(&mesh).expect("there is something to gain");
            let count = mesh.triangles.len();
            assert!(parts.len() > count && parts.len() <= most_boxes(&(&mesh).into()));
            assert!(most_boxes(&(&mesh).into()) <= count * (1 + MOST_PARTS as usize));
            for part in &parts {
                let whole = Surface::from(&mesh).bounds(part.id as usize);
                assert!(whole.contains(&part.bounds()) && !part.bounds().is_empty());
            }
            let surface = (&mesh).into();
            let mut coverage = Coverage::new(parts.iter().map(|part| part.id), &surface);
            for part in &parts {
                coverage.add(part.id, &part.bounds());
            }
            assert_eq!(coverage.check(), Ok(()));
        }
    }

    #[test]
    fn boxes_of_parts_have_the_surface_that_was_promised() {
        let mesh = needles(3000, 0.001);
        let surface = |prims: &[BuildPrim]| {
            let areas = prims.iter().map(|prim| f64::from(prim.bounds().half_area()));
            areas.sum::<f64>()
        };
        let whole = surface(&build_prims(&(&mesh).into()));
        let parts = surface(&parts_of(&mesh).unwrap());
        // Two boxes of a line have half the surface area of one, and some lines get more than two boxes.
        assert!(parts < 0.5 * whole, "{parts} of {whole}");
    }

    #[test]
    fn where_there_is_little_to_gain_triangles_stay_whole() {
        let tiles = soup(5000, |i| {
            let place = Vec3::new((i / 3 % 70) as f32, 0.0, (i / 210) as f32);
            place + [Vec3::ZERO, Vec3::X, Vec3::Z][i as usize % 3]
        });
        let askew = soup(5000, |i| 10.0 * random(i / 3) + 0.1 * random(7 + i));
        for mesh in [tiles, askew, needles(0, 1.0), soup(9, |_| Vec3::ONE)] {
            assert!(parts_of(&mesh).is_none());
        }
    }

    #[test]
    fn trees_over_parts_cost_less() {
        // Small triangles with a few needles.
        let needles = needles(200, 0.001);
        let mesh = soup(3000, |i| match needles.positions.get(i as usize) {
            Some(corner) => Vec3::from(*corner),
            None => Vec3::new(7.3, -4.1, 0.9) + random(i / 3) + 0.01 * random(9 + i),
        });
        for layout in NodeLayout::ALL {
            let cost = |quality| Blas::of_surface((&mesh).into(), layout, quality).sah_cost();
            let (whole, parts) = (cost(Quality::Balanced), cost(Quality::High));
            assert!(parts < 0.75 * whole, "{layout:?}: {parts} of {whole}");
        }
    }
}
