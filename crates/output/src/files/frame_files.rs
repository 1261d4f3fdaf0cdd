//! Existing files of frames: the files in a folder whose names match a pattern.

use super::{
    PatternError,
    placeholder::{Piece, split},
};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fmt, io,
    path::{Path, PathBuf},
};
use throng_base::files::{name_start, os_string};

/// A pattern for files that are read, with one placeholder for the frame number, for example `frames/####.exr`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameFiles {
    folder: PathBuf,
    before: Vec<u8>,
    /// Minimum number of digits.
    width: usize,
    after: Vec<u8>,
}

impl FrameFiles {
    /// Parses a pattern.
    ///
    /// # Errors
    /// If the name does not have exactly one placeholder for the frame number, or has another placeholder, or if the folder has a
    /// placeholder.
    pub fn parse(text: impl AsRef<OsStr>) -> Result<Self, PatternError> {
        let text = text.as_ref().as_encoded_bytes();
        let (folder, name) = text.split_at(name_start(text));
        let several = || PatternError::NotFrames(String::from_utf8_lossy(text).into());
        let folder = folder_of(folder)?.ok_or_else(several)?;
        let (mut before, mut width, mut after) = (Vec::new(), None, Vec::new());
        for piece in split(name)? {
            match piece {
                Piece::Text(text) if width.is_none() => before.extend(text.as_encoded_bytes()),
                Piece::Text(text) => after.extend(text.as_encoded_bytes()),
                Piece::Frame { width: digits } if width.is_none() => width = Some(digits),
                Piece::Frame { .. } | Piece::Scene(_) | Piece::Animation => return Err(several()),
            }
        }
        let width = width.ok_or_else(several)?;
        Ok(Self { folder, before, width, after })
    }

    /// Paths of the files, by frame number.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn list(&self) -> io::Result<BTreeMap<u32, PathBuf>> {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let mut found = BTreeMap::new();
        for entry in std::fs::read_dir(folder)? {
            let name = entry?.file_name();
            if let Some(frame) = self.frame_of(&name) {
                found.insert(frame, self.folder.join(name));
            }
        }
        Ok(found)
    }

    /// Number of the frame whose file has this name; none for other names. A number with more leading zeros than the pattern requires does
    /// not match.
    fn frame_of(&self, name: &OsStr) -> Option<u32> {
        let rest = name.as_encoded_bytes().strip_prefix(&self.before[..])?;
        let digits = std::str::from_utf8(rest.strip_suffix(&self.after[..])?).ok()?;
        let frame: u32 = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        (digits == format!("{frame:0width$}", width = self.width)).then_some(frame)
    }
}

/// The folder given by a text; an existing folder is taken literally. None if the text has a placeholder.
fn folder_of(text: &[u8]) -> Result<Option<PathBuf>, PatternError> {
    let literal = PathBuf::from(os_string(text));
    if literal.is_dir() {
        return Ok(Some(literal));
    }
    Ok(match &split(text)?[..] {
        [] => Some(PathBuf::new()),
        [Piece::Text(text)] => Some(text.into()),
        _ => None,
    })
}

/// Writes the pattern with `#` for the digits of the frame number.
impl fmt::Display for FrameFiles {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = [&self.before[..], "#".repeat(self.width).as_bytes(), &self.after].concat();
        self.folder.join(os_string(&name)).display().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(pattern: &str, name: &str) -> Option<u32> {
        FrameFiles::parse(pattern).unwrap().frame_of(OsStr::new(name))
    }

    #[test]
    fn names_of_frames_are_told_from_others() {
        assert_eq!(frame("out/####.png", "0007.png"), Some(7));
        assert_eq!(frame("####.png", "12345.png"), Some(12345));
        assert_eq!(frame("a_{frame}.exr", "a_7.exr"), Some(7));
        for pattern in ["out/%04d.png", "$F4.png", "@@@@.png", "<f4>.png"] {
            assert_eq!(frame(pattern, "0007.png"), Some(7), "{pattern}");
            assert_eq!(frame(pattern, "7.png"), None, "{pattern}");
        }
        for name in ["7.png", "00007.png", "+007.png", "0007.exr", "a0007.png", "99999999999.png", ".png"] {
            assert_eq!(frame("####.png", name), None, "{name}");
        }
    }

    #[test]
    fn a_name_has_one_place_for_the_frame() {
        for pattern in ["a.png", "##_##.png", "####/a.png", "{scene}_####.png"] {
            let error = FrameFiles::parse(pattern).unwrap_err().to_string();
            assert!(error.contains("frames/####.png"), "{pattern}: {error}");
        }
        let files = FrameFiles::parse("a/b_{frame:03}.png").unwrap();
        assert_eq!(files.to_string(), Path::new("a").join("b_###.png").display().to_string());
    }

    #[test]
    fn folders_are_taken_literally_where_they_exist() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("100%04d");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("0003.png"), "").unwrap();
        for pattern in [folder.join("%04d.png"), dir.path().join("100%%04d/####.png")] {
            assert_eq!(FrameFiles::parse(&pattern).unwrap().list().unwrap().into_keys().collect::<Vec<_>>(), [3]);
        }
    }
}
