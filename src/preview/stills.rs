//! Pictures that become files, of all viewers: a few of each, in turn.

use super::{Answer, Link, stage::Stage, still::Still};
use crate::device::Stop;
use std::sync::Arc;

/// Pictures of a viewer that may wait, be made or lie there until they are taken, and of all viewers together.
const MOST_OF_ONE: usize = 8;
const MOST: usize = 32;
/// Memory for samples, in bytes, above which no second picture is begun.
const MOST_MEMORY: u64 = 1 << 30;

#[derive(Default)]
pub struct Stills {
    /// Of each viewer, only the first is begun: the others take no memory for samples.
    waiting: Vec<Still>,
    /// The viewer whose picture was worked on last.
    last: u64,
}

impl Stills {
    /// Checks that a viewer may have another picture.
    ///
    /// # Errors
    /// If there are too many: what it is to wait for.
    pub fn check(&self, link: &Arc<Link>) -> Result<(), &'static str> {
        match link.files() >= MOST_OF_ONE || self.waiting.len() >= MOST {
            true => Err("too many stills are under way: wait until some are finished and fetched"),
            false => Ok(()),
        }
    }

    pub fn add(&mut self, still: Option<Still>) {
        self.waiting.extend(still);
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Forgets those of viewers who left.
    pub fn let_go(&mut self) {
        self.waiting.retain(|still| !still.link.is_closed());
    }

    /// Gives up the pictures of a viewer whose scene has changed.
    pub fn drop_of(&mut self, link: &Arc<Link>) {
        let dropped = self.waiting.extract_if(.., |still| Arc::ptr_eq(&still.link, link));
        for still in dropped {
            still.link.answer(Answer::error("the scene changed before the picture was finished: ask for it again"));
        }
    }

    /// Works on the first picture of the next viewer.
    pub fn work(&mut self, stage: &mut Stage, stop: &Stop) {
        let begun: u64 = self.waiting.iter().filter(|still| still.is_begun()).map(Still::bytes).sum();
        let may_begin = |still: &&Still| still.is_begun() || begun == 0 || begun + still.bytes() <= MOST_MEMORY;
        let numbers = || self.waiting.iter().filter(may_begin).map(|still| still.link.number);
        let Some(next) = numbers().filter(|&number| number > self.last).min().or_else(|| numbers().min()) else {
            return;
        };
        let Some(index) = self.waiting.iter().position(|still| still.link.number == next) else { return };
        self.last = next;
        stage.turn_to(next);
        match self.waiting[index].work(stage, stop) {
            Ok(false) => {}
            Ok(true) => drop(self.waiting.remove(index)),
            Err(error) => self.waiting.remove(index).link.answer(Answer::error(error)),
        }
    }
}
