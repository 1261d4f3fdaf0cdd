//! ꟻLIP of two pictures in display colours (LDR-ꟻLIP): colour differences, amplified where edges or points differ.

use super::{
    color::{distance, hunt_lab, opponent, rgb_of_opponent},
    filter::{Kernel, filter, kernel},
    read::LinearImage,
};
use glam::Vec3;
use rayon::prelude::*;
use std::f32::consts::PI;

/// Contrast sensitivities of lightness, red - green and blue - yellow. Each is a sum of two Gaussians, `a * sqrt(pi/b) * exp(-pi^2 d^2 /
/// b)`, given as pairs (a, b).
const SENSITIVITY: [[(f32, f32); 2]; 3] =
    [[(1.0, 0.0047), (0.0, 1e-5)], [(1.0, 0.0053), (0.0, 1e-5)], [(34.1, 0.04), (13.5, 0.025)]];
/// Exponent of colour differences; the share of the greatest difference above which they are compressed; the value at that share.
const COLOR_EXPONENT: f32 = 0.7;
const KNEE: f32 = 0.4;
const ABOVE_KNEE: f32 = 0.95;
/// Exponent of feature differences, and the feature width in degrees.
const FEATURE_EXPONENT: f32 = 0.5;
const FEATURE_WIDTH: f32 = 0.082;

/// Difference of each pixel, from 0 to 1. Both pictures have the same size.
pub fn differences(a: &LinearImage, b: &LinearImage, pixels_per_degree: f32) -> Vec<f32> {
    let [colors_a, colors_b] = [a, b].map(|image| perceived(image, pixels_per_degree));
    let [features_a, features_b] = [a, b].map(|image| features(image, pixels_per_degree));
    let greatest = greatest_distance();
    let both = colors_a.par_iter().zip(&colors_b).zip(features_a.par_iter().zip(&features_b));
    both.map(|((color_a, color_b), (feature_a, feature_b))| {
        let color = compress(distance(*color_a, *color_b).powf(COLOR_EXPONENT), greatest);
        let feature = (feature_a.x - feature_b.x).abs().max((feature_a.y - feature_b.y).abs());
        let feature = (feature * 0.5f32.sqrt()).powf(FEATURE_EXPONENT);
        color.powf(1.0 - feature)
    })
    .collect()
}

/// The greatest possible colour difference: between green and blue.
fn greatest_distance() -> f32 {
    distance(hunt_lab(Vec3::Y), hunt_lab(Vec3::Z)).powf(COLOR_EXPONENT)
}

fn compress(value: f32, greatest: f32) -> f32 {
    let knee = KNEE * greatest;
    match value {
        v if v < knee => ABOVE_KNEE / knee * v,
        v => ABOVE_KNEE + (v - knee) / (greatest - knee) * (1.0 - ABOVE_KNEE),
    }
}

/// Perceived colours in Hunt-adjusted L*a*b*. Detail too fine for the eye at this resolution is filtered out.
fn perceived(image: &LinearImage, pixels_per_degree: f32) -> Vec<Vec3> {
    let opponents: Vec<Vec3> = image.pixels.par_iter().map(|&rgb| opponent(rgb)).collect();
    let widest = SENSITIVITY.iter().flatten().map(|&(_, b)| b).fold(0.0, f32::max);
    let radius = (3.0 * (widest / (2.0 * PI * PI)).sqrt() * pixels_per_degree).ceil() as usize;
    let gaussian = |b: f32| kernel(radius, None, |x| (-(PI * x / pixels_per_degree).powi(2) / b).exp());
    // A sum of two Gaussians is not separable, so the two are filtered separately and weighted by their volumes.
    let part = |index: usize| {
        let kernels: [Kernel; 3] = SENSITIVITY.map(|channel| gaussian(channel[index].1));
        let scale = [0, 1, 2].map(|c| {
            let (a, b) = SENSITIVITY[c][index];
            a * (PI / b).sqrt()
        });
        let volume = Vec3::from_array([0, 1, 2].map(|c| scale[c] * kernels[c].iter().sum::<f32>().powi(2)));
        (filter(&opponents, image.width, &kernels, &kernels), Vec3::from_array(scale), volume)
    };
    let ((first, first_scale, first_volume), (second, second_scale, second_volume)) = (part(0), part(1));
    let volume = first_volume + second_volume;
    let both = first.par_iter().zip(&second);
    both.map(|(&first, &second)| {
        let color = (first * first_scale + second * second_scale) / volume;
        hunt_lab(rgb_of_opponent(color).clamp(Vec3::ZERO, Vec3::ONE))
    })
    .collect()
}

/// Edge strength (x) and point strength (y) at each pixel.
fn features(image: &LinearImage, pixels_per_degree: f32) -> Vec<Vec3> {
    let sigma = 0.5 * FEATURE_WIDTH * pixels_per_degree;
    let radius = (3.0 * sigma).ceil() as usize;
    let bell = move |x: f32| (-x * x / (2.0 * sigma * sigma)).exp();
    let smooth = kernel(radius, Some(1.0), bell);
    let edge = balanced(kernel(radius, None, |x| -x * bell(x)));
    let point = balanced(kernel(radius, None, |x| (x * x / (sigma * sigma) - 1.0) * bell(x)));
    let lightness: Vec<Vec3> =
        image.pixels.par_iter().map(|&rgb| Vec3::splat((opponent(rgb).x + 16.0) / 116.0)).collect();
    let [flat_x, flat_y] = [(); 2].map(|()| smooth.clone());
    let across = filter(
        &lightness,
        image.width,
        &[edge.clone(), point.clone(), flat_x.clone()],
        &[flat_y.clone(), flat_y.clone(), flat_x.clone()],
    );
    let down = filter(&lightness, image.width, &[flat_x.clone(), flat_x, flat_y.clone()], &[edge, point, flat_y]);
    let both = across.par_iter().zip(&down);
    both.map(|(across, down)| Vec3::new(across.x.hypot(down.x), across.y.hypot(down.y), 0.0)).collect()
}

/// Scales the positive weights to sum to 1 and the negative ones to sum to -1.
fn balanced(mut kernel: Kernel) -> Kernel {
    let sum = |sign: f32| -> f32 { kernel.iter().map(|w| (sign * w).max(0.0)).sum() };
    let (positive, negative) = (sum(1.0), sum(-1.0));
    for weight in &mut kernel {
        *weight /= if *weight > 0.0 { positive } else { negative };
    }
    kernel
}
