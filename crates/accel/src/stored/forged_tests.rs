//! Forged files that are rejected.

use super::{
    Header, TreeKey,
    tests::{Sample, bytes_of, read},
};
use crate::{Blas, NodeLayout, Quality};
use glam::Vec3;
use std::mem::offset_of;
use throng_base::math::Aabb;
use throng_base::system::write_all_at;
use throng_scene::TriangleMesh;

#[test]
fn a_tree_of_nothing_is_not_that_of_triangles() {
    let nothing = TriangleMesh::default();
    for layout in NodeLayout::ALL {
        let mut blas = Blas::of_surface((&nothing).into(), layout, Quality::Fast);
        let reads = |blas: &Blas, triangles| read(&bytes_of(blas, TreeKey(0)), TreeKey(0), layout, triangles).is_some();
        assert!(reads(&blas, 0) && !reads(&blas, 128), "{layout:?}");
        blas.bounds = Aabb { min: Vec3::ZERO, max: Vec3::ONE };
        assert!(!reads(&blas, 0) && !reads(&blas, 128), "{layout:?}");
    }
}

#[test]
fn a_file_larger_than_any_tree_of_its_mesh_is_not_read() {
    let mesh = super::tests::sheet(8);
    let blas = Blas::of_surface((&mesh).into(), NodeLayout::Wide8, Quality::High);
    let bytes = bytes_of(&blas, TreeKey(0));
    let reads = |triangles| read(&bytes, TreeKey(0), NodeLayout::Wide8, triangles).is_some();
    assert!(reads(128) && reads(1000) && !reads(1));
    // A file that really is as large as a forged header states is rejected as well.
    let mut sample = Sample::new(NodeLayout::Wide8);
    let sizes = offset_of!(Header, sizes);
    sample.bytes[sizes..sizes + 8].copy_from_slice(&(1u64 << 40).to_le_bytes());
    let file = tempfile::tempfile().unwrap();
    write_all_at(&file, &sample.bytes, 0).unwrap();
    let lengthened = file.set_len(1 << 41);
    // On Windows, a file without contents takes its length on the disk.
    assert!(lengthened.is_ok() || cfg!(windows), "{lengthened:?}");
    let read = Blas::read_from(&file, sample.key, NodeLayout::Wide8, sample.triangles);
    assert!(read.is_none());
}
