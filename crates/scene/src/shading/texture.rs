//! Images of materials.

use dds::{ColorFormat, DecodeOptions, Format, ImageViewMut, Size};
use rayon::prelude::*;
use std::borrow::Cow;

/// Rows of blocks that are decoded at once.
const BLOCK_ROWS: usize = 16;

/// An image for materials. v = 0 is the bottom row of the picture, as in OBJ files; `data` starts at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Name for messages.
    pub name: String,
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Row-major, the first row at the top.
    pub texels: Texels,
    /// Wrap modes along u and along v.
    pub wrap: [Wrap; 2],
    /// Whether texels are magnified without interpolation.
    pub nearest: bool,
    /// Whether distant texels are averaged, unless a setting turns that off for all textures.
    pub filtered: bool,
}

impl Texture {
    /// The texture with one texel if all are equal, and with a byte per texel if all are grey and opaque.
    pub fn compacted(mut self) -> Self {
        let (Texels::Srgb8(texels) | Texels::Linear8(texels)) = &mut self.texels else { return self };
        let Some(&first) = texels.first() else { return self };
        let is_grey = |&[r, g, b, a]: &[u8; 4]| r == g && g == b && a == u8::MAX;
        // Most textures have another texel soon.
        if texels.par_iter().with_min_len(1 << 16).all(|&texel| texel == first) {
            texels.truncate(1);
            texels.shrink_to_fit();
            (self.width, self.height) = (1, 1);
        } else if texels.par_iter().with_min_len(1 << 16).all(is_grey) {
            let bytes = texels.iter().map(|texel| texel[0]).collect();
            let is_srgb = self.texels.is_srgb();
            self.texels = Texels::Compact(CompactTexels { format: CompactFormat::Grey, is_srgb, bytes });
        }
        self
    }
}

/// A picture in memory, for textures and environments.
#[derive(Clone, Debug, PartialEq)]
pub struct TexelImage {
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Row-major, the first row at the top.
    pub texels: Texels,
}

/// The texels of a texture.
#[derive(Clone, Debug, PartialEq)]
pub enum Texels {
    /// sRGB-encoded 8-bit RGB with linear alpha.
    Srgb8(Vec<[u8; 4]>),
    /// 8-bit data (normals, roughness, weights), 0 to 1.
    Linear8(Vec<[u8; 4]>),
    /// Linear radiance or reflectance.
    Linear(Vec<[f32; 4]>),
    /// Eight bits per channel in less memory.
    Compact(CompactTexels),
}

/// Texels with eight bits per channel in a quarter of the memory or less.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactTexels {
    /// What the bytes are.
    pub format: CompactFormat,
    /// Whether colours are encoded in sRGB.
    pub is_srgb: bool,
    /// Row-major texels, or blocks of 4x4 texels, the first row at the top.
    pub bytes: Vec<u8>,
}

/// Formats of [`CompactTexels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompactFormat {
    /// One byte for three equal channels.
    Grey,
    /// 8 bytes per block.
    Bc1,
    /// As [`Self::Bc1`], with black instead of transparent texels.
    Bc1Opaque,
    /// 16 bytes per block, with alpha.
    Bc3,
    /// 8 bytes per block, for three equal channels.
    Bc4,
    /// 16 bytes per block, for red and green. Blue makes normals of unit length of them.
    Bc5,
    /// 16 bytes per block, with alpha.
    Bc7,
}

impl CompactFormat {
    /// Bytes of a block of 4x4 texels; `None` without blocks.
    pub fn block_bytes(self) -> Option<usize> {
        match self {
            Self::Grey => None,
            Self::Bc1 | Self::Bc1Opaque | Self::Bc4 => Some(8),
            Self::Bc3 | Self::Bc5 | Self::Bc7 => Some(16),
        }
    }

    /// Bytes of a picture.
    pub fn bytes(self, width: u32, height: u32) -> usize {
        let (width, height) = (width as usize, height as usize);
        match self.block_bytes() {
            None => width * height,
            Some(bytes) => width.div_ceil(4) * height.div_ceil(4) * bytes,
        }
    }

    fn dds(self) -> Format {
        match self {
            Self::Grey => Format::R8_UNORM,
            Self::Bc1 | Self::Bc1Opaque => Format::BC1_UNORM,
            Self::Bc3 => Format::BC3_UNORM,
            Self::Bc4 => Format::BC4_UNORM,
            Self::Bc5 => Format::BC5_UNORM,
            Self::Bc7 => Format::BC7_UNORM,
        }
    }
}

impl CompactTexels {
    /// RGBA of all texels of a picture of this size.
    ///
    /// # Panics
    /// If there are fewer bytes than the picture needs.
    pub fn decoded(&self, width: u32, height: u32) -> Vec<[u8; 4]> {
        assert!(self.bytes.len() >= self.format.bytes(width, height), "a byte for each texel");
        let mut texels = vec![[0; 4]; width as usize * height as usize];
        let rows = if self.format.block_bytes().is_some() { 4 * BLOCK_ROWS } else { BLOCK_ROWS };
        let parts = texels.par_chunks_mut(rows * width as usize).enumerate();
        parts.for_each(|(part, texels)| {
            let first = self.format.bytes(width, (part * rows) as u32);
            let size = Size::new(width, (texels.len() / width as usize) as u32);
            let view = ImageViewMut::new(texels.as_flattened_mut(), size, ColorFormat::RGBA_U8);
            let read = view
                .map(|view| dds::decode(&mut &self.bytes[first..], view, self.format.dds(), &DecodeOptions::default()));
            assert!(matches!(read, Some(Ok(()))), "blocks of a known format");
            match self.format {
                CompactFormat::Bc1Opaque => texels.iter_mut().for_each(|texel| texel[3] = u8::MAX),
                CompactFormat::Bc5 => texels.iter_mut().for_each(|texel| texel[2] = unit_blue(texel[0], texel[1])),
                _ => {}
            }
        });
        texels
    }
}

/// The blue of a normal of unit length with this red and green. Kernels use the same formula (`kernels/geom/blocks.h`).
pub fn unit_blue(red: u8, green: u8) -> u8 {
    let [x, y] = [red, green].map(|channel| 2 * i32::from(channel) - 255);
    let square = (255 * 255 - x * x - y * y).max(0);
    ((255.0 + (square as f32).sqrt()) * 0.5 + 0.5) as u8
}

impl Texels {
    /// Number of texels; of blocks, that of all their texels.
    pub fn count(&self) -> usize {
        match self {
            Self::Srgb8(texels) | Self::Linear8(texels) => texels.len(),
            Self::Linear(texels) => texels.len(),
            Self::Compact(compact) => match compact.format.block_bytes() {
                None => compact.bytes.len(),
                Some(bytes) => compact.bytes.len() / bytes * 16,
            },
        }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Srgb8(texels) | Self::Linear8(texels) => texels.as_flattened(),
            Self::Linear(texels) => bytemuck::cast_slice(texels),
            Self::Compact(compact) => &compact.bytes,
        }
    }

    /// Whether colours are encoded in sRGB.
    pub fn is_srgb(&self) -> bool {
        matches!(self, Self::Srgb8(_) | Self::Compact(CompactTexels { is_srgb: true, .. }))
    }

    /// The channels of all texels of a picture of this size.
    ///
    /// # Panics
    /// If compact texels are fewer than the picture has.
    pub fn rgba(&self, width: u32, height: u32) -> Rgba<'_> {
        match self {
            Self::Srgb8(texels) | Self::Linear8(texels) => Rgba::Bytes(Cow::Borrowed(texels)),
            Self::Linear(texels) => Rgba::Floats(Cow::Borrowed(texels)),
            Self::Compact(compact) => Rgba::Bytes(Cow::Owned(compact.decoded(width, height))),
        }
    }

    /// As [`Self::rgba`], without a copy.
    ///
    /// # Panics
    /// If compact texels are fewer than the picture has.
    pub fn into_rgba(self, width: u32, height: u32) -> Rgba<'static> {
        match self {
            Self::Srgb8(texels) | Self::Linear8(texels) => Rgba::Bytes(Cow::Owned(texels)),
            Self::Linear(texels) => Rgba::Floats(Cow::Owned(texels)),
            Self::Compact(compact) => Rgba::Bytes(Cow::Owned(compact.decoded(width, height))),
        }
    }

    /// The texels with colours of eight bits in sRGB or not. Floats are linear in any case.
    pub fn in_space(self, is_srgb: bool) -> Self {
        match self {
            Self::Srgb8(texels) | Self::Linear8(texels) => Self::of_bytes(texels, is_srgb),
            Self::Compact(compact) => Self::Compact(CompactTexels { is_srgb, ..compact }),
            floats @ Self::Linear(_) => floats,
        }
    }

    /// Eight bits per channel.
    pub fn of_bytes(texels: Vec<[u8; 4]>, is_srgb: bool) -> Self {
        if is_srgb { Self::Srgb8(texels) } else { Self::Linear8(texels) }
    }
}

/// RGBA of texels.
#[derive(Clone, Debug)]
pub enum Rgba<'a> {
    /// With eight bits per channel.
    Bytes(Cow<'a, [[u8; 4]]>),
    /// Linear floats.
    Floats(Cow<'a, [[f32; 4]]>),
}

/// Wrap mode of a texture outside of UV 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wrap {
    /// Repeats the texture.
    #[default]
    Repeat,
    /// Continues the texels at the edge.
    Clamp,
    /// Repeats the texture, with every other copy mirrored.
    Mirror,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_texels_are_decoded_in_parts() {
        let (width, height) = (5, 150);
        let grey: Vec<u8> = (0..width * height).map(|i| (i % 251) as u8).collect();
        let expected: Vec<[u8; 4]> = grey.iter().map(|&value| [value, value, value, 255]).collect();
        let texels = CompactTexels { format: CompactFormat::Grey, is_srgb: true, bytes: grey };
        assert_eq!(texels.decoded(width, height), expected);
        // One colour per block, of which the last in a row and in a column reach beyond the picture.
        let format = CompactFormat::Bc4;
        let blocks = (0..2 * height.div_ceil(4)).flat_map(|block| [block as u8, 0, 0, 0, 0, 0, 0, 0]);
        let texels = CompactTexels { format, is_srgb: false, bytes: blocks.collect() };
        for (at, texel) in (0..).zip(texels.decoded(width, height)) {
            let block = (at / width / 4 * 2 + at % width / 4) as u8;
            assert_eq!(texel, [block, block, block, 255], "{at}");
        }
    }

    #[test]
    fn blue_completes_a_unit_vector() {
        for [red, green] in [[128, 128], [255, 128], [10, 128], [60, 200], [255, 255]] {
            let [x, y, z] = [red, green, unit_blue(red, green)].map(|channel| f32::from(channel) / 127.5 - 1.0);
            let length = (x * x + y * y + z * z).sqrt();
            assert!(z > -0.01 && (length - 1.0).abs() < 0.01 || z.abs() < 0.01 && length > 1.0, "{x} {y} {z}");
        }
    }
}
