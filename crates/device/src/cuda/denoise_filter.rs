//! The animation denoiser on one GPU. Frames stay in GPU memory from rendering until no frame needs them any more.

use super::{
    device::failed,
    kernels::{Kernels, arguments},
    memory::{Array, OtherContext, SparePinned, bytes_of, in_context},
};
use crate::{
    DeviceError, DeviceRecords, Filtered, FrameRecords,
    denoise_filter::{
        GATHERED, OUTLIERS, SPREAD, check_window, gathered_radiance, is_alone, other_size, params, record_floats,
    },
};
use bytemuck::Zeroable;
use cust::{
    context::Context,
    error::CudaResult,
    stream::{Stream, StreamFlags},
};
use std::{
    any::Any,
    mem,
    ptr::null,
    sync::{Arc, Mutex},
};
use throng_abi::{DENOISE_BLOCK_HEIGHT, DENOISE_BLOCK_WIDTH, DenoiseFrame, DenoiseLayers, DenoiseParams};
use throng_base::sync::lock;

/// Number of floats per pixel in the result.
const AVERAGED: usize = 5;

/// The denoiser and its memory.
pub struct GpuDenoiser {
    /// Name of the device.
    name: String,
    kernels: Arc<Kernels>,
    /// Memory of frames that are no longer needed, for reuse.
    spare: Mutex<Vec<Array>>,
    pinned: SparePinned,
    workspace: Mutex<Workspace>,
    context: Context,
    /// Set when the denoiser is dropped, and dropped last.
    before: Option<OtherContext>,
}

/// Working memory, reused for each frame.
struct Workspace {
    stream: Stream,
    /// Pointers to the frames of the window.
    frames: Array,
    gathered: Array,
    spread: Array,
    /// Radiance, followed by the errors.
    averaged: Array,
}

/// A frame on the GPU.
pub struct GpuFrame {
    records: Array,
    size: (u32, u32),
    /// As in [`HostFrame`](crate::HostFrame).
    shared: bool,
    gpu: Arc<GpuDenoiser>,
    /// Copies on other GPUs that needed this frame.
    copies: Mutex<Vec<Arc<GpuFrame>>>,
}

impl GpuDenoiser {
    /// Creates the denoiser. `context` must be current and the context in which `kernels` were loaded.
    pub fn new(name: String, context: Context, kernels: Arc<Kernels>, pinned: SparePinned) -> CudaResult<Arc<Self>> {
        let workspace = Workspace {
            stream: Stream::new(StreamFlags::NON_BLOCKING, None)?,
            frames: Array::default(),
            gathered: Array::default(),
            spread: Array::default(),
            averaged: Array::default(),
        };
        let (spare, workspace) = (Mutex::default(), Mutex::new(workspace));
        Ok(Arc::new(Self { name, kernels, spare, pinned, workspace, context, before: None }))
    }

    /// Memory of a frame, in bytes.
    pub fn frame_bytes(pixels: usize) -> usize {
        size_of::<f32>() * record_floats(pixels)
    }

    /// Working memory for denoising a frame, in bytes.
    pub fn workspace_bytes(pixels: usize) -> usize {
        size_of::<f32>() * (OUTLIERS + GATHERED + SPREAD + AVERAGED) * pixels
    }

    /// Allocates a frame. `shared` is whether its pixels share samples. The GPU's context must be current.
    pub fn frame(self: &Arc<Self>, size: (u32, u32), shared: bool) -> CudaResult<GpuFrame> {
        let bytes = Self::frame_bytes(size.0 as usize * size.1 as usize);
        let mut records = lock(&self.spare).pop().unwrap_or_default();
        if records.bytes() != bytes {
            records = Array::default();
        }
        records.reserve(bytes)?;
        Ok(GpuFrame { records, size, shared, gpu: self.clone(), copies: Mutex::default() })
    }

    /// Runs `work` with this GPU's context on the calling thread.
    fn with<T>(&self, work: impl FnOnce() -> CudaResult<T>) -> Result<T, DeviceError> {
        in_context(&self.context, work).map_err(|error| failed(&self.name, "denoising", error))
    }

    /// Copies a frame from another GPU.
    fn copy_of(self: &Arc<Self>, other: &GpuFrame) -> Result<GpuFrame, DeviceError> {
        self.with(|| {
            let frame = self.frame(other.size, other.shared)?;
            let workspace = lock(&self.workspace);
            // SAFETY: recorded frames are not written to, and the stream is synchronized before the frame is used.
            unsafe { frame.records.copy_later(&other.records, &workspace.stream)? };
            workspace.stream.synchronize()?;
            Ok(frame)
        })
    }

    /// Uploads a frame from host memory.
    fn upload(self: &Arc<Self>, records: &[f32], size: (u32, u32)) -> Result<GpuFrame, DeviceError> {
        let frame = self.with(|| self.frame(size, false))?;
        if size_of_val(records) != frame.records.bytes() {
            return Err(other_size());
        }
        self.with(|| frame.records.write(0, bytemuck::cast_slice(records)))?;
        Ok(frame)
    }
}

impl Drop for GpuDenoiser {
    /// The fields free their memory in this context, in which no work is left. Errors cannot be reported.
    fn drop(&mut self) {
        self.before = OtherContext::replace(&self.context).ok();
    }
}

impl GpuFrame {
    /// Queues launches that create this frame from layers on the GPU; `layers` has their addresses. `outliers` is working memory.
    ///
    /// # Safety
    /// Until the launches have finished, the layers, the outliers and this frame must not be freed, and the outliers must not be used in
    /// another stream.
    pub unsafe fn record(&self, layers: DenoiseLayers, outliers: &mut Array, stream: &Stream) -> CudaResult<()> {
        let (width, height) = self.size;
        outliers.reserve(size_of::<f32>() * OUTLIERS * width as usize * height as usize)?;
        let layers = DenoiseLayers { outliers: outliers.at(0), records: self.records.at(0), width, height, ..layers };
        let denoise = DenoiseParams { layers, ..Zeroable::zeroed() };
        for kernel in ["throng_denoise_outliers", "throng_denoise_record"] {
            // SAFETY: the caller guarantees the lifetimes; outliers and records have room for all pixels.
            unsafe { self.gpu.kernels.launch_items(kernel, width * height, stream, arguments![denoise])? };
        }
        Ok(())
    }

    /// The frame as kernels read it.
    fn address(&self) -> DenoiseFrame {
        DenoiseFrame { records: self.records.at::<f32>(0).cast_const(), weights: null(), alpha: null() }
    }

    /// A copy of this frame on `gpu`; None if the frame is already there.
    fn copy_on(&self, gpu: &Arc<GpuDenoiser>) -> Result<Option<Arc<GpuFrame>>, DeviceError> {
        if Arc::ptr_eq(&self.gpu, gpu) {
            return Ok(None);
        }
        let mut copies = lock(&self.copies);
        if let Some(copy) = copies.iter().find(|copy| Arc::ptr_eq(&copy.gpu, gpu)) {
            return Ok(Some(copy.clone()));
        }
        let copy = Arc::new(gpu.copy_of(self)?);
        copies.push(copy.clone());
        Ok(Some(copy))
    }
}

impl DeviceRecords for GpuFrame {
    fn read(&self) -> Result<Vec<f32>, DeviceError> {
        let mut records = vec![0f32; self.records.bytes() / size_of::<f32>()];
        self.gpu.with(|| self.records.read(bytemuck::cast_slice_mut(&mut records)))?;
        Ok(records)
    }

    fn filter(&self, window: &[Option<FrameRecords<'_>>], strength: Option<f32>) -> Result<Filtered, DeviceError> {
        let pixels = check_window(window, self.size)?;
        // Copies must live until the kernels have read them.
        let mut copies = Vec::new();
        let mut address = |records: &FrameRecords<'_>| -> Result<DenoiseFrame, DeviceError> {
            let own = match *records {
                FrameRecords::Device(other) => match (other as &dyn Any).downcast_ref::<Self>() {
                    Some(frame) if frame.size != self.size => return Err(other_size()),
                    Some(frame) => match frame.copy_on(&self.gpu)? {
                        None => return Ok(frame.address()),
                        Some(copy) => copy,
                    },
                    None => Arc::new(self.gpu.upload(&other.read()?, self.size)?),
                },
                FrameRecords::Host(records) => Arc::new(self.gpu.upload(records, self.size)?),
            };
            let address = own.address();
            copies.push(own);
            Ok(address)
        };
        let none = DenoiseFrame { records: null(), weights: null(), alpha: null() };
        let frames = window.iter().map(|frame| frame.as_ref().map_or(Ok(none), &mut address));
        let frames = frames.collect::<Result<Vec<_>, _>>()?;
        let denoise = params(self.size, window, strength.unwrap_or(1.0), self.shared);
        let averages = strength.is_some();
        let bytes = size_of::<f32>() * pixels * if averages { AVERAGED } else { GATHERED };
        let found = self.gpu.with(|| {
            let mut pinned = self.gpu.pinned.take(bytes)?;
            let mut workspace = lock(&self.gpu.workspace);
            workspace.run(denoise, &frames, &self.gpu.kernels, (averages, averages && is_alone(window)))?;
            let found = if averages { &workspace.averaged } else { &workspace.gathered };
            // SAFETY: both buffers live until the stream is synchronized.
            unsafe { found.read_later(&mut pinned, 0, bytes, &workspace.stream)? };
            workspace.stream.synchronize()?;
            Ok(self.gpu.pinned.lend(pinned))
        })?;
        let found: &[f32] = bytemuck::cast_slice(&found[..bytes]);
        if !averages {
            return Ok(Filtered { radiance: gathered_radiance(found, &[]), ..Filtered::default() });
        }
        let (radiance, errors) = found.split_at(3 * pixels);
        Ok(Filtered::new(radiance, errors))
    }
}

impl Drop for GpuFrame {
    fn drop(&mut self) {
        lock(&self.gpu.spare).push(mem::take(&mut self.records));
    }
}

impl Workspace {
    /// Queues the denoiser's kernels for a window of frames: always the first, the second if `averages`, the third if `spreads`.
    fn run(
        &mut self,
        mut denoise: DenoiseParams,
        frames: &[DenoiseFrame],
        kernels: &Kernels,
        (averages, spreads): (bool, bool),
    ) -> CudaResult<()> {
        let plane = size_of::<f32>() * denoise.width as usize * denoise.height as usize;
        self.frames.reserve(size_of_val(frames))?;
        self.frames.write(0, bytes_of(frames))?;
        self.gathered.reserve(GATHERED * plane)?;
        self.averaged.reserve(AVERAGED * plane)?;
        denoise.frames = self.frames.at(0);
        denoise.gathered = self.gathered.at(0);
        if spreads {
            self.spread.reserve(SPREAD * plane)?;
            denoise.spread = self.spread.at(0);
        }
        denoise.radiance = self.averaged.at(0);
        denoise.errors = self.averaged.at(3 * plane);
        let tiles = denoise.width.div_ceil(DENOISE_BLOCK_WIDTH) * denoise.height.div_ceil(DENOISE_BLOCK_HEIGHT);
        let threads = DENOISE_BLOCK_WIDTH * DENOISE_BLOCK_HEIGHT;
        // SAFETY: frames and planes have this size. The caller synchronizes the stream before it uses any of them otherwise.
        unsafe {
            kernels.launch("throng_denoise_gather", tiles, threads, &self.stream, arguments![denoise])?;
            if averages {
                kernels.launch("throng_denoise_average", tiles, threads, &self.stream, arguments![denoise])?;
            }
            if spreads {
                kernels.launch("throng_denoise_spread", tiles, threads, &self.stream, arguments![denoise])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DenoiseFilter, FrameLayers, HostFrame,
        cuda::{gpus, image::image},
    };
    use cust::device::Device;
    use throng_base::math::hash_unit;

    /// Not a multiple of any tile size.
    const SIZE: (u32, u32) = (203, 77);
    const PIXELS: usize = 203 * 77;

    fn gpu() -> Option<Arc<GpuDenoiser>> {
        let ordinal = match gpus() {
            Ok(gpus) => gpus[0].ordinal,
            Err(reason) => {
                println!("skipped: {reason}");
                return None;
            }
        };
        let gpu = Device::get_device(ordinal).unwrap();
        let context = Context::new(gpu).unwrap();
        let kernels = Arc::new(Kernels::load(gpu, image()).unwrap());
        Some(GpuDenoiser::new("cuda".into(), context.clone(), kernels, SparePinned::new(context)).unwrap())
    }

    /// Radiance, variance, albedo, normal and motion of a frame: a moving pattern with noise and some invalid values.
    fn layers(number: u32) -> [Vec<f32>; 5] {
        let values = |kind: u32, channels: u32, value: &dyn Fn(u32, u32, f32) -> f32| -> Vec<f32> {
            let items = (0..PIXELS as u32).flat_map(|pixel| (0..channels).map(move |c| (pixel, c)));
            items.map(|(pixel, c)| value(pixel, c, hash_unit(8 * number + kind, channels * pixel + c))).collect()
        };
        let wave = |pixel: u32| ((pixel % SIZE.0) as f32 * 0.3 + number as f32).sin() * (pixel as f32 * 1e-3).cos();
        [
            values(0, 3, &|pixel, _, noise| if pixel % 911 == 0 { f32::INFINITY } else { 1.0 + wave(pixel) * noise }),
            values(1, 3, &|_, _, noise| 0.05 * noise),
            values(2, 3, &|pixel, c, _| 0.5 + 0.4 * wave(pixel + 7 * c)),
            values(3, 3, &|pixel, c, _| wave(pixel + 50 * c)),
            values(4, 4, &|pixel, _, noise| if pixel % 37 == 0 { 300.0 * noise } else { 3.3 * noise - 1.5 }),
        ]
    }

    fn borrowed([radiance, variance, albedo, normal, motion]: &[Vec<f32>; 5]) -> FrameLayers<'_> {
        FrameLayers { radiance, variance, albedo, normal, motion, alpha: &[], alpha_variance: &[], shared: false }
    }

    #[test]
    fn frames_have_the_bits_that_the_cpu_finds() {
        let Some(gpu) = gpu() else { return };
        let cpu = DenoiseFilter::new().unwrap();
        let recorded: Vec<Vec<f32>> =
            (0..7).map(|number| cpu.record(SIZE, &borrowed(&layers(number))).unwrap()).collect();
        let mut frames: Vec<GpuFrame> = recorded.iter().map(|records| gpu.upload(records, SIZE).unwrap()).collect();
        frames[3].shared = true;
        // One frame is missing, and one is in host memory.
        let on_cpu =
            |index: usize| HostFrame { records: &recorded[index], weights: &[], shared: index == 3, alpha: &[] };
        let of_cpu: Vec<_> = (0..recorded.len()).map(|index| (index != 1).then(|| on_cpu(index))).collect();
        let place = |(index, frame): (usize, &Option<HostFrame>)| match (index, *frame) {
            (_, None) => None,
            (4, Some(_)) => Some(FrameRecords::Host(&recorded[4])),
            _ => Some(FrameRecords::Device(&frames[index])),
        };
        let of_gpu: Vec<_> = of_cpu.iter().enumerate().map(place).collect();
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let found = frames[3].filter(&of_gpu, Some(1.0)).unwrap();
        let expected = cpu.filter(&of_cpu, SIZE, 1.0).unwrap();
        assert_eq!(bits(&found.radiance), bits(&expected.radiance));
        assert_eq!(
            found.errors.each_ref().map(|plane| bits(plane)),
            expected.errors.each_ref().map(|plane| bits(plane))
        );
        let found = frames[3].filter(&of_gpu, None).unwrap();
        assert_eq!(bits(&found.radiance), bits(&cpu.gather(&of_cpu, SIZE).unwrap().radiance));
        assert!(frames[3].filter(&of_gpu[1..], Some(1.0)).is_err());
        let found = frames[3].filter(&of_gpu[3..4], Some(1.0)).unwrap();
        let expected = cpu.filter(&of_cpu[3..4], SIZE, 1.0).unwrap();
        assert_eq!(bits(&found.radiance), bits(&expected.radiance));
        assert_eq!(bits(&found.errors[0]), bits(&expected.errors[0]));
    }

    #[test]
    fn frames_are_recorded_as_on_the_cpu() {
        let Some(gpu) = gpu() else { return };
        let layers = layers(0);
        let uploaded = layers.each_ref().map(|layer| {
            let mut array = Array::default();
            array.reserve(size_of_val(&layer[..])).unwrap();
            array.write(0, bytemuck::cast_slice(layer)).unwrap();
            array
        });
        let [radiance, variance, albedo, normal, motion] =
            uploaded.each_ref().map(|array| array.at::<f32>(0).cast_const());
        let frame = gpu.frame(SIZE, false).unwrap();
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
        let addresses = DenoiseLayers { radiance, variance, albedo, normal, motion, ..Zeroable::zeroed() };
        let mut outliers = Array::default();
        // SAFETY: layers, outliers and the frame live until the stream is synchronized.
        unsafe { frame.record(addresses, &mut outliers, &stream).unwrap() };
        stream.synchronize().unwrap();
        let expected = DenoiseFilter::new().unwrap().record(SIZE, &borrowed(&layers)).unwrap();
        assert_eq!(frame.read().unwrap(), expected);
    }
}
