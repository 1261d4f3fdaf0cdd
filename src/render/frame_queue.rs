//! The frames of a run, each handed out when work on it begins, with the steps to it.

use super::{
    RenderJob,
    existing::Begin,
    window::{Reach, Step, Steps},
};
use crate::output::OutputError;
use std::{
    collections::VecDeque,
    mem,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// Time between two looks at frames that other runs are working on: a quarter of the time waited so far, within these.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(5)];
/// Time between two looks at whether a run that waits has been stopped.
const SLICE: Duration = Duration::from_millis(50);

/// Hands out the steps to frames in order, to several takers in turn. Frames that other runs are working on come last: they are waited for until they
/// exist, or their run has died and one of them is free.
pub struct FrameQueue<'a> {
    begin: Box<dyn Fn(u32) -> Result<Begin, OutputError> + Sync + 'a>,
    /// Is called with the number of frames when this run begins to wait for others.
    waits: Box<dyn Fn(usize) + Sync + 'a>,
    takers: usize,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: VecDeque<u32>,
    /// Steps that are left to the frame that was begun last.
    under_way: VecDeque<Step>,
    steps: Steps,
    skipped: Skipped,
    /// Index of the taker that is next.
    turn: usize,
    /// Whether no more frames are handed out.
    closed: bool,
    /// Whether it was told that this run waits.
    has_waited: bool,
    error: Option<OutputError>,
}

/// Numbers of frames that were handed to nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    /// Frames that other runs made since this one began.
    pub appeared: u32,
    /// Frames that other runs were working on when this one was stopped.
    pub elsewhere: u32,
}

/// The answer to a taker that asks for a frame.
enum Next {
    Frame(u32),
    /// Other runs are working on all that is left.
    Wait,
    End,
}

impl<'a> FrameQueue<'a> {
    pub fn of(job: &'a RenderJob) -> Self {
        Self::new(&job.frames, job.reach(), |frame| job.output.begin(job, frame))
    }

    fn new(frames: &[u32], reach: Reach, begin: impl Fn(u32) -> Result<Begin, OutputError> + Sync + 'a) -> Self {
        let state = State {
            waiting: frames.iter().copied().collect(),
            under_way: VecDeque::new(),
            steps: Steps::new(reach),
            skipped: Skipped::default(),
            turn: 0,
            closed: false,
            has_waited: false,
            error: None,
        };
        let (begin, waits) = (Box::new(begin), Box::new(|_| ()));
        Self { begin, waits, takers: 1, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Calls `waits` with the number of frames when this run begins to wait for others.
    pub fn telling(self, waits: impl Fn(usize) + Sync + 'a) -> Self {
        Self { waits: Box::new(waits), ..self }
    }

    /// Sets the number of takers, each of which gets every `count`th step.
    pub fn with_takers(self, count: usize) -> Self {
        Self { takers: count, ..self }
    }

    /// Waits for the turn of `taker` and returns its next step. None if there are no more, or `ended` says so while this run waits for
    /// others.
    pub fn next(&self, taker: usize, ended: impl Fn() -> bool) -> Option<Step> {
        let mut state = self.lock();
        while !state.closed && state.turn != taker {
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        if state.under_way.is_empty()
            && let Some(frame) = self.first_free(&mut state, ended)
        {
            state.under_way = state.steps.to(frame);
        }
        let step = if state.closed { None } else { state.under_way.pop_front() };
        state.closed = step.is_none();
        state.turn = (state.turn + 1) % self.takers;
        drop(state);
        self.changed.notify_all();
        step
    }

    fn first_free(&self, state: &mut State, ended: impl Fn() -> bool) -> Option<u32> {
        let start = Instant::now();
        while !state.closed {
            match state.next(&self.begin) {
                Next::Frame(frame) => return Some(frame),
                Next::End => return None,
                Next::Wait => {}
            }
            if !mem::replace(&mut state.has_waited, true) {
                (self.waits)(state.waiting.len());
            }
            let until = Instant::now() + (start.elapsed() / 4).clamp(PAUSES[0], PAUSES[1]);
            while Instant::now() < until {
                if ended() {
                    state.skipped.elsewhere = state.waiting.len() as u32;
                    return None;
                }
                thread::sleep(SLICE);
            }
        }
        None
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
    fn next(&mut self, begin: impl Fn(u32) -> Result<Begin, OutputError>) -> Next {
        let mut elsewhere = 0;
        while elsewhere < self.waiting.len()
            && let Some(frame) = self.waiting.pop_front()
        {
            match begin(frame) {
                Ok(Begin::Ours) => return Next::Frame(frame),
                Ok(Begin::Exists) => self.skipped.appeared += 1,
                Ok(Begin::Elsewhere) => {
                    self.waiting.push_back(frame);
                    elsewhere += 1;
                }
                Err(error) => {
                    self.error = Some(error);
                    return Next::End;
                }
            }
        }
        match self.waiting.is_empty() {
            true => Next::End,
            false => Next::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    const ALONE: Reach = Reach { frames: 0, all: (1, 99) };

    fn never() -> bool {
        false
    }

    /// The frame that the taker traces next.
    fn next(queue: &FrameQueue, taker: usize, ended: impl Fn() -> bool) -> Option<u32> {
        queue.next(taker, ended).and_then(|step| step.trace)
    }

    #[test]
    fn takers_get_frames_in_turn() {
        let frames: Vec<u32> = (1..=10).collect();
        let queue = FrameQueue::new(&frames, ALONE, |_| Ok(Begin::Ours)).with_takers(3);
        let taken: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let taker = |index| {
                let queue = &queue;
                scope.spawn(move || std::iter::from_fn(|| next(queue, index, never)).collect())
            };
            let takers: Vec<_> = (0..3).map(taker).collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).collect()
        });
        assert_eq!(taken, [vec![1, 4, 7, 10], vec![2, 5, 8], vec![3, 6, 9]]);
        assert_eq!(queue.finish().unwrap(), Skipped::default());
    }

    #[test]
    fn frames_of_other_runs_come_last_and_are_waited_for() {
        let asked = AtomicU32::new(0);
        let begin = |frame| {
            let asked = asked.fetch_add(1, Ordering::Relaxed);
            Ok(match frame {
                1 => Begin::Exists,
                // The run that had it dies meanwhile.
                2 if asked > 8 => Begin::Ours,
                3 if asked > 8 => Begin::Exists,
                2 | 3 => Begin::Elsewhere,
                _ => Begin::Ours,
            })
        };
        let told = Mutex::new(Vec::new());
        let queue = FrameQueue::new(&[1, 2, 3, 4, 5], ALONE, begin).telling(|count| told.lock().unwrap().push(count));
        let taken: Vec<u32> = std::iter::from_fn(|| next(&queue, 0, never)).collect();
        assert_eq!(taken, [4, 5, 2]);
        let skipped = Skipped { appeared: 2, elsewhere: 0 };
        assert_eq!(queue.finish().unwrap(), skipped);
        assert_eq!(told.into_inner().unwrap(), [2]);
    }

    #[test]
    fn a_stop_ends_the_wait_for_others() {
        let queue =
            FrameQueue::new(&[1, 2, 3], ALONE, |frame| Ok([Begin::Elsewhere, Begin::Ours][usize::from(frame == 2)]));
        assert_eq!(next(&queue, 0, || true), Some(2));
        assert_eq!(next(&queue, 0, || true), None);
        assert_eq!(queue.finish().unwrap(), Skipped { appeared: 0, elsewhere: 2 });
    }

    #[test]
    fn after_an_error_or_an_end_nobody_gets_any_more() {
        let failed = |_| Err(OutputError::Earlier { path: "a.png".into() });
        let queue = FrameQueue::new(&[1, 2], ALONE, failed).with_takers(2);
        assert_eq!((next(&queue, 0, never), next(&queue, 1, never)), (None, None));
        assert!(queue.finish().is_err());
        let queue = FrameQueue::new(&[1, 2, 3], ALONE, |_| Ok(Begin::Ours)).with_takers(2);
        assert_eq!(next(&queue, 0, never), Some(1));
        queue.close();
        assert_eq!((next(&queue, 1, never), next(&queue, 0, never)), (None, None));
    }

    #[test]
    fn takers_share_the_steps_to_frames() {
        let reach = Reach { frames: 2, all: (1, 6) };
        let queue = FrameQueue::new(&[1, 2, 3, 4, 5, 6], reach, |_| Ok(Begin::Ours)).with_takers(3);
        let steps: Vec<Step> = (0..).map_while(|turn| queue.next(turn % 3, never)).collect();
        let traced: Vec<u32> = steps.iter().filter_map(|step| step.trace).collect();
        let written: Vec<u32> = steps.iter().filter(|step| step.is_last()).map(|step| step.frame).collect();
        assert_eq!((traced, written), (vec![1, 2, 3, 4, 5, 6], vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(steps.len(), 8);
    }
}
