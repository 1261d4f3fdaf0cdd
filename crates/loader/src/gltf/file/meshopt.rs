//! EXT_meshopt_compression and KHR_meshopt_compression: buffer views compressed by meshoptimizer.
//!
//! Its decoders accept untrusted data, provided that counts and strides are valid. This module checks them.

use super::{document::Document, extensions};
use crate::{
    files,
    gltf::fault::{Fault, fault},
};
use ::meshopt::ffi;
use serde::Deserialize;

/// A decompressed buffer view. It has words of eight bytes, because the decoders write aligned integers.
pub struct Decoded {
    words: Vec<u64>,
    length: usize,
}

impl Decoded {
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.length]
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compressed {
    buffer: usize,
    #[serde(default)]
    byte_offset: u64,
    byte_length: u64,
    byte_stride: usize,
    count: usize,
    mode: Mode,
    #[serde(default)]
    filter: Filter,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
enum Mode {
    Attributes,
    Triangles,
    Indices,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
enum Filter {
    #[default]
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

/// The decompressed content of buffer view `index`; None if it is not compressed.
///
/// # Errors
/// If its parameters violate the extension's rules, if its data are damaged, or if the memory budget is exceeded.
pub fn decode_view(document: &Document, index: usize) -> Result<Option<Decoded>, Fault> {
    let view = &document.root.buffer_views[index];
    let others = view.extensions.as_ref().map(|e| &e.others);
    let at = format!("/bufferViews/{index}");
    for name in extensions::MESHOPT {
        let Some(compressed) = extensions::read::<Compressed>(others, name, &at)? else {
            continue;
        };
        let path = format!("{at}/extensions/{name}");
        let input = document.slice(compressed.buffer, compressed.byte_offset, compressed.byte_length, &path)?;
        let input = input.read().map_err(|e| fault(&path, files::describe(&e)))?;
        let length = checked_length(&compressed, view.byte_length.0).map_err(|m| fault(&path, m))?;
        document.budget.take(length as u64).map_err(|lack| fault(&path, format!("the decompressed data {lack}")))?;
        // SAFETY: the length was checked above.
        return match unsafe { decode(&compressed, &input, length) } {
            Some(decoded) => Ok(Some(decoded)),
            None => Err(fault(path, "the compressed data is damaged: compress the file again")),
        };
    }
    Ok(None)
}

/// The number of bytes after decompression, on which all decoders rely.
fn checked_length(c: &Compressed, declared: u64) -> Result<usize, String> {
    let (stride, count) = (c.byte_stride, c.count);
    let rules_of_mode = match c.mode {
        Mode::Attributes => (4..=256).contains(&stride) && stride % 4 == 0,
        Mode::Triangles => (stride == 2 || stride == 4) && count % 3 == 0,
        Mode::Indices => stride == 2 || stride == 4,
    };
    let rules_of_filter = match c.filter {
        Filter::None => true,
        Filter::Octahedral | Filter::Color => stride == 4 || stride == 8,
        Filter::Quaternion => stride == 8,
        Filter::Exponential => stride.is_multiple_of(4),
    };
    if !rules_of_mode || !rules_of_filter || (c.mode != Mode::Attributes && c.filter != Filter::None) {
        return Err(format!(
            "{count} elements of {stride} bytes do not go with this mode and filter: compress the file again"
        ));
    }
    count.checked_mul(stride).filter(|&length| length as u64 == declared).ok_or_else(|| {
        format!("{count} elements of {stride} bytes are not the view's {declared} bytes: compress the file again")
    })
}

/// Decompresses a buffer view; None if the data are damaged.
///
/// # Safety
/// `length` must be the result of [`checked_length`].
unsafe fn decode(c: &Compressed, input: &[u8], length: usize) -> Option<Decoded> {
    let mut words = vec![0u64; length.div_ceil(8)];
    let output = words.as_mut_ptr().cast();
    let (count, stride) = (c.count, c.byte_stride);
    let (data, size) = (input.as_ptr(), input.len());
    // SAFETY: `output` has room for `count * stride` bytes and is aligned for every integer type; `data` and `size` describe a slice; the
    // decoders validate the data and receive valid counts and strides.
    let code = unsafe {
        match c.mode {
            Mode::Attributes => ffi::meshopt_decodeVertexBuffer(output, count, stride, data, size),
            Mode::Triangles => ffi::meshopt_decodeIndexBuffer(output, count, stride, data, size),
            Mode::Indices => ffi::meshopt_decodeIndexSequence(output, count, stride, data, size),
        }
    };
    if code != 0 {
        return None;
    }
    // SAFETY: as above; the filters work in place on `count` elements of `stride` bytes.
    unsafe {
        match c.filter {
            Filter::None => {}
            Filter::Octahedral => ffi::meshopt_decodeFilterOct(output, count, stride),
            Filter::Quaternion => ffi::meshopt_decodeFilterQuat(output, count, stride),
            Filter::Exponential => ffi::meshopt_decodeFilterExp(output, count, stride),
            Filter::Color => ffi::meshopt_decodeFilterColor(output, count, stride),
        }
    }
    Some(Decoded { words, length })
}
