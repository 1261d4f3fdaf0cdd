//! Channels of files with AOVs: their names, their types and their order, as OpenEXR files have them.

use super::{Aov, AovSet, MATTE_RANKS, cryptomatte};
use bytes::Bytes;

/// One channel of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelPlace {
    pub name: String,
    pub kind: ChannelKind,
    /// The AOV that it belongs to; none: the picture itself.
    pub aov: Option<Aov>,
    /// Which of the values of a pixel it has, and how many these are.
    pub offset: usize,
    pub stride: usize,
}

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    /// 16 bits. What half floats have no number for becomes the nearest that they have.
    Half,
    /// 32 bits, with the same bits as in memory.
    Float,
    /// 32 bits, where what is infinitely far is [`FAR`].
    Depth,
}

/// The depth of what is not there, as Cycles has it: compositors calculate with depths.
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

/// The rows of a file: its channels, and how many rows are compressed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRows {
    /// Besides the picture itself.
    pub aovs: AovSet,
    /// How colours, normals and motion are stored.
    pub colors: ChannelKind,
    pub per_block: u32,
}

/// The rows of a picture as a file has them, compressed.
#[derive(Clone, Debug)]
pub struct FileBlocks {
    pub rows: FileRows,
    /// Where each block begins in `bytes`.
    pub offsets: Vec<u64>,
    pub bytes: Bytes,
}

impl FileRows {
    /// Of the picture itself and of all AOVs, sorted by name as files have to be.
    pub fn channels(&self) -> Vec<ChannelPlace> {
        let mut places = Vec::new();
        let mut add = |aov, kind, names: Vec<String>| {
            let stride = names.len();
            let named = names.into_iter().enumerate();
            places.extend(named.map(|(offset, name)| ChannelPlace {
                name,
                kind,
                aov,
                offset,
                stride,
            }));
        };
        add(None, self.colors, ["R", "G", "B"].map(String::from).into());
        for aov in self.aovs.iter() {
            add(Some(aov), self.kind_of(aov), names_of(aov));
        }
        places.sort_by(|a, b| a.name.cmp(&b.name));
        places
    }

    fn kind_of(&self, aov: Aov) -> ChannelKind {
        match aov {
            Aov::Albedo | Aov::Normal | Aov::Motion => self.colors,
            Aov::Depth => ChannelKind::Depth,
            _ => ChannelKind::Float,
        }
    }
}

/// Bytes of a pixel of all channels.
pub fn pixel_bytes<'a>(channels: impl IntoIterator<Item = &'a ChannelPlace>) -> usize {
    channels.into_iter().map(|place| place.kind.bytes()).sum()
}

/// In the order of the values of a pixel.
fn names_of(aov: Aov) -> Vec<String> {
    let letters = match aov {
        Aov::Albedo | Aov::Variance => "RGB",
        Aov::Normal | Aov::Position => "XYZ",
        Aov::Depth => "Z",
        Aov::Motion => "XYZW",
        Aov::Instance | Aov::Material => return matte_names(aov),
    };
    let name = |letter| format!("{aov}.{letter}");
    letters.chars().map(name).collect()
}

/// Two ranks in each group of four channels, counted in two digits.
fn matte_names(aov: Aov) -> Vec<String> {
    let base = cryptomatte::aov_name(aov);
    let name = |value: usize| {
        let letter = ["r", "g", "b", "a"][value % 4];
        format!("{base}{:02}.{letter}", value / 4)
    };
    (0..2 * MATTE_RANKS).map(name).collect()
}
