//! Detects files that a command would write twice, or that would overwrite its inputs.

use super::atomic::{Target, prepare};
use crate::OutputError;
use std::{
    collections::HashMap,
    ffi::OsString,
    path::{Path, PathBuf},
};
use throng_base::{
    disk,
    files::{FileId, inputs},
    system::compared,
};

/// A file that a command will write.
#[derive(Clone, Debug)]
pub struct Planned {
    pub path: PathBuf,
    /// Description for messages: "frame 7", "the file of --sheet".
    pub what: String,
}

impl Planned {
    pub fn new(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Self { path: path.into(), what: what.into() }
    }
}

/// Checks before the work starts that all of `planned` can be written (see [`prepare`]), and that no file is planned twice or is an input
/// of this process.
///
/// # Errors
/// If two names refer to one file (the error has both), if a file was read by this process, or as [`prepare`].
pub fn prepare_distinct(planned: Vec<Planned>) -> Result<(), OutputError> {
    let paths: Vec<PathBuf> = planned.iter().map(|file| file.path.clone()).collect();
    check_distinct(planned)?;
    prepare(&paths)
}

/// Checks that no two of `planned` refer to one file, and that none is a file that this process has read so far.
fn check_distinct(planned: impl IntoIterator<Item = Planned>) -> Result<(), OutputError> {
    let mut taken = HashMap::new();
    let mut folders = HashMap::new();
    for (id, path) in inputs() {
        let what = format!("what was read as {}", path.display());
        taken.insert(FileIdentity::File(id), what);
    }
    for Planned { path, what } in planned {
        let place = FileIdentity::of(&path, &mut folders);
        let Some(place) = place.map_err(|error| OutputError::File { path: path.clone(), error })? else {
            continue;
        };
        if let Some(other) = taken.insert(place, what) {
            return Err(OutputError::Twice { path, other });
        }
    }
    Ok(())
}

/// Identity of an existing or future file, independent of the name by which it is accessed.
#[derive(PartialEq, Eq, Hash)]
enum FileIdentity {
    File(FileId),
    /// A file that does not exist yet, with this name in a folder.
    New(FileId, OsString),
}

impl FileIdentity {
    /// The identity of `path`; none for pipes and devices, which may be written repeatedly. `folders` caches identities of folders.
    fn of(path: &Path, folders: &mut HashMap<PathBuf, FileId>) -> std::io::Result<Option<Self>> {
        let Target::File(path) = Target::of(path)? else {
            return Ok(None);
        };
        if disk::metadata(&path).is_ok() {
            return Ok(Some(Self::File(FileId::of(&path))));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let id = match folders.get(folder) {
            Some(id) => id.clone(),
            None => {
                let here = Path::new(".");
                let real = if folder == Path::new("") { here } else { folder };
                let id = FileId::of(real);
                folders.insert(folder.to_owned(), id.clone());
                id
            }
        };
        let name = path.file_name().unwrap_or_default();
        Ok(Some(Self::New(id, compared(name))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use throng_base::files::remember_input;

    fn check(paths: &[PathBuf]) -> Result<(), String> {
        let planned = paths.iter().enumerate();
        let planned = planned.map(|(index, path)| Planned::new(path, format!("frame {index}")));
        check_distinct(planned).map_err(|error| error.to_string())
    }

    #[test]
    fn files_that_would_be_written_twice_are_found_whatever_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("there")).unwrap();
        fs::write(at("old"), "").unwrap();
        fs::hard_link(at("old"), at("same")).unwrap();
        assert_eq!(check(&[at("a"), at("b"), at("there/a"), at("new/a")]), Ok(()));
        for (first, second) in [("a", "a"), ("a", "there/../a"), ("old", "same"), ("new/a", "new/./a")] {
            let error = check(&[at(first), at("x"), at(second)]).unwrap_err();
            assert!(error.contains("it is also frame 0"), "{first}: {error}");
        }
        #[cfg(windows)]
        assert!(check(&[at("new/a.png"), at("new/A.PNG")]).is_err());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("there/a", at("link")).unwrap();
            assert!(check(&[at("link"), at("there/a")]).is_err());
            let null = PathBuf::from("/dev/null");
            assert_eq!(check(&[null.clone(), null]), Ok(()));
        }
    }

    #[test]
    fn what_was_read_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("texture.png");
        fs::write(&path, "").unwrap();
        assert_eq!(check(std::slice::from_ref(&path)), Ok(()));
        remember_input(&path);
        let error = check(&[path]).unwrap_err();
        assert!(error.contains("what was read as"), "{error}");
    }
}
