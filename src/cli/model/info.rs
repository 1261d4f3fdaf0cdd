//! The contents of a glTF model for `throng info`: the part of the report that only models have.

use serde::Serialize;
use throng_loader::gltf::{LightShape, Model, ModelCamera, ModelLight, ModelMesh, PbrMaterial, Projection};
use throng_render::report::{SceneInfo, TextureInfo};
use throng_scene::{
    NONE,
    rig::{Clip, Deformers, MorphTarget, Rig},
};

/// The key `model` of `throng info --json`. Indices refer to the lists of this document.
#[derive(Serialize)]
pub struct ModelInfo {
    pub scenes: Vec<String>,
    /// Index in `scenes` of the scene shown. Null if the file has none.
    pub scene: Option<u32>,
    pub variants: Vec<String>,
    pub counts: Counts,
    /// Parents before children.
    pub nodes: Vec<NodeInfo>,
    /// One entry per mesh primitive.
    pub meshes: Vec<PrimitiveInfo>,
    pub skins: Vec<SkinInfo>,
    pub materials: Vec<MaterialInfo>,
    pub textures: Vec<TextureInfo>,
    pub clips: Vec<ClipInfo>,
    pub cameras: Vec<CameraInfo>,
    pub lights: Vec<LightInfo>,
    pub extensions_used: Vec<String>,
    pub extensions_unsupported: Vec<String>,
    pub memory: MemoryInfo,
}

/// Counts within the scene. Triangles and vertices of each primitive are counted once, even if it is placed several times.
#[derive(Serialize)]
pub struct Counts {
    pub nodes: usize,
    /// Number of meshes of the file. Each has at least one primitive.
    pub meshes: u32,
    pub primitives: usize,
    pub triangles: usize,
    pub vertices: usize,
    /// Number of placements of primitives.
    pub instances: usize,
    pub skins: usize,
    pub joints: usize,
    pub morph_targets: usize,
    pub clips: usize,
}

#[derive(Serialize)]
pub struct NodeInfo {
    pub name: String,
    pub parent: Option<u32>,
    pub meshes: Vec<u32>,
    pub skin: Option<u32>,
    pub camera: Option<u32>,
    pub light: Option<u32>,
    /// Number of copies of its meshes. More than one with EXT_mesh_gpu_instancing.
    pub instances: usize,
}

#[derive(Serialize)]
pub struct PrimitiveInfo {
    pub name: String,
    pub triangles: usize,
    pub vertices: usize,
    /// Index of the material. Null for the default material.
    pub material: Option<u32>,
    pub joints_per_vertex: u32,
    pub morph_targets: usize,
}

#[derive(Serialize)]
pub struct SkinInfo {
    pub name: String,
    pub joints: usize,
}

#[derive(Serialize)]
pub struct MaterialInfo {
    pub name: String,
    /// Features of the material other than colour, metal and roughness factors.
    pub features: Vec<String>,
}

#[derive(Serialize)]
pub struct ClipInfo {
    pub name: String,
    pub seconds: f32,
    pub channels: usize,
    pub keys: usize,
}

#[derive(Serialize)]
pub struct CameraInfo {
    pub name: String,
    pub node: u32,
    #[serde(flatten)]
    pub kind: CameraKind,
}

/// Projection of a camera. Angles are in degrees, sizes in scene units.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum CameraKind {
    Perspective {
        /// Vertical field of view.
        fov: f32,
        aspect: Option<f32>,
    },
    Orthographic {
        width: f32,
        height: f32,
    },
}

#[derive(Serialize)]
pub struct LightInfo {
    pub name: String,
    pub node: u32,
    /// `directional`, `point` or `spot`.
    pub kind: &'static str,
    pub color: [f32; 3],
    /// Intensity in candela, or in lux for directional lights.
    pub intensity: f32,
}

#[derive(Serialize)]
pub struct MemoryInfo {
    pub mesh_bytes: u64,
    pub texture_bytes: u64,
    /// Memory of the acceleration structures. 0 if the model is not a valid scene.
    pub tree_bytes: u64,
}

impl ModelInfo {
    pub fn new(model: &Model) -> Self {
        let textures: Vec<_> = model.textures.iter().map(TextureInfo::new).collect();
        Self {
            scenes: model.scenes.clone(),
            scene: some(model.scene),
            variants: model.variants.clone(),
            counts: counts(model),
            nodes: nodes(model),
            meshes: model.meshes.iter().map(primitive).collect(),
            skins: skins(&model.rig),
            materials: model.materials.iter().map(material).collect(),
            clips: model.rig.clips.iter().map(clip).collect(),
            cameras: model.cameras.iter().map(camera).collect(),
            lights: model.lights.iter().map(light).collect(),
            extensions_used: model.extensions_used.clone(),
            extensions_unsupported: model.extensions_unsupported.clone(),
            memory: MemoryInfo {
                mesh_bytes: model.meshes.iter().map(mesh_bytes).sum(),
                texture_bytes: textures.iter().map(|t| t.bytes).sum(),
                tree_bytes: 0,
            },
            textures,
        }
    }

    /// Adds the memory of the trees of `scene`, which was made from the model.
    pub fn add_trees(&mut self, scene: &SceneInfo) {
        let of_meshes = scene.meshes.iter().map(|mesh| mesh.tree_bytes);
        self.memory.tree_bytes = scene.tlas_bytes + of_meshes.sum::<u64>();
    }
}

fn some(index: u32) -> Option<u32> {
    (index != NONE).then_some(index)
}

fn counts(model: &Model) -> Counts {
    let sum = |of: fn(&ModelMesh) -> usize| model.meshes.iter().map(of).sum();
    Counts {
        nodes: model.rig.nodes.len(),
        meshes: model.mesh_count,
        primitives: model.meshes.len(),
        triangles: sum(|m| m.mesh.triangles.len()),
        vertices: sum(|m| m.mesh.positions.len()),
        instances: model.parts.iter().map(|p| p.placements.len()).sum(),
        skins: model.rig.skins.len(),
        joints: model.rig.skins.iter().map(|s| s.joints.len()).sum(),
        morph_targets: sum(|m| m.deformers.targets.len()),
        clips: model.rig.clips.len(),
    }
}

fn nodes(model: &Model) -> Vec<NodeInfo> {
    let bare = model.rig.nodes.iter().map(|node| NodeInfo {
        name: node.name.clone(),
        parent: some(node.parent),
        meshes: Vec::new(),
        skin: None,
        camera: None,
        light: None,
        instances: 0,
    });
    let mut nodes: Vec<NodeInfo> = bare.collect();
    for part in &model.parts {
        let node = &mut nodes[part.node as usize];
        node.meshes.push(part.mesh);
        node.skin = node.skin.or(some(part.skin));
        node.instances = part.placements.len();
    }
    for (camera, index) in model.cameras.iter().zip(0..) {
        nodes[camera.node as usize].camera = Some(index);
    }
    for (light, index) in model.lights.iter().zip(0..) {
        nodes[light.node as usize].light = Some(index);
    }
    nodes
}

fn primitive(m: &ModelMesh) -> PrimitiveInfo {
    PrimitiveInfo {
        name: m.name.clone(),
        triangles: m.mesh.triangles.len(),
        vertices: m.mesh.positions.len(),
        material: some(m.material),
        joints_per_vertex: m.deformers.joints_per_vertex,
        morph_targets: m.deformers.targets.len(),
    }
}

fn skins(rig: &Rig) -> Vec<SkinInfo> {
    let skins = rig.skins.iter();
    skins.map(|skin| SkinInfo { name: skin.name.clone(), joints: skin.joints.len() }).collect()
}

fn material(m: &PbrMaterial) -> MaterialInfo {
    MaterialInfo { name: m.name.clone(), features: m.features.clone() }
}

fn clip(clip: &Clip) -> ClipInfo {
    let channels = clip.channels.iter().map(|channel| channel.times.len());
    let keys = channels.chain(clip.tracks.iter().map(|track| track.times.len()));
    ClipInfo {
        name: clip.name.clone(),
        seconds: clip.duration,
        channels: clip.channels.len() + clip.tracks.len(),
        keys: keys.sum(),
    }
}

fn camera(camera: &ModelCamera) -> CameraInfo {
    CameraInfo {
        name: camera.name.clone(),
        node: camera.node,
        kind: match camera.projection {
            Projection::Perspective { fov_y, aspect, .. } => {
                CameraKind::Perspective { fov: fov_y.to_degrees(), aspect }
            }
            Projection::Orthographic { half_width, half_height, .. } => {
                CameraKind::Orthographic { width: 2.0 * half_width, height: 2.0 * half_height }
            }
        },
    }
}

fn light(light: &ModelLight) -> LightInfo {
    LightInfo {
        name: light.name.clone(),
        node: light.node,
        kind: match light.shape {
            LightShape::Directional => "directional",
            LightShape::Point => "point",
            LightShape::Spot { .. } => "spot",
        },
        color: light.color,
        intensity: light.intensity,
    }
}

fn mesh_bytes(mesh: &ModelMesh) -> u64 {
    let m = &mesh.mesh;
    let bytes = size_of_val(&m.positions[..])
        + size_of_val(&m.triangles[..])
        + size_of_val(&m.normals[..])
        + size_of_val(&m.uvs[..])
        + size_of_val(&m.uvs1[..])
        + size_of_val(&m.colors[..])
        + size_of_val(&m.tangents[..]);
    bytes as u64 + deformer_bytes(&mesh.deformers)
}

fn deformer_bytes(deformers: &Deformers) -> u64 {
    let target =
        |t: &MorphTarget| size_of_val(&t.positions[..]) + size_of_val(&t.normals[..]) + size_of_val(&t.tangents[..]);
    let targets: usize = deformers.targets.iter().map(target).sum();
    (targets + size_of_val(&deformers.joints[..]) + size_of_val(&deformers.weights[..])) as u64
}
