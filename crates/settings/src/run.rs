//! From choices to a run: loads the scene, makes the job, and reports every foreseeable error before rendering begins.

use super::{AovOptions, FrameOptions, FramePlan, OngoingOptions, RenderOptions, SettingsError, Size, memory};
use crate::Error;
use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};
use throng_denoise::{Denoise, Denoiser, Denoising, frames::REACH};
use throng_device::{Delivery, Device, FrameSettings};
use throng_loader::{self as loader, Inspected, LoadError, LoadOptions};
use throng_output::{Manifests, OutputError, prepare_distinct};
use throng_picture::{
    aov::{Aov, AovSet, cryptomatte},
    film::FilmSettings,
    pixels::PixelType,
};
use throng_render::{
    self as render, Driver, FrameObserver, Outputs, RenderError, RenderJob, Summary, TreeSource, Wanted,
};
use throng_scene::{Placements, RenderDefaults, Scene, Shows, Views, rig::RefitPolicy};

/// Settings that apply to the pictures of any scene.
#[derive(Clone, Default)]
pub struct PictureOptions {
    /// Loader options.
    pub load: LoadOptions,
    /// Views to render instead of the scene's, one per frame.
    pub views: Option<Arc<Views>>,
    /// Transforms of instances that replace the scene's.
    pub placed: Option<Arc<Placements>>,
    /// Settings of the picture.
    pub picture: RenderOptions,
    /// Settings of layers, alpha and backgrounds.
    pub aovs: AovOptions,
    /// Refit policy of all deforming meshes. None: each mesh has its own.
    pub refit: Option<RefitPolicy>,
    /// Build quality and cache of trees.
    pub trees: TreeSource,
    /// Whether pictures may get more samples later; see [`FrameSettings::open_ended`].
    #[doc(hidden)]
    pub open_ended: bool,
    /// Open Image Denoise. Loaded on first use and kept for all scenes.
    #[doc(hidden)]
    pub oidn: OnceLock<Arc<Denoiser>>,
}

impl PictureOptions {
    /// Loads a scene for pictures of the requested size, or of the default size. With a transparent or replaced background, models have no
    /// ground, or a shadow catcher.
    ///
    /// # Errors
    /// Returns the errors of [`loader::load_with`].
    #[doc(hidden)]
    pub fn load(&self, path: &Path) -> Result<Scene, LoadError> {
        loader::load_with(path, &self.load_options())
    }

    /// Like [`Self::load`]. Passes a glTF, USD or pbrt file to `inspect` before it is converted to a scene.
    ///
    /// # Errors
    /// Returns the errors of [`Self::load`].
    #[doc(hidden)]
    pub fn load_inspected(&self, path: &Path, inspect: impl FnOnce(Inspected)) -> Result<Scene, LoadError> {
        loader::load_inspected(path, &self.load_options(), inspect)
    }

    /// Like [`Self::load`], but reads the scene from `text` instead of the file.
    ///
    /// # Errors
    /// Returns the errors of [`Self::load`].
    #[doc(hidden)]
    pub fn load_scene(&self, path: &Path, text: &str) -> Result<Scene, LoadError> {
        loader::load_scene(path, Some(text), &self.load_options())
    }

    fn load_options(&self) -> LoadOptions {
        let mut options = self.load.clone();
        options.model.stage.size = self.picture.size.map(|size: Size| (size.width, size.height));
        options.model.cut_out = self.aovs.cuts_out();
        options.model.shadow_catcher = self.aovs.shadow_catcher;
        options
    }

    /// The settings of a scene, with a frame for each of the views that replace its cameras.
    #[doc(hidden)]
    pub fn with_views(&self, scene: &RenderDefaults) -> RenderDefaults {
        let frames = self.views.as_ref().map_or(scene.frames, |views| views.list().len() as u32);
        RenderDefaults { frames, ..scene.clone() }
    }

    /// The job of all frames of `plan`, whether or not they exist. `makes_blocks` makes the device produce the blocks of OpenEXR files.
    ///
    /// # Errors
    /// If output formats do not support the requested contents. Also returns the errors of [`Self::job`].
    #[doc(hidden)]
    pub fn job_of(&self, scene: Arc<Scene>, plan: &FramePlan, makes_blocks: bool) -> Result<RenderJob, Error> {
        let pixels = plan.pixels();
        if !self.aovs.aovs().is_empty() && pixels != PixelType::F32 {
            return Err(SettingsError::Layers.into());
        }
        if self.aovs.is_transparent() {
            plan.check_alpha()?;
        }
        let job = self.job(scene, pixels, (plan.asked.clone(), plan.outputs()), makes_blocks)?;
        plan.check_labels(&job)?;
        Ok(job)
    }

    /// The job of `frames`, with pixels of this type.
    ///
    /// # Errors
    /// If settings are out of range or contradict each other, or if the background or the denoiser cannot be loaded.
    #[doc(hidden)]
    pub fn job(
        &self,
        scene: Arc<Scene>,
        pixels: PixelType,
        (frames, mut output): (Vec<u32>, Outputs),
        makes_blocks: bool,
    ) -> Result<RenderJob, Error> {
        let layers = self.aovs.aovs();
        let transparent = self.aovs.is_transparent();
        let mut settings = self.picture.resolve(&scene.settings)?;
        let wireframe_color = self.aovs.wireframe_color;
        settings.wireframe = settings.wireframe.or(wireframe_color.map(|_| 1.0));
        let views = self.views.clone().or(scene.views.clone());
        let denoising = self.denoising((&settings, views.is_some()), &scene.settings, &frames)?.map(Arc::new);
        let background = self.aovs.background.as_ref();
        let background = background.map(|choice| choice.open(settings.film_size())).transpose()?.flatten();
        if output.has_manifests() {
            output.manifests = manifests(layers, &scene);
        }
        let tells_errors = denoising.as_ref().is_some_and(|denoising| denoising.method() == Denoise::Frames);
        if layers.contains(Aov::Error) && !tells_errors {
            return Err(SettingsError::ErrorLayer.into());
        }
        let aovs = layers.with(transparent.then_some(Aov::Alpha));
        let gathered = self.gathered(aovs, &settings, &scene);
        // A checkpoint keeps a film that continues by its own noise. Neighbours of a denoised frame may already be finished.
        let denoised_noise = settings.noise.filter(|_| tells_errors && !self.open_ended);
        let settings = FrameSettings {
            transparent: self.aovs.cuts_out(),
            // The ground of a replaced background continues beyond the picture, and so does its shadow.
            fades_shadows: transparent && background.is_none() && scene.stage.is_some(),
            open_ended: self.open_ended,
            noise: settings.noise.filter(|_| denoised_noise.is_none()),
            ..settings
        };
        let mut settings = match &denoising {
            Some(denoising) => {
                let filter = self.picture.film.filter.unwrap_or(denoising.filter(&settings));
                let film = FilmSettings { filter, ..settings.film.clone() };
                let aovs_traced = Denoising::aovs_for(gathered);
                let settings = FrameSettings { pixels: PixelType::F32, aovs: aovs_traced, film, ..settings };
                memory::check_window(&settings, aovs, (denoising.reach, denoised_noise.is_some()))?;
                settings
            }
            None => FrameSettings { pixels, aovs: gathered, ..settings },
        };
        let is_traced = denoising.is_none() && background.is_none() && wireframe_color.is_none();
        let file_rows = output.file_rows(aovs, transparent).filter(|_| makes_blocks && is_traced);
        settings.film.filter = settings.filter();
        settings.display_only = pixels != PixelType::F32;
        Ok(RenderJob {
            pixels,
            settings,
            delivery: Delivery { file_rows, ..Delivery::default() },
            auto_exposure: self.picture.auto_exposure(&scene.settings),
            views,
            placed: self.placed.clone(),
            scene,
            aovs,
            denoising,
            denoised_noise,
            background,
            wireframe_color,
            refit: self.refit,
            trees: self.trees.clone(),
            frames,
            output,
        })
    }

    /// The AOVs that devices gather for files with `aovs`.
    fn gathered(&self, aovs: AovSet, settings: &FrameSettings, scene: &Scene) -> AovSet {
        let has_background = self.aovs.cuts_out() && !self.aovs.is_transparent();
        let shadowed = !self.aovs.cuts_out() && scene.catches_shadows();
        let own = [
            has_background.then_some(Aov::Alpha),
            shadowed.then_some(Aov::Shadow),
            settings.wireframe.map(|_| Aov::Wireframe),
        ];
        own.into_iter().fold(aovs.gathered(), AovSet::with)
    }

    /// The denoiser of `frames`.
    fn denoising(
        &self,
        (settings, has_views): (&FrameSettings, bool),
        scene: &RenderDefaults,
        frames: &[u32],
    ) -> Result<Option<Denoising>, Error> {
        let is_light = settings.integrator.shows() == Shows::Radiance;
        let usual = if scene.denoise && is_light { Denoise::Frames } else { Denoise::Off };
        let oidn = match self.aovs.denoise.unwrap_or(usual) {
            Denoise::Off => return Ok(None),
            _ if !is_light => return Err(SettingsError::DenoisedView.into()),
            Denoise::Frames => None,
            Denoise::Oidn => Some(match self.oidn.get() {
                Some(loaded) => loaded.clone(),
                None => {
                    let loaded = Arc::new(Denoiser::load()?);
                    self.oidn.get_or_init(|| loaded).clone()
                }
            }),
        };
        let (reach, within) = match self.aovs.denoise_frames {
            // Frames with one noise pattern contain no additional information about each other.
            _ if settings.lock_seed => (0, None),
            Some(reach) => (reach, None),
            // Views need not be close to each other.
            None if has_views => (0, None),
            None if scene.denoises_asked => match run_of(frames) {
                Some((first, last)) => (REACH.min(last - first), Some((first, last))),
                None => (0, None),
            },
            None => (REACH, None),
        };
        let mut denoising = Denoising::new(oidn, reach).map_err(RenderError::Load)?;
        denoising.within = within;
        Ok(Some(denoising))
    }
}

/// First and last frame of a range without gaps. None if there are gaps.
fn run_of(frames: &[u32]) -> Option<(u32, u32)> {
    let frames = BTreeSet::from_iter(frames.iter().copied());
    let (first, last) = (*frames.first()?, *frames.last()?);
    (u64::from(last - first) + 1 == frames.len() as u64).then_some((first, last))
}

/// The names of the requested Cryptomatte layers.
fn manifests(aovs: AovSet, scene: &Scene) -> Manifests {
    let of = |aov, manifest: fn(&Scene) -> String| if aovs.contains(aov) { manifest(scene) } else { String::new() };
    Manifests {
        instances: of(Aov::Instance, cryptomatte::instance_manifest),
        materials: of(Aov::Material, cryptomatte::material_manifest),
    }
}

/// A note for the user if there are too many names for the manifest of a Cryptomatte layer.
fn unnamed(job: &RenderJob) -> Option<&'static str> {
    let is_told = job.aovs.contains(Aov::Instance) && !job.frames.is_empty();
    (is_told && cryptomatte::has_too_many_paths(&job.scene)).then_some(
        "the layer `instance` has more than a million names, too many to list in its files: `throng info SCENE --matte-id ID` finds the name of an id",
    )
}

/// A planned run: the frames of a scene and their output. Nothing is rendered yet, and no video is open.
#[doc(hidden)]
pub struct Run<'a> {
    pub job: RenderJob,
    pub plan: FramePlan,
    /// Notes for the user: existing frames that cannot be kept, and names that are missing from files.
    pub notes: Vec<&'static str>,
    driver: Driver<'a>,
}

impl<'a> Run<'a> {
    /// Plans the frames of `scene` for `device`. Checks that the output files can be written and are distinct from each other and from the
    /// inputs. Leaves out frames that exist and are kept. Once `asked` is set, unfinished frames are written.
    ///
    /// # Errors
    /// Every error that can be found before the first frame.
    pub fn plan(
        options: &PictureOptions,
        scene: Arc<Scene>,
        (frames, ongoing): (&FrameOptions, &OngoingOptions),
        device: &dyn Device,
        asked: &'a AtomicBool,
    ) -> Result<Self, Error> {
        let mut plan = frames.resolve(&options.with_views(&scene.settings))?;
        ongoing.apply_to(&mut plan, frames.mismatched)?;
        let wanted = Wanted {
            checkpoint: ongoing.checkpoint,
            partial_interval: ongoing.write_partial,
            is_film: plan.film().is_some(),
            is_single: plan.pattern().is_some() && plan.total() == 1,
        };
        let driver = Driver::of(wanted, device, asked);
        let makes_blocks = device.makes_blocks() && !driver.is_paced() && !plan.files.any();
        let as_traced;
        let options = if plan.film().is_some() || ongoing.checkpoint {
            as_traced = PictureOptions { aovs: options.aovs.as_traced(), open_ended: true, ..options.clone() };
            &as_traced
        } else {
            options
        };
        let mut job = options.job_of(scene, &plan, makes_blocks)?;
        let part = ongoing.part(&plan, &job).map_err(SettingsError::from)?;
        if ongoing.checkpoint && job.scene.settings.frames > 1 && job.denoising.as_ref().is_some_and(|it| it.reach > 0)
        {
            return Err(SettingsError::DenoisedCheckpoint.into());
        }
        if job.settings.open_ended {
            memory::check_film(&job.settings, part.is_some())?;
        }
        let driver = driver.for_job(&job, part, asked);
        plan.prepare(&job, ongoing)?;
        let mut notes = Vec::from_iter(plan.skip(&mut job)?);
        notes.extend(unnamed(&job));
        Ok(Self { job, plan, notes, driver })
    }

    /// Opens videos, sheets and streams.
    ///
    /// # Errors
    /// Returns the errors of [`FramePlan::open`].
    pub fn open(&mut self) -> Result<(), OutputError> {
        self.plan.open(&mut self.job)
    }

    /// Renders the remaining frames. `device` must be the device that the run was planned for.
    ///
    /// # Errors
    /// Returns the errors of [`render::run`].
    pub fn render(
        &self,
        device: &mut dyn Device,
        observer: &mut dyn FrameObserver,
        stop: &AtomicBool,
    ) -> Result<Summary, RenderError> {
        let mut summary = if self.job.frames.is_empty() {
            self.job.finish()?;
            Summary::default()
        } else {
            render::run(&self.job, &self.driver, device, observer, stop)?
        };
        if !summary.stopped {
            let points = self.job.output.labels.write_points(&self.job, device, &|| stop.load(Ordering::Relaxed));
            match points {
                Err(error) if error.is_stop() => summary.stopped = true,
                other => other?,
            }
        }
        Ok(summary)
    }
}

impl FramePlan {
    /// Checks that output files can be written and are distinct from each other and from the inputs.
    ///
    /// # Errors
    /// If a file cannot be written, or if its format does not support pictures of this size.
    pub fn prepare(&self, job: &RenderJob, ongoing: &OngoingOptions) -> Result<(), Error> {
        self.check_size(&job.settings)?;
        prepare_distinct(self.planned(&job.scene.name, ongoing))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_help_each_other_where_none_is_left_out_between_them() {
        assert_eq!(run_of(&[3, 1, 2]), Some((1, 3)));
        assert_eq!(run_of(&[5]), Some((5, 5)));
        assert_eq!((run_of(&[1, 3]), run_of(&[])), (None, None));
    }
}
