//! The simple interface of the library: a scene, some settings, and frames in memory or in files.
//!
//! A [`Renderer`] has no rendering logic of its own. It keeps a device and a loaded scene for [`PictureOptions`] and [`Run`], which the
//! command line also uses.

mod image;
mod kept;
mod layered;
mod rays;
#[cfg(test)]
mod tests;

pub use image::{Channel, Image};
pub use kept::GpuImage;
pub use layered::LayeredImage;
pub use rays::Hit;
pub use throng_abi::Ray;

use crate::Error;
use rayon::prelude::*;
use rays::Surfaces;
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, atomic::AtomicBool},
};
use throng_abi as abi;
use throng_denoise::Denoise;
use throng_device::{self as device, Delivery, Device, DeviceChoice, Frame, FrameSettings, RayKind, Rendered};
use throng_loader as loader;
use throng_output::Destination;
use throng_picture::pixels::PixelType;
use throng_render::{
    FrameObserver, LoadedScene, Outputs, RenderError, RenderJob, Summary, check_rays,
    frames::{FrameList, FramesError},
};
use throng_scene::{Integrator, RenderDefaults, Scene, desc::SceneFile};
use throng_settings::{FrameOptions, OngoingOptions, PictureOptions, Run, SettingsError, Size};

/// Renders frames of one scene.
///
/// Settings that are not set have the scene's values, as on the command line. Models have defaults: they stand in a studio on a turntable
/// of 72 frames, with a sample count that suits them. The device is opened and the scene loaded on first use, and both are kept for later
/// frames.
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
    /// The content hash of the scene, once it is computed.
    hash: Arc<OnceLock<u64>>,
    /// The scene as loaded on the device.
    ready: Option<LoadedScene>,
}

enum Source {
    File(PathBuf),
    Scene(Arc<Scene>),
}

impl Renderer {
    /// Creates a renderer for a scene file, a model or a raw scene; see [`loader::load`] for supported files. The file is loaded on first
    /// use, since the framing of a model depends on the aspect ratio of its pictures.
    ///
    /// # Errors
    /// If the file does not exist, or if its extension belongs to no supported format.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        loader::check_kind(path)?;
        Ok(Self::of(Source::File(path.to_owned())))
    }

    /// Creates a renderer for a scene that was loaded before or built in code.
    ///
    /// # Errors
    /// If the scene contains an index that is out of range.
    pub fn from_scene(scene: impl Into<Arc<Scene>>) -> Result<Self, Error> {
        let scene = scene.into();
        scene.check_references()?;
        Ok(Self::of(Source::Scene(scene)))
    }

    /// Creates a renderer for a scene described in code, with all features of scene files: materials, groups, motions, cameras and skies.
    /// Meshes may also be triangles in memory. `name` is the name of the scene.
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
    /// The first error in the description.
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
            hash: Arc::default(),
            ready: None,
        }
    }

    /// Sets the width and height of pictures, in pixels.
    pub fn size(self, width: u32, height: u32) -> Self {
        self.with(|options| options.picture.size = Some(Size { width, height }))
    }

    /// Sets the number of samples per pixel. This turns off adaptive sampling, unless a noise threshold is set by [`Self::with`].
    pub fn samples(mut self, samples: u32) -> Self {
        self.options.picture.samples = Some(samples);
        self
    }

    /// Sets the seed of the noise. Pixels are reproducible for a given seed.
    pub fn seed(mut self, seed: u32) -> Self {
        self.options.picture.seed = Some(seed);
        self
    }

    /// Sets the integrator: the method of computing light, or a debugging view.
    pub fn integrator(self, integrator: Integrator) -> Self {
        self.with(|options| options.picture.integrator = Some(integrator))
    }

    /// Removes the background, and the ground of models. Pictures then have an alpha channel.
    pub fn transparent(self) -> Self {
        self.with(|options| options.aovs.transparent = true)
    }

    /// Denoises frames with the help of their neighbours, which are traced for this purpose.
    pub fn denoise(mut self) -> Self {
        self.options.aovs.denoise = Some(Denoise::Frames);
        self
    }

    /// Turns [denoising](Self::denoise) off, even if the scene enables it.
    pub fn as_traced(mut self) -> Self {
        self.options.aovs.denoise = Some(Denoise::Off);
        self
    }

    /// Sets the device. The default is all GPUs, or the CPU if there are none.
    pub fn device(mut self, device: DeviceChoice) -> Self {
        self.device = device;
        (self.opened, self.ready) = (None, None);
        self
    }

    /// Sets the number of CPU threads; 0 for one per core. Threads are shared by the process: the number set by the first renderer applies.
    pub fn threads(mut self, threads: u16) -> Self {
        self.threads = threads.into();
        self
    }

    /// Changes any setting of the command line: loading and framing of files, exposure and film, backgrounds, trees. The scene is loaded
    /// again on next use.
    pub fn with(mut self, choose: impl FnOnce(&mut PictureOptions)) -> Self {
        choose(&mut self.options);
        (self.scene, self.hash, self.ready) = (None, Arc::default(), None);
        self
    }

    /// The scene, loaded now if needed. It provides the number of frames and the warnings.
    ///
    /// # Errors
    /// If the file, or a file that it refers to, cannot be loaded, or if CPU threads cannot be started.
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

    /// Renders frame `number`, counted from 1, to display colours of 8 bits. The pixels equal those written by the command line.
    ///
    /// # Errors
    /// If the scene or another input cannot be loaded, if settings are invalid or contradict one another, if the scene has no such frame,
    /// or if the device cannot be opened or fails.
    pub fn frame(&mut self, number: u32) -> Result<Image, Error> {
        self.image(number)
    }

    /// Renders frame `number`, counted from 1, to linear radiance.
    ///
    /// # Errors
    /// As [`Self::frame`].
    pub fn radiance(&mut self, number: u32) -> Result<Image<f32>, Error> {
        self.image(number)
    }

    /// Renders the frames `numbers`, counted from 1, in this order, and passes each to `each`: as display colours, or as linear radiance if
    /// `each` takes `Image<f32>`. [Denoised](Self::denoise) frames need their neighbours. This function traces each neighbour once, while
    /// repeated calls of [`Self::frame`] trace it each time.
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
    /// As [`Self::frame`]; a missing frame is reported before the first is rendered. An error of `each` ends the call and is returned.
    pub fn frames<T: Channel, E: From<Error>>(
        &mut self,
        numbers: impl IntoIterator<Item = u32>,
        mut each: impl FnMut(u32, Image<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.on_device(numbers.into_iter().collect(), plain(T::TYPE), |job, ready, device| {
            let mut frames = ready.frames(job, device, &|| false)?;
            for &number in &job.frames {
                let told = each(number, image(job, number, &frames.frame(number)?));
                if told.is_err() {
                    return Ok(told);
                }
            }
            Ok(Ok(()))
        })?
    }

    /// Traces rays against the scene in frame `number`, counted from 1. Returns the nearest hit of each ray; None for a miss.
    ///
    /// The scene is posed at the frame's time, without motion blur. Materials are ignored: rays hit glass, and parts that a texture cuts
    /// out. Each call poses the frame and copies all rays to the device, so one call with many rays is faster than many calls with one ray.
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
    /// As [`Self::frame`]. Also if a ray has a direction of length zero or numbers that are not finite.
    pub fn trace(&mut self, number: u32, rays: &[Ray]) -> Result<Vec<Option<Hit>>, Error> {
        let (scene, frame, hits) = self.query(number, RayKind::Closest, rays)?;
        let surfaces = Surfaces::new(&scene, &frame);
        Ok(rays.par_iter().zip(&hits).map(|(ray, hit)| surfaces.hit(ray, hit)).collect())
    }

    /// Whether each ray hits anything between its `t_min` and `t_max`. This is faster than [`Self::trace`], whose description of rays
    /// applies here.
    ///
    /// # Errors
    /// As [`Self::trace`].
    pub fn occluded(&mut self, number: u32, rays: &[Ray]) -> Result<Vec<bool>, Error> {
        let (_, _, hits) = self.query(number, RayKind::Any, rays)?;
        Ok(hits.iter().map(|hit| hit.t >= 0.0).collect())
    }

    /// Writes frames as the command line does with this `--output`, for example `out/####.png` or `turn.mp4`. A name without a frame number
    /// gets one picture, all others get every frame. `observer` receives a report of each frame; pass `&mut ()` to ignore them.
    ///
    /// # Errors
    /// As [`Self::frame`]. Also if `output` is invalid or a file cannot be written.
    pub fn write(&mut self, output: impl AsRef<OsStr>, observer: &mut dyn FrameObserver) -> Result<Summary, Error> {
        let frames = FrameOptions { output: Some(Destination::parse(output)?), ..FrameOptions::default() };
        self.write_with(&frames, observer, &AtomicBool::new(false))
    }

    /// Writes the frames that `frames` selects, to its files, and with its treatment of existing frames. After `stop` is set, the run ends
    /// early and keeps the frames that are finished.
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
        // The run loads the scene again, and after an error the device may have none.
        self.ready = None;
        let summary = run.render(device.as_mut(), observer, stop)?;
        self.keep_device(device);
        Ok(summary)
    }

    fn image<T: Channel>(&mut self, number: u32) -> Result<Image<T>, Error> {
        self.on_device(vec![number], plain(T::TYPE), |job, ready, device| {
            Ok(image(job, number, &ready.frames(job, device, &|| false)?.frame(number)?))
        })
    }

    /// Traces rays. Returns the hits, the scene, and the posed frame to which they refer.
    fn query(&mut self, number: u32, kind: RayKind, rays: &[Ray]) -> Result<(Arc<Scene>, Frame, Vec<abi::Hit>), Error> {
        check_rays(rays)?;
        self.on_device(vec![number], plain(PixelType::U8), |job, ready, device| {
            let frame = ready.still(job, number);
            let mut hits = vec![abi::Hit::default(); rays.len()];
            let traced = device.trace(&frame, kind, rays, &mut hits, 1);
            traced.map_err(|source| RenderError::Device { frame: number, source })?;
            Ok((job.scene.clone(), frame, hits))
        })
    }

    /// Calls `work` with a job for the frames and the scene loaded on the device. Keeps device and scene for the next call if there is no
    /// error.
    fn on_device<T>(
        &mut self,
        numbers: Vec<u32>,
        (pixels, delivery): (PixelType, Delivery),
        work: impl FnOnce(&RenderJob, &mut LoadedScene, &mut dyn Device) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let scene = self.scene()?.clone();
        for &number in &numbers {
            self.check_number(number, &scene.settings)?;
        }
        let output = Outputs::in_memory(self.hash.clone());
        let job = self.options.job(scene, pixels, (numbers, output), false)?;
        let job = RenderJob { delivery, ..job };
        let mut device = self.take_device()?;
        let mut ready = match self.ready.take() {
            Some(ready) => ready,
            None => LoadedScene::new(&job, device.as_mut())?,
        };
        let done = work(&job, &mut ready, device.as_mut())?;
        self.keep_device(device);
        self.ready = Some(ready);
        Ok(done)
    }

    /// Keeps the device for the next call, whose progress starts at nothing.
    fn keep_device(&mut self, device: Box<dyn Device>) {
        if let Some(progress) = device.progress() {
            progress.reset();
        }
        self.opened = Some(device);
    }

    fn check_number(&self, number: u32, settings: &RenderDefaults) -> Result<(), SettingsError> {
        let numbers = self.options.with_views(settings).frame_numbers();
        let list: FrameList = number.to_string().parse()?;
        list.resolve(numbers).map(drop).map_err(|error: FramesError| error.into())
    }

    /// The device, opened now if needed. The caller returns it after success; after an error, the device may have lost its scene.
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

/// Pixels of this type, and nothing else.
fn plain(pixels: PixelType) -> (PixelType, Delivery) {
    (pixels, Delivery::default())
}

/// The picture of frame `number`. `settings` are the frame's own.
fn image<T: Channel>(job: &RenderJob, number: u32, (rendered, settings): &(Rendered, FrameSettings)) -> Image<T> {
    let metadata = job.output.metadata_of(job, number, settings);
    Image::new((job.settings.width, job.settings.height), rendered, job.is_transparent(), metadata)
}
