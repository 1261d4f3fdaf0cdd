//! The bottom level: one tree per mesh, over packs of eight triangles or a single analytic sphere.

use super::{
    Buffer,
    build::{BuildMemory, BuildOptions, BuildPrim, build},
    compressed_blas::{build_compressed, refit_compressed},
    node::{NodeLayout, Tree, each_width},
    slots::Arrangement,
    split::SplitMethod,
    support::{SupportMap, rounding_slack},
};
use crate::{
    abi::{EMPTY_CHILD, LEAF, NO_INDEX, PACK_SIZE, TrianglePack, TriangleRecord, Unit},
    math::Aabb,
    scene::{Mesh, Shape, TriangleMesh},
};
use glam::{Affine3, Vec3};
use std::time::{Duration, Instant};

/// How much time a build may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// Binned cuts, and instance boxes from the transformed bounds: for trees that are built again and again.
    Fast,
    /// Every cut is tried, and instance boxes are exact: for trees that are built once.
    High,
}

impl Quality {
    pub(super) fn split_method(self) -> SplitMethod {
        match self {
            Quality::Fast => SplitMethod::Binned,
            Quality::High => SplitMethod::Swept,
        }
    }
}

/// The acceleration structure of one mesh, in object space.
pub struct Blas {
    pub shape: BlasShape,
    pub bounds: Aabb,
    pub build_time: Duration,
    support: Option<SupportMap>,
}

pub enum BlasShape {
    Triangles {
        tree: Tree,
        packs: Buffer<TrianglePack>,
    },
    /// For [`NodeLayout::Compressed8`]. Indices in `units` count from this tree's first unit and triangle.
    Compressed {
        /// What the units were made from; its leaves refer to `triangles`. Stays on the host, for refits.
        tree: Tree,
        units: Buffer<Unit>,
        triangles: Buffer<TriangleRecord>,
        /// Which slots the children of `tree` have in `units`.
        arrangements: Buffer<Arrangement>,
    },
    /// The unit sphere about the origin: no tree, the kernel knows it.
    Sphere,
}

impl Blas {
    /// Builds the tree of `mesh`; deterministic, parallel.
    pub fn build(mesh: &Mesh, layout: NodeLayout, quality: Quality) -> Self {
        let start = Instant::now();
        let (shape, support) = match &mesh.shape {
            Shape::Sphere => (BlasShape::Sphere, None),
            Shape::Triangles(triangles) => rayon::join(
                || build_triangles(triangles, layout, quality),
                || (quality == Quality::High).then(|| SupportMap::new(&used_vertices(triangles))),
            ),
        };
        let bounds = match &shape {
            BlasShape::Triangles { tree, .. } | BlasShape::Compressed { tree, .. } => tree.bounds,
            BlasShape::Sphere => mesh.bounds(),
        };
        Self {
            shape,
            bounds,
            build_time: start.elapsed(),
            support,
        }
    }

    /// The box of an instance: that of the sphere, that of the mesh if it is to be `exact` and the tree of high quality, else
    /// that of the transformed bounds.
    pub fn instance_bounds(&self, world_from_object: &Affine3, exact: bool) -> Aabb {
        match (&self.shape, &self.support) {
            (BlasShape::Sphere, _) => sphere_bounds(world_from_object),
            (_, Some(support)) if exact => support.transformed_bounds(world_from_object),
            _ => {
                let bounds = self.bounds.transformed(world_from_object);
                let slack = rounding_slack(world_from_object, self.bounds.reach());
                Aabb {
                    min: bounds.min - slack,
                    max: bounds.max + slack,
                }
            }
        }
    }

    /// Node levels on the longest path.
    pub fn depth(&self) -> u32 {
        match &self.shape {
            BlasShape::Triangles { tree, .. } | BlasShape::Compressed { tree, .. } => tree.depth,
            BlasShape::Sphere => 0,
        }
    }

    /// Traversal stack entries for this level.
    pub fn stack_entries(&self) -> usize {
        match &self.shape {
            BlasShape::Triangles { tree, .. } | BlasShape::Compressed { tree, .. } => {
                tree.stack_entries()
            }
            BlasShape::Sphere => 0,
        }
    }

    /// Memory of nodes, triangles and support map.
    pub fn bytes(&self) -> usize {
        let tree = match &self.shape {
            BlasShape::Triangles { tree, packs } => tree.nodes.bytes() + packs.bytes(),
            BlasShape::Compressed {
                tree,
                units,
                triangles,
                arrangements,
            } => {
                let host = tree.nodes.bytes() + arrangements.bytes();
                host + units.bytes() + triangles.bytes()
            }
            BlasShape::Sphere => 0,
        };
        tree + self.support.as_ref().map_or(0, SupportMap::bytes)
    }

    /// Expected node and leaf tests of a ray that meets the bounds.
    pub fn sah_cost(&self) -> f32 {
        match &self.shape {
            BlasShape::Triangles { tree, .. } | BlasShape::Compressed { tree, .. } => {
                tree.sah_cost(1.0)
            }
            BlasShape::Sphere => 1.0,
        }
    }

    /// Follows moved vertices without changing the tree's shape (see [`super::refit`]). `mesh` must have the triangles
    /// that this BLAS was built from.
    pub fn refit(&mut self, mesh: &TriangleMesh) {
        self.bounds = match &mut self.shape {
            BlasShape::Triangles { tree, packs } => {
                super::refit::refit(tree, packs, mesh);
                tree.bounds
            }
            BlasShape::Compressed {
                tree,
                units,
                triangles,
                arrangements,
            } => {
                refit_compressed(tree, arrangements, units, triangles, mesh);
                tree.bounds
            }
            BlasShape::Sphere => return,
        };
        self.support = None;
    }
}

/// Box of the unit sphere's image: the length of each row is the reach along that axis.
fn sphere_bounds(transform: &Affine3) -> Aabb {
    let rows = transform.matrix3.transpose();
    let reach = Vec3::new(
        rows.x_axis.length(),
        rows.y_axis.length(),
        rows.z_axis.length(),
    );
    let slack = rounding_slack(transform, Vec3::ONE);
    Aabb {
        min: transform.translation - reach - slack,
        max: transform.translation + reach + slack,
    }
}

/// Positions that some triangle refers to.
fn used_vertices(mesh: &TriangleMesh) -> Vec<Vec3> {
    let mut used = vec![false; mesh.positions.len()];
    mesh.triangles
        .iter()
        .flatten()
        .for_each(|&i| used[i as usize] = true);
    let positions = mesh.positions.iter().zip(&used).filter(|(_, used)| **used);
    positions.map(|(p, _)| Vec3::from(*p)).collect()
}

/// The boxes of a mesh's triangles.
pub fn build_prims(mesh: &TriangleMesh) -> Vec<BuildPrim> {
    (0..mesh.triangles.len())
        .map(|i| BuildPrim::new(&Aabb::of_points(corners(mesh, i).map(Vec3::from)), i as u32))
        .collect()
}

/// The corners of a triangle.
pub fn corners(mesh: &TriangleMesh, triangle: usize) -> [[f32; 3]; 3] {
    mesh.triangles[triangle].map(|i| mesh.positions[i as usize])
}

fn build_triangles(mesh: &TriangleMesh, layout: NodeLayout, quality: Quality) -> BlasShape {
    if layout == NodeLayout::Compressed8 {
        return build_compressed(mesh, quality);
    }
    let mut prims = build_prims(mesh);
    let mut tree = Tree::new(layout);
    build(
        &mut prims,
        &[],
        BuildOptions {
            leaf_size: PACK_SIZE as usize,
            method: quality.split_method(),
        },
        &BuildMemory::default(),
        &mut tree,
    );
    let packs = pack_leaves(&mut tree, &prims, mesh);
    #[cfg(debug_assertions)]
    super::validate::validate_blas(&tree, &packs, mesh).expect("a fresh BLAS is valid");
    BlasShape::Triangles { tree, packs }
}

/// Copies each leaf's triangles into a pack and points the leaf at it.
fn pack_leaves(tree: &mut Tree, prims: &[BuildPrim], mesh: &TriangleMesh) -> Buffer<TrianglePack> {
    let mut packs = Vec::new();
    let mut renumber = |child: &mut u32| {
        if *child & LEAF == 0 || *child == EMPTY_CHILD {
            return;
        }
        let first = (*child & !LEAF) as usize;
        let count = prims[first].leaf_count as usize;
        *child = LEAF | packs.len() as u32;
        packs.push(pack(&prims[first..first + count], mesh));
    };
    renumber(&mut tree.root);
    each_width!(&mut tree.nodes, nodes => nodes.iter_mut().flat_map(|n| &mut n.children).for_each(renumber));
    let mut buffer = Buffer::new();
    // SAFETY: all elements are copied from `packs`, which has the same length.
    unsafe {
        buffer.refill(packs.len(), |to| {
            to.iter_mut().zip(&packs).for_each(|(to, from)| {
                to.write(*from);
            })
        })
    };
    buffer
}

fn pack(prims: &[BuildPrim], mesh: &TriangleMesh) -> TrianglePack {
    let mut pack = TrianglePack {
        vertices: [[[0.0; 8]; 3]; 3],
        prim: [NO_INDEX; 8],
    };
    for (lane, prim) in prims.iter().enumerate() {
        pack.prim[lane] = prim.id;
    }
    fill_lanes(&mut pack, mesh);
    pack
}

/// Writes the vertices of the pack's triangles; unused lanes repeat the first, whose results are ignored there.
pub fn fill_lanes(pack: &mut TrianglePack, mesh: &TriangleMesh) {
    for lane in 0..PACK_SIZE as usize {
        let prim = if pack.prim[lane] == NO_INDEX {
            pack.prim[0]
        } else {
            pack.prim[lane]
        };
        for (vertex, corner) in corners(mesh, prim as usize).iter().enumerate() {
            for (axis, &coordinate) in corner.iter().enumerate() {
                pack.vertices[vertex][axis][lane] = coordinate;
            }
        }
    }
}
