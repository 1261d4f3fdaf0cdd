//! Positions and tangents of the limit surface at the vertices of a level.
//!
//! Masks of OpenSubdiv (`Sdc::Scheme::ComputeVertexLimitMask`), from Halstead, Kass and DeRose, "Efficient, fair interpolation using
//! Catmull-Clark surfaces", 1993, and Biermann, Levin and Zorin, "Piecewise smooth subdivision surfaces with normal control", 2000. Where
//! these masks are not exact, at ends of creases and where sharpness has not decayed, the ring of the vertex is refined further.

use super::{
    Scheme,
    refine::Level,
    ring::{Ring, Row},
    sharpness::{self, Rule},
    topology::Topology,
};
use std::f64::consts::{PI, TAU};

/// Number of times that the matrix of a ring is squared. Its powers converge with its second eigenvalue, about 1/2.
const SQUARINGS: u32 = 7;
/// Sharpness from which on the two sides of an edge have normals of their own.
pub const SPLIT: f32 = 1.0;

/// Weights on the vertices of the cage: of the position, and of two tangents whose cross product points outwards.
pub struct Limit {
    pub position: Vec<f64>,
    pub tangents: [Vec<f64>; 2],
}

/// The limit at a corner's vertex. Its tangents are those of the part of the surface, between sharp edges, to which the corner belongs.
pub fn at(level: &Level, corner: u32, scheme: Scheme) -> Limit {
    let ring = Ring::of(&level.topology, corner, scheme);
    let position = ring.settled(position);
    let tangents = match sector(&ring, &level.topology, corner) {
        Some(sector) => crease_tangents(&ring, &sector),
        None => [0.0, 0.25 * TAU].map(|turn| ring.settled(|ring| smooth_tangent(ring, turn))),
    };
    Limit { position: sum(level, &ring, &position), tangents: tangents.map(|row| sum(level, &ring, &row)) }
}

fn sum(level: &Level, ring: &Ring, row: &Row) -> Vec<f64> {
    let mut sum = vec![0.0; level.weights.row(0).len()];
    for (&vertex, factor) in ring.vertices.iter().zip(row) {
        sum.iter_mut().zip(level.weights.row(vertex)).for_each(|(sum, weight)| *sum += factor * weight);
    }
    sum
}

/// The position of a ring whose sharpness stays.
fn position(ring: &Ring) -> Row {
    match sharpness::rule(ring.sharpness, &ring.edges) {
        Rule::Corner => ring.row([(0, 1.0)]),
        Rule::Crease(ends) => {
            ring.row([(0, 2.0 / 3.0), (ring.edge(ends[0]), 1.0 / 6.0), (ring.edge(ends[1]), 1.0 / 6.0)])
        }
        Rule::Smooth if ring.edges.iter().any(|&sharpness| sharpness > 0.0) => {
            let mut matrix = ring.matrix();
            for _ in 0..SQUARINGS {
                matrix = matrix.iter().map(|row| super::ring::product(row, &matrix)).collect();
            }
            matrix.swap_remove(0)
        }
        Rule::Smooth => {
            let count = ring.edges.len() as f64;
            let (edge, face) = match ring.scheme {
                Scheme::CatmullClark => (4.0 / (count * (count + 5.0)), 1.0 / (count * (count + 5.0))),
                Scheme::Loop => (1.0 / (count + 3.0 / (8.0 * super::refine::loop_share(ring.edges.len()))), 0.0),
            };
            let neighbours = (0..ring.edges.len()).map(|i| (ring.edge(i), edge));
            let diagonals = ring.diagonals().map(|column| (column, face));
            ring.row([(0, 1.0 - count * (edge + face))].into_iter().chain(neighbours).chain(diagonals))
        }
    }
}

/// A tangent of a smooth vertex. The second one is the first one, a quarter turn later.
fn smooth_tangent(ring: &Ring, turn: f64) -> Row {
    let valence = ring.edges.len();
    if valence == 2 {
        let edge = usize::from(turn > 0.0);
        return ring.row([(0, -1.0), (ring.edge(edge), 1.0)]);
    }
    let theta = TAU / valence as f64;
    let of_face = match ring.scheme {
        Scheme::CatmullClark => {
            let (cos, half) = (theta.cos(), (0.5 * theta).cos());
            let lambda = 5.0 / 16.0 + (cos + half * (2.0 * (9.0 + cos)).sqrt()) / 16.0;
            0.25 / (4.0 * lambda - 1.0)
        }
        Scheme::Loop => 0.0,
    };
    let wave = |edge: usize| (edge as f64 * theta - turn).cos();
    let neighbours = (0..valence).map(|i| (ring.edge(i), wave(i)));
    let diagonals = ring.diagonals().enumerate().map(|(i, column)| (column, of_face * (wave(i) + wave(i + 1))));
    ring.row(neighbours.chain(diagonals))
}

/// Faces of a ring between two sharp edges: the columns of the vertices along its edges, and of those behind its faces.
struct Sector {
    neighbours: Vec<usize>,
    diagonals: Vec<usize>,
}

/// The part of the ring between sharp edges that contains a corner. None if there are no two of them.
fn sector(ring: &Ring, topology: &Topology, corner: u32) -> Option<Sector> {
    let (count, edges) = (ring.corners.len(), ring.edges.len());
    let own = ring.corners.iter().position(|&other| other == corner)?;
    debug_assert_eq!(topology.vertex(corner), ring.vertices[0]);
    let is_sharp = |edge: usize| ring.edges[edge % edges] >= SPLIT;
    if (0..edges).filter(|&edge| is_sharp(edge)).count() < 2 {
        return None;
    }
    let back = (0..count).find(|&steps| is_sharp(own + edges - steps))?;
    let ahead = (1..=count).find(|&steps| is_sharp(own + steps))?;
    let diagonals: Vec<usize> = ring.diagonals().collect();
    let diagonal = |steps: usize| diagonals.get((own + count + steps - back) % count).copied();
    Some(Sector {
        neighbours: (0..=back + ahead).map(|steps| ring.edge((own + edges + steps - back) % edges)).collect(),
        diagonals: (0..back + ahead).filter_map(diagonal).collect(),
    })
}

/// Tangents along and across a crease, over the faces of a sector.
fn crease_tangents(ring: &Ring, sector: &Sector) -> [Row; 2] {
    let Sector { neighbours, diagonals } = sector;
    let faces = neighbours.len() - 1;
    let (lead, trail) = (neighbours[0], neighbours[faces]);
    if faces == 1 {
        return [lead, trail].map(|end| ring.row([(0, -1.0), (end, 1.0)]));
    }
    let theta = PI / faces as f64;
    let wave = |edge: usize| (edge as f64 * theta).sin();
    let inner = neighbours.iter().enumerate().take(faces).skip(1);
    let mut across = Vec::new();
    match ring.scheme {
        Scheme::CatmullClark if faces == 2 => {
            across.extend([(0, -4.0), (lead, -1.0), (neighbours[1], 4.0), (trail, -1.0)]);
            across.extend(diagonals.iter().map(|&column| (column, 1.0)));
        }
        Scheme::CatmullClark => {
            let cos = theta.cos();
            let r = (cos + 1.0) / theta.sin();
            let end = -r * (1.0 + 2.0 * cos);
            across.extend([(0, 4.0 * r * (cos - 1.0)), (lead, end), (trail, end)]);
            across.extend(inner.map(|(i, &column)| (column, 4.0 * wave(i))));
            across.extend(diagonals.iter().enumerate().map(|(i, &column)| (column, wave(i) + wave(i + 1))));
        }
        Scheme::Loop if faces == 2 => across.extend([(0, -1.0), (neighbours[1], 1.0)]),
        Scheme::Loop => {
            let end = -theta.sin();
            across.extend([(lead, end), (trail, end)]);
            across.extend(inner.map(|(i, &column)| (column, 2.0 * (1.0 - theta.cos()) * wave(i))));
        }
    }
    [ring.row([(lead, 1.0), (trail, -1.0)]), ring.row(across)]
}
