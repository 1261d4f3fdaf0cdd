//! The channels of a file: their names, their types and where their values are.

use super::cryptomatte;
use crate::{
    layers::{Layer, MATTE_RANKS},
    output::{ColorDepth, EncodeError, Picture, Pixels},
};

/// One channel of the file.
pub struct Channel<'a> {
    pub name: String,
    pub kind: Kind,
    /// Those of all channels of the layer, pixel by pixel.
    pub values: &'a [f32],
    /// Floats per pixel in `values`, and which of them is this channel's.
    pub stride: usize,
    pub offset: usize,
}

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 16 bits. What half floats have no number for becomes the nearest that they have.
    Half,
    /// 32 bits, with the same bits as in memory.
    Float,
    /// 32 bits, where what is infinitely far is [`FAR`].
    Depth,
}

/// The depth of what is not there, as Cycles has it: compositors calculate with depths.
pub const FAR: f32 = 1e10;

impl Kind {
    pub fn bytes(self) -> usize {
        match self {
            Self::Half => 2,
            Self::Float | Self::Depth => 4,
        }
    }
}

/// Bytes of a pixel of all channels.
pub fn pixel_bytes(channels: &[Channel]) -> usize {
    channels.iter().map(|channel| channel.kind.bytes()).sum()
}

/// Everything in `picture`, sorted by name as files have to be.
pub fn of<'a>(picture: &'a Picture, depth: ColorDepth) -> Result<Vec<Channel<'a>>, EncodeError> {
    let Pixels::F32(beauty) = &picture.pixels else {
        return Err(EncodeError::Kind(picture.pixels.kind()));
    };
    let color = match depth {
        ColorDepth::Bits32 => Kind::Float,
        _ => Kind::Half,
    };
    let pixels = picture.width as usize * picture.height as usize;
    let mut channels = Vec::new();
    let mut add = |names: Vec<String>, kind, values: &'a [f32]| {
        let stride = names.len();
        if values.len() != pixels * stride {
            return Err(EncodeError::Size {
                width: picture.width,
                height: picture.height,
                values: values.len(),
            });
        }
        let named = names.into_iter().enumerate();
        channels.extend(named.map(|(offset, name)| Channel {
            name,
            kind,
            values,
            stride,
            offset,
        }));
        Ok(())
    };
    add(["R", "G", "B"].map(String::from).into(), color, beauty)?;
    for image in picture.layers {
        add(
            names_of(image.layer),
            kind_of(image.layer, color),
            &image.values,
        )?;
    }
    channels.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(channels)
}

fn kind_of(layer: Layer, color: Kind) -> Kind {
    match layer {
        Layer::Albedo | Layer::Normal | Layer::Motion => color,
        Layer::Depth => Kind::Depth,
        _ => Kind::Float,
    }
}

/// In the order of the values of a pixel.
fn names_of(layer: Layer) -> Vec<String> {
    let letters = match layer {
        Layer::Albedo | Layer::Variance => "RGB",
        Layer::Normal | Layer::Position => "XYZ",
        Layer::Depth => "Z",
        Layer::Motion => "XYZW",
        Layer::Instance | Layer::Material => return matte_names(layer),
    };
    let name = |letter| format!("{layer}.{letter}");
    letters.chars().map(name).collect()
}

/// Two ranks in each group of four channels, counted in two digits.
fn matte_names(layer: Layer) -> Vec<String> {
    let base = cryptomatte::name(layer);
    let name = |value: usize| {
        let letter = ["r", "g", "b", "a"][value % 4];
        format!("{base}{:02}.{letter}", value / 4)
    };
    (0..2 * MATTE_RANKS).map(name).collect()
}
