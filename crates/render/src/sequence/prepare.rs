//! Preparation of a run: the scene on the device, its trees, and measured exposures.

use crate::{Measured, PoseSettings, Poser, RenderError, RenderJob, exposure::Exposures};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};
use throng_device::{Device, Stop};

/// Loads the scene and builds the trees of its meshes in parallel, then measures exposures. None if the run was stopped.
pub(super) fn prepare(
    job: &RenderJob,
    device: &mut dyn Device,
    stop: &AtomicBool,
) -> Result<Option<(Poser, Exposures)>, RenderError> {
    let mut poser = load(job, device)?;
    let known = &mut Measured::default();
    match measure(job, device, (&mut poser, known), &|| stop.load(Ordering::Relaxed)) {
        Ok(exposures) => Ok(Some((poser, exposures))),
        Err(error) if error.is_stop() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The exposures in stops that [`crate::run`] measures for the frames of `job`. Empty if the exposure is fixed.
///
/// # Errors
/// If the device cannot load the scene, or if it fails while it renders a measured picture.
pub fn exposures(job: &RenderJob, device: &mut dyn Device) -> Result<BTreeMap<u32, f32>, RenderError> {
    if job.auto_exposure.is_none() {
        return Ok(BTreeMap::new());
    }
    let mut poser = load(job, device)?;
    Ok(measure(job, device, (&mut poser, &mut Measured::default()), &|| false)?.stops())
}

/// Loads the scene of `job` on the device, and builds the trees of its meshes in parallel.
pub(super) fn load(job: &RenderJob, device: &mut dyn Device) -> Result<Poser, RenderError> {
    let layout = device.node_layout();
    let (loaded, poser) = rayon::join(
        || device.load(job.scene.clone()),
        || Poser::with_trees_from(job.scene.clone(), layout, &job.trees),
    );
    loaded?;
    Ok(poser)
}

/// Configures the poser for `job`, and measures exposures with it.
pub(super) fn measure(
    job: &RenderJob,
    device: &mut dyn Device,
    (poser, known): (&mut Poser, &mut Measured),
    stop: &Stop,
) -> Result<Exposures, RenderError> {
    let settings =
        if device.queue_depth() > 1 { PoseSettings::of_fast(&job.settings) } else { PoseSettings::of(&job.settings) };
    let aovs = settings.aovs.iter().chain(job.output.labels.aovs().iter()).collect();
    poser.configure(PoseSettings {
        aovs,
        labels: !job.output.labels.aovs().is_empty(),
        refit: job.refit,
        views: job.views.clone(),
        placed: job.placed.clone(),
        leaves_tlases: device.builds_tlases(),
        ..settings
    });
    Exposures::measure(job, device, (poser, known), stop)
}
