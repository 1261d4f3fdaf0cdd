//! The frames of a run, each handed out when work on it begins.

use super::{RenderJob, existing::Begin};
use crate::output::OutputError;
use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

/// Hands out frames in order, to several takers in turn. Frames that other runs are working on are tried once more at the end.
pub struct FrameQueue<'a> {
    begin: Box<dyn Fn(u32) -> Result<Begin, OutputError> + Sync + 'a>,
    takers: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<u32>,
    /// Frames at the end of `waiting` that another run was working on when they were tried first.
    postponed: usize,
    skipped: Skipped,
    /// Index of the taker that is next.
    turn: usize,
    /// Whether no more frames are handed out.
    closed: bool,
    error: Option<OutputError>,
}

/// Numbers of frames that were handed to nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    /// Frames that other runs made since this one began.
    pub appeared: u32,
    /// Frames that other runs are working on.
    pub elsewhere: u32,
}

impl<'a> FrameQueue<'a> {
    pub fn of(job: &'a RenderJob) -> Self {
        Self::new(&job.frames, |frame| job.output.begin(job, frame))
    }

    fn new(frames: &[u32], begin: impl Fn(u32) -> Result<Begin, OutputError> + Sync + 'a) -> Self {
        let state = State { waiting: frames.iter().copied().collect(), ..State::default() };
        Self { begin: Box::new(begin), takers: 1, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Sets the number of takers, each of which gets every `count`th frame.
    pub fn with_takers(self, count: usize) -> Self {
        Self { takers: count, ..self }
    }

    /// Waits for the turn of `taker` and returns its next frame. None if there are no more.
    pub fn next(&self, taker: usize) -> Option<u32> {
        let mut state = self.lock();
        while !state.closed && state.turn != taker {
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        let frame = match state.closed {
            true => None,
            false => state.next(&self.begin),
        };
        state.closed = frame.is_none();
        state.turn = (state.turn + 1) % self.takers;
        drop(state);
        self.changed.notify_all();
        frame
    }

    /// Stops handing out frames, because a taker has ended.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Returns how many frames were not handed out. Call it when nobody takes frames any more.
    ///
    /// # Errors
    /// If a frame could not be begun.
    pub fn finish(self) -> Result<Skipped, OutputError> {
        let state = self.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        state.error.map_or(Ok(state.skipped), Err)
    }

    /// Locks the state. A panic elsewhere is reported there, and the state is consistent between any two statements.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self, begin: impl Fn(u32) -> Result<Begin, OutputError>) -> Option<u32> {
        loop {
            let frame = self.waiting.pop_front()?;
            let is_last_try = self.waiting.len() < self.postponed;
            match begin(frame) {
                Ok(Begin::Ours) => {
                    self.postponed = self.postponed.min(self.waiting.len());
                    return Some(frame);
                }
                Ok(Begin::Exists) => self.skipped.appeared += 1,
                Ok(Begin::Elsewhere) if is_last_try => self.skipped.elsewhere += 1,
                Ok(Begin::Elsewhere) => {
                    self.waiting.push_back(frame);
                    self.postponed += 1;
                    continue;
                }
                Err(error) => {
                    self.error = Some(error);
                    return None;
                }
            }
            self.postponed = self.postponed.min(self.waiting.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn takers_get_frames_in_turn() {
        let frames: Vec<u32> = (1..=10).collect();
        let queue = FrameQueue::new(&frames, |_| Ok(Begin::Ours)).with_takers(3);
        let taken: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let taker = |index| {
                let queue = &queue;
                scope.spawn(move || std::iter::from_fn(|| queue.next(index)).collect())
            };
            let takers: Vec<_> = (0..3).map(taker).collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).collect()
        });
        assert_eq!(taken, [vec![1, 4, 7, 10], vec![2, 5, 8], vec![3, 6, 9]]);
        assert_eq!(queue.finish().unwrap(), Skipped::default());
    }

    #[test]
    fn frames_of_other_runs_are_asked_for_once_more() {
        let asked = AtomicU32::new(0);
        let begin = |frame| {
            let asked = asked.fetch_add(1, Ordering::Relaxed);
            Ok(match frame {
                1 => Begin::Exists,
                // The run that had it has died meanwhile.
                2 if asked > 4 => Begin::Ours,
                2 | 3 => Begin::Elsewhere,
                4 => Begin::Ours,
                _ if asked > 4 => Begin::Exists,
                _ => Begin::Elsewhere,
            })
        };
        let queue = FrameQueue::new(&[1, 2, 3, 4, 5], begin);
        let taken: Vec<u32> = std::iter::from_fn(|| queue.next(0)).collect();
        assert_eq!(taken, [4, 2]);
        let skipped = Skipped { appeared: 2, elsewhere: 1 };
        assert_eq!(queue.finish().unwrap(), skipped);
    }

    #[test]
    fn after_an_error_or_an_end_nobody_gets_any_more() {
        let failed = |_| Err(OutputError::Earlier { path: "a.png".into() });
        let queue = FrameQueue::new(&[1, 2], failed).with_takers(2);
        assert_eq!((queue.next(0), queue.next(1)), (None, None));
        assert!(queue.finish().is_err());
        let queue = FrameQueue::new(&[1, 2, 3], |_| Ok(Begin::Ours)).with_takers(2);
        assert_eq!(queue.next(0), Some(1));
        queue.close();
        assert_eq!((queue.next(1), queue.next(0)), (None, None));
    }
}
