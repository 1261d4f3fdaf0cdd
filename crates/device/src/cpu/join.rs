//! Operations on exact sums of films that need no scene: adding the sums of other samples, and computing the final picture.

use super::{Developer, kernels::Kernel};
use crate::{
    Accumulation, FrameSettings, layer_words,
    records::{
        frame_aovs,
        params::{aim_display, display_params, film_params},
    },
};
use bytemuck::Zeroable;
use bytes::Bytes;
use std::{
    ops::Range,
    ptr::{NonNull, null, null_mut},
};
use throng_abi::{FilmParams, FrameAovs, Params, Thread};
use throng_picture::{
    aov::{Aov, AovImage},
    pixels::Floats,
};

impl Developer {
    /// Adds the sums of `count` pixels of `other`, starting at pixel `from`, to the pixels of `film` starting at pixel `to`. Both films must have
    /// exact sums and layers for the same settings.
    ///
    /// # Panics
    /// If either film has fewer pixels.
    pub fn join(
        &self,
        settings: &FrameSettings,
        (film, to): (&mut Accumulation, usize),
        (other, from): (&Accumulation, usize),
        count: usize,
    ) {
        let words = Accumulation::sum_words(settings);
        let places = |words: usize| (to * words..(to + count) * words, from * words..(from + count) * words);
        let add = |sums: &mut [u32], others: &[u32]| {
            let params = FilmParams { sums: sums.as_mut_ptr(), other_sums: others.as_ptr(), ..film_params(settings) };
            // SAFETY: both films have `count` pixels in this range.
            unsafe { call(self.0.join_sums, &Params { film: params, ..Zeroable::zeroed() }, count) };
        };
        let (own, others): (Range<usize>, Range<usize>) = places(words);
        add(&mut film.sums[own.clone()], &other.sums[others.clone()]);
        if Accumulation::has_odd(settings) {
            add(&mut film.odd[own], &other.odd[others]);
        }
        let words = layer_words(settings.aovs);
        if words == 0 {
            return;
        }
        let (own, others) = places(words);
        let (own, others) = (&mut film.layers[own], &other.layers[others]);
        let mut record = FrameAovs { sum_words: words as u64, ..Zeroable::zeroed() };
        (record.sums, record.other_sums) = (own.as_mut_ptr(), others.as_ptr());
        for aov in settings.aovs.iter() {
            // A non-null pointer marks the AOV as present; the kernel does not write to it.
            frame_aovs::aim(&mut record, aov, NonNull::dangling().as_ptr());
        }
        let params = FilmParams { aovs: &raw const record, ..film_params(settings) };
        // SAFETY: both films have `count` pixels in this range.
        unsafe { call(self.0.join_aovs, &Params { film: params, ..Zeroable::zeroed() }, count) };
    }

    /// Computes pixels and AOVs from a film with exact sums. If `settings` contain AOVs, the film must have their layers.
    ///
    /// # Panics
    /// If the film's size differs from the settings' size.
    pub fn finish(&self, settings: &FrameSettings, film: &mut Accumulation) -> (Bytes, Vec<AovImage>) {
        let count = settings.film_pixels();
        let odd = if Accumulation::has_odd(settings) { film.sums.len() } else { 0 };
        assert_eq!(
            (film.sums.len(), film.odd.len(), film.layers.len()),
            (Accumulation::words(settings), odd, Accumulation::layers_words(settings)),
            "the film has the size of the settings"
        );
        let aovs = settings.aovs.iter();
        let mut images: Vec<(Aov, Vec<f32>)> = aovs.map(|aov| (aov, vec![0.0; count * aov.channels()])).collect();
        let (sum_words, shade_margin) = (layer_words(settings.aovs) as u64, settings.shade_margin());
        let mut record = FrameAovs { sum_words, shade_margin, ..Zeroable::zeroed() };
        record.sums = film.layers.as_mut_ptr();
        for (aov, values) in &mut images {
            frame_aovs::aim(&mut record, *aov, values.as_mut_ptr());
        }
        // Floats for every pixel type, so that the memory is aligned for all of them.
        let mut pixels = vec![0f32; (count * settings.pixel_bytes()).div_ceil(4)];
        let mut params =
            Params { display: display_params(settings), film: film_params(settings), ..Zeroable::zeroed() };
        params.film.sums = film.sums.as_mut_ptr();
        params.film.half_sums = if film.odd.is_empty() { null_mut() } else { film.odd.as_mut_ptr() };
        params.film.pixels = pixels.as_mut_ptr().cast();
        params.film.aovs = &raw const record;
        if !images.is_empty() {
            // SAFETY: sums, images and layers have the settings' size. Layers are present if an AOV needs them.
            unsafe { call(self.0.finish_aovs, &params, count) };
        }
        aim_display(&mut params.film, (settings.transparent, settings.wireframe.is_some()), |aov| {
            images.iter().find(|(of, _)| *of == aov).map_or(null(), |(_, values)| values.as_ptr())
        });
        // SAFETY: sums, AOVs and pixels have `count` pixels.
        unsafe { call(self.0.resolve_pixel, &params, count) };
        let bytes = count * settings.pixel_bytes();
        let images = images.into_iter().map(|(aov, values)| AovImage { aov, values: values.into() });
        (Floats::from(pixels).into_bytes().slice(..bytes), images.collect())
    }
}

/// Runs a kernel that traces no rays on the calling thread.
///
/// # Safety
/// All memory that the kernel accesses through `params` must have `count` pixels.
unsafe fn call(kernel: Kernel, params: &Params, count: usize) {
    let mut thread = Thread {
        stack: null_mut(),
        packet_stack: null_mut(),
        stack_entries: 0,
        stacks: 1,
        primary_rays: 0,
        bounce_rays: 0,
        shadow_rays: 0,
    };
    // SAFETY: guaranteed by the caller; the kernel needs no stack.
    unsafe { kernel(params, 0, count as u32, &mut thread) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;
    use proptest::prelude::*;
    use throng_picture::pixels::PixelType;

    fn settings() -> FrameSettings {
        FrameSettings { width: 1, height: 1, open_ended: true, pixels: PixelType::F32, ..fake::settings() }
    }

    /// A one-pixel film with these sums.
    fn film(values: [i128; 3], weights: i32) -> Accumulation {
        let words = values.into_iter().flat_map(|value| [0, 32, 64].map(|bits| (value >> bits) as u32));
        Accumulation { sums: words.chain([weights as u32]).collect(), ..Accumulation::new(&settings()) }
    }

    /// Integers of up to 96 significant bits.
    fn number() -> impl Strategy<Value = i128> {
        (any::<i128>(), 33u32..128).prop_map(|(number, bits)| number >> bits)
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(256))]

        #[test]
        fn sums_are_added_as_integers(
            a in [number(), number(), number()],
            b in [number(), number(), number()],
            weights in any::<[i16; 2]>(),
        ) {
            let mut joined = film(a, weights[0].into());
            let other = film(b, weights[1].into());
            Developer::new().unwrap().join(&settings(), (&mut joined, 0), (&other, 0), 1);
            let sums = [0, 1, 2].map(|k| a[k] + b[k]);
            prop_assert_eq!(joined, film(sums, i32::from(weights[0]) + i32::from(weights[1])));
        }

        #[test]
        fn a_sum_becomes_the_nearest_float(values in [number(), number(), number()]) {
            let (pixels, _) = Developer::new().unwrap().finish(&settings(), &mut film(values, 1));
            let found: Vec<f32> = bytemuck::pod_collect_to_vec(&pixels);
            prop_assert_eq!(found, values.map(|value| value as f32 / (1u64 << 40) as f32));
        }
    }
}
