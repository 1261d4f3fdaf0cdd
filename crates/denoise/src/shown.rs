//! Noise of denoised frames, measured by its visibility on a display.

use throng_device::{Filtered, FrameSettings, TileGrid};
use throng_scene::ToneMap;

/// Noise of each tile of a denoised frame for display with these settings. The measure is that of adaptive sampling
/// (`kernels/film/film.h`): the change in displayed colours caused by noise, divided by the square root of their sum. A tile's value is the
/// root mean square over its pixels, with each pixel weighted by its own square.
pub fn shown_noise(filtered: &Filtered, settings: &FrameSettings) -> Vec<f32> {
    let grid = TileGrid::of(settings.film_size());
    let scale = settings.exposure.exp2();
    let squares = |pixel: usize| {
        let radiance = &filtered.radiance[3 * pixel..3 * pixel + 3];
        // Transparent pixels are composited over white. Over black, noise would count most where only a shadow is visible.
        let behind = filtered.alpha.get(pixel).map_or(0.0, |alpha| 1.0 - alpha) / scale;
        let seen = [0, 1, 2].map(|c| radiance[c] + behind);
        pixel_noise(&seen, filtered.errors[0][pixel], (scale, settings.tone_map)).powi(2)
    };
    let noise = |tile: u32| {
        let (mut sum, mut fourth_powers) = (0.0, 0.0);
        for square in grid.rows(tile).flatten().map(squares) {
            sum += square;
            fourth_powers += square * square;
        }
        if sum > 0.0 { (fourth_powers / (3.0 * sum)).sqrt() } else { 0.0 }
    };
    (0..grid.count()).map(noise).collect()
}

/// Noise of one pixel, given the standard deviation of its radiance over the three colours. The noise is assumed to have the pixel's hue.
fn pixel_noise(radiance: &[f32], deviation: f32, (scale, tone_map): (f32, ToneMap)) -> f32 {
    let squares: f32 = radiance.iter().map(|color| color * color).sum();
    let share = |color: f32| if squares > 0.0 { color.abs() * (3.0 / squares).sqrt() } else { 1.0 };
    let (mut shown, mut differences) = (0.0, 0.0);
    for &color in radiance {
        let (deviation, color) = (deviation * share(color) * scale, color * scale);
        shown += seen_light(color, tone_map);
        differences += 0.5 * (seen_light(color + deviation, tone_map) - seen_light(color - deviation, tone_map));
    }
    differences / shown.max(1e-3).sqrt()
}

/// Displayed light for exposed radiance, as `seen_light` of the kernels.
fn seen_light(color: f32, tone_map: ToneMap) -> f32 {
    match tone_map {
        _ if color < 1.0 => color,
        ToneMap::None => 1.0,
        ToneMap::Aces | ToneMap::Agx | ToneMap::PbrNeutral => 2.0 - 1.0 / color,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_device::fake::settings;

    fn noise(radiance: f32, deviation: f32, (exposure, tone_map): (f32, ToneMap)) -> f32 {
        let filtered =
            Filtered { radiance: vec![radiance; 3 * 64], alpha: Vec::new(), errors: [vec![deviation; 64], Vec::new()] };
        let settings = FrameSettings { width: 8, height: 8, exposure, tone_map, ..settings() };
        shown_noise(&filtered, &settings)[0] * 3f32.sqrt()
    }

    #[test]
    fn noise_counts_as_it_is_seen() {
        let expected = 3.0 * 0.01 / (3.0f32 * 0.25).sqrt();
        for tone_map in [ToneMap::None, ToneMap::Aces] {
            assert!((noise(0.25, 0.01, (0.0, tone_map)) - expected).abs() < 1e-5);
            assert!((noise(0.125, 0.005, (1.0, tone_map)) - expected).abs() < 1e-5);
            assert!(noise(0.04, 0.01, (0.0, tone_map)) > 2.0 * expected);
            assert!(noise(1.0, 0.1, (0.0, tone_map)) > 0.0 && noise(0.0, 0.1, (0.0, tone_map)) > 0.1);
        }
        let [red, grey] =
            [[0.3, 0.0, 0.0], [0.1; 3]].map(|radiance| pixel_noise(&radiance, 0.01, (1.0, ToneMap::None)));
        assert!((3f32.sqrt() * red - grey).abs() < 1e-6);
    }

    #[test]
    fn shadows_on_nothing_are_as_noisy_as_on_white() {
        let transparent =
            Filtered { radiance: vec![0.0; 3 * 64], alpha: vec![0.25; 64], errors: [vec![0.01; 64], Vec::new()] };
        let settings = FrameSettings { width: 8, height: 8, exposure: 0.0, tone_map: ToneMap::None, ..settings() };
        let found = shown_noise(&transparent, &settings)[0] * 3f32.sqrt();
        assert!((found - noise(0.75, 0.01, (0.0, ToneMap::None))).abs() < 1e-6);
    }

    #[test]
    fn what_is_brighter_than_white_has_noise_if_it_is_not_clipped() {
        assert_eq!(noise(3.0, 0.5, (0.0, ToneMap::None)), 0.0);
        for tone_map in [ToneMap::Aces, ToneMap::Agx, ToneMap::PbrNeutral] {
            let [white, bright, brighter] = [0.99, 2.0, 4.0].map(|radiance| noise(radiance, 0.01, (0.0, tone_map)));
            assert!(white > 2.0 * bright && bright > 2.0 * brighter && brighter > 0.0);
        }
    }

    #[test]
    fn tiles_are_measured_by_themselves() {
        let errors = (0..160).map(|pixel| if pixel % 16 < 8 { 0.0 } else { 0.1 }).collect();
        let filtered = Filtered { radiance: vec![0.5; 480], alpha: Vec::new(), errors: [errors, Vec::new()] };
        let found = shown_noise(&filtered, &FrameSettings { width: 16, height: 10, ..settings() });
        assert!(found.len() == 4 && found[0] == 0.0 && found[1] > 0.05 && found[2] == 0.0);
        assert!((found[1] - found[3]).abs() < 1e-6);
    }
}
