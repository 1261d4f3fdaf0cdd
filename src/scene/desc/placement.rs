//! `instances: [..]` and the contents of groups: where copies of meshes and groups stand.

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
    /// `Single` by another name, for reading: `Group(of: [Single(..), Grid(..)], motion: "turn")`.
    Group(Group),
}

/// The fields that every placement has, borrowed from whichever it is.
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

/// Declares a placement with its own fields and the ones that all share.
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
            /// Degrees about x, then y, then z, or `(axis: .., degrees: ..)`.
            #[serde(default)]
            pub rotate: Rotation,
            /// A number or `(x, y, z)`.
            #[serde(default)]
            pub scale: Scale,
            /// For everything in it that does not name its own; overrides the mesh's materials.
            #[serde(default)]
            pub material: Option<String>,
            /// Several, of which each copy gets one; instead of `material`.
            #[serde(default)]
            pub materials: Vec<String>,
            /// How a copy gets its one of `materials`: `cycle` (default) or `random(seed)`.
            #[serde(default)]
            pub choose: Choose,
            /// Applied to each copy, in its own space.
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
    /// `Single(of: "dragon", translate: (0, 1, 0), scale: 0.5)`
    Single {}
}

placement! {
    /// `Group(of: [Single(of: "ball"), Single(of: "box")], rotate: (0, 45, 0))`
    Group {}
}

placement! {
    /// `Grid(of: "tree", count: (10, 1, 10), spacing: (2, 0, 2))`, centred about its origin.
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
    /// `Scatter(of: "dragon", on: "dragon", at: vertices, spread: 0.2, each: (scale: 0.0025))`
    Scatter {
        /// The mesh whose points are used; it need not be placed itself.
        on: String,
        /// `vertices` (in the order of an OBJ file's `v` lines) or `surface(count: 1000, seed: 0)`.
        at: Sample,
        /// Uses only each n-th point, from the first. Default 1.
        #[serde(default = "one")]
        every: u32,
        /// Factor of the points' positions. Default 1.
        #[serde(default)]
        spread: Scale,
        /// `none` (default), or `normal`: each copy's +Y points along the surface normal.
        #[serde(default)]
        align: Align,
        /// Offset along the normal, after `spread`. Default 0.
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
    /// `Random(of: "rock", count: 5000, min: (-50, 0, -50), max: (50, 0, 50), sizes: (0.5, 2))`
    Random {
        count: u32,
        #[serde(default)]
        seed: u32,
        min: Point,
        max: Point,
        /// Least and greatest size of a copy, both above 0. Default (1, 1).
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

/// `each: (translate: (0, 1, 0), rotate: (90, 0, 0), scale: 0.5)`
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "each", default, deny_unknown_fields)]
pub struct Each {
    pub translate: Point,
    pub rotate: Rotation,
    pub scale: Scale,
}

/// `jitter: (translate: (0.1, 0, 0.1), rotate: 180, scale: 0.2, seed: 1)`
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "jitter", default, deny_unknown_fields)]
pub struct Jitter {
    /// Up to this far each way along each axis.
    pub translate: Point,
    /// Up to this many degrees each way about the copy's Y axis.
    pub rotate: Finite,
    /// Larger or smaller by up to this fraction, 0 to below 1.
    pub scale: Finite,
    pub seed: u32,
}

/// Where on a mesh copies stand.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "at", rename_all = "snake_case")]
pub enum Sample {
    Vertices,
    Surface(Surface),
}

/// `surface(count: 1000, seed: 0)`: uniform over the area.
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
