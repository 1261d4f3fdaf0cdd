//! Scenes and models that are installed with the program, in `share/throng` beside its folder.

use super::program;
use std::{
    env,
    path::{Component, Path, PathBuf},
};

/// The path if it exists, otherwise its location in the installation: `scenes/million.ron` works from any folder.
pub fn found(path: PathBuf) -> PathBuf {
    if path.exists() {
        return path;
    }
    // Python runs the program of a wheel by its path.
    let programs = [env::current_exe().ok(), program::arguments().first().map(PathBuf::from)];
    let shares = programs.iter().flatten().filter_map(|program| Some(program.parent()?.parent()?.join("share/throng")));
    shares.filter_map(|share| found_in(&share, &path)).next().unwrap_or(path)
}

fn found_in(share: &Path, path: &Path) -> Option<PathBuf> {
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    Some(share.join(path)).filter(|there| is_below && there.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_files_below_the_folder_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let share = dir.path().join("share");
        fs::create_dir_all(share.join("scenes")).unwrap();
        for file in ["share/scenes/a.ron", "b.ron"] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        let found = |path: &Path| found_in(&share, path);
        assert_eq!(found(Path::new("scenes/a.ron")), Some(share.join("scenes/a.ron")));
        for other in ["scenes", "scenes/c.ron", "../b.ron"] {
            assert_eq!(found(Path::new(other)), None, "{other}");
        }
        assert_eq!(found(&dir.path().join("b.ron")), None, "absolute");
    }
}
