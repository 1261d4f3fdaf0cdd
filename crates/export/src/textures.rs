//! Pictures of materials and environments as files.

use crate::{
    ExportError,
    files::{PictureFile, Target},
};
use exr::prelude::{AnyChannel, AnyChannels, Encoding, FlatSamples, Image, Layer, LayerAttributes, WritableImage};
use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};
use std::{collections::HashMap, io::Cursor};
use throng_scene::{FloatImage, Rgba, Scene, Texture};
use throng_usd::names::Names;

/// The pictures that materials and lights have used so far.
pub struct Textures<'a> {
    scene: &'a Scene,
    target: &'a Target,
    names: Names,
    known: HashMap<u32, Stored>,
    files: Vec<PictureFile>,
}

/// A picture in a file.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The path by which the layer refers to it.
    pub asset: String,
    /// Whether its colours are in sRGB.
    pub is_srgb: bool,
}

impl<'a> Textures<'a> {
    /// No pictures yet.
    pub fn new(scene: &'a Scene, target: &'a Target) -> Self {
        Self { scene, target, names: Names::default(), known: HashMap::new(), files: Vec::new() }
    }

    /// The file of a texture of the scene.
    ///
    /// # Errors
    /// If it cannot be encoded.
    pub fn texture(&mut self, index: u32) -> Result<Stored, ExportError> {
        if let Some(known) = self.known.get(&index) {
            return Ok(known.clone());
        }
        let texture = &self.scene.textures[index as usize];
        let is_srgb = texture.texels.is_srgb();
        let (extension, bytes) = encoded(texture);
        let stored = Stored { asset: self.add(&stem(&texture.name), extension, bytes)?, is_srgb };
        self.known.insert(index, stored.clone());
        Ok(stored)
    }

    /// The file of an environment.
    ///
    /// # Errors
    /// If it cannot be encoded.
    pub fn environment(&mut self, pixels: &FloatImage) -> Result<String, ExportError> {
        let channel = |number: usize| pixels.data.iter().map(|pixel| pixel[number]).collect();
        let bytes =
            floats((pixels.width, pixels.height), vec![("R", channel(0)), ("G", channel(1)), ("B", channel(2))]);
        self.add("environment", "exr", bytes)
    }

    /// All files.
    pub fn finish(self) -> Vec<PictureFile> {
        self.files
    }

    fn add(&mut self, stem: &str, extension: &str, bytes: Result<Vec<u8>, String>) -> Result<String, ExportError> {
        let name = format!("{}.{extension}", self.names.unique(stem));
        let bytes =
            bytes.map_err(|cause| ExportError::Picture { path: self.target.path.with_file_name(&name), cause })?;
        let asset = self.target.asset(&name);
        self.files.push(PictureFile { name, bytes });
        Ok(asset)
    }
}

/// The name of the file that a texture was read from, without folders and its extension.
fn stem(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned()
}

/// The extension and the content of a texture's file.
fn encoded(texture: &Texture) -> (&'static str, Result<Vec<u8>, String>) {
    let size = (texture.width, texture.height);
    match texture.texels.rgba(size.0, size.1) {
        Rgba::Bytes(texels) => ("png", bytes(size, &texels)),
        Rgba::Floats(texels) => {
            let channel = |number: usize| texels.iter().map(|texel| texel[number]).collect();
            let mut channels = vec![("R", channel(0)), ("G", channel(1)), ("B", channel(2))];
            if texels.iter().any(|texel| texel[3] != 1.0) {
                channels.push(("A", channel(3)));
            }
            ("exr", floats(size, channels))
        }
    }
}

/// A PNG file, with alpha if a texel has any.
fn bytes((width, height): (u32, u32), texels: &[[u8; 4]]) -> Result<Vec<u8>, String> {
    let has_alpha = texels.iter().any(|texel| texel[3] != u8::MAX);
    let (color, data) = match has_alpha {
        true => (ExtendedColorType::Rgba8, texels.as_flattened().to_vec()),
        false => (ExtendedColorType::Rgb8, texels.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect()),
    };
    let mut out = Vec::new();
    PngEncoder::new(&mut out).write_image(&data, width, height, color).map_err(|error| error.to_string())?;
    Ok(out)
}

/// An OpenEXR file of full floats.
fn floats((width, height): (u32, u32), channels: Vec<(&str, Vec<f32>)>) -> Result<Vec<u8>, String> {
    let channels = channels.into_iter().map(|(name, values)| AnyChannel::new(name, FlatSamples::F32(values))).collect();
    let size = (width as usize, height as usize);
    let encoding = Encoding::SMALL_LOSSLESS;
    let layer = Layer::new(size, LayerAttributes::default(), encoding, AnyChannels::sort(channels));
    let mut out = Cursor::new(Vec::new());
    Image::from_layer(layer).write().to_buffered(&mut out).map_err(|error| error.to_string())?;
    Ok(out.into_inner())
}
