//! The CPU device: the kernels as compiled by the host compiler, in the widest variant that this processor runs, over
//! rayon's threads. It is the oracle that other devices are compared with.

use super::{
    Device, DeviceError, Frame, FrameSettings, RayCounts, RayKind, Rendered, Stop, tables::Tables,
};
use crate::{
    abi::{self, BlasRecord, CameraRecord, Hit, Params, Ray, StackEntry, Thread},
    accel::{Blas, BlasShape, NodeLayout},
    anim::CameraPose,
    math::{Aabb, hash_u32},
    scene::{Integrator, Scene, ToneMap},
};
use glam::Vec3;
use rayon::prelude::*;
use std::{
    ptr::null,
    sync::Arc,
    time::{Duration, Instant},
};

/// A kernel: handles items `begin..end` on the calling thread.
type Kernel = unsafe extern "C" fn(*const Params, u32, u32, *mut Thread);

mod kernels {
    use super::{Kernel, Params, Thread};
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}
use kernels::{KernelTable, VARIANTS};

/// Items of `render_pixel` that are handed out at once: four 8×8 tiles.
const PIXEL_BATCH: u32 = 256;
/// Pixels of `resolve_pixel` that are handed out at once.
const RESOLVE_BATCH: u32 = 1 << 14;
/// Samples per pixel between two looks at whether to stop.
const SAMPLE_SLICE: usize = 16;
/// Rays that are handed out at once.
const RAY_BATCH: usize = 1024;
/// A single sample is clamped to this display value.
const SAMPLE_CLAMP: f32 = 24.0;
/// Share of the open sky's light that blocked points get, in place of further bounces.
const AMBIENT_FILL: f32 = 0.5;

pub struct CpuDevice {
    kernels: &'static KernelTable,
    tables: Option<Tables>,
    queued: Option<(Frame, FrameSettings)>,
}

impl CpuDevice {
    /// Uses the widest variant that the processor supports; `THRONG_CPU=baseline|avx2|avx512` asks for a given one.
    pub fn new() -> Result<Self, DeviceError> {
        match std::env::var("THRONG_CPU") {
            Ok(name) => Self::with_variant(&name),
            Err(_) => Self::with_variant(Self::variants().last().unwrap_or(&"baseline")),
        }
    }

    /// Uses the variant of that name. They differ in speed and in the steps that they count, never in what
    /// they find.
    pub fn with_variant(name: &str) -> Result<Self, DeviceError> {
        let variant = VARIANTS
            .iter()
            .find(|v| v.name == name && supported(v.name));
        let Some(kernels) = variant else {
            let names = Self::variants().join(", ");
            return Err(DeviceError::Failed(format!(
                "there is no CPU variant `{name}`: this processor and build have {names} (see THRONG_CPU)"
            )));
        };
        Ok(Self {
            kernels,
            tables: None,
            queued: None,
        })
    }

    /// Names of the kernel variants that this processor supports, the plainest first.
    pub fn variants() -> Vec<&'static str> {
        VARIANTS
            .iter()
            .map(|v| v.name)
            .filter(|name| supported(name))
            .collect()
    }

    fn tables(&self) -> Result<&Tables, DeviceError> {
        self.tables
            .as_ref()
            .ok_or_else(|| DeviceError::Failed("no scene is loaded".into()))
    }

    /// Runs `kernel` over `count` items, batch by batch on all threads, until done or stopped.
    fn launch(
        &self,
        kernel: Kernel,
        launch: &Launch,
        count: u32,
        batch: u32,
        stop: &Stop,
    ) -> RayCounts {
        let batches = (0..count.div_ceil(batch)).into_par_iter();
        let run = |stack: &mut Vec<StackEntry>, index: u32| {
            let mut thread = Thread {
                stack: stack.as_mut_ptr(),
                primary_rays: 0,
                bounce_rays: 0,
                shadow_rays: 0,
            };
            if !stop() {
                let begin = index * batch;
                // SAFETY: the launch's pointers outlive the call (it borrows what they lead to), batches touch disjoint
                // items, and the stack has the entries that the trees need.
                unsafe { kernel(&launch.params, begin, count.min(begin + batch), &mut thread) };
            }
            RayCounts {
                primary: thread.primary_rays,
                bounce: thread.bounce_rays,
                shadow: thread.shadow_rays,
            }
        };
        let empty = || {
            vec![
                StackEntry {
                    t: 0.0,
                    reference: 0
                };
                launch.stack_entries
            ]
        };
        batches
            .map_init(empty, run)
            .reduce(RayCounts::default, |mut a, b| {
                a += b;
                a
            })
    }
}

/// Whether this processor has the instructions of a variant.
fn supported(variant: &str) -> bool {
    match variant {
        "baseline" => true,
        #[cfg(target_arch = "x86_64")]
        "avx2" => {
            is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt")
        }
        #[cfg(target_arch = "x86_64")]
        "avx512" => {
            supported("avx2")
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
        }
        _ => false,
    }
}

/// Launch parameters, and what must live as long as they are used.
struct Launch {
    params: Params,
    stack_entries: usize,
    _blas: Vec<BlasRecord>,
}

// SAFETY: kernels read everything the parameters lead to, except film, pixels and hits, of which each item has its own.
unsafe impl Sync for Launch {}

impl Launch {
    fn new(tables: &Tables, frame: &Frame) -> Self {
        let blas: Vec<BlasRecord> = frame.blas.iter().map(|b| blas_record(b)).collect();
        let deepest = frame
            .blas
            .iter()
            .map(|b| b.stack_entries())
            .max()
            .unwrap_or(0);
        let bounds = frame.tlas.bounds();
        let params = Params {
            tlas_nodes: frame.tlas.tree.nodes.address().cast(),
            instances: frame.tlas.records.as_ptr(),
            blas: blas.as_ptr(),
            meshes: tables.meshes.as_ptr(),
            materials: tables.materials.as_ptr(),
            material_slots: tables.scene.material_slots.as_ptr(),
            textures: tables.textures.as_ptr(),
            lights: tables.lights.as_ptr(),
            srgb_table: tables.srgb.as_ptr(),
            rays: null(),
            hits: std::ptr::null_mut(),
            film: std::ptr::null_mut(),
            pixels: std::ptr::null_mut(),
            camera: camera_record(&frame.camera, 1.0),
            environment: tables.environment,
            tlas_root: frame.tlas.tree.root,
            tlas_magnitude: magnitude(&bounds),
            light_count: tables.lights.len() as u32,
            width: 0,
            height: 0,
            sample_begin: 0,
            sample_end: 0,
            bounces: 0,
            seed: 0,
            integrator: abi::INTEGRATOR_WHITTED,
            tone_map: abi::TONE_NONE,
            exposure: 1.0,
            ao_distance: 0.05 * bounds.diagonal(),
            depth_range: depth_range(&bounds, frame.camera.eye),
            radiance_clamp: SAMPLE_CLAMP,
            ambient_fill: AMBIENT_FILL,
        };
        Self {
            params,
            stack_entries: frame.tlas.tree.stack_entries() + deepest,
            _blas: blas,
        }
    }

    fn apply(&mut self, frame: &Frame, settings: &FrameSettings) {
        let p = &mut self.params;
        p.camera = camera_record(
            &frame.camera,
            settings.width as f32 / settings.height as f32,
        );
        (p.width, p.height) = (settings.width, settings.height);
        p.bounces = settings.bounces;
        p.seed = hash_u32(settings.seed ^ hash_u32(frame.number));
        p.exposure = settings.exposure.exp2();
        p.radiance_clamp = match settings.integrator {
            Integrator::Whitted => SAMPLE_CLAMP / p.exposure,
            _ => f32::INFINITY,
        };
        p.integrator = integrator(settings.integrator);
        p.tone_map = tone_map(settings);
    }
}

fn integrator(integrator: Integrator) -> u32 {
    match integrator {
        Integrator::Whitted => abi::INTEGRATOR_WHITTED,
        Integrator::Ao => abi::INTEGRATOR_AO,
        Integrator::Normal => abi::INTEGRATOR_NORMAL,
        Integrator::Depth => abi::INTEGRATOR_DEPTH,
        Integrator::Albedo => abi::INTEGRATOR_ALBEDO,
        Integrator::Instance => abi::INTEGRATOR_INSTANCE,
        Integrator::Steps => abi::INTEGRATOR_STEPS,
    }
}

/// Light is tone mapped; occlusion and albedo are encoded but not tone mapped; the other views are display values.
fn tone_map(settings: &FrameSettings) -> u32 {
    match (settings.integrator, settings.tone_map) {
        (Integrator::Whitted, ToneMap::Aces) => abi::TONE_ACES,
        (Integrator::Whitted | Integrator::Ao | Integrator::Albedo, _) => abi::TONE_NONE,
        _ => abi::TONE_DISPLAY,
    }
}

fn magnitude(bounds: &Aabb) -> f32 {
    if bounds.is_empty() {
        0.0
    } else {
        bounds.reach().max_element()
    }
}

/// Distance from the eye to the farthest corner of the scene.
fn depth_range(bounds: &Aabb, eye: Vec3) -> f32 {
    if bounds.is_empty() {
        1.0
    } else {
        bounds
            .corners()
            .iter()
            .map(|c| c.distance(eye))
            .fold(1e-30, f32::max)
    }
}

fn blas_record(blas: &Blas) -> BlasRecord {
    let sphere = BlasRecord {
        nodes: null(),
        packs: null(),
        magnitude: magnitude(&blas.bounds),
        root: abi::EMPTY_CHILD,
        shape: abi::SHAPE_SPHERE,
        reserved: 0,
    };
    match &blas.shape {
        BlasShape::Sphere => sphere,
        BlasShape::Triangles { tree, packs } => BlasRecord {
            nodes: tree.nodes.address().cast(),
            packs: packs.as_ptr(),
            root: tree.root,
            shape: abi::SHAPE_TRIANGLES,
            ..sphere
        },
    }
}

fn camera_record(pose: &CameraPose, aspect: f32) -> CameraRecord {
    let (forward, right, up) = pose.basis();
    let height = (0.5 * pose.fov_y).tan();
    CameraRecord {
        origin: pose.eye.into(),
        forward: forward.into(),
        right: (right * height * aspect).into(),
        up: (up * height).into(),
    }
}

impl Device for CpuDevice {
    fn describe(&self) -> String {
        let threads = self.threads();
        format!(
            "cpu ({}, {threads} thread{})",
            self.kernels.name,
            if threads == 1 { "" } else { "s" }
        )
    }

    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn node_layout(&self) -> NodeLayout {
        match self.kernels.width {
            16 => NodeLayout::Wide16,
            8 => NodeLayout::Wide8,
            _ => NodeLayout::Wide4,
        }
    }

    fn queue_depth(&self) -> usize {
        1
    }

    fn load(&mut self, scene: Arc<Scene>) -> Result<(), DeviceError> {
        self.queued = None;
        self.tables = Some(Tables::new(scene));
        Ok(())
    }

    fn submit(&mut self, frame: Frame, settings: &FrameSettings) -> Result<(), DeviceError> {
        let previous = self.queued.replace((frame, settings.clone()));
        assert!(
            previous.is_none(),
            "at most queue_depth frames are under way"
        );
        Ok(())
    }

    fn collect(&mut self, stop: &Stop) -> Result<Rendered, DeviceError> {
        let Some((frame, settings)) = self.queued.take() else {
            return Err(DeviceError::Failed("no frame is under way".into()));
        };
        let start = Instant::now();
        let mut launch = Launch::new(self.tables()?, &frame);
        launch.apply(&frame, &settings);
        let pixel_count = u64::from(settings.width) * u64::from(settings.height);
        let items =
            u64::from(settings.width.div_ceil(8)) * u64::from(settings.height.div_ceil(8)) * 64;
        let Ok(items) = u32::try_from(items) else {
            return Err(DeviceError::Failed(format!(
                "{} × {} is too large a picture",
                settings.width, settings.height
            )));
        };
        let mut film = vec![0f32; pixel_count as usize * 4];
        let mut pixels = vec![0u8; pixel_count as usize * 3];
        launch.params.film = film.as_mut_ptr();
        launch.params.pixels = pixels.as_mut_ptr();
        let mut rays = RayCounts::default();
        // Slices of samples: a stop must not have to wait until the first pixels have all of theirs.
        for begin in (0..settings.samples).step_by(SAMPLE_SLICE) {
            launch.params.sample_begin = begin;
            launch.params.sample_end = settings.samples.min(begin + SAMPLE_SLICE as u32);
            rays += self.launch(self.kernels.render_pixel, &launch, items, PIXEL_BATCH, stop);
            if stop() {
                return Err(DeviceError::Stopped);
            }
        }
        self.launch(
            self.kernels.resolve_pixel,
            &launch,
            pixel_count as u32,
            RESOLVE_BATCH,
            &|| false,
        );
        Ok(Rendered {
            pixels,
            rays,
            time: start.elapsed(),
        })
    }

    fn trace(
        &mut self,
        frame: &Frame,
        kind: RayKind,
        rays: &[Ray],
        hits: &mut [Hit],
    ) -> Result<Duration, DeviceError> {
        assert_eq!(rays.len(), hits.len(), "one hit per ray");
        let kernel = match kind {
            RayKind::Closest => self.kernels.trace_closest,
            RayKind::Any => self.kernels.trace_any,
        };
        let mut launch = Launch::new(self.tables()?, frame);
        let start = Instant::now();
        // Item numbers have 32 bits; longer lists are traced in pieces.
        for (rays, hits) in rays.chunks(1 << 30).zip(hits.chunks_mut(1 << 30)) {
            launch.params.rays = rays.as_ptr();
            launch.params.hits = hits.as_mut_ptr();
            self.launch(
                kernel,
                &launch,
                rays.len() as u32,
                RAY_BATCH as u32,
                &|| false,
            );
        }
        Ok(start.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{abi::LAYOUTS, accel::Wide};
    use std::mem::offset_of;

    fn wide_layout<const N: usize>() -> [u32; 4] {
        [
            size_of::<Wide<N>>(),
            align_of::<Wide<N>>(),
            offset_of!(Wide<N>, planes),
            offset_of!(Wide<N>, children),
        ]
        .map(|x| x as u32)
    }

    #[test]
    fn every_compiled_kernel_lays_out_the_border_structs_as_rust_does() {
        for variant in VARIANTS {
            let mut expected: Vec<u32> = Vec::new();
            for layout in LAYOUTS {
                expected.extend([layout.size as u32, layout.align as u32]);
                expected.extend(layout.fields.iter().map(|f| f.offset as u32));
            }
            expected.extend(match variant.width {
                4 => wide_layout::<4>(),
                8 => wide_layout::<8>(),
                _ => wide_layout::<16>(),
            });
            let mut count = 0;
            // SAFETY: returns a static table and its length; uses no instruction beyond the baseline.
            let found =
                unsafe { std::slice::from_raw_parts((variant.layout)(&mut count), count as usize) };
            assert_eq!(found, expected, "variant {}", variant.name);
        }
    }
}
