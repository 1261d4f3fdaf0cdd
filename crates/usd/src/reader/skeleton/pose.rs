//! Skeletons and animations: the hierarchy of joints, and their transforms over time.

use crate::{
    Joint, JointPose, NONE, Sampled, SkeletonPose,
    reader::{
        over_time::{at, over_time},
        prototypes::stage_path,
        values::Values,
    },
};
use glam::{DAffine3, DMat4, Quat, Vec3};
use openusd::{sdf, usd::Prim};
use std::collections::HashMap;

/// Arrays of an animation, one element per joint.
const COMPONENTS: [&str; 3] = ["translations", "rotations", "scales"];

/// The prim of a skeleton. `None` after a warning if the path leads to something else.
pub fn skeleton(values: &Values, path: &sdf::Path) -> Option<Prim> {
    typed(values, path, &["Skeleton"])
}

/// The prim of an animation. `None` after a warning if the path leads to something else.
pub fn animation(values: &Values, path: &sdf::Path) -> Option<Prim> {
    typed(values, path, &["SkelAnimation", "PackedJointAnimation"])
}

fn typed(values: &Values, path: &sdf::Path, types: &[&str]) -> Option<Prim> {
    let prim = values.prim(path).filter(|prim| types.contains(&values.type_name(prim).as_str()));
    if prim.is_none() {
        values.warn(format!("{path}: meshes follow it, but it is no {}; they stay as they are", types[0]));
    }
    prim
}

/// The joints of a skeleton in an order with parents before children.
pub struct Hierarchy {
    /// Their paths.
    pub names: Vec<String>,
    /// Index of each parent, or [`NONE`].
    pub parents: Vec<u32>,
    /// Position of each joint in the file.
    pub in_file: Vec<usize>,
}

impl Hierarchy {
    /// The joints of a skeleton prim.
    pub fn of(values: &Values, skeleton: &Prim) -> Self {
        Self::new(values.get::<Vec<String>>(skeleton, "joints").unwrap_or_default())
    }

    /// Joints with these paths. The parent is the nearest joint whose path is a part of the path.
    fn new(paths: Vec<String>) -> Self {
        let depth = |path: &str| path.matches('/').count();
        let mut in_file: Vec<usize> = (0..paths.len()).collect();
        let parent = |index_of: &HashMap<&str, u32>, path: &str| {
            let mut rest = path;
            while let Some((above, _)) = rest.rsplit_once('/') {
                if let Some(&index) = index_of.get(above) {
                    return index;
                }
                rest = above;
            }
            NONE
        };
        let index_of = |order: &[usize]| -> HashMap<&str, u32> {
            order.iter().enumerate().rev().map(|(new, &old)| (paths[old].as_str(), new as u32)).collect()
        };
        let mut known = index_of(&in_file);
        let ordered = |known: &HashMap<&str, u32>| {
            paths.iter().enumerate().all(|(index, path)| {
                let parent = parent(known, path);
                parent == NONE || (parent as usize) < index
            })
        };
        if !ordered(&known) {
            in_file.sort_by_key(|&index| depth(&paths[index]));
            known = index_of(&in_file);
        }
        let parents = in_file.iter().map(|&old| parent(&known, &paths[old])).collect();
        let names = in_file.iter().map(|&old| paths[old].clone()).collect();
        Self { names, parents, in_file }
    }

    /// Number of joints.
    pub fn len(&self) -> usize {
        self.names.len()
    }
}

/// A skeleton with the animation that it plays. `None` after a warning if its data is damaged.
pub fn read(values: &Values, prim: &Prim, animation: Option<&Prim>) -> Option<SkeletonPose> {
    let hierarchy = Hierarchy::of(values, prim);
    let (bind, rest) = transforms(values, prim, &hierarchy)?;
    let joints = hierarchy.names.iter().zip(&hierarchy.parents).zip(bind);
    let joints = joints.map(|((name, &parent), bind)| Joint { name: name.clone(), parent, bind }).collect();
    let (pose, shape_weights) = match animation {
        Some(animation) => (pose(values, animation, &hierarchy, &rest), shape_weights(values, animation)),
        None => (Sampled::Still(rest), Vec::new()),
    };
    Some(SkeletonPose { name: stage_path(values, prim.path()), joints, pose, shape_weights })
}

/// Transforms of the joints when the mesh was bound, relative to the skeleton, and at rest, relative to their parents. If the file has one of
/// them only, it gives the other one.
fn transforms(values: &Values, prim: &Prim, hierarchy: &Hierarchy) -> Option<(Vec<DAffine3>, Vec<JointPose>)> {
    let read = |name: &str| -> Option<Vec<DAffine3>> {
        let matrices: Vec<DMat4> = values.get(prim, name)?;
        if matrices.len() != hierarchy.len() {
            let (found, expected) = (matrices.len(), hierarchy.len());
            values.warn(format!("{}.{name}: has {found} matrices for {expected} joints; it is left out", prim.path()));
            return None;
        }
        Some(hierarchy.in_file.iter().map(|&index| DAffine3::from_mat4(matrices[index])).collect())
    };
    if hierarchy.len() == 0 {
        return Some((Vec::new(), Vec::new()));
    }
    let (bind, rest) = match (read("bindTransforms"), read("restTransforms")) {
        (Some(bind), Some(rest)) => (bind, rest),
        (Some(bind), None) => {
            let rest = (0..bind.len()).map(|index| match bind.get(hierarchy.parents[index] as usize) {
                Some(parent) => parent.inverse() * bind[index],
                None => bind[index],
            });
            let rest = rest.collect();
            (bind, rest)
        }
        (None, Some(rest)) => {
            let mut bind: Vec<DAffine3> = Vec::with_capacity(rest.len());
            for (index, local) in rest.iter().enumerate() {
                let parent = bind.get(hierarchy.parents[index] as usize).copied();
                bind.push(parent.unwrap_or(DAffine3::IDENTITY) * *local);
            }
            (bind, rest)
        }
        (None, None) => {
            values.warn(format!("{}: has joints without transforms; meshes stay as they are", prim.path()));
            return None;
        }
    };
    let invertible = |matrix: &DAffine3| matrix.is_finite() && matrix.inverse().is_finite();
    let rest: Vec<JointPose> = rest.iter().map(decompose).collect();
    if !bind.iter().all(invertible) || !rest.iter().all(is_finite) {
        values.warn(format!("{}: a joint has a transform without an inverse; meshes stay as they are", prim.path()));
        return None;
    }
    Some((bind, rest))
}

fn decompose(matrix: &DAffine3) -> JointPose {
    let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
    JointPose { translation: translation.as_vec3(), rotation: unit(rotation.as_quat()), scale: scale.as_vec3() }
}

fn is_finite(pose: &JointPose) -> bool {
    pose.translation.is_finite() && pose.rotation.is_finite() && pose.scale.is_finite()
}

/// The rotation of a quaternion; none for a quaternion of length 0.
fn unit(rotation: Quat) -> Quat {
    let length = rotation.length();
    if length > 1e-12 { rotation / length } else { Quat::IDENTITY }
}

/// The joints over time. Joints that the animation lacks, and components that it lacks, are those of the rest pose.
fn pose(values: &Values, animation: &Prim, hierarchy: &Hierarchy, rest: &[JointPose]) -> Sampled<Vec<JointPose>> {
    let animated = values.get::<Vec<String>>(animation, "joints").unwrap_or_default();
    let sources: HashMap<&str, usize> =
        animated.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
    let sources: Vec<Option<usize>> = hierarchy.names.iter().map(|name| sources.get(name.as_str()).copied()).collect();
    if sources.iter().all(Option::is_none) {
        if hierarchy.len() > 0 && !animated.is_empty() {
            values.warn(format!("{}: animates no joint of the skeleton; it rests", animation.path()));
        }
        return Sampled::Still(rest.to_vec());
    }
    over_time(values, animation, &COMPONENTS, |time| {
        let translations: Vec<Vec3> = component(values, animation, "translations", time, animated.len());
        let rotations: Vec<Quat> = component(values, animation, "rotations", time, animated.len());
        let scales: Vec<Vec3> = component(values, animation, "scales", time, animated.len());
        let joint = |(rest, source): (&JointPose, &Option<usize>)| match source {
            Some(index) => JointPose {
                translation: translations.get(*index).copied().unwrap_or(rest.translation),
                rotation: rotations.get(*index).map_or(rest.rotation, |rotation| unit(*rotation)),
                scale: scales.get(*index).copied().unwrap_or(rest.scale),
            },
            None => *rest,
        };
        rest.iter().zip(&sources).map(joint).collect()
    })
}

/// One component of all animated joints; empty, after a warning, if their number is wrong.
fn component<T>(values: &Values, animation: &Prim, name: &str, time: Option<f64>, joints: usize) -> Vec<T>
where
    Vec<T>: crate::reader::values::FromUsd,
{
    let component: Vec<T> = at(values, animation, name, time, Vec::new());
    if component.len() == joints || component.is_empty() {
        return component;
    }
    let found = component.len();
    values.warn(format!("{}.{name}: has {found} values for {joints} joints; they are left out", animation.path()));
    Vec::new()
}

/// Weights of blend shapes over time.
fn shape_weights(values: &Values, animation: &Prim) -> Vec<(String, Sampled<f32>)> {
    let names = values.get::<Vec<String>>(animation, "blendShapes").unwrap_or_default();
    let weights = over_time(values, animation, &["blendShapeWeights"], |time| {
        at(values, animation, "blendShapeWeights", time, Vec::<f32>::new())
    });
    if names.is_empty() {
        return Vec::new();
    }
    if !weights.all(|weights| weights.len() == names.len() || weights.is_empty()) {
        values
            .warn(format!("{}.blendShapeWeights: has a wrong number of values; those missing are 0", animation.path()));
    }
    let weight = |index: usize| weights.map(|weights| weights.get(index).copied().unwrap_or(0.0));
    names.into_iter().enumerate().map(|(index, name)| (name, still_if_equal(weight(index)))).collect()
}

/// A value that does not change as a still one.
fn still_if_equal(sampled: Sampled<f32>) -> Sampled<f32> {
    let first = *sampled.first();
    if sampled.all(|value| *value == first) { Sampled::Still(first) } else { sampled }
}
