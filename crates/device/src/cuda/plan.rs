//! The plan of a picture: whether its memory is available, and how it is cut into launches.

use super::{
    aovs::aov_bytes,
    budget::Need,
    device::{CudaDevice, SLOTS},
    kernels::Shading,
    slot::Slot,
    start::Prepared,
    tables::{
        blas_pool::tree_bytes, lights::tree_bytes as light_bytes, material_tables::tables_bytes,
        shutter::shutter_bytes, tlas::is_shared,
    },
    waves::{Cut, PathNeeds},
};
use crate::{
    Accumulation, Delivery, DeviceError, FrameSettings,
    batch::{self, Picture},
    exr::exr_bytes,
    kept::KeptLayout,
    records::{material_tables::has_panes, params::pixel_items},
    tlas_build::scratch_bytes,
};
use cust::memory::mem_get_info;
use throng_abi::PANES_BEYOND_BOUNCES;
use throng_picture::aov::channels::FileRows;
use throng_scene::{Material, MaterialKind};

/// Maximum number of waves for scattering in volumes. With Russian roulette, one path in thirty thousand would need more.
const VOLUME_EVENTS: u32 = 1024;
/// Maximum bytes of queues per frame in flight for integrators that scatter paths. These need the most memory, and launches of a million paths keep a
/// GPU busy. Four times as much would render 9 % faster.
const QUEUE_BYTES: usize = 384 << 20;
/// Number of paths of a batch: about as many as the queues hold, so that few launches do not fill the GPU, and frames arrive early enough to be
/// written meanwhile.
const BATCH_PATHS: u64 = 1 << 20;
/// Share of the free memory that the pictures of batches may take.
const BATCH_MEMORY: usize = 4;
/// Samples per pixel and launch in the loop schedule.
const LOOP_SAMPLES: u32 = 4;

/// Bytes of a picture that stays on the GPU; 0 for others.
fn kept_bytes(settings: &FrameSettings, delivery: Delivery) -> usize {
    let layout = KeptLayout { aovs: settings.aovs, pixels: settings.film_pixels() };
    if delivery.keeps_picture { layout.bytes() } else { 0 }
}

impl CudaDevice {
    /// Checks that the picture's memory is available, and decides how the picture is cut into launches. Also returns the rows of files that are
    /// requested, unless memory is short for them; the host then creates the files from pixels and AOVs.
    pub(super) fn plan(&mut self, of: &Prepared) -> Result<(Cut, Option<FileRows>), DeviceError> {
        let settings = of.picture.settings;
        let items = pixel_items(settings)?;
        let limit = self.paths_per_launch;
        let mut need = self.need(of)?;
        let mut free = self.free_bytes()?;
        if need.check(free).is_err() && self.kept.spare_bytes() > 0 {
            self.with("making room for a picture", |device| device.kept.release())?;
            (need, free) = (self.need(of)?, self.free_bytes()?);
        }
        let blocks = |rows: &FileRows| exr_bytes(rows, settings.film_size()) * SLOTS;
        let file_rows = of.picture.delivery.file_rows.filter(|rows| need.total() + blocks(rows) < free / 2);
        need.add("files", file_rows.as_ref().map_or(0, blocks));
        let Some(needs) = self.path_needs(of)? else {
            need.check(free).map_err(|text| self.out_of_memory(&text))?;
            let items = (limit / LOOP_SAMPLES as usize).next_multiple_of(64).max(64);
            let items = u32::try_from(items).unwrap_or(u32::MAX);
            return Ok((Cut::Loops { items, samples: LOOP_SAMPLES }, file_rows));
        };
        let wanted = limit.min((items as usize).saturating_mul(settings.samples as usize));
        let wanted = if needs.scatter { wanted.min((QUEUE_BYTES / needs.bytes()).max(64)) } else { wanted };
        let capacity = need.paths(free, wanted, needs.bytes(), SLOTS).map_err(|text| self.out_of_memory(&text))?;
        // Round up to whole tiles.
        let capacity = (capacity as u32).next_multiple_of(64);
        self.with("making queues for paths", |device| {
            for slot in device.slots.iter_mut().filter(|slot| slot.work.is_none()) {
                slot.queues.reserve(capacity, &needs)?;
            }
            Ok(())
        })?;
        Ok((Cut::Waves { paths: capacity, needs }, file_rows))
    }

    /// Bytes of memory that is free, or belongs to slots.
    fn free_bytes(&mut self) -> Result<usize, DeviceError> {
        self.with("asking for free memory", |device| {
            let own: usize = device.slots.iter().map(Slot::bytes_held).sum();
            Ok(mem_get_info()?.0 + own + device.shared_tlas.bytes_held() + device.tlas_scratch.bytes_held())
        })
    }

    /// Number of frames with these settings in a batch, as [`Device::frames_per_batch`](crate::Device::frames_per_batch).
    pub(super) fn batch_frames(&mut self, settings: &FrameSettings, delivery: Delivery) -> Result<usize, DeviceError> {
        let paths = u64::from(pixel_items(settings)?) * u64::from(settings.samples);
        let frames = batch::frames_in(settings, BATCH_PATHS, paths);
        let sums = size_of::<u32>() * (Accumulation::words(settings) + Accumulation::odd_words(settings));
        let shade = if settings.measures_shade() { size_of::<[f32; 4]>() } else { 0 };
        let pixel = settings.pixel_bytes() + size_of::<f32>() * settings.aovs.channels() + shade;
        let own = SLOTS * (sums + settings.film_pixels() * pixel + kept_bytes(settings, delivery));
        let free = self.with("asking for free memory", |_| mem_get_info())?.0;
        Ok(frames.min(free / BATCH_MEMORY / own.max(1)).max(1))
    }

    /// Memory of all slots for such pictures, without files and paths.
    fn need(&self, of: &Prepared) -> Result<Need, DeviceError> {
        let Picture { frame, settings, delivery, .. } = of.picture;
        let (tlas, picture) = Slot::bytes(&frame.tlas, settings);
        let mut need = Need::default();
        need.add("instances", tlas * 9 / 8 * if is_shared(frame) { 1 } else { SLOTS });
        let unbuilt = frame.tlas.unbuilt.as_ref().map_or(0, |unbuilt| scratch_bytes(unbuilt.kinds.len()));
        need.add("builds of trees over instances", unbuilt * 9 / 8);
        need.add("motion", shutter_bytes(frame) * SLOTS);
        let halves = size_of::<u32>() * Accumulation::odd_words(settings);
        need.add("pictures", (picture + halves) * SLOTS);
        let lights = of.lights.as_deref().map_or(0, light_bytes);
        need.add("lights", lights * 9 / 8 * SLOTS);
        let aovs = aov_bytes(self.scene()?, frame, settings, delivery.layer_sums);
        need.add("layers", aovs * SLOTS);
        let kept = kept_bytes(settings, delivery) * SLOTS;
        need.add("pictures that stay on the GPU", kept.saturating_sub(self.kept.spare_bytes()));
        if !frame.shapes.is_empty() {
            let bytes = tree_bytes(frame) * 9 / 8 + Slot::shape_bytes(self.scene()?, frame);
            need.add("meshes that deform", bytes * SLOTS);
        }
        if let Some(tables) = &of.tables {
            need.add("materials and skies that change", tables_bytes(self.scene()?, tables) * SLOTS);
        }
        Ok(need)
    }

    /// The needs of a path in the wavefront schedule; none for pictures in the loop schedule.
    fn path_needs(&self, of: &Prepared) -> Result<Option<PathNeeds>, DeviceError> {
        let scene = self.scene()?;
        let (lights, lobes, has_panes) = match &of.tables {
            Some(own) => (own.lights.len() as u32, own.lobes.len() as u32, has_panes(&own.materials, &own.lobes)),
            None => (scene.light_count(), scene.lobes_count(), scene.has_panes()),
        };
        let Picture { frame, settings, .. } = of.picture;
        let materials = frame.tables.as_ref().map_or(&scene.scene().materials, |tables| &tables.materials);
        let scatters = materials.iter().any(Material::has_scattering_volume);
        let volume_events = if scatters { VOLUME_EVENTS } else { 0 };
        let more_events = volume_events + if has_panes { PANES_BEYOND_BOUNCES } else { 0 };
        let is_foggy = frame.fog().is_some_and(|fog| fog.is_seen());
        let has_hair = materials.iter().any(|material| material.kind == MaterialKind::Hair);
        let scattered = match (is_foggy || has_hair, lobes) {
            (true, _) => Shading::FogPath,
            (false, 0) => Shading::Path,
            (false, _) => Shading::LayeredPath,
        };
        let (paths, bounces) = (settings.integrator.paths(), settings.bounces);
        Ok(PathNeeds::new(paths, bounces, lights, scattered, more_events, is_foggy))
    }
}
