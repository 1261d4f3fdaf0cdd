//! Denoising of radiance. It uses neighbouring frames ([`frames`]) and the albedo and normals of surfaces. The filter is either this crate's
//! own kernels or Open Image Denoise, if that is installed.

pub mod frames;
mod oidn;
mod read;
mod shown;

pub use read::{ReadFrame, read_frame};
pub use shown::shown_noise;

use frames::{FrameDenoiser, FrameLayers, RecordedFrame};
use oidn::{Filter, Image, Oidn};
use std::sync::{Arc, Mutex};
use throng_base::{choice::choice, sync::lock};
use throng_device::{DeviceError, Filtered, FrameSettings};
use throng_picture::{
    aov::{Aov, AovImage, AovSet},
    film::FilmSettings,
};
use throng_scene::PixelFilter;

choice! {
    /// Method of removing noise from frames.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Denoise = Frames {
        /// By neighbouring frames and similar pixels nearby.
        Frames = "frames" | "film",
        /// By neighbouring frames and Open Image Denoise 2, which must be installed; OIDN_DIR names its folder.
        Oidn = "oidn",
        /// No denoising.
        Off = "off",
    }
}

/// Metadata of frames contain the earlier name of [`Denoise::Frames`], so that `--skip-existing` keeps frames of earlier versions.
impl serde::Serialize for Denoise {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Frames => "film",
            Self::Oidn | Self::Off => self.name(),
        })
    }
}

#[derive(Debug, thiserror::Error)]
pub enum DenoiseError {
    #[error(
        "--denoise oidn needs Open Image Denoise 2, which cannot be loaded ({0}); install it \
         (https://www.openimagedenoise.org) and set OIDN_DIR to its folder, or choose --denoise frames, which needs nothing"
    )]
    Missing(String),
    #[error(
        "--denoise oidn needs version 2 of Open Image Denoise, and this is another ({0}); set OIDN_DIR to the folder of version 2"
    )]
    Version(String),
    #[error("Open Image Denoise failed: {0}")]
    Oidn(String),
    #[error("it has no layer {0}, which denoising takes")]
    Layer(Aov),
    #[error("it was not traced")]
    Untraced,
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Denoises the frames of a run.
pub struct Denoising {
    filter: FrameDenoiser,
    oidn: Option<Arc<Denoiser>>,
    /// Number of neighbouring frames on each side that contribute to a denoised frame; 0 to denoise each frame alone.
    pub reach: u32,
    /// First and last frame that may contribute; none for the first and last frame of the scene.
    pub within: Option<(u32, u32)>,
}

impl Denoising {
    /// Layers that a frame must have to contribute to its neighbours.
    pub const LAYERS: [Aov; 4] = [Aov::Albedo, Aov::Normal, Aov::Motion, Aov::Variance];

    /// Creates a denoiser that uses `oidn`, or its own filter if that is none, and `reach` neighbouring frames on each side.
    ///
    /// # Errors
    /// If the environment variable `THRONG_CPU` selects kernels that this program does not have.
    pub fn new(oidn: Option<Arc<Denoiser>>, reach: u32) -> Result<Self, DeviceError> {
        Ok(Self { filter: FrameDenoiser::new(1.0)?, oidn, reach, within: None })
    }

    pub fn method(&self) -> Denoise {
        if self.oidn.is_some() { Denoise::Oidn } else { Denoise::Frames }
    }

    /// The pixel filter for frames with these settings. [`PixelFilter::Gaussian`], the default, is replaced by [`PixelFilter::Shared`],
    /// which has less noise from the start. Open Image Denoise cannot handle the correlated noise of shared samples, so it keeps the filter
    /// of the settings.
    pub fn filter(&self, settings: &FrameSettings) -> PixelFilter {
        let FilmSettings { filter, filter_width, .. } = settings.film;
        let is_usual = filter == PixelFilter::Gaussian && filter_width.is_none() && settings.samples > 1;
        if self.oidn.is_none() && is_usual { PixelFilter::Shared } else { filter }
    }

    /// The data of a frame that its neighbours need, see [`FrameDenoiser::frame`].
    pub fn frame(&self, size: (u32, u32), layers: &FrameLayers) -> Option<RecordedFrame> {
        self.filter.frame(size, layers)
    }

    /// The AOVs that a device has to produce, so that frames with `aovs` can be denoised.
    pub fn aovs_for(aovs: AovSet) -> AovSet {
        let of_alpha = aovs.contains(Aov::Alpha).then_some(Aov::AlphaVariance);
        aovs.iter().chain(Self::LAYERS).chain(of_alpha).collect()
    }

    /// The AOVs of a frame that are still needed after [`Self::frame`]: `aovs`, and the guides of Open Image Denoise.
    pub fn aovs_after(&self, aovs: AovSet) -> AovSet {
        let guides: &[Aov] = if self.oidn.is_some() { &Denoiser::GUIDES } else { &[] };
        aovs.iter().chain(guides.iter().copied()).collect()
    }

    /// Denoises the frame in the middle of `window`, an odd number of consecutive frames; entries of missing frames are none. `size` is in
    /// pixels. `aovs` must have the guides of Open Image Denoise, if that is used. Its result has no noise estimate.
    ///
    /// # Errors
    /// If the frame in the middle is missing, if sizes differ, or if Open Image Denoise fails.
    pub fn denoise(
        &self,
        size: (u32, u32),
        window: &[Option<Arc<RecordedFrame>>],
        aovs: &[AovImage],
    ) -> Result<Filtered, DenoiseError> {
        let window: Vec<_> = window.iter().map(Option::as_deref).collect();
        let Some(oidn) = &self.oidn else {
            return Ok(self.filter.denoise(&window)?);
        };
        let mut filtered = self.filter.gather(&window)?;
        oidn.denoise(size, &mut filtered.radiance, aovs)?;
        clear_uncovered(&mut filtered);
        Ok(filtered)
    }
}

/// Sets radiance to 0 where the alpha of a transparent picture is 0.
fn clear_uncovered(filtered: &mut Filtered) {
    for (pixel, &alpha) in filtered.radiance.as_chunks_mut::<3>().0.iter_mut().zip(&filtered.alpha) {
        if alpha <= 0.0 {
            *pixel = [0.0; 3];
        }
    }
}

/// Denoises single frames with Open Image Denoise.
///
/// The guides are denoised first, so that the filter can treat them as noise-free. This keeps edges and textures stable between frames.
pub struct Denoiser {
    session: Mutex<OidnSession>,
}

struct OidnSession {
    oidn: Oidn,
    /// Images and filters for the size of the last frame; none before the first.
    set: Option<FilterSet>,
}

/// Images and filters for pictures of one size.
struct FilterSet {
    size: (usize, usize),
    /// Images of colour (input and output), albedo and normals.
    images: Vec<Image>,
    /// Filters in the order in which they run.
    filters: Vec<Filter>,
}

impl Denoiser {
    /// The AOVs that guide the denoiser.
    pub const GUIDES: [Aov; 2] = [Aov::Albedo, Aov::Normal];

    /// Loads Open Image Denoise and opens a device of it.
    ///
    /// # Errors
    /// If the library is missing, has another major version, or finds no device.
    pub fn load() -> Result<Self, DenoiseError> {
        Ok(Self { session: Mutex::new(OidnSession { oidn: Oidn::load()?, set: None }) })
    }

    /// Denoises `radiance`: linear RGB, row-major, `width` × `height` pixels. `aovs` must contain the guides in that size.
    ///
    /// # Errors
    /// If a guide is missing or has another size, or if the library fails, for example for lack of memory.
    pub fn denoise(
        &self,
        (width, height): (u32, u32),
        radiance: &mut [f32],
        aovs: &[AovImage],
    ) -> Result<(), DenoiseError> {
        let size = (width as usize, height as usize);
        let guide = |aov: Aov| {
            let found = aovs.iter().find(|image| image.aov == aov);
            let values = found.map(|image| &image.values[..]);
            values.filter(|values| values.len() == radiance.len()).ok_or(DenoiseError::Layer(aov))
        };
        let [albedo, normal] = Self::GUIDES.map(guide);
        let inputs = [&*radiance, albedo?, normal?];
        let mut session = lock(&self.session);
        session.prepare(size)?;
        let OidnSession { oidn, set: Some(set) } = &*session else {
            return Err(DenoiseError::Oidn("no filter".into()));
        };
        for (image, pixels) in set.images.iter().zip(inputs) {
            oidn.write(image, pixels);
        }
        for filter in &set.filters {
            oidn.execute(filter)?;
        }
        if let Some(color) = set.images.first() {
            oidn.read(color, radiance);
        }
        oidn.check()
    }
}

impl OidnSession {
    /// Creates images and filters for this size, unless they exist already.
    fn prepare(&mut self, size: (usize, usize)) -> Result<(), DenoiseError> {
        if self.set.as_ref().is_some_and(|set| set.size == size) {
            return Ok(());
        }
        self.release();
        let (width, height) = size;
        let image = || self.oidn.image(width, height);
        let (color, albedo, normal) = (image()?, image()?, image()?);
        let own = |name, image: &Image| {
            let images = [(name, image), (c"output", image)];
            self.oidn.filter(&images, &[])
        };
        let whole = [(c"color", &color), (c"albedo", &albedo), (c"normal", &normal), (c"output", &color)];
        let filters =
            vec![own(c"albedo", &albedo)?, own(c"normal", &normal)?, self.oidn.filter(&whole, &[c"hdr", c"cleanAux"])?];
        self.set = Some(FilterSet { size, images: vec![color, albedo, normal], filters });
        Ok(())
    }

    fn release(&mut self) {
        if let Some(set) = self.set.take() {
            self.oidn.release(set.images, set.filters);
        }
    }
}

impl Drop for OidnSession {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_base::choice::Choice;

    fn image(aov: Aov, values: Vec<f32>) -> AovImage {
        AovImage { aov, values: values.into() }
    }

    #[test]
    fn noise_goes_and_edges_of_the_guides_stay() {
        let denoiser = match Denoiser::load() {
            Ok(denoiser) => denoiser,
            Err(error) => {
                println!("skipped: {error}");
                return;
            }
        };
        let (width, height) = (96u32, 64u32);
        let half = |x: u32| if x < width / 2 { 0.2 } else { 0.8 };
        let pixels = || (0..width * height).map(|i| (i % width, i));
        // The noise is at most half of the value, up or down.
        let mut radiance: Vec<f32> = pixels()
            .flat_map(|(x, i)| {
                let noise = 0.5 + throng_base::math::hash_unit(7, i);
                [half(x) * noise; 3]
            })
            .collect();
        let albedo = pixels().flat_map(|(x, _)| [half(x); 3]).collect();
        let normal = pixels().flat_map(|_| [0.0, 0.0, 1.0]).collect();
        let aovs = [image(Aov::Albedo, albedo), image(Aov::Normal, normal)];
        denoiser.denoise((width, height), &mut radiance, &aovs).unwrap();
        for (x, i) in pixels().filter(|(x, _)| x.abs_diff(width / 2) > 1) {
            let found = radiance[3 * i as usize];
            assert!((found - half(x)).abs() < 0.15 * half(x), "{x}: {found}");
        }
        let error = denoiser.denoise((width, height), &mut radiance, &[]);
        assert!(error.unwrap_err().to_string().contains("albedo"));
    }

    #[test]
    fn the_earlier_name_of_a_method_is_accepted_and_stored() {
        assert_eq!(Denoise::Frames.to_string(), "frames");
        assert_eq!(
            ["frames", "film", "movie"].map(Denoise::named),
            [Some(Denoise::Frames), Some(Denoise::Frames), None]
        );
        let stored = [Denoise::Frames, Denoise::Oidn].map(|method| serde_json::to_string(&method).unwrap());
        assert_eq!(stored, [r#""film""#, r#""oidn""#]);
    }

    #[test]
    fn guides_are_asked_for_beside_other_layers() {
        let depth = [Aov::Depth].into_iter().collect();
        let names = |aovs: AovSet| aovs.iter().map(Aov::name).collect::<Vec<_>>();
        assert_eq!(names(Denoising::aovs_for(depth)), ["albedo", "normal", "depth", "motion", "variance"]);
        assert_eq!(names(Denoising::new(None, 4).unwrap().aovs_after(depth)), ["depth"]);
    }
}
