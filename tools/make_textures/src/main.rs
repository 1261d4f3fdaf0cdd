//! Writes the textures of the demo scenes.
//!
//! ```text
//! cargo run --release -p make_textures [folder] [name]
//! ```
//!
//! The noise uses a lattice that wraps around, so the textures tile without a seam. It uses a fixed hash, so the files are reproducible.
//! The default folder is `assets`; those of `scenes/market.ron` are in its folder `market`. With a name, only files whose names contain it are written.

mod coursed;
mod figures;
mod floors;
mod foliage;
mod letters;
mod masonry;
mod noise;
mod plaster;
mod posters;
mod roof;
mod save;
mod surface;
mod wood;

use glam::Vec2;
use save::{save_color, save_cutout, save_floor, save_normals, save_roughness};
use std::path::PathBuf;
use std::process::ExitCode;
use surface::Surface;

/// A tiling surface: its name, side in metres, painter, and pixels per side of colours, normals and roughness (0: no file).
type Tiling = (&'static str, f32, fn(Vec2) -> Surface, [u32; 3]);

const TILINGS: [Tiling; 7] = [
    ("cobbles", masonry::COBBLES_SIDE, masonry::cobbles, [1024, 1024, 512]),
    ("bricks", masonry::BRICKS_SIDE, masonry::bricks, [1024, 512, 0]),
    ("ashlar", masonry::ASHLAR_SIDE, masonry::ashlar, [768, 512, 0]),
    ("plaster", plaster::SIDE, plaster::sound, [768, 512, 0]),
    ("old_wall", plaster::SIDE, plaster::fallen, [1024, 768, 0]),
    ("planks", wood::SIDE, wood::planks, [1024, 512, 0]),
    ("roof", roof::SIDE, roof::tiles, [768, 512, 0]),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments
        .next()
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets")), PathBuf::from);
    let wanted = arguments.next().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    for (name, write) in files() {
        if !name.contains(&wanted) {
            continue;
        }
        let path = folder.join(&name);
        if let Err(error) = save::create_folder(&path).and_then(|()| write(&path)) {
            eprintln!("cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
        println!("{}", path.display());
    }
    ExitCode::SUCCESS
}

/// Names of all files, and the functions that write them.
fn files() -> Vec<(String, save::Writer)> {
    let mut files: Vec<(String, save::Writer)> = vec![
        ("stone.png".into(), Box::new(|path| save_floor(path, floors::stone))),
        ("tiles.png".into(), Box::new(|path| save_floor(path, floors::tiles))),
        ("market/leaves.png".into(), Box::new(|path| save_cutout(path, [512, 512], &foliage::leaves()))),
        ("market/cloth.jpg".into(), Box::new(|path| save_color(path, [512, 512], &wood::cloth))),
        (
            "market/posters.jpg".into(),
            Box::new(|path| save_color(path, posters::SIZE, &posters::Wall::new().painter())),
        ),
    ];
    for (name, side, painter, [color, normal, roughness]) in TILINGS {
        files.push((
            format!("market/{name}.jpg"),
            Box::new(move |path| save_color(path, [color; 2], &|at| painter(at).color)),
        ));
        files.push((
            format!("market/{name}_normal.jpg"),
            Box::new(move |path| save_normals(path, normal, side, painter)),
        ));
        if roughness > 0 {
            files.push((
                format!("market/{name}_rough.jpg"),
                Box::new(move |path| save_roughness(path, roughness, painter)),
            ));
        }
    }
    files
}
