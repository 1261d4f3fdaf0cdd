//! What OBJ and MTL files may refer to: files in the model's own folder and in those that are allowed.

use super::*;
use std::path::Path;

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n";

/// `model/m.obj` with an MTL file, both ending as given, and `secret.png` and `secret.mtl` beside the folder.
fn model(obj: &str, mtl: &str) -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name);
    fs::create_dir_all(path("model/sub")).expect("a folder");
    let write = |name: &str, text: String| fs::write(path(name), text).expect("writes");
    write("model/m.obj", format!("{obj}\n{TRIANGLE}"));
    write("model/a.mtl", format!("newmtl m\nKd 1 1 1\n{mtl}\n"));
    write("model/b c.mtl", "newmtl m\nKd 0 1 0\n".to_owned());
    write("model/sub/d.mtl", format!("newmtl m\n{mtl}\n"));
    write("secret.mtl", "newmtl m\nKd 1 0 0\n".to_owned());
    for name in ["secret.png", "model/own.png"] {
        let picture = image::RgbImage::from_pixel(1, 1, image::Rgb([9, 9, 9]));
        picture.save(path(name)).expect("writes");
    }
    dir
}

fn options(allow: &Path) -> LoadOptions {
    let mut options = LoadOptions::default();
    options.model.allow_dirs = vec![allow.to_owned()];
    options
}

fn refusal(dir: &TempDir, file: &str) -> String {
    let e = load(&dir.path().join(file)).expect_err("an error");
    e.to_string().replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn textures_that_lead_out_are_refused_by_line() {
    let absolute = std::env::temp_dir().join("gone.png");
    for name in [
        "../secret.png",
        "..\\secret.png",
        "./sub/../../secret.png",
        "../gone.png",
        "/etc/passwd",
        &absolute.display().to_string(),
    ] {
        for key in ["map_Kd", "map_Ke", "Pr 0.5\nnorm"] {
            let dir = model("mtllib a.mtl", &format!("{key} {name}"));
            let e = refusal(&dir, "model/m.obj");
            let line = 3 + key.matches('\n').count();
            assert!(e.starts_with(&format!("model/a.mtl:{line}: the texture ")), "{e}");
            assert!(e.ends_with("or allow it with --allow-dir DIR"), "{e}");
        }
    }
}

#[test]
fn material_files_that_lead_out_are_refused_by_line() {
    for name in
        ["../secret.mtl", "..\\secret.mtl", "../../../../../../etc/passwd", "/etc/passwd", "a.mtl ../secret.mtl"]
    {
        let e = refusal(&model(&format!("\nmtllib {name}"), ""), "model/m.obj");
        assert!(e.starts_with("model/m.obj:2: the material file "), "{e}");
        assert!(e.ends_with("or allow it with --allow-dir DIR"), "{e}");
    }
}

#[test]
fn what_a_scene_names_is_free_and_what_its_models_name_is_not() {
    let dir = model("mtllib a.mtl", "map_Kd ../secret.png");
    let text = r#"(meshes: {"a": Obj(file: "../model/m.obj")}, instances: [Single(of: "a")])"#;
    fs::create_dir(dir.path().join("scenes")).expect("a folder");
    fs::write(dir.path().join("scenes/s.ron"), text).expect("writes");
    let e = refusal(&dir, "scenes/s.ron");
    assert!(e.contains("a.mtl:3: the texture "), "{e}");
    let open = load_with(&dir.path().join("scenes/s.ron"), &options(dir.path()));
    assert_eq!(open.map(|s| s.textures.len()).unwrap_or(0), 1);
}

#[test]
fn an_allowed_folder_is_open() {
    let dir = model("mtllib ../secret.mtl\nmtllib a.mtl", "map_Kd ../secret.png");
    let open = load_with(&dir.path().join("model/m.obj"), &options(dir.path()));
    let scene = open.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene.materials[0].color, Vec3::X);
}

#[test]
fn paths_within_the_folder_are_followed() {
    let dir = model("mtllib sub/d.mtl", "map_Kd ../own.png");
    let scene = load(&dir.path().join("model/m.obj")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene.textures.len(), 1);
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_refused() {
    let dir = model("mtllib link.mtl", "");
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(to, dir.path().join(name)).expect("links");
    };
    link("../secret.mtl", "model/link.mtl");
    let e = refusal(&dir, "model/m.obj");
    assert!(e.contains("link.mtl leads out of the model's folder"), "{e}");
    fs::remove_file(dir.path().join("model/link.mtl")).expect("removes");
    link("a.mtl", "model/link.mtl");
    assert!(load(&dir.path().join("model/m.obj")).is_ok());
}

#[test]
fn a_line_may_name_one_file_with_spaces_or_several_files() {
    let color = |line: &str| {
        let dir = model(line, "");
        let scene = load(&dir.path().join("model/m.obj")).unwrap_or_else(|e| panic!("{e}"));
        (scene.materials[0].color, scene.warnings.len())
    };
    assert_eq!(color("mtllib b c.mtl"), (Vec3::Y, 0));
    assert_eq!(color("mtllib sub/d.mtl a.mtl").1, 0);
    assert_eq!(color("mtllib gone.mtl a.mtl"), (Vec3::ONE, 1));
    assert_eq!(color("mtllib gone.mtl lost.mtl").1, 1);
    assert_eq!(color("mtllib a.mtl\nmtllib a.mtl"), (Vec3::ONE, 0));
}

#[test]
fn missing_textures_are_errors_as_ever() {
    let e = refusal(&model("mtllib a.mtl", "map_Kd gone.png"), "model/m.obj");
    assert_eq!(e, "model/a.mtl:3: the texture model/gone.png does not exist: check the path");
}
