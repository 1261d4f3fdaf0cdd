//! Display pixels from films.

use super::{RESOLVE_BATCH, kernels::KernelTable, launch::Launch, variants::chosen_kernels};
use crate::DeviceError;
use bytemuck::Zeroable;
use std::ptr::null;
use throng_abi::{DisplayParams, FilmParams, Params};

/// Converts films to display pixels with the kernels that devices use.
pub struct Developer(pub(super) &'static KernelTable);

impl Developer {
    /// Uses the variant that `THRONG_CPU` names, or the fastest one.
    ///
    /// # Errors
    /// If `THRONG_CPU` names an unknown or unsupported variant.
    pub fn new() -> Result<Self, DeviceError> {
        chosen_kernels().map(Self)
    }

    /// Converts a film (RGB sums and weights) to pixels of `pixel_bytes` bytes. `alpha` has one value per pixel for transparent pictures.
    /// `film_params` gives the position of the pixels in the picture.
    pub(crate) fn resolve(
        &self,
        film: &mut [[f32; 4]],
        alpha: Option<&[f32]>,
        film_params: FilmParams,
        display: DisplayParams,
        pixel_bytes: usize,
    ) -> Vec<u8> {
        let bytes = film.len() * pixel_bytes;
        // Floats, so that the memory is aligned for every pixel type.
        let mut pixels = vec![0f32; bytes.div_ceil(size_of::<f32>())];
        let film_params = FilmParams {
            sums: film.as_mut_ptr().cast(),
            pixels: pixels.as_mut_ptr().cast(),
            alpha: alpha.map_or(null(), <[f32]>::as_ptr),
            exact: 0,
            ..film_params
        };
        let launch = Launch::of(Params { display, film: film_params, ..Zeroable::zeroed() });
        // SAFETY: film, alpha and pixels have the same number of pixels.
        unsafe {
            let count = film.len() as u32;
            launch.run(self.0.resolve_pixel, count, RESOLVE_BATCH, &|| false)
        };
        bytemuck::cast_slice(&pixels)[..bytes].to_vec()
    }
}
