//! Pictures that stay in a device's memory. The images of a picture, and those of all pictures of a batch, are in one piece of memory.

use super::DeviceError;
use std::{iter, ops::Range, sync::Arc};
use throng_picture::aov::{Aov, AovSet};

/// Alignment of images, which other libraries expect of allocations.
const ALIGNMENT: usize = 256;

/// An image of a picture in a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane {
    /// Linear radiance: three floats per pixel, multiplied by alpha.
    Radiance,
    /// Display colours: three bytes per pixel, not multiplied by alpha.
    Display,
    /// An AOV, in the form of [`AovImage`](throng_picture::aov::AovImage).
    Aov(Aov),
}

impl Plane {
    fn format(self) -> PixelFormat {
        match self {
            Self::Radiance => PixelFormat { values: ValueType::F32, channels: 3 },
            Self::Display => PixelFormat { values: ValueType::U8, channels: 3 },
            Self::Aov(aov) => PixelFormat { values: ValueType::F32, channels: aov.channels() },
        }
    }
}

/// A type of values of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    U8,
    I32,
    F32,
}

impl ValueType {
    pub fn bytes(self) -> usize {
        if self == Self::U8 { 1 } else { 4 }
    }
}

/// The values of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelFormat {
    pub values: ValueType,
    pub channels: usize,
}

impl PixelFormat {
    pub fn bytes(self) -> usize {
        self.channels * self.values.bytes()
    }
}

/// Memory of a GPU that other libraries may read. It does not change any more. It is used again after it is dropped.
pub trait KeptMemory: Send + Sync {
    /// The driver's number of the GPU.
    fn ordinal(&self) -> u32;

    /// Address of the first byte on the GPU, aligned for any library.
    fn address(&self) -> u64;

    /// Records that a stream of another library reads the memory until it is dropped. `is_default`: whether it is CUDA's legacy default stream. After
    /// other streams, the memory is used again once the GPU was idle.
    fn read_by_stream(&self, is_default: bool);

    /// Copies a range of bytes to host memory.
    ///
    /// # Errors
    /// If the device fails.
    fn read(&self, bytes: Range<usize>) -> Result<Vec<u8>, DeviceError>;

    /// Makes other memory of `bytes` bytes on this GPU, and waits until it is filled.
    ///
    /// # Errors
    /// If the GPU's memory is full, or the device fails.
    fn make(&self, bytes: usize, content: Content) -> Result<Arc<dyn KeptMemory>, DeviceError>;
}

/// The content of new memory. Values are made of images with `pixels` pixels at these addresses.
pub enum Content<'a> {
    /// Copies of parts of other memory, which may be of other GPUs.
    Copies(&'a [Copied]),
    /// For each pixel of a matte, the number of the name with the greatest coverage.
    Numbers { matte: u64, channels: usize, numbers: &'a Arc<MatteNumbers>, pixels: usize },
    /// Optical flow of a motion AOV: to the frame before (`back`), or to the next one.
    Flow { motion: u64, back: bool, pixels: usize },
    /// Colours, bytes or floats, with an alpha as the fourth channel.
    WithAlpha { colors: u64, alpha: u64, values: ValueType, pixels: usize },
}

/// A copy of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Address on a GPU.
    pub from: u64,
    /// Offset in the new memory.
    pub to: usize,
    pub bytes: usize,
}

/// Numbers of instances or materials by the ids of their names in mattes.
#[derive(Debug, Default)]
pub struct MatteNumbers {
    /// Pairs of id and number, in ascending order of ids.
    pairs: Vec<[u32; 2]>,
}

impl MatteNumbers {
    /// Numbers of names that are given by id. Of names with equal ids, the first has its number.
    pub fn new(numbers: impl IntoIterator<Item = (u32, i32)>) -> Self {
        let mut pairs: Vec<[u32; 2]> = numbers.into_iter().map(|(id, number)| [id, number as u32]).collect();
        pairs.sort_by_key(|pair| pair[0]);
        pairs.dedup_by_key(|pair| pair[0]);
        Self { pairs }
    }

    /// Words of all pairs, for kernels.
    pub fn words(&self) -> &[u32] {
        self.pairs.as_flattened()
    }

    /// The number of the name with the greatest coverage in each pixel of a matte, or -1. Kernels find the same (`kernels/film/kept.h`).
    pub fn of_matte(&self, matte: &[f32], channels: usize) -> Vec<i32> {
        let mut last = None;
        let number = |pixel: &[f32]| {
            let id = pixel[0].to_bits();
            if pixel[1] <= 0.0 || pixel[1].is_nan() {
                return -1;
            }
            match last {
                Some((known, number)) if known == id => number,
                _ => last.insert((id, self.number(id))).1,
            }
        };
        matte.chunks_exact(channels).map(number).collect()
    }

    fn number(&self, id: u32) -> i32 {
        let found = self.pairs.binary_search_by_key(&id, |pair| pair[0]);
        found.map_or(-1, |index| self.pairs[index][1] as i32)
    }
}

/// The places of a picture's images in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptLayout {
    pub aovs: AovSet,
    /// Number of pixels.
    pub pixels: usize,
}

impl KeptLayout {
    /// Bytes of a picture, aligned for the next one.
    pub fn bytes(self) -> usize {
        self.planes().map(|plane| self.plane_bytes(plane)).sum()
    }

    /// Offset of an image in bytes. `None` if there is none.
    pub fn offset(self, plane: Plane) -> Option<usize> {
        self.planes().any(|own| own == plane).then(|| {
            let before = self.planes().take_while(|&own| own != plane);
            before.map(|own| self.plane_bytes(own)).sum()
        })
    }

    /// All images, in the order in which they are in memory.
    fn planes(self) -> impl Iterator<Item = Plane> {
        [Plane::Radiance, Plane::Display].into_iter().chain(self.aovs.iter().map(Plane::Aov))
    }

    /// Bytes of an image, up to the next one.
    fn plane_bytes(self, plane: Plane) -> usize {
        (self.pixels * plane.format().bytes()).next_multiple_of(ALIGNMENT)
    }
}

/// A finished picture in a GPU's memory, or several of equal size, one below the other. Images are row-major from the top, without gaps.
#[derive(Clone)]
pub struct KeptPicture {
    memory: Arc<dyn KeptMemory>,
    /// The images in `memory`.
    layout: KeptLayout,
    /// The pixels of these images that are this picture's.
    pixels: Range<usize>,
}

impl KeptPicture {
    /// The picture in `memory`.
    pub fn new(memory: Arc<dyn KeptMemory>, layout: KeptLayout) -> Self {
        Self { memory, layout, pixels: 0..layout.pixels }
    }

    /// An image. `None` if the picture lacks it.
    pub fn image(&self, plane: Plane) -> Option<KeptImage> {
        let (format, start) = (plane.format(), self.layout.offset(plane)?);
        Some(KeptImage { memory: self.memory.clone(), start: start + self.pixels.start * format.bytes(), format })
    }

    /// Numbers of what covers most of each pixel by a matte, as [`MatteNumbers::of_matte`] finds them: an `i32` per pixel. `None` if the picture lacks
    /// the matte.
    ///
    /// # Errors
    /// If the GPU's memory is full, or the device fails.
    pub fn numbers(&self, matte: Aov, numbers: &Arc<MatteNumbers>) -> Result<Option<KeptImage>, DeviceError> {
        let Some(image) = self.image(Plane::Aov(matte)) else { return Ok(None) };
        let (matte, channels, pixels) = (image.address(), matte.channels(), self.pixels.len());
        let format = PixelFormat { values: ValueType::I32, channels: 1 };
        self.make(format, Content::Numbers { matte, channels, numbers, pixels }).map(Some)
    }

    /// Optical flow in pixels to the right and down, two floats per pixel: to the frame before (`back`), or to the next one. `None` if the picture
    /// lacks the motion.
    ///
    /// # Errors
    /// As [`Self::numbers`].
    pub fn flow(&self, back: bool) -> Result<Option<KeptImage>, DeviceError> {
        let Some(image) = self.image(Plane::Aov(Aov::Motion)) else { return Ok(None) };
        let format = PixelFormat { values: ValueType::F32, channels: 2 };
        self.make(format, Content::Flow { motion: image.address(), back, pixels: self.pixels.len() }).map(Some)
    }

    /// Colours of a plane with the alpha as a fourth channel. `None` if the picture lacks either.
    ///
    /// # Errors
    /// As [`Self::numbers`].
    pub fn with_alpha(&self, colors: Plane) -> Result<Option<KeptImage>, DeviceError> {
        let (Some(colors), Some(alpha)) = (self.image(colors), self.image(Plane::Aov(Aov::Alpha))) else {
            return Ok(None);
        };
        let values = colors.format.values;
        let (colors, alpha, pixels) = (colors.address(), alpha.address(), self.pixels.len());
        let content = Content::WithAlpha { colors, alpha, values, pixels };
        self.make(PixelFormat { values, channels: 4 }, content).map(Some)
    }

    fn make(&self, format: PixelFormat, content: Content) -> Result<KeptImage, DeviceError> {
        let memory = self.memory.make(self.pixels.len() * format.bytes(), content)?;
        Ok(KeptImage { memory, start: 0, format })
    }

    /// Part `index` of `count` equal parts. It shares the memory.
    pub(crate) fn part(&self, index: usize, count: usize) -> Self {
        let pixels = self.pixels.len() / count;
        let start = self.pixels.start + index * pixels;
        Self { pixels: start..start + pixels, ..self.clone() }
    }

    /// Pictures of equal size with equal layers as one, in this order. Pictures that are one below the other in memory already are not copied. Copies
    /// are on the GPU of the first picture.
    ///
    /// # Errors
    /// If there is no picture, or if the pictures have other sizes or layers. Otherwise as [`Self::numbers`].
    pub fn joined(pictures: &[Self]) -> Result<Self, DeviceError> {
        let other = || DeviceError::Failed("pictures of several sizes, or with other layers, cannot be joined".into());
        let first = pictures.first().ok_or_else(other)?;
        let aovs = first.layout.aovs;
        if pictures.iter().any(|own| own.layout.aovs != aovs || own.pixels.len() != first.pixels.len()) {
            return Err(other());
        }
        let runs: Vec<Self> = pictures.chunk_by(Self::is_followed_by).map(Self::run).collect();
        if let [run] = &runs[..] {
            return Ok(run.clone());
        }
        let layout = KeptLayout { aovs, pixels: runs.iter().map(|run| run.pixels.len()).sum() };
        let mut copies = Vec::new();
        for plane in layout.planes() {
            let mut to = layout.offset(plane).unwrap_or_default();
            for (run, image) in iter::zip(&runs, runs.iter().filter_map(|run| run.image(plane))) {
                let bytes = run.pixels.len() * plane.format().bytes();
                copies.push(Copied { from: image.address(), to, bytes });
                to += bytes;
            }
        }
        let memory = first.memory.make(layout.bytes(), Content::Copies(&copies))?;
        Ok(Self::new(memory, layout))
    }

    /// Whether `next` begins where this picture ends.
    fn is_followed_by(&self, next: &Self) -> bool {
        Arc::ptr_eq(&self.memory, &next.memory) && self.pixels.end == next.pixels.start
    }

    /// Pictures that follow each other as one.
    fn run(pictures: &[Self]) -> Self {
        let (first, last) = (&pictures[0], &pictures[pictures.len() - 1]);
        Self { pixels: first.pixels.start..last.pixels.end, ..first.clone() }
    }
}

/// An image in a GPU's memory.
#[derive(Clone)]
pub struct KeptImage {
    memory: Arc<dyn KeptMemory>,
    /// Offset of the first pixel in bytes.
    start: usize,
    format: PixelFormat,
}

impl KeptImage {
    /// The GPU's memory in which the image is.
    pub fn memory(&self) -> &Arc<dyn KeptMemory> {
        &self.memory
    }

    /// Address of the first pixel on the GPU.
    pub fn address(&self) -> u64 {
        self.memory.address() + self.start as u64
    }

    pub fn format(&self) -> PixelFormat {
        self.format
    }

    /// Copies the first `pixels` pixels to host memory.
    ///
    /// # Errors
    /// If the device fails.
    pub fn read(&self, pixels: usize) -> Result<Vec<u8>, DeviceError> {
        self.memory.read(self.start..self.start + pixels * self.format.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Host memory in place of a GPU's. Addresses are those of the process.
    struct HostMemory(Vec<u64>);

    impl HostMemory {
        fn of(bytes: &[u8]) -> Arc<Self> {
            let mut words = vec![0; bytes.len().div_ceil(8)];
            bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
            Arc::new(Self(words))
        }
    }

    impl KeptMemory for HostMemory {
        fn ordinal(&self) -> u32 {
            0
        }

        fn address(&self) -> u64 {
            self.0.as_ptr() as u64
        }

        fn read_by_stream(&self, _: bool) {}

        fn read(&self, bytes: Range<usize>) -> Result<Vec<u8>, DeviceError> {
            Ok(bytemuck::cast_slice(&self.0)[bytes].to_vec())
        }

        fn make(&self, bytes: usize, content: Content) -> Result<Arc<dyn KeptMemory>, DeviceError> {
            let Content::Copies(copies) = content else {
                return Err(DeviceError::Failed("there is no kernel on the host".into()));
            };
            let mut memory = vec![0u8; bytes];
            for &Copied { from, to, bytes } in copies {
                // SAFETY: the tests join pictures in memory of this process, which live until the call ends.
                let from = unsafe { std::slice::from_raw_parts(from as *const u8, bytes) };
                memory[to..to + bytes].copy_from_slice(from);
            }
            Ok(Self::of(&memory))
        }
    }

    const PIXELS: usize = 33 * 31;

    fn aovs() -> AovSet {
        [Aov::Depth, Aov::Normal].into_iter().collect()
    }

    /// A picture of `frames` frames, whose bytes count up from `first`.
    fn picture(frames: usize, first: u8) -> KeptPicture {
        let layout = KeptLayout { aovs: aovs(), pixels: frames * PIXELS };
        let bytes: Vec<u8> = (0..layout.bytes()).map(|index| (index % 251) as u8 ^ first).collect();
        KeptPicture::new(HostMemory::of(&bytes), layout)
    }

    fn planes() -> [Plane; 4] {
        [Plane::Radiance, Plane::Display, Plane::Aov(Aov::Depth), Plane::Aov(Aov::Normal)]
    }

    fn read(picture: &KeptPicture, plane: Plane) -> Vec<u8> {
        picture.image(plane).unwrap().read(picture.pixels.len()).unwrap()
    }

    #[test]
    fn images_are_aligned_and_do_not_overlap() {
        let layout = KeptLayout { aovs: aovs(), pixels: PIXELS };
        let mut end = 0;
        for plane in layout.planes() {
            let offset = layout.offset(plane).unwrap();
            assert!(offset.is_multiple_of(ALIGNMENT) && offset >= end);
            end = offset + PIXELS * plane.format().bytes();
        }
        assert!(end <= layout.bytes());
        assert_eq!(layout.offset(Plane::Aov(Aov::Alpha)), None);
        assert!(picture(1, 0).image(Plane::Aov(Aov::Alpha)).is_none());
    }

    #[test]
    fn parts_are_one_below_the_other_and_joined_without_a_copy() {
        let whole = picture(5, 3);
        let parts: Vec<KeptPicture> = (0..5).map(|index| whole.part(index, 5)).collect();
        for plane in planes() {
            let joined: Vec<u8> = parts.iter().flat_map(|part| read(part, plane)).collect();
            assert!(joined == read(&whole, plane));
        }
        let joined = KeptPicture::joined(&parts[1..4]).unwrap();
        assert!(Arc::ptr_eq(&joined.memory, &whole.memory));
        assert_eq!(joined.pixels, PIXELS..4 * PIXELS);
    }

    #[test]
    fn pictures_of_several_batches_are_copied() {
        let (first, second) = (picture(3, 1), picture(2, 9));
        let parts = [first.part(0, 3), first.part(1, 3), first.part(2, 3), second.part(1, 2), second.part(0, 2)];
        let joined = KeptPicture::joined(&parts).unwrap();
        for plane in planes() {
            let expected: Vec<u8> = parts.iter().flat_map(|part| read(part, plane)).collect();
            assert!(read(&joined, plane) == expected);
        }
    }

    #[test]
    fn other_sizes_and_layers_are_not_joined() {
        let layout = KeptLayout { aovs: AovSet::default(), pixels: PIXELS };
        let plain = KeptPicture::new(HostMemory::of(&vec![0; layout.bytes()]), layout);
        for pictures in [vec![], vec![picture(1, 0), picture(2, 0)], vec![picture(1, 0), plain]] {
            assert!(KeptPicture::joined(&pictures).is_err());
        }
    }

    #[test]
    fn numbers_of_a_matte_are_those_of_the_greatest_coverage() {
        let numbers = MatteNumbers::new([(30, 0), (10, 1), (30, 2), (20, 7)]);
        assert_eq!(numbers.words(), [10, 1, 20, 7, 30, 0]);
        let pixel = |id: u32, share: f32| [f32::from_bits(id), share, f32::from_bits(20), 0.1];
        let matte =
            [pixel(30, 0.9), pixel(30, 0.8), pixel(10, 0.6), pixel(10, 0.0), pixel(11, 1.0), pixel(20, f32::NAN)];
        assert_eq!(numbers.of_matte(matte.as_flattened(), 4), [0, 0, 1, -1, -1, -1]);
    }
}
