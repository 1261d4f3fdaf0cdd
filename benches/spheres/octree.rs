//! An octree over spheres.

use glam::Vec3;

/// Maximum number of levels, and spheres per block of references; the same in spheres.cpp.
const DEPTH: u32 = 10;
const BLOCK: usize = 16;
/// Fills blocks.
const NONE: u32 = u32::MAX;
/// A sphere so many times as large as the median would be in most leaves, and the cells around it would be large. It is tested first instead.
const LARGE: f32 = 16.0;
/// By how much a cell is widened, in scene units, because distances to its planes are rounded.
const MARGIN: f32 = 1e-4;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Sphere {
    pub center: Vec3,
    pub radius: f32,
}

pub struct Octree {
    /// Indices of spheres in blocks: all spheres in order, then the large ones, then those of each leaf.
    pub references: Vec<u32>,
    /// Children of each node, of which the first is the root: 0 for an empty cell, the index of a node, or a leaf with bit 31, the block in bits 8
    /// to 30 and the number of spheres in bits 0 to 7. Bit 0 of a child's number is its half along x, bit 1 along y, bit 2 along z.
    pub nodes: Vec<[u32; 8]>,
    /// Position in `references`.
    pub large: usize,
    pub large_count: usize,
    /// Corner and edge length of the root's cube.
    pub low: Vec3,
    pub size: f32,
    /// Capacity of a leaf.
    leaf: usize,
}

impl Octree {
    /// Builds a tree in which a cell of more than `leaf` spheres is divided.
    pub fn new(spheres: &[Sphere], leaf: usize) -> Self {
        let mut radii: Vec<f32> = spheres.iter().map(|sphere| sphere.radius).collect();
        radii.sort_by(f32::total_cmp);
        let limit = LARGE * radii[radii.len() / 2];
        let all: Vec<u32> = (0..spheres.len() as u32).collect();
        let (large, small): (Vec<u32>, Vec<u32>) = all.iter().partition(|&&i| spheres[i as usize].radius > limit);
        let (low, high) = small
            .iter()
            .map(|&i| spheres[i as usize])
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), sphere| {
                (low.min(sphere.center - sphere.radius), high.max(sphere.center + sphere.radius))
            });
        let size = (high - low).max_element();
        let low = 0.5 * (low + high - size);
        let mut tree =
            Self { references: Vec::new(), nodes: Vec::new(), large: 0, large_count: large.len(), low, size, leaf };
        tree.add_block(&all);
        tree.large = tree.add_block(&large);
        tree.add_cell(spheres, &small, low, size, DEPTH);
        tree
    }

    /// Position of the new block.
    fn add_block(&mut self, spheres: &[u32]) -> usize {
        let start = self.references.len();
        self.references.extend(spheres);
        self.references.resize(self.references.len().next_multiple_of(BLOCK), NONE);
        start
    }

    /// Adds a cell and those in it. Returns its word in the parent.
    fn add_cell(&mut self, spheres: &[Sphere], inside: &[u32], low: Vec3, size: f32, levels: u32) -> u32 {
        if inside.is_empty() {
            return 0;
        }
        if inside.len() <= self.leaf || levels == 0 {
            assert!(inside.len() < 256, "a leaf's word has eight bits for the number of spheres");
            return 1 << 31 | ((self.add_block(inside) / BLOCK) << 8 | inside.len()) as u32;
        }
        let node = self.nodes.len();
        self.nodes.push([0; 8]);
        for child in 0..8 {
            let half = 0.5 * size;
            let low = low + half * Vec3::new((child & 1) as f32, (child >> 1 & 1) as f32, (child >> 2) as f32);
            let touches = |&i: &u32| touches(spheres[i as usize], low, half);
            let inside: Vec<u32> = inside.iter().copied().filter(touches).collect();
            self.nodes[node][child] = self.add_cell(spheres, &inside, low, half, levels - 1);
        }
        node as u32
    }
}

/// Whether the surface of a sphere passes through a cell.
fn touches(sphere: Sphere, low: Vec3, size: f32) -> bool {
    let center = sphere.center - low;
    let nearest = center.clamp(Vec3::ZERO, Vec3::splat(size)).distance(center);
    let farthest = center.abs().max((center - size).abs()).length();
    nearest <= sphere.radius + MARGIN && farthest >= sphere.radius - MARGIN
}
