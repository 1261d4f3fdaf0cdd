//! AOVs of a frame in flight on the GPU: the memory that receives them, and the kernel's tables of neighbouring frames.

use super::{
    memory::{Array, Pinned, bytes_of, is_same},
    tables::{
        scene::SceneTables,
        shapes::{Shapes, vertex_bytes},
    },
};
use crate::{Accumulation, Frame, FrameSettings, OtherPose, layer_words, records::frame_aovs};
use bytes::Bytes;
use cust::{error::CudaResult, stream::Stream};
use std::sync::{Arc, Weak};
use throng_abi::{FrameAovs, OtherFrame, Params};
use throng_picture::{
    aov::{Aov, AovImage, AovSet},
    pixels::Floats,
};
use throng_scene::Scene;

/// Alignment of every table, so that records are loaded in whole sectors.
const ALIGNMENT: usize = 256;
/// Number of camera rays per launch, which takes a few milliseconds.
const RAYS_PER_LAUNCH: u32 = 1 << 22;

/// Memory for AOVs, reused from frame to frame.
#[derive(Default)]
pub struct AovMemory {
    /// All AOVs of a frame, concatenated.
    images: Array,
    /// The exact sums for the AOVs, if they are kept.
    sums: Array,
    /// The noise of shadows on shadow catchers.
    shade_noise: Array,
    /// The kernel's record and the tables of neighbouring frames.
    tables: Array,
    staging: Pinned,
    shapes: [Shapes; 3],
    /// Tables of name IDs, instances first, and the scene to which they belong.
    names: Array,
    named: Weak<Scene>,
    /// The places of transforms, which frames share.
    places: Array,
    placed: Weak<Vec<u32>>,
}

impl AovMemory {
    /// Bytes allocated on the GPU.
    pub fn bytes_held(&self) -> usize {
        let shapes = self.shapes.iter().map(Shapes::bytes_held);
        let own = [&self.images, &self.sums, &self.shade_noise, &self.tables, &self.names, &self.places];
        own.iter().map(|array| array.bytes()).sum::<usize>() + shapes.sum::<usize>()
    }

    /// Allocates memory for the AOVs of a frame, and queues the upload of the tables that the kernel reads. Work that was queued before must not use
    /// this memory. `cover` is the address of the shared coverage.
    pub fn prepare(
        &mut self,
        tables: &SceneTables,
        (frame, settings): (&Frame, &FrameSettings),
        keeps_layers: bool,
        cover: Option<*mut f32>,
        params: &mut Params,
        stream: &Stream,
    ) -> CudaResult<()> {
        let (aovs, pixels) = (settings.aovs, settings.film_pixels());
        let mut record = frame_aovs::record(frame, settings);
        let sums = Accumulation::layers_words(settings);
        if keeps_layers && sums > 0 {
            self.sums.reserve(sums * size_of::<u32>())?;
            record.sums = self.sums.at(0);
            record.sum_words = layer_words(aovs) as u64;
        }
        if settings.measures_shade() {
            self.shade_noise.reserve(shade_bytes(settings))?;
            record.shade_noise = self.shade_noise.at(0);
        }
        record.cover = cover.unwrap_or(std::ptr::null_mut());
        self.images.reserve(image_bytes(aovs, pixels))?;
        for aov in aovs.iter() {
            frame_aovs::aim(&mut record, aov, self.image(aovs, pixels, aov));
        }
        if has_names(settings) {
            self.name(tables)?;
            record.instance_names = self.names.at(0);
            record.material_names = self.names.at(4 * tables.name_ids().instances.len());
        }
        self.upload(tables, frame, record, stream)?;
        params.film.aovs = self.tables.at(0);
        Ok(())
    }

    /// Address of `aov` on the GPU, one of `aovs`, for a picture with `pixels` pixels.
    pub fn image(&self, aovs: AovSet, pixels: usize, aov: Aov) -> *mut f32 {
        let before = aovs.iter().take_while(|&before| before != aov);
        self.images.at(image_bytes(before.collect(), pixels))
    }

    /// All AOVs of a frame, one after the other.
    pub fn images(&self) -> &Array {
        &self.images
    }

    /// Copies the exact sums of the last frame to the host and waits.
    pub fn read_sums(&self, to: &mut [u32]) -> CudaResult<()> {
        self.sums.read(bytemuck::cast_slice_mut(to))
    }

    fn name(&mut self, tables: &SceneTables) -> CudaResult<()> {
        if self.named.as_ptr() == Arc::as_ptr(tables.scene()) && self.named.strong_count() > 0 {
            return Ok(());
        }
        let ids = tables.name_ids();
        let (instances, materials) = (bytes_of(&ids.instances), bytes_of(&ids.materials));
        self.names.reserve(instances.len() + materials.len())?;
        self.names.write(0, instances)?;
        self.names.write(instances.len(), materials)?;
        self.named = Arc::downgrade(tables.scene());
        Ok(())
    }

    fn upload(
        &mut self,
        tables: &SceneTables,
        frame: &Frame,
        mut record: FrameAovs,
        stream: &Stream,
    ) -> CudaResult<()> {
        let poses = || frame.others.iter().flat_map(|others| others.iter());
        let mut end = size_of::<FrameAovs>();
        let mut add = |bytes: usize| {
            let start = end.next_multiple_of(ALIGNMENT);
            end = start + bytes;
            start
        };
        let tables_of: Vec<Tables> = poses()
            .map(|pose| Tables {
                transforms: add(pose.transforms.len() * size_of::<[f32; 12]>()),
                shown: add(size_of_val(&pose.shown[..])),
            })
            .collect();
        self.tables.reserve_with_room(end)?;
        self.staging.reserve_with_room(end)?;
        self.place(frame)?;
        let others = [&mut record.before, &mut record.after, &mut record.now];
        for ((other, shapes), (pose, own)) in others.into_iter().zip(&mut self.shapes).zip(poses().zip(&tables_of)) {
            frame_aovs::fill_transforms(pose, &mut self.staging.bytes_mut()[own.transforms..]);
            self.staging.fill(own.shown, bytes_of(&pose.shown));
            point_at(other, pose, own, (&self.tables, &self.places));
            other.meshes = if pose.shapes.is_empty() {
                tables.mesh_table()
            } else {
                shapes.upload(tables, &pose.shapes, stream)?;
                shapes.meshes()
            };
        }
        self.staging.fill(0, bytes_of(&[record]));
        // SAFETY: the slot was idle, and gets no new frame before its stream has passed this (see `Slot`).
        unsafe { self.tables.write_later(0, &self.staging, 0, end, stream) }
    }

    /// Uploads the places of transforms, if there are others than before, and waits.
    fn place(&mut self, frame: &Frame) -> CudaResult<()> {
        let places = frame.others.as_ref().and_then(|others| others[0].places.as_ref());
        let Some(places) = places.filter(|&places| !is_same(&self.placed, places)) else { return Ok(()) };
        self.placed = Weak::new();
        self.places.reserve(size_of_val(&places[..]))?;
        self.places.write(0, bytes_of(places))?;
        self.placed = Arc::downgrade(places);
        Ok(())
    }

    /// Queues the copy of the AOVs in both `aovs` and `wanted` to page-locked memory, starting at offset `to`.
    ///
    /// # Safety
    /// As for [`Array::read_later`].
    pub unsafe fn read_later(
        &self,
        (aovs, wanted): (AovSet, AovSet),
        pixels: usize,
        (picture, mut to): (&mut Pinned, usize),
        stream: &Stream,
    ) -> CudaResult<()> {
        let mut from = 0;
        for aov in aovs.iter() {
            let bytes = image_bytes([aov].into_iter().collect(), pixels);
            if wanted.contains(aov) {
                // SAFETY: guaranteed by the caller.
                unsafe { self.images.read_range_later((from, bytes), picture, to, stream)? };
                to += bytes;
            }
            from += bytes;
        }
        Ok(())
    }
}

/// Offsets in bytes of the tables of a neighbouring frame.
struct Tables {
    transforms: usize,
    shown: usize,
}

fn point_at(other: &mut OtherFrame, pose: &OtherPose, tables: &Tables, (memory, places): (&Array, &Array)) {
    if !pose.transforms.is_empty() {
        other.transforms = memory.at(tables.transforms);
    }
    if pose.places.is_some() {
        other.places = places.at(0);
    }
    if !pose.shown.is_empty() {
        other.shown = memory.at(tables.shown);
    }
}

/// Bytes of the AOVs of a picture with `pixels` pixels.
pub fn image_bytes(aovs: AovSet, pixels: usize) -> usize {
    pixels * aovs.channels() * size_of::<f32>()
}

/// Upper bound on the bytes that the AOVs of a frame take on the GPU.
pub fn aov_bytes(tables: &SceneTables, frame: &Frame, settings: &FrameSettings, keeps_layers: bool) -> usize {
    let (aovs, pixels) = (settings.aovs, settings.film_pixels());
    if aovs.is_empty() {
        return 0;
    }
    let other = |pose: &OtherPose| {
        let tables_of = pose.transforms.len() * size_of::<[f32; 12]>() + pose.shown.len() * 4;
        let shapes =
            if pose.shapes.is_empty() { 0 } else { vertex_bytes(tables, &pose.shapes) + size_of_val(tables.meshes()) };
        9 * tables_of / 8 + shapes + 2 * ALIGNMENT
    };
    let places = frame.others.as_ref().and_then(|others| others[0].places.as_ref());
    let places = places.map_or(0, |places| size_of_val(&places[..]));
    let others = frame.others.iter().flat_map(|others| others.iter());
    let names =
        if has_names(settings) { tables.name_ids().instances.len() + tables.name_ids().materials.len() } else { 0 };
    image_bytes(aovs, pixels)
        + if keeps_layers { Accumulation::layers_words(settings) * size_of::<u32>() } else { 0 }
        + shade_bytes(settings)
        + others.map(other).sum::<usize>()
        + places
        + names * size_of::<u32>()
        + 8 * ALIGNMENT
}

/// Bytes of the noise of shadows on shadow catchers.
fn shade_bytes(settings: &FrameSettings) -> usize {
    if settings.measures_shade() { size_of::<[f32; 4]>() * settings.film_pixels() } else { 0 }
}

/// Whether an AOV needs name IDs.
fn has_names(settings: &FrameSettings) -> bool {
    !settings.numbered && (settings.aovs.contains(Aov::Instance) || settings.aovs.contains(Aov::Material))
}

/// Number of items per launch, a multiple of a tile's items, for gathering AOVs with `samples` samples per pixel.
pub fn launch_items(samples: u32) -> u32 {
    (RAYS_PER_LAUNCH / samples.max(1)).max(1).next_multiple_of(64)
}

/// Splits downloaded bytes into images, in the order of `aovs`.
pub fn images(aovs: AovSet, pixels: usize, mut bytes: Bytes) -> Vec<AovImage> {
    let image = |aov: Aov| {
        let size = image_bytes([aov].into_iter().collect(), pixels);
        let own = bytes.split_to(size.min(bytes.len()));
        AovImage { aov, values: Floats::from_bytes(own) }
    };
    aovs.iter().map(image).collect()
}
