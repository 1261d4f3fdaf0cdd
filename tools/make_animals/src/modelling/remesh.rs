//! Remeshing: distributes vertices over the surface according to a requested edge length.
//!
//! Edges are split, collapsed and flipped one at a time, and only if the mesh stays closed, manifold and unfolded. The order is fixed, so
//! the result is reproducible.

use super::mesher::Mesh;
use super::quadric::Quadric;
use glam::{Mat3, Vec3};
use rayon::prelude::*;

/// Properties of the surface that the remesher needs.
pub trait Surface: Sync {
    /// A lower bound of `edge_length`.
    fn shortest_edge(&self) -> f32;
    /// Requested edge length at a point, up to a common factor.
    fn edge_length(&self, p: Vec3) -> f32;
    /// Projects a point near the surface onto it. If the surface has two sides there, the one facing along `facing` is used.
    fn project(&self, p: Vec3, facing: Vec3) -> Vec3;
}

const DEAD: [u32; 3] = [u32::MAX; 3];
/// Edges longer than this multiple of the requested length are split; edges shorter than the second multiple are collapsed.
const TOO_LONG: f32 = 1.4;
const TOO_SHORT: f32 = 0.74;
/// Triangle quality below which a triangle is always removed.
const SLIVER: f32 = 0.25;
/// Passes per round. After each round, requested lengths are evaluated again.
const POLISHING_PASSES_PER_ROUND: usize = 3;

/// Remeshes to about `vertices` vertices, with spacing in proportion to the edge lengths of `surface`.
pub fn remesh(mesh: &Mesh, surface: &dyn Surface, vertices: f32) -> Mesh {
    const THINNING_PASSES: usize = 12;
    const COARSENING_PASSES: usize = 8;
    const POLISHING_ROUNDS: usize = 3;
    const SETTLING_PASSES: usize = 3;
    const SLIVER_SWEEPS: usize = 6;
    let mut work = Work::new(mesh, surface.shortest_edge());
    for _ in 0..THINNING_PASSES {
        work.coarsen();
    }
    work.measure(surface);
    work.scale = (work.expected_vertices() / vertices).sqrt();
    work.measure(surface);
    for _ in 0..COARSENING_PASSES {
        work.coarsen();
    }
    for _ in 0..POLISHING_ROUNDS {
        work.measure(surface);
        for _ in 0..POLISHING_PASSES_PER_ROUND {
            work.polish(surface);
        }
    }
    for _ in 0..SETTLING_PASSES {
        work.relax(surface);
        work.flip_all();
        for _ in 0..SLIVER_SWEEPS {
            work.drop_slivers();
        }
    }
    work.compact()
}

fn outer(v: Vec3) -> Mat3 {
    Mat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// The mesh during remeshing, with the triangles around each vertex.
struct Work {
    points: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    around: Vec<Vec<u32>>,
    /// Requested edge length at each vertex.
    wanted: Vec<f32>,
    /// Common factor of the surface's edge lengths.
    scale: f32,
}

/// An edge with its two triangles and the vertices opposite to it. Seen from outside, the first triangle contains the edge from `a` to `b`.
#[derive(Clone, Copy)]
struct Edge {
    a: u32,
    b: u32,
    triangles: [u32; 2],
    opposite: [u32; 2],
}

impl Work {
    fn new(mesh: &Mesh, wanted: f32) -> Self {
        let mut around = vec![Vec::new(); mesh.points.len()];
        for (i, triangle) in mesh.triangles.iter().enumerate() {
            for &corner in triangle {
                around[corner as usize].push(i as u32);
            }
        }
        Self {
            points: mesh.points.clone(),
            triangles: mesh.triangles.clone(),
            around,
            wanted: vec![wanted; mesh.points.len()],
            scale: 1.0,
        }
    }

    fn coarsen(&mut self) {
        self.collapse_short();
        self.flip_all();
    }

    fn polish(&mut self, surface: &dyn Surface) {
        self.relax(surface);
        self.flip_all();
        self.split_long(surface);
        self.collapse_short();
        self.flip_all();
    }

    /// Evaluates the requested edge length at every vertex and smooths it, so that neighbouring triangles have similar sizes.
    fn measure(&mut self, surface: &dyn Surface) {
        const GROWTH: f32 = 0.45;
        const SWEEPS: usize = 12;
        let scale = self.scale;
        self.wanted = self
            .points
            .par_iter()
            .zip(&self.around)
            .map(|(&p, around)| if around.is_empty() { f32::INFINITY } else { surface.edge_length(p) * scale })
            .collect();
        let edges = self.edges();
        for _ in 0..SWEEPS {
            for &(a, b) in &edges {
                let reach = self.point(a).distance(self.point(b)) * GROWTH;
                let (a, b) = (a as usize, b as usize);
                let (wanted_a, wanted_b) = (self.wanted[a], self.wanted[b]);
                self.wanted[a] = wanted_a.min(wanted_b + reach);
                self.wanted[b] = wanted_b.min(wanted_a + reach);
            }
        }
    }

    /// Number of vertices of a uniform mesh with the requested edge lengths.
    fn expected_vertices(&self) -> f32 {
        let live = self.triangles.iter().filter(|corners| **corners != DEAD);
        live.map(|&corners| {
            let wanted: f32 = corners.iter().map(|&c| self.wanted[c as usize]).sum::<f32>() / 3.0;
            self.area_normal(corners).length() / (3f32.sqrt() * wanted * wanted)
        })
        .sum()
    }

    fn point(&self, vertex: u32) -> Vec3 {
        self.points[vertex as usize]
    }

    fn corners(&self, triangle: u32) -> [u32; 3] {
        self.triangles[triangle as usize]
    }

    /// Normal of a triangle; its length is twice the area.
    fn area_normal(&self, corners: [u32; 3]) -> Vec3 {
        let [a, b, c] = corners.map(|corner| self.point(corner));
        (b - a).cross(c - a)
    }

    /// Every edge once, as a pair with the smaller vertex first.
    fn edges(&self) -> Vec<(u32, u32)> {
        let live = self.triangles.iter().filter(|corners| **corners != DEAD);
        live.flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).filter(|(a, b)| a < b).collect()
    }

    /// Finds an edge; None if it does not exist or is not manifold.
    fn edge(&self, a: u32, b: u32) -> Option<Edge> {
        let mut edge = Edge { a, b, triangles: [u32::MAX; 2], opposite: [u32::MAX; 2] };
        for &triangle in &self.around[a as usize] {
            let corners = self.corners(triangle);
            for i in 0..3 {
                let (from, to) = (corners[i], corners[(i + 1) % 3]);
                let side = match (from == a && to == b, from == b && to == a) {
                    (true, _) => 0,
                    (_, true) => 1,
                    _ => continue,
                };
                edge.triangles[side] = triangle;
                edge.opposite[side] = corners[(i + 2) % 3];
            }
        }
        (!edge.triangles.contains(&u32::MAX)).then_some(edge)
    }

    fn neighbours(&self, vertex: u32) -> Vec<u32> {
        let mut found: Vec<u32> = self.around[vertex as usize]
            .iter()
            .flat_map(|&triangle| self.corners(triangle))
            .filter(|&corner| corner != vertex)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn length_ratio(&self, a: u32, b: u32) -> f32 {
        let wanted = (self.wanted[a as usize] + self.wanted[b as usize]) * 0.5;
        self.point(a).distance(self.point(b)) / wanted
    }

    /// Edges for which `keep` returns true, with their length relative to the requested one, shortest first.
    fn measured_edges(&self, keep: impl Fn(f32) -> bool + Sync) -> Vec<(f32, u32, u32)> {
        let mut edges: Vec<(f32, u32, u32)> = self
            .edges()
            .into_par_iter()
            .map(|(a, b)| (self.length_ratio(a, b), a, b))
            .filter(|(ratio, ..)| keep(*ratio))
            .collect();
        edges.par_sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        edges
    }

    /// Collapses edges that are too short, starting with the shortest.
    fn collapse_short(&mut self) {
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
    fn drop_slivers(&mut self) {
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

    /// Whether all triangles around `vertex` keep their orientation and quality if it moves to `place`. Triangles with the vertex `gone`
    /// are ignored.
    fn stays_unfolded(&self, vertex: u32, gone: u32, place: Vec3) -> bool {
        const LEAST_COSINE: f32 = 0.4;
        const LEAST_SHAPE: f32 = 0.12;
        let ring: Vec3 =
            self.around[vertex as usize].iter().map(|&triangle| self.area_normal(self.corners(triangle))).sum();
        self.around[vertex as usize].iter().all(|&triangle| {
            let corners = self.corners(triangle);
            if corners.contains(&gone) {
                return true;
            }
            let before = self.area_normal(corners);
            let moved = corners.map(|c| if c == vertex { place } else { self.point(c) });
            let after = (moved[1] - moved[0]).cross(moved[2] - moved[0]);
            let shape = self.shape(corners);
            let reference = if shape < SLIVER { ring } else { before };
            reference.dot(after) > LEAST_COSINE * reference.length() * after.length()
                && shape_of(moved) > LEAST_SHAPE.min(shape)
        })
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

    /// Splits edges that are too long, starting with the longest.
    fn split_long(&mut self, surface: &dyn Surface) {
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
    fn flip_all(&mut self) {
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

    fn shape(&self, corners: [u32; 3]) -> f32 {
        shape_of(corners.map(|corner| self.point(corner)))
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

    /// Moves every vertex towards the centre of its neighbours and back onto the surface.
    fn relax(&mut self, surface: &dyn Surface) {
        let targets: Vec<Vec3> =
            (0..self.points.len() as u32).into_par_iter().map(|vertex| self.relaxed(vertex, surface)).collect();
        for (vertex, target) in targets.into_iter().enumerate() {
            let vertex = vertex as u32;
            if target != self.point(vertex)
                && !self.crowds(vertex, target)
                && self.stays_unfolded(vertex, u32::MAX, target)
            {
                self.points[vertex as usize] = target;
            }
        }
    }

    /// Whether moving a vertex brings it too close to a neighbour and closer than before.
    fn crowds(&self, vertex: u32, target: Vec3) -> bool {
        const LEAST_SHARE: f32 = 0.4;
        let here = self.point(vertex);
        let least = LEAST_SHARE * self.wanted[vertex as usize];
        self.around[vertex as usize]
            .iter()
            .flat_map(|&triangle| self.corners(triangle))
            .filter(|&corner| corner != vertex)
            .map(|corner| self.point(corner))
            .any(|other| target.distance(other) < least.min(here.distance(other)))
    }

    /// The relaxed position of a vertex. Steps are damped along directions in which the normals around it vary, so that vertices slide
    /// along creases and stay on tips.
    fn relaxed(&self, vertex: u32, surface: &dyn Surface) -> Vec3 {
        const STIFFNESS: f32 = 40.0;
        const STEP: f32 = 0.6;
        let here = self.point(vertex);
        let mut centre = Vec3::ZERO;
        let mut weight = 0.0;
        let mut normals = Mat3::ZERO;
        let mut area = 0.0;
        let mut facing = Vec3::ZERO;
        for &triangle in &self.around[vertex as usize] {
            let corners = self.corners(triangle);
            let normal = self.area_normal(corners);
            let size = normal.length();
            facing += normal;
            if size > 0.0 {
                normals += outer(normal) * (1.0 / size);
                area += size;
            }
            let [a, b, c] = corners.map(|corner| self.point(corner));
            let middle = (a + b + c) / 3.0;
            let wanted = corners.iter().map(|&c| self.wanted[c as usize]).sum::<f32>() / 3.0;
            let share = size / (wanted * wanted);
            centre += middle * share;
            weight += share;
        }
        if weight <= 0.0 || area <= 0.0 {
            return here;
        }
        let pull = (centre / weight - here) * STEP;
        let damping = Mat3::IDENTITY + normals * (STIFFNESS / area);
        let step = damping.inverse() * pull;
        let limit = self.wanted[vertex as usize] * 0.5;
        let target = surface.project(here + step.clamp_length_max(limit), facing);
        if target.distance(here) > limit * 1.5 { here } else { target }
    }

    /// The finished mesh, with vertices in order of first use.
    fn compact(&self) -> Mesh {
        let mut numbers = vec![u32::MAX; self.points.len()];
        let mut mesh = Mesh::default();
        for &corners in self.triangles.iter().filter(|corners| **corners != DEAD) {
            mesh.triangles.push(corners.map(|corner| {
                let number = &mut numbers[corner as usize];
                if *number == u32::MAX {
                    *number = mesh.points.len() as u32;
                    mesh.points.push(self.point(corner));
                }
                *number
            }));
        }
        mesh
    }
}

/// Quality of a triangle: 1 if equilateral, 0 if degenerate.
fn shape_of(corners: [Vec3; 3]) -> f32 {
    let [a, b, c] = corners;
    let sides2 = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    let area2 = (b - a).cross(c - a).length();
    area2 * 2.0 * 3f32.sqrt() / sides2.max(1e-12)
}
