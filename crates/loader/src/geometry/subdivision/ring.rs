//! A vertex with the vertices around it, which is all that its limit depends on. Columns of a ring are the vertex, its neighbours, and in
//! schemes of quads the vertices across their faces.

use super::{
    Scheme,
    refine::loop_share,
    sharpness::{self, Rule},
    topology::Topology,
};

/// Weights of the columns of a ring.
pub type Row = Vec<f64>;

/// A vertex with the vertices around it, counter-clockwise.
pub struct Ring {
    pub scheme: Scheme,
    /// The vertex of each column.
    pub vertices: Vec<u32>,
    /// The corners at the vertex.
    pub corners: Vec<u32>,
    /// Sharpness of the vertex, and of its edges.
    pub sharpness: f32,
    pub edges: Vec<f32>,
}

impl Ring {
    /// The ring of a corner's vertex. In schemes of quads, all faces are quads.
    pub fn of(topology: &Topology, corner: u32, scheme: Scheme) -> Self {
        let fan = topology.fan(corner);
        let vertex = topology.vertex(corner);
        let mut vertices = vec![vertex];
        vertices.extend(&fan.neighbours);
        if scheme == Scheme::CatmullClark {
            let across = |&corner: &u32| topology.vertex(topology.next(topology.next(corner)));
            vertices.extend(fan.corners.iter().map(across));
        }
        Self {
            scheme,
            vertices,
            sharpness: topology.vertex_sharpness[vertex as usize],
            edges: fan.edges.iter().map(|&edge| topology.sharpness(edge)).collect(),
            corners: fan.corners,
        }
    }

    /// The column of the neighbour at an edge.
    pub fn edge(&self, edge: usize) -> usize {
        1 + edge % self.edges.len()
    }

    /// The columns of the vertices across faces.
    pub fn diagonals(&self) -> impl Iterator<Item = usize> + use<> {
        1 + self.edges.len()..self.vertices.len()
    }

    /// The row with these weights.
    pub fn row(&self, terms: impl IntoIterator<Item = (usize, f64)>) -> Row {
        let mut row = vec![0.0; self.vertices.len()];
        terms.into_iter().for_each(|(column, weight)| row[column] += weight);
        row
    }

    /// The row that `of` yields after as many levels as its sharpness needs to decay, in columns of this ring.
    pub fn settled(&self, of: impl Fn(&Self) -> Row) -> Row {
        let is_finite = |sharpness: &f32| *sharpness > 0.0 && *sharpness < sharpness::INFINITE;
        if !self.edges.iter().chain([&self.sharpness]).any(is_finite) {
            return of(self);
        }
        let next = Self {
            scheme: self.scheme,
            vertices: self.vertices.clone(),
            corners: Vec::new(),
            sharpness: sharpness::decremented(self.sharpness),
            edges: self.edges.iter().map(|&sharpness| sharpness::decremented(sharpness)).collect(),
        };
        product(&next.settled(of), &self.matrix())
    }

    /// The weights of the columns at the next level on the columns at this one.
    pub fn matrix(&self) -> Vec<Row> {
        let edges = (0..self.edges.len()).map(|edge| self.edge_row(edge));
        let faces = self.diagonals().enumerate().map(|(face, _)| self.row(self.middle(face)));
        [self.vertex_row()].into_iter().chain(edges).chain(faces).collect()
    }

    /// The middle of a quad.
    fn middle(&self, face: usize) -> [(usize, f64); 4] {
        let count = self.vertices.len() - 1 - self.edges.len();
        let across = 1 + self.edges.len() + face % count;
        [0, self.edge(face), self.edge(face + 1), across].map(|column| (column, 0.25))
    }

    fn vertex_row(&self) -> Row {
        let mut row = vec![0.0; self.vertices.len()];
        let count = self.edges.len() as f64;
        for (rule, share) in sharpness::rules(self.sharpness, &self.edges) {
            let mut add = |column: usize, weight: f64| row[column] += share * weight;
            match (rule, self.scheme) {
                (Rule::Corner, _) => add(0, 1.0),
                (Rule::Crease(ends), _) => {
                    add(0, 0.75);
                    ends.iter().for_each(|&end| add(self.edge(end), 0.125));
                }
                (Rule::Smooth, Scheme::CatmullClark) => {
                    let part = 1.0 / (count * count);
                    add(0, (count - 2.0) / count);
                    (0..self.edges.len()).for_each(|edge| add(self.edge(edge), part));
                    let middles = (0..self.edges.len()).flat_map(|face| self.middle(face));
                    middles.for_each(|(column, weight)| add(column, part * weight));
                }
                (Rule::Smooth, Scheme::Loop) => {
                    let part = loop_share(self.edges.len());
                    add(0, 1.0 - count * part);
                    (0..self.edges.len()).for_each(|edge| add(self.edge(edge), part));
                }
            }
        }
        row
    }

    fn edge_row(&self, edge: usize) -> Row {
        let (count, faces) = (self.edges.len(), self.vertices.len() - 1 - self.edges.len());
        let sharp = f64::from(self.edges[edge]).min(1.0);
        let own = self.edge(edge);
        let mut terms = vec![(0, 0.5 * sharp), (own, 0.5 * sharp)];
        if sharp < 1.0 {
            let smooth = 1.0 - sharp;
            match self.scheme {
                Scheme::CatmullClark => {
                    terms.extend([(0, 0.25 * smooth), (own, 0.25 * smooth)]);
                    for face in [edge + faces - 1, edge] {
                        terms.extend(self.middle(face).map(|(column, weight)| (column, 0.25 * smooth * weight)));
                    }
                }
                Scheme::Loop => {
                    terms.extend([(0, 0.375 * smooth), (own, 0.375 * smooth)]);
                    terms.extend([edge + 1, edge + count - 1].map(|other| (self.edge(other), 0.125 * smooth)));
                }
            }
        }
        self.row(terms)
    }
}

/// A row times a matrix.
pub fn product(row: &Row, matrix: &[Row]) -> Row {
    let mut sum = vec![0.0; row.len()];
    for (factor, weights) in row.iter().zip(matrix) {
        sum.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += factor * weight);
    }
    sum
}
