//! A frame's own materials, maps, lights and environment on the GPU, for one frame in flight.

use super::scene::SceneTables;
use crate::cuda::memory::{Array, Pinned, bytes_of};
use crate::{
    light::{sun_count, sun_irradiance},
    records::material_tables::{MaterialTables, cutouts, has_panes},
};
use cust::{error::CudaResult, stream::Stream};
use std::mem::size_of_val;
use throng_abi::{EnvironmentRecord, LightRecord, LobesRecord, MapRecord, MaterialRecord, Params, TextureRecord};

/// Alignment of every table, so that records are loaded in whole sectors.
const ALIGNMENT: usize = 256;

/// The tables of a frame, concatenated.
#[derive(Default)]
pub struct UploadedTables {
    memory: Array,
    staging: Pinned,
    /// The contents of `memory`, now or after the stream has passed the upload.
    held: Vec<u8>,
    places: Places,
    counts: Counts,
}

/// Offset in bytes of each table.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Places {
    materials: usize,
    lobes: usize,
    maps: usize,
    lights: usize,
    /// The environment's image, the low-passed image, its table, and all textures; 0 if the frame uses the scene's environment.
    /// Of the texels of both textures of the sky, and of their smaller levels.
    texels: [[usize; 2]; 2],
    sky_rows: usize,
    sky_cells: usize,
    textures: usize,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    lobes: u32,
    lights: u32,
    suns: u32,
    sun_irradiance: f32,
    cutouts: u32,
    has_panes: bool,
    environment: Option<EnvironmentRecord>,
    /// Whether the frame's own sky has mip maps.
    has_mips: bool,
}

impl UploadedTables {
    /// Bytes allocated on the GPU.
    pub fn bytes_held(&self) -> usize {
        self.memory.bytes()
    }

    /// Queues the upload of the `tables` of a frame of `scene`, unless equal tables are already uploaded. Work that was queued before must not use
    /// this memory.
    pub fn upload(&mut self, scene: &SceneTables, tables: &MaterialTables, stream: &Stream) -> CudaResult<()> {
        let sky = tables.sky.as_deref();
        self.counts = Counts {
            lobes: tables.lobes.len() as u32,
            lights: tables.lights.len() as u32,
            suns: sun_count(&tables.lights),
            sun_irradiance: sun_irradiance(&tables.lights),
            cutouts: cutouts(&tables.materials),
            has_panes: has_panes(&tables.materials, &tables.lobes),
            environment: sky.map(|sky| sky.environment),
            has_mips: sky.is_some_and(|sky| sky.textures.iter().any(|texture| texture.levels > 1)),
        };
        let mut bytes = Vec::with_capacity(tables_bytes(scene, tables));
        let mut places = Places {
            materials: append(&mut bytes, bytes_of(&tables.materials)),
            lobes: append(&mut bytes, bytes_of(&tables.lobes)),
            maps: append(&mut bytes, bytes_of(&tables.maps)),
            lights: append(&mut bytes, bytes_of(&tables.lights)),
            ..Places::default()
        };
        if let Some(sky) = sky {
            for (places, levels) in places.texels.iter_mut().zip(&sky.texels) {
                *places = levels.each_ref().map(|texels| append(&mut bytes, bytes_of(texels)));
            }
            places.sky_rows = append(&mut bytes, bytes_of(&sky.table.rows));
            places.sky_cells = append(&mut bytes, bytes_of(&sky.table.cells));
            // The records contain addresses in this memory, so it must be allocated first.
            let all = (scene.textures().len() + sky.textures.len()) * size_of::<TextureRecord>();
            let needed = bytes.len() + all.next_multiple_of(ALIGNMENT);
            if self.memory.bytes() < needed {
                self.held.clear();
                self.memory.reserve(needed)?;
            }
            let own = sky.textures.iter().zip(places.texels);
            let own = own.map(|(record, [texels, mips])| TextureRecord {
                texels: self.memory.at(texels),
                mips: self.memory.at(mips),
                ..*record
            });
            let records: Vec<TextureRecord> = scene.textures().iter().copied().chain(own).collect();
            places.textures = append(&mut bytes, bytes_of(&records));
        }
        self.places = places;
        if bytes == self.held {
            return Ok(());
        }
        // If the upload fails, the contents of the memory are unknown.
        self.held.clear();
        self.memory.reserve(bytes.len())?;
        self.staging.reserve(bytes.len())?;
        self.staging.fill(0, &bytes);
        // SAFETY: the slot was idle, and gets no new frame before its stream has passed this (see `Slot`).
        unsafe {
            self.memory.write_later(0, &self.staging, 0, bytes.len(), stream)?;
        }
        self.held = bytes;
        Ok(())
    }

    pub fn apply(&self, params: &mut Params) {
        let (memory, places) = (&self.memory, &self.places);
        params.tables.materials = memory.at::<MaterialRecord>(places.materials);
        params.tables.lobes = memory.at::<LobesRecord>(places.lobes);
        params.tables.lobes_count = self.counts.lobes;
        params.tables.maps = memory.at::<MapRecord>(places.maps);
        params.tables.lights = memory.at::<LightRecord>(places.lights);
        params.tables.light_count = self.counts.lights;
        params.tables.sun_count = self.counts.suns;
        params.tables.sun_irradiance = self.counts.sun_irradiance;
        params.tables.has_cutouts = self.counts.cutouts;
        params.tables.has_panes = self.counts.has_panes.into();
        if let Some(environment) = self.counts.environment {
            params.scene.environment = environment;
            params.tables.has_mips |= u32::from(self.counts.has_mips);
            params.scene.textures = memory.at::<TextureRecord>(places.textures);
            params.scene.sky_rows = memory.at(places.sky_rows);
            params.scene.sky_cells = memory.at(places.sky_cells);
        }
    }
}

/// Appends a table, padded to the alignment, and returns its offset.
fn append(bytes: &mut Vec<u8>, table: &[u8]) -> usize {
    let start = bytes.len();
    bytes.extend_from_slice(table);
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    start
}

/// Upper bound on the bytes that the uploaded `tables` take.
pub fn tables_bytes(scene: &SceneTables, tables: &MaterialTables) -> usize {
    let own = size_of_val(&tables.materials[..])
        + size_of_val(&tables.lobes[..])
        + size_of_val(&tables.maps[..])
        + size_of_val(&tables.lights[..])
        + 4 * ALIGNMENT;
    let sky = tables.sky.as_deref().map_or(0, |sky| {
        let texels: usize = sky.texels.iter().flatten().map(|texels| size_of_val(&texels[..])).sum();
        let cells = size_of_val(&sky.table.rows[..]) + size_of_val(&sky.table.cells[..]);
        let records = (scene.textures().len() + sky.textures.len()) * size_of::<TextureRecord>();
        texels + cells + records + 7 * ALIGNMENT
    });
    own + sky
}
