//! Spheres as meshes, because some programs draw prims of the type `Sphere` without their materials.

use crate::shapes::UV_SETS;
use glam::Vec3;
use std::f32::consts::{PI, TAU};
use throng_usd::{LayerValue, Prim, ShapeKind};

/// Faces around the axis, and from pole to pole.
const SIDES: usize = 64;
const RINGS: usize = 32;

/// The unit sphere as a smooth mesh with poles on the Y axis. throng reads it as its exact sphere ([`ShapeKind::OWN`]).
pub fn mesh(name: &str, is_culled: bool) -> Prim {
    let (points, faces) = (points(), faces());
    let mut prim = Prim::new(name, "Mesh");
    let sizes = faces.iter().map(|face| face.len() as i32).collect();
    let corners = || faces.iter().flatten();
    prim.set("faceVertexCounts", "int[]", LayerValue::Ints(sizes));
    prim.set("faceVertexIndices", "int[]", LayerValue::Ints(corners().map(|corner| corner.point() as i32).collect()));
    prim.set_uniform("subdivisionScheme", "token", LayerValue::token("none"));
    prim.set_uniform("doubleSided", "bool", LayerValue::Bool(!is_culled));
    // A point of the unit sphere is its normal.
    prim.set("points", "point3f[]", LayerValue::Float3s(points.clone()));
    prim.set("normals", "normal3f[]", LayerValue::Float3s(points)).interpolation = "vertex";
    let uvs = LayerValue::Float2s(corners().map(|corner| corner.uv()).collect());
    prim.set(format!("primvars:{}", UV_SETS[0]), "texCoord2f[]", uvs).interpolation = "faceVarying";
    prim.set_uniform(ShapeKind::OWN, "token", LayerValue::token(ShapeKind::OWN_SPHERE)).is_custom = true;
    prim
}

/// A corner of a face.
struct Corner {
    /// Number of its meridian, and of its ring from the lower pole upwards. Meridian `SIDES` is meridian 0 again.
    side: usize,
    ring: usize,
    /// Horizontal texture coordinate in sides.
    u: f32,
}

impl Corner {
    /// Index of its point: the lower pole, the rings upwards, the upper pole.
    fn point(&self) -> usize {
        match self.ring {
            0 => 0,
            RINGS => 1 + (RINGS - 1) * SIDES,
            ring => 1 + (ring - 1) * SIDES + self.side % SIDES,
        }
    }

    /// The texture coordinates of throng's sphere: u grows from -X over +Z to +X, and v upwards.
    fn uv(&self) -> [f32; 2] {
        [self.u / SIDES as f32, self.ring as f32 / RINGS as f32]
    }
}

fn points() -> Vec<[f32; 3]> {
    let ring = |ring: usize| {
        let (around, down) = (PI * ring as f32 / RINGS as f32).sin_cos();
        (0..SIDES).map(move |side| {
            let (sin, cos) = (TAU * side as f32 / SIDES as f32).sin_cos();
            Vec3::new(-around * cos, -down, around * sin).normalize().to_array()
        })
    };
    let [lower, upper] = [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]];
    std::iter::once(lower).chain((1..RINGS).flat_map(ring)).chain([upper]).collect()
}

/// Triangles at the poles and quads between them, counter-clockwise as seen from outside.
fn faces() -> Vec<Vec<Corner>> {
    let face = |ring: usize, side: usize| {
        // A face has one corner at a pole, in its middle.
        let edge = |ring: usize, sides: [usize; 2]| match ring {
            0 | RINGS => vec![Corner { side, ring, u: side as f32 + 0.5 }],
            _ => sides.map(|side| Corner { side, ring, u: side as f32 }).into(),
        };
        edge(ring, [side, side + 1]).into_iter().chain(edge(ring + 1, [side + 1, side])).collect()
    };
    (0..RINGS).flat_map(|ring| (0..SIDES).map(move |side| face(ring, side))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_look_outwards_and_have_the_texture_coordinates_of_their_points() {
        let (points, faces) = (points(), faces());
        assert_eq!((points.len(), faces.len()), (2 + (RINGS - 1) * SIDES, RINGS * SIDES));
        assert!(points.iter().all(|&point| (Vec3::from(point).length() - 1.0).abs() < 1e-6));
        let mut edges = std::collections::HashSet::new();
        for face in &faces {
            let at = |index: usize| Vec3::from(points[face[index].point()]);
            assert!((at(1) - at(0)).cross(at(2) - at(0)).dot(at(0)) > 0.0);
            for (index, corner) in face.iter().enumerate() {
                let next = &face[(index + 1) % face.len()];
                assert!(edges.insert((corner.point(), next.point())), "each edge is in two faces");
                let (point, [u, v]) = (at(index), corner.uv());
                let middle = face.iter().map(|corner| corner.uv()[0]).sum::<f32>() / face.len() as f32;
                assert!((v - (1.0 - point.y.acos() / PI)).abs() < 1e-5 && (u - middle).abs() < 1.0 / SIDES as f32);
                // The kernels' formula, which has no value on the axis.
                let around = 0.5 - point.z.atan2(point.x) / TAU;
                assert!(
                    point.y.abs() == 1.0 || (u - around).abs().min(1.0 - (u - around).abs()) < 1e-5,
                    "{u} {around}"
                );
            }
        }
        assert!(edges.iter().all(|&(a, b)| edges.contains(&(b, a))));
    }
}
