//! Splitting and flipping edges.

use super::{
    SLIVER, Surface, TOO_LONG,
    edit_mesh::{Edge, EditMesh},
};
use glam::Vec3;

impl EditMesh {
    /// Splits edges that are too long, starting with the longest.
    pub fn split_long(&mut self, surface: &dyn Surface) {
        let edges = self.measured_edges(|ratio| ratio > TOO_LONG);
        for (_, a, b) in edges.into_iter().rev() {
            if let Some(edge) = self.edge(a, b) {
                self.split(&edge, surface);
            }
        }
    }

    fn split(&mut self, edge: &Edge, surface: &dyn Surface) {
        let middle = self.points.len() as u32;
        let half = (self.point(edge.a) + self.point(edge.b)) * 0.5;
        let facing: Vec3 = edge.triangles.iter().map(|&triangle| self.area_normal(self.corners(triangle))).sum();
        self.points.push(surface.project(half, facing));
        self.around.push(Vec::new());
        let mean = (self.wanted[edge.a as usize] + self.wanted[edge.b as usize]) * 0.5;
        self.wanted.push(mean);
        for (triangle, opposite) in edge.triangles.into_iter().zip(edge.opposite) {
            let corners = self.corners(triangle);
            let new = self.triangles.len() as u32;
            let swap = |old: u32| corners.map(|c| if c == old { middle } else { c });
            let (near_a, near_b) = (swap(edge.b), swap(edge.a));
            self.triangles[triangle as usize] = near_a;
            self.triangles.push(near_b);
            self.around[edge.b as usize].retain(|&t| t != triangle);
            self.around[edge.b as usize].push(new);
            self.around[opposite as usize].push(new);
            self.around[middle as usize].extend([triangle, new]);
        }
    }

    /// Flips all edges for which `should_flip` is true.
    pub fn flip_all(&mut self) {
        for (a, b) in self.edges() {
            if let Some(edge) = self.edge(a, b)
                && self.should_flip(&edge)
            {
                self.flip(&edge);
            }
        }
    }

    /// Whether to flip an edge: the flip must increase the smallest angle, must not cross a crease and must not fold the surface.
    fn should_flip(&self, edge: &Edge) -> bool {
        const FLAT: f32 = 0.8;
        const GAIN: f32 = 1.02;
        let [c, d] = edge.opposite;
        let degree = |v: u32| self.around[v as usize].len();
        let joined = self.neighbours(c).contains(&d);
        if joined || degree(edge.a) <= 4 || degree(edge.b) <= 4 || degree(c) > 9 || degree(d) > 9 {
            return false;
        }
        let old = [[edge.a, edge.b, c], [edge.b, edge.a, d]];
        let new = [[edge.a, d, c], [d, edge.b, c]];
        let cosine = |pair: [[u32; 3]; 2]| {
            let [m, n] = pair.map(|corners| self.area_normal(corners).normalize_or_zero());
            m.dot(n)
        };
        let worst = |pair: [[u32; 3]; 2]| {
            let [m, n] = pair.map(|corners| self.shape(corners));
            m.min(n)
        };
        let mean = self.area_normal(old[0]) + self.area_normal(old[1]);
        let upright = new.iter().all(|&corners| {
            let normal = self.area_normal(corners);
            normal.dot(mean) > 0.5 * normal.length() * mean.length()
        });
        let creased = cosine(old) < FLAT;
        let worst_old = worst(old);
        let sliver = worst_old < SLIVER;
        upright
            && (!creased && cosine(new) > FLAT || sliver && cosine(new) > cosine(old).min(0.2))
            && worst(new) > worst_old * GAIN
    }

    fn flip(&mut self, edge: &Edge) {
        let [first, second] = edge.triangles;
        let [c, d] = edge.opposite;
        self.triangles[first as usize] = [edge.a, d, c];
        self.triangles[second as usize] = [d, edge.b, c];
        self.around[edge.a as usize].retain(|&t| t != second);
        self.around[edge.b as usize].retain(|&t| t != first);
        self.around[c as usize].push(second);
        self.around[d as usize].push(first);
    }
}
