//! Reads frames for the denoiser of films: OpenEXR files with the layers that it needs.

use super::film::{FilmFrame, FilmLayers};
use crate::{
    abi::DisplayParams,
    device::{PixelType, tone_code},
    files::open_regular,
    film::FilmSettings,
    guard::guarded,
    memory::allowance,
    scene::ToneMap,
};
use exr::{
    image::{AnyChannels, FlatSamples, Layer},
    meta::{MetaData, attribute::AttributeValue},
    prelude::{ReadChannels as _, ReadLayers as _, read},
};
use std::{
    io::{BufReader, Seek},
    path::{Path, PathBuf},
};

/// A frame from a file.
pub struct FilmRead {
    pub frame: FilmFrame,
    /// How the program that wrote it would have shown it; none if the file does not tell.
    pub shown: Option<ShownAs>,
}

/// The settings of a frame that turn its radiance into colours of a display, as files of ours have them.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct ShownAs {
    pub exposure: f32,
    pub tone_map: ToneMap,
    pub film: FilmSettings,
    /// Whether the exposure was measured on the film itself, so that `exposure` is not all of it.
    #[serde(default, rename = "auto_exposure", deserialize_with = "is_there")]
    pub is_automatic: bool,
}

impl ShownAs {
    /// Parameters that turn radiance into pixels of a display, of type `pixels`.
    pub fn display_params(&self, pixels: PixelType) -> DisplayParams {
        self.film.display_params(self.exposure, tone_code(self.tone_map), pixels.code())
    }
}

fn is_there<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let value: Option<serde::de::IgnoredAny> = serde::Deserialize::deserialize(deserializer)?;
    Ok(value.is_some())
}

#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", .path.display())]
pub struct FilmReadError {
    path: PathBuf,
    reason: String,
}

/// Reads an OpenEXR file with the layers albedo, normal, motion and variance.
///
/// # Errors
/// When the file cannot be read or lacks one of them.
pub fn read_frame(path: &Path) -> Result<FilmRead, FilmReadError> {
    let panicked = |words: &str| format!("the picture is damaged: {words}");
    let failed = |reason: String| FilmReadError {
        path: path.to_owned(),
        reason: reason.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
    };
    guarded(|| decode(path), panicked).map_err(failed)
}

fn decode(path: &Path) -> Result<FilmRead, String> {
    let damaged = |error: exr::error::Error| format!("cannot be read as OpenEXR: {error}");
    let (file, held) = open_regular(path).map_err(|error| error.to_string())?;
    let mut file = BufReader::new(file);
    check_size(&MetaData::read_from_buffered(&mut file, false).map_err(damaged)?, held)?;
    file.rewind().map_err(|error| error.to_string())?;
    let all = read().no_deep_data().largest_resolution_level().all_channels().first_valid_layer().all_attributes();
    let image = all.from_buffered(file).map_err(damaged)?;
    let layer = image.layer_data;
    let settings = layer.attributes.other.iter().chain(&image.attributes.other).find(|(name, _)| *name == "settings");
    let shown = settings.and_then(|(_, value)| match value {
        AttributeValue::Text(text) => serde_json::from_str(&text.to_string()).ok(),
        _ => None,
    });
    Ok(FilmRead { frame: frame(&layer)?, shown })
}

/// Refuses files that claim more pixels than their bytes can mean.
fn check_size(meta: &MetaData, held: u64) -> Result<(), String> {
    let bytes = |header: &exr::meta::header::Header| {
        let pixels = (header.layer_size.width() as u64).saturating_mul(header.layer_size.height() as u64);
        pixels.saturating_mul(header.channels.bytes_per_pixel as u64 + 128)
    };
    match meta.headers.iter().map(bytes).fold(0, u64::saturating_add) {
        needed if needed > allowance(held) => {
            Err("it has more pixels than a file of this size means: write it again".into())
        }
        _ => Ok(()),
    }
}

fn frame(layer: &Layer<AnyChannels<FlatSamples>>) -> Result<FilmFrame, String> {
    let pixels = layer.size.area();
    let values = |names: &[String]| interleaved(&layer.channel_data, names, pixels);
    let of = |layer: &str, letters: &str| {
        let names: Vec<String> = letters.chars().map(|letter| format!("{layer}.{letter}")).collect();
        values(&names)
            .ok_or_else(|| format!("has no layer {layer}; render frames with --layers albedo,normal,motion,variance"))
    };
    let radiance = values(&["R", "G", "B"].map(String::from)).ok_or("has no channels R, G and B")?;
    let (variance, albedo) = (of("variance", "RGB")?, of("albedo", "RGB")?);
    let (normal, motion) = (of("normal", "XYZ")?, of("motion", "XYZW")?);
    let layers =
        FilmLayers { radiance: &radiance, variance: &variance, albedo: &albedo, normal: &normal, motion: &motion };
    let size = (layer.size.width() as u32, layer.size.height() as u32);
    FilmFrame::new(size, &layers).ok_or_else(|| "has no pixels".into())
}

/// The values of channels, pixel by pixel; none if one is missing or has fewer pixels.
fn interleaved(channels: &AnyChannels<FlatSamples>, names: &[String], pixels: usize) -> Option<Vec<f32>> {
    let mut values = vec![0f32; names.len() * pixels];
    for (offset, name) in names.iter().enumerate() {
        let channel = channels.list.iter().find(|channel| channel.name.to_string() == *name)?;
        let places = values.iter_mut().skip(offset).step_by(names.len());
        let samples = &channel.sample_data;
        if samples.len() != pixels {
            return None;
        }
        places.zip(samples.values_as_f32()).for_each(|(place, value)| *place = value);
    }
    Some(values)
}
