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
pub(crate) use camera::CommonOptics;
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
pub(crate) use placement::Common;
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
    /// How pictures are made. Default: 960 by 540 pixels and 64 samples, one frame.
    #[serde(default)]
    pub render: RenderDesc,
    /// Light from all around, where no geometry is; black when left out.
    #[serde(default)]
    pub environment: Option<EnvironmentDesc>,
    /// Fog; clear air when left out.
    #[serde(default)]
    pub air: Option<AirDesc>,
    /// Lamps and suns. Default: none; surfaces and the environment may shine, too.
    #[serde(default)]
    pub lights: Vec<LightDesc>,
    /// Named materials, which placements and meshes have. Default: none; what has no material is matt and grey.
    #[serde(default)]
    pub materials: Named<MaterialDesc>,
    /// Named curves, which placements, meshes and motions follow. Default: none.
    #[serde(default)]
    pub curves: Named<CurveDesc>,
    /// Named meshes. They are seen where `instances` place them.
    pub meshes: Named<MeshDesc>,
    /// `groups: { "pair": [Single(of: "ball"), Single(of: "box", translate: (2, 0, 0))] }`: named lists of placements. Any `of` may name one
    /// as if it were a mesh. Groups may have groups in them, and what is placed often is stored once. The material of a placement of
    /// a group is for all in it that names none. Default: none.
    #[serde(default)]
    pub groups: Named<Vec<Placement>>,
    /// Named movements, which placements have. Default: none.
    #[serde(default)]
    pub motions: Named<MotionDesc>,
    /// What is in the picture: placements of meshes and groups.
    pub instances: Vec<Placement>,
    /// The camera. Default: a turntable around everything.
    #[serde(default)]
    pub camera: Option<CameraDesc>,
    /// Instead of `camera`: several by name. The film begins with the first. Default: none.
    #[serde(default)]
    pub cameras: Named<CameraDesc>,
    /// When which of `cameras` takes over, at increasing times. Default: none, the first one has the whole film.
    #[serde(default)]
    pub cuts: Vec<CutDesc>,
}

impl SceneFile {
    /// The camera that the film begins with, unless that is a turntable around everything.
    pub(crate) fn first_camera(&self) -> Option<&CameraDesc> {
        self.camera.as_ref().or_else(|| self.cameras.0.first().map(|(_, camera)| camera))
    }
}

/// `render: (size: (1920, 1080), samples: 64, frames: 48, fps: 24)`: how pictures are made. Flags of the command line override these settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "render", default, deny_unknown_fields)]
pub struct RenderDesc {
    /// Width and height in pixels, each 1 to 65536. Default (960, 540).
    pub size: (u32, u32),
    /// Samples per pixel, 1 to 1048576. Default 64.
    pub samples: u32,
    /// Greatest number of bounces of a path after what the camera sees, 0 to 1000. Default 8.
    pub bounces: u32,
    /// Seed of all sampling noise. Default 0.
    pub seed: u32,
    /// Number of frames of the animation, 1 to 1000000. Default 1.
    pub frames: u32,
    /// Number of the first frame, 0 to 1000000000; names of files, `--frames` and reports count from it. Default 1.
    pub first_frame: u32,
    /// Frames per second, above 0; `"24000/1001"`, 23.976 and 23.98 are the same exact rate. Default 24.
    pub fps: Rate,
    /// Time of the first frame in seconds. Default 0.
    pub start: Double,
    /// How light is computed: `path` or `whitted`; or a view: `clay`, `ao`, `normal`, `depth`, `albedo`, `wireframe`, `instance`,
    /// `material`, `uv`, `steps`. Default `path`. `whitted` is faster, and knows matt surfaces, mirrors, the sky and lights of the `lights` section only.
    pub integrator: Option<Integrator>,
    /// Exposure in stops, -64 to 64: +1 doubles the brightness. Default 0.
    pub exposure: Finite,
    /// How radiance is mapped to display colours: `aces` (default), `agx`, `pbr_neutral` or `none`.
    pub tone_map: ToneMap,
    /// How a pixel gathers the light around it: `gaussian` (default), `box`, `tent`, `blackman_harris`, `mitchell` or
    /// `shared`.
    pub filter: PixelFilter,
    /// Width of the filter from one end to the other, in pixels, 0.1 to 16, but not of `shared`. Default: 1 for `box`, 2 for `tent`, 4 for
    /// `mitchell`, else 3.
    pub filter_width: Option<Finite>,
    /// Colour temperature of the light that appears white, in kelvin, 1667 to 25000. When left out, colours are not changed.
    pub white_balance: Option<Finite>,
    /// Whether noise is taken out of frames with the help of the four before and after them, which are traced for that. Default `false`.
    pub denoise: bool,
    /// Limit of the radiance that a light brings after a bounce, 0.001 to 1e9, which hides white specks. When left out, nothing is cut off.
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

/// The `environment` section: light from all around, from where no geometry is.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "environment")]
pub enum EnvironmentDesc {
    Constant(Constant),
    Gradient(Gradient),
    SunSky(SunSky),
    Image(EnvironmentImage),
}

/// `Constant(radiance: (0.2, 0.2, 0.25))`: the same radiance from everywhere.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Radiance of every direction.
    pub radiance: Color,
}

/// `Gradient(zenith: (0.2, 0.3, 0.8), horizon: "#ffffff", nadir: (0.1, 0.1, 0.1))`: radiance from straight up, from the horizon and from
/// straight down, interpolated over the elevation.
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

/// `SunSky(elevation: 35, azimuth: 120, turbidity: 3)`: daylight through the Earth's atmosphere, and the night.
///
/// Day suits exposure 0, sunset 3, dusk (the sun at -6) 6, a night with stars 7 and with a full moon 6.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SunSky {
    /// Elevation of the sun above the horizon, in degrees, -90 to 90. From -18 down, no light of it is left. Default 40.
    pub elevation: Finite,
    /// Azimuth of the sun in degrees: 0 is +X, 90 is +Z. Default 60.
    pub azimuth: Finite,
    /// Haze: 1 is the purest air, 2.5 a clear day (default), 10 hazy. At most 20.
    pub turbidity: Finite,
    /// Factor on the light of sun, sky, moon and stars, 0 to 1000000. Default 1, which suits exposure 0.
    pub intensity: Finite,
    /// Albedo of the ground below the horizon, at most 1. Default (0.3, 0.28, 0.25).
    pub ground: Color,
    /// Whether the sun itself shines; with `false`, only the sky gives light. Default true.
    pub sun: bool,
    /// Angular diameter of the sun in degrees, 0 to 90; a larger sun casts softer shadows. Default 0.53.
    pub sun_size: Finite,
    /// Brightness of the stars and of the sky at night, 0 to 1000000. Stars are seen by cameras and in mirrors: the first when the sun is at -6,
    /// all when it is at -18. With its azimuth they turn about a pole 45 degrees above -Z. Default 0: nights are black.
    pub stars: Finite,
    /// A moon. Default: none.
    pub moon: Option<Moon>,
}

/// `Moon(elevation: 30, azimuth: 200)`: a moon, seen and giving light, which rises and sets like the sun.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Moon {
    /// Elevation above the horizon in degrees, -90 to 90. Default 30.
    pub elevation: Finite,
    /// Azimuth in degrees, as of the sun. Default 240.
    pub azimuth: Finite,
    /// Share of the disc that is lit, from 0 (new) to 1 (full), on the side of the sun. Default: what the sun lights from where it is.
    pub phase: Option<Finite>,
    /// Angular diameter in degrees, 0 to 90; 0 is not seen. Default 0.52.
    pub size: Finite,
    /// Factor on its light, 0 to 1000000. Default 1: the full moon has a five-hundredth of the sun's irradiance.
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

/// `Image(file: "studio.hdr", rotation: 90, intensity: 1)`: a picture by longitude and latitude, with the zenith at its top.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentImage {
    /// The picture: OpenEXR or HDR with radiances, or another, whose colours are sRGB.
    pub file: String,
    /// Rotation of the picture about Y, in degrees. Default 0.
    #[serde(default)]
    pub rotation: Finite,
    /// Factor on the radiance of the picture, 0 to 1000000. Default 1.
    #[serde(default = "values::one")]
    pub intensity: Finite,
}

/// An entry of the `lights` section, which is a list. Materials that are [`Emissive`] and the environment are light, too.
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
    /// The name by which others refer to the light, if it has one.
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

/// `Point(position: (0, 5, 0), intensity: (40, 40, 40), radius: 0.1)`: shines alike in all directions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointLight {
    /// Where it is; the middle of a lamp with a `radius`.
    pub position: Point,
    /// Radiant intensity; an irradiance of intensity / distance² arrives.
    pub intensity: Color,
    /// Radius of the lamp, 0 to 1000000. From 0.000001 on, it is a bright ball that is seen and casts soft shadows, with a radiance of
    /// intensity / (π radius²). Default 0: a point that is not seen.
    #[serde(default)]
    pub radius: Finite,
    /// Distance at which the light of a point that is not seen ends, 0.000001 to 1000000, as in glTF's KHR_lights_punctual. Default:
    /// nowhere.
    #[serde(default)]
    pub range: Option<Finite>,
    /// A name that no other light has, which mattes call it by. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// `Sun(direction: (1, 2, 1), irradiance: (5, 5, 4.5))`: shines from infinitely far away.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SunLight {
    /// Direction towards the light, of any length but 0.
    pub direction: Point,
    /// Irradiance on a surface that faces the light.
    pub irradiance: Color,
    /// Angular diameter in degrees, from 0 (hard shadows, the default) to 90.
    #[serde(default)]
    pub size: Finite,
    /// A name that no other light has, which mattes call it by. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// `Spot(position: (0, 5, 0), direction: (0, -1, 0), intensity: (40, 40, 40), angle: 60, blend: 0.2)`: shines into a cone.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpotLight {
    /// The tip of the cone.
    pub position: Point,
    /// Direction in which the light shines, of any length but 0.
    pub direction: Point,
    /// Radiant intensity along the direction; an irradiance of intensity / distance² arrives.
    pub intensity: Color,
    /// Opening angle of the whole cone in degrees, 0.01 to 180. Default 45.
    #[serde(default = "values::forty_five")]
    pub angle: Finite,
    /// Share of the cone in which the light fades towards its edge, 0 (sharp) to 1. Default 0.15.
    #[serde(default = "values::slight_blend")]
    pub blend: Finite,
    /// Radius of the disc across the direction that shines, 0 to 1000000: a larger one casts softer shadows. It is not seen. Default 0.
    #[serde(default)]
    pub radius: Finite,
    /// Distance at which the light ends, 0.000001 to 1000000, as in glTF's KHR_lights_punctual. Default: nowhere.
    #[serde(default)]
    pub range: Option<Finite>,
    /// A name that no other light has, which mattes call it by. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// `Rectangle(position: (0, 3, 0), direction: (0, -1, 0), size: (2, 1), intensity: (20, 20, 20))`: a bright rectangle that is seen, dark at
/// its back.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RectangleLight {
    /// The middle.
    pub position: Point,
    /// Direction in which the light shines, of any length but 0.
    pub direction: Point,
    /// Width and height, each 0.000001 to 1000000.
    pub size: (Finite, Finite),
    /// Radiant intensity along the direction, whatever the size: far away, an irradiance of intensity / distance² arrives. The radiance is
    /// intensity / area.
    pub intensity: Color,
    /// Direction in which the height is measured, as near as it can be; not (0, 0, 0), and not along `direction`. Default (0, 1, 0), or
    /// (0, 0, -1) where the light shines straight up or down.
    #[serde(default)]
    pub up: Option<Point>,
    /// A name that no other light has, which mattes call it by. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// `Disc(position: (0, 3, 0), direction: (0, -1, 0), radius: 0.5, intensity: (20, 20, 20))`: a bright disc that is seen, dark at its back.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscLight {
    /// The middle.
    pub position: Point,
    /// Direction in which the light shines, of any length but 0.
    pub direction: Point,
    /// Radius of the disc, 0.000001 to 1000000.
    pub radius: Finite,
    /// As of a [`RectangleLight`].
    pub intensity: Color,
    /// A name that no other light has, which mattes call it by. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// An entry of the `meshes` section, by its name: a shape in its own space, which placements copy into the scene.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "meshes")]
pub enum MeshDesc {
    #[serde(rename = "Obj", alias = "Ply", alias = "Stl")]
    File(MeshFile),
    Gltf(GltfFile),
    /// `Sphere`: the sphere of radius 1 about the origin.
    Sphere,
    Quad(Quad),
    Box(Cuboid),
    Cylinder(Cylinder),
    Cone(Cone),
    Disc(Disc),
    Torus(Torus),
    Terrain(TerrainDesc),
    Ribbon(RibbonDesc),
    /// Triangles of a scene that is built in code; files cannot have them. They have one material, which placements name, and no slots.
    #[serde(skip)]
    Triangles(TriangleMesh),
}

/// `Obj(file: "dragon.obj", material: "stone")`: a Wavefront OBJ file with its MTL materials. `Ply` and `Stl` are the same: the
/// file's ending tells its format. A glTF file is a model at rest. Colours of vertices and faces are shown. What such a file lacks or
/// cannot mean, such as a missing picture, is warned of and left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Obj", deny_unknown_fields)]
pub struct MeshFile {
    /// The file: .obj, .ply, .stl, .gltf or .glb.
    pub file: String,
    /// Name of a material that replaces all materials of the file. Default: those of the file.
    #[serde(default)]
    pub material: Option<String>,
    /// Faces without normals are shaded smoothly where they meet at less than this angle in degrees, 0 (flat) to 180. Default 60.
    #[serde(default = "values::sixty")]
    pub smooth_angle: Finite,
    /// How the file's textures continue outside of UV 0 to 1: `repeat` (default), `clamp` or `mirror`.
    #[serde(default)]
    pub wrap: Wrap,
    /// Scales the mesh to this length of its longest side, or so that its bounds fit into `(x, y, z)`; it then stands at y = 0 in the
    /// middle above the origin. Default: none, it is where its file has it.
    #[serde(default)]
    pub fit: Option<BoxSize>,
}

impl MeshFile {
    /// The same file as a model at rest.
    pub(crate) fn as_model(&self) -> GltfFile {
        let Self { file, material, fit, .. } = self.clone();
        GltfFile { file, material, fit, ..GltfFile::default() }
    }
}

/// `Gltf(file: "fox.glb", clip: "Run")`: a glTF file (.gltf or .glb) as one mesh. With a `clip` it moves: each instance shows poses
/// from a palette at its own phase and speed (see [`Clip`]); if the model is `alive`, all instances show its current pose. A model whose
/// nodes show the same meshes over and over is a group of instances instead (see `shared`).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "Gltf", deny_unknown_fields)]
pub struct GltfFile {
    /// The file: .gltf or .glb.
    pub file: String,
    /// Name or number (from 0) of the animation that plays. Default: none, the model is at rest.
    #[serde(default)]
    pub clip: Option<String>,
    /// Number of poses in the palette, evenly spaced over one round of the clip, 1 to 4096. Default 64. Each pose takes as much memory
    /// as the model.
    #[serde(default)]
    pub poses: Option<u32>,
    /// Whether the model is deformed anew for each frame, instead of having a palette of poses. Default false.
    #[serde(default)]
    pub alive: bool,
    /// Seconds of the clip per second, for a model that is `alive`. Default 1.
    #[serde(default)]
    pub speed: Option<Finite>,
    /// How the BLAS of a model that is `alive` follows its shape: `auto` (default), `refit` or `rebuild`.
    #[serde(default)]
    pub refit: Option<RefitPolicy>,
    /// Name or number (from 0) of the file's scene. Default: the file's own choice.
    #[serde(default)]
    pub scene: Option<String>,
    /// Name of a material variant (KHR_materials_variants). Default: none.
    #[serde(default)]
    pub variant: Option<String>,
    /// Name of a material that replaces all materials of the file. Default: those of the file.
    #[serde(default)]
    pub material: Option<String>,
    /// As of [`MeshFile::fit`], by the bounds at rest.
    #[serde(default)]
    pub fit: Option<BoxSize>,
    /// Whether each mesh of the file is kept once and its copies are instances, as in a group; `nest` of a placement then decides about
    /// the model as about a group. Default: if that saves more than 64 MB, and the model is at rest and has no skins or morph targets.
    #[serde(default)]
    pub shared: Option<bool>,
}
