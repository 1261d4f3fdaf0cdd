//! A small scene with everything that jobs need: a mesh large enough for the cache, a texture, a motion, and rays.

use image::{ImageFormat, Rgb, RgbImage};
use std::{
    collections::BTreeMap,
    fs,
    io::{self, Cursor},
    path::{Path, PathBuf},
    sync::LazyLock,
};

pub const FRAMES: usize = 6;

const SCENE: &str = r#"(
    render: (size: (96, 54), samples: 4, frames: 6),
    environment: Gradient(zenith: (0.3, 0.5, 1.0), horizon: (1.0, 1.0, 1.0), nadir: (0.2, 0.2, 0.2)),
    materials: { "red": Diffuse(color: (0.8, 0.2, 0.2)), "chrome": Mirror(), "paint": Diffuse(texture: "paint.png") },
    meshes: { "hills": Obj(file: "hills.obj"), "ball": Sphere, "floor": Quad() },
    motions: { "bob": (parts: [Bob(offset: (0, 2, 0), period: 2)], phase: random(seed: 1)) },
    instances: [
        Single(of: "hills", material: "red"),
        Grid(of: "ball", count: (4, 1, 4), spacing: (5, 5, 5), translate: (10, 5, 10), material: "chrome", motion: "bob"),
        Single(of: "floor", scale: 100, material: "paint"),
    ],
    camera: LookAt(eye: (10, 14, 40), target: (10, 0, 10), fov: 40),
)"#;

/// The scene with its files, rays, and two different pictures.
pub static FILES: LazyLock<BTreeMap<PathBuf, Vec<u8>>> = LazyLock::new(|| {
    let files = [
        ("scene.ron", SCENE.into()),
        ("hills.obj", hills(21).into()),
        ("rays.ray", rays(10_000)),
        ("paint.png", picture(ImageFormat::Png, 3)),
        ("other.png", picture(ImageFormat::Png, 5)),
    ];
    files.into_iter().map(|(name, bytes)| (name.into(), bytes)).collect()
});

pub fn write(folder: &Path) -> io::Result<()> {
    FILES.iter().try_for_each(|(name, bytes)| fs::write(folder.join(name), bytes))
}

/// A grid with `side` vertices per side, as an OBJ file.
pub fn hills(side: usize) -> String {
    let vertex = |i: usize| format!("v {} {} {}\n", i % side, (i * i % 17) as f32 * 0.2, i / side);
    let face = |i: usize| format!("f {} {} {} {}\n", i, i + side, i + side + 1, i + 1);
    let faces = (1..side * (side - 1)).filter(|i| i % side != 0).map(face);
    (0..side * side).map(vertex).chain(faces).collect()
}

/// A file of rays that hit the hills.
pub fn rays(count: u64) -> Vec<u8> {
    let mut bytes = b"RAY1\0\0\0\0".to_vec();
    bytes.extend(count.to_le_bytes());
    for i in 0..count {
        let (x, z) = ((i % 499) as f32 * 0.04, (i % 503) as f32 * 0.04);
        let ray = [x, 30.0, z, 0.0, 0.1, -1.0, 0.1, f32::INFINITY];
        bytes.extend(ray.iter().flat_map(|value| value.to_le_bytes()));
    }
    bytes
}

/// A small picture, which differs for each `tint`.
pub fn picture(format: ImageFormat, tint: u32) -> Vec<u8> {
    let picture = RgbImage::from_fn(64, 64, |x, y| Rgb([(x * tint) as u8, (y * 3) as u8, 128]));
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).expect("memory takes all that is written");
    bytes.into_inner()
}
