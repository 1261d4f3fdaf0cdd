//! Skeletons and the animations that they play.

use super::Sampled;
use glam::{DAffine3, Quat, Vec3};

/// A skeleton that plays an animation (UsdSkel). Meshes that follow it are placed by the skeleton, not by their own transforms: an [`super::Item`]
/// with a skeleton has the place of the skeleton's prim.
#[derive(Clone, Debug, Default)]
pub struct SkeletonPose {
    /// Path of the skeleton.
    pub name: String,
    /// Joints, parents before children.
    pub joints: Vec<Joint>,
    /// `parent_from_joint` of each joint over time. Still for a skeleton without an animation, which then shows its rest pose.
    pub pose: Sampled<Vec<JointPose>>,
    /// Weights of blend shapes over time, by name.
    pub shape_weights: Vec<(String, Sampled<f32>)>,
}

/// A joint of a skeleton.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Path of the joint in the skeleton.
    pub name: String,
    /// Index of the parent or [`super::NONE`].
    pub parent: u32,
    /// `skeleton_from_joint` when the mesh was bound (`bindTransforms`).
    pub bind: DAffine3,
}

/// `translation · rotation · scale` of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointPose {
    /// In units of the stage.
    pub translation: Vec3,
    /// Unit length.
    pub rotation: Quat,
    /// Factors along the joint's axes.
    pub scale: Vec3,
}
