//! Reads frames for the denoiser from OpenEXR files with the layers that it needs, written by this program or by other renderers.

use super::frames::{FrameDenoiser, FrameLayers, RecordedFrame};
use exr::{
    image::{AnyChannel, AnyChannels, FlatSamples, Layer},
    meta::{
        MetaData,
        attribute::{AttributeValue, IntegerBounds, Rational},
    },
    prelude::{ReadChannels as _, ReadLayers as _, Text, Vec2, read},
};
use std::{
    io::{BufReader, Seek},
    path::{Path, PathBuf},
};
use throng_base::{files::open_regular, guard::guarded, memory::allowance};
use throng_device::Region;
use throng_output::{Metadata, Windows};
use throng_picture::film::FilmSettings;
use throng_scene::{PixelFilter, ToneMap};

/// A frame from a file.
pub struct ReadFrame {
    pub frame: RecordedFrame,
    /// Display settings of the program that wrote the frame; none if the file does not store them.
    pub shown: Option<ShownAs>,
    /// Metadata of the frame, as far as the file stores them, with its windows.
    pub origin: Metadata,
    /// Number of pixels whose radiance is NaN or infinite. They are replaced by the mean of their neighbours.
    pub not_finite: usize,
}

/// Settings that convert a frame's radiance to display colours, as stored in files of this program.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct ShownAs {
    pub exposure: f32,
    pub tone_map: ToneMap,
    pub film: FilmSettings,
    #[serde(default = "several")]
    samples: u32,
    #[serde(default)]
    pub transparent: bool,
    /// Whether the exposure was measured automatically and the file does not store the result. `exposure` is then not the complete
    /// exposure.
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
pub struct ReadFrameError {
    path: PathBuf,
    reason: String,
}

/// Reads a frame for `denoiser` from an OpenEXR file. The file must have the layers albedo and normal and, unless the frame `is_alone`,
/// motion. The layer variance is optional.
///
/// # Errors
/// If the file cannot be read, is damaged, or lacks a required layer.
pub fn read_frame(denoiser: &FrameDenoiser, path: &Path, is_alone: bool) -> Result<ReadFrame, ReadFrameError> {
    let panicked = |words: &str| format!("the picture is damaged: {words}");
    let failed = |reason: String| ReadFrameError {
        path: path.to_owned(),
        reason: reason.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
    };
    guarded(|| decode(denoiser, path, is_alone), panicked).map_err(failed)
}

fn decode(denoiser: &FrameDenoiser, path: &Path, is_alone: bool) -> Result<ReadFrame, String> {
    let damaged = |error: exr::error::Error| format!("cannot be read as OpenEXR: {error}");
    let (file, held) = open_regular(path).map_err(|error| error.to_string())?;
    let mut file = BufReader::new(file);
    check_size(&MetaData::read_from_buffered(&mut file, false).map_err(damaged)?, held)?;
    file.rewind().map_err(|error| error.to_string())?;
    let all = read().no_deep_data().largest_resolution_level().all_channels().all_layers().all_attributes();
    let image = all.from_buffered(file).map_err(damaged)?;
    let first = image.layer_data.first().ok_or("has no pixels")?;
    let attributes = || first.attributes.other.iter().chain(&image.attributes.other);
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
        software: first.attributes.software_name.as_ref().map(Text::to_string).unwrap_or_default(),
        scene: text("scene"),
        scene_hash: text("sceneHash"),
        settings,
        seconds,
        windows: windows(first, image.attributes.display_window),
        rate: rate_of(first.attributes.frames_per_second),
        region: region_of(first, image.attributes.display_window),
        ..Metadata::default()
    };
    // A single sample gives no variance.
    let is_told = shown.as_ref().is_none_or(|shown| shown.samples > 1);
    let shared = shown.as_ref().is_some_and(|shown| shown.film.filter == PixelFilter::Shared);
    let transparent = shown.as_ref().is_some_and(|shown| shown.transparent);
    let (frame, not_finite) = frame(denoiser, &image.layer_data, (is_told, shared, transparent), is_alone)?;
    Ok(ReadFrame { frame, shown, origin, not_finite })
}

/// Position of a part's pixels in the picture; none if they are the whole picture.
fn windows(part: &Layer<AnyChannels<FlatSamples>>, display: IntegerBounds) -> Option<Windows> {
    let Vec2(x, y) = part.attributes.layer_position;
    let (first, last) = (display.position, display.max());
    let windows = Windows { origin: [x, y], display: [first.x(), first.y(), last.x(), last.y()] };
    let size = (part.size.width() as u32, part.size.height() as u32);
    (windows != Windows::of_whole(size)).then_some(windows)
}

/// Replaces pixels that have NaN or infinite values by the mean of their valid neighbours, or by 0 without any. Returns the number of
/// replaced pixels.
fn fill_holes(radiance: &mut [f32], width: usize) -> usize {
    let pixels = radiance.as_chunks_mut::<3>().0;
    let is_hole = |pixel: &[f32; 3]| pixel.iter().any(|value| !value.is_finite());
    let holes: Vec<usize> = (0..pixels.len()).filter(|&index| is_hole(&pixels[index])).collect();
    let fill = |&hole: &usize| {
        let (x, y) = (hole % width, hole / width);
        let around = (y.saturating_sub(1)..=y + 1)
            .flat_map(|y| (x.saturating_sub(1)..=(x + 1).min(width - 1)).map(move |x| y * width + x));
        let around: Vec<&[f32; 3]> =
            around.filter_map(|index| pixels.get(index)).filter(|pixel| !is_hole(pixel)).collect();
        [0, 1, 2].map(|c| around.iter().map(|pixel| pixel[c]).sum::<f32>() / around.len().max(1) as f32)
    };
    let filled: Vec<[f32; 3]> = holes.iter().map(fill).collect();
    for (&hole, filled) in holes.iter().zip(filled) {
        pixels[hole] = filled;
    }
    holes.len()
}

/// Frame rate as a fraction; none unless numerator and denominator are positive.
fn rate_of(rate: Option<Rational>) -> Option<(u32, u32)> {
    let (frames, seconds) = rate?;
    u32::try_from(frames).ok().filter(|&frames| frames > 0 && seconds > 0).map(|frames| (frames, seconds))
}

/// The region that a part's pixels cover in the whole picture. None unless the picture starts at (0, 0) and the part is a smaller region in
/// it.
fn region_of(part: &Layer<AnyChannels<FlatSamples>>, whole: IntegerBounds) -> Option<(Region, (u32, u32))> {
    let Vec2(left, top) = part.attributes.layer_position;
    let (x, y) = (u32::try_from(left).ok()?, u32::try_from(top).ok()?);
    let region = Region { x, y, width: part.size.width() as u32, height: part.size.height() as u32 };
    let size = (whole.size.width() as u32, whole.size.height() as u32);
    let is_part = whole.position == Vec2(0, 0) && region != Region::of_picture(size) && region.check(size).is_ok();
    is_part.then_some((region, size))
}

/// Rejects files that declare more pixels than a file of this size can hold.
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
    denoiser: &FrameDenoiser,
    layers: &[Layer<AnyChannels<FlatSamples>>],
    (has_variance, shared, transparent): (bool, bool, bool),
    is_alone: bool,
) -> Result<(RecordedFrame, usize), String> {
    let size = layers[0].size;
    let channels = named_channels(layers);
    let values = |wanted: &Wanted| wanted.among(&channels).and_then(|found| interleaved(&found, size.area()));
    let needed = |wanted: &Wanted| {
        let layer = wanted.called;
        values(wanted)
            .ok_or_else(|| format!("has no {layer}; render frames with --layers albedo,normal,motion,variance"))
    };
    let (mut radiance, variance) = (needed(&RADIANCE)?, values(&VARIANCE).filter(|_| has_variance).unwrap_or_default());
    let (albedo, normal) = (needed(&ALBEDO)?, needed(&NORMAL)?);
    // Used only for transparent frames of this program: other renderers' albedo does not include the background.
    let alpha = values(&ALPHA).filter(|_| transparent).unwrap_or_default();
    let alpha_variance = values(&ALPHA_VARIANCE).filter(|_| transparent).unwrap_or_default();
    let alone = |missing| format!("{missing}, or denoise it alone with --denoise-frames 0");
    let motion = if is_alone { vec![0.0; 4 * size.area()] } else { needed(&MOTION).map_err(alone)? };
    let not_finite = fill_holes(&mut radiance, size.width());
    let layers = FrameLayers {
        radiance: &radiance,
        variance: &variance,
        albedo: &albedo,
        normal: &normal,
        motion: &motion,
        alpha: &alpha,
        alpha_variance: &alpha_variance,
        shared,
    };
    let size = (size.width() as u32, size.height() as u32);
    let frame = denoiser.frame(size, &layers).ok_or("has no pixels")?;
    Ok((frame, not_finite))
}

/// The channels of all parts whose data window equals the first part's, with their full names: the name of the part comes first, unless the
/// channel's name starts with it already. Channels of the first part are also listed by their own names.
fn named_channels(layers: &[Layer<AnyChannels<FlatSamples>>]) -> Vec<(String, &AnyChannel<FlatSamples>)> {
    let mut named = Vec::new();
    let window = |layer: &Layer<_>| (layer.size, layer.attributes.layer_position);
    for (index, layer) in layers.iter().enumerate().filter(|(_, layer)| window(layer) == window(&layers[0])) {
        let part = layer.attributes.layer_name.as_ref().map(Text::to_string).unwrap_or_default();
        for channel in &layer.channel_data.list {
            let own = channel.name.to_string();
            if part.is_empty() || own.strip_prefix(&part).is_some_and(|rest| rest.starts_with('.')) {
                named.push((own, channel));
                continue;
            }
            named.push((format!("{part}.{own}"), channel));
            if index == 0 {
                named.push((own, channel));
            }
        }
    }
    named
}

/// Channels that form one layer.
struct Wanted {
    /// Name for messages.
    called: &'static str,
    /// Accepted names of the layer, in this program and in other renderers. The name of a view layer may precede them.
    layers: &'static [&'static str],
    letters: &'static str,
}

// Cycles uses Combined, Denoising Albedo, Denoising Normal and Vector. In Mitsuba users name the layers, mostly albedo, and sh_normal or
// nn.
const RADIANCE: Wanted = Wanted { called: "channels R, G and B", layers: &["", "Combined"], letters: "RGB" };
const ALPHA: Wanted = Wanted { called: "channel A", layers: &["", "Combined"], letters: "A" };
const ALBEDO: Wanted = Wanted { called: "layer albedo", layers: &["albedo", "Denoising Albedo"], letters: "RGB" };
const NORMAL: Wanted =
    Wanted { called: "layer normal", layers: &["normal", "Denoising Normal", "sh_normal", "nn"], letters: "XYZ" };
const MOTION: Wanted = Wanted { called: "layer motion", layers: &["motion", "Vector"], letters: "XYZW" };
const VARIANCE: Wanted = Wanted { called: "layer variance", layers: &["variance"], letters: "RGB" };
const ALPHA_VARIANCE: Wanted = Wanted { called: "layer alpha_variance", layers: &["alpha_variance"], letters: "V" };

impl Wanted {
    /// The channels of the first accepted layer that is complete.
    fn among<'a>(
        &self,
        channels: &[(String, &'a AnyChannel<FlatSamples>)],
    ) -> Option<Vec<&'a AnyChannel<FlatSamples>>> {
        let find = |layer: &str| {
            let channel = |letter: char| {
                let is_it = |name: &str| {
                    let (before, last) = name.rsplit_once('.').unwrap_or(("", name));
                    let view = before.strip_suffix(layer);
                    last.chars().eq([letter]) && view.is_some_and(|view| view.is_empty() || view.ends_with('.'))
                };
                channels.iter().find(|(name, _)| is_it(name)).map(|(_, channel)| *channel)
            };
            self.letters.chars().map(channel).collect()
        };
        self.layers.iter().find_map(|layer| find(layer))
    }
}

/// The values of channels, interleaved by pixel; none if a channel has another number of pixels.
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
    use exr::{
        image::{Encoding, Image, Layers},
        meta::header::{ImageAttributes, LayerAttributes},
        prelude::WritableImage as _,
    };

    /// Writes and reads a file of parts, each given by its name and the names of its channels.
    fn read_parts(parts: &[(String, Vec<String>)], is_alone: bool) -> Result<ReadFrame, ReadFrameError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.exr");
        let channel = |name: &String| AnyChannel::new(Text::from(&**name), FlatSamples::F32(vec![0.5; 6 * 4]));
        let layer = |(part, names): &(String, Vec<String>)| {
            let channels = AnyChannels::sort(names.iter().map(channel).collect());
            Layer::new((6, 4), LayerAttributes::named(&**part), Encoding::UNCOMPRESSED, channels)
        };
        let layers: Layers<_> = parts.iter().map(layer).collect();
        Image::from_layers(ImageAttributes::with_size((6, 4)), layers).write().to_file(&path).unwrap();
        read_frame(&FrameDenoiser::new(1.0).unwrap(), &path, is_alone)
    }

    #[test]
    fn holes_are_filled_from_around_them() {
        let (n, i) = (f32::NAN, f32::INFINITY);
        let mut radiance = [[1.0; 3], [n, 0.0, 0.0], [3.0; 3], [5.0; 3], [0.0, i, 0.0], [7.0; 3]].concat();
        assert_eq!(fill_holes(&mut radiance, 3), 2);
        assert_eq!(radiance, [[1.0; 3], [4.0; 3], [3.0; 3], [5.0; 3], [4.0; 3], [7.0; 3]].concat());
        let mut all = vec![n; 12];
        assert_eq!((fill_holes(&mut all, 2), &all[..]), (4, &[0.0; 12][..]));
    }

    #[test]
    fn layers_of_other_renderers_are_known_by_their_names() {
        let passes = ["Combined.RGB", "Denoising Albedo.RGB", "Denoising Normal.XYZ", "Vector.XYZW"];
        let passes = passes.map(|pass| {
            let (pass, letters) = pass.split_once('.').unwrap();
            (format!("ViewLayer.{pass}"), letters.chars().map(String::from).collect())
        });
        let whole = |(part, letters): &(String, Vec<String>)| {
            (part.clone(), letters.iter().map(|letter| format!("{part}.{letter}")).collect::<Vec<_>>())
        };
        // Blender writes one part per pass, whose channels repeat the part's name, or a single part. OpenEXR's own tools omit the part's
        // name.
        let doubled = passes.each_ref().map(whole);
        let joined =
            |parts: &[(String, Vec<String>)]| (String::new(), parts.iter().flat_map(|p| p.1.clone()).collect());
        for parts in [&passes[..], &doubled, &[joined(&doubled)]] {
            let read = read_parts(parts, false).unwrap();
            assert_eq!(read.frame.size(), (6, 4));
            assert!(read.shown.is_none());
        }
        for parts in [&passes[..3], &doubled[..3], &[joined(&doubled[..3])]] {
            let error = read_parts(parts, false).err().unwrap().to_string();
            assert!(error.contains("has no layer motion") && error.contains("--denoise-frames 0"), "{error}");
            assert!(read_parts(parts, true).is_ok());
        }
        let error = read_parts(&[(String::new(), vec!["Y".into()])], true).err().unwrap().to_string();
        assert!(error.contains("has no channels R, G and B"), "{error}");
    }
}
