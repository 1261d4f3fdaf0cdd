//! Warnings before a render about scenes that are valid but probably show nothing, or not the intended picture. Uncertain cases give no
//! warning.

mod blank;
mod ground;
mod turns;
mod view;
mod whitted;

pub use blank::{Blank, blank};

use throng_device::FrameSettings;
use throng_scene::{Integrator, Light, LightSource, Scene, Shows};

/// Maximum number of materials that a warning names.
const NAMED: usize = 3;

/// Warnings about pictures of `frames` with these settings, one line each.
pub fn warnings(scene: &Scene, settings: &FrameSettings, frames: &[u32]) -> Vec<String> {
    let mut warnings = Vec::new();
    if settings.integrator.shows() == Shows::Radiance {
        warnings.extend(about_light(scene));
    }
    if settings.integrator == Integrator::Whitted {
        warnings.extend(whitted::warnings(scene));
    }
    if settings.integrator == Integrator::Path {
        warnings.extend(about_fog(scene));
    }
    let aspect = settings.width as f32 / settings.height as f32;
    warnings.extend(view::warning(scene, aspect, &some_of(frames), frames));
    warnings.extend(turns::warning(scene, frames));
    warnings
}

/// The first, the middle and the last frame, each once.
fn some_of(frames: &[u32]) -> Vec<u32> {
    let mut some = Vec::new();
    for index in [0, frames.len() / 2, frames.len().saturating_sub(1)] {
        some.extend(frames.get(index).filter(|frame| !some.contains(*frame)));
    }
    some
}

fn about_light(scene: &Scene) -> Option<String> {
    (scene.light_source() == LightSource::Nothing).then(|| {
        "there is no light: no lights, a black environment, and no emissive material; add `environment` or `lights`"
            .into()
    })
}

/// Warns about homogeneous fog without bounds, which absorbs all light from infinitely far away.
fn about_fog(scene: &Scene) -> Option<String> {
    let is_sun = |light: &Light| matches!(light, Light::Sun { .. });
    let is_lost = scene.environment.shines() || scene.lights.iter().any(is_sun);
    let warning =
        "uniform fog without an end blocks all light of the environment and of suns; give it a `height` or a `top`";
    (is_lost && scene.fog.is_some_and(|fog| fog.hides_the_sky())).then(|| warning.into())
}

/// The names of some materials, joined for a sentence.
fn named(scene: &Scene, rows: Vec<usize>) -> String {
    let names = rows.iter().take(NAMED).map(|&row| format!("`{}`", scene.material_name(row)));
    let names: Vec<String> = names.collect();
    let names = names.join(", ");
    match rows.len().saturating_sub(NAMED) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_the_middle_and_the_last_frame_are_looked_at() {
        assert!(some_of(&[]).is_empty());
        assert_eq!(some_of(&[7]), [7]);
        assert_eq!(some_of(&[1, 2]), [1, 2]);
        assert_eq!(some_of(&[1, 2, 3, 4, 5]), [1, 3, 5]);
    }
}
