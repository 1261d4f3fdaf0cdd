//! The scene and its tables.

use crate::animated::Animated;
use crate::rig::{Actor, Appearance, DeformingMesh, Palette};
use crate::{
    Assembly, Camera, Cut, Environment, Far, Fog, Instance, Light, Material, Mesh, Motion, Names, Node,
    PlacementTables, RenderDefaults, Subject, Texture, TextureMap, Timeline, Track, Views,
};
use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

/// A whole scene. All indices are valid and all numbers finite once a loader has returned it.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Objects whose position single precision represents poorly. Computed on first use; empty in a new scene.
    pub far: OnceLock<Far>,
    /// The file's stem, for `{scene}` in output patterns and for reports.
    pub name: String,
    /// Render settings, which the user may override.
    pub settings: RenderDefaults,
    /// Light from directions without geometry.
    pub environment: Environment,
    /// None for clear air.
    pub fog: Option<Fog>,
    /// Lights other than the environment and emissive surfaces. For the Whitted integrator, also those surfaces.
    pub lights: Vec<Light>,
    /// Number of `lights` before the lights of the environment, such as its sun.
    pub own_lights: usize,
    /// The flat table of materials. [`Self::material_slots`] contains indices of its rows.
    pub materials: Vec<Material>,
    /// How materials read textures.
    pub maps: Vec<TextureMap>,
    /// Pictures that maps read.
    pub textures: Vec<Texture>,
    /// Shapes, each stored once, independent of the number of instances.
    pub meshes: Vec<Mesh>,
    /// Material of each (instance, slot): `material_slots[instance.slot_base + triangle's slot]`. Instances with equal materials share a
    /// run of slots.
    pub material_slots: Vec<u32>,
    /// Group frames, parents before children.
    pub nodes: Vec<Node>,
    /// All instances: first the world's, then each assembly's.
    pub instances: Vec<Instance>,
    /// Groups that are stored as separate trees. An assembly precedes the assemblies that it places.
    pub assemblies: Vec<Assembly>,
    /// Names of instances and materials.
    pub names: Names,
    /// Entries of the scene file with their instances, in order.
    pub placed: Vec<PlacedRun>,
    /// Movements of nodes and instances.
    pub motions: Vec<Motion>,
    /// Transforms of instances and nodes that are read from files over time.
    #[doc(hidden)]
    pub placement_tables: Arc<PlacementTables>,
    /// Animated rigs, which nodes and meshes follow.
    pub actors: Vec<Actor>,
    /// The materials, lights and cameras that actors animate.
    pub animated: Vec<Animated>,
    /// Instances that appear and disappear, in order.
    pub appearances: Vec<Appearance>,
    /// Visibility tracks of objects that keys show and hide.
    pub switches: Vec<Track<bool>>,
    /// Deforming meshes, each once.
    pub deforming: Vec<DeformingMesh>,
    /// Runs of meshes that are the poses of one model.
    pub palettes: Vec<Palette>,
    /// The camera of the first frame.
    pub camera: Camera,
    /// Other cameras that take over from [`Self::camera`], at increasing times.
    pub cuts: Vec<Cut>,
    /// All cameras of the scene file by name, if it has several.
    pub viewpoints: Vec<(String, Camera)>,
    /// Views that replace all cameras, one per frame.
    pub views: Option<Arc<Views>>,
    /// Values that keys in the scene file animate.
    pub timeline: Option<Arc<dyn Timeline>>,
    /// Whether the timeline contains the cameras. The cameras here are then evaluated at the first frame.
    pub camera_has_keys: bool,
    /// The ground plane instance of a standalone model.
    pub stage: Option<u32>,
    /// Named objects other than meshes that a lens can focus on.
    pub subjects: Vec<Subject>,
    /// Warnings about anything the loader replaced or left out, one line each.
    pub warnings: Vec<String>,
    /// Warnings about probable mistakes, although everything is drawn, one line each.
    pub doubts: Vec<String>,
    /// Notes about unused animations and cameras of the file, one line each.
    pub notes: Vec<String>,
}

/// The instances that one entry of a scene file's `instances` made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedRun {
    /// Their range in [`Scene::instances`].
    pub instances: Range<u32>,
    /// Index of the entry.
    pub entry: u32,
}

impl Scene {
    /// Length of the animation in seconds: the time of the last frame, but at least one frame.
    pub fn duration(&self) -> f64 {
        self.settings.rate().seconds(self.settings.frames.saturating_sub(1).max(1))
    }

    /// The time that frame `number` shows, in seconds.
    pub fn time_of(&self, number: u32) -> f64 {
        let passed = number.saturating_sub(self.settings.first_frame);
        match &self.views {
            Some(views) => views.of_frame(&self.settings, number).time,
            None => self.settings.start + self.settings.rate().seconds(passed),
        }
    }

    /// Whether any instance, group or mesh moves or appears.
    pub fn is_animated(&self) -> bool {
        let follows = |node: &Node| node.follows.is_some();
        let carries = || self.nodes.iter().any(follows);
        let acts = !self.actors.is_empty() && (!self.deforming.is_empty() || carries());
        let is_placed = !self.placement_tables.is_empty();
        is_placed || !self.motions.is_empty() || !self.appearances.is_empty() || acts
    }

    /// The camera of a frame at `time`, in seconds, and its number (see [`Timeline::camera`]).
    #[doc(hidden)]
    pub fn camera_of(&self, time: f64) -> (&Camera, usize) {
        let number = self.cuts.partition_point(|cut| cut.time <= time);
        match number.checked_sub(1).and_then(|cut| self.cuts.get(cut)) {
            Some(cut) => (&cut.camera, number),
            None => (&self.camera, 0),
        }
    }

    /// Number of primitives after instancing, as if every instance were a copy.
    pub fn instanced_prim_count(&self) -> u64 {
        self.in_world(&self.per_placed(|mesh| self.meshes[mesh].prim_count() as u64))
    }
}
