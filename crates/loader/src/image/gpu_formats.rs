//! Texels in GPU formats, and DDS files. If a file contains several pictures, the first and largest is read.

use dds::{ColorFormat, Format, ImageViewMut, Precision, Size};
use image::{DynamicImage, Rgba32FImage, RgbaImage};
use std::{fmt::Display, io::Cursor};
use throng_scene::{CompactFormat, CompactTexels, TexelImage, Texels, unit_blue};

/// First bytes of every DDS file.
pub const DDS_MAGIC: &[u8] = b"DDS ";

/// A check of a picture's size: receives width, height, and the bytes needed in addition to 8-bit texels. Returns an error if memory does
/// not suffice.
pub trait Room: FnOnce(u32, u32, u64) -> Result<(), String> {}

impl<F: FnOnce(u32, u32, u64) -> Result<(), String>> Room for F {}

/// Bytes of a float texel in addition to 8-bit channels, in the decoded picture and in the final one.
pub const FLOATS_EXTRA: u64 = 2 * (16 - 4);

/// The end of a sentence about a picture that cannot be decoded.
pub fn damaged(error: impl Display) -> String {
    format!("the picture is damaged: {error}")
}

/// Decodes a DDS file after `room` has accepted its size.
///
/// # Errors
/// If the file is damaged or `room` rejects it. The text is the end of a sentence about the picture.
pub fn dds(bytes: &[u8], room: impl Room) -> Result<DynamicImage, String> {
    let mut decoder = decoder(bytes)?;
    texels(decoder.format(), decoder.main_size(), 0, room, |view| decoder.read_surface(view).map_err(damaged))
}

fn decoder(bytes: &[u8]) -> Result<dds::Decoder<Cursor<&[u8]>>, String> {
    // Many programs write wrong lengths into headers.
    let options = dds::header::ParseOptions::new_permissive(Some(bytes.len() as u64));
    dds::Decoder::new_with_options(Cursor::new(bytes), &options).map_err(damaged)
}

/// The blocks of a DDS file; `None` if it has none that stay compact.
///
/// # Errors
/// If the file is damaged or `room` rejects it. The text is the end of a sentence about the picture.
pub fn dds_blocks(bytes: &[u8], room: impl Room) -> Result<Option<TexelImage>, String> {
    let decoder = decoder(bytes)?;
    let Some(format) = compact(decoder.format()) else { return Ok(None) };
    let Size { width, height } = decoder.main_size();
    room(width, height, 0)?;
    let cursor = decoder.into_reader();
    let blocks = &bytes[cursor.position() as usize..];
    let blocks =
        blocks.get(..format.bytes(width, height)).ok_or("the picture is damaged: the file ends before its texels")?;
    Ok(Some(block_image((width, height), format, blocks.to_vec())))
}

/// The format of blocks that stay compact.
pub fn compact(format: Format) -> Option<CompactFormat> {
    Some(match format {
        Format::BC1_UNORM => CompactFormat::Bc1,
        Format::BC3_UNORM => CompactFormat::Bc3,
        Format::BC4_UNORM => CompactFormat::Bc4,
        Format::BC5_UNORM => CompactFormat::Bc5,
        Format::BC7_UNORM => CompactFormat::Bc7,
        _ => return None,
    })
}

/// A picture of blocks.
pub fn block_image((width, height): (u32, u32), format: CompactFormat, bytes: Vec<u8>) -> TexelImage {
    TexelImage { width, height, texels: Texels::Compact(CompactTexels { format, is_srgb: true, bytes }) }
}

/// The picture of texels in `format`, which `decode` writes: floats for float formats, otherwise eight bits per channel. `more` is the
/// number of bytes needed in addition to the picture.
///
/// # Errors
/// If `decode` fails or `room` rejects the size. The text is the end of a sentence about the picture.
pub fn texels(
    format: Format,
    size: Size,
    more: u64,
    room: impl Room,
    decode: impl FnOnce(ImageViewMut) -> Result<(), String>,
) -> Result<DynamicImage, String> {
    let floats = format.precision() == Precision::F32;
    let extra = if floats { FLOATS_EXTRA.saturating_mul(size.pixels()) } else { 0 };
    room(size.width, size.height, more.saturating_add(extra))?;
    let view = |bytes, color| ImageViewMut::new(bytes, size, color).ok_or("the picture is empty");
    if floats {
        let mut image = Rgba32FImage::new(size.width, size.height);
        decode(view(bytemuck::cast_slice_mut(&mut image), ColorFormat::RGBA_F32)?)?;
        return Ok(DynamicImage::ImageRgba32F(image));
    }
    let mut image = RgbaImage::new(size.width, size.height);
    decode(view(&mut image, ColorFormat::RGBA_U8)?)?;
    // These two channels are usually normals.
    if matches!(format, Format::BC5_UNORM | Format::BC5_SNORM) {
        image.pixels_mut().for_each(|texel| texel.0[2] = unit_blue(texel.0[0], texel.0[1]));
    }
    Ok(DynamicImage::ImageRgba8(image))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A block of 4x4 red texels, compressed as BC1.
    pub fn dds_file() -> Vec<u8> {
        let mut words = [0u32; 31];
        // Size, flags, height, width and bytes; size, flags and name of the format; the flag of textures.
        for (at, word) in [(0, 124), (1, 0x81007), (2, 4), (3, 4), (4, 8), (18, 32), (19, 4), (26, 0x1000)] {
            words[at] = word;
        }
        words[20] = u32::from_le_bytes(*b"DXT1");
        let header = words.iter().flat_map(|word| word.to_le_bytes());
        DDS_MAGIC.iter().copied().chain(header).chain([0, 0xf8, 0, 0, 0, 0, 0, 0]).collect()
    }

    fn first_texel(image: Result<DynamicImage, String>) -> [u8; 4] {
        let image = image.unwrap_or_else(|e| panic!("{e}")).into_rgba8();
        assert_eq!(image.dimensions(), (4, 4));
        image.get_pixel(0, 0).0
    }

    #[test]
    fn blocks_become_texels() {
        assert_eq!(first_texel(dds(&dds_file(), |_, _, _| Ok(()))), [255, 0, 0, 255]);
    }

    #[test]
    fn room_is_asked_for_first() {
        let refuse = |width, height, _| Err(format!("{width}x{height} are too many"));
        let mut file = dds_file();
        file[13] = 1;
        assert_eq!(dds(&file, refuse).err(), Some("4x260 are too many".to_owned()));
    }
}
