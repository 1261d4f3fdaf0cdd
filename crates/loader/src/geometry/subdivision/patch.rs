//! The neighbourhood of a face: all faces that share a vertex with it. Nothing else influences the surface of the face.

use super::topology::Topology;
use std::hash::{Hash, Hasher};
use throng_scene::NONE;

/// A face and its neighbours. Patches with equal numbers have equal weights, whatever vertices of the cage they have.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Its faces, the face itself first. Vertices are numbered in the order of `controls`.
    pub topology: Topology,
    /// The vertices of the cage.
    pub controls: Vec<u32>,
}

impl PartialEq for Patch {
    fn eq(&self, other: &Self) -> bool {
        fn bits(values: &[f32]) -> impl Iterator<Item = u32> {
            values.iter().map(|value| value.to_bits())
        }
        let (a, b) = (&self.topology, &other.topology);
        a.starts == b.starts
            && a.corners == b.corners
            && a.twins == b.twins
            && bits(&a.edge_sharpness).eq(bits(&b.edge_sharpness))
            && bits(&a.vertex_sharpness).eq(bits(&b.vertex_sharpness))
    }
}

impl Eq for Patch {}

impl Hash for Patch {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.topology.starts.hash(state);
        self.topology.corners.hash(state);
        for sharpness in self.topology.edge_sharpness.iter().chain(&self.topology.vertex_sharpness) {
            state.write_u32(sharpness.to_bits());
        }
    }
}

/// Finds patches; its memory is reused.
pub struct Patches<'a> {
    cage: &'a Topology,
    /// Number of each vertex in the patch, or [`NONE`].
    vertices: Vec<u32>,
    /// Number of the first corner of each face in the patch, and the corner of the cage that it is.
    faces: Vec<[u32; 2]>,
}

impl<'a> Patches<'a> {
    pub fn of(cage: &'a Topology) -> Self {
        let vertices = vec![NONE; cage.vertex_sharpness.len()];
        Self { cage, vertices, faces: vec![[NONE; 2]; cage.face_count()] }
    }

    /// The patch of a face; without its neighbours if they have no influence.
    pub fn patch(&mut self, face: u32, has_neighbours: bool) -> Patch {
        let cage = self.cage;
        let own = cage.corners_of(face);
        let mut members = Vec::new();
        self.add(own.start, &mut members);
        if has_neighbours {
            for corner in own.clone() {
                let mut current = cage.counter_clockwise(corner);
                while let Some(other) = current.filter(|&other| other != corner) {
                    self.add(other, &mut members);
                    current = cage.counter_clockwise(other);
                }
                let mut current = if current.is_none() { cage.clockwise(corner) } else { None };
                while let Some(other) = current {
                    self.add(other, &mut members);
                    current = cage.clockwise(other);
                }
            }
        }
        let patch = self.numbered(&members, own.len());
        for &corner in &members {
            self.faces[cage.faces[corner as usize] as usize] = [NONE; 2];
        }
        patch.controls.iter().for_each(|&vertex| self.vertices[vertex as usize] = NONE);
        patch
    }

    /// Adds a face, beginning at one of its corners.
    fn add(&mut self, corner: u32, members: &mut Vec<u32>) {
        let face = self.cage.faces[corner as usize] as usize;
        if self.faces[face][0] == NONE {
            let before = members.last().map_or(0, |&last| {
                let last = self.cage.faces[last as usize];
                self.faces[last as usize][0] + self.cage.corners_of(last).len() as u32
            });
            self.faces[face] = [before, corner];
            members.push(corner);
        }
    }

    /// The number in the patch of a corner of the cage; [`NONE`] if its face is not a member.
    fn local(&self, corner: u32) -> u32 {
        let face = self.cage.faces[corner as usize];
        let [start, first] = self.faces[face as usize];
        if start == NONE {
            return NONE;
        }
        let all = self.cage.corners_of(face);
        let size = all.len() as u32;
        start + (corner + size - first) % size
    }

    fn numbered(&mut self, members: &[u32], own: usize) -> Patch {
        let cage = self.cage;
        let mut controls = Vec::new();
        let (mut corners, mut originals) = (Vec::new(), Vec::new());
        for &first in members {
            let mut corner = first;
            loop {
                let vertex = cage.vertex(corner);
                let number = &mut self.vertices[vertex as usize];
                if *number == NONE {
                    *number = controls.len() as u32;
                    controls.push(vertex);
                }
                corners.push(*number);
                originals.push(corner);
                corner = cage.next(corner);
                if corner == first {
                    break;
                }
            }
        }
        let sizes = members.iter().map(|&corner| cage.corners_of(cage.faces[corner as usize]).len() as u32);
        let mut topology = Topology::unconnected(sizes, corners, controls.len());
        // Only vertices of the face, and edges at them, have an influence.
        let is_own = |number: u32| topology.corners[..own].contains(&number);
        let own_vertices: Vec<bool> = (0..controls.len() as u32).map(is_own).collect();
        for (number, &corner) in originals.iter().enumerate() {
            let twin = cage.twins[corner as usize];
            topology.twins[number] = if twin == NONE { NONE } else { self.local(twin) };
            let next = topology.next(number as u32);
            if own_vertices[topology.corners[number] as usize] || own_vertices[topology.vertex(next) as usize] {
                topology.edge_sharpness[number] = cage.edge_sharpness[corner as usize];
            }
        }
        for (number, &vertex) in controls.iter().enumerate().filter(|(number, _)| own_vertices[*number]) {
            topology.vertex_sharpness[number] = cage.vertex_sharpness[vertex as usize];
        }
        Patch { topology, controls }
    }
}
