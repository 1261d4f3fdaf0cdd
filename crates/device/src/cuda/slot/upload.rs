//! Upload of a frame's data to its slot.

use super::Slot;
use crate::{
    Accumulation, Frame, FrameSettings, cuda::tables::scene::SceneTables, light::LocalTree,
    records::material_tables::MaterialTables,
};
use cust::error::CudaResult;
use std::sync::Arc;
use throng_abi::{Params, ViewRecord};

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
}
