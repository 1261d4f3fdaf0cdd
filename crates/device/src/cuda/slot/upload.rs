//! Upload of a frame's data to its slot.

use super::Slot;
use crate::{
    Accumulation, Frame, FrameSettings,
    cuda::{
        memory::{Array, bytes_of},
        tables::scene::SceneTables,
    },
    light::LocalTree,
    records::material_tables::MaterialTables,
};
use cust::error::CudaResult;
use std::sync::{Arc, Weak};
use throng_abi::{InstanceRecord, NestLevel, Params, Unit, ViewRecord};
use throng_accel::{Place, Tlas};

/// Whether `held` refers to `wanted`.
fn is_same<T>(held: &Weak<T>, wanted: &Arc<T>) -> bool {
    held.as_ptr() == Arc::as_ptr(wanted) && held.strong_count() > 0
}

impl Slot {
    /// Queues the upload of the trees and shapes of a frame with deforming meshes. The slot must be idle.
    pub fn deform(&mut self, tables: &SceneTables, frame: &Frame, params: &mut Params) -> CudaResult<()> {
        self.pool.upload(&frame.blas, &self.stream)?;
        self.shapes.upload(tables, &frame.shapes, &self.stream)?;
        self.pool.apply(params);
        self.shapes.apply(params);
        Ok(())
    }

    /// Queues the upload of the frame's own tables of materials and lights. The slot must be idle.
    pub fn upload_tables(
        &mut self,
        scene: &SceneTables,
        tables: &MaterialTables,
        params: &mut Params,
    ) -> CudaResult<()> {
        self.posed_tables.upload(scene, tables, &self.stream)?;
        self.posed_tables.apply(params);
        Ok(())
    }

    /// Queues the upload of the tree over the lights inside the scene. The slot must be idle.
    pub fn light(&mut self, tree: &Arc<LocalTree>, params: &mut Params) -> CudaResult<()> {
        params.local_lights = self.lights.upload(tree, &self.stream)?;
        Ok(())
    }

    /// Queues the upload of motion keys if the frame has motion blur. The slot must be idle.
    pub fn upload_shutter_keys(
        &mut self,
        frame: &Frame,
        settings: &FrameSettings,
        params: &mut Params,
    ) -> CudaResult<()> {
        match params.frame.moves {
            0 => Ok(()),
            _ => self.shutter.upload(frame, settings, params, &self.stream),
        }
    }

    /// Queues the upload of the pictures of a batch, if there are any. The slot must be idle.
    pub fn upload_views(&mut self, views: &[ViewRecord], params: &mut Params) -> CudaResult<()> {
        if views.is_empty() { Ok(()) } else { self.views.upload(views, params, &self.stream) }
    }

    /// Prepares memory for the frame's AOVs, if any, and for their exact sums if `keeps_layers` is set, and queues the upload of their tables. The
    /// slot must be idle.
    pub fn prepare_aovs(
        &mut self,
        tables: &SceneTables,
        frame: &Frame,
        (settings, keeps_layers): (&FrameSettings, bool),
        params: &mut Params,
    ) -> CudaResult<()> {
        if settings.aovs.is_empty() {
            Ok(())
        } else {
            self.film.reserve(size_of::<u32>() * Accumulation::words(settings))?;
            let start = Accumulation::cover_start(settings);
            let cover = start.map(|start| self.film.at(size_of::<u32>() * start));
            self.aovs.prepare(tables, (frame, settings), keeps_layers, cover, params, &self.stream)
        }
    }

    /// Copies a TLAS to page-locked memory and queues the upload. The slot must be idle.
    pub fn upload(&mut self, tlas: &Arc<Tlas>, params: &mut Params) -> CudaResult<()> {
        let (units, records) = (bytes_of(&tlas.units), bytes_of(&tlas.records));
        // Levels, numbers, records and indices of instances follow the records. Their sizes are multiples of a word.
        let nested = tlas.nested.as_ref().map_or([&[][..]; 4], |nested| nested.parts());
        let mut starts = [records.len(); 5];
        for (part, bytes) in nested.iter().enumerate() {
            starts[part + 1] = starts[part] + bytes.len();
        }
        let behind = starts[4] - records.len();
        if !is_same(&self.uploaded, tlas) {
            self.uploaded = Weak::new();
            let held = std::mem::take(&mut self.uploaded_still);
            // Some room to grow, because the tree of a moving scene changes its size from frame to frame.
            let room = (self.units.bytes(), self.records.bytes());
            self.units.reserve_with_room(units.len())?;
            self.records.reserve_with_room(records.len() + behind)?;
            let keeps = room == (self.units.bytes(), self.records.bytes());
            let kept = tlas.still.iter().zip(&held).take_while(|(still, held)| keeps && is_same(held, still));
            let kept = kept.last().map(|(still, _)| still.end());
            // The roots are always new.
            let (first, next) = kept.map_or((0, 0), |end| (Place::FIRST.units, end.units));
            let [first, next] = [first, next].map(|unit| unit * size_of::<Unit>());
            let next_record = kept.map_or(0, |end| end.records) * size_of::<InstanceRecord>();
            let of_units = [(0, &units[..first]), (next, &units[next..])];
            let of_units = of_units.map(|(start, bytes)| (&self.units, start, bytes));
            let of_records = [(next_record, &records[next_record..])].into_iter().chain(starts.into_iter().zip(nested));
            let of_records = of_records.map(|(start, bytes)| (&self.records, start, bytes));
            let copies: Vec<(&Array, usize, &[u8])> = of_units.into_iter().chain(of_records).collect();
            self.staging.reserve_with_room(copies.iter().map(|(_, _, bytes)| bytes.len()).sum())?;
            let mut staged = 0;
            for (_, _, bytes) in &copies {
                self.staging.fill(staged, bytes);
                staged += bytes.len();
            }
            staged = 0;
            for (array, start, bytes) in copies {
                // SAFETY: the slot was idle, and gets no new frame before its stream has passed this (see `Slot`).
                unsafe { array.write_later(start, &self.staging, staged, bytes.len(), &self.stream)? };
                staged += bytes.len();
            }
            self.uploaded = Arc::downgrade(tlas);
            self.uploaded_still = tlas.still.iter().map(Arc::downgrade).collect();
        }
        params.trees.tlas_units = self.units.at::<Unit>(0);
        params.trees.instances = self.records.at::<InstanceRecord>(0);
        if behind > 0 {
            params.trees.levels = self.records.at::<NestLevel>(starts[0]);
            params.trees.numbers = self.records.at::<u32>(starts[1]);
            params.trees.records_of = self.records.at::<u32>(starts[2]);
            params.trees.indices = self.records.at::<u32>(starts[3]);
        }
        if let Some(nested) = &tlas.nested {
            params.trees.shares_numbers = nested.numbers.shared.into();
        }
        Ok(())
    }
}
