//! Memory for trees and records, aligned to cache lines or, for large buffers, to huge pages.

use bytemuck::{AnyBitPattern, NoUninit};
use rayon::prelude::*;
use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    io,
    mem::{ManuallyDrop, MaybeUninit},
    ops::{Deref, DerefMut},
    ptr::{self, NonNull},
    slice,
};

/// Minimum number of elements of parts that are joined in parallel. For fewer, waking threads takes longer than copying.
const FEWEST_JOINED: usize = 4096;

/// Allocations of at least this size are aligned to huge pages and request them. Otherwise, random access into hundreds of megabytes spends a quarter
/// of its time in page table walks. Smaller under Miri, which is slow.
const HUGE_PAGE: usize = if cfg!(miri) { 4 << 10 } else { 2 << 20 };

/// Size of a cache line, the alignment of smaller allocations.
const LINE: usize = 64;

/// A buffer that grows again gets 1/`ROOM` of its size in addition.
const ROOM: usize = 16;

/// Bytes that one task reads: few enough to stay in a core's cache between zeroing and reading.
const PIECE: usize = if cfg!(miri) { 1 << 10 } else { 1 << 17 };

/// A growable array of plain data that keeps its memory when it is reused for the next frame.
pub struct Buffer<T: Copy> {
    data: NonNull<T>,
    len: usize,
    /// Layout of the memory at `data`.
    layout: Layout,
}

// SAFETY: a buffer owns its elements like a vector, and lends them under the usual borrowing rules.
unsafe impl<T: Copy + Send> Send for Buffer<T> {}
// SAFETY: as above.
unsafe impl<T: Copy + Sync> Sync for Buffer<T> {}

impl<T: Copy> Buffer<T> {
    pub fn new() -> Self {
        Self { data: NonNull::dangling(), len: 0, layout: Layout::new::<()>() }
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

    /// Sets the length to `len` and all elements to `value`. Reallocates only to grow.
    pub fn resize(&mut self, len: usize, value: T) {
        self.reserve(len);
        self.len = len;
        for i in 0..len {
            // SAFETY: `reserve` made room for `len` elements.
            unsafe { self.data.as_ptr().add(i).write(value) };
        }
    }

    /// Sets the length to `len`, and calls `fill` to write all elements.
    ///
    /// # Safety
    /// `fill` must initialise every element of its slice.
    pub unsafe fn refill(&mut self, len: usize, fill: impl FnOnce(&mut [MaybeUninit<T>])) {
        self.len = 0;
        self.reserve(len);
        // SAFETY: `reserve` made room, and MaybeUninit needs no initialisation.
        fill(unsafe { slice::from_raw_parts_mut(self.data.as_ptr().cast(), len) });
        self.len = len;
    }

    /// Replaces the contents by `head` followed by the `parts`, which are copied in parallel. `place` maps each element of a part; its second
    /// argument is the position of the part's first element.
    pub fn refill_joined(&mut self, head: &[T], parts: &[&[T]], place: impl Fn(T, usize) -> T + Sync)
    where
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
            let fewest = if first < FEWEST_JOINED { targets.len() } else { 1 };
            targets.into_par_iter().with_min_len(fewest.max(1)).for_each(|(target, part, first)| {
                for (to, from) in target.iter_mut().zip(part) {
                    to.write(place(*from, first));
                }
            });
        };
        let total = head.len() + parts.iter().map(|part| part.len()).sum::<usize>();
        // SAFETY: the head and the parts cover all `total` elements, and each is written.
        unsafe { self.refill(total, copy) };
    }

    /// Keeps the first `kept` elements, and replaces all others by `place` of each element of `from`, in parallel.
    pub fn extend_from<U: Sync>(&mut self, kept: usize, from: &[U], place: impl Fn(&U) -> T + Sync)
    where
        T: Send + Sync,
    {
        assert!(kept <= self.len, "what is kept exists");
        let len = kept + from.len();
        self.len = kept;
        if len > self.capacity() {
            // Room for trees that grow from frame to frame.
            self.grow(len + from.len() / ROOM);
        }
        // SAFETY: there is room for `len` elements.
        let rest: &mut [MaybeUninit<T>] =
            unsafe { slice::from_raw_parts_mut(self.data.as_ptr().add(kept).cast(), from.len()) };
        let pairs = rest.par_iter_mut().zip(from).with_min_len(FEWEST_JOINED);
        pairs.for_each(|(to, from)| {
            to.write(place(from));
        });
        self.len = len;
    }

    /// Number of elements for which there is room.
    pub fn capacity(&self) -> usize {
        self.layout.size() / size_of::<T>()
    }

    /// Makes room for `len` elements, and keeps the contents.
    pub fn grow(&mut self, len: usize) {
        if len > self.capacity() {
            let mut grown = Self::new();
            grown.reserve(len);
            // SAFETY: the elements exist here, and there is room for them there.
            unsafe { ptr::copy_nonoverlapping(self.data.as_ptr(), grown.data.as_ptr(), self.len) };
            grown.len = self.len;
            *self = grown;
        }
    }

    /// Reinterprets the bytes as elements of another type. Returns `None` if the length is not a multiple of the element size, or if the alignment is
    /// insufficient.
    pub fn cast<U: Copy + AnyBitPattern>(self) -> Option<Buffer<U>>
    where
        T: NoUninit,
    {
        if self.is_empty() {
            return Some(Buffer::new());
        }
        let data = self.data.cast();
        let len = bytemuck::try_cast_slice::<T, U>(&self).ok()?.len();
        let Self { layout, .. } = *ManuallyDrop::new(self);
        Some(Buffer { data, len, layout })
    }

    /// Number of bytes allocated.
    pub fn bytes(&self) -> usize {
        self.layout.size()
    }

    fn reserve(&mut self, len: usize) {
        let bytes = len.checked_mul(size_of::<T>()).expect("a buffer fits the address space");
        if bytes <= self.layout.size() {
            return;
        }
        // A buffer that has grown once will probably grow again, because the tree of a moving scene changes its number of nodes from frame to frame.
        // Memory that is never touched costs nothing, but clearing a new allocation takes the system long.
        let bytes = match self.layout.size() {
            0 => bytes,
            _ => bytes.saturating_add(bytes / ROOM),
        };
        // Frees the old memory first, because its contents are no longer needed.
        *self = Self::new();
        let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { LINE };
        let layout = bytes
            .checked_next_multiple_of(LINE)
            .and_then(|size| Layout::from_size_align(size, align.max(align_of::<T>())).ok())
            .expect("a buffer fits the address space");
        // SAFETY: the size is not zero, since it exceeds the current one.
        let data = unsafe { alloc(layout) };
        let Some(data) = NonNull::new(data) else { handle_alloc_error(layout) };
        advise_huge_pages(data, layout);
        self.data = data.cast();
        self.layout = layout;
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn advise_huge_pages(data: NonNull<u8>, layout: Layout) {
    if layout.align() >= HUGE_PAGE {
        // SAFETY: for any range, this advice only affects the size of its pages.
        unsafe { libc::madvise(data.as_ptr().cast(), layout.size(), libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_huge_pages(_: NonNull<u8>, _: Layout) {}

impl Buffer<u8> {
    /// Creates a buffer of `len` bytes. `read` fills it in parallel pieces: it receives the offset of a piece, and the piece to overwrite.
    ///
    /// # Errors
    /// An error that `read` returned.
    pub fn read(len: usize, read: impl Fn(usize, &mut [u8]) -> io::Result<()> + Sync) -> io::Result<Self> {
        static ZEROS: [u8; PIECE] = [0; PIECE];
        let mut result = Ok(());
        let fill = |all: &mut [MaybeUninit<u8>]| {
            let pieces = all.par_chunks_mut(PIECE).enumerate();
            let read =
                pieces.map(|(index, piece)| read(index * PIECE, piece.write_copy_of_slice(&ZEROS[..piece.len()])));
            result = read.reduce(|| Ok(()), Result::and);
        };
        let mut buffer = Self::new();
        // SAFETY: every piece is at least zeroed, even if another piece fails.
        unsafe { buffer.refill(len, fill) };
        result.map(|()| buffer)
    }
}

impl<T: Copy> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated in `reserve` with this layout.
            unsafe { dealloc(self.data.as_ptr().cast(), self.layout) };
        }
    }
}

impl<T: Copy> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self::copied(self)
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
        // SAFETY: `len` elements are initialised.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

/// Reserves room for `len` elements in an empty vector, and requests huge pages if it is large enough.
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

/// Prefetches the cache lines of an element. Does nothing if `index` is out of range.
#[inline]
pub fn prefetch<T>(data: &[T], index: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if let Some(element) = data.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(element).cast::<i8>();
        for offset in (0..size_of::<T>()).step_by(64) {
            // SAFETY: prefetching only affects caches.
            unsafe { _mm_prefetch(first.wrapping_add(offset), _MM_HINT_T0) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (data, index);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_buffers_are_aligned_to_huge_pages_and_small_ones_to_cache_lines() {
        assert_eq!(Buffer::filled(3, 1u32).as_ptr() as usize % 64, 0);
        assert_eq!(Buffer::filled(HUGE_PAGE, 1u32).as_ptr() as usize % HUGE_PAGE, 0);
    }

    #[test]
    fn a_buffer_may_grow_again_and_again() {
        let mut buffer = Buffer::new();
        for len in [10, 1000, 5, HUGE_PAGE / 8, HUGE_PAGE, 2 * HUGE_PAGE] {
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

    #[test]
    fn bytes_that_are_read_become_elements_where_they_are() {
        let numbers: Vec<u32> = (0..PIECE as u32).collect();
        let from: &[u8] = bytemuck::cast_slice(&numbers);
        let piece = |position: usize, to: &mut [u8]| {
            to.copy_from_slice(&from[position..position + to.len()]);
            Ok(())
        };
        let bytes = Buffer::read(from.len(), piece).unwrap();
        let address = bytes.as_ptr() as usize;
        let elements = bytes.cast::<u32>().unwrap();
        assert!(elements[..] == numbers && elements.as_ptr() as usize == address);
        assert!(elements.cast::<[u32; 3]>().is_none(), "not whole");
        assert!(Buffer::<u8>::new().cast::<u64>().unwrap().is_empty());
    }

    #[test]
    fn an_error_in_one_piece_is_that_of_all() {
        let at = |failing: usize| {
            let piece = |position: usize, _: &mut [u8]| match position {
                at if at == failing => Err(io::ErrorKind::UnexpectedEof.into()),
                _ => Ok(()),
            };
            Buffer::read(3 * PIECE, piece)
        };
        assert!(at(2 * PIECE).is_err());
        assert!(at(1).unwrap().iter().all(|&byte| byte == 0));
    }

    #[test]
    fn elements_may_ask_for_more_than_huge_pages_do() {
        #[derive(Clone, Copy)]
        #[repr(align(8388608))]
        struct Huge(#[expect(dead_code, reason = "it takes room")] u8);
        let mut buffer = Buffer::<Huge>::new();
        buffer.reserve(1);
        assert_eq!(buffer.as_ptr() as usize % align_of::<Huge>(), 0);
    }

    #[test]
    fn shrinking_keeps_the_memory() {
        let mut buffer = Buffer::filled(1000, 1u64);
        let (address, bytes) = (buffer.as_ptr(), buffer.bytes());
        buffer.resize(10, 2);
        assert_eq!((&buffer[..], buffer.as_ptr(), buffer.bytes()), (&[2u64; 10][..], address, bytes));
    }
}
