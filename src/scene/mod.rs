//! A scene as the renderer sees it: validated, names resolved to indices, groups unrolled or kept as assemblies.
//!
//! Loaders make it, `anim` evaluates it at a time, `accel` and `device` consume it. Nothing here reads files.
//! World space is right-handed with Y up; lengths are in scene units, times in seconds, angles in radians,
//! colours in linear Rec.709.

mod above;
pub(crate) mod animated;
mod assembly;
mod bend;
mod catmull_rom;
mod clay;
pub(crate) mod curve;
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
pub(crate) mod ranges;
mod references;
pub(crate) mod rest;
pub(crate) mod rig;
mod shutter;
mod timeline;
mod track;
mod ways;

pub use above::{Above, Relief};
pub use assembly::{Assembly, MOST_LEVELS, MOST_NUMBERS, Numbers, Placed};
pub use bend::{Bend, BendSides};
pub(crate) use catmull_rom::catmull_rom;
pub(crate) use clay::CLAY;
pub(crate) use demand::VertexDemand;
pub use film::{PixelFilter, ToneMap};
pub use flight::{CameraKey, Flight, Pace, Parametrisation};
pub use fog::{Fog, Thinning};
pub use frame_rate::FrameRate;
pub use integrator::Integrator;
pub(crate) use integrator::{Paths, Shows};
pub use lens::{Anchor, Aperture, Focus, Iris, Lens, LensTracks, Projection};
pub(crate) use lens::{MAX_BLADES, MOST_SHIFT, SENSOR_HEIGHT, sensor_height};
pub(crate) use lit::LightSource;
pub use material::{Alpha, Lobes, Material, MaterialKind, TextureMap, ToCamera, absorption, scatter_albedo};
pub use names::Names;
pub(crate) use names::cut;
pub use references::LostReference;
pub use rest::Far;
pub use shutter::{Shutter, ShutterError};
pub(crate) use timeline::{Changes, Timeline};
pub(crate) use track::Position;
pub use track::{Ease, Ends, Key, Track};
pub(crate) use ways::LostPath;

use crate::choice::choice;
use crate::math::Aabb;
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

/// Vertices per task when the bounds of a mesh are found.
const BOUNDED: usize = 1 << 16;

/// "No such index" wherever an index is optional.
pub const NONE: u32 = u32::MAX;

/// A whole scene. All indices are valid and all numbers finite once a loader has returned it.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// What single precision places badly, found when it is first needed: empty in a new scene.
    pub far: OnceLock<Far>,
    /// The file's stem, for `{scene}` in output patterns and for reports.
    pub name: String,
    /// How pictures are made, unless the user says otherwise.
    pub settings: RenderDefaults,
    /// Light from where no geometry is.
    pub environment: Environment,
    /// None for clear air.
    pub fog: Option<Fog>,
    /// Lights besides the environment and surfaces that emit; for the Whitted integrator, these surfaces, too.
    pub lights: Vec<Light>,
    /// Number of `lights` that come before those of the environment, such as its sun.
    pub own_lights: usize,
    /// The flat table of materials, whose rows [`Self::material_slots`] name.
    pub materials: Vec<Material>,
    /// How materials read textures.
    pub maps: Vec<TextureMap>,
    /// Pictures that maps read.
    pub textures: Vec<Texture>,
    /// Shapes, each once, however many instances show it.
    pub meshes: Vec<Mesh>,
    /// Material of each (instance, slot): `material_slots[instance.slot_base + triangle's slot]`.
    /// Instances that look alike share a run of slots.
    pub material_slots: Vec<u32>,
    /// Group frames, parents before children.
    pub nodes: Vec<Node>,
    /// All that is in the picture: first what is in the world, then what is in each assembly.
    pub instances: Vec<Instance>,
    /// Groups that are kept as trees of their own. Those that one places come after it in this list.
    pub assemblies: Vec<Assembly>,
    /// Names of instances and materials.
    pub names: Names,
    /// Which entries of the scene file made which instances, in the order of both.
    pub placed: Vec<PlacedRun>,
    /// Movements that nodes and instances have.
    pub motions: Vec<Motion>,
    /// Rigs in motion, which nodes and meshes follow.
    pub actors: Vec<Actor>,
    /// The materials, lights and cameras that actors animate.
    pub animated: Vec<Animated>,
    /// The instances that appear and disappear, in their order.
    pub appearances: Vec<Appearance>,
    /// When things are shown that keys show and hide.
    pub switches: Vec<Track<bool>>,
    /// Meshes that change shape, each once.
    pub deforming: Vec<DeformingMesh>,
    /// Runs of meshes that are the poses of one model.
    pub palettes: Vec<Palette>,
    /// The camera of the first frame.
    pub camera: Camera,
    /// Other cameras that take over from [`Self::camera`], at increasing times.
    pub cuts: Vec<Cut>,
    /// All cameras of the scene's file by name, where it has several.
    pub viewpoints: Vec<(String, Camera)>,
    /// What changes by keys in the scene's file.
    pub timeline: Option<Arc<dyn Timeline>>,
    /// Whether the timeline has the cameras at each time, and those here are as at the first frame.
    pub camera_has_keys: bool,
    /// The instance that is the ground of a standalone model.
    pub stage: Option<u32>,
    /// Named things, besides meshes, that a lens can focus on.
    pub subjects: Vec<Subject>,
    /// Warnings about what the loader replaced or left out, one line each.
    pub warnings: Vec<String>,
    /// Warnings about what is probably meant otherwise, though all of it is drawn, one line each.
    pub doubts: Vec<String>,
    /// Hints at animations and cameras of the file that are not used, one line each.
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

/// Settings from the scene file; the command line may override each.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderDefaults {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// Samples per pixel.
    pub samples: u32,
    /// Noise at which a part of the picture is done before it has all samples; None if every part gets all.
    pub noise: Option<f32>,
    /// Greatest number of bounces after the first hit.
    pub bounces: u32,
    /// Seed of all noise.
    pub seed: u32,
    /// Number of frames of the whole animation.
    pub frames: u32,
    /// Number of the first frame; the others follow it.
    pub first_frame: u32,
    /// Frames per second. The frame with the number `n` shows time `start + (n - first_frame) / fps`, with the exact
    /// [rate](Self::rate) that is meant by this number.
    pub fps: f64,
    /// Time of the first frame in seconds.
    pub start: f64,
    /// How light is computed, or which view is shown.
    pub integrator: Integrator,
    /// Exposure in stops: radiance is multiplied by 2^exposure.
    pub exposure: f32,
    /// Whether [`Self::exposure`] is added to a measured one.
    pub metering: Metering,
    /// Limit of the radiance that a light adds after the first bounce; None if nothing is cut off.
    pub clamp_indirect: Option<f32>,
    /// How radiance becomes display colours.
    pub tone_map: ToneMap,
    /// None for pictures without motion blur.
    pub shutter: Option<Shutter>,
    /// How a pixel gathers the light around it.
    pub filter: PixelFilter,
    /// Width of the filter from one end to the other, in pixels; None for its usual width.
    pub filter_width: Option<f32>,
    /// Colour temperature of the light that appears white, in kelvin; None leaves colours as they are.
    pub white_balance: Option<f32>,
    /// Whether noise is taken out of frames with the help of those around them.
    pub denoise: bool,
    /// Whether frames are denoised with the help of those alone that are asked for as well, so that no others are traced.
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

    /// The number of the frame that comes this many frames after the first one, or of the last one.
    pub fn frame_at(&self, index: u32) -> u32 {
        self.first_frame.saturating_add(index.min(self.frames.saturating_sub(1)))
    }
}

/// Whether the exposure of frames is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Metering {
    /// As the scene says, unmeasured.
    #[default]
    Off,
    /// For light of a known brightness: makes dark subjects brighter and bright ones darker, by a stop at most, for the whole film alike.
    Gentle,
    /// Once a second.
    Full,
    /// As the keys of the scene file have it.
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

/// Radiance from where no geometry is.
#[derive(Clone, Debug, PartialEq)]
pub enum Environment {
    /// The same from everywhere.
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
        /// Radians by which it is turned about +Y.
        rotation: f32,
        /// Stars in front of it.
        stars: Stars,
    },
}

/// Stars above the horizon, which are seen and light nothing. The same ones shine in every sky.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stars {
    /// Irradiance of the faintest stars; 0 if there are none. Those of n times as much are n^1.5 times as rare.
    pub faintest: f32,
    /// Irradiance that is taken from every star, as far as it has so much.
    pub dimming: f32,
    /// Angle in radians by which the sky has turned about the celestial pole, which is 45° above the horizon at -Z.
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
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
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
        /// Distance at which the light ends, by the formula of KHR_lights_punctual; nowhere if none.
        range: Option<f32>,
    },
    /// A distant disc, which camera and mirror rays see.
    Sun {
        /// Towards it.
        direction: Vec3,
        /// On a surface that faces it.
        irradiance: Vec3,
        /// Radians; 0 gives hard shadows and no visible disc.
        angular_radius: f32,
    },
    /// A sun of which a part is dark.
    Moon {
        /// Towards it.
        direction: Vec3,
        /// That of what is lit, on a surface that faces it.
        irradiance: Vec3,
        /// Radians.
        angular_radius: f32,
        /// Unit vector across the direction that leads to the lit side.
        bright_limb: Vec3,
        /// Cosine of the angle between the middle of the lit side and the viewer.
        phase_cosine: f32,
    },
    /// A point light that shines into a cone: in full within `inner`, not at all from `outer` on, and in between by the formula of
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
        /// Radius of a disc across the direction that is not seen; 0 for a point.
        radius: f32,
        /// Distance at which the light ends, as that of a point.
        range: Option<f32>,
    },
    /// An instance that emits light, for the Whitted integrator, which knows no other: a sphere, or a disc.
    Lamp {
        /// The middle, in scene units.
        position: Vec3,
        /// Of a disc: it shines into the half space there.
        direction: Option<Vec3>,
        /// Radiant intensity, of a disc along the direction.
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
    /// Texels from left to right.
    pub width: u32,
    /// Texels from top to bottom.
    pub height: u32,
    /// Row-major, the first row at the top.
    pub texels: Texels,
    /// How the texture continues beyond its edges, along u and along v.
    pub wrap: [Wrap; 2],
    /// Whether magnified texels stay square.
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

/// A shape that gets one BLAS, whatever the number of its instances.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// Name, as the scene file or the model has it.
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
    /// The analytic sphere of radius 1 about the origin of object space.
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
    /// Unit tangents along growing `u`, one per position, or empty. The bitangent, along growing `v`, is
    /// `cross(normal, tangent.xyz) * tangent.w`, and `w` is 1 or -1.
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
    pub fn triangles(&self) -> Option<&TriangleMesh> {
        match &self.shape {
            Shape::Triangles(triangles) => Some(triangles),
            Shape::Sphere => None,
        }
    }

    /// Number of primitives: triangles, or 1 for a sphere.
    pub fn prim_count(&self) -> usize {
        match &self.shape {
            Shape::Triangles(m) => m.triangles.len(),
            Shape::Sphere => 1,
        }
    }
}

/// A frame that instances hang from: `world_from_node = world_from_parent · local · motion(t) · root_from_rig_node(t)`.
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
    /// Index into [`Scene::meshes`]; those behind the last mesh are of [`Scene::assemblies`].
    pub mesh: u32,
    /// First of the mesh's `slot_count` entries in [`Scene::material_slots`]; 0 of an assembly.
    pub slot_base: u32,
    /// Index into `motions` or [`NONE`].
    pub motion: u32,
}

/// A movement in the instance's own space, shared by many instances that differ in phase.
#[derive(Clone, Debug)]
pub struct Motion {
    /// Parts whose transforms are multiplied from left to right: the last one is applied to the object first.
    pub parts: Vec<MotionPart>,
    /// How instances that share the motion differ.
    pub phase: Phase,
}

/// One way to move, as a function of time.
#[derive(Clone, Debug)]
pub enum MotionPart {
    /// Steady rotation about a unit axis, one turn per `period` seconds.
    Spin {
        /// Unit vector.
        axis: Vec3,
        /// Seconds for a turn.
        period: f64,
    },
    /// Rotation back and forth by up to `angle` radians, one swing per `period` seconds.
    Sway {
        /// Unit vector.
        axis: Vec3,
        /// Radians to either side.
        angle: f32,
        /// Seconds for a swing.
        period: f64,
    },
    /// Translation along ± `offset`, one swing per `period` seconds.
    Bob {
        /// In scene units.
        offset: Vec3,
        /// Seconds for a swing.
        period: f64,
    },
    /// Interpolated poses.
    Keyframes {
        /// Poses over time.
        track: Track<Keyframe>,
        /// How rotations are interpolated.
        rotations: Rotations,
    },
    /// Movement along a curve.
    Follow(Follower),
    /// Rotation that points +X at a thing or, without one, at a point.
    LookAt {
        /// Point in scene units, where there is no thing.
        point: Vec3,
        /// What is pointed at, wherever it moves.
        thing: Option<Follow>,
    },
    /// Smooth random movement.
    Noise(Noise),
    /// No movement: instances show the poses of a mesh that bends.
    Bend(Bend),
    /// No movement: instances show the poses of a clip in turn. Their mesh is the first of `poses.count`, one per pose.
    /// The speed of each is drawn from `speeds`, a pure function of its index.
    Clip {
        /// Poses of the clip.
        poses: PoseBuckets,
        /// Least and greatest speed, in seconds of the clip per second.
        speeds: [f32; 2],
    },
}

/// A place, an orientation and a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe {
    /// In scene units.
    pub translation: Vec3,
    /// Applied after the scale.
    pub rotation: Quat,
    /// Radians about x, then y, then z, of which `rotation` is the same; for [`Rotations::Euler`].
    pub angles: Vec3,
    /// Factors along x, y and z.
    pub scale: Vec3,
}

/// Movement along a curve in the space that the object is placed in.
#[derive(Clone, Debug)]
pub struct Follower {
    /// The curve that is followed.
    pub curve: Arc<Curve>,
    /// Where on the curve it is at a time.
    pub travel: Travel,
    /// Distance by which this object is behind the first one.
    pub behind: f32,
    /// What happens beyond the ends of the curve.
    pub ends: Ends,
    /// Where the object points with its +X axis.
    pub face: Face,
    /// To the right, up, and ahead.
    pub offset: Vec3,
    /// Lean into bends: 1 balances a gravity of 9.81 units/s².
    pub bank: f32,
}

/// Distance along a curve over time.
#[derive(Clone, Debug)]
pub enum Travel {
    /// Units per second, and the distance at time 0.
    Speed {
        /// Units per second.
        speed: f64,
        /// Distance at time 0.
        start: f64,
    },
    /// Distances by time.
    Keys(Track<f32>),
}

/// Smooth random movement, a pure function of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Greatest translation along each axis.
    pub translation: Vec3,
    /// Greatest rotation about each axis, in radians.
    pub rotation: Vec3,
    /// Seconds.
    pub period: f64,
    /// Seed of the movement.
    pub seed: u32,
}

/// How far into its movement an instance is at time 0, in periods (in seconds for keyframes, in lengths of the curve on curves).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    /// The same phase for all instances.
    Same,
    /// A random phase, a pure function of the seed and the instance's index.
    Random {
        /// Seed of the phases.
        seed: u32,
        /// Phases are below this, and not below 0.
        spread: f32,
    },
    /// A plane wave: `dot(local translation, direction) / length`.
    Wave {
        /// Unit vector.
        direction: Vec3,
        /// Scene units from a crest to the next.
        length: f32,
    },
}

/// A camera, which may move.
#[derive(Clone, Debug)]
pub struct Camera {
    /// Where it is and what it looks at.
    pub path: CameraPath,
    /// What the eye of a still camera follows.
    pub eye: Option<Follow>,
    /// What the camera looks at, instead of the path's own target. An orbit is about it.
    pub target: Option<Follow>,
    /// Unit vector that points up in the picture. A path along a node has its own.
    pub up: Vec3,
    /// Rotation of the camera about its axis in radians: to the right, so that the picture turns to the left.
    pub roll: f32,
    /// Along and about right, up and back.
    pub shake: Option<Noise>,
    /// How it makes a picture of what is in front of it.
    pub projection: Projection,
    /// From the axis of a camera that is not a panorama to the middle of the picture, to the right and upwards, as shares of the longer side
    /// of the picture.
    pub shift: Vec2,
    /// Index in a glTF file of the camera whose clips change the projection.
    pub driver: Option<u32>,
    /// None for a pinhole: everything is sharp.
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

/// A named thing that a lens can focus on.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Name, as the scene file or the model has it.
    pub name: String,
    /// Points whose mean is the middle of the subject.
    pub anchors: Vec<Anchor>,
    /// Its instances.
    pub instances: Vec<u32>,
}

/// Where a camera is, and where it looks, over time.
#[derive(Clone, Debug)]
pub enum CameraPath {
    /// A camera at rest.
    Still {
        /// Where the camera is.
        eye: Vec3,
        /// Point in the middle of the picture.
        target: Vec3,
    },
    /// A circle about the axis `up` through `target`: `turns` turns over the whole animation, from `start` radians
    /// at the first frame (0 looks from +Z of the target, growing towards +X), `height` above the target.
    Orbit {
        /// Point in the middle of the picture, on the axis of the circle.
        target: Vec3,
        /// Distance of the eye from the axis.
        radius: f32,
        /// Height of the eye above the target.
        height: f32,
        /// Angle at the first frame in radians.
        start: f32,
        /// Number of turns.
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

/// A thing that a camera keeps to as it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Follow {
    /// Points whose mean is the middle of the thing.
    pub anchors: Arc<[Anchor]>,
    /// From that middle, in scene units.
    pub offset: Vec3,
    /// Whether the offset turns with the thing.
    pub turns: bool,
    /// Mean time in seconds by which the camera is behind.
    pub lag: f32,
}

/// A camera that takes over.
#[derive(Clone, Debug)]
pub struct Cut {
    /// Seconds.
    pub time: f64,
    /// The one that is used from then on.
    pub camera: Camera,
}

impl Scene {
    /// Length of the animation in seconds: the time of the last frame, at least one frame long.
    pub fn duration(&self) -> f64 {
        self.settings.rate().seconds(self.settings.frames.saturating_sub(1).max(1))
    }

    /// The time that frame `number` shows, in seconds.
    pub fn time_of(&self, number: u32) -> f64 {
        let passed = number.saturating_sub(self.settings.first_frame);
        self.settings.start + self.settings.rate().seconds(passed)
    }

    /// Whether any instance, group or mesh moves, or appears.
    pub fn is_animated(&self) -> bool {
        let follows = |node: &Node| node.follows.is_some();
        let carries = || self.nodes.iter().any(follows);
        let acts = !self.actors.is_empty() && (!self.deforming.is_empty() || carries());
        !self.motions.is_empty() || !self.appearances.is_empty() || acts
    }

    /// The camera of a frame at `time`, in seconds, and its number (see [`Timeline::camera`]).
    pub(crate) fn camera_of(&self, time: f64) -> (&Camera, usize) {
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
