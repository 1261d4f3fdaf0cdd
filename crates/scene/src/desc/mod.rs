//! The scene file format (`.ron`) and its reference for users: one type for each thing that can be written.
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
//! Lengths are in scene units, angles in degrees, times in seconds; Y is up. Numbers must be finite. Paths are relative to the
//! scene file; files that a model refers to must be in the model's own folder or in one allowed with `--allow-dir`. Colours are
//! linear Rec.709 triples or sRGB hex strings (`"#c8b090"`). Unknown fields, names and variants are errors.
//! These types check each value by itself; `loader` resolves names and checks values against each other.

mod air;
mod camera;
mod curve;
mod material;
mod motion;
mod placement;
mod shapes;
mod shutter;
mod values;
mod varying;

pub use air::{AirDesc, FogDesc};
#[doc(hidden)]
pub use camera::CommonOptics;
pub use camera::{
    Aim, AimOn, CameraDesc, CutDesc, Fit, FocusDesc, LensDesc, LookAt, Orbit, PaceDesc, Parallel, ProjectionDesc,
    Spline, SplineKey,
};
pub use curve::{BezierCurve, CatmullRomCurve, CurveDesc, GltfCurve, ObjCurve};
pub use material::*;
pub use motion::{
    BendDesc, Bob, Clip, EaseDesc, FollowDesc, KeyframeDesc, Keyframes, MotionDesc, PartDesc, PhaseDesc, RandomPhase,
    Rotations, Shake, Spin, Sway, Towards, Turns, Wave,
};
#[doc(hidden)]
pub use placement::Common;
pub use placement::{
    Align, Along, Choose, ColorChannel, DropDesc, Each, Face, Grid, Group, Jitter, Placement, Poisson, Random, Rules,
    Sample, Scatter, Single, Surface, Turn,
};
pub use shapes::{Bed, BedLine, Cone, Cuboid, Cylinder, Disc, NoiseDesc, Quad, RibbonDesc, TerrainDesc, Torus, Valley};
pub use shutter::ShutterDesc;
pub use values::{AxisAngle, BoxSize, Color, Double, Finite, Named, Of, Point, Rate, Rotation, Scale};
pub use varying::Varying;

use super::{Integrator, PixelFilter, ToneMap, TriangleMesh, Wrap, rig::RefitPolicy};
use serde::Deserialize;

/// The whole scene file, or a scene that is built in code (see [`Renderer::from_desc`](crate::Renderer::from_desc)).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "the scene", deny_unknown_fields)]
pub struct SceneFile {
    /// Render settings. Default: 960 by 540 pixels, 64 samples, one frame.
    #[serde(default)]
    pub render: RenderDesc,
    /// Light from all around the scene; black when left out.
    #[serde(default)]
    pub environment: Option<EnvironmentDesc>,
    /// Fog; clear air when left out.
    #[serde(default)]
    pub air: Option<AirDesc>,
    /// Lamps and suns. Default: none. Surfaces and the environment may also emit light.
    #[serde(default)]
    pub lights: Vec<LightDesc>,
    /// Named materials for placements and meshes. Default: none. Surfaces without a material are matt grey.
    #[serde(default)]
    pub materials: Named<MaterialDesc>,
    /// Named curves, which placements, meshes and motions can follow. Default: none.
    #[serde(default)]
    pub curves: Named<CurveDesc>,
    /// Named meshes. They are visible only where `instances` place them.
    pub meshes: Named<MeshDesc>,
    /// `groups: { "pair": [Single(of: "ball"), Single(of: "box", translate: (2, 0, 0))] }`: named lists of placements. Any `of` may name a
    /// group instead of a mesh. Groups may contain groups, and repeated contents are stored once. If a placement of a group has a material,
    /// it applies to all contents without their own. Default: none.
    #[serde(default)]
    pub groups: Named<Vec<Placement>>,
    /// Named movements for placements. Default: none.
    #[serde(default)]
    pub motions: Named<MotionDesc>,
    /// Contents of the scene: placements of meshes and groups.
    pub instances: Vec<Placement>,
    /// The camera. Default: a turntable around the whole scene.
    #[serde(default)]
    pub camera: Option<CameraDesc>,
    /// Instead of `camera`: several named cameras. The sequence begins with the first one. Default: none.
    #[serde(default)]
    pub cameras: Named<CameraDesc>,
    /// Switches between `cameras`, at increasing times. Default: none, the first camera is used throughout.
    #[serde(default)]
    pub cuts: Vec<CutDesc>,
}

impl SceneFile {
    /// The first camera of the sequence. None for the default turntable.
    #[doc(hidden)]
    pub fn first_camera(&self) -> Option<&CameraDesc> {
        self.camera.as_ref().or_else(|| self.cameras.0.first().map(|(_, camera)| camera))
    }
}

/// `render: (size: (1920, 1080), samples: 64, frames: 48, fps: 24)`: render settings. Command line flags override them.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "render", default, deny_unknown_fields)]
pub struct RenderDesc {
    /// Width and height in pixels, each 1 to 65536. Default (960, 540).
    pub size: (u32, u32),
    /// Samples per pixel, 1 to 1048576. Default 64.
    pub samples: u32,
    /// Maximum number of bounces after the surface that the camera sees, 0 to 1000. Default 8.
    pub bounces: u32,
    /// Seed of all sampling noise. Default 0.
    pub seed: u32,
    /// Number of frames of the animation, 1 to 1000000. Default 1.
    pub frames: u32,
    /// Number of the first frame, 0 to 1000000000. File names, `--frames` and reports count from it. Default 1.
    pub first_frame: u32,
    /// Frames per second, above 0. `"24000/1001"`, 23.976 and 23.98 mean one exact rate. Default 24.
    pub fps: Rate,
    /// Time of the first frame in seconds. Default 0.
    pub start: Double,
    /// Lighting method, `path` or `whitted`, or a diagnostic view: `clay`, `ao`, `normal`, `depth`, `albedo`, `wireframe`, `instance`,
    /// `material`, `uv`, `steps`. Default `path`. `whitted` is faster, but supports only matt surfaces, mirrors, the sky and lights of the
    /// `lights` section.
    pub integrator: Option<Integrator>,
    /// Exposure in stops, -64 to 64: +1 doubles the brightness. Default 0.
    pub exposure: Finite,
    /// Tone mapping, from radiance to display colours: `aces` (default), `agx`, `pbr_neutral` or `none`.
    pub tone_map: ToneMap,
    /// Pixel filter: `gaussian` (default), `box`, `tent`, `blackman_harris`, `mitchell` or `shared`.
    pub filter: PixelFilter,
    /// Full width of the filter in pixels, 0.1 to 16. Not available for `shared`. Default: 1 for `box`, 2 for `tent`, 4 for `mitchell`,
    /// otherwise 3.
    pub filter_width: Option<Finite>,
    /// Colour temperature of light that appears white, in kelvin, 1667 to 25000. When left out, colours are not changed.
    pub white_balance: Option<Finite>,
    /// Whether frames are denoised with the help of four neighbouring frames on either side, which are traced for this. Default `false`.
    pub denoise: bool,
    /// Maximum radiance from a light after a bounce, 0.001 to 1e9, to remove bright specks. When left out, radiance is not limited.
    pub clamp_indirect: Option<Finite>,
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
            first_frame: d.first_frame,
            fps: Rate(d.fps),
            start: Double(d.start),
            integrator: None,
            exposure: Finite(d.exposure),
            tone_map: d.tone_map,
            filter: d.filter,
            filter_width: None,
            white_balance: None,
            denoise: false,
            clamp_indirect: None,
        }
    }
}

/// The `environment` section: light from all directions in which there is no geometry.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "environment")]
pub enum EnvironmentDesc {
    Constant(Constant),
    Gradient(Gradient),
    SunSky(SunSky),
    Image(EnvironmentImage),
}

/// `Constant(radiance: (0.2, 0.2, 0.25))`: uniform radiance from all directions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Radiance from every direction.
    pub radiance: Color,
}

/// `Gradient(zenith: (0.2, 0.3, 0.8), horizon: "#ffffff", nadir: (0.1, 0.1, 0.1))`: radiance from above, from the horizon and from below,
/// interpolated over the elevation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gradient {
    /// Radiance from straight up.
    pub zenith: Color,
    /// Radiance from the horizon.
    pub horizon: Color,
    /// Radiance from straight down.
    pub nadir: Color,
}

/// `SunSky(elevation: 35, azimuth: 120, turbidity: 3)`: daylight and night sky of the Earth's atmosphere.
///
/// Suitable exposures: 0 by day, 3 at sunset, 6 at dusk (the sun at -6), 7 for a starry night, 6 with a full moon.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SunSky {
    /// Elevation of the sun above the horizon, in degrees, -90 to 90. At -18 and below, it gives no light. Default 40.
    pub elevation: Finite,
    /// Azimuth of the sun in degrees: 0 is +X, 90 is +Z. Default 60.
    pub azimuth: Finite,
    /// Haze: 1 is the purest air, 2.5 a clear day (default), 10 hazy. At most 20.
    pub turbidity: Finite,
    /// Factor on the light of sun, sky, moon and stars, 0 to 1000000. Default 1, suitable for exposure 0.
    pub intensity: Finite,
    /// Albedo of the ground below the horizon, at most 1. Default (0.3, 0.28, 0.25).
    pub ground: Color,
    /// Whether the sun emits light; with `false`, only the sky does. Default true.
    pub sun: bool,
    /// Angular diameter of the sun in degrees, 0 to 90; a larger sun casts softer shadows. Default 0.53.
    pub sun_size: Finite,
    /// Brightness of the stars and of the night sky, 0 to 1000000. Stars are visible to cameras and in mirrors: the first ones when the sun
    /// is at -6, all of them at -18. They rotate with the sun's azimuth, about a pole 45 degrees above -Z. Default 0: nights are black.
    pub stars: Finite,
    /// A moon. Default: none.
    pub moon: Option<Moon>,
}

/// `Moon(elevation: 30, azimuth: 200)`: a moon that is visible and emits light, and rises and sets like the sun.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Moon {
    /// Elevation above the horizon in degrees, -90 to 90. Default 30.
    pub elevation: Finite,
    /// Azimuth in degrees, with the directions of the sun's. Default 240.
    pub azimuth: Finite,
    /// Lit share of the disc, from 0 (new) to 1 (full), on the side of the sun. Default: computed from the sun's position.
    pub phase: Option<Finite>,
    /// Angular diameter in degrees, 0 to 90; at 0 the moon is invisible. Default 0.52.
    pub size: Finite,
    /// Factor on its light, 0 to 1000000. Default 1: the full moon has 1/500 of the sun's irradiance.
    pub intensity: Finite,
}

impl Default for Moon {
    fn default() -> Self {
        Self {
            elevation: Finite(30.0),
            azimuth: Finite(240.0),
            phase: None,
            size: Finite(0.52),
            intensity: Finite(1.0),
        }
    }
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
            stars: Finite(0.0),
            moon: None,
        }
    }
}

/// `Image(file: "studio.hdr", rotation: 90, intensity: 1)`: a panorama by longitude and latitude, with the zenith at its top.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentImage {
    /// The picture: OpenEXR or HDR with radiances, or another format with sRGB colours.
    pub file: String,
    /// Rotation of the picture about Y, in degrees. Default 0.
    #[serde(default)]
    pub rotation: Finite,
    /// Factor on the radiance of the picture, 0 to 1000000. Default 1.
    #[serde(default = "values::one")]
    pub intensity: Finite,
}

/// An entry of the `lights` section, which is a list. [`Emissive`] materials and the environment are also lights.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "lights")]
pub enum LightDesc {
    Point(PointLight),
    Sun(SunLight),
    Spot(SpotLight),
    Rectangle(RectangleLight),
    Disc(DiscLight),
}

impl LightDesc {
    /// The light's name. None for unnamed lights.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Point(PointLight { name, .. })
            | Self::Sun(SunLight { name, .. })
            | Self::Spot(SpotLight { name, .. })
            | Self::Rectangle(RectangleLight { name, .. })
            | Self::Disc(DiscLight { name, .. }) => name.as_deref(),
        }
    }
}

/// `Point(position: (0, 5, 0), intensity: (40, 40, 40), radius: 0.1)`: a light that emits equally in all directions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointLight {
    /// Position of the point, or of the middle of a lamp with a `radius`.
    pub position: Point,
    /// Radiant intensity. The irradiance at a distance is intensity / distance².
    pub intensity: Color,
    /// Radius of the lamp, 0 to 1000000. At 0.000001 or more, it is a visible bright ball that casts soft shadows, with a radiance of
    /// intensity / (π radius²). Default 0: an invisible point.
    #[serde(default)]
    pub radius: Finite,
    /// Distance at which the light of an invisible point ends, 0.000001 to 1000000, as in glTF's KHR_lights_punctual. Default: no limit.
    #[serde(default)]
    pub range: Option<Finite>,
    /// Unique name of the light, used by mattes. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// `Sun(direction: (1, 2, 1), irradiance: (5, 5, 4.5))`: a light at infinite distance.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SunLight {
    /// Direction towards the light. Any length but 0.
    pub direction: Point,
    /// Irradiance on a surface that faces the light.
    pub irradiance: Color,
    /// Angular diameter in degrees, from 0 (hard shadows, the default) to 90.
    #[serde(default)]
    pub size: Finite,
    /// Unique name of the light, used by mattes. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// `Spot(position: (0, 5, 0), direction: (0, -1, 0), intensity: (40, 40, 40), angle: 60, blend: 0.2)`: a light that emits into a cone.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpotLight {
    /// The tip of the cone.
    pub position: Point,
    /// Direction of the emitted light. Any length but 0.
    pub direction: Point,
    /// Radiant intensity along the direction. The irradiance at a distance is intensity / distance².
    pub intensity: Color,
    /// Opening angle of the whole cone in degrees, 0.01 to 180. Default 45.
    #[serde(default = "values::forty_five")]
    pub angle: Finite,
    /// Share of the cone in which the light fades towards its edge, 0 (sharp) to 1. Default 0.15.
    #[serde(default = "values::slight_blend")]
    pub blend: Finite,
    /// Radius of the emitting disc, which is perpendicular to the direction, 0 to 1000000. A larger disc casts softer shadows. The disc is
    /// invisible. Default 0.
    #[serde(default)]
    pub radius: Finite,
    /// Distance at which the light ends, 0.000001 to 1000000, as in glTF's KHR_lights_punctual. Default: no limit.
    #[serde(default)]
    pub range: Option<Finite>,
    /// Unique name of the light, used by mattes. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// `Rectangle(position: (0, 3, 0), direction: (0, -1, 0), size: (2, 1), intensity: (20, 20, 20))`: a visible bright rectangle with a dark
/// back.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RectangleLight {
    /// Middle of the rectangle.
    pub position: Point,
    /// Direction of the emitted light. Any length but 0.
    pub direction: Point,
    /// Width and height, each 0.000001 to 1000000.
    pub size: (Finite, Finite),
    /// Radiant intensity along the direction, independent of the size. The irradiance at a large distance is intensity / distance². The
    /// radiance is intensity / area.
    pub intensity: Color,
    /// Direction of the height, projected onto the rectangle. Neither (0, 0, 0) nor parallel to `direction`. Default (0, 1, 0), or (0, 0,
    /// -1) if the light shines straight up or down.
    #[serde(default)]
    pub up: Option<Point>,
    /// Unique name of the light, used by mattes. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// `Disc(position: (0, 3, 0), direction: (0, -1, 0), radius: 0.5, intensity: (20, 20, 20))`: a visible bright disc with a dark back.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscLight {
    /// Middle of the disc.
    pub position: Point,
    /// Direction of the emitted light. Any length but 0.
    pub direction: Point,
    /// Radius of the disc, 0.000001 to 1000000.
    pub radius: Finite,
    /// As in [`RectangleLight`].
    pub intensity: Color,
    /// Unique name of the light, used by mattes. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// An entry of the `meshes` section, by its name: a shape in its own coordinate space. Placements copy it into the scene.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "meshes")]
pub enum MeshDesc {
    #[serde(rename = "Obj", alias = "Ply", alias = "Stl")]
    File(MeshFile),
    Gltf(GltfFile),
    /// `Sphere`: a sphere of radius 1 at the origin.
    Sphere,
    Quad(Quad),
    Box(Cuboid),
    Cylinder(Cylinder),
    Cone(Cone),
    Disc(Disc),
    Torus(Torus),
    Terrain(TerrainDesc),
    Ribbon(RibbonDesc),
    /// Triangles of a scene that is built in code; not available in files. They have one material, set by placements, and no slots.
    #[serde(skip)]
    Triangles(TriangleMesh),
}

/// `Obj(file: "dragon.obj", material: "stone")`: a Wavefront OBJ file with its MTL materials. `Ply` and `Stl` are synonyms: the file
/// extension determines the format. A glTF file is loaded as a model at rest. Colours of vertices and faces are used. Faults of the file,
/// such as a missing picture, cause a warning and are left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Obj", deny_unknown_fields)]
pub struct MeshFile {
    /// The file: .obj, .ply, .stl, .gltf or .glb.
    pub file: String,
    /// Name of a material that replaces all materials of the file. Default: the file's materials.
    #[serde(default)]
    pub material: Option<String>,
    /// Faces without normals are smoothly shaded where they meet at less than this angle in degrees, 0 (flat) to 180. Default 60.
    #[serde(default = "values::sixty")]
    pub smooth_angle: Finite,
    /// Wrap mode of the file's textures outside of UV 0 to 1: `repeat` (default), `clamp` or `mirror`.
    #[serde(default)]
    pub wrap: Wrap,
    /// Target size: the length of the longest side, or bounds `(x, y, z)` to fit into. The mesh is scaled, centred above the origin, and
    /// placed on y = 0. Default: none, the mesh keeps the file's coordinates.
    #[serde(default)]
    pub fit: Option<BoxSize>,
}

impl MeshFile {
    /// The file as a model at rest.
    #[doc(hidden)]
    pub fn as_model(&self) -> GltfFile {
        let Self { file, material, fit, .. } = self.clone();
        GltfFile { file, material, fit, ..GltfFile::default() }
    }
}

/// `Gltf(file: "fox.glb", clip: "Run")`: a glTF file (.gltf or .glb) as one mesh. With a `clip`, it is animated: each instance shows poses
/// from a palette at its own phase and speed (see [`Clip`]). If the model is `alive`, all instances show its current pose. A model with
/// repeated meshes is a group of instances instead (see `shared`).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "Gltf", deny_unknown_fields)]
pub struct GltfFile {
    /// The file: .gltf or .glb.
    pub file: String,
    /// Name or number (from 0) of the animation to play. Default: none, the model is at rest.
    #[serde(default)]
    pub clip: Option<String>,
    /// Number of poses in the palette, evenly spaced over one cycle of the clip, 1 to 4096. Each pose takes as much memory as the model.
    /// Default 64.
    #[serde(default)]
    pub poses: Option<u32>,
    /// Whether the model is deformed for every frame, instead of using a palette of poses. Default false.
    #[serde(default)]
    pub alive: bool,
    /// Playback speed of a model that is `alive`, in seconds of the clip per second. Default 1.
    #[serde(default)]
    pub speed: Option<Finite>,
    /// Update method for the acceleration tree (BLAS) of a model that is `alive`: `auto` (default), `refit` or `rebuild`.
    #[serde(default)]
    pub refit: Option<RefitPolicy>,
    /// Name or number (from 0) of the file's scene. Default: the file's default scene.
    #[serde(default)]
    pub scene: Option<String>,
    /// Name of a material variant (KHR_materials_variants). Default: none.
    #[serde(default)]
    pub variant: Option<String>,
    /// Name of a material that replaces all materials of the file. Default: the file's materials.
    #[serde(default)]
    pub material: Option<String>,
    /// As [`MeshFile::fit`], with the bounds at rest.
    #[serde(default)]
    pub fit: Option<BoxSize>,
    /// Whether each mesh of the file is stored once and its copies are instances, as in a group. `nest` of a placement then applies to the
    /// model as to a group. Default: true if this saves more than 64 MB, and the model is at rest without skins or morph targets.
    #[serde(default)]
    pub shared: Option<bool>,
}
