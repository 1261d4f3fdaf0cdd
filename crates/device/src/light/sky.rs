//! The table for sampling directions to an environment image. The image is divided into cells, weighted by mean luminance and solid angle.
//! There is one alias table for the rows, and one per row for its cells.

use super::{alias::alias_table, luminance};
use glam::Vec3;
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};
use throng_abi::SkyCell;
use throng_scene::FloatImage;

/// Maximum number of cells along each axis. Cells of larger images cover several texels.
const MOST_COLUMNS: u32 = 2048;
const MOST_ROWS: u32 = 1024;
/// The least positive half-precision float.
const LEAST_HALF: f64 = 1.0 / (1 << 24) as f64;

/// The table of an environment image, with 8 bytes per cell. All directions in a cell have the same pdf. It is positive wherever the
/// interpolated radiance is not black.
#[derive(Default)]
pub struct SkyTable {
    pub columns: u32,
    /// Alias table over the rows, without pdfs.
    pub rows: Vec<SkyCell>,
    /// Alias tables over the cells of each row, from the top.
    pub cells: Vec<SkyCell>,
    /// Luminance integrated over all directions: radiance times solid angle.
    pub fluence: f32,
    /// Unevenness of the light: the mean squared luminance, divided by the squared mean luminance. 1 for uniform light.
    pub unevenness: f32,
}

impl SkyTable {
    /// Creates the table of an image; it is empty, with no light, for a black image. Parallel over rows.
    pub fn new(image: &FloatImage) -> Self {
        let columns = image.width.min(MOST_COLUMNS);
        let rows = image.height.min(MOST_ROWS);
        let footprints = [footprints(columns, image.width), footprints(rows, image.height)];
        let solid_angle = |row: u32| {
            let edge = |row: u32| (PI * f64::from(row) / f64::from(rows)).cos();
            TAU / f64::from(columns) * (edge(row) - edge(row + 1))
        };
        let table = |row: u32| {
            let means = cell_means(image, &footprints[1][row as usize], &footprints[0]);
            let total = means.iter().sum::<f64>() * solid_angle(row);
            let squares = means.iter().map(|mean| mean * mean).sum::<f64>() * solid_angle(row);
            (total > 0.0).then(|| (total, squares, row_table(&means, solid_angle(row))))
        };
        let tables: Vec<Option<(f64, f64, Vec<SkyCell>)>> = (0..rows).into_par_iter().map(table).collect();
        let totals: Vec<f64> = tables.iter().map(|t| t.as_ref().map_or(0.0, |t| t.0)).collect();
        let squares: f64 = tables.iter().flatten().map(|t| t.1).sum();
        let fluence = totals.iter().sum::<f64>();
        if fluence <= 0.0 {
            return Self::default();
        }
        let (entries, probabilities) = alias_table(&totals, |x| half_from(x).1);
        let stored = entries.iter().map(|e| sky_cell(0.0, e.threshold, e.alias));
        let mut cells = vec![SkyCell::default(); columns as usize * rows as usize];
        let places = cells.par_chunks_mut(columns as usize).zip(tables);
        places.zip(probabilities).for_each(|((to, table), share)| {
            for (to, cell) in to.iter_mut().zip(table.into_iter().flat_map(|t| t.2)) {
                *to = SkyCell { pdf: (f64::from(cell.pdf) * share) as f32, ..cell };
            }
        });
        let unevenness = 2.0 * TAU * squares / (fluence * fluence);
        Self { columns, rows: stored.collect(), cells, fluence: fluence as f32, unevenness: unevenness as f32 }
    }
}

/// Luminance of a gradient, integrated over all directions: radiance times solid angle.
pub fn gradient_fluence(zenith: Vec3, horizon: Vec3, nadir: Vec3) -> f32 {
    std::f32::consts::PI * luminance(2.0 * horizon + zenith + nadir)
}

/// Consecutive texels along one axis that contribute to a cell, and their weights, which sum to 1.
struct Footprint {
    first: i64,
    weights: Vec<f32>,
}

/// Footprints of `cells` equal parts of an axis with `texels`. The weights are integrals of the tent functions that interpolate texels.
fn footprints(cells: u32, texels: u32) -> Vec<Footprint> {
    let size = f64::from(texels) / f64::from(cells);
    let footprint = |cell: u32| {
        let (begin, end) = (f64::from(cell) * size, f64::from(cell + 1) * size);
        // The margin prevents rounding from omitting a texel.
        let first = (begin - 0.5 - 1e-9).floor() as i64;
        let last = (end - 0.5 + 1e-9).ceil() as i64;
        let weight = |texel: i64| {
            let center = texel as f64 + 0.5;
            ((tent_integral(end - center) - tent_integral(begin - center)) / size) as f32
        };
        Footprint { first, weights: (first..=last).map(weight).collect() }
    };
    (0..cells).map(footprint).collect()
}

/// Integral, up to `x`, of the tent of height 1 over [-1, 1].
fn tent_integral(x: f64) -> f64 {
    let x = x.clamp(-1.0, 1.0);
    if x < 0.0 { 0.5 * (1.0 + x) * (1.0 + x) } else { 1.0 - 0.5 * (1.0 - x) * (1.0 - x) }
}

/// Mean luminance of the cells of a row.
fn cell_means(image: &FloatImage, row: &Footprint, columns: &[Footprint]) -> Vec<f64> {
    let (width, height) = (image.width as usize, i64::from(image.height));
    let mut sums = vec![0f32; width];
    for (y, &weight) in (row.first..).zip(&row.weights) {
        let start = y.clamp(0, height - 1) as usize * width;
        for (sum, &texel) in sums.iter_mut().zip(&image.data[start..start + width]) {
            *sum += weight * luminance(texel.into()).max(0.0);
        }
    }
    let mean = |footprint: &Footprint| {
        let texels = (footprint.first..).zip(&footprint.weights);
        let terms = texels.map(|(x, weight)| sums[x.rem_euclid(width as i64) as usize] * weight);
        f64::from(terms.sum::<f32>())
    };
    columns.iter().map(mean).collect()
}

/// The alias table of a row's cells, with their pdfs given that this row was selected.
fn row_table(means: &[f64], solid_angle: f64) -> Vec<SkyCell> {
    let (entries, probabilities) = alias_table(means, |x| half_from(x).1);
    let cells = entries.iter().zip(probabilities);
    cells.map(|(e, p)| sky_cell((p / solid_angle) as f32, e.threshold, e.alias)).collect()
}

fn sky_cell(pdf: f32, threshold: f32, alias: u32) -> SkyCell {
    SkyCell { pdf, alias: u32::from(half_from(f64::from(threshold)).0) << 16 | alias }
}

/// A half-precision float near `x` in [0, 1], and its value. It is zero only if `x` is not positive.
fn half_from(x: f64) -> (u16, f32) {
    /// The least normal half, 2^-14. Larger halves have eleven binary digits; smaller ones have steps of 2^-24.
    const LEAST_NORMAL: f64 = 1.0 / 16384.0;
    if x <= 0.0 {
        return (0, 0.0);
    }
    let half = if x < LEAST_NORMAL {
        (x / LEAST_HALF).round().max(1.0) as u16
    } else {
        (((x.min(1.0) as f32).to_bits() + (1 << 12)) >> 13) as u16 - (112 << 10)
    };
    (half, f32::from_bits(u32::from(half) << 13) * 2f32.powi(112))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, height: u32, texel: impl Fn(u32, u32) -> f32) -> FloatImage {
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        FloatImage { width, height, data: places.map(|(x, y)| [texel(x, y); 3]).collect() }
    }

    #[test]
    fn halves_keep_eleven_digits_and_are_never_zero() {
        for i in 0..10_000 {
            let x = (-(i as f64) * 0.0025).exp();
            let (bits, value) = half_from(x);
            assert!((f64::from(value) / x - 1.0).abs() < 1.0 / 2048.0 || x < 1.0 / 16384.0);
            assert!(value > 0.0 && bits > 0);
        }
        assert_eq!(half_from(1.0), (0x3c00, 1.0));
    }

    #[test]
    fn pdfs_add_up_to_one_and_follow_the_light() {
        for (width, height) in [(64, 32), (7, 3), (1, 1), (2500, 1100)] {
            let sky = SkyTable::new(&image(width, height, |x, y| (1 + (x * 7 + y * 13) % 5) as f32));
            let rows = sky.rows.len();
            let edge = |row: usize| (PI * row as f64 / rows as f64).cos();
            let cells = sky.cells.iter().enumerate().map(|(i, cell)| {
                let row = i / sky.columns as usize;
                f64::from(cell.pdf) * TAU / f64::from(sky.columns) * (edge(row) - edge(row + 1))
            });
            let total: f64 = cells.sum();
            assert!((total - 1.0).abs() < 1e-5, "{width} × {height}: {total}");
        }
    }

    #[test]
    fn what_interpolation_lights_has_a_pdf_across_the_seam_and_at_the_poles() {
        let sky = SkyTable::new(&image(8, 4, |x, y| ((x, y) == (0, 0)) as u32 as f32));
        let lit = |x: u32, y: u32| sky.cells[(y * 8 + x) as usize].pdf > 0.0;
        let expected = |x: u32, y: u32| [7, 0, 1].contains(&x) && y <= 1;
        for (x, y) in (0..8).flat_map(|x| (0..4).map(move |y| (x, y))) {
            assert_eq!(lit(x, y), expected(x, y), "{x} {y}");
        }
    }

    #[test]
    fn a_black_image_has_no_table() {
        let sky = SkyTable::new(&image(16, 8, |_, _| 0.0));
        assert!(sky.fluence == 0.0 && sky.cells.is_empty());
        assert_eq!(gradient_fluence(Vec3::ZERO, Vec3::ZERO, Vec3::ZERO), 0.0);
    }

    #[test]
    fn fluence_is_that_of_the_picture() {
        let sky = SkyTable::new(&image(100, 50, |_, _| 2.0));
        let expected = gradient_fluence(Vec3::splat(2.0), Vec3::splat(2.0), Vec3::splat(2.0));
        assert!((sky.fluence / expected - 1.0).abs() < 1e-4);
        assert!((sky.unevenness - 1.0).abs() < 1e-4);
        let half = SkyTable::new(&image(100, 50, |_, y| f32::from(y < 25)));
        assert!((half.unevenness - 2.0).abs() < 0.1);
    }
}
