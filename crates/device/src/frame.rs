//! Frames: a scene posed at one moment.

use super::{DeviceError, FrameSettings};
use crate::light::ShownShape;
use glam::Affine3;
use std::sync::Arc;
use throng_abi::{Hit, NESTED_STACK};
use throng_accel::{Blas, NodeLayout, Tlas};
use throng_base::math::{Aabb, affine_from_rows};
use throng_picture::aov::Aov;
use throng_scene::anim::{CameraPose, Deformed, PosedTables};
use throng_scene::{Fog, Scene};

/// One posed frame: everything that changes from frame to frame. [`Poser`](throng_render::Poser)s create frames.
///
/// Kernels follow the references between a frame and its scene without checks. Therefore frames cannot be assembled elsewhere, and devices accept
/// only frames of the scene that they have loaded.
#[derive(Clone)]
pub struct Frame {
    pub scene: Arc<Scene>,
    pub number: u32,
    pub camera: CameraPose,
    pub tlas: Arc<Tlas>,
    /// The BLAS of each mesh of the scene. Frames share the list as long as no mesh deforms.
    pub blas: Arc<Vec<Arc<Blas>>>,
    /// The deforming meshes, each once.
    pub shapes: Vec<PosedMesh>,
    /// The frame's own tables of materials, maps and lights, if they differ from the scene's.
    pub tables: Option<Arc<PosedTables>>,
    /// Camera poses at even steps over the shutter interval; empty if the camera stands still or there is no motion blur.
    pub camera_keys: Vec<CameraPose>,
    /// The scene one frame earlier, one frame later and at the time of this frame, if an AOV needs motion. Without motion blur, the last one contains
    /// only the camera.
    pub others: Option<Arc<[OtherPose; 3]>>,
}

/// The pose of the scene in another frame.
#[derive(Clone)]
pub struct OtherPose {
    pub camera: CameraPose,
    /// World transforms of the instances in `places`; empty if only the camera ever moves.
    pub transforms: Vec<Affine3>,
    /// For each instance of the scene, the index of its transform, or `NO_INDEX` if it never moves; none if all have one. Poses of a scene share it.
    pub places: Option<Arc<Vec<u32>>>,
    /// For each instance, the index of the mesh that it shows; empty if these never change.
    pub shown: Vec<u32>,
    /// The deforming meshes, each once.
    pub shapes: Vec<PosedMesh>,
}

impl OtherPose {
    /// The pose of a scene in which only the camera ever moves.
    pub fn of_camera(camera: CameraPose) -> Self {
        Self { camera, transforms: Vec::new(), places: None, shown: Vec::new(), shapes: Vec::new() }
    }
}

impl Frame {
    /// Number of the frame, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Creates a static frame from given trees.
    ///
    /// # Safety
    /// `blas` must have a tree for each mesh of the scene, over its triangles. `tlas` must have been built over these trees and the scene's
    /// instances, and after them.
    pub unsafe fn of_trees(scene: Arc<Scene>, camera: CameraPose, blas: Vec<Arc<Blas>>, tlas: Tlas) -> Self {
        Self {
            scene,
            number: 1,
            camera,
            tlas: Arc::new(tlas),
            blas: Arc::new(blas),
            shapes: Vec::new(),
            tables: None,
            camera_keys: Vec::new(),
            others: None,
        }
    }

    /// The camera in world space.
    pub fn camera(&self) -> CameraPose {
        self.camera.moved(self.tlas.origin)
    }

    /// A copy of the frame seen through another camera, given in world space, which stands still.
    pub fn seen_by(&self, camera: CameraPose) -> Self {
        let camera = camera.moved(-self.tlas.origin);
        let other = |pose: &OtherPose| OtherPose { camera, ..pose.clone() };
        let others = self.others.as_ref().map(|others| Arc::new(others.each_ref().map(other)));
        Self { camera, camera_keys: Vec::new(), others, ..self.clone() }
    }

    /// The fog of the frame, in the space of its TLAS; `None` without fog.
    pub(super) fn fog(&self) -> Option<Fog> {
        let fog = match &self.tables {
            Some(own) => own.fog.as_ref(),
            None => self.scene.fog.as_ref(),
        };
        fog.map(|fog| fog.lifted(-self.tlas.origin.y))
    }

    /// Checks that devices can render the frame; `builds`: they build TLASes.
    ///
    /// # Errors
    /// If the frame does not belong to `scene`, if its trees do not have this `layout` or are not built, or if nested compressed trees have too many
    /// levels.
    pub(super) fn check(&self, scene: &Arc<Scene>, layout: NodeLayout, builds: bool) -> Result<(), DeviceError> {
        let levels = self.tlas.tree.depth + self.blas.iter().map(|blas| blas.depth()).max().unwrap_or(0);
        if layout == NodeLayout::Compressed8 && self.tlas.nested.is_some() && levels > NESTED_STACK {
            let message = format!(
                "trees within trees have {levels} levels in all, and {NESTED_STACK} fit: write `nest: false` at some groups"
            );
            return Err(DeviceError::Failed(message));
        }
        let is_built = self.tlas.unbuilt.is_none() || builds;
        if Arc::ptr_eq(&self.scene, scene) && self.tlas.tree.layout == layout && is_built {
            return Ok(());
        }
        let message = "the frame is of another scene than was loaded, or has trees for other devices";
        Err(DeviceError::Failed(message.into()))
    }

    /// Index of the instance that was hit, in the scene's list.
    pub fn index_of(&self, hit: &Hit) -> u32 {
        self.tlas.nested.as_ref().map_or(hit.instance, |nested| nested.indices[hit.record as usize])
    }

    /// Scene indices of the instances that contain the hit, from the outermost to the innermost.
    pub fn way_to(&self, hit: &Hit) -> Vec<u32> {
        match &self.tlas.nested {
            Some(nested) => self.scene.way_to(hit.instance, self.index_of(hit), &nested.numbers),
            None => vec![hit.instance],
        }
    }

    /// The transforms of the hit instance: `world_from_object` and `object_from_world`.
    pub fn placement(&self, hit: &Hit) -> (Affine3, Affine3) {
        let way = match &self.tlas.nested {
            Some(nested) => self.way_to(hit).iter().map(|&index| nested.records_of[index as usize]).collect(),
            None => vec![hit.record],
        };
        let placements = way.iter().filter_map(|&record| self.tlas.records.get(record as usize));
        let both = placements.map(|r| {
            let (out, mut back) = (affine_from_rows(&r.world_from_object), affine_from_rows(&r.object_from_world));
            if self.tlas.nested.is_some() {
                // The record's column holds the translation of `world_from_object`.
                back.translation = -(back.matrix3 * out.translation);
            }
            (out, back)
        });
        both.reduce(|(out, back), (own, own_back)| (out * own, own_back * back)).unwrap_or_default()
    }

    /// Whether anything moves while the shutter is open, so that each ray needs a time.
    pub fn moves(&self) -> bool {
        !self.camera_keys.is_empty()
            || !self.tlas.shutter.is_empty()
            || self.blas.iter().any(|blas| blas.segments() > 0)
    }

    /// Whether lights are sampled for pictures with these settings, by the integrator or for shadows on catchers.
    pub(super) fn samples_lights(&self, settings: &FrameSettings) -> bool {
        let shadows = settings.aovs.contains(Aov::Alpha) || settings.aovs.contains(Aov::Shadow);
        settings.integrator.samples_lights() || shadows && self.scene.catches_shadows()
    }

    /// The deforming meshes, which may be light sources.
    pub(super) fn shown_shapes(&self) -> Vec<ShownShape<'_>> {
        self.shapes.iter().map(PosedMesh::shown).collect()
    }
}

/// A deforming mesh in one frame.
#[derive(Clone)]
pub struct PosedMesh {
    /// Index into [`Scene::meshes`], which holds the triangles and all static data.
    pub mesh: u32,
    /// The mesh's shape in the frame. If it deforms while the shutter is open, the shape at shutter opening.
    pub shape: Arc<Deformed>,
    /// Shapes at even steps up to shutter closing; empty if the mesh does not deform while the shutter is open.
    pub later: Vec<Arc<Deformed>>,
}

impl PosedMesh {
    pub(super) fn shown(&self) -> ShownShape<'_> {
        let later = self.later.iter().map(|shape| shape.bounds);
        ShownShape { mesh: self.mesh, positions: &self.shape.positions, reaches: later.fold(Aabb::EMPTY, Aabb::union) }
    }

    /// All shapes, in order of time.
    pub fn keys(&self) -> impl Iterator<Item = &Deformed> {
        std::iter::once(&*self.shape).chain(self.later.iter().map(|shape| &**shape))
    }
}
