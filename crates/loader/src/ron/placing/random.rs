//! Reproducible variation: random numbers as a pure function of (seed, dimension, index).

use glam::{Quat, Vec3};
use std::f32::consts::TAU;
use throng_base::math::{hash_u32, hash_unit};

/// A number uniform in [0, 1).
pub fn unit(seed: u32, dimension: u32, index: u32) -> f32 {
    hash_unit(hash_u32(seed).wrapping_add(dimension.wrapping_mul(0x9e37_79b9)), index)
}

/// A number uniform in [-1, 1).
pub fn signed(seed: u32, dimension: u32, index: u32) -> f32 {
    unit(seed, dimension, index) * 2.0 - 1.0
}

/// Three numbers as returned by [`unit`], in consecutive dimensions that start at `dimension`.
pub fn unit3(seed: u32, dimension: u32, index: u32) -> Vec3 {
    Vec3::from(std::array::from_fn(|i| unit(seed, dimension + i as u32, index)))
}

/// A rotation uniform over all rotations (Shoemake, "Uniform random rotations", 1992).
pub fn rotation(u: Vec3) -> Quat {
    let (outer, inner) = ((1.0 - u.x).sqrt(), u.x.sqrt());
    let ((s1, c1), (s2, c2)) = ((TAU * u.y).sin_cos(), (TAU * u.z).sin_cos());
    Quat::from_xyzw(outer * s1, outer * c1, inner * s2, inner * c2)
}

/// A direction uniform over the unit sphere.
pub fn direction(u: f32, v: f32) -> Vec3 {
    let y = 1.0 - 2.0 * u;
    let r = (1.0 - y * y).max(0.0).sqrt();
    let (s, c) = (TAU * v).sin_cos();
    Vec3::new(r * c, y, r * s)
}
