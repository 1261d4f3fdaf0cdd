use super::*;
use crate::{checkpoint_path, read_checkpoint};
use std::fs;
use throng_device::fake;
use throng_scene::RenderDefaults;

fn identity() -> CheckpointIdentity {
    CheckpointIdentity { version: "1".into(), scene: "ab".into(), frame: 3, settings: "s".into() }
}

fn header() -> FilmHeader {
    let settings = FrameSettings {
        width: 40,
        height: 30,
        noise: Some(0.5),
        open_ended: true,
        region: Some(Region { x: 2, y: 3, width: 20, height: 11 }),
        ..FrameSettings::from(&RenderDefaults::default())
    };
    FilmHeader {
        of: identity(),
        picture: FilmPicture {
            settings,
            aovs: AovSet::default(),
            metadata: Metadata { scene: "●".into(), ..Metadata::default() },
            manifests: Manifests::default(),
        },
        state: AccumulationState { first: 2, samples: 5, pass: 2, tiles: Some(vec![1, 4]) },
        samples: std::iter::once(2..5).collect(),
        finished: true,
        has_layers: false,
    }
}

fn film() -> Accumulation {
    let number = |i: u32| i.wrapping_mul(0x9e37_79b9) >> (i % 32);
    Accumulation {
        sums: (0..20 * 11 * 10).map(number).collect(),
        odd: (0..20 * 11 * 10).map(|i| number(i + 7)).collect(),
        state: header().state,
        ..Accumulation::default()
    }
}

/// A folder with a film.
fn written() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = checkpoint_path(&dir.path().join("0001.png"));
    assert!(path.ends_with("0001.png.film"));
    assert!(read_checkpoint(&path, &identity()).unwrap().is_none());
    write_film(&path, &header(), &film()).unwrap();
    (dir, path)
}

#[test]
fn films_come_back_as_they_were() {
    let (_dir, path) = written();
    assert_eq!(read_checkpoint(&path, &identity()).unwrap(), Some(film()));
    let read = FilmFile::open(&path).unwrap();
    assert_eq!(read.header.picture, header().picture);
    let rows = read.read(4..6).unwrap();
    assert_eq!(rows.sums, film().sums[4 * 200..6 * 200]);
}

#[test]
fn settings_are_read_as_they_were_written() {
    let settings = FrameSettings { transparent: true, wireframe: Some(1.5), ..fake::settings() };
    let json = serde_json::to_string(&settings).unwrap();
    assert_eq!(serde_json::from_str::<FrameSettings>(&json).unwrap(), settings);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_or_too_large_is_never_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.film");
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    let error = read_checkpoint(&path, &identity()).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    fs::remove_file(&path).unwrap();
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let error = read_checkpoint(&path, &identity()).unwrap_err();
    assert!(matches!(error, CheckpointError::NoFilm { .. }), "{error}");
}

#[test]
fn films_of_pictures_that_are_too_wide_are_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.film");
    let wide = FrameSettings { width: u32::MAX, region: None, ..header().picture.settings };
    let header = FilmHeader { picture: FilmPicture { settings: wide, ..header().picture }, ..header() };
    let json = serde_json::to_vec(&header).unwrap();
    let mut bytes = [MAGIC, &(json.len() as u32).to_le_bytes(), &json[..]].concat();
    let mut sum = Checksum::default();
    sum.add(&bytes);
    bytes.extend(sum.0.to_le_bytes());
    // Empty rows.
    let end = (bytes.len() + 8 * header.picture.settings.height as usize) as u64;
    bytes.extend((0..header.picture.settings.height).flat_map(|_| end.to_le_bytes()));
    fs::write(&path, bytes).unwrap();
    assert!(matches!(read_checkpoint(&path, &identity()), Err(CheckpointError::Damaged { .. })));
}

#[test]
fn films_of_something_else_say_so() {
    let (_dir, path) = written();
    let refused = |other: &CheckpointIdentity, expected: &str| {
        let error = read_checkpoint(&path, other).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let own = identity;
    refused(&CheckpointIdentity { version: "2".into(), ..own() }, "another version");
    refused(&CheckpointIdentity { scene: "cd".into(), ..own() }, "another scene");
    refused(&CheckpointIdentity { frame: 4, ..own() }, "another frame");
    refused(&CheckpointIdentity { settings: "t".into(), ..own() }, "other settings");
    fs::write(&path, [OLD_MAGIC, &[0; 99]].concat()).unwrap();
    refused(&own(), "another version");
}

#[test]
fn a_damaged_file_is_noticed_wherever_the_damage_is() {
    let (_dir, path) = written();
    let whole = fs::read(&path).unwrap();
    let damaged = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        matches!(read_checkpoint(&path, &identity()), Err(CheckpointError::Damaged { .. }))
    };
    let step = whole.len() / 97;
    for place in (0..whole.len()).step_by(step).chain([1, 14, 15, 17, whole.len() - 1]) {
        let mut bytes = whole.clone();
        bytes[place] ^= 16;
        assert!(damaged(&bytes), "{place}");
        assert!(damaged(&whole[..place]), "{place}");
    }
}
