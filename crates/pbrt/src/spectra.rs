//! Spectra as linear sRGB: sampled ones, black bodies, named ones, and other colour spaces.
//!
//! Colours of reflection are relative to a spectrum that is the same everywhere, so that 1 is white. Colours of light have a luminance of 1,
//! as version 4 scales lights with spectra.

/// Coefficients per channel: an index of refraction, or an absorption.
type Rgb = [f32; 3];

/// Linear sRGB from CIE XYZ.
const FROM_XYZ: [[f64; 3]; 3] =
    [[3.240_479, -1.537_150, -0.498_535], [-0.969_256, 1.875_991, 0.041_556], [0.055_648, -0.204_043, 1.057_311]];

/// Colour spaces, with the matrices to linear sRGB.
const SPACES: [(&str, [[f64; 3]; 3]); 4] = [
    ("srgb", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("dci-p3", [[1.224_940, -0.224_940, 0.0], [-0.042_057, 1.042_057, 0.0], [-0.019_638, -0.078_636, 1.098_274]]),
    (
        "rec2020",
        [[1.660_491, -0.587_641, -0.072_850], [-0.124_550, 1.132_900, -0.008_349], [-0.018_151, -0.100_579, 1.118_730]],
    ),
    (
        "aces2065-1",
        [[2.521_69, -1.134_13, -0.387_56], [-0.276_48, 1.372_72, -0.096_24], [-0.015_38, -0.152_98, 1.168_35]],
    ),
];

/// Named spectra: metals by their index and their absorption, glasses by their index.
const NAMED: [(&str, Rgb); 24] = [
    ("metal-Ag-eta", [0.155, 0.117, 0.138]),
    ("metal-Ag-k", [4.828, 3.122, 2.147]),
    ("metal-Al-eta", [1.657, 0.880, 0.521]),
    ("metal-Al-k", [9.224, 6.270, 4.837]),
    ("metal-Au-eta", [0.143, 0.375, 1.442]),
    ("metal-Au-k", [3.983, 2.386, 1.603]),
    ("metal-Cu-eta", [0.200, 0.924, 1.102]),
    ("metal-Cu-k", [3.913, 2.453, 2.142]),
    ("metal-CuZn-eta", [0.444, 0.527, 1.094]),
    ("metal-CuZn-k", [3.695, 2.765, 1.829]),
    ("metal-MgO-eta", [1.736, 1.739, 1.748]),
    ("metal-MgO-k", [0.0, 0.0, 0.0]),
    ("metal-TiO2-eta", [2.57, 2.65, 2.85]),
    ("metal-TiO2-k", [0.0, 0.0, 0.0]),
    ("glass-BK7", [1.5168; 3]),
    ("glass-BAF10", [1.67; 3]),
    ("glass-FK51A", [1.4866; 3]),
    ("glass-LASF9", [1.8502; 3]),
    ("glass-F5", [1.6034; 3]),
    ("glass-F10", [1.6229; 3]),
    ("glass-F11", [1.6207; 3]),
    ("glass-SF5", [1.6727; 3]),
    ("glass-SF10", [1.7283; 3]),
    ("glass-SF11", [1.7847; 3]),
];

/// Colour space by its name.
pub fn space(name: &str) -> Option<usize> {
    SPACES.iter().position(|(own, _)| *own == name)
}

/// The names of all colour spaces.
pub fn space_names() -> [&'static str; 4] {
    SPACES.map(|(name, _)| name)
}

/// Linear sRGB of a colour in another space.
pub fn from_space(space: usize, color: Rgb) -> Rgb {
    times(&SPACES[space].1, color.map(f64::from)).map(|x| x as f32)
}

/// Linear sRGB of CIE XYZ.
pub fn from_xyz(color: Rgb) -> Rgb {
    times(&FROM_XYZ, color.map(f64::from)).map(|x| x as f32)
}

/// A named spectrum. Standard illuminants are white.
pub fn named(name: &str) -> Option<Rgb> {
    if name.starts_with("stdillum-") || name.starts_with("illum-") {
        return Some([1.0; 3]);
    }
    NAMED.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
}

/// The spectrum that a file of version 3's scenes has, such as `spds/Au.eta.spd`.
pub fn of_file(name: &str) -> Option<Rgb> {
    let name = name.rsplit('/').next()?.strip_suffix(".spd")?;
    let (metal, kind) = name.split_once('.')?;
    named(&format!("metal-{metal}-{kind}"))
}

/// The names of all named spectra but illuminants.
pub fn names() -> [&'static str; 24] {
    NAMED.map(|(name, _)| name)
}

/// Colour of a black body with a temperature in kelvin. Its luminance is 1 if `normalized`; otherwise, its spectrum has a maximum of 1.
pub fn blackbody(kelvin: f32, normalized: bool) -> Rgb {
    let kelvin = f64::from(kelvin).clamp(100.0, 1e6);
    let radiance = |nm: f64| {
        let metres = nm * 1e-9;
        metres.powi(-5) / ((0.014_387_77 / (metres * kelvin)).exp() - 1.0)
    };
    // Relative to the peak, so that no sum overflows.
    let peak = radiance((2.897_771_955e6 / kelvin).clamp(360.0, 830.0));
    let relative = |nm: f64| radiance(nm) / peak;
    if normalized { light(relative) } else { rgb(&relative).map(|x| x.max(0.0) as f32) }
}

/// Colour of light with pairs of wavelength and value, with a luminance of 1 if `normalized`.
pub fn light_of(pairs: &[[f32; 2]], normalized: bool) -> Rgb {
    if normalized { light(|nm| sampled(pairs, nm)) } else { reflectance_of(pairs) }
}

/// Colour of reflection, or coefficients, with pairs of wavelength and value.
pub fn reflectance_of(pairs: &[[f32; 2]]) -> Rgb {
    let (own, white) = (rgb(&|nm| sampled(pairs, nm)), rgb(&|_| 1.0));
    [0, 1, 2].map(|i| (own[i] / white[i]).max(0.0) as f32)
}

fn light(radiance: impl Fn(f64) -> f64) -> Rgb {
    let color = rgb(&radiance);
    let luminance = 0.212_671 * color[0] + 0.715_160 * color[1] + 0.072_169 * color[2];
    if luminance > 0.0 { color.map(|x| (x / luminance).max(0.0) as f32) } else { [0.0; 3] }
}

/// Linear sRGB of a spectrum. One that is 1 everywhere has a luminance of 1.
fn rgb(value: &dyn Fn(f64) -> f64) -> [f64; 3] {
    let (mut xyz, mut whole) = ([0.0; 3], 0.0);
    for nm in (360..=830).step_by(5).map(f64::from) {
        let (value, matching) = (value(nm), matching(nm));
        (0..3).for_each(|i| xyz[i] += value * matching[i]);
        whole += matching[1];
    }
    times(&FROM_XYZ, xyz.map(|x| x / whole))
}

/// The CIE 1931 colour matching functions, as the sums of lobes of Wyman et al. 2013.
fn matching(nm: f64) -> [f64; 3] {
    let lobe = |mean: f64, below: f64, above: f64| {
        let x = (nm - mean) / if nm < mean { below } else { above };
        (-0.5 * x * x).exp()
    };
    [
        1.056 * lobe(599.8, 37.9, 31.0) + 0.362 * lobe(442.0, 16.0, 26.7) - 0.065 * lobe(501.1, 20.4, 26.2),
        0.821 * lobe(568.8, 46.9, 40.5) + 0.286 * lobe(530.9, 16.3, 31.1),
        1.217 * lobe(437.0, 11.8, 36.0) + 0.681 * lobe(459.0, 26.0, 13.8),
    ]
}

/// The value at a wavelength, linear between samples and constant outside.
fn sampled(pairs: &[[f32; 2]], nm: f64) -> f64 {
    let after = pairs.partition_point(|[own, _]| f64::from(*own) <= nm);
    let (Some(last), Some(first)) = (pairs.last(), pairs.first()) else { return 0.0 };
    let Some([before, a]) = after.checked_sub(1).map(|index| pairs[index]) else { return f64::from(first[1]) };
    let Some([next, b]) = pairs.get(after) else { return f64::from(last[1]) };
    let share = (nm - f64::from(before)) / f64::from(next - before);
    f64::from(a) + f64::from(b - a) * share
}

fn times(matrix: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// Colour of a metal: the reflectance `c` at normal incidence for which Schlick's approximation reflects as much diffuse light as the metal.
///
/// Metals reflect less than Schlick's approximation between 60° and 85°. With their own reflectance at normal incidence, aluminium would
/// reflect 1.5 % too much.
pub fn metal(eta: Rgb, k: Rgb) -> Rgb {
    // The mean of Schlick's approximation is c + (1 - c) / 21.
    [0, 1, 2].map(|i| ((21.0 * mean_reflectance(eta[i].into(), k[i].into()) - 1.0) / 20.0).clamp(0.0, 1.0) as f32)
}

/// Fraction of diffuse light that a conductor reflects.
fn mean_reflectance(eta: f64, k: f64) -> f64 {
    const STEPS: u32 = 256;
    let at = |step: u32| {
        let cosine = (f64::from(step) + 0.5) / f64::from(STEPS);
        2.0 * cosine * conductor_fresnel(cosine, eta, k)
    };
    (0..STEPS).map(at).sum::<f64>() / f64::from(STEPS)
}

/// Reflectance of a conductor for light that is not polarized.
fn conductor_fresnel(cosine: f64, eta: f64, k: f64) -> f64 {
    let (cos2, sin2) = (cosine * cosine, 1.0 - cosine * cosine);
    let real = eta * eta - k * k - sin2;
    let modulus = real.hypot(2.0 * eta * k);
    let mixed = 2.0 * cosine * (0.5 * (modulus + real)).max(0.0).sqrt();
    let perpendicular = (modulus + cos2 - mixed) / (modulus + cos2 + mixed);
    let (outer, inner) = (cos2 * modulus + sin2 * sin2, mixed * sin2);
    let parallel = perpendicular * (outer - inner) / (outer + inner);
    0.5 * (perpendicular + parallel)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Rgb, b: Rgb, within: f32) {
        assert!((0..3).all(|i| (a[i] - b[i]).abs() < within), "{a:?} {b:?}");
    }

    #[test]
    fn black_bodies_turn_from_red_to_blue() {
        let [r, g, b] = blackbody(3000.0, true);
        assert!(r > g && g > b && b > 0.0, "{r} {g} {b}");
        let [r, _, b] = blackbody(10_000.0, true);
        assert!(b > r);
        // A black body of 6500 K is nearly the white of sRGB.
        near(blackbody(6500.0, true), [1.0; 3], 0.06);
        // A third of the way down from its maximum at 446 nm, on average.
        let [r, g, b] = blackbody(6500.0, false);
        assert!(0.2126 * r + 0.7152 * g + 0.0722 * b < 0.95, "{r} {g} {b}");
    }

    #[test]
    fn equal_reflection_is_white_and_metals_have_their_colours() {
        near(reflectance_of(&[[400.0, 0.5], [700.0, 0.5]]), [0.5; 3], 1e-5);
        let gold = metal(named("metal-Au-eta").unwrap(), named("metal-Au-k").unwrap());
        assert!(gold[0] > 0.9 && gold[1] > 0.6 && gold[2] < 0.5, "{gold:?}");
        // At normal incidence, ((eta - 1)² + k²) / ((eta + 1)² + k²).
        assert!((conductor_fresnel(1.0, 1.657, 9.224) - 0.928_05).abs() < 1e-4);
        assert!((conductor_fresnel(0.5, 1.5, 0.0) - 0.089_2).abs() < 1e-4);
        assert!((mean_reflectance(1.657, 9.224) - 0.916_2).abs() < 1e-4);
        near(from_space(2, [1.0; 3]), [1.0; 3], 1e-4);
        near(from_space(3, [1.0; 3]), [1.0; 3], 1e-4);
        assert!(named("metal-Xx-eta").is_none());
        assert_eq!(of_file("spds/Au.eta.spd"), named("metal-Au-eta"));
    }
}
