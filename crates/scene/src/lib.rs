//! A scene in the renderer's form: validated, names resolved to indices, groups unrolled or stored as assemblies.
//!
//! Loaders make it, `anim` evaluates it at a time, `accel` and `device` consume it. Nothing here reads files. World space is right-handed
//! with Y up. Lengths are in scene units, times in seconds, angles in radians, colours in linear Rec.709.

#![warn(missing_docs)]

#[doc(hidden)]
pub mod anim;
pub mod desc;
mod hash;
mod layout;
mod moving;
mod path;
mod scene;
mod shading;
#[doc(hidden)]
pub mod text;
mod view;

pub use desc::{Face, QuaternionOrder, Rotations};
pub use layout::assembly::{Assembly, MOST_LEVELS, MOST_NUMBERS, Numbers, Placed};
pub use layout::curves::{CurvePoint, CurveProfile, Curves};
#[doc(hidden)]
pub use layout::demand::VertexDemand;
pub use layout::mesh::{Mesh, Shape, TriangleMesh};
pub use layout::names::Names;
#[doc(hidden)]
pub use layout::names::cut;
pub use layout::placement::{Instance, Node};
pub use layout::references::LostReference;
#[doc(hidden)]
pub use layout::rest;
pub use layout::rest::Far;
#[doc(hidden)]
pub use layout::ways::LostPath;
pub use moving::bend::{Bend, BendSides};
pub use moving::motion::{Follower, Keyframe, Motion, MotionPart, Noise, Phase, Travel};
#[doc(hidden)]
pub use moving::placement_table::{
    PlacementTable, PlacementTables, RowClock, RowFormat, RowLayout, RowPose, RowSource, Rows, TablePosition, TableRun,
    TableShape,
};
pub use moving::placements::Placements;
#[doc(hidden)]
pub use moving::timeline::{Changes, Timeline};
#[doc(hidden)]
pub use moving::{animated, rig};
pub use path::above::{Above, Relief};
#[doc(hidden)]
pub use path::catmull_rom::catmull_rom;
#[doc(hidden)]
pub use path::curve;
pub use path::flight::{CameraKey, Flight, Pace, Parametrisation};
#[doc(hidden)]
pub use path::track::Position;
pub use path::track::{Ease, Ends, Key, Track};
pub use scene::{PlacedRun, Scene};
#[doc(hidden)]
pub use shading::clay::CLAY;
pub use shading::environment::{Environment, FloatImage, Stars};
pub use shading::fog::{Fog, Thinning};
pub use shading::hair::{hair_color, melanin_absorption};
pub use shading::light::Light;
#[doc(hidden)]
pub use shading::lit::LightSource;
pub use shading::material::{Alpha, Lobes, Material, MaterialKind, TextureMap, ToCamera, absorption, scatter_albedo};
#[doc(hidden)]
pub use shading::properties;
pub use shading::texture::{CompactFormat, CompactTexels, Rgba, TexelImage, Texels, Texture, Wrap, unit_blue};
pub use view::camera::{Camera, CameraPath, Cut, Follow, Subject};
pub use view::film::{PixelFilter, ToneMap};
pub use view::frame_rate::FrameRate;
pub use view::integrator::{Integrator, Layering, TextureFilter};
#[doc(hidden)]
pub use view::integrator::{Paths, Shows};
pub use view::intrinsics::{Distortion, Intrinsics};
pub use view::lens::{Anchor, Aperture, Focus, Iris, Lens, LensTracks, Projection};
#[doc(hidden)]
pub use view::lens::{MAX_BLADES, MOST_SHIFT, SENSOR_HEIGHT, sensor_height};
#[doc(hidden)]
pub use view::ranges;
pub use view::settings::{Metering, RenderDefaults};
pub use view::shutter::{Shutter, ShutterError};
#[doc(hidden)]
pub use view::shutter_keys::{ShutterKeys, ShutterSpan};
pub use view::views::{Optics, View, Views};

/// Marks an absent optional index.
pub const NONE: u32 = u32::MAX;
