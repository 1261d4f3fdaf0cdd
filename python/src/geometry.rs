//! Triangles of scenes as arrays.

use std::f32::consts::PI;
use throng::{
    glam::{Affine3, Vec3},
    scene::{Scene, Shape},
};

/// Steps around and along the triangles that stand for a sphere.
const AROUND: u32 = 64;
const ALONG: u32 = 32;
/// Greatest number of vertices and of triangles, so that a scene of nested groups does not take all memory.
const MOST: u64 = 1 << 28;

/// Vertices and triangles.
pub type Triangles = (Vec<[f32; 3]>, Vec<[u32; 3]>);

/// Vertices in world space and triangles of all instances at rest, but for curves and the ground of a standalone model.
///
/// # Errors
/// If there are more than [`MOST`]. The text is one line.
pub fn at_rest(scene: &Scene) -> Result<Triangles, String> {
    let sphere = sphere();
    let shape = |mesh: usize| match &scene.meshes[mesh].shape {
        Shape::Triangles(mesh) => (&mesh.positions[..], &mesh.triangles[..]),
        Shape::Curves(_) => (&[][..], &[][..]),
        Shape::Sphere => (&sphere.0[..], &sphere.1[..]),
    };
    if scene.leaf_count() > MOST {
        return Err(too_many());
    }
    let mut counts = (0, 0);
    scene.visit_meshes_at_rest(&mut |mesh, _| {
        let (positions, corners) = shape(mesh);
        counts.0 += positions.len() as u64;
        counts.1 += corners.len() as u64;
    });
    if counts.0.max(counts.1) > MOST {
        return Err(too_many());
    }
    let (mut vertices, mut triangles) = (Vec::with_capacity(counts.0 as usize), Vec::with_capacity(counts.1 as usize));
    scene.visit_meshes_at_rest(&mut |mesh, world: &Affine3| {
        let (positions, corners) = shape(mesh);
        let first = vertices.len() as u32;
        vertices.extend(positions.iter().map(|&at| world.transform_point3(Vec3::from(at)).to_array()));
        triangles.extend(corners.iter().map(|corners| corners.map(|corner| first + corner)));
    });
    Ok((vertices, triangles))
}

fn too_many() -> String {
    format!(
        "the scene has more than {MOST} vertices or triangles with all instances: take the triangles of a smaller scene"
    )
}

/// The sphere of radius 1 as triangles.
fn sphere() -> Triangles {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for row in 0..=ALONG {
        let (sin, cos) = (PI * row as f32 / ALONG as f32).sin_cos();
        for column in 0..AROUND {
            let (x, z) = (2.0 * PI * column as f32 / AROUND as f32).sin_cos();
            vertices.push([sin * x, cos, sin * z]);
            if row < ALONG {
                let next = (column + 1) % AROUND;
                let [a, b] = [column, next].map(|column| row * AROUND + column);
                triangles.push([a, a + AROUND, b + AROUND]);
                triangles.push([a, b + AROUND, b]);
            }
        }
    }
    // A triangle of each quad at a pole has no area.
    triangles.retain(|corners| {
        let [a, b, c] = corners.map(|corner| Vec3::from(vertices[corner as usize]));
        (b - a).cross(c - a).length() > 1e-6
    });
    (vertices, triangles)
}
