//! Flow control for one page: how many pictures may be on their way to it, and how large and fine they may be for the line.

use crate::preview::{Limits, PictureKind};
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Pictures that may be on their way.
const MOST_UNDER_WAY: usize = 2;
/// Time that a moving picture may take on the line, and one that stands still.
const MOVING: f64 = 0.07;
const STILL: f64 = 0.3;
/// Time that a picture without loss may take.
const FINISHED: f64 = 1.0;
/// JPEG qualities: the best and the worst of moving pictures, and of those that stand still.
const MOVING_QUALITY: (u8, u8) = (80, 35);
const STILL_QUALITY: (u8, u8) = (93, 50);
/// Times over which pictures are counted.
const COUNTED: Duration = Duration::from_secs(1);

/// A picture on its way.
struct UnderWay {
    number: u32,
    bytes: usize,
    sent: Instant,
    /// Whether the line was idle when it was sent.
    alone: bool,
}

/// The line to one page, as measured.
pub struct Flow {
    next: u32,
    under_way: VecDeque<UnderWay>,
    /// Bytes per second; infinite before anything is known.
    throughput: f64,
    /// Seconds from sending a small picture to hearing that it was shown.
    delay: f64,
    /// The same of the last picture, whatever its size.
    lag: f64,
    /// Bytes per pixel of the last moving picture, by its quality.
    moving: (f64, u8),
    still: (f64, u8),
    /// When the last ones were shown.
    shown: VecDeque<Instant>,
    /// When the one before was shown.
    last_shown: Option<Instant>,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            next: 1,
            under_way: VecDeque::new(),
            throughput: f64::INFINITY,
            delay: 0.0,
            lag: 0.0,
            moving: (0.15, MOVING_QUALITY.0),
            still: (0.4, STILL_QUALITY.0),
            shown: VecDeque::new(),
            last_shown: None,
        }
    }
}

impl Flow {
    /// Whether another picture may be sent.
    pub fn has_room(&self) -> bool {
        self.under_way.len() < MOST_UNDER_WAY
    }

    /// The JPEG quality of a picture; None for PNG.
    pub fn quality(&self, kind: PictureKind, pixels: usize) -> Option<u8> {
        match kind {
            // A PNG of rendered pictures has about 2.2 bytes per pixel.
            PictureKind::Finished if 2.2 * pixels as f64 / self.throughput < FINISHED => None,
            PictureKind::Finished => Some(STILL_QUALITY.0),
            PictureKind::Moving => Some(self.moving.1),
            PictureKind::Still => Some(self.still.1),
        }
    }

    /// Notes that a picture is sent, and returns nothing that could fail: its number was [`Self::number`].
    pub fn sent(&mut self, kind: PictureKind, pixels: usize, bytes: usize, now: Instant) {
        let density = bytes as f64 / pixels.max(1) as f64;
        let (known, budget, (best, worst)) = match kind {
            PictureKind::Moving => (&mut self.moving, MOVING, MOVING_QUALITY),
            PictureKind::Still => (&mut self.still, STILL, STILL_QUALITY),
            PictureKind::Finished => (&mut (0.0, 0), FINISHED, STILL_QUALITY),
        };
        known.0 = density;
        let time = bytes as f64 / self.throughput;
        // Quality goes first, then size.
        if time > 0.8 * budget {
            known.1 = known.1.saturating_sub(5).max(worst);
        } else if time < 0.5 * budget {
            known.1 = (known.1 + 2).min(best);
        }
        let alone = self.under_way.is_empty();
        self.under_way.push_back(UnderWay { number: self.next, bytes, sent: now, alone });
        self.next += 1;
    }

    /// The number of the next picture.
    pub fn number(&self) -> u32 {
        self.next
    }

    /// Notes that a picture was shown, and with it all before.
    pub fn shown(&mut self, number: u32, now: Instant) {
        while let Some(first) = self.under_way.front().filter(|first| first.number <= number) {
            let took = now.duration_since(first.sent).as_secs_f64();
            let (bytes, alone) = (first.bytes as f64, first.alone);
            // Behind another one, it was on the line from when that was through.
            let since = match self.last_shown.filter(|_| !alone) {
                Some(last) => now.duration_since(last).as_secs_f64(),
                None => took - self.delay,
            };
            self.learn(bytes, took, since);
            self.lag = took;
            self.last_shown = Some(now);
            self.shown.push_back(now);
            self.under_way.pop_front();
        }
        while self.shown.front().is_some_and(|&first| now.duration_since(first) > COUNTED) {
            self.shown.pop_front();
        }
    }

    fn learn(&mut self, bytes: f64, took: f64, on_line: f64) {
        // What the page does with a picture takes some time as well, so that only slow lines are told apart.
        let measured = bytes / on_line.max(1e-3);
        self.throughput = match self.throughput.is_finite() {
            true => 0.75 * self.throughput + 0.25 * measured,
            false => measured,
        };
        let unloaded = (took - bytes / self.throughput).max(0.0);
        self.delay = 0.8 * self.delay + 0.2 * unloaded.min(took);
    }

    /// What the loop has to know.
    pub fn limits(&self) -> Limits {
        let (density, quality) = self.moving;
        let affordable = MOVING * self.throughput / density.max(1e-3);
        let pixels = (quality <= MOVING_QUALITY.1 + 10 && affordable < 1e8).then_some(affordable as u32);
        Limits {
            pixels,
            pictures_per_second: self.shown.len() as f32 / COUNTED.as_secs_f32(),
            lag_ms: 1e3 * self.lag as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that carries so many bytes per second, and takes so many seconds for each.
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
        assert!(flow.quality(PictureKind::Finished, 1920 * 1080).is_some());
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
