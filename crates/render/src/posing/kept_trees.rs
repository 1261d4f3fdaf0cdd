//! Trees in memory, shared between meshes with equal content. A scene that is loaded again builds only the trees of changed meshes.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, Weak},
};
use throng_accel::{Blas, TreeKey};
use throng_base::sync::lock;

/// Trees by key. An entry is valid while a poser or frame holds its tree.
#[derive(Debug, Default)]
pub struct KeptTrees(Mutex<HashMap<TreeKey, Weak<Blas>>>);

impl KeptTrees {
    /// Returns the tree of `key` if it is still held elsewhere. Otherwise calls `build` and stores the result.
    pub fn tree(&self, key: TreeKey, build: impl FnOnce() -> Blas) -> Arc<Blas> {
        let trees = || lock(&self.0);
        let held = trees().get(&key).and_then(Weak::upgrade);
        held.unwrap_or_else(|| {
            let tree = Arc::new(build());
            let mut trees = trees();
            // Dead entries are few, so they are removed only each time the table has doubled.
            if trees.len().is_power_of_two() {
                trees.retain(|_, tree| tree.strong_count() > 0);
            }
            trees.insert(key, Arc::downgrade(&tree));
            tree
        })
    }
}
