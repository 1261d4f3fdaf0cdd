//! Weights of samples where the shading normal is far off the triangle's, as on smooth meshes of few faces.

use crate::common::*;
use glam::Vec3;
use std::f32::consts::TAU;
use throng_device::probe::{ProbeSurface, sample};

const ROUGHNESS: [f32; 7] = [0.05, 0.08, 0.12, 0.16, 0.3, 0.6, 1.0];

/// A name, and the surface of a roughness.
type Kind = (&'static str, fn(f32) -> ProbeSurface);

fn surfaces() -> Vec<Named> {
    let kinds: [Kind; 7] = [
        ("metal", metal),
        ("dielectric", dielectric),
        ("coat", coated),
        ("thin glass", thin_glass),
        ("glass", glass),
        ("glass from within", within_glass),
        ("half a metal", |r| metal(r).with(|l| l.metallic = 0.5)),
    ];
    kinds.into_iter().flat_map(|(name, kind)| ROUGHNESS.map(|r| (name, kind(r)))).collect()
}

/// Greatest weight of a sample. Facets of a dielectric reflect up to ten times as much at grazing angles as on average, for which the probability of
/// reflection is chosen.
fn greatest(name: &str) -> f32 {
    if ["dielectric", "coat"].contains(&name) { 10.0 } else { 5.0 }
}

/// A direction of the upper hemisphere, often at a grazing angle.
fn any_view(random: &mut Random) -> Vec3 {
    direction(random.next().powi(2).max(1e-4), TAU * random.next())
}

/// Weights of many samples of a surface, each seen from anywhere, with a normal of up to 60 degrees off the triangle's in any direction.
fn weights(surface: &ProbeSurface, tilt: f32, lifted: bool) -> Vec<f32> {
    let mut random = Random(11);
    let ior2 = if surface.lobes.thin == 1 { 1.0 } else { surface.lobes.ior.powi(2) };
    // Radiance changes by the square of the ior on the way through an interface.
    let scale = if surface.front == 1 { ior2 } else { 1.0 / ior2 };
    let triples: Vec<[f32; 3]> = (0..64).map(|_| random.triple()).collect();
    let of_view = |_| {
        let normal = direction((tilt.to_radians() * random.next()).cos(), TAU * random.next());
        let found = sample(&with_normal(*surface, normal, lifted), any_view(&mut random).into(), &triples);
        found.into_iter().map(|s| s.weight[1] * if s.transmitted == 1 { scale } else { 1.0 }).collect::<Vec<_>>()
    };
    (0..3000).flat_map(of_view).collect()
}

#[test]
fn no_sample_has_a_multiple_of_the_light() {
    let mut wrong = Vec::new();
    for (name, surface) in surfaces() {
        for (tilt, lifted) in [(0.0, false), (60.0, false), (60.0, true)] {
            let found = weights(&surface, tilt, lifted).into_iter().fold(0.0, f32::max);
            if found > greatest(name) {
                let roughness = surface.lobes.roughness;
                wrong.push(format!("{name} of roughness {roughness}, tilted by {tilt}, lifted {lifted}: {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// On a smooth surface, light that leaves behind the triangle counts; on a flat one with a tilted normal, it is lost. Light that a thin wall should
/// transmit to the viewer's side is always lost.
#[test]
fn bent_normals_add_no_light_and_smooth_surfaces_lose_little() {
    let mut wrong = Vec::new();
    for (name, surface) in surfaces() {
        let kept = if surface.lobes.transmission > 0.0 { 0.8 } else { 0.9 };
        for (lifted, least) in [(false, 0.0), (true, kept)] {
            let weights = weights(&surface, 60.0, lifted);
            let mean = weights.iter().map(|&w| f64::from(w)).sum::<f64>() / weights.len() as f64;
            if !(least..=1.01).contains(&mean) {
                let roughness = surface.lobes.roughness;
                wrong.push(format!("{name} of roughness {roughness}, lifted {lifted}: {mean:.4}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
