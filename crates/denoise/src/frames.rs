//! Denoising of animations: each frame is denoised with its neighbouring frames, which show the same surfaces with different noise.
//!
//! Pixels of neighbouring frames are moved to the current position of their surface by motion vectors, weighted by how well they agree, and
//! averaged (`kernels/denoise/gather.h`). Non-local means with albedo and normals as guides remove the remaining noise
//! (`kernels/denoise/means.h`). docs/denoise.md has measurements.

use rayon::prelude::*;
use std::sync::Arc;
use throng_abi::DENOISE_RECORD;
use throng_device::{
    ALBEDO_FLOOR, DenoiseFilter, DeviceError, DeviceRecords, Filtered, FrameRecords, HostFrame, TileGrid,
};

pub use throng_device::FrameLayers;

/// Number of frames before and after a frame that contribute to it.
pub const REACH: u32 = 4;

/// The data of a frame that the denoiser reads: 64 bytes per pixel.
pub struct RecordedFrame {
    size: (u32, u32),
    records: Records,
    /// As in [`HostFrame`], like `shared`.
    weights: Vec<f32>,
    /// As in [`HostFrame`]; empty for opaque frames.
    alpha: Vec<f32>,
    shared: bool,
}

/// Location of a frame's records.
enum Records {
    Host(Vec<f32>),
    Device(Arc<dyn DeviceRecords>),
}

impl RecordedFrame {
    /// Memory per pixel, in bytes.
    pub const PIXEL_BYTES: u64 = 4 * DENOISE_RECORD as u64;

    /// A frame in a device's memory. The device stores whether samples are shared.
    pub fn on_device(size: (u32, u32), records: Arc<dyn DeviceRecords>) -> Self {
        Self { size, records: Records::Device(records), weights: Vec::new(), alpha: Vec::new(), shared: false }
    }

    /// Width and height.
    pub fn size(&self) -> (u32, u32) {
        self.size
    }

    /// Copies the frame, with the pixels of `other` in `tiles`. `weights` are the weights of all tiles.
    ///
    /// # Errors
    /// If a device fails.
    pub fn with_tiles(&self, tiles: &[u32], other: &Self, weights: Vec<f32>) -> Result<Self, DeviceError> {
        let grid = TileGrid::of(self.size);
        let mut records = self.records().on_host()?.into_owned();
        let from = other.records().on_host()?;
        // A pixel's floats are in several planes of four floats each.
        let plane = 4 * self.size.0 as usize * self.size.1 as usize;
        for (to, from) in records.chunks_mut(plane).zip(from.chunks(plane)) {
            grid.copy(tiles, 4, from, to);
        }
        let mut alpha = self.alpha.clone();
        if alpha.len() == other.alpha.len() && !alpha.is_empty() {
            let pixels = plane / 4;
            for (to, from) in alpha.chunks_mut(pixels).zip(other.alpha.chunks(pixels)) {
                grid.copy(tiles, 1, from, to);
            }
        }
        Ok(Self { records: Records::Host(records), weights, alpha, ..*self })
    }

    fn records(&self) -> FrameRecords<'_> {
        match &self.records {
            Records::Host(records) => FrameRecords::Host(records),
            Records::Device(records) => FrameRecords::Device(&**records),
        }
    }
}

/// `value`, or 0 if it is NaN or its square would overflow.
fn finite(value: f32) -> f32 {
    if value.abs() < 1e18 { value } else { 0.0 }
}

/// Estimates the variance of each pixel from its neighbours: the residual of radiance divided by albedo after removal of local planes
/// (Immerkær 1996, "Fast Noise Variance Estimation").
fn told_variance(radiance: &[f32], albedo: &[f32], (width, height): (usize, usize)) -> Vec<f32> {
    let light = |x: usize, y: usize, c: usize| {
        let i = 3 * (y.min(height - 1) * width + x.min(width - 1)) + c;
        finite(radiance[i]) / (finite(albedo[i]) + ALBEDO_FLOOR)
    };
    let mut variance = vec![0f32; 3 * width * height];
    variance.par_chunks_mut(3 * width).enumerate().for_each(|(y, row)| {
        for (x, pixel) in row.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            for (c, out) in pixel.iter_mut().enumerate() {
                let columns = [x.saturating_sub(1), x, x + 1];
                let across =
                    |y: usize| light(columns[0], y, c) - 2.0 * light(columns[1], y, c) + light(columns[2], y, c);
                let rest = across(y.saturating_sub(1)) - 2.0 * across(y) + across(y + 1);
                let scale = finite(albedo[3 * (y * width + x) + c]) + ALBEDO_FLOOR;
                *out = rest * rest * scale * scale / 36.0;
            }
        }
    });
    variance
}

/// Denoises frames of animations.
pub struct FrameDenoiser {
    filter: DenoiseFilter,
    strength: f32,
}

impl FrameDenoiser {
    /// Creates a denoiser. With a `strength` of 1, differences are kept unless noise explains them; greater values blur more.
    ///
    /// # Errors
    /// If the environment variable `THRONG_CPU` selects kernels that this program does not have.
    pub fn new(strength: f32) -> Result<Self, DeviceError> {
        Ok(Self { filter: DenoiseFilter::new()?, strength })
    }

    /// The denoiser's data of a frame with these layers; None if a layer's size differs. If the variance is an empty slice, it is estimated
    /// from nearby pixels.
    pub fn frame(&self, size: (u32, u32), layers: &FrameLayers) -> Option<RecordedFrame> {
        let pixels = size.0 as usize * size.1 as usize;
        let told = match layers.variance {
            [] if [layers.radiance, layers.albedo].iter().all(|layer| layer.len() == 3 * pixels) && pixels > 0 => {
                told_variance(layers.radiance, layers.albedo, (size.0 as usize, size.1 as usize))
            }
            _ => Vec::new(),
        };
        let variance = if told.is_empty() { layers.variance } else { &told };
        let records = self.filter.record(size, &FrameLayers { variance, ..*layers })?;
        let mut alpha = layers.alpha.to_vec();
        if layers.alpha_variance.len() == alpha.len() {
            alpha.extend(layers.alpha_variance)
        } else {
            alpha.resize(2 * alpha.len(), 0.0)
        }
        Some(RecordedFrame { size, records: Records::Host(records), weights: Vec::new(), alpha, shared: layers.shared })
    }

    /// As [`Self::denoise`], but averages over frames only, not over nearby pixels.
    ///
    /// # Errors
    /// As [`Self::denoise`].
    pub fn gather(&self, window: &[Option<&RecordedFrame>]) -> Result<Filtered, DeviceError> {
        self.run(window, None)
    }

    /// Denoises the frame in the middle of `window`, an odd number of consecutive frames; entries of missing frames are None. Motion is
    /// followed from frame to frame, so frames beyond a missing one are not used. The device that has the middle frame does the work.
    ///
    /// # Errors
    /// If the middle frame is missing, or if sizes differ.
    pub fn denoise(&self, window: &[Option<&RecordedFrame>]) -> Result<Filtered, DeviceError> {
        self.run(window, Some(self.strength))
    }

    fn run(&self, window: &[Option<&RecordedFrame>], strength: Option<f32>) -> Result<Filtered, DeviceError> {
        let middle = window.get(window.len() / 2).copied().flatten();
        let records: Vec<_> = window.iter().map(|frame| frame.map(RecordedFrame::records)).collect();
        if let Some(FrameRecords::Device(own)) = middle.map(RecordedFrame::records) {
            return own.filter(&records, strength);
        }
        let size = middle.map_or((0, 0), RecordedFrame::size);
        let host = records.into_iter().map(|records| records.map(FrameRecords::on_host).transpose());
        let host = host.collect::<Result<Vec<_>, _>>()?;
        let frames = host.iter().zip(window).map(|(records, frame)| {
            let (records, frame) = records.as_deref().zip(*frame)?;
            Some(HostFrame { records, weights: &frame.weights, shared: frame.shared, alpha: &frame.alpha })
        });
        let host: Vec<_> = frames.collect();
        match strength {
            Some(strength) => self.filter.filter(&host, size, strength),
            None => self.filter.gather(&host, size),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_base::math::hash_unit;

    const SIZE: (u32, u32) = (80, 40);

    /// A frame of a pattern that moves `speed` pixels to the right per frame, with noise from `-noise` to `noise`.
    fn frame(number: u32, speed: f32, noise: f32) -> (Vec<f32>, RecordedFrame) {
        let pixels = (0..SIZE.0 * SIZE.1).map(|i| (i % SIZE.0, i / SIZE.0, i));
        let shade = |x: u32, y: u32| {
            let u = (x as f32 - speed * number as f32) * 0.7;
            1.0 + 0.4 * u.sin() * (y as f32 * 0.5).cos()
        };
        let truth: Vec<f32> = pixels.clone().flat_map(|(x, y, _)| [shade(x, y); 3]).collect();
        let noisy: Vec<f32> =
            pixels.flat_map(|(x, y, i)| [shade(x, y) + noise * (2.0 * hash_unit(number, i) - 1.0); 3]).collect();
        let count = (SIZE.0 * SIZE.1) as usize;
        let layers = FrameLayers {
            radiance: &noisy,
            variance: &vec![noise * noise / 3.0; 3 * count],
            albedo: &vec![0.5; 3 * count],
            normal: &[0.0, 0.0, 1.0].repeat(count),
            motion: &[-speed, 0.0, -speed, 0.0].repeat(count),
            alpha: &[],
            alpha_variance: &[],
            shared: false,
        };
        (truth, FrameDenoiser::new(1.0).unwrap().frame(SIZE, &layers).unwrap())
    }

    fn host(frame: &RecordedFrame) -> &[f32] {
        match &frame.records {
            Records::Host(records) => records,
            Records::Device(_) => &[],
        }
    }

    fn host_mut(frame: &mut RecordedFrame) -> &mut [f32] {
        match &mut frame.records {
            Records::Host(records) => records,
            Records::Device(_) => &mut [],
        }
    }

    fn rms(a: &[f32], b: &[f32]) -> f32 {
        let squares: f32 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        (squares / a.len() as f32).sqrt()
    }

    #[test]
    fn noise_goes_and_what_moves_stays_sharp() {
        let frames: Vec<_> = (0..9).map(|number| frame(number, 1.25, 0.3)).collect();
        let denoiser = FrameDenoiser::new(1.0).unwrap();
        let window: Vec<_> = frames.iter().map(|(_, frame)| Some(frame)).collect();
        let truth = &frames[4].0;
        let noisy = host(&frames[4].1);
        let raw = rms(&(0..truth.len()).map(|i| noisy[4 * (i / 3) + i % 3]).collect::<Vec<_>>(), truth);
        let alone = rms(&denoiser.denoise(&[window[4]]).unwrap().radiance, truth);
        let denoised = denoiser.denoise(&window).unwrap();
        let together = rms(&denoised.radiance, truth);
        let mean = |plane: &[f32]| plane.iter().sum::<f32>() / plane.len() as f32;
        let [left, before] = denoised.errors.each_ref().map(|plane| mean(plane));
        assert!((before / raw - 1.0).abs() < 0.05 && (0.7..1.5).contains(&(left / together)), "{before} {left}");
        assert!(together < 0.5 * raw && together < alone && alone <= raw, "{raw} {alone} {together}");
    }

    /// The records of a still frame of one flat material. `shared`: whether pixels share samples.
    fn still_frame(radiance: &[f32], variance: &[f32], shared: bool) -> RecordedFrame {
        let count = radiance.len() / 3;
        let layers = FrameLayers {
            radiance,
            variance,
            albedo: &vec![0.5; 3 * count],
            normal: &[0.0, 0.0, 1.0].repeat(count),
            motion: &[0.0; 4].repeat(count),
            alpha: &[],
            alpha_variance: &[],
            shared,
        };
        FrameDenoiser::new(1.0).unwrap().frame(SIZE, &layers).unwrap()
    }

    /// For a pixel that is `light` times as bright as its surroundings, with a standard deviation of `deviation` times the excess: the
    /// light that it keeps, and the share of the excess that the frame keeps.
    fn kept(light: f32, deviation: f32) -> (f32, f32) {
        let count = (SIZE.0 * SIZE.1) as usize;
        let at = count / 2 + SIZE.0 as usize / 2;
        let mut radiance: Vec<f32> = (0..3 * count as u32).map(|i| 0.95 + 0.1 * hash_unit(1, i / 3)).collect();
        let mut variance = vec![0.04; 3 * count];
        radiance[3 * at..3 * at + 3].fill(light);
        variance[3 * at..3 * at + 3].fill((deviation * (light - 1.0)).powi(2));
        let frame = still_frame(&radiance, &variance, false);
        let found = host(&frame);
        let more: f32 =
            (0..count).map(|i| found[4 * i] - radiance[3 * i] + if i == at { light - 1.0 } else { 0.0 }).sum();
        (found[4 * at], more / (light - 1.0))
    }

    #[test]
    fn outliers_give_their_light_to_pixels_around() {
        let (own, all) = kept(6.0, 1.0);
        assert!(own < 1.2 && (all - 1.0).abs() < 0.02, "{own} {all}");
        // Distributing this much light would be visible as a square.
        let (own, all) = kept(1000.0, 1.0);
        assert!(own < 1.2 && all < 0.02, "{own} {all}");
        // Brightness in all samples, or only slightly more noise than elsewhere, does not make a pixel an outlier.
        for (light, deviation) in [(6.0, 0.3), (1.04, 1.0)] {
            let (own, all) = kept(light, deviation);
            assert!((own - light).abs() < 1e-6 && (all - 1.0).abs() < 1e-3, "{own} {all}");
        }
    }

    /// A still frame of a ground of radiance `ground`, with little noise, and a bright spot in its middle: the radiance and the standard deviation of
    /// each of its pixels. Returns the frame's radiance, its records and the index of the spot's first pixel.
    fn spot<const N: usize>(ground: f32, spot: [[[f32; 2]; N]; N]) -> (Vec<f32>, RecordedFrame, usize) {
        let count = (SIZE.0 * SIZE.1) as usize;
        let first = (SIZE.1 as usize / 2 - 2) * SIZE.0 as usize + SIZE.0 as usize / 2 - 2;
        let mut radiance: Vec<f32> =
            (0..3 * count as u32).map(|i| ground * (0.95 + 0.1 * hash_unit(1, i / 3))).collect();
        let mut variance = vec![(0.05 * ground).powi(2); 3 * count];
        for (y, row) in spot.iter().enumerate() {
            for (x, [light, deviation]) in row.iter().enumerate() {
                let at = 3 * (first + y * SIZE.0 as usize + x);
                radiance[at..at + 3].fill(*light);
                variance[at..at + 3].fill(deviation * deviation);
            }
        }
        let frame = still_frame(&radiance, &variance, true);
        (radiance, frame, first)
    }

    /// Whether a pixel is among `size` x `size` pixels, of which `first` is the first.
    fn is_in_spot(pixel: usize, first: usize, size: usize) -> bool {
        let place = |i: usize| (i % SIZE.0 as usize, i / SIZE.0 as usize);
        let ((x, y), (left, top)) = (place(pixel), place(first));
        (left..left + size).contains(&x) && (top..top + size).contains(&y)
    }

    /// A lamp between two pixels, as it is traced with 64 shared samples per pixel.
    const LAMP: [[[f32; 2]; 4]; 4] = [
        [[0.01, 0.0], [0.03, 0.48], [0.07, 1.58], [0.01, 0.48]],
        [[0.22, 0.97], [18.23, 4.9], [26.51, 12.27], [0.9, 3.74]],
        [[0.44, 3.17], [38.58, 15.18], [52.95, 36.45], [1.67, 11.1]],
        [[0.03, 0.97], [1.85, 4.64], [2.39, 11.13], [0.08, 3.39]],
    ];

    #[test]
    fn a_lamp_smaller_than_a_pixel_keeps_its_light_and_leaves_no_square() {
        let (radiance, frame, first) = spot(0.01, LAMP);
        let pixels = || 0..radiance.len() / 3;
        for i in pixels() {
            assert_eq!(host(&frame)[4 * i], radiance[3 * i], "pixel {i} is no outlier and receives nothing");
        }
        let found = FrameDenoiser::new(1.0).unwrap().denoise(&[Some(&frame)]).unwrap().radiance;
        let around = pixels().filter(|&i| !is_in_spot(i, first, 4)).map(|i| found[3 * i]).fold(0.0, f32::max);
        assert!(around < 0.02, "{around}");
    }

    #[test]
    fn a_single_sample_that_several_pixels_share_is_an_outlier_in_all_of_them() {
        let share = |x: i32, y: i32| 0.34f32.powi(x * x + y * y);
        let sample = |x: i32, y: i32| [1.0 + 30.0 * share(x, y), 30.0 * share(x, y)];
        let rows = [-1, 0, 1].map(|y| [-1, 0, 1].map(|x| sample(x, y)));
        let (_, frame, first) = spot(1.0, rows);
        let pixels = 0..(SIZE.0 * SIZE.1) as usize;
        let brightest = |inside: bool| {
            let chosen = pixels.clone().filter(|&i| is_in_spot(i, first, 3) == inside);
            chosen.map(|i| host(&frame)[4 * i]).fold(0.0, f32::max)
        };
        // Of a light of 31, as far as pixels of the sample receive light from each other.
        assert!(brightest(true) < 2.0, "{}", brightest(true));
        // Nine pixels give light away; together they give no more than a pixel's own noise.
        assert!(brightest(false) < 1.11, "{}", brightest(false));
    }

    #[test]
    fn frames_without_noise_pass() {
        let frames: Vec<_> = (0..9).map(|number| frame(number, 3.0, 0.0)).collect();
        let window: Vec<_> = frames.iter().map(|(_, frame)| Some(frame)).collect();
        let found = FrameDenoiser::new(1.0).unwrap().denoise(&window).unwrap();
        assert!(rms(&found.radiance, &frames[4].0) < 2e-3);
    }

    #[test]
    fn what_motion_does_not_tell_leaves_no_trail() {
        // The pattern moves, but the motion vectors are 0.
        let frames: Vec<_> = (0..9).map(|number| frame(number, 4.0, 0.02)).collect();
        let still: Vec<_> = frames
            .into_iter()
            .map(|(truth, mut frame)| {
                let motion = 12 * (SIZE.0 * SIZE.1) as usize;
                host_mut(&mut frame)[motion..].fill(0.0);
                (truth, frame)
            })
            .collect();
        let window: Vec<_> = still.iter().map(|(_, frame)| Some(frame)).collect();
        let found = FrameDenoiser::new(1.0).unwrap().denoise(&window).unwrap();
        assert!(rms(&found.radiance, &still[4].0) < 0.02);
    }

    #[test]
    fn what_passes_before_a_calm_wall_leaves_no_trail() {
        // Noise explains any difference to the passing object, whose albedo and normals equal the wall's, as for glass.
        const THING: u32 = 8;
        let count = (SIZE.0 * SIZE.1) as usize;
        let is_thing = |number: u32, i: u32| (i % SIZE.0).wrapping_sub(20 + 6 * number) < THING;
        let frames: Vec<_> = (0..9)
            .map(|number| {
                let radiance: Vec<f32> = (0..count as u32)
                    .flat_map(|i| [if is_thing(number, i) { 4.0 * hash_unit(number, i) } else { 1.0 }; 3])
                    .collect();
                let of_thing =
                    |thing: f32| (0..count as u32).map(move |i| if is_thing(number, i) { thing } else { 0.0 });
                let layers = FrameLayers {
                    radiance: &radiance,
                    variance: &of_thing(4.0).flat_map(|variance| [variance; 3]).collect::<Vec<_>>(),
                    albedo: &vec![0.5; 3 * count],
                    normal: &[0.0, 0.0, 1.0].repeat(count),
                    motion: &of_thing(-6.0).flat_map(|x| [x, 0.0, x, 0.0]).collect::<Vec<_>>(),
                    alpha: &[],
                    alpha_variance: &[],
                    shared: false,
                };
                FrameDenoiser::new(1.0).unwrap().frame(SIZE, &layers).unwrap()
            })
            .collect();
        let gathered =
            |window: &[Option<&RecordedFrame>]| FrameDenoiser::new(1.0).unwrap().gather(window).unwrap().radiance;
        let off = |radiance: &[f32], apart: u32| {
            let wall =
                (0..count as u32).filter(|&i| (0..=2 * apart).all(|d| !is_thing(4, (i + d).saturating_sub(apart))));
            wall.map(|i| (radiance[3 * i as usize] - 1.0).abs()).fold(0f32, f32::max)
        };
        let both: Vec<_> = frames.iter().map(Some).collect();
        let past: Vec<_> = frames[..5].iter().map(Some).chain([None; 4]).collect();
        assert!(off(&gathered(&both), 0) < 1e-5, "{}", off(&gathered(&both), 0));
        // Without later frames, motion cannot be checked, but noise still distinguishes the object.
        assert!(off(&gathered(&past), 4) < 1e-5, "{}", off(&gathered(&past), 4));
    }

    #[test]
    fn frames_count_by_their_samples() {
        // Arguments: the noise of the middle frame and of the others, and the ratio of their sample counts.
        let middle = |[own, other]: [f32; 2], samples: f32| {
            let noise = |number| if number == 4 { own } else { other };
            let mut frames: Vec<_> = (0..9).map(|number| frame(number, 1.25, noise(number))).collect();
            frames[4].1.weights = vec![samples; TileGrid::of(SIZE).count() as usize];
            let window: Vec<_> = frames.iter().map(|(_, frame)| Some(frame)).collect();
            let found = FrameDenoiser::new(1.0).unwrap().denoise(&window).unwrap();
            let left = found.errors[0].iter().sum::<f32>() / found.errors[0].len() as f32;
            (rms(&found.radiance, &frames[4].0), left)
        };
        let noisier = [0.4, 0.1];
        let (alike, weighed) = (middle(noisier, 1.0).0, middle(noisier, 1.0 / 16.0).0);
        assert!(weighed < 0.9 * alike, "{weighed} {alike}");
        // The difference in noise is too small to have an effect without sample counts.
        let calmer = [0.1, 0.2];
        let ((alike, too_sure), (weighed, left)) = (middle(calmer, 1.0), middle(calmer, 4.0));
        assert!(weighed < alike, "{weighed} {alike}");
        assert!(
            (0.7..1.5).contains(&(left / weighed)) && too_sure / alike < 0.7,
            "{left} {weighed} {too_sure} {alike}"
        );
    }

    #[test]
    fn noise_is_told_where_nobody_has_counted_it() {
        let noise: Vec<f32> = (0..3 * 64 * 64).map(|i| 2.0 + 0.6 * (hash_unit(3, i) - 0.5)).collect();
        let told = told_variance(&noise, &vec![0.7; noise.len()], (64, 64));
        let mean = told.iter().sum::<f32>() / told.len() as f32;
        assert!((mean - 0.03).abs() < 0.003, "{mean}");
        let plane: Vec<f32> = (0..3 * 64 * 64).map(|i| (i / 3 % 64) as f32).collect();
        let told = told_variance(&plane, &vec![1.0; plane.len()], (64, 64));
        assert!(told[3 * (64 * 30 + 30)] < 1e-6);
    }

    #[test]
    fn missing_frames_and_odd_numbers_are_told_or_passed_over() {
        let (_, mut one) = frame(0, 0.0, 0.1);
        host_mut(&mut one)[7] = 1e30;
        let denoiser = FrameDenoiser::new(1.0).unwrap();
        assert!(denoiser.denoise(&[None, Some(&one), None]).unwrap().radiance.iter().all(|value| value.is_finite()));
        assert!(denoiser.denoise(&[Some(&one), None, None]).is_err());
        assert!(denoiser.denoise(&[Some(&one), Some(&one)]).is_err());
        assert!(denoiser.denoise(&[]).is_err());
        let layers = FrameLayers {
            radiance: &[1.0; 3],
            variance: &[],
            albedo: &[],
            normal: &[],
            motion: &[],
            alpha: &[],
            alpha_variance: &[],
            shared: false,
        };
        assert!(denoiser.frame((1, 1), &layers).is_none());
    }
}
