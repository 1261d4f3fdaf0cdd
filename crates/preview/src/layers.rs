//! Display of AOVs as pictures.

use bytes::Bytes;
use glam::Vec3;
use rayon::prelude::*;
use throng_base::math::{Aabb, srgb_from_linear};
use throng_picture::aov::{Aov, AovImage};

/// sRGB pixels that visualise an AOV. Positions are scaled to `bounds`, the bounds of the scene.
pub fn shown(image: &AovImage, bounds: &Aabb) -> Bytes {
    let values = &image.values[..];
    let extent = bounds.extent().max(Vec3::splat(f32::MIN_POSITIVE));
    let farthest = farthest(image);
    let color = |pixel: &[f32]| -> [f32; 3] {
        match image.aov {
            Aov::Albedo | Aov::Shadow => [0, 1, 2].map(|i| srgb_from_linear(pixel[i].clamp(0.0, 1.0))),
            Aov::Normal => [0, 1, 2].map(|i| 0.5 + 0.5 * pixel[i]),
            Aov::Depth => [if pixel[0].is_finite() { 1.0 - 0.9 * pixel[0] / farthest } else { 0.0 }; 3],
            Aov::Position => ((Vec3::new(pixel[0], pixel[1], pixel[2]) - bounds.min) / extent).into(),
            // A motion of 16 pixels has the greatest brightness.
            Aov::Motion => [0.5 + pixel[0] / 32.0, 0.5 + pixel[1] / 32.0, 0.5],
            // The standard deviation, on the curve of a display.
            Aov::Variance => [0, 1, 2].map(|i| srgb_from_linear(pixel[i].max(0.0).sqrt().min(1.0))),
            Aov::Instance | Aov::Material => matte(pixel),
            Aov::Alpha | Aov::Wireframe => [pixel[0]; 3],
            Aov::Error | Aov::AlphaVariance => [srgb_from_linear(pixel[0].clamp(0.0, 1.0)); 3],
        }
    };
    let channels = image.aov.channels();
    let pixels = values
        .par_chunks_exact(channels)
        .flat_map_iter(|pixel| color(pixel).map(|x| (x.clamp(0.0, 1.0) * 255.0) as u8));
    pixels.collect::<Vec<u8>>().into()
}

/// The greatest finite depth; 1 for other AOVs.
fn farthest(image: &AovImage) -> f32 {
    let depths = image.values.iter().copied().filter(|depth| depth.is_finite());
    match image.aov {
        Aov::Depth => depths.fold(f32::MIN_POSITIVE, f32::max),
        _ => 1.0,
    }
}

/// The mean of one colour per name, weighted by coverage.
fn matte(pixel: &[f32]) -> [f32; 3] {
    let mut mixed = [0.0; 3];
    for pair in pixel.as_chunks::<2>().0 {
        let bytes = pair[0].to_bits().wrapping_mul(0x9e37_79b1).to_le_bytes();
        for (sum, byte) in mixed.iter_mut().zip([bytes[1], bytes[2], bytes[3]]) {
            *sum += pair[1] * (0.15 + 0.85 * f32::from(byte) / 255.0);
        }
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_is_a_picture_whatever_its_values() {
        let bounds = Aabb { min: Vec3::ZERO, max: Vec3::ONE };
        for aov in Aov::ALL {
            for value in [0.0, 1.0, -3.0, f32::INFINITY, f32::NAN] {
                let values = vec![value; 4 * aov.channels()];
                assert_eq!(shown(&AovImage { aov, values: values.into() }, &bounds).len(), 12, "{aov}");
            }
        }
    }

    #[test]
    fn what_is_near_is_bright() {
        let image = AovImage { aov: Aov::Depth, values: vec![1.0, 10.0, f32::INFINITY].into() };
        let pixels = shown(&image, &Aabb { min: Vec3::ZERO, max: Vec3::ONE });
        assert_eq!((pixels[0], pixels[3], pixels[6]), (232, 25, 0));
    }
}
