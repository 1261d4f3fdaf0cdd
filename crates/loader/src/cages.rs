//! Cages of a loaded scene, and the levels to which they are refined.
//!
//! Without a chosen level, a cage is refined until its edges have a few pixels where the film shows it nearest. The level is the same in all
//! frames, so surfaces do not change abruptly, and one level serves all instances.

use crate::{LoadError, files, geometry::subdivision::Cage};
use glam::{Affine3, Vec3};
use rayon::prelude::*;
use std::{collections::HashMap, path::Path, sync::Arc};
use throng_base::{math::Aabb, memory::total_bytes};
use throng_scene::{
    Mesh, Placed, Projection, Scene, Shape, TriangleMesh,
    anim::{self, CameraPose, Moment},
    desc::{MOST_SUBDIVISION, Subdivision},
    rig::{Deformers, DeformingMesh},
};

/// Length of edges in pixels at which a cage is refined no further.
const EDGE_PIXELS: f64 = 4.0;
/// The finest level that is chosen by size.
const FINEST: u32 = 6;
/// Number of frames at which sizes are measured.
const FRAMES: u32 = 12;
/// Share of the machine's memory for all refined meshes whose levels are chosen by size.
const MEMORY_SHARE: u64 = 4;
/// Bytes for them if the memory is unknown.
const USUAL_MEMORY: u64 = 4 << 30;
/// Distance from which on sizes are measured, relative to an object's size: cameras in an object would see infinitely large edges.
const NEAREST: f32 = 0.02;

/// The cage of a mesh, and how its points move.
#[derive(Clone, Debug)]
pub struct MeshCage {
    pub cage: Cage,
    /// Deformers of the points, if the mesh deforms.
    pub deformers: Option<Arc<Deformers>>,
    /// The chosen level. None: by size.
    pub level: Option<u32>,
}

/// The cages of a scene, with the indices of their meshes.
pub type Cages = Vec<(u32, MeshCage)>;

/// The mesh of a cage from a file, and the cage itself if its level is chosen by size later.
///
/// # Errors
/// If the cage is invalid, or too large for the level.
pub fn of_file(
    path: &Path,
    cage: Result<Cage, String>,
    subdivision: Subdivision,
) -> Result<(TriangleMesh, Option<Box<MeshCage>>), LoadError> {
    let fail = |cause: String| LoadError::file(path, format!("{cause}: load it without subdivision"));
    let cage = cage.map_err(fail)?;
    let level = match subdivision {
        Subdivision::Auto => 1,
        Subdivision::Level(level) => level,
    };
    check(&[&cage], level).map_err(|cause| LoadError::file(path, cause))?;
    let refined = cage.refined(level).ok_or_else(|| fail("it has no faces with three corners".to_owned()))?;
    let cage = MeshCage { cage, deformers: None, level: None };
    Ok((refined.mesh, (subdivision == Subdivision::Auto).then(|| Box::new(cage))))
}

/// Checks that cages can be refined to a level.
fn check(cages: &[&Cage], level: u32) -> Result<(), String> {
    let bytes = cages.iter().map(|cage| cage.bytes(level)).fold(0, u64::saturating_add);
    let is_countable = cages.iter().all(|cage| cage.triangle_count(level) < u64::from(u32::MAX / 2));
    let fits = if is_countable { files::fits(bytes) } else { Err("needs too many triangles".to_owned()) };
    fits.map_err(|lack| format!("subdivision to level {level} {lack}: choose a lower level"))
}

/// Refines cages. `size` is the size of the pictures, if it differs from the scene's.
///
/// # Errors
/// If memory does not suffice for the chosen levels. The text is a sentence.
pub fn refine(scene: &mut Scene, mut cages: Cages, size: Option<(u32, u32)>) -> Result<(), String> {
    for level in 1..=MOST_SUBDIVISION {
        let chosen = cages.iter().filter(|(_, cage)| cage.level == Some(level));
        check(&chosen.map(|(_, cage)| &cage.cage).collect::<Vec<_>>(), level)?;
    }
    choose_levels(scene, &mut cages, size);
    let refine = |(mesh, cage): (u32, MeshCage)| {
        let level = cage.level.filter(|&level| level > 0)?;
        Some((mesh, cage.cage.refined(level)?, cage.deformers, level))
    };
    let refined: Vec<_> = cages.into_par_iter().filter_map(refine).collect();
    let levels = refined.iter().map(|(_, _, _, level)| *level);
    let triangles: usize = refined.iter().map(|(_, refined, _, _)| refined.mesh.triangles.len()).sum();
    if let (Some(least), Some(most)) = (levels.clone().min(), levels.max()) {
        let range = if least == most { format!("level {most}") } else { format!("levels {least} to {most}") };
        let count = refined.len();
        scene.notes.push(format!("subdivision surfaces: {count} at {range}, with {triangles} triangles in all"));
    }
    let mut deforming: HashMap<u32, &mut DeformingMesh> =
        scene.deforming.iter_mut().map(|deforming| (deforming.mesh, deforming)).collect();
    for (number, refined, deformers, _) in refined {
        let Some(mesh) = scene.meshes.get_mut(number as usize) else { continue };
        let vertex_count = refined.mesh.positions.len() as u32;
        mesh.shape = Shape::Triangles(refined.mesh);
        let deforming = deforming.get_mut(&number).and_then(|deforming| deforming.pieces.first_mut());
        if let (Some(piece), Some(deformers)) = (deforming, deformers) {
            (piece.vertex_count, piece.deformers) = (vertex_count, deformers);
            piece.surface = Some(Arc::new(refined.surface));
        }
    }
    Ok(())
}

/// Prepares the surfaces of deforming meshes for their tangents.
pub fn bind_tangents(scene: &mut Scene) {
    for deforming in &mut scene.deforming {
        let Some(mesh) = scene.meshes.get(deforming.mesh as usize).and_then(Mesh::triangles) else { continue };
        let mut first = 0;
        for piece in &mut deforming.pieces {
            let end = first + piece.vertex_count as usize;
            if let (Some(surface), Some(tangents)) = (&mut piece.surface, mesh.tangents.get(first..end)) {
                anim::bind_tangents(Arc::make_mut(surface), tangents);
            }
            first = end;
        }
    }
}

/// Chooses the levels that are not given: by size, and within the memory.
fn choose_levels(scene: &Scene, cages: &mut Cages, size: Option<(u32, u32)>) {
    let open: Vec<usize> = (0..cages.len()).filter(|&index| cages[index].1.level.is_none()).collect();
    if open.is_empty() {
        return;
    }
    let (_, height) = size.unwrap_or((scene.settings.width, scene.settings.height));
    let scales = pixels_per_unit(scene, height);
    for &index in &open {
        let (mesh, cage) = &mut cages[index];
        let pixels = cage.cage.edge_length() * scales.get(*mesh as usize).copied().unwrap_or_default();
        cage.level = Some(level_for(pixels));
    }
    let most = total_bytes().map_or(USUAL_MEMORY, |bytes| bytes / MEMORY_SHARE);
    let bytes =
        |(_, cage): &(u32, MeshCage)| cage.level.filter(|&level| level > 0).map_or(0, |level| cage.cage.bytes(level));
    for limit in (1..FINEST).rev() {
        if cages.iter().map(bytes).fold(0, u64::saturating_add) <= most {
            return;
        }
        for &index in &open {
            let level = &mut cages[index].1.level;
            *level = level.map(|level| level.min(limit));
        }
    }
}

/// The level at which edges of this length in pixels are short enough.
fn level_for(pixels: f64) -> u32 {
    (1..FINEST).find(|&level| pixels <= EDGE_PIXELS * f64::from(1 << level)).unwrap_or(FINEST)
}

/// For each mesh, the greatest number of pixels of a unit of its space, over its instances and the frames of the scene.
fn pixels_per_unit(scene: &Scene, height: u32) -> Vec<f64> {
    let boxes = scene.boxes_at_rest();
    let inner = inner_scales(scene);
    let mut largest = vec![0.0_f64; boxes.len()];
    let frames = scene.settings.frames.max(1);
    let samples = frames.min(FRAMES);
    let mut worlds = Vec::new();
    let mut moment = Moment::default();
    for sample in 0..samples {
        let index = if samples > 1 { u64::from(sample) * u64::from(frames - 1) / u64::from(samples - 1) } else { 0 };
        let number = scene.settings.frame_at(index as u32);
        moment.move_to(scene, scene.time_of(number));
        anim::world_transforms(scene, &moment, &mut worlds);
        let camera = anim::camera_of_frame(scene, number);
        for (instance, world) in scene.instances[scene.world()].iter().zip(&worlds) {
            let mesh = instance.mesh as usize;
            let Some(bounds) = boxes.get(mesh) else { continue };
            let pixels = pixels(&camera, height, &bounds.transformed(world)) * scale(world);
            largest[mesh] = largest[mesh].max(pixels);
        }
    }
    let meshes = scene.meshes.len();
    for (assembly, scales) in inner.iter().enumerate() {
        let outer = largest[meshes + assembly];
        scales.iter().for_each(|(&mesh, scale)| largest[mesh] = largest[mesh].max(outer * scale));
    }
    largest
}

/// For each assembly, the greatest scale of each mesh in it, however deeply nested.
fn inner_scales(scene: &Scene) -> Vec<HashMap<usize, f64>> {
    let mut all: Vec<HashMap<usize, f64>> = vec![HashMap::new(); scene.assemblies.len()];
    // An assembly precedes those that it places.
    for (index, assembly) in scene.assemblies.iter().enumerate().rev() {
        let mut own: HashMap<usize, f64> = HashMap::new();
        let mut add = |mesh: usize, scale: f64| {
            let known = own.entry(mesh).or_default();
            *known = known.max(scale);
        };
        for instance in &scene.instances[assembly.range()] {
            let scale = scale(&instance.local);
            match scene.placed_by(instance) {
                Placed::Mesh(mesh) => add(mesh, scale),
                Placed::Assembly(inner) => all[inner].iter().for_each(|(&mesh, by)| add(mesh, scale * by)),
            }
        }
        all[index] = own;
    }
    all
}

/// The greatest factor by which a transform stretches an axis.
fn scale(transform: &Affine3) -> f64 {
    let m = transform.matrix3;
    f64::from([m.x_axis, m.y_axis, m.z_axis].map(Vec3::length).into_iter().fold(0.0, f32::max))
}

/// Pixels of a unit of world space at the nearest point of a box.
fn pixels(camera: &CameraPose, height: u32, bounds: &Aabb) -> f64 {
    let height = f64::from(height);
    let nearest = camera.eye.clamp(bounds.min.min(bounds.max), bounds.max.max(bounds.min));
    let distance = camera.eye.distance(nearest).max(NEAREST * bounds.diagonal()).max(f32::MIN_POSITIVE);
    match camera.projection {
        Projection::Perspective { fov_y } => {
            height / (2.0 * f64::from(0.5 * fov_y).tan()).max(1e-6) / f64::from(distance)
        }
        Projection::Orthographic { height: span } => height / f64::from(span).max(1e-12),
        Projection::Equirectangular => height / std::f64::consts::PI / f64::from(distance),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_have_few_pixels() {
        assert_eq!([0.0, 8.0, 8.1, 64.0, 1e9].map(level_for), [1, 1, 2, 4, 6]);
    }

    #[test]
    fn a_box_is_larger_from_nearby_and_never_infinitely_large() {
        let bounds = Aabb { min: Vec3::splat(-1.0), max: Vec3::ONE };
        let at = |z: f32| CameraPose {
            eye: Vec3::Z * z,
            target: Vec3::ZERO,
            up: Vec3::Y,
            skewed: None,
            projection: Projection::Perspective { fov_y: std::f32::consts::FRAC_PI_2 },
            shift: glam::Vec2::ZERO,
            intrinsics: None,
            lens: None,
        };
        assert!((pixels(&at(3.0), 200, &bounds) - 50.0).abs() < 1e-4);
        assert!((pixels(&at(5.0), 200, &bounds) - 25.0).abs() < 1e-4);
        assert!(pixels(&at(0.5), 200, &bounds).is_finite());
    }
}
