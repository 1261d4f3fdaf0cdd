//! Conversion of linear pixels to display pixels on the CPU, for pictures that are processed after rendering. Uses the kernels that devices use for
//! their films.

use super::{Developer, RESOLVE_BATCH};
use crate::{
    DeviceError, FrameSettings, PixelType,
    records::params::{display_params, film_params},
};
use bytemuck::Zeroable;
use rayon::prelude::*;
use throng_abi::{DisplayParams, FilmParams};

impl Developer {
    /// Converts rows of linear RGB radiance to display pixels of type `pixels`, with the exposure, white balance, tone curve and dither of
    /// `settings`. If `alpha` is given, one value per pixel, display colours are divided by it.
    ///
    /// # Errors
    /// If the size differs from the settings' film size.
    pub fn develop(
        &self,
        radiance: &[f32],
        alpha: Option<&[f32]>,
        settings: &FrameSettings,
        pixels: PixelType,
    ) -> Result<Vec<u8>, DeviceError> {
        let settings = FrameSettings { pixels, ..settings.clone() };
        self.develop_as(radiance, alpha, film_params(&settings), display_params(&settings), pixels)
    }

    /// Like [`Self::develop`], for a picture of the given size with explicit display parameters.
    ///
    /// # Errors
    /// If the number of pixels differs from `width` × `height`.
    pub fn develop_for(
        &self,
        radiance: &[f32],
        alpha: Option<&[f32]>,
        (width, height): (u32, u32),
        display: DisplayParams,
        pixels: PixelType,
    ) -> Result<Vec<u8>, DeviceError> {
        let film = FilmParams { width, height, picture_width: width, picture_height: height, ..Zeroable::zeroed() };
        self.develop_as(radiance, alpha, film, display, pixels)
    }

    fn develop_as(
        &self,
        radiance: &[f32],
        alpha: Option<&[f32]>,
        film_params: FilmParams,
        display: DisplayParams,
        pixels: PixelType,
    ) -> Result<Vec<u8>, DeviceError> {
        let count = film_params.width as usize * film_params.height as usize;
        if radiance.len() != 3 * count || alpha.is_some_and(|alpha| alpha.len() != count) {
            return Err(DeviceError::Failed("a picture has another size".into()));
        }
        if pixels == PixelType::F32 {
            return Ok(bytemuck::cast_slice(radiance).to_vec());
        }
        let (radiance, _) = radiance.as_chunks::<3>();
        // Kernels read four floats per pixel of a film. Waking threads takes longer than converting a small picture.
        let film = radiance.par_iter().with_min_len(RESOLVE_BATCH as usize).map(|&[r, g, b]| [r, g, b, 1.0]);
        let mut film: Vec<[f32; 4]> = film.collect();
        Ok(self.resolve(&mut film, alpha, film_params, display, 3 * pixels.bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::settings;
    use throng_scene::{Integrator, ToneMap};

    /// Radiance, followed by the results of Blender 5.0 with its view transforms and white balance (sRGB, from 16-bit pictures).
    const RADIANCE: [[f32; 3]; 12] = [
        [0.02, 0.02, 0.02],
        [0.18, 0.18, 0.18],
        [1.0, 1.0, 1.0],
        [8.0, 8.0, 8.0],
        [0.5, 0.05, 0.02],
        [4.0, 0.2, 0.1],
        [0.1, 2.0, 0.3],
        [0.05, 0.1, 6.0],
        [0.9, 0.6, 0.1],
        [30.0, 12.0, 1.0],
        [0.003, 0.01, 0.001],
        [0.3, 0.4, 0.9],
    ];
    const AGX: [[f32; 3]; 12] = [
        [0.12502, 0.12502, 0.12503],
        [0.46133, 0.46133, 0.46137],
        [0.77098, 0.77098, 0.77099],
        [0.96158, 0.96158, 0.96159],
        [0.70404, 0.25058, 0.10645],
        [0.99074, 0.6461, 0.59396],
        [0.64973, 0.85214, 0.64744],
        [0.62582, 0.70739, 0.99147],
        [0.77198, 0.67553, 0.4548],
        [1.0, 0.97418, 0.9142],
        [0.0213, 0.06572, 0.00027],
        [0.58628, 0.64239, 0.76744],
    ];
    const PBR_NEUTRAL: [[f32; 3]; 12] = [
        [0.03261, 0.03261, 0.03261],
        [0.41131, 0.41131, 0.41131],
        [0.93639, 0.93639, 0.93639],
        [0.99657, 0.99657, 0.99657],
        [0.72593, 0.19867, 0.03261],
        [0.99252, 0.61099, 0.59631],
        [0.42594, 0.9819, 0.52383],
        [0.68313, 0.68659, 0.99532],
        [0.92013, 0.76342, 0.27674],
        [0.99915, 0.94815, 0.91493],
        [0.01398, 0.08672, 0.00031],
        [0.54195, 0.62734, 0.92013],
    ];
    const STANDARD: [[f32; 3]; 12] = [
        [0.15171, 0.15171, 0.15171],
        [0.46136, 0.46136, 0.46136],
        [1.0, 1.0, 1.0],
        [1.0, 1.0, 1.0],
        [0.73536, 0.24781, 0.15171],
        [1.0, 0.48453, 0.34919],
        [0.34919, 1.0, 0.58384],
        [0.24781, 0.34919, 1.0],
        [0.9547, 0.79774, 0.34919],
        [1.0, 1.0, 1.0],
        [0.03877, 0.09986, 0.01292],
        [0.58384, 0.66519, 0.9547],
    ];
    const WHITE_4000: [[f32; 3]; 12] = [
        [0.1156, 0.15621, 0.21785],
        [0.37118, 0.4726, 0.62661],
        [0.81573, 1.0, 1.0],
        [1.0, 1.0, 1.0],
        [0.68542, 0.26586, 0.2502],
        [1.0, 0.5357, 0.56716],
        [0.0, 1.0, 0.85837],
        [0.0, 0.06462, 1.0],
        [0.83395, 0.82277, 0.53559],
        [1.0, 1.0, 1.0],
        [0.00716, 0.10376, 0.03441],
        [0.41451, 0.67401, 1.0],
    ];
    const WHITE_12000: [[f32; 3]; 12] = [
        [0.17079, 0.15018, 0.11606],
        [0.50906, 0.45756, 0.37232],
        [1.0, 0.99222, 0.81808],
        [1.0, 1.0, 1.0],
        [0.76948, 0.23818, 0.08359],
        [1.0, 0.45341, 0.17891],
        [0.63574, 1.0, 0.41135],
        [0.46389, 0.40548, 1.0],
        [1.0, 0.78845, 0.22528],
        [1.0, 1.0, 0.25719],
        [0.05637, 0.0986, 0.00447],
        [0.6612, 0.66278, 0.79278],
    ];

    fn develop(radiance: &[f32], settings: &FrameSettings, pixels: PixelType) -> Result<Vec<u8>, DeviceError> {
        Developer::new().unwrap().develop(radiance, None, settings, pixels)
    }

    fn shown(tone_map: ToneMap, white_balance: Option<f32>) -> Vec<[f32; 3]> {
        let mut settings = FrameSettings {
            width: RADIANCE.len() as u32,
            height: 1,
            integrator: Integrator::Path,
            tone_map,
            ..settings()
        };
        settings.film.white_balance = white_balance;
        let radiance: &[f32] = bytemuck::cast_slice(&RADIANCE);
        let bytes = develop(radiance, &settings, PixelType::U16).unwrap();
        let values: Vec<u16> = bytemuck::pod_collect_to_vec(&bytes);
        let (pixels, _) = values.as_chunks::<3>();
        let unit = |pixel: &[u16; 3]| pixel.map(|value| f32::from(value) / 65_535.0);
        pixels.iter().map(unit).collect()
    }

    /// Tolerances are wide because Blender uses lookup tables, whose steps show in dark and in saturated colours.
    #[track_caller]
    fn assert_like(found: &[[f32; 3]], expected: &[[f32; 3]], (most, mean): (f32, f32)) {
        let pairs = found.as_flattened().iter().zip(expected.as_flattened());
        let errors: Vec<f32> = pairs.map(|(a, b)| (a - b).abs()).collect();
        let greatest = errors.iter().copied().fold(0.0, f32::max);
        let sum: f32 = errors.iter().sum();
        assert!(greatest <= most, "{greatest}: {found:?}");
        assert!(sum <= mean * errors.len() as f32, "{sum}: {found:?}");
    }

    #[test]
    fn tone_curves_are_those_of_blender() {
        assert_like(&shown(ToneMap::None, None), &STANDARD, (1e-4, 5e-5));
        assert_like(&shown(ToneMap::Agx, None), &AGX, (0.02, 0.002));
        let neutral = shown(ToneMap::PbrNeutral, None);
        assert_like(&neutral, &PBR_NEUTRAL, (0.015, 0.002));
    }

    #[test]
    fn white_balance_is_that_of_blender() {
        for (kelvin, expected) in [(4000.0, WHITE_4000), (12_000.0, WHITE_12000)] {
            let found = shown(ToneMap::None, Some(kelvin));
            assert_like(&found, &expected, (0.02, 0.004));
        }
    }

    #[test]
    fn dither_keeps_the_mean_and_what_needs_no_rounding() {
        let mean = |value: f32, dither: f32| {
            let mut settings = FrameSettings {
                width: 64,
                height: 64,
                integrator: Integrator::Path,
                tone_map: ToneMap::None,
                ..settings()
            };
            settings.film.dither = dither;
            let linear = throng_base::math::linear_from_srgb(value / 255.0);
            let bytes = develop(&vec![linear; 64 * 64 * 3], &settings, PixelType::U8).unwrap();
            let kinds: std::collections::BTreeSet<u8> = bytes.iter().copied().collect();
            let sum: u32 = bytes.iter().copied().map(u32::from).sum();
            (sum as f32 / bytes.len() as f32, kinds.len())
        };
        assert_eq!(mean(100.3, 0.0), (100.0, 1));
        let (dithered, kinds) = mean(100.3, 1.0);
        assert!((dithered - 100.3).abs() < 0.01 && kinds == 2, "{dithered}");
        for value in [0.0, 31.0, 255.0] {
            assert_eq!(mean(value, 1.0), (value, 1));
        }
    }

    #[test]
    fn transparent_colours_are_bent_by_the_curve_as_if_they_were_opaque() {
        let mut settings = FrameSettings { integrator: Integrator::Path, tone_map: ToneMap::Agx, ..settings() };
        (settings.width, settings.height) = (3, 1);
        let developer = Developer::new().unwrap();
        let radiance = [[0.4f32; 3], [0.1; 3], [0.0; 3]];
        let alpha = [1.0, 0.25, 0.0];
        let pixels = developer.develop(radiance.as_flattened(), Some(&alpha), &settings, PixelType::U8).unwrap();
        assert!(pixels[0] > 100 && pixels[..3] == pixels[3..6], "{pixels:?}");
        assert!(developer.develop(radiance.as_flattened(), Some(&[1.0]), &settings, PixelType::U8).is_err());
    }

    #[test]
    fn linear_pixels_stay_and_sizes_have_to_agree() {
        let settings = settings();
        let radiance = vec![0.5; (settings.width * settings.height * 3) as usize];
        let same = develop(&radiance, &settings, PixelType::F32).unwrap();
        assert_eq!(same, bytemuck::cast_slice::<f32, u8>(&radiance));
        assert!(develop(&radiance[3..], &settings, PixelType::U8).is_err());
    }
}
