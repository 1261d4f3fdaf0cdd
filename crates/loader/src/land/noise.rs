//! Fractal gradient noise over the plane (Perlin, "Improving noise", 2002).

use glam::{IVec2, Vec2};
use std::f32::consts::TAU;
use throng_base::math::hash_u32;

/// A sum of gradient noise with decreasing wavelengths and amplitudes.
pub struct Noise {
    seed: u32,
    octaves: u32,
    /// Wavelength of the first octave.
    scale: f32,
    gradients: Vec<Vec2>,
}

impl Noise {
    pub fn new(seed: u32, octaves: u32, scale: f32) -> Self {
        let gradients = (0..256).map(|i| Vec2::from_angle(i as f32 * (TAU / 256.0))).collect();
        Self { seed, octaves, scale, gradients }
    }

    /// A value from 0 to 1, 0.5 on average. Each octave has half the wavelength and half the amplitude of the previous one.
    pub fn at(&self, point: Vec2) -> f32 {
        let (mut sum, mut total, mut weight, mut p) = (0.0, 0.0, 1.0, point / self.scale);
        for octave in 0..self.octaves {
            sum += weight * self.octave(hash_u32(self.seed ^ hash_u32(octave)), p);
            total += weight;
            (weight, p) = (weight * 0.5, p * 2.0);
        }
        (0.5 + sum / total).clamp(0.0, 1.0)
    }

    /// One octave, from -0.71 to 0.71.
    fn octave(&self, seed: u32, p: Vec2) -> f32 {
        let cell = p.floor();
        let (f, cell) = (p - cell, cell.as_ivec2());
        let corner = |x: i32, y: i32| {
            let IVec2 { x: i, y: j } = cell.wrapping_add(IVec2::new(x, y));
            let hash = hash_u32(seed ^ hash_u32((i as u32).wrapping_add(hash_u32(j as u32))));
            self.gradients[(hash & 255) as usize].dot(f - Vec2::new(x as f32, y as f32))
        };
        let s = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        mix(mix(corner(0, 0), corner(1, 0), s.x), mix(corner(0, 1), corner(1, 1), s.x), s.y)
    }
}
