//! Preparation of a run: the scene on the device, its trees, and measured exposures.

use super::{Measured, Poser, RenderError, RenderJob, exposure::Exposures};
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Applies the settings of `job` to a poser.
fn fit_poser(job: &RenderJob, poser: &mut Poser) {
    poser.set_policy(job.refit);
    poser.set_shutter(job.settings.shutter);
    poser.set_aovs(job.settings.aovs);
    poser.set_integrator(job.settings.integrator);
    poser.set_close_to_camera(true);
}

/// Applies the settings of `job` to the poser, and measures exposures with it.
pub(super) fn measure(
    job: &RenderJob,
    device: &mut dyn Device,
    (poser, known): (&mut Poser, &mut Measured),
    stop: &Stop,
) -> Result<Exposures, RenderError> {
    fit_poser(job, poser);
    if device.queue_depth() > 1 {
        poser.choose_care(&job.settings);
    }
    Exposures::measure(job, device, (poser, known), stop)
}
