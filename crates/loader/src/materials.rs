//! The tables of materials and textures that a load fills. Equal rows are shared.

use super::{
    LoadError, atlas,
    baked::Baked,
    cutout::{self, Channel},
    files,
    gltf::ColorSpace,
    image,
    packed::{self, Encoding},
    usd,
};
use glam::Vec3;
use rayon::prelude::*;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};
use throng_base::{files::record, system::plain};
use throng_scene::{Material, NONE, TexelImage, Texture, TextureMap, Wrap};
use throng_usd::Library;

/// Materials and textures of the scene being loaded.
#[derive(Default)]
pub struct Materials {
    pub rows: Vec<Material>,
    /// Name of each row.
    pub names: Vec<String>,
    pub maps: Vec<TextureMap>,
    row_of: HashMap<String, u32>,
    map_of: HashMap<[u32; 8], u32>,
    textures: Vec<Request>,
    texture_of: HashMap<PictureKey, u32>,
    cutout_of: HashMap<(Option<PictureKey>, PictureKey, Channel), u32>,
    packed_of: HashMap<String, u32>,
    /// MaterialX documents that were read.
    libraries: HashMap<PathBuf, Arc<Library>>,
    /// What materials of documents lack.
    warnings: Vec<String>,
}

/// The key of a picture: its path, wrap modes and colour space, and whether that is only of colours.
pub type PictureKey = (PathBuf, [Wrap; 2], ColorSpace, bool);

/// A future entry of the texture table.
enum Request {
    /// A picture file to be decoded.
    Picture(PictureFile),
    /// The colours of one picture (white if it is None) with the opacity of another.
    Cutout {
        color: Option<PictureFile>,
        opacity: PictureFile,
        channel: Channel,
    },
    Packed(Box<Packed>),
    Decoded(Texture),
}

/// A texture whose channels are read from different pictures, or computed.
pub struct Packed {
    pub channels: [PackedChannel; 4],
    pub encoding: Encoding,
    /// Wrap modes along u and v.
    pub wrap: [Wrap; 2],
}

/// The content of a channel: `texel · scale + bias` of a picture, a component of a computed value, or a constant.
pub enum PackedChannel {
    Constant(f32),
    Read { picture: PictureFile, channel: u8, scale: f32, bias: f32 },
    Computed { baked: Arc<Baked>, channel: u8 },
}

impl PackedChannel {
    /// The pictures that it reads.
    pub fn pictures(&self) -> &[PictureFile] {
        match self {
            Self::Constant(_) => &[],
            Self::Read { picture, .. } => std::slice::from_ref(picture),
            Self::Computed { baked, .. } => &baked.pictures,
        }
    }

    /// Equal for equal contents.
    fn key(&self) -> String {
        match self {
            Self::Constant(value) => format!("{value:?}"),
            Self::Read { picture, channel, scale, bias } => {
                format!("{:?}.{channel}*{scale:?}+{bias:?}", picture.key())
            }
            Self::Computed { baked, channel } => {
                let pictures: Vec<_> = baked.pictures.iter().map(PictureFile::key).collect();
                format!("{:?}.{channel} {pictures:?}", baked.tree)
            }
        }
    }
}

/// A picture to be decoded.
#[derive(Clone)]
pub struct PictureFile {
    /// Absolute path without links. A picture in a package has the package's path, and its own in brackets.
    pub path: PathBuf,
    /// The content of a picture in a package.
    pub bytes: Option<Arc<[u8]>>,
    /// The numbers and files of a picture's tiles (UDIM); empty for one file.
    pub tiles: Vec<(u32, PathBuf)>,
    /// Wrap modes along u and v.
    pub wrap: [Wrap; 2],
    /// Colour space of a picture with eight bits per channel.
    pub space: ColorSpace,
    /// Whether the colour space is only that of pictures with three or four channels, and others are linear.
    pub only_colors: bool,
    pub used_by: Use,
}

/// The location that names a picture.
#[derive(Clone)]
pub enum Use {
    /// A scene file, which cannot be loaded without the picture.
    Required { file: PathBuf },
    /// A place in a model's file, such as `a.mtl:7`. Without the picture, its materials have no texture.
    Optional { place: String },
}

/// Textures in the order of their indices, and warnings about damaged ones.
pub type DecodedTextures = (Vec<Texture>, Vec<String>);

impl PictureFile {
    /// Equal for pictures that are decoded to the same texture.
    pub fn key(&self) -> PictureKey {
        (self.path.clone(), self.wrap, self.space, self.only_colors)
    }
}

impl Materials {
    /// Row of `material`. Equal materials with equal names share a row.
    pub fn add(&mut self, name: &str, material: Material) -> u32 {
        // Equal materials have equal debug output, including all bits of their numbers.
        let key = format!("{name}\0{material:?}");
        if let Some(&row) = self.row_of.get(&key) {
            return row;
        }
        let row = self.add_apart(name, material);
        self.row_of.insert(key, row);
        row
    }

    /// Row of `material`, which is never shared.
    pub fn add_apart(&mut self, name: &str, material: Material) -> u32 {
        self.rows.push(material);
        self.names.push(name.to_owned());
        self.rows.len() as u32 - 1
    }

    /// Index of the texture at `path`, which the scene file `used_by` requires. `space` is its colour space if it has eight bits per
    /// channel. It is decoded later by [`Materials::decode_textures`].
    ///
    /// # Errors
    /// If there is no such file. The text is a sentence to be placed after the location that names the file.
    pub fn texture(&mut self, path: &Path, wrap: Wrap, space: ColorSpace, used_by: &Path) -> Result<u32, String> {
        let found = path.canonicalize().ok().filter(|p| p.is_file()).map(plain);
        let path = found
            .or_else(|| {
                record(path, None);
                None
            })
            .ok_or_else(|| format!("the texture {} does not exist: check the path", path.display()))?;
        let used_by = Use::Required { file: used_by.into() };
        Ok(self.picture(PictureFile {
            path,
            bytes: None,
            tiles: Vec::new(),
            wrap: [wrap; 2],
            space,
            only_colors: false,
            used_by,
        }))
    }

    /// Index of the texture of a picture, which is decoded later by [`Materials::decode_textures`].
    pub fn picture(&mut self, picture: PictureFile) -> u32 {
        let index = self.textures.len() as u32;
        let found = *self.texture_of.entry(picture.key()).or_insert(index);
        match self.textures.get_mut(found as usize) {
            None if found == index => self.textures.push(Request::Picture(picture)),
            Some(Request::Picture(known)) if matches!(picture.used_by, Use::Required { .. }) => *known = picture,
            _ => {}
        }
        found
    }

    /// Index of a texture with the colours of one picture (white if it is None) and the opacity from a channel of another.
    pub fn cutout(&mut self, color: Option<PictureFile>, opacity: PictureFile, channel: Channel) -> u32 {
        let index = self.textures.len() as u32;
        let key = (color.as_ref().map(PictureFile::key), opacity.key(), channel);
        let found = *self.cutout_of.entry(key).or_insert(index);
        if found == index {
            self.textures.push(Request::Cutout { color, opacity, channel });
        }
        found
    }

    /// Index of a texture whose channels are read from different pictures. Equal ones are shared.
    pub fn packed(&mut self, packed: Packed) -> u32 {
        let key =
            format!("{:?} {:?} {:?}", packed.channels.each_ref().map(PackedChannel::key), packed.encoding, packed.wrap);
        let index = self.textures.len() as u32;
        let found = *self.packed_of.entry(key).or_insert(index);
        if found == index {
            self.textures.push(Request::Packed(Box::new(packed)));
        }
        found
    }

    /// A table with the textures and maps of this one, but no rows. Materials that are added to it find their textures again.
    pub fn without_rows(&self) -> Self {
        Self {
            maps: self.maps.clone(),
            map_of: self.map_of.clone(),
            texture_of: self.texture_of.clone(),
            packed_of: self.packed_of.clone(),
            libraries: self.libraries.clone(),
            ..Self::default()
        }
    }

    /// The materials of a MaterialX document, which is read once. Its pictures may also be in folders of `allow`.
    ///
    /// # Errors
    /// If the document cannot be read.
    pub fn library(&mut self, path: &Path, allow: &[PathBuf]) -> Result<Arc<Library>, LoadError> {
        if let Some(known) = self.libraries.get(path) {
            return Ok(known.clone());
        }
        let library = Arc::new(usd::read_materials(path, allow)?);
        let in_file = |line: &String| format!("{}: {line}", path.display());
        self.warnings.extend(library.warnings.iter().chain(&usd::warnings(&library.materials)).map(in_file));
        self.libraries.insert(path.to_owned(), library.clone());
        Ok(library)
    }

    /// Adds a line about what a material lacks.
    pub fn warn(&mut self, line: String) {
        self.warnings.push(line);
    }

    /// Index of a map. Equal maps are shared.
    pub fn map(&mut self, map: TextureMap) -> u32 {
        let [a, b, c, d, x, y] = map.transform.to_cols_array().map(f32::to_bits);
        let key = [map.texture, map.uv_set, a, b, c, d, x, y];
        *self.map_of.entry(key).or_insert_with(|| {
            self.maps.push(map);
            self.maps.len() as u32 - 1
        })
    }

    /// Index of `map`, which is never shared.
    pub fn map_apart(&mut self, map: TextureMap) -> u32 {
        self.maps.push(map);
        self.maps.len() as u32 - 1
    }

    /// Index of a map that reads `texture` without a transform; [`NONE`] for no texture.
    pub fn plain_map(&mut self, texture: u32) -> u32 {
        match texture {
            NONE => NONE,
            _ => self.map(TextureMap::plain(texture)),
        }
    }

    /// Index of a texture that is already decoded.
    pub fn decoded(&mut self, texture: Texture) -> u32 {
        self.textures.push(Request::Decoded(texture));
        self.textures.len() as u32 - 1
    }

    /// Index of the texture of a picture in memory. `space` is its colour space if it has eight bits per channel.
    pub fn given(&mut self, (name, picture): (&str, &TexelImage), wrap: Wrap, space: ColorSpace) -> u32 {
        let key = (PathBuf::from(name), [wrap; 2], space, false);
        if let Some(&known) = self.texture_of.get(&key) {
            return known;
        }
        let index = self.decoded(texture(name.to_owned(), picture.clone(), [wrap; 2], space));
        self.texture_of.insert(key, index);
        index
    }

    /// Decodes all textures in parallel, and removes them from the table. Damaged optional textures are removed from their materials.
    ///
    /// # Errors
    /// The error of the first damaged texture that is required, in the order of indices.
    pub fn decode_textures(&mut self) -> Result<DecodedTextures, LoadError> {
        let requests = std::mem::take(&mut self.textures);
        let decoded: Vec<_> = requests.into_par_iter().map(decode_request).collect();
        let (mut textures, mut warnings) = (Vec::new(), std::mem::take(&mut self.warnings));
        for (index, decoded) in (0..).zip(decoded) {
            let (texture, lost) = decoded?;
            warnings.extend(lost);
            textures.push(texture.unwrap_or_else(|| {
                self.go_without(index);
                cutout::white()
            }));
        }
        Ok((textures, warnings))
    }

    /// Removes a texture from all materials. Emission that it would have controlled becomes dark.
    fn go_without(&mut self, texture: u32) {
        let maps = &self.maps;
        let is_lost = |map: u32| maps.get(map as usize).is_some_and(|map| map.texture == texture);
        for row in &mut self.rows {
            if is_lost(row.emission_map) {
                row.emission = Vec3::ZERO;
            }
            row.for_each_map(|map| {
                if is_lost(*map) {
                    *map = NONE;
                }
            });
        }
    }
}

/// Decodes a texture. None for a damaged optional one. Also returns warnings about damage.
fn decode_request(request: Request) -> Result<(Option<Texture>, Vec<String>), LoadError> {
    let mut warnings = Vec::new();
    let mut decode = |picture: &PictureFile| match (decode(picture), &picture.used_by) {
        (Ok(texture), _) => Ok(Some(texture)),
        (Err(e), Use::Required { file }) => {
            Err(LoadError::file(&picture.path, format!("{} (used by {})", e.message(), file.display())))
        }
        (Err(e), Use::Optional { place }) => {
            let path = picture.path.display();
            warnings.push(format!("{place}: the texture {path} is left out: {}", e.message()));
            Ok(None)
        }
    };
    let texture = match request {
        Request::Picture(picture) => decode(&picture)?,
        Request::Decoded(texture) => Some(texture),
        Request::Packed(packed) => Some(packed::texture(&packed, &mut decode)?),
        Request::Cutout { color, opacity, channel } => {
            let is_one_file = color.as_ref().is_some_and(|color| color.path == opacity.path);
            let color = color.as_ref().map(&mut decode).transpose()?.flatten();
            match decode(&opacity)? {
                Some(opacity) => Some(cutout::joined(color, &opacity, channel, is_one_file)),
                None => color,
            }
        }
    };
    Ok((texture.map(Texture::compacted), warnings))
}

fn decode(wanted: &PictureFile) -> Result<Texture, LoadError> {
    let picture = match &wanted.bytes {
        Some(bytes) => image::texels_of_bytes(&wanted.path, bytes)?,
        None if !wanted.tiles.is_empty() => (atlas::joined(&wanted.tiles)?, true),
        None => image::texels_of_bytes(&wanted.path, &files::read(&wanted.path)?)?,
    };
    let (picture, is_colored) = picture;
    let space = if wanted.only_colors && !is_colored { ColorSpace::Linear } else { wanted.space };
    let name = wanted.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(texture(name, picture, wanted.wrap, space))
}

/// A texture of a picture. `space` is the colour space of eight bits per channel.
fn texture(name: String, picture: TexelImage, wrap: [Wrap; 2], space: ColorSpace) -> Texture {
    let texels = picture.texels.in_space(space == ColorSpace::Srgb);
    Texture { name, width: picture.width, height: picture.height, texels, wrap, nearest: false, filtered: true }
}

/// Runs of [`throng_scene::Scene::material_slots`], shared by instances with equal materials.
#[derive(Default)]
pub struct Slots {
    pub all: Vec<u32>,
    runs: HashMap<(u32, u32), u32>,
}

impl Slots {
    /// Slots of a scene, to which more are added.
    pub fn of(all: Vec<u32>) -> Self {
        Self { all, runs: HashMap::new() }
    }

    /// First slot of a run for `mesh`: its own `defaults`, or `material` in every slot unless that is [`NONE`].
    pub fn run(&mut self, mesh: u32, defaults: &[u32], material: u32) -> u32 {
        *self.runs.entry((mesh, material)).or_insert_with(|| {
            let start = self.all.len() as u32;
            self.all.extend(defaults.iter().map(|&own| if material == NONE { own } else { material }));
            start
        })
    }
}
