//! Collapsing edges, and removing faulty triangles.

use super::{
    SLIVER, TOO_LONG, TOO_SHORT,
    edit_mesh::{DEAD, Edge, EditMesh},
};
use crate::modelling::quadric::Quadric;
use glam::Vec3;

impl EditMesh {
    /// Collapses edges that are too short, starting with the shortest.
    pub fn collapse_short(&mut self) {
        let mut quadrics = self.quadrics();
        let mut touched = vec![false; self.points.len()];
        for (_, a, b) in self.measured_edges(|ratio| ratio < TOO_SHORT) {
            if touched[a as usize] || touched[b as usize] {
                continue;
            }
            let Some(edge) = self.edge(a, b) else {
                continue;
            };
            let sum = quadrics[a as usize].plus(&quadrics[b as usize]);
            let places = self.places_by_cost(a, b, &sum);
            let Some(place) = places.into_iter().find(|&place| self.may_collapse(&edge, place)) else {
                continue;
            };
            for vertex in self.neighbours(b) {
                touched[vertex as usize] = true;
            }
            self.collapse(&edge, place);
            quadrics[a as usize] = sum;
            for vertex in self.neighbours(a) {
                touched[vertex as usize] = true;
            }
        }
    }

    /// The middle and the ends of an edge, in order of increasing error. The middle comes first unless it is clearly worse.
    fn places_by_cost(&self, a: u32, b: u32, quadric: &Quadric) -> [Vec3; 3] {
        const TOLERANCE: f64 = 1e-4;
        let (a, b) = (self.point(a), self.point(b));
        let handicap = TOLERANCE * f64::from(a.distance_squared(b)).powi(2);
        let mut places = [
            (quadric.cost((a + b) * 0.5), (a + b) * 0.5),
            (quadric.cost(a) + handicap, a),
            (quadric.cost(b) + handicap, b),
        ];
        places.sort_by(|m, n| m.0.total_cmp(&n.0));
        places.map(|(_, place)| place)
    }

    /// Removes faulty triangles. Spikes at their corners are cut off; otherwise the shortest edge is collapsed.
    pub fn drop_slivers(&mut self) {
        for triangle in 0..self.triangles.len() {
            let corners = self.triangles[triangle];
            if corners == DEAD || !self.is_faulty(corners) {
                continue;
            }
            let spike = corners.into_iter().find(|&corner| self.around[corner as usize].len() == 3);
            match spike {
                Some(vertex) => self.cut_spike(vertex),
                None => self.collapse_shortest_side(corners),
            }
        }
    }

    /// Whether a triangle is far from equilateral or much smaller than requested.
    fn is_faulty(&self, corners: [u32; 3]) -> bool {
        const LEAST_SHARE: f32 = 0.25;
        let [a, b, c] = corners;
        let longest = self.length_ratio(a, b).max(self.length_ratio(b, c)).max(self.length_ratio(c, a));
        self.shape(corners) < SLIVER || longest < LEAST_SHARE
    }

    fn collapse_shortest_side(&mut self, [a, b, c]: [u32; 3]) {
        let mut sides = [(a, b), (b, c), (c, a)];
        let length = |(m, n): (u32, u32)| self.point(m).distance(self.point(n));
        sides.sort_by(|&m, &n| length(m).total_cmp(&length(n)));
        let (a, b) = sides[0];
        let (pa, pb) = (self.point(a), self.point(b));
        let places = [(pa + pb) * 0.5, pa, pb];
        if let Some(edge) = self.edge(a, b)
            && let Some(place) = places.into_iter().find(|&p| self.may_collapse(&edge, p))
        {
            self.collapse(&edge, place);
        }
    }

    /// Replaces the three triangles around a vertex by one, unless that triangle exists already.
    fn cut_spike(&mut self, vertex: u32) {
        let fan = self.around[vertex as usize].clone();
        let rim = |triangle: u32| {
            let corners = self.corners(triangle);
            let at = corners.iter().position(|&corner| corner == vertex).unwrap_or(0);
            [corners[(at + 1) % 3], corners[(at + 2) % 3]]
        };
        let [a, b] = rim(fan[0]);
        let Some(c) = self.neighbours(vertex).into_iter().find(|v| ![a, b].contains(v)) else {
            return;
        };
        let closed = self.around[a as usize]
            .iter()
            .map(|&triangle| self.corners(triangle))
            .any(|corners| corners.contains(&b) && corners.contains(&c));
        let crowded = [a, b, c].iter().any(|&v| self.around[v as usize].len() <= 3);
        if closed || crowded {
            return;
        }
        for &triangle in &fan {
            for corner in self.corners(triangle) {
                self.around[corner as usize].retain(|&t| t != triangle);
            }
            self.triangles[triangle as usize] = DEAD;
        }
        self.triangles[fan[0] as usize] = [a, b, c];
        for corner in [a, b, c] {
            self.around[corner as usize].push(fan[0]);
        }
    }

    /// Quadrics of the vertices from the triangles around them, weighted by area.
    fn quadrics(&self) -> Vec<Quadric> {
        let mut quadrics = vec![Quadric::default(); self.points.len()];
        for &corners in self.triangles.iter().filter(|corners| **corners != DEAD) {
            let normal = self.area_normal(corners);
            let area = normal.length();
            if area > 0.0 {
                let plane = Quadric::of_plane(normal / area, self.point(corners[0]), area);
                for corner in corners {
                    let sum = quadrics[corner as usize].plus(&plane);
                    quadrics[corner as usize] = sum;
                }
            }
        }
        quadrics
    }

    /// Whether collapsing an edge to `place` keeps the mesh manifold and unfolded.
    fn may_collapse(&self, edge: &Edge, place: Vec3) -> bool {
        let (around_a, around_b) = (self.neighbours(edge.a), self.neighbours(edge.b));
        let shared = around_a.iter().filter(|v| around_b.contains(v)).count();
        let valence = around_a.len() + around_b.len() - 4;
        let thin = edge.opposite.iter().any(|&vertex| self.around[vertex as usize].len() <= 3);
        if shared != 2 || thin || !(3..=10).contains(&valence) {
            return false;
        }
        let merged = (self.wanted[edge.a as usize] + self.wanted[edge.b as usize]) * 0.5;
        let stretched = around_a.iter().chain(&around_b).any(|&vertex| {
            let other = self.point(vertex);
            let wanted = (merged + self.wanted[vertex as usize]) * 0.5;
            let now = self.point(edge.a).distance(other).min(self.point(edge.b).distance(other));
            place.distance(other) > (TOO_LONG * wanted).max(now)
        });
        !stretched && self.stays_unfolded(edge.a, edge.b, place) && self.stays_unfolded(edge.b, edge.a, place)
    }

    fn collapse(&mut self, edge: &Edge, place: Vec3) {
        for triangle in edge.triangles {
            for corner in self.corners(triangle) {
                self.around[corner as usize].retain(|&t| t != triangle);
            }
            self.triangles[triangle as usize] = DEAD;
        }
        for triangle in std::mem::take(&mut self.around[edge.b as usize]) {
            for corner in &mut self.triangles[triangle as usize] {
                if *corner == edge.b {
                    *corner = edge.a;
                }
            }
            self.around[edge.a as usize].push(triangle);
        }
        self.points[edge.a as usize] = place;
        let merged = (self.wanted[edge.a as usize] + self.wanted[edge.b as usize]) * 0.5;
        self.wanted[edge.a as usize] = merged;
    }
}
