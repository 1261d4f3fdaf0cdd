//! The start of a picture: its data are prepared and uploaded to an idle slot.

use super::{
    budget::Need,
    denoise_filter::{GpuDenoiser, GpuFrame},
    device::{CudaDevice, no_scene},
    slot::{Task, event_now},
    tables::{blas_pool::tree_bytes, tlas::is_shared, tlas_build::BuildKernels},
};
use crate::{
    Accumulation, AccumulationState, Delivery, DenoiseWanted, Device, DeviceError, Frame, FrameSettings, OwnRays,
    Samples,
    batch::Picture,
    film::adaptive::{self, Passes},
    light::{Emitters, LocalTree, no_local_lights},
    records::{
        material_tables::MaterialTables,
        params::{display_params, film_params, frame_params, picture_params},
    },
};
use bytemuck::Zeroable;
use cust::{
    error::{CudaError, CudaResult},
    memory::mem_get_info,
};
use std::sync::Arc;
use throng_abi::Params;
use throng_picture::aov::AovSet;

/// A picture, and the data that are computed for it before it is planned and uploaded.
pub struct Prepared<'a> {
    pub picture: Picture<'a>,
    /// The frame's own tables, if any.
    pub tables: Option<MaterialTables>,
    /// The tree over the lights inside the scene; none if lights are not sampled.
    pub lights: Option<Arc<LocalTree>>,
}

impl CudaDevice {
    /// Uploads trees that are not uploaded yet, after all work that uses the old ones. If meshes deform, each slot has its own trees instead.
    pub(super) fn upload_trees(&mut self, frame: &Frame) -> Result<(), DeviceError> {
        if !frame.shapes.is_empty() || self.pool.holds(&frame.blas) {
            return Ok(());
        }
        let bytes = tree_bytes(frame);
        let free = self.with("asking for free memory", |_| mem_get_info())?.0;
        let mut need = Need::default();
        need.add("trees of meshes", bytes);
        need.check(free).map_err(|text| self.out_of_memory(&text))?;
        self.with("uploading meshes' trees", |device| {
            for slot in &device.slots {
                slot.stream.synchronize()?;
            }
            device.pool.upload(&frame.blas)
        })
    }

    /// Parameters of a launch for a frame, without a picture.
    pub(super) fn params(&self, frame: &Frame) -> Result<Params, DeviceError> {
        let scene = self.scene()?;
        frame.check(scene.scene(), self.node_layout(), self.builds_tlases())?;
        let mut params = Params {
            scene: scene.params(),
            tables: scene.table_params(),
            trees: Zeroable::zeroed(),
            keys: Zeroable::zeroed(),
            local_lights: no_local_lights(),
            frame: frame_params(frame),
            picture: Zeroable::zeroed(),
            display: Zeroable::zeroed(),
            film: Zeroable::zeroed(),
            query: Zeroable::zeroed(),
            denoise: std::ptr::null(),
        };
        self.pool.apply(&mut params);
        Ok(params)
    }

    /// The frame's own tables, if any, and the emissive meshes of the frame. `None` if no scene is loaded.
    pub(super) fn own_tables(&mut self, frame: &Frame) -> Option<(Option<MaterialTables>, Arc<Emitters>)> {
        let scene = self.scene.as_ref()?;
        let own = frame.tables.as_deref();
        let emitters = self.posed.emitters(scene.emitters(), own);
        let tables = own.map(|own| {
            let sky = self.posed.sky(own, scene.textures().len());
            MaterialTables::new(own, emitters.weights(), sky)
        });
        Some((tables, emitters))
    }

    /// Queues the upload of the frame's own data.
    pub(super) fn upload(
        &mut self,
        slot: usize,
        frame: &Frame,
        tables: Option<&MaterialTables>,
        params: &mut Params,
    ) -> CudaResult<()> {
        let is_idle = self.slots.iter().all(|slot| slot.work.is_none());
        let slot = &mut self.slots[slot];
        // Frames under way may use another TLAS.
        if is_shared(frame) && (is_idle || self.shared_tlas.holds(&frame.tlas)) {
            slot.tlas.clear();
            self.shared_tlas.upload_whole(&frame.tlas, params, &slot.stream)?;
        } else {
            slot.tlas.upload(frame, &mut self.tlas_scratch, params, &slot.stream)?;
        }
        let Some(scene) = &self.scene else {
            return Ok(());
        };
        if let Some(tables) = tables {
            slot.upload_tables(scene, tables, params)?;
        }
        if frame.shapes.is_empty() { Ok(()) } else { slot.deform(scene, frame, params) }
    }

    /// Queues the build of the TLAS, if the GPU builds it. Its instances and their motion keys must have been uploaded.
    pub(super) fn build_tlas(&mut self, slot: usize, params: &Params) -> CudaResult<()> {
        let slot = &mut self.slots[slot];
        let Some(module) = self.kernels.trees() else { return Ok(()) };
        let builder = BuildKernels { module, multiprocessors: self.kernels.still.multiprocessors() };
        slot.tlas.build((&mut self.tlas_scratch, builder), params.keys.instances, &slot.stream)
    }

    /// Returns the tree over the lights inside the scene in this frame; `None` if lights are not sampled.
    fn lights(
        &mut self,
        frame: &Frame,
        tables: Option<&MaterialTables>,
        emitters: &Arc<Emitters>,
        settings: &FrameSettings,
    ) -> Option<Arc<LocalTree>> {
        let scene = self.scene.as_ref()?;
        if !frame.samples_lights(settings) {
            return None;
        }
        let lights = tables.map_or(scene.lights(), |tables| &tables.lights);
        self.lights.tree(&frame.tlas, emitters, lights, &frame.shown_shapes())
    }

    /// Memory for a frame in the form that the denoiser reads, if it is wanted. `None` if memory is short.
    fn frame_for_denoiser(
        &mut self,
        settings: &FrameSettings,
        wanted: Option<DenoiseWanted>,
    ) -> Result<Option<(GpuFrame, AovSet)>, DeviceError> {
        let Some(wanted) = wanted else { return Ok(None) };
        let pixels = settings.film_pixels();
        let needed = GpuDenoiser::frame_bytes(pixels) * wanted.frames + GpuDenoiser::workspace_bytes(pixels);
        self.with("making room for a frame to be denoised", |device| {
            let denoiser = match &device.denoiser {
                Some(denoiser) => denoiser.clone(),
                None if mem_get_info()?.0 / 2 < needed => return Ok(None),
                None => {
                    let (name, kernels) = (device.name.clone(), device.kernels.still.clone());
                    GpuDenoiser::new(name, device.context.clone(), kernels, device.spare.clone())?
                }
            };
            device.denoiser = Some(denoiser.clone());
            match denoiser.frame(settings.film_size(), settings.shares_samples()) {
                Ok(frame) => Ok(Some((frame, wanted.aovs))),
                Err(CudaError::OutOfMemory) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Computes the data of a picture.
    fn prepare<'a>(&mut self, picture: Picture<'a>) -> Result<Prepared<'a>, DeviceError> {
        let (tables, emitters) = self.own_tables(picture.frame).ok_or_else(no_scene)?;
        let lights = self.lights(picture.frame, tables.as_ref(), &emitters, picture.settings);
        Ok(Prepared { picture, tables, lights })
    }

    /// Queues the upload of a picture's data, and prepares its memory for AOVs.
    fn upload_picture(&mut self, index: usize, of: &Prepared, params: &mut Params) -> CudaResult<()> {
        let Picture { frame, settings, delivery, views } = of.picture;
        self.upload(index, frame, of.tables.as_ref(), params)?;
        let slot = &mut self.slots[index];
        slot.upload_shutter_keys(frame, settings, params)?;
        self.build_tlas(index, params)?;
        let slot = &mut self.slots[index];
        slot.upload_views(views, params)?;
        if let Some(lights) = &of.lights {
            slot.light(lights, params)?;
        }
        match &self.scene {
            Some(scene) => slot.prepare_aovs(scene, frame, (settings, delivery.layer_sums), params),
            None => Ok(()),
        }
    }

    /// Starts a picture and returns its slot. If `film` is given, sampling continues from its samples up to the given number. If `own_rays` is given,
    /// the frame's rays are appended to it.
    pub(super) fn start(
        &mut self,
        mut picture: Picture,
        film: Option<(&Samples, u32)>,
        own_rays: Option<OwnRays>,
    ) -> Result<usize, DeviceError> {
        let Some(index) = self.slots.iter().position(|slot| slot.work.is_none()) else {
            return Err(DeviceError::Failed("too many frames are under way".into()));
        };
        if film.is_some() || own_rays.is_some() {
            let delivery = picture.delivery;
            picture.delivery = Delivery { file_rows: None, denoise_wanted: None, keeps_picture: false, ..delivery };
        }
        let Picture { frame, settings, delivery, views } = picture;
        self.upload_trees(frame)?;
        let mut params = self.params(frame)?;
        params.picture = picture_params(frame, settings);
        params.display = display_params(settings);
        params.film = film_params(settings);
        params.frame.moves = frame.moves().into();
        let (state, until) = match film {
            Some((film, until)) => (film.state().clone(), until),
            None => (AccumulationState::default(), settings.samples),
        };
        params.film.sample_begin = state.first;
        params.film.sample_end = adaptive::samples_of_all(settings).min(until);
        let of = self.prepare(picture)?;
        let records = self.frame_for_denoiser(settings, delivery.denoise_wanted)?;
        let (cut, file_rows) = self.plan(&of)?;
        // Sums that the slot does not hold any more.
        let held = self.slots[index].copy.take();
        let sums = film.filter(|(film, _)| held.is_none() || film.copy() != held);
        let sums = sums.map(|(film, _)| film.host()).transpose()?;
        self.with_slot(index, "starting a frame", |device| {
            device.kernels.prepare(&params, &frame.tlas)?;
            let started = event_now(&device.slots[index].stream)?;
            device.upload_picture(index, &of, &mut params)?;
            let task = Task {
                cut,
                passes: Passes::resume(until, settings.noise.filter(|_| own_rays.is_none()), state),
                samples: if film.is_some() && delivery.unfinished_aovs { until } else { settings.samples },
                aovs: settings.aovs,
                file_rows,
                records,
                keeps_picture: delivery.keeps_picture,
                started,
                own_rays,
                frames: views.len().max(1),
                film_bytes: size_of::<u32>() * Accumulation::words(settings),
                holds_film: film.is_some() && sums.is_none(),
                shares_cover: settings.shares_cover(),
            };
            let slot = &mut device.slots[index];
            slot.start(params, task)?;
            if let Some(sums) = sums.filter(|film| !film.state.range().is_empty()) {
                slot.go_on_from(sums)?;
            }
            slot.pump(&device.kernels)?;
            device.under_way.push_back(index);
            Ok(index)
        })
    }
}
