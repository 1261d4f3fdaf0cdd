//! Skeletons, their animations, and meshes that follow them (UsdSkel).
//!
//! [`Skeletons`] finds the skeleton and the animation of a prim, `pose` reads them, [`skin`] reads how a mesh follows, and `shapes` its blend
//! shapes.

mod pose;
mod shapes;
mod skin;

#[cfg(test)]
mod tests;

pub use skin::skin;

use super::{prototypes::is_prototype_root, values::Values};
use crate::{NONE, SkeletonPose};
use openusd::{sdf, usd::Prim};
use std::{collections::HashMap, rc::Rc};

/// The properties of a mesh that it inherits from prims above.
const INHERITED: [&str; 5] = [
    "primvars:skel:jointIndices",
    "primvars:skel:jointWeights",
    "primvars:skel:geomBindTransform",
    "primvars:skel:skinningMethod",
    "skel:joints",
];

/// The skeleton and animation that a prim and its descendants follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SkelBound {
    /// Whether a SkelRoot is above. Skeletons have no effect outside of one.
    in_root: bool,
    /// Path of the skeleton.
    skeleton: Option<sdf::Path>,
    /// Path of the animation that is inherited.
    animation: Option<sdf::Path>,
    /// The prims that have the properties in [`INHERITED`].
    holders: [Option<sdf::Path>; INHERITED.len()],
}

impl SkelBound {
    /// The prim that has an inherited property.
    fn holder(&self, values: &Values, name: &str) -> Option<Prim> {
        let index = INHERITED.iter().position(|known| *known == name)?;
        values.prim(self.holders[index].as_ref()?)
    }

    /// Path of the skeleton, if it has an effect.
    fn skeleton(&self) -> Option<&sdf::Path> {
        self.skeleton.as_ref().filter(|_| self.in_root)
    }
}

/// The skeletons of a stage.
pub struct Skeletons {
    values: Rc<Values>,
    poses: Vec<SkeletonPose>,
    /// Index of each pair of skeleton and animation, or [`NONE`].
    known: HashMap<(sdf::Path, Option<sdf::Path>), u32>,
}

impl Skeletons {
    /// No skeletons yet.
    pub fn new(values: &Rc<Values>) -> Self {
        Self { values: values.clone(), poses: Vec::new(), known: HashMap::new() }
    }

    /// What the prim follows, from its own bindings and those above it. The root of a prototype has the bindings of the instance.
    pub fn bind(&mut self, prim: &Prim, above: &SkelBound) -> SkelBound {
        let values = &self.values;
        let mut bound = above.clone();
        if is_prototype_root(prim.path()) {
            return bound;
        }
        bound.in_root |= values.type_name(prim) == "SkelRoot";
        let has_any = ["skel:", "primvars:skel:"].iter().any(|prefix| values.has_prefix(prim, prefix));
        if !has_any {
            return bound;
        }
        // An empty list of targets ends the inheritance.
        if values.has(prim, "skel:skeleton") {
            bound.skeleton = values.targets(prim, "skel:skeleton").into_iter().next();
        }
        if values.has(prim, "skel:animationSource") {
            bound.animation = values.targets(prim, "skel:animationSource").into_iter().next();
        }
        for (holder, name) in bound.holders.iter_mut().zip(INHERITED) {
            if values.has(prim, name) {
                *holder = Some(prim.path().clone());
            }
        }
        bound
    }

    /// Index in [`crate::Stage::skeletons`] of the pose, or [`NONE`]. Equal pairs of skeleton and animation share a pose.
    pub fn pose(&mut self, bound: &SkelBound) -> u32 {
        let Some(skeleton) = bound.skeleton() else { return NONE };
        let animation = self.animation(skeleton, bound);
        let key = (skeleton.clone(), animation);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let pose = self.skeleton_prim(bound).and_then(|prim| {
            let animation = key.1.as_ref().and_then(|path| pose::animation(&self.values, path));
            pose::read(&self.values, &prim, animation.as_ref())
        });
        let index = match pose {
            Some(pose) => {
                self.poses.push(pose);
                self.poses.len() as u32 - 1
            }
            None => NONE,
        };
        self.known.insert(key, index);
        index
    }

    /// Path of the skeleton prim, which places the meshes that follow it. `None` without one.
    pub fn skeleton(&self, bound: &SkelBound) -> Option<sdf::Path> {
        Some(self.skeleton_prim(bound)?.path().clone())
    }

    /// All poses that were asked for.
    pub fn finish(self) -> Vec<SkeletonPose> {
        self.poses
    }

    fn skeleton_prim(&self, bound: &SkelBound) -> Option<Prim> {
        pose::skeleton(&self.values, bound.skeleton()?)
    }

    /// The animation of a skeleton: bound to it or above it. Above the root of a prototype, and where that gives none, it is the one that the
    /// mesh inherits.
    fn animation(&self, skeleton: &sdf::Path, bound: &SkelBound) -> Option<sdf::Path> {
        let mut path = Some(skeleton.clone());
        while let Some(at) = path.filter(|at| !at.is_abs_root() && !is_prototype_root(at)) {
            let prim = self.values.prim(&at)?;
            if self.values.has(&prim, "skel:animationSource") {
                return self.values.targets(&prim, "skel:animationSource").into_iter().next();
            }
            path = at.parent();
        }
        bound.animation.clone()
    }
}
