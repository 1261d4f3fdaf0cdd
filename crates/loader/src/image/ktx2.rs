//! KTX 2 files (KTX File Format Specification 2.0): the container, decompression level by level, and textures in Vulkan formats. Textures
//! with Basis Universal are decoded by `basisu`. If a file contains several pictures, the first and largest is read.

#[cfg(feature = "ktx2")]
use super::gpu_formats::FLOATS_EXTRA;
use super::gpu_formats::{Room, block_image, compact, damaged, texels};
use dds::{DecodeOptions, Format, PixelInfo, Size};
use flate2::read::ZlibDecoder;
use image::{DynamicImage, imageops::flip_vertical_in_place};
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;
use throng_scene::{CompactFormat, TexelImage};

/// First bytes of every KTX 2 file.
pub const MAGIC: &[u8] = b"\xabKTX 20\xbb\r\n\x1a\n";

/// Key of a picture's orientation. Its value has one letter per axis.
const ORIENTATION: &[u8] = b"KTXorientation\0";

/// Greatest zstd window that is accepted for smaller levels (RFC 8878, 3.1.1.1.2).
const USUAL_WINDOW: u64 = 8 << 20;

/// Offsets in a file: the number of levels, the compression scheme, and the index of levels.
#[cfg(feature = "ktx2")]
const LEVEL_COUNT: usize = 40;
const SCHEME: usize = 44;
const LEVELS: usize = 80;

/// The fields of the header, and the first entry of the level index.
struct Header {
    /// A VkFormat; 0 for Basis Universal.
    format: u32,
    width: u32,
    height: u32,
    scheme: u32,
    /// Offset of the level, and its length in the file.
    offset: u64,
    length: u64,
    /// Length of the decompressed level; 0 with BasisLZ.
    whole: u64,
    /// Offset and length of the keys and values.
    values: [u32; 2],
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        Some(Self {
            format: word(12)?,
            width: word(20)?,
            // The height is 0 for one-dimensional textures.
            height: word(24)?.max(1),
            scheme: word(SCHEME)?,
            offset: long(LEVELS)?,
            length: long(LEVELS + 8)?,
            whole: long(LEVELS + 16)?,
            values: [word(56)?, word(60)?],
        })
    }

    /// Bytes of the first level, still compressed.
    fn level<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (first, end) = (usize::try_from(self.offset).ok()?, self.offset.checked_add(self.length)?);
        bytes.get(first..usize::try_from(end).ok()?)
    }

    /// The bytes of the first level, decompressed while they are read. Takes the memory of [`Self::unpacking`] at once.
    fn unpacked<'a>(&self, bytes: &'a [u8]) -> Result<Box<dyn Read + 'a>, String> {
        let level = self.level(bytes).ok_or("the picture is damaged: the file ends before its texels")?;
        Ok(match self.scheme {
            0 => Box::new(level),
            2 => {
                let opened = StreamingDecoder::new_with_max_window_size(level, self.window());
                Box::new(opened.map_err(damaged)?)
            }
            3 => Box::new(ZlibDecoder::new(level)),
            scheme => return Err(format!("the KTX 2 picture is packed by the unknown scheme {scheme}: {FIX}")),
        })
    }

    /// Whether the first row is the lowest one, which the second letter of the orientation specifies.
    fn grows_upwards(&self, bytes: &[u8]) -> bool {
        let [first, length] = self.values.map(|x| x as usize);
        let values = first.checked_add(length).and_then(|end| bytes.get(first..end)).unwrap_or_default();
        let mut places = values.windows(ORIENTATION.len() + 2);
        places.any(|at| at.starts_with(ORIENTATION) && at.ends_with(b"u"))
    }

    fn window(&self) -> u64 {
        self.whole.max(USUAL_WINDOW)
    }

    /// Bytes that decompression needs in addition to its result.
    fn unpacking(&self) -> u64 {
        match self.scheme {
            // The buffer grows to a power of two.
            2 => self.window().saturating_mul(2),
            _ => 0,
        }
    }
}

const FIX: &str = "convert it to PNG, JPEG or WebP";

/// Decodes a KTX 2 file after `room` has accepted its size.
///
/// # Errors
/// If the file is damaged, its format is not supported, or `room` rejects it. The text is the end of a sentence about the picture.
pub fn decode(bytes: &[u8], room: impl Room) -> Result<DynamicImage, String> {
    let header = Header::read(bytes).ok_or("the picture is damaged: the file ends within its header")?;
    let mut image = decode_as_stored(bytes, &header, room)?;
    if header.grows_upwards(bytes) {
        // Flipping a `DynamicImage` would convert it to eight bits.
        match &mut image {
            DynamicImage::ImageRgba32F(image) => flip_vertical_in_place(image),
            image => flip_vertical_in_place(image),
        }
    }
    Ok(image)
}

/// The blocks of a KTX 2 file; `None` if it has none that stay compact.
///
/// # Errors
/// If the file is damaged or `room` rejects it. The text is the end of a sentence about the picture.
pub fn blocks(bytes: &[u8], room: impl Room) -> Result<Option<TexelImage>, String> {
    let Some(header) = Header::read(bytes) else { return Ok(None) };
    let format = match format(header.format) {
        Some((Format::BC1_UNORM, true)) => Some(CompactFormat::Bc1Opaque),
        Some((format, _)) => compact(format),
        None => None,
    };
    let Some(format) = format.filter(|_| !header.grows_upwards(bytes)) else { return Ok(None) };
    let (width, height) = (header.width, header.height);
    room(width, height, header.unpacking())?;
    let needed = format.bytes(width, height);
    let mut blocks = Vec::with_capacity(needed);
    header.unpacked(bytes)?.take(needed as u64).read_to_end(&mut blocks).map_err(damaged)?;
    if blocks.len() < needed {
        let length = blocks.len();
        return Err(format!(
            "the picture is damaged: {width}x{height} texels need {needed} bytes, and it has {length}"
        ));
    }
    Ok(Some(block_image((width, height), format, blocks)))
}

fn decode_as_stored(bytes: &[u8], header: &Header, room: impl Room) -> Result<DynamicImage, String> {
    match format(header.format) {
        Some(format) => plain(bytes, header, format, room),
        None if is_for_basisu(header.format) => basis(bytes, header, room),
        None => Err(format!("the KTX 2 picture has Vulkan's format {}, which is not read: {FIX}", header.format)),
    }
}

/// The texel format with the Vulkan number `vk`, and whether its alpha is meaningless. The colour space is left to the user of the picture,
/// as for all other formats.
fn format(vk: u32) -> Option<(Format, bool)> {
    let opaque = matches!(vk, 131 | 132);
    Some((
        match vk {
            2 => Format::A4B4G4R4_UNORM,
            4 => Format::B5G6R5_UNORM,
            8 => Format::B5G5R5A1_UNORM,
            9 | 15 => Format::R8_UNORM,
            10 => Format::R8_SNORM,
            16 | 22 => Format::R8G8_UNORM,
            17 => Format::R8G8_SNORM,
            23 | 29 => Format::R8G8B8_UNORM,
            30 | 36 => Format::B8G8R8_UNORM,
            37 | 43 => Format::R8G8B8A8_UNORM,
            38 => Format::R8G8B8A8_SNORM,
            44 | 50 => Format::B8G8R8A8_UNORM,
            64 => Format::R10G10B10A2_UNORM,
            70 => Format::R16_UNORM,
            76 => Format::R16_FLOAT,
            77 => Format::R16G16_UNORM,
            83 => Format::R16G16_FLOAT,
            91 => Format::R16G16B16A16_UNORM,
            97 => Format::R16G16B16A16_FLOAT,
            100 => Format::R32_FLOAT,
            103 => Format::R32G32_FLOAT,
            106 => Format::R32G32B32_FLOAT,
            109 => Format::R32G32B32A32_FLOAT,
            122 => Format::R11G11B10_FLOAT,
            123 => Format::R9G9B9E5_SHAREDEXP,
            131..=134 => Format::BC1_UNORM,
            135 | 136 => Format::BC2_UNORM,
            137 | 138 => Format::BC3_UNORM,
            139 => Format::BC4_UNORM,
            140 => Format::BC4_SNORM,
            141 => Format::BC5_UNORM,
            142 => Format::BC5_SNORM,
            143 => Format::BC6H_UF16,
            144 => Format::BC6H_SF16,
            145 | 146 => Format::BC7_UNORM,
            1_000_340_000 => Format::B4G4R4A4_UNORM,
            _ => return None,
        },
        opaque,
    ))
}

fn plain(
    bytes: &[u8],
    header: &Header,
    (format, opaque): (Format, bool),
    room: impl Room,
) -> Result<DynamicImage, String> {
    let size = Size::new(header.width, header.height);
    let needed = PixelInfo::from(format).surface_bytes(size).unwrap_or(u64::MAX);
    if header.scheme == 0 && needed > header.length {
        let (width, height, length) = (size.width, size.height, header.length);
        return Err(format!(
            "the picture is damaged: {width}x{height} texels need {needed} bytes, and it has {length}"
        ));
    }
    let mut image = texels(format, size, header.unpacking(), room, |view| {
        let mut reader = header.unpacked(bytes)?;
        dds::decode(&mut reader, view, format, &DecodeOptions::default()).map_err(damaged)
    })?;
    if let (true, DynamicImage::ImageRgba8(image)) = (opaque, &mut image) {
        image.pixels_mut().for_each(|texel| texel.0[3] = 255);
    }
    Ok(image)
}

/// Whether `basisu` may support this format: Basis Universal itself, or ASTC.
fn is_for_basisu(vk: u32) -> bool {
    matches!(vk, 0 | 157..=184 | 1_000_066_000..=1_000_066_013)
}

#[cfg(feature = "ktx2")]
fn basis(bytes: &[u8], header: &Header, room: impl Room) -> Result<DynamicImage, String> {
    use basisu::{DecodeFlags, TargetFormat, Transcoder};
    use half::f16;
    use image::{Rgba32FImage, RgbaImage};
    use std::borrow::Cow;
    let packed = matches!(header.scheme, 2 | 3);
    let again = if packed { header.whole.saturating_add(bytes.len() as u64) } else { 0 };
    let pixels = u64::from(header.width) * u64::from(header.height);
    // Half floats, and floats instead of bytes.
    let floats = if is_hdr(header) { pixels.saturating_mul(8 + FLOATS_EXTRA) } else { 0 };
    room(header.width, header.height, again.saturating_add(header.unpacking()).saturating_add(floats))?;
    let file = if packed { Cow::Owned(unpacked_file(bytes, header)?) } else { Cow::Borrowed(bytes) };
    let unknown = "the KTX 2 picture is damaged, or not of Basis Universal: convert it to PNG, JPEG or WebP";
    let transcoder = Transcoder::new(&file).map_err(|_| unknown)?;
    let target = if is_hdr(header) { TargetFormat::RgbaHalf } else { TargetFormat::Rgba32 };
    let texels = transcoder.transcode(0, target, DecodeFlags::NONE);
    let texels = texels.map_err(|e| format!("the picture is damaged: {e:?}"))?;
    let image = if is_hdr(header) {
        let halves = texels.as_chunks().0.iter().map(|&half| f16::from_le_bytes(half).to_f32());
        Rgba32FImage::from_raw(header.width, header.height, halves.collect()).map(DynamicImage::ImageRgba32F)
    } else {
        RgbaImage::from_raw(header.width, header.height, texels).map(DynamicImage::ImageRgba8)
    };
    image.ok_or_else(|| "the picture is damaged: it has another size".to_owned())
}

/// Whether a picture for `basisu` has floats: float ASTC, or the UASTC HDR scheme with 6x6 blocks.
#[cfg(feature = "ktx2")]
fn is_hdr(header: &Header) -> bool {
    header.format >= 1_000_066_000 || header.scheme == 4
}

/// The file with only its first level, decompressed and placed at the end. `basisu` does not support zlib, and decompresses zstd without a
/// memory limit.
#[cfg(feature = "ktx2")]
fn unpacked_file(bytes: &[u8], header: &Header) -> Result<Vec<u8>, String> {
    let first = bytes.len().next_multiple_of(16);
    let mut file = Vec::with_capacity(first + header.whole as usize);
    file.extend_from_slice(bytes);
    file.resize(first, 0);
    let mut level = header.unpacked(bytes)?.take(header.whole);
    let length = level.read_to_end(&mut file).map_err(damaged)? as u64;
    file[LEVEL_COUNT..][..4].copy_from_slice(&1u32.to_le_bytes());
    file[SCHEME..][..4].copy_from_slice(&0u32.to_le_bytes());
    for (place, value) in [first as u64, length, length].into_iter().enumerate() {
        file[LEVELS + 8 * place..][..8].copy_from_slice(&value.to_le_bytes());
    }
    Ok(file)
}

/// The error for builds without Basis Universal, with a remedy.
///
/// # Errors
/// Always.
#[cfg(not(feature = "ktx2"))]
fn basis(_: &[u8], _: &Header, _: impl Room) -> Result<DynamicImage, String> {
    Err("this build reads no KTX 2 pictures with Basis Universal: build with `--features ktx2`, or convert it to PNG, \
         JPEG or WebP"
        .to_owned())
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use flate2::{Compression, read::ZlibEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    /// A block of 4x4 texels with one colour, compressed as UASTC.
    pub fn uastc_file([r, g, b, a]: [u8; 4]) -> Vec<u8> {
        // The mode for a single colour, and the colour.
        let color = u128::from(u32::from_le_bytes([r, g, b, a]));
        file(0, (4, 4), 0, &(0x17 | color << 5).to_le_bytes())
    }

    /// 4x4 texels of four bytes, compressed with zstd.
    pub fn zstd_file() -> Vec<u8> {
        file(37, (4, 4), 2, &[1, 2, 3, 4].repeat(16))
    }

    /// A file whose texels have Vulkan's `format` and are compressed with `scheme`. It always has the descriptor of UASTC.
    fn file(format: u32, (width, height): (u32, u32), scheme: u32, texels: &[u8]) -> Vec<u8> {
        let packed = match scheme {
            2 => compress_to_vec(texels, CompressionLevel::Fastest),
            3 => {
                let mut packed = Vec::new();
                ZlibEncoder::new(texels, Compression::fast()).read_to_end(&mut packed).expect("packs");
                packed
            }
            _ => texels.to_vec(),
        };
        let mut file = MAGIC.to_vec();
        // Format and its size, width, height, depth, layers, faces, levels, scheme; offsets of descriptors and values.
        let header = [format, 1, width, height, 0, 0, 1, 1, scheme, 104, 44, 0, 0, 0, 0, 0, 0];
        // Offset and lengths of the level.
        let level = [160, 0, packed.len() as u32, 0, texels.len() as u32, 0];
        let descriptor =
            [44, 0, 2 | 40 << 16, 166 | 1 << 8 | 2 << 16, 3 | 3 << 8, 16, 0, 127 << 16 | 3 << 24, 0, 0, u32::MAX];
        let words = header.iter().chain(&level).chain(&descriptor);
        file.extend(words.flat_map(|word| word.to_le_bytes()));
        file.resize(160, 0);
        file.extend(packed);
        file
    }

    fn decoded(file: &[u8]) -> Result<DynamicImage, String> {
        decode(file, |_, _, _| Ok(()))
    }

    fn first_texel(file: &[u8]) -> [u8; 4] {
        let image = decoded(file).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((image.width(), image.height()), (4, 4));
        image.into_rgba8().get_pixel(0, 0).0
    }

    #[test]
    fn texels_in_formats_of_vulkan_are_read() {
        let each = |texel: &[u8]| texel.repeat(16);
        for (format, texels, expected) in [
            // Packed formats have their first channel in the highest bits.
            (2, each(&[0x0f, 0x80]), [136, 0, 0, 255]),
            (1_000_340_000, each(&[0x0f, 0x80]), [0, 0, 255, 136]),
            (4, each(&[0x1f, 0x80]), [132, 0, 255, 255]),
            (8, each(&[0x1f, 0x80]), [0, 0, 255, 255]),
            (9, each(&[7]), [7, 7, 7, 255]),
            (29, each(&[1, 2, 3]), [1, 2, 3, 255]),
            (37, each(&[1, 2, 3, 4]), [1, 2, 3, 4]),
            (43, each(&[1, 2, 3, 4]), [1, 2, 3, 4]),
            (50, each(&[1, 2, 3, 4]), [3, 2, 1, 4]),
            (91, each(&[0, 0, 0, 128, 255, 255, 255, 255]), [0, 128, 255, 255]),
            (134, vec![0, 0xf8, 0, 0, 0, 0, 0, 0], [255, 0, 0, 255]),
            // The fourth colour of a block with three colours is transparent black, or opaque black without alpha.
            (133, vec![0, 0, 0, 0xf8, 255, 255, 255, 255], [0; 4]),
            (131, vec![0, 0, 0, 0xf8, 255, 255, 255, 255], [0, 0, 0, 255]),
            (138, vec![77, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0, 0, 0, 0, 0, 0], [255, 0, 0, 77]),
        ] {
            for scheme in [0, 2, 3] {
                assert_eq!(first_texel(&file(format, (4, 4), scheme, &texels)), expected, "{format} by {scheme}");
            }
        }
    }

    #[test]
    fn floats_keep_their_range() {
        let texel = [40.0f32, 0.25, 0.0, 1.0];
        let halves = texel.map(|x| half::f16::from_f32(x).to_le_bytes()).concat();
        let floats = texel.map(f32::to_le_bytes).concat();
        for file in [file(97, (1, 1), 0, &halves), file(109, (1, 1), 2, &floats)] {
            let Ok(DynamicImage::ImageRgba32F(image)) = decoded(&file) else { panic!("no floats") };
            assert_eq!(image.get_pixel(0, 0).0, texel);
        }
    }

    #[test]
    fn the_first_row_may_be_the_lowest() {
        let mut upwards = file(9, (1, 2), 0, &[1, 2, 0x10, 0x41]);
        let first = upwards.len() as u32;
        upwards.extend(b"\x12\0\0\0KTXorientation\0ru\0");
        upwards[56..60].copy_from_slice(&first.to_le_bytes());
        upwards[60] = 22;
        for (y_letter, rows) in [(b'u', [2, 1]), (b'd', [1, 2])] {
            let at = upwards.len() - 2;
            upwards[at] = y_letter;
            let image = decoded(&upwards).unwrap_or_else(|e| panic!("{e}")).into_luma8();
            assert_eq!(image.as_raw(), &rows);
        }
        upwards[12] = 100;
        upwards[24] = 1;
        let Ok(DynamicImage::ImageRgba32F(image)) = decoded(&upwards) else { panic!("no floats") };
        assert!(image.get_pixel(0, 0).0[0] > 9.0, "floats stay floats");
    }

    #[test]
    fn a_line_of_texels_is_one_high() {
        let image = decoded(&file(9, (3, 0), 0, &[1, 2, 3])).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((image.width(), image.height()), (3, 1));
    }

    #[cfg(feature = "ktx2")]
    #[test]
    fn basis_universal_is_read_however_it_is_packed() {
        let plain = uastc_file([9, 80, 200, 77]);
        for scheme in [0, 2, 3] {
            assert_eq!(first_texel(&file(0, (4, 4), scheme, &plain[160..])), [9, 80, 200, 77], "{scheme}");
        }
    }

    #[test]
    fn what_is_not_read_is_told_with_a_remedy() {
        let error = |file: &[u8]| decoded(file).err().unwrap_or_default();
        let fix = "convert it to PNG, JPEG or WebP";
        let etc2 = error(&file(147, (4, 4), 0, &[0; 16]));
        assert_eq!(etc2, format!("the KTX 2 picture has Vulkan's format 147, which is not read: {fix}"));
        let odd = error(&file(37, (4, 4), 7, &[0; 64]));
        assert_eq!(odd, format!("the KTX 2 picture is packed by the unknown scheme 7: {fix}"));
        if cfg!(not(feature = "ktx2")) {
            assert!(
                error(&uastc_file([0; 4])).starts_with("this build reads no KTX 2 pictures with Basis Universal: ")
            );
        }
    }

    #[test]
    fn a_level_that_is_too_short_or_nowhere_is_damaged() {
        let whole = file(37, (4, 4), 0, &[0; 64]);
        let short = "the picture is damaged: 4x5 texels need 80 bytes, and it has 64";
        let mut taller = whole.clone();
        taller[24] = 5;
        assert_eq!(decoded(&taller).err().as_deref(), Some(short));
        for (at, value) in [(LEVELS, 255), (LEVELS + 7, 255), (LEVELS + 15, 255)] {
            let mut moved = whole.clone();
            moved[at] = value;
            let error = decoded(&moved).err();
            assert_eq!(error.as_deref(), Some("the picture is damaged: the file ends before its texels"));
        }
        for scheme in [2, 3] {
            let error = decoded(&file(37, (4, 4), scheme, &[0; 63])).err().unwrap_or_default();
            assert!(error.starts_with("the picture is damaged: "), "{error}");
        }
        for length in 0..whole.len() {
            assert!(decoded(&whole[..length]).is_err());
        }
    }

    #[test]
    fn room_is_asked_for_first() {
        let refuse = |width, height, more| Err(format!("{width}x{height} and {more} are too many"));
        let error = |file: &[u8]| decode(file, refuse).err();
        let wide = file(37, (260, 4), 0, &[0; 4160]);
        assert_eq!(error(&wide).as_deref(), Some("260x4 and 0 are too many"));
        let mut forged = file(37, (4, 4), 2, &[0; 64]);
        forged[LEVELS + 16 + 7] = 255;
        // A frame with a window of two terabytes.
        forged[164..166].copy_from_slice(&[0, 0xf8]);
        let window = 2 * (255 << 56 | 64u128);
        assert_eq!(error(&forged), Some(format!("4x4 and {} are too many", window.min(u64::MAX.into()))));
        let floats = error(&file(109, (2, 1), 0, &[0; 32]));
        assert_eq!(floats.as_deref(), Some("2x1 and 48 are too many"));
        if cfg!(feature = "ktx2") {
            let mut file = uastc_file([0; 4]);
            file[21] = 1;
            assert_eq!(error(&file).as_deref(), Some("260x4 and 0 are too many"));
        }
    }
}
