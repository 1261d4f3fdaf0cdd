//! The header of a file: its attributes.

use super::cryptomatte;
use crate::{ExrCompression, Picture, Windows};
use throng_picture::aov::{
    AovSet,
    channels::{ChannelKind, ChannelPlace},
};

/// First bytes of every OpenEXR file.
pub const MAGIC: [u8; 4] = [0x76, 0x2f, 0x31, 0x01];
/// Version of the format, without flags: a single part with rows, in which names of attributes and channels have at most 31 bytes.
const VERSION: u32 = 2;

/// Chromaticities of red, green, blue and white, as x and y: BT.709 for all pictures.
const REC_709: [f32; 8] = [0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329];

/// Creates everything before the offset table: magic number, version and attributes.
pub fn write<'a>(
    picture: &Picture,
    aovs: AovSet,
    channels: impl Iterator<Item = &'a ChannelPlace>,
    compression: ExrCompression,
) -> Vec<u8> {
    let mut header = Header(MAGIC.to_vec());
    header.0.extend(VERSION.to_le_bytes());
    header.attribute("channels", "chlist", &channel_list(channels));
    header.attribute("compression", "compression", &[compression.code()]);
    header.attribute("chromaticities", "chromaticities", REC_709.map(f32::to_le_bytes).as_flattened());
    let Windows { origin: [left, top], display } = picture.windows();
    let last = |first: i32, count: u32| first.wrapping_add_unsigned(count).wrapping_sub(1);
    let data = [left, top, last(left, picture.width), last(top, picture.height)];
    header.attribute("dataWindow", "box2i", data.map(i32::to_le_bytes).as_flattened());
    header.attribute("displayWindow", "box2i", display.map(i32::to_le_bytes).as_flattened());
    if let Some((frames, seconds)) = picture.metadata.rate {
        header.attribute("framesPerSecond", "rational", [frames, seconds].map(u32::to_le_bytes).as_flattened());
    }
    header.attribute("lineOrder", "lineOrder", &[0]);
    header.attribute("pixelAspectRatio", "float", &1f32.to_le_bytes());
    header.attribute("screenWindowCenter", "v2f", &[0; 8]);
    header.attribute("screenWindowWidth", "float", &1f32.to_le_bytes());
    write_origin(picture, &mut header);
    for aov in aovs.iter().filter(|aov| aov.is_matte()) {
        for (name, value) in cryptomatte::attributes(aov, picture.manifests) {
            header.text(&name, &value);
        }
    }
    header.0.push(0);
    header.0
}

fn write_origin(picture: &Picture, header: &mut Header) {
    let metadata = picture.metadata;
    header.text("software", &metadata.software);
    header.text("scene", &metadata.scene);
    header.text("sceneHash", &metadata.scene_hash);
    header.text("settings", &metadata.settings);
    header.attribute("frame", "int", &metadata.frame.to_le_bytes());
    header.attribute("seconds", "double", &metadata.seconds.to_le_bytes());
    if let Some(matrices) = &metadata.matrices {
        for (name, matrix) in [("worldToCamera", matrices.world_to_camera), ("worldToNDC", matrices.world_to_ndc)] {
            header.attribute(name, "m44f", matrix.map(f32::to_le_bytes).as_flattened());
        }
    }
    for (name, value) in [("exposure", metadata.exposure), ("whiteBalance", metadata.white_balance)] {
        if let Some(value) = value {
            header.attribute(name, "float", &value.to_le_bytes());
        }
    }
}

struct Header(Vec<u8>);

impl Header {
    fn attribute(&mut self, name: &str, kind: &str, value: &[u8]) {
        for text in [name, kind] {
            self.0.extend(text.as_bytes());
            self.0.push(0);
        }
        self.0.extend((value.len() as u32).to_le_bytes());
        self.0.extend(value);
    }

    /// Adds a text attribute, unless the text is empty.
    fn text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.attribute(name, "string", value.as_bytes());
        }
    }
}

/// Creates the channel list. Each entry has a name, a type, the flag for perceptual linearity, and the sampling distance (every pixel).
fn channel_list<'a>(channels: impl Iterator<Item = &'a ChannelPlace>) -> Vec<u8> {
    let mut list = Vec::new();
    for channel in channels {
        list.extend(channel.name.as_bytes());
        list.push(0);
        let kind: u32 = match channel.kind {
            ChannelKind::Half => 1,
            ChannelKind::Float | ChannelKind::Depth => 2,
        };
        for number in [kind, 0, 1, 1] {
            list.extend(number.to_le_bytes());
        }
    }
    list.push(0);
    list
}
