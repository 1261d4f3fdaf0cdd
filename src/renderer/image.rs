//! Pictures in memory.

use crate::Error;
use std::path::Path;
use throng_device::Rendered;
use throng_output::{
    EncodeError, Encoding, FileFormat, Manifests, Metadata, OutputError, Picture, Pixels, Planned, prepare_distinct,
};
use throng_picture::{
    aov::{Aov, AovImage},
    pixels::PixelType,
};
use throng_settings::SettingsError;

/// A frame in memory: display colours of 8 bits (`Image`), or linear radiance (`Image<f32>`).
#[derive(Clone, Debug, PartialEq)]
pub struct Image<T = u8> {
    pub(super) width: u32,
    pub(super) height: u32,
    transparent: bool,
    pixels: Vec<T>,
    metadata: Metadata,
}

/// A type of channel values in an [`Image`]: `u8` or `f32`.
pub trait Channel: bytemuck::Pod + sealed::Sealed {
    #[doc(hidden)]
    const TYPE: PixelType;
    #[doc(hidden)]
    fn of_alpha(alpha: f32) -> Self;
    #[doc(hidden)]
    fn to_alpha(self) -> f32;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for f32 {}
}

impl Channel for u8 {
    const TYPE: PixelType = PixelType::U8;

    fn of_alpha(alpha: f32) -> Self {
        (alpha * 255.0).round() as u8
    }

    fn to_alpha(self) -> f32 {
        f32::from(self) / 255.0
    }
}

impl Channel for f32 {
    const TYPE: PixelType = PixelType::F32;

    fn of_alpha(alpha: f32) -> Self {
        alpha
    }

    fn to_alpha(self) -> f32 {
        self
    }
}

impl<T: Channel> Image<T> {
    pub(super) fn new(size: (u32, u32), rendered: &Rendered, transparent: bool, metadata: Metadata) -> Self {
        Self::of_planes(size, &rendered.pixels, rendered.alpha().filter(|_| transparent), metadata)
    }

    /// A picture of RGB values, in native byte order. It is transparent if it has an alpha.
    pub(super) fn of_planes(
        (width, height): (u32, u32),
        colors: &[u8],
        alpha: Option<&[f32]>,
        metadata: Metadata,
    ) -> Self {
        let colors: Vec<T> = bytemuck::pod_collect_to_vec(colors);
        let transparent = alpha.is_some();
        let pixels = match alpha {
            Some(alpha) => {
                let pixels = colors.as_chunks::<3>().0.iter().zip(alpha);
                pixels.flat_map(|(&[r, g, b], &alpha)| [r, g, b, T::of_alpha(alpha)]).collect()
            }
            None => colors,
        };
        Self { width, height, transparent, pixels, metadata }
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Number of values per pixel: 4 if the picture is transparent, otherwise 3.
    pub fn channels(&self) -> usize {
        if self.transparent { 4 } else { 3 }
    }

    /// RGB or RGBA values, row-major from the top left.
    ///
    /// Bytes are sRGB-encoded and not multiplied by alpha. Floats are linear radiance in Rec.709 primaries, multiplied by alpha, without
    /// exposure and tone curve. For debugging views, floats are the displayed values.
    pub fn pixels(&self) -> &[T] {
        &self.pixels
    }

    /// Returns the values of [`Self::pixels`] without copying them.
    pub fn into_pixels(self) -> Vec<T> {
        self.pixels
    }

    /// The values of the pixel in column `x` and row `y`, counted from the top left. None outside the picture.
    pub fn pixel(&self, x: u32, y: u32) -> Option<&[T]> {
        let index = y as usize * self.width as usize + x as usize;
        let inside = x < self.width && y < self.height;
        inside.then(|| &self.pixels[index * self.channels()..][..self.channels()])
    }

    /// Writes the picture as the command line would write this frame: bytes to .png, .jpg or .webp, floats to .exr or .npz. Missing folders are
    /// created. The file appears only when it is complete.
    ///
    /// # Errors
    /// If the format is unknown or does not support these pixels or alpha, or if the file cannot be written or is an input of this process.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let encoding = Encoding::default();
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let format = FileFormat::from_extension(&extension);
        let Some(format) = format.filter(|format| format.pixels(encoding.depth) == Some(T::TYPE)) else {
            let fix = "name it .png, .jpg or .webp for colours of 8 bits, and .exr or .npz for radiance";
            let error = EncodeError::Encoder(format!("such files do not take these pixels; {fix}"));
            return Err(OutputError::Encode { path: path.to_owned(), error }.into());
        };
        if self.transparent && !format.has_alpha() {
            return Err(SettingsError::Opaque { extension: format.extension() }.into());
        }
        prepare_distinct(vec![Planned::new(path, "the picture")])?;
        let (colors, alpha) = self.planes();
        let picture = Picture {
            width: self.width,
            height: self.height,
            pixels: Pixels::from_bytes(T::TYPE, bytemuck::cast_slice(&colors)),
            aovs: alpha.as_slice(),
            transparent: self.transparent,
            blocks: None,
            display: None,
            manifests: &Manifests::default(),
            metadata: &self.metadata,
        };
        Ok(format.write(path, &picture, &encoding)?)
    }

    /// The colours, and the alpha of a transparent picture.
    pub(super) fn planes(&self) -> (Vec<T>, Option<AovImage>) {
        if !self.transparent {
            return (self.pixels.clone(), None);
        }
        let pixels = self.pixels.as_chunks::<4>().0;
        let alpha: Vec<f32> = pixels.iter().map(|pixel| pixel[3].to_alpha()).collect();
        let colors = pixels.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
        (colors, Some(AovImage { aov: Aov::Alpha, values: alpha.into() }))
    }
}
