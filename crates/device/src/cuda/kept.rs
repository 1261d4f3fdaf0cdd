//! Memory that stays on the GPU for other libraries of the process.

use super::{
    device::failed,
    kernels::{Kernels, arguments},
    memory::{Array, OtherContext, bytes_of, in_context},
    spare::Spares,
};
use crate::{
    DeviceError,
    kept::{Content, Copied, KeptMemory, MatteNumbers, ValueType},
};
use cust::{
    context::{Context, CurrentContext},
    error::{CudaError, CudaResult},
    event::{Event, EventFlags},
    memory::{AsyncCopyDestination, DevicePointer, DeviceSlice},
    stream::{Stream, StreamFlags, StreamWaitEventFlags},
};
use std::{
    ffi::c_void,
    mem,
    ops::Range,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, Ordering},
    },
};
use throng_base::sync::lock;

/// Maximum number of pixels per launch, which the kernels count in 32 bits.
const PIXELS_PER_LAUNCH: usize = 1 << 30;

/// Memory that stays on the GPU. Allocating it takes longer than a small frame, so it is used again.
pub struct KeptPool {
    spares: Mutex<Spares<Spare>>,
    /// Tables of numbers that were uploaded, as long as others use them.
    tables: Mutex<Vec<Table>>,
    /// Waits for the legacy default stream, unlike the streams of slots.
    after_default: Stream,
    /// The stream of kernels that make images of others.
    making: Stream,
    kernels: Arc<Kernels>,
    name: String,
    ordinal: u32,
    /// The memory belongs to it. Other libraries may keep pictures for longer than the device.
    context: Context,
    /// Set when this is dropped, and dropped last.
    before: Option<OtherContext>,
}

/// Memory that was dropped.
struct Spare {
    memory: Array,
    /// Past once nobody reads the memory any more; none if that is not known before all work on the GPU is.
    read: Option<Event>,
}

struct Table {
    numbers: Weak<MatteNumbers>,
    memory: Arc<Array>,
}

/// A piece of memory of a pool.
pub struct GpuMemory {
    memory: Array,
    /// Whether streams read it that `after_default` does not wait for.
    has_other_readers: AtomicBool,
    pool: Arc<KeptPool>,
}

impl KeptPool {
    /// Memory of the GPU with this driver's number, whose context is current.
    pub fn new(name: String, ordinal: u32, context: Context, kernels: Arc<Kernels>) -> CudaResult<Arc<Self>> {
        Ok(Arc::new(Self {
            spares: Mutex::default(),
            tables: Mutex::default(),
            after_default: Stream::new(StreamFlags::DEFAULT, None)?,
            making: Stream::new(StreamFlags::NON_BLOCKING, None)?,
            kernels,
            name,
            ordinal,
            context,
            before: None,
        }))
    }

    /// Takes memory of at least `bytes`, which work of `stream` fills from now on. The GPU's context must be current.
    pub fn take(self: &Arc<Self>, bytes: usize, stream: &Stream) -> CudaResult<GpuMemory> {
        let bytes = bytes.max(1);
        let spare = lock(&self.spares).take(bytes);
        let memory = match spare {
            None => self.allocate(bytes)?,
            Some(Spare { memory, read: Some(read) }) => {
                stream.wait_event(read, StreamWaitEventFlags::DEFAULT)?;
                memory
            }
            Some(Spare { memory, read: None }) => {
                CurrentContext::synchronize()?;
                memory
            }
        };
        lock(&self.spares).lend(memory.bytes());
        let surplus = lock(&self.spares).surplus();
        let taken = GpuMemory { memory, has_other_readers: AtomicBool::new(false), pool: self.clone() };
        free(surplus)?;
        Ok(taken)
    }

    /// Allocates memory, if necessary in place of the spare memory.
    fn allocate(&self, bytes: usize) -> CudaResult<Array> {
        let mut memory = Array::default();
        match memory.reserve(bytes) {
            Err(CudaError::OutOfMemory) if self.spare_bytes() > 0 => {
                self.release()?;
                memory.reserve(bytes)?;
            }
            reserved => reserved?,
        }
        Ok(memory)
    }

    /// Bytes that are allocated and not in use.
    pub fn spare_bytes(&self) -> usize {
        lock(&self.spares).bytes()
    }

    /// Frees the memory that is not in use. The GPU's context must be current.
    pub fn release(&self) -> CudaResult<()> {
        let all = lock(&self.spares).all();
        free(all)
    }

    /// The words of a table on the GPU.
    fn table(&self, numbers: &Arc<MatteNumbers>) -> CudaResult<Arc<Array>> {
        let mut tables = lock(&self.tables);
        tables.retain(|table| table.numbers.strong_count() > 0);
        if let Some(table) = tables.iter().find(|table| table.numbers.as_ptr() == Arc::as_ptr(numbers)) {
            return Ok(table.memory.clone());
        }
        let words = bytes_of(numbers.words());
        let mut memory = Array::default();
        memory.reserve(words.len().max(1))?;
        memory.write(0, words)?;
        let memory = Arc::new(memory);
        tables.push(Table { numbers: Arc::downgrade(numbers), memory: memory.clone() });
        Ok(memory)
    }

    /// Fills `memory`, and waits for it.
    fn fill(&self, memory: &Array, content: Content) -> CudaResult<()> {
        let mut table = None;
        match content {
            Content::Copies(copies) => copies.iter().try_for_each(|copy| self.copy(memory, copy))?,
            Content::Numbers { matte, channels, numbers, pixels } => {
                let words = table.insert(self.table(numbers)?).at::<u32>(0);
                let (channels, entries) = (channels as u32, (numbers.words().len() / 2) as u32);
                for (first, count) in launches(pixels) {
                    let from = matte as usize + first * channels as usize * size_of::<f32>();
                    let to = memory.at::<i32>(first * size_of::<i32>());
                    self.launch("throng_matte_numbers", count, arguments![from, channels, words, entries, to, count])?;
                }
            }
            Content::Flow { motion, back, pixels } => {
                let back = u32::from(back);
                for (first, count) in launches(pixels) {
                    let from = motion as usize + first * size_of::<[f32; 4]>();
                    let to = memory.at::<f32>(first * size_of::<[f32; 2]>());
                    self.launch("throng_optical_flow", count, arguments![from, back, to, count])?;
                }
            }
            Content::WithAlpha { colors, alpha, values, pixels } => {
                let kernel = if values == ValueType::U8 { "throng_join_alpha_bytes" } else { "throng_join_alpha" };
                for (first, count) in launches(pixels) {
                    let colors = colors as usize + first * 3 * values.bytes();
                    let alpha = alpha as usize + first * size_of::<f32>();
                    let to = memory.at::<u8>(first * 4 * values.bytes());
                    self.launch(kernel, count, arguments![colors, alpha, to, count])?;
                }
            }
        }
        self.making.synchronize()
    }

    /// Queues a copy to `memory`.
    fn copy(&self, memory: &Array, &Copied { from, to, bytes }: &Copied) -> CudaResult<()> {
        let to = DevicePointer::<u8>::from_raw(memory.at::<u8>(to) as u64);
        // SAFETY: both places have this size, and live until the stream was waited for.
        unsafe {
            let from = DeviceSlice::from_raw_parts(DevicePointer::from_raw(from), bytes);
            DeviceSlice::from_raw_parts(to, bytes).async_copy_from(&from, &self.making)
        }
    }

    fn launch(&self, kernel: &str, pixels: u32, arguments: &[*mut c_void]) -> CudaResult<()> {
        // SAFETY: the arguments match the kernel. Its images have these pixels, and live until the stream was waited for.
        unsafe { self.kernels.launch_items(kernel, pixels, &self.making, arguments) }
    }
}

/// The first pixel of each launch, and their number.
fn launches(pixels: usize) -> impl Iterator<Item = (usize, u32)> {
    (0..pixels).step_by(PIXELS_PER_LAUNCH).map(move |first| (first, (pixels - first).min(PIXELS_PER_LAUNCH) as u32))
}

/// Frees memory once nobody reads it any more.
fn free(spares: Vec<Spare>) -> CudaResult<()> {
    spares.iter().try_for_each(|spare| match &spare.read {
        Some(read) => read.synchronize(),
        None => CurrentContext::synchronize(),
    })
}

impl Drop for KeptPool {
    /// The fields free their memory in this context. Errors are ignored because they cannot be returned.
    fn drop(&mut self) {
        self.before = OtherContext::replace(&self.context).ok();
    }
}

impl GpuMemory {
    /// Address on the GPU at an offset.
    pub fn at<T>(&self, offset: usize) -> *mut T {
        self.memory.at(offset)
    }

    /// Queues a copy of a range of bytes of `from` to an offset.
    ///
    /// # Safety
    /// As for [`Array::copy_range_later`].
    pub unsafe fn copy_later(&self, to: usize, from: &Array, range: Range<usize>, stream: &Stream) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.memory.copy_range_later(to, from, range, stream) }
    }
}

impl KeptMemory for GpuMemory {
    fn ordinal(&self) -> u32 {
        self.pool.ordinal
    }

    fn address(&self) -> u64 {
        self.memory.at::<u8>(0) as u64
    }

    fn read_by_stream(&self, is_default: bool) {
        self.has_other_readers.fetch_or(!is_default, Ordering::Relaxed);
    }

    fn read(&self, range: Range<usize>) -> Result<Vec<u8>, DeviceError> {
        let mut bytes = vec![0; range.len()];
        let read = in_context(&self.pool.context, || self.memory.read_range(range.start, &mut bytes));
        read.map_err(|error| failed(&self.pool.name, "reading a picture", error))?;
        Ok(bytes)
    }

    fn make(&self, bytes: usize, content: Content) -> Result<Arc<dyn KeptMemory>, DeviceError> {
        let made = in_context(&self.pool.context, || {
            let made = self.pool.take(bytes, &self.pool.making)?;
            self.pool.fill(&made.memory, content)?;
            Ok(made)
        });
        let made = made.map_err(|error| failed(&self.pool.name, "making an image", error))?;
        Ok(Arc::new(made))
    }
}

impl Drop for GpuMemory {
    /// Returns the memory. Waits for nothing, because Python's lock may be held.
    fn drop(&mut self) {
        let memory = mem::take(&mut self.memory);
        let event = in_context(&self.pool.context, || {
            let read = Event::new(EventFlags::DISABLE_TIMING)?;
            read.record(&self.pool.after_default)?;
            Ok(read)
        });
        let read = event.ok().filter(|_| !*self.has_other_readers.get_mut());
        lock(&self.pool.spares).put(memory.bytes(), Spare { memory, read });
    }
}
