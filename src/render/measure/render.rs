//! How fast a device traces the rays of its own frames: those that its scheduling gathers, in the order that shading leaves
//! them in, as opposed to the bench's bare lists of rays.

use super::{Posed, median};
use crate::{
    device::{Device, DeviceError, FrameSettings, RayCounts, Rendered, StageTimes},
    render::milliseconds,
};
use std::{fmt, time::Duration};

/// What rendering a frame, and nothing else meanwhile, took: medians over the passes.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RenderReport {
    pub width: u32,
    pub height: u32,
    pub samples: u32,
    pub rays: RayCounts,
    /// Millions of rays per second of the time that tracing that kind took; none without such rays.
    pub primary_mrays_per_s: Option<f64>,
    pub bounce_mrays_per_s: Option<f64>,
    pub shadow_mrays_per_s: Option<f64>,
    /// These rates as multiples of those of bare rays of the kind.
    pub primary_ratio: Option<f64>,
    pub bounce_ratio: Option<f64>,
    pub shadow_ratio: Option<f64>,
    pub primary_ms: f64,
    pub bounce_ms: f64,
    pub shadow_ms: f64,
    pub shade_ms: f64,
    pub other_ms: f64,
    /// The device's time for the frame.
    pub frame_ms: f64,
}

/// Millions of bare rays per second: primary, bounce, shadow.
pub type BareRates = [Option<f64>; 3];

/// Renders the posed frame once to warm up and then `repeat` times, one at a time: where frames overlap, so do their stages.
/// None if the device does not tell stages apart.
pub fn measure(
    device: &mut dyn Device,
    posed: &Posed,
    settings: &FrameSettings,
    repeat: u32,
    bare: BareRates,
) -> Result<Option<RenderReport>, DeviceError> {
    if !device.has_stages() {
        return Ok(None);
    }
    let mut render = || {
        device.submit(posed.frame.clone(), settings)?;
        device.collect(&|| false)
    };
    render()?;
    let frames = (0..repeat.max(1))
        .map(|_| render())
        .collect::<Result<Vec<_>, _>>()?;
    Ok(report(&frames, settings, bare))
}

fn report(frames: &[Rendered], settings: &FrameSettings, bare: BareRates) -> Option<RenderReport> {
    let stages: Vec<StageTimes> = frames.iter().filter_map(|f| f.stages).collect();
    let rays = frames.first()?.rays;
    if stages.len() < frames.len() {
        return None;
    }
    let of = |stage: fn(&StageTimes) -> Duration| middle(stages.iter().map(stage));
    let [primary_ms, bounce_ms, shadow_ms] =
        [of(|s| s.primary), of(|s| s.bounce), of(|s| s.shadow)];
    let rate = |rays: u64, ms: f64| (rays > 0 && ms > 0.0).then(|| rays as f64 / ms * 1e-3);
    let rates = [
        rate(rays.primary, primary_ms),
        rate(rays.bounce, bounce_ms),
        rate(rays.shadow, shadow_ms),
    ];
    let ratio = |kind: usize| {
        let bare = bare[kind].filter(|&rate| rate > 0.0)?;
        Some(rates[kind]? / bare)
    };
    Some(RenderReport {
        width: settings.width,
        height: settings.height,
        samples: settings.samples,
        rays,
        primary_mrays_per_s: rates[0],
        bounce_mrays_per_s: rates[1],
        shadow_mrays_per_s: rates[2],
        primary_ratio: ratio(0),
        bounce_ratio: ratio(1),
        shadow_ratio: ratio(2),
        primary_ms,
        bounce_ms,
        shadow_ms,
        shade_ms: of(|s| s.shade),
        other_ms: of(|s| s.other),
        frame_ms: middle(frames.iter().map(|f| f.time)),
    })
}

/// Median in milliseconds; there is at least one.
fn middle(times: impl Iterator<Item = Duration>) -> f64 {
    let mut times: Vec<f64> = times.map(milliseconds).collect();
    times.sort_by(f64::total_cmp);
    median(&times)
}

impl fmt::Display for RenderReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "render   {}x{}, {} samples: {:.3} ms (primary {:.3}, bounce {:.3}, shadow {:.3}, shading {:.3}, other {:.3})",
            self.width,
            self.height,
            self.samples,
            self.frame_ms,
            self.primary_ms,
            self.bounce_ms,
            self.shadow_ms,
            self.shade_ms,
            self.other_ms
        )?;
        let RayCounts {
            primary,
            bounce,
            shadow,
        } = self.rays;
        for (name, rate, ratio, rays) in [
            (
                "primary",
                self.primary_mrays_per_s,
                self.primary_ratio,
                primary,
            ),
            ("bounce", self.bounce_mrays_per_s, self.bounce_ratio, bounce),
            ("shadow", self.shadow_mrays_per_s, self.shadow_ratio, shadow),
        ] {
            let Some(rate) = rate else { continue };
            write!(f, "  {name:8} {rate:9.3} Mrays/s, {rays} rays")?;
            if let Some(ratio) = ratio {
                write!(f, ", {ratio:.3} times the bare rays' rate")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::fake::settings;

    fn rendered(milliseconds: u64, stages: bool) -> Rendered {
        let time = Duration::from_millis(milliseconds);
        Rendered {
            pixels: Vec::new(),
            rays: RayCounts {
                primary: 4_000_000,
                bounce: 0,
                shadow: 1_000_000,
            },
            time,
            stages: stages.then(|| StageTimes {
                primary: time / 2,
                shadow: time / 4,
                ..StageTimes::default()
            }),
        }
    }

    #[test]
    fn rates_are_those_of_the_median_frame() {
        let frames = [2, 100, 4].map(|time| rendered(time, true));
        let bare = [Some(1000.0), Some(1000.0), None];
        let found = report(&frames, &settings(), bare).unwrap();
        assert_eq!(found.frame_ms, 4.0);
        assert_eq!((found.primary_ms, found.shadow_ms), (2.0, 1.0));
        assert_eq!(found.primary_mrays_per_s, Some(2000.0));
        assert_eq!(found.primary_ratio, Some(2.0));
        assert_eq!((found.bounce_mrays_per_s, found.bounce_ratio), (None, None));
        assert_eq!(
            (found.shadow_mrays_per_s, found.shadow_ratio),
            (Some(1000.0), None)
        );
        let text = found.to_string();
        assert!(
            text.contains("primary   2000.000 Mrays/s, 4000000 rays, 2.000 times"),
            "{text}"
        );
        assert!(!text.contains("bounce    "), "{text}");
    }

    #[test]
    fn without_stages_there_is_nothing_to_tell() {
        let frames = [rendered(1, true), rendered(1, false)];
        assert!(report(&frames, &settings(), [None; 3]).is_none());
    }
}
