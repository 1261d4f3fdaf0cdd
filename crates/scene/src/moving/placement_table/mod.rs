//! Placements as data: the transforms of many instances over time, read frame by frame from a table.
//!
//! A table is an array of (frame, instance). Rows are read when a moment needs them, and dropped with it, so that a table may be larger than
//! memory.

mod row;
mod run;

pub use row::{RowFormat, RowLayout, RowPose};
pub use run::{PlacementTables, TableRun};

use crate::Ends;
use std::{
    fmt::Debug,
    sync::{Arc, Mutex, OnceLock, Weak},
};
use throng_base::sync::lock;

/// Share of the time between two frames below which a time counts as at a frame. Times are computed from whole numbers, and differ by
/// rounding alone.
const SAME: f64 = 1e-6;

/// The times of a table's frames.
#[derive(Clone, Debug, PartialEq)]
pub enum RowClock {
    /// Frames at equal steps.
    Rate {
        /// Time of the first frame, in seconds.
        start: f64,
        /// Frames per second, above 0.
        fps: f64,
    },
    /// The time of each frame in seconds, increasing.
    Times(Vec<f64>),
}

/// Access to the rows of a table.
pub trait RowSource: Debug + Send + Sync {
    /// Fills `into` with the rows of a frame, in the table's format.
    ///
    /// # Errors
    /// If they cannot be read. The text is a line with the name of the file.
    fn read(&self, frame: u32, into: &mut [u8]) -> Result<(), String>;
}

/// The shape of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableShape {
    /// Number of frames, at least 1.
    pub frames: u32,
    /// Number of rows in a frame, each of one instance; at least 1.
    pub instances: u32,
    /// Format of a row.
    pub format: RowFormat,
    /// Times of the frames.
    pub clock: RowClock,
    /// Behaviour before the first frame and after the last.
    pub ends: Ends,
    /// A hash of the content, or of a part of it.
    pub content: u64,
}

/// The transforms of instances over time.
#[derive(Debug)]
pub struct PlacementTable {
    shape: TableShape,
    /// The least time between two frames, in seconds.
    gap: f64,
    source: Box<dyn RowSource>,
    /// Frames that a moment holds, with their numbers.
    recent: Mutex<Vec<(u32, Weak<Rows>)>>,
    fault: OnceLock<String>,
}

/// The rows of a frame; empty if they could not be read.
pub type Rows = Vec<u8>;

/// The frames around a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TablePosition {
    /// The frame at or before the time.
    pub from: u32,
    /// The frame after it. Equal to `from` at a frame.
    pub to: u32,
    /// Share of the time between them that has passed.
    pub share: f64,
}

impl PlacementTable {
    /// A table whose rows come from `source`.
    pub fn new(shape: TableShape, source: Box<dyn RowSource>) -> Self {
        let gap = match &shape.clock {
            RowClock::Rate { fps, .. } => 1.0 / fps,
            RowClock::Times(times) => times.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min),
        };
        Self { shape, gap, source, recent: Mutex::default(), fault: OnceLock::new() }
    }

    /// The shape of the table.
    pub fn shape(&self) -> &TableShape {
        &self.shape
    }

    /// The least time between two frames, in seconds; infinite for a single frame.
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// The error of reading rows, if there was one. Instances are then hidden.
    pub fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    /// The position of a time, in seconds.
    pub fn position(&self, time: f64) -> TablePosition {
        let last = self.shape.frames - 1;
        let time = self.folded(time);
        let (from, share) = match &self.shape.clock {
            RowClock::Rate { start, fps } => {
                let passed = ((time - start) * fps).clamp(0.0, last.into());
                (passed.floor() as u32, passed.fract())
            }
            RowClock::Times(times) => match times.partition_point(|t| *t <= time).checked_sub(1) {
                None => (0, 0.0),
                Some(from) if from >= last as usize => (last, 0.0),
                Some(from) => (from as u32, (time - times[from]) / (times[from + 1] - times[from])),
            },
        };
        match share {
            share if share < SAME => TablePosition { from, to: from, share: 0.0 },
            share if share > 1.0 - SAME => TablePosition { from: from + 1, to: from + 1, share: 0.0 },
            share => TablePosition { from, to: from + 1, share },
        }
    }

    /// A time within the table at which the rows are those at `time`.
    fn folded(&self, time: f64) -> f64 {
        let last = self.shape.frames - 1;
        let (start, length) = match &self.shape.clock {
            RowClock::Rate { start, fps } => (*start, f64::from(last) / fps),
            RowClock::Times(times) => (times[0], times[last as usize] - times[0]),
        };
        let passed = time - start;
        match self.shape.ends {
            Ends::Loop if length > 0.0 => start + passed.rem_euclid(length),
            Ends::PingPong if length > 0.0 => {
                let passed = passed.rem_euclid(2.0 * length);
                start + passed.min(2.0 * length - passed)
            }
            _ => time,
        }
    }

    /// The rows of a frame. A frame that another moment holds is not read again.
    pub fn rows(&self, frame: u32) -> Arc<Rows> {
        let mut recent = lock(&self.recent);
        let known = recent.iter().find(|(number, _)| *number == frame);
        if let Some(rows) = known.and_then(|(_, rows)| rows.upgrade()) {
            return rows;
        }
        let rows = Arc::new(self.read(frame));
        recent.retain(|(_, rows)| rows.strong_count() > 0);
        recent.push((frame, Arc::downgrade(&rows)));
        rows
    }

    fn read(&self, frame: u32) -> Rows {
        let mut rows = vec![0; self.shape.instances as usize * self.shape.format.bytes()];
        match self.source.read(frame, &mut rows) {
            Ok(()) => rows,
            Err(fault) => {
                self.fault.get_or_init(|| fault);
                Rows::new()
            }
        }
    }

    /// The transform in a row of a frame. None if the instance is not there.
    pub fn pose(&self, rows: &Rows, row: u32) -> Option<RowPose> {
        let bytes = self.shape.format.bytes();
        let start = row as usize * bytes;
        self.shape.format.pose(rows.get(start..start + bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desc::QuaternionOrder;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Rows that are the number of their frame. Counts the frames that are read, and fails at frame 3.
    #[derive(Debug, Default)]
    struct Counted(Arc<AtomicU32>);

    impl RowSource for Counted {
        fn read(&self, frame: u32, into: &mut [u8]) -> Result<(), String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            into.fill(frame as u8);
            if frame == 3 { Err("tracks: the file is gone".to_owned()) } else { Ok(()) }
        }
    }

    fn table(clock: RowClock, ends: Ends) -> (PlacementTable, Arc<AtomicU32>) {
        let layout = RowLayout::Parts { order: QuaternionOrder::Xyzw, scales: 0 };
        let format = RowFormat { layout, is_double: false, is_big_endian: false };
        let source = Counted::default();
        let count = source.0.clone();
        let shape = TableShape { frames: 5, instances: 2, format, clock, ends, content: 0 };
        (PlacementTable::new(shape, Box::new(source)), count)
    }

    fn at(table: &PlacementTable, time: f64) -> (u32, u32, f64) {
        let TablePosition { from, to, share } = table.position(time);
        (from, to, (share * 1e6).round() / 1e6)
    }

    #[test]
    fn times_are_found_between_frames_and_held_beyond_the_ends() {
        let rate = table(RowClock::Rate { start: 1.0, fps: 10.0 }, Ends::Hold).0;
        let times = table(RowClock::Times(vec![1.0, 1.1, 1.2, 1.3, 1.4]), Ends::Hold).0;
        for table in [rate, times] {
            assert_eq!(at(&table, 0.5), (0, 0, 0.0));
            assert_eq!(at(&table, 1.0 + 2.0 / 10.0), (2, 2, 0.0), "rounding does not matter");
            assert_eq!(at(&table, 1.225), (2, 3, 0.25));
            assert_eq!(at(&table, 9.0), (4, 4, 0.0));
        }
    }

    #[test]
    fn loops_and_ping_pong_behave_as_keyframes_do() {
        let of = |ends| table(RowClock::Rate { start: 0.0, fps: 1.0 }, ends).0;
        let (looped, back) = (of(Ends::Loop), of(Ends::PingPong));
        assert_eq!([at(&looped, 4.5), at(&looped, -0.5)], [(0, 1, 0.5), (3, 4, 0.5)]);
        assert_eq!([at(&back, 4.5), at(&back, -0.5)], [(3, 4, 0.5), (0, 1, 0.5)]);
    }

    #[test]
    fn a_frame_is_read_once_while_something_holds_it() {
        let (table, reads) = table(RowClock::Rate { start: 0.0, fps: 1.0 }, Ends::Hold);
        let held = table.rows(2);
        assert!(Arc::ptr_eq(&held, &table.rows(2)));
        assert_eq!(reads.load(Ordering::Relaxed), 1);
        drop(held);
        assert_eq!(table.rows(2).len(), 2 * 7 * 4);
        assert_eq!(reads.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_failed_read_is_kept_and_hides_the_rows() {
        let table = table(RowClock::Rate { start: 0.0, fps: 1.0 }, Ends::Hold).0;
        assert_eq!(table.fault(), None);
        assert_eq!(table.pose(&table.rows(3), 0), None);
        assert_eq!(table.fault(), Some("tracks: the file is gone"));
    }
}
