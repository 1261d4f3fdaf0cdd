//! Textures: collects the required pictures and their sampling, and decodes them in parallel.

use crate::gltf::{
    fault::{Fault, fault},
    file::{
        document::{Document, out_of_range},
        extensions, uri,
    },
    model::ColorSpace,
    nodes::name,
};
use crate::image;
use ::image::DynamicImage;
use gltf::json::{
    texture::{self as json, MagFilter, MinFilter, Sampler, WrappingMode},
    validation::Checked,
};
use rayon::prelude::*;
use serde::Deserialize;
use std::{borrow::Cow, collections::HashMap};
use throng_scene::{Rgba, TexelImage, Texels, Texture, Wrap};

/// Collects the textures of materials, which [`Table::decode`] then decodes.
pub struct Table<'a> {
    document: &'a Document<'a>,
    requests: Vec<Request>,
    index_of: HashMap<Request, u32>,
}

/// The properties that distinguish textures.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Request {
    image: usize,
    space: ColorSpace,
    /// Bits of the factor by which glossiness in the alpha channel is multiplied before it is converted to roughness; None for other
    /// textures.
    glossiness: Option<u32>,
    /// Wrap modes along S and T.
    wraps: [WrapKey; 2],
    nearest: bool,
    filtered: bool,
}

/// The meaning of a texture's channels.
#[derive(Clone, Copy)]
pub enum Content {
    /// Colours in sRGB.
    Colors,
    Numbers,
    /// Glossiness in alpha, to be multiplied by a factor and converted to roughness.
    Glossiness(f32),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum WrapKey {
    Repeat,
    Clamp,
    Mirror,
}

impl From<WrapKey> for Wrap {
    fn from(key: WrapKey) -> Self {
        match key {
            WrapKey::Repeat => Self::Repeat,
            WrapKey::Clamp => Self::Clamp,
            WrapKey::Mirror => Self::Mirror,
        }
    }
}

#[derive(Deserialize)]
struct Source {
    source: Option<usize>,
}

impl<'a> Table<'a> {
    pub fn new(document: &'a Document<'a>) -> Self {
        Self { document, requests: Vec::new(), index_of: HashMap::new() }
    }

    /// The future index of texture `index` of the file. None, with a warning, if it has no picture.
    ///
    /// # Errors
    /// If there is no such texture or image.
    pub fn intern(&mut self, index: usize, content: Content, path: &str) -> Result<Option<u32>, Fault> {
        let root = &self.document.root;
        let texture = self.texture(index, path)?;
        let Some(image) = self.image_of(index, texture)? else {
            return Ok(None);
        };
        let sampler = texture.sampler.map(|s| s.value()).and_then(|at| {
            let sampler = root.samplers.get(at);
            match sampler {
                Some(sampler) => self.warn_of_modes(at, sampler),
                None => {
                    let message = out_of_range("sampler", at, root.samplers.len());
                    let path = format!("/textures/{index}/sampler");
                    self.document.warnings.add(&path, format!("{message}; the texture repeats"));
                }
            }
            sampler
        });
        let request = Request {
            image,
            space: match content {
                Content::Colors => ColorSpace::Srgb,
                Content::Numbers | Content::Glossiness(_) => ColorSpace::Linear,
            },
            glossiness: match content {
                Content::Glossiness(factor) => Some(factor.to_bits()),
                Content::Colors | Content::Numbers => None,
            },
            wraps: sampler.map_or([WrapKey::Repeat; 2], wraps),
            nearest: sampler.is_some_and(|s| matches!(s.mag_filter, Some(Checked::Valid(MagFilter::Nearest)))),
            filtered: !sampler.is_some_and(|s| matches!(s.min_filter, Some(Checked::Valid(MinFilter::Nearest)))),
        };
        let next = self.requests.len() as u32;
        let found = *self.index_of.entry(request).or_insert(next);
        if found == next {
            self.requests.push(request);
        }
        Ok(Some(found))
    }

    fn warn_of_modes(&self, index: usize, sampler: &Sampler) {
        let path = |member: &str| format!("/samplers/{index}/{member}");
        for (wrap, member) in [(&sampler.wrap_s, "wrapS"), (&sampler.wrap_t, "wrapT")] {
            if matches!(wrap, Checked::Invalid) {
                self.document.warnings.add(&path(member), "unknown mode; the texture repeats");
            }
        }
        if matches!(sampler.mag_filter, Some(Checked::Invalid)) {
            self.document.warnings.add(&path("magFilter"), "unknown filter; LINEAR is taken");
        }
    }

    /// Checks that a texture exists.
    ///
    /// # Errors
    /// If there is no texture `index`.
    pub fn check(&self, index: usize, path: &str) -> Result<(), Fault> {
        self.texture(index, path).map(|_| ())
    }

    fn texture(&self, index: usize, path: &str) -> Result<&'a json::Texture, Fault> {
        let textures = &self.document.root.textures;
        textures.get(index).ok_or_else(|| fault(path, out_of_range("texture", index, textures.len())))
    }

    /// The index of a texture's picture, in a supported format if there are alternatives.
    fn image_of(&self, index: usize, texture: &json::Texture) -> Result<Option<usize>, Fault> {
        let path = format!("/textures/{index}");
        let others = texture.extensions.as_ref().map(|e| &e.others);
        let from = |name| {
            let source = extensions::read::<Source>(others, name, &path);
            let source = self.document.or_warn(source, "it is ignored")?.flatten();
            Ok::<_, Fault>(source.and_then(|s| s.source))
        };
        let webp = from(extensions::TEXTURE_WEBP)?;
        let basisu = from(extensions::TEXTURE_BASISU)?;
        let dds = from(extensions::TEXTURE_DDS)?;
        // The crate uses this index for a missing source.
        let plain = Some(texture.source.value()).filter(|&i| i != u32::MAX as usize);
        let Some(image) = webp.or(plain).or(basisu).or(dds) else {
            let message = "the texture has no picture that can be read and is ignored";
            self.document.warnings.add(&path, message);
            return Ok(None);
        };
        let count = self.document.root.images.len();
        if image < count { Ok(Some(image)) } else { Err(fault(path, out_of_range("image", image, count))) }
    }

    /// Decodes all collected pictures in parallel. None, with a warning, for textures whose picture is missing, damaged or in an
    /// unsupported format.
    ///
    /// # Errors
    /// If a picture exceeds the memory budget.
    pub fn decode(self) -> Result<Vec<Option<Texture>>, Fault> {
        let mut images: Vec<usize> = self.requests.iter().map(|r| r.image).collect();
        images.sort_unstable();
        images.dedup();
        let pictures: Vec<(usize, Option<GltfPicture>)> = images
            .into_par_iter()
            .map(|image| {
                let picture = GltfPicture::read(self.document, image);
                let picture = self.document.or_warn(picture, "its textures are left out")?;
                Ok((image, picture))
            })
            .collect::<Result<_, Fault>>()?;
        self.share(pictures.into_iter().filter_map(|(image, picture)| Some((image, picture?))).collect())
    }

    /// Moves each picture to its last user; other users get copies.
    fn share(&self, mut pictures: HashMap<usize, GltfPicture>) -> Result<Vec<Option<Texture>>, Fault> {
        let mut users: HashMap<usize, usize> = HashMap::new();
        for request in &self.requests {
            *users.entry(request.image).or_default() += 1;
        }
        let mut textures = Vec::with_capacity(self.requests.len());
        for request in &self.requests {
            let left = users.entry(request.image).or_default();
            *left -= 1;
            let picture = if *left == 0 {
                pictures.remove(&request.image)
            } else {
                self.copy(pictures.get(&request.image), request.image)?
            };
            // Without its picture, the glossiness is the factor alone.
            let picture = picture.or_else(|| request.glossiness.map(|_| GltfPicture::white()));
            textures.push(picture.map(|picture| picture.into_texture(request)));
        }
        Ok(textures)
    }

    fn copy(&self, picture: Option<&GltfPicture>, image: usize) -> Result<Option<GltfPicture>, Fault> {
        let bytes = picture.map_or(0, |p| p.texels.bytes().len());
        self.document
            .budget
            .take_array(bytes, 1)
            .map_err(|lack| fault(format!("/images/{image}"), format!("a copy {lack}")))?;
        Ok(picture.cloned())
    }
}

#[derive(Clone)]
struct GltfPicture {
    name: String,
    width: u32,
    height: u32,
    texels: Texels,
}

impl GltfPicture {
    fn white() -> Self {
        Self { name: "white".to_owned(), width: 1, height: 1, texels: Texels::Srgb8(vec![[255; 4]]) }
    }

    fn read(document: &Document, index: usize) -> Result<Self, Fault> {
        let TexelImage { width, height, texels } = image_texels(document, index)?;
        let image = &document.root.images[index];
        let file_name = image.uri.as_ref().filter(|uri| !uri.starts_with("data:"));
        let given = image.name.as_ref().or(file_name).map(|n| uri::short(n));
        Ok(Self { name: name(given.as_deref(), "image", index), width, height, texels })
    }

    fn into_texture(mut self, request: &Request) -> Texture {
        if let Some(factor) = request.glossiness {
            let factor = f32::from_bits(factor);
            // Roughness is stored in the green channel.
            let rough = |[.., alpha]: [u8; 4]| [0, 255 - (f32::from(alpha) * factor).round() as u8, 0, 255];
            if let Rgba::Bytes(texels) = self.texels.rgba(self.width, self.height) {
                self.texels = Texels::Srgb8(texels.par_iter().map(|&texel| rough(texel)).collect());
            }
        }
        Texture {
            name: self.name,
            width: self.width,
            height: self.height,
            texels: self.texels.in_space(request.space == ColorSpace::Srgb),
            wrap: request.wraps.map(Wrap::from),
            nearest: request.nearest,
            filtered: request.filtered,
        }
    }
}

fn wraps(sampler: &Sampler) -> [WrapKey; 2] {
    [&sampler.wrap_s, &sampler.wrap_t].map(|wrap| match wrap {
        Checked::Valid(WrappingMode::ClampToEdge) => WrapKey::Clamp,
        Checked::Valid(WrappingMode::MirroredRepeat) => WrapKey::Mirror,
        Checked::Valid(WrappingMode::Repeat) | Checked::Invalid => WrapKey::Repeat,
    })
}

/// Decodes image `index` of the file, which must exist.
///
/// # Errors
/// If its data are missing, damaged, in an unsupported format, or exceed the memory budget.
pub fn decode_image(document: &Document, index: usize) -> Result<DynamicImage, Fault> {
    with_content(document, index, |bytes| image::decode(bytes, |needed| document.budget.take(needed)))
}

/// The texels of image `index` of the file, which must exist. Blocks for GPUs stay as they are.
///
/// # Errors
/// As [`decode_image`].
fn image_texels(document: &Document, index: usize) -> Result<TexelImage, Fault> {
    let reserve = |needed| document.budget.take(needed);
    with_content(document, index, |bytes| match image::blocks(bytes, reserve)? {
        Some(blocks) => Ok(blocks),
        None => image::decode(bytes, reserve).map(|decoded| TexelImage {
            width: decoded.width(),
            height: decoded.height(),
            texels: Texels::Srgb8(image::rgba8(decoded)),
        }),
    })
}

/// Decodes the content of image `index` of the file, which must exist. The texts of errors of `decode` are ends of sentences about the picture.
fn with_content<T>(
    document: &Document,
    index: usize,
    decode: impl FnOnce(&[u8]) -> Result<T, String>,
) -> Result<T, Fault> {
    let image = &document.root.images[index];
    let path = format!("/images/{index}");
    let mut taken = 0;
    let bytes: Cow<[u8]> = match (&image.uri, image.buffer_view) {
        (_, Some(view)) => document.view(view, &format!("{path}/bufferView"))?.read(&path)?,
        (Some(uri), None) => {
            let bytes = uri::read(&document.folders, uri, document.budget);
            let bytes = bytes.map_err(|m| fault(format!("{path}/uri"), m))?;
            taken = bytes.len() as u64;
            Cow::Owned(bytes)
        }
        (None, None) => return Err(fault(path, "an image needs a uri or a bufferView")),
    };
    let decoded = decode(&bytes).map_err(|m| fault(&path, m))?;
    document.budget.give_back(taken);
    Ok(decoded)
}
