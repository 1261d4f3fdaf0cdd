//! The shapes of deforming meshes on the GPU, for one frame in flight.

use super::scene::SceneTables;
use crate::cuda::memory::{Array, Pinned, bytes_of};
use crate::{
    PosedMesh,
    records::{attributes, tables::write_shape},
};
use cust::{error::CudaResult, stream::Stream};
use throng_abi::{MeshRecord, Params, VertexAttributes, VertexRecord};
use throng_scene::Shape;

/// Vertices of all deforming meshes, with tangents if they are needed, points of deforming curves, and a table of all meshes that points to them.
#[derive(Default)]
pub struct Shapes {
    vertices: Array,
    meshes: Array,
    staging: Pinned,
}

impl Shapes {
    /// Bytes allocated on the GPU.
    pub fn bytes_held(&self) -> usize {
        self.vertices.bytes() + self.meshes.bytes()
    }

    /// Queues the upload of `shapes`. Work that was queued before must not use this memory.
    pub fn upload(&mut self, tables: &SceneTables, shapes: &[PosedMesh], stream: &Stream) -> CudaResult<()> {
        let table = size_of_val(tables.meshes());
        let vertices = vertex_bytes(tables, shapes);
        self.vertices.reserve(vertices)?;
        self.meshes.reserve(table)?;
        self.staging.reserve(vertices + table)?;
        let mut meshes = tables.meshes().to_vec();
        let (mut rest, mut start) = (&mut self.staging.bytes_mut()[..vertices], 0);
        for posed in shapes {
            let record = &mut meshes[posed.mesh as usize];
            let mesh = match &tables.scene().meshes[posed.mesh as usize].shape {
                Shape::Triangles(mesh) => mesh,
                Shape::Curves(curves) => {
                    let size = size_of_val(&curves.points[..]);
                    record.vertices = self.vertices.at(start);
                    for shape in posed.keys() {
                        let (own, others) = std::mem::take(&mut rest).split_at_mut(size);
                        own.copy_from_slice(bytes_of(&curves.posed_points(&shape.positions)));
                        (rest, start) = (others, start + size);
                    }
                    continue;
                }
                Shape::Sphere => continue,
            };
            let size = mesh.positions.len() * size_of::<VertexRecord>();
            record.vertices = self.vertices.at(start);
            for shape in posed.keys() {
                let (own, others) = std::mem::take(&mut rest).split_at_mut(size);
                write_shape(mesh, shape, bytemuck::cast_slice_mut(own));
                (rest, start) = (others, start + size);
            }
            if !tables.has_tangents(posed.mesh) {
                continue;
            }
            let size = mesh.positions.len() * size_of::<VertexAttributes>();
            record.attributes = self.vertices.at(start);
            for shape in posed.keys() {
                let (own, others) = std::mem::take(&mut rest).split_at_mut(size);
                attributes::write(mesh, shape, bytemuck::cast_slice_mut(own));
                (rest, start) = (others, start + size);
            }
        }
        self.staging.fill(vertices, bytes_of(&meshes));
        // SAFETY: the slot was idle, and gets no new frame before its stream has passed this (see `Slot`).
        unsafe {
            self.vertices.write_later(0, &self.staging, 0, vertices, stream)?;
            self.meshes.write_later(0, &self.staging, vertices, table, stream)
        }
    }

    pub fn apply(&self, params: &mut Params) {
        params.tables.meshes = self.meshes();
    }

    /// GPU address of the table of all meshes.
    pub fn meshes(&self) -> *const MeshRecord {
        self.meshes.at::<MeshRecord>(0)
    }
}

/// Bytes of the vertices of all `shapes`.
pub fn vertex_bytes(tables: &SceneTables, shapes: &[PosedMesh]) -> usize {
    let bytes = |posed: &PosedMesh| {
        let keys = 1 + posed.later.len();
        let mesh = match &tables.scene().meshes[posed.mesh as usize].shape {
            Shape::Triangles(mesh) => mesh,
            Shape::Curves(curves) => return Some(keys * size_of_val(&curves.points[..])),
            Shape::Sphere => return None,
        };
        let extra = if tables.has_tangents(posed.mesh) { size_of::<VertexAttributes>() } else { 0 };
        Some(keys * mesh.positions.len() * (size_of::<VertexRecord>() + extra))
    };
    shapes.iter().filter_map(bytes).sum()
}
