//! Separable filters. Beyond the edges, the last pixel of a row or column is repeated.

use glam::Vec3;
use rayon::prelude::*;

/// Weights at distances from `-radius` to `radius`; the length is `2 * radius + 1`.
pub type Kernel = Vec<f32>;

/// Samples `f` at integer distances from `-radius` to `radius`. If `sum` is given, the weights are scaled to add up to it.
pub fn kernel(radius: usize, sum: Option<f32>, f: impl Fn(f32) -> f32) -> Kernel {
    let distances = (0..=2 * radius).map(|i| i as f32 - radius as f32);
    let mut weights: Vec<f32> = distances.map(f).collect();
    if let Some(sum) = sum {
        let all: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight *= sum / all);
    }
    weights
}

/// Filters each channel with its own kernels: `across` along rows, `down` along columns.
pub fn filter(pixels: &[Vec3], width: usize, across: &[Kernel; 3], down: &[Kernel; 3]) -> Vec<Vec3> {
    let height = pixels.len() / width.max(1);
    let rows = |f: &(dyn Fn(usize, usize) -> Vec3 + Sync)| -> Vec<Vec3> {
        (0..width * height).into_par_iter().with_min_len(width).map(|i| f(i % width, i / width)).collect()
    };
    let narrow = rows(&|x, y| weigh(across, |step| pixels[y * width + moved(x, step, width)]));
    rows(&|x, y| weigh(down, |step| narrow[moved(y, step, height) * width + x]))
}

/// The index `at + step`, clamped to `0..length`.
fn moved(at: usize, step: isize, length: usize) -> usize {
    at.saturating_add_signed(step).min(length - 1)
}

fn weigh(kernels: &[Kernel; 3], at: impl Fn(isize) -> Vec3) -> Vec3 {
    let radius = kernels.iter().map(Vec::len).max().unwrap_or(1) / 2;
    let mut sum = Vec3::ZERO;
    for index in 0..=2 * radius {
        let weight = Vec3::from_array([0, 1, 2].map(|c| weight_at(&kernels[c], index, radius)));
        sum += weight * at(index as isize - radius as isize);
    }
    sum
}

/// Weight of `kernel` at `index` of the widest kernel, whose radius is `radius`. Zero outside `kernel`'s own radius.
fn weight_at(kernel: &Kernel, index: usize, radius: usize) -> f32 {
    let skipped = radius - kernel.len() / 2;
    index.checked_sub(skipped).and_then(|i| kernel.get(i)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_constant_stays_so_even_at_the_edges() {
        let blur = || kernel(3, Some(1.0), |x| (-x * x).exp());
        let one = || kernel(0, Some(1.0), |_| 1.0);
        let kernels = [blur(), one(), blur()];
        let found = filter(&[Vec3::new(1.0, 2.0, 3.0); 20], 5, &kernels, &kernels);
        assert!(found.iter().all(|p| p.abs_diff_eq(Vec3::new(1.0, 2.0, 3.0), 1e-5)));
    }
}
