//! A finished frame as encoders see it: pixels, AOVs, and the metadata of the file.

use super::EncodeError;
use crate::{
    aov::{Aov, AovImage, channels::FileBlocks},
    device::Region,
    pixels::PixelType,
};
use serde_json::Value;
use std::{borrow::Cow, collections::BTreeMap};

/// Everything that can go into a file. Formats leave out what they have no place for.
pub struct Picture<'a> {
    pub width: u32,
    pub height: u32,
    pub pixels: Pixels<'a>,
    pub aovs: &'a [AovImage],
    /// Whether the picture is transparent as its alpha AOV says. Display colours are not multiplied by alpha, floats are.
    pub transparent: bool,
    /// Rows of the file that the device made instead of pixels and AOVs, which are empty then.
    pub blocks: Option<&'a FileBlocks>,
    pub manifests: &'a Manifests,
    pub metadata: &'a Metadata,
}

impl Picture<'_> {
    /// Alpha of all pixels; none if the picture is opaque.
    pub fn alpha(&self) -> Option<&[f32]> {
        let image = self.aovs.iter().find(|image| image.aov == Aov::Alpha && self.transparent);
        image.map(|image| &image.values[..])
    }

    /// The place of the pixels in the whole picture.
    pub fn windows(&self) -> Windows {
        let size = (self.width, self.height);
        let region = self.metadata.region.filter(|(region, _)| (region.width, region.height) == size);
        let of_region = region
            .map(|(region, whole)| Windows { origin: [region.x as i32, region.y as i32], ..Windows::of_whole(whole) });
        self.metadata.windows.or(of_region).unwrap_or(Windows::of_whole(size))
    }

    /// RGB with 8 bits, or RGBA if the picture is transparent.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>, EncodeError> {
        let rgb = self.pixels.bytes()?;
        Ok(match self.alpha() {
            Some(alpha) => with_alpha(&rgb, alpha, |alpha| (alpha * 255.0).round() as u8).into(),
            None => rgb,
        })
    }
}

/// Interleaves RGB with alpha, which `convert` makes an integer of.
pub fn with_alpha<T: Copy>(rgb: &[T], alpha: &[f32], convert: impl Fn(f32) -> T) -> Vec<T> {
    let pixels = rgb.as_chunks::<3>().0.iter().zip(alpha);
    pixels.flat_map(|(&[r, g, b], &alpha)| [r, g, b, convert(alpha)]).collect()
}

/// RGB pixels, row-major, the top row first.
#[derive(Clone, Debug, PartialEq)]
pub enum Pixels<'a> {
    /// sRGB, ready for display.
    U8(Cow<'a, [u8]>),
    /// The same with 16 bits.
    U16(Cow<'a, [u16]>),
    /// Linear radiance.
    F32(Cow<'a, [f32]>),
}

impl<'a> Pixels<'a> {
    /// Reads `bytes` in native byte order; they are copied only if they are misaligned in memory.
    pub fn from_bytes(kind: PixelType, bytes: &'a [u8]) -> Self {
        match kind {
            PixelType::U8 => Self::U8(bytes.into()),
            PixelType::U16 => Self::U16(cast(bytes)),
            PixelType::F32 => Self::F32(cast(bytes)),
        }
    }

    /// The values as bytes in native order.
    pub fn into_native_bytes(self) -> Vec<u8> {
        match self {
            Self::U8(values) => values.into_owned(),
            Self::U16(values) => bytemuck::cast_slice(&values).to_vec(),
            Self::F32(values) => bytemuck::cast_slice(&values).to_vec(),
        }
    }

    /// Number of channel values.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::F32(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the values with 8 bits, for formats that have no more.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>, EncodeError> {
        match self {
            Self::U8(values) => Ok(Cow::Borrowed(values)),
            Self::U16(values) => Ok(values.iter().map(|&v| to_8_bits(v)).collect()),
            Self::F32(_) => Err(EncodeError::Kind(self.kind())),
        }
    }

    pub fn kind(&self) -> PixelType {
        match self {
            Self::U8(_) => PixelType::U8,
            Self::U16(_) => PixelType::U16,
            Self::F32(_) => PixelType::F32,
        }
    }
}

/// Rounds to the nearest 8-bit value: 65535 becomes 255.
fn to_8_bits(value: u16) -> u8 {
    ((u32::from(value) + 128) / 257) as u8
}

fn cast<T: bytemuck::Pod>(bytes: &[u8]) -> Cow<'_, [T]> {
    let whole = &bytes[..bytes.len() - bytes.len() % size_of::<T>()];
    match bytemuck::try_cast_slice(whole) {
        Ok(values) => values.into(),
        Err(_) => bytemuck::pod_collect_to_vec(whole).into(),
    }
}

/// The names behind the hashes of Cryptomatte AOVs: JSON objects from a name to its hash in eight hexadecimal digits.
/// Empty where an AOV is not written.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Manifests {
    pub instances: String,
    pub materials: String,
}

impl Manifests {
    /// The manifest of a Cryptomatte AOV; empty for others.
    pub fn of(&self, aov: Aov) -> &str {
        match aov {
            Aov::Instance => &self.instances,
            Aov::Material => &self.materials,
            _ => "",
        }
    }
}

/// The origin of a picture. The same work gives the same metadata, so that files come out byte for byte the same.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The program and its version.
    pub software: String,
    /// The scene's name.
    pub scene: String,
    /// Hash of everything in the scene that pictures show, in hexadecimal digits.
    pub scene_hash: String,
    /// Settings that the frames were rendered with, as a JSON object.
    pub settings: String,
    /// The frame's number, from 1.
    pub frame: u32,
    /// The time of the scene that the frame shows.
    pub seconds: f64,
    /// Stops by which the frame is exposed, where the settings leave that to the frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposure: Option<f32>,
    /// Its colour temperature of white, where that is another than the settings'.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub white_balance: Option<f32>,
    /// Frames per second of its film, as numerator and denominator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<(u32, u32)>,
    /// The region that the pixels are of, and the size of the whole picture; none for whole pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<(Region, (u32, u32))>,
    /// The place of its pixels in a larger picture, for OpenEXR files; none if they are all of it.
    #[serde(skip)]
    pub windows: Option<Windows>,
}

/// The place of pixels in a picture, as OpenEXR means it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Column and row of the first pixel: where the data window begins.
    pub origin: [i32; 2],
    /// First column and row of the display window, and the last ones.
    pub display: [i32; 4],
}

impl Windows {
    /// The windows of a picture of this size whose pixels are all of it.
    pub fn of_whole((width, height): (u32, u32)) -> Self {
        Self { origin: [0, 0], display: [0, 0, width.wrapping_sub(1) as i32, height.wrapping_sub(1) as i32] }
    }
}

impl Metadata {
    /// Names, as they are in files, and values.
    pub fn texts(&self) -> [(&'static str, String); 6] {
        [
            ("Software", self.software.clone()),
            ("Scene", self.scene.clone()),
            (SCENE_HASH, self.scene_hash.clone()),
            (SETTINGS, self.settings.clone()),
            ("Frame", self.frame.to_string()),
            ("Seconds", self.seconds.to_string()),
        ]
    }

    /// Says how a picture differs from this one, by the texts in its file; none if no text there differs. The scene's name does not
    /// matter.
    pub fn difference(&self, told: &Texts) -> Option<String> {
        let texts = self.texts();
        let mut others = texts.iter().filter_map(|(name, here)| {
            let there = told.get(*name).filter(|there| *there != here)?;
            match *name {
                "Scene" => None,
                SCENE_HASH => Some("it is of another scene".to_owned()),
                SETTINGS => Some(setting_that_differs(there, here)),
                _ => {
                    let name = name.to_lowercase();
                    Some(format!("its {name} is {there} and not {here}"))
                }
            }
        });
        others.next()
    }
}

/// The texts in a file about its picture, by the names of [`Metadata::texts`]; empty if another program made it.
pub type Texts = BTreeMap<String, String>;

const SCENE_HASH: &str = "Scene hash";
const SETTINGS: &str = "Settings";

/// Describes the first setting that differs between two JSON objects.
fn setting_that_differs(there: &str, here: &str) -> String {
    let read = |text: &str| serde_json::from_str::<serde_json::Map<_, _>>(text).unwrap_or_default();
    let (there, here) = (read(there), read(here));
    let mut names = there.keys().chain(here.keys());
    let differs = |name: &&String| there.get(*name) != here.get(*name);
    let Some(name) = names.find(differs) else {
        return "it was made with other settings".to_owned();
    };
    let value = |of: &serde_json::Map<String, Value>| of.get(name).map_or("none".to_owned(), Value::to_string);
    format!("its {name} is {} and not {}", value(&there), value(&here))
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    static NO_MANIFESTS: Manifests = Manifests { instances: String::new(), materials: String::new() };

    pub fn metadata() -> Metadata {
        Metadata {
            software: "throng 1.2.3".into(),
            scene: "spheres ●".into(),
            scene_hash: "0123456789abcdef".into(),
            settings: r#"{"samples":4}"#.into(),
            frame: 7,
            seconds: 0.25,
            exposure: None,
            white_balance: None,
            rate: Some((24_000, 1001)),
            region: None,
            windows: None,
        }
    }

    /// Makes a picture without AOVs.
    pub fn picture<'a>(size: (u32, u32), pixels: Pixels<'a>, metadata: &'a Metadata) -> Picture<'a> {
        Picture {
            width: size.0,
            height: size.1,
            pixels,
            aovs: &[],
            transparent: false,
            blocks: None,
            manifests: &NO_MANIFESTS,
            metadata,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_something_else_are_told_by_what_differs() {
        let own = testing::metadata();
        let told = |name: &str, text: &str| {
            let mut texts: Texts = own.texts().map(|(name, text)| (name.into(), text)).into();
            texts.insert(name.into(), text.into());
            own.difference(&texts)
        };
        assert_eq!(own.difference(&Texts::new()), None);
        assert_eq!(told("Scene", "another name"), None);
        let differs = |name, text, expected: &str| assert_eq!(told(name, text).unwrap(), expected);
        differs("Scene hash", "0", "it is of another scene");
        differs("Frame", "8", "its frame is 8 and not 7");
        differs("Settings", r#"{"samples":1}"#, "its samples is 1 and not 4");
        differs("Settings", r#"{"samples":4,"seed":1}"#, "its seed is 1 and not none");
        differs("Settings", "[", "its samples is none and not 4");
    }

    #[test]
    fn floats_are_read_wherever_their_bytes_lie() {
        let floats = [1.5f32, -2.0, 3.25];
        let mut bytes = vec![0];
        bytes.extend_from_slice(bytemuck::cast_slice(&floats));
        for start in [0, 1] {
            let shifted = [&vec![0; start][..], &bytes[1..]].concat();
            let pixels = Pixels::from_bytes(PixelType::F32, &shifted[start..]);
            assert_eq!(pixels, Pixels::F32(floats.to_vec().into()));
        }
    }
}
