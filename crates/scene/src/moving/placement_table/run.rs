//! The instances and nodes of a scene that rows of tables place.

use super::PlacementTable;
use glam::Affine3;
use std::sync::Arc;

/// The tables of a scene, and what their rows place.
#[derive(Clone, Debug, Default)]
pub struct PlacementTables {
    /// The tables.
    pub all: Vec<Arc<PlacementTable>>,
    /// Instances whose transforms come from rows, ascending and without overlaps.
    pub instances: Vec<TableRun>,
    /// Nodes whose transforms come from rows, ascending and without overlaps.
    pub nodes: Vec<TableRun>,
    /// Instances that are visible while their row is there: for each row, as many as the stride. Runs may overlap.
    pub shown: Vec<TableRun>,
}

/// Indices at equal steps, which successive rows of a table place: `node_from_object = around · row(t) · each`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableRun {
    /// Index into [`PlacementTables::all`].
    pub table: u32,
    /// Index of the first instance or node.
    pub first: u32,
    /// Number of indices per row.
    pub stride: u32,
    /// First row.
    pub row: u32,
    /// Number of rows.
    pub rows: u32,
    /// Transform from the space of the table to the space around it.
    pub around: Affine3,
    /// Transform from the object to the space of its row.
    pub each: Affine3,
}

impl TableRun {
    /// The row that places the instance or node with this index.
    pub fn row_of(&self, index: u32) -> Option<u32> {
        let offset = index.checked_sub(self.first)?;
        let row = offset / self.stride;
        (offset % self.stride == 0 && row < self.rows).then_some(self.row + row)
    }

    /// The run of an index, and its row, in ascending runs.
    pub fn find(runs: &[Self], index: u32) -> Option<(&Self, u32)> {
        let run = runs.get(runs.partition_point(|run| run.first <= index).checked_sub(1)?)?;
        Some((run, run.row_of(index)?))
    }

    /// Adds a run of one row at the end of `runs`, or extends the last run by it at whatever step it follows.
    pub fn push(runs: &mut Vec<Self>, one: Self) {
        match runs.last_mut() {
            Some(last) if last.rows == 1 && last.precedes(&one) => {
                (last.stride, last.rows) = (one.first - last.first, 2);
            }
            Some(last) if last.precedes(&one) && last.is_next(one.first) => last.rows += 1,
            _ => runs.push(one),
        }
    }

    /// As [`Self::push`] for a row that places as many indices as the stride, which follow the last ones.
    pub fn push_block(runs: &mut Vec<Self>, one: Self) {
        match runs.last_mut() {
            Some(last) if last.precedes(&one) && last.stride == one.stride && last.is_next(one.first) => last.rows += 1,
            _ => runs.push(one),
        }
    }

    /// Whether a run of one row has the row after this run's, and lies behind it.
    fn precedes(&self, one: &Self) -> bool {
        let placed = (one.table, one.around, one.each) == (self.table, self.around, self.each);
        placed && one.row == self.row + self.rows && one.first > self.first
    }

    fn is_next(&self, first: u32) -> bool {
        u64::from(first) == u64::from(self.first) + u64::from(self.rows) * u64::from(self.stride)
    }
}

impl PlacementTables {
    /// Whether nothing is placed by rows.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether a row places the node with this index.
    pub fn places_node(&self, node: u32) -> bool {
        TableRun::find(&self.nodes, node).is_some()
    }

    /// For each of `count` instances, whether a row places or hides it.
    pub fn affected(&self, count: usize) -> Vec<bool> {
        let mut affected = vec![false; count];
        for run in &self.instances {
            let placed = affected.iter_mut().skip(run.first as usize).step_by(run.stride as usize);
            placed.take(run.rows as usize).for_each(|affected| *affected = true);
        }
        for run in &self.shown {
            let hidden = affected.iter_mut().skip(run.first as usize).take(run.rows as usize * run.stride as usize);
            hidden.for_each(|affected| *affected = true);
        }
        affected
    }

    /// The first error of reading rows, if there was one.
    pub fn fault(&self) -> Option<&str> {
        self.all.iter().find_map(|table| table.fault())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(first: u32, row: u32) -> TableRun {
        let (around, each) = (Affine3::IDENTITY, Affine3::IDENTITY);
        TableRun { table: 0, first, stride: 1, row, rows: 1, around, each }
    }

    fn runs(all: &[(u32, u32)]) -> Vec<TableRun> {
        let mut runs = Vec::new();
        all.iter().for_each(|&(first, row)| TableRun::push(&mut runs, one(first, row)));
        runs
    }

    #[test]
    fn equal_steps_become_one_run() {
        let nodes = runs(&[(3, 0), (5, 1), (7, 2), (8, 3), (20, 0)]);
        assert_eq!(nodes.len(), 3);
        let row = |index| TableRun::find(&nodes, index).map(|(_, row)| row);
        assert_eq!(
            [2, 3, 4, 5, 6, 7, 8, 9, 20, 21].map(row),
            [None, Some(0), None, Some(1), None, Some(2), Some(3), None, Some(0), None]
        );
    }

    #[test]
    fn blocks_of_different_sizes_stay_apart() {
        let mut shown = Vec::new();
        for (first, row, stride) in [(4, 0, 3), (7, 1, 3), (10, 2, 5)] {
            TableRun::push_block(&mut shown, TableRun { stride, ..one(first, row) });
        }
        assert_eq!(shown.iter().map(|run| (run.first, run.rows)).collect::<Vec<_>>(), [(4, 2), (10, 1)]);
        let tables = PlacementTables { shown, instances: runs(&[(1, 0)]), ..PlacementTables::default() };
        let affected = tables.affected(17);
        assert_eq!(
            [0, 1, 2, 3, 4, 14, 15].map(|instance| affected[instance]),
            [false, true, false, false, true, true, false]
        );
    }
}
