//! The first stage: poses frames, on several posers if one would be slower than the device, and passes them on in order.

use crate::{
    posing::pose::{Posed, Poser},
    sequence::frame_queue::FrameQueue,
    sequence::window::Step,
};
use std::{
    io,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{self, Scope},
};

/// Maximum number of posers. Parts of a pose run on one thread; other posers use the remaining threads in the meantime.
const MOST_POSERS: usize = 3;
/// Number of threads per poser.
const THREADS_PER_POSER: usize = 4;

/// Creates posers for up to `moments` poses. Animated scenes on devices with a queue get several posers, each with its own memory; others
/// get one.
pub fn posers(first: Poser, moments: usize, queue_depth: usize) -> Vec<Poser> {
    let useful = if queue_depth > 1 && first.is_animated() {
        (rayon::current_num_threads() / THREADS_PER_POSER).min(MOST_POSERS).min(moments)
    } else {
        1
    };
    let mut posers = vec![first];
    while posers.len() < useful {
        posers.push(posers[0].sibling());
    }
    posers
}

/// Batches of steps and their posed frames, in the order of the queue.
pub struct PosedFrames {
    receivers: Vec<Receiver<PosedBatch>>,
    next: usize,
}

/// A step, and the posed frame that is traced in it, if any.
pub type PosedStep = (Step, Option<Posed>);

/// One step, or the steps to the frames of a batch.
pub type PosedBatch = Vec<PosedStep>;

impl PosedFrames {
    /// Waits for the next batch. None after the last one, or if the stage has ended early.
    pub fn recv(&mut self) -> Option<PosedBatch> {
        let posed = self.receivers[self.next].recv().ok();
        self.next = (self.next + 1) % self.receivers.len();
        posed
    }
}

/// Starts the stage. Each of `n` posers takes every `n`th batch, and may be up to `buffer` batches ahead of the receiver. The stage ends when
/// `ended` returns true or the receiver is dropped.
///
/// # Errors
/// If a thread cannot be started.
pub fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    posers: Vec<Poser>,
    frames: &'env FrameQueue<'env>,
    buffer: usize,
    ended: &'env (impl Fn() -> bool + Sync),
) -> io::Result<PosedFrames> {
    let start_one = |(index, poser)| {
        let (to, from) = sync_channel(buffer);
        let pose = move || {
            let next = || frames.next(index, ended);
            pose_frames(poser, std::iter::from_fn(next), &to, ended);
            frames.close();
        };
        thread::Builder::new().spawn_scoped(scope, pose)?;
        Ok(from)
    };
    let receivers = posers.into_iter().enumerate().map(start_one);
    Ok(PosedFrames { receivers: receivers.collect::<io::Result<_>>()?, next: 0 })
}

fn pose_frames(
    mut poser: Poser,
    mut batches: impl Iterator<Item = Vec<Step>>,
    posed: &SyncSender<PosedBatch>,
    ended: impl Fn() -> bool,
) {
    while !ended()
        && let Some(steps) = batches.next()
    {
        if posed.send(pose_steps(&mut poser, steps)).is_err() {
            return;
        }
    }
}

/// Poses the frames that are traced in the steps.
pub fn pose_steps(poser: &mut Poser, steps: Vec<Step>) -> PosedBatch {
    steps.into_iter().map(|step| (step, step.trace.map(|number| poser.pose(number)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests;
    use std::sync::Arc;
    use throng_accel::NodeLayout;
    use throng_scene::Scene;

    #[test]
    fn several_posers_hand_frames_on_in_order() {
        let (_dir, job) = tests::job(10);
        for count in [1, 2, 3, 20] {
            let first = Poser::new(Arc::new(Scene::default()), NodeLayout::Wide8);
            let posers = (1..count).map(|_| first.sibling()).collect::<Vec<_>>();
            let posers = [first].into_iter().chain(posers).collect();
            let queue = FrameQueue::of(&job).with_takers(count);
            let numbers: Vec<u32> = thread::scope(|scope| {
                let mut posed = start(scope, posers, &queue, 0, &|| false).unwrap();
                std::iter::from_fn(|| posed.recv()?.remove(0).1.map(|p| p.frame.number)).collect()
            });
            assert_eq!(numbers, job.frames, "{count} posers");
        }
    }
}
