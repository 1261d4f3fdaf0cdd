//! Reciprocity of scattering.

use crate::common::*;
use glam::Vec3;
use throng_device::probe::{ProbeSurface, evaluate};

/// BSDF value, without the cosine factor.
fn value(surface: &ProbeSurface, out: Vec3, direction: Vec3) -> Vec3 {
    let [r, g, b, _] = evaluate(surface, out.into(), &[direction.into()])[0];
    Vec3::new(r, g, b) / direction.z.abs()
}

fn assert_close(name: &str, there: Vec3, back: Vec3) {
    let difference = (there - back).abs().max_element();
    assert!(difference <= 2e-3 * there.max_element().max(1e-3), "{name}: {there} there, {back} back");
}

fn above(random: &mut Random) -> Vec3 {
    direction(0.02 + 0.98 * random.next(), std::f32::consts::TAU * random.next())
}

/// Coats and sheen are omitted: following glTF, they attenuate lower layers by the albedo towards the viewer only, which is not reciprocal.
#[test]
fn reflection_is_reciprocal() {
    let color = [0.9, 0.5, 0.2];
    let surfaces = [
        ("metal", ProbeSurface { color, ..metal(0.4) }),
        ("brushed metal", ProbeSurface { color, ..brushed(0.5, 0.8) }),
        ("dielectric", ProbeSurface { color, ..dielectric(0.6) }),
        (
            "tinted dielectric",
            dielectric(0.3).with(|l| {
                l.specular_color = color;
                l.specular = 0.7;
            }),
        ),
        ("half metal", ProbeSurface { color, ..dielectric(0.7).with(|l| l.metallic = 0.5) }),
        ("thin glass", ProbeSurface { color, ..thin_glass(0.5) }),
        ("glass", ProbeSurface { color, ..glass(0.5) }),
        ("glass from within", ProbeSurface { color, ..within_glass(0.5) }),
        ("iridescent metal", ProbeSurface { color, ..iridescent(metal(0.5)) }),
    ];
    let mut random = Random(1);
    for (name, surface) in surfaces {
        for _ in 0..500 {
            let (a, b) = (above(&mut random), above(&mut random));
            assert_close(name, value(&surface, a, b), value(&surface, b, a));
        }
    }
}

#[test]
fn sheen_is_reciprocal_by_itself() {
    let surface = ProbeSurface { color: [0.0; 3], ..cloth(0.4).with(|l| l.specular = 0.0) };
    let mut random = Random(2);
    for _ in 0..500 {
        let (a, b) = (above(&mut random), above(&mut random));
        assert_close("sheen", value(&surface, a, b), value(&surface, b, a));
    }
}

#[test]
fn thin_walls_let_through_as_much_in_both_directions() {
    for (name, surface) in [("glass", thin_glass(0.5)), ("leaf", leaf())] {
        let mut random = Random(3);
        for _ in 0..500 {
            let (a, b) = (above(&mut random), above(&mut random));
            // Turning everything over gives the coordinates of the other side.
            let turned = |v: Vec3| Vec3::new(v.x, -v.y, -v.z);
            assert_close(name, value(&surface, a, -b), value(&surface, turned(-b), turned(a)));
        }
    }
}

/// Across a refracting surface, radiance divided by the squared ior is invariant.
#[test]
fn refraction_is_reciprocal_but_for_the_squares_of_the_iors() {
    for roughness in [0.3, 0.6, 1.0] {
        let (outside, within) = (glass(roughness), within_glass(roughness));
        let mut random = Random(4);
        for _ in 0..2000 {
            let (a, b) = (above(&mut random), above(&mut random));
            let turned = |v: Vec3| Vec3::new(v.x, -v.y, -v.z);
            let there = value(&outside, a, -b) * 2.25;
            let back = value(&within, turned(-b), turned(a));
            assert_close(&format!("glass of roughness {roughness}"), there, back);
        }
    }
}
