//! Channels of files with AOVs: their names, types and order, as in OpenEXR files.

use super::{Aov, AovSet, MATTE_RANKS, cryptomatte};
use bytes::Bytes;

/// One channel of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelPlace {
    pub name: String,
    pub kind: ChannelKind,
    /// The AOV that the channel belongs to; none for the picture itself.
    pub aov: Option<Aov>,
    /// Index of the channel's value among the values of a pixel, and the number of these values.
    pub offset: usize,
    pub stride: usize,
}

/// Storage type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    /// 16 bits. Values outside the range of half floats are clamped to it.
    Half,
    /// 32 bits, unchanged.
    Float,
    /// 32 bits; infinite depths are stored as [`FAR`].
    Depth,
}

/// Depth of pixels that hit nothing. It is finite, as in Cycles, so that compositors can calculate with it.
pub const FAR: f32 = 1e10;

/// The greatest half float.
pub const HALF_MAX: f32 = 65_504.0;

impl ChannelKind {
    pub fn bytes(self) -> usize {
        match self {
            Self::Half => 2,
            Self::Float | Self::Depth => 4,
        }
    }
}

/// The layout of a file's rows: its channels, and the number of rows that are compressed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRows {
    /// AOVs in addition to the picture itself.
    pub aovs: AovSet,
    /// Whether alpha is stored as channel `A` of the picture, which compositors use for blending; otherwise it is a layer.
    pub transparent: bool,
    /// Storage type of colours, normals and motion vectors.
    pub colors: ChannelKind,
    pub per_block: u32,
}

/// The rows of a picture, compressed as a file stores them.
#[derive(Clone, Debug)]
pub struct FileBlocks {
    pub rows: FileRows,
    /// Offset of each block in `bytes`.
    pub offsets: Vec<u64>,
    pub bytes: Bytes,
}

impl FileRows {
    /// Channels of the picture itself and of all AOVs, sorted by name as the format requires.
    pub fn channels(&self) -> Vec<ChannelPlace> {
        let mut places = Vec::new();
        let mut add = |aov, kind, names: Vec<String>| {
            let stride = names.len();
            let named = names.into_iter().enumerate();
            places.extend(named.map(|(offset, name)| ChannelPlace { name, kind, aov, offset, stride }));
        };
        add(None, self.colors, ["R", "G", "B"].map(String::from).into());
        for aov in self.aovs.iter() {
            let names = match aov {
                Aov::Alpha if self.transparent => vec!["A".to_owned()],
                _ => names_of(aov),
            };
            add(Some(aov), self.kind_of(aov), names);
        }
        places.sort_by(|a, b| a.name.cmp(&b.name));
        places
    }

    fn kind_of(&self, aov: Aov) -> ChannelKind {
        match aov {
            Aov::Albedo | Aov::Normal | Aov::Motion | Aov::Alpha | Aov::Shadow | Aov::Wireframe => self.colors,
            Aov::Depth => ChannelKind::Depth,
            Aov::Position | Aov::Variance | Aov::Instance | Aov::Material | Aov::Error | Aov::AlphaVariance => {
                ChannelKind::Float
            }
        }
    }
}

/// Bytes of a pixel, summed over channels.
pub fn pixel_bytes<'a>(channels: impl IntoIterator<Item = &'a ChannelPlace>) -> usize {
    channels.into_iter().map(|place| place.kind.bytes()).sum()
}

/// Names of an AOV's channels, in the order of a pixel's values.
fn names_of(aov: Aov) -> Vec<String> {
    let letters = match aov {
        Aov::Albedo | Aov::Variance | Aov::Shadow => "RGB",
        Aov::Normal | Aov::Position => "XYZ",
        Aov::Depth => "Z",
        Aov::Alpha | Aov::Wireframe => "A",
        Aov::Error | Aov::AlphaVariance => "V",
        Aov::Motion => "XYZW",
        Aov::Instance | Aov::Material => return matte_names(aov),
    };
    let name = |letter| format!("{aov}.{letter}");
    letters.chars().map(name).collect()
}

/// Names of a matte's channels. Channels come in groups of four, numbered with two digits; a group stores two ranks.
fn matte_names(aov: Aov) -> Vec<String> {
    let base = cryptomatte::aov_name(aov);
    let name = |value: usize| {
        let letter = ["r", "g", "b", "a"][value % 4];
        format!("{base}{:02}.{letter}", value / 4)
    };
    (0..2 * MATTE_RANKS).map(name).collect()
}
