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
mod camera;
mod catmull_rom;
mod clay;
#[doc(hidden)]
pub mod curve;
mod demand;
pub mod desc;
mod environment;
mod film;
mod flight;
mod fog;
mod frame_rate;
mod hash;
mod integrator;
mod lens;
mod light;
mod lit;
mod material;
mod material_values;
mod mesh;
mod motion;
mod names;
mod placement;
#[doc(hidden)]
pub mod ranges;
mod references;
#[doc(hidden)]
pub mod rest;
#[doc(hidden)]
pub mod rig;
mod scene;
mod settings;
mod shutter;
mod shutter_keys;
#[doc(hidden)]
pub mod text;
mod texture;
mod timeline;
mod track;
mod ways;

pub use above::{Above, Relief};
pub use assembly::{Assembly, MOST_LEVELS, MOST_NUMBERS, Numbers, Placed};
pub use bend::{Bend, BendSides};
pub use camera::{Camera, CameraPath, Cut, Follow, Subject};
#[doc(hidden)]
pub use catmull_rom::catmull_rom;
#[doc(hidden)]
pub use clay::CLAY;
#[doc(hidden)]
pub use demand::VertexDemand;
pub use desc::{Face, Rotations};
pub use environment::{Environment, FloatImage, Stars};
pub use film::{PixelFilter, ToneMap};
pub use flight::{CameraKey, Flight, Pace, Parametrisation};
pub use fog::{Fog, Thinning};
pub use frame_rate::FrameRate;
pub use integrator::{Integrator, Layering};
#[doc(hidden)]
pub use integrator::{Paths, Shows};
pub use lens::{Anchor, Aperture, Focus, Iris, Lens, LensTracks, Projection};
#[doc(hidden)]
pub use lens::{MAX_BLADES, MOST_SHIFT, SENSOR_HEIGHT, sensor_height};
pub use light::Light;
#[doc(hidden)]
pub use lit::LightSource;
pub use material::{Alpha, Lobes, Material, MaterialKind, TextureMap, ToCamera, absorption, scatter_albedo};
pub use mesh::{Mesh, Shape, TriangleMesh};
pub use motion::{Follower, Keyframe, Motion, MotionPart, Noise, Phase, Travel};
pub use names::Names;
#[doc(hidden)]
pub use names::cut;
pub use placement::{Instance, Node};
pub use references::LostReference;
pub use rest::Far;
pub use scene::{PlacedRun, Scene};
pub use settings::{Metering, RenderDefaults};
pub use shutter::{Shutter, ShutterError};
#[doc(hidden)]
pub use shutter_keys::{ShutterKeys, ShutterSpan};
pub use texture::{Texels, Texture, Wrap};
#[doc(hidden)]
pub use timeline::{Changes, Timeline};
#[doc(hidden)]
pub use track::Position;
pub use track::{Ease, Ends, Key, Track};
#[doc(hidden)]
pub use ways::LostPath;

/// Marks an absent optional index.
pub const NONE: u32 = u32::MAX;
