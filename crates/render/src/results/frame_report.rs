//! The report of a finished frame.

use crate::sanity;
use std::path::PathBuf;
use throng_device::RayCounts;

/// One finished frame.
#[derive(Clone, Debug, serde::Serialize)]
pub struct FrameReport {
    /// Number of the frame, from 1.
    pub frame: u32,
    /// Path of the frame's file.
    #[serde(serialize_with = "throng_base::files::serialize_lossy")]
    pub path: PathBuf,
    /// Milliseconds of posing: transforms, shapes and trees.
    pub pose_ms: f64,
    /// Milliseconds on the device.
    pub trace_ms: f64,
    /// Milliseconds of encoding and writing.
    pub write_ms: f64,
    /// Rays traced for the frame.
    pub rays: RayCounts,
    /// Number of BLASes that were refitted to their deforming mesh.
    pub refits: u32,
    /// Number of trees built from scratch: the TLAS if anything moved, and BLASes that no longer fit their deforming mesh.
    pub rebuilds: u32,
    /// Greatest ratio of the SAH cost of a deforming mesh's BLAS to its cost when it was built; 0 without deforming meshes.
    pub sah_ratio: f32,
    /// Milliseconds spent on refits and rebuilds of BLASes, summed over meshes. This time is part of `pose_ms`.
    pub follow_ms: f64,
    /// The colour of the picture, if all of its pixels have one colour and the integrator shows radiance.
    pub blank: Option<sanity::Blank>,
    /// Noise before and after denoising; none if the frame was not denoised with its neighbours.
    pub noise: Option<FrameNoise>,
}

/// Noise of a frame: the standard deviation of radiance, averaged over the pixels, as estimated while tracing.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct FrameNoise {
    /// Expected noise of the denoised frame.
    pub left: f64,
    /// Noise of the traced frame.
    pub before: f64,
    /// Samples of the frame, if they were distributed by the noise of the denoised frame.
    #[serde(flatten)]
    pub sampled: Option<Sampled>,
}

/// Sample counts of a frame whose noisy tiles got more samples.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Sampled {
    /// Mean number of samples per pixel.
    pub samples: f64,
    /// Share of pixels, from 0 to 1, that are noisier than the target although they have the maximum number of samples.
    pub noisy: f64,
}

impl FrameNoise {
    /// Averages `errors`, the noise of each pixel after and before denoising. None if the lists are empty.
    pub(crate) fn of(errors: &[Vec<f32>; 2], sampled: Option<Sampled>) -> Option<Self> {
        let mean = |plane: &Vec<f32>| plane.iter().map(|&error| f64::from(error)).sum::<f64>() / plane.len() as f64;
        let [left, before] = errors.each_ref().map(mean);
        (!errors[0].is_empty()).then_some(Self { left, before, sampled })
    }
}
