//! For tests: the table of sizes, alignments and offsets of shared structs, which every compiled kernel must match.

use std::mem::offset_of;
use throng_abi::layouts;
use throng_accel::Wide;

/// The expected table for kernels whose wide nodes have `width` children.
pub fn expected(width: usize) -> Vec<u32> {
    let mut table = Vec::new();
    for layout in layouts() {
        table.extend([layout.size as u32, layout.align as u32]);
        table.extend(layout.fields.iter().map(|f| f.offset as u32));
    }
    table.extend(match width {
        4 => wide_node::<4>(),
        8 => wide_node::<8>(),
        _ => wide_node::<16>(),
    });
    table
}

fn wide_node<const N: usize>() -> [u32; 4] {
    [size_of::<Wide<N>>(), align_of::<Wide<N>>(), offset_of!(Wide<N>, planes), offset_of!(Wide<N>, children)]
        .map(|x| x as u32)
}
