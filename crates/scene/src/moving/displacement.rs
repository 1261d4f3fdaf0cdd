//! Displacement of the vertices of a mesh along their normals: the heights, and the connections from which the new normals are computed.

use crate::{NONE, TriangleMesh};
use glam::Vec3;
use rayon::prelude::*;

/// Cosine of the angle up to which two vertices at one point have the same normal. Their own sums may differ in rounding.
pub const SAME_NORMAL: f32 = 0.9999;

/// Heights by which vertices are moved along their normals, after everything else that moves them.
#[derive(Clone, Debug, Default)]
pub struct Displacement {
    /// The height of each vertex in units of the mesh's space. Vertices at one point have the same height.
    pub heights: Vec<f32>,
    /// The neighbours of each vertex, counter-clockwise, so that two consecutive ones form a triangle with it. Rings that close end with their
    /// first neighbour; [`NONE`] separates several rings.
    pub rings: Groups,
    /// Vertices at one point, which move along the mean of their normals. Otherwise, gaps would open between their faces.
    pub points: Groups,
    /// Vertices at one point with one normal, such as on both sides of a seam of texture coordinates.
    pub smooth: Groups,
    /// Whether directions are the mean normals of faces, because the mesh itself has no normals.
    pub from_faces: bool,
}

/// Lists of vertices. [`Displacement::rings`] has one for each vertex; other groups have at least two members.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Index of the first member of each group; one extra entry marks the end.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Groups {
    /// The members of a group.
    #[inline]
    pub fn of(&self, group: usize) -> &[u32] {
        let [start, end] = [group, group + 1].map(|at| self.starts.get(at).map_or(0, |&start| start as usize));
        self.members.get(start..end).unwrap_or_default()
    }

    /// All groups.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.members[ends[0] as usize..ends[1] as usize])
    }

    fn push(&mut self, members: &[u32]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.members.extend(members);
        self.starts.push(self.members.len() as u32);
    }
}

impl Displacement {
    /// The displacement of `mesh`, which is in its rest pose, by heights of its vertices. Vertices at one point get the mean of their heights.
    pub fn new(mesh: &TriangleMesh, mut heights: Vec<f32>) -> Self {
        heights.resize(mesh.positions.len(), 0.0);
        let (points, smooth) = shared(mesh);
        for group in points.iter() {
            let sum: f32 = group.iter().map(|&vertex| heights[vertex as usize]).sum();
            group.iter().for_each(|&vertex| heights[vertex as usize] = sum / group.len() as f32);
        }
        Self { heights, rings: rings(mesh), points, smooth, from_faces: mesh.normals.is_empty() }
    }

    /// The lowest and the highest height.
    pub fn range(&self) -> [f32; 2] {
        self.heights.iter().fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], &h| [low.min(h), high.max(h)])
    }
}

/// The rings of all vertices.
fn rings(mesh: &TriangleMesh) -> Groups {
    let corners = corners(mesh);
    let ring = |vertex: usize| {
        let others = corners.of(vertex).iter().map(|&corner| {
            let (triangle, i) = (mesh.triangles[corner as usize / 3], corner as usize % 3);
            [triangle[(i + 1) % 3], triangle[(i + 2) % 3]]
        });
        ring(others.collect())
    };
    let rings: Vec<Vec<u32>> = (0..mesh.positions.len()).into_par_iter().map(ring).collect();
    let mut groups = Groups::default();
    rings.iter().for_each(|ring| groups.push(ring));
    groups
}

/// Joins the edges opposite to a vertex, each from one neighbour to the next.
fn ring(mut edges: Vec<[u32; 2]>) -> Vec<u32> {
    let mut ring = Vec::with_capacity(edges.len() + 1);
    while !edges.is_empty() {
        // An open ring starts at the edge that no other leads to.
        let is_first = |edge: &[u32; 2]| !edges.iter().any(|other| other[1] == edge[0]);
        let first = edges.iter().position(is_first).unwrap_or(0);
        let [start, mut end] = edges.swap_remove(first);
        if !ring.is_empty() {
            ring.push(NONE);
        }
        ring.extend([start, end]);
        while let Some(next) = edges.iter().position(|edge| edge[0] == end) {
            end = edges.swap_remove(next)[1];
            ring.push(end);
        }
    }
    ring
}

/// The corners of triangles at each vertex, as `3 · triangle + corner`.
fn corners(mesh: &TriangleMesh) -> Groups {
    let all = mesh.triangles.as_flattened();
    let mut starts = vec![0_u32; mesh.positions.len() + 1];
    all.iter().for_each(|&vertex| starts[vertex as usize + 1] += 1);
    for vertex in 1..starts.len() {
        starts[vertex] += starts[vertex - 1];
    }
    let (mut next, mut members) = (starts.clone(), vec![0; all.len()]);
    for (corner, &vertex) in (0..).zip(all) {
        let next = &mut next[vertex as usize];
        members[*next as usize] = corner;
        *next += 1;
    }
    Groups { starts, members }
}

/// The vertices that share a point with others, by point, and by point and normal.
fn shared(mesh: &TriangleMesh) -> (Groups, Groups) {
    let key = |&vertex: &u32| mesh.positions[vertex as usize].map(|x| (x + 0.0).to_bits());
    let mut order: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    order.par_sort_unstable_by_key(|vertex| (key(vertex), *vertex));
    let (mut points, mut smooth) = (Groups::default(), Groups::default());
    let normal = |vertex: u32| mesh.normals.get(vertex as usize).map_or(Vec3::Y, |&normal| normal.into());
    for group in order.chunk_by(|a, b| key(a) == key(b)).filter(|group| group.len() > 1) {
        points.push(group);
        let mut rest = group.to_vec();
        while let Some(&first) = rest.first() {
            let (same, others): (Vec<u32>, Vec<u32>) =
                rest.iter().partition(|&&vertex| normal(first).dot(normal(vertex)) >= SAME_NORMAL || vertex == first);
            if same.len() > 1 {
                smooth.push(&same);
            }
            rest = others;
        }
    }
    (points, smooth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_ordered_and_may_be_several() {
        assert_eq!(ring(vec![[2, 3], [4, 1], [1, 2], [3, 4]]), [2, 3, 4, 1, 2]);
        assert_eq!(ring(vec![[2, 3], [1, 2]]), [1, 2, 3]);
        assert_eq!(ring(vec![[5, 6], [2, 3], [1, 2]]), [5, 6, NONE, 1, 2, 3]);
        assert!(ring(Vec::new()).is_empty());
    }

    #[test]
    fn vertices_at_one_point_get_one_height_and_are_smooth_with_one_normal() {
        let mesh = TriangleMesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.0; 3], [0.0; 3]],
            normals: vec![[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1e-4, 1.0], [1.0, 0.0, 0.0]],
            triangles: vec![[0, 1, 2], [3, 1, 2], [4, 1, 2]],
            ..TriangleMesh::default()
        };
        let displacement = Displacement::new(&mesh, vec![1.0, 5.0, 7.0, 2.0, 6.0]);
        assert_eq!(displacement.heights, [3.0, 5.0, 7.0, 3.0, 3.0]);
        assert_eq!(displacement.points.iter().collect::<Vec<_>>(), [[0, 3, 4]]);
        assert_eq!(displacement.smooth.iter().collect::<Vec<_>>(), [[0, 3]]);
        let rings: Vec<&[u32]> = (0..3).map(|vertex| displacement.rings.of(vertex)).collect();
        assert_eq!(rings, [&[1, 2][..], &[2, 0, NONE, 2, 4, NONE, 2, 3], &[0, 1, NONE, 4, 1, NONE, 3, 1]]);
        assert_eq!(displacement.range(), [3.0, 7.0]);
        assert!(displacement.rings.of(9).is_empty());
    }
}
