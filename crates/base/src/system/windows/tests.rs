use super::*;
use std::io::Read;

#[test]
fn names_with_half_of_a_pair_survive() {
    let name = OsString::from_wide(&[0x61, 0xd800, 0x62, 0xdfff, 0x20ac, 0xd83d, 0xde00]);
    assert_eq!(os_string(name.as_encoded_bytes()), name);
    assert_eq!(os_string("ünï€😀".as_bytes()), "ünï€😀");
    assert_eq!(os_string(b"a\xffb"), "a\u{fffd}b");
}

#[test]
fn names_of_devices_and_forbidden_characters_are_changed() {
    for (name, file) in [
        ("con", "_con"),
        ("NUL.png", "_NUL.png"),
        ("Com1.exr", "_Com1.exr"),
        ("lpt9", "_lpt9"),
        ("a. .", "a___"),
        ("...", "___"),
        ("Rig|walk: 1?", "Rig_walk_ 1_"),
    ] {
        assert_eq!(allowed(name.to_owned()), file);
    }
    let error = check_name("shot:1.png".as_ref()).unwrap_err().to_string();
    assert!(error.ends_with("like shot_1.png"), "{error}");
    for name in ["console.png", "com.png", "com12", "a.con", ".a", "ünï€😀"] {
        assert_eq!(allowed(name.to_owned()), name);
        assert!(check_name(name.as_ref()).is_ok());
    }
}

#[test]
fn a_file_that_is_held_open_is_not_replaced_and_the_error_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let [new, old] = ["new", "old"].map(|name| dir.path().join(name));
    fs::write(&new, "new").unwrap();
    fs::write(&old, "old").unwrap();
    let held = OpenOptions::new().read(true).share_mode(1).open(&old).unwrap();
    let error = rename(&new, &old).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceBusy, "{error}");
    assert!(error.to_string().contains("another program has the file open"), "{error}");
    assert_eq!(fs::read_to_string(&old).unwrap(), "old");
    drop(held);
    rename(&new, &old).unwrap();
    assert_eq!(fs::read_to_string(&old).unwrap(), "new");
}

#[test]
fn a_file_that_is_held_for_a_moment_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let [new, old] = ["new", "old"].map(|name| dir.path().join(name));
    fs::write(&new, "new").unwrap();
    fs::write(&old, "old").unwrap();
    let held = OpenOptions::new().read(true).share_mode(1).open(&old).unwrap();
    let closing = thread::spawn(move || {
        thread::sleep(PATIENCE / 8);
        drop(held);
    });
    rename(&new, &old).unwrap();
    closing.join().unwrap();
    assert_eq!(fs::read_to_string(&old).unwrap(), "new");
}

#[test]
fn a_locked_file_is_read_by_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    fs::write(&path, "text").unwrap();
    let [first, mut second] = [(); 2].map(|()| OpenOptions::new().read(true).write(true).open(&path).unwrap());
    lock(&first).unwrap();
    assert!(matches!(lock(&second), Err(TryLockError::WouldBlock)));
    let mut text = String::new();
    second.read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
    drop(first);
    lock(&second).unwrap();
}
