//! Smooths a mesh in place: computes the normals of its corners, and copies vertices whose faces differ in normal or colour. Works on a part of
//! the positions after another, because the faces around all positions take several times the memory of the mesh.

use super::normals::{Fan, unit, weld};
use rayon::prelude::*;
use std::ops::Range;
use throng_scene::{NONE, TriangleMesh};

/// Maximum number of copies of a vertex that are searched for one with an equal normal. Beyond it, another copy is cheaper than the search.
const MOST_SEARCHED: usize = 64;
/// Number of parts into which positions are divided, and the minimum number of positions of a part.
const PARTS: usize = 32;
const LEAST: usize = 1 << 11;
/// Number of triangles that are searched at once for faces around the positions of a part.
const TOGETHER: usize = 1 << 12;
/// Number of groups of equal positions whose normals are computed at once.
const GROUPS: usize = 1 << 8;

/// Values that a file has for faces or their corners.
#[derive(Clone, Copy, Default)]
pub struct OfFaces<'a> {
    /// Colour of each triangle, or empty.
    pub colors: &'a [[f32; 4]],
    /// Normals of corners, if vertices have none.
    pub normals: Option<CornerNormals<'a>>,
}

/// Normals, and for each triangle those of its corners, or no triangles. A number that no normal has stands for a missing one.
pub type CornerNormals<'a> = (&'a [[f32; 3]], &'a [[u32; 3]]);

/// Smooths the faces of `mesh`, none of which is without area, up to `smooth_angle` radians. Normals of the file may be missing, or have no
/// direction in some places, and are kept elsewhere. Vertices are ordered by first use.
pub fn smooth(mesh: TriangleMesh, faces: OfFaces, smooth_angle: f32) -> TriangleMesh {
    let (normals, corners) = faces.normals.unwrap_or((&mesh.normals, &mesh.triangles));
    let is_given = |&number: &u32| normals.get(number as usize).is_some_and(|&normal| unit(normal).is_some());
    let is_complete = corners.len() == mesh.triangles.len() && corners.as_flattened().par_iter().all(is_given);
    // Before anything else takes memory.
    let groups = (!is_complete).then(|| Groups::of(&mesh));
    let mut split = Split::of(mesh, faces);
    if let Some(groups) = groups {
        // The margin keeps exactly coplanar faces smooth at 0 degrees despite rounding.
        split.smooth(&groups, f64::from(smooth_angle).cos() - 1e-9);
    } else if !faces.colors.is_empty() || faces.normals.is_some() {
        for (face, corner) in (0..split.mesh.triangles.len()).flat_map(|face| [(face, 0), (face, 1), (face, 2)]) {
            let normal = split.given(face, corner).unwrap_or_default();
            split.assign(face, corner, normal);
        }
    }
    split.ordered()
}

/// A mesh whose vertices are being split. A corner that has its normal refers to a copy; the first copy of a vertex has the vertex's own index.
struct Split<'a> {
    mesh: TriangleMesh,
    faces: OfFaces<'a>,
    /// The number of the file's vertices.
    count: usize,
    /// The latest copy of each of the file's vertices, or [`NONE`].
    latest: Vec<u32>,
    /// The vertex and the previous copy of each copy from `count` onwards.
    others: Vec<(u32, u32)>,
}

impl<'a> Split<'a> {
    fn of(mut mesh: TriangleMesh, faces: OfFaces<'a>) -> Self {
        let count = mesh.positions.len();
        mesh.normals.resize(count, [0.0; 3]);
        mesh.normals.par_iter_mut().for_each(|normal| *normal = unit(*normal).unwrap_or([0.0; 3]));
        if !faces.colors.is_empty() {
            mesh.colors.resize(count, [1.0; 4]);
        }
        Self { mesh, faces, count, latest: vec![NONE; count], others: Vec::new() }
    }

    /// The normal that the file has for a corner, or for a vertex that has no copies yet.
    fn given(&self, face: usize, corner: usize) -> Option<[f32; 3]> {
        match self.faces.normals {
            Some((normals, corners)) => unit(*normals.get(corners.get(face)?[corner] as usize)?),
            None => {
                let normal = self.mesh.normals[self.mesh.triangles[face][corner] as usize];
                (normal != [0.0; 3]).then_some(normal)
            }
        }
    }

    /// The file's vertex of which `copy` is one.
    fn vertex_of(&self, copy: u32) -> u32 {
        match (copy as usize).checked_sub(self.count) {
            None => copy,
            Some(other) => self.others[other].0,
        }
    }

    fn corners(&self, face: u32) -> [[f32; 3]; 3] {
        self.mesh.triangles[face as usize].map(|copy| self.mesh.positions[self.vertex_of(copy) as usize])
    }

    /// Computes the normals of all corners without one.
    fn smooth(&mut self, groups: &Groups, cos_limit: f64) {
        let size = self.count.div_ceil(PARTS).max(LEAST);
        for first in (0..self.count).step_by(size) {
            let part = self.part(groups, first as u32, size.min(self.count - first));
            let starts: Vec<usize> = (0..part.starts.len() - 1).step_by(GROUPS).collect();
            let of_some = |&start: &usize| {
                let (mut fan, mut normals) = (Fan::default(), Vec::new());
                for at in start..(start + GROUPS).min(part.starts.len() - 1) {
                    self.normals_around(part.around(at), &mut fan, cos_limit, &mut normals);
                }
                normals
            };
            let normals: Vec<Vec<[f32; 3]>> = starts.par_iter().map(of_some).collect();
            for (&(face, corner), normal) in part.members.iter().zip(normals.into_iter().flatten()) {
                self.assign(face as usize, corner.into(), normal);
            }
        }
    }

    /// Finds the faces around `size` positions from `first` onwards.
    fn part(&self, groups: &Groups, first: u32, size: usize) -> Part {
        let within = first..first + size as u32;
        let faces = self.mesh.triangles.par_chunks(TOGETHER).zip(&groups.reaches).enumerate();
        let near = faces.filter(|(_, (_, reach))| reach.start < within.end && within.start < reach.end);
        let found: Vec<Vec<(u32, u32, u8)>> = near
            .map(|(chunk, (faces, _))| {
                let mut found = Vec::new();
                for (face, triangle) in (chunk as u32 * TOGETHER as u32..).zip(faces) {
                    for (corner, &copy) in (0..).zip(triangle) {
                        // Other copies are of positions in earlier parts.
                        let group = if (copy as usize) < self.count { groups.of_vertex(copy) } else { NONE };
                        if within.contains(&group) {
                            found.push((group - first, face, corner));
                        }
                    }
                }
                found
            })
            .collect();
        let mut starts = vec![0u32; size + 1];
        found.iter().flatten().for_each(|&(at, ..)| starts[at as usize + 1] += 1);
        for at in 0..size {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut members = vec![(0, 0); starts[size] as usize];
        for (at, face, corner) in found.into_iter().flatten() {
            let slot = &mut next[at as usize];
            members[*slot as usize] = (face, corner);
            *slot += 1;
        }
        Part { starts, members }
    }

    /// Adds the normals of the corners of `faces` that meet at one position.
    fn normals_around(&self, faces: &[(u32, u8)], fan: &mut Fan, cos_limit: f64, normals: &mut Vec<[f32; 3]>) {
        let given = |&(face, corner): &(u32, u8)| self.given(face as usize, corner.into());
        if faces.iter().all(|face| given(face).is_some()) {
            normals.extend(faces.iter().filter_map(given));
            return;
        }
        fan.fill(faces.iter().map(|&(face, corner)| (self.corners(face), usize::from(corner))));
        let all = (0..).zip(faces);
        normals.extend(all.map(|(i, face)| given(face).unwrap_or_else(|| fan.normal(i, cos_limit))));
    }

    /// Makes a corner refer to the copy of its vertex with this normal, and with the colour of its face.
    fn assign(&mut self, face: usize, corner: usize, normal: [f32; 3]) {
        let vertex = self.mesh.triangles[face][corner];
        let color = self.faces.colors.get(face).copied();
        self.mesh.triangles[face][corner] = self.copy(vertex, normal, color);
    }

    fn copy(&mut self, vertex: u32, normal: [f32; 3], color: Option<[f32; 4]>) -> u32 {
        let (mesh, latest) = (&mut self.mesh, self.latest[vertex as usize]);
        let is_equal = |a: [f32; 3], b: [f32; 3]| match self.faces.normals {
            Some(_) => a.map(f32::to_bits) == b.map(f32::to_bits),
            None => a == b,
        };
        let mut copy = latest;
        for _ in 0..MOST_SEARCHED {
            if copy == NONE {
                break;
            }
            let at = copy as usize;
            if is_equal(mesh.normals[at], normal) && color.is_none_or(|color| mesh.colors[at] == color) {
                return copy;
            }
            copy = at.checked_sub(self.count).map_or(NONE, |other| self.others[other].1);
        }
        if latest == NONE {
            mesh.normals[vertex as usize] = normal;
            color.into_iter().for_each(|color| mesh.colors[vertex as usize] = color);
            self.latest[vertex as usize] = vertex;
            return vertex;
        }
        mesh.normals.push(normal);
        mesh.colors.extend(color);
        self.others.push((vertex, latest));
        self.latest[vertex as usize] = mesh.normals.len() as u32 - 1;
        self.latest[vertex as usize]
    }

    /// The mesh with its copies in the order of their first use.
    fn ordered(self) -> TriangleMesh {
        let Self { mut mesh, faces, others, latest, .. } = self;
        drop(latest);
        let vertices = others.iter().map(|&(vertex, _)| vertex as usize);
        extend(&mut mesh.positions, vertices.clone());
        extend(&mut mesh.uvs, vertices.clone());
        if faces.colors.is_empty() {
            extend(&mut mesh.colors, vertices);
        }
        drop(others);
        let (mut numbers, mut next) = (vec![NONE; mesh.positions.len()], 0);
        let mut count = |number: &mut u32| {
            if *number == NONE {
                *number = next;
                next += 1;
            }
            *number
        };
        let corners = mesh.triangles.as_flattened_mut().iter_mut();
        corners.for_each(|copy| *copy = count(&mut numbers[*copy as usize]));
        // Vertices that no face uses follow, and are cut off.
        let used = numbers.iter().filter(|number| **number != NONE).count();
        numbers.iter_mut().for_each(|number| _ = count(number));
        for at in 0..numbers.len() {
            while numbers[at] as usize != at {
                let to = numbers[at] as usize;
                mesh.positions.swap(at, to);
                mesh.normals.swap(at, to);
                swap(&mut mesh.uvs, at, to);
                swap(&mut mesh.colors, at, to);
                numbers.swap(at, to);
            }
        }
        drop(numbers);
        cut(&mut mesh.positions, used);
        cut(&mut mesh.normals, used);
        cut(&mut mesh.uvs, used);
        cut(&mut mesh.colors, used);
        mesh
    }
}

/// Adds copies of the values of `vertices`, unless there are no values.
fn extend<T: Copy>(values: &mut Vec<T>, vertices: impl ExactSizeIterator<Item = usize>) {
    if !values.is_empty() {
        values.reserve_exact(vertices.len());
        vertices.for_each(|vertex| values.push(values[vertex]));
    }
}

/// Exchanges two values, unless there are none.
fn swap<T>(values: &mut [T], a: usize, b: usize) {
    if !values.is_empty() {
        values.swap(a, b);
    }
}

fn cut<T>(values: &mut Vec<T>, count: usize) {
    values.truncate(count);
    values.shrink_to_fit();
}

/// Vertices with equal positions.
struct Groups {
    /// For each vertex, the first one with its position; empty if all positions differ.
    first: Vec<u32>,
    /// Range of the groups that every [`TOGETHER`] triangles use.
    reaches: Vec<Range<u32>>,
}

impl Groups {
    fn of(mesh: &TriangleMesh) -> Self {
        let mut groups = Self { first: weld(&mesh.positions), reaches: Vec::new() };
        if groups.first.par_iter().enumerate().all(|(vertex, &first)| vertex == first as usize) {
            groups.first = Vec::new();
        }
        let reach = |triangles: &[[u32; 3]]| {
            let of_corners = triangles.as_flattened().iter().map(|&vertex| groups.of_vertex(vertex));
            let (least, most) = of_corners.fold((NONE, 0), |(a, b), group| (a.min(group), b.max(group)));
            least..most + 1
        };
        groups.reaches = mesh.triangles.par_chunks(TOGETHER).map(reach).collect();
        groups
    }

    fn of_vertex(&self, vertex: u32) -> u32 {
        self.first.get(vertex as usize).copied().unwrap_or(vertex)
    }
}

/// The faces around some positions.
struct Part {
    starts: Vec<u32>,
    /// Face, and its corner, around each position, position by position, in the order of faces.
    members: Vec<(u32, u8)>,
}

impl Part {
    fn around(&self, at: usize) -> &[(u32, u8)] {
        &self.members[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_normals_at_one_vertex_need_no_long_search() {
        let mut split =
            Split::of(TriangleMesh { positions: vec![[0.0; 3]], ..TriangleMesh::default() }, OfFaces::default());
        let count = 3 * MOST_SEARCHED as u32;
        let made: Vec<u32> = (0..count).map(|i| split.copy(0, [i as f32, 0.0, 1.0], None)).collect();
        assert!(made.iter().copied().eq(0..count));
        assert_eq!(split.copy(0, [count as f32 - 1.0, 0.0, 1.0], None), count - 1);
        assert_eq!(split.copy(0, [0.0, 0.0, 1.0], None), count);
    }
}
