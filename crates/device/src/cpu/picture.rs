//! Rendering of a picture on the CPU: passes over its samples, AOVs, and display pixels.

use super::{CpuDevice, PIXEL_BATCH, RESOLVE_BATCH, gathering::Gathering, launch::Launch};
use crate::{
    Accumulation, DeviceError, Frame, FrameSettings, RayCounts, Rendered, Stop,
    batch::Picture,
    film::adaptive::{self, Passes},
    records::params::{TILE_ITEMS, aim_display, pixel_items},
};
use bytes::Bytes;
use std::{ops::Range, ptr::null, time::Instant};
use throng_picture::{aov::AovImage, pixels::Floats};

/// Samples per pixel between two checks for a stop.
const SAMPLE_SLICE: u32 = 16;
/// Tiles of `measure_tile` per batch.
const TILE_BATCH: u32 = 64;

/// A picture that gets samples. The launch points to its film.
struct UnfinishedPicture<'a> {
    device: &'a CpuDevice,
    launch: Launch<'a>,
    frame: &'a Frame,
    settings: &'a FrameSettings,
    /// Number of the film's first sample.
    first: u32,
    tiles: u32,
    stop: &'a Stop<'a>,
}

impl CpuDevice {
    /// As [`Device::add_samples`](crate::Device::add_samples).
    pub(super) fn extend(
        &mut self,
        Picture { frame, settings, delivery, views }: Picture,
        film: &mut Accumulation,
        until: u32,
        stop: &Stop,
    ) -> Result<Rendered, DeviceError> {
        if !film.fits(settings) {
            return Err(DeviceError::Failed("the film is of another picture".into()));
        }
        let start = Instant::now();
        let shining = self.shining(frame, settings);
        let mut launch = self.prepare(frame, shining)?;
        launch.apply(frame, settings);
        if !views.is_empty() {
            launch.params.picture.views = views.as_ptr();
        }
        launch.params.film.sums = film.sums.as_mut_ptr();
        if !film.odd.is_empty() {
            launch.params.film.half_sums = film.odd.as_mut_ptr();
        }
        film.layers.clear();
        let (first, tiles) = (film.state.first, pixel_items(settings)? / TILE_ITEMS);
        let mut picture = UnfinishedPicture { device: self, launch, frame, settings, first, tiles, stop };
        let mut passes = Passes::resume(until, settings.noise, std::mem::take(&mut film.state));
        let is_last = until >= settings.samples || delivery.unfinished_aovs;
        let along = picture.gather_along(&passes, is_last.then_some(until))?;
        let rays = picture.sample(&mut passes)?;
        film.state = passes.into_state();
        picture.tell_progress(film);
        let aovs = match along {
            Some(along) => picture.finish_along(along),
            None if settings.aovs.is_empty() || !(film.is_done(settings) || delivery.unfinished_aovs) => Vec::new(),
            None => picture.gather(film, delivery.layer_sums)?,
        };
        let pixels = picture.resolve(&aovs);
        if stop() {
            return Err(DeviceError::Stopped);
        }
        Ok(Rendered {
            pixels,
            aovs,
            blocks: None,
            records: None,
            kept: None,
            rays,
            time: start.elapsed(),
            stages: None,
        })
    }
}

impl<'a> UnfinishedPicture<'a> {
    /// Number of samples of all pixels, if each has `per_pixel`.
    fn samples(&self, per_pixel: u32) -> u64 {
        u64::from(self.tiles * TILE_ITEMS) * u64::from(per_pixel.saturating_sub(self.first))
    }

    /// AOVs that are gathered from the hits of the picture's own rays, if each pixel gets all its samples in one launch. `until` is the sample count
    /// at which AOVs are due; none if they are not.
    fn gather_along(&mut self, passes: &Passes, until: Option<u32>) -> Result<Option<Gathering<'a>>, DeviceError> {
        let at_once = until.is_some_and(|until| {
            self.first == passes.samples().start && until.saturating_sub(self.first) <= SAMPLE_SLICE
        });
        let settings = self.settings;
        if !at_once || passes.is_adaptive() || settings.open_ended || settings.aovs.is_empty() {
            return Ok(None);
        }
        let mut along = self.device.gathering(self.frame, settings, self.launch.params.film.sums, None)?;
        // If samples are shared, a pixel's variance is known only after its neighbours are finished.
        if settings.shares_samples() {
            along.defer_variance();
        }
        self.launch.params.film.aovs = &raw const *along.record;
        Ok(Some(along))
    }

    /// Adds the samples of all passes to the film.
    ///
    /// # Errors
    /// [`DeviceError::Stopped`].
    fn sample(&mut self, passes: &mut Passes) -> Result<RayCounts, DeviceError> {
        let mut errors = vec![0f32; if passes.is_adaptive() { self.tiles as usize } else { 0 }];
        let mut rays = RayCounts::default();
        while !passes.is_over() {
            let tiles = passes.tiles().map(<[u32]>::to_vec);
            self.launch.params.film.tiles = tiles.as_ref().map_or(null(), |tiles| tiles.as_ptr());
            let count = tiles.as_ref().map_or(self.tiles, |tiles| tiles.len() as u32);
            let progress = &self.device.progress;
            progress.begin(self.samples(passes.samples().start), self.samples(self.settings.samples));
            // SAFETY: the film and the tiles fit the settings.
            rays += unsafe { self.sample_pass(passes.samples(), count * TILE_ITEMS) };
            if (self.stop)() {
                return Err(DeviceError::Stopped);
            }
            self.launch.params.film.tiles = null();
            if passes.is_adaptive() {
                self.launch.params.film.tile_errors = errors.as_mut_ptr();
                let kernel = self.device.kernels.measure_tile;
                // SAFETY: the film and its odd half have the picture's size, and there is one error per tile.
                unsafe { self.launch.run(kernel, self.tiles, TILE_BATCH, &|| false) };
            }
            passes.go_on(&errors);
        }
        Ok(rays)
    }

    /// Adds `samples` of the first `items` items to the film.
    ///
    /// # Safety
    /// The launch must be for a picture with at least `items` items and point to a film of its size. If only some tiles are sampled, it must point to
    /// the list of their numbers.
    unsafe fn sample_pass(&mut self, samples: Range<u32>, items: u32) -> RayCounts {
        let (device, launch) = (self.device, &mut self.launch);
        let progress = &*device.progress;
        let mut rays = RayCounts::default();
        // Small ranges of samples, so that a stop does not wait for all samples of the first pixels.
        for begin in samples.clone().step_by(SAMPLE_SLICE as usize) {
            let end = samples.end.min(begin + SAMPLE_SLICE);
            launch.params.film.sample_begin = begin;
            launch.params.film.sample_end = end;
            let begun = || progress.add(u64::from(PIXEL_BATCH) * u64::from(end - begin));
            let kernel = if launch.params.film.aovs.is_null() {
                device.kernels.render_pixel
            } else {
                device.kernels.render_with_aovs
            };
            // SAFETY: guaranteed by the caller; each item writes only to its own pixel of film and AOVs.
            rays += unsafe { launch.run_counted(kernel, items, PIXEL_BATCH, &begun, self.stop) };
            if (self.stop)() {
                break;
            }
        }
        rays
    }

    /// Reports the progress between two calls of a device.
    fn tell_progress(&self, film: &Accumulation) {
        let progress = &self.device.progress;
        if film.is_done(self.settings) {
            progress.end()
        } else {
            progress.begin(self.samples(film.state.samples), self.samples(self.settings.samples))
        }
    }

    /// Completes AOVs that were gathered while the picture was sampled.
    fn finish_along(&mut self, mut along: Gathering<'a>) -> Vec<AovImage> {
        if along.resume_variance() {
            let (kernel, items) = (self.device.kernels.gather_variance, self.tiles * TILE_ITEMS);
            self.launch.params.film.aovs = &raw const *along.record;
            // SAFETY: as for the samples.
            unsafe { self.launch.run(kernel, items, PIXEL_BATCH, self.stop) };
        }
        let pixels = self.settings.film_pixels() as u32;
        // SAFETY: as for the samples.
        unsafe { self.device.finish_cover(&mut self.launch, &along, pixels) };
        self.launch.params.film.aovs = null();
        along.into_images()
    }

    /// Gathers the AOVs of a film that has its samples.
    fn gather(&mut self, film: &mut Accumulation, layer_sums: bool) -> Result<Vec<AovImage>, DeviceError> {
        let Self { device, settings, .. } = *self;
        let params = &mut self.launch.params.film;
        params.sample_begin = self.first;
        params.sample_end = adaptive::samples_of_all(settings).min(film.state.samples);
        // If the caller chose the tiles, only they have changed.
        let given = film.state.tiles.as_ref().filter(|_| settings.noise.is_none());
        params.tiles = given.map_or(null(), |tiles| tiles.as_ptr());
        let items = given.map_or(self.tiles, |tiles| tiles.len() as u32) * TILE_ITEMS;
        let layers = layer_sums.then_some(&mut film.layers);
        let gathering = device.gathering(self.frame, settings, params.sums, layers)?;
        // SAFETY: the film and the tiles fit the settings.
        unsafe {
            device.gather_aovs(&mut self.launch, &gathering, settings, items, self.stop);
            device.finish_cover(&mut self.launch, &gathering, settings.film_pixels() as u32);
        }
        self.launch.params.film.tiles = null();
        Ok(gathering.into_images())
    }

    /// Computes the display pixels.
    fn resolve(&mut self, aovs: &[AovImage]) -> Bytes {
        let settings = self.settings;
        let (count, bytes) = (settings.film_pixels(), settings.film_pixels() * settings.pixel_bytes());
        // Floats for every pixel type, so that the memory is aligned for all of them.
        let mut pixels = vec![0f32; bytes.div_ceil(4)];
        let params = &mut self.launch.params.film;
        params.pixels = pixels.as_mut_ptr().cast();
        aim_display(params, (settings.transparent, settings.wireframe.is_some()), |aov| {
            aovs.iter().find(|image| image.aov == aov).map_or(null(), |image| image.values.as_ptr())
        });
        // SAFETY: film, alpha and pixels have `count` pixels.
        unsafe { self.launch.run(self.device.kernels.resolve_pixel, count as u32, RESOLVE_BATCH, &|| false) };
        Floats::from(pixels).into_bytes().slice(..bytes)
    }
}
