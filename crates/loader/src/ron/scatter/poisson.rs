//! Poisson-disk samples of surfaces by dart throwing (Cook, "Stochastic sampling in computer graphics", 1986), with a hash grid of the
//! occupied positions.

use super::sites::{Site, Surface};
use crate::ron::placing::random;
use glam::{Affine3, IVec3, Vec3};
use rayon::prelude::*;
use throng_base::math::hash_u32;
use throng_scene::NONE;

/// Maximum number of rounds. Each throws about as many darts as there are squares with the least distance as side on the surface.
const ROUNDS: u32 = 40;
/// Share of new points below which the rounds end.
const LEAST_GAIN: f64 = 0.002;
/// A prime above all counts. Steps of this size visit all numbers below a count, in an order without visible rows.
const STRIDE: u64 = 2_654_435_761;

/// Number of darts in a round. It exceeds the number of points, since about 0.7 points fit in a square of the least distance.
pub fn darts(surface: &Surface, distance: f32) -> u64 {
    (surface.area() / f64::from(distance).powi(2)).ceil().max(16.0) as u64
}

/// Points of a surface, none of which is closer to another than `distance` after `transform`. `is_kept` decides whether a dart at a site,
/// with its number, counts.
pub fn sample(
    surface: &Surface,
    transform: &Affine3,
    (distance, seed): (f32, u32),
    is_kept: impl Fn(&Site, u32) -> bool + Sync,
) -> Vec<Site> {
    let count = darts(surface, distance);
    let mut taken = Taken::new(distance, count);
    let mut sites = Vec::new();
    for round in 0..ROUNDS {
        let throw = |i: u64| {
            let number = (u64::from(round) * count + i) as u32;
            let u = random::unit3(hash_u32(seed ^ hash_u32(round)), 0, i as u32).to_array().map(f64::from);
            // One dart in each of `count` parts of equal area.
            let site = surface.sample([(i as f64 + u[0]) / count as f64, u[1], u[2]]);
            let position = transform.transform_point3(site.point);
            (taken.is_free(position) && is_kept(&site, number)).then_some((site, position))
        };
        let darts: Vec<Option<(Site, Vec3)>> = (0..count).into_par_iter().map(throw).collect();
        let before = sites.len();
        let order = (0..count).map(|i| (i * (STRIDE % count) % count) as usize);
        for (site, position) in order.filter_map(|i| darts[i]) {
            if taken.is_free(position) {
                taken.insert(position);
                sites.push(site);
            }
        }
        if ((sites.len() - before) as f64) < sites.len() as f64 * LEAST_GAIN {
            break;
        }
    }
    sites
}

/// Offsets of cells along an axis. The point's own cell comes first, since most darts hit another point there.
const NEIGHBOURS: [i32; 3] = [0, -1, 1];

/// Points in a hash grid whose cells have the least distance as side.
struct Taken {
    distance: f32,
    points: Vec<Vec3>,
    /// For each point, the previous point of its bucket, or [`NONE`].
    before: Vec<u32>,
    /// The latest point of each bucket, or [`NONE`].
    latest: Vec<u32>,
}

impl Taken {
    fn new(distance: f32, count: u64) -> Self {
        let buckets = count.next_power_of_two() as usize;
        Self { distance, points: Vec::new(), before: Vec::new(), latest: vec![NONE; buckets] }
    }

    fn bucket(&self, cell: IVec3) -> usize {
        let [x, y, z] = cell.to_array().map(|c| c as u32);
        // Teschner et al., "Optimized spatial hashing for collision detection of deformable objects", 2003.
        let mixed = x.wrapping_mul(73_856_093) ^ y.wrapping_mul(19_349_663) ^ z.wrapping_mul(83_492_791);
        let hash = hash_u32(mixed);
        hash as usize & (self.latest.len() - 1)
    }

    fn cell(&self, point: Vec3) -> IVec3 {
        (point / self.distance).floor().as_ivec3()
    }

    fn insert(&mut self, point: Vec3) {
        let bucket = self.bucket(self.cell(point));
        self.before.push(self.latest[bucket]);
        self.latest[bucket] = self.points.len() as u32;
        self.points.push(point);
    }

    fn is_free(&self, point: Vec3) -> bool {
        // Allows for the different rounding of the final transforms.
        let least = self.distance * (1.0 + 1e-6) + point.abs().max_element() * 4e-7;
        let center = self.cell(point);
        let offsets = (0..27).map(|i| IVec3::new(NEIGHBOURS[i % 3], NEIGHBOURS[i / 3 % 3], NEIGHBOURS[i / 9]));
        for offset in offsets {
            let mut next = self.latest[self.bucket(center.wrapping_add(offset))];
            while next != NONE {
                if self.points[next as usize].distance_squared(point) < least * least {
                    return false;
                }
                next = self.before[next as usize];
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{geometry::shapes::torus, land::terrain::Terrain, meshes::MeshSource};
    use proptest::prelude::*;
    use throng_scene::TriangleMesh;

    fn hills() -> TriangleMesh {
        Terrain::of_noise([1, 4], 10.0, Vec3::new(30.0, 12.0, 20.0), [60, 40]).mesh()
    }

    fn positions(mesh: &MeshSource, transform: &Affine3, distance: f32, seed: u32) -> Vec<Vec3> {
        let surface = Surface::placed(mesh, transform);
        let sites = sample(&surface, transform, (distance, seed), |_, _| true);
        sites.iter().map(|s| transform.transform_point3(s.point)).collect()
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(24))]

        #[test]
        fn no_two_points_are_nearer_than_the_distance(seed: u32, distance in 0.3f32..3.0, stretch in 0.5f32..2.0, ring: bool) {
            let mesh = if ring { torus(4.0, 1.0, 48) } else { hills() };
            let mesh = MeshSource::of_shape("mesh", mesh, 0);
            let transform = Affine3::from_scale(Vec3::new(1.0, stretch, 1.0));
            let points = positions(&mesh, &transform, distance, seed);
            for (i, p) in points.iter().enumerate() {
                prop_assert!(points[..i].iter().all(|q| p.distance(*q) >= distance));
            }
        }
    }

    #[test]
    fn points_are_packed_nearly_as_densely_as_darts_can() {
        let plane = MeshSource::of_shape("plane", Terrain::new(glam::Vec2::splat(50.0), [2, 2], |_| 0.0).mesh(), 0);
        let points = positions(&plane, &Affine3::IDENTITY, 1.0, 7);
        // Random packing of discs covers 0.547 of the plane: 0.696 points per square of the distance.
        let density = points.len() as f64 / 2500.0;
        assert!((0.62..0.7).contains(&density), "{density}");
        assert_eq!(points, positions(&plane, &Affine3::IDENTITY, 1.0, 7));
        assert_ne!(points, positions(&plane, &Affine3::IDENTITY, 1.0, 8));
    }

    #[test]
    fn a_small_mesh_gets_a_point_and_a_ball_is_covered() {
        let ball = MeshSource::sphere("ball", 0);
        assert_eq!(positions(&ball, &Affine3::IDENTITY, 10.0, 0).len(), 1);
        assert!(positions(&ball, &Affine3::IDENTITY, 0.5, 0).len() > 25);
    }
}
