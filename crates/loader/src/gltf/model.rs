//! A glTF file after loading: validated, with resolved indices and decoded data.

use super::material::pbr::PbrMaterial;
use glam::Affine3;
use std::sync::Arc;
use throng_scene::{
    CurvePoint, Curves, FloatImage, Shape, Texture, TriangleMesh,
    animated::MaterialBase,
    rig::{Deformers, Rig},
};

/// The selected scene of a file. All indices are valid and all numbers finite. An index of [`throng_scene::NONE`] stands for none.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// All nodes of the scene, with skins and clips. Joints outside the scene follow its nodes. There is one clip per animation of the
    /// file; channels of nodes outside the rig are dropped.
    pub rig: Rig,
    /// The mesh primitives that the scene uses, each once.
    pub meshes: Vec<ModelMesh>,
    /// Number of the file's meshes to which these primitives belong.
    pub mesh_count: u32,
    pub parts: Vec<MeshPart>,
    /// All materials of the file, in its order.
    pub materials: Vec<PbrMaterial>,
    /// Base values of the materials that clips animate, in the file's order.
    pub animated_materials: Vec<MaterialBase>,
    pub textures: Vec<Texture>,
    pub cameras: Vec<ModelCamera>,
    pub lights: Vec<ModelLight>,
    /// Image-based light of the scene (EXT_lights_image_based), as in [`throng_scene::Environment::Image`].
    pub environment: Option<FloatImage>,
    /// Names of the file's scenes.
    pub scenes: Vec<String>,
    /// Index of the loaded scene in `scenes`; none if the file has no scenes.
    pub scene: u32,
    /// Names of the material variants (KHR_materials_variants).
    pub variants: Vec<String>,
    pub extensions_used: Vec<String>,
    /// The extensions in `extensions_used` that were ignored.
    pub extensions_unsupported: Vec<String>,
    /// Warnings about replaced or omitted data: one line each, with a JSON pointer.
    pub warnings: Vec<String>,
    /// Warnings about data that are rendered but probably intended differently.
    pub doubts: Vec<String>,
    /// Width of lines in the model's space, if there are any and no width was chosen.
    pub default_line_width: Option<f32>,
    /// Bytes of memory that later steps may still take for the model, for example for copies of skinned meshes.
    pub room: u64,
}

/// One mesh primitive in its bind pose. Texture coordinates have v = 0 at the bottom, as everywhere in the renderer.
#[derive(Clone, Debug)]
pub struct ModelMesh {
    pub name: String,
    pub mesh: TriangleMesh,
    pub deformers: Deformers,
    /// Index into [`Model::materials`]; none for the default material. The selected variant is applied.
    pub material: u32,
    /// The materials of variants: (index into [`Model::variants`], index into [`Model::materials`]).
    pub variants: Vec<(u32, u32)>,
    /// Of lines, which have no triangles: the index of the first vertex of each. Empty for triangles.
    pub strands: Vec<u32>,
    /// Radius of the lines in mesh space.
    pub line_radius: f32,
}

impl ModelMesh {
    /// Whether the primitive consists of lines.
    pub fn has_lines(&self) -> bool {
        !self.strands.is_empty()
    }

    /// The shape of the primitive with these vertices.
    pub fn shape(&self, mesh: TriangleMesh) -> Shape {
        if !self.has_lines() {
            return Shape::Triangles(mesh);
        }
        let point = |&position: &[f32; 3]| CurvePoint { position, radius: self.line_radius };
        Shape::Curves(Arc::new(Curves {
            points: mesh.positions.iter().map(point).collect(),
            strands: self.strands.clone(),
            uvs: mesh.uvs,
            colors: mesh.colors,
            ..Curves::default()
        }))
    }
}

/// A mesh at a node, in one or more copies.
#[derive(Clone, Debug)]
pub struct MeshPart {
    /// Index into the rig's nodes.
    pub node: u32,
    /// Index into [`Model::meshes`].
    pub mesh: u32,
    /// Index into the rig's skins; none without a skin. A skinned mesh is placed by its joints only, not by its node.
    pub skin: u32,
    /// `node_from_object` of each copy: several with EXT_mesh_gpu_instancing, otherwise one identity.
    pub placements: Vec<Affine3>,
}

/// The encoding of a texture's red, green and blue; alpha is always linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColorSpace {
    Srgb,
    Linear,
}

/// A camera that looks along -Z of its node, with +Y up.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCamera {
    /// Index of the camera in the file.
    pub camera: u32,
    /// The camera's name, or else its node's.
    pub name: String,
    /// Index into the rig's nodes.
    pub node: u32,
    pub projection: Projection,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    Perspective {
        /// Vertical field of view in radians.
        fov_y: f32,
        /// Width divided by height; None for the aspect ratio of the picture.
        aspect: Option<f32>,
        near: f32,
        /// None for infinity.
        far: Option<f32>,
    },
    Orthographic {
        /// Half the width and half the height of the view.
        half_width: f32,
        half_height: f32,
        near: f32,
        far: f32,
    },
}

/// A light of KHR_lights_punctual.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelLight {
    /// Index of the light in the file.
    pub light: u32,
    pub name: String,
    /// Index into the rig's nodes.
    pub node: u32,
    /// Linear RGB.
    pub color: [f32; 3],
    /// Candela for points and spots, lux for directional lights.
    pub intensity: f32,
    /// Distance at which the light ends, if the file specifies one.
    pub range: Option<f32>,
    pub shape: LightShape,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LightShape {
    /// Light from infinity, along -Z of the node.
    Directional,
    Point,
    /// A cone along -Z of the node; angles from the axis in radians, 0 <= inner < outer <= π/2.
    Spot {
        inner: f32,
        outer: f32,
    },
}
