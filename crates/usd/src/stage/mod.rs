//! A composed stage as plain data. All indices are valid and all numbers finite.
//!
//! Units and spaces are the stage's own: [`Stage::up`], [`Stage::meters_per_unit`] and [`Stage::times`] tell what they are. Matrices act on
//! column vectors, as everywhere in throng; USD writes them for row vectors. Times are time codes.

mod computed;
mod geometry;
mod material;
mod skeleton;
mod view;

pub use computed::*;
pub use geometry::*;
pub use material::*;
pub use skeleton::*;
pub use view::*;

use glam::{Affine3, DAffine3};
use std::{collections::BTreeMap, path::PathBuf};

/// An index that refers to nothing.
pub const NONE: u32 = u32::MAX;

/// Combines the components of two values.
pub(crate) fn zip(a: [f32; 4], b: [f32; 4], combine: impl Fn(f32, f32) -> f32) -> [f32; 4] {
    std::array::from_fn(|i| combine(a[i], b[i]))
}

/// A composed stage.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// Files of all layers that were read, the root layer first.
    pub layers: Vec<PathBuf>,
    /// The axis that points up.
    pub up: UpAxis,
    /// Length of a unit.
    pub meters_per_unit: f64,
    /// The range of time and its rate.
    pub times: Times,
    /// Groups of items. The first is the world. A group precedes the groups that it places.
    pub groups: Vec<Group>,
    /// Shapes, each stored once.
    pub shapes: Vec<Shape>,
    /// Materials that shapes are bound to, each once.
    pub materials: Vec<Material>,
    /// Pictures that materials and lights read, each once.
    pub pictures: Vec<Asset>,
    /// Lights in world space.
    pub lights: Vec<Light>,
    /// Cameras in world space, in the order of the stage.
    pub cameras: Vec<Camera>,
    /// Skeletons with the animation that each plays.
    pub skeletons: Vec<SkeletonPose>,
    /// Settings of pictures.
    pub render: RenderSettings,
    /// What the stage has, for reports.
    pub census: Census,
    /// What was replaced or left out: one line each, with the prim.
    pub warnings: Vec<String>,
}

/// Settings of pictures (UsdRenderSettings) in the prim that the stage names (`renderSettingsPrimPath`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderSettings {
    /// Width and height in pixels.
    pub resolution: Option<[u32; 2]>,
    /// throng's own settings, which are texts, by their names without [`Self::PREFIX`].
    pub own: Vec<(String, String)>,
}

impl RenderSettings {
    /// What names of throng's own settings begin with.
    pub const PREFIX: &str = "throng:";
}

/// The axis that points up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpAxis {
    /// +Y.
    #[default]
    Y,
    /// +Z.
    Z,
}

/// The range of time codes and their rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// First and last time code, if the stage has a range.
    pub range: Option<(f64, f64)>,
    /// Time codes per second.
    pub per_second: f64,
}

impl Default for Times {
    fn default() -> Self {
        Self { range: None, per_second: 24.0 }
    }
}

/// A value that may change over time, interpolated linearly between samples.
#[derive(Clone, Debug, PartialEq)]
pub enum Sampled<T> {
    /// A value that stays.
    Still(T),
    /// At least two values at increasing time codes. The first one holds before its time, the last one after it.
    Moving(Vec<(f64, T)>),
}

impl<T> Sampled<T> {
    /// The value at the first time.
    pub fn first(&self) -> &T {
        match self {
            Self::Still(value) => value,
            Self::Moving(samples) => &samples[0].1,
        }
    }

    /// The values around a time, and the share from 0 to 1 of the time between them that has passed.
    pub fn around(&self, time: f64) -> (&T, &T, f64) {
        let samples = match self {
            Self::Still(value) => return (value, value, 0.0),
            Self::Moving(samples) => samples,
        };
        let after = samples.partition_point(|(own, _)| *own <= time).clamp(1, samples.len());
        let (from, a) = &samples[after - 1];
        match samples.get(after) {
            Some((to, b)) => (a, b, ((time - from) / (to - from)).clamp(0.0, 1.0)),
            None => (a, a, 0.0),
        }
    }

    /// Whether it changes.
    pub fn moves(&self) -> bool {
        matches!(self, Self::Moving(_))
    }

    /// Whether the condition holds for all values.
    pub fn all(&self, holds: impl FnMut(&T) -> bool) -> bool {
        match self {
            Self::Still(value) => [value].into_iter().all(holds),
            Self::Moving(samples) => samples.iter().map(|(_, value)| value).all(holds),
        }
    }

    /// The values after a conversion of each.
    pub fn map<U>(&self, mut convert: impl FnMut(&T) -> U) -> Sampled<U> {
        match self {
            Self::Still(value) => Sampled::Still(convert(value)),
            Self::Moving(samples) => {
                Sampled::Moving(samples.iter().map(|(time, value)| (*time, convert(value))).collect())
            }
        }
    }
}

impl<T: Default> Default for Sampled<T> {
    fn default() -> Self {
        Self::Still(T::default())
    }
}

/// Objects that are placed together: the world, the prototype of native instances, or a prototype of a point instancer.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Path of the prim that it was made of.
    pub name: String,
    /// Its objects.
    pub items: Vec<Item>,
}

/// An object in a group.
#[derive(Clone, Debug)]
pub struct Item {
    /// Path of its prim.
    pub name: String,
    /// What is placed.
    pub content: Content,
    /// Its place, composed of all transforms between the group and the object. Rotations between samples are short enough for matrices to be
    /// interpolated.
    pub group_from_item: Sampled<DAffine3>,
    /// Whether it is visible, with all prims above it in the group. Steps, not interpolated.
    pub shown: Sampled<bool>,
}

/// What an [`Item`] places.
#[derive(Clone, Debug)]
pub enum Content {
    /// A shape.
    Shape {
        /// Index into [`Stage::shapes`].
        shape: u32,
        /// Index into [`Stage::materials`] or [`NONE`]: for each subset of the mesh, then for its remaining faces.
        materials: Vec<u32>,
        /// Index into [`Stage::skeletons`] of the pose that a skinned mesh follows, or [`NONE`].
        skeleton: u32,
        /// Constant colour inherited from above, if the shape has none of its own (linear `displayColor`).
        color: Option<[f32; 3]>,
        /// Constant opacity inherited from above, if the shape has none of its own (`displayOpacity`).
        opacity: Option<f32>,
    },
    /// Index into [`Stage::groups`].
    Group(u32),
    /// Copies of groups (UsdGeomPointInstancer).
    Copies(Copies),
}

/// Copies of groups, with transforms relative to the item.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// Indices into [`Stage::groups`].
    pub prototypes: Vec<u32>,
    /// Index in `prototypes` of each copy. A copy keeps its number over time: its `ids`, or its position in the arrays.
    pub of: Vec<u32>,
    /// `item_from_copy` of each copy. Where all columns are NaN, the copy is not there at that time.
    pub places: Sampled<Vec<Affine3>>,
}

/// Marks a copy that is not there, in [`Copies::places`].
pub const ABSENT: Affine3 = Affine3::NAN;

/// What a stage has, for reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Active, defined and loaded prims outside of prototypes.
    pub prims: u64,
    /// Native instances, with those in prototypes counted once per copy.
    pub native_instances: u64,
    /// Prototypes of native instances.
    pub prototypes: u64,
    /// Copies of all point instancers at the first time, with those in prototypes counted once per copy.
    pub point_instances: u64,
    /// Types of prims that were left out, with their numbers.
    pub left_out: BTreeMap<String, u64>,
    /// Assets that do not exist.
    pub unresolved: Vec<String>,
}
