//! Tracing of labels: one ray through the middle of each pixel, at the frame's own time and without a lens.

use super::maps::Labelled;
use crate::RenderJob;
use throng_device::{Frame, FrameSettings};
use throng_picture::{film::FilmSettings, pixels::PixelType};
use throng_scene::{Integrator, PixelFilter};

/// The settings of a picture of labels, given the settings of the frame's own picture.
pub fn settings(job: &RenderJob, own: &FrameSettings) -> FrameSettings {
    FrameSettings {
        samples: 1,
        bounces: 0,
        // The cheapest picture, which nobody sees.
        integrator: Integrator::Normal,
        noise: None,
        open_ended: false,
        pixels: PixelType::U8,
        display_only: true,
        transparent: false,
        fades_shadows: false,
        wireframe: None,
        aovs: job.output.labels.aovs(),
        numbered: true,
        shutter: None,
        film: FilmSettings { filter: PixelFilter::Box, filter_width: Some(0.0), ..FilmSettings::default() },
        ..own.clone()
    }
}

/// The frame as labels show it. `frame` must show a single moment.
pub fn frame(frame: Frame) -> Frame {
    let mut frame = frame;
    frame.camera.lens = None;
    frame
}

/// The labels in the result of a device.
pub fn labelled(rendered: throng_device::Rendered) -> Labelled {
    Labelled::of(rendered.aovs)
}
