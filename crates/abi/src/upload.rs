//! Types that devices copy byte by byte.

use super::*;
use bytemuck::NoUninit;

/// Types that may be copied to the GPU byte by byte: plain data, and shared structs with pointers.
///
/// # Safety
/// All bytes must be initialised; there must be no padding.
pub unsafe trait Upload: Copy {}

// SAFETY: guaranteed by `NoUninit`.
unsafe impl<T: NoUninit> Upload for T {}

/// Implements `Upload` for structs that consist of the given number of pointers and of 4-byte numbers.
macro_rules! upload {
    ($($name:ty: $pointers:literal, $numbers:literal;)*) => {$(
        const _: () = assert!(
            size_of::<$name>() == $pointers * size_of::<*const u8>() + $numbers * size_of::<u32>()
        );
        // SAFETY: the assertion shows that the fields leave no room for padding.
        unsafe impl Upload for $name {}
    )*};
}

upload! {
    MeshRecord: 3, 2;
    TextureRecord: 2, 8;
    ExrChannel: 1, 4;
    DenoiseFrame: 3, 0;
    FrameAovs: 30, 112;
}
