//! BLASes in files, which are read directly into their final memory.
//!
//! A file has a [`Header`], four sections (nodes, leaves, starts and blocks of the support map) and a checksum of everything before it. Sections
//! begin at multiples of 64 bytes and have the in-memory layout, little-endian. Reading a tree therefore takes only the checksum and one pass over
//! its references. Builders and files share one version ([`BUILDER_VERSION`](super::blas::BUILDER_VERSION)), which is part of the key.
//!
//! A file may be old, truncated, from another program, or change while it is read. Therefore its size is checked first, then all of it is copied, and
//! then the copy is checked. The checksum detects all accidental damage. A forged file can have a correct checksum, so everything on which kernels
//! and refits rely is checked as well (`references`, [`SupportMap::is_sound`]). At worst, a forged file causes wrong pictures.

mod checksum;
#[cfg(test)]
mod forged_tests;
#[cfg(feature = "forging")]
pub mod forging;
mod key;
mod references;
#[cfg(test)]
mod tests;

pub use key::TreeKey;

use super::{
    Blas, BlasShape, Buffer, NodeArray, NodeLayout, Tree, Wide,
    blas::BuiltTree,
    build::spatial::MOST_BOXES,
    node::each_width,
    pack::{Packs, each_kind},
    support::{Block, SupportMap},
};
use bytemuck::Zeroable;
use checksum::{Checksum, checksum_of};
use std::{
    fs::File,
    io::{self, Write},
    ops::Range,
    time::Duration,
};
use throng_abi::{PatchRow, TrianglePack, Unit};
use throng_base::{files::read_exact_at, math::Aabb};

/// First bytes of every file.
const MAGIC: [u8; 8] = *b"thrgBLAS";
/// Alignment of sections, equal to the alignment of nodes in memory.
const ALIGNMENT: usize = 64;
const CHECKSUM_SIZE: usize = size_of::<u128>();

/// The header of a file. Fields that do not apply to a layout are 0.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
struct Header {
    magic: [u8; 8],
    /// Sizes of the sections in bytes, in their order.
    sizes: [u64; 4],
    key: [u8; 16],
    bounds: [[f32; 3]; 2],
    support_bounds: [[f32; 3]; 2],
    root: u32,
    depth: u32,
    sah_cost: f32,
    /// Kind of the leaves: `EIGHT` or `SHARED`.
    leaves: u32,
}

/// [`Packs::Eight`], or patches of compressed trees.
const EIGHT: u32 = 0;
/// [`Packs::Shared`].
const SHARED: u32 = 1;

impl Header {
    /// The ranges of the sections in the file, and of the checksum after them. `None` if the sizes overflow.
    fn places(&self) -> Option<([Range<usize>; 4], Range<usize>)> {
        let mut end = size_of::<Self>();
        let mut place = |size: u64| {
            let start = end.checked_next_multiple_of(ALIGNMENT)?;
            end = start.checked_add(usize::try_from(size).ok()?)?;
            Some(start..end)
        };
        let [nodes, leaves, starts, blocks] = self.sizes;
        let sections = [place(nodes)?, place(leaves)?, place(starts)?, place(blocks)?];
        Some((sections, end..end.checked_add(CHECKSUM_SIZE)?))
    }

    /// Whether a tree of this number of triangles can have sections of these sizes, so that reading them does not exhaust memory.
    fn is_modest(&self, triangles: usize) -> bool {
        let boxes = triangles.saturating_mul(MOST_BOXES);
        let [starts, blocks] = SupportMap::MOST_BYTES;
        let most = [
            boxes.saturating_mul(size_of::<Wide<16>>()),
            boxes.saturating_mul(size_of::<TrianglePack>()),
            starts,
            blocks,
        ];
        let mut pairs = self.sizes.iter().zip(most);
        pairs.all(|(size, most)| *size <= most as u64)
    }

    /// Whether the cost and the box are plausible for this number of triangles.
    fn is_sane(&self, triangles: usize) -> bool {
        let bounds = aabb(self.bounds);
        let is_box = match triangles {
            0 => bounds == Aabb::EMPTY,
            _ => bounds.min.is_finite() && bounds.max.is_finite() && !bounds.is_empty(),
        };
        is_box && self.sah_cost.is_finite()
    }

    fn wide(&self, layout: NodeLayout, nodes: NodeArray, packs: Buffer<u8>, triangles: usize) -> Option<BlasShape> {
        let tree = Tree { layout, nodes, root: self.root, depth: self.depth, bounds: aabb(self.bounds) };
        let packs = match (self.leaves, layout) {
            (EIGHT, _) => Packs::Eight(packs.cast()?),
            (SHARED, NodeLayout::Wide16) => Packs::Shared(packs.cast()?),
            _ => return None,
        };
        each_kind!(&packs, packs => references::are_sound(&tree, packs, triangles))
            .then_some(BlasShape::Triangles { tree, packs })
    }

    fn compressed(&self, units: Buffer<Unit>, patches: Buffer<PatchRow>, triangles: usize) -> Option<BlasShape> {
        let depth = self.depth;
        let sound = self.leaves == EIGHT && references::are_sound_compressed(&units, &patches, depth, triangles);
        sound.then_some(BlasShape::Compressed { depth, units, patches })
    }

    fn support(&self, starts: Buffer<u32>, blocks: Buffer<Block>) -> Option<SupportMap> {
        let support = SupportMap { starts, blocks, bounds: aabb(self.support_bounds) };
        let sound = support.is_sound() && aabb(self.bounds).contains(&support.bounds);
        sound.then_some(support)
    }
}

impl Blas {
    /// Writes a tree in its state after the build; `key` must be its mesh's key. Writes nothing for spheres, which have no tree.
    pub fn write_to(&self, key: TreeKey, to: &mut dyn Write) -> io::Result<()> {
        debug_assert_eq!(self.segments(), 0, "trees of one shape are stored");
        match &self.shape {
            BlasShape::Triangles { tree, packs } => each_width!(&tree.nodes, nodes => {
                let mut header = self.header(key, (tree.root, tree.depth), [size_of_val(&nodes[..]), packs.bytes()]);
                if let Packs::Shared(_) = packs {
                    header.leaves = SHARED;
                }
                let mut to = Sections::begin(to, &header)?;
                to.section(nodes.iter().flat_map(node_bytes))?;
                to.section([each_kind!(packs, packs => bytemuck::cast_slice(packs))])?;
                self.write_support(to)
            }),
            BlasShape::Compressed { depth, units, patches } => {
                let sizes = [size_of_val(&units[..]), size_of_val(&patches[..])];
                let header = self.header(key, (0, *depth), sizes);
                let mut to = Sections::begin(to, &header)?;
                to.section([bytemuck::cast_slice(units)])?;
                to.section([bytemuck::cast_slice(patches)])?;
                self.write_support(to)
            }
            _ => Ok(()),
        }
    }

    fn header(&self, key: TreeKey, (root, depth): (u32, u32), sizes: [usize; 2]) -> Header {
        let planes = |bounds: Aabb| [bounds.min.to_array(), bounds.max.to_array()];
        let [nodes, leaves] = sizes;
        let (starts, blocks) = self.support().map_or((0, 0), |support| {
            let SupportMap { starts, blocks, .. } = support;
            (size_of_val(&starts[..]), size_of_val(&blocks[..]))
        });
        Header {
            magic: MAGIC,
            sizes: [nodes, leaves, starts, blocks].map(|size| size as u64),
            key: key.0.to_le_bytes(),
            bounds: planes(self.bounds),
            support_bounds: self.support().map_or_else(Default::default, |s| planes(s.bounds)),
            root,
            depth,
            sah_cost: self.sah_cost(),
            leaves: EIGHT,
        }
    }

    fn write_support(&self, mut to: Sections<'_>) -> io::Result<()> {
        let support = self.support();
        to.section(support.map(|s| bytemuck::cast_slice(&s.starts)))?;
        to.section(support.map(|s| bytemuck::cast_slice(&s.blocks)))?;
        to.end()
    }

    /// Reads the tree of `key`, for a mesh of this number of triangles, from a file written by [`Self::write_to`]. Returns `None` for any other file.
    /// The caller must set the build time.
    pub fn read_from(file: &File, key: TreeKey, layout: NodeLayout, triangles: usize) -> Option<Self> {
        Stored::read(file, key, triangles)?.into_blas(layout, triangles)
    }
}

/// The bytes of a node in memory order. The padding after its fields, which is uninitialised in memory, is zero here.
fn node_bytes<const N: usize>(node: &Wide<N>) -> [&[u8]; 3] {
    let fields = [bytemuck::cast_slice(node.planes.as_flattened()), bytemuck::cast_slice(&node.children[..])];
    let rest = size_of_val(node) - fields.map(<[u8]>::len).iter().sum::<usize>();
    [fields[0], fields[1], &[0; ALIGNMENT][..rest]]
}

/// A file that is being written.
struct Sections<'a> {
    to: &'a mut dyn Write,
    checksum: Checksum,
    position: usize,
}

impl<'a> Sections<'a> {
    fn begin(to: &'a mut dyn Write, header: &Header) -> io::Result<Self> {
        let mut sections = Self { to, checksum: Checksum::default(), position: 0 };
        sections.write(bytemuck::bytes_of(header))?;
        Ok(sections)
    }

    fn section<'b>(&mut self, parts: impl IntoIterator<Item = &'b [u8]>) -> io::Result<()> {
        let gap = self.position.next_multiple_of(ALIGNMENT) - self.position;
        self.write(&[0; ALIGNMENT][..gap])?;
        parts.into_iter().try_for_each(|part| self.write(part))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checksum.add(bytes);
        self.position += bytes.len();
        self.to.write_all(bytes)
    }

    fn end(self) -> io::Result<()> {
        self.to.write_all(&self.checksum.finish().to_le_bytes())
    }
}

/// A whole file with the right key, in memory.
struct Stored {
    header: Header,
    sections: [Buffer<u8>; 4],
}

impl Stored {
    fn read(file: &File, key: TreeKey, triangles: usize) -> Option<Self> {
        let mut header = Header::zeroed();
        read_exact_at(file, bytemuck::bytes_of_mut(&mut header), 0).ok()?;
        let (places, sum) = header.places()?;
        let expected = header.magic == MAGIC
            && header.key == key.0.to_le_bytes()
            && header.is_modest(triangles)
            && header.is_sane(triangles)
            && file.metadata().ok()?.len() == sum.end as u64;
        if !expected {
            return None;
        }
        let [nodes, leaves, starts, blocks] = places.map(|place| section(file, place));
        let stored = Self { header, sections: [nodes?, leaves?, starts?, blocks?] };
        let mut expected = [0; CHECKSUM_SIZE];
        read_exact_at(file, &mut expected, sum.start as u64).ok()?;
        (stored.checksum().to_le_bytes() == expected).then_some(stored)
    }

    fn checksum(&self) -> u128 {
        let mut parts = vec![bytemuck::bytes_of(&self.header)];
        let mut position = size_of::<Header>();
        for section in &self.sections {
            let gap = position.next_multiple_of(ALIGNMENT) - position;
            parts.extend([&[0; ALIGNMENT][..gap], section]);
            position += gap + section.len();
        }
        checksum_of(&parts)
    }

    fn into_blas(self, layout: NodeLayout, triangles: usize) -> Option<Blas> {
        let header = &self.header;
        let [nodes, leaves, starts, blocks] = self.sections;
        let shape = match layout {
            NodeLayout::Compressed8 => header.compressed(nodes.cast()?, leaves.cast()?, triangles),
            NodeLayout::Wide4 => header.wide(layout, NodeArray::Wide4(nodes.cast()?), leaves, triangles),
            NodeLayout::Wide8 => header.wide(layout, NodeArray::Wide8(nodes.cast()?), leaves, triangles),
            NodeLayout::Wide16 => header.wide(layout, NodeArray::Wide16(nodes.cast()?), leaves, triangles),
        };
        let tree = BuiltTree { shape: shape?, bounds: aabb(header.bounds), sah_cost: header.sah_cost };
        let support = match header.sizes[2] {
            0 => None,
            _ => Some(header.support(starts.cast()?, blocks.cast()?)?),
        };
        Some(Blas::of_tree(tree, support, Duration::ZERO))
    }
}

/// Reads a part of a file. `None` if the file has become shorter or cannot be read.
fn section(file: &File, place: Range<usize>) -> Option<Buffer<u8>> {
    let piece = |position, to: &mut [u8]| read_exact_at(file, to, (place.start + position) as u64);
    Buffer::read(place.len(), piece).ok()
}

fn aabb([min, max]: [[f32; 3]; 2]) -> Aabb {
    Aabb { min: min.into(), max: max.into() }
}
