//! Flow control for one page: limits the number of unacknowledged pictures, and adapts their size and quality to the connection.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};
use throng_preview::{Limits, PictureKind};

/// Maximum number of unacknowledged pictures.
const MOST_UNDER_WAY: usize = 2;
/// Seconds above the shortest delay: moving pictures get smaller above `LATE`, and may grow below `EARLY`.
const LATE: f64 = 0.12;
const EARLY: f64 = 0.06;
/// Size of a moving picture in bytes: the initial limit, and the range of the limit.
const FIRST_BYTES: f64 = 150e3;
const BYTES: (f64, f64) = (3e3, 2e6);
/// Minimum size in bytes of a picture that is used to estimate the throughput.
const LARGE: usize = 20_000;
/// Seconds that the transfer of a still picture and of a lossless picture may take.
const STILL: f64 = 0.3;
const FINISHED: f64 = 1.0;
/// Typical size of a PNG in bytes per pixel.
const PNG_DENSITY: f64 = 2.2;
/// Best and worst JPEG quality of moving and of still pictures.
const MOVING_QUALITY: (u8, u8) = (80, 35);
const STILL_QUALITY: (u8, u8) = (93, 50);
/// Quality at which more pixels improve a moving picture more than a higher quality.
const GOOD: u8 = 60;
/// Time over which the picture rate is measured, and time after which the shortest delay is measured again.
const COUNTED: Duration = Duration::from_secs(1);
const REMEMBERED: Duration = Duration::from_secs(10);

/// A picture that was sent and is not acknowledged yet.
struct UnderWay {
    number: u32,
    kind: PictureKind,
    bytes: usize,
    sent: Instant,
    /// Whether no other picture was unacknowledged when it was sent.
    alone: bool,
}

/// Flow control state of one page. The throughput of a connection is not known in advance, only the delay of each picture: a delay far
/// above the shortest one means that too many bytes are on the way.
pub struct Flow {
    next: u32,
    under_way: VecDeque<UnderWay>,
    /// Maximum size of a moving picture, in bytes.
    budget: f64,
    /// Maximum number of pixels of a moving picture; None means no limit.
    pixels: Option<f64>,
    moving_quality: u8,
    still_quality: u8,
    /// Throughput in bytes per second, measured on large pictures that were sent alone; infinite until there is one.
    rate: f64,
    /// Shortest delay in seconds of this period and of the previous one, and the start of this period.
    shortest: (f64, f64, Option<Instant>),
    /// Last delay, in seconds.
    lag: f64,
    /// Times at which recent pictures were acknowledged.
    shown: VecDeque<Instant>,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            next: 1,
            under_way: VecDeque::new(),
            budget: FIRST_BYTES,
            pixels: None,
            moving_quality: MOVING_QUALITY.0,
            still_quality: STILL_QUALITY.0,
            rate: f64::INFINITY,
            shortest: (f64::INFINITY, f64::INFINITY, None),
            lag: 0.0,
            shown: VecDeque::new(),
        }
    }
}

impl Flow {
    /// Whether another picture may be sent now.
    pub fn has_room(&self) -> bool {
        self.under_way.len() < MOST_UNDER_WAY
    }

    /// The number of the next picture to send.
    pub fn number(&self) -> u32 {
        self.next
    }

    /// The JPEG quality of a picture with this many pixels, or None for PNG.
    pub fn quality(&self, kind: PictureKind, pixels: usize) -> Option<u8> {
        match kind {
            PictureKind::Finished if PNG_DENSITY * pixels as f64 / self.rate < FINISHED => None,
            PictureKind::Finished => Some(STILL_QUALITY.0),
            PictureKind::Moving => Some(self.moving_quality),
            PictureKind::Still => Some(self.still_quality),
        }
    }

    /// Records that the picture numbered [`Self::number`] was sent.
    pub fn sent(&mut self, kind: PictureKind, pixels: usize, bytes: usize, now: Instant) {
        let size = bytes as f64;
        match kind {
            PictureKind::Moving => self.fit(pixels as f64, size),
            PictureKind::Still => {
                let (best, worst) = STILL_QUALITY;
                self.still_quality = match size / self.rate {
                    time if time > STILL => self.still_quality.saturating_sub(5).max(worst),
                    time if time < 0.5 * STILL => (self.still_quality + 2).min(best),
                    _ => self.still_quality,
                };
            }
            PictureKind::Finished => {}
        }
        let alone = self.under_way.is_empty();
        self.under_way.push_back(UnderWay { number: self.next, kind, bytes, sent: now, alone });
        self.next += 1;
    }

    /// Adapts the next moving pictures to the budget: first the quality, then the number of pixels.
    fn fit(&mut self, pixels: f64, bytes: f64) {
        let (best, worst) = MOVING_QUALITY;
        if bytes > self.budget {
            if self.moving_quality == worst {
                self.pixels = Some(0.9 * pixels * (self.budget / bytes).max(0.5));
            }
            self.moving_quality = self.moving_quality.saturating_sub(6).max(worst);
        } else if bytes < 0.7 * self.budget {
            if self.moving_quality >= GOOD {
                self.pixels = self.pixels.map(|limit| 1.1 * limit).filter(|&limit| limit < 2.0 * pixels);
            }
            self.moving_quality = (self.moving_quality + 2).min(best);
        }
    }

    /// Records that a picture was shown; this acknowledges all earlier ones.
    pub fn shown(&mut self, number: u32, now: Instant) {
        while let Some(first) = self.under_way.pop_front_if(|first| first.number <= number) {
            self.lag = now.duration_since(first.sent).as_secs_f64();
            let shortest = self.shortest(now);
            let above = self.lag - shortest;
            let bytes = first.bytes as f64;
            if first.alone && first.bytes >= LARGE {
                let rate = bytes / above.max(2e-3);
                self.rate = if self.rate.is_finite() { 0.5 * (self.rate + rate) } else { rate };
            }
            if first.kind == PictureKind::Moving {
                if above > LATE {
                    self.budget = (0.8 * self.budget.min(bytes)).max(BYTES.0);
                } else if above < EARLY && bytes > 0.5 * self.budget {
                    self.budget = (1.08 * self.budget).min(BYTES.1);
                }
            }
            self.shown.push_back(now);
        }
        while self.shown.front().is_some_and(|&first| now.duration_since(first) > COUNTED) {
            self.shown.pop_front();
        }
    }

    /// Shortest recent delay in seconds, including the last one.
    fn shortest(&mut self, now: Instant) -> f64 {
        let (this, before, begun) = &mut self.shortest;
        if begun.is_none_or(|begun| now.duration_since(begun) > REMEMBERED) {
            (*before, *this, *begun) = (*this, f64::INFINITY, Some(now));
        }
        *this = this.min(self.lag);
        this.min(*before)
    }

    /// Limits for the preview loop.
    pub fn limits(&self) -> Limits {
        Limits {
            pixels: self.pixels.map(|pixels| pixels as u32),
            pictures_per_second: self.shown.len() as f32 / COUNTED.as_secs_f32(),
            lag_ms: 1e3 * self.lag as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a connection with a throughput in bytes per second and a delay in seconds per picture.
    fn fly(throughput: f64, delay: f64) -> (Flow, f64, usize) {
        let mut flow = Flow::default();
        let start = Instant::now();
        let at = |seconds: f64| start + Duration::from_secs_f64(seconds);
        let (mut now, mut free, mut acks) = (0.0f64, 0.0f64, VecDeque::new());
        let (mut worst, mut count) = (0.0f64, 0);
        while now < 20.0 {
            while let Some(&(time, number, sent)) = acks.front().filter(|ack: &&(f64, u32, f64)| ack.0 <= now) {
                flow.shown(number, at(time));
                if now > 5.0 {
                    worst = worst.max(time - sent);
                    count += 1;
                }
                acks.pop_front();
            }
            if flow.has_room() {
                let limits = flow.limits();
                let pixels = limits.pixels.unwrap_or(u32::MAX).min(960 * 540 / 2) as usize;
                let quality = flow.quality(PictureKind::Moving, pixels).unwrap();
                let bytes = (pixels as f64 * 0.002 * f64::from(quality)) as usize;
                let number = flow.number();
                flow.sent(PictureKind::Moving, pixels, bytes, at(now));
                free = free.max(now) + bytes as f64 / throughput;
                acks.push_back((free + delay, number, now));
            }
            now += 0.01;
        }
        (flow, worst, count)
    }

    #[test]
    fn a_fast_line_gets_the_best() {
        let (flow, ..) = fly(1e8, 0.001);
        assert_eq!(flow.limits().pixels, None);
        assert_eq!(flow.quality(PictureKind::Moving, 1), Some(MOVING_QUALITY.0));
        assert_eq!(flow.quality(PictureKind::Finished, 960 * 540), None);
    }

    #[test]
    fn a_thin_line_stays_live() {
        let (flow, worst, count) = fly(625e3, 0.06);
        assert!(worst < 0.4, "{worst}");
        assert!(count as f64 / 15.0 >= 8.0, "{count}");
        let (thinner, worst, count) = fly(125e3, 0.06);
        assert!(worst < 0.8 && count as f64 / 15.0 >= 4.0, "{worst} {count}");
        assert!(thinner.budget < flow.budget);
    }

    #[test]
    fn pictures_without_loss_are_for_lines_that_are_fast_enough() {
        for (rate, is_png) in [(1e7, true), (5e5, false)] {
            let (mut flow, start) = (Flow::default(), Instant::now());
            let mut now = start;
            for bytes in [5_000, 100_000, 100_000] {
                let number = flow.number();
                flow.sent(PictureKind::Still, 1, bytes, now);
                now += Duration::from_secs_f64(0.02 + bytes as f64 / rate);
                flow.shown(number, now);
            }
            assert_eq!(flow.quality(PictureKind::Finished, 960 * 540).is_none(), is_png, "{}", flow.rate);
        }
    }

    #[test]
    fn at_most_two_are_under_way_and_later_ones_acknowledge_earlier_ones() {
        let (mut flow, now) = (Flow::default(), Instant::now());
        for _ in 0..2 {
            assert!(flow.has_room());
            flow.sent(PictureKind::Still, 100, 100, now);
        }
        assert!(!flow.has_room());
        flow.shown(99, now);
        assert!(flow.has_room() && flow.under_way.is_empty());
        flow.shown(1, now);
    }
}
