//! A scene's tables on the GPU, uploaded once. Their pointers are GPU addresses.

use crate::cuda::memory::{Array, bytes_of};
use crate::{
    light::{Emitters, sun_count, sun_irradiance},
    records::{
        attributes::Needs,
        material_tables,
        tables::{NameIds, Tables},
    },
};
use cust::error::CudaResult;
use std::{
    mem::size_of_val,
    sync::{Arc, OnceLock},
};
use throng_abi::{EnvironmentRecord, LightRecord, MeshRecord, NO_INDEX, SceneParams, TableParams, TextureRecord};
use throng_picture::film::FILTER_TABLES;
use throng_scene::{Scene, Shape};

/// Alignment of every part, so that texels and vertices are loaded in whole sectors.
const ALIGNMENT: usize = 256;

/// The uploaded tables.
pub struct SceneTables {
    memory: Array,
    tables: TablePlaces,
    meshes: Vec<MeshRecord>,
    needs: Vec<Needs>,
    scene: Arc<Scene>,
    ids: OnceLock<NameIds>,
    environment: EnvironmentRecord,
    /// The emitters from which the light trees of frames are built, on the host.
    emitters: Arc<Emitters>,
    /// The records of all textures, including the environment's.
    textures: Vec<TextureRecord>,
    lights: Vec<LightRecord>,
    lobes_count: u32,
    cutouts: u32,
    has_panes: bool,
    has_mips: bool,
    sorts_shading: bool,
}

/// Offset in bytes of each table.
#[derive(Clone, Copy, Default)]
struct TablePlaces {
    meshes: usize,
    materials: usize,
    lobes: usize,
    maps: usize,
    material_slots: usize,
    textures: usize,
    lights: usize,
    sky_rows: usize,
    sky_cells: usize,
    srgb: usize,
    filters: usize,
}

/// Offsets of all tables in one allocation.
#[derive(Default)]
pub struct TableLayout<'a> {
    parts: Vec<(usize, &'a [u8])>,
    /// Offsets in bytes of the vertices, corners and attributes of each mesh.
    meshes: Vec<[usize; 3]>,
    /// Offsets of the texels of each texture, and of its smaller levels.
    textures: Vec<[usize; 2]>,
    tables: TablePlaces,
    pub mesh_bytes: usize,
    pub texture_bytes: usize,
    pub bytes: usize,
}

impl<'a> TableLayout<'a> {
    pub fn new(tables: &'a Tables) -> Self {
        let mut layout = Self::default();
        for (own, mesh) in tables.attributes.iter().zip(&tables.scene.meshes) {
            let vertices = match &mesh.shape {
                Shape::Curves(curves) => bytes_of(&curves.points),
                _ => bytes_of(&own.vertices),
            };
            let parts = [vertices, bytes_of(&own.corners), bytes_of(&own.attributes)];
            let places = parts.map(|data| layout.add(data));
            layout.meshes.push(places);
        }
        layout.mesh_bytes = layout.bytes;
        for texels in tables.texels() {
            let places = texels.map(|data| layout.add(data));
            layout.textures.push(places);
        }
        layout.texture_bytes = layout.bytes - layout.mesh_bytes;
        layout.tables = TablePlaces {
            meshes: layout.reserve(size_of_val(&tables.meshes[..])),
            textures: layout.reserve(size_of_val(&tables.textures[..])),
            materials: layout.reserve(size_of_val(&tables.materials[..])),
            lobes: layout.reserve(size_of_val(&tables.lobes[..])),
            maps: layout.reserve(size_of_val(&tables.maps[..])),
            material_slots: layout.reserve(size_of_val(&tables.scene.material_slots[..])),
            lights: layout.reserve(size_of_val(&tables.lights[..])),
            sky_rows: layout.reserve(size_of_val(&tables.sky.table.rows[..])),
            sky_cells: layout.reserve(size_of_val(&tables.sky.table.cells[..])),
            srgb: layout.reserve(size_of_val(&tables.srgb)),
            filters: layout.reserve(size_of_val(&FILTER_TABLES[..])),
        };
        layout
    }

    fn reserve(&mut self, bytes: usize) -> usize {
        let start = self.bytes;
        self.bytes += bytes.next_multiple_of(ALIGNMENT);
        start
    }

    fn add(&mut self, data: &'a [u8]) -> usize {
        let start = self.reserve(data.len());
        self.parts.push((start, data));
        start
    }

    pub fn upload(&self, tables: &Tables) -> CudaResult<SceneTables> {
        let mut memory = Array::default();
        memory.reserve(self.bytes.max(1))?;
        for (start, data) in &self.parts {
            memory.write(*start, data)?;
        }
        let records = tables.meshes.iter().zip(&self.meshes);
        let meshes: Vec<MeshRecord> = records
            .map(|(record, &[vertices, corners, attributes])| MeshRecord {
                vertices: memory.at(vertices),
                corners: memory.at(corners),
                attributes: if record.attributes.is_null() { std::ptr::null() } else { memory.at(attributes) },
                ..*record
            })
            .collect();
        let records = tables.textures.iter().zip(&self.textures);
        let placed = |(record, &[texels, mips]): (&TextureRecord, &[usize; 2])| TextureRecord {
            texels: memory.at(texels),
            mips: memory.at(mips),
            ..*record
        };
        let textures: Vec<TextureRecord> = records.map(placed).collect();
        let places = &self.tables;
        memory.write(places.meshes, bytes_of(&meshes))?;
        memory.write(places.textures, bytes_of(&textures))?;
        memory.write(places.materials, bytes_of(&tables.materials))?;
        memory.write(places.lobes, bytes_of(&tables.lobes))?;
        memory.write(places.maps, bytes_of(&tables.maps))?;
        memory.write(places.material_slots, bytes_of(&tables.scene.material_slots))?;
        memory.write(places.lights, bytes_of(&tables.lights))?;
        memory.write(places.sky_rows, bytes_of(&tables.sky.table.rows))?;
        memory.write(places.sky_cells, bytes_of(&tables.sky.table.cells))?;
        memory.write(places.srgb, bytes_of(&tables.srgb))?;
        memory.write(places.filters, bytes_of(&FILTER_TABLES))?;
        Ok(SceneTables {
            memory,
            tables: *places,
            meshes,
            needs: tables.needs.clone(),
            scene: tables.scene.clone(),
            ids: OnceLock::new(),
            environment: tables.sky.environment,
            emitters: tables.emitters.clone(),
            textures,
            lights: tables.lights.clone(),
            lobes_count: tables.lobes.len() as u32,
            cutouts: material_tables::cutouts(&tables.materials),
            has_panes: material_tables::has_panes(&tables.materials, &tables.lobes),
            has_mips: tables.has_mips(),
            sorts_shading: material_tables::shading_differs(&tables.materials, &tables.lobes),
        })
    }
}

// SAFETY: the records' pointers are GPU addresses, which are not tied to a thread.
unsafe impl Send for SceneTables {}

impl SceneTables {
    /// The tables that all frames share.
    pub fn params(&self) -> SceneParams {
        let (memory, places) = (&self.memory, &self.tables);
        SceneParams {
            material_slots: memory.at(places.material_slots),
            textures: memory.at(places.textures),
            srgb_table: memory.at(places.srgb),
            filter_tables: memory.at(places.filters),
            sky_rows: memory.at(places.sky_rows),
            sky_cells: memory.at(places.sky_cells),
            environment: self.environment,
            stage: self.scene.stage.unwrap_or(NO_INDEX),
        }
    }

    /// The tables that a frame may replace by its own.
    pub fn table_params(&self) -> TableParams {
        let (memory, places) = (&self.memory, &self.tables);
        TableParams {
            meshes: memory.at(places.meshes),
            materials: memory.at(places.materials),
            lobes: memory.at(places.lobes),
            maps: memory.at(places.maps),
            lights: memory.at(places.lights),
            lobes_count: self.lobes_count,
            light_count: self.light_count(),
            sun_count: sun_count(&self.lights),
            sun_irradiance: sun_irradiance(&self.lights),
            has_cutouts: self.cutouts,
            sorts_shading: self.sorts_shading.into(),
            has_panes: self.has_panes.into(),
            has_mips: self.has_mips.into(),
        }
    }

    /// The table of meshes, with GPU addresses.
    pub fn meshes(&self) -> &[MeshRecord] {
        &self.meshes
    }

    /// Whether a mesh has records of its tangents.
    pub fn has_tangents(&self, mesh: u32) -> bool {
        let needs = self.needs.get(mesh as usize);
        needs.is_some_and(|needs| needs.tangents)
    }

    /// Address of the table of meshes on the GPU.
    pub fn mesh_table(&self) -> *const MeshRecord {
        self.memory.at(self.tables.meshes)
    }

    /// The scene that was uploaded.
    pub fn scene(&self) -> &Arc<Scene> {
        &self.scene
    }

    /// IDs of the names of instances and materials, for mattes.
    pub fn name_ids(&self) -> &NameIds {
        self.ids.get_or_init(|| NameIds::new(&self.scene))
    }

    /// The records of the scene's textures, without the environment's.
    pub fn textures(&self) -> &[TextureRecord] {
        &self.textures[..self.scene.textures.len()]
    }

    pub fn emitters(&self) -> &Arc<Emitters> {
        &self.emitters
    }

    pub fn lights(&self) -> &[LightRecord] {
        &self.lights
    }

    /// Number of layered materials.
    pub fn lobes_count(&self) -> u32 {
        self.lobes_count
    }

    /// Whether some material may let light pass straight through.
    pub fn has_panes(&self) -> bool {
        self.has_panes
    }

    pub fn light_count(&self) -> u32 {
        self.lights.len() as u32
    }
}
