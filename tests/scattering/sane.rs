//! Random inputs always give finite values.

use crate::common::*;
use glam::Vec3;
use throng::scene::Lobes;
use throng_device::probe::{ProbeSurface, evaluate, sample};

/// A random number from 0 to 1, often one of the limits.
fn anything(random: &mut Random) -> f32 {
    match (random.next() * 4.0) as u32 {
        0 => 0.0,
        1 => 1.0,
        _ => random.next(),
    }
}

fn any_color(random: &mut Random) -> [f32; 3] {
    [anything(random), anything(random), anything(random)]
}

fn any_normal(random: &mut Random) -> [f32; 3] {
    match (random.next() * 2.0) as u32 {
        0 => [0.0, 0.0, 1.0],
        _ => direction(random.next(), std::f32::consts::TAU * random.next()).into(),
    }
}

fn any_surface(random: &mut Random) -> ProbeSurface {
    ProbeSurface {
        normal: any_normal(random),
        clearcoat_normal: any_normal(random),
        tangent: random.direction().into(),
        geometric: [0.0, 0.0, 1.0],
        shading: any_normal(random),
        color: any_color(random),
        lobes: any_lobes(random),
        front: u32::from(random.next() < 0.5),
        lifted: u32::from(random.next() < 0.5),
        hair: 0,
    }
}

fn any_lobes(random: &mut Random) -> Lobes {
    Lobes {
        specular_color: any_color(random).map(|c| 2.0 * c),
        diffuse_transmission_color: any_color(random),
        sheen_color: any_color(random),
        metallic: anything(random),
        roughness: anything(random) * if random.next() < 0.3 { 0.05 } else { 1.0 },
        ior: [0.0, 1.0, 1.0005, 1.01, 1.5, 2.5, 10.0, 1000.0][(random.next() * 8.0) as usize],
        dispersion: anything(random) * 5.0,
        specular: anything(random),
        transmission: anything(random),
        diffuse_transmission: anything(random),
        clearcoat: anything(random),
        clearcoat_roughness: anything(random),
        sheen_roughness: anything(random),
        iridescence: anything(random),
        iridescence_ior: 1.0 + anything(random) * 2.0,
        iridescence_thickness: [anything(random) * 2000.0; 2],
        anisotropy: anything(random),
        thin: u32::from(random.next() < 0.5),
        ..Lobes::default()
    }
}

/// A random direction above the surface, sometimes at grazing angles.
fn any_view(random: &mut Random) -> Vec3 {
    let cosine = [1.0, 1e-6, 1e-3, random.next().max(1e-6)][(random.next() * 4.0) as usize];
    direction(cosine, std::f32::consts::TAU * random.next())
}

#[test]
fn random_materials_scatter_finite_light() {
    let mut random = Random(8);
    for _ in 0..20_000 {
        let (surface, out) = (any_surface(&mut random), any_view(&mut random));
        let mut directions: Vec<[f32; 3]> = (0..8).map(|_| random.direction().into()).collect();
        directions.extend([[0.0, 0.0, 1.0], [-out.x, -out.y, out.z], (-out).into(), [1.0, 0.0, 0.0]]);
        for value in evaluate(&surface, out.into(), &directions) {
            assert!(value.iter().all(|v| v.is_finite() && *v >= 0.0), "{value:?} of {surface:?} from {out}");
        }
        let triples: Vec<[f32; 3]> = (0..8).map(|_| random.triple()).collect();
        for s in sample(&surface, out.into(), &triples) {
            let fine = s.weight.iter().all(|w| w.is_finite() && *w >= 0.0) && s.pdf >= 0.0;
            let unit = s.pdf == 0.0 || (Vec3::from(s.direction).length() - 1.0).abs() < 1e-3;
            assert!(fine && unit, "{s:?} of {surface:?} from {out}");
        }
    }
}

#[test]
fn weights_are_values_over_pdfs() {
    let mut random = Random(9);
    for _ in 0..2000 {
        let (surface, out) = (any_surface(&mut random), any_view(&mut random));
        let triples: Vec<[f32; 3]> = (0..16).map(|_| random.triple()).collect();
        for s in sample(&surface, out.into(), &triples) {
            if s.pdf == 0.0 || s.pdf == f32::INFINITY {
                continue;
            }
            let [r, g, b, pdf] = evaluate(&surface, out.into(), &[s.direction])[0];
            assert_eq!(pdf, s.pdf);
            let weight = Vec3::new(r, g, b) / pdf;
            assert!(weight.abs_diff_eq(s.weight.into(), 1e-4 * weight.max_element()), "{s:?}: {weight}");
        }
    }
}
