//! Materials of a stage as rows of the material table.

use super::mesh::Needs;
use crate::{
    atlas,
    gltf::ColorSpace,
    materials::{Materials, Packed, PackedChannel, PictureFile, Use},
};
use glam::{Affine2, Vec2, Vec3};
use std::{collections::HashMap, path::Path, rc::Rc};
use throng_scene::{Alpha, Lobes, Material, MaterialKind, NONE, TextureMap, Wrap};
use throng_usd::{
    self as usd, Asset, Input, Interpolation, PolygonMesh, Primvar, Read, Shape, ShapeKind, Source, Stage, Surface,
    TexelSpace, WrapMode,
};

/// Opacity up to which a smooth surface is shown as clear glass.
const CLEAR: f32 = 0.05;
/// Roughness below which a clear surface counts as smooth.
const SMOOTH: f32 = 0.3;

/// Name of the material of shapes that have none and no colours.
pub const PLAIN: &str = "default";

/// Rows of the stage's materials, made when they are first used.
pub struct StageMaterials<'a> {
    stage: &'a Stage,
    /// The root layer, for warnings.
    file: &'a Path,
    rows: HashMap<RowKey, u32>,
}

/// What a row depends on.
#[derive(PartialEq, Eq, Hash)]
struct RowKey {
    /// Index into the stage's materials, or [`NONE`].
    material: u32,
    double_sided: bool,
    needs: Rc<Needs>,
    /// Bits of a colour and an opacity for shapes without materials and vertices with colours.
    color: Option<[u32; 3]>,
    opacity: Option<u32>,
    /// Whether vertices have opacities.
    fades: bool,
}

/// The shape that has a material.
#[derive(Clone, Copy)]
pub struct Wearer<'a> {
    pub shape: &'a Shape,
    pub needs: &'a Rc<Needs>,
    /// Colour and opacity of a shape without materials, and without colours and opacities of its own.
    pub color: Option<[f32; 3]>,
    pub opacity: Option<f32>,
}

fn mesh_of(shape: &Shape) -> Option<&PolygonMesh> {
    match &shape.kind {
        ShapeKind::Mesh(mesh) => Some(mesh),
        _ => None,
    }
}

/// All sets of texture coordinates of a shape by their names. `None` for shapes without vertices.
fn uvs_of(shape: &Shape) -> Option<&[(String, Primvar<[f32; 2]>)]> {
    match &shape.kind {
        ShapeKind::Mesh(mesh) => Some(&mesh.uvs),
        ShapeKind::Curves(curves) => Some(&curves.uvs),
        _ => None,
    }
}

/// The attributes of a shape that its materials read.
pub fn needs(stage: &Stage, materials: &[u32], shape: &Shape) -> Needs {
    let mut needs = Needs::default();
    let Some(uvs) = uvs_of(shape) else { return needs };
    // Nothing has the last material of a mesh whose subsets have all faces.
    let are_all_in_subsets = mesh_of(shape).is_some_and(|mesh| {
        let in_subsets: usize = mesh.subsets.iter().map(|subset| subset.faces.len()).sum();
        !mesh.subsets.is_empty() && in_subsets >= mesh.face_sizes.len()
    });
    let used = materials.len() - usize::from(are_all_in_subsets);
    let surfaces = || materials[..used].iter().map(|&material| stage.materials.get(material as usize));
    let varies = varies(&shape.colors) || varies(&shape.opacities);
    needs.colors = varies && surfaces().any(shows_primvars);
    if needs.colors {
        let is_white = |(_, material): &(u32, Option<&usd::Material>)| !shows_primvars(*material);
        needs.white = (0..).zip(surfaces()).filter(is_white).map(|(slot, _)| slot).collect();
    }
    for material in surfaces().flatten() {
        for read in reads(&material.surface) {
            let name = name_of(read, uvs);
            let is_known = needs.uvs.contains(&name) || !uvs.iter().any(|(own, _)| *own == name);
            if needs.uvs.len() < 2 && !is_known {
                needs.uvs.push(name);
            }
        }
    }
    needs
}

/// The set of texture coordinates that a picture is read with. A set that the shape lacks is replaced by its first one.
fn name_of(read: &Read, uvs: &[(String, Primvar<[f32; 2]>)]) -> String {
    let first = uvs.iter().find(|(name, _)| name == "st").or(uvs.first());
    let named = uvs.iter().find(|(name, _)| *name == read.uvs);
    named.or(first).map_or_else(String::new, |(name, _)| name.clone())
}

/// Whether values differ over a mesh.
fn varies<T>(primvar: &Option<Primvar<T>>) -> bool {
    primvar.as_ref().is_some_and(|primvar| primvar.interpolation != Interpolation::Constant)
}

/// Whether shapes show their own colour and opacity with a material, or without one.
fn shows_primvars(material: Option<&usd::Material>) -> bool {
    let is_primvar = |source: &Option<Source>| matches!(source, Some(Source::DisplayPrimvar));
    material.is_none_or(|usd::Material { surface, .. }| {
        is_primvar(&surface.diffuse_color.source) || is_primvar(&surface.opacity.source)
    })
}

/// All pictures that a surface reads.
fn reads(surface: &Surface) -> Vec<&Read> {
    let colors = [Some(&surface.diffuse_color), Some(&surface.emissive_color), surface.specular_color.as_ref()];
    let numbers = [
        &surface.metallic,
        &surface.roughness,
        &surface.clearcoat,
        &surface.clearcoat_roughness,
        &surface.opacity,
        &surface.transmission,
    ];
    let colors = colors.into_iter().flatten().filter_map(|input| picture(&input.source));
    let numbers = numbers.into_iter().filter_map(|input| picture(&input.source));
    colors.chain(numbers).chain(surface.normal.as_ref()).collect()
}

fn picture(source: &Option<Source>) -> Option<&Read> {
    match source {
        Some(Source::Picture(read)) => Some(read),
        _ => None,
    }
}

impl<'a> StageMaterials<'a> {
    pub fn new(stage: &'a Stage, file: &'a Path) -> Self {
        Self { stage, file, rows: HashMap::new() }
    }

    /// Row of a material of the stage, or of none.
    pub fn row(&mut self, table: &mut Materials, material: u32, wearer: &Wearer) -> u32 {
        let Wearer { shape, needs, color, .. } = *wearer;
        let own = self.stage.materials.get(material as usize);
        let is_shown = shows_primvars(own);
        let color = color.or_else(|| constant_color(shape)).filter(|_| is_shown && !needs.colors);
        let fades = needs.colors && shape.opacities.is_some();
        let own_opacity = shape.opacities.as_ref().filter(|_| !varies(&shape.opacities));
        let opacity = own_opacity.and_then(|primvar| primvar.at(0)).copied();
        let opacity = opacity.or(wearer.opacity).filter(|opacity| is_shown && !fades && *opacity < 1.0);
        let key = RowKey {
            material,
            double_sided: shape.double_sided,
            needs: needs.clone(),
            color: color.map(|color| color.map(f32::to_bits)),
            opacity: opacity.map(f32::to_bits),
            fades,
        };
        if let Some(&row) = self.rows.get(&key) {
            return row;
        }
        let tint = match color {
            Some(color) => Vec3::from(color),
            None if needs.colors => Vec3::ONE,
            None => Material::default().color,
        };
        let (name, converted) = match own {
            None => {
                let alpha = if fades || opacity.is_some() { Alpha::Blend } else { Alpha::Opaque };
                let opacity = opacity.unwrap_or(1.0).clamp(0.0, 1.0);
                let is_plain = !needs.colors && color.is_none() && alpha == Alpha::Opaque;
                let name = if is_plain { PLAIN } else { "display colour" };
                (name, Material { color: tint, alpha, opacity, ..Material::default() })
            }
            Some(material) => {
                let mut convert = Convert { own: self, table, wearer, tint, fade: opacity.filter(|_| !fades) };
                let converted = convert.material(&material.surface);
                (material.name.rsplit('/').next().unwrap_or(&material.name), converted)
            }
        };
        let row = table.add(name, Material { double_sided: shape.double_sided, ..converted });
        self.rows.insert(key, row);
        row
    }
}

/// The colour of a shape that has the same everywhere, or no vertices to have it.
fn constant_color(shape: &Shape) -> Option<[f32; 3]> {
    shape.colors.as_ref().filter(|_| !varies(&shape.colors) || uvs_of(shape).is_none())?.at(0).copied()
}

struct Convert<'a, 'b> {
    own: &'b StageMaterials<'a>,
    table: &'b mut Materials,
    wearer: &'b Wearer<'b>,
    /// Colour of inputs that read the shape's, which multiplies those of its vertices.
    tint: Vec3,
    /// Opacity of an input that reads the shape's, if it is the same everywhere.
    fade: Option<f32>,
}

impl Convert<'_, '_> {
    fn material(&mut self, surface: &Surface) -> Material {
        let mut lobes = Lobes { metallic: 0.0, ior: surface.ior.max(1.0), ..Lobes::default() };
        let (color, color_map) = self.base_color(surface);
        let (emission, emission_map) = self.color(&surface.emissive_color);
        if let Some(specular) = &surface.specular_color {
            // A dielectric with an infinite index of refraction reflects exactly its tint at normal incidence.
            lobes.ior = 0.0;
            lobes.specular = 1.0;
            let (tint, map) = self.color(specular);
            (lobes.specular_color, lobes.specular_color_map) = (tint.min(Vec3::ONE).to_array(), map);
        }
        let metallic = if surface.specular_color.is_some() { &Input::of(0.0) } else { &surface.metallic };
        self.metal_and_roughness(metallic, &surface.roughness, &mut lobes);
        (lobes.clearcoat, lobes.clearcoat_map) = self.number(&surface.clearcoat, 0);
        if surface.clearcoat.value > 0.0 || surface.clearcoat.source.is_some() {
            (lobes.clearcoat_roughness, lobes.clearcoat_roughness_map) = self.number(&surface.clearcoat_roughness, 1);
        }
        (lobes.transmission, lobes.transmission_map) = self.number(&surface.transmission, 0);
        lobes.normal_map = surface.normal.as_ref().map_or(NONE, |read| self.normal_map(read));
        let (is_textured, opacity) = match (&surface.opacity.source, self.fade) {
            (Some(Source::DisplayPrimvar), Some(fade)) => (false, fade),
            (Some(_), _) => (true, 1.0),
            (None, _) => (false, surface.opacity.value),
        };
        let opacity = opacity.clamp(0.0, 1.0);
        let is_clear = !is_textured
            && opacity <= CLEAR
            && surface.keeps_reflections
            && surface.opacity_threshold == 0.0
            && surface.roughness.source.is_none()
            && surface.roughness.value < SMOOTH;
        let alpha = match () {
            () if is_clear => Alpha::Opaque,
            () if surface.opacity_threshold > 0.0 => Alpha::Mask(surface.opacity_threshold),
            () if is_textured || opacity < 1.0 => Alpha::Blend,
            () => Alpha::Opaque,
        };
        // What is behind a surface is seen without a tint. Where it also reflects, its opacity is that of its diffuse part and its reflection.
        let (color, color_map) = if is_clear { (Vec3::ONE, NONE) } else { (color, color_map) };
        let opacity = match alpha {
            Alpha::Blend if !is_textured && surface.keeps_reflections => {
                let reflected = ((surface.ior - 1.0) / (surface.ior + 1.0)).powi(2);
                opacity + (1.0 - opacity) * reflected
            }
            _ => opacity,
        };
        if is_clear {
            (lobes.transmission, lobes.thin) = (1.0, 1);
        }
        Material {
            kind: MaterialKind::Layered,
            color,
            color_map,
            emission,
            emission_map,
            opacity: if is_textured || is_clear { 1.0 } else { opacity },
            alpha,
            lobes,
            ..Material::default()
        }
    }

    /// The base colour with the opacity in the alpha of its map.
    fn base_color(&mut self, surface: &Surface) -> (Vec3, u32) {
        let Some(opacity) = picture(&surface.opacity.source) else {
            return self.color(&surface.diffuse_color);
        };
        let alpha = self.channel(opacity, opacity.channel, false);
        let Some(read) = picture(&surface.diffuse_color.source) else {
            let texture = self.numbers([(3, alpha)]);
            let color = match surface.diffuse_color.source {
                Some(_) => self.tint,
                None => surface.diffuse_color.value.into(),
            };
            return (color, self.map(opacity, texture));
        };
        let is_plain = |read: &Read| is_unscaled(read) && read.bias == [0.0; 4];
        // A picture whose own alpha is the opacity is read as it is.
        if read.picture == opacity.picture && opacity.channel == 3 && is_plain(read) && is_plain(opacity) {
            let picture = self.picture(read, true);
            let texture = self.table.picture(picture);
            return (Vec3::ONE, self.map(read, texture));
        }
        let [r, g, b] = [0, 1, 2].map(|channel| self.channel(read, channel, true));
        let texture = self.table.packed(Packed { channels: [r, g, b, alpha], floats: true });
        (Vec3::ONE, self.map(read, texture))
    }

    /// The factor and the map of a colour.
    fn color(&mut self, input: &Input<[f32; 3]>) -> (Vec3, u32) {
        let read = match &input.source {
            None => return (input.value.into(), NONE),
            Some(Source::DisplayPrimvar) => return (self.tint, NONE),
            Some(Source::Picture(read)) => read,
        };
        let [r, g, b, _] = read.scale;
        if read.bias[..3] == [0.0; 3] && r >= 0.0 && g >= 0.0 && b >= 0.0 {
            let picture = self.picture(read, true);
            let texture = self.table.picture(picture);
            return (Vec3::new(r, g, b), self.map(read, texture));
        }
        let [r, g, b] = [0, 1, 2].map(|channel| self.channel(read, channel, true));
        let channels = [r, g, b, PackedChannel::Constant(1.0)];
        let texture = self.table.packed(Packed { channels, floats: true });
        (Vec3::ONE, self.map(read, texture))
    }

    /// The factor and the map of a number that kernels read from `channel`.
    fn number(&mut self, input: &Input<f32>, channel: usize) -> (f32, u32) {
        let Some(read) = picture(&input.source) else { return (input.value.clamp(0.0, 1.0), NONE) };
        let texture = self.numbers([(channel, self.channel(read, read.channel, false))]);
        (1.0, self.map(read, texture))
    }

    /// Roughness in green and metalness in blue, as kernels read them.
    fn metal_and_roughness(&mut self, metallic: &Input<f32>, roughness: &Input<f32>, lobes: &mut Lobes) {
        (lobes.metallic, lobes.roughness) = (metallic.value.clamp(0.0, 1.0), roughness.value.clamp(0.0, 1.0));
        let (metal, rough) = (picture(&metallic.source), picture(&roughness.source));
        let Some(read) = rough.or(metal) else { return };
        let part = |read: Option<&Read>, value: &mut f32| match read {
            Some(read) => {
                *value = 1.0;
                self.channel(read, read.channel, false)
            }
            None => PackedChannel::Constant(1.0),
        };
        let green = part(rough, &mut lobes.roughness);
        let blue = part(metal, &mut lobes.metallic);
        let texture = self.numbers([(1, green), (2, blue)]);
        lobes.metallic_roughness_map = self.map(read, texture);
    }

    /// A texture with these channels, by their numbers. The others are 1.
    fn numbers<const N: usize>(&mut self, chosen: [(usize, PackedChannel); N]) -> u32 {
        let mut channels = [0; 4].map(|_| PackedChannel::Constant(1.0));
        chosen.into_iter().for_each(|(number, channel)| channels[number] = channel);
        self.table.packed(Packed { channels, floats: false })
    }

    fn normal_map(&mut self, read: &Read) -> u32 {
        let usual = read.scale[..3] == [2.0; 3] && read.bias[..3] == [-1.0; 3];
        // Exporters leave the factors out, though they mean them.
        let missing = read.scale[..3] == [1.0; 3] && read.bias[..3] == [0.0; 3];
        let texture = if usual || missing {
            let picture = self.picture(read, false);
            self.table.picture(picture)
        } else {
            let half = |mut channel: PackedChannel| {
                if let PackedChannel::Read { scale, bias, .. } = &mut channel {
                    (*scale, *bias) = (0.5 * *scale, 0.5 * *bias + 0.5);
                }
                channel
            };
            let [r, g, b] = [0, 1, 2].map(|channel| half(self.channel(read, channel, false)));
            self.table.packed(Packed { channels: [r, g, b, PackedChannel::Constant(1.0)], floats: false })
        };
        self.map(read, texture)
    }

    fn channel(&self, read: &Read, channel: u8, is_color: bool) -> PackedChannel {
        let number = usize::from(channel.min(3));
        PackedChannel::Read {
            picture: self.picture(read, is_color),
            channel: channel.min(3),
            scale: read.scale[number],
            bias: read.bias[number],
        }
    }

    /// The picture of an input. Numbers in pictures of eight bits are linear unless the stage says otherwise, which many leave to `auto`.
    fn picture(&self, read: &Read, is_color: bool) -> PictureFile {
        let asset = &self.own.stage.pictures[read.picture as usize];
        let wrap = |mode: WrapMode| match mode {
            WrapMode::Repeat => Wrap::Repeat,
            WrapMode::Mirror => Wrap::Mirror,
            WrapMode::Clamp | WrapMode::Black => Wrap::Clamp,
        };
        let space = match read.space {
            TexelSpace::Srgb => ColorSpace::Srgb,
            TexelSpace::Raw => ColorSpace::Linear,
            TexelSpace::Auto if is_color => ColorSpace::Srgb,
            TexelSpace::Auto => ColorSpace::Linear,
        };
        let only_colors = read.space == TexelSpace::Auto;
        let file = optional(asset, self.own.file.display().to_string());
        PictureFile { wrap: read.wrap.map(wrap), space, only_colors, ..file }
    }

    fn map(&mut self, read: &Read, texture: u32) -> u32 {
        let name = uvs_of(self.wearer.shape).map_or_else(String::new, |uvs| name_of(read, uvs));
        let uv_set = u32::from(self.wearer.needs.uvs.get(1).is_some_and(|second| *second == name));
        let tiles = &self.own.stage.pictures[read.picture as usize].tiles;
        let transform = of_atlas(tiles.iter().map(|(number, _)| *number)) * read.transform;
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

/// What is shown otherwise than the stage says.
pub fn warnings(stage: &Stage) -> Vec<String> {
    let is_black = |read: &Read| read.wrap.contains(&WrapMode::Black);
    let count = stage.materials.iter().filter(|material| reads(&material.surface).into_iter().any(is_black)).count();
    let line = || format!("{count} materials have pictures that are black outside; their edges continue there instead");
    if count > 0 { vec![line()] } else { Vec::new() }
}

fn is_unscaled(read: &Read) -> bool {
    read.scale == [1.0; 4]
}

/// The transform from coordinates of tiles (UDIM), one tile per unit, to those of the picture that joins the tiles.
fn of_atlas(tiles: impl Iterator<Item = u32>) -> Affine2 {
    let cells: Vec<(u32, u32)> = tiles.map(atlas::cell).collect();
    let Some(size) = atlas::size(&cells) else { return Affine2::IDENTITY };
    Affine2::from_scale(Vec2::new(1.0 / size.0 as f32, 1.0 / size.1 as f32))
}
