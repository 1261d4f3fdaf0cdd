//! `instances: [..]` and the contents of groups: placements of copies of meshes and groups.

use super::{Double, Finite, Of, Point, Rate, Rotation, Scale, Varying};
use crate::Ends;
use glam::Affine3;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor, value},
};
use std::{fmt, sync::Arc};

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
    Table(Table),
    Group(Group),
    /// Copies at given transforms, in a scene that is built in code; not available in files.
    #[serde(skip)]
    Matrices(Matrices),
}

/// The fields shared by all kinds of placement, borrowed from one of them.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Common<'a> {
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

/// Declares a kind of placement with its own fields and the shared ones.
macro_rules! placement {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The mesh or group to place; `{"oak": 3, "pine": 1}` selects one of several for each copy, by weight.
            pub of: Of,
            $($(#[$field_doc])* pub $field: $type,)*
            /// Translation of the whole placement, which is scaled, then rotated, then translated. Default (0, 0, 0).
            #[serde(default)]
            pub translate: Point,
            /// Rotation in degrees about x, then y, then z, or `(axis: (0, 1, 0), degrees: 90)`. Default (0, 0, 0).
            #[serde(default)]
            pub rotate: Rotation,
            /// Scale: a number or `(x, y, z)`; negative numbers mirror. Default 1.
            #[serde(default)]
            pub scale: Scale,
            /// Name of a material, which replaces the mesh's materials. It applies to everything in the placement without its own material.
            /// Default: none.
            #[serde(default)]
            pub material: Option<String>,
            /// Instead of `material`: names of several materials. Each copy gets one. Default: none.
            #[serde(default)]
            pub materials: Vec<String>,
            /// Selection from `materials` for each copy: `cycle` (default) or `random(seed)`.
            #[serde(default)]
            pub choose: Choose,
            /// Name of a motion, which moves each copy in its own space. Default: none, copies are at rest.
            #[serde(default)]
            pub motion: Option<String>,
            /// Name of a mesh or group onto which each copy is moved, down or up, or `(on: "terrain", align: normal, lift: 0.1)`. That mesh
            /// or group must be placed earlier in the list; it is used at rest. Copies that miss it are left out. Default: copies are not
            /// moved.
            #[serde(default)]
            pub drop: Option<DropDesc>,
            /// Name of a group that carries the placement. The placement is then in the space of the group's first copy, which an earlier
            /// entry places. Only entries of `instances` can have a parent. Default: none.
            #[serde(default)]
            pub parent: Option<String>,
            /// Visibility: `true` (default), `false`, or `keys([(0, false), (4, true)])` over time.
            #[serde(default = "always")]
            pub visible: Varying<bool>,
            /// Seed of the random selection if `of` has weights. Default 0.
            #[serde(default)]
            pub mix_seed: u32,
            /// Whether a group is stored as a separate acceleration tree: `true` or `false`. Its copies then cost no more than copies of a
            /// mesh, and all move alike. Default: true if this saves more than a million instance records.
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
    /// One unmodified copy of the mesh or group with this name.
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
    /// Copies at given transforms, from the copy's space to the placement's. With as many `materials` as copies, each copy has its own.
    Matrices {
        /// The transforms of the copies. They must be finite, unless there are `times`.
        #[serde(skip)]
        transforms: Arc<[Affine3]>,
        /// Times in seconds, increasing, if the copies move: `transforms` then has those of all copies at the first time, at the second,
        /// and so on. A copy is not there where its transform is not finite. Empty for copies at rest.
        #[serde(skip)]
        times: Arc<[f64]>,
    }
}

impl Matrices {
    /// Copies of the mesh or group with this name.
    pub fn new(of: impl Into<String>, transforms: Arc<[Affine3]>, materials: Vec<String>) -> Self {
        let Single {
            of,
            translate,
            rotate,
            scale,
            material,
            choose,
            motion,
            drop,
            parent,
            visible,
            mix_seed,
            nest,
            ..
        } = Single::new(of);
        Self {
            transforms,
            times: Arc::default(),
            of,
            translate,
            rotate,
            scale,
            material,
            materials,
            choose,
            motion,
            drop,
            parent,
            visible,
            mix_seed,
            nest,
        }
    }
}

placement! {
    /// `Group(of: [Single(of: "ball"), Single(of: "box")], rotate: (0, 45, 0))`: several objects placed as one. A synonym of `Single` that
    /// reads better with lists.
    Group {}
}

placement! {
    /// `Grid(of: "tree", count: (10, 1, 10), spacing: (2, 0, 2))`: copies on a regular grid, centred about its origin.
    Grid {
        /// Number of copies along x, y and z, each at least 1.
        count: (u32, u32, u32),
        /// Distance between copies along x, y and z, in scene units.
        spacing: Point,
        /// Additional transform of each copy. Default: none.
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
        /// The mesh with the points. It need not be placed itself.
        on: String,
        /// Points to use: `vertices` (in the order of an OBJ file's `v` lines), `surface(count: 1000, seed: 0)` or `poisson(distance: 2,
        /// seed: 0)`.
        at: Sample,
        /// Rules for points, such as `where: (slope: (0, 30), away_from: [("road", 4)])`. Points that violate a rule are left out. Default:
        /// no rules.
        #[serde(default, rename = "where")]
        rules: Rules,
        /// Uses only every n-th point, starting with the first. Default 1.
        #[serde(default = "one")]
        every: u32,
        /// Scale of the points' positions, but not of the copies: a number or `(x, y, z)`. Default 1.
        #[serde(default)]
        spread: Scale,
        /// Orientation of the copies: `none` (default) or `normal`, which points each copy's +Y along the surface normal.
        #[serde(default)]
        align: Align,
        /// Offset of each copy along the normal, in scene units, after `spread`. Default 0.
        #[serde(default)]
        lift: Finite,
        /// Additional transform of each copy. Default: none.
        #[serde(default)]
        each: Each,
        /// Random variation of each copy. Default: none.
        #[serde(default)]
        jitter: Jitter,
    }
}

placement! {
    /// `Random(of: "rock", count: 5000, min: (-50, 0, -50), max: (50, 0, 50), sizes: (0.5, 2))`: copies at random positions in a box.
    Random {
        /// Number of copies.
        count: u32,
        /// Seed of the random numbers. Default 0.
        #[serde(default)]
        seed: u32,
        /// Corner of the box with the minimum x, y and z.
        min: Point,
        /// Corner of the box with the maximum x, y and z.
        max: Point,
        /// Minimum and maximum scale of a copy, both above 0. Default (1, 1).
        #[serde(default = "ones")]
        sizes: (Finite, Finite),
        /// Random rotation of each copy: `none` (default), `y` or `any`.
        #[serde(default)]
        turn: Turn,
        /// Additional transform of each copy. Default: none.
        #[serde(default)]
        each: Each,
    }
}

placement! {
    /// `Along(of: "lamp", curve: "road", spacing: 12, offset: (3, 0, 0))`: copies along a curve. Distances are arc lengths.
    Along {
        /// Name of a curve.
        curve: String,
        /// Distance between consecutive copies, above 0. If they fill a whole closed curve, it is increased slightly to make all distances
        /// equal. Either this or `count` is given.
        #[serde(default)]
        spacing: Option<Finite>,
        /// Number of copies, instead of `spacing`. They are evenly spaced, with the first and last at the ends.
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
        /// Direction of the copies' +X: `level` (default) follows the curve but stays upright, `tangent` also follows slopes, and `none`
        /// keeps the copies' orientation.
        #[serde(default)]
        face: Face,
        /// Additional transform of each copy. Default: none.
        #[serde(default)]
        each: Each,
        /// Random variation of each copy. Default: none.
        #[serde(default)]
        jitter: Jitter,
    }
}

placement! {
    /// `Table(of: "car", file: "tracks.npy", fps: 30)`: copies whose transforms over time are in a file, such as the agents of a simulation.
    ///
    /// A file has a row per frame and copy. Between two frames, positions and scales are interpolated linearly, and rotations along the
    /// shortest path at constant speed. A copy is there from the first to the last of successive frames with its row. A row is missing if
    /// the file lacks it, if one of its numbers is NaN or infinite, if its quaternion is zero, or if its matrix has no inverse.
    ///
    /// `.npy` files have the shape (frames, copies, 3, 4) or (frames, copies, 4, 4) for matrices in row-major order, or (frames, copies, n)
    /// for position and quaternion (n = 7), then one scale (n = 8) or three (n = 10), in single or double precision. They are read frame by
    /// frame and may be larger than memory.
    ///
    /// `.csv` files, and `.jsonl` files with an object per line, have the columns `frame` or `time` (in seconds), `id` (a number or name),
    /// `x`, `y` and `z`, and optionally `qx`, `qy`, `qz` and `qw`, or `yaw` (in degrees about the vertical axis, from above
    /// counter-clockwise), and `scale`, or `sx`, `sy` and `sz`. Other columns are ignored, and rows may be in any order. The frames of the
    /// file are the frames or times that occur in it, so all copies need rows at the same times: a copy without a row at one of them is
    /// absent around it. Copies are numbered in the order of the first rows of their ids. In memory, a row takes 60 to 84 bytes.
    ///
    /// At yaw 0, a copy has its own orientation. For a model that faces +Z, and a yaw that counts from +X, use `each: (rotate: (0, 90, 0))`.
    Table {
        /// The file.
        file: String,
        /// Frames per second of the file, above 0. Default: the `fps` of the scene. Files with times have none.
        #[serde(default)]
        fps: Option<Rate>,
        /// Time of frame 0 in seconds. For a file with times, the seconds to add to them. Default 0. The scene's first frame is at time 0: if
        /// the frames of the file count from 1, this is -1 / `fps`.
        #[serde(default)]
        start: Double,
        /// Behaviour before the first frame and after the last: `hold` (default), `loop` or `ping_pong`. In a loop, the last frame is at
        /// the time of the first.
        #[serde(default)]
        ends: Ends,
        /// Order of quaternions in `.npy` files: `xyzw` (default) or `wxyz`.
        #[serde(default)]
        quaternion: QuaternionOrder,
        /// Vertical axis of the file's coordinates: `y` (default) or `z`. With `z`, (x, y, z) is the point (x, z, -y) of the placement;
        /// copies stay upright, and their +X is the +X of the file.
        #[serde(default)]
        up: UpAxis,
        /// Additional transform of each copy. Default: none.
        #[serde(default)]
        each: Each,
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
    /// The fields shared by all placements.
    #[doc(hidden)]
    pub fn common(&self) -> Common<'_> {
        match self {
            Self::Single(p) => p.common(),
            Self::Grid(p) => p.common(),
            Self::Scatter(p) => p.common(),
            Self::Random(p) => p.common(),
            Self::Group(p) => p.common(),
            Self::Along(p) => p.common(),
            Self::Table(p) => p.common(),
            Self::Matrices(p) => p.common(),
        }
    }
}

/// `each: (translate: (0, 1, 0), rotate: (90, 0, 0), scale: 0.5)`: an additional transform of every copy, applied before the copy is
/// placed.
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
    /// Maximum random offset along each axis, in either direction, in scene units. Default (0, 0, 0).
    pub translate: Point,
    /// Maximum random rotation about the copy's Y axis, in either direction, in degrees. Default 0.
    pub rotate: Finite,
    /// Maximum random change of size, in either direction, as a fraction: at least 0 and below 1. Default 0.
    pub scale: Finite,
    /// Seed of the random numbers. Default 0.
    pub seed: u32,
}

/// `at: vertices`: the points of a mesh on which copies are placed.
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
    /// Instead of `count`: points per unit of area, above 0. The area is measured on the surface on which the copies lie.
    #[serde(default)]
    pub density: Option<Finite>,
    /// Seed of the random numbers. Default 0.
    #[serde(default)]
    pub seed: u32,
}

/// `poisson(distance: 2, seed: 0)`: dense random points with a minimum distance between any two.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// Minimum distance between two points in space, above 0.
    pub distance: Finite,
    /// Seed of the random numbers. Default 0.
    #[serde(default)]
    pub seed: u32,
}

/// `where: (slope: (0, 30), height: (2, 50), away_from: [("road", 4)], share: 0.5)`: rules for points of a mesh. A point must satisfy all
/// of them. They apply to the final positions of the copies, after `spread` and before `lift`, in the space of the placement's list: for
/// `instances`, in world space.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "where", default, deny_unknown_fields)]
pub struct Rules {
    /// Minimum and maximum angle between the surface normal and +Y in degrees, 0 to 180. Default: any.
    pub slope: Option<(Finite, Finite)>,
    /// Minimum and maximum y. Default: any.
    pub height: Option<(Finite, Finite)>,
    /// A picture whose brightness, as stored in the file, is the probability of keeping a point: white keeps all. It is mapped by the
    /// mesh's UVs. Without UVs, it covers the mesh's bounds, seen from above with -Z at the top. Default: none.
    pub mask: Option<String>,
    /// Channel of the mesh's vertex colours that is the probability of keeping a point: `r`, `g`, `b` or `a`. Default: none.
    pub vertex_color: Option<ColorChannel>,
    /// Minimum distances from named curves, meshes and groups, seen from above: `[("road", 4), ("house", 3)]`. Positions of meshes and
    /// groups are set by earlier placements in the list, at rest. Distances from a mesh are measured from its bounding box, in its own
    /// space. Default: none.
    pub away_from: Vec<(String, Finite)>,
    /// Maximum distances, in the form of `away_from`. Default: none.
    pub near: Vec<(String, Finite)>,
    /// Share of the points to keep at random, above 0 and at most 1. Default 1.
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
    /// Orientation of the copies: `none` (default) or `normal`, which tilts each copy so that its +Y follows the normal of the face below
    /// it.
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
    /// Orientation of the copies: `none` (default) or `normal`, which tilts each copy so that its +Y follows the normal of the face below
    /// it.
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

/// Orientation of copies on a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "align", rename_all = "snake_case")]
pub enum Align {
    /// Upright. The default.
    #[default]
    None,
    /// The copy's +Y points along the surface normal.
    Normal,
}

/// Random rotation of copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "turn", rename_all = "snake_case")]
pub enum Turn {
    /// No rotation. The default.
    #[default]
    None,
    /// About Y, by any angle.
    Y,
    /// About any axis.
    Any,
}

/// `choose: random(3)`: selection from several materials for each copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "choose", rename_all = "snake_case")]
pub enum Choose {
    /// In turn. The default.
    #[default]
    Cycle,
    /// `random(3)`: at random, with a seed.
    Random(u32),
}

/// Order of the numbers of a quaternion in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "quaternion", rename_all = "snake_case")]
pub enum QuaternionOrder {
    /// The scalar part comes last, as in ROS, SciPy and pybullet. The default.
    #[default]
    Xyzw,
    /// The scalar part comes first, as in Isaac Sim and MuJoCo.
    Wxyz,
}

/// Vertical axis of coordinates in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "up", rename_all = "snake_case")]
pub enum UpAxis {
    /// +Y. The default.
    #[default]
    Y,
    /// +Z.
    Z,
}

/// Direction of the +X axis of copies along a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "face", rename_all = "snake_case")]
pub enum Face {
    /// Unchanged orientation.
    None,
    /// Along the curve, but upright. The default.
    #[default]
    Level,
    /// Along the curve, including slopes.
    Tangent,
}
