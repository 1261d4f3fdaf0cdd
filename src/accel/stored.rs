//! BLASes in files, which are used where they are mapped.
//!
//! A file has a [`Header`], four sections (nodes, leaves, and the starts and blocks of the support map) and a checksum of all
//! before it. Sections begin at multiples of 64 bytes and hold what memory holds, little-endian, so that nothing is computed when a
//! tree is read but the checksum, and one pass over its references. There is one version for builders and for files
//! ([`BUILDER_VERSION`](super::blas::BUILDER_VERSION)), which is a part of the key.
//!
//! What is read may be anything: an old file, half a file, one of another program. The checksum finds all damage by chance. A file
//! that was made to deceive can have a checksum that is right, so references are checked, too (`references`): such a file
//! yields wrong pictures at worst. Files must not be changed in place while they are mapped. Whoever replaces one renames
//! another to its name, and a file that is deleted stays there until nobody needs it.

mod checksum;
mod key;
mod references;
#[cfg(test)]
mod tests;

pub use key::TreeKey;

use super::{
    Blas, BlasShape, Buffer, NodeArray, NodeLayout, Tree, Wide,
    blas::BuiltTree,
    node::each_width,
    pack::{Packs, each_kind},
    support::SupportMap,
};
use crate::math::Aabb;
use bytemuck::AnyBitPattern;
use checksum::{Checksum, checksum};
use memmap2::MmapOptions;
use std::{
    fs::File,
    io::{self, Write},
    ops::Range,
    sync::Arc,
    time::Duration,
};

/// Begins every file.
const MAGIC: [u8; 8] = *b"thrgBLAS";
/// Sections begin at multiples of this, as nodes in memory do.
const ALIGNMENT: usize = 64;
const CHECKSUM_SIZE: usize = size_of::<u128>();

/// What begins a file. Fields without a meaning for a layout are 0.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
struct Header {
    magic: [u8; 8],
    /// Of the sections in bytes, in their order.
    sizes: [u64; 4],
    key: [u8; 16],
    bounds: [[f32; 3]; 2],
    support_bounds: [[f32; 3]; 2],
    root: u32,
    depth: u32,
    sah_cost: f32,
    /// What leaves are: one of `EIGHT` and `SHARED`.
    leaves: u32,
}

/// [`Packs::Eight`], or triangles of compressed trees.
const EIGHT: u32 = 0;
/// [`Packs::Shared`].
const SHARED: u32 = 1;

impl Header {
    /// Where the sections are in the file, and the checksum after them. None if the sizes are those of no file.
    fn places(&self) -> Option<([Range<usize>; 4], Range<usize>)> {
        let mut end = size_of::<Self>();
        let mut place = |size: u64| {
            let start = end.checked_next_multiple_of(ALIGNMENT)?;
            end = start.checked_add(usize::try_from(size).ok()?)?;
            Some(start..end)
        };
        let [nodes, leaves, starts, blocks] = self.sizes;
        let sections = [
            place(nodes)?,
            place(leaves)?,
            place(starts)?,
            place(blocks)?,
        ];
        Some((sections, end..end.checked_add(CHECKSUM_SIZE)?))
    }
}

impl Blas {
    /// Writes a tree as it was built; `key` is that of its mesh. Spheres have no tree: nothing is written.
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
            BlasShape::Compressed {
                depth,
                units,
                triangles,
            } => {
                let sizes = [size_of_val(&units[..]), size_of_val(&triangles[..])];
                let header = self.header(key, (0, *depth), sizes);
                let mut to = Sections::begin(to, &header)?;
                to.section([bytemuck::cast_slice(units)])?;
                to.section([bytemuck::cast_slice(triangles)])?;
                self.write_support(to)
            }
            BlasShape::Sphere => Ok(()),
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
            support_bounds: self
                .support()
                .map_or_else(Default::default, |s| planes(s.bounds)),
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

    /// The tree of `key` from a file that was written by [`Self::write_to`], for a mesh of so many triangles. None if it is anything
    /// but that. Its memory is the file's until something writes to it. Its build time is left to who knows what finding the
    /// file took.
    pub fn read_from(
        file: &File,
        key: TreeKey,
        layout: NodeLayout,
        triangles: usize,
    ) -> Option<Self> {
        let stored = Stored::open(file, key)?;
        let (tree, support) = (stored.tree(layout, triangles)?, stored.support()?);
        Some(Self::of_tree(tree, support, Duration::ZERO))
    }
}

/// The parts of a node in the order of memory. What lies between its fields and its end has no value there; here it is zero.
fn node_bytes<const N: usize>(node: &Wide<N>) -> [&[u8]; 3] {
    let fields = [
        bytemuck::cast_slice(node.planes.as_flattened()),
        bytemuck::cast_slice(&node.children[..]),
    ];
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
        let mut sections = Self {
            to,
            checksum: Checksum::default(),
            position: 0,
        };
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

/// A whole file of the right key, in memory.
struct Stored {
    map: Arc<memmap2::Mmap>,
    header: Header,
    sections: [Range<usize>; 4],
}

impl Stored {
    fn open(file: &File, key: TreeKey) -> Option<Self> {
        // All of it is read at once, to find damage, so the system may as well fetch it in one go.
        // SAFETY: nobody changes these files in place (see the module's documentation).
        let map = unsafe { MmapOptions::new().populate().map(file) }.ok()?;
        let header: Header = bytemuck::pod_read_unaligned(map.get(..size_of::<Header>())?);
        let (sections, sum) = header.places()?;
        let expected = header.magic == MAGIC
            && header.key == key.0.to_le_bytes()
            && map.len() == sum.end
            && map[sum.clone()] == checksum(&map[..sum.start]).to_le_bytes();
        expected.then(|| Self {
            map: Arc::new(map),
            header,
            sections,
        })
    }

    fn tree(&self, layout: NodeLayout, triangles: usize) -> Option<BuiltTree> {
        let Header {
            root,
            depth,
            sah_cost,
            leaves,
            ..
        } = self.header;
        let bounds = aabb(self.header.bounds);
        let shape = if layout == NodeLayout::Compressed8 {
            let (units, records) = (self.section(0)?, self.section(1)?);
            references::are_sound_compressed(&units, &records, depth, triangles).then_some(
                BlasShape::Compressed {
                    depth,
                    units,
                    triangles: records,
                },
            )
        } else {
            let tree = Tree {
                layout,
                nodes: self.nodes(layout)?,
                root,
                depth,
                bounds,
            };
            let packs = match (leaves, layout) {
                (EIGHT, _) => Packs::Eight(self.section(1)?),
                (SHARED, NodeLayout::Wide16) => Packs::Shared(self.section(1)?),
                _ => return None,
            };
            each_kind!(&packs, packs => references::are_sound(&tree, packs, triangles))
                .then_some(BlasShape::Triangles { tree, packs })
        };
        Some(BuiltTree {
            shape: shape?,
            bounds,
            sah_cost,
        })
    }

    fn nodes(&self, layout: NodeLayout) -> Option<NodeArray> {
        Some(match layout {
            NodeLayout::Wide4 => NodeArray::Wide4(self.section(0)?),
            NodeLayout::Wide8 | NodeLayout::Compressed8 => NodeArray::Wide8(self.section(0)?),
            NodeLayout::Wide16 => NodeArray::Wide16(self.section(0)?),
        })
    }

    /// None if it is broken; a tree may have none.
    fn support(&self) -> Option<Option<SupportMap>> {
        if self.header.sizes[2] == 0 {
            return Some(None);
        }
        let support = SupportMap {
            starts: self.section(2)?,
            blocks: self.section(3)?,
            bounds: aabb(self.header.support_bounds),
        };
        support.is_whole().then_some(Some(support))
    }

    fn section<T: Copy + AnyBitPattern>(&self, index: usize) -> Option<Buffer<T>> {
        Buffer::mapped(&self.map, self.sections[index].clone())
    }
}

fn aabb([min, max]: [[f32; 3]; 2]) -> Aabb {
    Aabb {
        min: min.into(),
        max: max.into(),
    }
}
