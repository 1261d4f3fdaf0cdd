//! `instances: [..]` and the contents of groups: how copies of meshes and groups are placed.

use super::{Finite, Of, Point, Rotation, Scale, Varying};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor, value},
};
use std::fmt;

/// An entry of `instances`, of a list in `groups`, or of a list that is the `of` of another placement.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "placement")]
pub enum Placement {
    Single(Single),
    Grid(Grid),
    Scatter(Scatter),
    Random(Random),
    Along(Along),
    Group(Group),
}

/// The fields that all kinds of placement share, borrowed from one of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common<'a> {
    pub of: &'a Of,
    pub translate: Point,
    pub rotate: Rotation,
    pub scale: Scale,
    pub material: Option<&'a str>,
    pub materials: &'a [String],
    pub choose: Choose,
    pub motion: Option<&'a str>,
    pub drop: Option<&'a DropDesc>,
    pub parent: Option<&'a str>,
    pub visible: &'a Varying<bool>,
    pub mix_seed: u32,
    pub nest: Option<bool>,
}

/// Declares a kind of placement, with its own fields and those that all kinds share.
macro_rules! placement {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The mesh or group that is placed; `{"oak": 3, "pine": 1}` gives each copy one of several, by their weights.
            pub of: Of,
            $($(#[$field_doc])* pub $field: $type,)*
            /// Moves the whole placement: scaled first, then rotated, then translated. Default (0, 0, 0).
            #[serde(default)]
            pub translate: Point,
            /// Rotation in degrees about x, then y, then z, or `(axis: (0, 1, 0), degrees: 90)`. Default (0, 0, 0).
            #[serde(default)]
            pub rotate: Rotation,
            /// Scale: a number or `(x, y, z)`; negative numbers mirror. Default 1.
            #[serde(default)]
            pub scale: Scale,
            /// Name of the material of everything in the placement that does not name its own; replaces the mesh's materials.
            /// Default: none.
            #[serde(default)]
            pub material: Option<String>,
            /// Instead of `material`: names of several materials, of which each copy gets one. Default: none.
            #[serde(default)]
            pub materials: Vec<String>,
            /// How one of `materials` is chosen for each copy: `cycle` (default) or `random(seed)`.
            #[serde(default)]
            pub choose: Choose,
            /// Name of a motion, which moves each copy in its own space. Default: none, it is at rest.
            #[serde(default)]
            pub motion: Option<String>,
            /// Name of a mesh or group onto which each copy is moved down or up, or `(on: "terrain", align: normal, lift: 0.1)`.
            /// It counts as the placements above in the same list place it, at rest. Copies beside it are left out.
            /// Default: copies stay where they are.
            #[serde(default)]
            pub drop: Option<DropDesc>,
            /// Name of a group that carries the placement, whose space it is then in: that of its first copy, which an entry above places.
            /// Only entries of `instances` have one. Default: none.
            #[serde(default)]
            pub parent: Option<String>,
            /// When it is shown: `true` (default), `false`, or `keys([(0, false), (4, true)])` over time.
            #[serde(default = "always")]
            pub visible: Varying<bool>,
            /// Seed of the choice among several things that `of` gives by weight. Default 0.
            #[serde(default)]
            pub mix_seed: u32,
            /// Whether a group is kept as a tree of its own, so that its copies cost no more than those of a mesh and all move alike:
            /// `true` or `false`. Default: where that saves more than a million records of instances.
            #[serde(default)]
            pub nest: Option<bool>,
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
                    drop: self.drop.as_ref(),
                    parent: self.parent.as_deref(),
                    visible: &self.visible,
                    mix_seed: self.mix_seed,
                    nest: self.nest,
                }
            }
        }
    };
}

placement! {
    /// `Single(of: "dragon", translate: (0, 1, 0), scale: 0.5)`: one copy.
    Single {}
}

impl Single {
    /// A copy of the mesh or group of that name, as it is.
    pub fn new(of: impl Into<String>) -> Self {
        Self {
            of: Of::Name(of.into()),
            translate: Point::default(),
            rotate: Rotation::default(),
            scale: Scale::default(),
            material: None,
            materials: Vec::new(),
            choose: Choose::default(),
            motion: None,
            drop: None,
            parent: None,
            visible: always(),
            mix_seed: 0,
            nest: None,
        }
    }
}

placement! {
    /// `Group(of: [Single(of: "ball"), Single(of: "box")], rotate: (0, 45, 0))`: several things placed as one. It is the same as
    /// `Single`, by a name that reads better with lists.
    Group {}
}

placement! {
    /// `Grid(of: "tree", count: (10, 1, 10), spacing: (2, 0, 2))`: copies on a regular grid, centred about its origin.
    Grid {
        /// Copies along x, y and z, each at least 1.
        count: (u32, u32, u32),
        /// Distance from copy to copy along x, y and z, in scene units.
        spacing: Point,
        /// The transform of each copy in its place. Default: none.
        #[serde(default)]
        each: Each,
        /// Random variation of each copy. Default: none.
        #[serde(default)]
        jitter: Jitter,
    }
}

placement! {
    /// `Scatter(of: "dragon", on: "dragon", at: vertices, spread: 0.2, each: (scale: 0.0025))`: copies on points of a mesh.
    Scatter {
        /// The mesh whose points are used; it need not be placed itself.
        on: String,
        /// Points that are used: `vertices` (in the order of an OBJ file's `v` lines), `surface(count: 1000, seed: 0)` or
        /// `poisson(distance: 2, seed: 0)`.
        at: Sample,
        /// Rules that all points have to meet: `where: (slope: (0, 30), away_from: [("road", 4)])`. The others are left out. Default: no
        /// rules.
        #[serde(default, rename = "where")]
        rules: Rules,
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
        /// The transform of each copy in its place. Default: none.
        #[serde(default)]
        each: Each,
        /// Random variation of each copy. Default: none.
        #[serde(default)]
        jitter: Jitter,
    }
}

placement! {
    /// `Random(of: "rock", count: 5000, min: (-50, 0, -50), max: (50, 0, 50), sizes: (0.5, 2))`: copies at random in a box.
    Random {
        /// Number of copies.
        count: u32,
        /// Seed of the random numbers. Default 0.
        #[serde(default)]
        seed: u32,
        /// Corner of the box with the least x, y and z.
        min: Point,
        /// Corner of the box with the greatest x, y and z.
        max: Point,
        /// Smallest and largest scale of a copy, both above 0. Default (1, 1).
        #[serde(default = "ones")]
        sizes: (Finite, Finite),
        /// Random rotation of each copy: `none` (default), `y` or `any`.
        #[serde(default)]
        turn: Turn,
        /// The transform of each copy in its place. Default: none.
        #[serde(default)]
        each: Each,
    }
}

placement! {
    /// `Along(of: "lamp", curve: "road", spacing: 12, offset: (3, 0, 0))`: copies along a curve. Distances are arc lengths.
    Along {
        /// Name of a curve.
        curve: String,
        /// Distance from each copy to the next, above 0. On the whole of a closed curve it is made a little larger, so that all are alike. Either
        /// this or `count` is given.
        #[serde(default)]
        spacing: Option<Finite>,
        /// Number of copies, instead of `spacing`: at even distances, the first and the last at the ends.
        #[serde(default)]
        count: Option<u32>,
        /// Distance along the curve of the first copy. Default 0.
        #[serde(default)]
        from: Finite,
        /// Distance along the curve at which copies end. Default: the curve's length.
        #[serde(default)]
        to: Option<Finite>,
        /// Offset from the curve: to the right, up, and ahead along the curve. Default (0, 0, 0).
        #[serde(default)]
        offset: Point,
        /// Direction that copies face with their +X: `level` (default) is along the curve but upright, `tangent` also climbs with it, and
        /// `none` leaves them as they are.
        #[serde(default)]
        face: Face,
        /// The transform of each copy in its place. Default: none.
        #[serde(default)]
        each: Each,
        /// Random variation of each copy. Default: none.
        #[serde(default)]
        jitter: Jitter,
    }
}

fn always() -> Varying<bool> {
    Varying::Always(true)
}

fn one() -> u32 {
    1
}

fn ones() -> (Finite, Finite) {
    (Finite(1.0), Finite(1.0))
}

impl Placement {
    /// The fields that all placements share.
    pub(crate) fn common(&self) -> Common<'_> {
        match self {
            Self::Single(p) => p.common(),
            Self::Grid(p) => p.common(),
            Self::Scatter(p) => p.common(),
            Self::Random(p) => p.common(),
            Self::Group(p) => p.common(),
            Self::Along(p) => p.common(),
        }
    }
}

/// `each: (translate: (0, 1, 0), rotate: (90, 0, 0), scale: 0.5)`: a transform of every copy in its place.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "each", default, deny_unknown_fields)]
pub struct Each {
    /// Translation in scene units. Default (0, 0, 0).
    pub translate: Point,
    /// Rotation. Default (0, 0, 0).
    pub rotate: Rotation,
    /// Scale. Default 1.
    pub scale: Scale,
}

/// `jitter: (translate: (0.1, 0, 0.1), rotate: 180, scale: 0.2, seed: 1)`: random variation of every copy.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "jitter", default, deny_unknown_fields)]
pub struct Jitter {
    /// Greatest random offset along each axis, either way, in scene units. Default (0, 0, 0).
    pub translate: Point,
    /// Greatest random rotation about the copy's Y axis, either way, in degrees. Default 0.
    pub rotate: Finite,
    /// Greatest random change in size, either way, as a fraction: at least 0 and below 1. Default 0.
    pub scale: Finite,
    /// Seed of the random numbers. Default 0.
    pub seed: u32,
}

/// `at: vertices`: the points of a mesh that copies are placed on.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "at", rename_all = "snake_case")]
pub enum Sample {
    /// All vertices.
    Vertices,
    Surface(Surface),
    Poisson(Poisson),
}

/// `surface(count: 1000, seed: 0)` or `surface(density: 0.5)`: random points, uniform over the area.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// Number of points, before rules leave some out. Either this or `density` is given.
    #[serde(default)]
    pub count: Option<u32>,
    /// Instead of `count`: points for each unit of area, above 0. The area is that of the mesh as the copies lie on it.
    #[serde(default)]
    pub density: Option<Finite>,
    /// Seed of the random numbers. Default 0.
    #[serde(default)]
    pub seed: u32,
}

/// `poisson(distance: 2, seed: 0)`: random points as close together as they can be, but none nearer to another than a distance.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// Least distance between two points, as they lie in space, above 0.
    pub distance: Finite,
    /// Seed of the random numbers. Default 0.
    #[serde(default)]
    pub seed: u32,
}

/// `where: (slope: (0, 30), height: (2, 50), away_from: [("road", 4)], share: 0.5)`: rules for points of a mesh, all of which have to
/// hold. They are measured where the copies end up, after `spread` and before `lift`, in the space of the list that the placement is in:
/// for `instances`, in the world.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "where", default, deny_unknown_fields)]
pub struct Rules {
    /// Least and greatest angle between the surface's normal and +Y in degrees, 0 to 180. Default: any.
    pub slope: Option<(Finite, Finite)>,
    /// Least and greatest y. Default: any.
    pub height: Option<(Finite, Finite)>,
    /// A picture whose brightness is the probability of points, as its file has it: white keeps all. It lies over the mesh by its UVs, or
    /// over its bounds, seen from above with -Z at the top, if it has none. Default: none.
    pub mask: Option<String>,
    /// The channel of the mesh's vertex colours that is the probability of points: `r`, `g`, `b` or `a`. Default: none.
    pub vertex_color: Option<ColorChannel>,
    /// Least distances from curves, meshes and groups, by name, seen from above: `[("road", 4), ("house", 3)]`. Meshes and groups count
    /// as the placements above in the same list place them, at rest; of a mesh, the box around it is measured from, in its own space.
    /// Default: none.
    pub away_from: Vec<(String, Finite)>,
    /// Greatest distances, of the same kind. Default: none.
    pub near: Vec<(String, Finite)>,
    /// Share of the points that are kept at random, above 0 and at most 1. Default 1.
    pub share: Option<Finite>,
}

/// A channel of vertex colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename = "vertex_color", rename_all = "snake_case")]
pub enum ColorChannel {
    /// Red.
    R,
    /// Green.
    G,
    /// Blue.
    B,
    /// Alpha.
    A,
}

/// `drop: "terrain"` or `drop: (on: "terrain", align: normal, lift: 0.1)`: moves each copy down or up onto a mesh or group.
#[derive(Clone, Debug)]
pub struct DropDesc {
    /// Name of a mesh or group.
    pub on: String,
    /// `none` (default), or `normal`: each copy is tilted so that its +Y goes along the normal of the face below it.
    pub align: Align,
    /// Height above the mesh. Default 0.
    pub lift: Finite,
}

/// The long form of [`DropDesc`].
#[derive(Deserialize)]
#[serde(rename = "drop", deny_unknown_fields)]
struct DropFields {
    /// Name of a mesh or group.
    on: String,
    /// `none` (default), or `normal`: each copy is tilted so that its +Y goes along the normal of the face below it.
    #[serde(default)]
    align: Align,
    /// Height above the mesh, in scene units. Default 0.
    #[serde(default)]
    lift: Finite,
}

impl<'de> Deserialize<'de> for DropDesc {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(DropVisitor)
    }
}

struct DropVisitor;

impl<'de> Visitor<'de> for DropVisitor {
    type Value = DropDesc;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the name of a mesh or group, or (on: name, align: normal, lift: 0)")
    }

    fn visit_str<E: Error>(self, s: &str) -> Result<DropDesc, E> {
        Ok(DropDesc { on: s.to_owned(), align: Align::None, lift: Finite(0.0) })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<DropDesc, A::Error> {
        let DropFields { on, align, lift } = DropFields::deserialize(value::MapAccessDeserializer::new(map))?;
        Ok(DropDesc { on, align, lift })
    }
}

/// How copies on a surface are turned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "align", rename_all = "snake_case")]
pub enum Align {
    /// Not at all: they are upright. The default.
    #[default]
    None,
    /// Their +Y goes along the normal of the surface.
    Normal,
}

/// How copies are turned at random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "turn", rename_all = "snake_case")]
pub enum Turn {
    /// Not at all. The default.
    #[default]
    None,
    /// About Y, by any angle.
    Y,
    /// About any axis.
    Any,
}

/// `choose: random(3)`: how each copy gets one of several materials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "choose", rename_all = "snake_case")]
pub enum Choose {
    /// One after the other. The default.
    #[default]
    Cycle,
    /// `random(3)`: at random, with a seed.
    Random(u32),
}

/// Direction that copies along a curve face with their +X.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "face", rename_all = "snake_case")]
pub enum Face {
    /// As they are.
    None,
    /// Along the curve, but upright. The default.
    #[default]
    Level,
    /// Along the curve, also up and down.
    Tangent,
}
