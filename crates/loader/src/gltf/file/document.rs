//! A parsed file with its data: JSON, buffers, and buffer views, which are decompressed if needed.

use super::{
    bytes::{Buffer, Bytes},
    container::Container,
    extensions,
    json::{self, Parsed},
    meshopt::{self, Decoded},
    uri,
};
use crate::gltf::{
    GltfOptions,
    external::External,
    fault::{Fault, Faults, Warnings, fault},
};
use crate::{budget::Budget, files, folders::Folders};
use gltf::json::{Index, Root, buffer};
use rayon::prelude::*;
use std::{
    borrow::Cow,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

/// Maximum number of files that stay open, since systems limit them. The bytes of further ones are held in memory.
const MOST_OPEN: usize = 64;

/// The input of all other modules. Bytes of the file are borrowed, not copied.
pub struct Document<'a> {
    pub root: Root,
    pub folders: Folders,
    pub budget: &'a Budget,
    pub warnings: Warnings,
    pub faults: &'a Faults<'a>,
    /// Faults of parts that were replaced by empty ones, with a warning.
    pub replaced: Vec<Fault>,
    /// Members for external files.
    pub external: Option<External>,
    /// Used extensions that are not supported.
    pub unsupported: Vec<String>,
    /// The bytes of each buffer; None for a buffer without data, such as the fallback of a compressed buffer.
    buffers: Vec<Held<Option<Buffer<'a>>>>,
    /// The decompressed data of each buffer view; None if it is not compressed.
    decoded: Vec<Held<Option<Decoded>>>,
}

/// A part of the file. A fault in it only affects parts that need it.
struct Held<T> {
    content: Result<T, Fault>,
    /// Whether another part needed this one and received its fault.
    missed: AtomicBool,
}

impl<T> Held<T> {
    fn get(&self) -> Result<&T, Fault> {
        self.content.as_ref().map_err(|fault| {
            self.missed.store(true, Ordering::Relaxed);
            fault.clone()
        })
    }

    /// The fault, if no other part has received it.
    fn unmet(&self) -> Option<&Fault> {
        let missed = self.missed.load(Ordering::Relaxed);
        self.content.as_ref().err().filter(|_| !missed)
    }
}

/// A section of a buffer.
pub struct View<'a> {
    pub bytes: Bytes<'a>,
    pub stride: Option<usize>,
}

impl<'a> View<'a> {
    /// All bytes, in memory.
    ///
    /// # Errors
    /// At `path` if the file cannot be read.
    pub fn read(&self, path: &str) -> Result<Cow<'a, [u8]>, Fault> {
        self.bytes.read().map_err(|e| fault(path, files::describe(&e)))
    }
}

impl<'a> Document<'a> {
    /// Parses the JSON, checks version and extensions, reads all buffers, and decompresses buffer views in parallel.
    ///
    /// # Errors
    /// The first fault in any of these steps.
    pub fn open(
        container: &Container<'a>,
        home: Option<&Path>,
        budget: &'a Budget,
        faults: &'a Faults<'a>,
        options: &GltfOptions,
    ) -> Result<Self, Fault> {
        let Parsed { root, replaced } = json::parse(&container.json, budget)?;
        let warnings = Warnings::default();
        replaced.iter().for_each(|fault| warnings.add(&fault.path, format!("{}; it is ignored", fault.message)));
        extensions::check_required(&root.extensions_required, faults, &warnings)?;
        let mut document = Self {
            unsupported: extensions::unsupported(&root.extensions_used, &warnings),
            folders: Folders::new(home, &options.allow_dirs),
            budget,
            warnings,
            faults,
            replaced,
            external: None,
            buffers: Vec::new(),
            decoded: Vec::new(),
            root,
        };
        document.external = document.or_warn(External::read(&container.json), "they are left out")?.flatten();
        for index in 0..document.root.buffers.len() {
            let buffer = document.load_buffer(index, container.bin);
            document.buffers.push(document.hold(buffer)?);
        }
        document.decoded = (0..document.root.buffer_views.len())
            .into_par_iter()
            .map(|index| {
                let decoded = meshopt::decode_view(&document, index);
                document.hold(decoded)
            })
            .collect::<Result<_, _>>()?;
        Ok(document)
    }

    /// Stores a part or its fault.
    ///
    /// # Errors
    /// If the memory budget is exceeded, since nothing else would fit either.
    fn hold<T>(&self, content: Result<T, Fault>) -> Result<Held<T>, Fault> {
        match content {
            Err(fault) if self.budget.is_exceeded() => Err(fault),
            content => Ok(Held { content, missed: AtomicBool::new(false) }),
        }
    }

    /// Returns a part, or None with a warning if it is faulty. `instead` describes the replacement in the warning.
    ///
    /// # Errors
    /// If the memory budget is exceeded, since nothing else would fit either.
    pub fn or_warn<T>(&self, read: Result<T, Fault>, instead: &str) -> Result<Option<T>, Fault> {
        match read {
            Err(fault) if !self.budget.is_exceeded() => {
                self.warnings.add(&fault.path, format!("{}; {instead}", fault.message));
                Ok(None)
            }
            read => self.faults.keep(read),
        }
    }

    /// Adds warnings about faulty buffers and buffer views that no other part needed.
    pub fn warn_of_unused(&self) {
        let buffers = self.buffers.iter().filter_map(Held::unmet);
        let views = self.decoded.iter().filter_map(Held::unmet);
        for fault in buffers.chain(views) {
            self.warnings.add(&fault.path, format!("{}; nothing that is drawn needs it", fault.message));
        }
    }

    fn load_buffer(&self, index: usize, bin: Option<Bytes<'a>>) -> Result<Option<Buffer<'a>>, Fault> {
        let buffer = &self.root.buffers[index];
        let path = || format!("/buffers/{index}");
        let bytes = match (&buffer.uri, bin) {
            (Some(uri), _) => {
                let bytes = match index {
                    0..MOST_OPEN => uri::open(&self.folders, uri, self.budget),
                    _ => uri::read(&self.folders, uri, self.budget).map(Buffer::Memory),
                };
                bytes.map_err(|m| fault(path() + "/uri", m))?
            }
            (None, Some(bin)) if index == 0 => Buffer::Chunk(bin),
            _ => return Ok(None),
        };
        let (declared, present) = (buffer.byte_length.0, bytes.bytes().len());
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
    /// At `path`, if the buffer has fewer bytes.
    pub fn slice(&self, buffer: usize, offset: u64, length: u64, path: &str) -> Result<Bytes<'_>, Fault> {
        let declared = self.root.buffers.get(buffer).ok_or_else(|| {
            let count = self.root.buffers.len();
            fault(path, out_of_range("buffer", buffer, count))
        })?;
        let bytes = self.buffers.get(buffer).map(Held::get).transpose()?.and_then(Option::as_ref);
        let bytes = bytes.ok_or_else(|| {
            let message = format!("buffer {buffer} has no data: get the file with its buffers");
            fault(path, message)
        })?;
        let end = offset.checked_add(length).filter(|&end| end <= declared.byte_length.0);
        end.and_then(|end| bytes.bytes().part(offset..end)).ok_or_else(|| {
            fault(
                path,
                format!("{length} bytes from {offset} exceed buffer {buffer} of {} bytes", declared.byte_length.0),
            )
        })
    }

    /// A buffer view, decompressed.
    ///
    /// # Errors
    /// At `path` if there is no such view; at the view if it exceeds its buffer.
    pub fn view(&self, index: Index<buffer::View>, path: &str) -> Result<View<'_>, Fault> {
        let index = index.value();
        let view = self.root.buffer_views.get(index).ok_or_else(|| {
            let count = self.root.buffer_views.len();
            fault(path, out_of_range("buffer view", index, count))
        })?;
        let stride = view.byte_stride.map(|s| s.0);
        // Views that are missing here are not compressed, or not decoded yet.
        if let Some(decoded) = self.decoded.get(index).map(Held::get).transpose()?.and_then(Option::as_ref) {
            return Ok(View { bytes: Bytes::Memory(decoded.bytes()), stride });
        }
        let offset = view.byte_offset.map_or(0, |o| o.0);
        let at = format!("/bufferViews/{index}");
        let bytes = self.slice(view.buffer.value(), offset, view.byte_length.0, &at)?;
        Ok(View { bytes, stride })
    }
}

/// Message about an index out of range, for example "there is no mesh 7: the file has 3".
pub fn out_of_range(what: &str, index: usize, count: usize) -> String {
    format!("there is no {what} {index}: the file has {count}")
}
