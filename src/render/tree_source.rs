//! Where the trees of meshes come from.

use super::{CacheError, TreeCache, TreeCounts};
use crate::accel::{Blas, NodeLayout, Quality, Surface};
use std::sync::Arc;

/// How carefully trees are built, and the folder that they are taken from if they are there. By default they are built with
/// [`Quality::High`], every time.
#[derive(Clone, Debug, Default)]
pub struct TreeSource {
    quality: Quality,
    cache: Option<Arc<TreeCache>>,
}

impl TreeSource {
    pub fn new(quality: Quality, cache: Option<TreeCache>) -> Self {
        Self {
            quality,
            cache: cache.map(Arc::new),
        }
    }

    /// The tree that [`Blas::of_surface`] builds, to the bit.
    pub fn tree(&self, surface: Surface<'_>, layout: NodeLayout) -> Blas {
        match &self.cache {
            Some(cache) => cache.tree(surface, layout, self.quality),
            None => Blas::of_surface(surface, layout, self.quality),
        }
    }

    /// What the folder was asked for so far, if there is one.
    pub fn counts(&self) -> Option<TreeCounts> {
        self.cache.as_ref().map(|cache| cache.counts())
    }

    /// The first tree that could not be kept.
    pub fn failure(&self) -> Option<&CacheError> {
        self.cache.as_ref().and_then(|cache| cache.failure())
    }
}
