//! A parsed file with the bytes behind it: JSON, buffers, and buffer views (decompressed where need be).

use super::{
    container::Container,
    extensions, json,
    meshopt::{self, Decoded},
    uri,
};
use crate::loader::gltf::{
    GltfOptions,
    fault::{Fault, Faults, Warnings, fault},
};
use crate::loader::{budget::Budget, folders::Folders};
use gltf::json::{Index, Root, buffer};
use rayon::prelude::*;
use std::{borrow::Cow, path::Path};

/// Everything that the other modules read from. Bytes of the file are borrowed, not copied.
pub struct Document<'a> {
    pub root: Root,
    pub folders: Folders,
    pub budget: &'a Budget,
    pub warnings: Warnings,
    pub faults: &'a Faults<'a>,
    /// Used extensions that are not supported.
    pub unsupported: Vec<String>,
    /// For each buffer, None if it is faulty, else its bytes; `Some(None)` if it has no data, such as the fallback of a compressed one.
    buffers: Vec<Option<Option<Cow<'a, [u8]>>>>,
    /// For each buffer view, None if it is faulty, else its decompressed data; `Some(None)` if it is not compressed.
    decoded: Vec<Option<Option<Decoded>>>,
}

/// Part of a buffer.
pub struct View<'a> {
    pub bytes: &'a [u8],
    pub stride: Option<usize>,
}

impl<'a> Document<'a> {
    /// Parses the JSON, checks version and extensions, reads all buffers and decompresses buffer views in parallel.
    ///
    /// # Errors
    /// The first fault in any of these.
    pub fn open(
        container: &Container<'a>,
        home: Option<&Path>,
        budget: &'a Budget,
        faults: &'a Faults<'a>,
        options: &GltfOptions,
    ) -> Result<Self, Fault> {
        let root = json::parse(container.json, budget)?;
        let warnings = Warnings::default();
        extensions::check_required(&root.extensions_required, faults)?;
        let mut document = Self {
            unsupported: extensions::unsupported(&root.extensions_used, &warnings),
            folders: Folders::new(home, &options.allow_dirs),
            budget,
            warnings,
            faults,
            buffers: Vec::new(),
            decoded: Vec::new(),
            root,
        };
        for index in 0..document.root.buffers.len() {
            let buffer = document.load_buffer(index, container.bin);
            document.buffers.push(document.faults.keep(buffer)?);
        }
        document.decoded = (0..document.root.buffer_views.len())
            .into_par_iter()
            .map(|index| {
                let decoded = meshopt::decode_view(&document, index);
                document.faults.keep(decoded)
            })
            .collect::<Result<_, _>>()?;
        Ok(document)
    }

    fn load_buffer(&self, index: usize, bin: Option<&'a [u8]>) -> Result<Option<Cow<'a, [u8]>>, Fault> {
        let buffer = &self.root.buffers[index];
        let path = || format!("/buffers/{index}");
        let bytes = match (&buffer.uri, bin) {
            (Some(uri), _) => {
                let bytes = uri::read(&self.folders, uri, self.budget);
                Cow::Owned(bytes.map_err(|m| fault(path() + "/uri", m))?)
            }
            (None, Some(bin)) if index == 0 => Cow::Borrowed(bin),
            _ => return Ok(None),
        };
        let (declared, present) = (buffer.byte_length.0, bytes.len() as u64);
        if present < declared {
            return Err(fault(
                path() + "/byteLength",
                format!("{declared} bytes are declared, but there are only {present}: get the whole file"),
            ));
        }
        Ok(Some(bytes))
    }

    /// `length` bytes of a buffer from `offset`.
    ///
    /// # Errors
    /// At `path`, when there are fewer.
    pub fn slice(&self, buffer: usize, offset: u64, length: u64, path: &str) -> Result<&[u8], Fault> {
        let declared = self.root.buffers.get(buffer).ok_or_else(|| {
            let count = self.root.buffers.len();
            fault(path, out_of_range("buffer", buffer, count))
        })?;
        let bytes = match self.buffers.get(buffer) {
            Some(Some(Some(bytes))) => bytes,
            Some(Some(None)) => {
                let message = format!("buffer {buffer} has no data: get the file with its buffers");
                return Err(fault(path, message));
            }
            _ => return Err(fault(path, format!("buffer {buffer} is faulty")).following()),
        };
        let end = offset.checked_add(length).filter(|&end| end <= declared.byte_length.0);
        end.and_then(|end| bytes.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)).ok_or_else(|| {
            fault(
                path,
                format!("{length} bytes from {offset} exceed buffer {buffer} of {} bytes", declared.byte_length.0),
            )
        })
    }

    /// A buffer view, decompressed.
    ///
    /// # Errors
    /// At `path` when there is no such view; at the view when it exceeds its buffer.
    pub fn view(&self, index: Index<buffer::View>, path: &str) -> Result<View<'_>, Fault> {
        let index = index.value();
        let view = self.root.buffer_views.get(index).ok_or_else(|| {
            let count = self.root.buffer_views.len();
            fault(path, out_of_range("buffer view", index, count))
        })?;
        let stride = view.byte_stride.map(|s| s.0);
        match self.decoded.get(index) {
            Some(Some(Some(decoded))) => {
                let bytes = decoded.bytes();
                return Ok(View { bytes, stride });
            }
            Some(None) => {
                return Err(fault(path, format!("buffer view {index} is faulty")).following());
            }
            // Not compressed, or not decoded yet.
            Some(Some(None)) | None => {}
        }
        let offset = view.byte_offset.map_or(0, |o| o.0);
        let at = format!("/bufferViews/{index}");
        let bytes = self.slice(view.buffer.value(), offset, view.byte_length.0, &at)?;
        Ok(View { bytes, stride })
    }
}

/// The message of a fault, such as "there is no mesh 7: the file has 3".
pub fn out_of_range(what: &str, index: usize, count: usize) -> String {
    format!("there is no {what} {index}: the file has {count}")
}
