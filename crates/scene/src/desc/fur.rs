//! The `Fur` entry of `meshes`: hair, grass and needles grown on a mesh.

use super::{Color, ColorChannel, Finite, Point};
use serde::Deserialize;
use throng_base::choice::choice;

/// `Fur(on: "hill", density: 2000, length: 0.3, width: 0.004)`: strands that grow on an earlier mesh, as curves in its coordinate space. Place
/// them like the mesh.
///
/// Strands have the texture coordinates and colours of the points on which they grow, and follow a model that is `alive`. Several instances of
/// a mesh need only one `Fur`, which is placed as often.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fur {
    /// The mesh on which the strands grow. It need not be placed itself.
    pub on: String,
    /// Number of strands per square unit of the mesh's surface. Either this or `count` is given.
    #[serde(default)]
    pub density: Option<Finite>,
    /// Number of strands, instead of `density`.
    #[serde(default)]
    pub count: Option<u32>,
    /// Length of the longest strands, above 0.
    pub length: Finite,
    /// Share by which strands are shorter at random, 0 to 1. Default 0.3.
    #[serde(default = "vary")]
    pub vary: Finite,
    /// Width at the root, above 0.
    pub width: Finite,
    /// Width at the tip, relative to the root's, 0 to 1. Default 0.1.
    #[serde(default = "tip")]
    pub tip: Finite,
    /// Number of segments per strand, 1 to 64. Default 6.
    #[serde(default = "segments")]
    pub segments: u32,
    /// Greatest angle in degrees between a root and the surface's normal, 0 to 90. Default 20.
    #[serde(default = "spread")]
    pub spread: Finite,
    /// Direction in which strands are combed, in the mesh's space. Its length says how far the tips turn to it. Default (0, 0, 0).
    #[serde(default)]
    pub comb: Point,
    /// How far tips turn downwards (-Y) by their weight, at least 0. Default 0.
    #[serde(default)]
    pub droop: Finite,
    /// How much strands turn at random along their length, at least 0. Default 0.2.
    #[serde(default = "curl")]
    pub curl: Finite,
    /// How far tips move to the middle of their clump, 0 to 1. Default 0.
    #[serde(default)]
    pub clump: Finite,
    /// Approximate distance between clumps, above 0. Default: the length.
    #[serde(default)]
    pub clump_size: Option<Finite>,
    /// Colours at the root and at the tip, which multiply the material's. Default: white.
    #[serde(default)]
    pub colors: Option<(Color, Color)>,
    /// Cross-section: `round` (default), or `ribbon` for flat strands that face each ray, which are cheaper.
    #[serde(default)]
    pub profile: StrandProfile,
    /// Name of the material. Default: grey, in the strands' colours.
    #[serde(default)]
    pub material: Option<String>,
    /// Rules for roots; strands grow where all of them hold. Default: everywhere.
    #[serde(default, rename = "where")]
    pub rules: FurRules,
    /// Wind in which the strands sway. Default: none.
    #[serde(default)]
    pub wind: Option<FurWind>,
    /// Seed of the random numbers. Default 0.
    #[serde(default)]
    pub seed: u32,
}

/// `where: (slope: (0, 40), mask: "meadow.png")`: rules for the roots of [`Fur`], in the mesh's space. `count` and `density` are numbers before
/// rules take strands away.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "where", default, deny_unknown_fields)]
pub struct FurRules {
    /// Minimum and maximum angle between the surface normal and +Y in degrees, 0 to 180. Default: any.
    pub slope: Option<(Finite, Finite)>,
    /// Minimum and maximum y. Default: any.
    pub height: Option<(Finite, Finite)>,
    /// A picture whose brightness, as stored in the file, is the probability of a strand, as in [`Rules`](super::Rules). Default: none.
    pub mask: Option<String>,
    /// Channel of the mesh's vertex colours that is the probability of a strand: `r`, `g`, `b` or `a`. Default: none.
    pub vertex_color: Option<ColorChannel>,
}

/// `wind: (direction: (1, 0, 0), strength: 0.3, period: 2)`: wind in which each strand of [`Fur`] sways on its own, in waves that travel over the
/// mesh. The strands deform in every frame. For many instances of a patch, the motion [`Sway`](super::Sway) with `bend` takes less time.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "wind", deny_unknown_fields)]
pub struct FurWind {
    /// Direction in which the wind blows, in the mesh's space.
    pub direction: Point,
    /// Greatest displacement of tips, relative to the length of their strand, 0 to 1.
    pub strength: Finite,
    /// Seconds per sway, above 0. Default 2.
    #[serde(default = "period")]
    pub period: Finite,
    /// Distance between waves, above 0. Default: ten times the length of the strands.
    #[serde(default)]
    pub wave: Option<Finite>,
}

choice! {
    /// Cross-sections of strands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum StrandProfile = Round {
        /// Round.
        Round = "round",
        /// Flat, and facing each ray.
        Ribbon = "ribbon",
    }
}

fn period() -> Finite {
    Finite(2.0)
}

fn vary() -> Finite {
    Finite(0.3)
}

fn tip() -> Finite {
    Finite(0.1)
}

fn segments() -> u32 {
    6
}

fn spread() -> Finite {
    Finite(20.0)
}

fn curl() -> Finite {
    Finite(0.2)
}
