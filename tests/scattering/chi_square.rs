//! χ² tests: the distribution of samples matches the pdf.

use crate::common::*;
use glam::Vec3;
use throng_device::probe::{ProbeSurface, evaluate, sample};

const SAMPLES: usize = 1 << 17;
/// Bins over the sphere: in the height above the surface and in azimuth.
const HEIGHTS: usize = 24;
const AZIMUTHS: usize = 32;
/// Points per side of a bin, over which the pdf is integrated. A bent normal has another horizon than the bins, at which the pdf is cut off.
fn fineness(surface: &ProbeSurface) -> usize {
    if surface.normal == surface.geometric { 10 } else { 40 }
}
/// Bins with fewer expected samples are merged.
const LEAST: f64 = 8.0;
/// Probability of a false alarm over all tests.
const SIGNIFICANCE: f64 = 0.01;

fn cases() -> Vec<(Named, f32)> {
    let surfaces = [
        ("metal", metal(0.4)),
        ("rough metal", metal(0.9)),
        ("brushed metal", brushed(0.5, 0.7)),
        ("dielectric", dielectric(0.5)),
        ("coat", coated(0.5)),
        ("sheen", cloth(0.5)),
        ("leaf", leaf()),
        ("thin glass", thin_glass(0.5)),
        ("glass", glass(0.5)),
        ("rough glass", glass(0.9)),
        ("glass from within", within_glass(0.6)),
        ("prism", glass(0.5).with(|l| l.dispersion = 3.0)),
        ("brushed glass", glass(0.5).with(|l| l.anisotropy = 0.6)),
        ("thin film", iridescent(dielectric(0.5))),
        ("polished metal", metal(0.35)),
        ("bent metal", bent(metal(0.35), true)),
        ("bent metal on a flat triangle", bent(metal(0.5), false)),
        ("bent dielectric", bent(dielectric(0.5), true)),
        ("bent coat", bent(coated(0.5), true)),
        ("bent glass", bent(glass(0.5), true)),
        ("bent glass on a flat triangle", bent(glass(0.5), false)),
        ("bent leaf", bent(leaf(), true)),
        ("hair", hair(0.3, 0.3)),
        ("rough hair", hair(0.9, 0.8)),
        (
            "coated hair",
            hair(0.5, 0.25).with(|l| {
                l.clearcoat = 0.3;
                l.cuticle_tilt = -0.1;
            }),
        ),
        (
            "all at once",
            leaf().with(|l| {
                l.metallic = 0.3;
                l.transmission = 0.4;
                l.clearcoat = 0.7;
                l.clearcoat_roughness = 0.4;
                l.sheen_color = [0.3; 3];
                l.sheen_roughness = 0.5;
            }),
        ),
    ];
    surfaces.into_iter().flat_map(|surface| [0.9, 0.3].map(|cosine| (surface, cosine))).collect()
}

/// Centre of a cell of a grid that is `fine` times as fine as the bins.
fn grid_direction(height: usize, azimuth: usize, fine: usize) -> Vec3 {
    let cosine = 1.0 - 2.0 * (height as f32 + 0.5) / (HEIGHTS * fine) as f32;
    direction(cosine, std::f32::consts::TAU * (azimuth as f32 + 0.5) / (AZIMUTHS * fine) as f32)
}

fn bin_of(d: [f32; 3]) -> usize {
    let height = ((1.0 - d[2]) * 0.5 * HEIGHTS as f32) as usize;
    let turn = (d[1].atan2(d[0]) / std::f32::consts::TAU).rem_euclid(1.0);
    let azimuth = (turn * AZIMUTHS as f32) as usize;
    height.min(HEIGHTS - 1) * AZIMUTHS + azimuth.min(AZIMUTHS - 1)
}

/// Expected number of samples per bin.
fn expected(surface: &ProbeSurface, out: Vec3) -> Vec<f64> {
    let fine = fineness(surface);
    let solid_angle = 4.0 * std::f64::consts::PI / (HEIGHTS * AZIMUTHS * fine * fine) as f64;
    let mut bins = vec![0.0; HEIGHTS * AZIMUTHS];
    for height in 0..HEIGHTS * fine {
        let row: Vec<[f32; 3]> = (0..AZIMUTHS * fine).map(|a| grid_direction(height, a, fine).into()).collect();
        for (azimuth, found) in evaluate(surface, out.into(), &row).iter().enumerate() {
            bins[height / fine * AZIMUTHS + azimuth / fine] += f64::from(found[3]) * solid_angle * SAMPLES as f64;
        }
    }
    bins
}

fn observed(surface: &ProbeSurface, out: Vec3) -> Vec<f64> {
    let mut random = Random(7);
    let triples: Vec<[f32; 3]> = (0..SAMPLES).map(|_| random.triple()).collect();
    let mut bins = vec![0.0; HEIGHTS * AZIMUTHS];
    for s in sample(surface, out.into(), &triples).iter().filter(|s| s.pdf > 0.0) {
        bins[bin_of(s.direction)] += 1.0;
    }
    bins
}

/// The statistic and its degrees of freedom, with small bins merged. Samples that are not scattered form another bin.
fn chi_square(expected: &[f64], observed: &[f64]) -> (f64, usize) {
    let (mut statistic, mut bins, mut few) = (0.0, 0, (0.0, 0.0));
    let missing = |bins: &[f64]| (SAMPLES as f64 - bins.iter().sum::<f64>()).max(0.0);
    let all = expected.iter().zip(observed).map(|(&e, &o)| (e, o));
    for (e, o) in all.chain([(missing(expected), missing(observed))]) {
        let (e, o) = (e + few.0, o + few.1);
        if e < LEAST {
            few = (e, o);
            continue;
        }
        few = (0.0, 0.0);
        statistic += (o - e).powi(2) / e;
        bins += 1;
    }
    (statistic, bins - 1)
}

/// Probability of a statistic of at least this value, by the Wilson-Hilferty approximation, which is accurate for many degrees of freedom.
fn p_value(statistic: f64, freedom: usize) -> f64 {
    let spread = 2.0 / (9.0 * freedom as f64);
    let z = ((statistic / freedom as f64).cbrt() - (1.0 - spread)) / spread.sqrt();
    upper_tail(z)
}

/// Upper tail of the normal distribution (Abramowitz and Stegun 26.2.17, error below 1e-7).
fn upper_tail(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series =
        t * (0.319_381_53 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt() * series;
    if z > 0.0 { tail } else { 1.0 - tail }
}

#[test]
fn samples_fall_where_the_pdf_says() {
    let cases = cases();
    let least = SIGNIFICANCE / cases.len() as f64;
    let mut wrong = Vec::new();
    for ((name, surface), cosine) in &cases {
        let out = direction(*cosine, 0.4);
        let (statistic, freedom) = chi_square(&expected(surface, out), &observed(surface, out));
        let p = p_value(statistic, freedom);
        if p < least {
            wrong.push(format!("{name} at cosine {cosine}: χ² {statistic:.0} of {freedom}, p {p:.1e}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks that the test can fail: samples of one roughness are compared with the pdf of another.
#[test]
fn a_pdf_that_is_a_little_off_is_found_out() {
    let out = direction(0.6, 0.4);
    let (statistic, freedom) = chi_square(&expected(&metal(0.5), out), &observed(&metal(0.51), out));
    assert!(p_value(statistic, freedom) < 1e-6);
}

#[test]
fn pdfs_never_add_up_to_more_than_one() {
    for ((name, surface), cosine) in cases() {
        let total = expected(&surface, direction(cosine, 0.4)).iter().sum::<f64>() / SAMPLES as f64;
        assert!(total < 1.003, "{name} at cosine {cosine}: {total}");
    }
}
