use super::*;

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn nobody_removes_what_others_are_about_to_write() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("0001.png");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    prepare(std::slice::from_ref(&path)).unwrap();
                    write_atomically(&path, |writer| writer.write_all(b"done")).unwrap();
                }
            });
        }
    });
    assert_eq!(names_in(dir.path()), ["0001.png"]);
}

#[test]
fn a_written_file_is_alone_in_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.png");
    write_atomically(&path, |w| w.write_all(b"one")).unwrap();
    write_atomically(&path, |w| w.write_all(b"two")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(names_in(dir.path()), ["a.png"]);
}

#[test]
fn a_failed_write_keeps_the_old_file_and_leaves_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.png");
    fs::write(&path, "old").unwrap();
    let full = |w: &mut dyn Write| {
        w.write_all(b"half")?;
        Err(ErrorKind::StorageFull.into())
    };
    let error = write_atomically(&path, full).unwrap_err().to_string();
    assert!(error.contains("a.png: the disk is full; free some space"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names_in(dir.path()), ["a.png"]);
}

#[test]
fn a_missing_folder_is_an_error_that_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gone/a.png");
    let error = write_atomically(&path, |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("gone/a.png: its folder is missing"), "{error}");
    assert!(!dir.path().join("gone").exists());
}

#[test]
fn paths_longer_than_old_systems_allow_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a".repeat(200)).join("b".repeat(100));
    let path = folder.join("0001.png");
    prepare(std::slice::from_ref(&path)).unwrap();
    for text in ["one", "two"] {
        write_atomically(&path, |w| w.write_all(text.as_bytes())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    assert_eq!(names_in(&folder), ["0001.png"]);
}

/// A viewer that holds a file open, so that others cannot replace it.
#[cfg(windows)]
#[test]
fn a_file_that_others_hold_open_stays_and_is_an_error() {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_SHARE_READ: u32 = 1;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("0001.png");
    fs::write(&path, "old").unwrap();
    let viewer = OpenOptions::new().read(true).share_mode(FILE_SHARE_READ).open(&path).unwrap();
    let error = write_atomically(&path, |w| w.write_all(b"new")).unwrap_err().to_string();
    assert!(error.contains("0001.png: another program has the file open"), "{error}");
    assert_eq!(
        (names_in(dir.path()), fs::read_to_string(&path).unwrap()),
        (vec!["0001.png".to_owned()], "old".to_owned())
    );
    drop(viewer);
    write_atomically(&path, |w| w.write_all(b"new")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
}

#[test]
fn a_file_that_is_being_read_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("0001.png");
    fs::write(&path, "old").unwrap();
    let mut reader = File::open(&path).unwrap();
    write_atomically(&path, |w| w.write_all(b"new")).unwrap();
    assert_eq!(
        (io::read_to_string(&mut reader).unwrap(), fs::read_to_string(&path).unwrap()),
        ("old".into(), "new".into())
    );
}

#[test]
fn others_read_a_file_while_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut part = PartialFile::create(&dir.path().join("a.png")).unwrap();
    part.file().write_all(b"text").unwrap();
    assert_eq!(fs::read_to_string(part.path()).unwrap(), "text");
    part.persist().unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("a.png")).unwrap(), "text");
}

#[cfg(unix)]
#[test]
fn files_follow_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let (ours, plain) = (dir.path().join("a.png"), dir.path().join("b.png"));
    write_atomically(&ours, |_| Ok(())).unwrap();
    fs::write(&plain, "").unwrap();
    let mode = |p: &Path| fs::metadata(p).unwrap().permissions().mode();
    assert_eq!(mode(&ours), mode(&plain));
}

#[cfg(unix)]
#[test]
fn links_stay_and_what_they_lead_to_is_replaced() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("there")).unwrap();
    symlink("there/a", at("first")).unwrap();
    symlink("first", at("second")).unwrap();
    for text in ["new", "replaced"] {
        prepare(&[at("second")]).unwrap();
        write_atomically(&at("second"), |w| w.write_all(text.as_bytes())).unwrap();
        assert_eq!(fs::read(at("there/a")).unwrap(), text.as_bytes());
        assert!(at("first").is_symlink() && at("second").is_symlink());
        assert_eq!(names_in(&at("there")), ["a"]);
    }
    symlink("round", at("round")).unwrap();
    assert!(prepare(&[at("round")]).is_err());
    assert!(write_atomically(&at("round"), |_| Ok(())).is_err());
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_written_to_and_stay() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    throng_testing::process::make_pipe(&pipe);
    prepare(std::slice::from_ref(&pipe)).unwrap();
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    write_atomically(&pipe, |w| w.write_all(b"text")).unwrap();
    assert_eq!(reader.join().unwrap(), b"text");
    assert!(is_special(&pipe));
    assert_eq!(names_in(dir.path()), ["pipe"]);
    let link = dir.path().join("null");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    write_atomically(&link, |w| w.write_all(b"text")).unwrap();
    assert!(link.is_symlink() && is_special(Path::new("/dev/null")));
}

#[test]
fn prepare_makes_folders_and_removes_only_leftovers_of_its_frames() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("x/y");
    fs::create_dir_all(&folder).unwrap();
    for name in [".0001.png.abc123.part", ".0002.png.abc123.part", ".part", "0001.part"] {
        fs::write(folder.join(name), "").unwrap();
    }
    prepare(&[folder.join("0001.png"), folder.join("sub/0001.png")]).unwrap();
    assert_eq!(names_in(&folder), [".0002.png.abc123.part", ".part", "0001.part", "sub"]);
}

#[test]
fn the_longest_names_are_written_and_their_leftovers_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a".repeat(251) + ".png");
    let (_, part) = create_part(dir.path(), path.file_name().unwrap()).unwrap();
    // As if the process had been killed.
    let left = std::mem::ManuallyDrop::new(part).0.clone();
    assert!(left.exists());
    prepare(std::slice::from_ref(&path)).unwrap();
    assert!(!left.exists());
    write_atomically(&path, |w| w.write_all(b"done")).unwrap();
    assert_eq!(names_in(dir.path()), ["a".repeat(251) + ".png"]);
    let error = write_atomically(&dir.path().join("a".repeat(256)), |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("the name is too long"), "{error}");
}

#[test]
fn a_prepared_folder_has_no_leftovers_of_its_kind() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("x/y");
    fs::create_dir_all(&folder).unwrap();
    for name in [".a.tree.abc123.part", ".a.png.abc123.part", "a.tree"] {
        File::create(folder.join(name)).unwrap();
    }
    let in_use = create_part(&folder, OsStr::new("b.tree")).unwrap();
    prepare_folder(&folder, ".tree").unwrap();
    assert!(in_use.1.0.exists());
    drop(in_use);
    assert_eq!(names_in(&folder), [".a.png.abc123.part", "a.tree"]);
}

#[test]
fn prepare_keeps_a_temporary_file_that_is_still_being_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.png");
    let part = create_part(dir.path(), OsStr::new("a.png")).unwrap();
    prepare(std::slice::from_ref(&path)).unwrap();
    assert!(part.1.0.exists());
}

#[test]
fn prepare_reports_a_folder_in_the_way_of_a_frame() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("a.png")).unwrap();
    let error = prepare(&[dir.path().join("a.png")]).unwrap_err().to_string();
    assert!(error.contains("a.png: a folder has that name"), "{error}");
}

#[test]
fn prepare_reports_a_file_in_the_way_of_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x"), "").unwrap();
    let error = prepare(&[dir.path().join("x/y/a.png")]).unwrap_err().to_string();
    assert!(error.contains("cannot create the folder"), "{error}");
    assert!(error.contains("a part of the path is a file"), "{error}");
}
