//! Pictures in formats of GPUs: DDS, and KTX 2 with Basis Universal. Of several pictures in a file, the first and largest is read.

use image::{DynamicImage, RgbaImage};
use std::io::Cursor;

/// How every DDS file begins.
pub const DDS_MAGIC: &[u8] = b"DDS ";
/// How every KTX 2 file begins.
pub const KTX2_MAGIC: &[u8] = b"\xabKTX 20\xbb\r\n\x1a\n";

/// Decodes a DDS file, once `room` has agreed to width, height and bytes beside those of the result.
///
/// # Errors
/// The end of a sentence about the picture.
pub fn dds(bytes: &[u8], room: impl FnOnce(u32, u32, u64) -> Result<(), String>) -> Result<DynamicImage, String> {
    let damaged = |e: dds::DecodingError| format!("the picture is damaged: {e}");
    // Many programs write wrong lengths into headers.
    let options = dds::header::ParseOptions::new_permissive(Some(bytes.len() as u64));
    let mut decoder = dds::Decoder::new_with_options(Cursor::new(bytes), &options).map_err(damaged)?;
    let size = decoder.main_size();
    room(size.width, size.height, 0)?;
    let mut texels = RgbaImage::new(size.width, size.height);
    let view = dds::ImageViewMut::new(&mut texels, size, dds::ColorFormat::RGBA_U8);
    decoder.read_surface(view.ok_or("the picture is empty")?).map_err(damaged)?;
    Ok(DynamicImage::ImageRgba8(texels))
}

/// Decodes a KTX 2 file, once `room` has agreed to width, height and bytes beside those of the result.
///
/// # Errors
/// The end of a sentence about the picture.
#[cfg(feature = "ktx2")]
pub fn ktx2(bytes: &[u8], room: impl FnOnce(u32, u32, u64) -> Result<(), String>) -> Result<DynamicImage, String> {
    use basisu::{DecodeFlags, TargetFormat, Transcoder};
    let long = |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes);
    let (width, height) = (long(20) as u32, (long(20) >> 32) as u32);
    // The length of the largest picture before it was compressed as a whole, where it was.
    room(width, height, long(96))?;
    let unknown = "the KTX 2 picture is damaged, or not of Basis Universal: convert it to PNG, JPEG or WebP";
    let transcoder = Transcoder::new(bytes).map_err(|_| unknown)?;
    let texels = transcoder.transcode(0, TargetFormat::Rgba32, DecodeFlags::NONE);
    let texels = texels.map_err(|e| format!("the picture is damaged: {e:?}"))?;
    let image = RgbaImage::from_raw(width, height, texels).ok_or("the picture is damaged: it has another size")?;
    Ok(DynamicImage::ImageRgba8(image))
}

/// Says how to get a program that reads KTX 2.
///
/// # Errors
/// Always.
#[cfg(not(feature = "ktx2"))]
pub fn ktx2(_: &[u8], _: impl FnOnce(u32, u32, u64) -> Result<(), String>) -> Result<DynamicImage, String> {
    Err("this build reads no KTX 2 pictures: build with `--features ktx2`, or convert it to PNG, JPEG or WebP"
        .to_owned())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A block of 4x4 red texels, compressed as BC1.
    pub fn dds_file() -> Vec<u8> {
        let mut words = [0u32; 31];
        // Size, flags, height, width and bytes; size, flags and name of the format; a texture.
        for (at, word) in [(0, 124), (1, 0x81007), (2, 4), (3, 4), (4, 8), (18, 32), (19, 4), (26, 0x1000)] {
            words[at] = word;
        }
        words[20] = u32::from_le_bytes(*b"DXT1");
        let header = words.iter().flat_map(|word| word.to_le_bytes());
        DDS_MAGIC.iter().copied().chain(header).chain([0, 0xf8, 0, 0, 0, 0, 0, 0]).collect()
    }

    /// A block of 4x4 texels of one colour, compressed as UASTC.
    pub fn ktx2_file([r, g, b, a]: [u8; 4]) -> Vec<u8> {
        let mut file = KTX2_MAGIC.to_vec();
        // Format and its size, width, height, depth, layers, faces, levels, scheme; where descriptors and values are.
        let header = [0u32, 1, 4, 4, 0, 0, 1, 1, 0, 104, 44, 0, 0, 0, 0, 0, 0];
        // Where the level is.
        let level = [160u32, 0, 16, 0, 16, 0];
        let descriptor =
            [44u32, 0, 2 | 40 << 16, 166 | 1 << 8 | 2 << 16, 3 | 3 << 8, 16, 0, 127 << 16 | 3 << 24, 0, 0, u32::MAX];
        let words = header.iter().chain(&level).chain(&descriptor);
        file.extend(words.flat_map(|word| word.to_le_bytes()));
        file.resize(160, 0);
        // The mode of a single colour, and the colour.
        let color = u128::from(u32::from_le_bytes([r, g, b, a]));
        file.extend((0x17 | color << 5).to_le_bytes());
        file
    }

    fn first_texel(image: Result<DynamicImage, String>) -> [u8; 4] {
        let image = image.unwrap_or_else(|e| panic!("{e}")).into_rgba8();
        assert_eq!(image.dimensions(), (4, 4));
        image.get_pixel(0, 0).0
    }

    #[test]
    fn blocks_become_texels() {
        assert_eq!(first_texel(dds(&dds_file(), |_, _, _| Ok(()))), [255, 0, 0, 255]);
        #[cfg(feature = "ktx2")]
        assert_eq!(first_texel(ktx2(&ktx2_file([9, 80, 200, 77]), |_, _, _| Ok(()))), [9, 80, 200, 77]);
    }

    #[test]
    fn room_is_asked_for_first() {
        let refuse = |width, height, _| Err(format!("{width}x{height} are too many"));
        let mut file = dds_file();
        file[13] = 1;
        assert_eq!(dds(&file, refuse).err(), Some("4x260 are too many".to_owned()));
        if cfg!(feature = "ktx2") {
            let mut file = ktx2_file([0; 4]);
            file[21] = 1;
            assert_eq!(ktx2(&file, refuse).err(), Some("260x4 are too many".to_owned()));
        }
    }
}
