//! The settings of a picture, and values derived from them.

use crate::{PixelType, Region};
use throng_picture::{
    aov::{Aov, AovSet},
    film::FilmSettings,
};
use throng_scene::{Integrator, Layering, PixelFilter, RenderDefaults, Shutter, ToneMap};

/// Distance within which shadows fade towards the picture's edges, relative to the smaller side. It is the default empty space around a model.
const SHADE_MARGIN: f32 = 0.14;

/// Settings of a picture, which apply to all frames of a run: everything that is seen. What devices return of it is a [`Delivery`](crate::Delivery).
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
pub struct FrameSettings {
    /// Size of the whole picture in pixels.
    pub width: u32,
    pub height: u32,
    /// The part of the picture that is rendered; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    pub samples: u32,
    pub bounces: u32,
    pub seed: u32,
    /// Gives all frames the same noise pattern.
    pub lock_seed: bool,
    pub integrator: Integrator,
    /// Exposure in stops.
    pub exposure: f32,
    pub tone_map: ToneMap,
    pub film: FilmSettings,
    /// Averages textures over what a sample covers.
    #[serde(default = "on", skip_serializing_if = "is_on")]
    pub filter_textures: bool,
    /// Omits light that rough surfaces scatter more than once, which loses some energy.
    pub single_scatter: bool,
    pub layering: Layering,
    /// Noise at which a tile gets no more samples; `None` if every tile gets all samples.
    pub noise: Option<f32>,
    /// Upper limit of the radiance of one light contribution after the first bounce; `None` for no limit.
    pub clamp_indirect: Option<f32>,
    /// Makes samples independent of the final sample count, so that a picture can get more later. Sums are exact, so results do not depend on the
    /// order of samples or on the devices that compute them. Noise is slightly less evenly distributed among neighbouring pixels.
    pub open_ended: bool,
    pub pixels: PixelType,
    /// Whether only display values are computed from the film. `whitted` then limits samples in display space, against fireflies. This changes
    /// samples, so it is part of the picture; it is not serialized, because the file's format determines it.
    #[serde(skip, default = "on")]
    pub display_only: bool,
    /// Hides the environment from the camera. If alpha is among the AOVs, integer display colours are divided by it; floats never are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transparent: bool,
    /// Fades shadows on shadow catchers towards the picture's edges, so that they do not end in a straight line there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fades_shadows: bool,
    /// Width in pixels of the triangle edges that are drawn if [`Aov::Wireframe`] is among the AOVs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wireframe: Option<f32>,
    /// The AOVs that are rendered in addition to the picture.
    pub aovs: AovSet,
    /// Stores numbers in mattes instead of hashes of names: of an instance as in [`Hit::instance`](throng_abi::Hit), of a material its row in the
    /// scene's table.
    #[serde(skip)]
    pub numbered: bool,
    /// Shutter interval; `None` for no motion blur. It is used when frames are posed; devices read the result from the frame.
    pub shutter: Option<Shutter>,
}

fn is_on(setting: &bool) -> bool {
    *setting
}

/// Default for settings read from files that do not contain the value.
fn on() -> bool {
    true
}

impl From<&RenderDefaults> for FrameSettings {
    /// The settings of a scene, for 8-bit pictures.
    fn from(scene: &RenderDefaults) -> Self {
        Self {
            width: scene.width,
            height: scene.height,
            region: None,
            samples: scene.samples,
            bounces: scene.bounces,
            seed: scene.seed,
            lock_seed: false,
            integrator: scene.integrator,
            exposure: scene.exposure,
            tone_map: scene.tone_map,
            film: scene.into(),
            filter_textures: true,
            single_scatter: scene.single_scatter,
            layering: Layering::default(),
            noise: scene.noise,
            clamp_indirect: scene.clamp_indirect,
            open_ended: false,
            pixels: PixelType::U8,
            display_only: true,
            transparent: false,
            fades_shadows: false,
            wireframe: None,
            aovs: AovSet::default(),
            numbered: false,
            shutter: scene.shutter.filter(Shutter::is_open),
        }
    }
}

impl FrameSettings {
    /// Aspect ratio (width / height) of the whole picture.
    pub fn aspect(&self) -> f32 {
        self.width as f32 / self.height as f32
    }

    /// Width and height of the rendered pixels: the picture, or a region of it.
    pub fn film_size(&self) -> (u32, u32) {
        self.region.map_or((self.width, self.height), |region| (region.width, region.height))
    }

    /// Number of pixels that are rendered.
    pub fn film_pixels(&self) -> usize {
        let (width, height) = self.film_size();
        width as usize * height as usize
    }

    /// Whether each sample contributes to all pixels near it ([`PixelFilter::Shared`]). This requires a whole picture in one go. It is off if an AOV
    /// stores per-pixel coverage that would not match the filter.
    pub fn shares_samples(&self) -> bool {
        const COVERAGE: [Aov; 3] = [Aov::Instance, Aov::Material, Aov::Wireframe];
        let is_whole = self.region.is_none() && !self.open_ended && self.noise.is_none();
        let has = |aov| self.aovs.contains(aov);
        // There is only one set of sums for coverage.
        let has_room = !has(Aov::Alpha) || !has(Aov::Shadow);
        self.film.filter == PixelFilter::Shared && is_whole && has_room && !COVERAGE.into_iter().any(has)
    }

    /// Whether coverage (alpha or shadow) is shared among pixels like samples.
    pub fn shares_cover(&self) -> bool {
        self.shares_samples() && (self.aovs.contains(Aov::Alpha) || self.aovs.contains(Aov::Shadow))
    }

    /// Whether the noise of shadows on shadow catchers is measured. Exact sums have no room for it.
    pub fn measures_shade(&self) -> bool {
        let has = |aov| self.aovs.contains(aov);
        let shades = has(Aov::Shadow) && has(Aov::Variance) || has(Aov::Alpha) && has(Aov::AlphaVariance);
        shades && !self.open_ended
    }

    /// Distance from the picture's edges, in pixels, within which shadows on shadow catchers fade; 0 for none.
    pub fn shade_margin(&self) -> f32 {
        let side = self.width.min(self.height) as f32;
        if self.fades_shadows { SHADE_MARGIN * side } else { 0.0 }
    }

    /// The pixel filter in effect. If samples cannot be shared, the Gaussian replaces the shared filter.
    pub fn filter(&self) -> PixelFilter {
        match self.film.filter {
            PixelFilter::Shared if !self.shares_samples() => PixelFilter::Gaussian,
            filter => filter,
        }
    }

    /// Bytes of a finished pixel (three channels).
    pub fn pixel_bytes(&self) -> usize {
        3 * self.pixels.bytes()
    }
}
