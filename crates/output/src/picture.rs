//! The input of encoders: pixels, AOVs, and metadata of a finished frame.

use super::EncodeError;
use serde_json::Value;
use std::{borrow::Cow, collections::BTreeMap};
use throng_device::Region;
use throng_picture::{
    aov::{Aov, AovImage, channels::FileBlocks},
    pixels::PixelType,
};

/// All data that a file can contain. Formats omit data that they do not support.
pub struct Picture<'a> {
    pub width: u32,
    pub height: u32,
    pub pixels: Pixels<'a>,
    pub aovs: &'a [AovImage],
    /// Whether the alpha AOV is the picture's alpha. Display colours are not multiplied by alpha; floats are.
    pub transparent: bool,
    /// Encoded rows that the device returned instead of pixels and AOVs, which are then empty.
    pub blocks: Option<&'a FileBlocks>,
    /// 8-bit RGB display colours of radiance, for formats with both ([`FileFormat::has_both`](crate::FileFormat::has_both)).
    pub display: Option<&'a [u8]>,
    pub manifests: &'a Manifests,
    pub metadata: &'a Metadata,
}

impl Picture<'_> {
    /// Alpha of all pixels; none if the picture is opaque.
    pub fn alpha(&self) -> Option<&[f32]> {
        let image = self.aovs.iter().find(|image| image.aov == Aov::Alpha && self.transparent);
        image.map(|image| &image.values[..])
    }

    /// Position of the pixels in the whole picture.
    pub fn windows(&self) -> Windows {
        let size = (self.width, self.height);
        let region = self.metadata.region.filter(|(region, _)| (region.width, region.height) == size);
        let of_region = region
            .map(|(region, whole)| Windows { origin: [region.x as i32, region.y as i32], ..Windows::of_whole(whole) });
        self.metadata.windows.or(of_region).unwrap_or(Windows::of_whole(size))
    }

    /// 8-bit RGB, or RGBA if the picture is transparent.
    ///
    /// # Errors
    /// If the pixels are floats.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>, EncodeError> {
        let rgb = self.pixels.bytes()?;
        Ok(match self.alpha() {
            Some(alpha) => with_alpha(&rgb, alpha, |alpha| (alpha * 255.0).round() as u8).into(),
            None => rgb,
        })
    }
}

/// Interleaves RGB with alpha, which `convert` maps to the type of the colours.
pub fn with_alpha<T: Copy>(rgb: &[T], alpha: &[f32], convert: impl Fn(f32) -> T) -> Vec<T> {
    let pixels = rgb.as_chunks::<3>().0.iter().zip(alpha);
    pixels.flat_map(|(&[r, g, b], &alpha)| [r, g, b, convert(alpha)]).collect()
}

/// RGB pixels, row-major from the top left.
#[derive(Clone, Debug, PartialEq)]
pub enum Pixels<'a> {
    /// 8-bit sRGB, for display.
    U8(Cow<'a, [u8]>),
    /// 16-bit sRGB, for display.
    U16(Cow<'a, [u16]>),
    /// Linear radiance.
    F32(Cow<'a, [f32]>),
}

impl<'a> Pixels<'a> {
    /// Interprets `bytes` in native byte order. They are copied only if they are misaligned in memory.
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

    /// Number of channel values: three per pixel.
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

    /// Returns the values with 8 bits, for formats with no greater depth.
    ///
    /// # Errors
    /// If the pixels are floats.
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

/// Manifests of Cryptomatte AOVs: JSON objects that map a name to its hash, in eight hexadecimal digits. Empty for an AOV that is not
/// written.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Manifests {
    pub instances: String,
    pub materials: String,
}

impl Manifests {
    /// The manifest of a Cryptomatte AOV; empty for other AOVs.
    pub fn of(&self, aov: Aov) -> &str {
        match aov {
            Aov::Instance => &self.instances,
            Aov::Material => &self.materials,
            _ => "",
        }
    }
}

/// The origin of a picture. Metadata are reproducible, so that equal renders give identical files.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The program and its version.
    pub software: String,
    /// The scene's name.
    pub scene: String,
    /// Hash of everything in the scene that affects pictures, in hexadecimal digits.
    pub scene_hash: String,
    /// Settings of the render, as a JSON object.
    pub settings: String,
    /// Number of the frame, from 1.
    pub frame: u32,
    /// Time of the scene that the frame shows, in seconds.
    pub seconds: f64,
    /// The frame's exposure in stops, if it is automatic or animated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposure: Option<f32>,
    /// The frame's white balance in kelvin, if it differs from the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub white_balance: Option<f32>,
    /// Frame rate of the animation in frames per second, as numerator and denominator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<(u32, u32)>,
    /// The region that the pixels cover, and the size of the whole picture; none for whole pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<(Region, (u32, u32))>,
    /// Position of the pixels in a larger picture, for OpenEXR files. None for whole pictures, and for a region as given in `region`.
    #[serde(skip)]
    pub windows: Option<Windows>,
    /// Matrices of the camera, for OpenEXR files. None if the projection is not linear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrices: Option<CameraMatrices>,
    /// Pose and projection of the camera, for NPZ files.
    #[serde(skip)]
    pub calibration: Option<Calibration>,
}

/// A camera as computer vision describes it: axes x to the right, y down, z ahead, and pixels of the rendered region. Matrices are row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The matrix from the camera's space to world space.
    pub world_from_camera: [f64; 16],
    /// The matrix of focal lengths and principal point; none for projections without them.
    pub k: Option<[f64; 9]>,
    /// Coefficients as OpenCV orders them: k1, k2, p1, p2, k3 to k6, or the four of its fisheye. Empty without distortion.
    pub distortion: Vec<f64>,
}

/// A camera in OpenEXR's standard attributes. Matrices are for row vectors, row by row.
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct CameraMatrices {
    /// From world space to the camera's: x to the right, y up, z ahead.
    pub world_to_camera: [f32; 16],
    /// From world space to the display window, after division by the fourth coordinate: (0, 0) is its upper left corner, (1, 1) the lower right.
    pub world_to_ndc: [f32; 16],
}

/// Position of pixels in a picture, as in OpenEXR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Column and row of the first pixel, where the data window starts.
    pub origin: [i32; 2],
    /// First column and row of the display window, then its last column and row.
    pub display: [i32; 4],
}

impl Windows {
    /// The windows of a picture of this size whose pixels cover all of it.
    pub fn of_whole((width, height): (u32, u32)) -> Self {
        Self { origin: [0, 0], display: [0, 0, width.wrapping_sub(1) as i32, height.wrapping_sub(1) as i32] }
    }
}

impl Metadata {
    /// Names of the metadata in files, and their values.
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

    /// Describes the first difference between this picture and another one, given the texts in its file. None if no text differs. The
    /// scene's name is ignored.
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

/// The metadata texts of a file, by the names in [`Metadata::texts`]; empty if another program wrote the file.
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
            matrices: None,
            calibration: None,
        }
    }

    /// Creates a picture without AOVs.
    pub fn picture<'a>(size: (u32, u32), pixels: Pixels<'a>, metadata: &'a Metadata) -> Picture<'a> {
        Picture {
            width: size.0,
            height: size.1,
            pixels,
            aovs: &[],
            transparent: false,
            blocks: None,
            display: None,
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
