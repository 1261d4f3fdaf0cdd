//! Utilisation of the three stages, to show which of them limits a run.

use crate::FrameReport;
use std::{fmt, time::Duration};

/// Time that each stage spent working, and wall-clock time of the frame loop.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Busy {
    /// Wall-clock time from the first pose to the last rename.
    pub elapsed: Duration,
    /// Milliseconds, summed over all posers. Includes the time that a poser waits for threads on which a CPU device traces.
    pub pose_ms: f64,
    /// Milliseconds, summed over all devices.
    pub device_ms: f64,
    /// Milliseconds, summed over all writing threads.
    pub write_ms: f64,
    /// Number of posers.
    pub posers: usize,
    /// Number of devices.
    pub devices: usize,
    /// Number of writing threads.
    pub writers: usize,
}

/// Share of the wall-clock time that each stage spent working, from 0 to 1. The stage closest to 1 limits the run.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct BusyShares {
    /// Average over the posers.
    pub pose: f64,
    /// Average over the devices.
    pub device: f64,
    /// Average over the writers.
    pub write: f64,
    /// Number of writing threads.
    pub writers: usize,
}

impl Busy {
    pub(super) fn of(posers: usize, devices: usize, writers: usize) -> Self {
        Self { posers, devices, writers, ..Self::default() }
    }

    pub(crate) fn add(&mut self, report: &FrameReport) {
        self.pose_ms += report.pose_ms;
        self.device_ms += report.trace_ms;
        self.write_ms += report.write_ms;
    }

    /// Computes the share of each stage, averaged over its workers. All shares are 0 for a run without frames.
    pub fn shares(&self) -> BusyShares {
        let elapsed = self.elapsed.as_secs_f64() * 1e3;
        let share = |work: f64, workers: usize| match elapsed * workers as f64 {
            available if available > 0.0 => work / available,
            _ => 0.0,
        };
        BusyShares {
            pose: share(self.pose_ms, self.posers),
            device: share(self.device_ms, self.devices),
            write: share(self.write_ms, self.writers),
            writers: self.writers,
        }
    }
}

/// Formats the shares like "busy: pose 12 %, device 91 %, write 34 % of 16 threads".
impl fmt::Display for BusyShares {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let (pose, device, write) = (percent(self.pose), percent(self.device), percent(self.write));
        let threads = match self.writers {
            1 => "thread",
            _ => "threads",
        };
        write!(f, "busy: pose {pose}, device {device}, write {write} of {} {threads}", self.writers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_per_worker() {
        let busy = Busy {
            posers: 1,
            elapsed: Duration::from_millis(100),
            pose_ms: 12.0,
            device_ms: 182.0,
            write_ms: 544.0,
            devices: 2,
            writers: 16,
        };
        assert_eq!(busy.shares().to_string(), "busy: pose 12 %, device 91 %, write 34 % of 16 threads");
    }

    #[test]
    fn no_work_is_no_share() {
        let shares = Busy::default().shares();
        assert_eq!((shares.pose, shares.device, shares.write), (0.0, 0.0, 0.0));
    }
}
