//! Writes the kit of `scenes/market.ron`: `market/market.glb`, whose scenes are parts of houses, stalls and goods, in metres.
//!
//! ```text
//! cargo run --release -p make_market [folder]
//! ```
//!
//! Each part has one material, which the scene file chooses. Texture coordinates are in sides of the textures of `make_textures`. Vertex
//! colours are dirt, which no tiling texture has. The default folder is `assets`.

mod facade;
mod gate;
mod glb;
mod goods;
mod house;
mod mesh;
mod roof;
mod stall;
mod street;
mod tower;

use mesh::Mesh;
use std::{env, fs, path::PathBuf, process::ExitCode};

/// A part and its name in the file.
type Part = (String, Mesh);

fn main() -> ExitCode {
    let folder = env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets")), PathBuf::from);
    let path = folder.join("market/market.glb");
    let parts: Vec<Part> =
        [street::parts(), house::parts(), gate::parts(), tower::parts(), stall::parts(), goods::parts()].concat();
    let folder_exists = fs::create_dir_all(folder.join("market"));
    if let Err(error) = folder_exists.and_then(|()| fs::write(&path, glb::file(&parts))) {
        eprintln!("cannot write {}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    let triangles: usize = parts.iter().map(|(_, mesh)| mesh.triangles.len()).sum();
    println!("{}: {} parts, {triangles} triangles", path.display(), parts.len());
    ExitCode::SUCCESS
}
