//! Maps with one value per pixel: 16-bit PNG and OpenEXR.

use crate::EncodeError;
use exr::prelude::{AnyChannel, AnyChannels, Encoding, FlatSamples, Image, Layer, LayerAttributes, WritableImage as _};
use png::{BitDepth, ColorType, Compression, Encoder, Filter};
use std::io::Cursor;

/// Encodes a grey PNG of 16 bits.
///
/// # Errors
/// If the encoder fails.
pub fn encode_gray_png(size: (u32, u32), values: impl IntoIterator<Item = u16>) -> Result<Vec<u8>, EncodeError> {
    encode_png(size, ColorType::Grayscale, values)
}

/// Encodes a PNG of 16 bits, whose channels are interleaved in `values`.
pub(super) fn encode_png(
    (width, height): (u32, u32),
    color: ColorType,
    values: impl IntoIterator<Item = u16>,
) -> Result<Vec<u8>, EncodeError> {
    let bytes: Vec<u8> = values.into_iter().flat_map(u16::to_be_bytes).collect();
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Sixteen);
    encoder.set_compression(Compression::Balanced);
    encoder.set_filter(Filter::Up);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&bytes));
    written.map_err(EncodeError::encoder)?;
    Ok(file)
}

/// Encodes an OpenEXR file with the channel `Z` of 32-bit floats. Infinity is kept.
///
/// # Errors
/// If the encoder fails.
pub fn encode_depth_exr((width, height): (u32, u32), depth: Vec<f32>) -> Result<Vec<u8>, EncodeError> {
    let channel = AnyChannel::new("Z", FlatSamples::F32(depth));
    let channels = AnyChannels::sort([channel].into_iter().collect());
    let size = (width as usize, height as usize);
    let layer = Layer::new(size, LayerAttributes::default(), Encoding::SMALL_LOSSLESS, channels);
    let mut file = Cursor::new(Vec::new());
    Image::from_layer(layer).write().non_parallel().to_buffered(&mut file).map_err(EncodeError::encoder)?;
    Ok(file.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use exr::prelude::{ReadChannels as _, ReadLayers as _, read};

    #[test]
    fn depths_survive_with_infinity() {
        let depth = vec![1.25, f32::INFINITY, 3.0, 1e-3, 70_000.5, 0.0];
        let file = encode_depth_exr((3, 2), depth.clone()).unwrap();
        let reader =
            read().no_deep_data().largest_resolution_level().all_channels().first_valid_layer().all_attributes();
        let image = reader.from_buffered(Cursor::new(file)).unwrap();
        let channel = &image.layer_data.channel_data.list[0];
        assert_eq!(channel.name.to_string(), "Z");
        assert!(channel.sample_data.values_as_f32().eq(depth));
    }

    #[test]
    fn numbers_survive() {
        let file = encode_gray_png((2, 2), [0, 1, 256, 65_535]).unwrap();
        let read = image::load_from_memory(&file).unwrap().into_luma16();
        assert_eq!((read.width(), &read.into_raw()[..]), (2, &[0, 1, 256, 65_535][..]));
    }
}
