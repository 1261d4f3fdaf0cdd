//! The vertex attributes of a primitive, from accessors or Draco data.

use super::draco::DracoMesh;
use crate::gltf::{
    fault::{Fault, fault},
    file::{accessor, document::Document},
};
use gltf::json::{
    Index,
    accessor::{Accessor, ComponentType},
    mesh::{Primitive, Semantic},
    validation::Checked,
};

/// Reads attributes with one element per vertex.
pub struct Vertices<'a> {
    pub document: &'a Document<'a>,
    pub primitive: &'a Primitive,
    /// JSON pointer to the primitive.
    pub path: &'a str,
    pub draco: Option<DracoMesh>,
    /// Number of vertices in the file.
    pub count: usize,
    /// The vertices to read, in this order; None for all.
    pub kept: Option<Vec<u32>>,
}

/// The accessor of an attribute.
pub fn attribute(primitive: &Primitive, semantic: &Semantic) -> Option<Index<Accessor>> {
    // Lookup by key would require a copy of the semantic.
    let mut attributes = primitive.attributes.iter();
    attributes.find(|(key, _)| matches!(key, Checked::Valid(s) if s == semantic)).map(|(_, index)| *index)
}

impl Vertices<'_> {
    /// Number of vertices to read.
    pub fn len(&self) -> usize {
        self.kept.as_ref().map_or(self.count, Vec::len)
    }

    /// The values of the vertices to read.
    fn of_kept<T: Copy>(&self, all: Vec<T>) -> Vec<T> {
        match &self.kept {
            None => all,
            Some(kept) => kept.iter().map(|&vertex| all[vertex as usize]).collect(),
        }
    }

    /// An attribute with `N` components; None if the primitive does not have it.
    ///
    /// # Errors
    /// If its accessor does not exist, has other components, or does not have one element per vertex.
    pub fn floats<const N: usize>(&self, semantic: &Semantic) -> Result<Option<Vec<[f32; N]>>, Fault> {
        let Some(index) = attribute(self.primitive, semantic) else {
            return Ok(None);
        };
        if let Some(values) = self.decoded(index, semantic)? {
            return Ok(Some(values));
        }
        self.accessor_floats(index, &self.attribute_path(semantic)).map(Some)
    }

    /// Floats of an accessor with one element per vertex.
    ///
    /// # Errors
    /// As [`Vertices::floats`].
    pub fn accessor_floats<const N: usize>(&self, index: Index<Accessor>, path: &str) -> Result<Vec<[f32; N]>, Fault> {
        let elements = accessor::elements(self.document, index, path)?;
        self.check_count(elements.count, path)?;
        elements.floats(self.document.budget).map(|values| self.of_kept(values))
    }

    /// A colour attribute. Colours without alpha are opaque.
    ///
    /// # Errors
    /// As [`Vertices::floats`].
    pub fn colors(&self, semantic: &Semantic) -> Result<Option<Vec<[f32; 4]>>, Fault> {
        let Some(index) = attribute(self.primitive, semantic) else {
            return Ok(None);
        };
        let path = self.attribute_path(semantic);
        if accessor::elements(self.document, index, &path)?.width == 4 {
            return self.floats(semantic);
        }
        let opaque = |c: [f32; 3]| [c[0], c[1], c[2], 1.0];
        let colors = self.floats::<3>(semantic)?;
        Ok(colors.map(|colors| colors.into_iter().map(opaque).collect()))
    }

    /// Joint indices, four per vertex.
    ///
    /// # Errors
    /// As [`Vertices::floats`]. Also if an index exceeds 65535.
    pub fn joints(&self, semantic: &Semantic) -> Result<Option<Vec<[u32; 4]>>, Fault> {
        let Some(index) = attribute(self.primitive, semantic) else {
            return Ok(None);
        };
        let path = self.attribute_path(semantic);
        let joints = match self.decoded::<4>(index, semantic)? {
            Some(values) => values.iter().map(|v| v.map(|x| x as u32)).collect(),
            None => {
                let elements = accessor::elements(self.document, index, &path)?;
                self.check_count(elements.count, &path)?;
                self.of_kept(elements.integers::<4>(self.document.budget)?)
            }
        };
        if joints.as_flattened().iter().any(|&j| j > u32::from(u16::MAX)) {
            return Err(fault(path, "joint indices must be below 65536"));
        }
        Ok(Some(joints))
    }

    fn attribute_path(&self, semantic: &Semantic) -> String {
        format!("{}/attributes/{}", self.path, semantic.to_string())
    }

    fn check_count(&self, count: usize, path: &str) -> Result<(), Fault> {
        if count == self.count {
            return Ok(());
        }
        let message = format!("{count} elements for {} vertices: export the file again", self.count);
        Err(fault(path, message))
    }

    /// An attribute from Draco data. Its accessor specifies whether integers are normalised.
    fn decoded<const N: usize>(
        &self,
        index: Index<Accessor>,
        semantic: &Semantic,
    ) -> Result<Option<Vec<[f32; N]>>, Fault> {
        let Some(draco) = &self.draco else {
            return Ok(None);
        };
        let path = self.attribute_path(semantic);
        self.document.budget.take_array(self.count, 4 * N).map_err(|lack| fault(&path, format!("the data {lack}")))?;
        let Some(values) = draco.attribute(&semantic.to_string(), N)? else {
            return Ok(None);
        };
        self.check_count(values.len() / N, &path)?;
        let accessor = accessor::elements(self.document, index, &path)?;
        let greatest = match accessor.normalized_type() {
            None | Some(ComponentType::F32 | ComponentType::U32) => 1.0,
            Some(ComponentType::I8) => 127.0,
            Some(ComponentType::U8) => 255.0,
            Some(ComponentType::I16) => 32767.0,
            Some(ComponentType::U16) => 65535.0,
        };
        let vertices = values.as_chunks::<N>().0.iter();
        let values = match greatest {
            1.0 => vertices.copied().collect(),
            _ => vertices.map(|v| v.map(|x| (x / greatest).max(-1.0))).collect(),
        };
        Ok(Some(self.of_kept(values)))
    }
}
