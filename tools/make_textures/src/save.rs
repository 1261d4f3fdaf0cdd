//! Evaluates painters over the unit square and writes the files.

use crate::surface::Surface;
use glam::{Vec2, Vec3, Vec4};
use image::{ImageResult, Rgb, RgbImage, Rgba, RgbaImage, codecs::jpeg::JpegEncoder};
use std::{
    fs::{self, File},
    io::BufWriter,
    path::Path,
};

/// Writes a file.
pub type Writer = Box<dyn Fn(&Path) -> ImageResult<()>>;

/// Quality of colours, which texture filters smooth anyway.
const COLOR_QUALITY: u8 = 80;
/// Quality of normals, whose blocks would show in highlights.
const NORMAL_QUALITY: u8 = 84;

/// Creates the folder of a file unless it exists.
pub fn create_folder(path: &Path) -> ImageResult<()> {
    Ok(path.parent().map_or(Ok(()), fs::create_dir_all)?)
}

/// Saves the colours (sRGB, 0 to 1) of a floor at the middles of its pixels.
pub fn save_floor(path: &Path, color: fn(Vec2) -> Vec3) -> ImageResult<()> {
    const SIZE: u32 = 512;
    let image = RgbImage::from_fn(SIZE, SIZE, |x, y| {
        let at = (Vec2::new(x as f32, y as f32) + 0.5) / SIZE as f32;
        levels(color(at))
    });
    image.save(path)
}

/// Saves colours (sRGB, 0 to 1), each the mean of four in its pixel.
pub fn save_color(path: &Path, [width, height]: [u32; 2], color: &dyn Fn(Vec2) -> Vec3) -> ImageResult<()> {
    let size = Vec2::new(width as f32, height as f32);
    let image = RgbImage::from_fn(width, height, |x, y| {
        let corner = Vec2::new(x as f32, y as f32);
        let sum: Vec3 = QUARTERS.iter().map(|&[dx, dy]| color((corner + Vec2::new(dx, dy)) / size)).sum();
        levels(sum / 4.0)
    });
    save_jpeg(path, &image, COLOR_QUALITY)
}

/// Saves colours with alpha, each the mean of four in its pixel.
pub fn save_cutout(path: &Path, [width, height]: [u32; 2], color: &dyn Fn(Vec2) -> Vec4) -> ImageResult<()> {
    let size = Vec2::new(width as f32, height as f32);
    let image = RgbaImage::from_fn(width, height, |x, y| {
        let corner = Vec2::new(x as f32, y as f32);
        let sum: Vec4 = QUARTERS.iter().map(|&[dx, dy]| color((corner + Vec2::new(dx, dy)) / size)).sum();
        let Rgb([r, g, b]) = levels((sum / 4.0).truncate());
        Rgba([r, g, b, (sum.w / 4.0 * 255.0).round() as u8])
    });
    image.save(path)
}

/// Saves a normal map, x to the right and y upwards, of a surface whose side has this length in metres.
pub fn save_normals(path: &Path, size: u32, side: f32, painter: fn(Vec2) -> Surface) -> ImageResult<()> {
    let heights: Vec<f32> = (0..size * size)
        .map(|i| {
            let corner = Vec2::new((i % size) as f32, (i / size) as f32);
            let sum: f32 =
                QUARTERS.iter().map(|&[dx, dy]| painter((corner + Vec2::new(dx, dy)) / size as f32).height).sum();
            sum / 4.0
        })
        .collect();
    let height = |x: u32, y: u32| heights[(y % size * size + x % size) as usize];
    let texel = side / size as f32;
    let image = RgbImage::from_fn(size, size, |x, y| {
        let along_x = (height(x + 1, y) - height(x + size - 1, y)) / (2.0 * texel);
        let along_y = (height(x, y + size - 1) - height(x, y + 1)) / (2.0 * texel);
        levels(Vec3::new(-along_x, -along_y, 1.0).normalize() * 0.5 + 0.5)
    });
    save_jpeg(path, &image, NORMAL_QUALITY)
}

/// Saves the roughness in green, as glTF does; metalness, in blue, is 0.
pub fn save_roughness(path: &Path, size: u32, painter: fn(Vec2) -> Surface) -> ImageResult<()> {
    let image = RgbImage::from_fn(size, size, |x, y| {
        let corner = Vec2::new(x as f32, y as f32);
        let sum: f32 =
            QUARTERS.iter().map(|&[dx, dy]| painter((corner + Vec2::new(dx, dy)) / size as f32).roughness).sum();
        levels(Vec3::new(0.0, sum / 4.0, 0.0))
    });
    save_jpeg(path, &image, COLOR_QUALITY)
}

/// Positions of samples in a pixel.
const QUARTERS: [[f32; 2]; 4] = [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]];

fn levels(color: Vec3) -> Rgb<u8> {
    let levels = (color.clamp(Vec3::ZERO, Vec3::ONE) * 255.0).round();
    Rgb(levels.to_array().map(|level| level as u8))
}

fn save_jpeg(path: &Path, image: &RgbImage, quality: u8) -> ImageResult<()> {
    let file = BufWriter::new(File::create(path)?);
    JpegEncoder::new_with_quality(file, quality).encode_image(image)
}
