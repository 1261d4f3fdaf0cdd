//! Trees in memory that are given out again for meshes of the same content, so that a scene which is loaded anew builds only the trees
//! of what has changed.

use crate::accel::{Blas, TreeKey};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

/// Trees by their keys, for as long as somebody holds them.
#[derive(Debug, Default)]
pub struct KeptTrees(Mutex<HashMap<TreeKey, Weak<Blas>>>);

impl KeptTrees {
    /// The tree of `key` if somebody still holds it, else the one that `build` makes.
    pub fn tree(&self, key: TreeKey, build: impl FnOnce() -> Blas) -> Arc<Blas> {
        let trees = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let held = trees().get(&key).and_then(Weak::upgrade);
        held.unwrap_or_else(|| {
            let tree = Arc::new(build());
            let mut trees = trees();
            // Entries of trees that are gone are few: they are cleared each time that the table has doubled.
            if trees.len().is_power_of_two() {
                trees.retain(|_, tree| tree.strong_count() > 0);
            }
            trees.insert(key, Arc::downgrade(&tree));
            tree
        })
    }
}
