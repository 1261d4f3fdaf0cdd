//! Damaged and hostile files: an error or a scene, but neither a panic, nor an endless run, nor much memory.

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use std::{fs, io::Write, path::Path};
use throng_pbrt::read;

/// A scene with every kind of directive.
const SCENE: &str = include_str!("every.pbrt");

fn read_bytes(folder: &Path, bytes: &[u8]) {
    let path = folder.join("main.pbrt");
    fs::write(&path, bytes).unwrap();
    // Errors and scenes are equally good.
    let _ = read(&path);
}

#[test]
fn the_whole_scene_is_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("main.pbrt"), SCENE).unwrap();
    let scene = read(&folder.path().join("main.pbrt")).unwrap();
    assert!(scene.warnings.len() > 3, "{:#?}", scene.warnings);
    assert!(scene.shapes.len() >= 9 && scene.lights.len() >= 6 && scene.materials.len() >= 20);
}

#[test]
fn damaged_files_end_with_an_error_or_a_scene() {
    let folder = tempfile::tempdir().unwrap();
    let length = SCENE.len();
    // Cut, overwritten, moved and repeated parts.
    let change = (0..4u8, 0..length, 0..length, 1..64usize, prop::collection::vec(any::<u8>(), 1..8));
    let config = Config { cases: 4000, failure_persistence: None, ..Config::default() };
    let checked = TestRunner::new(config).run(&change, |(kind, a, b, count, new)| {
        let mut bytes = SCENE.as_bytes().to_vec();
        match kind {
            0 => bytes.truncate(a),
            1 => new.iter().enumerate().for_each(|(i, byte)| bytes[(a + i) % length] = *byte),
            2 => {
                let words =
                    [&b" -1 "[..], b" 1e38 ", b"\"", b"[", b" ] ", b" 99999999 ", b" nan ", b" AttributeBegin "];
                let word = words[b % words.len()];
                bytes.splice(a..a, word.iter().copied());
            }
            _ => {
                let count = count.min(length - a.max(b));
                bytes.copy_within(a..a + count, b);
            }
        }
        read_bytes(folder.path(), &bytes);
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn files_that_multiply_themselves_are_refused_or_kept_small() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    // Each file includes the next one twice, so the last one is met 2^40 times.
    for level in 0..40 {
        let next = level + 1;
        write(&format!("{level}.pbrt"), &format!("Include \"{next}.pbrt\" Include \"{next}.pbrt\""));
    }
    write("main.pbrt", "WorldBegin ObjectBegin \"o\" Shape \"sphere\" ObjectEnd Include \"0.pbrt\"");
    write("40.pbrt", "ObjectInstance \"o\"");
    let scene = read(&folder.path().join("main.pbrt")).unwrap();
    assert!(scene.groups.len() < 50);
    write("40.pbrt", "Shape \"sphere\"");
    let error = read(&folder.path().join("main.pbrt")).unwrap_err();
    assert!(error.message.contains("inclusions") || error.message.contains("takes more"), "{error}");
    // A deeper chain than the stack should hold.
    for level in 0..200 {
        write(&format!("d{level}.pbrt"), &format!("Identity Include \"d{}.pbrt\"", level + 1));
    }
    write("main.pbrt", "Include \"d0.pbrt\"");
    assert!(read(&folder.path().join("main.pbrt")).unwrap_err().message.contains("nested more than"));
}

#[test]
fn compressed_files_may_be_damaged_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.pbrt.gz");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(SCENE.as_bytes()).unwrap();
    let whole = packed.finish().unwrap();
    fs::write(&path, &whole).unwrap();
    let scene = read(&path).unwrap();
    assert!(scene.shapes.len() >= 9);
    for cut in (0..whole.len()).step_by(7) {
        fs::write(&path, &whole[..cut]).unwrap();
        assert!(read(&path).is_err() || cut == 0, "{cut}");
    }
}
