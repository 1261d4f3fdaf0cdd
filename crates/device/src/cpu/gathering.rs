//! AOVs of a frame on the CPU.

use super::{
    CpuDevice, PIXEL_BATCH, RESOLVE_BATCH,
    launch::{Elsewhere, Launch},
};
use crate::{Accumulation, DeviceError, Frame, FrameSettings, Stop, layer_words, records::frame_aovs};
use std::{
    mem::replace,
    ptr::{null, null_mut},
};
use throng_abi::FrameAovs;
use throng_picture::aov::{Aov, AovImage};

/// The AOV images of a frame, and the data that kernels read to fill them.
pub(super) struct Gathering<'a> {
    pub(super) record: Box<FrameAovs>,
    images: Vec<(Aov, Vec<f32>)>,
    /// The address of the variance while it is not gathered; null otherwise.
    deferred_variance: *mut f32,
    _shade_noise: Vec<f32>,
    _others: Vec<Elsewhere<'a>>,
}

impl Gathering<'_> {
    /// Leaves out the variance until [`Self::resume_variance`].
    pub(super) fn defer_variance(&mut self) {
        self.deferred_variance = replace(&mut self.record.variance, null_mut());
    }

    /// Includes a variance that was left out. Returns whether there is one.
    pub(super) fn resume_variance(&mut self) -> bool {
        let is_deferred = !self.deferred_variance.is_null();
        if is_deferred {
            self.record.variance = replace(&mut self.deferred_variance, null_mut());
        }
        is_deferred
    }

    pub(super) fn into_images(self) -> Vec<AovImage> {
        let images = self.images.into_iter();
        images.map(|(aov, values)| AovImage { aov, values: values.into() }).collect()
    }
}

impl CpuDevice {
    /// Allocates the AOVs of a frame with a film at address `sums`. `layers` receives their exact sums if they are requested.
    pub(super) fn gathering<'a>(
        &self,
        frame: &'a Frame,
        settings: &FrameSettings,
        sums: *mut u32,
        layers: Option<&mut Vec<u32>>,
    ) -> Result<Gathering<'a>, DeviceError> {
        let (aovs, pixels) = (settings.aovs, settings.film_pixels());
        let mut images: Vec<(Aov, Vec<f32>)> =
            aovs.iter().map(|aov| (aov, vec![0.0; pixels * aov.channels()])).collect();
        let tables = self.tables()?;
        let mut record = Box::new(frame_aovs::record(frame, settings));
        let mut shade_noise = vec![0f32; if settings.measures_shade() { 4 * pixels } else { 0 }];
        if !shade_noise.is_empty() {
            record.shade_noise = shade_noise.as_mut_ptr();
        }
        if let Some(layers) = layers.filter(|_| layer_words(aovs) > 0) {
            layers.resize(Accumulation::layers_words(settings), 0);
            record.sums = layers.as_mut_ptr();
            record.sum_words = layer_words(aovs) as u64;
        }
        if let Some(start) = Accumulation::cover_start(settings) {
            record.cover = sums.wrapping_add(start).cast();
        }
        for (aov, values) in &mut images {
            frame_aovs::aim(&mut record, *aov, values.as_mut_ptr());
        }
        if !settings.numbered && (aovs.contains(Aov::Instance) || aovs.contains(Aov::Material)) {
            let ids = tables.name_ids();
            record.instance_names = ids.instances.as_ptr();
            record.material_names = ids.materials.as_ptr();
        }
        let others = frame.others.iter().flat_map(|others| others.iter());
        let others: Vec<_> = others.map(|pose| Elsewhere::new(tables, pose)).collect();
        let records = [&mut record.before, &mut record.after, &mut record.now];
        for (record, other) in records.into_iter().zip(&others) {
            other.apply(record, tables);
        }
        Ok(Gathering { record, images, deferred_variance: null_mut(), _shade_noise: shade_noise, _others: others })
    }

    /// Gathers the AOVs of a frame whose film is done.
    ///
    /// # Safety
    /// The launch must be for a picture with at least `items` items and point to its film.
    pub(super) unsafe fn gather_aovs(
        &self,
        launch: &mut Launch<'_>,
        gathering: &Gathering<'_>,
        settings: &FrameSettings,
        items: u32,
        stop: &Stop,
    ) {
        launch.params.film.aovs = &raw const *gathering.record;
        let kernel = if settings.open_ended { self.kernels.gather_exact_aovs } else { self.kernels.gather_aovs };
        // SAFETY: images and layers have the picture's size, and all other data of the record lives as long as the record.
        unsafe { launch.run(kernel, items, PIXEL_BATCH, stop) };
        launch.params.film.aovs = null();
    }

    /// Computes the coverage layers from shared contributions after all of them have been gathered.
    ///
    /// # Safety
    /// As for [`Self::gather_aovs`].
    pub(super) unsafe fn finish_cover(&self, launch: &mut Launch<'_>, gathering: &Gathering<'_>, pixels: u32) {
        if gathering.record.cover.is_null() {
            return;
        }
        launch.params.film.aovs = &raw const *gathering.record;
        // SAFETY: as above; each pixel writes its own layer values and reads contributions, which no item writes.
        unsafe { launch.run(self.kernels.gather_cover, pixels, RESOLVE_BATCH, &|| false) };
        launch.params.film.aovs = null();
    }
}
