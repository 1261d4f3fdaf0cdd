//! Memory for trees and records: aligned to cache lines, and to huge pages where it is large; or a part of a file in memory.

use memmap2::Mmap;
use rayon::prelude::*;
use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    mem::MaybeUninit,
    ops::{Deref, DerefMut, Range},
    ptr::NonNull,
    slice,
    sync::Arc,
};

/// Allocations from this size on are aligned to, and ask for, huge pages: random access into hundreds of megabytes
/// otherwise spends a quarter of its time in page table walks.
const HUGE_PAGE: usize = 2 << 20;

/// A buffer that grows again gets one part in so many of its size in addition.
const ROOM: usize = 16;

/// A growable array of plain data that keeps its memory when it is reused for the next frame.
///
/// It may also be a part of a mapped file. Such a buffer is copied to memory of its own as soon as it is written to.
pub struct Buffer<T: Copy> {
    data: NonNull<T>,
    len: usize,
    /// Of the memory that it owns: nothing, if it is a part of a file.
    layout: Layout,
    /// Keeps the file in memory that `data` is a part of.
    map: Option<Arc<Mmap>>,
}

// SAFETY: a Buffer owns its memory, or shares a map that nobody writes to, and hands it out under the usual borrowing rules.
// Border structs hold raw pointers to other memory, which they never own; whoever dereferences those answers for them.
unsafe impl<T: Copy> Send for Buffer<T> {}
// SAFETY: as above; shared access is read-only.
unsafe impl<T: Copy> Sync for Buffer<T> {}

impl<T: Copy> Buffer<T> {
    pub fn new() -> Self {
        Self {
            data: NonNull::dangling(),
            len: 0,
            layout: Layout::new::<()>(),
            map: None,
        }
    }

    /// The elements in these bytes of a file, in place. None if the file has no such bytes, or if they are not whole
    /// and aligned elements.
    pub fn mapped(map: &Arc<Mmap>, bytes: Range<usize>) -> Option<Self>
    where
        T: bytemuck::AnyBitPattern,
    {
        let elements: &[T] = bytemuck::try_cast_slice(map.get(bytes)?).ok()?;
        Some(Self {
            data: NonNull::from(elements).cast(),
            len: elements.len(),
            map: Some(map.clone()),
            ..Self::new()
        })
    }

    pub fn filled(len: usize, value: T) -> Self {
        let mut buffer = Self::new();
        buffer.resize(len, value);
        buffer
    }

    pub fn copied(from: &[T]) -> Self {
        let mut buffer = Self::new();
        let copy = |to: &mut [MaybeUninit<T>]| {
            for (to, from) in to.iter_mut().zip(from) {
                to.write(*from);
            }
        };
        // SAFETY: all elements are copied from `from`, which has the same length.
        unsafe { buffer.refill(from.len(), copy) };
        buffer
    }

    /// Makes the length `len`; all elements are `value` afterwards. Reallocates only to grow.
    pub fn resize(&mut self, len: usize, value: T) {
        self.reserve(len);
        self.len = len;
        for i in 0..len {
            // SAFETY: `reserve` made room for `len` elements.
            unsafe { self.data.as_ptr().add(i).write(value) };
        }
    }

    /// Makes the length `len` with whatever the memory holds, and returns it for `write` to fill completely.
    ///
    /// # Safety
    /// `fill` must initialise every element of the slice that it is given.
    pub unsafe fn refill(&mut self, len: usize, fill: impl FnOnce(&mut [MaybeUninit<T>])) {
        self.len = 0;
        self.reserve(len);
        // SAFETY: `reserve` made room, and MaybeUninit needs no initialisation.
        fill(unsafe { slice::from_raw_parts_mut(self.data.as_ptr().cast(), len) });
        self.len = len;
    }

    /// Makes it `head` and then the `parts`, which are copied side by side. `place` gets each element of a part, and the position
    /// of the part's first one.
    pub fn refill_joined(
        &mut self,
        head: &[T],
        parts: &[&[T]],
        place: impl Fn(T, usize) -> T + Sync,
    ) where
        T: Send + Sync,
    {
        let copy = |all: &mut [MaybeUninit<T>]| {
            let (to_head, mut rest) = all.split_at_mut(head.len());
            for (to, from) in to_head.iter_mut().zip(head) {
                to.write(*from);
            }
            let mut first = head.len();
            let mut targets = Vec::with_capacity(parts.len());
            for &part in parts {
                let (target, tail) = rest.split_at_mut(part.len());
                targets.push((target, part, first));
                (rest, first) = (tail, first + part.len());
            }
            targets.into_par_iter().for_each(|(target, part, first)| {
                for (to, from) in target.iter_mut().zip(part) {
                    to.write(place(*from, first));
                }
            });
        };
        let total = head.len() + parts.iter().map(|part| part.len()).sum::<usize>();
        // SAFETY: the head and the parts cover all `total` elements, and each is written.
        unsafe { self.refill(total, copy) };
    }

    /// Bytes allocated, or used of a file.
    pub fn bytes(&self) -> usize {
        match &self.map {
            Some(_) => size_of_val(&self[..]),
            None => self.layout.size(),
        }
    }

    fn reserve(&mut self, len: usize) {
        let bytes = len
            .checked_mul(size_of::<T>())
            .expect("a buffer fits the address space");
        if bytes <= self.layout.size() {
            return;
        }
        // What has grown once will grow again: the tree of a moving scene has a few nodes more or less in every frame. Memory
        // that is never touched costs nothing, and to have all of it cleared by the system again takes long.
        let bytes = match self.layout.size() {
            0 => bytes,
            _ => bytes.saturating_add(bytes / ROOM),
        };
        // Frees the old memory first: its contents are not needed any more.
        *self = Self::new();
        let align = if bytes >= HUGE_PAGE {
            HUGE_PAGE
        } else {
            align_of::<T>().max(64)
        };
        let layout = Layout::from_size_align(bytes.next_multiple_of(align.min(64)), align)
            .expect("a valid layout");
        // SAFETY: the size is not zero, since it exceeds the current one.
        let data = unsafe { alloc(layout) };
        let Some(data) = NonNull::new(data) else {
            handle_alloc_error(layout)
        };
        advise_huge_pages(data, layout);
        self.data = data.cast();
        self.layout = layout;
    }
}

#[cfg(target_os = "linux")]
fn advise_huge_pages(data: NonNull<u8>, layout: Layout) {
    if layout.align() >= HUGE_PAGE {
        // SAFETY: the range was just allocated; the advice changes nothing but the page size.
        unsafe { libc::madvise(data.as_ptr().cast(), layout.size(), libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_: NonNull<u8>, _: Layout) {}

impl<T: Copy> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated in `reserve` with this layout.
            unsafe { dealloc(self.data.as_ptr().cast(), self.layout) };
        }
    }
}

impl<T: Copy> Clone for Buffer<T> {
    /// Clones of a part of a file share it.
    fn clone(&self) -> Self {
        match &self.map {
            Some(map) => Self {
                data: self.data,
                len: self.len,
                map: Some(map.clone()),
                ..Self::new()
            },
            None => Self::copied(self),
        }
    }
}

impl<T: Copy> Default for Buffer<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy> Deref for Buffer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: `len` elements are initialised.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

impl<T: Copy> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        if self.map.is_some() {
            *self = Self::copied(self);
        }
        // SAFETY: `len` elements are initialised, in memory that this buffer owns.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

/// Makes room for `len` elements in an empty vector, in huge pages where that is worth it.
pub fn reserve_huge_pages<T>(vec: &mut Vec<T>, len: usize) {
    vec.reserve_exact(len);
    let bytes = vec.capacity() * size_of::<T>();
    let start = (vec.as_ptr() as usize).next_multiple_of(HUGE_PAGE);
    let end = (vec.as_ptr() as usize + bytes) / HUGE_PAGE * HUGE_PAGE;
    if let (true, Some(data)) = (start < end, NonNull::new(start as *mut u8))
        && let Ok(layout) = Layout::from_size_align(end - start, HUGE_PAGE)
    {
        advise_huge_pages(data, layout);
    }
}

/// Asks for the cache lines of an element that will be read soon. Out of range: nothing happens.
#[inline]
pub fn prefetch<T>(data: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = data.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(element).cast::<i8>();
        for offset in (0..size_of::<T>()).step_by(64) {
            // SAFETY: prefetching has no effect but on caches.
            unsafe { _mm_prefetch(first.wrapping_add(offset), _MM_HINT_T0) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, index);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn large_buffers_are_aligned_to_huge_pages_and_small_ones_to_cache_lines() {
        assert_eq!(Buffer::filled(3, 1u32).as_ptr() as usize % 64, 0);
        assert_eq!(
            Buffer::filled(1 << 20, 1u32).as_ptr() as usize % HUGE_PAGE,
            0
        );
    }

    #[test]
    fn a_buffer_may_grow_again_and_again() {
        let mut buffer = Buffer::new();
        for len in [10usize, 1000, 5, 100_000, 1 << 20, 3 << 20] {
            buffer.resize(len, len as u32);
            assert!(buffer.len() == len && buffer.iter().all(|&x| x == len as u32));
        }
    }

    #[test]
    fn growing_a_little_in_every_frame_does_not_always_move() {
        let mut buffer = Buffer::filled(1000, 1u32);
        buffer.resize(1010, 1);
        let address = buffer.as_ptr();
        for len in 1011..1070 {
            buffer.resize(len, 2);
            assert_eq!(buffer.as_ptr(), address);
        }
    }

    /// Three numbers at byte 64 of a file.
    fn mapped() -> Buffer<u32> {
        let mut file = tempfile::tempfile().unwrap();
        let bytes = [[0; 64].as_slice(), bytemuck::cast_slice(&[1u32, 2, 3])].concat();
        file.write_all(&bytes).unwrap();
        // SAFETY: nobody else has the file.
        let map = Arc::new(unsafe { Mmap::map(&file) }.unwrap());
        assert!(Buffer::<u32>::mapped(&map, 66..74).is_none(), "not aligned");
        assert!(Buffer::<u32>::mapped(&map, 64..75).is_none(), "not whole");
        assert!(Buffer::<u32>::mapped(&map, 64..80).is_none(), "not there");
        Buffer::mapped(&map, 64..76).unwrap()
    }

    #[test]
    fn a_part_of_a_file_is_copied_when_it_is_written_to() {
        let original = mapped();
        let mut changed = original.clone();
        assert_eq!(changed.as_ptr(), original.as_ptr());
        changed[1] = 7;
        assert_eq!(
            (&original[..], &changed[..]),
            (&[1, 2, 3][..], &[1, 7, 3][..])
        );
        assert_eq!(original.bytes(), 12);
    }

    #[test]
    fn a_part_of_a_file_may_be_refilled() {
        let mut buffer = mapped();
        buffer.resize(2, 9);
        assert_eq!(buffer[..], [9, 9]);
        let mut buffer = mapped();
        buffer.resize(0, 9);
        assert!(buffer.is_empty());
    }

    #[test]
    fn shrinking_keeps_the_memory() {
        let mut buffer = Buffer::filled(1000, 1u64);
        let (address, bytes) = (buffer.as_ptr(), buffer.bytes());
        buffer.resize(10, 2);
        assert_eq!(
            (&buffer[..], buffer.as_ptr(), buffer.bytes()),
            (&[2u64; 10][..], address, bytes)
        );
    }
}
