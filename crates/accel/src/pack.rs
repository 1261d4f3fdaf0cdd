//! Leaves of trees for CPUs: packs of triangles, which a ray tests all at once.
//!
//! Most are [`TrianglePack`]s: eight triangles with three corners each. Neighbouring triangles of a mesh share corners, and processors that can
//! select any of sixteen floats with one instruction do not need the copies. A [`SharedPack`] therefore holds up to sixteen triangles in 320 bytes,
//! the size of a `TrianglePack`. Trees over them have fewer leaves and nodes, and a larger part of them fits into caches.

use crate::{
    Buffer,
    refit::plan::{Leaf, NamedLeaf},
    surface::{SimdBox, Surface, rows},
};
use throng_abi::{NO_INDEX, PACK_SIZE, SHARED_PACK_SIZE, SharedPack, TrianglePack};

/// The packs of a tree.
#[derive(Clone)]
pub enum Packs {
    Eight(Buffer<TrianglePack>),
    Shared(Buffer<SharedPack>),
}

/// Runs `$body` with `$packs` bound to the buffer of the current kind.
macro_rules! each_kind {
    ($all:expr, $packs:ident => $body:expr) => {
        match $all {
            $crate::pack::Packs::Eight($packs) => $body,
            $crate::pack::Packs::Shared($packs) => $body,
        }
    };
}
pub(super) use each_kind;

impl Packs {
    pub fn count(&self) -> usize {
        each_kind!(self, packs => packs.len())
    }

    /// Address of the first pack, for the kernels.
    pub fn address(&self) -> *const () {
        each_kind!(self, packs => packs.as_ptr().cast())
    }

    pub fn bytes(&self) -> usize {
        each_kind!(self, packs => packs.bytes())
    }
}

/// A pack of either kind.
pub trait Pack: for<'a> NamedLeaf<Surface<'a>> + bytemuck::Pod + Sync {
    /// Creates a pack of these triangles, which must fit into it, without positions.
    fn of(triangles: impl Iterator<Item = u32>, surface: &Surface<'_>) -> Self;

    /// For each lane, the triangle's index or [`NO_INDEX`].
    fn prims(&self) -> &[u32];

    /// The indices of the triangles.
    fn named(&self) -> impl Iterator<Item = u32> {
        named_in(self.prims())
    }

    /// The corners of a lane's triangle.
    fn corners(&self, lane: usize) -> [[f32; 3]; 3];

    /// The total area of the triangles.
    fn surface(&self) -> f32;

    /// Whether all corners refer to vertices of the pack.
    fn has_all_corners(&self) -> bool;

    /// Whether all references of the pack are valid, for a mesh with this number of triangles.
    fn is_sound(&self, triangles: usize) -> bool {
        let exists = |&prim: &u32| (prim as usize) < triangles;
        let (first, rest) = self.prims().split_at(1);
        first.iter().all(exists) && rest.iter().all(|prim| *prim == NO_INDEX || exists(prim)) && self.has_all_corners()
    }
}

impl Pack for TrianglePack {
    fn of(triangles: impl Iterator<Item = u32>, _: &Surface<'_>) -> Self {
        let mut pack: Self = bytemuck::Zeroable::zeroed();
        name(&mut pack.prim, triangles);
        pack
    }

    fn prims(&self) -> &[u32] {
        &self.prim
    }

    #[inline]
    fn corners(&self, lane: usize) -> [[f32; 3]; 3] {
        self.vertices.map(|axes| axes.map(|axis| axis[lane]))
    }

    fn surface(&self) -> f32 {
        surface_of(&self.vertices, &self.prim)
    }

    fn has_all_corners(&self) -> bool {
        true
    }
}

impl Leaf<Surface<'_>> for TrianglePack {
    const AHEAD: usize = 2;

    const KEPT: usize = 3 * PACK_SIZE as usize;

    #[inline]
    fn fill_kept(&mut self, surface: &Surface<'_>, vertices: &[u32]) -> SimdBox {
        let mut bounds = SimdBox::EMPTY;
        let corners = self.vertices.iter_mut().zip(vertices.as_chunks::<{ PACK_SIZE as usize }>().0);
        for (axes, vertices) in corners {
            for (half, four) in vertices.as_chunks::<4>().0.iter().enumerate() {
                let points = four.map(|vertex| surface.vector(vertex));
                bounds = bounds.with_points(&points);
                for (axis, row) in axes.iter_mut().zip(rows(points)) {
                    axis[4 * half..4 * half + 4].copy_from_slice(&row.to_array());
                }
            }
        }
        bounds
    }
}

impl NamedLeaf<Surface<'_>> for TrianglePack {
    /// Unused lanes repeat the first triangle; hits there are ignored.
    #[inline]
    fn fill(&mut self, surface: &Surface<'_>) -> SimdBox {
        let first = self.prim[0];
        let mut bounds = SimdBox::EMPTY;
        for half in (0..PACK_SIZE as usize).step_by(4) {
            let corners = |lane: usize| {
                let named = self.prim[half + lane];
                surface.vectors(if named == NO_INDEX { first } else { named })
            };
            let corners = [corners(0), corners(1), corners(2), corners(3)];
            for (vertex, axes) in self.vertices.iter_mut().enumerate() {
                let [a, b, c, d] = &corners;
                let points = [a[vertex], b[vertex], c[vertex], d[vertex]];
                bounds = bounds.with_points(&points);
                for (axis, row) in axes.iter_mut().zip(rows(points)) {
                    axis[half..half + 4].copy_from_slice(&row.to_array());
                }
            }
        }
        bounds
    }

    fn keep(&self, surface: &Surface<'_>, vertices: &mut [u32]) {
        for (lane, &prim) in self.prim.iter().enumerate() {
            let named = if prim == NO_INDEX { self.prim[0] } else { prim };
            for (corner, vertex) in surface.triangles[named as usize].into_iter().enumerate() {
                vertices[corner * PACK_SIZE as usize + lane] = vertex;
            }
        }
    }
}

impl Pack for SharedPack {
    fn of(triangles: impl Iterator<Item = u32>, surface: &Surface<'_>) -> Self {
        let mut pack: Self = bytemuck::Zeroable::zeroed();
        name(&mut pack.prim, triangles);
        let mut vertices = FewVertices::<{ SHARED_PACK_SIZE as usize }>::default();
        for lane in 0..pack.prim.len() {
            for corner in 0..3 {
                pack.corners[corner][lane] = match pack.prim[lane] {
                    NO_INDEX => pack.corners[corner][0],
                    prim => {
                        let place = vertices.place_of(surface.triangles[prim as usize][corner]);
                        place.expect("triangles fit into their pack") as u8
                    }
                };
            }
        }
        pack
    }

    fn prims(&self) -> &[u32] {
        &self.prim
    }

    #[inline]
    fn corners(&self, lane: usize) -> [[f32; 3]; 3] {
        let corners = self.corners.map(|corner| usize::from(corner[lane]));
        corners.map(|vertex| self.vertices.map(|axis| axis[vertex]))
    }

    fn surface(&self) -> f32 {
        let place = |corner: usize, lane: usize| usize::from(self.corners[corner][lane]);
        let vertices = [0, 1, 2].map(|corner| {
            let axes = self.vertices.each_ref();
            axes.map(|axis| std::array::from_fn(|lane| axis[place(corner, lane)]))
        });
        surface_of(&vertices, &self.prim)
    }

    fn has_all_corners(&self) -> bool {
        let corners = self.corners.as_flattened();
        corners.iter().all(|corner| u32::from(*corner) < SHARED_PACK_SIZE)
    }
}

impl Leaf<Surface<'_>> for SharedPack {
    const AHEAD: usize = 1;

    const KEPT: usize = SHARED_PACK_SIZE as usize;

    #[inline]
    fn fill_kept(&mut self, surface: &Surface<'_>, vertices: &[u32]) -> SimdBox {
        let mut bounds = SimdBox::EMPTY;
        for (first, four) in (0..).step_by(4).zip(vertices.as_chunks::<4>().0) {
            let [x, y, z] = &mut self.vertices;
            if !four.contains(&NO_INDEX) {
                let points = four.map(|vertex| surface.vector(vertex));
                bounds = bounds.with_points(&points);
                for (axis, row) in [x, y, z].into_iter().zip(rows(points)) {
                    axis[first..first + 4].copy_from_slice(&row.to_array());
                }
                continue;
            }
            for (place, &vertex) in (first..).zip(four).filter(|(_, vertex)| **vertex != NO_INDEX) {
                let point = surface.vector(vertex);
                bounds = bounds.with_points(&[point]);
                (x[place], y[place], z[place]) = (point.x, point.y, point.z);
            }
        }
        bounds
    }
}

impl NamedLeaf<Surface<'_>> for SharedPack {
    fn fill(&mut self, surface: &Surface<'_>) -> SimdBox {
        let mut bounds = SimdBox::EMPTY;
        for (lane, prim) in named_in(&self.prim).enumerate() {
            let corners = surface.vectors(prim);
            for (places, corner) in self.corners.iter().zip(corners) {
                for (axis, coordinate) in self.vertices.iter_mut().zip(corner.to_array()) {
                    axis[usize::from(places[lane])] = coordinate;
                }
            }
            bounds = bounds.with_points(&corners);
        }
        bounds
    }

    /// Vertices in the order of their places. The places behind them have none, and in a forged file some before them.
    fn keep(&self, surface: &Surface<'_>, vertices: &mut [u32]) {
        vertices.fill(NO_INDEX);
        for (lane, prim) in named_in(&self.prim).enumerate() {
            for (places, vertex) in self.corners.iter().zip(surface.triangles[prim as usize]) {
                vertices[usize::from(places[lane])] = vertex;
            }
        }
    }
}

fn name(lanes: &mut [u32], triangles: impl Iterator<Item = u32>) {
    lanes.fill(NO_INDEX);
    for (lane, triangle) in lanes.iter_mut().zip(triangles) {
        *lane = triangle;
    }
}

fn named_in(lanes: &[u32]) -> impl Iterator<Item = u32> {
    lanes.iter().copied().take_while(|&prim| prim != NO_INDEX)
}

/// The total area of triangles, `vertices[corner][axis][lane]`, over the lanes in use.
fn surface_of<const N: usize>(vertices: &[[[f32; N]; 3]; 3], prims: &[u32; N]) -> f32 {
    let mut areas = [0.0; N];
    for (lane, area) in areas.iter_mut().enumerate() {
        let edge = |to: usize, axis: usize| vertices[to][axis][lane] - vertices[0][axis][lane];
        let [ax, ay, az] = [edge(1, 0), edge(1, 1), edge(1, 2)];
        let [bx, by, bz] = [edge(2, 0), edge(2, 1), edge(2, 2)];
        let (x, y, z) = (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx);
        *area = 0.5 * (x * x + y * y + z * z).sqrt();
    }
    let named = areas.iter().zip(prims);
    named.map(|(area, &prim)| if prim == NO_INDEX { 0.0 } else { *area }).sum()
}

/// The distinct vertices of a few triangles, at most `N`, which is 32 or less.
pub struct FewVertices<const N: usize> {
    vertices: [u32; N],
    count: usize,
}

impl<const N: usize> Default for FewVertices<N> {
    fn default() -> Self {
        Self { vertices: [NO_INDEX; N], count: 0 }
    }
}

impl<const N: usize> FewVertices<N> {
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the position of a vertex, and adds it if it is missing. `None` if there is no room for it.
    #[inline]
    pub fn place_of(&mut self, vertex: u32) -> Option<usize> {
        // Compares all entries before searching the equal one, so that the compiler emits vector instructions.
        let same = self.vertices.map(|other| other == vertex);
        let found = same.iter().enumerate().fold(0u32, |bits, (place, &same)| bits | u32::from(same) << place);
        if found != 0 {
            return Some(found.trailing_zeros() as usize);
        }
        *self.vertices.get_mut(self.count)? = vertex;
        self.count += 1;
        Some(self.count - 1)
    }
}
