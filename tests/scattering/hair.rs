//! Hair: the formulae of Chiang et al. 2016 in double precision, energy, reciprocity and colours.

use crate::common::*;
use glam::{DVec3, Vec3};
use std::f64::consts::{PI, TAU};
use throng::scene::{hair_color, melanin_absorption};
use throng_device::probe::{ProbeSurface, evaluate, sample};

/// The parameters of a fibre, with the absorption in place of the colour.
#[derive(Clone, Copy, Debug)]
struct Fibre {
    along: f64,
    around: f64,
    tilt: f64,
    ior: f64,
    coat: f64,
    absorption: DVec3,
}

impl Fibre {
    fn any(random: &mut Random) -> Self {
        let mut within = |least: f32, most: f32| f64::from(least + (most - least) * random.next());
        Self {
            along: within(0.1, 1.0),
            around: within(0.1, 1.0),
            tilt: within(-0.2, 0.2),
            ior: within(1.3, 1.7),
            coat: within(0.0, 0.5),
            absorption: DVec3::new(within(0.0, 0.2), within(0.0, 1.0), within(0.0, 4.0)),
        }
    }

    fn white(self) -> Self {
        Self { absorption: DVec3::ZERO, ..self }
    }

    /// The fibre along x, hit at a point with this normal.
    fn surface(&self, normal: DVec3) -> ProbeSurface {
        let surface = ProbeSurface {
            hair: 1,
            shading: normal.as_vec3().into(),
            geometric: normal.as_vec3().into(),
            color: hair_color(self.absorption.as_vec3(), self.around as f32).into(),
            ..ProbeSurface::default()
        };
        surface.with(|l| {
            l.roughness = self.along as f32;
            l.azimuthal_roughness = self.around as f32;
            l.cuticle_tilt = self.tilt as f32;
            l.ior = self.ior as f32;
            l.clearcoat = self.coat as f32;
        })
    }

    /// The BSDF times the cosine, by the formulae of pbrt's `HairBxDF` (Pharr, Jakob and Humphreys 2023, 9.9), with the coat of Cycles. Azimuths
    /// are those of pbrt; its tilt has the other sign.
    fn value(&self, normal: DVec3, out: DVec3, to: DVec3) -> DVec3 {
        let h = -normal.dot(DVec3::X.cross(out).normalize());
        let (sine_out, sine_in) = (out.x, to.x);
        let (cosine_out, cosine_in) = ((1.0 - sine_out * sine_out).sqrt(), (1.0 - sine_in * sine_in).sqrt());
        let azimuth = to.z.atan2(to.y) - out.z.atan2(out.y);
        let modified = (self.ior * self.ior - sine_out * sine_out).sqrt() / cosine_out;
        let (outer, inner) = (h.asin(), (h / modified).asin());
        let path = 2.0 * inner.cos() / (1.0 - (sine_out / self.ior).powi(2)).sqrt();
        let passed = (-self.absorption * path).exp();
        let fresnel = textbook_fresnel(cosine_out * outer.cos(), self.ior);
        let shares = shares(fresnel, passed);
        let scale =
            (PI / 8.0).sqrt() * (0.265 * self.around + 1.194 * self.around.powi(2) + 5.372 * self.around.powi(22));
        let variance = |r: f64| (0.726 * r + 0.812 * r * r + 3.7 * r.powi(20)).powi(2);
        let plain = variance(self.along);
        let variances = [variance(self.along * (1.0 - self.coat)), 0.25 * plain, 4.0 * plain, 4.0 * plain];
        let turns = [2.0, -1.0, -4.0, 0.0].map(|turn| turn * self.tilt);
        let mut sum = DVec3::ZERO;
        for (p, ((share, variance), turn)) in shares.into_iter().zip(variances).zip(turns).enumerate() {
            let (order, inclination) = (p as f64, sine_out.asin() + turn);
            let along = longitudinal(sine_in, cosine_in, inclination.sin(), inclination.cos().abs(), variance);
            let maximum = 2.0 * order * inner - 2.0 * outer + order * PI;
            let around = if p < 3 { azimuthal(azimuth - maximum, scale) } else { 1.0 / TAU };
            sum += share * along * around;
        }
        sum
    }
}

fn textbook_fresnel(cosine: f64, ior: f64) -> f64 {
    let within = (1.0 - (1.0 - cosine * cosine) / (ior * ior)).sqrt();
    let s = (cosine - ior * within) / (cosine + ior * within);
    let p = (ior * cosine - within) / (ior * cosine + within);
    0.5 * (s * s + p * p)
}

fn shares(fresnel: f64, passed: DVec3) -> [DVec3; 4] {
    let through = (1.0 - fresnel).powi(2) * passed;
    let again = through * passed * fresnel;
    [DVec3::splat(fresnel), through, again, again * fresnel * passed / (DVec3::ONE - passed * fresnel)]
}

fn longitudinal(sine_in: f64, cosine_in: f64, sine_out: f64, cosine_out: f64, v: f64) -> f64 {
    let (a, b) = (cosine_in * cosine_out / v, sine_in * sine_out / v);
    // 2 v sinh(1 / v), without its factor exp(1 / v).
    let normalization = v * (1.0 - (-2.0 / v).exp());
    (a - b - 1.0 / v).exp() * scaled_bessel(a) / normalization
}

/// exp(-x) I0(x), from the integral that defines it.
fn scaled_bessel(x: f64) -> f64 {
    let steps = 4000;
    let at = |i: usize| (x * ((PI * (i as f64 + 0.5) / f64::from(steps)).cos() - 1.0)).exp();
    (0..steps as usize).map(at).sum::<f64>() / f64::from(steps)
}

fn azimuthal(angle: f64, scale: f64) -> f64 {
    let angle = (angle + PI).rem_euclid(TAU) - PI;
    let pdf = |x: f64| (-x.abs() / scale).exp() / (scale * (1.0 + (-x.abs() / scale).exp()).powi(2));
    let cdf = |x: f64| 1.0 / (1.0 + (-x / scale).exp());
    pdf(angle) / (cdf(PI) - cdf(-PI))
}

/// The normal of a fibre along x at an offset from -1 to 1 as seen from `out`.
fn normal_at(out: DVec3, offset: f64) -> DVec3 {
    let toward = (out - DVec3::X * out.x).normalize();
    toward * (1.0 - offset * offset).sqrt() + DVec3::X.cross(toward) * offset
}

fn any_direction(random: &mut Random) -> DVec3 {
    random.direction().as_dvec3().normalize()
}

fn any_offset(random: &mut Random) -> f64 {
    f64::from(random.next()) * 1.98 - 0.99
}

fn probe(surface: &ProbeSurface, out: DVec3, to: DVec3) -> DVec3 {
    let [r, g, b, _] = evaluate(surface, out.as_vec3().into(), &[to.as_vec3().into()])[0];
    Vec3::new(r, g, b).as_dvec3()
}

#[test]
fn hair_follows_the_published_formulae() {
    let mut random = Random(1);
    for _ in 0..4000 {
        let fibre = Fibre::any(&mut random);
        let (out, to) = (any_direction(&mut random), any_direction(&mut random));
        if out.x.abs() > 0.999 {
            continue;
        }
        let normal = normal_at(out, any_offset(&mut random));
        let (found, wanted) = (probe(&fibre.surface(normal), out, to), fibre.value(normal, out, to));
        let error = ((found - wanted).abs() / (wanted + 1e-3)).max_element();
        assert!(error < 2e-3, "{fibre:?}, {normal} from {out} to {to}: {found}, not {wanted}");
    }
}

/// Calls `visit` with a grid of directions and the solid angle of each.
fn each_direction(steps: usize, visit: impl FnOnce(&[[f32; 3]], f64)) {
    let mut grid = Vec::with_capacity(steps * steps);
    for i in 0..steps * steps {
        let sine = 2.0 * ((i / steps) as f64 + 0.5) / steps as f64 - 1.0;
        let (cosine, azimuth) = ((1.0 - sine * sine).sqrt(), TAU * ((i % steps) as f64 + 0.5) / steps as f64);
        grid.push(DVec3::new(sine, cosine * azimuth.cos(), cosine * azimuth.sin()).as_vec3().into());
    }
    visit(&grid, 2.0 * TAU / (steps * steps) as f64);
}

#[test]
fn white_hair_scatters_all_light() {
    let mut random = Random(2);
    each_direction(400, |grid, solid_angle| {
        for _ in 0..60 {
            let fibre = Fibre::any(&mut random).white();
            let out = any_direction(&mut random);
            let normal = normal_at(out, any_offset(&mut random));
            let found = evaluate(&fibre.surface(normal), out.as_vec3().into(), grid);
            for k in [0, 3] {
                let sum = found.iter().map(|value| f64::from(value[k])).sum::<f64>() * solid_angle;
                assert!(
                    (sum - 1.0).abs() < 0.005,
                    "{fibre:?}, {normal} from {out}: {sum} of {}",
                    ["light", "pdf"][k / 3]
                );
            }
        }
    });
}

/// Lobes that are too narrow for a grid are tested by their samples.
#[test]
fn samples_of_white_hair_weigh_one() {
    let mut random = Random(3);
    for along in [0.0, 0.02, 0.1, 0.3, 1.0] {
        for around in [0.0, 0.02, 0.1, 0.3, 1.0] {
            for coat in [0.0, 1.0] {
                let fibre = Fibre { along, around, coat, ..Fibre::any(&mut random).white() };
                let out = any_direction(&mut random);
                let surface = fibre.surface(normal_at(out, any_offset(&mut random)));
                let triples: Vec<[f32; 3]> = (0..4096).map(|_| random.triple()).collect();
                for s in sample(&surface, out.as_vec3().into(), &triples) {
                    assert!(s.pdf > 0.0 && (s.weight[1] - 1.0).abs() < 1e-4, "{fibre:?} from {out}: {s:?}");
                }
            }
        }
    }
}

#[test]
fn sampled_hair_is_as_bright_as_the_mean_over_all_directions() {
    let mut random = Random(4);
    // Light that depends on the direction.
    let light = |d: [f32; 3]| (1.0 + Vec3::from(d).dot(Vec3::new(0.3, -0.7, 0.5))).powi(2);
    each_direction(400, |grid, solid_angle| {
        for _ in 0..20 {
            let fibre = Fibre::any(&mut random);
            let out = any_direction(&mut random);
            let surface = fibre.surface(normal_at(out, any_offset(&mut random)));
            let values = evaluate(&surface, out.as_vec3().into(), grid);
            let samples = sample(&surface, out.as_vec3().into(), &even_points(1 << 17));
            for k in 0..3 {
                let all: f64 = values.iter().zip(grid).map(|(value, &d)| f64::from(value[k] * light(d))).sum();
                let some: f64 = samples.iter().map(|s| f64::from(s.weight[k] * light(s.direction))).sum();
                let (all, some) = (all * solid_angle, some / samples.len() as f64);
                assert!((all - some).abs() < 0.01 * all.max(0.05), "{fibre:?} from {out}: {some}, not {all}");
            }
        }
    });
}

/// The model is reciprocal only in the mean over a fibre, without tilt, and between directions of equal inclination: refraction and absorption
/// are computed from the viewer's inclination.
#[test]
fn a_whole_fibre_without_tilt_is_reciprocal_across() {
    let mut random = Random(5);
    let offsets = 2000;
    let mean = |fibre: &Fibre, out: DVec3, to: DVec3| {
        let at = |i: usize| 2.0 * (i as f64 + 0.5) / offsets as f64 - 1.0;
        let sum: DVec3 = (0..offsets).map(|i| probe(&fibre.surface(normal_at(out, at(i))), out, to)).sum();
        sum / offsets as f64
    };
    for i in 0..40 {
        let fibre = Fibre { tilt: 0.0, ..Fibre::any(&mut random) };
        let (out, turn) = (any_direction(&mut random), f64::from(random.next()) * TAU);
        let across = (1.0 - out.x * out.x).sqrt();
        let to = DVec3::new(if i % 2 == 0 { out.x } else { -out.x }, across * turn.cos(), across * turn.sin());
        let (there, back) = (mean(&fibre, out, to), mean(&fibre, to, out));
        let error = ((there - back).abs() / (there + 1e-3)).max_element();
        assert!(error < 5e-3, "{fibre:?} from {out} to {to}: {there} there, {back} back");
    }
}

/// Share of diffuse light that leaves a deep layer of parallel fibres again, by a random walk.
fn dense_albedo(fibre: &Fibre, walks: usize, random: &mut Random) -> DVec3 {
    let mut sum = DVec3::ZERO;
    for _ in 0..walks {
        // Radiance is traced from the viewer; y points out of the layer.
        let (height, azimuth) = (f64::from(random.next()).sqrt(), f64::from(random.next()) * TAU);
        let radius = (1.0 - height * height).sqrt();
        let mut direction = DVec3::new(radius * azimuth.cos(), -height, radius * azimuth.sin());
        let (mut depth, mut throughput) = (0.0, DVec3::ONE);
        for _ in 0..1000 {
            // Distances between fibres are those across them.
            let flight = -(1.0 - f64::from(random.next())).ln();
            depth -= flight * direction.y / (1.0 - direction.x * direction.x).sqrt().max(1e-9);
            if depth < 0.0 {
                sum += throughput;
                break;
            }
            let surface = fibre.surface(normal_at(-direction, any_offset(random)));
            let s = sample(&surface, (-direction).as_vec3().into(), &[random.triple()])[0];
            if s.pdf == 0.0 {
                break;
            }
            throughput *= Vec3::from(s.weight).as_dvec3();
            direction = Vec3::from(s.direction).as_dvec3().normalize();
        }
    }
    sum / walks as f64
}

/// The colour is that of the light that passes the fibres; their surface reflects some white light in addition.
#[test]
fn dense_hair_has_about_its_colour() {
    let mut random = Random(6);
    for around in [0.2, 0.3, 0.5] {
        for color in [DVec3::new(0.1, 0.3, 0.5), DVec3::new(0.7, 0.8, 0.9)] {
            let steepness = -f64::from(hair_color(Vec3::ONE, around as f32).x).ln();
            let absorption = color.map(|c| (c.ln() / steepness).powi(2));
            let fibre = Fibre { along: 0.3, around, tilt: 0.035, ior: 1.55, coat: 0.0, absorption };
            let found = dense_albedo(&fibre, 4000, &mut random);
            let wanted = color + 0.065 * (DVec3::ONE - color);
            assert!((found - wanted).abs().max_element() < 0.035, "{around}: {found}, not {wanted}");
        }
    }
}

#[test]
fn random_hair_scatters_finite_light() {
    let mut random = Random(7);
    for _ in 0..20_000 {
        let mut surface = Fibre::any(&mut random).surface(any_direction(&mut random));
        surface.tangent = [[1.0, 0.0, 0.0], [0.0; 3], [0.0, 2e-3, 1e-3]][(random.next() * 3.0) as usize];
        surface.color = [random.next(), [0.0, 1.0, 3.0][(random.next() * 3.0) as usize], random.next()];
        let lobes = &mut surface.lobes;
        lobes.roughness = [0.0, 1.0, random.next()][(random.next() * 3.0) as usize];
        lobes.azimuthal_roughness = [0.0, 1.0, random.next()][(random.next() * 3.0) as usize];
        lobes.ior = [0.0, 1.0, 1.55, 10.0][(random.next() * 4.0) as usize];
        lobes.cuticle_tilt = random.next() * 20.0 - 10.0;
        let out = [Vec3::X, -Vec3::X, random.direction(), random.direction()][(random.next() * 4.0) as usize];
        let directions = [out, -out, Vec3::X, Vec3::Y, random.direction(), random.direction()].map(Into::into);
        for value in evaluate(&surface, out.into(), &directions) {
            assert!(value.iter().all(|v| v.is_finite() && *v >= 0.0), "{value:?} of {surface:?} from {out}");
        }
        let limits = [[0.0; 3], [0.999_999_94; 3], random.triple(), random.triple()];
        for s in sample(&surface, out.into(), &limits) {
            let fine = s.weight.iter().all(|w| w.is_finite() && *w >= 0.0) && s.pdf >= 0.0 && s.pdf.is_finite();
            let unit = s.pdf == 0.0 || (Vec3::from(s.direction).length() - 1.0).abs() < 1e-5;
            assert!(fine && unit, "{s:?} of {surface:?} from {out}");
        }
    }
}

#[test]
fn melanin_absorbs_blue_light_first() {
    let absorption = melanin_absorption(0.6, 0.3).as_dvec3();
    let fibre = Fibre { along: 0.3, around: 0.3, tilt: 0.035, ior: 1.55, coat: 0.0, absorption };
    let through = probe(&fibre.surface(DVec3::Z), DVec3::Z, -DVec3::Z);
    assert!(through.x > 1.3 * through.y && through.y > 1.3 * through.z, "{through}");
}
