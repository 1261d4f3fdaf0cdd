//! Memory of the GPU, and page-locked memory of the host that it copies from and to. Both grow on demand and are kept.

use crate::abi::{DenoiseFrame, ExrChannel, FrameAovs, MeshRecord, TextureRecord};
use bytemuck::NoUninit;
use bytes::Bytes;
use cust::{
    error::CudaResult,
    memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer, DevicePointer, DeviceSlice, LockedBuffer},
    stream::Stream,
};
use rayon::prelude::*;
use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// Bytes that one task copies into page-locked memory.
const COPY_CHUNK: usize = 1 << 20;

/// An array of bytes on the GPU. Its contents are lost when it grows.
#[derive(Default)]
pub struct Array {
    buffer: Option<DeviceBuffer<u8>>,
}

impl Array {
    /// Makes room for at least `bytes`. Nothing on the GPU may use the array meanwhile.
    pub fn reserve(&mut self, bytes: usize) -> CudaResult<()> {
        if self.bytes() < bytes {
            // Freed first: two of a kind may not fit.
            self.buffer = None;
            // SAFETY: only the GPU reads it, where memory always holds some bytes.
            self.buffer = Some(unsafe { DeviceBuffer::uninitialized(bytes)? });
        }
        Ok(())
    }

    /// Makes room for `bytes`, and for an eighth more if that takes a new allocation.
    pub fn reserve_with_room(&mut self, bytes: usize) -> CudaResult<()> {
        if self.bytes() < bytes {
            return self.reserve(bytes + bytes / 8);
        }
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        self.buffer.as_ref().map_or(0, |b| b.len())
    }

    /// Address of the element `offset` bytes from the start, for kernels; null where there is no memory.
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

    /// Queues a copy of `len` page-locked bytes.
    ///
    /// # Safety
    /// Until the stream has passed the copy, nobody writes to `data`, makes room in it or drops it, nor this array.
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
        // SAFETY: passed on.
        unsafe { target.async_copy_from(&data.bytes()[from..from + len], stream) }
    }

    /// Queues a copy of the first `len` bytes to page-locked memory.
    ///
    /// # Safety
    /// As of [`Self::read_range_later`].
    pub unsafe fn read_later(&self, data: &mut Pinned, to: usize, len: usize, stream: &Stream) -> CudaResult<()> {
        // SAFETY: passed on.
        unsafe { self.read_range_later((0, len), data, to, stream) }
    }

    /// Queues a copy of `len` bytes from `from` on to page-locked memory.
    ///
    /// # Safety
    /// Until the stream has passed the copy, nobody reads or writes `data`, makes room in it or drops it, nor this array.
    pub unsafe fn read_range_later(
        &self,
        (from, len): (usize, usize),
        data: &mut Pinned,
        to: usize,
        stream: &Stream,
    ) -> CudaResult<()> {
        let source = self.range(from, len);
        // SAFETY: passed on.
        unsafe { source.async_copy_to(&mut data.bytes_mut()[to..to + len], stream) }
    }

    /// Queues a copy of all of `from`, which may be another GPU's, to the start.
    ///
    /// # Safety
    /// Until the stream has passed the copy, nobody writes to `from` or drops it, and nobody uses this array.
    pub unsafe fn copy_later(&self, from: &Self, stream: &Stream) -> CudaResult<()> {
        let bytes = from.bytes();
        // SAFETY: passed on.
        unsafe { self.range(0, bytes).async_copy_from(&from.range(0, bytes), stream) }
    }

    /// Queues filling the first `len` bytes with zeros.
    pub fn clear_later(&self, len: usize, stream: &Stream) -> CudaResult<()> {
        let mut target = self.range(0, len);
        // SAFETY: the memory is this array's own, and the driver frees none that a stream has yet to fill.
        unsafe { target.set_8_async(0, stream) }
    }

    /// Copies the first bytes to `data` and waits.
    pub fn read(&self, data: &mut [u8]) -> CudaResult<()> {
        self.range(0, data.len()).copy_to(data)
    }

    fn range(&self, offset: usize, len: usize) -> DeviceSlice<u8> {
        assert!(offset <= self.bytes() && len <= self.bytes() - offset, "copies stay inside of the array");
        let start = DevicePointer::from_raw(self.at::<u8>(offset) as u64);
        // SAFETY: the range was just checked.
        unsafe { DeviceSlice::from_raw_parts(start, len) }
    }
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
            // SAFETY: it comes from the driver, whose memory always holds some bytes.
            self.buffer = Some(unsafe { LockedBuffer::uninitialized(bytes)? });
        }
        Ok(())
    }

    /// As [`Array::reserve_with_room`].
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
}

/// Page-locked memory for pictures: they are read where the GPU wrote them, and the memory comes back afterwards. Locking new memory
/// takes the system long, and touching it for the first time longer.
#[derive(Clone, Default)]
pub struct SparePinned(Arc<Mutex<Vec<Pinned>>>);

impl SparePinned {
    /// Takes memory of at least `bytes`.
    pub fn take(&self, bytes: usize) -> CudaResult<Pinned> {
        let mut pinned = lock(&self.0).pop().unwrap_or_default();
        pinned.reserve(bytes)?;
        Ok(pinned)
    }

    /// The same, with more room if it has to be made.
    pub fn take_with_room(&self, bytes: usize) -> CudaResult<Pinned> {
        let mut pinned = lock(&self.0).pop().unwrap_or_default();
        pinned.reserve_with_room(bytes)?;
        Ok(pinned)
    }

    /// Lends the bytes to be read by anybody. The memory is spare again when nobody has them any more.
    pub fn lend(&self, pinned: Pinned) -> Bytes {
        Bytes::from_owner(Lent { pinned, spare: Arc::downgrade(&self.0) })
    }
}

/// Memory that goes back to the list of spare memory when it is dropped.
struct Lent {
    pinned: Pinned,
    spare: Weak<Mutex<Vec<Pinned>>>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.pinned.bytes()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let pinned = mem::take(&mut self.pinned);
        match self.spare.upgrade() {
            Some(spare) => lock(&spare).push(pinned),
            // The device is gone. This thread has no context to free memory in; the process frees it.
            None => mem::forget(pinned),
        }
    }
}

/// Locks a list even after a panic: it is whole between two statements.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Types that may be copied to the GPU byte by byte: plain data, and structs of the border with pointers in them.
///
/// # Safety
/// All bytes have a value: there is no padding.
pub unsafe trait Upload: Copy {}

// SAFETY: what `NoUninit` says.
unsafe impl<T: NoUninit> Upload for T {}

/// Implements `Upload` for structs of so many pointers and numbers of four bytes, and nothing else.
macro_rules! upload {
    ($($name:ty: $pointers:literal, $numbers:literal;)*) => {$(
        const _: () = assert!(
            size_of::<$name>() == $pointers * size_of::<*const u8>() + $numbers * size_of::<u32>()
        );
        // SAFETY: as was just asserted, fields leave no room for padding.
        unsafe impl Upload for $name {}
    )*};
}

upload! {
    MeshRecord: 3, 2;
    TextureRecord: 1, 6;
    ExrChannel: 1, 4;
    DenoiseFrame: 3, 0;
    FrameAovs: 27, 86;
}

/// Returns all bytes of some data.
pub fn bytes_of<T: Upload>(data: &[T]) -> &[u8] {
    // SAFETY: a slice is this long, and there is no padding.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}
