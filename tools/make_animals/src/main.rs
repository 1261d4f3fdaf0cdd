//! Models the animals of `assets`, with skeletons and morph targets.
//!
//! ```text
//! cargo run --release -p make_animals [folder]
//! ```
//!
//! `modelling` describes an animal by a signed distance, meshes it finely, remeshes it to evenly spaced vertices and paints it. `rigging`
//! adds bones, skin weights and clips. The output is reproducible. The default folder is `assets`.

mod bull;
mod dragon;
mod modelling;
mod rigging;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Models an animal and writes it to a file.
type Maker = fn(&Path) -> io::Result<()>;

const ANIMALS: [(&str, Maker); 4] = [
    ("dragon.obj", dragon::write_statue),
    ("flapping_dragon.glb", dragon::write_flapping),
    ("breathing_dragon.glb", dragon::write_breathing),
    ("bull.glb", bull::write),
];

fn main() -> ExitCode {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets")), PathBuf::from);
    for (name, make) in ANIMALS {
        let path = folder.join(name);
        if let Err(error) = make(&path) {
            eprintln!("cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
        println!("{}", path.display());
    }
    ExitCode::SUCCESS
}
