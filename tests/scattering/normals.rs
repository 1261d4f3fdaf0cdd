//! Shading normals that differ from the geometric normal.

use crate::common::*;
use glam::Vec3;
use std::f32::consts::PI;
use throng_device::probe::{ProbeSurface, bend_normal, evaluate, sample};

/// A unit vector within about 50 degrees of +z.
fn tilted(random: &mut Random) -> Vec3 {
    direction(0.65 + 0.35 * random.next(), std::f32::consts::TAU * random.next())
}

#[test]
fn a_bent_normal_mirrors_the_viewer_to_the_outside() {
    let mut random = Random(5);
    for _ in 0..20_000 {
        let out = direction(0.005 + 0.995 * random.next(), std::f32::consts::TAU * random.next());
        let normal = tilted(&mut random);
        let bent = Vec3::from(bend_normal(normal.into(), [0.0, 0.0, 1.0], out.into()));
        let mirrored = bent * (2.0 * out.dot(bent)) - out;
        assert!((bent.length() - 1.0).abs() < 1e-4);
        assert!(bent.dot(out) > 0.0 && mirrored.z > 0.0, "{normal} seen from {out} became {bent}");
        let before = normal * (2.0 * out.dot(normal)) - out;
        if before.z > 0.011 {
            assert_eq!(bent, normal);
        }
    }
}

/// Light must not leak through a surface: samples and values are on the side that they report.
#[test]
fn light_on_the_wrong_side_of_the_geometry_counts_for_nothing() {
    let mut random = Random(6);
    for _ in 0..300 {
        let normal = tilted(&mut random);
        let out = direction(0.02 + 0.98 * random.next(), std::f32::consts::TAU * random.next());
        let surface = ProbeSurface {
            normal: normal.into(),
            clearcoat_normal: normal.into(),
            ..metal(0.5).with(|l| l.clearcoat = 0.5)
        };
        for s in sample(&surface, out.into(), &even_points(64)) {
            assert!(s.pdf == 0.0 || (s.direction[2] > 0.0 && s.transmitted == 0));
        }
        let below: Vec<[f32; 3]> = (0..64).map(|_| (-above(&mut random)).into()).collect();
        assert!(evaluate(&surface, out.into(), &below).iter().all(|v| *v == [0.0; 4]));
        let window = surface.with(|l| {
            l.metallic = 0.0;
            l.transmission = 1.0;
            l.thin = 0;
        });
        for s in sample(&window, out.into(), &even_points(64)) {
            assert!(s.pdf == 0.0 || (s.direction[2] < 0.0) == (s.transmitted == 1));
        }
    }
}

fn above(random: &mut Random) -> Vec3 {
    direction(0.01 + 0.99 * random.next(), std::f32::consts::TAU * random.next())
}

/// Otherwise, light on a surface with a normal map ends in a hard line where the surface turns away from the light.
#[test]
fn light_fades_towards_the_horizon_of_the_surface_where_a_map_turns_the_normal_away() {
    let diffuse = ProbeSurface::default().with(|l| {
        l.specular = 0.0;
        l.roughness = 1.0;
    });
    let value = |normal: Vec3, shading: Vec3, light: Vec3| {
        let surface = ProbeSurface { normal: normal.into(), shading: shading.into(), ..diffuse };
        let out = direction(0.8, 1.5);
        evaluate(&surface, out.into(), &[light.into()])[0][0]
    };
    for tilt in [0.3f32, 0.8, 1.2] {
        let normal = direction(tilt.cos(), 0.0);
        // Squared roughness of the facets, and their share of the light from `cosine` (Conty Estevez et al. 2019).
        let alpha2 = (0.125 * tilt.tan().powi(2)).min(1.0);
        let mut last = 0.0;
        for cosine in [0.001f32, 0.05, 0.2, 0.5, 0.9] {
            let light = direction(cosine, 0.0);
            let share = value(normal, Vec3::Z, light) / value(normal, normal, light);
            let tangent2 = 1.0 / (cosine * cosine) - 1.0;
            let expected = 2.0 / (1.0 + (1.0 + alpha2 * tangent2).sqrt());
            assert!((share - expected).abs() < 1e-3, "{tilt} {cosine}: {share} {expected}");
            assert!(share > last && share <= 1.0);
            last = share;
        }
        assert!(value(normal, Vec3::Z, direction(0.001, 0.0)) < 0.02);
    }
}

#[test]
fn light_behind_the_shading_normal_is_not_scattered_where_that_is_seen_from_behind() {
    let normal = direction(0.2, 0.0);
    let surface = ProbeSurface {
        normal: normal.into(),
        shading: normal.into(),
        ..ProbeSurface::default().with(|l| {
            l.specular = 0.0;
            l.roughness = 1.0;
        })
    };
    // For reflections, the normal is bent towards the viewer; the light is then in front of it.
    let (out, light) = (direction(0.1, PI), direction(0.3, PI));
    assert!(normal.dot(out) < 0.0 && normal.dot(light) < 0.0);
    assert_eq!(evaluate(&surface, out.into(), &[light.into()])[0][..3], [0.0; 3]);
}
