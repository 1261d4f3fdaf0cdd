//! The frame loop for long renders. It renders one frame at a time, a few samples per device call. The unfinished frame can be written or
//! stored in a checkpoint at any moment, and another run can continue it.

use super::{
    Busy, FrameObserver, FrameQueue, FrameReport, RenderError, RenderJob, Summary, milliseconds,
    pose::{Posed, Poser},
    prepare, refine,
    window::{Complete, Traced, Window},
    write::{self, Finished},
};
use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use throng_device::{
    Accumulation, Device, DeviceError, Filtered, Frame, FrameSettings, PixelType, RayCounts, Rendered,
};
use throng_output::{
    CheckpointError, CheckpointIdentity, FilmHeader, FilmPicture, checkpoint_path, read_checkpoint, write_film,
};
use throng_picture::{aov::Aov, pixels::Floats};
use throng_scene::ToneMap;

/// Target duration of one device call. Signals are handled between calls.
const SLICE: Duration = Duration::from_millis(500);
/// Greatest factor by which the number of samples per call grows from one call to the next.
const MOST_GROWTH: u32 = 16;
/// Time between two checkpoints.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(60);

/// Options for frames that are still being rendered.
pub struct Ongoing<'a> {
    /// Keeps the samples of frames in checkpoints beside their files, and continues from existing checkpoints.
    pub checkpoint: bool,
    /// Interval at which the unfinished frame is written as a partial picture; none for never.
    pub partial_interval: Option<Duration>,
    /// Request to write the unfinished frame now. The flag is cleared when the frame is written.
    pub asked: &'a AtomicBool,
    /// Renders only this range of samples, and writes them to this file instead of a picture. The job must have a single frame.
    pub part: Option<(PathBuf, Range<u32>)>,
}

impl Ongoing<'_> {
    /// Whether samples are kept in files, to which more can be added later.
    fn keeps(&self) -> bool {
        self.checkpoint || self.part.is_some()
    }
}

/// Renders all frames as [`super::run`] does. With checkpoints, or if only a range of samples is rendered, a stopped run keeps the samples
/// of its unfinished frame. The settings must then have an [open end](FrameSettings::open_ended).
///
/// # Errors
/// As [`super::run`]. Also if a checkpoint cannot be read or written, is damaged, or belongs to another picture.
pub fn run_ongoing(
    job: &RenderJob,
    ongoing: &Ongoing,
    device: &mut dyn Device,
    observer: &mut dyn FrameObserver,
    stop: &AtomicBool,
) -> Result<Summary, RenderError> {
    let start = Instant::now();
    let Some((mut poser, exposures)) = prepare(job, device, stop)? else {
        return Ok(Summary::of_stopped());
    };
    observer.frames_begin(device.progress());
    let loop_start = Instant::now();
    let mut summary = Summary { busy: Busy::of(1, device.device_count(), 1), ..Summary::default() };
    let scene = match ongoing.keeps() {
        true => format!("{:016x}", job.scene.content_hash()),
        false => String::new(),
    };
    let observer = Mutex::new(observer);
    let frames = FrameQueue::of(job).telling(|count| write::lock(&observer).frames_awaited(count));
    let progress = device.progress();
    let mut window = Window::new(job);
    while let Some(step) = frames.next(0, || stop.load(Ordering::Relaxed)) {
        if let Some(progress) = &progress {
            progress.set_part(step.part.0, step.part.1);
        }
        let keeper = |frame: u32| {
            let settings = exposures.settings_of(&job.settings, frame);
            Keeper { is_written: frame == step.frame, ..Keeper::new(job, &settings, ongoing, (&scene, frame)) }
        };
        let traced = match step.trace {
            None => None,
            Some(frame) => {
                let traced = trace_frame(job, &keeper(frame), device, poser.pose(frame), stop)?;
                if traced.is_none() {
                    break;
                }
                traced
            }
        };
        if let Some(mut complete) = window.take(step, traced)? {
            let keeper = keeper(step.frame);
            match refine_frame(job, &keeper, &mut complete, (device, &mut poser), stop) {
                Err(error) if error.is_stop() => break,
                refined => refined?,
            }
            let report = finish_frame(job, &keeper, (summary.frames as usize, complete))?;
            summary.add(&report);
            write::lock(&observer).frame_done(&report);
        }
    }
    summary.skipped = frames.finish()?;
    summary.stopped = summary.is_short_of(job);
    if !summary.stopped {
        job.output.finish()?;
    }
    summary.elapsed = start.elapsed();
    summary.busy.elapsed = loop_start.elapsed();
    Ok(summary)
}

/// Traces one frame. None if the run was stopped.
fn trace_frame(
    job: &RenderJob,
    keeper: &Keeper,
    device: &mut dyn Device,
    posed: Posed,
    stop: &AtomicBool,
) -> Result<Option<Traced>, RenderError> {
    let settings = &keeper.settings();
    let ended = || stop.load(Ordering::Relaxed);
    if job.denoised_noise.is_some() {
        return match refine::begin(job, (keeper.frame, settings.clone()), device, posed, &ended) {
            Err(error) if error.is_stop() => Ok(None),
            begun => begun.map(Some),
        };
    }
    let mut film = keeper.begin(settings)?;
    let begun = film.state.samples;
    // Copy of the film before the current call. A device that is stopped leaves its film in an undefined state.
    let mut kept = Accumulation::default();
    let mut pace = Pace::default();
    let (mut rays, mut time) = (RayCounts::default(), Duration::ZERO);
    let (mut put_aside, mut shown) = (Instant::now(), Instant::now());
    let mut rendered = loop {
        if ended() {
            keeper.put_aside(&film)?;
            return Ok(None);
        }
        if keeper.keeps() {
            kept.clone_from(&film);
        }
        let until = pace.next(film.state.samples, settings.samples);
        let rendered = match device.add_samples(&posed.frame, settings, &mut film, until, &ended) {
            Ok(rendered) => rendered,
            Err(DeviceError::Stopped) => {
                keeper.put_aside(&kept)?;
                return Ok(None);
            }
            Err(source) => {
                let frame = keeper.frame;
                return Err(RenderError::Device { frame, source });
            }
        };
        pace.took(rendered.time);
        rays += rendered.rays;
        time += rendered.time;
        if film.is_done(settings) {
            break rendered;
        }
        if keeper.is_asked(shown) {
            let rendered = match settings.transparent {
                true => with_alpha(&posed.frame, settings, &mut film, device)?,
                false => rendered,
            };
            keeper.show(job, settings, rendered)?;
            shown = Instant::now();
        }
        if put_aside.elapsed() >= CHECKPOINT_INTERVAL {
            keeper.put_aside(&film)?;
            put_aside = Instant::now();
        }
    };
    (rendered.rays, rendered.time) = (rays, time);
    if film.state.samples > begun || keeper.ongoing.part.is_some() {
        keeper.put_aside(&film)?;
    }
    let Posed { time: pose_time, trees, .. } = posed;
    Ok(Some(Traced { number: keeper.frame, settings: settings.clone(), rendered, pose_time, trees, begun: None }))
}

/// Adds samples to the tiles of a frame that are noisy after denoising. Between rounds, the frame is written if a partial picture is due.
fn refine_frame(
    job: &RenderJob,
    keeper: &Keeper,
    complete: &mut Complete,
    (device, poser): (&mut dyn Device, &mut Poser),
    stop: &AtomicBool,
) -> Result<(), RenderError> {
    let mut shown = Instant::now();
    let mut show = |traced: &Traced, filtered: &Filtered| {
        if !keeper.is_asked(shown) {
            return Ok(());
        }
        shown = Instant::now();
        keeper.show_denoised(job, traced, filtered)
    };
    let ended = || stop.load(Ordering::Relaxed);
    refine::refine(job, complete, device, &mut || poser.pose(keeper.frame), (&ended, &mut show))
}

/// Writes one frame, unless only a range of its samples was rendered; that range is already in its own file.
fn finish_frame(
    job: &RenderJob,
    keeper: &Keeper,
    (index, complete): (usize, Complete),
) -> Result<FrameReport, RenderError> {
    if let Some((path, _)) = &keeper.ongoing.part {
        let Traced { rendered, pose_time, trees, .. } = &complete.traced;
        let work = (milliseconds(*pose_time), trees);
        return Ok(write::report_of_part((keeper.frame, path), rendered, work));
    }
    let report = write::write_frame(job, Finished { index, complete })?;
    keeper.clean_up();
    Ok(report)
}

/// Computes the alpha of the unfinished picture, which takes an extra device call.
fn with_alpha(
    frame: &Frame,
    settings: &FrameSettings,
    film: &mut Accumulation,
    device: &mut dyn Device,
) -> Result<Rendered, RenderError> {
    let settings = FrameSettings { unfinished_aovs: true, ..settings.clone() };
    let until = film.state.samples;
    let rendered = device.add_samples(frame, &settings, film, until, &|| false);
    rendered.map_err(|source| RenderError::Device { frame: frame.number, source })
}

/// Adapts the number of samples per call, so that each call takes about [`SLICE`].
struct Pace {
    samples: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { samples: 1 }
    }
}

impl Pace {
    /// Sample count at which the next call ends. A film that has more than `all` samples stays unchanged.
    fn next(&self, done: u32, all: u32) -> u32 {
        done.saturating_add(self.samples).min(all).max(done)
    }

    fn took(&mut self, time: Duration) {
        if time < SLICE / 2 {
            // Each call has a fixed cost, which matters most on fast devices: calls soon reach their target duration.
            let times = (SLICE.as_nanos() / time.as_nanos().max(1)).clamp(2, MOST_GROWTH.into());
            self.samples = self.samples.saturating_mul(times as u32);
        } else if time > SLICE * 2 {
            self.samples = (self.samples / 2).max(1);
        }
    }
}

/// The checkpoint and the partial picture of an unfinished frame.
struct Keeper<'a> {
    ongoing: &'a Ongoing<'a>,
    frame: u32,
    /// Whether this run writes the frame. A frame that is only traced for its neighbours may be written by another run at this moment.
    is_written: bool,
    checkpoint: PathBuf,
    partial: PathBuf,
    identity: CheckpointIdentity,
    /// The picture for which the film collects samples.
    picture: FilmPicture,
}

impl<'a> Keeper<'a> {
    /// `settings` are the frame's own, with its measured exposure.
    fn new(job: &RenderJob, settings: &FrameSettings, ongoing: &'a Ongoing, (scene, frame): (&str, u32)) -> Self {
        let files = job.output.files.as_ref();
        let path = files.map(|files| files.path_for(frame, &job.scene.name)).unwrap_or_default();
        Self {
            ongoing,
            frame,
            is_written: true,
            checkpoint: ongoing.part.as_ref().map_or_else(|| checkpoint_path(&path), |(path, _)| path.clone()),
            partial: partial_path(&path),
            identity: CheckpointIdentity {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                scene: scene.to_owned(),
                frame,
                settings: format!("{:?}", sampling(settings)),
            },
            picture: FilmPicture {
                settings: settings.clone(),
                aovs: job.aovs,
                metadata: job.output.metadata_of(job, frame, settings),
                manifests: job.output.manifests.clone(),
            },
        }
    }

    fn keeps(&self) -> bool {
        self.is_written && self.ongoing.keeps()
    }

    /// Settings for tracing: the settings of the picture, limited to the requested range of samples.
    fn settings(&self) -> FrameSettings {
        let settings = self.picture.settings.clone();
        match &self.ongoing.part {
            Some((_, samples)) => FrameSettings { samples: samples.end, layer_sums: true, ..settings },
            None => settings,
        }
    }

    /// The film stored in the checkpoint, or an empty film if there is no checkpoint.
    ///
    /// # Errors
    /// If the checkpoint cannot be read, is damaged, or has other samples than this run would continue with.
    fn begin(&self, settings: &FrameSettings) -> Result<Accumulation, CheckpointError> {
        if !self.keeps() {
            return Ok(Accumulation::new(settings));
        }
        let part = self.ongoing.part.as_ref().map(|(_, samples)| samples);
        let first = part.map_or(0, |samples| samples.start);
        match read_checkpoint(&self.checkpoint, &self.identity)? {
            None => Ok(Accumulation::from_sample(settings, first)),
            Some(film) if !film.fits(settings) => Err(CheckpointError::Damaged { path: self.checkpoint.clone() }),
            Some(film) if film.state.first != first || part.is_some_and(|samples| film.state.samples > samples.end) => {
                let why = format!("it has samples {}-{}", film.state.first + 1, film.state.samples);
                Err(CheckpointError::Other { path: self.checkpoint.clone(), why })
            }
            Some(film) => Ok(film),
        }
    }

    fn put_aside(&self, film: &Accumulation) -> Result<(), CheckpointError> {
        if !self.keeps() || film.state.range().is_empty() {
            return Ok(());
        }
        let samples = self.ongoing.part.as_ref().map_or(self.picture.settings.samples, |(_, samples)| samples.end);
        let header = FilmHeader {
            of: self.identity.clone(),
            picture: self.picture.clone(),
            state: film.state.clone(),
            samples: vec![film.state.range()],
            finished: film.state.has(samples),
            has_layers: !film.layers.is_empty(),
        };
        Ok(write_film(&self.checkpoint, &header, film)?)
    }

    /// Whether a partial picture is due. `shown` is the time at which the last one was written.
    fn is_asked(&self, shown: Instant) -> bool {
        if !self.is_written {
            return false;
        }
        let interval = self.ongoing.partial_interval;
        let due = interval.is_some_and(|interval| shown.elapsed() >= interval);
        self.ongoing.asked.swap(false, Ordering::Relaxed) || due
    }

    fn show(&self, job: &RenderJob, settings: &FrameSettings, mut rendered: Rendered) -> Result<(), RenderError> {
        if let Some(denoising) = &job.denoising {
            // If frames are denoised, the pixels are radiance and have to be developed first.
            let radiance: Vec<f32> = bytemuck::pod_collect_to_vec(&rendered.pixels);
            write::develop(job, denoising, (self.frame, settings), &radiance, &mut rendered)?;
        }
        write::complete(job, &mut rendered);
        let output = &job.output;
        output.write_partial(job, self.frame, &self.partial, &rendered)?;
        Ok(())
    }

    fn show_denoised(&self, job: &RenderJob, traced: &Traced, filtered: &Filtered) -> Result<(), RenderError> {
        let mut aovs = traced.rendered.aovs.clone();
        write::replace_alpha(&mut aovs, &filtered.alpha);
        let pixels = Floats::from(filtered.radiance.clone()).into_bytes();
        self.show(job, &traced.settings, Rendered { pixels, aovs, blocks: None, film: None, ..traced.rendered })
    }

    /// Removes the partial picture after the finished picture was written.
    fn clean_up(&self) {
        // Errors are ignored: usually there is no partial picture, and its name marks it as one. A pipe or link was not made by this run.
        if fs::symlink_metadata(&self.partial).is_ok_and(|found| found.is_file()) {
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// Path of a partial picture: `0001.partial.png` for `0001.png`.
fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".partial");
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// The settings that affect the samples of an open-ended picture. All other settings have neutral values.
pub fn sampling(settings: &FrameSettings) -> FrameSettings {
    let variance = settings.aovs.contains(Aov::Variance);
    // Noise is measured on displayed values.
    let measured = settings.noise.is_some();
    // Every setting not listed here counts: a picture with another value is not continued.
    FrameSettings {
        samples: 0,
        exposure: if measured { settings.exposure } else { 0.0 },
        tone_map: if measured { settings.tone_map } else { ToneMap::None },
        film: settings.film.sampling(),
        pixels: PixelType::U8,
        display_only: true,
        aovs: variance.then_some(Aov::Variance).into_iter().collect(),
        layer_sums: false,
        ..settings.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Poser;
    use proptest::{option, prelude::*, sample::select};
    use std::sync::{Arc, LazyLock};
    use throng_device::{CpuDevice, fake};
    use throng_loader as loader;
    use throng_picture::film::FilmSettings;
    use throng_scene::{Integrator, Layering, PixelFilter, Shutter};

    /// A scene with lights, a mirror and motion.
    const SCENE: &str = r#"(
        environment: SunSky(elevation: 35, azimuth: 120),
        materials: { "red": Diffuse(color: (0.8, 0.2, 0.2)), "mirror": Mirror(), "lamp": Emissive(radiance: (9, 8, 7)) },
        meshes: { "ball": Sphere, "floor": Quad() },
        motions: { "sway": (parts: [Sway(axis: (1, 0, 0), degrees: 40, period: 1)]) },
        instances: [
            Single(of: "floor", scale: 40, material: "red"),
            Grid(of: "ball", count: (3, 1, 3), spacing: (3, 0, 3), translate: (0, 1, 0), materials: ["red", "mirror", "lamp"], motion: "sway"),
        ],
        camera: LookAt(eye: (0, 4, 12), target: (0, 0, 0), fov: 40),
    )"#;

    #[test]
    fn tone_curves_count_where_they_decide_who_gets_samples() {
        let under = |noise, tone_map| sampling(&FrameSettings { noise, tone_map, ..fake::settings() });
        assert!(under(None, ToneMap::None) == under(None, ToneMap::Agx));
        assert!(under(Some(0.1), ToneMap::None) != under(Some(0.1), ToneMap::Agx));
    }

    static LOADED: LazyLock<Arc<throng_scene::Scene>> = LazyLock::new(|| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("scene.ron");
        std::fs::write(&path, SCENE).unwrap();
        Arc::new(loader::load(&path).unwrap_or_else(|error| panic!("{error}")))
    });

    const INTEGRATORS: [Integrator; 7] = [
        Integrator::Path,
        Integrator::Whitted,
        Integrator::Ao,
        Integrator::Normal,
        Integrator::Depth,
        Integrator::Albedo,
        Integrator::Instance,
    ];
    const FILTERS: [PixelFilter; 5] = [
        PixelFilter::Box,
        PixelFilter::Tent,
        PixelFilter::Gaussian,
        PixelFilter::BlackmanHarris,
        PixelFilter::Mitchell,
    ];
    const TONE_MAPS: [ToneMap; 4] = [ToneMap::None, ToneMap::Aces, ToneMap::Agx, ToneMap::PbrNeutral];
    const PIXELS: [PixelType; 3] = [PixelType::U8, PixelType::U16, PixelType::F32];

    /// Display settings, which may change when a picture is continued.
    type Shown = (f32, ToneMap, f32, Option<f32>, PixelType, bool);

    fn shown() -> impl Strategy<Value = Shown> {
        (
            select(vec![-2.0f32, 0.0, 3.0]),
            select(TONE_MAPS.to_vec()),
            select(vec![0.0f32, 1.0]),
            option::of(select(vec![3000.0f32, 9000.0])),
            select(PIXELS.to_vec()),
            any::<bool>(),
        )
    }

    fn settings() -> impl Strategy<Value = FrameSettings> {
        let light = (
            select(INTEGRATORS.to_vec()),
            0u32..4,
            any::<bool>(),
            any::<bool>(),
            option::of(select(vec![0.5f32, 50.0])),
        );
        let film =
            (select(FILTERS.to_vec()), option::of(0.5f32..6.0), option::of(select(vec![0.003f32, 0.1])), any::<bool>());
        let rest = (any::<u32>(), any::<bool>());
        (light, film, rest).prop_map(|(light, film, rest)| FrameSettings {
            width: 13,
            height: 9,
            integrator: light.0,
            bounces: light.1,
            single_scatter: light.2,
            layering: if light.3 { Layering::Viewer } else { Layering::Reciprocal },
            clamp_indirect: light.4,
            film: FilmSettings { filter: film.0, filter_width: film.1, ..FilmSettings::default() },
            noise: film.2,
            shutter: film.3.then(|| "0.5".parse::<Shutter>().unwrap()),
            seed: rest.0,
            lock_seed: rest.1,
            open_ended: true,
            ..fake::settings()
        })
    }

    fn with(settings: &FrameSettings, shown: &Shown, samples: u32) -> FrameSettings {
        let aovs = shown.5.then_some(Aov::Variance);
        FrameSettings {
            samples,
            exposure: shown.0,
            tone_map: shown.1,
            film: FilmSettings { dither: shown.2, white_balance: shown.3, ..settings.film.clone() },
            pixels: shown.4,
            aovs: aovs.into_iter().collect(),
            ..settings.clone()
        }
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(96))]

        #[test]
        fn a_picture_in_pieces_is_that_at_once(
            settings in settings(),
            (before, after) in (shown(), shown()),
            (first, more) in (1u32..40, 1u32..40),
        ) {
            let begun = with(&settings, &before, first);
            let whole = with(&settings, &after, first + more);
            // With incompatible settings a picture cannot be continued; then only the number of samples changes.
            let begun = match sampling(&begun) == sampling(&whole) {
                true => begun,
                false => with(&settings, &after, first),
            };
            let mut device = CpuDevice::new().unwrap_or_else(|error| panic!("{error}"));
            device.load(LOADED.clone()).unwrap();
            let mut poser = Poser::new(LOADED.clone(), device.node_layout());
            poser.set_shutter(settings.shutter);
            let frame = poser.pose(7).frame;
            let mut add = |settings: &FrameSettings, film: &mut Accumulation, until| {
                let rendered = device.add_samples(&frame, settings, film, until, &|| false);
                rendered.unwrap_or_else(|error| panic!("{error}")).pixels
            };
            let mut pieces = Accumulation::new(&begun);
            add(&begun, &mut pieces, first);
            let in_pieces = add(&whole, &mut pieces, first + more);
            let mut film = Accumulation::new(&whole);
            let at_once = add(&whole, &mut film, first + more);
            prop_assert_eq!(in_pieces, at_once);
            prop_assert_eq!(pieces, film);
        }
    }

    #[test]
    fn a_picture_tells_how_far_it_is() {
        let settings = FrameSettings { samples: 8, open_ended: true, ..fake::settings() };
        let mut device = CpuDevice::new().unwrap();
        device.load(LOADED.clone()).unwrap();
        let frame = Poser::new(LOADED.clone(), device.node_layout()).pose(1).frame;
        let progress = device.progress().unwrap();
        let mut film = Accumulation::new(&settings);
        device.add_samples(&frame, &settings, &mut film, 2, &|| false).unwrap();
        assert_eq!(progress.share(), 0.25);
        let moved = AtomicBool::new(false);
        let look = || {
            moved.fetch_or(progress.share() > 0.25, Ordering::Relaxed);
            false
        };
        device.add_samples(&frame, &settings, &mut film, 8, &look).unwrap();
        assert!(moved.into_inner(), "counts while it works");
        assert_eq!(progress.share(), 0.0, "no frame is under way");
    }

    #[test]
    fn pieces_grow_while_they_are_quick_and_never_go_beyond_the_end() {
        let mut pace = Pace::default();
        assert_eq!(pace.next(0, 100), 1);
        pace.took(Duration::from_millis(200));
        assert_eq!(pace.next(1, 100), 3);
        pace.took(Duration::from_millis(1));
        assert_eq!(pace.next(1, 100), 33);
        assert_eq!(pace.next(99, 100), 100);
        assert_eq!(pace.next(256, 100), 256);
        pace.took(Duration::from_secs(9));
        assert_eq!(pace.next(1, 100), 17);
    }

    #[test]
    fn partial_pictures_have_a_name_of_their_own() {
        let path = partial_path(Path::new("out/0001.png"));
        assert_eq!(path, Path::new("out/0001.partial.png"));
    }
}
