//! `points.ply`: points on the surfaces that the views show, with normals and colours, from which Gaussian splatting starts.

use super::pass;
use crate::{PoseSettings, Poser, RenderError, RenderJob};
use std::path::Path;
use throng_base::math::srgb_from_linear;
use throng_device::{Delivery, Device, FrameSettings, Rendered, Stop};
use throng_output::write_atomically;
use throng_picture::aov::{Aov, AovSet};

/// Number of pixels that all views together are traced with. Those that hit something become points.
const PIXELS: usize = 100_000;
/// Greatest number of views, taken evenly from all.
const VIEWS: usize = 200;
/// Bytes of a point in the file.
const POINT_BYTES: usize = 27;

/// Traces small pictures of the frames `asked` and writes the file. The points do not depend on which of the frames exist already.
///
/// # Errors
/// If the device fails or is stopped, or if the file cannot be written.
pub fn write(
    job: &RenderJob,
    (path, asked): (&Path, &[u32]),
    device: &mut dyn Device,
    stop: &Stop,
) -> Result<(), RenderError> {
    device.load(job.scene.clone())?;
    let mut poser = Poser::with_trees_from(job.scene.clone(), device.node_layout(), &job.trees);
    let views: Vec<u32> = asked.iter().copied().step_by(asked.len().div_ceil(VIEWS).max(1)).collect();
    let settings = settings(job, views.len());
    poser.configure(PoseSettings {
        views: job.views.clone(),
        placed: job.placed.clone(),
        refit: job.refit,
        labels: true,
        ..PoseSettings::of(&settings)
    });
    let mut points = Vec::new();
    for frame in views {
        let Some(posed) = poser.pose(frame).labels else { continue };
        let traced = device.submit(posed, &settings, Delivery::default()).and_then(|()| device.collect(stop));
        add_points(&mut points, &traced.map_err(|source| RenderError::Device { frame, source })?);
    }
    write_atomically(path, |file| {
        file.write_all(header(points.len() / POINT_BYTES).as_bytes())?;
        file.write_all(&points)
    })?;
    Ok(())
}

/// The settings of small pictures of `views` views with the aspect ratio of the job.
fn settings(job: &RenderJob, views: usize) -> FrameSettings {
    let (width, height) = (f64::from(job.settings.width), f64::from(job.settings.height));
    let scale = (PIXELS as f64 / (views.max(1) as f64 * width * height)).sqrt().min(1.0);
    let side = |side: f64| (side * scale).round().max(1.0) as u32;
    FrameSettings {
        width: side(width),
        height: side(height),
        region: None,
        aovs: AovSet::from_iter([Aov::Albedo, Aov::Normal, Aov::Position]),
        ..pass::settings(job, &job.settings)
    }
}

/// Adds a point for each pixel with a surface. Shadow catchers, whose normals are 0, are invisible.
fn add_points(points: &mut Vec<u8>, traced: &Rendered) {
    let values = |aov: Aov| {
        let found = traced.aovs.iter().find(|image| image.aov == aov);
        found.map_or(&[][..], |image| image.values.as_chunks::<3>().0)
    };
    let (positions, normals, colors) = (values(Aov::Position), values(Aov::Normal), values(Aov::Albedo));
    for ((position, normal), color) in positions.iter().zip(normals).zip(colors).filter(|((_, n), _)| **n != [0.0; 3]) {
        points.extend([*position, *normal].as_flattened().iter().flat_map(|value| value.to_le_bytes()));
        points.extend(color.map(srgb));
    }
}

/// A linear value as 8-bit sRGB.
fn srgb(linear: f32) -> u8 {
    (srgb_from_linear(linear) * 255.0).round() as u8
}

fn header(count: usize) -> String {
    let mut text = format!("ply\nformat binary_little_endian 1.0\nelement vertex {count}\n");
    for (kind, names) in
        [("float", ["x", "y", "z"]), ("float", ["nx", "ny", "nz"]), ("uchar", ["red", "green", "blue"])]
    {
        names.iter().for_each(|name| text += &format!("property {kind} {name}\n"));
    }
    text + "end_header\n"
}
