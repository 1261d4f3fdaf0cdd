//! Speed of tracing while a device renders a frame, compared with queries of the same rays in the same order. Their ratio is the cost of
//! rendering relative to plain queries, independent of the rays.

use super::{Queries, spread::median};
use crate::milliseconds;
use std::{fmt, time::Duration};
use throng_device::{Delivery, Device, DeviceError, FrameSettings, OwnRays, RayCounts, RayKind, Rendered, StageTimes};

/// Times of rendering a frame on an otherwise idle device, as medians over the passes.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RenderReport {
    pub width: u32,
    pub height: u32,
    pub samples: u32,
    pub rays: RayCounts,
    /// Millions of rays per second of the time spent on tracing each kind; none without rays of that kind.
    pub primary_mrays_per_s: Option<f64>,
    pub bounce_mrays_per_s: Option<f64>,
    pub shadow_mrays_per_s: Option<f64>,
    /// Rates of the same rays in queries, one query per kind; none if the device cannot return its rays.
    pub primary_bare_mrays_per_s: Option<f64>,
    pub bounce_bare_mrays_per_s: Option<f64>,
    pub shadow_bare_mrays_per_s: Option<f64>,
    /// Ratios of the rates while rendering to the rates of queries.
    pub primary_ratio: Option<f64>,
    pub bounce_ratio: Option<f64>,
    pub shadow_ratio: Option<f64>,
    pub primary_ms: f64,
    pub bounce_ms: f64,
    pub shadow_ms: f64,
    pub shade_ms: f64,
    pub other_ms: f64,
    /// Device time of the whole frame.
    pub frame_ms: f64,
}

/// Rates of the frame's own rays in queries, in millions per second: primary, bounce, shadow.
type BareRates = [Option<f64>; 3];

/// Renders the frame of the queries once as a warm-up, and then `queries.repeat` times. Frames are rendered one at a time, so that their
/// stages do not overlap. Afterwards, the frame's own rays are traced as queries. None if the device does not time its stages.
pub fn measure(
    device: &mut dyn Device,
    settings: &FrameSettings,
    queries: &mut Queries,
) -> Result<Option<RenderReport>, DeviceError> {
    if !device.has_stages() {
        return Ok(None);
    }
    let mut render = || {
        device.submit(queries.posed.frame.clone(), settings, Delivery::default())?;
        device.collect(&|| false)
    };
    render()?;
    let frames = (0..queries.repeat.max(1)).map(|_| render()).collect::<Result<Vec<_>, _>>()?;
    let bare = match device.own_rays(&queries.posed.frame, settings)? {
        Some(rays) => time_own(device, rays, queries)?,
        None => [None; 3],
    };
    Ok(report(&frames, settings, bare))
}

fn time_own(device: &mut dyn Device, rays: OwnRays, queries: &mut Queries) -> Result<BareRates, DeviceError> {
    let reports = [
        queries.time(device, "own_primary", RayKind::Closest, rays.primary)?,
        queries.time(device, "own_bounce", RayKind::Closest, rays.bounce)?,
        queries.time(device, "own_shadow", RayKind::Any, rays.shadow)?,
    ];
    Ok(reports.map(|report| report.map(|report| report.mrays_per_s)))
}

fn report(frames: &[Rendered], settings: &FrameSettings, bare: BareRates) -> Option<RenderReport> {
    let stages: Vec<StageTimes> = frames.iter().filter_map(|f| f.stages).collect();
    let rays = frames.first()?.rays;
    if stages.len() < frames.len() {
        return None;
    }
    let of = |stage: fn(&StageTimes) -> Duration| middle(stages.iter().map(stage));
    let [primary_ms, bounce_ms, shadow_ms] = [of(|s| s.primary), of(|s| s.bounce), of(|s| s.shadow)];
    let rate = |rays: u64, ms: f64| (rays > 0 && ms > 0.0).then(|| rays as f64 / ms * 1e-3);
    let rates = [rate(rays.primary, primary_ms), rate(rays.bounce, bounce_ms), rate(rays.shadow, shadow_ms)];
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
        primary_bare_mrays_per_s: bare[0],
        bounce_bare_mrays_per_s: bare[1],
        shadow_bare_mrays_per_s: bare[2],
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

/// Median of one or more times, in milliseconds.
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
        let rays = self.rays;
        for (name, rays, rate, bare, ratio) in [
            ("primary", rays.primary, self.primary_mrays_per_s, self.primary_bare_mrays_per_s, self.primary_ratio),
            ("bounce", rays.bounce, self.bounce_mrays_per_s, self.bounce_bare_mrays_per_s, self.bounce_ratio),
            ("shadow", rays.shadow, self.shadow_mrays_per_s, self.shadow_bare_mrays_per_s, self.shadow_ratio),
        ] {
            let Some(rate) = rate else { continue };
            write!(f, "  {name:8} {rate:9.3} Mrays/s, {rays} rays")?;
            if let (Some(bare), Some(ratio)) = (bare, ratio) {
                write!(f, "; these rays as a standalone query: {bare:.3} Mrays/s, ratio {ratio:.3}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Posed, *};
    use std::sync::Arc;
    use throng_abi::Ray;
    use throng_device::fake::{FakeDevice, frame, settings};

    fn rendered(milliseconds: u64, stages: bool) -> Rendered {
        let time = Duration::from_millis(milliseconds);
        Rendered {
            pixels: Vec::new().into(),
            aovs: Vec::new(),
            blocks: None,
            records: None,
            kept: None,
            rays: RayCounts { primary: 4_000_000, bounce: 0, shadow: 1_000_000 },
            time,
            stages: stages.then(|| StageTimes { primary: time / 2, shadow: time / 4, ..StageTimes::default() }),
        }
    }

    #[test]
    fn rates_are_those_of_the_median_frame() {
        let frames = [2, 100, 4].map(|time| rendered(time, true));
        let bare = [Some(2500.0), Some(1000.0), None];
        let found = report(&frames, &settings(), bare).unwrap();
        assert_eq!(found.frame_ms, 4.0);
        assert_eq!((found.primary_ms, found.shadow_ms), (2.0, 1.0));
        assert_eq!(found.primary_mrays_per_s, Some(2000.0));
        assert_eq!(found.primary_ratio, Some(0.8));
        assert_eq!((found.bounce_mrays_per_s, found.bounce_ratio), (None, None));
        assert_eq!((found.shadow_mrays_per_s, found.shadow_ratio), (Some(1000.0), None));
        let text = found.to_string();
        assert!(
            text.contains("primary   2000.000 Mrays/s, 4000000 rays; these rays as a standalone query: 2500.000 Mrays/s, ratio 0.800\n"),
            "{text}"
        );
        assert!(!text.contains("bounce    "), "{text}");
        assert!(text.contains("shadow    1000.000 Mrays/s, 1000000 rays\n"), "{text}");
    }

    #[test]
    fn a_frames_own_rays_are_traced_as_bare_queries() {
        let mut device = FakeDevice::new(1);
        device.stages = Some(StageTimes { primary: Duration::from_micros(4), ..StageTimes::default() });
        device.own_rays = Some(OwnRays {
            primary: vec![Ray::default(); 500],
            bounce: Vec::new(),
            shadow: vec![Ray::default(); 2000],
        });
        let posed = Posed {
            frame: frame(1),
            scene: Arc::default(),
            shown: Arc::default(),
            blas_build_ms: 0.0,
            tlas_build_ms: 0.0,
        };
        let mut queries = Queries { posed: &posed, repeat: 3, explain: false, dumped: true, traced: Vec::new() };
        let found = measure(&mut device, &settings(), &mut queries).unwrap().unwrap();
        // The frame has one ray, and a query takes a millisecond.
        assert_eq!(found.primary_mrays_per_s, Some(0.25));
        let bare = [found.primary_bare_mrays_per_s, found.bounce_bare_mrays_per_s, found.shadow_bare_mrays_per_s];
        assert_eq!(bare, [Some(0.5), None, Some(2.0)]);
        assert_eq!((found.primary_ratio, found.shadow_ratio), (Some(0.5), None));
        let dumped: Vec<_> = queries.traced.iter().map(|t| (t.0, t.1.len())).collect();
        assert_eq!(dumped, [("own_primary", 500), ("own_shadow", 2000)]);
    }

    #[test]
    fn without_stages_there_is_nothing_to_tell() {
        let frames = [rendered(1, true), rendered(1, false)];
        assert!(report(&frames, &settings(), [None; 3]).is_none());
    }
}
