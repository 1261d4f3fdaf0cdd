//! Separable filters, which repeat the last pixel beyond the ends of rows and columns.

use glam::Vec3;
use rayon::prelude::*;

/// Weights at the distances from `-radius` to `radius`.
pub type Kernel = Vec<f32>;

/// Samples `f` at whole distances from -radius to radius. With a `sum`, scales the weights to add up to it.
pub fn kernel(radius: usize, sum: Option<f32>, f: impl Fn(f32) -> f32) -> Kernel {
    let distances = (0..=2 * radius).map(|i| i as f32 - radius as f32);
    let mut weights: Vec<f32> = distances.map(f).collect();
    if let Some(sum) = sum {
        let all: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight *= sum / all);
    }
    weights
}

/// Filters each channel with its own kernels, along rows with `across` and along columns with `down`.
pub fn filter(pixels: &[Vec3], width: usize, across: &[Kernel; 3], down: &[Kernel; 3]) -> Vec<Vec3> {
    let height = pixels.len() / width.max(1);
    let rows = |f: &(dyn Fn(usize, usize) -> Vec3 + Sync)| -> Vec<Vec3> {
        (0..width * height).into_par_iter().with_min_len(width).map(|i| f(i % width, i / width)).collect()
    };
    let narrow = rows(&|x, y| weigh(across, |step| pixels[y * width + moved(x, step, width)]));
    rows(&|x, y| weigh(down, |step| narrow[moved(y, step, height) * width + x]))
}

/// The position `step` from `at`, clamped to the ends.
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

/// Weight of a kernel at `index` of the widest one, whose radius is `radius`; 0 beyond the kernel's own.
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
