//! Skin weights by heat diffusion: heat flows from each bone into the nearby skin and along the skin.
//!
//! Baran and Popović, "Automatic Rigging and Animation of 3D Characters" (2007), section 4: the weights `w` of a bone solve `(L + M H) w =
//! M H p`. `L` is the Laplacian of the mesh and `M` the areas of its vertices. `H` is the inverse square of the transition width between
//! bones, and `p` is 1 where the bone is the nearest. The weights sum to 1 and are smooth wherever the skin is connected.

use super::skeleton::Skeleton;
use crate::modelling::mesher::Mesh;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Joints that move a vertex, and their weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Influences {
    pub joints: [u8; 4],
    /// Weights in units of 1/255; they sum to 255.
    pub weights: [u8; 4],
}

/// Weights of all vertices. `part` returns a vertex's body part, as a bit.
pub fn weights(mesh: &Mesh, skeleton: &Skeleton, part: &(dyn Fn(usize) -> u32 + Sync)) -> Vec<Influences> {
    let sources: Vec<(usize, f64)> = (0..mesh.points.len())
        .into_par_iter()
        .map(|vertex| nearest_bone(mesh, skeleton, vertex, part(vertex)))
        .collect();
    let skin = Skin::new(mesh, &sources);
    let columns: Vec<Vec<f64>> = (0..skeleton.joints.len())
        .into_par_iter()
        .map(|bone| skin.solve(|vertex| f64::from(u8::from(sources[vertex].0 == bone))))
        .collect();
    (0..mesh.points.len()).map(|vertex| strongest(columns.iter().map(|column| column[vertex]))).collect()
}

/// The bone nearest to a vertex, and its heat transfer coefficient `H`.
fn nearest_bone(mesh: &Mesh, skeleton: &Skeleton, vertex: usize, part: u32) -> (usize, f64) {
    const LEAST_REACH: f32 = 0.02;
    let p = mesh.points[vertex];
    let allowed = skeleton.joints.iter().enumerate().filter(|(_, joint)| joint.parts & part != 0);
    let (nearest, joint) = allowed
        .min_by(|(_, a), (_, b)| a.distances(p).1.total_cmp(&b.distances(p).1))
        .unwrap_or((0, &skeleton.joints[0]));
    let reach = joint.distances(p).0.max(joint.softness * joint.length()).max(LEAST_REACH);
    (nearest, 1.0 / f64::from(reach * reach))
}

/// Keeps the four largest weights, rounded to sum to 1.
fn strongest(weights: impl Iterator<Item = f64>) -> Influences {
    let mut sorted: Vec<(usize, f64)> = weights.enumerate().collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    sorted.truncate(4);
    let sum: f64 = sorted.iter().map(|(_, weight)| weight.max(0.0)).sum();
    let mut found = Influences { joints: [0; 4], weights: [0; 4] };
    let mut left = 255;
    for (slot, (joint, weight)) in sorted.into_iter().enumerate().rev() {
        let share = (weight.max(0.0) / sum * 255.0).round() as u8;
        let share = if slot == 0 { left } else { share.min(left) };
        left -= share;
        found.weights[slot] = share;
        found.joints[slot] = if share > 0 { joint as u8 } else { 0 };
    }
    found
}

/// The system of equations; symmetric and positive definite.
struct Skin {
    /// Off-diagonal entries of each row.
    rows: Vec<Vec<(u32, f64)>>,
    diagonal: Vec<f64>,
    /// `M H`.
    held: Vec<f64>,
}

impl Skin {
    fn new(mesh: &Mesh, sources: &[(usize, f64)]) -> Self {
        let count = mesh.points.len();
        let mut edges: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        let mut areas = vec![0.0; count];
        for corners in &mesh.triangles {
            for k in 0..3 {
                let [a, b, c] = [0, 1, 2].map(|step| corners[(k + step) % 3]);
                let [pa, pb, pc] = [a, b, c].map(|v| mesh.points[v as usize].as_dvec3());
                let (u, v) = (pa - pc, pb - pc);
                let twice_area = u.cross(v).length().max(1e-12);
                *edges.entry((a.min(b), a.max(b))).or_default() += 0.5 * u.dot(v) / twice_area;
                areas[c as usize] += twice_area / 6.0;
            }
        }
        let held: Vec<f64> = areas.iter().zip(sources).map(|(area, (_, hold))| area * hold).collect();
        let mut rows = vec![Vec::new(); count];
        let mut diagonal = held.clone();
        for ((a, b), cotangents) in edges {
            // Obtuse triangles have negative cotangents, which would make heat flow backwards.
            let conducts = cotangents.max(0.05);
            for (from, to) in [(a, b), (b, a)] {
                rows[from as usize].push((to, -conducts));
                diagonal[from as usize] += conducts;
            }
        }
        Self { rows, diagonal, held }
    }

    fn apply(&self, x: &[f64]) -> Vec<f64> {
        let row = |(i, row): (usize, &Vec<(u32, f64)>)| {
            row.iter().fold(self.diagonal[i] * x[i], |sum, &(j, entry)| sum + entry * x[j as usize])
        };
        self.rows.iter().enumerate().map(row).collect()
    }

    /// Conjugate gradients with the diagonal as preconditioner.
    fn solve(&self, source: impl Fn(usize) -> f64) -> Vec<f64> {
        const MOST_STEPS: usize = 400;
        const TOLERANCE: f64 = 1e-10;
        let count = self.held.len();
        let mut residual: Vec<f64> = (0..count).map(|i| self.held[i] * source(i)).collect();
        let mut x = vec![0.0; count];
        let scaled = |r: &[f64]| -> Vec<f64> { r.iter().zip(&self.diagonal).map(|(r, d)| r / d).collect() };
        let mut z = scaled(&residual);
        let mut direction = z.clone();
        let mut energy = dot(&residual, &z);
        let goal = energy * TOLERANCE;
        for _ in 0..MOST_STEPS {
            if energy <= goal {
                break;
            }
            let image = self.apply(&direction);
            let step = energy / dot(&direction, &image);
            for i in 0..count {
                x[i] += step * direction[i];
                residual[i] -= step * image[i];
            }
            z = scaled(&residual);
            let next = dot(&residual, &z);
            let keep = next / energy;
            direction.iter_mut().zip(&z).for_each(|(d, z)| *d = z + keep * *d);
            energy = next;
        }
        x
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
