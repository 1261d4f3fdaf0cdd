//! Checks that a picture fits into this machine's memory, before work starts. Otherwise the kernel's OOM killer would end the run.

use super::SettingsError;
use throng_base::memory::total_bytes;
use throng_denoise::frames::RecordedFrame;
use throng_device::{Accumulation, FoldedFilm, FrameSettings, layer_words};
use throng_picture::aov::AovSet;

/// Estimated memory of a picture: the float film, and the output pixels of frames in flight.
const BYTES_PER_PIXEL: u64 = 32;

/// Checks the memory of a picture whose samples are kept in a file: the film, a copy of it, and its layers if they are
/// kept.
pub fn check_film(settings: &FrameSettings, keeps_layers: bool) -> Result<(), SettingsError> {
    let sums = Accumulation::sum_words(settings) * if Accumulation::has_odd(settings) { 2 } else { 1 };
    let layers = if keeps_layers { layer_words(settings.aovs) } else { 0 };
    let words = 2 * (sums + layers) + settings.aovs.channels() + 3;
    check_bytes(settings.film_size(), 4 * words as u64)
}

/// Checks the memory of denoised frames, which need `reach` neighbours on either side and keep `aovs` until they are written. Frames that
/// may get more samples in noisy parts also keep their films.
pub fn check_window(
    settings: &FrameSettings,
    aovs: AovSet,
    (reach, goes_on): (u32, bool),
) -> Result<(), SettingsError> {
    let cover = if settings.shares_cover() { FoldedFilm::COVER_BYTES } else { 0 };
    let film = if goes_on { FoldedFilm::PIXEL_BYTES + cover } else { 0 };
    let kept = RecordedFrame::PIXEL_BYTES + 4 * aovs.channels() as u64 + film;
    let traced = BYTES_PER_PIXEL + 4 * (Accumulation::sums(settings) * Accumulation::sum_words(settings)) as u64;
    check_bytes(settings.film_size(), traced + kept * (2 * u64::from(reach) + 2))
}

/// Checks the memory of a picture. If the size of the machine's memory is unknown, the check passes.
pub fn check(width: u32, height: u32) -> Result<(), SettingsError> {
    check_bytes((width, height), BYTES_PER_PIXEL)
}

fn check_bytes((width, height): (u32, u32), per_pixel: u64) -> Result<(), SettingsError> {
    let needed = u64::from(width) * u64::from(height) * per_pixel;
    match total_bytes() {
        Some(available) if needed > available => Err(SettingsError::Memory { width, height, needed, available }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_picture_fits_everywhere() {
        assert!(check(64, 64).is_ok());
    }
}
