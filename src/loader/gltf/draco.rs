//! KHR_draco_mesh_compression: primitives compressed by Draco.

use super::{
    document::Document,
    extensions,
    fault::{Fault, fault},
};
use draco_core::{DecodeLimits, DecoderBuffer, Mesh, MeshDecoder};
use gltf::json::{Index, buffer, mesh::Primitive};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A decoded primitive.
pub struct DracoMesh {
    mesh: Mesh,
    /// Draco's id of each attribute, by semantic.
    ids: BTreeMap<String, u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compressed {
    buffer_view: u32,
    attributes: BTreeMap<String, u32>,
}

/// Decodes the primitive at `path` if it is compressed.
///
/// # Errors
/// When its data is damaged, or would take more than the memory that is left.
pub fn decode(
    document: &Document,
    primitive: &Primitive,
    path: &str,
) -> Result<Option<DracoMesh>, Fault> {
    let others = primitive.extensions.as_ref().map(|e| &e.others);
    let Some(compressed) = extensions::read::<Compressed>(others, extensions::DRACO, path)? else {
        return Ok(None);
    };
    let path = format!("{path}/extensions/{}", extensions::DRACO);
    let view: Index<buffer::View> = Index::new(compressed.buffer_view);
    let view = document.view(view, &format!("{path}/bufferView"))?;
    let damaged = |e: &dyn std::fmt::Display| {
        fault(
            &path,
            format!("the Draco data does not decode ({e}): compress the file again"),
        )
    };
    let mut input = DecoderBuffer::new(view.bytes).with_limits(limits(document.budget.left()));
    let mut mesh = Mesh::new();
    MeshDecoder::new()
        .decode(&mut input, &mut mesh)
        .map_err(|e| damaged(&e))?;
    document
        .budget
        .take_array(mesh.num_faces(), 24)
        .map_err(|lack| fault(&path, format!("the triangles {lack}")))?;
    Ok(Some(DracoMesh {
        mesh,
        ids: compressed.attributes,
    }))
}

/// Decoding takes several times the memory of its result, and several primitives are decoded at once.
fn limits(left: u64) -> DecodeLimits {
    DecodeLimits::default()
        .with_max_decoded_bytes(left / 16)
        .with_max_faces(left / 512)
        .with_max_points(left / 512)
}

impl DracoMesh {
    pub fn vertex_count(&self) -> usize {
        self.mesh.num_points()
    }

    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let triangle = |face: &[draco_core::PointIndex; 3]| face.map(|p| p.0);
        self.mesh.faces().iter().map(triangle).collect()
    }

    /// `width` numbers per vertex by value, if the attribute is compressed.
    pub fn attribute(&self, semantic: &str, width: usize) -> Option<Vec<f32>> {
        let id = *self.ids.get(semantic)?;
        let attribute = self.mesh.attribute_by_unique_id(id)?;
        Some(attribute.read_f32s(self.mesh.num_points(), width))
    }
}
