//! A scene in the renderer's form: validated, names resolved to indices, groups unrolled or stored as assemblies.
//!
//! Loaders make it, `anim` evaluates it at a time, `accel` and `device` consume it. Nothing here reads files. World space is right-handed
//! with Y up. Lengths are in scene units, times in seconds, angles in radians, colours in linear Rec.709.

#![warn(missing_docs)]

mod above;
#[doc(hidden)]
pub mod anim;
#[doc(hidden)]
pub mod animated;
mod assembly;
mod bend;
mod catmull_rom;
mod clay;
#[doc(hidden)]
pub mod curve;
mod demand;
pub mod desc;
mod film;
mod flight;
mod fog;
mod frame_rate;
mod hash;
mod integrator;
mod lens;
mod lit;
mod material;
mod material_values;
mod names;
#[doc(hidden)]
pub mod ranges;
mod references;
#[doc(hidden)]
pub mod rest;
#[doc(hidden)]
pub mod rig;
mod shutter;
mod shutter_keys;
#[doc(hidden)]
pub mod text;
mod timeline;
mod track;
mod ways;

pub use above::{Above, Relief};
pub use assembly::{Assembly, MOST_LEVELS, MOST_NUMBERS, Numbers, Placed};
pub use bend::{Bend, BendSides};
#[doc(hidden)]
pub use catmull_rom::catmull_rom;
#[doc(hidden)]
pub use clay::CLAY;
#[doc(hidden)]
pub use demand::VertexDemand;
pub use film::{PixelFilter, ToneMap};
pub use flight::{CameraKey, Flight, Pace, Parametrisation};
pub use fog::{Fog, Thinning};
pub use frame_rate::FrameRate;
pub use integrator::Integrator;
#[doc(hidden)]
pub use integrator::{Paths, Shows};
pub use lens::{Anchor, Aperture, Focus, Iris, Lens, LensTracks, Projection};
#[doc(hidden)]
pub use lens::{MAX_BLADES, MOST_SHIFT, SENSOR_HEIGHT, sensor_height};
#[doc(hidden)]
pub use lit::LightSource;
pub use material::{Alpha, Lobes, Material, MaterialKind, TextureMap, ToCamera, absorption, scatter_albedo};
pub use names::Names;
#[doc(hidden)]
pub use names::cut;
pub use references::LostReference;
pub use rest::Far;
pub use shutter::{Shutter, ShutterError};
#[doc(hidden)]
pub use shutter_keys::{ShutterKeys, ShutterSpan};
#[doc(hidden)]
pub use timeline::{Changes, Timeline};
#[doc(hidden)]
pub use track::Position;
pub use track::{Ease, Ends, Key, Track};
#[doc(hidden)]
pub use ways::LostPath;

use animated::Animated;
use curve::Curve;
pub use desc::{Face, Rotations};
use glam::{Affine3, Quat, Vec2, Vec3};
use rayon::prelude::*;
use rig::{Actor, Appearance, DeformingMesh, Palette, PoseBuckets, RigNodeRef};
use std::{
    ops::{Range, RangeInclusive},
    sync::{Arc, OnceLock},
};
use throng_base::choice::choice;
use throng_base::math::Aabb;

/// Number of vertices per task when computing the bounds of a mesh.
const BOUNDED: usize = 1 << 16;

/// Marks an absent optional index.
pub const NONE: u32 = u32::MAX;

/// A whole scene. All indices are valid and all numbers finite once a loader has returned it.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Objects whose position single precision represents poorly. Computed on first use; empty in a new scene.
    pub far: OnceLock<Far>,
    /// The file's stem, for `{scene}` in output patterns and for reports.
    pub name: String,
    /// Render settings, which the user may override.
    pub settings: RenderDefaults,
    /// Light from directions without geometry.
    pub environment: Environment,
    /// None for clear air.
    pub fog: Option<Fog>,
    /// Lights other than the environment and emissive surfaces. For the Whitted integrator, also those surfaces.
    pub lights: Vec<Light>,
    /// Number of `lights` before the lights of the environment, such as its sun.
    pub own_lights: usize,
    /// The flat table of materials. [`Self::material_slots`] contains indices of its rows.
    pub materials: Vec<Material>,
    /// How materials read textures.
    pub maps: Vec<TextureMap>,
    /// Pictures that maps read.
    pub textures: Vec<Texture>,
    /// Shapes, each stored once, independent of the number of instances.
    pub meshes: Vec<Mesh>,
    /// Material of each (instance, slot): `material_slots[instance.slot_base + triangle's slot]`. Instances with equal materials share a
    /// run of slots.
    pub material_slots: Vec<u32>,
    /// Group frames, parents before children.
    pub nodes: Vec<Node>,
    /// All instances: first the world's, then each assembly's.
    pub instances: Vec<Instance>,
    /// Groups that are stored as separate trees. An assembly precedes the assemblies that it places.
    pub assemblies: Vec<Assembly>,
    /// Names of instances and materials.
    pub names: Names,
    /// Entries of the scene file with their instances, in order.
    pub placed: Vec<PlacedRun>,
    /// Movements of nodes and instances.
    pub motions: Vec<Motion>,
    /// Animated rigs, which nodes and meshes follow.
    pub actors: Vec<Actor>,
    /// The materials, lights and cameras that actors animate.
    pub animated: Vec<Animated>,
    /// Instances that appear and disappear, in order.
    pub appearances: Vec<Appearance>,
    /// Visibility tracks of objects that keys show and hide.
    pub switches: Vec<Track<bool>>,
    /// Deforming meshes, each once.
    pub deforming: Vec<DeformingMesh>,
    /// Runs of meshes that are the poses of one model.
    pub palettes: Vec<Palette>,
    /// The camera of the first frame.
    pub camera: Camera,
    /// Other cameras that take over from [`Self::camera`], at increasing times.
    pub cuts: Vec<Cut>,
    /// All cameras of the scene file by name, if it has several.
    pub viewpoints: Vec<(String, Camera)>,
    /// Values that keys in the scene file animate.
    pub timeline: Option<Arc<dyn Timeline>>,
    /// Whether the timeline contains the cameras. The cameras here are then evaluated at the first frame.
    pub camera_has_keys: bool,
    /// The ground plane instance of a standalone model.
    pub stage: Option<u32>,
    /// Named objects other than meshes that a lens can focus on.
    pub subjects: Vec<Subject>,
    /// Warnings about anything the loader replaced or left out, one line each.
    pub warnings: Vec<String>,
    /// Warnings about probable mistakes, although everything is drawn, one line each.
    pub doubts: Vec<String>,
    /// Notes about unused animations and cameras of the file, one line each.
    pub notes: Vec<String>,
}

/// The instances that one entry of a scene file's `instances` made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedRun {
    /// Their range in [`Scene::instances`].
    pub instances: Range<u32>,
    /// Index of the entry.
    pub entry: u32,
}

/// Settings from the scene file. The command line may override each.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderDefaults {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Samples per pixel.
    pub samples: u32,
    /// Noise target: parts of the picture with less noise get no more samples. None: every part gets all samples.
    pub noise: Option<f32>,
    /// Maximum number of bounces after the first hit.
    pub bounces: u32,
    /// Seed of all noise.
    pub seed: u32,
    /// Number of frames of the whole animation.
    pub frames: u32,
    /// Number of the first frame. The others follow consecutively.
    pub first_frame: u32,
    /// Frames per second. Frame `n` shows time `start + (n - first_frame) / fps`, with the exact [rate](Self::rate) for this number.
    pub fps: f64,
    /// Time of the first frame in seconds.
    pub start: f64,
    /// Lighting method or diagnostic view.
    pub integrator: Integrator,
    /// Exposure in stops: radiance is multiplied by 2^exposure.
    pub exposure: f32,
    /// Whether [`Self::exposure`] is added to a metered exposure.
    pub metering: Metering,
    /// Maximum radiance that a light adds after the first bounce. None: no limit.
    pub clamp_indirect: Option<f32>,
    /// Tone mapping.
    pub tone_map: ToneMap,
    /// None without motion blur.
    pub shutter: Option<Shutter>,
    /// Pixel filter.
    pub filter: PixelFilter,
    /// Full width of the filter in pixels. None: the filter's default.
    pub filter_width: Option<f32>,
    /// Colour temperature of light that appears white, in kelvin. None leaves colours unchanged.
    pub white_balance: Option<f32>,
    /// Whether frames are denoised with the help of neighbouring frames.
    pub denoise: bool,
    /// Whether only requested frames help to denoise each other, so that no additional frames are traced.
    pub denoises_asked: bool,
}

impl Default for RenderDefaults {
    fn default() -> Self {
        Self {
            width: 960,
            height: 540,
            samples: 64,
            noise: None,
            bounces: 8,
            seed: 0,
            frames: 1,
            first_frame: 1,
            fps: 24.0,
            start: 0.0,
            integrator: Integrator::Path,
            exposure: 0.0,
            metering: Metering::Off,
            clamp_indirect: None,
            tone_map: ToneMap::Aces,
            shutter: None,
            filter: PixelFilter::default(),
            filter_width: None,
            white_balance: None,
            denoise: false,
            denoises_asked: false,
        }
    }
}

impl RenderDefaults {
    /// The exact frame rate.
    pub fn rate(&self) -> FrameRate {
        FrameRate::of(self.fps)
    }

    /// The numbers of all frames.
    pub fn frame_numbers(&self) -> RangeInclusive<u32> {
        self.first_frame..=self.first_frame.saturating_add(self.frames.saturating_sub(1))
    }

    /// The numbers of the first and the last frame.
    pub fn first_and_last(&self) -> (u32, u32) {
        self.frame_numbers().into_inner()
    }

    /// The frame number at this offset from the first frame, at most the last frame's.
    pub fn frame_at(&self, index: u32) -> u32 {
        self.first_frame.saturating_add(index.min(self.frames.saturating_sub(1)))
    }
}

/// Exposure metering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Metering {
    /// Off: the scene's exposure is used.
    #[default]
    Off,
    /// For light of a known brightness: brightens dark subjects and darkens bright ones, by one stop at most, with one value for all
    /// frames.
    Gentle,
    /// Metered once per second.
    Full,
    /// Set by keys of the scene file.
    Keyed,
}

choice! {
    /// How a shiny layer dims the layers below it, such as paint under varnish.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Layering = Reciprocal {
        /// By its reflectance both on the way in and on the way out, which is reciprocal.
        Reciprocal = "reciprocal",
        /// By its reflectance towards the viewer only, as in Cycles and OpenPBR.
        Viewer = "viewer",
    }
}

/// Radiance from directions without geometry.
#[derive(Clone, Debug, PartialEq)]
pub enum Environment {
    /// Uniform radiance.
    Constant {
        /// Linear RGB.
        radiance: Vec3,
    },
    /// Interpolated over the elevation: nadir at -Y, horizon at y = 0, zenith at +Y.
    Gradient {
        /// Radiance from straight up.
        zenith: Vec3,
        /// Radiance from the horizon.
        horizon: Vec3,
        /// Radiance from straight down.
        nadir: Vec3,
    },
    /// Latitude-longitude image of linear radiance. A unit direction d reads
    /// u = 0.5 + atan2(d.z, d.x) / 2π (+ rotation / 2π), v = acos(d.y) / π from the top.
    Image {
        /// Radiance by direction.
        pixels: FloatImage,
        /// Rotation about +Y in radians.
        rotation: f32,
        /// Stars in front of it.
        stars: Stars,
    },
}

/// Visible stars above the horizon, which emit no light into the scene. All skies have equal stars.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stars {
    /// Irradiance of the faintest stars; 0 for no stars. Stars n times as bright are n^1.5 times as rare.
    pub faintest: f32,
    /// Irradiance that is subtracted from every star, down to 0.
    pub dimming: f32,
    /// Rotation of the sky about the celestial pole in radians. The pole is 45° above the horizon at -Z.
    pub turn: f32,
}

impl Default for Environment {
    fn default() -> Self {
        Self::Constant { radiance: Vec3::ZERO }
    }
}

/// Linear RGB, row-major, first row at the top; `data.len() == width * height`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FloatImage {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Red, green and blue of each pixel.
    pub data: Vec<[f32; 3]>,
}

/// A source of light. Colours are linear RGB; directions are unit vectors in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Light {
    /// A point whose light falls off with the square of the distance.
    Point {
        /// In scene units.
        position: Vec3,
        /// Radiant intensity.
        intensity: Vec3,
        /// Distance at which the light ends, by the formula of KHR_lights_punctual. None: no limit.
        range: Option<f32>,
    },
    /// A distant disc, visible to camera and mirror rays.
    Sun {
        /// Direction towards the light.
        direction: Vec3,
        /// Irradiance on a surface that faces the light.
        irradiance: Vec3,
        /// Angular radius in radians. 0 gives hard shadows and no visible disc.
        angular_radius: f32,
    },
    /// A distant disc that is partly dark.
    Moon {
        /// Direction towards the moon.
        direction: Vec3,
        /// Irradiance from the lit part, on a surface that faces the moon.
        irradiance: Vec3,
        /// Angular radius in radians.
        angular_radius: f32,
        /// Unit vector perpendicular to the direction, pointing to the lit side.
        bright_limb: Vec3,
        /// Cosine of the angle between the middle of the lit side and the viewer.
        phase_cosine: f32,
    },
    /// A point light that shines into a cone: fully within `inner`, not beyond `outer`, and in between by the formula of
    /// KHR_lights_punctual.
    Spot {
        /// In scene units.
        position: Vec3,
        /// The axis of the cone.
        direction: Vec3,
        /// Radiant intensity along the axis.
        intensity: Vec3,
        /// Half-angle in radians.
        inner: f32,
        /// Half-angle in radians.
        outer: f32,
        /// Radius of an invisible disc perpendicular to the direction. 0 for a point.
        radius: f32,
        /// Distance at which the light ends, as for a point light.
        range: Option<f32>,
    },
    /// An emissive instance, for the Whitted integrator, which supports only spheres and discs.
    Lamp {
        /// The middle, in scene units.
        position: Vec3,
        /// Direction of a disc, which emits into that half space. None for a sphere.
        direction: Option<Vec3>,
        /// Radiant intensity; of a disc, along the direction.
        intensity: Vec3,
        /// In scene units.
        radius: f32,
    },
}

/// An image for materials. v = 0 is the bottom row of the picture, as in OBJ files; `data` starts at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Name for messages.
    pub name: String,
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Row-major, the first row at the top.
    pub texels: Texels,
    /// Wrap modes along u and along v.
    pub wrap: [Wrap; 2],
    /// Whether texels are magnified without interpolation.
    pub nearest: bool,
}

/// The texels of a texture.
#[derive(Clone, Debug, PartialEq)]
pub enum Texels {
    /// sRGB-encoded 8-bit RGB with linear alpha.
    Srgb8(Vec<[u8; 4]>),
    /// 8-bit data (normals, roughness, weights), 0 to 1.
    Linear8(Vec<[u8; 4]>),
    /// Linear radiance or reflectance.
    Linear(Vec<[f32; 4]>),
}

/// Wrap mode of a texture outside of UV 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wrap {
    /// Repeats the texture.
    #[default]
    Repeat,
    /// Continues the texels at the edge.
    Clamp,
    /// Repeats the texture, with every other copy mirrored.
    Mirror,
}

/// A shape with one BLAS, independent of the number of its instances.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// Name in the scene file or model.
    pub name: String,
    /// Its geometry.
    pub shape: Shape,
    /// Number of material slots its triangles use (at least 1).
    pub slot_count: u32,
}

/// The geometry of a mesh.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A surface of triangles.
    Triangles(TriangleMesh),
    /// The analytic sphere of radius 1 at the origin of object space.
    Sphere,
}

/// Indexed triangles in object space, counter-clockwise seen from outside.
#[derive(Clone, Debug, Default)]
pub struct TriangleMesh {
    /// Vertices in object space.
    pub positions: Vec<[f32; 3]>,
    /// Indices into `positions` (and into `normals` and `uvs` where present); never empty.
    pub triangles: Vec<[u32; 3]>,
    /// Unit shading normals, one per position, or empty: flat shading.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates: one per position, or empty.
    pub uvs: Vec<[f32; 2]>,
    /// A second set of texture coordinates: one per position, or empty.
    pub uvs1: Vec<[f32; 2]>,
    /// Linear colour and alpha that multiply the material's: one per position, or empty.
    pub colors: Vec<[f32; 4]>,
    /// Unit tangents along increasing `u`, one per position, or empty. The bitangent, along increasing `v`, is `cross(normal, tangent.xyz)
    /// * tangent.w`, and `w` is 1 or -1.
    pub tangents: Vec<[f32; 4]>,
    /// Material slot of each triangle, or empty: all 0.
    pub slots: Vec<u32>,
}

impl Mesh {
    /// Bounds in object space.
    pub fn bounds(&self) -> Aabb {
        match &self.shape {
            Shape::Triangles(m) => {
                let bounds = |part: &[[f32; 3]]| Aabb::of_points(part.iter().copied().map(Vec3::from));
                m.positions.par_chunks(BOUNDED).map(bounds).reduce(|| Aabb::EMPTY, Aabb::union)
            }
            Shape::Sphere => Aabb { min: Vec3::NEG_ONE, max: Vec3::ONE },
        }
    }

    /// The triangles of the mesh; None for a sphere.
    #[inline]
    pub fn triangles(&self) -> Option<&TriangleMesh> {
        match &self.shape {
            Shape::Triangles(triangles) => Some(triangles),
            Shape::Sphere => None,
        }
    }

    /// Number of primitives: triangles, or 1 for a sphere.
    #[inline]
    pub fn prim_count(&self) -> usize {
        match &self.shape {
            Shape::Triangles(m) => m.triangles.len(),
            Shape::Sphere => 1,
        }
    }
}

/// A frame that instances are attached to: `world_from_node = world_from_parent · local · motion(t) · root_from_rig_node(t)`.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The transform at rest, in the parent's space.
    pub local: Affine3,
    /// Index of an earlier node or [`NONE`] for the world.
    pub parent: u32,
    /// Index into `motions` or [`NONE`].
    pub motion: u32,
    /// The node of a rig that carries this one.
    pub follows: Option<RigNodeRef>,
}

/// One placement of a mesh or an assembly: `world_from_object = world_from_node · local · motion(t)`.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// The transform at rest, in the node's space.
    pub local: Affine3,
    /// Index into `nodes` or [`NONE`] for the world.
    pub node: u32,
    /// Index into [`Scene::meshes`]. Indices beyond the last mesh refer to [`Scene::assemblies`].
    pub mesh: u32,
    /// First of the mesh's `slot_count` entries in [`Scene::material_slots`]. 0 for an assembly.
    pub slot_base: u32,
    /// Index into `motions` or [`NONE`].
    pub motion: u32,
}

/// A movement in the instance's own space, shared by many instances that differ in phase.
#[derive(Clone, Debug)]
pub struct Motion {
    /// Parts whose transforms are multiplied from left to right: the last one is applied to the object first.
    pub parts: Vec<MotionPart>,
    /// Variation between instances that share the motion.
    pub phase: Phase,
}

/// A kind of movement, as a function of time.
#[derive(Clone, Debug)]
pub enum MotionPart {
    /// Steady rotation about a unit axis, one revolution per `period` seconds.
    Spin {
        /// Unit vector.
        axis: Vec3,
        /// Seconds per revolution.
        period: f64,
    },
    /// Rotation back and forth by up to `angle` radians, one swing per `period` seconds.
    Sway {
        /// Unit vector.
        axis: Vec3,
        /// Radians to either side.
        angle: f32,
        /// Seconds per cycle.
        period: f64,
    },
    /// Translation along ± `offset`, one swing per `period` seconds.
    Bob {
        /// In scene units.
        offset: Vec3,
        /// Seconds per cycle.
        period: f64,
    },
    /// Interpolated poses.
    Keyframes {
        /// Poses over time.
        track: Track<Keyframe>,
        /// Interpolation of rotations.
        rotations: Rotations,
    },
    /// Movement along a curve.
    Follow(Follower),
    /// Rotation that points +X at an object or, without one, at a point.
    LookAt {
        /// Point in scene units, if there is no object.
        point: Vec3,
        /// The object to point at. It may move.
        thing: Option<Follow>,
    },
    /// Smooth random movement.
    Noise(Noise),
    /// No movement: instances show the poses of a bending mesh.
    Bend(Bend),
    /// No movement: instances show successive poses of a clip. Their mesh is the first of `poses.count`, one per pose. Each instance has a
    /// random speed from `speeds`, a pure function of its index.
    Clip {
        /// Poses of the clip.
        poses: PoseBuckets,
        /// Minimum and maximum speed, in seconds of the clip per second.
        speeds: [f32; 2],
    },
}

/// Translation, rotation and scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe {
    /// In scene units.
    pub translation: Vec3,
    /// Applied after the scale.
    pub rotation: Quat,
    /// Radians about x, then y, then z, equivalent to `rotation`; for [`Rotations::Euler`].
    pub angles: Vec3,
    /// Factors along x, y and z.
    pub scale: Vec3,
}

/// Movement along a curve, in the space in which the object is placed.
#[derive(Clone, Debug)]
pub struct Follower {
    /// The curve.
    pub curve: Arc<Curve>,
    /// Position on the curve as a function of time.
    pub travel: Travel,
    /// Distance between this object and the first one.
    pub behind: f32,
    /// Behaviour beyond the ends of the curve.
    pub ends: Ends,
    /// Direction of the object's +X axis.
    pub face: Face,
    /// Offset to the right, up, and ahead.
    pub offset: Vec3,
    /// Banking in bends: 1 balances a gravity of 9.81 units/s².
    pub bank: f32,
}

/// Distance along a curve over time.
#[derive(Clone, Debug)]
pub enum Travel {
    /// Constant speed.
    Speed {
        /// Units per second.
        speed: f64,
        /// Distance at time 0.
        start: f64,
    },
    /// Distances by time.
    Keys(Track<f32>),
}

/// Smooth random movement, a pure function of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Maximum translation along each axis.
    pub translation: Vec3,
    /// Maximum rotation about each axis, in radians.
    pub rotation: Vec3,
    /// Approximate period in seconds.
    pub period: f64,
    /// Seed of the movement.
    pub seed: u32,
}

/// Phase of an instance's movement at time 0, in periods (in seconds for keyframes, in lengths of the curve for movement along curves).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    /// One phase for all instances.
    Same,
    /// A random phase, a pure function of the seed and the instance's index.
    Random {
        /// Seed of the phases.
        seed: u32,
        /// Upper limit of the phases. The lower limit is 0.
        spread: f32,
    },
    /// A plane wave: `dot(local translation, direction) / length`.
    Wave {
        /// Unit vector.
        direction: Vec3,
        /// Wavelength in scene units.
        length: f32,
    },
}

/// A camera, which may move.
#[derive(Clone, Debug)]
pub struct Camera {
    /// Position and target over time.
    pub path: CameraPath,
    /// Object that the eye of a still camera follows.
    pub eye: Option<Follow>,
    /// Object that the camera looks at, instead of the path's own target. It is also the centre of an orbit.
    pub target: Option<Follow>,
    /// Unit up vector of the picture. A path along a node has its own.
    pub up: Vec3,
    /// Rotation of the camera about its viewing axis in radians. A positive roll tilts the camera to the right, and the picture to the
    /// left.
    pub roll: f32,
    /// Camera shake, along and about the right, up and back axes.
    pub shake: Option<Noise>,
    /// Projection onto the picture.
    pub projection: Projection,
    /// Offset from the camera's axis to the middle of the picture, to the right and up, relative to the longer side of the picture. Not
    /// used by panoramas.
    pub shift: Vec2,
    /// Index in a glTF file of the camera whose clips animate the projection.
    pub driver: Option<u32>,
    /// None for a pinhole camera.
    pub lens: Option<Lens>,
    /// Animated values of the projection and the lens.
    pub tracks: LensTracks,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            path: CameraPath::Still { eye: Vec3::new(0.0, 0.0, 5.0), target: Vec3::ZERO },
            eye: None,
            target: None,
            up: Vec3::Y,
            roll: 0.0,
            shake: None,
            projection: Projection::default(),
            shift: Vec2::ZERO,
            driver: None,
            lens: None,
            tracks: LensTracks::default(),
        }
    }
}

/// A named object that a lens can focus on.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Name in the scene file or model.
    pub name: String,
    /// Points whose mean is the middle of the subject.
    pub anchors: Vec<Anchor>,
    /// Its instances.
    pub instances: Vec<u32>,
}

/// Position and target of a camera over time.
#[derive(Clone, Debug)]
pub enum CameraPath {
    /// A camera at rest.
    Still {
        /// Position of the camera.
        eye: Vec3,
        /// Point in the middle of the picture.
        target: Vec3,
    },
    /// A circle about the axis `up` through `target`, `height` above the target. The camera makes `turns` revolutions over the whole
    /// animation, from `start` radians at the first frame. At 0 it is at +Z of the target; positive angles are towards +X.
    Orbit {
        /// Point in the middle of the picture, on the axis of the circle.
        target: Vec3,
        /// Distance of the camera from the axis.
        radius: f32,
        /// Height of the camera above the target.
        height: f32,
        /// Angle at the first frame in radians.
        start: f32,
        /// Number of revolutions.
        turns: f32,
    },
    /// Along splines through keys.
    Spline(Flight),
    /// The view from the origin of a node along its -Z axis, with its +Y axis up.
    Node {
        /// Index into [`Scene::nodes`].
        node: u32,
    },
}

/// A moving object that a camera follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Follow {
    /// Points whose mean is the middle of the object.
    pub anchors: Arc<[Anchor]>,
    /// Offset from the middle, in scene units.
    pub offset: Vec3,
    /// Whether the offset rotates with the object.
    pub turns: bool,
    /// Mean delay of the camera in seconds.
    pub lag: f32,
}

/// A switch to another camera.
#[derive(Clone, Debug)]
pub struct Cut {
    /// Time in seconds.
    pub time: f64,
    /// The camera after the cut.
    pub camera: Camera,
}

impl Scene {
    /// Length of the animation in seconds: the time of the last frame, but at least one frame.
    pub fn duration(&self) -> f64 {
        self.settings.rate().seconds(self.settings.frames.saturating_sub(1).max(1))
    }

    /// The time that frame `number` shows, in seconds.
    pub fn time_of(&self, number: u32) -> f64 {
        let passed = number.saturating_sub(self.settings.first_frame);
        self.settings.start + self.settings.rate().seconds(passed)
    }

    /// Whether any instance, group or mesh moves or appears.
    pub fn is_animated(&self) -> bool {
        let follows = |node: &Node| node.follows.is_some();
        let carries = || self.nodes.iter().any(follows);
        let acts = !self.actors.is_empty() && (!self.deforming.is_empty() || carries());
        !self.motions.is_empty() || !self.appearances.is_empty() || acts
    }

    /// The camera of a frame at `time`, in seconds, and its number (see [`Timeline::camera`]).
    #[doc(hidden)]
    pub fn camera_of(&self, time: f64) -> (&Camera, usize) {
        let number = self.cuts.partition_point(|cut| cut.time <= time);
        match number.checked_sub(1).and_then(|cut| self.cuts.get(cut)) {
            Some(cut) => (&cut.camera, number),
            None => (&self.camera, 0),
        }
    }

    /// Number of primitives after instancing, as if every instance were a copy.
    pub fn instanced_prim_count(&self) -> u64 {
        self.in_world(&self.per_placed(|mesh| self.meshes[mesh].prim_count() as u64))
    }
}
