//! Pictures and maps of the inputs of surfaces.

use super::Convert;
use crate::{
    atlas,
    baked::Baked,
    gltf::ColorSpace,
    materials::{Packed, PackedChannel, PictureFile, Use},
    packed::Encoding,
};
use glam::{Affine2, Vec2};
use std::sync::Arc;
use throng_scene::{TextureMap, Wrap};
use throng_usd::{Asset, Computed, Input, Operation, Read, Source, TexelSpace, WrapMode};

/// What a channel of a texture has.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    /// One.
    White,
    /// A channel of a colour.
    Color(&'a Source, u8),
    /// A number.
    Number(&'a Source),
    /// A component of a normal, from -1 to 1, which is stored as 0 to 1.
    Slope(&'a Source, u8),
}

impl<'a> Part<'a> {
    /// The number of an input that reads a picture.
    pub fn number(input: &'a Input<f32>) -> Option<Self> {
        match &input.source {
            Some(source @ (Source::Picture(_) | Source::Computed(_))) => Some(Self::Number(source)),
            _ => None,
        }
    }

    fn source(self) -> Option<&'a Source> {
        match self {
            Self::White => None,
            Self::Color(source, _) | Self::Number(source) | Self::Slope(source, _) => Some(source),
        }
    }
}

impl Encoding {
    /// How the colours of a source are stored.
    pub fn of_colors(source: &Source) -> Self {
        if matches!(source, Source::Computed(_)) { Self::Colors } else { Self::Floats }
    }
}

/// The texture coordinates over which a texture is made.
#[derive(Clone, Debug, PartialEq)]
struct Domain {
    /// 0 or 1.
    uv_set: u32,
    texture_from_mesh: Affine2,
    wrap: [Wrap; 2],
}

/// The names of the sets of texture coordinates that a source reads.
pub fn sets(source: &Source) -> Vec<&str> {
    fn of(computed: &Computed) -> Vec<&str> {
        match computed {
            Computed::Constant(_) => Vec::new(),
            Computed::Picture(read) | Computed::Channel(read) => vec![&read.uvs],
            Computed::Coordinates { uvs, .. } => vec![uvs],
            Computed::Apply(_, values) => values.iter().flat_map(of).collect(),
        }
    }
    match source {
        Source::Picture(read) => vec![&read.uvs],
        Source::Computed(computed) => of(computed),
        Source::Display(factor) => factor.source.as_ref().map_or_else(Vec::new, sets),
    }
}

impl Convert<'_> {
    /// A map of a texture whose channels have these parts.
    pub fn packed(&mut self, parts: [Part; 4], encoding: Encoding) -> u32 {
        let sources: Vec<&Source> = parts.iter().filter_map(|part| part.source()).collect();
        let domain = self.domain(&sources);
        let mut made: Vec<(*const Source, bool, Arc<Baked>)> = Vec::new();
        let mut channel = |part: Part| {
            let (source, channel, is_color) = match part {
                Part::White => return PackedChannel::Constant(1.0),
                Part::Color(source, channel) => (source, Some(channel), true),
                Part::Slope(source, channel) => (source, Some(channel), false),
                Part::Number(source) => (source, None, false),
            };
            let is_slope = matches!(part, Part::Slope(..));
            if let Source::Picture(read) = source
                && self.place(read) == domain.texture_from_mesh
            {
                return self.channel(read, channel.unwrap_or(read.channel), is_color, is_slope);
            }
            let known = made.iter().find(|(known, colored, _)| std::ptr::eq(*known, source) && *colored == is_color);
            let baked = match known {
                Some((_, _, baked)) => baked.clone(),
                None => {
                    let baked = Arc::new(self.baked(source, &domain, is_color, is_slope));
                    made.push((source, is_color, baked.clone()));
                    baked
                }
            };
            let number = match source {
                Source::Picture(read) => read.channel,
                _ => 0,
            };
            PackedChannel::Computed { baked, channel: channel.unwrap_or(number).min(3) }
        };
        let channels = parts.map(&mut channel);
        let texture = self.table.packed(Packed { channels, encoding, wrap: domain.wrap });
        let Domain { uv_set, texture_from_mesh, .. } = domain;
        self.table.map(TextureMap { texture, uv_set, transform: texture_from_mesh })
    }

    /// The coordinates of the pictures, if they are the same for all; otherwise those of the mesh. Patterns without pictures have a whole period.
    fn domain(&self, sources: &[&Source]) -> Domain {
        let reads: Vec<&Read> = sources.iter().flat_map(|source| source.reads()).collect();
        let name = sources.iter().flat_map(|source| sets(source)).next().unwrap_or_default();
        let uv_set = (self.uv_set)(name);
        let own = |source: &&Source| matches!(source, Source::Computed(computed) if computed.uses_coordinates());
        let first = reads.first().filter(|first| {
            let place = self.place(first);
            let is_flat = place.matrix2.determinant() == 0.0;
            reads.iter().all(|read| self.place(read) == place)
                && !sources.iter().any(own)
                && (!is_flat || reads.len() == 1)
        });
        match first {
            Some(read) => Domain { uv_set, texture_from_mesh: self.place(read), wrap: read.wrap.map(wrap) },
            None => {
                // Tiles of pictures are joined in one texture.
                let tiles = reads.iter().find(|read| !self.asset(read).tiles.is_empty());
                let pattern = || self.period.filter(|_| reads.is_empty()).and_then(|period| pattern(sources, period));
                let texture_from_mesh =
                    tiles.map(|read| of_atlas(self.asset(read))).or_else(pattern).unwrap_or_default();
                Domain { uv_set, texture_from_mesh, wrap: [Wrap::Repeat; 2] }
            }
        }
    }

    /// What to compute of a source for each texel of a texture over the domain.
    fn baked(&self, source: &Source, domain: &Domain, is_color: bool, is_slope: bool) -> Baked {
        let mut tree = match source {
            Source::Picture(read) => Computed::Picture(read.clone()),
            Source::Computed(computed) => (**computed).clone(),
            Source::Display(_) => Computed::Constant([1.0; 4]),
        };
        let mesh_from_texture = match domain.texture_from_mesh {
            flat if flat.matrix2.determinant() == 0.0 => Affine2::IDENTITY,
            other => other.inverse(),
        };
        let mut pictures = Vec::new();
        tree.for_each_read(&mut |read| {
            let place = self.place(read);
            pictures.push(self.picture(read, is_color));
            let same = place == domain.texture_from_mesh;
            read.transform = if same { Affine2::IDENTITY } else { place * mesh_from_texture };
            read.picture = pictures.len() as u32 - 1;
        });
        move_coordinates(&mut tree, mesh_from_texture);
        if is_slope {
            let half = Computed::Constant([0.5; 4]);
            let tree_half = Computed::Apply(Operation::Multiply, vec![tree, half.clone()]);
            tree = Computed::Apply(Operation::Add, vec![tree_half, half]);
        }
        Baked { tree, pictures }
    }

    fn channel(&self, read: &Read, channel: u8, is_color: bool, is_slope: bool) -> PackedChannel {
        let number = usize::from(channel.min(3));
        let (scale, bias) = (read.scale[number], read.bias[number]);
        let (scale, bias) = if is_slope { (0.5 * scale, 0.5 * bias + 0.5) } else { (scale, bias) };
        PackedChannel::Read { picture: self.picture(read, is_color), channel: channel.min(3), scale, bias }
    }

    fn asset(&self, read: &Read) -> &Asset {
        &self.pictures[read.picture as usize]
    }

    /// From coordinates of the mesh to those of the picture.
    fn place(&self, read: &Read) -> Affine2 {
        of_atlas(self.asset(read)) * read.transform
    }

    /// The picture of an input. Numbers in pictures of eight bits are linear unless the stage says otherwise, which many leave to `auto`.
    pub fn picture(&self, read: &Read, is_color: bool) -> PictureFile {
        let asset = self.asset(read);
        let space = match read.space {
            TexelSpace::Srgb => ColorSpace::Srgb,
            TexelSpace::Raw => ColorSpace::Linear,
            TexelSpace::Auto if is_color => ColorSpace::Srgb,
            TexelSpace::Auto => ColorSpace::Linear,
        };
        let only_colors = read.space == TexelSpace::Auto;
        let file = optional(asset, self.file.display().to_string());
        PictureFile { wrap: read.wrap.map(wrap), space, only_colors, ..file }
    }

    /// The map of a texture that is a picture.
    pub fn map_of(&mut self, read: &Read, texture: u32) -> u32 {
        let (uv_set, transform) = ((self.uv_set)(&read.uvs), self.place(read));
        self.table.map(TextureMap { texture, uv_set, transform })
    }
}

/// A picture with colours in sRGB that ends at its edges. If it is missing, a warning names `place`.
pub fn optional(asset: &Asset, place: String) -> PictureFile {
    PictureFile {
        path: asset.path.clone(),
        bytes: asset.bytes.clone(),
        tiles: asset.tiles.clone(),
        wrap: [Wrap::Clamp; 2],
        space: ColorSpace::Srgb,
        only_colors: false,
        used_by: Use::Optional { place },
    }
}

/// The transform from a mesh's coordinates to the periods of the first pattern.
fn pattern(sources: &[&Source], period: f32) -> Option<Affine2> {
    fn first(computed: &Computed) -> Option<Affine2> {
        match computed {
            Computed::Coordinates { transform, .. } => Some(*transform),
            Computed::Apply(_, values) => values.iter().find_map(first),
            _ => None,
        }
    }
    let of = |source: &&Source| if let Source::Computed(computed) = source { first(computed) } else { None };
    let transform = Affine2::from_scale(Vec2::splat(1.0 / period)) * sources.iter().find_map(of)?;
    (transform.matrix2.determinant() != 0.0).then_some(transform)
}

fn move_coordinates(computed: &mut Computed, mesh_from_texture: Affine2) {
    match computed {
        Computed::Coordinates { transform, .. } => *transform *= mesh_from_texture,
        Computed::Apply(_, values) => values.iter_mut().for_each(|value| move_coordinates(value, mesh_from_texture)),
        _ => {}
    }
}

fn wrap(mode: WrapMode) -> Wrap {
    match mode {
        WrapMode::Repeat => Wrap::Repeat,
        WrapMode::Mirror => Wrap::Mirror,
        WrapMode::Clamp | WrapMode::Black => Wrap::Clamp,
    }
}

pub fn is_unscaled(read: &Read) -> bool {
    read.scale == [1.0; 4]
}

/// The transform from coordinates of tiles (UDIM), one tile per unit, to those of the picture that joins the tiles.
fn of_atlas(asset: &Asset) -> Affine2 {
    let cells: Vec<(u32, u32)> = asset.tiles.iter().map(|(number, _)| atlas::cell(*number)).collect();
    let Some(size) = atlas::size(&cells) else { return Affine2::IDENTITY };
    Affine2::from_scale(Vec2::new(1.0 / size.0 as f32, 1.0 / size.1 as f32))
}
