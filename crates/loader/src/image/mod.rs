//! Pictures in the formats PNG, JPEG, WebP, GIF, TGA, BMP, TIFF, OpenEXR, Radiance HDR, DDS and KTX 2. Formats are detected by content.
//! Pictures with implausibly large sizes are rejected.

mod formats;
pub mod gpu_formats;
pub mod ktx2;
pub mod open_exr;

use super::{LoadError, budget, files};
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use rayon::prelude::*;
use std::{io::Cursor, path::Path};
use throng_base::{guard::guarded, math::linear_from_srgb};
use throng_scene::{FloatImage, Rgba, TexelImage, Texels};

/// Greatest width and height, in pixels.
pub const MAX_SIDE: u32 = 16384;
/// Names of the supported formats, for messages.
const FORMATS: &str = "PNG, JPEG, WebP, GIF, TGA, BMP, TIFF, OpenEXR, HDR, DDS or KTX 2";
/// Number of pixels of the largest height map of a terrain, and maximum number of bytes per pixel for decoding it.
const LARGEST_MAP: u64 = 8193 * 8193;
const MAP_BYTES_PER_PIXEL: u64 = 12;
/// Maximum number of bytes of data other than pixels, such as colour profiles.
const MAX_EXTRAS: u64 = 64 << 20;
/// Greatest radiance; larger values are clamped, because their sums would overflow.
pub const MAX_RADIANCE: f32 = 1e9;

/// Reads and decodes a picture; takes 4 bytes per pixel, 16 for floats.
///
/// # Errors
/// If the file is missing, damaged, not in a supported format, or too large.
pub fn load(path: &Path) -> Result<TexelImage, LoadError> {
    of_bytes(path, &files::read(path)?).map(|(picture, _)| picture)
}

/// As [`load`], for the content of the file at `path`. Also returns whether it has eight bits and three or four channels, as colours usually have.
///
/// # Errors
/// If the picture is damaged, not in a supported format, or too large.
pub fn of_bytes(path: &Path, bytes: &[u8]) -> Result<(TexelImage, bool), LoadError> {
    let reserve = |needed| budget::fits(needed, bytes.len() as u64);
    let decoded = decode(bytes, reserve).map_err(|message| LoadError::file(path, message))?;
    let (width, height) = (decoded.width(), decoded.height());
    let is_colored = matches!(decoded, DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_));
    let texels = match decoded {
        DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_) => linear(decoded),
        _ => Texels::Srgb8(rgba8(decoded)),
    };
    Ok((TexelImage { width, height, texels }, is_colored))
}

/// As [`of_bytes`], but blocks that GPUs decode stay as they are.
///
/// # Errors
/// As [`of_bytes`].
pub fn texels_of_bytes(path: &Path, bytes: &[u8]) -> Result<(TexelImage, bool), LoadError> {
    let reserve = |needed| budget::fits(needed, bytes.len() as u64);
    match blocks(bytes, reserve).map_err(|message| LoadError::file(path, message))? {
        Some(picture) => Ok((picture, true)),
        None => of_bytes(path, bytes),
    }
}

/// The blocks of a picture for GPUs; `None` if the content has none that stay compact.
///
/// # Errors
/// As [`decode`].
pub fn blocks(bytes: &[u8], reserve: impl FnOnce(u64) -> Result<(), String>) -> Result<Option<TexelImage>, String> {
    let panicked = |words: &str| format!("the picture is damaged: {words}");
    // A byte per texel, in the file's order and in the picture.
    let room = room_of(reserve, 1);
    guarded(
        || match bytes {
            _ if bytes.starts_with(gpu_formats::DDS_MAGIC) => gpu_formats::dds_blocks(bytes, room),
            _ if bytes.starts_with(ktx2::MAGIC) => ktx2::blocks(bytes, room),
            _ => Ok(None),
        },
        panicked,
    )
}

/// Reads an environment map and multiplies it by `intensity`. 8-bit pictures are assumed to be sRGB.
///
/// # Errors
/// As [`load`].
#[doc(hidden)]
pub fn load_radiance(path: &Path, intensity: f32) -> Result<FloatImage, LoadError> {
    Ok(radiance(&load(path)?, intensity))
}

/// A picture as radiance, multiplied by `intensity` and by alpha of floats.
pub fn radiance(picture: &TexelImage, intensity: f32) -> FloatImage {
    let data = match picture.texels.rgba(picture.width, picture.height) {
        Rgba::Floats(t) => t.iter().map(|p| [p[0], p[1], p[2]].map(|x| x * p[3] * intensity)).collect(),
        Rgba::Bytes(t) => {
            let table: [f32; 256] = std::array::from_fn(|i| linear_from_srgb(i as f32 / 255.0) * intensity);
            t.iter().map(|p| [p[0], p[1], p[2]].map(|x| table[x as usize])).collect()
        }
    };
    FloatImage { width: picture.width, height: picture.height, data }
}

/// Checks a picture that is given in memory.
///
/// # Errors
/// If it has no texels, too many, or another number than its size says, or if a float is not finite. The text is a sentence.
pub fn check(picture: &TexelImage) -> Result<(), String> {
    let (width, height, count) = (picture.width, picture.height, picture.texels.count());
    check_size(width, height)?;
    let is_whole = match &picture.texels {
        Texels::Compact(compact) => compact.bytes.len() == compact.format.bytes(width, height),
        _ => count as u64 == u64::from(width) * u64::from(height),
    };
    if !is_whole {
        return Err(format!("the picture of {width} by {height} texels has {count}"));
    }
    match &picture.texels {
        Texels::Linear(texels) if !texels.as_flattened().iter().all(|x| x.is_finite()) => {
            Err("the picture has a value that is not finite: every value must be".into())
        }
        _ => Ok(()),
    }
}

/// Reads the brightness of a picture, row-major from the top, and its width. Values of pictures with 8 or 16 bits are from 0 to 1 without
/// conversion; HDR pictures may have any value. Pictures with up to [`LARGEST_MAP`] pixels may be out of proportion to their files, because
/// smooth heights compress well.
///
/// # Errors
/// As [`load`].
pub fn load_brightness(path: &Path) -> Result<(usize, Vec<f32>), LoadError> {
    let decoded = decode_map(path, &files::read(path)?)?;
    Ok((decoded.width() as usize, brightness(decoded)))
}

/// Decodes the heights or densities in a picture, the content of the file at `path`. Pictures with up to [`LARGEST_MAP`] pixels may be out of
/// proportion to their files.
///
/// # Errors
/// As [`of_bytes`].
pub fn decode_map(path: &Path, bytes: &[u8]) -> Result<DynamicImage, LoadError> {
    let is_map = |needed: u64| needed <= LARGEST_MAP * MAP_BYTES_PER_PIXEL;
    let reserve = |needed: u64| match needed.saturating_mul(2) {
        twice if is_map(needed) => files::fits(twice),
        twice => budget::fits(twice, bytes.len() as u64),
    };
    decode(bytes, reserve).map_err(|message| LoadError::file(path, message))
}

/// The brightness of each pixel. Grey pictures are not converted to colours.
fn brightness(image: DynamicImage) -> Vec<f32> {
    match image {
        DynamicImage::ImageLuma8(grey) => grey.into_raw().into_par_iter().map(|g| f32::from(g) / 255.0).collect(),
        DynamicImage::ImageLuma16(grey) => grey.into_raw().into_par_iter().map(|g| f32::from(g) / 65535.0).collect(),
        other => other.to_luma32f().into_raw(),
    }
}

/// Decodes a picture in memory. Once the size is known, and before any allocation of that size, `reserve` receives the maximum number of
/// bytes that this function and [`rgba8`] may take.
///
/// # Errors
/// If the picture is damaged, not in a supported format, or too large, or if `reserve` fails. The text is the end of a sentence about the
/// picture.
pub fn decode(bytes: &[u8], reserve: impl FnOnce(u64) -> Result<(), String>) -> Result<DynamicImage, String> {
    let panicked = |words: &str| format!("the picture is damaged: {words}");
    guarded(|| decode_unguarded(bytes, reserve), panicked)
}

fn decode_unguarded(bytes: &[u8], reserve: impl FnOnce(u64) -> Result<(), String>) -> Result<DynamicImage, String> {
    match bytes {
        _ if bytes.starts_with(gpu_formats::DDS_MAGIC) => gpu_formats::dds(bytes, room(reserve)),
        _ if bytes.starts_with(ktx2::MAGIC) => ktx2::decode(bytes, room(reserve)),
        _ if bytes.starts_with(open_exr::MAGIC) => {
            let floats = room_of(reserve, 16);
            open_exr::decode(Cursor::new(bytes), open_exr::Extent::Frame, floats).map(straight)
        }
        _ => decode_usual(bytes, reserve),
    }
}

/// The check of a picture's size, for 8-bit texels.
fn room(reserve: impl FnOnce(u64) -> Result<(), String>) -> impl gpu_formats::Room {
    room_of(reserve, 4)
}

/// The check of a picture's size, for texels of `texel` bytes.
fn room_of(reserve: impl FnOnce(u64) -> Result<(), String>, texel: u64) -> impl gpu_formats::Room {
    move |width, height, more| {
        check_size(width, height)?;
        // The decoder's texels, and the result.
        let needed = u64::from(width) * u64::from(height) * 2 * texel;
        reserve(needed.saturating_add(more)).map_err(|lack| format!("the picture {lack}"))
    }
}

fn decode_usual(bytes: &[u8], reserve: impl FnOnce(u64) -> Result<(), String>) -> Result<DynamicImage, String> {
    let damaged = |e: image::ImageError| format!("the picture is damaged: {e}");
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|e| format!("the picture cannot be read: {e}"))?;
    let format = formats::known(bytes, reader.format());
    if let Some(format) = format {
        reader.set_format(format);
    }
    let mut limits = Limits::no_limits();
    // TIFF decoders also count the pixels, which are covered by `reserve`.
    limits.max_alloc = Some(MAX_EXTRAS).filter(|_| format != Some(ImageFormat::Tiff));
    reader.limits(limits);
    let per_pixel: fn(u64) -> u64 = match format {
        // The decoder's pixels, and the result.
        Some(ImageFormat::Png) => |own| own + 4,
        // Coefficients of progressive pictures have two bytes.
        Some(ImageFormat::Jpeg) => |own| own + 2 * own + 4,
        // Canvas and frame of an animation have four bytes per pixel each.
        Some(ImageFormat::WebP | ImageFormat::Gif) => |own| own + 3 * 4,
        Some(ImageFormat::Bmp | ImageFormat::Tga) => |own| 2 * own + 4,
        // Samples of a strip, and float texels.
        Some(ImageFormat::Tiff) => |own| 2 * own + 2 * 16,
        // The result temporarily exists twice.
        Some(ImageFormat::Hdr) => |own| own + 2 * 16,
        _ => {
            return Err(match formats::foreign(bytes) {
                Some(name) => format!(
                    "{name} pictures are not read: convert it, for example by ImageMagick's `convert picture picture.png`"
                ),
                None => format!("not a {FORMATS} picture: convert it to one of these"),
            });
        }
    };
    let decoder = reader.into_decoder().map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    check_size(width, height)?;
    let own = u64::from(decoder.color_type().bytes_per_pixel());
    reserve(u64::from(width) * u64::from(height) * per_pixel(own)).map_err(|lack| format!("the picture {lack}"))?;
    DynamicImage::from_decoder(decoder).map_err(damaged)
}

fn check_size(width: u32, height: u32) -> Result<(), String> {
    if width == 0 || height == 0 {
        return Err("the picture is empty".to_owned());
    }
    if width > MAX_SIDE || height > MAX_SIDE {
        return Err(format!("{width}x{height} pixels are too many: scale it to at most {MAX_SIDE} a side"));
    }
    Ok(())
}

/// Converts a picture to eight bits per channel. Common formats are converted row by row without a lookup per pixel.
pub fn rgba8(image: DynamicImage) -> Vec<[u8; 4]> {
    let opaque = |p: &[u8; 3]| [p[0], p[1], p[2], 255];
    match image {
        DynamicImage::ImageRgb8(i) => i.as_raw().as_chunks().0.iter().map(opaque).collect(),
        DynamicImage::ImageRgba8(i) => i.as_raw().as_chunks().0.to_vec(),
        DynamicImage::ImageLuma8(i) => i.as_raw().iter().map(|&l| [l, l, l, 255]).collect(),
        other => other.into_rgba8().pixels().map(|p| p.0).collect(),
    }
}

/// Converts a float picture from premultiplied to straight alpha.
fn straight(image: DynamicImage) -> DynamicImage {
    let mut image = image.into_rgba32f();
    for pixel in image.pixels_mut().filter(|pixel| pixel[3] > 0.0 && pixel[3] < 1.0) {
        let [r, g, b, a] = pixel.0;
        pixel.0 = [r / a, g / a, b / a, a];
    }
    image.into()
}

fn linear(image: DynamicImage) -> Texels {
    let sane = |x: f32| {
        if x.is_nan() { 0.0 } else { x.clamp(0.0, MAX_RADIANCE) }
    };
    Texels::Linear(image.into_rgba32f().pixels().map(|p| p.0.map(sane)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let image =
            DynamicImage::ImageRgb8(image::RgbImage::from_fn(4, 3, |x, y| image::Rgb([x as u8 * 60, y as u8, 9])));
        let image = if format == ImageFormat::Hdr { DynamicImage::ImageRgb32F(image.into_rgb32f()) } else { image };
        image.write_to(&mut bytes, format).expect("encodes");
        bytes.into_inner()
    }

    const FILES: [ImageFormat; 8] = [
        ImageFormat::Png,
        ImageFormat::Jpeg,
        ImageFormat::WebP,
        ImageFormat::Hdr,
        ImageFormat::Gif,
        ImageFormat::Tga,
        ImageFormat::Bmp,
        ImageFormat::Tiff,
    ];

    fn load_bytes(bytes: &[u8]) -> Result<TexelImage, LoadError> {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("picture.dat");
        std::fs::write(&path, bytes).expect("writes");
        load(&path)
    }

    #[test]
    fn the_format_is_told_by_content() {
        for format in FILES {
            let p = load_bytes(&encoded(format)).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((p.width, p.height), (4, 3));
            assert_eq!(matches!(p.texels, Texels::Linear(_)), format == ImageFormat::Hdr);
        }
    }

    #[test]
    fn lossless_formats_have_the_same_texels() {
        let texels = |format| load_bytes(&encoded(format)).unwrap_or_else(|e| panic!("{e}")).texels;
        let expected: Vec<[u8; 4]> = (0..12u8).map(|i| [i % 4 * 60, i / 4, 9, 255]).collect();
        for format in FILES.into_iter().filter(|format| ![ImageFormat::Jpeg, ImageFormat::Hdr].contains(format)) {
            assert_eq!(texels(format), Texels::Srgb8(expected.clone()), "{format:?}");
        }
    }

    #[test]
    fn open_exr_has_radiance_and_colours_before_alpha() {
        let channels: &[(&str, f32)] = &[("R", 20.0), ("G", 0.5), ("B", 0.25), ("A", 0.5)];
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("sky.dat");
        std::fs::write(&path, open_exr::tests::file(&[("", channels)], 4)).expect("writes");
        let picture = load(&path).unwrap_or_else(|e| panic!("{e}"));
        let Texels::Linear(texels) = picture.texels else { panic!("floats") };
        assert_eq!((texels[8 + 4], texels[0]), ([40.0, 1.0, 0.5, 0.5], [0.0; 4]));
        let radiance = load_radiance(&path, 2.0).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((radiance.width, radiance.data[8 + 4]), (8, [40.0, 1.0, 0.5]));
    }

    #[test]
    fn other_formats_name_a_converter() {
        let error = |bytes: &[u8]| load_bytes(bytes).err().map(|e| e.to_string()).unwrap_or_default();
        let avif = error(b"\0\0\0\x20ftypavif\0\0\0\0");
        assert!(avif.contains("AVIF pictures are not read") && avif.contains("convert picture picture.png"), "{avif}");
        assert!(error(b"text").contains("not a PNG"));
    }

    #[test]
    fn sixteen_bit_and_grey_pictures_become_rgba() {
        let mut bytes = Cursor::new(Vec::new());
        let grey = image::ImageBuffer::from_pixel(2, 2, image::Luma([0x8000u16]));
        DynamicImage::ImageLuma16(grey).write_to(&mut bytes, ImageFormat::Png).expect("encodes");
        let p = load_bytes(bytes.get_ref()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(p.texels, Texels::Srgb8(vec![[128, 128, 128, 255]; 4]));
    }

    #[test]
    fn a_size_beyond_the_limit_is_refused_before_decoding() {
        let mut png = encoded(ImageFormat::Png);
        png[16..20].copy_from_slice(&60000u32.to_be_bytes());
        let crc = png_crc(&png[12..29]);
        png[29..33].copy_from_slice(&crc.to_be_bytes());
        let e = load_bytes(&png).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(e.contains("60000x3 pixels are too many"), "{e}");
    }

    fn png_crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0u32, |crc, &b| {
            (0..8).fold(crc ^ u32::from(b), |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 })
        })
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(128))]

        #[test]
        fn damaged_pictures_of_gpus_never_panic(
            which in 0usize..3,
            cut in 0usize..200,
            flips in prop::collection::vec((0usize..200, any::<u8>()), 0..6),
        ) {
            let files = [gpu_formats::tests::dds_file(), ktx2::tests::uastc_file([9; 4]), ktx2::tests::zstd_file()];
            let mut bytes = files[which].clone();
            for (at, value) in flips {
                let n = bytes.len();
                bytes[at % n] = value;
            }
            bytes.truncate(cut.max(1));
            let _ = load_bytes(&bytes);
        }

        #[test]
        fn damaged_pictures_never_panic(which in 0usize..9, cut in 0usize..400, flips in prop::collection::vec((0usize..400, any::<u8>()), 0..6)) {
            let exr = || open_exr::tests::file(&[("", &[("R", 1.0), ("G", 1.0), ("B", 1.0)])], 2);
            let mut bytes = FILES.get(which).map_or_else(exr, |&format| encoded(format));
            for (at, value) in flips {
                let n = bytes.len();
                bytes[at % n] = value;
            }
            bytes.truncate(cut.max(1));
            let _ = load_bytes(&bytes);
        }
    }
}
