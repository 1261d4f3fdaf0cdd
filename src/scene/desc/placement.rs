//! `instances: [..]` and the contents of groups: how copies of meshes and groups are placed.

use super::{Finite, Of, Point, Rotation, Scale};
use serde::Deserialize;

/// An entry of `instances`, of `groups`, or of a list given as `of:`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "placement")]
pub enum Placement {
    /// One copy.
    Single(Single),
    /// Copies on a regular grid.
    Grid(Grid),
    /// Copies on the vertices or the surface of a mesh.
    Scatter(Scatter),
    /// Copies at random in a box.
    Random(Random),
    /// The same as `Single`, by a name that reads better with lists: `Group(of: [Single(..), Grid(..)], motion: "turn")`.
    Group(Group),
}

/// The fields that all kinds of placement share, borrowed from one of them.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    pub of: &'a Of,
    pub translate: Point,
    pub rotate: Rotation,
    pub scale: Scale,
    pub material: Option<&'a str>,
    pub materials: &'a [String],
    pub choose: Choose,
    pub motion: Option<&'a str>,
}

/// Declares a kind of placement, with its own fields and those that all kinds share.
macro_rules! placement {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The mesh or group that is placed.
            pub of: Of,
            $($(#[$field_doc])* pub $field: $type,)*
            /// Moves the whole placement: scaled first, then rotated, then translated.
            #[serde(default)]
            pub translate: Point,
            /// Rotation in degrees about x, then y, then z, or `(axis: .., degrees: ..)`.
            #[serde(default)]
            pub rotate: Rotation,
            /// Scale: a number or `(x, y, z)`; negative numbers mirror. Default 1.
            #[serde(default)]
            pub scale: Scale,
            /// Name of the material of everything in the placement that does not name its own; replaces the mesh's materials.
            #[serde(default)]
            pub material: Option<String>,
            /// Instead of `material`: names of several materials, of which each copy gets one.
            #[serde(default)]
            pub materials: Vec<String>,
            /// How one of `materials` is chosen for each copy: `cycle` (default) or `random(seed)`.
            #[serde(default)]
            pub choose: Choose,
            /// Name of a motion, which moves each copy in its own space.
            #[serde(default)]
            pub motion: Option<String>,
        }

        impl $name {
            fn common(&self) -> Common<'_> {
                Common {
                    of: &self.of,
                    translate: self.translate,
                    rotate: self.rotate,
                    scale: self.scale,
                    material: self.material.as_deref(),
                    materials: &self.materials,
                    choose: self.choose,
                    motion: self.motion.as_deref(),
                }
            }
        }
    };
}

placement! {
    /// `Single(of: "dragon", translate: (0, 1, 0), scale: 0.5)`: one copy.
    Single {}
}

placement! {
    /// `Group(of: [Single(of: "ball"), Single(of: "box")], rotate: (0, 45, 0))`: several things placed as one.
    Group {}
}

placement! {
    /// `Grid(of: "tree", count: (10, 1, 10), spacing: (2, 0, 2))`: copies on a regular grid, centred about its origin.
    Grid {
        /// Copies along x, y and z, each at least 1.
        count: (u32, u32, u32),
        spacing: Point,
        /// The transform of each copy in its place.
        #[serde(default)]
        each: Each,
        /// Random variation of each copy.
        #[serde(default)]
        jitter: Jitter,
    }
}

placement! {
    /// `Scatter(of: "dragon", on: "dragon", at: vertices, spread: 0.2, each: (scale: 0.0025))`: copies on points of a mesh.
    Scatter {
        /// The mesh whose points are used; it need not be placed itself.
        on: String,
        /// Points that are used: `vertices` (in the order of an OBJ file's `v` lines) or `surface(count: 1000, seed: 0)`.
        at: Sample,
        /// Uses only every n-th point, beginning with the first. Default 1.
        #[serde(default = "one")]
        every: u32,
        /// Scale of the positions of the points, but not of the copies: a number or `(x, y, z)`. Default 1.
        #[serde(default)]
        spread: Scale,
        /// Orientation of the copies: `none` (default), or `normal`: each copy's +Y points along the surface normal.
        #[serde(default)]
        align: Align,
        /// Offset of each copy along the normal, in scene units, after `spread`. Default 0.
        #[serde(default)]
        lift: Finite,
        /// The transform of each copy in its place.
        #[serde(default)]
        each: Each,
        /// Random variation of each copy.
        #[serde(default)]
        jitter: Jitter,
    }
}

placement! {
    /// `Random(of: "rock", count: 5000, min: (-50, 0, -50), max: (50, 0, 50), sizes: (0.5, 2))`: copies at random in a box.
    Random {
        count: u32,
        #[serde(default)]
        seed: u32,
        min: Point,
        max: Point,
        /// Smallest and largest scale of a copy, both above 0. Default (1, 1).
        #[serde(default = "ones")]
        sizes: (Finite, Finite),
        /// Random rotation of each copy: `none` (default), `y` or `any`.
        #[serde(default)]
        turn: Turn,
        /// The transform of each copy in its place.
        #[serde(default)]
        each: Each,
    }
}

fn one() -> u32 {
    1
}

fn ones() -> (Finite, Finite) {
    (Finite(1.0), Finite(1.0))
}

impl Placement {
    /// The fields that all placements share.
    pub fn common(&self) -> Common<'_> {
        match self {
            Self::Single(p) => p.common(),
            Self::Grid(p) => p.common(),
            Self::Scatter(p) => p.common(),
            Self::Random(p) => p.common(),
            Self::Group(p) => p.common(),
        }
    }
}

/// `each: (translate: (0, 1, 0), rotate: (90, 0, 0), scale: 0.5)`: a transform of every copy in its place.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "each", default, deny_unknown_fields)]
pub struct Each {
    pub translate: Point,
    pub rotate: Rotation,
    pub scale: Scale,
}

/// `jitter: (translate: (0.1, 0, 0.1), rotate: 180, scale: 0.2, seed: 1)`: random variation of every copy.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "jitter", default, deny_unknown_fields)]
pub struct Jitter {
    /// Greatest random offset along each axis, either way, in scene units.
    pub translate: Point,
    /// Greatest random rotation about the copy's Y axis, either way, in degrees.
    pub rotate: Finite,
    /// Greatest random change in size, either way, as a fraction: at least 0 and below 1.
    pub scale: Finite,
    pub seed: u32,
}

/// The points of a mesh that copies are placed on.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "at", rename_all = "snake_case")]
pub enum Sample {
    Vertices,
    Surface(Surface),
}

/// `surface(count: 1000, seed: 0)`: random points, uniform over the area.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    pub count: u32,
    #[serde(default)]
    pub seed: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "align", rename_all = "snake_case")]
pub enum Align {
    #[default]
    None,
    Normal,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "turn", rename_all = "snake_case")]
pub enum Turn {
    #[default]
    None,
    Y,
    Any,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "choose", rename_all = "snake_case")]
pub enum Choose {
    #[default]
    Cycle,
    Random(u32),
}
