//! The integrators, and what the rest of the program has to know about each. A new one is a variant here, a number in `abi`, and a step
//! in `kernels/integrator`; the compiler asks for the rest.

use crate::choice::choice;

choice! {
    /// How a path turns hits into radiance.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Integrator {
        /// Global illumination: unbiased path tracing with the full material model.
        Path = "path",
        /// Mirrors, sun, point lights and one sky ray per hit.
        Whitted = "whitted",
        /// Ambient occlusion: the share of the hemisphere that is open.
        Ao = "ao",
        /// Shading normal, mapped from [-1, 1] to [0, 1].
        Normal = "normal",
        /// Distance to the first hit, near white and far dark.
        Depth = "depth",
        /// Base colour without light.
        Albedo = "albedo",
        /// Path tracing of the forms alone: everything but lights is of clay.
        Clay = "clay",
        /// The edges of triangles.
        Wireframe = "wireframe",
        /// A colour per instance.
        Instance = "instance",
        /// A colour per material.
        Material = "material",
        /// Texture coordinates as a chequered pattern: u in red, v in green, ten fields to a texture.
        Uv = "uv",
        /// Nodes and primitives visited by the camera ray, as a heat map.
        Steps = "steps",
    }
}

/// How the paths of an integrator go on from hit to hit, which decides how devices schedule them and what they make room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// By any surface, with a shadow ray to a sampled light at each hit.
    Scattered,
    /// By mirrors alone; other surfaces end the path, with a shadow ray to the sky and to some lights.
    Reflected,
    /// They end at the first hit, with so many shadow rays.
    FirstHit { shadow_rays: u32 },
    /// They end at the first hit, and the work of traversal is counted, which only pictures traced ray by ray do.
    Counted,
}

/// The meaning of an integrator's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Light: it is exposed, tone mapped and denoised.
    Radiance,
    /// Linear values in [0, 1], encoded as colours but not tone mapped.
    Linear,
    /// Display values in [0, 1], written as they are.
    Display,
}

impl Integrator {
    pub(crate) fn paths(self) -> Paths {
        match self {
            Self::Path | Self::Clay => Paths::Scattered,
            Self::Whitted => Paths::Reflected,
            Self::Ao => Paths::FirstHit { shadow_rays: 1 },
            Self::Normal
            | Self::Depth
            | Self::Albedo
            | Self::Wireframe
            | Self::Instance
            | Self::Material
            | Self::Uv => Paths::FirstHit { shadow_rays: 0 },
            Self::Steps => Paths::Counted,
        }
    }

    pub(crate) fn shows(self) -> Shows {
        match self {
            Self::Path | Self::Clay | Self::Whitted => Shows::Radiance,
            Self::Ao | Self::Albedo => Shows::Linear,
            Self::Normal | Self::Depth | Self::Wireframe | Self::Instance | Self::Material | Self::Uv | Self::Steps => {
                Shows::Display
            }
        }
    }

    /// Whether lights are sampled from tables and trees, which have to be made for it.
    pub(crate) fn samples_lights(self) -> bool {
        self.paths() == Paths::Scattered
    }

    /// Whether lengths are measured by the bounds of the scene, which must then be exact.
    pub(crate) fn scales_with_bounds(self) -> bool {
        matches!(self, Self::Ao | Self::Depth)
    }
}
