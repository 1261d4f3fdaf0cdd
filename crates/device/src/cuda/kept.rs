//! Pictures that stay in the GPU's memory, for other libraries of the process that use the GPU.

use super::{
    device::failed,
    memory::{Array, in_context},
};
use crate::{DeviceError, KeptPicture, Plane};
use cust::{
    context::{Context, CurrentContext},
    error::CudaResult,
    event::{Event, EventFlags},
    stream::{Stream, StreamFlags, StreamWaitEventFlags},
};
use std::{
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};
use throng_base::sync::lock;
use throng_picture::aov::{Aov, AovSet};

/// Alignment of images, which other libraries expect of allocations.
const ALIGNMENT: usize = 256;

/// Memory for pictures that stay on the GPU. Allocating it takes longer than a small frame, so it is used again.
pub struct KeptPool {
    spare: Mutex<Vec<Spare>>,
    /// Waits for the legacy default stream, unlike the streams of slots.
    after_default: Stream,
    name: String,
    ordinal: u32,
    /// Dropped last, because the memory belongs to it. Other libraries may keep pictures for longer than the device.
    context: Context,
}

/// Memory of a picture that was dropped.
struct Spare {
    memory: Array,
    /// Past once nobody reads the picture any more; none if that is not known before all work on the GPU is.
    read: Option<Event>,
}

/// Offsets of a picture's images in its memory.
#[derive(Clone, Copy)]
pub struct KeptLayout {
    pub aovs: AovSet,
    /// Number of pixels.
    pub pixels: usize,
}

impl KeptLayout {
    fn bytes(self) -> usize {
        self.aovs_start() + self.aov_bytes(self.aovs.iter())
    }

    /// Bytes of AOVs, each up to the next one.
    fn aov_bytes(self, aovs: impl Iterator<Item = Aov>) -> usize {
        aovs.map(|aov| (self.pixels * Plane::Aov(aov).pixel_bytes()).next_multiple_of(ALIGNMENT)).sum()
    }

    fn radiance_bytes(self) -> usize {
        (self.pixels * Plane::Radiance.pixel_bytes()).next_multiple_of(ALIGNMENT)
    }

    fn aovs_start(self) -> usize {
        self.radiance_bytes() + (self.pixels * Plane::Display.pixel_bytes()).next_multiple_of(ALIGNMENT)
    }

    /// Offset of an image in bytes. `None` if there is none.
    pub fn offset(self, plane: Plane) -> Option<usize> {
        match plane {
            Plane::Radiance => Some(0),
            Plane::Display => Some(self.radiance_bytes()),
            Plane::Aov(aov) if self.aovs.contains(aov) => {
                Some(self.aovs_start() + self.aov_bytes(self.aovs.iter().take_while(|&before| before != aov)))
            }
            Plane::Aov(_) => None,
        }
    }
}

/// A picture on the GPU.
pub struct GpuPicture {
    memory: Array,
    layout: KeptLayout,
    /// Whether streams read it that `after_default` does not wait for.
    has_other_readers: AtomicBool,
    pool: Arc<KeptPool>,
}

impl KeptPool {
    /// Memory of the GPU with this driver's number, whose context is current.
    pub fn new(name: String, ordinal: u32, context: Context) -> CudaResult<Arc<Self>> {
        let after_default = Stream::new(StreamFlags::DEFAULT, None)?;
        Ok(Arc::new(Self { spare: Mutex::default(), after_default, name, ordinal, context }))
    }

    /// Takes memory for a picture, which work of `stream` fills from now on.
    pub fn take(self: &Arc<Self>, layout: KeptLayout, stream: &Stream) -> CudaResult<GpuPicture> {
        let mut memory = Array::default();
        if let Some(spare) = lock(&self.spare).pop() {
            memory = spare.memory;
            match spare.read {
                None => CurrentContext::synchronize()?,
                Some(read) if memory.bytes() < layout.bytes() => read.synchronize()?,
                Some(read) => stream.wait_event(read, StreamWaitEventFlags::DEFAULT)?,
            }
        }
        memory.reserve(layout.bytes())?;
        Ok(GpuPicture { memory, layout, has_other_readers: AtomicBool::new(false), pool: self.clone() })
    }
}

impl Drop for KeptPool {
    /// The fields free their memory in this context. Errors are ignored because they cannot be returned.
    fn drop(&mut self) {
        let spare = mem::take(&mut *lock(&self.spare));
        let _ = in_context(&self.context, || {
            drop(spare);
            Ok(())
        });
    }
}

impl GpuPicture {
    /// Address on the GPU at an offset.
    pub fn at<T>(&self, offset: usize) -> *mut T {
        self.memory.at(offset)
    }

    /// Queues a copy of all AOVs of the picture from `images`, where they are one after the other.
    ///
    /// # Safety
    /// As for [`Array::copy_range_later`].
    pub unsafe fn copy_aovs_later(&self, images: &Array, stream: &Stream) -> CudaResult<()> {
        let mut from = 0;
        for aov in self.layout.aovs.iter() {
            let plane = Plane::Aov(aov);
            let bytes = self.layout.pixels * plane.pixel_bytes();
            let to = self.layout.offset(plane).unwrap_or_default();
            // SAFETY: guaranteed by the caller.
            unsafe { self.memory.copy_range_later(to, images, from..from + bytes, stream)? };
            from += bytes;
        }
        Ok(())
    }
}

impl KeptPicture for GpuPicture {
    fn ordinal(&self) -> u32 {
        self.pool.ordinal
    }

    fn address(&self, plane: Plane) -> Option<u64> {
        self.layout.offset(plane).map(|offset| self.memory.at::<u8>(offset) as u64)
    }

    fn read_by_stream(&self, is_default: bool) {
        self.has_other_readers.fetch_or(!is_default, Ordering::Relaxed);
    }

    fn read(&self, plane: Plane) -> Result<Vec<u8>, DeviceError> {
        let Some(offset) = self.layout.offset(plane) else {
            return Ok(Vec::new());
        };
        let mut bytes = vec![0; self.layout.pixels * plane.pixel_bytes()];
        let read = in_context(&self.pool.context, || self.memory.read_range(offset, &mut bytes));
        read.map_err(|error| failed(&self.pool.name, "reading a picture", error))?;
        Ok(bytes)
    }
}

impl Drop for GpuPicture {
    /// Returns the memory. Waits for nothing, because Python's lock may be held.
    fn drop(&mut self) {
        let memory = mem::take(&mut self.memory);
        let event = in_context(&self.pool.context, || {
            let read = Event::new(EventFlags::DISABLE_TIMING)?;
            read.record(&self.pool.after_default)?;
            Ok(read)
        });
        let read = event.ok().filter(|_| !*self.has_other_readers.get_mut());
        lock(&self.pool.spare).push(Spare { memory, read });
    }
}
