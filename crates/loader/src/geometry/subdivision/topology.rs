//! Faces of a cage, and how they are connected: corners as half-edges, with the sharpness of edges and vertices.
//!
//! Corner `c` is also the half-edge from its vertex to the vertex of the next corner of its face. Edges with more than two faces, and edges
//! along which two faces have opposite orientations, count as boundaries of each face, as in OpenSubdiv.

use super::{Boundary, sharpness};
use rayon::prelude::*;
use std::ops::Range;
use throng_scene::NONE;

/// Faces with the connections between them.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// Index of the first corner of each face; one extra entry marks the end.
    pub starts: Vec<u32>,
    /// Vertex of each corner.
    pub corners: Vec<u32>,
    /// Face of each corner.
    pub faces: Vec<u32>,
    /// The opposite half-edge of each half-edge, or [`NONE`] at a boundary.
    pub twins: Vec<u32>,
    /// Sharpness of each half-edge; equal for opposite ones.
    pub edge_sharpness: Vec<f32>,
    /// Sharpness of each vertex.
    pub vertex_sharpness: Vec<f32>,
}

/// The corners around a vertex that are connected across edges, counter-clockwise.
#[derive(Clone, Debug, Default)]
pub struct Fan {
    /// The corners. Those of an open fan begin at its first boundary.
    pub corners: Vec<u32>,
    /// Half-edges to or from the neighbours, counter-clockwise. An open fan has one more than corners.
    pub edges: Vec<u32>,
    /// The vertices at the other ends of the edges.
    pub neighbours: Vec<u32>,
}

impl Fan {
    /// Whether the faces surround the vertex.
    pub fn is_closed(&self) -> bool {
        self.edges.len() == self.corners.len()
    }
}

impl Topology {
    /// The faces with these numbers of corners, without sharpness and connections.
    pub fn unconnected(sizes: impl Iterator<Item = u32>, corners: Vec<u32>, vertices: usize) -> Self {
        let mut starts = vec![0];
        let mut faces = Vec::with_capacity(corners.len());
        for (face, size) in (0..).zip(sizes) {
            faces.resize(faces.len() + size as usize, face);
            starts.push(faces.len() as u32);
        }
        let count = corners.len();
        Self {
            starts,
            faces,
            corners,
            twins: vec![NONE; count],
            edge_sharpness: vec![0.0; count],
            vertex_sharpness: vec![0.0; vertices],
        }
    }

    /// Connects faces, and assigns the sharpness of edges, given as vertices and value, and of vertices.
    pub fn connect(&mut self, creases: &[([u32; 2], f32)], points: &[(u32, f32)], boundary: Boundary) {
        let non_manifold = self.find_twins(creases);
        for &(vertex, sharpness) in points {
            if let Some(own) = self.vertex_sharpness.get_mut(vertex as usize) {
                *own = own.max(sharpness);
            }
        }
        self.sharpen_vertices(&non_manifold, boundary);
    }

    /// Connects faces across edges, and returns the number of non-manifold edges at each vertex; empty if there are none.
    fn find_twins(&mut self, creases: &[([u32; 2], f32)]) -> Vec<u32> {
        let mut sharp: Vec<([u32; 2], f32)> =
            creases.iter().map(|&([a, b], value)| ([a.min(b), a.max(b)], value)).collect();
        sharp.sort_by_key(|(edge, _)| *edge);
        let ends = |corner: u32| [self.corners[corner as usize], self.corners[self.next(corner) as usize]];
        let mut edges: Vec<([u32; 2], u32)> = (0..self.corners.len() as u32)
            .into_par_iter()
            .map(|corner| {
                let [a, b] = ends(corner);
                ([a.min(b), a.max(b)], corner)
            })
            .collect();
        edges.par_sort_unstable();
        let mut non_manifold = Vec::new();
        for group in edges.chunk_by(|(a, _), (b, _)| a == b) {
            let edge = group[0].0;
            let first = sharp.partition_point(|(other, _)| *other < edge);
            let equal = sharp[first..].iter().take_while(|(other, _)| *other == edge);
            let value = equal.map(|(_, value)| *value).fold(0.0, f32::max);
            group.iter().for_each(|&(_, corner)| self.edge_sharpness[corner as usize] = value);
            match *group {
                [(_, a), (_, b)] if self.corners[a as usize] != self.corners[b as usize] => {
                    (self.twins[a as usize], self.twins[b as usize]) = (b, a);
                }
                [_] => {}
                _ => {
                    non_manifold.resize(self.vertex_sharpness.len(), 0);
                    edge.iter().for_each(|&vertex| non_manifold[vertex as usize] += 1);
                }
            }
        }
        non_manifold
    }

    /// Makes vertices infinitely sharp that are not manifold, and corners of a single face if boundaries have them.
    fn sharpen_vertices(&mut self, non_manifold: &[u32], boundary: Boundary) {
        let mut fans = vec![0_u32; self.vertex_sharpness.len()];
        for corner in 0..self.corners.len() as u32 {
            // Each fan is counted at its first corner: the one after a boundary, or the one with the lowest index.
            let fan = self.fan(corner);
            let first = if fan.is_closed() { fan.corners.iter().min() } else { fan.corners.first() };
            if first == Some(&corner) {
                let vertex = self.corners[corner as usize] as usize;
                fans[vertex] += 1;
                if boundary == Boundary::EdgesAndCorners && fan.corners.len() == 1 && fans[vertex] == 1 {
                    self.vertex_sharpness[vertex] = sharpness::INFINITE;
                }
            }
        }
        for (vertex, &count) in fans.iter().enumerate() {
            let edges = non_manifold.get(vertex).copied().unwrap_or_default();
            if (count > 1 || edges > 0) && edges != 2 {
                self.vertex_sharpness[vertex] = sharpness::INFINITE;
            }
        }
    }

    /// Number of faces.
    pub fn face_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The corners of a face.
    pub fn corners_of(&self, face: u32) -> Range<u32> {
        self.starts[face as usize]..self.starts[face as usize + 1]
    }

    /// The next corner of the face.
    pub fn next(&self, corner: u32) -> u32 {
        let Range { start, end } = self.corners_of(self.faces[corner as usize]);
        if corner + 1 == end { start } else { corner + 1 }
    }

    /// The corner before it in the face.
    pub fn previous(&self, corner: u32) -> u32 {
        let Range { start, end } = self.corners_of(self.faces[corner as usize]);
        if corner == start { end - 1 } else { corner - 1 }
    }

    /// The vertex of a corner.
    pub fn vertex(&self, corner: u32) -> u32 {
        self.corners[corner as usize]
    }

    /// The corner at the same vertex in the next face counter-clockwise.
    pub fn counter_clockwise(&self, corner: u32) -> Option<u32> {
        Some(self.twins[self.previous(corner) as usize]).filter(|&twin| twin != NONE)
    }

    /// The corner at the same vertex in the next face clockwise.
    pub fn clockwise(&self, corner: u32) -> Option<u32> {
        let twin = self.twins[corner as usize];
        (twin != NONE).then(|| self.next(twin))
    }

    /// The fan of a corner's vertex that contains the corner.
    pub fn fan(&self, corner: u32) -> Fan {
        let mut first = corner;
        while let Some(other) = self.clockwise(first) {
            first = other;
            if first == corner {
                break;
            }
        }
        let mut fan = Fan::default();
        let mut current = Some(first);
        while let Some(corner) = current {
            fan.corners.push(corner);
            fan.edges.push(corner);
            fan.neighbours.push(self.vertex(self.next(corner)));
            current = self.counter_clockwise(corner);
            if current.is_none() {
                let last = self.previous(corner);
                fan.edges.push(last);
                fan.neighbours.push(self.vertex(last));
            } else if current == Some(first) {
                break;
            }
        }
        fan
    }

    /// The sharpness of a half-edge. Boundaries are infinitely sharp.
    pub fn sharpness(&self, edge: u32) -> f32 {
        if self.twins[edge as usize] == NONE { sharpness::INFINITE } else { self.edge_sharpness[edge as usize] }
    }
}
