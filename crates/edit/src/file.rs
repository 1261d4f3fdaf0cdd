//! A scene file on disk, which is only overwritten if no other program has changed it.

use super::{
    EditError,
    replace::{hash_of, is_read_only, replace},
};
use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};
use throng_base::files::read_regular;
use xxhash_rust::xxh3::xxh3_128;

/// The text of a scene file, and the state of the file when it was last read or written.
#[derive(Clone, Debug)]
pub struct SceneText {
    path: PathBuf,
    text: String,
    /// A hash of the file; `None` if it did not exist.
    known: Option<u128>,
}

impl SceneText {
    /// Reads a scene file.
    ///
    /// # Errors
    /// [`EditError::Read`] if it cannot be read or is not text.
    pub fn read(path: &Path) -> Result<Self, EditError> {
        let fail = |error| EditError::Read { path: path.to_owned(), error };
        let bytes = read_regular(path).map_err(fail)?;
        let known = Some(xxh3_128(&bytes));
        let text = String::from_utf8(bytes).map_err(|error| fail(io::Error::new(ErrorKind::InvalidData, error)))?;
        Ok(Self { path: path.to_owned(), text, known })
    }

    /// A scene file that does not exist yet. Writing it fails if the file exists by then.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), text: String::new(), known: None }
    }

    /// Sets a text to start from, which is not on disk.
    #[doc(hidden)]
    pub fn with_text(self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self }
    }

    /// The text as it was last read or written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file on disk is unchanged since it was last read or written.
    pub fn is_current(&self) -> bool {
        hash_of(&self.path).is_ok_and(|found| found == self.known)
    }

    /// Replaces the file by one with `text`, atomically, and flushes it to disk; with `anyway`, even if it has changed since it was read. Owner,
    /// permissions and other names of the file are kept. If its name is a link, the link's target is replaced.
    ///
    /// # Errors
    /// [`EditError::Changed`] if the file on disk has changed, [`EditError::ReadOnly`] if it must not be written, [`EditError::Read`] if its state
    /// cannot be read, and [`EditError::Write`] if writing fails.
    pub fn write(&mut self, text: String, anyway: bool) -> Result<(), EditError> {
        let changed = |path: &Path| Err(EditError::Changed { path: path.to_owned() });
        let fail = |error| EditError::Read { path: self.path.clone(), error };
        let found = hash_of(&self.path).map_err(fail)?;
        if !anyway && found != self.known {
            return changed(&self.path);
        }
        if is_read_only(&self.path) {
            return Err(EditError::ReadOnly { path: self.path.clone() });
        }
        if !replace(&self.path, &text, found).map_err(EditError::Write)? {
            return changed(&self.path);
        }
        self.known = Some(xxh3_128(text.as_bytes()));
        self.text = text;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_that_somebody_else_has_changed_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ron");
        fs::write(&path, "one").unwrap();
        let mut file = SceneText::read(&path).unwrap();
        file.write("two".to_owned(), false).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap(), file.text()), ("two".to_owned(), "two"));
        fs::write(&path, "three").unwrap();
        assert!(!file.is_current());
        let error = file.write("four".to_owned(), false).unwrap_err();
        assert!(matches!(error, EditError::Changed { .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
        file.write("four".to_owned(), true).unwrap();
        assert!(file.is_current());
        fs::remove_file(&path).unwrap();
        assert!(file.write("five".to_owned(), false).is_err());
    }

    #[test]
    fn a_new_file_takes_no_others_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ron");
        let mut file = SceneText::new(&path);
        assert!(file.is_current());
        file.write("one".to_owned(), false).unwrap();
        let mut other = SceneText::new(&path);
        assert!(other.write("two".to_owned(), false).is_err());
        let gone = SceneText::read(&dir.path().join("gone")).unwrap_err().to_string();
        assert!(gone.contains("gone: the file cannot be read"), "{gone}");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("a.ron"), dir.path().join("b.ron"));
        fs::write(&path, "one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink("a.ron", &link).unwrap();
        SceneText::read(&link).unwrap().write("two".to_owned(), false).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
