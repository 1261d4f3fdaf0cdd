//! Blocks of OpenEXR files that kernels for GPUs build, read by another program's reader.

use exr::prelude::{FlatSamples, ReadChannels, ReadLayers, read};
use proptest::prelude::*;
use std::{ffi::c_void, io::Read, ptr::null_mut};
use throng_abi::{ExrBlock, ExrParams, ExrPiece};
use throng_device::exr::{bytes_needed, params_of, records};
use throng_output::{ColorDepth, Encoding, ExrCompression, FileFormat, Manifests, Metadata, Picture, Pixels};
use throng_picture::aov::{
    Aov, AovImage, AovSet,
    channels::{ChannelKind, FileBlocks, FileRows},
};
use throng_testing::same_cases;

unsafe extern "C" {
    fn throng_probe_half(x: f32) -> u32;
    fn throng_probe_exr_place(params: *const ExrParams, memory: *mut c_void) -> u64;
    fn throng_probe_exr_copy(params: *const ExrParams);
}

/// Builds the blocks of a picture with the kernels that GPUs run.
fn blocks(rows: &FileRows, size: (u32, u32), beauty: &[f32], aovs: &[AovImage]) -> FileBlocks {
    let mut params = params_of(rows, size);
    let channels = records(rows, size.0, |aov| match aov {
        None => beauty.as_ptr(),
        Some(aov) => {
            let image = aovs.iter().find(|image| image.aov == aov);
            image.unwrap().values.as_ptr()
        }
    });
    let [room, pieces, _] = bytes_needed(&params);
    let mut room = vec![0u32; room / 4];
    let mut pieces = vec![ExrPiece::default(); pieces / size_of::<ExrPiece>()];
    let mut places = vec![ExrBlock::default(); params.block_count as usize + 1];
    params.channels = channels.as_ptr();
    params.room = room.as_mut_ptr().cast();
    params.pieces = pieces.as_mut_ptr();
    params.blocks = places.as_mut_ptr();
    // SAFETY: all tables and the memory have the sizes that the parameters give.
    unsafe {
        let bytes = throng_probe_exr_place(&params, null_mut());
        let mut memory = vec![0u64; (bytes as usize).div_ceil(8)];
        throng_probe_exr_place(&params, memory.as_mut_ptr().cast());
    }
    let end = places.pop().unwrap().offset as usize;
    let mut out = vec![0; end];
    params.out = out.as_mut_ptr();
    // SAFETY: as above; the last entry's offset is the end of the last block.
    unsafe { throng_probe_exr_copy(&params) };
    FileBlocks { rows: *rows, offsets: places.iter().map(|block| block.offset).collect(), bytes: out.into() }
}

/// An image with values typical of the AOV: smooth, noisy, or a matte with few names.
fn image(aov: Aov, pixels: usize, seed: u32) -> AovImage {
    let stride = aov.channels();
    let noise = |i: usize| (i as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) >> 8;
    let value = |i: usize| match aov {
        Aov::Depth if noise(i).is_multiple_of(9) => f32::INFINITY,
        Aov::Depth | Aov::Normal => (i as f32 * 0.01).sin(),
        aov if aov.is_matte() && i % stride > 3 => 0.0,
        aov if aov.is_matte() => f32::from_bits(0x3f12_3456 ^ (i / (40 * stride)) as u32),
        _ => noise(i) as f32 * 1e-5 - 40.0,
    };
    let values: Vec<f32> = (0..pixels * stride).map(value).collect();
    AovImage { aov, values: values.into() }
}

fn picture_file(
    encoding: &Encoding,
    size: (u32, u32),
    beauty: &[f32],
    aovs: &[AovImage],
    made: Option<&FileBlocks>,
) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.exr");
    let picture = Picture {
        width: size.0,
        height: size.1,
        pixels: Pixels::F32(beauty.into()),
        aovs,
        transparent: false,
        blocks: made,
        display: None,
        manifests: &Manifests::default(),
        metadata: &Metadata::default(),
    };
    FileFormat::Exr.write(&path, &picture, encoding).unwrap();
    assert!(FileFormat::Exr.is_complete(&path));
    std::fs::read(path).unwrap()
}

/// All channels as the `exr` crate reads them.
fn channels_of(file: Vec<u8>) -> Vec<(String, Vec<u32>)> {
    let image = read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .from_buffered(std::io::Cursor::new(file))
        .unwrap();
    let list = image.layer_data.channel_data.list.into_iter();
    list.map(|channel| {
        let bits = match channel.sample_data {
            FlatSamples::F16(v) => v.iter().map(|v| v.to_bits().into()).collect(),
            FlatSamples::F32(v) => v.iter().map(|v| v.to_bits()).collect(),
            FlatSamples::U32(v) => v,
        };
        (channel.name.to_string(), bits)
    })
    .collect()
}

#[test]
fn files_made_on_the_gpu_hold_what_those_made_on_the_cpu_do() {
    let mut bytes = Vec::new();
    // Blocks of many pieces, and blocks smaller than a piece.
    for (size, compression) in [
        ((333, 50), ExrCompression::Zip),
        ((333, 5), ExrCompression::Zips),
        ((7, 3), ExrCompression::Zip),
        ((1, 1), ExrCompression::Zips),
    ] {
        let pixels = (size.0 * size.1) as usize;
        let beauty: Vec<f32> = (0..3 * pixels).map(|i| (i as f32 * 0.3).exp2() - 8.0).collect();
        let aovs: Vec<_> = Aov::ALL.map(|aov| image(aov, pixels, 7)).into();
        for depth in [ColorDepth::Usual, ColorDepth::Bits32] {
            let encoding = Encoding { depth, compression, ..Encoding::default() };
            let rows = encoding.exr_rows(Aov::ALL.into_iter().collect(), false);
            let made = blocks(&rows, size, &beauty, &aovs);
            let by_gpu = picture_file(&encoding, size, &[], &[], Some(&made));
            let by_cpu = picture_file(&encoding, size, &beauty, &aovs, None);
            assert!(channels_of(by_gpu.clone()) == channels_of(by_cpu.clone()), "{size:?}");
            bytes.push(made.bytes.len());
        }
    }
    // Sizes of the files. A change here is a change of the compression ratio.
    assert_eq!(bytes, [1134537, 1684728, 111839, 168479, 1888, 2658, 176, 212]);
}

#[test]
fn noise_is_stored_as_it_is() {
    let size = (200, 33);
    let pixels = (size.0 * size.1) as usize;
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from_bits(state ^ state >> 13 & 0x7f7f_ffff)
    };
    let beauty: Vec<f32> = (0..3 * pixels).map(|_| next()).collect();
    let encoding = Encoding { depth: ColorDepth::Bits32, ..Encoding::default() };
    let made = blocks(&encoding.exr_rows(AovSet::default(), false), size, &beauty, &[]);
    assert_eq!(made.bytes.len(), 12 * pixels + 8 * made.offsets.len());
    let by_gpu = picture_file(&encoding, size, &[], &[], Some(&made));
    let by_cpu = picture_file(&encoding, size, &beauty, &[], None);
    assert!(channels_of(by_gpu) == channels_of(by_cpu));
}

#[test]
fn halves_are_rounded_as_the_standard_says() {
    let edges =
        [0.0, 1.0, 65_504.0, 65_519.9, 65_520.0, 1e30, 6e-8, 2.9e-8, 3e-8, 6.1e-5, f32::INFINITY, f32::MIN_POSITIVE];
    let many = (0..=u16::MAX).step_by(7).flat_map(|bits| {
        let half = half::f16::from_bits(bits).to_f32();
        [0.99951, 0.99976, 1.0, 1.0002441, 1.00048].map(|factor| half * factor)
    });
    for x in many.chain(edges).filter(|x| !x.is_nan()) {
        for x in [x, -x] {
            // SAFETY: plain arithmetic.
            let bits = unsafe { throng_probe_half(x) };
            assert_eq!(bits, u32::from(half::f16::from_f32(x).to_bits()), "{x}");
        }
    }
}

/// Compresses one row of floats, inflates it again, and returns the predictor's bytes.
fn inflated(values: &[f32]) -> Vec<u8> {
    let rows = FileRows { aovs: AovSet::default(), transparent: false, colors: ChannelKind::Float, per_block: 1 };
    let made = blocks(&rows, (values.len() as u32 / 3, 1), values, &[]);
    let mut bytes = Vec::new();
    let plain = values.len() * 4;
    if made.bytes.len() - 8 == plain {
        return made.bytes[8..].to_vec();
    } else {
        flate2::read::ZlibDecoder::new(&made.bytes[8..]).read_to_end(&mut bytes).unwrap()
    };
    assert_eq!(bytes.len(), plain);
    bytes
}

proptest! {
    #![proptest_config(same_cases(60))]
    #[test]
    fn any_mixture_of_runs_and_noise_can_be_inflated(
        pieces in prop::collection::vec((any::<u32>(), any::<u32>(), 1usize..3000, 0u32..3), 1..12)
    ) {
        let mut values = Vec::new();
        for (a, b, length, kind) in pieces {
            values.extend((0..length as u32).map(|i| f32::from_bits(match kind {
                0 => a,
                1 => a.wrapping_mul(i | 1).wrapping_add(b) & 0x7f7f_ffff,
                _ => i & b & 0x3f,
            } & 0x7f7f_ffff)));
        }
        values.truncate(values.len() / 3 * 3);
        prop_assume!(!values.is_empty());
        inflated(&values);
    }
}
