//! Outputs that receive frames in order, while several threads finish them: standard output, videos, animations and contact sheets.

use super::{EncodeError, Metadata, OutputError, Picture, read_back};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex},
};
use throng_base::sync::{lock, unpoisoned};

/// A sink for frames in order. Each frame has the form that [`Prepare`] returned.
pub trait Sink: Send {
    fn add(&mut self, prepared: Vec<u8>, metadata: &Metadata) -> io::Result<()>;

    /// Completes the output after the last frame, so that the file appears under its name. Without this call, it never does.
    fn finish(&mut self) -> io::Result<()>;
}

/// The work on a frame that needs no other frame, so that several threads can run it in parallel.
pub type Prepare = Box<dyn Fn(&Picture) -> Result<Vec<u8>, EncodeError> + Send + Sync>;

/// A sink to which several threads add frames. Threads with later frames wait, so there are at most as many frames in memory as threads.
pub struct InOrder {
    /// Path of the output, which messages also contain.
    path: PathBuf,
    prepare: Prepare,
    turn: Mutex<Turn>,
    changed: Condvar,
}

struct Turn {
    sink: Box<dyn Sink>,
    /// Position of the next frame.
    next: usize,
    /// Position of the first frame that will not come.
    missing: usize,
    /// Frames that exist as files, by position.
    existing: BTreeMap<usize, Existing>,
}

/// A frame that exists as a file.
pub struct Existing {
    pub file: PathBuf,
    /// Size of all frames, in pixels.
    pub size: (u32, u32),
    pub metadata: Metadata,
}

impl InOrder {
    pub fn new(path: PathBuf, prepare: Prepare, sink: Box<dyn Sink>) -> Self {
        let turn = Turn { sink, next: 0, missing: usize::MAX, existing: BTreeMap::new() };
        Self { path, prepare, turn: Mutex::new(turn), changed: Condvar::new() }
    }

    /// Path of the output.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Registers an existing file as the frame at `position`. It is read when its turn comes.
    pub fn add_existing(&self, position: usize, frame: Existing) {
        lock(&self.turn).existing.insert(position, frame);
    }

    /// Adds the frame at `position`, after waiting for all frames before it. All earlier frames must exist as files or be in progress on
    /// other threads; otherwise this call never returns.
    ///
    /// # Errors
    /// If a frame cannot be encoded, read or written, or if an earlier frame was given up.
    pub fn add(&self, position: usize, picture: &Picture) -> Result<(), OutputError> {
        let prepared = self.prepare(picture)?;
        let mut turn = lock(&self.turn);
        loop {
            self.take_existing(&mut turn)?;
            if turn.next == position {
                break;
            }
            if turn.missing < position {
                return Err(OutputError::Earlier { path: self.path.clone() });
            }
            turn = unpoisoned(self.changed.wait(turn));
        }
        let added = turn.sink.add(prepared, picture.metadata);
        turn.next += 1;
        drop(turn);
        self.changed.notify_all();
        added.map_err(|error| self.failed(error))
    }

    /// Ends the wait of threads for the frame at `position`, which will not come.
    pub fn give_up(&self, position: usize) {
        let mut turn = lock(&self.turn);
        turn.missing = turn.missing.min(position);
        drop(turn);
        self.changed.notify_all();
    }

    /// Completes the output after the last frame.
    ///
    /// # Errors
    /// If an existing frame cannot be read, or if the output cannot be written.
    pub fn finish(&self) -> Result<(), OutputError> {
        let mut turn = lock(&self.turn);
        self.take_existing(&mut turn)?;
        turn.sink.finish().map_err(|error| self.failed(error))
    }

    fn take_existing(&self, turn: &mut Turn) -> Result<(), OutputError> {
        while let Some(frame) = turn.existing.remove(&turn.next) {
            let Existing { file, size, metadata } = &frame;
            let prepared = read_back(file, *size, metadata, |picture| self.prepare(picture))??;
            let added = turn.sink.add(prepared, metadata);
            added.map_err(|error| self.failed(error))?;
            turn.next += 1;
        }
        Ok(())
    }

    fn prepare(&self, picture: &Picture) -> Result<Vec<u8>, OutputError> {
        let prepared = (self.prepare)(picture);
        prepared.map_err(|error| OutputError::Encode { path: self.path.clone(), error })
    }

    fn failed(&self, error: io::Error) -> OutputError {
        OutputError::File { path: self.path.clone(), error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pixels, picture::testing};
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
    };

    #[derive(Clone, Default)]
    struct Seen(Arc<Mutex<Vec<u8>>>);

    impl Sink for Seen {
        fn add(&mut self, prepared: Vec<u8>, _: &Metadata) -> io::Result<()> {
            if prepared[0] == 99 {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.0.lock().unwrap().extend(prepared);
            Ok(())
        }

        fn finish(&mut self) -> io::Result<()> {
            self.0.lock().unwrap().push(255);
            Ok(())
        }
    }

    fn in_order(seen: &Seen) -> InOrder {
        let prepare = |picture: &Picture| match &picture.pixels {
            Pixels::U8(rgb) => Ok(vec![rgb[0]]),
            other => Err(EncodeError::Kind(other.kind())),
        };
        InOrder::new("a.mp4".into(), Box::new(prepare), Box::new(seen.clone()))
    }

    fn add(to: &InOrder, position: usize, value: u8) -> Result<(), OutputError> {
        let metadata = Metadata::default();
        to.add(position, &testing::picture((1, 1), Pixels::U8(vec![value; 3].into()), &metadata))
    }

    #[test]
    fn frames_come_in_order_whoever_is_first() {
        let seen = Seen::default();
        let (sink, next) = (in_order(&seen), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        if at >= 50 {
                            break;
                        }
                        thread::yield_now();
                        add(&sink, at, at as u8).unwrap();
                    }
                });
            }
        });
        sink.finish().unwrap();
        let expected: Vec<u8> = (0..50).chain([255]).collect();
        assert_eq!(*seen.0.lock().unwrap(), expected);
    }

    #[test]
    fn frames_that_exist_are_read_when_their_turn_comes() {
        let dir = tempfile::tempdir().unwrap();
        let file = |value: u8| {
            let path = dir.path().join(format!("{value}.png"));
            image::RgbImage::from_pixel(1, 1, image::Rgb([value; 3])).save(&path).unwrap();
            path
        };
        let seen = Seen::default();
        let sink = in_order(&seen);
        for (position, value) in [(0, 10), (1, 11), (3, 13)] {
            let frame = Existing { file: file(value), size: (1, 1), metadata: Metadata::default() };
            sink.add_existing(position, frame);
        }
        add(&sink, 2, 12).unwrap();
        sink.finish().unwrap();
        assert_eq!(*seen.0.lock().unwrap(), [10, 11, 12, 13, 255]);
        let other = Existing { file: file(14), size: (2, 1), metadata: Metadata::default() };
        sink.add_existing(4, other);
        let error = sink.finish().unwrap_err().to_string();
        assert!(error.contains("has 1x1 pixels and the video 2x1"), "{error}");
    }

    #[test]
    fn who_waits_for_a_frame_that_never_comes_is_told() {
        let seen = Seen::default();
        let sink = in_order(&seen);
        thread::scope(|scope| {
            let late = scope.spawn(|| add(&sink, 1, 1));
            sink.give_up(0);
            let error = late.join().unwrap().unwrap_err().to_string();
            assert!(error.contains("a.mp4: an earlier frame"), "{error}");
        });
        let error = add(&sink, 0, 99).unwrap_err().to_string();
        assert!(error.starts_with("cannot write a.mp4"), "{error}");
    }
}
