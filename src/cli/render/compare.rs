//! `--compare`: runs one job on several devices and fails if their results differ.

use super::report::Reporter;
use crate::cli::{
    Exit,
    args::{DeviceArgs, warn_of_trees},
    progress::{Event, Progress},
};
use std::sync::atomic::AtomicBool;
use throng_device::Device;
use throng_render::{
    RenderJob,
    compare::{Comparison, LIMIT, PictureDifference, compare_frames},
    measure::RayDifference,
};

#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error("--compare needs at least two devices, for example --device cpu,cpu")]
    OneDevice,
    #[error(
        "{device} disagrees with {first}: {:.2} % of the {things} differ, and at most {:.0} % may",
        100.0 * .share,
        100.0 * LIMIT
    )]
    Disagree { first: String, device: String, share: f64, things: &'static str },
}

/// Opens all devices of `--device`. There must be several.
pub fn open(args: &DeviceArgs, tell: impl Fn(&str)) -> anyhow::Result<Vec<Box<dyn Device>>> {
    let devices = args.open_all(false, tell)?;
    match devices.len() {
        0 | 1 => Err(CompareError::OneDevice.into()),
        _ => Ok(devices),
    }
}

pub fn names(devices: &[Box<dyn Device>]) -> Vec<String> {
    devices.iter().map(|device| device.describe()).collect()
}

/// Compares frames. Reports the differences of each frame, and of all frames together.
pub fn frames(
    job: &RenderJob,
    devices: &mut [Box<dyn Device>],
    write: bool,
    (progress, reporter): (&Progress, &mut Reporter),
    stop: &AtomicBool,
) -> anyhow::Result<Exit> {
    let names = names(devices);
    reporter.started(&names.join(", "));
    progress.begin(None);
    let mut watch = |frame: u32, found: &[PictureDifference]| {
        progress.advance();
        for (device, found) in names[1..].iter().zip(found) {
            progress.event(&Event::difference(frame, device, found));
            progress.summary(&format!("frame {frame}: {device}: {}", describe(found)));
        }
    };
    let comparison = compare_frames(job, devices, write, &mut watch, stop);
    progress.finish();
    warn_of_trees(&job.trees, |line| progress.note(line));
    conclude(&names, &comparison?, progress)
}

fn conclude(names: &[String], found: &Comparison, progress: &Progress) -> anyhow::Result<Exit> {
    let (first, others) = names.split_first().ok_or(CompareError::OneDevice)?;
    for (device, overall) in others.iter().zip(&found.overall) {
        progress.event(&Event::compared(found.frames, device, overall));
        let (frames, difference) = (found.frames, describe(overall));
        progress.summary(&format!("{device} against {first}, frames: {frames}: {difference}"));
    }
    if found.stopped {
        return Ok(Exit::Stopped);
    }
    let shares = others.iter().zip(found.overall.iter().map(|d| d.share()));
    check(first, shares, "pixels")
}

/// Fails if the hits of any device differ too much.
pub fn rays(first: &str, differences: &[RayDifference]) -> anyhow::Result<Exit> {
    let shares = differences.iter().map(|d| (&d.device, d.share));
    check(first, shares, "rays")
}

fn check<'a>(
    first: &str,
    mut shares: impl Iterator<Item = (&'a String, f64)>,
    things: &'static str,
) -> anyhow::Result<Exit> {
    match shares.find(|&(_, share)| share > LIMIT) {
        None => Ok(Exit::Done),
        Some((device, share)) => {
            Err(CompareError::Disagree { first: first.into(), device: device.clone(), share, things }.into())
        }
    }
}

fn describe(found: &PictureDifference) -> String {
    format!(
        "{:.4} % of pixels differ (greatest difference {:.4}, mean {:.6})",
        100.0 * found.share(),
        found.max(),
        found.mean()
    )
}
