//! Height fields from a picture or noise, with valleys and beds along curves.

use super::{cells::Cells, distances::along, lattice::Lattice, noise::Noise};
use glam::{Vec2, Vec3, Vec3Swizzles};
use rayon::prelude::*;
use throng_scene::{TriangleMesh, curve::Curve};

/// Heights at the corners of equal cells over a rectangle of the XZ plane, centred at the origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Terrain {
    /// Extent along X and Z.
    extent: Vec2,
    /// Number of cells along X and Z.
    cells: [usize; 2],
    /// Heights, row by row along X, starting at the minimum of x and z.
    heights: Vec<f32>,
}

/// A strip along a curve in which a terrain is level across.
#[derive(Clone, Copy, Debug)]
pub struct Bed {
    /// Width of the level part.
    pub width: f32,
    /// Distance from the level part to the unchanged terrain.
    pub blend: f32,
    /// Depth of the bed below its line.
    pub depth: f32,
    /// Whether its line is the curve itself, rather than the terrain below or above it.
    pub on_curve: bool,
    /// Length along the curve over which heights are averaged.
    pub smooth: f32,
}

impl Terrain {
    /// Creates a terrain from a function of the position: (0, 0) is the minimum of x and z, (1, 1) the maximum.
    pub fn new(extent: Vec2, cells: [usize; 2], height: impl Fn(Vec2) -> f32 + Sync) -> Self {
        let row = cells[0] + 1;
        let share = |i: usize| Vec2::new((i % row) as f32 / cells[0] as f32, (i / row) as f32 / cells[1] as f32);
        let heights = (0..row * (cells[1] + 1)).into_par_iter().map(|i| height(share(i))).collect();
        Self { extent, cells, heights }
    }

    /// A terrain of noise with heights from 0 to `size.y`. `scale` is the wavelength of the first octave.
    pub fn of_noise([seed, octaves]: [u32; 2], scale: f32, size: Vec3, cells: [usize; 2]) -> Self {
        let noise = Noise::new(seed, octaves, scale);
        Self::new(size.xz(), cells, |share| noise.at((share - 0.5) * size.xz()) * size.y)
    }

    /// Lowers the terrain towards 0 near a curve: completely up to half of `width` from it, and decreasingly over the distance `blend`.
    pub fn open_valley(&mut self, curve: &Curve, width: f32, blend: f32) {
        let track = Track::new(curve, self.step(), width * 0.5 + blend);
        self.change(|point, height| match track.nearest(point) {
            Some((distance, _)) => height * smooth_step((distance - width * 0.5) / blend),
            None => height,
        });
    }

    /// Levels the terrain along a curve.
    pub fn level(&mut self, curve: &Curve, bed: &Bed) {
        let track = Track::new(curve, self.step(), bed.width * 0.5 + bed.blend);
        let line = |p: &Vec3| if bed.on_curve { p.y } else { self.height(p.xz()) };
        let heights: Vec<f32> = track.points.iter().map(line).collect();
        let window = (bed.smooth / track.step * 0.5).round() as usize;
        // Averaging twice leaves no kinks.
        let heights = averaged(&averaged(&heights, window, curve.is_closed()), window, curve.is_closed());
        self.change(|point, height| match track.nearest(point) {
            Some((distance, position)) => {
                let (i, share) = (position as usize, position.fract());
                let level = heights[i] + (heights[(i + 1).min(heights.len() - 1)] - heights[i]) * share - bed.depth;
                level + (height - level) * smooth_step((distance - bed.width * 0.5) / bed.blend)
            }
            None => height,
        });
    }

    /// The smaller side of a cell.
    fn step(&self) -> f32 {
        (self.extent.x / self.cells[0] as f32).min(self.extent.y / self.cells[1] as f32)
    }

    fn change(&mut self, changed: impl Fn(Vec2, f32) -> f32 + Sync) {
        let (row, extent, cells) = (self.cells[0] + 1, self.extent, self.cells);
        self.heights.par_iter_mut().enumerate().for_each(|(i, height)| {
            let share = Vec2::new((i % row) as f32 / cells[0] as f32, (i / row) as f32 / cells[1] as f32);
            *height = changed((share - 0.5) * extent, *height);
        });
    }

    /// The height at a point of the XZ plane; outside the terrain, the height of its edge.
    fn height(&self, point: Vec2) -> f32 {
        let share = (point / self.extent + 0.5).clamp(Vec2::ZERO, Vec2::ONE);
        bilinear(&self.heights, [self.cells[0] + 1, self.cells[1] + 1], share)
    }

    /// The mesh, with UVs from 0 to 1: u increases along X, v against Z.
    pub fn mesh(&self) -> TriangleMesh {
        let [columns, rows] = self.cells.map(|cells| cells + 1);
        let share = |row: usize, column: usize| {
            Vec2::new(column as f32 / self.cells[0] as f32, row as f32 / self.cells[1] as f32)
        };
        let point = |row: usize, column: usize| {
            let at = (share(row, column) - 0.5) * self.extent;
            Vec3::new(at.x, self.heights[row * columns + column], at.y)
        };
        let uv = |row, column| {
            let share = share(row, column);
            [share.x, 1.0 - share.y]
        };
        Lattice { point, rows, columns, closed: false }.mesh(uv)
    }
}

/// Interpolates bilinearly in a row-major table. The position (0, 0) is its first entry, (1, 1) its last.
pub fn bilinear(values: &[f32], [columns, rows]: [usize; 2], share: Vec2) -> f32 {
    let position = share * Vec2::new((columns - 1) as f32, (rows - 1) as f32);
    let (x, y) = ((position.x as usize).min(columns.max(2) - 2), (position.y as usize).min(rows.max(2) - 2));
    let t = position - Vec2::new(x as f32, y as f32);
    let at = |x: usize, y: usize| values[y.min(rows - 1) * columns + x.min(columns - 1)];
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    mix(mix(at(x, y), at(x + 1, y), t.x), mix(at(x, y + 1), at(x + 1, y + 1), t.x), t.y)
}

/// 0 for negative values, 1 from 1 upwards, and smooth in between. NaN counts as 0.
fn smooth_step(x: f32) -> f32 {
    let x = if x > 0.0 { x.min(1.0) } else { 0.0 };
    x * x * (3.0 - 2.0 * x)
}

/// The mean of up to `window` values before and after each value; fewer at the ends of an open line.
fn averaged(values: &[f32], window: usize, closed: bool) -> Vec<f32> {
    let count = values.len();
    let window = window.min(count / 2);
    // The last value of a closed line repeats the first.
    let round = count.max(2) - 1;
    let value = |i: isize| f64::from(values[if closed { i.rem_euclid(round as isize) as usize } else { i as usize }]);
    let mean = |i: usize| {
        let reach = if closed { window } else { window.min(i).min(count - 1 - i) } as isize;
        let sum: f64 = (i as isize - reach..=i as isize + reach).map(value).sum();
        (sum / (2 * reach + 1) as f64) as f32
    };
    (0..count).into_par_iter().map(mean).collect()
}

/// A curve at equal steps. Its closest point within a distance can be looked up in the XZ plane.
struct Track {
    points: Vec<Vec3>,
    step: f32,
    cells: Cells,
    reach: f32,
}

impl Track {
    fn new(curve: &Curve, step: f32, reach: f32) -> Self {
        // A curve may be much longer than the terrain that it crosses.
        let count = (curve.length() / step).ceil().clamp(1.0, 100_000.0);
        let step = curve.length() / count;
        let mut points: Vec<Vec3> = (0..count as u32).map(|i| curve.at(i as f32 * step).position).collect();
        let end = if curve.is_closed() { points[0] } else { curve.at(curve.length()).position };
        points.push(end);
        let grown = |p: &[Vec3]| [p[0].min(p[1]).xz() - reach, p[0].max(p[1]).xz() + reach];
        let boxes: Vec<[Vec2; 2]> = points.windows(2).map(grown).collect();
        Self { cells: Cells::new(&boxes), points, step, reach }
    }

    /// Distance to the closest point, and its position: the index of the previous point plus the share of the distance to the next one.
    /// None if nothing is within reach.
    fn nearest(&self, point: Vec2) -> Option<(f32, f32)> {
        let place = |&number: &u32| {
            let i = number as usize;
            let line = [self.points[i].xz(), self.points[i + 1].xz()];
            let share = along(line, point);
            (point.distance(line[0].lerp(line[1], share)), number as f32 + share)
        };
        let places = self.cells.at(point).iter().map(place);
        places.reduce(|a, b| if b.0 < a.0 { b } else { a }).filter(|place| place.0 < self.reach)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn straight(y: f32) -> Curve {
        Curve::polyline(&[Vec3::new(-60.0, y, 0.0), Vec3::new(60.0, y, 0.0)], false).unwrap()
    }

    fn hills() -> Terrain {
        Terrain::of_noise([3, 5], 30.0, Vec3::new(100.0, 20.0, 80.0), [100, 80])
    }

    #[test]
    fn noise_fills_its_range_and_depends_on_its_seed() {
        let hills = hills();
        let (least, most) = hills.heights.iter().fold((f32::MAX, f32::MIN), |(a, b), &h| (a.min(h), b.max(h)));
        assert!((0.0..7.0).contains(&least) && (13.0..=20.0).contains(&most), "{least} {most}");
        assert_ne!(hills, Terrain::of_noise([4, 5], 30.0, Vec3::new(100.0, 20.0, 80.0), [100, 80]));
    }

    #[test]
    fn a_bed_is_level_across_and_leaves_the_rest_as_it_was() {
        let (before, mut after) = (hills(), hills());
        after.level(&straight(0.0), &Bed { width: 6.0, blend: 5.0, depth: 0.0, on_curve: false, smooth: 20.0 });
        for x in -40..40 {
            let across: Vec<f32> = (-2..=2).map(|z| after.height(Vec2::new(x as f32, z as f32))).collect();
            assert!(across.iter().all(|h| (h - across[0]).abs() < 1e-3), "{across:?}");
            let far = Vec2::new(x as f32, 12.0);
            assert_eq!(after.height(far), before.height(far));
            let slope = after.height(Vec2::new(x as f32 + 1.0, 0.0)) - across[2];
            assert!(slope.abs() < 0.6, "{slope}");
        }
    }

    #[test]
    fn a_bed_on_its_curve_has_the_height_of_the_curve_less_its_depth() {
        let mut hills = hills();
        hills.level(&straight(9.0), &Bed { width: 6.0, blend: 5.0, depth: 2.0, on_curve: true, smooth: 0.0 });
        assert!((hills.height(Vec2::new(7.0, 1.5)) - 7.0).abs() < 1e-4);
    }

    #[test]
    fn a_valley_is_flat_at_its_curve_and_rises_away_from_it() {
        let (before, mut after) = (hills(), hills());
        after.open_valley(&straight(0.0), 10.0, 20.0);
        let at = |z: f32| (after.height(Vec2::new(3.0, z)), before.height(Vec2::new(3.0, z)));
        assert!(at(4.0).0 == 0.0 && at(15.0).0 < at(15.0).1 && at(26.0).0 == at(26.0).1);
    }

    #[test]
    fn the_mesh_faces_up_with_normals_of_its_slope() {
        let plane = Terrain::new(Vec2::new(4.0, 2.0), [8, 3], |share| share.x * 4.0);
        let mesh = plane.mesh();
        let normal = Vec3::new(-1.0, 1.0, 0.0).normalize();
        assert!(mesh.normals.iter().all(|n| normal.distance(Vec3::from(*n)) < 1e-5));
        assert_eq!((mesh.positions.len(), mesh.triangles.len(), mesh.uvs[0]), (36, 48, [0.0, 1.0]));
        let face = mesh.triangles[5].map(|v| Vec3::from(mesh.positions[v as usize]));
        assert!((face[1] - face[0]).cross(face[2] - face[0]).dot(normal) > 0.0);
    }
}
