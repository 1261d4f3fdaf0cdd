//! Denoised pictures of moving views. Each is denoised with the pictures shown before it, if time allows. On slow devices it has a quarter
//! of the pixels.

use crate::pace::scaled;
use glam::Vec3;
use std::{collections::VecDeque, sync::Arc, time::Instant};
use throng_denoise::{DenoiseError, Denoising, frames::RecordedFrame};
use throng_device::{
    Delivery, DenoiseWanted, Developer, DeviceError, Frame, FrameSettings, OtherPose, PixelType, Rendered,
};
use throng_render::{other_pose, recorded_frame, sampling};
use throng_scene::Shows;
use throng_scene::anim::{CameraPose, Moment};

/// Number of earlier pictures that contribute to a picture.
const REACH: usize = 4;
/// Limits for denoised pictures, first for starting and second for continuing to denoise: greatest duration relative to the noisy picture,
/// and a duration in seconds that is always accepted. The limits for continuing are higher, so that noisy and denoised pictures do not
/// alternate.
const MOST_TIMES: [f64; 2] = [1.5, 1.75];
const ENOUGH: [f64; 2] = [1.0 / 60.0, 1.0 / 30.0];
/// Number of pictures that are denoised to measure the duration. The first ones may be slower, as memory has to be allocated.
const TRIES: u32 = 3;
/// Scales of the picture's sides, tried in this order.
const SHARES: [f64; 2] = [1.0, 0.5];
/// Pixels below which a smaller picture would show less than a noisy one.
const LEAST_PIXELS: f64 = 8192.0;
/// A single sample gives no variance.
const LEAST_SAMPLES: u32 = 2;

/// The most recent pictures, and the data to denoise with them.
pub struct Clean {
    denoising: Denoising,
    developer: Developer,
    /// Oldest first.
    past: VecDeque<Past>,
    /// Generation of the scene, and settings, which all pictures in `past` share.
    of: Option<(u32, FrameSettings)>,
    /// Least duration of denoising per pixel so far, in seconds.
    cost: f64,
    /// Scale of the last denoised picture; None if time did not suffice.
    share: Option<f64>,
    /// Number of pictures so far, which varies their noise.
    count: u32,
}

struct Past {
    recorded: Arc<RecordedFrame>,
    /// Relative to `origin`.
    camera: CameraPose,
    origin: Vec3,
    number: u32,
}

impl Clean {
    /// Creates an empty history.
    ///
    /// # Errors
    /// If the environment variable `THRONG_CPU` selects kernels that this program does not have.
    pub fn new() -> Result<Self, DeviceError> {
        let (denoising, developer) = (Denoising::new(None, REACH as u32)?, Developer::new()?);
        Ok(Self { denoising, developer, past: VecDeque::new(), of: None, cost: f64::INFINITY, share: None, count: 0 })
    }

    /// Size and sample count of a denoised picture that can replace one with these settings. None if time does not suffice, or if pictures
    /// of this kind are not denoised. `traced` is the duration of one sample of one pixel, in seconds.
    pub fn plan(&mut self, frame: &Frame, settings: &FrameSettings, traced: f64) -> Option<((u32, u32), u32)> {
        let size = (settings.width, settings.height);
        let noisy = traced * settings.film_pixels() as f64 * f64::from(settings.samples);
        let plan = |share: f64| {
            let size = scaled(size, share);
            let pixels = f64::from(size.0) * f64::from(size.1);
            if share < 1.0 && pixels < LEAST_PIXELS {
                return None;
            }
            let (sample, denoised) = (traced * pixels, self.cost * pixels);
            let samples = ((ENOUGH[0] - denoised) / sample).clamp(0.0, settings.samples.into()) as u32;
            let samples = samples.max(LEAST_SAMPLES);
            let whole = f64::from(samples) * sample + denoised;
            let [times, enough] = [MOST_TIMES, ENOUGH].map(|limits| limits[usize::from(self.share == Some(share))]);
            (whole < times * noisy || whole < enough).then_some((share, (size, samples)))
        };
        let is_light = settings.integrator.shows() == Shows::Radiance && !settings.transparent;
        let is_still = frame.camera_keys.is_empty() && settings.shutter.is_none();
        let suits = is_light && is_still && settings.wireframe.is_none();
        // Views without indirect light have little noise; a smaller size would only make them coarser.
        let shares = if settings.integrator.samples_lights() { &SHARES[..] } else { &SHARES[..1] };
        if !suits {
            return None;
        }
        if self.count < TRIES {
            return Some((size, LEAST_SAMPLES));
        }
        let found = shares.iter().find_map(|&share| plan(share));
        self.share = found.map(|(share, _)| share);
        found.map(|(_, plan)| plan)
    }

    /// Adds motion data from the previous picture to a frame, and returns it with its settings and delivery. Earlier pictures are dropped
    /// if they show another scene (`generation`) or have other settings.
    pub fn prepare(
        &mut self,
        generation: u32,
        frame: &Frame,
        settings: &FrameSettings,
    ) -> (Frame, FrameSettings, Delivery) {
        let of = (generation, sampling(settings));
        if self.of.as_ref() != Some(&of) {
            self.past.clear();
            self.of = Some(of);
        }
        self.count = self.count.wrapping_add(1);
        let denoise_wanted = Some(DenoiseWanted { frames: REACH + 2, aovs: settings.aovs });
        let delivery = Delivery { denoise_wanted, ..Delivery::default() };
        let settings = FrameSettings {
            seed: settings.seed.wrapping_add(self.count),
            pixels: PixelType::F32,
            aovs: Denoising::aovs_for(settings.aovs),
            ..settings.clone()
        };
        let now = OtherPose::of_camera(frame.camera);
        let before = self.past.back().map_or_else(|| now.clone(), |past| past.pose(frame));
        let others = Some(Arc::new([before, now.clone(), now]));
        (Frame { others, ..frame.clone() }, settings, delivery)
    }

    /// Denoises a picture rendered from a prepared frame, and computes its display pixels.
    ///
    /// # Errors
    /// If the device fails, or if a layer for denoising is missing.
    pub fn finish(
        &mut self,
        frame: &Frame,
        settings: &FrameSettings,
        rendered: &mut Rendered,
    ) -> Result<(), DenoiseError> {
        let start = Instant::now();
        let recorded = Arc::new(recorded_frame(settings, &self.denoising, rendered)?);
        let missing = std::iter::repeat_n(None, REACH - self.past.len());
        let before = self.past.iter().map(|past| Some(past.recorded.clone()));
        let window: Vec<_> =
            missing.chain(before).chain([Some(recorded.clone())]).chain([const { None }; REACH]).collect();
        let radiance = self.denoising.denoise(settings.film_size(), &window, &rendered.aovs)?.radiance;
        let pixels = self.developer.develop(&radiance, None, settings, PixelType::U8)?;
        rendered.pixels = pixels.into();
        if self.past.len() == REACH {
            self.past.pop_front();
        }
        self.past.push_back(Past { recorded, camera: frame.camera, origin: frame.tlas.origin, number: frame.number });
        self.cost = self.cost.min(start.elapsed().as_secs_f64() / settings.film_pixels() as f64);
        Ok(())
    }
}

impl Past {
    /// The pose of the scene in this earlier picture, for motion vectors of `frame`.
    fn pose(&self, frame: &Frame) -> OtherPose {
        let origin = frame.tlas.origin;
        let camera = self.camera.moved(self.origin - origin);
        let of_camera = OtherPose::of_camera(camera);
        if self.number == frame.number {
            return of_camera;
        }
        let scene = &frame.scene;
        let [then, now] = [self.number, frame.number].map(|number| Moment::of(scene, scene.time_of(number)));
        OtherPose { camera, ..other_pose(scene, &then.showing(&now).relative_to(origin)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use std::fs;
    use throng_device::{CpuDevice, Device};
    use throng_render::{LoadedScene, Measured, Outputs};
    use throng_scene::Integrator;
    use throng_settings::PictureOptions;

    const SCENE: &str = r#"(
        render: (size: (120, 80), samples: 2, frames: 40, integrator: path),
        environment: SunSky(elevation: 35, azimuth: 120),
        materials: { "red": Diffuse(color: (0.8, 0.2, 0.2)), "white": Diffuse(color: (0.8, 0.8, 0.8)) },
        meshes: { "ball": Sphere, "floor": Quad() },
        motions: { "bob": (parts: [Bob(offset: (0, 0.5, 0), period: 2)]) },
        instances: [
            Single(of: "floor", scale: 40, material: "white"),
            Grid(of: "ball", count: (3, 1, 3), spacing: (3, 0, 3), translate: (0, 1, 0), material: "red", motion: "bob"),
        ],
        camera: LookAt(eye: (0, 4, 12), target: (0, 0, 0)),
    )"#;

    /// Root mean square of the differences between pixels.
    fn rms(a: &[u8], b: &[u8]) -> f64 {
        let squares = a.iter().zip(b).map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2));
        (squares.sum::<f64>() / a.len() as f64).sqrt()
    }

    #[test]
    fn pictures_of_a_camera_and_a_scene_that_move_help_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.ron");
        fs::write(&path, SCENE).unwrap();
        let options = PictureOptions::default();
        let scene = Arc::new(options.load(&path).unwrap());
        let mut job = options.job(scene, PixelType::U8, (vec![1], Outputs::default()), false).unwrap();
        let mut device = CpuDevice::new().unwrap();
        let mut loaded = LoadedScene::new(&job, &mut device).unwrap();
        let mut traced = |frame: &Frame, settings: &FrameSettings, delivery| {
            device.submit(frame.clone(), settings, delivery).unwrap();
            device.collect(&|| false).unwrap()
        };
        let mut measuring = CpuDevice::new().unwrap();
        let mut clean = Clean::new().unwrap();
        let mut errors = Vec::new();
        // First only the camera moves, then the scene as well.
        for (step, number) in [1, 1, 1, 2, 3, 4, 5, 6].into_iter().enumerate() {
            job.frames = vec![number];
            let (posed, settings) =
                loaded.pose(&job, &mut measuring, (number, &mut Measured::default()), &|| false).unwrap();
            let camera = posed.camera();
            let frame = posed.seen_by(CameraPose { eye: camera.eye + Vec3::X * (0.1 * step as f32), ..camera });
            let plain = Delivery::default();
            let truth = traced(&frame, &FrameSettings { samples: 256, ..settings.clone() }, plain).pixels;
            let raw = traced(&frame, &settings, plain).pixels;
            clean.cost = 0.0;
            assert_eq!(clean.plan(&frame, &settings, 1e-6), Some(((120, 80), 2)));
            let (prepared, wanted, delivery) = clean.prepare(0, &frame, &settings);
            let mut rendered = traced(&prepared, &wanted, delivery);
            clean.finish(&prepared, &wanted, &mut rendered).unwrap();
            errors.push(rms(&rendered.pixels, &truth) / rms(&raw, &truth));
        }
        assert!(errors[7] < 0.5 && errors[7] < 0.8 * errors[0], "{errors:?}");
        clean.cost = 1e-4;
        let (frame, settings) = loaded.pose(&job, &mut measuring, (6, &mut Measured::default()), &|| false).unwrap();
        assert_eq!(clean.plan(&frame, &settings, 1e-3), Some(((120, 80), 2)), "tracing takes longer");
        // The denoiser takes half as long as a sample.
        let one = FrameSettings { samples: 1, width: 480, height: 320, ..settings.clone() };
        clean.cost = 2e-6;
        assert_eq!(clean.plan(&frame, &one, 4e-6), Some(((240, 160), 2)), "there is time for a quarter of the pixels");
        let small = FrameSettings { width: 120, height: 80, ..one.clone() };
        assert_eq!(clean.plan(&frame, &small, 4e-6), None, "there are too few for that");
        let coarse = FrameSettings { integrator: Integrator::Whitted, ..one };
        assert_eq!(clean.plan(&frame, &coarse, 4e-6), None, "it would only be coarser");
        clean.cost = 1.0;
        assert_eq!(clean.plan(&frame, &settings, 1e-6), None, "there is no time");
        clean.prepare(1, &frame, &settings);
        assert!(clean.past.is_empty(), "those of another scene are of no use");
    }
}
