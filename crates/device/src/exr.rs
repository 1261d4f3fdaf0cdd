//! Parameters of the kernels that build blocks of OpenEXR files.

use std::ptr::{null, null_mut};
use throng_abi::{self as abi, EXR_PIECE, EXR_PIECE_ROOM, ExrBlock, ExrChannel, ExrParams, ExrPiece};
use throng_picture::aov::{
    Aov,
    channels::{ChannelKind, ChannelPlace, FileRows, pixel_bytes},
};

/// Bytes of working memory for building the blocks of a picture of `size` pixels.
#[cfg(throng_cuda)]
pub fn exr_bytes(rows: &FileRows, size: (u32, u32)) -> usize {
    bytes_needed(&params_of(rows, size)).iter().sum()
}

/// The parameters for a picture of `size`, without addresses.
pub fn params_of(rows: &FileRows, (width, height): (u32, u32)) -> ExrParams {
    let channels = rows.channels();
    let row_bytes = width * pixel_bytes(&channels) as u32;
    let block_rows = rows.per_block.min(height).max(1);
    ExrParams {
        channels: null(),
        room: null_mut(),
        pieces: null_mut(),
        blocks: null_mut(),
        out: null_mut(),
        channel_count: channels.len() as u32,
        width,
        height,
        block_rows,
        row_bytes,
        pieces_per_block: (row_bytes * block_rows).div_ceil(EXR_PIECE),
        block_count: height.div_ceil(block_rows),
        reserved: 0,
    }
}

/// Bytes of the room, the pieces and the blocks, in this order.
pub fn bytes_needed(params: &ExrParams) -> [usize; 3] {
    let pieces = piece_count(params) as usize;
    [
        pieces * EXR_PIECE_ROOM as usize,
        pieces * size_of::<ExrPiece>(),
        (params.block_count as usize + 1) * size_of::<ExrBlock>(),
    ]
}

pub fn piece_count(params: &ExrParams) -> u32 {
    params.block_count * params.pieces_per_block
}

/// The channels' records for rows of `width` pixels. `values` returns the address of an AOV's first value, or of the picture's for `None`.
pub fn records(rows: &FileRows, width: u32, values: impl Fn(Option<Aov>) -> *const f32) -> Vec<ExrChannel> {
    let mut begin = 0;
    let record = |place: ChannelPlace| {
        let channel = ExrChannel {
            values: values(place.aov).wrapping_add(place.offset),
            stride: place.stride as u32,
            kind: match place.kind {
                ChannelKind::Half => abi::CHANNEL_HALF,
                ChannelKind::Float => abi::CHANNEL_FLOAT,
                ChannelKind::Depth => abi::CHANNEL_DEPTH,
            },
            begin,
            reserved: 0,
        };
        begin += width * place.kind.bytes() as u32;
        channel
    };
    rows.channels().into_iter().map(record).collect()
}
