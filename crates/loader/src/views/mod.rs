//! Cameras as data: views that replace the cameras of a scene, one per frame.
//!
//! `cameras` reads a file of any kind: `transforms` (nerfstudio, instant-ngp, Blender), `list` (matrices, and views as TRELLIS samples them),
//! `colmap` or `gltf`. `json` has what the first two share. `pose` checks places and directions, `calibration` focal lengths, and `folds`
//! that there is a ray for every pixel. `pattern` spreads views around the scene.

mod calibration;
mod cameras;
mod colmap;
mod folds;
mod gltf;
mod json;
mod list;
mod pattern;
mod pose;
#[cfg(test)]
mod tests;
mod transforms;

use super::{
    LoadError, framing,
    options::{ViewOptions, WorldUp},
};
use calibration::OwnOptics;
use cameras::{Cameras, Seen};
use glam::Vec3;
use std::{path::Path, sync::Arc};
use throng_base::math::Aabb;
use throng_scene::{Optics, Projection, Scene, View, Views};

/// Difference of the aspect ratios of a picture and of a file above which a warning says that pixels are not square. Sizes are rounded to whole
/// pixels.
const ASPECT_TOLERANCE: f32 = 0.005;

/// Replaces the cameras of `scene` by the views of a file or of a pattern, if `options` have one. There are then as many frames as views. `size`
/// is the size of the pictures, if the user has chosen it; otherwise that of the file counts.
///
/// # Errors
/// If the file cannot be read or is invalid, or if other options do not go together with the views.
pub fn apply(scene: &mut Scene, options: &ViewOptions, size: Option<(u32, u32)>) -> Result<(), LoadError> {
    let views = match (&options.cameras, &options.views) {
        (None, None) => return Ok(()),
        (Some(_), Some(_)) => {
            return Err(LoadError::flag("--views", "the views come from --cameras: leave one of the two out"));
        }
        _ if options.eye.is_some() => {
            return Err(LoadError::flag("--eye", "the views come from --cameras or --views: leave one of the two out"));
        }
        (Some(path), None) => of_file(scene, options, path, size)?,
        (None, Some(pattern)) => pattern::views(scene, pattern, &options.lens, aspect(picture_size(scene, size)))?,
    };
    scene.settings.frames = views.len() as u32;
    scene.views = Views::new(views).map(Arc::new);
    Ok(())
}

fn picture_size(scene: &Scene, size: Option<(u32, u32)>) -> (u32, u32) {
    size.unwrap_or((scene.settings.width, scene.settings.height))
}

fn aspect((width, height): (u32, u32)) -> f32 {
    width as f32 / height as f32
}

/// The middle of a scene's subject; the origin if nothing is there.
fn middle(bounds: &Aabb) -> Vec3 {
    if bounds.is_empty() { Vec3::ZERO } else { bounds.center() }
}

/// The views of the file at `path`. Sets the size of the pictures and adds warnings.
fn of_file(
    scene: &mut Scene,
    options: &ViewOptions,
    path: &Path,
    size: Option<(u32, u32)>,
) -> Result<Vec<View>, LoadError> {
    let Cameras { what, list, size: own_size, warnings, notes } = cameras::read(path)?;
    check_flags(options, &list)?;
    if let Some([width, height]) = own_size.filter(|_| size.is_none()) {
        (scene.settings.width, scene.settings.height) = (width, height);
    }
    let (width, height) = picture_size(scene, size);
    folds::check(path, what, &list, (width, height))?;
    if let Some([own_width, own_height]) = own_size {
        let calibrated = |seen: &Seen| matches!(seen.optics, OwnOptics::Given(Optics::Calibrated(_)));
        let ratio = aspect((width, height)) / aspect((own_width, own_height));
        if (ratio - 1.0).abs() > ASPECT_TOLERANCE && list.iter().any(calibrated) {
            scene.doubts.push(format!(
                "{}: its cameras are for pictures of {own_width}x{own_height}; at {width}x{height} pixels are not square, and everything \
                 is stretched: choose a --size with their aspect ratio",
                path.display()
            ));
        }
    }
    scene.warnings.extend(warnings);
    scene.notes.extend(notes);
    let center = middle(&framing::subject_bounds(scene));
    let times = times(scene, list.len());
    let turned = options.cameras_up == Some(WorldUp::Z);
    let view = |(index, seen): (usize, Seen)| {
        let pose = if turned && !seen.has_y_up { seen.pose.upright() } else { seen.pose };
        let eye = pose.eye.as_vec3();
        let ahead = (eye - center).dot(pose.axes.z_axis.as_vec3());
        // A view that does not show the subject still needs some distance.
        let distance = [ahead, eye.distance(center)].into_iter().find(|distance| *distance > 0.0).unwrap_or(1.0);
        View {
            name: seen.name,
            eye,
            axes: pose.axes.as_mat3(),
            optics: optics(seen.optics, aspect((width, height))),
            distance,
            time: seen.time.unwrap_or_else(|| times(index)),
        }
    };
    Ok(list.into_iter().enumerate().map(view).collect())
}

/// Refuses flags for the optics of the scene's camera if every view has its own.
fn check_flags(options: &ViewOptions, list: &[Seen]) -> Result<(), LoadError> {
    if list.iter().any(|seen| matches!(seen.optics, OwnOptics::Scene)) {
        return Ok(());
    }
    let lens = &options.lens;
    let flags = [
        ("--fov", options.fov.is_some()),
        ("--projection", lens.projection.is_some()),
        ("--shift", lens.shift.is_some()),
    ];
    match flags.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(LoadError::flag(flag, "the cameras of --cameras have their own optics: leave it out")),
        None => Ok(()),
    }
}

/// The times of views whose file has none. All show the first moment, unless the scene is animated and has as many frames as there are views.
fn times(scene: &Scene, count: usize) -> impl Fn(usize) -> f64 + use<> {
    let settings = scene.settings.clone();
    let moves = scene.is_animated() || !scene.animated.is_empty() || scene.timeline.is_some();
    let frame_by_frame = moves && settings.frames as usize == count;
    move |index| settings.start + if frame_by_frame { settings.rate().seconds(index as u32) } else { 0.0 }
}

/// The optics of a view in pictures with this aspect ratio. None for those of the scene's camera.
fn optics(own: OwnOptics, aspect: f32) -> Option<Optics> {
    match own {
        OwnOptics::Scene => None,
        OwnOptics::Across(angle) => {
            let fov_y = 2.0 * ((0.5 * angle).tan() / f64::from(aspect)).atan();
            Some(Optics::Plain(Projection::Perspective { fov_y: fov_y as f32 }))
        }
        OwnOptics::Given(optics) => Some(optics),
    }
}
