//! A small texture with one tile for each kind of surface, such as hide, horn and hoof.

use glam::{Vec2, Vec3};
use image::{ImageFormat, Rgb, RgbImage};
use std::io::Cursor;

/// Colour (sRGB, 0 to 1) over the unit square; y = 0 is the top row of the tile.
pub type Painter = fn(Vec2) -> Vec3;

/// Tiles side by side.
pub struct Atlas {
    pub tiles: &'static [Painter],
}

/// Side of a tile, in texels.
const SIDE: u32 = 64;

impl Atlas {
    /// Texture coordinates of a position in a tile, both from 0 to 1. The outermost texels are avoided, so that tiles do not mix.
    pub fn place(&self, tile: usize, at: Vec2) -> Vec2 {
        let margin = 1.0 / SIDE as f32;
        let inside = at.clamp(Vec2::splat(margin), Vec2::splat(1.0 - margin));
        Vec2::new((tile as f32 + inside.x) / self.tiles.len() as f32, inside.y)
    }

    /// The picture as a PNG file.
    pub fn png(&self) -> Vec<u8> {
        let image = RgbImage::from_fn(SIDE * self.tiles.len() as u32, SIDE, |x, y| {
            let at = (Vec2::new((x % SIDE) as f32, y as f32) + 0.5) / SIDE as f32;
            let levels = self.tiles[(x / SIDE) as usize](at).clamp(Vec3::ZERO, Vec3::ONE) * 255.0;
            Rgb(levels.round().to_array().map(|level| level as u8))
        });
        let mut file = Cursor::new(Vec::new());
        image.write_to(&mut file, ImageFormat::Png).expect("memory takes all bytes");
        file.into_inner()
    }
}
