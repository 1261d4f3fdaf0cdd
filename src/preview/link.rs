//! The two-way link between the loop and one viewer: commands one way, pictures and answers the other. Neither side waits for the other
//! but the viewer's, whose commands are taken no faster than they are carried out.

use super::{Answer, Command, Picture};
use std::{
    collections::VecDeque,
    sync::{
        Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::Thread,
    time::Duration,
};

/// Commands that may wait to be carried out, and answers that may wait to be sent.
const MOST_COMMANDS: usize = 64;
const MOST_ANSWERS: usize = 1024;

/// The bell of the loop's thread.
#[derive(Debug, Default)]
pub struct Bell {
    /// Whether a command waits that makes the picture under way outdated.
    pub(super) urgent: AtomicBool,
    /// Whether a scene is being loaded, which has the processor until it is: what stands still waits.
    pub(super) loading: AtomicBool,
    pub(super) quit: AtomicBool,
    pub(super) thread: OnceLock<Thread>,
}

impl Bell {
    pub(super) fn ring(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// A viewer, as both sides hold it.
#[derive(Debug)]
pub struct Link {
    bell: std::sync::Arc<Bell>,
    inner: Mutex<Inner>,
    /// Something is there for the viewer.
    told: Condvar,
    /// A command was taken.
    taken: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    commands: VecDeque<Command>,
    answers: VecDeque<Answer>,
    picture: Option<Picture>,
    /// Whether the viewer can take a picture.
    ready: bool,
    limits: Limits,
    closed: bool,
}

/// The capacity of the line to a viewer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Pixels of pictures of something that moves; None: as many as wanted.
    pub pixels: Option<u32>,
    pub pictures_per_second: f32,
    pub lag_ms: f32,
}

/// The next thing for a viewer.
#[derive(Debug)]
pub enum Next {
    Answer(Answer),
    Picture(Picture),
    /// Nothing came in time.
    Nothing,
    /// The loop has ended, or the link was closed.
    Closed,
}

impl Link {
    pub(super) fn new(bell: std::sync::Arc<Bell>) -> Self {
        Self { bell, inner: Mutex::default(), told: Condvar::new(), taken: Condvar::new() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a command on; waits while too many are waiting. A camera takes the place of one that was not seen yet.
    pub fn send(&self, command: Command) {
        let urgent = command.is_urgent();
        let mut inner = self.inner();
        match (&command, inner.commands.back_mut()) {
            (Command::Camera(_), Some(last @ Command::Camera(_))) => *last = command,
            _ => {
                while inner.commands.len() >= MOST_COMMANDS && !inner.closed {
                    inner = self.taken.wait(inner).unwrap_or_else(PoisonError::into_inner);
                }
                inner.commands.push_back(command);
            }
        }
        drop(inner);
        if urgent {
            self.bell.urgent.store(true, Ordering::Relaxed);
        }
        self.bell.ring();
    }

    /// The next thing: answers first, then, if the viewer takes them, pictures. Waits for it that long at most.
    pub fn next(&self, takes_pictures: bool, patience: Duration) -> Next {
        let mut inner = self.inner();
        if inner.ready != takes_pictures {
            inner.ready = takes_pictures;
            if takes_pictures {
                self.bell.ring();
            }
        }
        let empty = |inner: &mut Inner| {
            inner.answers.is_empty() && !inner.closed && !(takes_pictures && inner.picture.is_some())
        };
        if empty(&mut inner) {
            let waited = self.told.wait_timeout_while(inner, patience, empty);
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if inner.closed {
            return Next::Closed;
        }
        if let Some(answer) = inner.answers.pop_front() {
            return Next::Answer(answer);
        }
        match inner.picture.take_if(|_| takes_pictures) {
            Some(picture) => {
                // Until the viewer asks again.
                inner.ready = false;
                Next::Picture(picture)
            }
            None => Next::Nothing,
        }
    }

    /// Tells the loop what the line can carry.
    pub fn set_limits(&self, limits: Limits) {
        self.inner().limits = limits;
    }

    /// Wakes up whoever waits for [`Self::next`].
    pub fn nudge(&self) {
        self.told.notify_all();
    }

    /// Ends the link from either side.
    pub fn close(&self) {
        self.inner().closed = true;
        self.told.notify_all();
        self.taken.notify_all();
        self.bell.ring();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.inner().closed
    }

    pub(super) fn take_commands(&self) -> VecDeque<Command> {
        let commands = std::mem::take(&mut self.inner().commands);
        if !commands.is_empty() {
            self.taken.notify_all();
        }
        commands
    }

    /// Whether a picture would be sent at once.
    pub(super) fn is_ready(&self) -> bool {
        let inner = self.inner();
        inner.ready && inner.picture.is_none()
    }

    pub(super) fn limits(&self) -> Limits {
        self.inner().limits
    }

    pub(crate) fn answer(&self, answer: Answer) {
        let mut inner = self.inner();
        if inner.answers.len() >= MOST_ANSWERS {
            // Whoever asks that much without listening is not served any more.
            inner.closed = true;
        }
        inner.answers.push_back(answer);
        self.told.notify_all();
    }

    /// Replaces a picture that was not taken yet.
    pub(super) fn show(&self, picture: Picture) {
        self.inner().picture = Some(picture);
        self.told.notify_all();
    }
}

impl Command {
    /// Whether what is being rendered is outdated by it.
    fn is_urgent(&self) -> bool {
        matches!(
            self,
            Self::Start { .. }
                | Self::Camera(_)
                | Self::Time { .. }
                | Self::Play { .. }
                | Self::Follow { .. }
                | Self::Set { .. }
                | Self::Change { .. }
                | Self::Place { .. }
        )
    }
}
