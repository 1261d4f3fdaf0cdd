//! The queue of stills of all viewers, which are rendered in turn.

use super::Still;
use crate::{Answer, Link, scenes::ViewerScenes};
use std::sync::Arc;
use throng_device::Stop;

/// Maximum numbers of stills that wait, are in progress or are not fetched yet: per viewer, and in total.
const MOST_OF_ONE: usize = 8;
const MOST: usize = 32;
/// Memory of samples, in bytes, above which no second still is started.
const MOST_MEMORY: u64 = 1 << 30;

#[derive(Default)]
pub struct Stills {
    /// At most one still per viewer is started; the others take no memory for samples.
    waiting: Vec<Still>,
    /// The viewer whose still was worked on last.
    last: u64,
}

impl Stills {
    /// Checks that a viewer may request another still.
    ///
    /// # Errors
    /// If there are too many, with advice.
    pub fn check(&self, link: &Arc<Link>) -> Result<(), &'static str> {
        if link.files() >= MOST_OF_ONE || self.waiting.len() >= MOST {
            Err("too many stills are under way: wait until some are finished and fetched")
        } else {
            Ok(())
        }
    }

    pub fn add(&mut self, still: Option<Still>) {
        self.waiting.extend(still);
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Removes stills of viewers that have left.
    pub fn let_go(&mut self) {
        self.waiting.retain(|still| !still.link.is_closed());
    }

    /// Cancels the stills of a viewer whose scene has changed.
    pub fn drop_of(&mut self, link: &Arc<Link>) {
        let dropped = self.waiting.extract_if(.., |still| Arc::ptr_eq(&still.link, link));
        for still in dropped {
            still.link.answer(Answer::error("the scene changed before the picture was finished: ask for it again"));
        }
    }

    /// Works on the first still of the next viewer.
    pub fn work(&mut self, scenes: &mut ViewerScenes, stop: &Stop) {
        let begun: u64 = self.waiting.iter().filter(|still| still.is_begun()).map(Still::bytes).sum();
        let may_begin = |still: &&Still| still.is_begun() || begun == 0 || begun + still.bytes() <= MOST_MEMORY;
        let numbers = || self.waiting.iter().filter(may_begin).map(|still| still.link.number);
        let Some(next) = numbers().filter(|&number| number > self.last).min().or_else(|| numbers().min()) else {
            return;
        };
        let Some(index) = self.waiting.iter().position(|still| still.link.number == next) else { return };
        self.last = next;
        scenes.turn_to(next);
        match self.waiting[index].work(scenes, stop) {
            Ok(false) => {}
            Ok(true) => drop(self.waiting.remove(index)),
            Err(error) => self.waiting.remove(index).link.answer(Answer::error(error)),
        }
    }
}
