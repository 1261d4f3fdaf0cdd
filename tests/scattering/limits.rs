//! Smooth surfaces follow Fresnel's equations, and rough surfaces converge to them.

use crate::common::*;
use glam::Vec3;
use throng_device::probe::{ProbeSample, ProbeSurface, evaluate, fresnel, sample};

/// Mean weights of reflected and of transmitted delta samples.
fn split(surface: &ProbeSurface, out: Vec3) -> (f32, f32) {
    let points = even_points(4096);
    let samples = sample(surface, out.into(), &points);
    let sum = |transmitted: u32| {
        let chosen = samples.iter().filter(|s| s.pdf == f32::INFINITY && s.transmitted == transmitted);
        chosen.map(|s| f64::from(s.weight[1])).sum::<f64>() / points.len() as f64
    };
    (sum(0) as f32, sum(1) as f32)
}

fn first(surface: &ProbeSurface, out: Vec3, wanted: impl Fn(&ProbeSample) -> bool) -> ProbeSample {
    let samples = sample(surface, out.into(), &even_points(1024));
    samples.into_iter().find(|s| s.pdf > 0.0 && wanted(s)).expect("such a sample is found")
}

fn assert_along(found: [f32; 3], wanted: Vec3) {
    assert!(Vec3::from(found).distance(wanted) < 1e-5, "{found:?}, not {wanted}");
}

#[test]
fn smooth_glass_splits_light_as_fresnel_says() {
    for cosine in [1.0, 0.7, 0.4, 0.15] {
        let out = direction(cosine, 0.3);
        let share = fresnel(cosine, 1.5);
        let (reflected, transmitted) = split(&glass(0.0), out);
        assert!((reflected - share).abs() < 2e-3, "{reflected}, not {share}");
        assert!((transmitted - (1.0 - share) / 2.25).abs() < 2e-3);
        let (reflected, transmitted) = split(&thin_glass(0.0), out);
        assert!((reflected - share).abs() < 2e-3 && (transmitted - (1.0 - share)).abs() < 2e-3);
        let (reflected, _) = split(&dielectric(0.0), out);
        assert!((reflected - share).abs() < 2e-3);
    }
}

#[test]
fn fresnels_equations_are_those_of_the_textbook() {
    let textbook = |cosine: f64, eta: f64| {
        let within = (1.0 - (1.0 - cosine * cosine) / (eta * eta)).sqrt();
        let s = (cosine - eta * within) / (cosine + eta * within);
        let p = (eta * cosine - within) / (eta * cosine + within);
        0.5 * (s * s + p * p)
    };
    for eta in [1.1, 1.5, 2.4, 0.9] {
        for cosine in [1.0, 0.8, 0.5] {
            assert!((f64::from(fresnel(cosine as f32, eta as f32)) - textbook(cosine, eta)).abs() < 1e-5);
        }
    }
    assert_eq!(fresnel(0.3, 1.0 / 1.5), 1.0);
}

#[test]
fn smooth_surfaces_reflect_and_refract_in_the_textbooks_directions() {
    let out = direction(0.6, 0.3);
    let mirrored = Vec3::new(-out.x, -out.y, out.z);
    assert_along(first(&metal(0.0), out, |_| true).direction, mirrored);
    assert_along(first(&thin_glass(0.0), out, |s| s.transmitted == 1).direction, -out);
    let bent = Vec3::new(-out.x / 1.5, -out.y / 1.5, -(1.0 - 0.64_f32 / 2.25).sqrt());
    assert_along(first(&glass(0.0), out, |s| s.transmitted == 1).direction, bent);
}

#[test]
fn steep_light_within_glass_is_reflected_altogether() {
    let out = direction(0.5, 0.3);
    let (reflected, transmitted) = split(&within_glass(0.0), out);
    assert!((reflected - 1.0).abs() < 1e-5 && transmitted == 0.0);
}

#[test]
fn perfect_mirrors_and_windows_count_for_nothing_when_evaluated() {
    let out = direction(0.6, 0.3);
    let mirrored = [-out.x, -out.y, out.z];
    for surface in [metal(0.0), thin_glass(0.0), glass(0.0)] {
        assert_eq!(evaluate(&surface, out.into(), &[mirrored, (-out).into()]), [[0.0; 4]; 2]);
    }
}

#[test]
fn blue_light_is_bent_more_than_red() {
    let surface = glass(0.0).with(|l| l.dispersion = 1.0);
    let out = direction(0.5, 0.0);
    let bent = |channel: usize| {
        let only = |s: &ProbeSample| {
            s.transmitted == 1 && s.weight[channel] > 0.0 && s.weight.iter().filter(|&&w| w > 0.0).count() == 1
        };
        -first(&surface, out, only).direction[0]
    };
    let sine = 0.75_f32.sqrt();
    for (channel, ior) in [(0, 1.4875), (1, 1.5), (2, 1.5125)] {
        assert!((bent(channel) - sine / ior).abs() < 1e-4);
    }
}

#[test]
fn an_ior_of_one_is_invisible() {
    let out = direction(0.2, 0.3);
    let surface = glass(0.5).with(|l| l.ior = 1.0);
    let (reflected, transmitted) = split(&surface, out);
    assert!(reflected < 1e-6 && (transmitted - 1.0).abs() < 1e-5);
    assert_along(first(&surface, out, |_| true).direction, -out);
}
