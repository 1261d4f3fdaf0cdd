//! The queue of a run's frames. Each frame is handed out, with its steps, when work on it can begin. Frames of a batch are handed out together.

use super::{
    batches::Batches,
    window::{Reach, Step, Steps},
};
use crate::{RenderJob, results::existing::Begin};
use std::{
    collections::VecDeque,
    mem,
    sync::{Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};
use throng_base::sync::{lock, unpoisoned};
use throng_output::OutputError;

/// Shortest and longest pause between two checks of frames that other runs are rendering. The pause is a quarter of the time waited so far.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(5)];
/// Interval at which a waiting run checks whether it was stopped.
const SLICE: Duration = Duration::from_millis(50);

/// Hands out the steps of frames in order, to several takers in turn. Frames that other runs are rendering come last: the queue waits until
/// they exist, or until their run has died and a frame becomes free.
pub struct FrameQueue<'a> {
    begin: Box<dyn Fn(u32) -> Result<Begin, OutputError> + Sync + 'a>,
    /// Called with the number of remaining frames when this run begins to wait for others.
    waits: Box<dyn Fn(usize) + Sync + 'a>,
    /// None if each step is handed out alone.
    batches: Option<&'a Batches<'a>>,
    takers: usize,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: VecDeque<u32>,
    /// Remaining steps of the frame that was begun last.
    under_way: VecDeque<Step>,
    steps: Steps,
    skipped: Skipped,
    /// Index of the next taker.
    turn: usize,
    /// Whether the queue has stopped handing out frames.
    closed: bool,
    /// Whether `waits` was called.
    has_waited: bool,
    error: Option<OutputError>,
}

/// Numbers of frames that were not handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    /// Frames that other runs completed since this run began.
    pub appeared: u32,
    /// Frames that other runs were rendering when this run was stopped.
    pub elsewhere: u32,
}

/// Result of looking for the next free frame.
enum Next {
    Frame(u32),
    /// The frame exists by now.
    Exists,
    /// Another run is rendering the frame, or all remaining frames.
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
        Self { begin, waits, batches: None, takers: 1, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Sets the function that is called with the number of remaining frames when this run begins to wait for others.
    pub fn telling(self, waits: impl Fn(usize) + Sync + 'a) -> Self {
        Self { waits: Box::new(waits), ..self }
    }

    /// Hands out the frames of each batch together.
    pub fn in_batches(self, batches: &'a Batches<'a>) -> Self {
        Self { batches: Some(batches), ..self }
    }

    /// Sets the number of takers. Each taker gets every `count`th step or batch.
    pub fn with_takers(self, count: usize) -> Self {
        Self { takers: count, ..self }
    }

    /// Waits for the turn of `taker` and returns its next step, or the steps to all frames of a batch. None if no steps remain, or if `ended`
    /// returns true while this run waits for others.
    pub fn next(&self, taker: usize, ended: impl Fn() -> bool) -> Option<Vec<Step>> {
        let mut state = lock(&self.state);
        while !state.closed && state.turn != taker {
            let waited = self.changed.wait(state);
            state = unpoisoned(waited);
        }
        if state.under_way.is_empty()
            && let Some(frame) = self.first_free(&mut state, ended)
        {
            state.under_way = state.steps.to(frame);
        }
        let step = if state.closed { None } else { state.under_way.pop_front() };
        state.closed = step.is_none();
        let steps = step.map(|step| self.with_batch(&mut state, step));
        state.turn = (state.turn + 1) % self.takers;
        drop(state);
        self.changed.notify_all();
        steps
    }

    /// The step, followed by the steps to the other frames of its batch.
    fn with_batch(&self, state: &mut State, first: Step) -> Vec<Step> {
        let mut steps = vec![first];
        while let Some(batches) = self.batches
            && let Some(&frame) = state.waiting.front()
            && batches.has_room((first.frame, steps.len()), frame)
            && let Next::Frame(frame) = state.take_first(&self.begin)
        {
            steps.extend(state.steps.to(frame));
        }
        steps
    }

    fn first_free(&self, state: &mut State, ended: impl Fn() -> bool) -> Option<u32> {
        let start = Instant::now();
        while !state.closed {
            match state.next(&self.begin) {
                Next::Frame(frame) => return Some(frame),
                Next::End => return None,
                Next::Exists | Next::Wait => {}
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
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }

    /// Returns the numbers of frames that were not handed out. Call it after the last taker has ended.
    ///
    /// # Errors
    /// If the claim on a frame could not be made, or if an existing frame cannot be kept.
    pub fn finish(self) -> Result<Skipped, OutputError> {
        let state = self.state.into_inner();
        let state = unpoisoned(state);
        state.error.map_or(Ok(state.skipped), Err)
    }
}

impl State {
    fn next(&mut self, begin: impl Fn(u32) -> Result<Begin, OutputError>) -> Next {
        let mut elsewhere = 0;
        while elsewhere < self.waiting.len() {
            match self.take_first(&begin) {
                Next::Exists => {}
                Next::Wait => elsewhere += 1,
                next @ (Next::Frame(_) | Next::End) => return next,
            }
        }
        if self.waiting.is_empty() { Next::End } else { Next::Wait }
    }

    /// Takes the first waiting frame, unless another run has it: then the frame becomes the last one. After an error, there are no more frames.
    fn take_first(&mut self, begin: impl Fn(u32) -> Result<Begin, OutputError>) -> Next {
        let Some(frame) = self.waiting.pop_front().filter(|_| self.error.is_none()) else {
            return Next::End;
        };
        match begin(frame) {
            Ok(Begin::Ours) => Next::Frame(frame),
            Ok(Begin::Exists) => {
                self.skipped.appeared += 1;
                Next::Exists
            }
            Ok(Begin::Elsewhere) => {
                self.waiting.push_back(frame);
                Next::Wait
            }
            Err(error) => {
                self.error = Some(error);
                Next::End
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests;
    use std::sync::atomic::{AtomicU32, Ordering};
    use throng_device::fake::FakeDevice;

    const ALONE: Reach = Reach { frames: 0, all: (1, 99) };

    fn never() -> bool {
        false
    }

    /// The next frame that the taker traces.
    fn next(queue: &FrameQueue, taker: usize, ended: impl Fn() -> bool) -> Option<u32> {
        queue.next(taker, ended).and_then(|steps| steps[0].trace)
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
                // The run that rendered it dies in the meantime.
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
    fn frames_of_a_batch_are_taken_together_unless_another_run_has_one() {
        let (_dir, job) = tests::job(9);
        let mut device = FakeDevice::new(2);
        device.batch = 3;
        let batches = Batches::of(&job, &mut device);
        let begin = |frame| {
            Ok(match frame {
                4 | 5 => Begin::Elsewhere,
                8 => Begin::Exists,
                _ => Begin::Ours,
            })
        };
        let frames = [1, 2, 3, 4, 5, 8, 9];
        let queue = FrameQueue::new(&frames, ALONE, begin).in_batches(&batches);
        let traced = |steps: Vec<Step>| steps.iter().filter_map(|step| step.trace).collect::<Vec<_>>();
        let taken: Vec<_> = std::iter::from_fn(|| queue.next(0, || true)).map(traced).collect();
        assert_eq!(taken, [vec![1, 2, 3], vec![9]]);
        assert_eq!(queue.finish().unwrap(), Skipped { appeared: 1, elsewhere: 2 });
        let fails = |frame| match frame {
            3 => Err(OutputError::Earlier { path: "a.png".into() }),
            _ => Ok(Begin::Ours),
        };
        let queue = FrameQueue::new(&job.frames, ALONE, fails).in_batches(&batches);
        let taken: Vec<_> = std::iter::from_fn(|| queue.next(0, never)).map(traced).collect();
        assert_eq!(taken, [[1, 2]]);
        assert!(queue.finish().is_err());
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
        let steps: Vec<Step> = (0..).map_while(|turn| queue.next(turn % 3, never)).flatten().collect();
        let traced: Vec<u32> = steps.iter().filter_map(|step| step.trace).collect();
        let written: Vec<u32> = steps.iter().filter(|step| step.is_last()).map(|step| step.frame).collect();
        assert_eq!((traced, written), (vec![1, 2, 3, 4, 5, 6], vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(steps.len(), 8);
    }
}
