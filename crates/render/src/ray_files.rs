//! The binary files that throng shares with other ray tracers: rays in, hits out, scenes out. All values are little-endian.
//!
//! - `.ray`: `RAY1\0\0\0\0`, u64 count, then per ray f32 × 8: origin, t_min, direction, t_max.
//! - `.hit`: `HIT1\0\0\0\0`, u64 count, then per ray f32 t (negative: miss), u32 instance, u32 primitive.
//! - `.scn`: `SCN1\0\0\0\0`, u32 mesh count, u32 instance count; per mesh u32 vertex count, u32 triangle count, the vertices (f32 × 3) and
//!   triangles (u32 × 3); then a u32 mesh index per instance; then f32 × 12 per instance, its 3×4 row-major object-to-world matrix.

use glam::Affine3;
use std::{
    io::{self, Read},
    ops::Range,
    path::{Path, PathBuf},
};
use throng_abi::{Hit, Ray};
use throng_base::{
    files::{open_regular, remember_input},
    math::rows_from_affine,
};
use throng_output::{OutputError, write_atomically};
use throng_scene::{Placed, Scene, Shape};

const RAY_MAGIC: &[u8; 8] = b"RAY1\0\0\0\0";
const HIT_MAGIC: &[u8; 8] = b"HIT1\0\0\0\0";
const SCENE_MAGIC: &[u8; 8] = b"SCN1\0\0\0\0";

#[derive(Debug, thiserror::Error)]
pub enum RayFileError {
    #[error("{}: {error}", .path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("{}: not a ray file: it does not start with `RAY1`", .path.display())]
    Magic { path: PathBuf },
    #[error("{}: the header promises {rays} rays, which takes {expected} bytes, but the file has {found}", .path.display())]
    Size { path: PathBuf, rays: u64, expected: u128, found: u64 },
    #[error("{}: {error}", .path.display())]
    Ray { path: PathBuf, error: RayError },
}

/// Reason why a ray cannot be traced. Rays are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RayError {
    #[error("ray {index} has a number that is not finite, or a direction that is not between 1e-15 and 1e15 long")]
    Number { index: usize },
    #[error("ray {index} starts before its origin, at t_min = {t_min}; make t_min 0 and move the origin instead")]
    Start { index: usize, t_min: f32 },
}

/// Reads all rays of a `.ray` file.
///
/// # Errors
/// If the file cannot be read, is not a ray file, has the wrong size, or has a ray that [`check_rays`] rejects.
pub fn read_rays(path: &Path) -> Result<Vec<Ray>, RayFileError> {
    let failed = |error| RayFileError::Read { path: path.to_owned(), error };
    let (mut file, found) = open_regular(path).map_err(failed)?;
    remember_input(path);
    let mut header = [0u8; 16];
    if found < 16 || file.read_exact(&mut header).is_err() || &header[..8] != RAY_MAGIC {
        return Err(RayFileError::Magic { path: path.to_owned() });
    }
    let rays = u64::from_le_bytes(std::array::from_fn(|i| header[8 + i]));
    let expected = 16 + u128::from(rays) * size_of::<Ray>() as u128;
    if expected != u128::from(found) {
        return Err(RayFileError::Size { path: path.to_owned(), rays, expected, found });
    }
    let mut data = vec![<Ray as bytemuck::Zeroable>::zeroed(); rays as usize];
    file.read_exact(bytemuck::cast_slice_mut(&mut data)).map_err(failed)?;
    if cfg!(target_endian = "big") {
        for word in bytemuck::cast_slice_mut::<Ray, u32>(&mut data) {
            *word = word.swap_bytes();
        }
    }
    check_rays(&data).map_err(|error| RayFileError::Ray { path: path.to_owned(), error })?;
    Ok(data)
}

/// Checks that rays can be traced. All numbers must be finite, except that `t_max` may be infinite. `t_min` must not be negative. The
/// largest component of a direction must be between 1e-15 and 1e15, so that its square is in the range of floats.
///
/// # Errors
/// The first ray that fails a check.
pub fn check_rays(rays: &[Ray]) -> Result<(), RayError> {
    match rays.iter().position(|ray| !is_sound(ray)) {
        Some(index) => Err(match rays[index].t_min {
            t_min if t_min < 0.0 => RayError::Start { index, t_min },
            _ => RayError::Number { index },
        }),
        None => Ok(()),
    }
}

fn is_sound(ray: &Ray) -> bool {
    let finite = ray.origin.iter().chain(&ray.direction).chain([&ray.t_min]).all(|x| x.is_finite());
    let longest = ray.direction.iter().fold(0f32, |a, d| a.max(d.abs()));
    finite && ray.t_min >= 0.0 && !ray.t_max.is_nan() && (1e-15..=1e15).contains(&longest)
}

pub fn write_rays(path: &Path, rays: &[Ray]) -> Result<(), OutputError> {
    write_atomically(path, |out| {
        out.write_all(RAY_MAGIC)?;
        out.write_all(&(rays.len() as u64).to_le_bytes())?;
        let words = bytemuck::cast_slice::<Ray, u32>(rays);
        words.iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))
    })
}

pub fn write_hits(path: &Path, hits: &[Hit]) -> Result<(), OutputError> {
    write_atomically(path, |out| {
        out.write_all(HIT_MAGIC)?;
        out.write_all(&(hits.len() as u64).to_le_bytes())?;
        hits.iter().try_for_each(|hit| {
            let hit = if hit.t < 0.0 || hit.prim == u32::MAX { Hit { instance: 0, prim: 0, ..*hit } } else { *hit };
            out.write_all(&hit.t.to_le_bytes())?;
            out.write_all(&hit.instance.to_le_bytes())?;
            out.write_all(&hit.prim.to_le_bytes())
        })
    })
}

/// Writes the scene's triangle meshes and instances as a `.scn` file. Copies of assemblies are expanded. The format has neither spheres nor
/// curves: their instances are left out, and their number is returned.
pub fn write_scene(path: &Path, scene: &Scene, world_from_object: &[Affine3]) -> Result<usize, OutputError> {
    let mut mesh_index = Vec::new();
    let mut meshes = Vec::new();
    for mesh in &scene.meshes {
        match &mesh.shape {
            Shape::Triangles(triangles) => {
                mesh_index.push(Some(meshes.len() as u32));
                meshes.push(triangles);
            }
            Shape::Curves(_) | Shape::Sphere => mesh_index.push(None),
        }
    }
    let mut all = Vec::new();
    copy_placements(scene, scene.world(), world_from_object, Affine3::IDENTITY, &mut all);
    let placed: Vec<(u32, &Affine3)> =
        all.iter().filter_map(|(mesh, transform)| Some((mesh_index[*mesh]?, transform))).collect();
    write_atomically(path, |out| {
        out.write_all(SCENE_MAGIC)?;
        out.write_all(&(meshes.len() as u32).to_le_bytes())?;
        out.write_all(&(placed.len() as u32).to_le_bytes())?;
        for mesh in &meshes {
            out.write_all(&(mesh.positions.len() as u32).to_le_bytes())?;
            out.write_all(&(mesh.triangles.len() as u32).to_le_bytes())?;
            mesh.positions.as_flattened().iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))?;
            mesh.triangles.as_flattened().iter().try_for_each(|i| out.write_all(&i.to_le_bytes()))?;
        }
        placed.iter().try_for_each(|(mesh, _)| out.write_all(&mesh.to_le_bytes()))?;
        placed
            .iter()
            .flat_map(|(_, transform)| rows_from_affine(transform))
            .try_for_each(|x| out.write_all(&x.to_le_bytes()))
    })?;
    Ok(all.len() - placed.len())
}

/// Appends the meshes that `instances` of a scene place, with their world-from-object transforms. Assemblies are expanded.
fn copy_placements(
    scene: &Scene,
    instances: Range<usize>,
    transforms: &[Affine3],
    outer: Affine3,
    out: &mut Vec<(usize, Affine3)>,
) {
    for index in instances {
        let placement = outer * transforms[index];
        match scene.placed_by(&scene.instances[index]) {
            Placed::Mesh(mesh) => out.push((mesh, placement)),
            Placed::Assembly(inner) => {
                copy_placements(scene, scene.assemblies[inner].range(), transforms, placement, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ray(direction: [f32; 3]) -> Ray {
        Ray { origin: [1.0, 2.0, 3.0], t_min: 0.0, direction, t_max: f32::INFINITY }
    }

    #[test]
    fn rays_survive_the_round_trip() {
        let path = tempfile::tempdir().unwrap().keep().join("a.ray");
        let rays = vec![ray([0.0, 1.0, 0.0]), ray([0.5, -1.0, 2.0])];
        write_rays(&path, &rays).unwrap();
        let read = read_rays(&path).unwrap();
        assert_eq!(bytemuck::cast_slice::<Ray, u8>(&read), bytemuck::cast_slice::<Ray, u8>(&rays));
    }

    #[test]
    fn bad_ray_files_are_errors_that_name_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let error_of = |bytes: &[u8]| {
            let path = dir.path().join("bad.ray");
            std::fs::write(&path, bytes).unwrap();
            read_rays(&path).unwrap_err().to_string()
        };
        let mut promised = RAY_MAGIC.to_vec();
        promised.extend(u64::MAX.to_le_bytes());
        let one = |ray: Ray| {
            let mut bytes = RAY_MAGIC.to_vec();
            bytes.extend(1u64.to_le_bytes());
            bytes.extend(bytemuck::cast_slice::<Ray, u32>(&[ray]).iter().flat_map(|word| word.to_le_bytes()));
            bytes
        };
        let starting_at = |t_min| one(Ray { t_min, ..ray([0.0, 1.0, 0.0]) });
        for (bytes, part) in [
            (&b"RAY"[..], "not a ray file"),
            (&promised, "promises"),
            (&one(ray([0.0; 3])), "ray 0"),
            (&starting_at(f32::NAN), "ray 0"),
            (&starting_at(f32::NEG_INFINITY), "ray 0"),
            (&starting_at(-0.5), "ray 0 starts before its origin, at t_min = -0.5; make t_min 0"),
        ] {
            let error = error_of(bytes);
            assert!(error.contains("bad.ray") && error.contains(part), "{error}");
        }
    }
}
