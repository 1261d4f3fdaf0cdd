//! Skins: each vertex is transformed by the weighted sum of the transforms of its joints.

use super::deform::Chunk;
use crate::rig::Deformers;
use glam::{Affine3A, Mat3A, Vec3A};
use rayon::prelude::*;

/// Number of joints that are blended at a time. Loaders pad with joints of weight 0.
const GROUP: usize = 4;

/// Transforms the vertices of a chunk from mesh space to the space of the joints. Without a skin they stay unchanged.
pub(super) fn skin_chunk(chunk: &mut Chunk<'_>, deformers: &Deformers, joints: &[Affine3A]) {
    let per_vertex = deformers.joints_per_vertex as usize;
    let influences = per_vertex * chunk.first..per_vertex * (chunk.first + chunk.positions.len());
    let (Some(indices), Some(weights)) = (deformers.joints.get(influences.clone()), deformers.weights.get(influences))
    else {
        return;
    };
    if per_vertex < GROUP {
        return;
    }
    let indices = indices.chunks_exact(per_vertex);
    let weights = weights.chunks_exact(per_vertex);
    for (vertex, (indices, weights)) in indices.zip(weights).enumerate() {
        move_vertex(chunk, vertex, &blend(indices, weights, joints));
    }
}

/// Reverses the winding of triangles that `joints` mirror. Otherwise a mirrored triangle would show its back.
pub fn turn_mirrored(triangles: &mut [[u32; 3]], deformers: &Deformers, joints: &[Affine3A]) {
    let is_mirrored = |joint: &Affine3A| joint.matrix3.determinant() < 0.0;
    let per_vertex = deformers.joints_per_vertex as usize;
    if per_vertex < GROUP || !joints.iter().any(is_mirrored) {
        return;
    }
    let mirrors = |vertex: u32| {
        let influences = per_vertex * vertex as usize..per_vertex * (vertex as usize + 1);
        let indices = deformers.joints.get(influences.clone());
        let weights = deformers.weights.get(influences);
        indices.zip(weights).is_some_and(|(indices, weights)| is_mirrored(&blend(indices, weights, joints)))
    };
    triangles.par_iter_mut().for_each(|triangle| {
        // If only some corners of a triangle are mirrored, the majority decides.
        if triangle.iter().filter(|&&vertex| mirrors(vertex)).count() > 1 {
            triangle.swap(1, 2);
        }
    });
}

/// Applies one transform to all vertices of a chunk.
pub(super) fn place_chunk(chunk: &mut Chunk<'_>, transform: &Affine3A) {
    for vertex in 0..chunk.positions.len() {
        move_vertex(chunk, vertex, transform);
    }
}

#[inline(always)]
fn move_vertex(chunk: &mut Chunk<'_>, vertex: usize, transform: &Affine3A) {
    let position = &mut chunk.positions[vertex];
    *position = transform.transform_point3a(Vec3A::from(*position)).into();
    if chunk.normals.is_empty() && chunk.tangents.is_empty() {
        return;
    }
    let (cofactors, mirrored) = cofactors(&transform.matrix3);
    if let Some(normal) = chunk.normals.get_mut(vertex) {
        *normal = turn(&cofactors, *normal);
        if mirrored {
            *normal = normal.map(|x| -x);
        }
    }
    if let Some([x, y, z, sign]) = chunk.tangents.get_mut(vertex) {
        [*x, *y, *z] = turn(&transform.matrix3, [*x, *y, *z]);
        if mirrored {
            *sign = -*sign;
        }
    }
}

/// The weighted sum of transforms. A joint that is missing from the palette counts as the identity.
#[inline(always)]
fn blend(indices: &[u16], weights: &[f32], joints: &[Affine3A]) -> Affine3A {
    let mut sum = Affine3A { matrix3: Mat3A::ZERO, translation: Vec3A::ZERO };
    let groups = indices.as_chunks::<GROUP>().0.iter();
    for (indices, weights) in groups.zip(weights.as_chunks::<GROUP>().0) {
        for (&joint, &weight) in indices.iter().zip(weights) {
            let joint = joints.get(joint as usize).unwrap_or(&Affine3A::IDENTITY);
            sum.matrix3.x_axis += joint.matrix3.x_axis * weight;
            sum.matrix3.y_axis += joint.matrix3.y_axis * weight;
            sum.matrix3.z_axis += joint.matrix3.z_axis * weight;
            sum.translation += joint.translation * weight;
        }
    }
    sum
}

/// The cofactor matrix, and whether the determinant is negative. The cofactor matrix is the inverse transpose times the determinant; it
/// also exists for singular matrices.
#[inline(always)]
fn cofactors(m: &Mat3A) -> (Mat3A, bool) {
    let x = m.y_axis.cross(m.z_axis);
    let y = m.z_axis.cross(m.x_axis);
    let z = m.x_axis.cross(m.y_axis);
    (Mat3A::from_cols(x, y, z), m.x_axis.dot(x) < 0.0)
}

/// Maps a direction and scales it to unit length. A direction that is mapped to zero stays unchanged.
#[inline(always)]
fn turn(map: &Mat3A, direction: [f32; 3]) -> [f32; 3] {
    let turned = *map * Vec3A::from(direction);
    let square = turned.length_squared();
    // The squares of very small and very large numbers are out of the range of floats.
    if (1e-30..1e30).contains(&square) { (turned * square.sqrt().recip()).into() } else { turn_exactly(map, direction) }
}

#[cold]
fn turn_exactly(map: &Mat3A, direction: [f32; 3]) -> [f32; 3] {
    let column = |v: Vec3A| glam::Vec3::from(v).as_dvec3();
    let [x, y, z] = direction.map(f64::from);
    let turned = column(map.x_axis) * x + column(map.y_axis) * y + column(map.z_axis) * z;
    match turned.try_normalize() {
        Some(unit) => unit.as_vec3().to_array(),
        None => direction,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn triangles_that_a_joint_mirrors_keep_their_fronts() {
        let joints = [Affine3A::IDENTITY, Affine3A::from_scale(Vec3::new(-1.2, 0.5, 0.8))];
        let follows = |joint: u16| [joint, 0, 0, 0];
        let deformers = Deformers {
            joints_per_vertex: 4,
            joints: [follows(0), follows(1), follows(1), follows(0), follows(0)].concat(),
            weights: [1.0, 0.0, 0.0, 0.0].repeat(5),
            ..Deformers::default()
        };
        let mut triangles = [[0, 3, 4], [1, 2, 0]];
        turn_mirrored(&mut triangles, &deformers, &joints);
        assert_eq!(triangles, [[0, 3, 4], [1, 0, 2]]);
        turn_mirrored(&mut triangles, &deformers, &joints[..1]);
        assert_eq!(triangles, [[0, 3, 4], [1, 0, 2]]);
    }
}
