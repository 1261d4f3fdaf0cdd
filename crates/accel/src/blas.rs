//! The bottom level: one tree per mesh, over packs of triangles or of segments of curves, or one analytic sphere.

use crate::{
    Buffer,
    buffer::reserve_huge_pages,
    build::{
        BuildMemory, BuildOptions, BuildPrim, build,
        collapse::{Effort, LeafRoom, build_ordered},
        curve::Runs,
        occlusion::sort_children,
        spatial::split_boxes,
        split::SplitMethod,
    },
    compressed::{
        blas::{CompressedLeaves, build_compressed},
        refit::{refit_patches, refit_segments},
    },
    curves::curve_tree,
    nested::AssemblyTree,
    node::{NodeLayout, Tree},
    pack::{Pack, Packs, each_kind},
    refit::{plan::RefitPlan, refit},
    support::{SupportMap, rounding_slack},
    surface::{Geometry, Strands, Surface},
};
use glam::{Affine3, Vec3};
use rayon::prelude::*;
use std::{
    mem::MaybeUninit,
    sync::Arc,
    time::{Duration, Instant},
};
use throng_abi::{MeshKeys, PACK_SIZE, PatchRow, SegmentPack, TrianglePack, Unit};
use throng_base::{choice::choice, math::Aabb};
use throng_scene::{CurveProfile, Mesh, Shape};

/// Minimum number of primitives per task.
pub const SMALLEST_SHARE: usize = 2048;

/// Maximum number of positions per triangle for a mesh whose leaves share vertices. With two, shared packs would hold no more triangles than ordinary
/// ones.
const MOST_POSITIONS: f64 = 1.25;

/// Version of the builder, which is part of the key of stored trees ([`TreeKey`](crate::TreeKey)). It must be raised whenever a build of an
/// unchanged mesh produces different nodes, leaves, orders, support maps or costs, or stores any of these in another form. A test compares trees of
/// two meshes with recorded ones, and fails if the version was not raised.
pub const BUILDER_VERSION: u32 = 13;

choice! {
    /// How much time a build may take.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Quality = High {
        /// Leaves are runs on a space-filling curve, and only cuts between them are measured.
        Fast = "fast",
        /// Binned cuts, collapsed to wide nodes as is best: for trees that are built again and again.
        Balanced = "balanced",
        /// Every cut is tried, subtrees are moved to better places, and instance boxes are exact: for trees that are built once.
        High = "high",
    }
}

/// The acceleration structure of one mesh, in object space. Kernels follow its references unchecked, so only builders and the checked reader create
/// them.
#[derive(Clone)]
pub struct Blas {
    pub shape: BlasShape,
    pub bounds: Aabb,
    /// Time taken to build the tree, or to read it from a file.
    pub build_time: Duration,
    sah_cost: f32,
    /// Value of `sah_cost` right after the build.
    built_cost: f32,
    support: Option<SupportMap>,
    /// Created by the first refit.
    plan: Option<RefitPlan>,
    deforms: bool,
    keys: MeshKeys,
}

/// Memory of a BLAS in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlasBytes {
    pub nodes: usize,
    /// Packs or, in compressed trees, patches.
    pub leaves: usize,
    /// Data that rays do not read: support maps, for instance boxes, and refit plans.
    pub builds: usize,
}

#[derive(Clone)]
pub enum BlasShape {
    Triangles {
        tree: Tree,
        packs: Packs,
    },
    /// For [`NodeLayout::Compressed8`]. Indices in `units` are relative to this tree's first unit and row.
    Compressed {
        /// Number of node levels on the longest path.
        depth: u32,
        units: Buffer<Unit>,
        patches: Buffer<PatchRow>,
    },
    /// Leaves refer to the points of the curves by index, and do not hold them.
    Curves {
        tree: Tree,
        packs: Buffer<SegmentPack>,
        profile: CurveProfile,
    },
    /// [`Self::Compressed`] for curves.
    CompressedCurves {
        depth: u32,
        units: Buffer<Unit>,
        /// Numbers of the segments of leaves.
        segments: Buffer<u32>,
        profile: CurveProfile,
    },
    /// The unit sphere at the origin. It has no tree; the kernel intersects it analytically.
    Sphere,
    /// Instances that are placed together, instead of a mesh.
    Assembly(Arc<AssemblyTree>),
}

impl BlasShape {
    /// Units and leaves of a compressed tree of a mesh.
    pub fn compressed(&self) -> Option<(&[Unit], CompressedLeaves<'_>)> {
        match self {
            Self::Compressed { units, patches, .. } => Some((units, CompressedLeaves::Patches(patches))),
            Self::CompressedCurves { units, segments, .. } => Some((units, CompressedLeaves::Segments(segments))),
            _ => None,
        }
    }
}

/// A newly built tree of a mesh.
pub struct BuiltTree {
    pub shape: BlasShape,
    pub bounds: Aabb,
    pub sah_cost: f32,
}

impl Blas {
    /// Builds the tree of `mesh`. Deterministic, parallel.
    pub fn build(mesh: &Mesh, layout: NodeLayout, quality: Quality) -> Self {
        match &mesh.shape {
            Shape::Triangles(triangles) => Self::of_surface(triangles.into(), layout, quality),
            Shape::Curves(curves) => Self::of_strands(Strands::from(&**curves), layout, quality),
            Shape::Sphere => Self {
                shape: BlasShape::Sphere,
                bounds: mesh.bounds(),
                build_time: Duration::ZERO,
                sah_cost: 1.0,
                built_cost: 1.0,
                support: None,
                plan: None,
                deforms: false,
                keys: MeshKeys::default(),
            },
        }
    }

    /// Builds a tree of triangles. Deterministic, parallel.
    pub fn of_surface(surface: Surface<'_>, layout: NodeLayout, quality: Quality) -> Self {
        Self::of_surface_with(surface, layout, quality.into())
    }

    /// Builds a tree of high quality in parts if it has more than `most_at_once` boxes, for tests with few triangles.
    #[doc(hidden)]
    pub fn of_surface_in_parts(surface: Surface<'_>, layout: NodeLayout, most_at_once: usize) -> Self {
        Self::of_surface_with(surface, layout, Effort { quality: Quality::High, most_at_once })
    }

    fn of_surface_with(surface: Surface<'_>, layout: NodeLayout, effort: Effort) -> Self {
        let (start, is_high) = (Instant::now(), effort.quality == Quality::High);
        let support = || is_high.then(|| SupportMap::new(&used_vertices(&surface)));
        let tree = || {
            let mut prims = build_prims(&surface);
            if is_high {
                split_boxes(&mut prims, &surface);
            }
            match layout {
                NodeLayout::Compressed8 => build_compressed(prims, &surface, effort),
                _ => build_triangles(prims, &surface, layout, effort),
            }
        };
        // The support map comes first, because its working memory must not be added to that of the packs if there is one thread, or if the mesh is large.
        let (support, tree) = match effort.divides(surface.triangles.len()) {
            true => (support(), tree()),
            false => rayon::join(support, tree),
        };
        Self::of_tree(tree, support, start.elapsed())
    }

    /// Builds a tree of curves. Deterministic, parallel.
    pub fn of_strands(strands: Strands<'_>, layout: NodeLayout, quality: Quality) -> Self {
        let start = Instant::now();
        let bounds = |segment| strands.bounds(segment).to_aabb();
        let (tree, support) = curve_tree(strands.curves, bounds, layout, quality);
        Self::of_tree(tree, support, start.elapsed())
    }

    /// Builds a tree. Deterministic, parallel.
    pub fn of_geometry(geometry: Geometry<'_>, layout: NodeLayout, quality: Quality) -> Self {
        match geometry {
            Geometry::Triangles(surface) => Self::of_surface(surface, layout, quality),
            Geometry::Curves(strands) => Self::of_strands(strands, layout, quality),
        }
    }

    pub(super) fn of_tree(tree: BuiltTree, support: Option<SupportMap>, build_time: Duration) -> Self {
        Self {
            shape: tree.shape,
            bounds: tree.bounds,
            build_time,
            sah_cost: tree.sah_cost,
            built_cost: tree.sah_cost,
            support,
            plan: None,
            deforms: false,
            keys: MeshKeys::default(),
        }
    }

    /// The tree of an assembly. `support` has points around all of its content.
    pub(super) fn of_assembly(
        tree: AssemblyTree,
        bounds: Aabb,
        support: Option<SupportMap>,
        build_time: Duration,
    ) -> Self {
        let sah_cost = tree.tlas.tree.sah_cost(1.0);
        let tree = BuiltTree { shape: BlasShape::Assembly(Arc::new(tree)), bounds, sah_cost };
        Self::of_tree(tree, support, build_time)
    }

    /// Marks the tree as one that follows a deforming mesh from frame to frame. Pools of trees keep these trees separate.
    #[must_use]
    pub fn deforming(mut self) -> Self {
        self.deforms = true;
        self
    }

    pub(super) fn set_keys(&mut self, keys: MeshKeys) {
        self.keys = keys;
    }

    /// The deformation of the mesh while the shutter is open.
    pub fn keys(&self) -> MeshKeys {
        self.keys
    }

    /// Number of motion segments over the shutter interval; 0 for a mesh that does not deform.
    pub fn segments(&self) -> u32 {
        self.keys.segments
    }

    /// Whether the tree may differ from frame to frame.
    pub fn deforms(&self) -> bool {
        self.deforms
    }

    /// The world-space box of an instance. It is exact for a sphere, and for a mesh if `exact` is set and the tree has a support map. Otherwise it is
    /// the box of the transformed bounds.
    pub fn instance_bounds(&self, world_from_object: &Affine3, exact: bool) -> Aabb {
        match (&self.shape, &self.support) {
            (BlasShape::Sphere, _) => sphere_bounds(world_from_object),
            (_, Some(support)) if exact => support.transformed_bounds(world_from_object),
            _ => {
                let bounds = self.bounds.transformed(world_from_object);
                let slack = rounding_slack(world_from_object, self.bounds.reach());
                Aabb { min: bounds.min - slack, max: bounds.max + slack }
            }
        }
    }

    /// The vertices that may be extreme in a direction, see [`MeshTree`](throng_abi::MeshTree): the start of each cell's blocks, and the blocks. None if they
    /// are not known.
    pub fn support_parts(&self) -> Option<(&[u32], &[f32])> {
        self.support.as_ref().map(SupportMap::parts)
    }

    /// Number of node levels on the longest path.
    pub fn depth(&self) -> u32 {
        match &self.shape {
            BlasShape::Triangles { tree, .. } | BlasShape::Curves { tree, .. } => tree.depth,
            BlasShape::Compressed { depth, .. } | BlasShape::CompressedCurves { depth, .. } => *depth,
            BlasShape::Sphere => 0,
            BlasShape::Assembly(tree) => tree.depth(),
        }
    }

    /// Number of traversal stack entries for this level.
    pub fn stack_entries(&self) -> usize {
        match &self.shape {
            BlasShape::Triangles { tree, .. } | BlasShape::Curves { tree, .. } => tree.stack_entries(),
            BlasShape::Compressed { depth, .. } | BlasShape::CompressedCurves { depth, .. } => *depth as usize,
            BlasShape::Sphere => 0,
            BlasShape::Assembly(tree) => tree.stack_entries(),
        }
    }

    /// Bytes of nodes, triangles, support map and refit plan.
    pub fn bytes(&self) -> usize {
        let kinds = self.bytes_by_kind();
        kinds.nodes + kinds.leaves + kinds.builds
    }

    /// [`Blas::bytes`] by kind of data.
    pub fn bytes_by_kind(&self) -> BlasBytes {
        let (nodes, leaves) = match &self.shape {
            BlasShape::Triangles { tree, packs } => (tree.nodes.bytes(), packs.bytes()),
            BlasShape::Compressed { units, patches, .. } => (units.bytes(), patches.bytes()),
            BlasShape::Curves { tree, packs, .. } => (tree.nodes.bytes(), packs.bytes()),
            BlasShape::CompressedCurves { units, segments, .. } => (units.bytes(), segments.bytes()),
            BlasShape::Sphere => (0, 0),
            BlasShape::Assembly(tree) => (tree.tlas.bytes(), 0),
        };
        let support = self.support.as_ref().map_or(0, SupportMap::bytes);
        BlasBytes { nodes, leaves, builds: support + self.plan.as_ref().map_or(0, RefitPlan::bytes) }
    }

    /// Expected number of node and leaf tests of a ray that enters the bounds, by the surface area heuristic. Computed by the last build or refit.
    pub fn sah_cost(&self) -> f32 {
        self.sah_cost
    }

    /// The support map, which gives exact instance boxes. Only trees of high quality have one, until they are refitted.
    pub(super) fn support(&self) -> Option<&SupportMap> {
        self.support.as_ref()
    }

    /// The cost after the last refit divided by the cost after the build; 1 without refits.
    pub fn cost_ratio(&self) -> f32 {
        self.sah_cost / self.built_cost
    }

    /// Updates the tree to moved vertices without changing its topology (see [`crate::refit`]). `geometry` must have the triangles or strands that this
    /// BLAS was built from. Deterministic, parallel; takes a fraction of a build's time.
    ///
    /// Afterwards, instance boxes are the boxes of the transformed bounds, and leaves that held a part of a triangle hold all of it. The tree must
    /// not have motion keys.
    pub fn refit(&mut self, geometry: Geometry<'_>) {
        debug_assert_eq!(self.keys.segments, 0, "keys do not follow");
        let plan = &mut self.plan;
        let (bounds, sah_cost) = match (&mut self.shape, geometry) {
            (BlasShape::Triangles { tree, packs }, Geometry::Triangles(surface)) => {
                let cost = each_kind!(packs, packs => refit(tree, packs, plan, &surface));
                (tree.bounds, cost)
            }
            (BlasShape::Curves { tree, packs, .. }, Geometry::Curves(strands)) => {
                let cost = refit(tree, packs, plan, &strands);
                (tree.bounds, cost)
            }
            (BlasShape::Compressed { units, patches, .. }, Geometry::Triangles(surface)) => {
                let refitted = refit_patches(units, patches, plan, &surface);
                (refitted.bounds.to_aabb(), refitted.sah_cost())
            }
            (BlasShape::CompressedCurves { units, segments, .. }, Geometry::Curves(strands)) => {
                let refitted = refit_segments(units, segments, plan, &strands);
                (refitted.bounds.to_aabb(), refitted.sah_cost())
            }
            _ => return,
        };
        (self.bounds, self.sah_cost, self.support) = (bounds, sah_cost, None);
    }
}

/// Box of the transformed unit sphere: the length of each matrix row is the extent along that axis.
fn sphere_bounds(transform: &Affine3) -> Aabb {
    let rows = transform.matrix3.transpose();
    let reach = Vec3::new(rows.x_axis.length(), rows.y_axis.length(), rows.z_axis.length());
    let slack = rounding_slack(transform, Vec3::ONE);
    Aabb { min: transform.translation - reach - slack, max: transform.translation + reach + slack }
}

/// The positions that some triangle uses.
fn used_vertices(surface: &Surface<'_>) -> Vec<Vec3> {
    let mut used = vec![false; surface.positions.len()];
    let vertices = surface.triangles.iter().flatten();
    vertices.for_each(|&i| used[i as usize] = true);
    let positions = surface.positions.iter().zip(&used);
    let positions = positions.filter(|(_, used)| **used);
    positions.map(|(p, _)| Vec3::from(*p)).collect()
}

/// The boxes of a mesh's triangles.
pub fn build_prims(surface: &Surface<'_>) -> Vec<BuildPrim> {
    let mut prims = Vec::new();
    reserve_huge_pages(&mut prims, surface.triangles.len());
    let triangles = (0..surface.triangles.len()).into_par_iter();
    triangles
        .with_min_len(SMALLEST_SHARE)
        .map(|i| BuildPrim::new(&surface.bounds(i), i as u32))
        .collect_into_vec(&mut prims);
    prims
}

/// Builds the tree of `surface` over `prims`, the boxes of its triangles or of parts of them.
pub fn build_triangles(prims: Vec<BuildPrim>, surface: &Surface<'_>, layout: NodeLayout, effort: Effort) -> BuiltTree {
    let mut tree = Tree::new(layout);
    let packs = if effort.quality == Quality::Fast {
        Packs::Eight(build_over_runs(&prims, surface, &mut tree))
    } else {
        let packs = build_over_triangles(prims, surface, effort, &mut tree);
        sort_children(&mut tree, &packs);
        packs
    };
    #[cfg(debug_assertions)]
    crate::validate::validate_blas(&tree, &packs, surface).expect("a fresh BLAS is valid");
    BuiltTree { bounds: tree.bounds, sah_cost: tree.sah_cost(1.0), shape: BlasShape::Triangles { tree, packs } }
}

/// Packs triangles that are consecutive on a space-filling curve. Splits are evaluated only between packs.
fn build_over_runs(prims: &[BuildPrim], surface: &Surface<'_>, tree: &mut Tree) -> Buffer<TrianglePack> {
    pack_runs(prims.len(), |index| prims[index], tree, |run| filled_pack(run.iter().copied(), surface))
}

/// Builds a tree whose leaves are runs of `count` primitives that are consecutive on a space-filling curve. `prim` returns a primitive by its index, so
/// that boxes need not be stored, and `pack` makes a leaf of a run of indices.
pub fn pack_runs<L: Copy + Send>(
    count: usize,
    prim: impl Fn(usize) -> BuildPrim + Sync,
    tree: &mut Tree,
    pack: impl Fn(&[u32]) -> L + Sync,
) -> Buffer<L> {
    let runs = Runs::new(count, &prim, PACK_SIZE as usize);
    let mut bounds = runs.bounds(&prim);
    build_binned(&mut bounds, 1, tree);
    pack_leaves(tree, |leaf| pack(runs.prims(bounds[leaf].id as usize)))
}

/// Builds a tree by binned splits.
pub fn build_binned(prims: &mut [BuildPrim], leaf_size: usize, tree: &mut Tree) {
    let options = BuildOptions { leaf_size, method: SplitMethod::Binned };
    build(prims, &[], options, &BuildMemory::default(), tree);
}

fn build_over_triangles(prims: Vec<BuildPrim>, surface: &Surface<'_>, effort: Effort, tree: &mut Tree) -> Packs {
    let leaf_size = PACK_SIZE as usize;
    let shared = share_vertices(surface, tree.layout, effort.quality);
    let room = if shared { LeafRoom::SharedPack(surface.triangles) } else { LeafRoom::Prims(leaf_size) };
    let are_parts = prims.len() > surface.triangles.len();
    let (order, collapsed) = build_ordered(prims, room, effort, (are_parts, leaf_size), tree, || build_prims(surface));
    if collapsed && shared {
        Packs::Shared(pack_leaves(tree, |leaf| filled_pack(order.leaf(leaf), surface)))
    } else {
        Packs::Eight(pack_leaves(tree, |leaf| filled_pack(order.leaf(leaf), surface)))
    }
}

/// Whether leaves should be [`SharedPack`](throng_abi::SharedPack)s.
fn share_vertices(surface: &Surface<'_>, layout: NodeLayout, quality: Quality) -> bool {
    let positions = surface.positions.len() as f64;
    layout == NodeLayout::Wide16
        && quality == Quality::High
        && positions <= MOST_POSITIONS * surface.triangles.len() as f64
}

/// A pack of these triangles and their corners.
fn filled_pack<P: Pack>(triangles: impl Iterator<Item = u32>, surface: &Surface<'_>) -> P {
    let mut pack = P::of(triangles, surface);
    pack.fill(surface);
    pack
}

/// Makes the pack of each leaf by `pack`, and points the leaf at it.
pub fn pack_leaves<L: Copy + Send>(tree: &mut Tree, pack: impl Fn(usize) -> L + Sync) -> Buffer<L> {
    let leaves = tree.number_leaves();
    let mut packs = Buffer::new();
    let fill = |packs: &mut [MaybeUninit<L>]| {
        let pairs = packs.par_iter_mut().zip(&leaves);
        pairs.with_min_len(SMALLEST_SHARE / 8).for_each(|(to, &leaf)| {
            to.write(pack(leaf as usize));
        });
    };
    // SAFETY: there is one pack per leaf, and each is written.
    unsafe { packs.refill(leaves.len(), fill) };
    packs
}
