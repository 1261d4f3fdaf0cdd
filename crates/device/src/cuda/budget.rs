//! Checks whether a scene and its picture fit into the GPU's memory, and computes the number of concurrent paths.

use throng_base::memory::describe;

/// Bytes reserved for the driver: local memory of the kernels, page tables, rounding.
const RESERVE: usize = 192 << 20;
/// Minimum number of paths that keeps a GPU busy.
const FEWEST_PATHS: usize = 1 << 16;

/// A list of memory uses with their sizes in bytes.
#[derive(Clone, Debug, Default)]
pub struct Need(Vec<(&'static str, usize)>);

impl Need {
    pub fn add(&mut self, what: &'static str, bytes: usize) {
        self.0.push((what, bytes));
    }

    pub fn total(&self) -> usize {
        self.0.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Returns an error text if the total plus the reserve exceeds `free` bytes.
    pub fn check(&self, free: usize) -> Result<(), String> {
        if self.total() + RESERVE <= free {
            return Ok(());
        }
        let mut parts = self.0.clone();
        parts.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
        let list: Vec<String> = parts
            .iter()
            .filter(|(_, bytes)| *bytes > 0)
            .map(|(what, bytes)| format!("{what} {}", describe(*bytes as u64)))
            .collect();
        Err(format!(
            "too little GPU memory: {} needed ({}), {} free; use fewer pixels or --device cpu",
            describe((self.total() + RESERVE) as u64),
            list.join(", "),
            describe(free as u64)
        ))
    }

    /// Number of paths for each of `frames` frames in flight, at most `wanted`, that fits into the rest of `free` bytes.
    ///
    /// # Errors
    /// The text of [`Self::check`] if too few paths fit to keep a GPU busy.
    pub fn paths(mut self, free: usize, wanted: usize, bytes_per_path: usize, frames: usize) -> Result<usize, String> {
        let left = free.saturating_sub(self.total() + RESERVE);
        let fit = left / 10 * 9 / (bytes_per_path * frames);
        if fit >= wanted.min(FEWEST_PATHS) {
            return Ok(wanted.min(fit));
        }
        self.add("paths", wanted.min(FEWEST_PATHS) * bytes_per_path * frames * 10 / 9 + 1);
        self.check(free).map(|()| wanted.min(FEWEST_PATHS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: usize = 1 << 30;

    fn need() -> Need {
        let mut need = Need::default();
        need.add("meshes", GIB / 2);
        need.add("instances", 6 * GIB);
        need
    }

    #[test]
    fn too_little_memory_is_told_with_what_takes_it() {
        assert_eq!(need().check(8 * GIB), Ok(()));
        let error = need().check(6 * GIB).unwrap_err();
        for part in ["6.7 GiB needed", "(instances 6.0 GiB, meshes 512 MiB)", "6.0 GiB free"] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn paths_take_what_is_left() {
        let paths = |free, wanted| need().paths(free, wanted, 256, 2);
        assert_eq!(paths(80 * GIB, 1 << 20), Ok(1 << 20));
        let fit = paths(7 * GIB, 1 << 20).unwrap();
        assert!(fit > 500_000 && fit < 1 << 20, "{fit}");
        assert!(paths(6 * GIB + GIB / 2 + (200 << 20), 1 << 20).unwrap_err().contains("paths"));
        assert_eq!(paths(7 * GIB, 100), Ok(100));
    }
}
