//! The integrators and their properties. A new integrator is a variant here, a number in `abi`, and a step in `kernels/integrator`; the
//! compiler reports every other place.

use throng_base::choice::choice;

choice! {
    /// Lighting method or diagnostic view.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Integrator {
        /// Global illumination: unbiased path tracing with the full material model.
        Path = "path",
        /// Mirrors, sun, point lights and one sky ray per hit.
        Whitted = "whitted",
        /// Ambient occlusion: the unoccluded share of the hemisphere.
        Ao = "ao",
        /// Shading normal, mapped from [-1, 1] to [0, 1].
        Normal = "normal",
        /// Distance to the first hit: near is white, far is dark.
        Depth = "depth",
        /// Base colour without lighting.
        Albedo = "albedo",
        /// Path tracing with a clay material on everything but lights.
        Clay = "clay",
        /// Edges of triangles.
        Wireframe = "wireframe",
        /// One colour per instance.
        Instance = "instance",
        /// One colour per material.
        Material = "material",
        /// Texture coordinates as a chequered pattern: u in red, v in green, ten squares per texture.
        Uv = "uv",
        /// Nodes and primitives visited by the camera ray, as a heat map.
        Steps = "steps",
    }
}

/// How paths continue from hit to hit. Devices schedule paths and allocate memory accordingly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Paths {
    /// Scattered by any surface, with a shadow ray to a sampled light at each hit.
    Scattered,
    /// Reflected only by mirrors. Other surfaces end the path, with a shadow ray to the sky and to some lights.
    Reflected,
    /// Ended at the first hit, with `shadow_rays` shadow rays.
    FirstHit {
        /// Number of shadow rays.
        shadow_rays: u32,
    },
    /// Ended at the first hit, with a count of the traversal work. Only pictures that are traced ray by ray can count.
    Counted,
}

/// The kind of values that an integrator computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Shows {
    /// Radiance, which is exposed, tone mapped and denoised.
    Radiance,
    /// Linear values in [0, 1], encoded as colours but not tone mapped.
    Linear,
    /// Display values in [0, 1], written unchanged.
    Display,
}

impl Integrator {
    #[doc(hidden)]
    pub fn paths(self) -> Paths {
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

    #[doc(hidden)]
    pub fn shows(self) -> Shows {
        match self {
            Self::Path | Self::Clay | Self::Whitted => Shows::Radiance,
            Self::Ao | Self::Albedo => Shows::Linear,
            Self::Normal | Self::Depth | Self::Wireframe | Self::Instance | Self::Material | Self::Uv | Self::Steps => {
                Shows::Display
            }
        }
    }

    /// Whether lights are sampled from tables and trees, which must be built.
    #[doc(hidden)]
    pub fn samples_lights(self) -> bool {
        self.paths() == Paths::Scattered
    }

    /// Whether lengths are relative to the scene's bounds, which must then be exact.
    #[doc(hidden)]
    pub fn scales_with_bounds(self) -> bool {
        matches!(self, Self::Ao | Self::Depth)
    }
}

choice! {
    /// How textures are looked up.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TextureFilter = On {
        /// Averaged over what a sample covers, which removes noise and flicker from distant textures.
        On = "on",
        /// At points, as a picture of very many samples would show them.
        Off = "off",
    }
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
