//! `.scn` files: meshes and instances as raw little-endian numbers, for comparing performance with other renderers.
//!
//! `SCN1\0\0\0\0`, u32 mesh count, u32 instance count; per mesh u32 vertex count, u32 triangle count, f32×3 per vertex, u32×3 per triangle;
//! then a u32 mesh index per instance; then f32×12 per instance, the row-major world_from_object matrix. The scene is shown in grey under a
//! clear sky, with an automatic camera.

use super::{
    LoadError, files, framing, geometry::transform::is_invertible, ron::placing::placements::check_count, standalone,
};
use rayon::prelude::*;
use std::path::Path;
use throng_base::math::affine_from_rows;
use throng_scene::{Instance, Material, Mesh, NONE, Scene, Shape, TriangleMesh};

const MAGIC: &[u8; 8] = b"SCN1\0\0\0\0";

/// Loads a file.
///
/// # Errors
/// If the file cannot be read, is cut short, has extra bytes at the end, contains an index out of range, or contains a transform without an
/// inverse.
pub fn load(path: &Path) -> Result<Scene, LoadError> {
    let bytes = files::read(path)?;
    let mut scene = parse(&bytes).map_err(|message| LoadError::file(path, message))?;
    scene.camera = framing::turntable(&scene.bounds_at_rest());
    standalone::set_daylight(&mut scene);
    Ok(scene)
}

fn parse(bytes: &[u8]) -> Result<Scene, String> {
    let mut reader = Reader { rest: bytes };
    if reader.rest.get(..8) != Some(MAGIC) {
        return Err("not an SCN1 file: it does not begin with `SCN1`".to_owned());
    }
    reader.rest = &reader.rest[8..];
    let (mesh_count, instance_count) = (reader.u32("the mesh count")?, reader.u32("the instance count")?);
    let mut meshes = Vec::new();
    for number in 0..mesh_count {
        meshes.push(mesh(&mut reader, number)?);
    }
    check_count(instance_count.into())?;
    let indices = reader.take(instance_count, 4, "the instances' meshes")?;
    let rows = reader.take(instance_count, 48, "the instances' transforms")?;
    if !reader.rest.is_empty() {
        return Err(format!("{} bytes are left over at the end: the counts are wrong", reader.rest.len()));
    }
    let instances = instances(indices, rows, mesh_count)?;
    Ok(Scene { meshes, instances, materials: vec![Material::default()], material_slots: vec![0], ..Scene::default() })
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: u32, size: u64, what: &str) -> Result<&'a [u8], String> {
        let wanted = u64::from(count) * size;
        let length = usize::try_from(wanted).ok().filter(|&n| n <= self.rest.len()).ok_or_else(|| {
            format!("the file ends too early: {what} take {wanted} bytes, {} are left", self.rest.len())
        })?;
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(taken)
    }

    fn u32(&mut self, what: &str) -> Result<u32, String> {
        self.take(1, 4, what).map(le_u32)
    }
}

/// The number in the first four bytes; missing bytes count as 0.
fn le_u32(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).rev().fold(0, |n, &b| n << 8 | u32::from(b))
}

fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    std::array::from_fn(|i| le_u32(&bytes[4 * i..4 * i + 4]))
}

fn mesh(reader: &mut Reader, number: u32) -> Result<Mesh, String> {
    let what = |part: &str| format!("mesh {number}'s {part}");
    let (vertices, triangles) = (reader.u32(&what("vertex count"))?, reader.u32(&what("triangle count"))?);
    let vertex_bytes = reader.take(vertices, 12, &what("vertices"))?;
    let triangle_bytes = reader.take(triangles, 12, &what("triangles"))?;
    let positions: Vec<[f32; 3]> = vertex_bytes.par_chunks_exact(12).map(|b| words(b).map(f32::from_bits)).collect();
    let triangles: Vec<[u32; 3]> = triangle_bytes.par_chunks_exact(12).map(words).collect();
    if triangles.is_empty() {
        return Err(format!("mesh {number} has no triangles"));
    }
    if let Some(v) = positions.par_iter().position_first(|p| p.iter().any(|x| !x.is_finite())) {
        return Err(format!("vertex {v} of mesh {number} is not finite"));
    }
    if let Some(t) = triangles.par_iter().position_first(|t| t.iter().any(|&v| v >= vertices)) {
        return Err(format!("triangle {t} of mesh {number} uses a vertex beyond the {vertices} there are"));
    }
    let shape = Shape::Triangles(TriangleMesh { positions, triangles, ..TriangleMesh::default() });
    Ok(Mesh { name: format!("mesh{number}"), shape, slot_count: 1 })
}

fn instances(indices: &[u8], rows: &[u8], mesh_count: u32) -> Result<Vec<Instance>, String> {
    let instances: Vec<Instance> = indices
        .par_chunks_exact(4)
        .zip(rows.par_chunks_exact(48))
        .map(|(index, row)| Instance {
            local: affine_from_rows(&words(row).map(f32::from_bits)),
            node: NONE,
            mesh: le_u32(index),
            slot_base: 0,
            motion: NONE,
        })
        .collect();
    let bad = instances.par_iter().position_first(|i| i.mesh >= mesh_count || !is_invertible(&i.local));
    match bad {
        None => Ok(instances),
        Some(n) if instances[n].mesh >= mesh_count => {
            Err(format!("instance {n} uses mesh {}, but there are {mesh_count}", instances[n].mesh))
        }
        Some(n) => Err(format!("the transform of instance {n} has no inverse: it is flat, not finite or out of range")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn valid() -> Vec<u8> {
        let mut b = MAGIC.to_vec();
        let u = |b: &mut Vec<u8>, xs: &[u32]| xs.iter().for_each(|x| b.extend(x.to_le_bytes()));
        let f = |xs: &[f32]| xs.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        u(&mut b, &[1, 2, 3, 1]);
        u(&mut b, &f(&[0., 0., 0., 1., 0., 0., 0., 1., 0.]));
        u(&mut b, &[0, 1, 2, 0, 0]);
        u(&mut b, &f(&[1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0.]));
        u(&mut b, &f(&[2., 0., 0., 5., 0., 2., 0., 6., 0., 0., 2., 7.]));
        b
    }

    fn message(edit: impl Fn(&mut Vec<u8>)) -> String {
        let mut bytes = valid();
        edit(&mut bytes);
        parse(&bytes).err().unwrap_or_default()
    }

    fn put(at: usize, word: u32) -> impl Fn(&mut Vec<u8>) {
        move |b| b[at..at + 4].copy_from_slice(&word.to_le_bytes())
    }

    #[test]
    fn transforms_are_world_from_object_rows() {
        let scene = parse(&valid()).unwrap_or_default();
        assert_eq!(scene.instances[1].local.translation, glam::Vec3::new(5.0, 6.0, 7.0));
        assert_eq!(scene.meshes[0].prim_count(), 1);
    }

    #[test]
    fn every_fault_is_named() {
        assert!(message(|b| b[0] = b'X').contains("not an SCN1 file"));
        assert!(
            message(|b| b.truncate(b.len() - 1))
                .contains("ends too early: the instances' transforms take 96 bytes, 95")
        );
        assert!(message(|b| b.push(0)).contains("1 bytes are left over"));
        assert!(message(put(8, u32::MAX)).contains("mesh"));
        assert!(message(put(12, 0)).contains("at least 1"));
        assert!(message(put(12, u32::MAX)).contains("too many"));
        assert!(message(put(16, u32::MAX)).contains("mesh 0's vertices take"));
        assert!(message(put(24, f32::NAN.to_bits())).contains("vertex 0 of mesh 0 is not finite"));
        assert!(message(put(60, 3)).contains("triangle 0 of mesh 0 uses a vertex beyond the 3"));
        assert!(message(put(76, 1)).contains("instance 1 uses mesh 1, but there are 1"));
        assert!(message(put(128, 0)).contains("instance 1 has no inverse"));
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(256))]

        #[test]
        fn damaged_files_never_panic(edits in prop::collection::vec((0usize..176, any::<u8>()), 0..6), cut in 0usize..200) {
            let mut bytes = valid();
            for (at, value) in edits {
                let n = bytes.len();
                bytes[at % n] = value;
            }
            bytes.truncate(cut);
            let _ = parse(&bytes);
        }
    }
}
