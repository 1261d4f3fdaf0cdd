//! File formats of frames.

use super::{
    ColorDepth, EncodeError, Encoding, OutputError, Picture, Texts,
    exr::{self, is_complete_exr},
    files::{fill_atomically, write_atomically},
    npz::{self, is_complete_npz},
    png::{self, is_complete_png},
    web::{self, is_complete_jpeg, is_complete_webp},
};
use image::codecs::{jpeg::JpegDecoder, webp::WebPDecoder};
use std::{io::BufReader, path::Path};
use throng_base::files::open_regular;
use throng_picture::pixels::PixelType;

/// File format of frames, selected by the extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// 8- or 16-bit sRGB, for display.
    Png,
    /// 8-bit sRGB, lossy.
    Jpeg,
    /// 8-bit sRGB, lossless; smaller than PNG and slower.
    WebP,
    /// Linear radiance as half floats or floats, without exposure and tone curve, and AOVs.
    Exr,
    /// Arrays of numpy: linear radiance, 8-bit sRGB, AOVs and the camera.
    Npz,
}

impl FileFormat {
    pub const ALL: [Self; 5] = [Self::Png, Self::Jpeg, Self::WebP, Self::Exr, Self::Npz];

    /// The extension of new files, in lower case and without a dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::WebP => "webp",
            Self::Exr => "exr",
            Self::Npz => "npz",
        }
    }

    /// The format of an extension in any case; none if it is unknown.
    pub fn from_extension(extension: &str) -> Option<Self> {
        let extension = extension.to_ascii_lowercase();
        let known = |format: &Self| extension == format.extension();
        match extension.as_str() {
            "jpeg" => Some(Self::Jpeg),
            _ => Self::ALL.into_iter().find(known),
        }
    }

    /// Whether pixels are floats of linear radiance rather than display values.
    pub fn is_linear(self) -> bool {
        match self {
            Self::Exr | Self::Npz => true,
            Self::Png | Self::Jpeg | Self::WebP => false,
        }
    }

    /// Whether the pixels read from a file ([`super::read_back`]) equal those written to it.
    pub fn is_lossless(self) -> bool {
        match self {
            Self::Png | Self::WebP | Self::Exr => true,
            // Nothing reads NPZ files back.
            Self::Jpeg | Self::Npz => false,
        }
    }

    /// Whether files have display colours beside radiance, as [`Picture::display`].
    pub fn has_both(self) -> bool {
        self == Self::Npz
    }

    /// Whether the format supports alpha.
    pub fn has_alpha(self) -> bool {
        match self {
            Self::Png | Self::WebP | Self::Exr | Self::Npz => true,
            Self::Jpeg => false,
        }
    }

    /// The greatest width and height, in pixels.
    pub fn longest_side(self) -> u32 {
        match self {
            Self::WebP => 16_384,
            Self::Jpeg => 65_535,
            Self::Png | Self::Exr | Self::Npz => i32::MAX as u32,
        }
    }

    /// The type of pixels that [`Self::encode`] requires; none if the format does not support that depth.
    pub fn pixels(self, depth: ColorDepth) -> Option<PixelType> {
        match (self, depth) {
            (Self::Exr, ColorDepth::Usual | ColorDepth::Bits16 | ColorDepth::Bits32) => Some(PixelType::F32),
            (Self::Png | Self::Jpeg | Self::WebP, ColorDepth::Usual | ColorDepth::Bits8) => Some(PixelType::U8),
            (Self::Npz, ColorDepth::Usual | ColorDepth::Bits32) => Some(PixelType::F32),
            (Self::Png, ColorDepth::Bits16) => Some(PixelType::U16),
            (Self::Exr | Self::Npz, ColorDepth::Bits8)
            | (Self::Npz, ColorDepth::Bits16)
            | (Self::Png, ColorDepth::Bits32)
            | (Self::Jpeg | Self::WebP, ColorDepth::Bits16 | ColorDepth::Bits32) => None,
        }
    }

    /// Encodes `picture` as the bytes of a file. Its pixels must have the type returned by [`Self::pixels`].
    ///
    /// # Errors
    /// If the number or type of pixels is wrong, if the picture is too large for the format, or if the encoder fails.
    pub fn encode(self, picture: &Picture, encoding: &Encoding) -> Result<Vec<u8>, EncodeError> {
        self.check_size(picture)?;
        match self {
            Self::Png => png::encode(picture),
            Self::Jpeg => web::encode_jpeg(picture, encoding.quality),
            Self::WebP => web::encode_webp(picture),
            Self::Exr => exr::encode(picture, encoding),
            Self::Npz => npz::encode(picture),
        }
    }

    /// Writes `picture` to `path` atomically: only a complete file appears there. The folder must exist; [`super::prepare_distinct`]
    /// creates it.
    ///
    /// # Errors
    /// If the picture cannot be encoded (see [`Self::encode`]) or the file cannot be written.
    pub fn write(self, path: &Path, picture: &Picture, encoding: &Encoding) -> Result<(), OutputError> {
        let failed = |error| OutputError::Encode { path: path.to_owned(), error };
        if let (Self::Exr, Some(blocks)) = (self, picture.blocks) {
            let compression = encoding.compression;
            return fill_atomically(path, |file| exr::write_blocks(picture, blocks, compression, file));
        }
        if self == Self::Exr {
            self.check_size(picture).map_err(failed)?;
            let layout = exr::ExrLayout::new(picture, encoding).map_err(failed)?;
            return fill_atomically(path, |file| layout.write(encoding.threads, file));
        }
        let bytes = self.encode(picture, encoding).map_err(failed)?;
        write_atomically(path, |file| file.write_all(&bytes))
    }

    /// Whether `path` is a complete file of this format.
    pub fn is_complete(self, path: &Path) -> bool {
        match self {
            Self::Png => is_complete_png(path),
            Self::Jpeg => is_complete_jpeg(path),
            Self::WebP => is_complete_webp(path),
            Self::Exr => is_complete_exr(path),
            Self::Npz => is_complete_npz(path),
        }
    }

    /// Reads the size of the picture in a complete file, and its metadata. None if there is no complete file of this format.
    pub fn read_origin(self, path: &Path) -> Option<((u32, u32), Texts)> {
        if !self.is_complete(path) {
            return None;
        }
        let file = || open_regular(path).map(|(file, _)| BufReader::new(file)).ok();
        match self {
            Self::Png => png::read_origin(path),
            Self::Jpeg => Some(web::read_origin(JpegDecoder::new(file()?).ok()?)),
            Self::WebP => Some(web::read_origin(WebPDecoder::new(file()?).ok()?)),
            Self::Exr => exr::read_origin(path),
            Self::Npz => npz::read_origin(path),
        }
    }

    fn check_size(self, picture: &Picture) -> Result<(), EncodeError> {
        let (width, height) = (picture.width, picture.height);
        let values = u128::from(width) * u128::from(height) * 3;
        if values == 0 || values != picture.pixels.len() as u128 {
            let values = picture.pixels.len();
            return Err(EncodeError::Size { width, height, values });
        }
        let limit = self.longest_side();
        if width.max(height) > limit { Err(EncodeError::TooLarge { format: self.extension(), limit }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pixels,
        picture::testing::{metadata, picture},
    };

    #[test]
    fn a_wrong_number_of_pixels_is_an_error_and_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (path, metadata) = (dir.path().join("a.png"), metadata());
        for (width, height, bytes) in [(2, 2, 11), (0, 5, 0), (u32::MAX, u32::MAX, 12)] {
            let pixels = Pixels::U8(vec![0; bytes].into());
            let picture = picture((width, height), pixels, &metadata);
            let written = FileFormat::Png.write(&path, &picture, &Encoding::default());
            assert!(written.is_err());
        }
        assert!(!path.exists());
    }

    #[test]
    fn a_side_that_the_format_has_no_number_for_is_refused() {
        let metadata = metadata();
        let picture = picture((16_385, 1), Pixels::U8(vec![0; 16_385 * 3].into()), &metadata);
        let encode = |format: FileFormat| format.encode(&picture, &Encoding::default());
        let text = encode(FileFormat::WebP).unwrap_err().to_string();
        assert!(text.contains("at most 16384 pixels"), "{text}");
        assert!(encode(FileFormat::Png).is_ok());
    }

    #[test]
    fn files_tell_where_their_pictures_come_from() {
        let dir = tempfile::tempdir().unwrap();
        let metadata = metadata();
        for format in FileFormat::ALL {
            let path = dir.path().join(format.extension());
            assert_eq!(format.read_origin(&path), None);
            let kind = format.pixels(ColorDepth::Usual).unwrap();
            let bytes = vec![0; 5 * 3 * 3 * kind.bytes()];
            let picture = picture((5, 3), Pixels::from_bytes(kind, &bytes), &metadata);
            format.write(&path, &picture, &Encoding::default()).unwrap();
            let (size, told) = format.read_origin(&path).unwrap();
            assert_eq!(size, (5, 3));
            assert_eq!(told["Settings"], metadata.settings, "{format:?}");
            assert_eq!(metadata.difference(&told), None);
        }
    }

    #[test]
    fn each_format_takes_the_pixels_that_it_asks_for() {
        let metadata = metadata();
        let depths = [ColorDepth::Usual, ColorDepth::Bits8, ColorDepth::Bits16, ColorDepth::Bits32];
        for format in FileFormat::ALL {
            assert_eq!(FileFormat::from_extension(format.extension()), Some(format));
            for kind in depths.iter().filter_map(|&depth| format.pixels(depth)) {
                let pixels = Pixels::from_bytes(kind, &[0; 48]);
                let width = pixels.len() as u32 / 3;
                let picture = picture((width, 1), pixels, &metadata);
                assert!(format.encode(&picture, &Encoding::default()).is_ok(), "{format:?}");
            }
        }
    }
}
