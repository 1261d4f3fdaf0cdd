//! Accessors (glTF 2.0, 3.6.2), validated before they are read.
//!
//! The `gltf` crate's readers are not used: they panic on malformed files and do not support accessors without a buffer view. All
//! arithmetic on numbers from a file is checked.

use super::{
    bytes::Bytes,
    document::{Document, out_of_range},
};
use crate::gltf::fault::{Fault, fault};
use crate::{budget::Budget, files};
use gltf::json::{
    Index,
    accessor::{self, ComponentType, Type},
    validation::Checked,
};
use rayon::prelude::*;
use std::{borrow::Cow, io};

/// Maximum stride in bytes. The specification allows 252 for vertex attributes; nothing needs more than this limit.
const MAX_STRIDE: usize = 1 << 16;

/// The elements of an accessor, validated to be inside its buffer.
pub struct Elements<'a> {
    path: String,
    pub count: usize,
    component: ComponentType,
    /// Components per element.
    pub width: usize,
    normalized: bool,
    /// The bytes from the first element onwards; None for zeros.
    base: Option<Strided<'a>>,
    sparse: Option<Sparse<'a>>,
}

#[derive(Clone, Copy)]
struct Strided<'a> {
    bytes: Bytes<'a>,
    stride: usize,
}

/// Elements that replace others.
struct Sparse<'a> {
    indices: Vec<usize>,
    /// The replacing elements, tightly packed.
    values: Cow<'a, [u8]>,
}

/// Looks up and validates an accessor; `from` is the JSON pointer of the reference.
///
/// # Errors
/// At `from` if there is no such accessor, otherwise at the accessor.
pub fn elements<'a>(
    document: &'a Document,
    index: Index<accessor::Accessor>,
    from: &str,
) -> Result<Elements<'a>, Fault> {
    let index = index.value();
    let accessor = document.root.accessors.get(index).ok_or_else(|| {
        let count = document.root.accessors.len();
        fault(from, out_of_range("accessor", index, count))
    })?;
    let path = format!("/accessors/{index}");
    let (Checked::Valid(component), Checked::Valid(shape)) = (&accessor.component_type, &accessor.type_) else {
        return Err(fault(path, "unknown componentType or type"));
    };
    let mut found = Elements {
        count: usize::try_from(accessor.count.0).map_err(|_| fault(&path, "count is too large"))?,
        component: component.0,
        width: shape.multiplicity(),
        normalized: accessor.normalized,
        base: None,
        sparse: None,
        path,
    };
    if matches!(shape, Type::Mat2 | Type::Mat3) {
        return Err(fault(found.path, "2x2 and 3x3 matrices have no use here"));
    }
    if let Some(view) = accessor.buffer_view {
        found.base = Some(found.strided(document, accessor, view)?);
    }
    if let Some(sparse) = &accessor.sparse {
        found.sparse = Some(found.sparse(document, sparse)?);
    }
    Ok(found)
}

impl<'a> Elements<'a> {
    fn size(&self) -> usize {
        self.width * self.component.size()
    }

    fn strided(
        &self,
        document: &'a Document,
        accessor: &accessor::Accessor,
        view: Index<gltf::json::buffer::View>,
    ) -> Result<Strided<'a>, Fault> {
        let view = document.view(view, &format!("{}/bufferView", self.path))?;
        let stride = view.stride.unwrap_or(self.size());
        let rules = self.size()..=MAX_STRIDE;
        if !rules.contains(&stride) || !stride.is_multiple_of(self.component.size()) {
            return Err(
                self.fault(format!("a stride of {stride} bytes does not go with elements of {} bytes", self.size()))
            );
        }
        let offset = accessor.byte_offset.map_or(0, |o| o.0);
        let bytes = tail(view.bytes, offset, self.count, stride, self.size());
        let bytes = bytes.ok_or_else(|| self.exceeds("", self.count, view.bytes.len()))?;
        Ok(Strided { bytes, stride })
    }

    fn sparse(&self, document: &'a Document, sparse: &accessor::sparse::Sparse) -> Result<Sparse<'a>, Fault> {
        let count = usize::try_from(sparse.count.0).unwrap_or(usize::MAX);
        let Checked::Valid(kind) = sparse.indices.component_type else {
            return Err(self.fault("unknown componentType of the sparse indices"));
        };
        let size = kind.0.size();
        let at = format!("{}/sparse/indices/bufferView", self.path);
        let view = document.view(sparse.indices.buffer_view, &at)?;
        let bytes = tail(view.bytes, sparse.indices.byte_offset.0, count, size, size);
        let bytes = bytes.ok_or_else(|| self.exceeds("sparse indices: ", count, view.bytes.len()))?;
        let bytes = self.bytes(bytes.part(0..(count * size) as u64).unwrap_or(bytes))?;
        document
            .budget
            .take_array(count, size_of::<usize>())
            .map_err(|lack| self.fault(format!("reading the sparse indices {lack}")))?;
        let indices: Vec<usize> = bytes.chunks_exact(size).take(count).map(little).collect();
        let rising = indices.windows(2).all(|pair| pair[0] < pair[1]);
        if !rising || indices.last().is_some_and(|&last| last >= self.count) {
            return Err(self.fault("sparse indices must rise and stay below the accessor's count"));
        }
        let at = format!("{}/sparse/values/bufferView", self.path);
        let view = document.view(sparse.values.buffer_view, &at)?;
        let (offset, size) = (sparse.values.byte_offset.0, self.size());
        let values = tail(view.bytes, offset, count, size, size);
        let values = values.ok_or_else(|| self.exceeds("sparse values: ", count, view.bytes.len()))?;
        let values = self.bytes(values.part(0..(count * size) as u64).unwrap_or(values))?;
        Ok(Sparse { indices, values })
    }

    fn bytes(&self, bytes: Bytes<'a>) -> Result<Cow<'a, [u8]>, Fault> {
        bytes.read().map_err(|e| self.fault(files::describe(&e)))
    }

    fn exceeds(&self, what: &str, count: usize, bytes: u64) -> Fault {
        self.fault(format!("{what}{count} elements exceed their buffer view of {bytes} bytes: export the file again"))
    }

    /// The component type, if components are normalised integers; None otherwise.
    pub fn normalized_type(&self) -> Option<ComponentType> {
        self.normalized.then_some(self.component)
    }

    /// A fault at this accessor.
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        fault(&self.path, message)
    }

    /// All elements as floats. Normalised integers are converted as specified in 3.11, other integers by value.
    ///
    /// # Errors
    /// If elements do not have `N` components, if components are 32-bit integers, or if the memory budget is exceeded.
    pub fn floats<const N: usize>(&self, budget: &Budget) -> Result<Vec<[f32; N]>, Fault> {
        use ComponentType::*;
        match (self.component, self.normalized) {
            (F32, _) => self.read(budget, f32::from_le_bytes),
            (U8, false) => self.read(budget, |[b]| f32::from(b)),
            (I8, false) => self.read(budget, |b| f32::from(i8::from_le_bytes(b))),
            (U16, false) => self.read(budget, |b| f32::from(u16::from_le_bytes(b))),
            (I16, false) => self.read(budget, |b| f32::from(i16::from_le_bytes(b))),
            (U8, true) => self.read(budget, |[b]| f32::from(b) / 255.0),
            (I8, true) => self.read(budget, |b| signed(i8::from_le_bytes(b).into(), 127.0)),
            (U16, true) => self.read(budget, |b| f32::from(u16::from_le_bytes(b)) / 65535.0),
            (I16, true) => self.read(budget, |b| signed(i16::from_le_bytes(b).into(), 32767.0)),
            (U32, _) => Err(self.fault("32-bit integers cannot stand for floats")),
        }
    }

    /// All elements as unsigned integers.
    ///
    /// # Errors
    /// As [`Elements::floats`]. Also if components are signed, floats or normalised.
    pub fn integers<const N: usize>(&self, budget: &Budget) -> Result<Vec<[u32; N]>, Fault> {
        match (self.component, self.normalized) {
            (ComponentType::U8, false) => self.read(budget, |[b]| u32::from(b)),
            (ComponentType::U16, false) => self.read(budget, |b| u16::from_le_bytes(b).into()),
            (ComponentType::U32, false) => self.read(budget, u32::from_le_bytes),
            _ => Err(self.fault("unsigned integers are needed here")),
        }
    }

    /// Regroups tightly packed scalars into elements of three; one or two remaining scalars are dropped. None for other accessors.
    pub fn as_triples(&self) -> Option<Elements<'a>> {
        let base = self.base.as_ref()?;
        let packed = base.stride == self.component.size();
        if self.width != 1 || !packed || self.sparse.is_some() {
            return None;
        }
        Some(Elements {
            path: self.path.clone(),
            count: self.count / 3,
            width: 3,
            base: Some(Strided { bytes: base.bytes, stride: base.stride * 3 }),
            sparse: None,
            ..*self
        })
    }

    fn read<const N: usize, const S: usize, T: Copy + Default + Send + Sync>(
        &self,
        budget: &Budget,
        convert: impl Fn([u8; S]) -> T + Sync,
    ) -> Result<Vec<[T; N]>, Fault> {
        if self.width != N {
            return Err(self.fault(format!("elements have {} components, but {N} are needed here", self.width)));
        }
        budget.take_array(self.count, size_of::<[T; N]>()).map_err(|lack| self.fault(format!("the data {lack}")))?;
        let mut output = vec![[T::default(); N]; self.count];
        let element = |bytes: &[u8], output: &mut [T; N]| {
            let components = bytes.as_chunks::<S>().0;
            output.iter_mut().zip(components).for_each(|(to, from)| *to = convert(*from));
        };
        let run = |bytes: &[u8], stride: usize, output: &mut [[T; N]]| {
            if stride == N * S {
                let elements = bytes.chunks_exact(N * S);
                output.iter_mut().zip(elements).for_each(|(to, from)| element(from, to));
            } else {
                let elements = bytes.chunks(stride);
                output.iter_mut().zip(elements).for_each(|(to, from)| element(from, to));
            }
        };
        if let Some(base) = &self.base {
            fill(&mut output, base, &run).map_err(|e| self.fault(files::describe(&e)))?;
        }
        if let Some(sparse) = &self.sparse {
            for (&index, value) in sparse.indices.iter().zip(sparse.values.chunks_exact(N * S)) {
                if let Some(replaced) = output.get_mut(index) {
                    element(value, replaced);
                }
            }
        }
        Ok(output)
    }
}

/// Converts bytes with a given stride to elements. This is not a type parameter of [`fill`], so that the parallel loop is compiled only
/// once for all component types.
type Convert<'a, E> = dyn Fn(&[u8], usize, &mut [E]) + Sync + 'a;

/// Converts elements in parallel. Those of a file are read in pieces.
fn fill<E: Send>(output: &mut [E], base: &Strided, run: &Convert<E>) -> io::Result<()> {
    const PER_TASK: usize = 16 * 1024;
    /// Number of bytes of a file that a task reads, unless an element has more.
    const READ: usize = 1 << 18;
    let per_task = match base.bytes {
        Bytes::Memory(_) => PER_TASK,
        Bytes::File { .. } => (READ / base.stride).clamp(1, PER_TASK),
    };
    output.par_chunks_mut(per_task).enumerate().try_for_each(|(task, output)| {
        let start = (task * per_task * base.stride) as u64;
        // The last element may end before its stride does.
        let end = base.bytes.len().min(start + (output.len() * base.stride) as u64);
        let bytes = base.bytes.part(start..end).ok_or(io::ErrorKind::UnexpectedEof)?;
        run(&bytes.read()?, base.stride, output);
        Ok(())
    })
}

/// The bytes from `offset` onwards, if `count` elements fit.
fn tail(bytes: Bytes<'_>, offset: u64, count: usize, stride: usize, size: usize) -> Option<Bytes<'_>> {
    let bytes = bytes.part(offset..bytes.len())?;
    let needed = match count.checked_sub(1) {
        None => 0,
        Some(before) => before.checked_mul(stride)?.checked_add(size)?,
    };
    (needed as u64 <= bytes.len()).then_some(bytes)
}

fn signed(value: f32, greatest: f32) -> f32 {
    (value / greatest).max(-1.0)
}

fn little(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b))
}
