//! The settings of a picture, and what follows from them.

use super::{FilmWanted, PixelType, Region};
use crate::{
    aov::{Aov, AovSet, channels::FileRows},
    film::FilmSettings,
    scene::{Integrator, Layering, PixelFilter, RenderDefaults, Shutter, ToneMap},
};

/// Settings of a frame's picture, the same for all frames of a run.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
pub struct FrameSettings {
    /// Size of the whole picture.
    pub width: u32,
    pub height: u32,
    /// The part of the picture that is rendered; none for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    pub samples: u32,
    pub bounces: u32,
    pub seed: u32,
    /// Gives all frames the same noise.
    pub lock_seed: bool,
    pub integrator: Integrator,
    /// In stops.
    pub exposure: f32,
    pub tone_map: ToneMap,
    pub film: FilmSettings,
    /// Leaves out light that rough surfaces scatter more than once, and so some energy.
    pub single_scatter: bool,
    pub layering: Layering,
    /// Noise at which a part of the picture is done before it has all samples; `None` if every part gets all.
    pub noise: Option<f32>,
    /// Limit of the radiance that a light adds after the first bounce; `None` if nothing is cut off.
    pub clamp_indirect: Option<f32>,
    /// Makes samples independent of how many there will be, so that a picture can get more later, and their sums exact, so that these are the
    /// same in whatever order and by whichever devices samples are added. Costs a little of the evenness of noise among neighbours.
    pub open_ended: bool,
    pub pixels: PixelType,
    /// Nothing but display values is made of the film, so that `whitted` may limit samples by them, against fireflies. Not serialized, as it
    /// follows from what files hold.
    #[serde(skip, default = "shown")]
    pub display_only: bool,
    /// Leaves out the environment where the camera sees it. Where alpha is among the AOVs, display colours are divided by it; floats
    /// never are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transparent: bool,
    /// Draws the edges of triangles, so many pixels wide, if [`Aov::Wireframe`] is among the AOVs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wireframe: Option<f32>,
    /// The AOVs that frames have besides the picture.
    pub aovs: AovSet,
    /// Gathers AOVs of unfinished pictures, too. Not serialized, because it changes no finished picture.
    #[serde(skip)]
    pub unfinished_aovs: bool,
    /// Whether the sums of films may stay on a device with memory of its own when samples were added. Until it takes on something else, more
    /// can be added there. Not serialized, because it changes no picture.
    #[serde(skip)]
    pub film_stays: bool,
    /// Keeps the exact sums that AOVs of a finished picture are made of ([`Accumulation::layers`]), so that they can be joined with those of
    /// other samples. Takes an open end. Not serialized, because it changes no picture.
    #[serde(skip)]
    pub layer_sums: bool,
    /// Asks for the rows of files, compressed, instead of pixels and AOVs. Devices that do not make them or have too little
    /// memory return pixels and AOVs. Not serialized, because it changes how a file is made and not what it shows.
    #[serde(skip)]
    pub file_rows: Option<FileRows>,
    /// Asks for the frame as the denoiser of films reads it, instead of pixels and of AOVs that are not wanted besides. Takes floats as
    /// pixels, more than one sample and the AOVs that the denoiser needs. Devices that keep no such frames or have too little memory return
    /// pixels and all AOVs. Not serialized, because it changes no picture.
    #[serde(skip)]
    pub film_wanted: Option<FilmWanted>,
    /// When the shutter is open; `None` for no motion blur. Frames are posed by it, and devices find all that they need in frames.
    pub shutter: Option<Shutter>,
}

/// Settings that were written tell nothing of it.
fn shown() -> bool {
    true
}

impl From<&RenderDefaults> for FrameSettings {
    /// The settings that a scene asks for, of pictures of 8 bits.
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
            single_scatter: false,
            layering: Layering::default(),
            noise: scene.noise,
            clamp_indirect: scene.clamp_indirect,
            open_ended: false,
            pixels: PixelType::U8,
            display_only: true,
            transparent: false,
            wireframe: None,
            aovs: AovSet::default(),
            unfinished_aovs: false,
            film_stays: false,
            layer_sums: false,
            file_rows: None,
            film_wanted: None,
            shutter: scene.shutter.filter(Shutter::is_open),
        }
    }
}

impl FrameSettings {
    /// Width and height of what is rendered: the picture, or a region of it.
    pub fn film_size(&self) -> (u32, u32) {
        self.region.map_or((self.width, self.height), |region| (region.width, region.height))
    }

    /// Number of pixels that are rendered.
    pub fn film_pixels(&self) -> usize {
        let (width, height) = self.film_size();
        width as usize * height as usize
    }

    /// Whether samples count in all pixels that they are near ([`PixelFilter::Shared`]). That takes all of a picture at once, and layers that
    /// tell how much of a pixel something covers would not fit to it.
    pub fn shares_samples(&self) -> bool {
        const COVERAGE: [Aov; 3] = [Aov::Instance, Aov::Material, Aov::Wireframe];
        let is_whole = self.region.is_none() && !self.open_ended && self.noise.is_none();
        let has = |aov| self.aovs.contains(aov);
        // What covers pixels is shared in one set of sums.
        let has_room = !has(Aov::Alpha) || !has(Aov::Shadow);
        self.film.filter == PixelFilter::Shared && is_whole && has_room && !COVERAGE.into_iter().any(has)
    }

    /// Whether what covers pixels is shared like their samples.
    pub fn shares_cover(&self) -> bool {
        self.shares_samples() && (self.aovs.contains(Aov::Alpha) || self.aovs.contains(Aov::Shadow))
    }

    /// Whether the noise of shadows on shadow catchers is measured. Sums that are exact have no room for it.
    pub fn measures_shade(&self) -> bool {
        let has = |aov| self.aovs.contains(aov);
        let shades = has(Aov::Shadow) && has(Aov::Variance) || has(Aov::Alpha) && has(Aov::AlphaVariance);
        shades && !self.open_ended
    }

    /// The filter that pixels come to have: where samples cannot be shared, the Gaussian that is like it.
    pub fn filter(&self) -> PixelFilter {
        match self.film.filter {
            PixelFilter::Shared if !self.shares_samples() => PixelFilter::Gaussian,
            filter => filter,
        }
    }

    /// Bytes of a finished pixel.
    pub fn pixel_bytes(&self) -> usize {
        3 * self.pixels.bytes()
    }
}
