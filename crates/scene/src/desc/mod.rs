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
mod curves_file;
mod displacement;
mod environment;
mod file;
mod fur;
mod light;
mod material;
mod mesh;
mod motion;
mod placement;
mod render;
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
pub use curves_file::{CurvesFile, StrandBasis};
pub use displacement::DisplacementDesc;
pub use environment::{Constant, EnvironmentDesc, EnvironmentImage, Gradient, Moon, SunSky};
pub use file::SceneFile;
pub use fur::{Fur, FurRules, FurWind, StrandProfile};
pub use light::{DiscLight, LightDesc, PointLight, RectangleLight, SpotLight, SunLight};
pub use material::*;
pub use mesh::{
    GltfFile, MOST_SUBDIVISION, MeshDesc, MeshFile, PbrtFile, Purpose, Subdivision, SubdivisionScheme, UsdFile,
};
pub use motion::{
    BendDesc, Bob, Clip, EaseDesc, FollowDesc, KeyframeDesc, Keyframes, MotionDesc, PartDesc, PhaseDesc, RandomPhase,
    Rotations, Shake, Spin, Sway, Towards, Turns, Wave,
};
#[doc(hidden)]
pub use placement::Common;
pub use placement::{
    Align, Along, Choose, ColorChannel, DropDesc, Each, Face, Grid, Group, Jitter, Matrices, Placement, Poisson,
    QuaternionOrder, Random, Rules, Sample, Scatter, Single, Surface, Table, Turn, UpAxis,
};
pub use render::RenderDesc;
pub use shapes::{Bed, BedLine, Cone, Cuboid, Cylinder, Disc, NoiseDesc, Quad, RibbonDesc, TerrainDesc, Torus, Valley};
pub use shutter::ShutterDesc;
pub use values::{AxisAngle, BoxSize, Color, Double, Finite, Named, Of, Point, Rate, Rotation, Scale};
pub use varying::Varying;
