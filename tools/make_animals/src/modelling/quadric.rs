//! Error quadrics: squared distances of a vertex to the planes of its original triangles.

use glam::{DMat3, DVec3, Vec3};

/// A sum of squared distances to planes, in double precision because the terms nearly cancel.
#[derive(Clone, Copy, Default)]
pub struct Quadric {
    normal2: DMat3,
    normal_offset: DVec3,
    offset2: f64,
}

impl Quadric {
    /// The weighted squared distance to one plane.
    pub fn of_plane(normal: Vec3, point: Vec3, weight: f32) -> Self {
        let (normal, weight) = (normal.as_dvec3(), f64::from(weight));
        let offset = normal.dot(point.as_dvec3());
        let square = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        Self { normal2: square * weight, normal_offset: normal * (offset * weight), offset2: offset * offset * weight }
    }

    pub fn plus(&self, other: &Self) -> Self {
        Self {
            normal2: self.normal2 + other.normal2,
            normal_offset: self.normal_offset + other.normal_offset,
            offset2: self.offset2 + other.offset2,
        }
    }

    /// The sum at a point.
    pub fn cost(&self, p: Vec3) -> f64 {
        let p = p.as_dvec3();
        p.dot(self.normal2 * p) - 2.0 * p.dot(self.normal_offset) + self.offset2
    }
}
