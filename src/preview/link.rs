//! The two-way link between the loop and one viewer: commands one way, pictures and answers the other. Neither side waits for the other
//! but the viewer's, whose commands are taken no faster than they are carried out.

use super::{Answer, Command, Picture};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::Thread,
    time::Duration,
};

/// Commands that may wait to be carried out, and answers that may wait to be sent.
const MOST_COMMANDS: usize = 64;
const MOST_ANSWERS: usize = 1024;
/// Answers that wait, from which on only the last one of those that replace each other is kept.
const MANY_ANSWERS: usize = 16;

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
    bell: Arc<Bell>,
    /// Tells viewers apart.
    pub(super) number: u64,
    /// The name by which a viewer comes back.
    pub(super) name: Option<String>,
    /// Files that are being made.
    making: AtomicUsize,
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
    /// Whether somebody wants the viewer's side to look again.
    nudged: bool,
    closed: bool,
}

/// A file that is being made for a viewer, until this is dropped.
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
    pub(super) fn new(bell: Arc<Bell>, number: u64, name: Option<String>) -> Self {
        let (told, taken) = (Condvar::new(), Condvar::new());
        Self { bell, number, name, making: AtomicUsize::new(0), inner: Mutex::default(), told, taken }
    }

    /// The number that no other viewer has.
    pub fn number(&self) -> u64 {
        self.number
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
            let has_picture = takes_pictures && inner.picture.is_some();
            inner.answers.is_empty() && !inner.closed && !inner.nudged && !has_picture
        };
        if empty(&mut inner) {
            let waited = self.told.wait_timeout_while(inner, patience, empty);
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
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

    /// Makes [`Self::next`] return, now or when it is called.
    pub fn nudge(&self) {
        self.inner().nudged = true;
        self.told.notify_all();
    }

    /// Ends the link from either side.
    pub fn close(&self) {
        self.inner().closed = true;
        self.told.notify_all();
        self.taken.notify_all();
        self.bell.ring();
    }

    /// Whether either side has ended it.
    pub fn is_closed(&self) -> bool {
        self.inner().closed
    }

    /// Number of files that are being made for the viewer or wait for it.
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
        if inner.answers.len() >= MANY_ANSWERS {
            inner.answers.retain(|earlier| !answer.replaces(earlier));
        }
        if inner.answers.len() >= MOST_ANSWERS {
            // Whoever asks that much without listening is not served any more.
            inner.closed = true;
            inner.answers.clear();
        }
        if !inner.closed {
            inner.answers.push_back(answer);
        }
        self.told.notify_all();
        self.taken.notify_all();
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

    /// Whether it is about what is changed and not saved, and waits while that is being saved.
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
        // Nobody takes these.
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
