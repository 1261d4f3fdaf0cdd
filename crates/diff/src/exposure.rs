//! Exposures at which linear pictures are compared (HDR-ꟻLIP). The lowest makes the brightest pixel of the reference bright on a screen;
//! the highest makes the median pixel bright.

use super::read::LinearImage;
use glam::Vec3;

/// Coefficients of the tone curve, Narkowicz's fit of ACES with its exposure of 0.6: first the numerator, then the denominator, each from
/// the square term down.
const CURVE: [f32; 6] = [0.6 * 0.6 * 2.51, 0.6 * 0.03, 0.0, 0.6 * 0.6 * 2.43, 0.6 * 0.59, 0.14];
/// Tone curve output that counts as bright on a screen.
const BRIGHT: f32 = 0.85;

/// Exposures for a reference, in stops. They are evenly spaced, at least 2 and at most 64.
pub fn exposures(reference: &LinearImage) -> Vec<f32> {
    let mut luminances: Vec<f32> = reference.pixels.iter().map(|p| p.dot(Vec3::new(0.2126, 0.7152, 0.0722))).collect();
    luminances.sort_unstable_by(f32::total_cmp);
    let median = luminances.get(luminances.len() / 2).copied().unwrap_or(1.0).max(f32::EPSILON);
    let greatest = luminances.last().copied().unwrap_or(1.0).max(median);
    let bright = bright_input();
    let (start, end) = ((bright / greatest).log2(), (bright / median).log2());
    let count = (end - start).ceil().clamp(2.0, 64.0) as usize;
    let step = (end - start) / (count - 1) as f32;
    (0..count).map(|index| start + index as f32 * step).collect()
}

/// Input at which the tone curve reaches [`BRIGHT`].
fn bright_input() -> f32 {
    let [a, b, c] = [0, 1, 2].map(|i| CURVE[i] - BRIGHT * CURVE[i + 3]);
    (-b + (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)
}

/// Tone-maps `image` at an exposure of `stops`. The result is linear, from 0 to 1.
pub fn expose(image: &LinearImage, stops: f32) -> LinearImage {
    let scale = stops.exp2();
    let [a, b, c, d, e, f] = CURVE;
    let shown = |color: &Vec3| {
        let x = (*color * scale).max(Vec3::ZERO);
        ((a * x * x + b * x + Vec3::splat(c)) / (d * x * x + e * x + Vec3::splat(f))).clamp(Vec3::ZERO, Vec3::ONE)
    };
    let pixels = image.pixels.iter().map(shown).collect();
    LinearImage { width: image.width, pixels, ..LinearImage::default() }
}
