//! Reads frames for the denoiser of films: OpenEXR files with the layers that it needs, ours or those of other renderers.

use super::film::{FilmDenoiser, FilmFrame, FilmLayers};
use crate::{
    files::open_regular, film::FilmSettings, guard::guarded, memory::allowance, output::Metadata, scene::ToneMap,
};
use exr::{
    image::{AnyChannel, AnyChannels, FlatSamples, Layer},
    meta::{MetaData, attribute::AttributeValue},
    prelude::{ReadChannels as _, ReadLayers as _, Text, read},
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
    /// Where it comes from, as far as the file tells.
    pub origin: Metadata,
}

/// The settings of a frame that turn its radiance into colours of a display, as files of ours have them.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct ShownAs {
    pub exposure: f32,
    pub tone_map: ToneMap,
    pub film: FilmSettings,
    #[serde(default = "several")]
    samples: u32,
    /// Whether the exposure was measured on the film itself and the file does not tell it, so that `exposure` is not all of it.
    #[serde(default, rename = "auto_exposure", deserialize_with = "is_there")]
    pub is_automatic: bool,
}

fn several() -> u32 {
    2
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

/// Reads a frame for `denoiser` from an OpenEXR file with the layers albedo, normal and motion, and variance, if it has that.
///
/// # Errors
/// When the file cannot be read or lacks one of them.
pub fn read_frame(denoiser: &FilmDenoiser, path: &Path) -> Result<FilmRead, FilmReadError> {
    let panicked = |words: &str| format!("the picture is damaged: {words}");
    let failed = |reason: String| FilmReadError {
        path: path.to_owned(),
        reason: reason.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
    };
    guarded(|| decode(denoiser, path), panicked).map_err(failed)
}

fn decode(denoiser: &FilmDenoiser, path: &Path) -> Result<FilmRead, String> {
    let damaged = |error: exr::error::Error| format!("cannot be read as OpenEXR: {error}");
    let (file, held) = open_regular(path).map_err(|error| error.to_string())?;
    let mut file = BufReader::new(file);
    check_size(&MetaData::read_from_buffered(&mut file, false).map_err(damaged)?, held)?;
    file.rewind().map_err(|error| error.to_string())?;
    let all = read().no_deep_data().largest_resolution_level().all_channels().first_valid_layer().all_attributes();
    let image = all.from_buffered(file).map_err(damaged)?;
    let layer = image.layer_data;
    let attributes = || layer.attributes.other.iter().chain(&image.attributes.other);
    let attribute = |wanted: &str| attributes().find(|(name, _)| *name == wanted).map(|(_, value)| value);
    let text = |name: &str| match attribute(name) {
        Some(AttributeValue::Text(text)) => text.to_string(),
        _ => String::new(),
    };
    let settings = text("settings");
    let mut shown: Option<ShownAs> = serde_json::from_str(&settings).ok();
    if let (Some(shown), Some(AttributeValue::F32(stops))) = (&mut shown, attribute("exposure")) {
        *shown = ShownAs { exposure: *stops, is_automatic: false, ..shown.clone() };
    }
    if let (Some(shown), Some(AttributeValue::F32(kelvin))) = (&mut shown, attribute("whiteBalance")) {
        shown.film.white_balance = Some(*kelvin);
    }
    let seconds = match attribute("seconds") {
        Some(AttributeValue::F64(seconds)) => *seconds,
        _ => 0.0,
    };
    let origin = Metadata {
        software: layer.attributes.software_name.as_ref().map(Text::to_string).unwrap_or_default(),
        scene: text("scene"),
        scene_hash: text("sceneHash"),
        settings,
        seconds,
        ..Metadata::default()
    };
    // A single sample tells no variance.
    let is_told = shown.as_ref().is_none_or(|shown| shown.samples > 1);
    Ok(FilmRead { frame: frame(denoiser, &layer, is_told)?, shown, origin })
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

fn frame(
    denoiser: &FilmDenoiser,
    layer: &Layer<AnyChannels<FlatSamples>>,
    has_variance: bool,
) -> Result<FilmFrame, String> {
    let pixels = layer.size.area();
    let values = |wanted: &Wanted| wanted.names(&layer.channel_data).and_then(|names| interleaved(&names, pixels));
    let needed = |wanted: &Wanted| {
        let layer = wanted.called;
        values(wanted)
            .ok_or_else(|| format!("has no {layer}; render frames with --layers albedo,normal,motion,variance"))
    };
    let (radiance, variance) = (needed(&RADIANCE)?, values(&VARIANCE).filter(|_| has_variance).unwrap_or_default());
    let (albedo, normal, motion) = (needed(&ALBEDO)?, needed(&NORMAL)?, needed(&MOTION)?);
    let layers =
        FilmLayers { radiance: &radiance, variance: &variance, albedo: &albedo, normal: &normal, motion: &motion };
    let size = (layer.size.width() as u32, layer.size.height() as u32);
    denoiser.frame(size, &layers).ok_or_else(|| "has no pixels".into())
}

/// Channels that belong together.
struct Wanted {
    /// As messages name them.
    called: &'static str,
    /// Names of the layer: ours, and those of other renderers, in which the name of a view layer may come first.
    layers: &'static [&'static str],
    letters: &'static str,
}

// Cycles has Combined, Denoising Albedo, Denoising Normal and Vector; Mitsuba has albedo and sh_normal.
const RADIANCE: Wanted = Wanted { called: "channels R, G and B", layers: &["", "Combined"], letters: "RGB" };
const ALBEDO: Wanted = Wanted { called: "layer albedo", layers: &["albedo", "Denoising Albedo"], letters: "RGB" };
const NORMAL: Wanted =
    Wanted { called: "layer normal", layers: &["normal", "Denoising Normal", "sh_normal"], letters: "XYZ" };
const MOTION: Wanted = Wanted { called: "layer motion", layers: &["motion", "Vector"], letters: "XYZW" };
const VARIANCE: Wanted = Wanted { called: "layer variance", layers: &["variance"], letters: "RGB" };

impl Wanted {
    /// The channels of the first layer that is there.
    fn names<'a>(&self, channels: &'a AnyChannels<FlatSamples>) -> Option<Vec<&'a AnyChannel<FlatSamples>>> {
        let find = |layer: &str| {
            let channel = |letter: char| {
                let is_it = |name: &str| {
                    let (before, last) = name.rsplit_once('.').unwrap_or(("", name));
                    let view = before.strip_suffix(layer);
                    last.chars().eq([letter]) && view.is_some_and(|view| view.is_empty() || view.ends_with('.'))
                };
                channels.list.iter().find(|channel| is_it(&channel.name.to_string()))
            };
            self.letters.chars().map(channel).collect()
        };
        self.layers.iter().find_map(|layer| find(layer))
    }
}

/// The values of channels, pixel by pixel; none if one has fewer pixels.
fn interleaved(channels: &[&AnyChannel<FlatSamples>], pixels: usize) -> Option<Vec<f32>> {
    let mut values = vec![0f32; channels.len() * pixels];
    for (offset, channel) in channels.iter().enumerate() {
        let places = values.iter_mut().skip(offset).step_by(channels.len());
        let samples = &channel.sample_data;
        if samples.len() != pixels {
            return None;
        }
        places.zip(samples.values_as_f32()).for_each(|(place, value)| *place = value);
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use exr::{image::Image, prelude::WritableImage as _};

    fn read_with(names: &[&str]) -> Result<FilmRead, FilmReadError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.exr");
        let channel = |name: &&str| {
            let name = Text::new_or_none(*name).unwrap();
            AnyChannel::new(name, FlatSamples::F32(vec![0.5; 6 * 4]))
        };
        let channels = AnyChannels::sort(names.iter().map(channel).collect());
        Image::from_channels((6, 4), channels).write().to_file(&path).unwrap();
        read_frame(&FilmDenoiser::new(1.0).unwrap(), &path)
    }

    #[test]
    fn layers_of_other_renderers_are_known_by_their_names() {
        let cycles = |more: &str| {
            let layers = ["Combined.RGB", "Denoising Albedo.RGB", "Denoising Normal.XYZ", more];
            let names: Vec<String> = layers
                .iter()
                .filter_map(|layer| layer.rsplit_once('.'))
                .flat_map(|(layer, letters)| letters.chars().map(move |letter| format!("ViewLayer.{layer}.{letter}")))
                .collect();
            read_with(&names.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let read = cycles("Vector.XYZW").unwrap();
        assert_eq!(read.frame.size(), (6, 4));
        assert!(read.shown.is_none());
        let error = cycles("Depth.Z").err().unwrap().to_string();
        assert!(error.contains("has no layer motion"), "{error}");
        let error = read_with(&["Y"]).err().unwrap().to_string();
        assert!(error.contains("has no channels R, G and B"), "{error}");
    }
}
