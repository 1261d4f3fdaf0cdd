//! The scene file (`.ron`) as it is written: the user's reference, one type per thing that can be typed.
//!
//! A file is one parenthesised struct; every section but `meshes` and `instances` may be left out:
//!
//! ```ron
//! (
//!     render: (size: (960, 540), samples: 8, frames: 96),
//!     environment: SunSky(elevation: 35, azimuth: 120),
//!     materials: { "stone": Diffuse(color: "#c8b090"), "chrome": Mirror() },
//!     meshes: { "dragon": Obj(file: "dragon.obj"), "floor": Quad(tile: 20) },
//!     motions: { "turn": (parts: [Spin(axis: (0, 1, 0), period: 4)], phase: random(seed: 1)) },
//!     instances: [
//!         Single(of: "floor", scale: 200, material: "stone"),
//!         Grid(of: "dragon", count: (10, 1, 10), spacing: (3, 0, 3), motion: "turn"),
//!     ],
//!     camera: Orbit(target: (0, 1, 0), radius: 12, height: 5),
//! )
//! ```
//!
//! Lengths are in scene units, angles in degrees, times in seconds, Y is up. Numbers must be finite. Paths are
//! relative to the scene file; what a model refers to is in its own folder, or in one of `--allow-dir`. Colours are
//! linear Rec.709 triples or sRGB hex strings (`"#c8b090"`).
//! Unknown fields, names and variants are errors. Nothing here is resolved or checked against anything else;
//! that is `loader`'s work.

mod camera;
mod material;
mod motion;
mod placement;
mod shutter;
mod values;

pub use camera::{
    CameraDesc, FocusDesc, LensDesc, LookAt, Orbit, Parallel, ProjectionDesc, Spline, SplineKey,
};
pub use material::{AlphaDesc, Diffuse, Emissive, Glass, Glossy, MaterialDesc, Metal, Mirror, Pbr};
pub use motion::{
    Bob, Clip, KeyframeDesc, Keyframes, MotionDesc, PartDesc, PhaseDesc, RandomPhase, Spin, Sway,
    Wave,
};
pub use placement::{
    Align, Choose, Common, Each, Grid, Group, Jitter, Placement, Random, Sample, Scatter, Single,
    Surface, Turn,
};
pub use shutter::ShutterDesc;
pub use values::{Color, Finite, Named, Of, Point, Rotation, Scale};

use super::{Integrator, PixelFilter, ToneMap, Wrap, rig::RefitPolicy};
use serde::Deserialize;

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "the scene", deny_unknown_fields)]
pub struct SceneFile {
    #[serde(default)]
    pub render: RenderDesc,
    /// What lights the scene from all around; black when left out.
    #[serde(default)]
    pub environment: Option<EnvironmentDesc>,
    #[serde(default)]
    pub lights: Vec<LightDesc>,
    #[serde(default)]
    pub materials: Named<MaterialDesc>,
    pub meshes: Named<MeshDesc>,
    /// Lists of placements that any `of:` may name as if they were a mesh.
    #[serde(default)]
    pub groups: Named<Vec<Placement>>,
    #[serde(default)]
    pub motions: Named<MotionDesc>,
    pub instances: Vec<Placement>,
    /// An automatic turntable around everything when left out.
    #[serde(default)]
    pub camera: Option<CameraDesc>,
}

/// `render: (..)`: how pictures are made; the command line overrides each.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "render", default, deny_unknown_fields)]
pub struct RenderDesc {
    /// Width and height in pixels, each 1 to 65535. Default (960, 540).
    pub size: (u32, u32),
    /// Samples per pixel, 1 to 1048576. Default 8.
    pub samples: u32,
    /// Greatest number of mirror bounces, 0 to 1000. Default 8.
    pub bounces: u32,
    /// Seed of all sampling noise. Default 0.
    pub seed: u32,
    /// Number of frames of the animation, 1 to 1000000. Default 1.
    pub frames: u32,
    /// Frames per second, above 0. Default 24.
    pub fps: Finite,
    /// Time of the first frame in seconds. Default 0.
    pub start: Finite,
    /// `whitted` (default), `path`, `ao`, `normal`, `depth`, `albedo`, `instance` or `steps`.
    pub integrator: Integrator,
    /// In stops: +1 doubles the brightness. Default 0.
    pub exposure: Finite,
    /// `aces` (default), `agx`, `pbr_neutral` or `none`.
    pub tone_map: ToneMap,
    /// `gaussian` (default), `box`, `tent`, `blackman_harris` or `mitchell`.
    pub filter: PixelFilter,
    /// Of the filter from one end to the other, in pixels, 0.1 to 16. Default: 1 for `box`, 2 for `tent`, 4 for `mitchell`, else 3.
    pub filter_width: Option<Finite>,
    /// Colour temperature of the light that is shown white, in kelvin, 1667 to 25000. Colours stay as they are when left out.
    pub white_balance: Option<Finite>,
}

impl Default for RenderDesc {
    fn default() -> Self {
        let d = super::RenderDefaults::default();
        Self {
            size: (d.width, d.height),
            samples: d.samples,
            bounces: d.bounces,
            seed: d.seed,
            frames: d.frames,
            fps: Finite(d.fps),
            start: Finite(d.start),
            integrator: d.integrator,
            exposure: Finite(d.exposure),
            tone_map: d.tone_map,
            filter: d.filter,
            filter_width: None,
            white_balance: None,
        }
    }
}

/// `environment:`: radiance from where no geometry is.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "environment")]
pub enum EnvironmentDesc {
    /// `Constant(radiance: (0.2, 0.2, 0.25))`
    Constant(Constant),
    /// `Gradient(zenith: .., horizon: .., nadir: ..)`, interpolated over the elevation.
    Gradient(Gradient),
    /// A clear sky with its sun.
    SunSky(SunSky),
    /// `Image(file: "studio.hdr", rotation: 90, intensity: 1)`: a latitude-longitude picture.
    Image(EnvironmentImage),
}

/// The same radiance from everywhere.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    pub radiance: Color,
}

/// Three radiances, from straight up to straight down.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gradient {
    pub zenith: Color,
    pub horizon: Color,
    pub nadir: Color,
}

/// `SunSky(elevation: 35, azimuth: 120)`: daylight through the Earth's atmosphere.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SunSky {
    /// Of the sun above the horizon, -18 to 90. Default 40.
    pub elevation: Finite,
    /// Of the sun: 0 is +X, 90 is +Z. Default 60.
    pub azimuth: Finite,
    /// Haze: 1 is the purest air, 2.5 a clear day (default), 10 hazy. At most 20.
    pub turbidity: Finite,
    /// Factor of both sun and sky. Default 1: daylight at exposure 0.
    pub intensity: Finite,
    /// Albedo of the ground below the horizon. Default (0.3, 0.28, 0.25).
    pub ground: Color,
    /// Whether the sun itself shines; `false` leaves the sky's light alone. Default true.
    pub sun: bool,
    /// The sun's angular diameter, 0 to 90; more gives softer shadows. Default 0.53.
    pub sun_size: Finite,
}

impl Default for SunSky {
    fn default() -> Self {
        Self {
            elevation: Finite(40.0),
            azimuth: Finite(60.0),
            turbidity: Finite(2.5),
            intensity: Finite(1.0),
            ground: Color::new(0.3, 0.28, 0.25),
            sun: true,
            sun_size: Finite(0.53),
        }
    }
}

/// A latitude-longitude image (HDR, or PNG and JPEG taken as sRGB).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentImage {
    pub file: String,
    /// Turns the picture about Y. Default 0.
    #[serde(default)]
    pub rotation: Finite,
    /// Default 1.
    #[serde(default = "values::one")]
    pub intensity: Finite,
}

/// An entry of `lights: [..]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "lights")]
pub enum LightDesc {
    Point(PointLight),
    Sun(SunLight),
    Spot(SpotLight),
}

/// `Point(position: (0, 5, 0), intensity: (40, 40, 40))`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointLight {
    pub position: Point,
    /// Radiant intensity; an irradiance of intensity / distance² arrives.
    pub intensity: Color,
}

/// `Sun(direction: (1, 2, 1), irradiance: (5, 5, 4.5))`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SunLight {
    /// Towards the light, of any length but 0.
    pub direction: Point,
    /// On a surface that faces the light.
    pub irradiance: Color,
    /// Angular diameter, 0 (hard shadows, the default) to 90.
    #[serde(default)]
    pub size: Finite,
}

/// `Spot(position: (0, 5, 0), direction: (0, -1, 0), intensity: (40, 40, 40), angle: 60, blend: 0.2)`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpotLight {
    pub position: Point,
    /// That it shines in, of any length but 0.
    pub direction: Point,
    /// Radiant intensity along the direction; an irradiance of intensity / distance² arrives.
    pub intensity: Color,
    /// Opening angle of the whole cone, 0.01 to 180. Default 45.
    #[serde(default = "values::forty_five")]
    pub angle: Finite,
    /// Share of the cone in which the light fades towards its edge, 0 (sharp) to 1. Default 0.15.
    #[serde(default = "values::slight_blend")]
    pub blend: Finite,
}

/// An entry of `meshes: { "name": .. }`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "meshes")]
pub enum MeshDesc {
    Obj(ObjFile),
    Gltf(GltfFile),
    /// Radius 1 about the origin.
    Sphere,
    Quad(Quad),
    Box(Cuboid),
}

/// `Obj(file: "dragon.obj", material: "stone")`: a Wavefront OBJ file with its MTL materials.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjFile {
    pub file: String,
    /// Replaces all materials of the file.
    #[serde(default)]
    pub material: Option<String>,
    /// Faces without normals are smoothed where they meet at less than this, 0 (flat) to 180. Default 60.
    #[serde(default = "values::sixty")]
    pub smooth_angle: Finite,
    /// For the file's textures: `repeat` (default), `clamp` or `mirror`.
    #[serde(default)]
    pub wrap: Wrap,
}

/// `Gltf(file: "fox.glb", clip: "Run")`: a glTF file (.gltf or .glb), all of it as one mesh. With a clip it moves: instances show
/// the poses of a palette, each at its own phase and speed (see [`Clip`]), or, alive, all the pose of the moment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GltfFile {
    pub file: String,
    /// Name or number (from 0) of the animation that plays. Default: none, the model is at rest.
    #[serde(default)]
    pub clip: Option<String>,
    /// Number of poses, evenly spaced over one round of the clip, 1 to 4096. Default 64. Each costs as much memory as the
    /// model.
    #[serde(default)]
    pub poses: Option<u32>,
    /// Instead of a palette, deforms the model anew for each frame. Default false.
    #[serde(default)]
    pub alive: bool,
    /// Seconds of the clip per second, for models that are alive. Default 1.
    #[serde(default)]
    pub speed: Option<Finite>,
    /// How the tree of a model that is alive follows: `auto` (default), `refit` or `rebuild`.
    #[serde(default)]
    pub refit: Option<RefitPolicy>,
    /// Name or number (from 0) of the file's scene. Default: the file's own choice.
    #[serde(default)]
    pub scene: Option<String>,
    /// Name of a material variant.
    #[serde(default)]
    pub variant: Option<String>,
    /// Replaces all materials of the file.
    #[serde(default)]
    pub material: Option<String>,
}

/// `Quad(tile: 4)`: side 1 in the XZ plane about the origin, facing +Y; UV 0 to `tile`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quad {
    pub tile: Finite,
}

impl Default for Quad {
    fn default() -> Self {
        Self { tile: Finite(1.0) }
    }
}

/// `Box()`: the unit cube about the origin; UV 0 to `tile` on each face.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Box", default, deny_unknown_fields)]
pub struct Cuboid {
    pub tile: Finite,
}

impl Default for Cuboid {
    fn default() -> Self {
        Self { tile: Finite(1.0) }
    }
}
