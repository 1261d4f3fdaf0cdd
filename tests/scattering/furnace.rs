//! White furnace tests: in a uniform environment, a surface without absorption has the environment's radiance.

use crate::common::*;
use throng_device::probe::{ProbeSurface, sample};

const POINTS: u32 = 1 << 17;
const COSINES: [f32; 5] = [1.0, 0.8, 0.5, 0.2, 0.1];
const AZIMUTHS: [f32; 3] = [0.0, 0.8, 1.57];

/// Albedo, averaged over the colours.
fn albedo(surface: &ProbeSurface, cosine: f32, azimuth: f32, random: &[[f32; 3]]) -> f64 {
    let colors = albedo_of_colors(surface, cosine, azimuth, random);
    colors.iter().sum::<f64>() / 3.0
}

/// Directional albedo of each colour. Radiance increases by the square of the ior on entering glass; this factor is divided out.
fn albedo_of_colors(surface: &ProbeSurface, cosine: f32, azimuth: f32, random: &[[f32; 3]]) -> [f64; 3] {
    let out = direction(cosine, azimuth).into();
    let ior = if surface.front == 1 { surface.lobes.ior } else { 1.0 / surface.lobes.ior };
    let pdf_of_light = if surface.lobes.thin == 1 { 1.0 } else { f64::from(ior * ior) };
    let samples = sample(surface, out, random);
    let mut sums = [0.0; 3];
    for s in &samples {
        let scale = if s.transmitted == 1 { pdf_of_light } else { 1.0 };
        for (sum, weight) in sums.iter_mut().zip(s.weight) {
            *sum += scale * f64::from(weight);
        }
    }
    sums.map(|sum| sum / f64::from(POINTS))
}

/// Describes the directions in which the albedo of `surface` lies outside `least..=most`.
fn outside(name: &str, surface: &ProbeSurface, least: f64, most: f64) -> Vec<String> {
    let random = even_points(POINTS);
    let azimuths = if surface.lobes.anisotropy > 0.0 { &AZIMUTHS[..] } else { &AZIMUTHS[1..2] };
    let mut wrong = Vec::new();
    for &azimuth in azimuths {
        for cosine in COSINES {
            let albedo = albedo(surface, cosine, azimuth, &random);
            if !(least..=most).contains(&albedo) {
                wrong.push(format!("{name} at cosine {cosine}, azimuth {azimuth}: {albedo:.4}"));
            }
        }
    }
    wrong
}

fn assert_white(surfaces: &[(String, ProbeSurface)]) {
    assert_within(surfaces, 0.995);
}

fn assert_within(surfaces: &[(String, ProbeSurface)], least: f64) {
    let wrong: Vec<String> = surfaces.iter().flat_map(|(name, surface)| outside(name, surface, least, 1.002)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn by_roughness(name: &str, roughness: &[f32], surface: impl Fn(f32) -> ProbeSurface) -> Vec<(String, ProbeSurface)> {
    roughness.iter().map(|&r| (format!("{name} of roughness {r}"), surface(r))).collect()
}

#[test]
fn white_metal_loses_nothing() {
    assert_white(&by_roughness("metal", &[0.0, 0.15, 0.3, 0.5, 0.75, 1.0], metal));
}

#[test]
fn a_white_dielectric_loses_nothing() {
    let mut surfaces = by_roughness("dielectric", &[0.0, 0.15, 0.3, 0.5, 0.75, 1.0], dielectric);
    for ior in [1.0, 1.2, 1.33, 1.8, 2.4] {
        surfaces.push((format!("ior {ior}"), dielectric(0.4).with(|l| l.ior = ior)));
    }
    surfaces.push(("leaf".into(), leaf()));
    assert_white(&surfaces);
}

#[test]
fn brushed_white_metal_loses_next_to_nothing() {
    for anisotropy in [0.3, 0.6, 1.0] {
        let name = format!("metal of anisotropy {anisotropy}");
        assert_within(&by_roughness(&name, &[0.3, 0.5, 0.8], |r| brushed(r, anisotropy)), 0.995);
    }
}

#[test]
fn coats_and_sheen_take_from_what_is_below_what_they_reflect() {
    assert_white(&by_roughness("coat", &[0.0, 0.3, 0.6, 1.0], coated));
    assert_white(&by_roughness("sheen", &[0.3, 0.5, 0.7, 1.0], cloth));
    assert_white(&by_roughness("coat on metal", &[0.0, 0.5, 1.0], |r| coated(r).with(|l| l.metallic = 1.0)));
}

#[test]
fn thin_glass_loses_nothing() {
    assert_white(&by_roughness("thin glass", &[0.0, 0.2, 0.5, 0.75, 1.0], thin_glass));
}

#[test]
fn glass_loses_nothing_from_either_side() {
    let roughness = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
    assert_white(&by_roughness("glass", &roughness, glass));
    assert_white(&by_roughness("glass from within", &roughness, within_glass));
    for ior in [1.33, 2.4] {
        assert_white(&by_roughness(&format!("ior {ior}"), &[0.0, 0.5], |r| glass(r).with(|l| l.ior = ior)));
    }
}

#[test]
fn iridescent_white_metal_loses_nothing() {
    assert_white(&by_roughness("iridescent metal", &[0.0, 0.3, 0.6], |r| iridescent(metal(r))));
}

#[test]
fn mixtures_lose_nothing() {
    let half = leaf().with(|l| {
        l.metallic = 0.5;
        l.transmission = 0.5;
    });
    let solid = half.with(|l| {
        l.thin = 0;
        l.diffuse_transmission = 0.0;
    });
    assert_white(&[("half of all, thin".into(), half), ("half of all, solid".into(), solid)]);
}

/// Tested per colour, because thin films reflect some colours and transmit others.
#[test]
fn iridescent_dielectrics_lose_nothing() {
    let random = even_points(POINTS);
    let mut wrong = Vec::new();
    for thickness in [100.0, 250.0, 400.0, 700.0] {
        for roughness in [0.0, 0.15, 0.3, 0.6, 1.0] {
            for iridescence in [1.0, 0.4] {
                let surface = iridescent(dielectric(roughness)).with(|l| {
                    l.iridescence = iridescence;
                    l.iridescence_thickness = [thickness; 2];
                });
                for cosine in COSINES {
                    let colors = albedo_of_colors(&surface, cosine, 0.8, &random);
                    if colors.iter().any(|c| !(0.995..=1.002).contains(c)) {
                        wrong.push(format!(
                            "{iridescence} of {thickness} nm, roughness {roughness}, cosine {cosine}: {colors:.4?}"
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn iridescent_glass_loses_nothing() {
    let panes = by_roughness("iridescent pane", &[0.0, 0.3, 0.6], |r| iridescent(glass(r)).with(|l| l.thin = 1));
    assert_white(&panes);
    assert_white(&by_roughness("iridescent glass", &[0.0, 0.3, 0.6], |r| iridescent(glass(r))));
}

#[test]
fn prisms_lose_nothing() {
    let surface = glass(0.3).with(|l| l.dispersion = 1.0);
    assert_white(&[("prism".into(), surface)]);
}
