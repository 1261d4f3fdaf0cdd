//! The two-way link between the loop and one viewer: commands in one direction, pictures and answers in the other. The loop never waits for
//! a viewer. The viewer's side waits only if its commands arrive faster than they are executed.

use super::{Answer, Command, ViewerPicture};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::Thread,
    time::Duration,
};
use throng_base::sync::{lock, unpoisoned};

/// Maximum numbers of commands that wait for execution, and of answers that wait to be sent.
const MOST_COMMANDS: usize = 64;
const MOST_ANSWERS: usize = 1024;
/// Number of waiting answers from which obsolete ones are dropped.
const MANY_ANSWERS: usize = 16;

/// Wakes the thread of the loop, and stores flags for it.
#[derive(Debug, Default)]
pub struct Bell {
    /// Whether a waiting command makes the current picture obsolete.
    pub(super) urgent: AtomicBool,
    /// Whether a scene is being loaded. Refinement of unchanged views pauses during this time, because loading needs the CPU.
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

/// The connection to a viewer, shared by both sides.
#[derive(Debug)]
pub struct Link {
    bell: Arc<Bell>,
    /// Unique number of the viewer.
    pub(super) number: u64,
    /// Name by which a returning viewer is recognised.
    pub(super) name: Option<String>,
    /// Number of files that are being made.
    making: AtomicUsize,
    inner: Mutex<Inner>,
    /// Notified when data for the viewer are available.
    told: Condvar,
    /// Notified when a command was taken.
    taken: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    commands: VecDeque<Command>,
    answers: VecDeque<Answer>,
    picture: Option<ViewerPicture>,
    /// Whether the viewer is ready for a picture.
    ready: bool,
    limits: Limits,
    /// Whether [`Link::next`] has to return early.
    nudged: bool,
    closed: bool,
}

/// Counts a file that is being made for a viewer, until this is dropped.
#[derive(Debug)]
pub(super) struct Ticket(Arc<Link>);

impl Ticket {
    pub fn new(link: &Arc<Link>) -> Self {
        link.making.fetch_add(1, Ordering::Relaxed);
        Self(link.clone())
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.making.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The capacity of the connection to a viewer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Maximum number of pixels of moving pictures; None for no limit.
    pub pixels: Option<u32>,
    pub pictures_per_second: f32,
    pub lag_ms: f32,
}

/// The next message for a viewer.
#[derive(Debug)]
pub enum Next {
    Answer(Answer),
    Picture(ViewerPicture),
    /// Nothing arrived in time.
    Nothing,
    /// The loop has ended, or the link was closed.
    Closed,
}

impl Link {
    pub(super) fn new(bell: Arc<Bell>, number: u64, name: Option<String>) -> Self {
        let (told, taken) = (Condvar::new(), Condvar::new());
        Self { bell, number, name, making: AtomicUsize::new(0), inner: Mutex::default(), told, taken }
    }

    /// Unique number of the viewer.
    pub fn number(&self) -> u64 {
        self.number
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// Queues a command; waits while the queue is full. A camera replaces a camera at the end of the queue.
    pub fn send(&self, command: Command) {
        let urgent = command.is_urgent();
        let mut inner = self.inner();
        match (&command, inner.commands.back_mut()) {
            (Command::Camera(_), Some(last @ Command::Camera(_))) => *last = command,
            _ => {
                while inner.commands.len() >= MOST_COMMANDS && !inner.closed {
                    inner = unpoisoned(self.taken.wait(inner));
                }
                if inner.closed {
                    return;
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

    /// Returns the next message: answers first, then, if `takes_pictures` is set, pictures. Waits for at most `patience`.
    pub fn next(&self, takes_pictures: bool, patience: Duration) -> Next {
        let mut inner = self.inner();
        if inner.ready != takes_pictures {
            inner.ready = takes_pictures;
            if takes_pictures {
                self.bell.ring();
            }
        }
        let empty = |inner: &mut Inner| {
            let has_picture = takes_pictures && inner.picture.is_some();
            inner.answers.is_empty() && !inner.closed && !inner.nudged && !has_picture
        };
        if empty(&mut inner) {
            let waited = self.told.wait_timeout_while(inner, patience, empty);
            inner = unpoisoned(waited).0;
        }
        inner.nudged = false;
        if inner.closed {
            return Next::Closed;
        }
        if let Some(answer) = inner.answers.pop_front() {
            return Next::Answer(answer);
        }
        match inner.picture.take_if(|_| takes_pictures) {
            Some(picture) => {
                // Until the viewer is ready again.
                inner.ready = false;
                Next::Picture(picture)
            }
            None => Next::Nothing,
        }
    }

    /// Sets the capacity of the connection.
    pub fn set_limits(&self, limits: Limits) {
        self.inner().limits = limits;
    }

    /// Makes [`Self::next`] return early, now or at its next call.
    pub fn nudge(&self) {
        self.inner().nudged = true;
        self.told.notify_all();
    }

    /// Closes the link; both sides may do this.
    pub fn close(&self) {
        self.inner().closed = true;
        self.told.notify_all();
        self.taken.notify_all();
        self.bell.ring();
    }

    /// Whether either side has closed the link.
    pub fn is_closed(&self) -> bool {
        self.inner().closed
    }

    /// Number of files that are being made for the viewer, or wait to be sent.
    pub(super) fn files(&self) -> usize {
        let waiting = self.inner().answers.iter().filter(|answer| answer.is_file()).count();
        waiting + self.making.load(Ordering::Relaxed)
    }

    pub(super) fn take_commands(&self) -> VecDeque<Command> {
        let commands = std::mem::take(&mut self.inner().commands);
        if !commands.is_empty() {
            self.taken.notify_all();
        }
        commands
    }

    /// Whether a picture would be sent immediately.
    pub(super) fn is_ready(&self) -> bool {
        let inner = self.inner();
        inner.ready && inner.picture.is_none()
    }

    pub(super) fn limits(&self) -> Limits {
        self.inner().limits
    }

    pub fn answer(&self, answer: Answer) {
        let mut inner = self.inner();
        if inner.answers.len() >= MANY_ANSWERS {
            inner.answers.retain(|earlier| !answer.replaces(earlier));
        }
        if inner.answers.len() >= MOST_ANSWERS {
            // A viewer that sends many requests without reading the answers is disconnected.
            inner.closed = true;
            inner.answers.clear();
        }
        if !inner.closed {
            inner.answers.push_back(answer);
        }
        self.told.notify_all();
        self.taken.notify_all();
    }

    /// Stores a picture for the viewer. It replaces a picture that was not sent yet.
    pub(super) fn show(&self, picture: ViewerPicture) {
        self.inner().picture = Some(picture);
        self.told.notify_all();
    }
}

impl Command {
    /// Whether the command makes the current picture obsolete.
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

    /// Whether the command concerns unsaved changes, and therefore waits while they are being saved.
    pub(super) fn concerns_edits(&self) -> bool {
        matches!(
            self,
            Self::Save { .. }
                | Self::Change { .. }
                | Self::Place { .. }
                | Self::Values {}
                | Self::Reload {}
                | Self::Line { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> Arc<Link> {
        Arc::new(Link::new(Arc::default(), 1, None))
    }

    #[test]
    fn a_viewer_that_does_not_listen_takes_little_memory_and_is_let_go() {
        let link = link();
        for _ in 0..10 * MOST_ANSWERS {
            link.answer(Answer::Values { values: Vec::new() });
        }
        assert!(!link.is_closed() && link.inner().answers.len() <= MANY_ANSWERS);
        (0..=MOST_ANSWERS).for_each(|_| link.answer(Answer::error("no")));
        assert!(link.is_closed() && link.inner().answers.is_empty());
        // Nobody takes these commands.
        (0..10 * MOST_COMMANDS).for_each(|_| link.send(Command::Values {}));
        assert!(link.inner().commands.len() <= MOST_COMMANDS);
    }

    #[test]
    fn a_nudge_is_not_missed() {
        let link = link();
        link.nudge();
        assert!(matches!(link.next(false, Duration::from_secs(60)), Next::Nothing));
        assert!(matches!(link.next(false, Duration::ZERO), Next::Nothing));
    }

    #[test]
    fn files_count_until_they_are_taken() {
        let link = link();
        let ticket = Ticket::new(&link);
        let file = Some((bytes::Bytes::new(), "png"));
        link.answer(Answer::Still { ask: 1, share: None, link: None, file });
        assert_eq!(link.files(), 2);
        drop(ticket);
        assert!(matches!(link.next(false, Duration::ZERO), Next::Answer(_)));
        assert_eq!(link.files(), 0);
    }
}
