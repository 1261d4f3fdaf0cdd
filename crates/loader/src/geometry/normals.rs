//! Shading normals for meshes whose file has none. Faces are weighted by their angle at the vertex.
//!
//! Thürmer and Wüthrich, "Computing vertex normals from polygonal facets", 1998.

use super::distinct::{Distinct, bits};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Maximum number of faces at a vertex for smoothing, since the work is quadratic. More faces stay flat.
const MAX_VALENCE: usize = 1024;

/// Unit normal of a triangle; zero if it has no area.
pub fn face_normal(corners: [[f32; 3]; 3]) -> DVec3 {
    let [a, b, c] = corners.map(|p| DVec3::from(p.map(f64::from)));
    (b - a).cross(c - a).normalize_or_zero()
}

/// The unit vector of a normal; none if it has no direction.
pub fn unit(n: [f32; 3]) -> Option<[f32; 3]> {
    let n = DVec3::from(n.map(f64::from)).try_normalize()?;
    Some(Vec3::to_array(&n.as_vec3()))
}

/// The faces around each position.
pub struct Fans {
    starts: Vec<u32>,
    /// Triangle and corner angle of each face around each position, position by position.
    members: Vec<(u32, f32)>,
    faces: Vec<DVec3>,
    weld: Vec<u32>,
}

impl Fans {
    /// Finds the faces around each position. Equal positions are merged.
    pub fn new(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Self {
        Self::welded(positions, triangles, weld(positions))
    }

    /// As [`Fans::new`], with vertices merged as `weld` says: for each vertex, the first one of its group.
    pub fn welded(positions: &[[f32; 3]], triangles: &[[u32; 3]], weld: Vec<u32>) -> Self {
        let mut starts = vec![0u32; positions.len() + 1];
        for &v in triangles.as_flattened() {
            starts[weld[v as usize] as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut members = vec![(0, 0.0); triangles.len() * 3];
        for (t, triangle) in triangles.iter().enumerate() {
            let corners = triangle.map(|v| positions[v as usize]);
            for corner in 0..3 {
                let slot = &mut next[weld[triangle[corner] as usize] as usize];
                members[*slot as usize] = (t as u32, corner_angle(corners, corner));
                *slot += 1;
            }
        }
        let faces = triangles.par_iter().map(|t| face_normal(t.map(|v| positions[v as usize]))).collect();
        Self { starts, members, faces, weld }
    }

    fn around(&self, position: u32) -> &[(u32, f32)] {
        let at = self.weld[position as usize] as usize;
        &self.members[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Normal of every position over all faces around it; +Y without faces.
    pub fn position_normals(&self, count: usize) -> Vec<[f32; 3]> {
        (0..count as u32)
            .into_par_iter()
            .map(|p| {
                let sum: DVec3 = self.around(p).iter().map(|&(t, a)| self.faces[t as usize] * f64::from(a)).sum();
                sum.try_normalize().unwrap_or(DVec3::Y).as_vec3().to_array()
            })
            .collect()
    }
}

/// The faces around one position, with their normals and angles there.
#[derive(Default)]
pub struct Fan {
    faces: Vec<(DVec3, f64)>,
}

impl Fan {
    /// Replaces the faces. Each has three corners, of which the one with the given number is at the position.
    pub fn fill(&mut self, faces: impl ExactSizeIterator<Item = ([[f32; 3]; 3], usize)>) {
        let is_smooth = faces.len() <= MAX_VALENCE;
        let angle = |corners, corner| if is_smooth { corner_angle(corners, corner) } else { 0.0 };
        self.faces.clear();
        self.faces.extend(faces.map(|(corners, corner)| (face_normal(corners), f64::from(angle(corners, corner)))));
    }

    /// Normal of the face with number `face` at the position. It is averaged over all faces whose normals differ by an angle with a cosine of at
    /// least `cos_limit`.
    pub fn normal(&self, face: usize, cos_limit: f64) -> [f32; 3] {
        let own = self.faces[face].0;
        if self.faces.len() > MAX_VALENCE {
            return own.as_vec3().to_array();
        }
        let near = self.faces.iter().filter(|(n, _)| n.dot(own) >= cos_limit);
        let sum: DVec3 = near.map(|&(n, angle)| n * angle).sum();
        sum.try_normalize().unwrap_or(own).as_vec3().to_array()
    }
}

/// For each position, the index of the first one with equal coordinates.
pub fn weld(positions: &[[f32; 3]]) -> Vec<u32> {
    let mut first = Distinct::with_capacity(positions.len());
    let known = |index: u32| bits(positions[index as usize]);
    (0..positions.len() as u32).map(|index| first.index(known(index), index, known)).collect()
}

fn corner_angle(corners: [[f32; 3]; 3], corner: usize) -> f32 {
    let p = |i: usize| DVec3::from(corners[i % 3].map(f64::from));
    let (a, b) = (p(corner + 1) - p(corner), p(corner + 2) - p(corner));
    match (a.try_normalize(), b.try_normalize()) {
        (Some(a), Some(b)) => a.dot(b).clamp(-1.0, 1.0).acos() as f32,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sharp_edge_stays_flat_and_a_soft_one_is_smoothed() {
        // Two triangles that share an edge and are folded along it by 90 degrees.
        let [a, b, c, d] = [[0., 0., 0.], [0., 0., 1.], [1., 0., 0.], [0., 1., 0.]];
        let mut fan = Fan::default();
        fan.fill([([a, b, c], 0), ([b, a, d], 1)].into_iter());
        let [flat, soft] = [60f64, 100.0].map(|angle| fan.normal(0, angle.to_radians().cos()));
        assert_eq!(flat, [0.0, 1.0, 0.0]);
        assert!((soft[0] - soft[1]).abs() < 1e-6 && soft[0] > 0.7, "{soft:?}");
    }

    #[test]
    fn a_position_without_faces_has_a_normal_too() {
        let fans = Fans::new(&[[5.0; 3]], &[]);
        assert_eq!(fans.position_normals(1), [[0.0, 1.0, 0.0]]);
    }
}
