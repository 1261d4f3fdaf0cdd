//! Materials, maps and lights that clips change, on the GPU, for one frame in flight.

use super::memory::{Array, Pinned, bytes_of};
use crate::{
    abi::{LightRecord, LobesRecord, MapRecord, MaterialRecord, Params},
    anim::PosedTables,
    device::material_tables::MaterialTables,
    light::sun_irradiance,
};
use cust::{error::CudaResult, stream::Stream};

/// Start of every table, so that records are loaded in whole sectors.
const ALIGNMENT: usize = 256;

/// The tables of a frame, one after the other.
#[derive(Default)]
pub struct UploadedTables {
    memory: Array,
    staging: Pinned,
    /// The bytes that `memory` holds, or will hold once the stream has passed the upload.
    held: Vec<u8>,
    places: Places,
    counts: Counts,
}

/// Where each table starts, in bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Places {
    materials: usize,
    lobes: usize,
    maps: usize,
    lights: usize,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    lobes: u32,
    lights: u32,
    sun_irradiance: f32,
}

impl UploadedTables {
    /// Bytes on the GPU that this has already.
    pub fn bytes_held(&self) -> usize {
        self.memory.bytes()
    }

    /// Queues the upload of `posed`, unless the same tables were uploaded last. Nothing that was queued before may use what is
    /// here.
    pub fn upload(&mut self, posed: &PosedTables, weights: &[f32], stream: &Stream) -> CudaResult<()> {
        let tables = MaterialTables::new(posed, weights);
        self.counts = Counts {
            lobes: tables.lobes.len() as u32,
            lights: tables.lights.len() as u32,
            sun_irradiance: sun_irradiance(&tables.lights),
        };
        let mut bytes = Vec::with_capacity(tables_bytes(posed));
        let places = Places {
            materials: append(&mut bytes, bytes_of(&tables.materials)),
            lobes: append(&mut bytes, bytes_of(&tables.lobes)),
            maps: append(&mut bytes, bytes_of(&tables.maps)),
            lights: append(&mut bytes, bytes_of(&tables.lights)),
        };
        self.places = places;
        if bytes == self.held {
            return Ok(());
        }
        // If the upload fails, nothing is held.
        self.held.clear();
        self.memory.reserve(bytes.len())?;
        self.staging.reserve(bytes.len())?;
        self.staging.fill(0, &bytes);
        // SAFETY: the slot was idle, and takes on nothing else before its stream has passed this (see `Slot`).
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
        params.tables.sun_irradiance = self.counts.sun_irradiance;
    }
}

/// Adds a table and returns where it starts.
fn append(bytes: &mut Vec<u8>, table: &[u8]) -> usize {
    let start = bytes.len();
    bytes.extend_from_slice(table);
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    start
}

/// Upper bound on the bytes that the uploaded `tables` take.
pub fn tables_bytes(tables: &PosedTables) -> usize {
    let per_material = size_of::<MaterialRecord>() + size_of::<LobesRecord>();
    tables.materials.len() * per_material
        + tables.maps.len() * size_of::<MapRecord>()
        + tables.lights.len() * size_of::<LightRecord>()
        + 4 * ALIGNMENT
}
