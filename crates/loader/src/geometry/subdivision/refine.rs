//! Refinement of a patch by one level, with the weights of its vertices on the vertices of the cage.
//!
//! Catmull and Clark, "Recursively generated B-spline surfaces on arbitrary topological meshes", 1978; Loop, "Smooth subdivision surfaces
//! based on triangles", 1987; with the rules of OpenSubdiv's `Sdc::Scheme`. Faces of the patch that no longer have an influence are dropped,
//! so that all levels have one ring of neighbours.

use super::{
    Scheme,
    sharpness::{self, Rule},
    topology::{Fan, Topology},
};
use std::f64::consts::TAU;
use throng_scene::NONE;

/// Share of a triangle's face point in its edge points, with the rule `smooth`.
const SMOOTH_TRIANGLE: f64 = 0.470;

/// Rows of weights, all of the same length.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    width: usize,
    values: Vec<f64>,
}

impl Weights {
    pub fn new(width: usize) -> Self {
        Self { width, values: Vec::new() }
    }

    pub fn row(&self, number: u32) -> &[f64] {
        &self.values[number as usize * self.width..][..self.width]
    }

    /// Adds the sum of rows of `of`, each with a factor.
    fn push(&mut self, of: &Self, terms: impl IntoIterator<Item = (u32, f64)>) {
        let start = self.values.len();
        self.values.resize(start + self.width, 0.0);
        let sum = &mut self.values[start..];
        for (row, factor) in terms {
            sum.iter_mut().zip(of.row(row)).for_each(|(sum, weight)| *sum += factor * weight);
        }
    }

    pub fn len(&self) -> usize {
        self.values.len() / self.width.max(1)
    }
}

/// The rules of a refinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    pub scheme: Scheme,
    /// Whether vertices stay, and new ones are in the middle of edges and faces.
    pub linear: bool,
    /// Whether Catmull-Clark surfaces of triangles have the rule `smooth`.
    pub smooth_triangles: bool,
}

/// A patch at a level. Its first faces, `own` in number, are parts of the face of the cage, and the others are their neighbours.
pub struct Level {
    pub topology: Topology,
    pub weights: Weights,
    pub own: u32,
    /// Children of each corner of the level before: the face at the corner. In schemes of triangles, then one for the middle of each face.
    pub children: Vec<u32>,
}

impl Level {
    /// The patch of the cage.
    pub fn of(patch: &Topology) -> Self {
        let width = patch.vertex_sharpness.len();
        let mut weights = Weights::new(width);
        weights.values.resize(width * width, 0.0);
        (0..width).for_each(|i| weights.values[i * width + i] = 1.0);
        Self { topology: patch.clone(), weights, own: 1, children: Vec::new() }
    }

    /// The next level.
    pub fn refined(&self, rules: Rules) -> Self {
        Refinement {
            before: self,
            rules,
            is_own: self.own_vertices(),
            edge_points: vec![NONE; self.topology.corners.len()],
            face_points: vec![NONE; self.topology.face_count()],
            vertex_points: vec![NONE; self.topology.vertex_sharpness.len()],
            weights: Weights::new(self.weights.width),
            sharpness: Vec::new(),
        }
        .level()
    }

    fn own_vertices(&self) -> Vec<bool> {
        let mut is_own = vec![false; self.topology.vertex_sharpness.len()];
        let end = self.topology.starts[self.own as usize];
        self.topology.corners[..end as usize].iter().for_each(|&vertex| is_own[vertex as usize] = true);
        is_own
    }
}

struct Refinement<'a> {
    before: &'a Level,
    rules: Rules,
    /// Whether a vertex belongs to one of the level's own faces.
    is_own: Vec<bool>,
    edge_points: Vec<u32>,
    face_points: Vec<u32>,
    vertex_points: Vec<u32>,
    weights: Weights,
    sharpness: Vec<f32>,
}

impl Refinement<'_> {
    fn level(mut self) -> Level {
        match self.rules.scheme {
            Scheme::CatmullClark => self.quads(),
            Scheme::Loop => self.triangles(),
        }
    }

    /// Whether a corner has a child.
    fn is_kept(&self, corner: u32) -> bool {
        self.is_own[self.before.topology.vertex(corner) as usize]
    }

    fn quads(&mut self) -> Level {
        let before = &self.before.topology;
        let mut children = vec![NONE; before.corners.len()];
        let (mut corners, mut own, mut count) = (Vec::new(), 0, 0);
        for corner in 0..before.corners.len() as u32 {
            if !self.is_kept(corner) {
                continue;
            }
            let face = before.faces[corner as usize];
            children[corner as usize] = count;
            count += 1;
            own += u32::from(face < self.before.own);
            corners.extend([
                self.vertex_point(corner),
                self.edge_point(corner),
                self.face_point(face),
                self.edge_point(before.previous(corner)),
            ]);
        }
        let sizes = std::iter::repeat_n(4, count as usize);
        let mut topology = Topology::unconnected(sizes, corners, self.weights.len());
        let side = |corner: Option<u32>, side: u32| match corner.map(|corner| children[corner as usize]) {
            None | Some(NONE) => NONE,
            Some(child) => 4 * child + side,
        };
        for corner in (0..before.corners.len() as u32).filter(|&corner| children[corner as usize] != NONE) {
            let first = 4 * children[corner as usize] as usize;
            let (next, previous) = (before.next(corner), before.previous(corner));
            topology.twins[first] = side(before.clockwise(corner), 3);
            topology.twins[first + 1] = side(Some(next), 2);
            topology.twins[first + 2] = side(Some(previous), 1);
            topology.twins[first + 3] = side(before.counter_clockwise(corner), 0);
            let sharpness = |edge: u32| sharpness::decremented(before.edge_sharpness[edge as usize]);
            topology.edge_sharpness[first] = sharpness(corner);
            topology.edge_sharpness[first + 3] = sharpness(previous);
        }
        topology.vertex_sharpness = std::mem::take(&mut self.sharpness);
        Level { topology, weights: std::mem::take(&mut self.weights), own, children }
    }

    fn triangles(&mut self) -> Level {
        let before = &self.before.topology;
        let count = before.corners.len() as u32;
        // Faces in the middle are behind those at corners: of own faces first.
        let mut children = vec![NONE; count as usize + before.face_count()];
        let (mut corners, mut faces) = (Vec::new(), 0);
        let mut own = 0;
        for are_own in [true, false] {
            for face in (0..before.face_count() as u32).filter(|face| (*face < self.before.own) == are_own) {
                let all = before.corners_of(face);
                for corner in all.clone() {
                    if !self.is_kept(corner) {
                        continue;
                    }
                    children[corner as usize] = faces;
                    faces += 1;
                    corners.extend([
                        self.vertex_point(corner),
                        self.edge_point(corner),
                        self.edge_point(before.previous(corner)),
                    ]);
                }
                let is_near = |edge: u32| self.is_kept(edge) && self.is_kept(before.next(edge));
                if are_own || all.clone().any(is_near) {
                    children[(count + face) as usize] = faces;
                    faces += 1;
                    corners.extend(all.map(|corner| self.edge_point(corner)));
                }
            }
            own = if are_own { faces } else { own };
        }
        let sizes = std::iter::repeat_n(3, faces as usize);
        let mut topology = Topology::unconnected(sizes, corners, self.weights.len());
        let side = |child: Option<u32>, side: u32| match child.map(|child| children[child as usize]) {
            None | Some(NONE) => NONE,
            Some(child) => 3 * child + side,
        };
        for corner in 0..count {
            let (face, previous) = (before.faces[corner as usize], before.previous(corner));
            let middle = count + face;
            // The edge of the middle that cuts off this corner is the one before the corner's own number.
            let number = previous - before.corners_of(face).start;
            if children[middle as usize] != NONE {
                topology.twins[(3 * children[middle as usize] + number) as usize] = side(Some(corner), 1);
            }
            if children[corner as usize] == NONE {
                continue;
            }
            let first = 3 * children[corner as usize] as usize;
            topology.twins[first] = side(before.clockwise(corner), 2);
            topology.twins[first + 1] = side(Some(middle), number);
            topology.twins[first + 2] = side(before.counter_clockwise(corner), 0);
            topology.edge_sharpness[first] = sharpness::decremented(before.edge_sharpness[corner as usize]);
            topology.edge_sharpness[first + 2] = sharpness::decremented(before.edge_sharpness[previous as usize]);
        }
        topology.vertex_sharpness = std::mem::take(&mut self.sharpness);
        Level { topology, weights: std::mem::take(&mut self.weights), own, children }
    }

    fn add(&mut self, terms: impl IntoIterator<Item = (u32, f64)>, sharpness: f32) -> u32 {
        self.weights.push(&self.before.weights, terms);
        self.sharpness.push(sharpness);
        self.sharpness.len() as u32 - 1
    }

    /// The terms of the middle of a face.
    fn middle(&self, face: u32, factor: f64) -> impl Iterator<Item = (u32, f64)> + use<'_> {
        let corners = self.before.topology.corners_of(face);
        let share = factor / f64::from(corners.end - corners.start);
        corners.map(move |corner| (self.before.topology.vertex(corner), share))
    }

    fn face_point(&mut self, face: u32) -> u32 {
        if self.face_points[face as usize] == NONE {
            let terms: Vec<(u32, f64)> = self.middle(face, 1.0).collect();
            self.face_points[face as usize] = self.add(terms, 0.0);
        }
        self.face_points[face as usize]
    }

    fn edge_point(&mut self, edge: u32) -> u32 {
        let before = &self.before.topology;
        let twin = before.twins[edge as usize];
        let known = self.edge_points[edge as usize];
        if known != NONE {
            return known;
        }
        let ends = [edge, before.next(edge)].map(|corner| before.vertex(corner));
        let sharpness = if self.rules.linear { 1.0 } else { f64::from(before.sharpness(edge)).min(1.0) };
        let mut terms = Vec::from(ends.map(|end| (end, 0.5 * sharpness)));
        if sharpness < 1.0 {
            self.add_smooth_edge(edge, 1.0 - sharpness, &mut terms);
        }
        let point = self.add(terms, 0.0);
        self.edge_points[edge as usize] = point;
        if twin != NONE {
            self.edge_points[twin as usize] = point;
        }
        point
    }

    fn add_smooth_edge(&self, edge: u32, factor: f64, terms: &mut Vec<(u32, f64)>) {
        let before = &self.before.topology;
        let twin = before.twins[edge as usize];
        let ends = [edge, before.next(edge)].map(|corner| before.vertex(corner));
        match self.rules.scheme {
            Scheme::Loop => {
                terms.extend(ends.map(|end| (end, 0.375 * factor)));
                let opposite = [edge, twin].map(|edge| before.vertex(before.previous(edge)));
                terms.extend(opposite.map(|vertex| (vertex, 0.125 * factor)));
            }
            Scheme::CatmullClark => {
                let faces = [edge, twin].map(|edge| before.faces[edge as usize]);
                let share = |face: u32| match before.corners_of(face).len() {
                    3 if self.rules.smooth_triangles => SMOOTH_TRIANGLE,
                    _ => 0.25,
                };
                let of_face = 0.5 * (share(faces[0]) + share(faces[1]));
                terms.extend(ends.map(|end| (end, (0.5 - of_face) * factor)));
                faces.iter().for_each(|&face| terms.extend(self.middle(face, of_face * factor)));
            }
        }
    }

    fn vertex_point(&mut self, corner: u32) -> u32 {
        let before = &self.before.topology;
        let vertex = before.vertex(corner);
        let known = self.vertex_points[vertex as usize];
        if known != NONE {
            return known;
        }
        let sharpness = before.vertex_sharpness[vertex as usize];
        let mut terms = Vec::new();
        if self.rules.linear {
            terms.push((vertex, 1.0));
        } else {
            let fan = before.fan(corner);
            let edges: Vec<f32> = fan.edges.iter().map(|&edge| before.sharpness(edge)).collect();
            for (rule, share) in sharpness::rules(sharpness, &edges) {
                if share > 0.0 {
                    self.add_vertex(rule, vertex, &fan, share, &mut terms);
                }
            }
        }
        let point = self.add(terms, sharpness::decremented(sharpness));
        self.vertex_points[vertex as usize] = point;
        point
    }

    fn add_vertex(&self, rule: Rule, vertex: u32, fan: &Fan, share: f64, terms: &mut Vec<(u32, f64)>) {
        let before = &self.before.topology;
        let count = fan.edges.len() as f64;
        match (rule, self.rules.scheme) {
            (Rule::Corner, _) => terms.push((vertex, share)),
            (Rule::Crease(ends), _) => {
                terms.push((vertex, 0.75 * share));
                terms.extend(ends.map(|end| (fan.neighbours[end], 0.125 * share)));
            }
            (Rule::Smooth, Scheme::CatmullClark) => {
                let part = share / (count * count);
                terms.push((vertex, (count - 2.0) / count * share));
                terms.extend(fan.neighbours.iter().map(|&other| (other, part)));
                let faces = fan.corners.iter().map(|&corner| before.faces[corner as usize]);
                faces.for_each(|face| terms.extend(self.middle(face, part)));
            }
            (Rule::Smooth, Scheme::Loop) => {
                let part = loop_share(fan.edges.len());
                terms.push((vertex, (1.0 - count * part) * share));
                terms.extend(fan.neighbours.iter().map(|&other| (other, part * share)));
            }
        }
    }
}

/// Weight of each neighbour of a smooth vertex in Loop's scheme.
pub fn loop_share(valence: usize) -> f64 {
    let beta = 0.25 * (TAU / valence as f64).cos() + 0.375;
    (0.625 - beta * beta) / valence as f64
}
