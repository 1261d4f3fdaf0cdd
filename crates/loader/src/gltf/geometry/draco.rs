//! KHR_draco_mesh_compression: primitives compressed by Draco.

use crate::gltf::{
    fault::{Fault, fault},
    file::{document::Document, extensions},
};
use draco_core::{DecodeLimits, DecoderBuffer, DracoError, Mesh, MeshDecoder};
use gltf::json::{Index, buffer, mesh::Primitive};
use serde::Deserialize;
use std::{collections::BTreeMap, fmt::Display};
use throng_base::guard::guarded;

/// A decoded primitive.
pub struct DracoMesh {
    mesh: Mesh,
    /// Draco's id of each attribute, by semantic.
    ids: BTreeMap<String, u32>,
    /// JSON pointer to the compressed data.
    path: String,
}

/// Bytes that decoding takes from the budget per byte of its input.
const BYTES_PER_BYTE: usize = 16;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compressed {
    buffer_view: u32,
    attributes: BTreeMap<String, u32>,
}

/// Decodes the primitive at `path`; None if it is not compressed.
///
/// # Errors
/// If its data are damaged, or if decoding exceeds the memory budget.
pub fn decode(document: &Document, primitive: &Primitive, path: &str) -> Result<Option<DracoMesh>, Fault> {
    let others = primitive.extensions.as_ref().map(|e| &e.others);
    let Some(compressed) = extensions::read::<Compressed>(others, extensions::DRACO, path)? else {
        return Ok(None);
    };
    let path = format!("{path}/extensions/{}", extensions::DRACO);
    let view: Index<buffer::View> = Index::new(compressed.buffer_view);
    let view = document.view(view, &format!("{path}/bufferView"))?;
    // Primitives may share their data, which each of them decodes.
    document
        .budget
        .take_array(view.bytes.len() as usize, BYTES_PER_BYTE)
        .map_err(|lack| fault(&path, format!("decoding {lack}")))?;
    let bytes = view.read(&path)?;
    let limits = limits(document.budget.left());
    let mesh = guarded(|| decode_mesh(&bytes, limits).map_err(|e| damaged(&path, &e)), |words| damaged(&path, &words))?;
    document.budget.take_array(mesh.num_faces(), 24).map_err(|lack| fault(&path, format!("the triangles {lack}")))?;
    Ok(Some(DracoMesh { mesh, ids: compressed.attributes, path }))
}

fn decode_mesh(bytes: &[u8], limits: DecodeLimits) -> Result<Mesh, DracoError> {
    let mut input = DecoderBuffer::new(bytes).with_limits(limits);
    let mut mesh = Mesh::new();
    MeshDecoder::new().decode(&mut input, &mut mesh)?;
    Ok(mesh)
}

fn damaged(path: &str, why: &dyn Display) -> Fault {
    let message = format!("the Draco data does not decode ({why}): compress the file again");
    fault(path, message)
}

/// Limits for decoding, which takes several times the memory of its result. Several primitives are decoded in parallel.
fn limits(left: u64) -> DecodeLimits {
    DecodeLimits::default().with_max_decoded_bytes(left / 16).with_max_faces(left / 512).with_max_points(left / 512)
}

impl DracoMesh {
    pub fn vertex_count(&self) -> usize {
        self.mesh.num_points()
    }

    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let triangle = |face: &[draco_core::PointIndex; 3]| face.map(|p| p.0);
        self.mesh.faces().iter().map(triangle).collect()
    }

    /// An attribute as `width` numbers per vertex; None if it is not compressed. Normalised integers are not scaled.
    ///
    /// # Errors
    /// If its data are damaged.
    pub fn attribute(&self, semantic: &str, width: usize) -> Result<Option<Vec<f32>>, Fault> {
        let read = || {
            let id = *self.ids.get(semantic)?;
            let attribute = self.mesh.attribute_by_unique_id(id)?;
            Some(attribute.read_f32s(self.mesh.num_points(), width))
        };
        guarded(|| Ok(read()), |words| damaged(&self.path, &words))
    }
}
