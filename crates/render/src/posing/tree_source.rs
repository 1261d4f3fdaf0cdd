//! The source of the trees of meshes: trees are built, or read from a cache.

use crate::{CacheError, TreeCache, TreeCounts, posing::kept_trees::KeptTrees};
use rayon::prelude::*;
use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};
use throng_accel::{Blas, NodeLayout, Quality, Surface, TreeKey, build_bytes, curve_build_bytes, most_boxes};
use throng_base::memory::{describe, resident_bytes, total_bytes};
use throng_scene::{Mesh, Scene, Shape};

/// Number of triangles above which meshes get their trees one after the other.
const LARGE_MESH: usize = 1 << 20;

/// Quality at which trees are built, and the folder in which they are cached. The default is [`Quality::High`] without a cache. If memory
/// does not suffice for a build, the tree gets a lower quality.
#[derive(Clone, Debug, Default)]
pub struct TreeSource {
    quality: Quality,
    cache: Option<Arc<TreeCache>>,
    kept: Option<Arc<KeptTrees>>,
    /// Number of trees so far that were built or read from files.
    made: Arc<AtomicU32>,
    lowered: Arc<OnceLock<Lowered>>,
}

/// A tree whose quality was lowered because memory did not suffice.
#[derive(Clone, Debug, PartialEq)]
pub struct Lowered {
    /// What the tree is built over, for example "a mesh of 3 triangles".
    pub content: String,
    pub asked: Quality,
    pub built: Quality,
    /// Bytes that the build needed at the requested quality, and bytes that were free.
    pub needed: u64,
    pub free: u64,
}

impl fmt::Display for Lowered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the tree of {} is built as with --trees {}: {} would take {} of memory, and {} are free",
            self.content,
            self.built,
            self.asked,
            describe(self.needed),
            describe(self.free)
        )
    }
}

impl TreeSource {
    /// Builds the trees of all meshes. A deforming mesh gets a fast tree of its bind pose, which is replaced before it is traced.
    pub fn trees(&self, scene: &Scene, layout: NodeLayout) -> Vec<Arc<Blas>> {
        let mut deforms = vec![false; scene.meshes.len()];
        for deforming in &scene.deforming {
            deforms[deforming.mesh as usize] = true;
        }
        let build = |(mesh, deforms): (&Mesh, bool)| match &mesh.shape {
            Shape::Triangles(triangles) if !deforms => self.shared_tree(triangles.into(), layout),
            Shape::Curves(_) if !deforms => Arc::new(self.tree_of_curves(mesh, layout)),
            _ => Arc::new(Blas::build(mesh, layout, Quality::Fast)),
        };
        // One large build uses all threads, and memory may not have room for two.
        let is_large = |mesh: &Mesh| mesh.prim_count() >= LARGE_MESH;
        let pairs = || scene.meshes.iter().zip(deforms.iter().copied());
        let large = pairs().map(|pair| is_large(pair.0).then(|| build(pair)));
        let large: Vec<_> = large.collect();
        let small = scene.meshes.par_iter().zip(&deforms).zip(large);
        small.map(|((mesh, &deforms), large)| large.unwrap_or_else(|| build((mesh, deforms)))).collect()
    }

    /// A source of trees that are built at this quality, or read from the cache.
    pub fn new(quality: Quality, cache: Option<TreeCache>) -> Self {
        Self { quality, cache: cache.map(Arc::new), ..Self::default() }
    }

    /// A source that returns a tree again while it is still held, for example by the poser of the previous scene. Clones share this memory.
    #[must_use]
    pub fn remembering(self) -> Self {
        Self { kept: Some(Arc::default()), ..self }
    }

    /// The tree of a rigid mesh. If this source remembers trees and the mesh has not changed, the existing tree is returned.
    pub(crate) fn shared_tree(&self, surface: Surface<'_>, layout: NodeLayout) -> Arc<Blas> {
        match &self.kept {
            Some(kept) => {
                let key = TreeKey::new(&surface, layout, self.quality);
                kept.tree(key, || self.tree(surface, layout))
            }
            None => Arc::new(self.tree(surface, layout)),
        }
    }

    /// Number of trees so far that were built or read from files.
    #[cfg(test)]
    fn made(&self) -> u32 {
        self.made.load(Ordering::Relaxed)
    }

    /// Returns the tree that [`Blas::of_surface`] builds, bit for bit.
    pub(crate) fn tree(&self, surface: Surface<'_>, layout: NodeLayout) -> Blas {
        self.made.fetch_add(1, Ordering::Relaxed);
        let triangles = surface.triangles.len();
        let boxes = match self.quality {
            Quality::High => most_boxes(&surface),
            Quality::Balanced | Quality::Fast => triangles,
        };
        let needed = |quality| match quality {
            Quality::High => build_bytes(boxes, layout, quality),
            Quality::Balanced | Quality::Fast => build_bytes(triangles, layout, quality),
        };
        let quality = self.affordable(|| format!("a mesh of {triangles} triangles"), needed, free_bytes());
        match &self.cache {
            Some(cache) => cache.tree(surface, layout, quality),
            None => Blas::of_surface(surface, layout, quality),
        }
    }

    fn tree_of_curves(&self, mesh: &Mesh, layout: NodeLayout) -> Blas {
        let segments = mesh.prim_count();
        let needed = |quality| curve_build_bytes(segments, layout, quality);
        let quality = self.affordable(|| format!("curves of {segments} segments"), needed, free_bytes());
        Blas::build(mesh, layout, quality)
    }

    /// The best quality, up to the requested one, whose build fits into `free` bytes. [`Quality::Fast`] if none fits; the requested quality
    /// if `free` is none. `needed` returns the bytes of a build, and `content` describes what the tree is built over.
    fn affordable(&self, content: impl Fn() -> String, needed: impl Fn(Quality) -> u64, free: Option<u64>) -> Quality {
        let Some(free) = free.filter(|&free| needed(self.quality) > free) else {
            return self.quality;
        };
        let less = match self.quality {
            Quality::High => &[Quality::Balanced, Quality::Fast][..],
            Quality::Balanced | Quality::Fast => &[Quality::Fast],
        };
        let fits = less.iter().find(|&&quality| needed(quality) <= free);
        let built = *fits.unwrap_or(&Quality::Fast);
        if built != self.quality {
            // Another thread may have stored a tree already.
            let (asked, needed) = (self.quality, needed(self.quality));
            let _ = self.lowered.set(Lowered { content: content(), asked, built, needed, free });
        }
        built
    }

    /// The first tree whose quality was lowered.
    #[doc(hidden)]
    pub fn lowered(&self) -> Option<&Lowered> {
        self.lowered.get()
    }

    /// Counts of trees read and built so far; none without a cache.
    #[doc(hidden)]
    pub fn counts(&self) -> Option<TreeCounts> {
        self.cache.as_ref().map(|cache| cache.counts())
    }

    /// Error of the first tree that could not be written to the cache.
    #[doc(hidden)]
    pub fn failure(&self) -> Option<&CacheError> {
        self.cache.as_ref().and_then(|cache| cache.failure())
    }
}

/// Memory of the machine minus the memory of this process, in bytes; none if unknown.
fn free_bytes() -> Option<u64> {
    Some(total_bytes()?.saturating_sub(resident_bytes()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_scene::TriangleMesh;

    #[test]
    fn an_edit_of_one_mesh_among_a_hundred_makes_one_tree() {
        let mesh = |number: u32, height: f32| {
            let corner = |i: u32| [i as f32, if i == 1 { height } else { 0.0 }, number as f32];
            TriangleMesh {
                positions: (0..3).map(corner).collect(),
                triangles: vec![[0, 1, 2]],
                ..TriangleMesh::default()
            }
        };
        let meshes = |height: f32| (0..100).map(|n| mesh(n, if n == 42 { height } else { 1.0 })).collect::<Vec<_>>();
        let source = TreeSource::default().remembering();
        let trees = |meshes: &[TriangleMesh]| -> Vec<Arc<Blas>> {
            meshes.iter().map(|mesh| source.clone().shared_tree(mesh.into(), NodeLayout::Wide8)).collect()
        };
        let old = trees(&meshes(1.0));
        assert_eq!(source.made(), 100);
        let new = trees(&meshes(2.0));
        assert_eq!(source.made(), 101);
        let same = (0..100).filter(|&i| Arc::ptr_eq(&old[i], &new[i])).count();
        assert_eq!((same, new[42].bounds.max.y), (99, 2.0));
        drop((old, new));
        trees(&meshes(2.0));
        assert_eq!(source.made(), 201);
        let forgetful = TreeSource::default();
        let tree = |mesh: &TriangleMesh| forgetful.shared_tree(mesh.into(), NodeLayout::Wide8);
        let (mesh, _held) = (mesh(0, 1.0), tree(&mesh(0, 1.0)));
        tree(&mesh);
        assert_eq!(forgetful.made(), 2);
    }

    #[test]
    fn a_tree_gets_the_best_quality_that_there_is_memory_for() {
        let needed = |quality| build_bytes(100_000_000, NodeLayout::Wide8, quality);
        let content = || "a mesh".to_owned();
        let source = TreeSource::default();
        let quality = |free| source.affordable(content, needed, free);
        assert_eq!(quality(None), Quality::High);
        assert_eq!(quality(Some(needed(Quality::High))), Quality::High);
        assert_eq!(source.lowered(), None);
        let free = needed(Quality::High) - 1;
        assert_eq!(quality(Some(free)), Quality::Balanced);
        let text = source.lowered().unwrap().to_string();
        let expected = "the tree of a mesh is built as with --trees balanced: high would take";
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(quality(Some(0)), Quality::Fast);
        let fast = TreeSource::new(Quality::Fast, None);
        assert_eq!(fast.affordable(content, needed, Some(0)), Quality::Fast);
        assert_eq!(fast.lowered(), None);
    }
}
