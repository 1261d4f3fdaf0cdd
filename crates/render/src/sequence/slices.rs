//! A frame that is traced in slices of a few samples, between which it can be shown, kept or stopped.

use super::{keeper::Keeper, window::Traced};
use crate::{RenderError, RenderJob, posing::pose::Posed};
use std::time::{Duration, Instant};
use throng_device::{Delivery, Device, DeviceError, Frame, FrameSettings, RayCounts, Rendered, Samples, Stop};

/// Target duration of one device call. Signals are handled between calls.
const SLICE: Duration = Duration::from_millis(500);
/// Greatest factor by which the number of samples per call grows from one call to the next.
const MOST_GROWTH: u32 = 16;
/// Time between two checkpoints.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(60);

/// Traces a frame, continuing from its checkpoint. If it is stopped, its samples are put aside.
///
/// # Errors
/// If the device fails or is stopped, or if a checkpoint or partial picture cannot be read or written.
pub fn trace(
    job: &RenderJob,
    keeper: &Keeper,
    device: &mut dyn Device,
    posed: Posed,
    stop: &Stop,
) -> Result<Traced, RenderError> {
    let settings = &keeper.settings();
    let delivery = Delivery { layer_sums: keeper.ongoing.part.is_some(), ..job.delivery };
    let failed = |source| RenderError::Device { frame: keeper.frame, source };
    let mut film = Samples::from(keeper.begin(settings)?);
    let begun = film.state().samples;
    // Copy of the film before the current call. A device that is stopped leaves its film in an undefined state.
    let mut kept = Samples::default();
    let mut pace = Pace::default();
    let (mut rays, mut time) = (RayCounts::default(), Duration::ZERO);
    let (mut put_aside, mut shown) = (Instant::now(), Instant::now());
    let mut rendered = loop {
        if keeper.keeps() {
            device.download(&mut film).map_err(failed)?;
            kept.clone_from(&film);
        }
        if stop() {
            keeper.put_aside(&kept)?;
            return Err(failed(DeviceError::Stopped));
        }
        if put_aside.elapsed() >= CHECKPOINT_INTERVAL {
            keeper.put_aside(&kept)?;
            put_aside = Instant::now();
        }
        let until = pace.next(film.state().samples, settings.samples);
        let rendered = device.add_samples(&posed.frame, settings, delivery, &mut film, until, stop);
        if matches!(rendered, Err(DeviceError::Stopped)) {
            keeper.put_aside(&kept)?;
        }
        let rendered = rendered.map_err(failed)?;
        pace.took(rendered.time);
        rays += rendered.rays;
        time += rendered.time;
        if film.is_done(settings) {
            break rendered;
        }
        if keeper.is_asked(shown) {
            let rendered =
                if settings.transparent { with_alpha(&posed.frame, settings, &mut film, device)? } else { rendered };
            keeper.show(job, settings, rendered)?;
            shown = Instant::now();
        }
    };
    (rendered.rays, rendered.time) = (rays, time);
    if keeper.keeps() && (film.state().samples > begun || keeper.ongoing.part.is_some()) {
        device.download(&mut film).map_err(failed)?;
        keeper.put_aside(&film)?;
    }
    let Posed { time: pose_time, trees, .. } = posed;
    let (number, settings) = (keeper.frame, settings.clone());
    Ok(Traced { number, settings, rendered, pose_time, trees, begun: None, labels: None })
}

/// Computes the alpha of the unfinished picture, which takes an extra device call.
fn with_alpha(
    frame: &Frame,
    settings: &FrameSettings,
    film: &mut Samples,
    device: &mut dyn Device,
) -> Result<Rendered, RenderError> {
    let delivery = Delivery { unfinished_aovs: true, ..Delivery::default() };
    let until = film.state().samples;
    let rendered = device.add_samples(frame, settings, delivery, film, until, &|| false);
    rendered.map_err(|source| RenderError::Device { frame: frame.number, source })
}

/// Adapts the number of samples per call, so that each call takes about [`SLICE`].
struct Pace {
    samples: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { samples: 1 }
    }
}

impl Pace {
    /// Sample count at which the next call ends. A film that has more than `all` samples stays unchanged.
    fn next(&self, done: u32, all: u32) -> u32 {
        done.saturating_add(self.samples).min(all).max(done)
    }

    fn took(&mut self, time: Duration) {
        if time < SLICE / 2 {
            // Each call has a fixed cost, which matters most on fast devices: calls soon reach their target duration.
            let times = (SLICE.as_nanos() / time.as_nanos().max(1)).clamp(2, MOST_GROWTH.into());
            self.samples = self.samples.saturating_mul(times as u32);
        } else if time > SLICE * 2 {
            self.samples = (self.samples / 2).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_grow_while_they_are_quick_and_never_go_beyond_the_end() {
        let mut pace = Pace::default();
        assert_eq!(pace.next(0, 100), 1);
        pace.took(Duration::from_millis(200));
        assert_eq!(pace.next(1, 100), 3);
        pace.took(Duration::from_millis(1));
        assert_eq!(pace.next(1, 100), 33);
        assert_eq!(pace.next(99, 100), 100);
        assert_eq!(pace.next(256, 100), 256);
        pace.took(Duration::from_secs(9));
        assert_eq!(pace.next(1, 100), 17);
    }
}
