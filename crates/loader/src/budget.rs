//! The memory budget of a load, and estimates of the memory that objects take from loading to rendering.

use super::files;
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};
use throng_base::memory::{allowance, describe};
use throng_scene::{
    TriangleMesh,
    rig::{Deformers, MorphTarget},
};

/// Bytes per instance: its record, its box, and its share of the tree during the build.
pub const INSTANCE: u64 = 512;
/// Bytes per triangle: indices, slots, and its share of the tree.
pub const TRIANGLE: u64 = 16 + 16 + 160;
/// Bytes per vertex with all attributes, in the scene and on the device.
const VERTEX: u64 = 2 * (12 + 12 + 8 + 8 + 16 + 16);

/// Bytes of a mesh with this number of vertices and triangles.
pub fn of_mesh(vertices: usize, triangles: usize) -> u64 {
    let [vertices, triangles] = [vertices, triangles].map(|n| n as u64);
    vertices.saturating_mul(VERTEX).saturating_add(triangles.saturating_mul(TRIANGLE))
}

/// Bytes of curves of this number of points, with all attributes, in the scene and on the device, and their tree during the build.
pub fn of_curves(points: usize) -> u64 {
    (points as u64).saturating_mul(2 * (16 + 8 + 16) + 48 + 64)
}

/// Bytes of a mesh that is deformed by `joints` joints and by morph targets.
pub fn of_deforming_mesh(mesh: &TriangleMesh, deformers: &Deformers, joints: usize) -> u64 {
    let offsets = |target: &MorphTarget| {
        let lists = [&target.positions, &target.normals, &target.tangents];
        lists.map(|list| 12 * list.len()).iter().sum::<usize>()
    };
    let targets = deformers.targets.iter().map(offsets).sum::<usize>();
    let influences = 6 * deformers.joints.len();
    of_mesh(mesh.positions.len(), mesh.triangles.len()).saturating_add((targets + influences + 64 * joints) as u64)
}

/// Checks that `bytes` can be allocated for content from files with `held` bytes in all.
///
/// # Errors
/// If `bytes` is out of proportion to the files, or more than the available memory. The text is the end of a sentence.
pub fn fits(bytes: u64, held: u64) -> Result<(), String> {
    match allowance(held) {
        most if bytes > most => Err(exceeds(bytes, most)),
        _ => files::fits(bytes),
    }
}

/// The end of a sentence about content that needs `bytes` when only `most` are allowed.
pub fn exceeds(bytes: u64, most: u64) -> String {
    format!(
        "needs {} of memory, but the limit for a file of this size is {}: correct its counts, or make it smaller",
        describe(bytes),
        describe(most)
    )
}

/// Total memory that a load may take. Everything whose size a file decides is taken from the budget before it is allocated. A huge `count`
/// is therefore rejected even in a small file, and so are data that are used thousands of times.
pub struct Budget {
    limit: u64,
    used: AtomicU64,
    /// Bytes of the files that were read; each file is counted once.
    held: AtomicU64,
    /// Bytes of content whose size the user has specified. They need not be in proportion to a file.
    asked: AtomicU64,
    files: Mutex<HashSet<PathBuf>>,
    exceeded: AtomicBool,
}

impl Budget {
    /// Creates a budget of `limit` bytes; None for the memory that the system has left.
    pub fn new(limit: Option<u64>) -> Self {
        let limit = limit.or_else(files::available_memory).unwrap_or(u64::MAX);
        Self {
            limit,
            used: AtomicU64::new(0),
            held: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            files: Mutex::default(),
            exceeded: AtomicBool::new(false),
        }
    }

    /// Takes the bytes of `file` from the budget. The limit grows with the size of the files that were read.
    ///
    /// # Errors
    /// As [`Budget::take`].
    pub fn hold(&self, file: &Path, bytes: u64) -> Result<(), String> {
        let file = file.canonicalize().unwrap_or_else(|_| file.into());
        let is_new = |mut files: MutexGuard<HashSet<PathBuf>>| files.insert(file);
        if self.files.lock().is_ok_and(is_new) {
            self.held.fetch_add(bytes, Ordering::Relaxed);
        }
        self.take(bytes)
    }

    /// Takes `bytes` from the budget.
    ///
    /// # Errors
    /// If the budget is exceeded. The text is the end of a sentence: "needs 5.0 GiB of memory, but only ...".
    pub fn take(&self, bytes: u64) -> Result<(), String> {
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        let most = self.most();
        let left = most.saturating_sub(before);
        if bytes <= left {
            return Ok(());
        }
        self.give_back(bytes);
        self.exceeded.store(true, Ordering::Relaxed);
        if most < self.limit {
            return Err(exceeds(before.saturating_add(bytes), most));
        }
        Err(format!("needs {} of memory, but only {} are left", describe(bytes), describe(left)))
    }

    /// Takes the bytes of content whose size the user has specified, for example a terrain's number of cells. Only memory limits them.
    ///
    /// # Errors
    /// As [`Budget::take`].
    pub fn take_asked(&self, bytes: u64) -> Result<(), String> {
        self.asked.fetch_add(bytes, Ordering::Relaxed);
        let taken = self.take(bytes);
        if taken.is_err() {
            self.asked.fetch_sub(bytes, Ordering::Relaxed);
        }
        taken
    }

    /// Bytes of memory that are not taken.
    pub fn free(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Whether any request was rejected.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }

    /// Maximum total number of bytes.
    fn most(&self) -> u64 {
        let allowed = allowance(self.held.load(Ordering::Relaxed));
        self.limit.min(allowed.saturating_add(self.asked.load(Ordering::Relaxed)))
    }

    /// Takes `count` values of `size` bytes, as [`Budget::take`] does.
    pub fn take_array(&self, count: usize, size: usize) -> Result<(), String> {
        self.take((count as u64).saturating_mul(size as u64))
    }

    /// Bytes that can still be taken.
    pub fn left(&self) -> u64 {
        self.most().saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Returns freed bytes to the budget.
    pub fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_refuses_what_exceeds_it_and_goes_on() {
        let budget = Budget::new(Some(100));
        assert_eq!(budget.take(60), Ok(()));
        assert!(budget.take(60).is_err());
        assert!(budget.take_array(usize::MAX, 16).is_err());
        assert_eq!(budget.take(40), Ok(()));
        budget.give_back(40);
        assert_eq!(budget.take_array(10, 4), Ok(()));
    }

    #[test]
    fn small_files_may_take_less_than_the_memory_that_is_left() {
        let budget = Budget::new(Some(1 << 40));
        assert_eq!(budget.hold(Path::new("a"), 1000), Ok(()));
        let lack = budget.take(3 << 30).err().unwrap_or_default();
        let expected = "needs 3.0 GiB of memory, but the limit for a file of this size is 512 MiB: ";
        assert!(lack.starts_with(expected), "{lack}");
        assert_eq!(budget.hold(Path::new("b"), 100 << 20), Ok(()));
        assert_eq!(budget.take(3 << 30), Ok(()));
    }

    #[test]
    fn what_the_user_asks_for_is_limited_by_memory_alone_and_takes_nothing_from_the_rest() {
        let budget = Budget::new(Some(4 << 30));
        assert_eq!(budget.take_asked(3 << 30), Ok(()));
        assert_eq!((budget.take(400 << 20), budget.free()), (Ok(()), (1 << 30) - (400 << 20)));
        let lack = budget.take_asked(2 << 30).err().unwrap_or_default();
        assert_eq!(lack, "needs 2.0 GiB of memory, but only 624 MiB are left");
        let lack = budget.take(200 << 20).err().unwrap_or_default();
        assert!(
            lack.ends_with("correct its counts, or make it smaller"),
            "what was refused counts for nothing: {lack}"
        );
    }

    #[test]
    fn a_file_that_is_read_a_thousand_times_counts_once() {
        let budget = Budget::new(Some(1 << 40));
        let read = |_| budget.hold(Path::new("a"), 1 << 20);
        assert!((0..1000).map(read).any(|taken| taken.is_err()));
    }
}
