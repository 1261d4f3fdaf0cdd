//! A folder that keeps trees from one run to the next.
//!
//! The name of a file is the key of its tree, which covers the mesh, the node layout and the version of the builder. A file that is not a
//! complete tree of its key is replaced. Files appear under their names only when they are complete ([`PartialFile`]). Several processes may
//! therefore use one folder, and two that build the same tree write identical files. Files are never removed. Users may delete files or the
//! folder at any time.

use std::{
    fmt,
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};
use throng_accel::{Blas, NodeLayout, Quality, Surface, TreeKey};
use throng_base::files::open_regular;
use throng_output::{self as output, PartialFile};

const ENDING: &str = ".blas";
/// Number of triangles below which trees are not cached: they build in a millisecond, and the support map makes their files large.
const FEWEST_TRIANGLES: usize = 64;

/// Reason why trees cannot be cached.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    #[error("cannot keep trees in {}: {}", .path.display(), explain(.error))]
    Folder { path: PathBuf, error: io::Error },
    #[error(
        "cannot write {}: {}; trees that are not kept are built again next time",
        .path.display(), explain(.error)
    )]
    File { path: PathBuf, error: io::Error },
}

fn explain(error: &io::Error) -> String {
    let known = match error.kind() {
        ErrorKind::PermissionDenied => "permission denied; choose a folder you may write to",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only; choose another folder",
        ErrorKind::StorageFull => "the disk is full; delete trees there, or choose another folder",
        ErrorKind::QuotaExceeded => "your disk quota is used up; delete trees there, or choose another folder",
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            "a part of the path is a file, not a folder; choose another folder"
        }
        ErrorKind::NotFound => "the folder is missing",
        _ => return error.to_string(),
    };
    format!("{known} (--cache or THRONG_CACHE)")
}

/// Reads trees from a folder, and writes the trees that it had to build.
#[derive(Debug)]
pub struct TreeCache {
    folder: PathBuf,
    read: AtomicU32,
    built: AtomicU32,
    failure: OnceLock<CacheError>,
}

/// Numbers of trees requested from a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TreeCounts {
    /// Number of trees read from files.
    pub read: u32,
    /// Number of trees built because no file had them.
    pub built: u32,
}

impl fmt::Display for TreeCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} from the cache", self.read, self.read + self.built)
    }
}

impl TreeCache {
    /// Opens the folder, and creates it if it does not exist.
    ///
    /// # Errors
    /// If the folder, or a file in it, cannot be created: a missing cache must be reported at the start, not after the render.
    pub fn open(folder: &Path) -> Result<Self, CacheError> {
        output::prepare_folder(folder, ENDING)
            .map_err(|error| CacheError::Folder { path: folder.to_owned(), error })?;
        Ok(Self {
            folder: folder.to_owned(),
            read: AtomicU32::new(0),
            built: AtomicU32::new(0),
            failure: OnceLock::new(),
        })
    }

    /// Returns the tree that [`Blas::of_surface`] builds, bit for bit. A write error is stored for [`Self::failure`].
    pub(crate) fn tree(&self, surface: Surface<'_>, layout: NodeLayout, quality: Quality) -> Blas {
        let start = Instant::now();
        if surface.triangles.len() < FEWEST_TRIANGLES {
            return Blas::of_surface(surface, layout, quality);
        }
        let key = TreeKey::new(&surface, layout, quality);
        let path = self.folder.join(format!("{key}{ENDING}"));
        if let Ok((file, _)) = open_regular(&path)
            && let Some(mut blas) = Blas::read_from(&file, key, layout, surface.triangles.len())
        {
            blas.build_time = start.elapsed();
            self.read.fetch_add(1, Ordering::Relaxed);
            return blas;
        }
        let blas = Blas::of_surface(surface, layout, quality);
        self.built.fetch_add(1, Ordering::Relaxed);
        self.keep(path, &blas, key);
        blas
    }

    /// Writes a tree. After the first failure no more trees are written, so that a full disk is not filled again and again.
    fn keep(&self, path: PathBuf, blas: &Blas, key: TreeKey) {
        if self.failure.get().is_none()
            && let Err(error) = write(&path, blas, key)
        {
            // Another thread may have stored an error already.
            let _ = self.failure.set(CacheError::File { path, error });
        }
    }

    /// Counts of trees so far. Meshes with fewer triangles than [`FEWEST_TRIANGLES`] are not counted.
    pub(crate) fn counts(&self) -> TreeCounts {
        TreeCounts { read: self.read.load(Ordering::Relaxed), built: self.built.load(Ordering::Relaxed) }
    }

    /// Error of the first tree that could not be written. No tree is written after it.
    pub(crate) fn failure(&self) -> Option<&CacheError> {
        self.failure.get()
    }
}

fn write(path: &Path, blas: &Blas, key: TreeKey) -> io::Result<()> {
    let mut part = PartialFile::create(path)?;
    let mut writer = BufWriter::with_capacity(1 << 16, part.file());
    blas.write_to(key, &mut writer)?;
    writer.flush()?;
    drop(writer);
    part.persist()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::fs;

    /// A strip of triangles.
    fn strip(triangles: u32) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
        let corner = |i: u32| [i as f32, (i % 2) as f32, (i % 7) as f32];
        let positions = (0..triangles + 2).map(corner).collect();
        (positions, (0..triangles).map(|i| [i, i + 1, i + 2]).collect())
    }

    fn tree(cache: &TreeCache, triangles: u32) -> Blas {
        let (positions, triangles) = strip(triangles);
        let surface = Surface { positions: &positions, triangles: &triangles };
        cache.tree(surface, NodeLayout::Wide8, Quality::High)
    }

    fn counts(cache: &TreeCache) -> (u32, u32) {
        let TreeCounts { read, built } = cache.counts();
        (read, built)
    }

    /// The only file of a cache.
    fn only_file(folder: &Path) -> PathBuf {
        let mut files = fs::read_dir(folder).unwrap();
        let file = files.next().unwrap().unwrap();
        assert!(files.next().is_none());
        file.path()
    }

    #[test]
    fn a_tree_is_built_once() {
        let dir = tempfile::tempdir().unwrap();
        let cache = TreeCache::open(&dir.path().join("new/trees")).unwrap();
        for expected in [(0, 1), (1, 1), (2, 1)] {
            tree(&cache, 500);
            assert_eq!(counts(&cache), expected);
        }
        tree(&cache, 501);
        assert_eq!(counts(&cache), (2, 2));
        assert_eq!(cache.counts().to_string(), "2 of 4 from the cache");
    }

    #[test]
    fn small_trees_are_neither_kept_nor_counted() {
        let dir = tempfile::tempdir().unwrap();
        let cache = TreeCache::open(dir.path()).unwrap();
        tree(&cache, 2);
        assert_eq!(counts(&cache), (0, 0));
        assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
    }

    #[test]
    fn what_is_no_tree_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let cache = TreeCache::open(dir.path()).unwrap();
        tree(&cache, 500);
        let file = only_file(dir.path());
        let whole = fs::read(&file).unwrap();
        for wrong in [&[][..], b"no tree", &whole[..whole.len() / 2]] {
            fs::write(&file, wrong).unwrap();
            tree(&cache, 500);
            assert_eq!(fs::read(&file).unwrap(), whole);
        }
        assert_eq!(counts(&cache), (0, 4));
    }

    #[test]
    fn a_tree_that_cannot_be_written_is_built_all_the_same_and_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("trees");
        let cache = TreeCache::open(&folder).unwrap();
        fs::remove_dir(&folder).unwrap();
        assert_eq!(tree(&cache, 500).bounds, tree(&cache, 500).bounds);
        assert_eq!(counts(&cache), (0, 2));
        let failure = cache.failure().unwrap().to_string();
        assert!(failure.contains("the folder is missing"), "{failure}");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        for folder in ["file", "file/trees"] {
            let path = dir.path().join(folder);
            let error = TreeCache::open(&path).unwrap_err().to_string();
            assert!(error.contains("a part of the path is a file"), "{error}");
        }
    }

    #[test]
    fn writers_of_the_same_tree_do_not_disturb_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let caches: Vec<TreeCache> = (0..8).map(|_| TreeCache::open(dir.path()).unwrap()).collect();
        caches.par_iter().for_each(|cache| {
            tree(cache, 500);
            assert!(cache.failure().is_none());
        });
        let last = TreeCache::open(dir.path()).unwrap();
        tree(&last, 500);
        assert_eq!(counts(&last), (1, 0));
        only_file(dir.path());
    }
}
