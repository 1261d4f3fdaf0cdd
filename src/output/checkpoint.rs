//! Checkpoints: files that keep the samples of a picture so far, so that another run can continue it.
//!
//! A file has a line that names its kind, the length of a JSON header (u32), the header, sums of radiance as floats, and a checksum
//! (u64). All numbers are little-endian. It is written like frames: there is a whole file or none.

use super::{OutputError, write_atomically};
use crate::{
    device::{Accumulation, AccumulationState},
    files::{open_regular, read_regular},
};
use serde::{Deserialize, Serialize};
use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

const MAGIC: &[u8] = b"throng film 1\n";
/// Most bytes of the header: far more than the tiles of the largest picture take.
const MAX_HEADER: usize = 256 << 20;

/// The identity of a film: one can be continued by a run of the same identity only.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointIdentity {
    /// Version of the program.
    pub version: String,
    /// [`crate::scene::Scene::fingerprint`], in hexadecimal digits.
    pub scene: String,
    pub frame: u32,
    /// All settings that change samples.
    pub settings: String,
}

impl CheckpointIdentity {
    /// Says why a film of `self` is not one of `other`; none if it is.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        if self.version != other.version {
            return Some("it was made by another version of the program");
        }
        if self.scene != other.scene {
            return Some("it is of another scene");
        }
        if self.frame != other.frame {
            return Some("it is of another frame");
        }
        (self.settings != other.settings).then_some("it was made with other settings")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error("cannot read the checkpoint {}: {error}; delete it to start over", .path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("the checkpoint {} is damaged; delete it to start over", .path.display())]
    Damaged { path: PathBuf },
    #[error(
        "the checkpoint {} cannot be gone on with: {why}; delete it to start over, or choose another --output",
        .path.display()
    )]
    Other { path: PathBuf, why: &'static str },
    #[error(transparent)]
    Write(#[from] OutputError),
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Header {
    of: CheckpointIdentity,
    state: AccumulationState,
    /// Number of floats of the sums, and of the sums of samples with odd numbers.
    floats: [u64; 2],
}

/// Path of the checkpoint of the picture at `path`.
pub fn checkpoint_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".film");
    name.into()
}

/// Writes `film` to the checkpoint at `path`.
///
/// # Errors
/// When the file cannot be written; an earlier one is left as it is.
pub fn write_checkpoint(path: &Path, of: &CheckpointIdentity, film: &Accumulation) -> Result<(), OutputError> {
    let header =
        Header { of: of.clone(), state: film.state.clone(), floats: [film.sums.len() as u64, film.odd.len() as u64] };
    write_atomically(path, |out| {
        let header = serde_json::to_vec(&header)?;
        let length = u32::try_from(header.len()).map_err(|_| ErrorKind::FileTooLarge)?;
        let mut sum = Checksum::default();
        let length = length.to_le_bytes();
        for part in [MAGIC, &length, &header] {
            sum.add(part);
            out.write_all(part)?;
        }
        let mut bytes = Vec::with_capacity(1 << 16);
        for floats in [&film.sums, &film.odd] {
            for piece in floats.chunks(1 << 14) {
                bytes.clear();
                bytes.extend(piece.iter().flat_map(|x| x.to_le_bytes()));
                sum.add(&bytes);
                out.write_all(&bytes)?;
            }
        }
        out.write_all(&sum.0.to_le_bytes())
    })
}

/// Reads the film in the checkpoint at `path`, of at most `most_floats` floats; none if there is no such file.
///
/// # Errors
/// When the file is damaged, or of another picture than `of`.
pub fn read_checkpoint(
    path: &Path,
    of: &CheckpointIdentity,
    most_floats: usize,
) -> Result<Option<Accumulation>, CheckpointError> {
    let damaged = || CheckpointError::Damaged { path: path.to_owned() };
    let most = MAX_HEADER + (MAGIC.len() + 4 + 4 * most_floats + 8);
    let bytes = match open_regular(path) {
        Ok((_, length)) if length > most as u64 => return Err(damaged()),
        Ok(_) => read_regular(path),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(error),
    };
    let bytes = bytes.map_err(|error| CheckpointError::Read { path: path.to_owned(), error })?;
    let (header, floats) = parts(&bytes).ok_or_else(damaged)?;
    if let Some(why) = header.of.difference(of) {
        let path = path.to_owned();
        return Err(CheckpointError::Other { path, why });
    }
    film_of(header, floats).ok_or_else(damaged).map(Some)
}

/// Returns the header and the floats of a whole file; none if it is damaged.
fn parts(bytes: &[u8]) -> Option<(Header, &[u8])> {
    let (all, sum) = bytes.split_last_chunk::<8>()?;
    let mut expected = Checksum::default();
    let (length, rest) = all.strip_prefix(MAGIC)?.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let (header, floats) = rest.split_at_checked(length)?;
    for part in [MAGIC, &(length as u32).to_le_bytes(), header] {
        expected.add(part);
    }
    for piece in floats.chunks(1 << 16) {
        expected.add(piece);
    }
    if expected.0 != u64::from_le_bytes(*sum) || length > MAX_HEADER {
        return None;
    }
    Some((serde_json::from_slice(header).ok()?, floats))
}

fn film_of(header: Header, bytes: &[u8]) -> Option<Accumulation> {
    let (floats, rest) = bytes.as_chunks::<4>();
    let [sums, odd] = header.floats;
    if !rest.is_empty() || sums.checked_add(odd)? != floats.len() as u64 {
        return None;
    }
    let read = |floats: &[[u8; 4]]| floats.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let (sums, odd) = floats.split_at_checked(usize::try_from(sums).ok()?)?;
    Some(Accumulation { sums: read(sums), odd: read(odd), state: header.state })
}

/// A checksum of pieces of bytes, which depends on their order and on how they are cut.
struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        let mut word = |word: u64| {
            self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 ^= self.0 >> 32;
        };
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|w| word(u64::from_le_bytes(*w)));
        rest.iter().for_each(|b| word(u64::from(*b)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const MOST: usize = 50_000;

    fn identity() -> CheckpointIdentity {
        CheckpointIdentity { version: "1".into(), scene: "ab".into(), frame: 3, settings: "s".into() }
    }

    fn film() -> Accumulation {
        Accumulation {
            sums: (0..40_000).map(|i| i as f32 * 0.1).collect(),
            odd: vec![f32::INFINITY, -0.0, 2.5],
            state: AccumulationState { samples: 5, pass: 2, tiles: Some(vec![1, 4]) },
        }
    }

    #[test]
    fn films_come_back_as_they_were() {
        let dir = tempfile::tempdir().unwrap();
        let path = checkpoint_path(&dir.path().join("0001.png"));
        assert!(path.ends_with("0001.png.film"));
        assert!(read_checkpoint(&path, &identity(), MOST).unwrap().is_none());
        write_checkpoint(&path, &identity(), &film()).unwrap();
        let read = read_checkpoint(&path, &identity(), MOST).unwrap();
        assert_eq!(read, Some(film()));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_or_too_large_is_never_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.film");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let error = read_checkpoint(&path, &identity(), MOST).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
        fs::remove_file(&path).unwrap();
        fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let error = read_checkpoint(&path, &identity(), MOST).unwrap_err();
        assert!(matches!(error, CheckpointError::Damaged { .. }), "{error}");
    }

    #[test]
    fn films_of_something_else_say_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.film");
        write_checkpoint(&path, &identity(), &film()).unwrap();
        let refused = |other: &CheckpointIdentity, expected: &str| {
            let error = read_checkpoint(&path, other, MOST).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        let own = identity;
        let version = "2".to_owned();
        refused(&CheckpointIdentity { version, ..own() }, "another version");
        let scene = "cd".to_owned();
        refused(&CheckpointIdentity { scene, ..own() }, "another scene");
        refused(&CheckpointIdentity { frame: 4, ..own() }, "another frame");
        let settings = "t".to_owned();
        refused(&CheckpointIdentity { settings, ..own() }, "other settings");
    }

    #[test]
    fn a_damaged_file_is_noticed_wherever_the_damage_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.film");
        write_checkpoint(&path, &identity(), &film()).unwrap();
        let whole = fs::read(&path).unwrap();
        let damaged = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            matches!(read_checkpoint(&path, &identity(), MOST), Err(CheckpointError::Damaged { .. }))
        };
        for place in [0, 14, 15, 17, 40, 300, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[place] ^= 16;
            assert!(damaged(&bytes), "{place}");
            assert!(damaged(&whole[..place]), "{place}");
        }
    }
}
