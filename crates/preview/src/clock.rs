//! The clock of a viewer: a fixed frame, or an animation that plays in real time.

use std::time::{Duration, Instant};
use throng_scene::ranges::FRAMES;

#[derive(Clone, Debug)]
pub struct Clock {
    frame: u32,
    frames: u32,
    fps: f64,
    looped: bool,
    /// Time at which [`Self::frame`] was shown; None while paused.
    since: Option<Instant>,
}

impl Clock {
    pub fn new(frames: u32, fps: f64) -> Self {
        Self { frame: 1, frames: frames.max(1), fps: fps.max(1e-3), looped: false, since: None }
    }

    /// The clock adapted to a scene of another length. The frame and the playback state are kept.
    pub fn fitted(&self, frames: u32, fps: f64) -> Self {
        Self { frame: self.frame, looped: self.looped, since: self.since, ..Self::new(frames, fps) }
    }

    /// Sets the last frame of the animation.
    pub fn set_end(&mut self, frames: u32) {
        self.frames = frames.max(1);
    }

    /// The frame to show at `now`. Late frames are dropped.
    pub fn at(&mut self, now: Instant) -> u32 {
        let Some(since) = self.since else {
            return self.frame;
        };
        let passed = (self.fps * now.saturating_duration_since(since).as_secs_f64()) as u64;
        let index = u64::from(self.frame - 1) + passed;
        let frames = u64::from(self.frames);
        if index >= frames && !self.looped {
            (self.frame, self.since) = (self.frames, None);
            return self.frame;
        }
        (index % frames) as u32 + 1
    }

    /// Time at which the frame after the one at `now` is due; None while paused.
    pub fn next_due(&self, now: Instant) -> Option<Instant> {
        let since = self.since?;
        let step = 1.0 / self.fps;
        let passed = now.saturating_duration_since(since).as_secs_f64();
        let due = ((passed / step).floor() + 1.0) * step;
        Some(since + Duration::from_secs_f64(due))
    }

    pub fn is_playing(&self) -> bool {
        self.since.is_some()
    }

    pub fn show(&mut self, frame: u32) {
        // The frame may exceed the last one, because flights may be longer than the scene.
        (self.frame, self.since) = (frame.clamp(1, *FRAMES.end()), None);
    }

    /// Starts or stops playback. It starts from the current frame, or from the first one after the end.
    pub fn play(&mut self, playing: bool, looped: bool, now: Instant) {
        self.frame = self.at(now);
        self.looped = looped;
        if playing && self.frame >= self.frames && !looped {
            self.frame = 1;
        }
        self.since = playing.then_some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_real_and_drops_frames() {
        let begin = Instant::now();
        let mut clock = Clock::new(48, 24.0);
        clock.show(13);
        assert_eq!((clock.at(begin), clock.next_due(begin)), (13, None));
        clock.play(true, false, begin);
        let after = |seconds: f64| begin + Duration::from_secs_f64(seconds);
        assert_eq!([0.0, 0.05, 0.51].map(|t| clock.at(after(t))), [13, 14, 25]);
        assert!(clock.next_due(after(0.05)).unwrap() > after(0.08));
        assert_eq!(clock.at(after(9.0)), 48);
        assert!(!clock.is_playing());
        clock.play(true, true, begin);
        assert_eq!([1.0, 2.01].map(|t| clock.at(after(t))), [24, 48]);
    }

    #[test]
    fn playing_at_the_end_begins_anew() {
        let begin = Instant::now();
        let mut clock = Clock::new(10, 10.0);
        clock.show(99);
        assert_eq!(clock.at(begin), 99);
        clock.play(true, false, begin);
        assert_eq!(clock.at(begin), 1);
        assert_eq!(clock.fitted(3, 10.0).at(begin + Duration::from_secs(5)), 3);
        clock.play(false, false, begin);
        clock.set_end(20);
        clock.play(true, false, begin);
        assert_eq!(clock.at(begin + Duration::from_secs(5)), 20);
    }
}
