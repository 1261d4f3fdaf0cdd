//! Upload of a frame's data to its slot.

use super::Slot;
use crate::{
    Accumulation, Frame, FrameSettings,
    cuda::{memory::bytes_of, tables::scene::SceneTables},
    light::LocalTree,
    records::material_tables::MaterialTables,
};
use cust::error::CudaResult;
use std::sync::{Arc, Weak};
use throng_abi::{InstanceRecord, NestLevel, Params, Unit, ViewRecord};
use throng_accel::Tlas;

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
        if self.uploaded.as_ptr() != Arc::as_ptr(tlas) || self.uploaded.strong_count() == 0 {
            self.uploaded = Weak::new();
            // Some room to grow, because the tree of a moving scene changes its size from frame to frame.
            self.units.reserve_with_room(units.len())?;
            self.records.reserve_with_room(records.len() + behind)?;
            self.staging.reserve_with_room(units.len() + records.len() + behind)?;
            self.staging.fill(0, units);
            self.staging.fill(units.len(), records);
            for (bytes, start) in nested.iter().zip(starts) {
                self.staging.fill(units.len() + start, bytes);
            }
            let (staging, stream) = (&self.staging, &self.stream);
            // SAFETY: the slot was idle, and gets no new frame before its stream has passed this (see `Slot`).
            unsafe {
                self.units.write_later(0, staging, 0, units.len(), stream)?;
                self.records.write_later(0, staging, units.len(), records.len() + behind, stream)?;
            }
            self.uploaded = Arc::downgrade(tlas);
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
