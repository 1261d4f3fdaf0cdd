//! Flat curves: strips of triangles with two vertices per place, across the normal.

use glam::Vec3;
use throng_scene::TriangleMesh;

/// The strips of all curves of a set.
#[derive(Default)]
pub struct Strips {
    /// The strips in their first shape.
    pub mesh: TriangleMesh,
    /// Positions in each later shape.
    pub later: Vec<Vec<[f32; 3]>>,
}

impl Strips {
    /// Adds a curve. `shapes` are the positions and radii at its places in all shapes, and `normals` their normals.
    pub fn add(&mut self, shapes: &[Vec<[f32; 4]>], normals: &[[f32; 3]]) {
        let first = self.mesh.positions.len() as u32;
        self.later.resize(shapes.len() - 1, Vec::new());
        for (number, shape) in shapes.iter().enumerate() {
            let positions = match number {
                0 => &mut self.mesh.positions,
                later => &mut self.later[later - 1],
            };
            let ups = edges(shape, normals, positions);
            if number == 0 {
                self.mesh.normals.extend(ups);
            }
        }
        for pair in 0..normals.len() as u32 - 1 {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| first + 2 * pair + i);
            self.mesh.triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
}

/// Adds the two edges of a strip to `positions`. Returns their normals.
fn edges(shape: &[[f32; 4]], normals: &[[f32; 3]], positions: &mut Vec<[f32; 3]>) -> Vec<[f32; 3]> {
    let place = |index: usize| Vec3::from_slice(&shape[index]);
    let mut ups = Vec::with_capacity(2 * shape.len());
    for (index, &normal) in normals.iter().enumerate() {
        let (before, after) = (index.saturating_sub(1), (index + 1).min(shape.len() - 1));
        let along = place(after) - place(before);
        let up = Vec3::from(normal).try_normalize().unwrap_or_else(|| along.any_orthonormal_vector());
        let across = along.cross(up).normalize_or(up.any_orthonormal_vector()) * shape[index][3].max(0.0);
        positions.extend([place(index) + across, place(index) - across].map(|p| p.to_array()));
        ups.extend([up.to_array(); 2]);
    }
    ups
}
