//! Writes a chain mail link for `scenes/chain_mail.ron`: `link.obj`, a torus about the z axis.
//!
//! ```text
//! cargo run --release -p make_link [folder]
//! ```
//!
//! The wire's centre line has radius 1. Exact normals make a few triangles look round. The default folder is `assets`.

use std::{env, f64::consts::TAU, fmt, fmt::Write as _, fs, path::PathBuf, process::ExitCode};

/// Radius of the wire. It is thin enough that interlocked links do not touch.
const WIRE_RADIUS: f64 = 0.2;
/// Number of steps along the wire.
const ALONG: u32 = 32;
/// Number of steps around the wire.
const AROUND: u32 = 12;

fn main() -> ExitCode {
    let folder = env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets")), PathBuf::from);
    let path = folder.join("link.obj");
    let text = torus().expect("a string takes whatever is written to it");
    if let Err(error) = fs::write(&path, text) {
        eprintln!("cannot write {}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    println!("{}", path.display());
    ExitCode::SUCCESS
}

fn torus() -> Result<String, fmt::Error> {
    let mut obj = String::from("# A link of chain mail. Made by examples/make_link.\no link\n");
    let steps = || (0..ALONG).flat_map(|i| (0..AROUND).map(move |j| (i, j)));
    for (i, j) in steps() {
        let [x, y, z] = normal(i, j);
        let (sin, cos) = angle(i, ALONG).sin_cos();
        let [x, y, z] = [cos + WIRE_RADIUS * x, sin + WIRE_RADIUS * y, WIRE_RADIUS * z].map(tidy);
        writeln!(obj, "v {x:.4} {y:.4} {z:.4}")?;
    }
    for (i, j) in steps() {
        let [x, y, z] = normal(i, j).map(tidy);
        writeln!(obj, "vn {x:.4} {y:.4} {z:.4}")?;
    }
    for (i, j) in steps() {
        let corner = |i: u32, j: u32| i % ALONG * AROUND + j % AROUND + 1;
        let corners = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
        for [a, b, c] in [[0, 1, 2], [0, 2, 3]].map(|triangle| triangle.map(|k| corners[k])) {
            writeln!(obj, "f {a}//{a} {b}//{b} {c}//{c}")?;
        }
    }
    Ok(obj)
}

/// Normal of the torus, away from the wire's centre line.
fn normal(i: u32, j: u32) -> [f64; 3] {
    let (sin_along, cos_along) = angle(i, ALONG).sin_cos();
    let (sin_around, cos_around) = angle(j, AROUND).sin_cos();
    [cos_along * cos_around, sin_along * cos_around, sin_around]
}

/// Rounds to the precision of the file. Adding 0 turns -0 into 0, so that no minus sign is written.
fn tidy(x: f64) -> f64 {
    (x * 1e4).round() / 1e4 + 0.0
}

fn angle(step: u32, steps: u32) -> f64 {
    TAU * f64::from(step) / f64::from(steps)
}
