//! Rows of placement tables at a moment. They are read when the first of them is needed.

use crate::{PlacementTable, PlacementTables, RowPose, Rows, TablePosition, TableRun};
use glam::Affine3;
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// Maximum number of steps between the time of a frame and another time in which rows are checked for gaps.
const MOST_STEPS: f64 = 16.0;
/// Rows per task.
const CHUNK: usize = 4096;

/// The rows of all tables of a scene at a time.
#[derive(Clone, Debug, Default)]
pub struct PosedRows {
    tables: Arc<PlacementTables>,
    posed: Vec<OnceLock<PosedTable>>,
}

/// A time in seconds, and the time of the frame to which it belongs.
#[derive(Clone, Copy, Debug)]
pub struct TimeOfRows {
    pub time: f64,
    pub frame: f64,
}

/// A table at a time of a frame.
///
/// The frame determines which rows are there. If one of them ends between the frame and the time, the instance stays at its end.
#[derive(Clone, Debug)]
struct PosedTable {
    table: Arc<PlacementTable>,
    /// The rows from the frame's time to the time, in steps that miss no frame of the table.
    path: Vec<Between>,
    /// Whether the time is before the frame's.
    backwards: bool,
}

/// The frames of a table around a time.
#[derive(Clone, Debug)]
struct Between {
    from: Arc<Rows>,
    to: Arc<Rows>,
    share: f64,
}

impl PosedRows {
    /// The rows of tables at any time. Nothing is read yet.
    pub fn new(tables: &Arc<PlacementTables>) -> Self {
        Self { tables: tables.clone(), posed: vec![OnceLock::new(); tables.all.len()] }
    }

    /// Drops the rows, because the time has changed.
    pub fn clear(&mut self) {
        self.posed.iter_mut().for_each(|posed| *posed = OnceLock::new());
    }

    /// The transform of an instance, if a row places it and is there.
    pub fn instance(&self, instance: u32, at: TimeOfRows) -> Option<Affine3> {
        self.placed(&self.tables.instances, instance, at)
    }

    /// The transform of a node, if a row places it and is there.
    pub fn node(&self, node: u32, at: TimeOfRows) -> Option<Affine3> {
        self.placed(&self.tables.nodes, node, at)
    }

    fn placed(&self, runs: &[TableRun], index: u32, at: TimeOfRows) -> Option<Affine3> {
        let (run, row) = TableRun::find(runs, index)?;
        self.table(run, at)?.pose(row)?.placed(&run.around, &run.each)
    }

    fn table(&self, run: &TableRun, at: TimeOfRows) -> Option<&PosedTable> {
        let (table, posed) = (self.tables.all.get(run.table as usize)?, self.posed.get(run.table as usize)?);
        Some(posed.get_or_init(|| PosedTable::new(table.clone(), at)))
    }

    /// Adds the instances whose rows are not there in the frame, each once per run. Parallel.
    pub fn hidden(&self, at: TimeOfRows, to: &mut Vec<u32>) {
        for run in &self.tables.shown {
            let Some(table) = self.table(run, at) else { continue };
            let rows = (0..run.rows).into_par_iter().with_min_len(CHUNK);
            let hidden = rows.filter(|row| !table.is_there(run.row + row));
            let instances = hidden.flat_map_iter(|row| (0..run.stride).map(move |i| run.first + row * run.stride + i));
            to.par_extend(instances);
        }
    }
}

impl PosedTable {
    fn new(table: Arc<PlacementTable>, TimeOfRows { time, frame }: TimeOfRows) -> Self {
        let steps = ((time - frame).abs() / table.gap()).ceil().clamp(1.0, MOST_STEPS);
        let steps = if time == frame { 0 } else { steps as u32 };
        let at = |step: u32| match step {
            step if step == steps => time,
            step => frame + (time - frame) * f64::from(step) / f64::from(steps),
        };
        let path = (0..=steps).map(|step| Between::new(&table, at(step))).collect();
        Self { table, path, backwards: time < frame }
    }

    /// Whether a row is there in the frame.
    fn is_there(&self, row: u32) -> bool {
        self.path[0].is_there(&self.table, row)
    }

    /// The transform of a row. None if it is not there in the frame.
    fn pose(&self, row: u32) -> Option<RowPose> {
        let mut path = self.path.iter();
        match path.position(|step| !step.is_there(&self.table, row)) {
            None => self.path.last()?.pose(&self.table, row),
            Some(gap) => {
                let before = self.path.get(gap.checked_sub(1)?)?;
                let step = &self.path[gap];
                let end = if self.backwards { &step.to } else { &step.from };
                self.table.pose(end, row).or_else(|| before.pose(&self.table, row))
            }
        }
    }
}

impl Between {
    fn new(table: &PlacementTable, time: f64) -> Self {
        let TablePosition { from, to, share } = table.position(time);
        let from_rows = table.rows(from);
        let to = if to == from { from_rows.clone() } else { table.rows(to) };
        Self { from: from_rows, to, share }
    }

    /// Whether the row is there in both frames.
    fn is_there(&self, table: &PlacementTable, row: u32) -> bool {
        table.pose(&self.from, row).is_some() && (self.share == 0.0 || table.pose(&self.to, row).is_some())
    }

    fn pose(&self, table: &PlacementTable, row: u32) -> Option<RowPose> {
        let from = table.pose(&self.from, row)?;
        if self.share == 0.0 {
            return Some(from);
        }
        Some(RowPose::between(&from, &table.pose(&self.to, row)?, self.share))
    }
}

#[cfg(test)]
mod tests;
