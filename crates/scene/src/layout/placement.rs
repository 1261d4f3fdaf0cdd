//! Nodes and instances.

use crate::rig::RigNodeRef;
use glam::Affine3;

/// A frame that instances are attached to: `world_from_node = world_from_parent · local · motion(t) · root_from_rig_node(t)`.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The transform at rest, in the parent's space.
    pub local: Affine3,
    /// Index of an earlier node or [`NONE`] for the world.
    pub parent: u32,
    /// Index into `motions` or [`NONE`].
    pub motion: u32,
    /// The node of a rig that carries this one.
    pub follows: Option<RigNodeRef>,
}

/// One placement of a mesh or an assembly: `world_from_object = world_from_node · local · motion(t)`.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// The transform at rest, in the node's space.
    pub local: Affine3,
    /// Index into `nodes` or [`NONE`] for the world.
    pub node: u32,
    /// Index into [`Scene::meshes`]. Indices beyond the last mesh refer to [`Scene::assemblies`].
    pub mesh: u32,
    /// First of the mesh's `slot_count` entries in [`Scene::material_slots`]. 0 for an assembly.
    pub slot_base: u32,
    /// Index into `motions` or [`NONE`].
    pub motion: u32,
}
