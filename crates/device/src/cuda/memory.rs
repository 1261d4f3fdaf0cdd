//! Memory of the GPU, and page-locked host memory for copies. Both grow on demand and are kept.

use bytes::Bytes;
use cust::{
    context::{Context, CurrentContext},
    error::CudaResult,
    memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer, DevicePointer, DeviceSlice, LockedBuffer},
    stream::Stream,
    sys,
};
use rayon::prelude::*;
use std::{
    mem,
    ops::Range,
    ptr,
    sync::{Arc, Mutex, Weak},
};
use throng_abi::Upload;
use throng_base::sync::lock;

/// Bytes that one task copies into page-locked memory.
const COPY_CHUNK: usize = 1 << 20;

/// An array of bytes on the GPU. Its contents are lost when it grows.
#[derive(Default)]
pub struct Array {
    buffer: Option<DeviceBuffer<u8>>,
}

impl Array {
    /// Makes room for at least `bytes`. No work on the GPU may use the array during the call.
    pub fn reserve(&mut self, bytes: usize) -> CudaResult<()> {
        if self.bytes() < bytes {
            // Freed first, because both allocations together may not fit.
            self.buffer = None;
            // SAFETY: only the GPU reads the memory, and any bytes are valid there.
            self.buffer = Some(unsafe { DeviceBuffer::uninitialized(bytes)? });
        }
        Ok(())
    }

    /// Makes room for `bytes`; a new allocation is an eighth larger.
    pub fn reserve_with_room(&mut self, bytes: usize) -> CudaResult<()> {
        if self.bytes() < bytes {
            return self.reserve(bytes + bytes / 8);
        }
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        self.buffer.as_ref().map_or(0, |b| b.len())
    }

    /// Address of the element at `offset` bytes, for kernels; null if nothing is allocated.
    pub fn at<T>(&self, offset: usize) -> *mut T {
        match &self.buffer {
            Some(buffer) => (buffer.as_device_ptr().as_raw() as usize + offset) as *mut T,
            None => std::ptr::null_mut(),
        }
    }

    /// Copies `data` to `offset` and waits.
    pub fn write(&self, offset: usize, data: &[u8]) -> CudaResult<()> {
        if data.is_empty() {
            return Ok(());
        }
        self.range(offset, data.len()).copy_from(data)
    }

    /// Queues a copy of `len` bytes from page-locked memory.
    ///
    /// # Safety
    /// Until the stream has passed the copy, `data` must not be written, and neither `data` nor this array may be resized or dropped.
    pub unsafe fn write_later(
        &self,
        offset: usize,
        data: &Pinned,
        from: usize,
        len: usize,
        stream: &Stream,
    ) -> CudaResult<()> {
        if len == 0 {
            return Ok(());
        }
        let mut target = self.range(offset, len);
        // SAFETY: guaranteed by the caller.
        unsafe { target.async_copy_from(&data.bytes()[from..from + len], stream) }
    }

    /// Queues a copy of the first `len` bytes to page-locked memory.
    ///
    /// # Safety
    /// As for [`Self::read_range_later`].
    pub unsafe fn read_later(&self, data: &mut Pinned, to: usize, len: usize, stream: &Stream) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.read_range_later((0, len), data, to, stream) }
    }

    /// Queues a copy of `len` bytes, starting at `from`, to page-locked memory.
    ///
    /// # Safety
    /// Until the stream has passed the copy, `data` must not be read or written, and neither `data` nor this array may be resized or dropped.
    pub unsafe fn read_range_later(
        &self,
        (from, len): (usize, usize),
        data: &mut Pinned,
        to: usize,
        stream: &Stream,
    ) -> CudaResult<()> {
        let source = self.range(from, len);
        // SAFETY: guaranteed by the caller.
        unsafe { source.async_copy_to(&mut data.bytes_mut()[to..to + len], stream) }
    }

    /// Queues a copy of all of `from`, which may belong to another GPU, to the start of this array.
    ///
    /// # Safety
    /// Until the stream has passed the copy, `from` must not be written or dropped, and this array must not be used.
    pub unsafe fn copy_later(&self, from: &Self, stream: &Stream) -> CudaResult<()> {
        let bytes = from.bytes();
        // SAFETY: guaranteed by the caller.
        unsafe { self.range(0, bytes).async_copy_from(&from.range(0, bytes), stream) }
    }

    /// Queues a copy of a range of bytes of `from`, on the same GPU, to offset `to`.
    ///
    /// # Safety
    /// Until the stream has passed the copy, `from` must not be written or dropped, and this array must not be used.
    pub unsafe fn copy_range_later(
        &self,
        to: usize,
        from: &Self,
        range: Range<usize>,
        stream: &Stream,
    ) -> CudaResult<()> {
        if range.is_empty() {
            return Ok(());
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.range(to, range.len()).async_copy_from(&from.range(range.start, range.len()), stream) }
    }

    /// Queues filling the first `len` bytes with zeros.
    pub fn clear_later(&self, len: usize, stream: &Stream) -> CudaResult<()> {
        let mut target = self.range(0, len);
        // SAFETY: the memory belongs to this array, and the driver does not free it before the stream has passed the fill.
        unsafe { target.set_8_async(0, stream) }
    }

    /// Queues filling a range of bytes with zeros.
    pub fn clear_range_later(&self, range: Range<usize>, stream: &Stream) -> CudaResult<()> {
        let mut target = self.range(range.start, range.len());
        // SAFETY: as above.
        unsafe { target.set_8_async(0, stream) }
    }

    /// Copies the first bytes to `data` and waits.
    pub fn read(&self, data: &mut [u8]) -> CudaResult<()> {
        self.read_range(0, data)
    }

    /// Copies the bytes from an offset on to `data` and waits.
    pub fn read_range(&self, from: usize, data: &mut [u8]) -> CudaResult<()> {
        self.range(from, data.len()).copy_to(data)
    }

    fn range(&self, offset: usize, len: usize) -> DeviceSlice<u8> {
        assert!(offset <= self.bytes() && len <= self.bytes() - offset, "copies stay inside of the array");
        let start = DevicePointer::from_raw(self.at::<u8>(offset) as u64);
        // SAFETY: the assertion checked the range.
        unsafe { DeviceSlice::from_raw_parts(start, len) }
    }
}

/// Whether `held` refers to `wanted`.
pub fn is_same<T>(held: &Weak<T>, wanted: &Arc<T>) -> bool {
    held.as_ptr() == Arc::as_ptr(wanted) && held.strong_count() > 0
}

/// Page-locked host memory.
#[derive(Default)]
pub struct Pinned {
    buffer: Option<LockedBuffer<u8>>,
}

impl Pinned {
    /// Makes room for at least `bytes`. No copy may be under way.
    pub fn reserve(&mut self, bytes: usize) -> CudaResult<()> {
        if self.bytes().len() < bytes {
            self.buffer = None;
            // SAFETY: the memory comes from the driver, and any bytes are valid there.
            self.buffer = Some(unsafe { LockedBuffer::uninitialized(bytes)? });
        }
        Ok(())
    }

    /// Like [`Array::reserve_with_room`].
    pub fn reserve_with_room(&mut self, bytes: usize) -> CudaResult<()> {
        if self.bytes().len() < bytes {
            return self.reserve(bytes + bytes / 8);
        }
        Ok(())
    }

    pub fn bytes(&self) -> &[u8] {
        self.buffer.as_ref().map_or(&[], |b| b.as_slice())
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.buffer.as_mut().map_or(&mut [], |b| b.as_mut_slice())
    }

    /// Copies `data` to `offset`, on all threads.
    pub fn fill(&mut self, offset: usize, data: &[u8]) {
        let target = &mut self.bytes_mut()[offset..offset + data.len()];
        target
            .par_chunks_mut(COPY_CHUNK)
            .zip(data.par_chunks(COPY_CHUNK))
            .for_each(|(to, from)| to.copy_from_slice(from));
    }

    /// Copies data into this memory, and queues the copies from there to places in arrays. Queued work must neither use the arrays nor this memory, which
    /// must stay as it is until the stream has passed the copies.
    pub fn send(&mut self, copies: &[(&Array, usize, &[u8])], stream: &Stream) -> CudaResult<()> {
        self.reserve_with_room(copies.iter().map(|(_, _, bytes)| bytes.len()).sum())?;
        let mut staged = 0;
        for (_, _, bytes) in copies {
            self.fill(staged, bytes);
            staged += bytes.len();
        }
        staged = 0;
        for (array, start, bytes) in copies {
            // SAFETY: guaranteed by the caller.
            unsafe { array.write_later(*start, self, staged, bytes.len(), stream)? };
            staged += bytes.len();
        }
        Ok(())
    }
}

/// Page-locked memory for pictures. Pictures are read where the GPU wrote them, and the memory is reused afterwards. Locking new memory is slow, and
/// touching it for the first time is slower.
#[derive(Clone)]
pub struct SparePinned(Arc<PinnedPool>);

struct PinnedPool {
    spare: Mutex<Vec<Pinned>>,
    /// Dropped last, because the memory belongs to it. Pictures may outlive the device.
    context: Context,
}

impl SparePinned {
    pub fn new(context: Context) -> Self {
        Self(Arc::new(PinnedPool { spare: Mutex::default(), context }))
    }

    /// Takes memory of at least `bytes`.
    pub fn take(&self, bytes: usize) -> CudaResult<Pinned> {
        let mut pinned = lock(&self.0.spare).pop().unwrap_or_default();
        pinned.reserve(bytes)?;
        Ok(pinned)
    }

    /// Like [`Self::take`]; a new allocation is an eighth larger.
    pub fn take_with_room(&self, bytes: usize) -> CudaResult<Pinned> {
        let mut pinned = lock(&self.0.spare).pop().unwrap_or_default();
        pinned.reserve_with_room(bytes)?;
        Ok(pinned)
    }

    /// Lends the bytes for reading. The memory is reused after the last reference is dropped.
    pub fn lend(&self, pinned: Pinned) -> Bytes {
        Bytes::from_owner(Lent { pinned, pool: self.0.clone() })
    }
}

impl Drop for PinnedPool {
    /// Frees the memory in its context. Errors are ignored because they cannot be returned.
    fn drop(&mut self) {
        let spare = mem::take(&mut *lock(&self.spare));
        let _ = in_context(&self.context, || {
            drop(spare);
            Ok(())
        });
    }
}

/// Memory that returns to its pool when it is dropped.
struct Lent {
    pinned: Pinned,
    pool: Arc<PinnedPool>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.pinned.bytes()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        lock(&self.pool.spare).push(mem::take(&mut self.pinned));
    }
}

/// The context that another library made current on the calling thread, or none. Threads of Python belong to other libraries, whose current GPU must not
/// change. Dropped on the same thread, it is current again.
pub struct OtherContext {
    /// Address of the driver's context; 0 if there was none.
    address: usize,
}

impl OtherContext {
    /// Remembers the current context of the calling thread. The driver must be initialised.
    pub fn remember() -> Self {
        let mut before = ptr::null_mut();
        // SAFETY: `before` receives the thread's context, or stays null.
        unsafe { sys::cuCtxGetCurrent(&mut before) };
        Self { address: before as usize }
    }

    /// Remembers the current context, and makes a GPU's context current.
    pub fn replace(context: &Context) -> CudaResult<Self> {
        let before = Self::remember();
        CurrentContext::set_current(context)?;
        Ok(before)
    }
}

impl Drop for OtherContext {
    /// Errors are ignored because they cannot be returned.
    fn drop(&mut self) {
        // SAFETY: the context was current on this thread before, and its owner keeps it.
        unsafe { sys::cuCtxSetCurrent(self.address as sys::CUcontext) };
    }
}

/// Calls `work` with a GPU's context on this thread.
pub fn in_context<T>(context: &Context, work: impl FnOnce() -> CudaResult<T>) -> CudaResult<T> {
    let _before = OtherContext::replace(context)?;
    work()
}

/// Returns the bytes of a slice.
pub fn bytes_of<T: Upload>(data: &[T]) -> &[u8] {
    // SAFETY: the length is the slice's, and there is no padding.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}
