//! Materials of a stage as rows of the material table.

mod convert;
mod heights;
mod own;
mod sources;

pub use convert::Convert;
pub use heights::Heights;
pub use sources::optional;

use super::mesh::Needs;
use crate::materials::Materials;
use glam::Vec3;
use std::{collections::HashMap, path::Path, rc::Rc};
use throng_scene::{Alpha, Material};
use throng_usd::{
    self as usd, Interpolation, PolygonMesh, Primvar, Read, Shape, ShapeKind, Source, Stage, Surface, WrapMode,
};

/// Name of the material of shapes that have none and no colours.
pub const PLAIN: &str = "default";

/// Rows of the stage's materials, made when they are first used.
pub struct StageMaterials<'a> {
    stage: &'a Stage,
    /// The root layer, for warnings.
    file: &'a Path,
    /// Length of the stage's unit in the scene.
    scale: f32,
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

/// Sets of texture coordinates with their names.
type UvSets = [(String, Primvar<[f32; 2]>)];

/// All sets of texture coordinates of a shape. `None` for shapes without vertices.
fn uvs_of(shape: &Shape) -> Option<&UvSets> {
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
        for set in sets(&material.surface) {
            let name = name_of(set, uvs);
            let is_known = needs.uvs.contains(&name) || !uvs.iter().any(|(own, _)| *own == name);
            if needs.uvs.len() < 2 && !is_known {
                needs.uvs.push(name);
            }
        }
    }
    needs
}

/// The set of texture coordinates that a picture is read with. A set that the shape lacks is replaced by its first one.
fn name_of(set: &str, uvs: &UvSets) -> String {
    let first = uvs.iter().find(|(name, _)| name == "st").or(uvs.first());
    let named = uvs.iter().find(|(name, _)| name == set);
    named.or(first).map_or_else(String::new, |(name, _)| name.clone())
}

/// Whether values differ over a mesh.
fn varies<T>(primvar: &Option<Primvar<T>>) -> bool {
    primvar.as_ref().is_some_and(|primvar| primvar.interpolation != Interpolation::Constant)
}

/// Whether shapes show their own colour and opacity with a material, or without one.
fn shows_primvars(material: Option<&usd::Material>) -> bool {
    let is_primvar = |source: &Option<Source>| matches!(source, Some(Source::Display(_)));
    material.is_none_or(|usd::Material { surface, .. }| {
        // Colours of vertices multiply all materials of throng.
        surface.own.is_some() || is_primvar(&surface.diffuse_color.source) || is_primvar(&surface.opacity.source)
    })
}

/// All pictures that a surface reads, and the sets of texture coordinates of other values.
fn sets(surface: &Surface) -> Vec<&str> {
    let mut sets: Vec<&str> = surface.sources().flat_map(sources::sets).collect();
    // The tangents of vertices follow from the first set.
    if surface.own.as_ref().is_some_and(|own| own::uses_tangents(own)) && sets.is_empty() {
        sets.push("");
    }
    sets
}

impl<'a> StageMaterials<'a> {
    pub fn new(stage: &'a Stage, file: &'a Path, scale: f32) -> Self {
        Self { stage, file, scale, rows: HashMap::new() }
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
                let set = |name: &str| {
                    let name = uvs_of(shape).map_or_else(String::new, |uvs| name_of(name, uvs));
                    u32::from(needs.uvs.get(1).is_some_and(|second| *second == name))
                };
                let mut convert = Convert {
                    pictures: &self.stage.pictures,
                    file: self.file,
                    scale: self.scale,
                    table,
                    uv_set: &set,
                    tint,
                    fade: opacity.filter(|_| !fades),
                    period: None,
                };
                let converted = convert.material(&material.surface);
                (material.name.rsplit('/').next().unwrap_or(&material.name), converted)
            }
        };
        let is_own = own.is_some_and(|material| material.surface.own.is_some());
        let double_sided = if is_own { converted.double_sided } else { shape.double_sided };
        let row = table.add(name, Material { double_sided, ..converted });
        self.rows.insert(key, row);
        row
    }
}

/// The colour of a shape that has the same everywhere, or no vertices to have it.
fn constant_color(shape: &Shape) -> Option<[f32; 3]> {
    shape.colors.as_ref().filter(|_| !varies(&shape.colors) || uvs_of(shape).is_none())?.at(0).copied()
}

/// What is shown otherwise than materials say.
pub fn warnings(materials: &[usd::Material]) -> Vec<String> {
    let count = |is_so: &dyn Fn(&Surface) -> bool| materials.iter().filter(|material| is_so(&material.surface)).count();
    let is_black = |read: &Read| read.wrap.contains(&WrapMode::Black);
    let black = count(&|surface| surface.sources().flat_map(Source::reads).any(is_black));
    let mixes = |source: &Source| {
        let sets = sources::sets(source);
        sets.iter().any(|set| *set != sets[0])
    };
    let mixed = count(&|surface| surface.sources().any(mixes));
    let lines = [
        (black, "have pictures that are black outside; their edges continue there instead"),
        (mixed, "combine pictures over different sets of texture coordinates; all are read with the first set"),
    ];
    lines.iter().filter(|(count, _)| *count > 0).map(|(count, line)| format!("{count} materials {line}")).collect()
}
