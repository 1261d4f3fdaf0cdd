//! The `render` section.

use super::{Double, Finite, Rate};
use crate::{Integrator, PixelFilter, ToneMap};
use serde::Deserialize;

/// `render: (size: (1920, 1080), samples: 64, frames: 48, fps: 24)`: render settings. Command line flags override them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "render", default, deny_unknown_fields)]
pub struct RenderDesc {
    /// Width and height in pixels, each 1 to 65536. Default (960, 540).
    pub size: Option<(u32, u32)>,
    /// Samples per pixel, 1 to 1048576. Default 64.
    pub samples: Option<u32>,
    /// Maximum number of bounces after the surface that the camera sees, 0 to 1000. Default 8.
    pub bounces: Option<u32>,
    /// Seed of all sampling noise. Default 0.
    pub seed: Option<u32>,
    /// Number of frames of the animation, 1 to 1000000. Default 1.
    pub frames: Option<u32>,
    /// Number of the first frame, 0 to 1000000000. File names, `--frames` and reports count from it. Default 1.
    pub first_frame: Option<u32>,
    /// Frames per second, above 0. `"24000/1001"`, 23.976 and 23.98 mean one exact rate. Default 24.
    pub fps: Option<Rate>,
    /// Time of the first frame in seconds. Default 0.
    pub start: Option<Double>,
    /// Lighting method, `path` or `whitted`, or a diagnostic view: `clay`, `ao`, `normal`, `depth`, `albedo`, `wireframe`, `instance`,
    /// `material`, `uv`, `steps`. Default `path`. `whitted` is faster, but supports only matt surfaces, mirrors, the sky and lights of the
    /// `lights` section.
    pub integrator: Option<Integrator>,
    /// Exposure in stops, -64 to 64: +1 doubles the brightness. Default 0.
    pub exposure: Option<Finite>,
    /// Tone mapping, from radiance to display colours: `aces` (default), `agx`, `pbr_neutral` or `none`.
    pub tone_map: Option<ToneMap>,
    /// Pixel filter: `gaussian` (default), `box`, `tent`, `blackman_harris`, `mitchell` or `shared`.
    pub filter: Option<PixelFilter>,
    /// Full width of the filter in pixels, 0.1 to 16. Not available for `shared`. Default: 1 for `box`, 2 for `tent`, 4 for `mitchell`,
    /// otherwise 3.
    pub filter_width: Option<Finite>,
    /// Colour temperature of light that appears white, in kelvin, 1667 to 25000. When left out, colours are not changed.
    pub white_balance: Option<Finite>,
    /// Whether frames are denoised with the help of four neighbouring frames on either side, which are traced for this. Default `false`.
    pub denoise: Option<bool>,
    /// Maximum radiance from a light after a bounce, 0.001 to 1e9, to remove bright specks. When left out, radiance is not limited.
    pub clamp_indirect: Option<Finite>,
}
