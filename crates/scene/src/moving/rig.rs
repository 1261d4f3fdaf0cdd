//! Rigs: a hierarchy of nodes, skins, morph targets, the clips that animate them, and the actors that play clips.
//!
//! Loaders make rigs from glTF files; `anim` evaluates them at a time. Units and spaces are glTF's: right-handed, Y up, seconds. A rig's
//! root space is the space of its model.

pub use super::displacement::{Displacement, Groups, SAME_NORMAL};
pub use super::surface::{Block, Group, Pattern, Rows, Stencils, SubdivisionSurface};
use crate::animated::Track;
use glam::{Affine3, Quat, Vec3};
use std::sync::Arc;
use throng_base::choice::choice;

/// A hierarchy of nodes with the skins and clips that refer to it.
#[derive(Clone, Debug, Default)]
pub struct Rig {
    /// Parents before children.
    pub nodes: Vec<RigNode>,
    pub skins: Vec<Skin>,
    pub clips: Vec<Clip>,
}

impl Rig {
    /// Number of joints of a skin; 0 for [`crate::NONE`].
    pub fn joint_count(&self, skin: u32) -> usize {
        self.skins.get(skin as usize).map_or(0, |s| s.joints.len())
    }
}

#[derive(Clone, Debug)]
pub struct RigNode {
    pub name: String,
    /// Index of an earlier node or [`crate::NONE`].
    pub parent: u32,
    /// `parent_from_node` at rest.
    pub local: Local,
    /// Weight of each morph target at rest. Empty if the node has no mesh with targets.
    pub weights: Vec<f32>,
    /// Whether it is visible at rest, if its parents are.
    pub visible: bool,
}

/// A transform at rest. Channels can animate `Parts`, but not a `Matrix`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Local {
    Parts(Trs),
    Matrix(Affine3),
}

/// `translation · rotation · scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    pub translation: Vec3,
    /// Unit length.
    pub rotation: Quat,
    pub scale: Vec3,
}

/// glTF 2.0, 3.7.3: `model_from_vertex = Σ weight · model_from_joint · joint_from_mesh`.
#[derive(Clone, Debug)]
pub struct Skin {
    pub name: String,
    /// Indices into [`Rig::nodes`]; never empty.
    pub joints: Vec<u32>,
    /// The inverse bind matrices, one per joint.
    pub joint_from_mesh: Vec<Affine3>,
}

#[derive(Clone, Debug, Default)]
pub struct Clip {
    pub name: String,
    /// Greatest key time of all channels and tracks, in seconds. 0 if all of them have a single key at 0.
    pub duration: f32,
    pub channels: Vec<Channel>,
    /// Animated values of materials, lights and cameras.
    pub tracks: Vec<Track>,
    /// Reason why the file's animation cannot be played. A faulty clip has no channels and tracks.
    pub fault: Option<String>,
}

impl Clip {
    /// Checks that the clip can be played.
    ///
    /// # Errors
    /// A sentence about the fault in the file's animation.
    pub fn playable(&self) -> Result<(), String> {
        match &self.fault {
            None => Ok(()),
            Some(fault) => Err(format!("the animation `{}` cannot be played: {fault}", self.name)),
        }
    }
}

/// The keys of one animated property of a node.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Index into [`Rig::nodes`].
    pub node: u32,
    pub property: Property,
    pub interpolation: Interpolation,
    /// Times in seconds: finite, not negative, strictly increasing, never empty.
    pub times: Vec<f32>,
    /// `components` floats per key. With [`Interpolation::CubicSpline`] three times as many: in-tangent, value and out-tangent of each key,
    /// as in glTF 2.0, appendix C. Rotations are unit quaternions (x, y, z, w).
    pub values: Vec<f32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Property {
    Translation,
    Rotation,
    Scale,
    /// All morph weights of the node together.
    Weights,
    /// Visibility of the node and its children: 1 or 0, in steps.
    Visibility,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    Step,
    /// Linear; spherical for rotations.
    Linear,
    CubicSpline,
}

/// Joints, weights and morph targets that deform a mesh. Its triangles are in bind pose.
#[derive(Clone, Debug, Default)]
pub struct Deformers {
    /// Number of joints per vertex, a multiple of four, or 0 without a skin.
    pub joints_per_vertex: u32,
    /// Indices into [`Skin::joints`], `joints_per_vertex` for each vertex.
    pub joints: Vec<u16>,
    /// Weights in this order. The weights of a vertex sum to 1.
    pub weights: Vec<f32>,
    pub targets: Vec<MorphTarget>,
}

/// Weighted offsets of vertices. Each array has one entry per vertex or is empty.
#[derive(Clone, Debug, Default)]
pub struct MorphTarget {
    pub positions: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
    pub tangents: Vec<[f32; 3]>,
}

/// Playback settings of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    /// Index into [`Rig::clips`].
    pub clip: u32,
    /// Seconds of the clip per second; negative plays backwards.
    pub speed: f64,
    /// Time of the clip at time 0, in seconds.
    pub offset: f64,
    /// Whether the clip repeats, instead of holding the last pose (the first one when played backwards).
    pub looped: bool,
}

impl Default for Playback {
    fn default() -> Self {
        Self { clip: 0, speed: 1.0, offset: 0.0, looped: true }
    }
}

/// A rig that plays clips. It is evaluated once per frame, for all objects attached to it.
#[derive(Clone, Debug, Default)]
pub struct Actor {
    pub rig: Arc<Rig>,
    /// Clips to play. If several animate one property, the last one wins.
    pub playbacks: Vec<Playback>,
}

/// A node of an actor's rig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigNodeRef {
    /// Index into [`crate::Scene::actors`].
    pub actor: u32,
    /// Index into [`Rig::nodes`].
    pub node: u32,
}

/// A visibility condition of an instance. An instance with several is visible while all of them hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appearance {
    /// Index into [`crate::Scene::instances`].
    pub instance: u32,
    pub by: ShownBy,
}

/// Source of a visibility condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownBy {
    /// A node of a rig, while it is visible itself.
    Node(RigNodeRef),
    /// Index into [`crate::Scene::switches`].
    Switch(u32),
}

/// A mesh whose vertices follow an actor. The mesh itself holds its bind pose. Of curves, the points are the vertices.
#[derive(Clone, Debug)]
pub struct DeformingMesh {
    /// Index into [`crate::Scene::meshes`], of a mesh of triangles or curves.
    pub mesh: u32,
    /// Index into [`crate::Scene::actors`].
    pub actor: u32,
    pub refit: RefitPolicy,
    /// Runs of the mesh's vertices, in order and without gaps.
    pub pieces: Vec<Piece>,
    /// How all vertices are displaced in the end. The bind pose is not displaced.
    pub displacement: Option<Arc<Displacement>>,
}

/// A run of a deforming mesh's vertices with one kind of deformation: morph targets first, then a skin or a node.
#[derive(Clone, Debug)]
pub struct Piece {
    pub vertex_count: u32,
    /// The rig node with the weights of morph targets.
    pub node: u32,
    /// Whether the node's transform moves the vertices to the rig's root space, for meshes with several pieces. False if the mesh's
    /// instances are attached to the node, which then places them. Skinned pieces are placed only by their joints.
    pub placed: bool,
    /// Index into [`Rig::skins`], or [`crate::NONE`].
    pub skin: u32,
    /// Of its vertices, or of the points of the cage of `surface`.
    pub deformers: Arc<Deformers>,
    /// The subdivision surface that the vertices are on.
    pub surface: Option<Arc<SubdivisionSurface>>,
}

choice! {
    /// Update method for the acceleration tree (BLAS) of a deforming mesh.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RefitPolicy = Auto {
        /// Refit while tracing stays fast, otherwise rebuild.
        Auto = "auto",
        /// Always refit.
        Refit = "refit",
        /// Always rebuild.
        Rebuild = "rebuild",
    }
}

/// A palette of poses at evenly spaced times of a clip, from which instances select.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseBuckets {
    /// Number of poses, at least 1.
    pub count: u32,
    /// Seconds per cycle of the clip at speed 1. 0 for a clip of a single pose.
    pub duration: f32,
}

/// A run of `poses.count` meshes that are the poses of one model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Palette {
    /// Index into [`crate::Scene::meshes`] of the first pose, which instances refer to.
    pub first_mesh: u32,
    pub poses: PoseBuckets,
}
