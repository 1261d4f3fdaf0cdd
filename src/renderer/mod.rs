//! The library's short way: a scene, a few choices, and frames in memory or in files.
//!
//! A [`Renderer`] owns no logic of its own. It keeps a device and a loaded scene for [`PictureOptions`] and [`Run`], which are what the
//! command line uses, too.

mod image;
mod rays;
#[cfg(test)]
mod tests;

pub use crate::abi::Ray;
pub use image::{Channel, Image};
pub use rays::Hit;

use crate::{
    Error, abi,
    denoise::Denoise,
    device::{self, Device, DeviceChoice, Frame, RayKind, Rendered},
    loader,
    output::{Destination, Metadata},
    pixels::PixelType,
    render::{
        FrameObserver, LoadedScene, Outputs, RenderError, RenderJob, Summary, check_rays,
        frames::{FrameList, FramesError},
    },
    scene::{Integrator, RenderDefaults, Scene, desc::SceneFile},
    settings::{FrameOptions, OngoingOptions, PictureOptions, Run, SettingsError, Size},
};
use rayon::prelude::*;
use rays::Surfaces;
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

/// Renders frames of one scene.
///
/// Choices that are not made are those of the scene, as on the command line: a model stands in a studio, seen from a turntable of 72
/// frames, and has the samples that it needs. The device is opened and the scene loaded when they are first needed, and both are kept for
/// further frames.
///
/// ```
/// use throng::Renderer;
///
/// let mut renderer = Renderer::open("assets/link.obj")?.size(64, 64).samples(4).transparent();
/// let image = renderer.frame(1)?;
/// assert_eq!((image.width(), image.height(), image.channels()), (64, 64, 4));
/// assert_eq!(image.pixel(0, 0).unwrap()[3], 0);
///
/// // The same frame before exposure and tone curve.
/// let radiance = renderer.radiance(1)?;
/// assert!(radiance.pixels().iter().all(|value| value.is_finite()));
///
/// let folder = tempfile::tempdir()?;
/// image.save(folder.path().join("link.png"))?;
/// radiance.save(folder.path().join("link.exr"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Renderer {
    source: Source,
    options: PictureOptions,
    device: DeviceChoice,
    threads: usize,
    opened: Option<Box<dyn Device>>,
    scene: Option<Arc<Scene>>,
    /// The scene on the device.
    ready: Option<LoadedScene>,
}

enum Source {
    File(PathBuf),
    Scene(Arc<Scene>),
}

impl Renderer {
    /// A renderer of a scene file, a model or a raw scene, whatever [`loader::load`] takes. The file is loaded for the first frame, since a
    /// model is framed for the shape of its pictures.
    ///
    /// # Errors
    /// If there is no such file, or its extension tells that it is of no kind that can be loaded.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        loader::check_kind(path)?;
        Ok(Self::of(Source::File(path.to_owned())))
    }

    /// A renderer of a scene that was loaded before, or put together by hand.
    ///
    /// # Errors
    /// If an index of the scene leads nowhere.
    pub fn from_scene(scene: impl Into<Arc<Scene>>) -> Result<Self, Error> {
        let scene = scene.into();
        scene.check_references()?;
        Ok(Self::of(Source::Scene(scene)))
    }

    /// A renderer of a scene that is described in code, with everything that scene files have: materials, groups, motions, cameras and
    /// skies. Meshes can be triangles that are in no file.
    ///
    /// ```
    /// use throng::{
    ///     Renderer,
    ///     scene::{TriangleMesh, desc::{MeshDesc, SceneFile}},
    /// };
    ///
    /// let pyramid = TriangleMesh {
    ///     positions: vec![[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], [0.0, 1.5, 0.0]],
    ///     triangles: vec![[0, 1, 2], [0, 2, 3], [0, 4, 1], [1, 4, 2], [2, 4, 3], [3, 4, 0]],
    ///     ..TriangleMesh::default()
    /// };
    /// let mut scene: SceneFile = r##"(
    ///     environment: SunSky(elevation: 30),
    ///     meshes: {},
    ///     materials: { "gold": Metal(color: "#ffd080") },
    ///     instances: [ Grid(of: "pyramid", count: (8, 1, 8), spacing: (3, 0, 3), material: "gold") ],
    /// )"##.parse()?;
    /// scene.meshes.push("pyramid", MeshDesc::Triangles(pyramid));
    /// let image = Renderer::from_desc("pyramids", &scene)?.size(64, 64).samples(1).frame(1)?;
    /// assert_eq!(image.pixels().len(), 64 * 64 * 3);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first thing in the description that cannot be rendered.
    pub fn from_desc(name: &str, scene: &SceneFile) -> Result<Self, Error> {
        let scene = Arc::new(loader::build(name, scene)?);
        Ok(Self::of(Source::Scene(scene)))
    }

    fn of(source: Source) -> Self {
        Self {
            source,
            options: PictureOptions::default(),
            device: DeviceChoice::Auto,
            threads: 0,
            opened: None,
            scene: None,
            ready: None,
        }
    }

    /// Sets the width and height of pictures, in pixels.
    pub fn size(self, width: u32, height: u32) -> Self {
        self.with(|options| options.picture.size = Some(Size { width, height }))
    }

    /// Sets the number of samples per pixel. All pixels then get as many.
    pub fn samples(mut self, samples: u32) -> Self {
        self.options.picture.samples = Some(samples);
        self
    }

    /// Sets the seed of the noise. The same seed gives the same pixels.
    pub fn seed(mut self, seed: u32) -> Self {
        self.options.picture.seed = Some(seed);
        self
    }

    /// Sets how light is computed, or which view is shown.
    pub fn integrator(self, integrator: Integrator) -> Self {
        self.with(|options| options.picture.integrator = Some(integrator))
    }

    /// Leaves out the background, and the ground of models: pictures get alpha.
    pub fn transparent(self) -> Self {
        self.with(|options| options.aovs.transparent = true)
    }

    /// Takes the noise out of frames, each with the help of those around it, which are traced for that.
    pub fn denoise(mut self) -> Self {
        self.options.aovs.denoise = Some(Denoise::Film);
        self
    }

    /// Leaves frames as they are traced, of scenes as well that ask for [denoising](Self::denoise).
    pub fn as_traced(mut self) -> Self {
        self.options.aovs.denoise = Some(Denoise::Off);
        self
    }

    /// Sets the device: all GPUs or else the processor, if this is not called.
    pub fn device(mut self, device: DeviceChoice) -> Self {
        self.device = device;
        (self.opened, self.ready) = (None, None);
        self
    }

    /// Sets the number of CPU threads; 0 for one per core. They belong to the process, so the first renderer's number counts.
    pub fn threads(mut self, threads: u16) -> Self {
        self.threads = threads.into();
        self
    }

    /// Makes any choice that the command line has: how files are loaded and seen, exposure and film, backgrounds, trees. What was loaded is
    /// loaded again.
    pub fn with(mut self, choose: impl FnOnce(&mut PictureOptions)) -> Self {
        choose(&mut self.options);
        (self.scene, self.ready) = (None, None);
        self
    }

    /// The scene, which is loaded now if it was not before. It tells how many frames there are, and warnings.
    ///
    /// # Errors
    /// Those of [`loader::load_with`].
    pub fn scene(&mut self) -> Result<&Arc<Scene>, Error> {
        let scene = match (self.scene.take(), &self.source) {
            (Some(scene), _) => scene,
            (None, Source::Scene(scene)) => scene.clone(),
            (None, Source::File(path)) => {
                device::start_threads(self.threads).map_err(Error::Device)?;
                Arc::new(self.options.load(path)?)
            }
        };
        Ok(self.scene.insert(scene))
    }

    /// Renders a frame, from 1, to display colours of 8 bits: the pixels that the command line writes.
    ///
    /// # Errors
    /// Everything that can be wrong with the file, the choices and the device, and a frame that the scene does not have.
    pub fn frame(&mut self, number: u32) -> Result<Image, Error> {
        self.image(number)
    }

    /// Renders a frame, from 1, to linear radiance.
    ///
    /// # Errors
    /// As [`Self::frame`].
    pub fn radiance(&mut self, number: u32) -> Result<Image<f32>, Error> {
        self.image(number)
    }

    /// Renders frames, from 1, in this order, and gives each to `each`: display colours as [`Self::frame`], or linear radiance if it takes
    /// `Image<f32>`. Frames that are [denoised](Self::denoise) take those around them; here these are traced once, while calls of
    /// [`Self::frame`] trace them again each time.
    ///
    /// ```
    /// use throng::{Image, Renderer};
    ///
    /// let mut renderer = Renderer::open("assets/link.obj")?.size(64, 64).samples(4).denoise();
    /// let mut brightness = Vec::new();
    /// renderer.frames(1..=3, |_, image: Image| {
    ///     brightness.push(image.pixels().iter().map(|&value| f32::from(value)).sum::<f32>());
    ///     Ok::<_, throng::Error>(())
    /// })?;
    /// assert_eq!(brightness.len(), 3);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::frame`], before the first if a frame does not exist, and the first of `each`, which ends it.
    pub fn frames<T: Channel, E: From<Error>>(
        &mut self,
        numbers: impl IntoIterator<Item = u32>,
        mut each: impl FnMut(u32, Image<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.on_device(numbers.into_iter().collect(), T::TYPE, |job, ready, device| {
            let mut frames = ready.frames(job, device, &|| false)?;
            for &number in &job.frames {
                let told = each(number, image(job, frames.frame(number)?));
                if told.is_err() {
                    return Ok(told);
                }
            }
            Ok(Ok(()))
        })?
    }

    /// The nearest hit of each ray with the scene as it is in a frame, from 1; None where there is nothing.
    ///
    /// Things are where they are at the frame's time, whatever the shutter does. Materials do not count: glass is hit, and so is what a
    /// texture cuts out. A call poses the frame and copies all rays to the device, so one with many rays is faster than many with one.
    ///
    /// ```
    /// use throng::{Ray, Renderer};
    ///
    /// let mut renderer = Renderer::open("assets/link.obj")?;
    /// let down = Ray::new([0.0, 10.0, 0.0], [0.0, -1.0, 0.0]);
    /// if let Some(hit) = renderer.trace(1, &[down])?[0] {
    ///     let name = renderer.scene()?.instance_name(hit.instance as usize);
    ///     println!("{name} is {} below, and faces {:?}", hit.distance, hit.normal);
    /// }
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::frame`], and rays that have no direction, or numbers that are not finite.
    pub fn trace(&mut self, number: u32, rays: &[Ray]) -> Result<Vec<Option<Hit>>, Error> {
        let (scene, frame, hits) = self.query(number, RayKind::Closest, rays)?;
        let surfaces = Surfaces::new(&scene, &frame);
        Ok(rays.par_iter().zip(&hits).map(|(ray, hit)| surfaces.hit(ray, hit)).collect())
    }

    /// Whether each ray meets anything from its `t_min` to its `t_max`, in less time than [`Self::trace`] takes to find what. What is true of
    /// its rays is true of these.
    ///
    /// # Errors
    /// As [`Self::trace`].
    pub fn occluded(&mut self, number: u32, rays: &[Ray]) -> Result<Vec<bool>, Error> {
        let (_, _, hits) = self.query(number, RayKind::Any, rays)?;
        Ok(hits.iter().map(|hit| hit.t >= 0.0).collect())
    }

    /// Writes frames where the command line would with this `--output`, such as `out/####.png` or `turn.mp4`: one picture where the name has
    /// no place for a number, else all frames. `observer` hears of each; `&mut ()` is one.
    ///
    /// # Errors
    /// As [`Self::frame`], and files that cannot be written.
    pub fn write(&mut self, output: impl AsRef<OsStr>, observer: &mut dyn FrameObserver) -> Result<Summary, Error> {
        let frames = FrameOptions { output: Some(Destination::parse(output)?), ..FrameOptions::default() };
        self.write_with(&frames, observer, &AtomicBool::new(false))
    }

    /// Writes frames as `frames` says: which ones, to what files, and whether those that exist are kept. Once `stop` is set, the run ends
    /// with what it has.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_with(
        &mut self,
        frames: &FrameOptions,
        observer: &mut dyn FrameObserver,
        stop: &AtomicBool,
    ) -> Result<Summary, Error> {
        let never = AtomicBool::new(false);
        let scene = self.scene()?.clone();
        let mut device = self.take_device()?;
        let ongoing = OngoingOptions::default();
        let mut run = Run::plan(&self.options, scene, (frames, &ongoing), device.as_ref(), &never)?;
        run.open()?;
        // The run loads the scene anew, and an error may leave the device without any.
        self.ready = None;
        let summary = run.render(device.as_mut(), observer, stop)?;
        self.opened = Some(device);
        Ok(summary)
    }

    fn image<T: Channel>(&mut self, number: u32) -> Result<Image<T>, Error> {
        self.on_device(vec![number], T::TYPE, |job, ready, device| {
            Ok(image(job, ready.frames(job, device, &|| false)?.frame(number)?))
        })
    }

    /// Traces rays, and returns the hits with the scene and the posed frame that they are in.
    fn query(&mut self, number: u32, kind: RayKind, rays: &[Ray]) -> Result<(Arc<Scene>, Frame, Vec<abi::Hit>), Error> {
        check_rays(rays)?;
        self.on_device(vec![number], PixelType::U8, |job, ready, device| {
            let frame = ready.still(job, number);
            let mut hits = vec![abi::Hit::default(); rays.len()];
            let traced = device.trace(&frame, kind, rays, &mut hits, 1);
            traced.map_err(|source| RenderError::Device { frame: number, source })?;
            Ok((job.scene.clone(), frame, hits))
        })
    }

    /// Does `work` for frames with the scene on the device, and keeps both if it went well.
    fn on_device<T>(
        &mut self,
        numbers: Vec<u32>,
        pixels: PixelType,
        work: impl FnOnce(&RenderJob, &mut LoadedScene, &mut dyn Device) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let scene = self.scene()?.clone();
        for &number in &numbers {
            check_number(number, &scene.settings)?;
        }
        let job = self.options.job(scene, pixels, (numbers, Outputs::default()), false)?;
        let mut device = self.take_device()?;
        let mut ready = match self.ready.take() {
            Some(ready) => ready,
            None => LoadedScene::new(&job, device.as_mut())?,
        };
        let done = work(&job, &mut ready, device.as_mut())?;
        (self.opened, self.ready) = (Some(device), Some(ready));
        Ok(done)
    }

    /// The device, which is opened now if it was not before. It comes back when all went well: after an error it may have lost its scene.
    fn take_device(&mut self) -> Result<Box<dyn Device>, Error> {
        match self.opened.take() {
            Some(device) => Ok(device),
            None => {
                self.ready = None;
                Ok(device::open(&self.device, self.threads).map_err(Error::Device)?.device)
            }
        }
    }
}

fn image<T: Channel>(job: &RenderJob, (rendered, metadata): (Rendered, Metadata)) -> Image<T> {
    Image::new((job.settings.width, job.settings.height), &rendered, job.is_transparent(), metadata)
}

fn check_number(number: u32, settings: &RenderDefaults) -> Result<(), SettingsError> {
    let list: FrameList = number.to_string().parse()?;
    list.resolve(settings.frame_numbers()).map(drop).map_err(|error: FramesError| error.into())
}
