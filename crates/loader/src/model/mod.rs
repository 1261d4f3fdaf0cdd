//! glTF models in scene files. A model becomes one mesh (at rest, with a palette of poses, or deformed in each frame), or a group of its
//! meshes at rest.

mod animated;
mod flat;
mod materials;
#[cfg(test)]
mod materials_tests;
mod sampled;
mod shared;
#[cfg(test)]
mod tests;
mod unweld;

pub use unweld::unweld;

pub use animated::{AnimatedRows, played_tracks};
pub use flat::{FlatMaterials, FlatModel, flat_bytes, flatten};
pub use materials::ModelMaterials;
pub use sampled::{HOLDER, SampleKey, alive, clip_of, holder, offsets, sampled_motion, weighted_motion};
pub use shared::{SharedMesh, bounds, fit, shared_bytes, shared_meshes};

use super::{LoadError, budget, files, geometry::fit::Fit, gltf::Model, meshes::MeshSource};
use glam::Vec3;
use rayon::prelude::*;
use std::{path::Path, sync::Arc};
use throng_base::math::Aabb;
use throng_scene::anim::{self, Deformed, RigPose};
use throng_scene::{
    Mesh, Shape, TriangleMesh,
    animated::{Animated, AnimatedMaterial},
    rig::{Actor, DeformingMesh, Playback, PoseBuckets, Property, RefitPolicy},
};

const NOTHING_TO_SEE: &str = "there is nothing to see: no mesh with triangles is in the scene";

/// The motion of a model.
#[derive(Clone, Debug, Default)]
pub enum MeshMotion {
    #[default]
    Still,
    /// Instances choose from several poses. The mesh itself is the first one, and the others follow it.
    Palette { others: Vec<Mesh>, poses: PoseBuckets },
    /// The mesh, in its bind pose, is deformed by an actor, which may also animate its materials. The indices of mesh and actor are
    /// assigned later.
    Alive { actor: Actor, deforming: DeformingMesh, animated: Animated },
}

impl MeshMotion {
    /// Number of meshes that the model adds to the scene.
    pub fn mesh_count(&self) -> u32 {
        match self {
            Self::Palette { others, .. } => 1 + others.len() as u32,
            _ => 1,
        }
    }

    /// The poses from which instances choose; none without a palette.
    pub fn poses(&self) -> Option<PoseBuckets> {
        match self {
            Self::Palette { poses, .. } => Some(*poses),
            _ => None,
        }
    }
}

/// The mode in which a model is shown: at rest, with a palette of poses, or deformed in each frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Performance {
    AtRest,
    Palette { clip: u32, count: u32 },
    Alive { playback: Playback, refit: RefitPolicy },
}

/// Removes the parts of a model that are never visible in this mode.
pub fn drop_hidden(model: &mut Model, performance: Performance) {
    let mut pose = RigPose::default();
    pose.evaluate(&model.rig, &[], 0.0);
    let clip = match performance {
        Performance::AtRest => None,
        Performance::Palette { clip, .. } => model.rig.clips.get(clip as usize),
        Performance::Alive { playback, .. } => model.rig.clips.get(playback.clip as usize),
    };
    // A clip that animates visibility is handled by the poses.
    let hides = clip.is_some_and(|c| c.channels.iter().any(|channel| channel.property == Property::Visibility));
    model.parts.retain(|part| hides || pose.is_shown(part.node));
}

/// Converts a model to a mesh. In the mode [`Performance::Alive`], its clip animates the materials `animated`.
///
/// # Errors
/// If nothing is visible, or if memory does not suffice for the poses.
pub fn into_source(
    path: &Path,
    name: &str,
    model: FlatModel,
    performance: Performance,
    animated: Vec<AnimatedMaterial>,
) -> Result<MeshSource, LoadError> {
    if model.mesh.triangles.is_empty() {
        return Err(LoadError::file(path, NOTHING_TO_SEE));
    }
    let (shown, motion) = match performance {
        Performance::AtRest => (model.posed(&[]), MeshMotion::Still),
        Performance::Palette { clip, count } => {
            let (first, others, poses) = palette(path, name, &model, clip, count)?;
            (first, MeshMotion::Palette { others, poses })
        }
        Performance::Alive { playback, refit } => {
            let alive = MeshMotion::Alive {
                actor: Actor { rig: model.rig.clone(), playbacks: vec![playback] },
                deforming: DeformingMesh { refit, ..model.deforming.clone() },
                animated: Animated { materials: animated, ..Animated::default() },
            };
            (model.mesh.clone(), alive)
        }
    };
    let points = match motion {
        MeshMotion::Alive { .. } => model.posed(&[]).positions,
        _ => shown.positions.clone(),
    };
    Ok(MeshSource {
        points,
        point_triangles: shown.triangles.clone(),
        mesh: mesh(name, shown, model.materials.len()),
        materials: model.materials,
        motion,
        cage: None,
        displacement: None,
    })
}

type Palette = (TriangleMesh, Vec<Mesh>, PoseBuckets);

fn palette(path: &Path, name: &str, model: &FlatModel, clip: u32, count: u32) -> Result<Palette, LoadError> {
    let bytes = count as u64 * model.bytes_per_pose();
    files::reserve(path, &format!("a palette of {count} poses"), bytes)?;
    let duration = model.rig.clips[clip as usize].duration;
    let poses = PoseBuckets { count, duration };
    let shape =
        |bucket| model.posed(&[Playback { clip, offset: poses.time(bucket), looped: false, ..Playback::default() }]);
    let slots = model.materials.len();
    let all = (1..count).into_par_iter();
    let others = all.map(|bucket| mesh(&format!("{name} pose {bucket}"), shape(bucket), slots));
    Ok((shape(0), others.collect(), poses))
}

fn mesh(name: &str, triangles: TriangleMesh, slots: usize) -> Mesh {
    Mesh { name: name.to_owned(), shape: Shape::Triangles(triangles), slot_count: slots as u32 }
}

impl FlatModel {
    /// The model's mesh in the pose of `playbacks` at time 0.
    fn posed(&self, playbacks: &[Playback]) -> TriangleMesh {
        let (mut pose, mut shape) = (RigPose::default(), Deformed::default());
        pose.evaluate(&self.rig, playbacks, 0.0);
        anim::shape(&self.mesh, &self.deforming, &self.rig, &pose, &mut shape);
        shape.on(self.mesh.clone())
    }

    /// The bounds at rest.
    pub fn bounds(&self) -> Aabb {
        let at_rest = self.posed(&[]);
        Aabb::of_points(at_rest.positions.iter().copied().map(Vec3::from))
    }

    /// Scales the model, including its animation.
    pub fn fit(&mut self, fit: &Fit) {
        fit.rig(Arc::make_mut(&mut self.rig));
        for piece in &mut self.deforming.pieces {
            piece.node += 1;
        }
    }

    /// Bytes of memory of a pose.
    fn bytes_per_pose(&self) -> u64 {
        budget::of_mesh(self.mesh.positions.len(), self.mesh.triangles.len())
    }
}
