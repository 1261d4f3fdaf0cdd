//! Runs the tests of the Python module with the module of this build, where there is a Python with numpy.

use std::{env, fs, path::Path, process::Command};

#[test]
fn the_module_passes_its_tests() {
    let python = env::var("PYTHON").unwrap_or("python3".into());
    let has_numpy = Command::new(&python).args(["-c", "import numpy"]).output().is_ok_and(|run| run.status.success());
    if !has_numpy {
        println!("skipped: there is no {python} with numpy, so the Python module is not tested");
        return;
    }
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let exe = env::current_exe().unwrap();
    let library = exe.with_file_name("lib_throng.so");
    let place = tempfile::tempdir().unwrap();
    let package = place.path().join("throng");
    fs::create_dir(&package).unwrap();
    for entry in fs::read_dir(crate_folder.join("throng")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "py") {
            fs::copy(&path, package.join(path.file_name().unwrap())).unwrap();
        }
    }
    fs::copy(&library, package.join("_throng.abi3.so")).unwrap();
    let run = Command::new(&python)
        .args(["-m", "unittest", "discover", "-s"])
        .arg(crate_folder.join("tests"))
        .env("PYTHONPATH", place.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
