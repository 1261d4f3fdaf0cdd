//! Tests of the kernels' closed forms for fog against numerical integration in double precision.

use super::records::params::fog_record;
use glam::Vec3;
use throng_abi::FogRecord;
use throng_scene::{Fog, Thinning};

unsafe extern "C" {
    fn throng_probe_fog_depth(fog: *const FogRecord, y: f32, slope: f32, distance: f32) -> f32;
    fn throng_probe_fog_flight(fog: *const FogRecord, y: f32, slope: f32, depth: f32) -> f32;
    fn throng_probe_phase_pdf(g: f32, cosine: f32) -> f32;
    fn throng_probe_sample_phase(g: f32, u: f32) -> f32;
    fn throng_probe_exponentials(x: f32, out: *mut f32);
}

fn depth(fog: &Fog, y: f32, slope: f32, distance: f32) -> f32 {
    let record = fog_record(Some(fog));
    // SAFETY: plain arithmetic on a record that outlives the call.
    unsafe { throng_probe_fog_depth(&raw const record, y, slope, distance) }
}

fn flight(fog: &Fog, y: f32, slope: f32, depth: f32) -> f32 {
    let record = fog_record(Some(fog));
    // SAFETY: as above.
    unsafe { throng_probe_fog_flight(&raw const record, y, slope, depth) }
}

fn fog(density: f32, thinning: Option<Thinning>, top: Option<f32>) -> Fog {
    Fog { density, albedo: Vec3::ONE, anisotropy: 0.0, thinning, top }
}

fn fogs() -> [Fog; 6] {
    let thinning = |base, height| Some(Thinning { base, height });
    [
        fog(0.02, None, None),
        fog(0.3, None, Some(2.0)),
        fog(0.05, thinning(0.0, 12.0), None),
        fog(2.0, thinning(-3.0, 0.25), None),
        fog(0.001, thinning(1.0, 1000.0), Some(40.0)),
        fog(1e-8, thinning(0.0, 5.0), None),
    ]
}

const HEIGHTS: [f32; 8] = [-20.0, -3.0, 0.0, 0.5, 1.9, 7.0, 39.0, 500.0];
const SLOPES: [f32; 13] = [1.0, 0.6, 0.05, 1e-3, 1e-6, 1e-12, 0.0, -1e-12, -1e-6, -1e-3, -0.05, -0.6, -1.0];

fn density_at(fog: &Fog, y: f64) -> f64 {
    let is_above = fog.top.is_some_and(|top| y > f64::from(top));
    let thinned = fog.thinning.map_or(0.0, |t| ((y - f64::from(t.base)) / f64::from(t.height)).max(0.0));
    if is_above { 0.0 } else { f64::from(fog.density) * (-thinned).exp() }
}

/// Optical depth by the midpoint rule, split at heights where the density has a kink or a step.
fn integrated(fog: &Fog, y: f32, slope: f32, distance: f32) -> f64 {
    let (y, slope, distance) = (f64::from(y), f64::from(slope), f64::from(distance));
    let levels = [fog.thinning.map(|t| t.base), fog.top].into_iter().flatten();
    let mut cuts = vec![0.0, distance];
    cuts.extend(levels.map(|level| (f64::from(level) - y) / slope).filter(|t| (0.0..distance).contains(t)));
    cuts.sort_by(f64::total_cmp);
    let over = |a: f64, b: f64| {
        let step = (b - a) / 8000.0;
        (0..8000).map(|i| density_at(fog, y + slope * (a + (f64::from(i) + 0.5) * step)) * step).sum::<f64>()
    };
    cuts.windows(2).map(|pair| over(pair[0], pair[1])).sum()
}

#[test]
fn optical_depths_are_integrals_of_the_density() {
    for fog in fogs() {
        for (y, slope) in HEIGHTS.iter().flat_map(|&y| SLOPES.map(|slope| (y, slope))) {
            for distance in [1e-3, 0.7, 13.0, 90.0] {
                let (found, expected) =
                    (f64::from(depth(&fog, y, slope, distance)), integrated(&fog, y, slope, distance));
                // Rounding of heights changes the density.
                let scale = fog.thinning.map_or(1.0, |t| 1.0 + (y.abs() + distance) / t.height);
                let tolerance = 2e-4 * expected + 3e-7 * f64::from(scale) * expected + 1e-12;
                assert!((found - expected).abs() <= tolerance, "{fog:?} {y} {slope} {distance}: {found} {expected}");
            }
        }
    }
}

#[test]
fn flights_end_where_the_depth_is_reached() {
    for fog in fogs() {
        for (y, slope) in HEIGHTS.iter().flat_map(|&y| SLOPES.map(|slope| (y, slope))) {
            let total = depth(&fog, y, slope, f32::INFINITY);
            for target in [1e-6, 1e-3, 0.2, 1.0, 9.0, 16.0] {
                let flown = flight(&fog, y, slope, target);
                if target > total * 1.0001 {
                    assert_eq!(flown, f32::INFINITY, "{fog:?} {y} {slope} {target} {total}");
                } else if target < total * 0.9999 {
                    let reached = depth(&fog, y, slope, flown);
                    assert!(flown.is_finite() && flown >= 0.0, "{fog:?} {y} {slope} {target}: {flown}");
                    // Effect of rounding the distance, and thus the height, at the end of the flight.
                    let end = f64::from(y) + f64::from(slope) * f64::from(flown);
                    let rounding = f64::from(flown.max(y.abs())) * 1e-6;
                    let tolerance = 1e-5 * target + (density_at(&fog, end - rounding) * rounding) as f32;
                    assert!(
                        (reached - target).abs() <= tolerance,
                        "{fog:?} {y} {slope} {target}: {reached} at {flown}"
                    );
                }
            }
        }
    }
}

#[test]
fn infinite_rays_have_their_depth_in_closed_form() {
    let thinning = Thinning { base: 1.0, height: 12.0 };
    let fog = fog(0.05, Some(thinning), None);
    let up = |y: f32, slope: f32| depth(&fog, y, slope, f32::INFINITY);
    assert!((up(1.0, 1.0) - 0.6).abs() < 1e-6);
    assert!((up(13.0, 0.5) - 1.2 / std::f32::consts::E).abs() < 1e-6);
    assert!((up(-9.0, 1.0) - 1.1).abs() < 1e-6);
    assert_eq!(up(5.0, -0.1), f32::INFINITY);
    assert!(up(0.0, 0.0) > 1e15, "level rays stay in it");
    let slab = Fog { thinning: None, top: Some(4.0), ..fog };
    assert!((depth(&slab, 0.0, 0.5, f32::INFINITY) - 0.4).abs() < 1e-6);
    assert_eq!(depth(&slab, 5.0, 0.0, f32::INFINITY), 0.0);
    let endless = Fog { thinning: None, ..fog };
    assert_eq!(depth(&endless, 0.0, 1.0, f32::INFINITY), f32::INFINITY);
    assert_eq!(fog_record(None).density, 0.0);
}

#[test]
fn exponentials_are_those_of_the_library() {
    for x in (0..3000).map(|i| 1e-7_f64 * 1.008_f64.powi(i)).take_while(|&x| x < 86.0) {
        let mut found = [0.0; 3];
        // SAFETY: three floats are written.
        unsafe { throng_probe_exponentials(x as f32, found.as_mut_ptr()) };
        let x = f64::from(x as f32);
        let expected = [(-x).exp(), -(-x).exp_m1() / x, x.ln_1p() / x];
        for (found, expected) in found.into_iter().zip(expected) {
            // The argument of the first function has the rounding error of a sum.
            let tolerance = expected * (4e-7 + 1.2e-7 * x);
            assert!((f64::from(found) - expected).abs() <= tolerance, "{x}: {found} {expected}");
        }
    }
}

#[test]
fn the_phase_function_is_a_pdf_with_the_mean_that_it_is_sampled_with() {
    // SAFETY: plain arithmetic, here and below.
    let pdf = |g, cosine| unsafe { throng_probe_phase_pdf(g, cosine) };
    // SAFETY: as above.
    let sample = |g, u| unsafe { throng_probe_sample_phase(g, u) };
    for g in [-0.9, -0.3, 0.0, 1e-4, 0.5, 0.97] {
        let steps = 200_000;
        let cosines = (0..steps).map(|i| -1.0 + 2.0 * (f64::from(i) + 0.5) / f64::from(steps));
        let (mut total, mut mean) = (0.0, 0.0);
        for cosine in cosines {
            let share = f64::from(pdf(g, cosine as f32)) * 4.0 * std::f64::consts::PI / f64::from(steps);
            total += share;
            mean += share * cosine;
        }
        assert!((total - 1.0).abs() < 1e-3 && (mean - f64::from(g)).abs() < 1e-3, "{g}: {total} {mean}");
        let sampled: f64 = (0..10_000).map(|i| f64::from(sample(g, (i as f32 + 0.5) / 10_000.0))).sum();
        assert!((sampled / 10_000.0 - f64::from(g)).abs() < 1e-3, "{g}: {sampled}");
    }
}
