//! Generates and checks the directional albedo tables in `kernels/closure/albedo_tables.inc`.
//!
//! `cargo test --release --test scattering -- --ignored the_tables_are_written_again` writes the file. The sizes here must agree with
//! `kernels/closure/albedo.h`.

use rayon::prelude::*;
use std::fmt::Write as _;
use throng_device::probe::{fresnel, interface_albedo, sheen_albedo};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/closure/albedo_tables.inc");
const GRID: u32 = 128;
/// Azimuth used for isotropic surfaces, where it has no effect.
const AZIMUTH: f32 = 0.3;

/// A table with several axes; the last is sqrt(cosine). Entries are functions of the positions on the axes, in [0, 1].
struct Table {
    name: &'static str,
    axes: &'static [usize],
    entry: fn(&[f32]) -> f32,
    /// Name of the table of means over the hemisphere, if there is one.
    mean: Option<&'static str>,
}

const TABLES: [Table; 6] = [
    Table {
        name: "kMirrorAlbedo",
        axes: &[32, 32],
        entry: |p| interface(1.5, p)[0] + margin(p[0]),
        mean: Some("kMirrorMean"),
    },
    Table { name: "kBrushedChange", axes: &[11, 16, 5, 24], entry: brushed, mean: Some("kBrushedChangeMean") },
    Table {
        name: "kReflectedAlbedo",
        axes: &[11, 32, 24],
        entry: |p| interface(ior(p[0]), &p[1..])[1] + margin(p[1]),
        mean: Some("kReflectedMean"),
    },
    Table {
        name: "kFrontLoss",
        axes: &[11, 20, 16],
        entry: |p| loss(ior(p[0]), &p[1..]) - margin(p[1]),
        mean: Some("kFrontLossMean"),
    },
    Table {
        name: "kBackLoss",
        axes: &[11, 20, 16],
        entry: |p| loss(1.0 / ior(p[0]), &p[1..]) - margin(p[1]),
        mean: Some("kBackLossMean"),
    },
    Table {
        name: "kSheenAlbedo",
        axes: &[16, 32],
        entry: |p| 0.5 * sheen_albedo(cosine(p[1]), 0.1 + 0.9 * p[0], 256),
        mean: None,
    },
];

fn ior(place: f32) -> f32 {
    1.0 + (5.0 * place - 4.0).exp2()
}

fn cosine(place: f32) -> f32 {
    (place * place).max(1e-4)
}

/// Interpolation between entries has an error of a few thousandths. With this margin, surfaces lose energy rather than gain it.
fn margin(roughness: f32) -> f32 {
    if roughness > 0.0 { 0.0015 } else { 0.0 }
}

/// Albedos at a position (roughness, cosine).
fn interface(eta: f32, place: &[f32]) -> [f32; 3] {
    let (alpha, cosine) = (place[0] * place[0], cosine(place[1]));
    if alpha == 0.0 {
        let reflected = fresnel(cosine, eta);
        return [1.0, reflected, 1.0 - reflected];
    }
    interface_albedo(cosine, AZIMUTH, [alpha; 2], eta, GRID)
}

fn loss(eta: f32, place: &[f32]) -> f32 {
    let [_, reflected, transmitted] = interface(eta, place);
    1.0 - reflected - transmitted
}

/// Difference in reflection between an anisotropic surface and an isotropic one with equal mean square roughness, plus 0.5. The position
/// is (anisotropy, roughness, squared cosine of the azimuth, cosine).
fn brushed(place: &[f32]) -> f32 {
    let across = (place[1] * place[1]).max(5e-4);
    let along = across + (1.0 - across) * place[0] * place[0];
    let azimuth = place[2].sqrt().acos();
    let mean = (0.5 * (along * along + across * across)).sqrt();
    let mirror = |azimuth, alphas| interface_albedo(cosine(place[3]), azimuth, alphas, 1.5, GRID)[0];
    // The isotropic table includes a margin already; this one needs none.
    0.5 + mirror(azimuth, [along, across]) - mirror(AZIMUTH, [mean; 2]) - margin(place[1])
}

impl Table {
    fn len(&self) -> usize {
        self.axes.iter().product()
    }

    fn value(&self, index: usize) -> u16 {
        let mut rest = index;
        let mut place = vec![0.0; self.axes.len()];
        for (place, &count) in place.iter_mut().zip(self.axes).rev() {
            *place = (rest % count) as f32 / (count - 1) as f32;
            rest /= count;
        }
        ((self.entry)(&place).clamp(0.0, 1.0) * 65535.0).round() as u16
    }

    /// Means over the hemisphere of the interpolated `values`, as the kernels read them.
    fn means(&self, values: &[u16]) -> Vec<u16> {
        let cosines = self.axes[self.axes.len() - 1];
        // The third of a brushed surface's four axes is the azimuth, which is integrated as well.
        let azimuths = if self.axes.len() == 4 { self.axes[2] } else { 1 };
        let by_cosine = hat_weights(cosines, |t| 4.0 * t * t * t);
        let by_azimuth = hat_weights(azimuths, |t| 1.0 / (std::f64::consts::PI * (t * (1.0 - t)).sqrt()));
        let mean = |block: &[u16]| {
            let row = |row: &[u16]| row.iter().zip(&by_cosine).map(|(&v, w)| f64::from(v) * w).sum::<f64>();
            let sum: f64 = block.chunks(cosines).zip(&by_azimuth).map(|(r, w)| row(r) * w).sum();
            sum.round() as u16
        };
        values.chunks(azimuths * cosines).map(mean).collect()
    }
}

/// Weights of `count` equally spaced knots in the mean of a piecewise linear function, for a pdf on [0, 1].
fn hat_weights(count: usize, pdf: impl Fn(f64) -> f64) -> Vec<f64> {
    if count == 1 {
        return vec![1.0];
    }
    const STEPS: usize = 200_000;
    let mut weights = vec![0.0; count];
    for i in 0..STEPS {
        // Steps are equal in the angle whose squared sine is t. There, the pdf of azimuths is finite.
        let angle = (i as f64 + 0.5) / STEPS as f64 * std::f64::consts::FRAC_PI_2;
        let t = angle.sin().powi(2);
        let mass = pdf(t) * (2.0 * angle).sin();
        let place = t * (count - 1) as f64;
        let knot = (place as usize).min(count - 2);
        weights[knot + 1] += mass * (place - knot as f64);
        weights[knot] += mass * (1.0 - (place - knot as f64));
    }
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

fn write_table(text: &mut String, name: &str, values: &[u16]) {
    writeln!(text, "THRONG_TABLE uint16_t {name}[{}] = {{", values.len()).unwrap();
    for line in values.chunks(24) {
        let words: Vec<String> = line.iter().map(u16::to_string).collect();
        writeln!(text, "    {},", words.join(", ")).unwrap();
    }
    text.push_str("};\n");
}

#[test]
#[ignore = "writes a source file"]
fn the_tables_are_written_again() {
    let mut text = String::from("// Written by tests/scattering/tables.rs: see albedo.h.\n");
    for table in &TABLES {
        let values: Vec<u16> = (0..table.len()).into_par_iter().map(|i| table.value(i)).collect();
        write_table(&mut text, table.name, &values);
        if let Some(name) = table.mean {
            write_table(&mut text, name, &table.means(&values));
        }
    }
    std::fs::write(FILE, text).unwrap();
}

/// Reads the numbers of the table `name` from the file.
fn read_table(text: &str, name: &str) -> Vec<u16> {
    let start = text.find(&format!(" {name}[")).expect("the table is there");
    let body = text[start..].split(['{', '}']).nth(1).expect("its numbers are in braces");
    let numbers = body.split(',').map(str::trim).filter(|word| !word.is_empty());
    numbers.map(|word| word.parse().expect("a number")).collect()
}

#[test]
fn the_tables_hold_what_brute_force_finds() {
    let text = std::fs::read_to_string(FILE).unwrap();
    for table in &TABLES {
        let values = read_table(&text, table.name);
        assert_eq!(values.len(), table.len(), "{}", table.name);
        for index in (0..values.len()).step_by(199) {
            let (found, exact) = (i32::from(values[index]), i32::from(table.value(index)));
            assert!((found - exact).abs() <= 2, "{}[{index}] is {found}, not {exact}", table.name);
        }
        if let Some(mean) = table.mean {
            assert_eq!(read_table(&text, mean), table.means(&values), "{mean}");
        }
    }
}
