//! Conversion of mesh primitives to triangle meshes.

mod deform;
mod draco;
mod lines;
mod triangles;
mod vertices;

use super::{
    fault::{Fault, fault},
    file::{
        accessor,
        document::{Document, out_of_range},
        extensions,
    },
    material::pbr::PbrMaterial,
    model::ModelMesh,
    nodes::name,
    tangents,
};
use crate::budget;
use glam::Vec3;
use gltf::json::{
    mesh::{Mode, Primitive, Semantic},
    validation::Checked,
};
use rayon::prelude::*;
use serde::Deserialize;
use throng_base::math::LARGEST_COORDINATE;
use throng_scene::{NONE, TriangleMesh};
use triangles::Indices;
use vertices::Vertices;

/// The materials for meshes, the selected variant, and whether tangents are generated.
pub struct Choice<'a> {
    pub materials: &'a [PbrMaterial],
    pub variant_count: usize,
    pub variant: Option<u32>,
    /// As [`super::GltfOptions::skip_tangents`].
    pub skip_tangents: bool,
}

/// Reads primitive `k` of mesh `index`. None, with a warning, if nothing can be rendered. Unused vertices are omitted. Triangles with
/// corners that are not finite are omitted with a warning. `skinned` states whether a skin moves the mesh.
///
/// # Errors
/// If its positions, indices, joints or morph targets are out of range or inconsistent.
pub fn read(
    document: &Document,
    choice: &Choice,
    (index, k): (usize, usize),
    skinned: bool,
) -> Result<Option<ModelMesh>, Fault> {
    let mesh = &document.root.meshes[index];
    let primitive = &mesh.primitives[k];
    let path = format!("/meshes/{index}/primitives/{k}");
    let skip = |why: &str| {
        document.warnings.add(&path, format!("{why} and skipped"));
        Ok(None)
    };
    let mode = match primitive.mode {
        Checked::Valid(Mode::Points) => return skip("points are not rendered"),
        Checked::Valid(mode) => mode,
        Checked::Invalid => return skip("its mode is unknown"),
    };
    let Some(positions) = vertices::attribute(primitive, &Semantic::Positions) else {
        return skip("a primitive without positions cannot be rendered");
    };
    let draco = draco::decode(document, primitive, &path)?;
    let count = match &draco {
        Some(draco) => draco.vertex_count(),
        None => accessor::elements(document, positions, &path)?.count,
    };
    let mut vertices = Vertices { document, primitive, path: &path, draco, count, kept: None };
    let (positions, triangles, strands) = if lines::is_line(mode) {
        let (positions, strands) = lines::read(&mut vertices, mode)?;
        (positions, Vec::new(), strands)
    } else {
        let mut triangles = read_triangles(&vertices, mode)?;
        (read_positions(&mut vertices, &mut triangles)?, triangles, Vec::new())
    };
    if triangles.is_empty() && strands.is_empty() {
        let what = if lines::is_line(mode) { "lines" } else { "triangles" };
        return skip(&format!("a primitive without {what} cannot be rendered"));
    }
    let bytes = match strands.is_empty() {
        true => triangles.len() as u64 * budget::TRIANGLE,
        false => budget::of_curves(positions.len()),
    };
    document.budget.take(bytes).map_err(|lack| fault(&path, format!("rendering it {lack}")))?;
    let material = document.or_warn(material_index(primitive, choice, &path), "the default is taken")?.unwrap_or(NONE);
    let variants = document.or_warn(variants(primitive, choice, &path), "it has no variants")?.unwrap_or_default();
    let chosen = variants.iter().find(|v| Some(v.0) == choice.variant);
    let material = chosen.map_or(material, |v| v.1);
    let uv_sets = uv_sets(document, choice, material, &variants, &path);
    let mut model = ModelMesh {
        name: match mesh.primitives.len() {
            1 => name(mesh.name.as_deref(), "mesh", index),
            _ => format!("{} part {k}", name(mesh.name.as_deref(), "mesh", index)),
        },
        mesh: read_vertices(&vertices, (positions, triangles), uv_sets)?,
        deformers: deform::read(&vertices, skinned)?,
        material,
        variants,
        strands,
        line_radius: 0.0,
    };
    if !choice.skip_tangents && !model.has_lines() {
        add_tangents(document, choice, &path, &mut model)?;
    }
    Ok(Some(model))
}

fn read_triangles(vertices: &Vertices, mode: Mode) -> Result<Vec<[u32; 3]>, Fault> {
    let (document, path) = (vertices.document, vertices.path);
    let indices = match (&vertices.draco, vertices.primitive.indices) {
        (Some(draco), _) => Indices::Decoded(draco.triangles()),
        (None, Some(indices)) => {
            let from = format!("{path}/indices");
            Indices::Accessor(accessor::elements(document, indices, &from)?)
        }
        (None, None) => Indices::Implicit(vertices.count),
    };
    if vertices.count > u32::MAX as usize {
        return Err(fault(path, "more vertices than 32-bit indices can name: split the mesh"));
    }
    let (triangles, left_over) = triangles::read(indices, mode, vertices.count, document.budget, path)?;
    if left_over {
        let message = "the number of vertices is no multiple of three; those left over are ignored";
        document.warnings.add(path, message);
    }
    Ok(triangles)
}

/// Reads the positions of the vertices that triangles use, and renumbers the triangles accordingly. Unused vertices are also skipped in
/// later reads from `v`, so that stray vertices do not affect the framing. Triangles with an invalid corner are omitted with a warning.
fn read_positions(v: &mut Vertices, triangles: &mut Vec<[u32; 3]>) -> Result<Vec<[f32; 3]>, Fault> {
    let positions = v.floats::<3>(&Semantic::Positions)?.unwrap_or_default();
    let is_somewhere = |&corner: &u32| positions[corner as usize].iter().all(|x| x.abs() <= LARGEST_COORDINATE);
    let all = triangles.len();
    if !triangles.par_iter().flatten_iter().all(is_somewhere) {
        triangles.retain(|corners| corners.iter().all(is_somewhere));
        let message = format!(
            "{} triangles are left out: their positions are not finite and within {LARGEST_COORDINATE:e}",
            all - triangles.len()
        );
        v.document.warnings.add(&format!("{}/attributes/POSITION", v.path), message);
    }
    let kept = used(triangles, positions.len());
    if kept.len() == positions.len() {
        return Ok(positions);
    }
    let mut place = vec![NONE; positions.len()];
    (0..).zip(&kept).for_each(|(new, &old)| place[old as usize] = new);
    triangles.par_iter_mut().for_each(|corners| *corners = corners.map(|corner| place[corner as usize]));
    let positions = kept.iter().map(|&old| positions[old as usize]).collect();
    v.kept = Some(kept);
    Ok(positions)
}

/// Indices of the vertices that triangles use, in ascending order.
fn used(triangles: &[[u32; 3]], count: usize) -> Vec<u32> {
    let mut used = vec![false; count];
    triangles.iter().flatten().for_each(|&corner| used[corner as usize] = true);
    (0..).zip(used).filter_map(|(index, used)| used.then_some(index)).collect()
}

fn read_vertices(
    v: &Vertices,
    (positions, triangles): (Vec<[f32; 3]>, Vec<[u32; 3]>),
    uv_sets: [u32; 2],
) -> Result<TriangleMesh, Fault> {
    let document = v.document;
    let left_out = "the attribute is left out";
    let [uvs, uvs1] = uv_sets.map(|set| {
        let uvs = v.floats(&Semantic::TexCoords(set));
        Ok::<_, Fault>(flipped(document.or_warn(uvs, left_out)?.flatten()))
    });
    let normals = document.or_warn(v.floats(&Semantic::Normals), left_out)?.flatten();
    let colors = document.or_warn(v.colors(&Semantic::Colors(0)), left_out)?.flatten();
    let tangents = document.or_warn(v.floats(&Semantic::Tangents), left_out)?.flatten();
    let mut mesh = TriangleMesh {
        normals: normals.unwrap_or_default(),
        uvs: uvs?,
        uvs1: uvs1?,
        colors: colors.unwrap_or_default(),
        tangents: tangents.unwrap_or_default(),
        positions,
        triangles,
        slots: Vec::new(),
    };
    mesh.colors.par_iter_mut().for_each(|c| *c = c.map(finite_or_zero));
    mesh.tangents.par_iter_mut().for_each(unit_tangent);
    if repair_normals(&mut mesh) {
        let message = "some normals have no direction; normals of the neighbouring faces are used";
        v.document.warnings.add(v.path, message);
    }
    Ok(mesh)
}

/// In glTF, v increases from the top of a picture; in the renderer, from the bottom.
fn flipped(uvs: Option<Vec<[f32; 2]>>) -> Vec<[f32; 2]> {
    let mut uvs = uvs.unwrap_or_default();
    uvs.par_iter_mut().for_each(|[u, v]| (*u, *v) = (finite_or_zero(*u), finite_or_zero(1.0 - *v)));
    uvs
}

fn finite_or_zero(x: f32) -> f32 {
    if x.is_finite() { x } else { 0.0 }
}

fn unit_tangent(tangent: &mut [f32; 4]) {
    let [x, y, z, w] = *tangent;
    let unit = Vec3::new(x, y, z).try_normalize().unwrap_or(Vec3::X);
    *tangent = unit.extend(if w < 0.0 { -1.0 } else { 1.0 }).to_array();
}

/// Normalises all normals. Returns true if some have no direction.
fn repair_normals(mesh: &mut TriangleMesh) -> bool {
    let normalise = |n: &mut [f32; 3]| match Vec3::from(*n).try_normalize() {
        Some(unit) => {
            *n = unit.to_array();
            false
        }
        None => {
            *n = [0.0; 3];
            true
        }
    };
    let any = mesh.normals.par_iter_mut().map(normalise).reduce(|| false, |a, b| a | b);
    if any {
        let missing: Vec<bool> = mesh.normals.iter().map(|n| *n == [0.0; 3]).collect();
        add_face_normals(mesh, &missing);
    }
    any
}

fn add_face_normals(mesh: &mut TriangleMesh, missing: &[bool]) {
    for triangle in &mesh.triangles {
        let corners = triangle.map(|v| mesh.positions[v as usize]);
        let face = crate::geometry::normals::face_normal(corners).as_vec3();
        for &v in triangle {
            if missing[v as usize] {
                let sum = Vec3::from(mesh.normals[v as usize]) + face;
                mesh.normals[v as usize] = sum.to_array();
            }
        }
    }
    for (normal, _) in mesh.normals.iter_mut().zip(missing).filter(|(_, m)| **m) {
        *normal = Vec3::from(*normal).normalize_or(Vec3::Y).to_array();
    }
}

fn material_index(primitive: &Primitive, choice: &Choice, path: &str) -> Result<u32, Fault> {
    let count = choice.materials.len();
    match primitive.material.map(|m| m.value()) {
        None => Ok(NONE),
        Some(index) if index < count => Ok(index as u32),
        Some(index) => Err(fault(format!("{path}/material"), out_of_range("material", index, count))),
    }
}

#[derive(Deserialize)]
struct Variants {
    mappings: Vec<Mapping>,
}

#[derive(Deserialize)]
struct Mapping {
    material: u32,
    variants: Vec<u32>,
}

fn variants(primitive: &Primitive, choice: &Choice, path: &str) -> Result<Vec<(u32, u32)>, Fault> {
    let others = primitive.extensions.as_ref().map(|e| &e.others);
    let read = extensions::read::<Variants>(others, extensions::VARIANTS, path)?;
    let mut pairs = Vec::new();
    for mapping in read.into_iter().flat_map(|v| v.mappings) {
        for variant in mapping.variants {
            let known =
                (variant as usize) < choice.variant_count && (mapping.material as usize) < choice.materials.len();
            if !known {
                let message = format!("there is no variant {variant} or no material {}", mapping.material);
                return Err(fault(format!("{path}/extensions/{}", extensions::VARIANTS), message));
            }
            pairs.push((variant, mapping.material));
        }
    }
    Ok(pairs)
}

/// The sets of texture coordinates that the mesh keeps, which its material determines.
fn uv_sets(document: &Document, choice: &Choice, material: u32, variants: &[(u32, u32)], path: &str) -> [u32; 2] {
    let of = |m: u32| choice.materials.get(m as usize).map(|m| m.uv_sets);
    let chosen = of(material).unwrap_or([0, 1]);
    let mut others = variants.iter().filter_map(|&(_, m)| of(m));
    if others.any(|other| other != chosen) {
        let message = "materials of variants use different texture coordinates; the chosen variant's are kept";
        document.warnings.add(path, message);
    }
    chosen
}

/// Adds tangents if a material of this primitive needs them and the file has none.
fn add_tangents(document: &Document, choice: &Choice, path: &str, model: &mut ModelMesh) -> Result<(), Fault> {
    let variants = model.variants.iter().map(|v| v.1);
    let mut materials = [model.material].into_iter().chain(variants);
    let space = materials.find_map(|m| choice.materials.get(m as usize)?.tangent_space());
    let (Some((set, texture_from_mesh)), true) = (space, model.mesh.tangents.is_empty()) else {
        return Ok(());
    };
    document
        .budget
        .take(tangents::memory(&model.mesh, &model.deformers))
        .map_err(|lack| fault(path, format!("making tangents {lack}")))?;
    if !tangents::generate(&mut model.mesh, &mut model.deformers, set, texture_from_mesh) {
        let message = "the material needs texture coordinates for its normal map, but there are none";
        document.warnings.add(path, message);
    }
    Ok(())
}
