//! Pictures of heights, read as floats without conversion of colours, and interpolated.

use crate::{LoadError, atlas, baked::wrapped, files, image};
use ::image::DynamicImage;
use glam::Vec2;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use throng_base::math::linear_from_srgb;
use throng_scene::{Rgba, TexelImage, Wrap};

/// What is read of the channels of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channels {
    /// The brightness of colours.
    Brightness,
    /// One channel, 0 to 3.
    One(u8),
    /// All channels.
    All,
}

/// A picture of heights. Its texels are linear, from 0 to 1 if it has 8 or 16 bits, and of any value if it has floats.
#[derive(Clone, Debug)]
pub struct HeightPicture {
    /// One picture, or tiles (UDIM) with their columns and rows.
    tiles: Vec<((i64, i64), Values)>,
    is_tiled: bool,
    wrap: [Wrap; 2],
}

/// The texels of a picture, row-major from the top.
#[derive(Clone, Debug)]
struct Values {
    width: usize,
    height: usize,
    /// Number of floats per texel: 1, which stands in all channels, or 4.
    channels: usize,
    values: Vec<f32>,
}

impl HeightPicture {
    /// Reads a picture. `bytes` is its content, if it is not a file of its own. With `decode`, integers are sRGB.
    ///
    /// # Errors
    /// If the picture is missing, damaged or too large.
    pub fn read(
        (path, bytes): (&Path, Option<&[u8]>),
        channels: Channels,
        decode: bool,
        wrap: [Wrap; 2],
    ) -> Result<Self, LoadError> {
        let values = match bytes {
            Some(bytes) => Values::of(image::decode_map(path, bytes)?, channels, decode),
            None => Values::of(image::decode_map(path, &files::read(path)?)?, channels, decode),
        };
        Ok(Self { tiles: vec![((0, 0), values)], is_tiled: false, wrap })
    }

    /// Reads the tiles of a picture, given by their numbers and files.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn of_tiles(tiles: &[(u32, PathBuf)], channels: Channels, decode: bool) -> Result<Self, LoadError> {
        let tile = |(number, path): &(u32, PathBuf)| {
            let (column, row) = atlas::cell(*number);
            let values = Values::of(image::decode_map(path, &files::read(path)?)?, channels, decode);
            Ok::<_, LoadError>(((i64::from(column), i64::from(row)), values))
        };
        let tiles = tiles.par_iter().map(tile).collect::<Result<_, LoadError>>()?;
        Ok(Self { tiles, is_tiled: true, wrap: [Wrap::Clamp; 2] })
    }

    /// The brightness of a picture in memory.
    pub fn of_picture(picture: &TexelImage, wrap: [Wrap; 2]) -> Self {
        let values: Vec<f32> = match picture.texels.rgba(picture.width, picture.height) {
            Rgba::Bytes(texels) => {
                texels.iter().map(|&[r, g, b, _]| brightness([r, g, b].map(|x| f32::from(x) / 255.0))).collect()
            }
            Rgba::Floats(texels) => texels.iter().map(|&[r, g, b, _]| brightness([r, g, b])).collect(),
        };
        Self::of_values(picture.width as usize, values, wrap)
    }

    /// Heights in memory, row-major from the top.
    pub fn of_values(width: usize, values: Vec<f32>, wrap: [Wrap; 2]) -> Self {
        let values = Values { width, height: values.len() / width.max(1), channels: 1, values };
        Self { tiles: vec![((0, 0), values)], is_tiled: false, wrap }
    }

    /// The value at texture coordinates, with v = 0 at the bottom. None where no tile is.
    pub fn at(&self, uv: Vec2) -> Option<[f32; 4]> {
        if !self.is_tiled {
            return self.tiles.first().map(|(_, values)| values.at([uv.x, uv.y].map(f64::from), self.wrap));
        }
        let cell = (uv.x.floor() as i64, uv.y.floor() as i64);
        // The upper edge of the last tile belongs to it.
        let near = |edge: f32, at: i64| if edge == at as f32 { [at, at - 1] } else { [at; 2] };
        let cells = near(uv.y, cell.1).into_iter().flat_map(|row| near(uv.x, cell.0).map(|column| (column, row)));
        let mut found = cells.filter_map(|cell| self.tiles.iter().find(|(own, _)| *own == cell));
        let ((column, row), values) = found.next()?;
        Some(values.at([f64::from(uv.x) - *column as f64, f64::from(uv.y) - *row as f64], self.wrap))
    }
}

fn brightness([r, g, b]: [f32; 3]) -> f32 {
    if r == g && g == b { r } else { 0.2126 * r + 0.7152 * g + 0.0722 * b }
}

impl Values {
    fn of(picture: DynamicImage, channels: Channels, decode: bool) -> Self {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let is_float = matches!(picture, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_));
        let linear = |x: f32| match decode && !is_float {
            true => linear_from_srgb(x),
            false if x.is_finite() => x,
            false => 0.0,
        };
        let is_grey = channels != Channels::One(3);
        let (count, values): (usize, Vec<f32>) = match picture {
            DynamicImage::ImageLuma8(grey) if is_grey => {
                (1, grey.into_raw().into_par_iter().map(|x| linear(f32::from(x) / 255.0)).collect())
            }
            DynamicImage::ImageLuma16(grey) if is_grey => {
                (1, grey.into_raw().into_par_iter().map(|x| linear(f32::from(x) / 65535.0)).collect())
            }
            other => {
                let all = other.into_rgba32f().into_raw();
                let texels = all
                    .as_chunks::<4>()
                    .0
                    .par_iter()
                    .map(|&[r, g, b, a]| [linear(r), linear(g), linear(b), if a.is_finite() { a } else { 0.0 }]);
                match channels {
                    Channels::Brightness => (1, texels.map(|[r, g, b, _]| brightness([r, g, b])).collect()),
                    Channels::One(channel) => (1, texels.map(|texel| texel[usize::from(channel.min(3))]).collect()),
                    Channels::All => (4, texels.collect::<Vec<[f32; 4]>>().into_flattened()),
                }
            }
        };
        Self { width, height, channels: count, values }
    }

    /// The bilinear value at coordinates, whose unit square is the picture.
    fn at(&self, [u, v]: [f64; 2], wrap: [Wrap; 2]) -> [f32; 4] {
        let (x, y) = (u * self.width as f64 - 0.5, (1.0 - v) * self.height as f64 - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let (across, down) = ((x - left) as f32, (y - top) as f32);
        let columns = [left, left + 1.0].map(|x| wrapped(x as i64, self.width as i64, wrap[0]));
        let [upper, lower] = [top, top + 1.0].map(|y| {
            let row = wrapped(y as i64, self.height as i64, wrap[1]);
            let [a, b] = columns.map(|column| self.texel(row * self.width + column));
            std::array::from_fn::<f32, 4, _>(|i| a[i] + (b[i] - a[i]) * across)
        });
        std::array::from_fn(|i| upper[i] + (lower[i] - upper[i]) * down)
    }

    fn texel(&self, index: usize) -> [f32; 4] {
        match self.channels {
            1 => self.values.get(index).map_or([0.0; 4], |&value| [value; 4]),
            _ => self.values.get(4 * index..4 * index + 4).map_or([0.0; 4], |t| [t[0], t[1], t[2], t[3]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::image::{ImageBuffer, ImageFormat, Luma, Rgb};
    use std::io::Cursor;

    fn png(picture: &DynamicImage) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, ImageFormat::Png).expect("encodes");
        bytes.into_inner()
    }

    fn read(bytes: &[u8], channels: Channels, decode: bool) -> HeightPicture {
        HeightPicture::read((Path::new("h.png"), Some(bytes)), channels, decode, [Wrap::Repeat; 2])
            .unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn sixteen_bits_keep_all_steps_and_middles_of_texels_are_exact() {
        let picture = DynamicImage::ImageLuma16(ImageBuffer::from_fn(4, 1, |x, _| Luma([257 + x as u16])));
        let heights = read(&png(&picture), Channels::One(0), false);
        for x in 0..4 {
            let wanted = (257 + x) as f32 / 65535.0;
            assert_eq!(heights.at(Vec2::new((x as f32 + 0.5) / 4.0, 0.5)), Some([wanted; 4]));
        }
        // Half-way between the last and the first texel, as the picture repeats.
        let seam = heights.at(Vec2::new(1.0, 0.5)).unwrap_or_default()[0];
        assert!((seam - (257.0 + 1.5) / 65535.0).abs() < 1e-9);
    }

    #[test]
    fn the_bottom_row_is_at_v_0_and_channels_are_chosen() {
        let picture = ImageBuffer::from_fn(1, 2, |_, y| Rgb([51_u8, 255 * y as u8, 0]));
        let bytes = png(&DynamicImage::ImageRgb8(picture));
        let at = |channels, decode, v| read(&bytes, channels, decode).at(Vec2::new(0.5, v)).unwrap_or_default();
        assert_eq!(at(Channels::One(1), false, 0.25), [1.0; 4]);
        assert_eq!(at(Channels::One(1), false, 0.75), [0.0; 4]);
        assert_eq!(at(Channels::All, false, 0.75), [0.2, 0.0, 0.0, 1.0]);
        assert_eq!(at(Channels::One(0), true, 0.75)[0], linear_from_srgb(0.2));
        assert!((at(Channels::Brightness, false, 0.25)[0] - (0.2 * 0.2126 + 0.7152)).abs() < 1e-6);
    }

    #[test]
    fn tiles_are_read_by_their_numbers() {
        let folder = tempfile::tempdir().expect("a directory");
        let tile = |number: u32, grey: u8| {
            let path = folder.path().join(format!("{number}.png"));
            let picture = ImageBuffer::from_pixel(2, 2, Luma([grey]));
            DynamicImage::ImageLuma8(picture).save(&path).expect("writes");
            (number, path)
        };
        let tiles = [tile(1001, 0), tile(1002, 51), tile(1011, 255)];
        let heights = HeightPicture::of_tiles(&tiles, Channels::One(0), false).unwrap_or_else(|e| panic!("{e}"));
        let at = |u: f32, v: f32| heights.at(Vec2::new(u, v)).map(|texel| texel[0]);
        assert_eq!([at(0.5, 0.5), at(1.0, 0.5), at(2.0, 1.0), at(0.3, 1.2)], [0.0, 0.2, 0.2, 1.0].map(Some));
        assert_eq!(at(1.5, 1.5), None);
    }

    #[test]
    fn values_that_are_not_finite_are_0() {
        let values = Values::of(
            DynamicImage::ImageRgb32F(ImageBuffer::from_fn(3, 1, |x, _| {
                Rgb([[f32::NAN, -2.5, f32::INFINITY][x as usize]; 3])
            })),
            Channels::Brightness,
            false,
        );
        assert_eq!(values.values, [0.0, -2.5, 0.0]);
    }
}
