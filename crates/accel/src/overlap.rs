//! The end-point overlap of a tree: the overlap of nodes at points where rays can end (Aila, Karras and Laine 2013, "On Quality Metrics of Bounding
//! Volume Hierarchies").
//!
//! It is the cost of the nodes and leaves that contain a surface point but are not its ancestors, averaged over the whole surface. Together with the
//! surface area heuristic, which ignores where rays end, it predicts most of a tree's traversal cost. The unit costs are those of [`Tree::sah_cost`]:
//! 1 per node, 1 per leaf.
//!
//! The average is taken over a fixed, stratified sample of [`POINTS`] surface points instead of clipped triangles, because a TLAS would need all
//! triangles of all instances. Trees without overlap have exactly 0. For others, the standard error is about half a percent of the value.

use crate::{
    Blas, BlasShape, Tlas,
    node::{Tree, Wide, each_width},
    pack::{Pack, each_kind},
};
use glam::{Affine3, Mat3, Vec3};
use rayon::prelude::*;
use std::f32::consts::TAU;
use throng_abi::{EMPTY_CHILD, InstanceRecord, LEAF, MeshKeys};
use throng_base::math::hash_unit;
use throng_scene::{Mesh, Shape};

/// Number of sample points.
pub const POINTS: u32 = 1 << 16;
/// Number of points per task.
const TASK: u32 = 1 << 10;

/// The end-point overlap of a mesh's tree, in object space; 0 for a sphere. `None` for compressed trees, whose float boxes are not kept, and for
/// assemblies. For a mesh that deforms while the shutter is open, the first key is used.
pub fn blas_overlap(blas: &Blas) -> Option<f32> {
    let (tree, packs) = match &blas.shape {
        BlasShape::Triangles { tree, packs } => (tree, packs),
        BlasShape::Sphere => return Some(0.0),
        _ => return None,
    };
    let leaves = match blas.keys() {
        MeshKeys { segments: 0, .. } => packs.count(),
        MeshKeys { leaves, .. } => leaves as usize,
    };
    Some(each_kind!(packs, packs => overlap_of(tree, &packs[..leaves])))
}

fn overlap_of<P: Pack>(tree: &Tree, packs: &[P]) -> f32 {
    let lanes = packs.iter().zip(0u32..).flat_map(|(pack, index)| {
        let lanes = 0..pack.named().count();
        lanes.map(move |lane| (index, lane))
    });
    let lanes: Vec<(u32, usize)> = lanes.collect();
    let patch = |&(pack, lane): &(u32, usize)| Patch::of_corners(packs[pack as usize].corners(lane).map(Vec3::from));
    let areas = Shares::new(lanes.iter().map(|lane| f64::from(patch(lane).area())));
    average(|index| {
        let lane = &lanes[areas.pick(stratum(index))?];
        let point = patch(lane).point(unit(1, index), unit(2, index));
        Some((1.0, overlap_at(tree, point, lane.0)))
    })
}

/// The end-point overlap of a frame's TLAS, in world space. Its leaves are the boxes of instances, and its surface is the surface of all visible
/// instances. `meshes` are the meshes of the instances, in their shapes of this frame.
///
/// Assemblies have no surface here. Instances are sampled by the area that their mesh would have under a uniform scale of equal volume, and points
/// are weighted by the actual local stretch.
pub fn tlas_overlap(tlas: &Tlas, meshes: &[Mesh]) -> f32 {
    let surfaces: Vec<Shares> = meshes.iter().map(Shares::of_mesh).collect();
    let area = |record: &InstanceRecord| match surfaces.get(record.mesh as usize) {
        Some(surface) if record.mask != 0 => surface.total() * even_stretch(&placement(record)),
        _ => 0.0,
    };
    let instances = Shares::new(tlas.world_records().iter().map(area));
    average(|index| {
        let leaf = instances.pick(stratum(index))?;
        let record = &tlas.records[leaf];
        let mesh = &meshes[record.mesh as usize];
        let surface = &surfaces[record.mesh as usize];
        let patch = match mesh.triangles() {
            Some(triangles) => {
                let triangle = surface.pick(unit(0, index).into())?;
                let corners = triangles.triangles[triangle];
                Patch::of_corners(corners.map(|v| triangles.positions[v as usize].into()))
            }
            None => Patch::of_sphere(unit(0, index), unit(3, index)),
        };
        let place = placement(record);
        let point = place.transform_point3(patch.point(unit(1, index), unit(2, index)));
        let weight = f64::from(patch.stretch(&place.matrix3)) / even_stretch(&place);
        Some((weight, overlap_at(&tlas.tree, point, leaf as u32)))
    })
}

fn placement(record: &InstanceRecord) -> Affine3 {
    let rows = &record.world_from_object;
    let column = |i: usize| Vec3::new(rows[i], rows[i + 4], rows[i + 8]);
    Affine3::from_cols(column(0), column(1), column(2), column(3))
}

/// Area growth under a uniform scale that changes volumes as much as this transform.
fn even_stretch(transform: &Affine3) -> f64 {
    f64::from(transform.matrix3.determinant().abs()).powf(2.0 / 3.0)
}

/// Position of sample `index` in the surface, from 0 to 1.
fn stratum(index: u32) -> f64 {
    (f64::from(index) + f64::from(unit(4, index))) / f64::from(POINTS)
}

fn unit(dimension: u32, index: u32) -> f32 {
    hash_unit(dimension, index)
}

/// The weighted average over all points for which `at` returns a value. It does not depend on the number of threads.
fn average(at: impl Fn(u32) -> Option<(f64, f32)> + Sync) -> f32 {
    let tasks = (0..POINTS / TASK).into_par_iter();
    let sums: Vec<(f64, f64)> = tasks
        .map(|task| {
            let points = (task * TASK..(task + 1) * TASK).filter_map(&at);
            points
                .fold((0.0, 0.0), |(all, weights), (weight, value)| (all + weight * f64::from(value), weights + weight))
        })
        .collect();
    let all: f64 = sums.iter().map(|sum| sum.0).sum();
    let weights: f64 = sums.iter().map(|sum| sum.1).sum();
    if weights > 0.0 { (all / weights) as f32 } else { 0.0 }
}

/// Number of nodes and leaves that contain `point`, without the point's leaf `own` and its ancestors.
fn overlap_at(tree: &Tree, point: Vec3, own: u32) -> f32 {
    if tree.root == EMPTY_CHILD || tree.root & LEAF != 0 {
        return 0.0;
    }
    each_width!(&tree.nodes, nodes => below(nodes, tree.root, point, own).0)
}

/// Returns [`overlap_at`] for the subtree below `node`, and whether the point's own leaf is in it.
fn below<const N: usize>(nodes: &[Wide<N>], node: u32, point: Vec3, own: u32) -> (f32, bool) {
    let (mut overlap, mut is_above) = (0.0, false);
    for (bounds, child) in nodes[node as usize].occupied() {
        if !bounds.contains_point(point) {
            continue;
        }
        let (inside, is_own) = match child & LEAF {
            0 => below(nodes, child, point, own),
            _ => (0.0, child == own | LEAF),
        };
        overlap += inside + if is_own { 0.0 } else { 1.0 };
        is_above |= is_own;
    }
    (overlap, is_above)
}

/// Cumulative areas, for sampling in proportion to area.
struct Shares {
    ends: Vec<f64>,
}

impl Shares {
    fn new(areas: impl Iterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        let ends = areas.map(|area| {
            sum += if area.is_finite() { area } else { 0.0 };
            sum
        });
        Self { ends: ends.collect() }
    }

    /// The areas of a mesh's triangles, or of the unit sphere. Curves have no surface here.
    fn of_mesh(mesh: &Mesh) -> Self {
        match &mesh.shape {
            Shape::Sphere => Self::new(std::iter::once(2.0 * f64::from(TAU))),
            Shape::Curves(_) => Self::new(std::iter::empty()),
            Shape::Triangles(mesh) => Self::new(mesh.triangles.iter().map(|corners| {
                let corners = corners.map(|v| mesh.positions[v as usize].into());
                f64::from(Patch::of_corners(corners).area())
            })),
        }
    }

    fn total(&self) -> f64 {
        self.ends.last().copied().unwrap_or(0.0)
    }

    /// Returns the index of the area at fraction `share` (in [0, 1)) of the total. `None` if the total is 0.
    fn pick(&self, share: f64) -> Option<usize> {
        let place = share * self.total();
        let index = self.ends.partition_point(|&end| end <= place);
        (index < self.ends.len()).then_some(index)
    }
}

/// A triangle, or an approximately flat patch of a sphere.
struct Patch {
    corner: Vec3,
    edges: [Vec3; 2],
}

impl Patch {
    fn of_corners([a, b, c]: [Vec3; 3]) -> Self {
        Self { corner: a, edges: [b - a, c - a] }
    }

    /// A small patch of the unit sphere; uniform `u` and `v` give a uniform distribution over its surface.
    fn of_sphere(u: f32, v: f32) -> Self {
        let z = 1.0 - 2.0 * u;
        let (sin, cos) = (TAU * v).sin_cos();
        let across = (1.0 - z * z).max(0.0).sqrt();
        let normal = Vec3::new(across * cos, across * sin, z);
        let (x, y) = normal.any_orthonormal_pair();
        Self { corner: normal, edges: [x * f32::EPSILON, y * f32::EPSILON] }
    }

    fn area(&self) -> f32 {
        0.5 * self.edges[0].cross(self.edges[1]).length()
    }

    /// Factor by which the patch's area grows under a transform.
    fn stretch(&self, transform: &Mat3) -> f32 {
        let [a, b] = self.edges.map(|edge| edge.normalize_or_zero());
        let before = a.cross(b).length().max(f32::MIN_POSITIVE);
        (*transform * a).cross(*transform * b).length() / before
    }

    /// Maps uniform `u` and `v` to a uniform point of the triangle. A coordinate that is equal for all corners is reproduced exactly, and the point
    /// is never outside the corners' box.
    fn point(&self, u: f32, v: f32) -> Vec3 {
        let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
        let [to_b, to_c] = self.edges;
        let (b, c) = (self.corner + to_b, self.corner + to_c);
        let point = self.corner + u * to_b + v * to_c;
        point.clamp(self.corner.min(b).min(c), self.corner.max(b).max(c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeLayout, Quality, TlasBuilder, TlasInput};
    use std::sync::Arc;
    use throng_scene::{Instance, NONE, TriangleMesh};

    fn mesh(positions: Vec<[f32; 3]>) -> Mesh {
        let triangles = (0..positions.len() as u32 / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]);
        Mesh {
            name: "mesh".into(),
            slot_count: 1,
            shape: Shape::Triangles(TriangleMesh { triangles: triangles.collect(), positions, ..Default::default() }),
        }
    }

    fn ball() -> Mesh {
        Mesh { name: "ball".into(), shape: Shape::Sphere, slot_count: 1 }
    }

    /// Half of a unit square that stands on the x axis and slants by `depth` from corner to corner.
    fn slanted(depth: f32) -> Mesh {
        mesh(vec![[0.0; 3], [1.0, 0.0, depth], [0.0, 1.0, 0.0]])
    }

    fn overlap(meshes: &[Mesh], placements: &[(u32, Affine3)]) -> f32 {
        let layout = NodeLayout::Wide4;
        let build = |mesh| Arc::new(Blas::build(mesh, layout, Quality::High));
        let blas: Vec<Arc<Blas>> = meshes.iter().map(build).collect();
        let instance = |&(mesh, _): &(u32, Affine3)| Instance {
            local: Affine3::IDENTITY,
            node: NONE,
            mesh,
            slot_base: 0,
            motion: NONE,
        };
        let instances: Vec<Instance> = placements.iter().map(instance).collect();
        let transforms: Vec<Affine3> = placements.iter().map(|p| p.1).collect();
        let input = TlasInput {
            instances: &instances,
            ids: &[],
            meshes: &[],
            groups: None,
            world_from_object: &transforms,
            blas: &blas,
            careful: true,
        };
        let mut tlas = Tlas::new(layout);
        TlasBuilder::default().build(input, Quality::Fast, &mut tlas);
        tlas_overlap(&tlas, meshes)
    }

    fn at(x: f32, y: f32, z: f32) -> Affine3 {
        Affine3::from_translation(Vec3::new(x, y, z))
    }

    #[test]
    fn what_lies_apart_does_not_overlap() {
        let places = [(0, at(0.0, 0.0, 0.0)), (0, at(3.0, 0.0, 0.0))];
        assert_eq!(overlap(&[slanted(1.0)], &places), 0.0);
    }

    #[test]
    fn the_overlap_of_two_instances_is_the_share_of_their_surface_in_the_other_box() {
        // The instances are half a box apart along x. The part of each one's surface with x below or above 1/2 is in the other one's box.
        let places = [(0, at(0.0, 0.0, 0.0)), (0, at(0.5, 0.0, 0.0))];
        let found = overlap(&[slanted(1.0)], &places);
        // A triangle has 1/4 of its area beyond the middle, and 3/4 before it.
        assert!((found - 0.5).abs() < 0.005, "{found}");
    }

    #[test]
    fn areas_count_as_they_are_stretched() {
        let stretched = Affine3::from_scale(Vec3::new(9.0, 1.0, 1.0));
        let places = [(0, stretched), (1, at(8.0, 0.0, -0.5))];
        let found = overlap(&[slanted(0.0), slanted(1.0)], &places);
        // The part of the large triangle beyond 8/9 of its length is 1/81 of 4.5. The other triangle touches its flat box in a line.
        let (large, small) = (4.5, 0.5 * 2f32.sqrt());
        let expected = large / 81.0 / (large + small);
        assert!((found - expected).abs() < 0.1 * expected, "{found}, not {expected}");
    }

    #[test]
    fn a_sphere_in_a_box_overlaps_as_its_area_says() {
        // Slices of a sphere of equal thickness have equal area: a quarter is in the box of a sphere at distance 1.5.
        let places = [(0, at(0.0, 0.0, 0.0)), (0, at(0.0, 0.0, 1.5))];
        let found = overlap(&[ball()], &places);
        assert!((found - 0.25).abs() < 0.005, "{found}");
    }

    #[test]
    fn packs_that_lie_apart_do_not_overlap_and_tangled_ones_do() {
        let triangle = |x: f32, z: f32| [[x, 0.0, z], [x + 1.0, 0.0, z + 1.0], [x, 1.0, z]];
        let of = |triangles: &dyn Fn(u32) -> [[f32; 3]; 3]| {
            let mesh = mesh((0..64).flat_map(triangles).collect());
            blas_overlap(&Blas::build(&mesh, NodeLayout::Wide4, Quality::High))
        };
        // Eight rows of eight, far from each other.
        let apart = of(&|i| triangle((i % 8) as f32, 40.0 * (i / 8) as f32));
        let tangled = of(&|i| triangle(hash_unit(0, i), hash_unit(1, i)));
        assert_eq!(apart, Some(0.0));
        assert!(tangled > Some(1.0), "{tangled:?}");
    }

    #[test]
    fn spheres_have_no_overlap_and_compressed_trees_do_not_tell() {
        assert_eq!(blas_overlap(&Blas::build(&ball(), NodeLayout::Wide4, Quality::High)), Some(0.0));
        let compressed = Blas::build(&slanted(1.0), NodeLayout::Compressed8, Quality::High);
        assert_eq!(blas_overlap(&compressed), None);
    }
}
