//! Adaptive sampling of denoised frames: samples go to the tiles that are still noisy after denoising.
//!
//! Every frame starts with the same number of samples. Once its neighbours are available, its noisy tiles get more samples, round by round.
//! The neighbours keep using the first samples, so a frame depends on no more frames than without adaptive sampling. For the additional
//! samples, the frame is posed again; until then its film is folded (`FoldedFilm`).

use super::window::{Complete, Traced, recorded_frame};
use crate::{RenderError, RenderJob, Sampled, posing::pose::Posed};
use std::{collections::BTreeMap, ops::Range, sync::Arc};
use throng_denoise::{DenoiseError, Denoising, shown_noise};
use throng_device::{Delivery, Device, Filtered, FoldedFilm, Frame, FrameSettings, Samples, Stop, TileGrid};
use throng_picture::aov::AovImage;

/// Initial number of samples per pixel. With fewer samples, the noise estimate is too unreliable.
const FIRST_SAMPLES: u32 = 8;
/// Greatest factor by which the samples of a tile grow before its noise is measured again.
const MOST_GROWTH: u32 = 8;

/// Greatest ratio between the sample counts of adjacent tiles if pixels share samples. Noise of one tile then also reaches the other.
const STEEPEST: u32 = 8;

/// The film of a frame that may get more samples.
pub struct Begun {
    film: Film,
    /// Number of samples per pixel of each tile.
    samples: Vec<u32>,
    /// The posed frame; none if it has to be posed again before it gets more samples.
    frame: Option<Frame>,
}

enum Film {
    /// Until the frame's neighbours are available.
    Aside(FoldedFilm),
    Growing(Samples),
}

impl Default for Film {
    fn default() -> Self {
        Self::Aside(FoldedFilm::default())
    }
}

/// Result of adaptive sampling: no tile is noisy any more, or noisy tiles have the maximum number of samples.
pub struct Refined {
    pub filtered: Filtered,
    pub sampled: Sampled,
}

/// Called between rounds with the frame and its denoised pixels.
pub type Shown<'a> = dyn FnMut(&Traced, &Filtered) -> Result<(), RenderError> + 'a;

/// Resources for adding samples to a frame.
struct Sampling<'a, 'b> {
    denoising: &'a Denoising,
    device: &'a mut dyn Device,
    stop: &'a Stop<'a>,
    shown: &'a mut Shown<'b>,
    /// Poses the frame again.
    pose: &'a mut dyn FnMut() -> Posed,
}

/// Delivery of AOVs before the last sample.
fn unfinished() -> Delivery {
    Delivery { unfinished_aovs: true, ..Delivery::default() }
}

/// Traces a frame with the initial number of samples.
///
/// # Errors
/// If the device fails or is stopped.
pub fn begin(
    job: &RenderJob,
    (number, settings): (u32, FrameSettings),
    device: &mut dyn Device,
    posed: Posed,
    stop: &Stop,
) -> Result<Traced, RenderError> {
    let mut film = Samples::new(&settings);
    let samples = FIRST_SAMPLES.min(settings.samples);
    let failed = |source| RenderError::Device { frame: number, source };
    let rendered = device.add_samples(&posed.frame, &settings, unfinished(), &mut film, samples, stop);
    let rendered = rendered.map_err(failed)?;
    let tiles = TileGrid::of(settings.film_size()).count() as usize;
    let Posed { frame, time: pose_time, trees, .. } = posed;
    let begun = if !job.frames.contains(&number) {
        None
    } else if job.reach().frames == 0 {
        Some(Begun { film: Film::Growing(film), samples: vec![samples; tiles], frame: Some(frame) })
    } else {
        let film = device.download(&mut film).and_then(|()| film.into_host()).map_err(failed)?;
        Some(Begun { film: Film::Aside(FoldedFilm::of(film, &settings)), samples: vec![samples; tiles], frame: None })
    };
    Ok(Traced { number, settings, rendered, pose_time, trees, begun, labels: None })
}

/// Adds samples to the noisy tiles of a frame and denoises it, until no tile is noisy. Other frames keep using its initial samples. `pose`
/// poses the frame again. Does nothing unless the job has a target noise for denoised frames.
///
/// # Errors
/// If the device fails or is stopped, if the frame cannot be denoised, or if `shown` fails.
pub fn refine(
    job: &RenderJob,
    complete: &mut Complete,
    device: &mut dyn Device,
    pose: &mut dyn FnMut() -> Posed,
    (stop, shown): (&Stop, &mut Shown),
) -> Result<(), RenderError> {
    let (Some(denoising), Some(target), Some(mut begun)) =
        (&job.denoising, job.denoised_noise, complete.traced.begun.take())
    else {
        return Ok(());
    };
    let mut sampling = Sampling { denoising, device, stop, shown, pose };
    complete.refined = Some(begun.sample(&mut sampling, complete, target)?);
    Ok(())
}

impl Begun {
    /// Adds samples until no tile is noisy, or until all noisy tiles have the maximum.
    fn sample(
        &mut self,
        sampling: &mut Sampling,
        complete: &mut Complete,
        target: f32,
    ) -> Result<Refined, RenderError> {
        let frame = complete.traced.number;
        loop {
            let settings = &complete.traced.settings;
            let size = settings.film_size();
            let filtered = sampling.denoising.denoise(size, &complete.around, &complete.traced.rendered.aovs);
            let filtered = filtered.map_err(|source| RenderError::Denoise { frame, source })?;
            let noise = shown_noise(&filtered, settings);
            let wanted = self.wanted((&noise, target), settings);
            if wanted.is_empty() {
                return Ok(Refined { filtered, sampled: self.sampled(size, (&noise, target)) });
            }
            (sampling.shown)(&complete.traced, &filtered)?;
            if self.frame.is_none() {
                let Posed { frame, time, trees, .. } = (sampling.pose)();
                complete.traced.pose_time += time;
                complete.traced.trees.add(&trees);
                self.frame = Some(frame);
            }
            for ((from, to), tiles) in wanted {
                self.add(sampling, complete, (from..to, tiles))?;
            }
        }
    }

    /// The tiles that get more samples, grouped by their current and new sample counts.
    fn wanted(&self, (noise, target): (&[f32], f32), settings: &FrameSettings) -> BTreeMap<(u32, u32), Vec<u32>> {
        let (most, grid) = (settings.samples, TileGrid::of(settings.film_size()));
        let mut numbers = self.samples.clone();
        for (tile, (&samples, &noise)) in (0..).zip(self.samples.iter().zip(noise)) {
            if samples >= most || noise <= target {
                continue;
            }
            // Variance is inversely proportional to the number of samples. It falls more slowly where the denoiser then averages fewer
            // pixels.
            let times = ((noise / target).powi(2) as u32).clamp(2, MOST_GROWTH);
            let number = samples.saturating_mul(1 << times.ilog2()).min(most);
            numbers[tile as usize] = number;
        }
        if settings.shares_samples() {
            flatten(&mut numbers, grid);
        }
        let mut wanted: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (tile, (&samples, number)) in (0..).zip(self.samples.iter().zip(numbers)) {
            if number > samples {
                wanted.entry((samples, number)).or_default().push(tile);
            }
        }
        wanted
    }

    /// Adds the range `samples` to some tiles, and merges the result into the frame.
    fn add(
        &mut self,
        Sampling { denoising, device, stop, .. }: &mut Sampling,
        Complete { traced, around, .. }: &mut Complete,
        (samples, tiles): (Range<u32>, Vec<u32>),
    ) -> Result<(), RenderError> {
        let number = traced.number;
        let settings = &traced.settings;
        let Some(frame) = &self.frame else {
            return Err(RenderError::Denoise { frame: number, source: DenoiseError::Untraced });
        };
        let mut film = match std::mem::take(&mut self.film) {
            Film::Aside(folded) => folded.unfold(settings).into(),
            Film::Growing(film) => film,
        };
        film.go_on_in(tiles.clone(), samples.start);
        let rendered = device.add_samples(frame, settings, unfinished(), &mut film, samples.end, stop);
        self.film = Film::Growing(film);
        let mut rendered = rendered.map_err(|source| RenderError::Device { frame: number, source })?;
        traced.rendered.rays += rendered.rays;
        traced.rendered.time += rendered.time;
        let grid = TileGrid::of(settings.film_size());
        take_aovs(grid, &tiles, (&mut traced.rendered.aovs, &rendered.aovs));
        for &tile in &tiles {
            self.samples[tile as usize] = samples.end;
        }
        let failed = |source| RenderError::Denoise { frame: number, source };
        let more = recorded_frame(settings, denoising, &mut rendered).map_err(failed)?;
        let middle = around.len() / 2;
        let Some(Some(own)) = around.get_mut(middle) else {
            return Err(failed(DenoiseError::Untraced));
        };
        let with_more = own.with_tiles(&tiles, &more, self.weights());
        *own = Arc::new(with_more.map_err(|source| failed(source.into()))?);
        Ok(())
    }

    /// Sample counts of tiles, relative to the initial count.
    fn weights(&self) -> Vec<f32> {
        self.samples.iter().map(|&samples| samples as f32 / FIRST_SAMPLES as f32).collect()
    }

    fn sampled(&self, size: (u32, u32), (noise, target): (&[f32], f32)) -> Sampled {
        let grid = TileGrid::of(size);
        let (mut samples, mut noisy) = (0.0, 0.0);
        for (tile, (&own, &noise)) in (0..).zip(self.samples.iter().zip(noise)) {
            let pixels = grid.pixels(tile) as f64;
            samples += pixels * f64::from(own);
            noisy += if noise <= target { 0.0 } else { pixels };
        }
        let pixels = f64::from(size.0) * f64::from(size.1);
        Sampled { samples: samples / pixels, noisy: noisy / pixels }
    }
}

/// Raises sample counts that are lower than an adjacent tile's by more than a factor of [`STEEPEST`].
fn flatten(numbers: &mut [u32], grid: TileGrid) {
    let mut steep: Vec<u32> = (0..grid.count()).collect();
    while let Some(tile) = steep.pop() {
        let least = numbers[tile as usize] / STEEPEST;
        for other in grid.around(tile).filter(|&other| other != tile) {
            if numbers[other as usize] < least {
                numbers[other as usize] = least;
                steep.push(other);
            }
        }
    }
}

/// Copies the pixels of `tiles` from images into images of the same AOVs.
fn take_aovs(grid: TileGrid, tiles: &[u32], (to, from): (&mut [AovImage], &[AovImage])) {
    for image in to {
        let Some(more) = from.iter().find(|more| more.aov == image.aov) else {
            continue;
        };
        let mut values = image.values.to_vec();
        grid.copy(tiles, image.aov.channels(), &more.values, &mut values);
        image.values = values.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_device::fake;
    use throng_scene::PixelFilter;

    #[test]
    fn noisy_tiles_get_twice_to_eight_times_the_samples() {
        let settings = FrameSettings { width: 56, height: 8, samples: 100, ..fake::settings() };
        let begun = |samples: &[u32]| Begun { film: Film::default(), samples: samples.to_vec(), frame: None };
        let noise = [0.1, 0.11, 0.25, 9.0, f32::NAN, 0.11, 9.0];
        let wanted = begun(&[8, 8, 8, 8, 8, 64, 100]).wanted((&noise, 0.1), &settings);
        let expected = [((8, 16), vec![1, 4]), ((8, 32), vec![2]), ((8, 64), vec![3]), ((64, 100), vec![5])];
        assert_eq!(wanted, BTreeMap::from(expected));
        assert!(begun(&[8; 7]).wanted((&[0.1; 7], 0.1), &settings).is_empty());
        let mut shared = settings;
        shared.film.filter = PixelFilter::Shared;
        // Tiles adjacent to one with 100 samples get at least an eighth of its count.
        let wanted = begun(&[8, 8, 8, 50, 8, 50, 8]).wanted((&[0.0, 0.0, 0.0, 0.2, 0.0, 0.1, 0.1], 0.1), &shared);
        assert_eq!(wanted, BTreeMap::from([((8, 12), vec![2, 4]), ((50, 100), vec![3])]));
        let mut numbers = [8, 8, 8, 8, 4096, 600, 8];
        flatten(&mut numbers, TileGrid::of((56, 8)));
        assert_eq!(numbers, [8, 8, 64, 512, 4096, 600, 75]);
    }

    #[test]
    fn samples_and_noise_are_means_over_pixels() {
        let begun = Begun { film: Film::default(), samples: vec![8, 32], frame: None };
        let sampled = begun.sampled((10, 8), (&[0.1, 0.3], 0.2));
        assert!((sampled.samples - 12.8).abs() < 1e-9 && (sampled.noisy - 0.2).abs() < 1e-9);
    }
}
