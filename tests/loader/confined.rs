//! References of OBJ and MTL files: only to the model's own folder and to allowed folders.

use super::*;
use std::path::Path;

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n";

/// `model/m.obj` with an MTL file, both ending with the given text, and `secret.png` and `secret.mtl` outside the folder.
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

/// The scene of a file, and its warnings without the folder's name.
fn confined(dir: &TempDir, file: &str) -> (Scene, Vec<String>) {
    let mut scene = load(&dir.path().join(file)).unwrap_or_else(|e| panic!("{e}"));
    let folder = format!("{}/", dir.path().display());
    let warnings = std::mem::take(&mut scene.warnings).iter().map(|w| w.replace(&folder, "")).collect();
    (scene, warnings)
}

#[test]
fn textures_that_lead_out_are_not_read() {
    let absolute = std::env::temp_dir().join("gone.png");
    for name in [
        "../secret.png",
        "..\\secret.png",
        "./sub/../../secret.png",
        "../gone.png",
        "/etc/passwd",
        &absolute.display().to_string(),
    ] {
        for key in ["map_Kd", "map_Ke", "map_d", "Pr 0.5\nnorm"] {
            let dir = model("mtllib a.mtl", &format!("{key} {name}"));
            let (scene, warnings) = confined(&dir, "model/m.obj");
            assert!(scene.textures.is_empty(), "{name}");
            let line = 3 + key.matches('\n').count();
            let [warning] = &warnings[..] else { panic!("{warnings:?}") };
            assert!(warning.starts_with(&format!("model/a.mtl:{line}: the texture ")), "{warning}");
            assert!(warning.ends_with("or allow it with --allow-dir DIR"), "{warning}");
        }
    }
}

#[test]
fn material_files_that_lead_out_are_not_read() {
    for name in ["../secret.mtl", "..\\secret.mtl", "../../../../../../etc/passwd", "/etc/passwd"] {
        let (scene, warnings) = confined(&model(&format!("\nmtllib {name}"), ""), "model/m.obj");
        assert_ne!(scene.materials[0].color, Vec3::X);
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.starts_with("model/m.obj:2: the material file "), "{warning}");
        assert!(warning.ends_with("or allow it with --allow-dir DIR"), "{warning}");
    }
    let (scene, warnings) = confined(&model("mtllib a.mtl ../secret.mtl", ""), "model/m.obj");
    assert_eq!((scene.materials[0].color, warnings.len()), (Vec3::ONE, 1));
}

#[test]
fn files_of_another_machine_are_found_beside_the_model() {
    for name in
        ["C:\\maps\\own.png", "/home/them/own.png", "../maps/own.png", "OWN.PNG", "SUB/../Own.png", "gone/Own.png"]
    {
        let (scene, warnings) = confined(&model("mtllib /home/them/A.mtl", &format!("map_Kd {name}")), "model/m.obj");
        assert_eq!(scene.textures.len(), 1, "{name}: {warnings:?}");
        let ends = ["is not there: model/a.mtl is used", "own.png is used"];
        assert!(warnings.len() == 2 && warnings.iter().zip(ends).all(|(w, end)| w.ends_with(end)), "{warnings:?}");
    }
}

#[test]
fn what_a_scene_names_is_free_and_what_its_models_name_is_not() {
    let dir = model("mtllib a.mtl", "map_Kd ../secret.png");
    let text = r#"(meshes: {"a": Obj(file: "../model/m.obj")}, instances: [Single(of: "a")])"#;
    fs::create_dir(dir.path().join("scenes")).expect("a folder");
    fs::write(dir.path().join("scenes/s.ron"), text).expect("writes");
    let (_, warnings) = confined(&dir, "scenes/s.ron");
    assert!(warnings[0].contains("a.mtl:3: the texture "), "{warnings:?}");
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
fn links_that_lead_out_are_not_read() {
    let dir = model("mtllib link.mtl", "");
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(to, dir.path().join(name)).expect("links");
    };
    link("../secret.mtl", "model/link.mtl");
    let (scene, warnings) = confined(&dir, "model/m.obj");
    assert!(warnings[0].contains("link.mtl leads out of the model's folder"), "{warnings:?}");
    assert_ne!(scene.materials[0].color, Vec3::X);
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
fn materials_go_without_pictures_that_are_missing_or_damaged() {
    let dir = model("mtllib a.mtl", "map_Kd gone.png\nKe 1 1 1\nmap_Ke m.obj");
    let (scene, warnings) = confined(&dir, "model/m.obj");
    let material = scene.materials[0];
    assert_eq!((material.color, material.emission, material.maps()), (Vec3::ONE, Vec3::ZERO, vec![u32::MAX; 2]));
    assert_eq!(warnings[0], "model/a.mtl:3: the texture model/gone.png is left out: it does not exist: check the path");
    assert!(
        warnings[1].starts_with("model/a.mtl:5: the texture model/m.obj is left out: not a PNG"),
        "{}",
        warnings[1]
    );
    assert_eq!(warnings.len(), 2);
}

#[test]
fn a_scene_that_names_a_damaged_picture_itself_is_refused() {
    let dir = model("mtllib a.mtl", "map_Kd m.obj");
    let scene = |material: &str| {
        let text = format!(
            r#"(materials: {{"x": Diffuse({material})}}, meshes: {{"a": Obj(file: "m.obj"), "b": Sphere}},
                instances: [Single(of: "a"), Single(of: "b", material: "x")])"#
        );
        fs::write(dir.path().join("model/s.ron"), text).expect("writes");
        load(&dir.path().join("model/s.ron"))
    };
    assert_eq!(scene("color: (1, 0, 0)").map(|s| s.warnings.len()).unwrap_or(0), 1);
    let e = scene(r#"texture: "m.obj""#).expect_err("an error").to_string();
    assert!(e.contains("not a PNG") && e.contains("(used by ") && e.ends_with("s.ron)"), "{e}");
}

#[test]
fn opacity_of_any_material_is_read() {
    let material = |mtl: &str| {
        let (scene, warnings) = confined(&model("mtllib a.mtl", mtl), "model/m.obj");
        (scene.materials[0], scene.textures, warnings.len())
    };
    let (half, _, told) = material("d 0.5");
    assert_eq!((half.opacity, half.alpha, half.kind, told), (0.5, Alpha::Blend, MaterialKind::Diffuse, 0));
    let (swapped, _, told) = material("d 0\nTr 0");
    assert_eq!((swapped.opacity, swapped.alpha, told), (1.0, Alpha::Opaque, 1));
    let (holes, textures, told) = material("map_Kd -s 2 2 1 own.png\nmap_d -s 2 2 1 -imfchan r own.png");
    assert_eq!((holes.opacity, holes.alpha, told, textures.len()), (1.0, Alpha::Blend, 0, 1));
    assert_eq!(textures[0].texels, Texels::Srgb8(vec![[9; 4]]));
    let (_, textures, told) = material("map_d own.png\nmap_Kd -s 2 2 own.png\nd 0");
    assert_eq!((&textures[0].texels, told), (&Texels::Srgb8(vec![[9, 9, 9, 255]]), 1));
}

#[test]
fn textures_are_scaled_and_moved_as_their_options_say() {
    let (scene, warnings) = confined(&model("mtllib a.mtl", "map_Kd -s 2 3 1 -o 0.5 0 own.png"), "model/m.obj");
    let transform = scene.maps[scene.materials[0].color_map as usize].transform;
    assert_eq!((transform.transform_point2(glam::Vec2::ONE), warnings.len()), (glam::Vec2::new(2.5, 3.0), 0));
}
