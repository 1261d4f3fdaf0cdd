//! `.scn` files: meshes and instances as raw little-endian numbers, for comparing performance with other renderers.
//!
//! `SCN1\0\0\0\0`, u32 mesh count, u32 instance count; per mesh u32 vertex count, u32 triangle count, f32×3 per vertex, u32×3 per triangle;
//! then a u32 mesh index per instance; then f32×12 per instance, the row-major world_from_object matrix. The scene is shown in grey under a
//! clear sky, with an automatic camera.

use super::{
    LoadError, files, framing, geometry::transform::is_invertible, pieces::Pieces,
    ron::placing::placements::check_count, standalone,
};
use rayon::prelude::*;
use std::{io::Read, path::Path};
use throng_base::math::affine_from_rows;
use throng_scene::{Instance, Material, Mesh, NONE, Scene, Shape, TriangleMesh};

const MAGIC: &[u8; 8] = b"SCN1\0\0\0\0";

/// Loads a file.
///
/// # Errors
/// If the file cannot be read, is cut short, has extra bytes at the end, contains an index out of range, or contains a transform without an
/// inverse.
pub fn load(path: &Path) -> Result<Scene, LoadError> {
    let mut scene = parse(files::pieces(path)?).map_err(|message| LoadError::file(path, message))?;
    scene.camera = framing::turntable(&scene.bounds_at_rest());
    standalone::set_daylight(&mut scene);
    Ok(scene)
}

fn parse<R: Read>(file: Pieces<R>) -> Result<Scene, String> {
    let mut reader = Reader { file };
    if reader.ready(8)?.get(..8) != Some(MAGIC) {
        return Err("not an SCN1 file: it does not begin with `SCN1`".to_owned());
    }
    reader.file.advance(8);
    let (mesh_count, instance_count) = (reader.u32("the mesh count")?, reader.u32("the instance count")?);
    let mut meshes = Vec::new();
    for number in 0..mesh_count {
        meshes.push(mesh(&mut reader, number)?);
    }
    check_count(instance_count.into())?;
    let indices = reader.values(instance_count, "the instances' meshes", |[mesh]: [u32; 1]| mesh)?;
    let placed = |row: [u32; 12]| Instance {
        local: affine_from_rows(&row.map(f32::from_bits)),
        node: NONE,
        mesh: NONE,
        slot_base: 0,
        motion: NONE,
    };
    let mut instances = reader.values(instance_count, "the instances' transforms", placed)?;
    instances.par_iter_mut().zip(indices).for_each(|(instance, mesh)| instance.mesh = mesh);
    if reader.file.left() > 0 {
        return Err(format!("{} bytes are left over at the end: the counts are wrong", reader.file.left()));
    }
    check_instances(&instances, mesh_count)?;
    Ok(Scene { meshes, instances, materials: vec![Material::default()], material_slots: vec![0], ..Scene::default() })
}

struct Reader<R> {
    file: Pieces<R>,
}

impl<R: Read> Reader<R> {
    fn ready(&mut self, wanted: usize) -> Result<&[u8], String> {
        self.file.ready(wanted).map_err(|e| files::describe(&e))
    }

    /// `count` values, each converted from `N` numbers.
    fn values<const N: usize, T: Send>(
        &mut self,
        count: u32,
        what: &str,
        convert: impl Fn([u32; N]) -> T + Sync,
    ) -> Result<Vec<T>, String> {
        let size = 4 * N;
        let (wanted, left) = (u64::from(count) * size as u64, self.file.left());
        let ends = || format!("the file ends too early: {what} take {wanted} bytes, {left} are left");
        let count = usize::try_from(count).ok().filter(|_| wanted <= left).ok_or_else(ends)?;
        let mut values = Vec::with_capacity(count);
        while values.len() < count {
            let missing = count - values.len();
            let bytes = self.ready(size)?;
            let some = (bytes.len() / size).min(missing);
            values.par_extend(bytes[..some * size].par_chunks_exact(size).map(|bytes| convert(words(bytes))));
            self.file.advance(some * size);
            if some == 0 {
                return Err(ends());
            }
        }
        Ok(values)
    }

    fn u32(&mut self, what: &str) -> Result<u32, String> {
        Ok(self.values(1, what, |[number]: [u32; 1]| number)?.into_iter().sum())
    }
}

fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    let (words, _) = bytes.as_chunks::<4>();
    std::array::from_fn(|i| u32::from_le_bytes(words[i]))
}

fn mesh<R: Read>(reader: &mut Reader<R>, number: u32) -> Result<Mesh, String> {
    let what = |part: &str| format!("mesh {number}'s {part}");
    let (vertices, triangles) = (reader.u32(&what("vertex count"))?, reader.u32(&what("triangle count"))?);
    let positions = reader.values(vertices, &what("vertices"), |words: [u32; 3]| words.map(f32::from_bits))?;
    let triangles = reader.values(triangles, &what("triangles"), |words: [u32; 3]| words)?;
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

fn check_instances(instances: &[Instance], mesh_count: u32) -> Result<(), String> {
    let bad = instances.par_iter().position_first(|i| i.mesh >= mesh_count || !is_invertible(&i.local));
    match bad {
        None => Ok(()),
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

    fn parse(bytes: &[u8]) -> Result<Scene, String> {
        super::parse(Pieces::of(bytes))
    }

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
