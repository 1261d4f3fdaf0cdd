//! Scenes in files, and what is read of them.

use glam::DVec3;
use std::{fs, path::Path, time::Instant};
use throng_pbrt::{
    CameraKind, Color, LightKind, MaterialKind, NONE, Number, PbrtError, Scene, ShapeKind, TextureKind, read,
};

/// Reads `main.pbrt` among files with texts.
fn read_files(files: &[(&str, &str)]) -> Result<Scene, PbrtError> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    read(&folder.path().join("main.pbrt"))
}

fn scene(text: &str) -> Scene {
    read_files(&[("main.pbrt", text)]).unwrap_or_else(|error| panic!("{error}"))
}

/// Number of shapes after all copies.
fn copies(scene: &Scene) -> u64 {
    fn of(scene: &Scene, group: usize, known: &mut Vec<Option<u64>>) -> u64 {
        if let Some(known) = known[group] {
            return known;
        }
        let group_of = &scene.groups[group];
        let mut total = group_of.items.len() as u64;
        for copies in &group_of.copies {
            let inner = of(scene, copies.group as usize, known);
            total += inner * (copies.places.len() + copies.moving.len()) as u64;
        }
        known[group] = Some(total);
        total
    }
    of(scene, 0, &mut vec![None; scene.groups.len()])
}

#[test]
fn the_transform_is_multiplied_from_the_right_and_blocks_restore_it() {
    let scene = scene(
        "WorldBegin
        Translate 1 0 0 AttributeBegin Scale 2 2 2 Translate 1 0 0 ReverseOrientation Shape \"sphere\" AttributeEnd
        Shape \"disk\" TransformBegin Identity Translate 0 5 0 TransformEnd Shape \"cylinder\"
        CoordinateSystem \"here\" Rotate 90 0 0 1 CoordSysTransform \"here\" Shape \"sphere\" \"float zmax\" 0",
    );
    let places = scene.groups[0].items.iter().map(|item| item.place.start.transform_point3(DVec3::X));
    let expected = [DVec3::new(5.0, 0.0, 0.0), DVec3::X * 2.0, DVec3::X * 2.0, DVec3::X * 2.0];
    assert_eq!(places.collect::<Vec<_>>(), expected);
    assert_eq!(scene.shapes.iter().map(|shape| shape.reversed).collect::<Vec<_>>(), [true, false, false, false]);
    assert_eq!(scene.shapes[3].kind, ShapeKind::Sphere { radius: 1.0, heights: [-1.0, 0.0], phi_max: 360.0 });
    assert_eq!(scene.warnings, [""; 0]);
}

#[test]
fn include_keeps_the_state_and_import_does_not() {
    let file = "Translate 1 0 0 ReverseOrientation Shape \"sphere\"";
    for (name, end) in [("Include", DVec3::X), ("Import", DVec3::ZERO)] {
        let main = format!("WorldBegin {name} \"part.pbrt\" Shape \"disk\"");
        let scene = read_files(&[("main.pbrt", &main), ("part.pbrt", file)]).unwrap();
        assert_eq!(scene.groups[0].items[1].place.start.translation, end, "{name}");
        assert_eq!(scene.shapes[1].reversed, name == "Include");
        assert_eq!(scene.files.len(), 2);
    }
}

#[test]
fn files_that_only_place_objects_are_groups_and_others_are_not() {
    let object = "WorldBegin ObjectBegin \"o\" Shape \"sphere\" Shape \"disk\" ObjectEnd ";
    let pair = "AttributeBegin Translate 1 0 0 ObjectInstance \"o\" AttributeEnd Translate 0 1 0 ObjectInstance \"o\"";
    let many = "Include \"pair.pbrt\" Import \"pair.pbrt\" Include \"pair.pbrt\"";
    let main = format!("{object} Scale 2 2 2 Include \"many.pbrt\" Shape \"cylinder\"");
    let files = [("main.pbrt", main.as_str()), ("pair.pbrt", pair), ("many.pbrt", many)];
    let scene = read_files(&files).unwrap();
    assert_eq!(
        scene.groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(),
        ["world", "o", "pair", "many"]
    );
    assert_eq!(copies(&scene), 2 * 6 + 1);
    let places: Vec<_> = scene.groups[3].copies[0].places.iter().map(|place| place.translation.y).collect();
    assert_eq!(places, [0.0, 1.0, 1.0], "Import does not move what follows");
    assert_eq!(scene.groups[0].items[0].place.start.translation, DVec3::Y * 4.0, "Include does");
    let shaped = format!("{pair} Shape \"disk\"");
    let scene = read_files(&[files[0], ("pair.pbrt", &shaped), files[2]]).unwrap();
    assert_eq!((scene.groups.len(), copies(&scene)), (2, 2 * 6 + 3 + 1));
}

#[test]
fn an_object_that_is_defined_again_replaces_the_first_one_from_there_on() {
    let main = "WorldBegin ObjectBegin \"o\" Shape \"sphere\" ObjectEnd Include \"place.pbrt\"
        ObjectBegin \"o\" Shape \"disk\" Shape \"disk\" ObjectEnd Include \"place.pbrt\"";
    let scene = read_files(&[("main.pbrt", main), ("place.pbrt", "ObjectInstance \"o\"")]).unwrap();
    assert_eq!(copies(&scene), 3);
}

#[test]
fn transforms_at_two_times_move_what_they_are_of() {
    let scene = scene(
        "TransformTimes 0.25 0.75 WorldBegin ObjectBegin \"o\" Shape \"sphere\" ObjectEnd
        ActiveTransform EndTime Translate 0 0 3 ActiveTransform All Shape \"disk\" ObjectInstance \"o\"",
    );
    assert_eq!(scene.times, [0.25, 0.75]);
    let place = scene.groups[0].items[0].place;
    assert_eq!((place.start.translation.z, place.end.translation.z), (0.0, 3.0));
    assert_eq!(scene.groups[0].copies[0].moving[0][1].translation.z, 3.0);
}

#[test]
fn faults_name_file_line_and_column() {
    let part = "Shape \"sphere\"\n  AttributeEnd";
    let files = |main: &'static str| read_files(&[("main.pbrt", main), ("part.pbrt", part)]);
    for (main, file, place, what) in [
        ("WorldBegin\nInclude \"part.pbrt\"", "part.pbrt", Some((2, 3)), "there is no `AttributeBegin` before"),
        ("WorldBegin\n Include \"none.pbrt\"", "main.pbrt", Some((2, 2)), "no such file"),
        ("Include \"main.pbrt\"", "main.pbrt", Some((1, 1)), "includes itself"),
        ("WorldBegin AttributeBegin", "main.pbrt", None, "is not closed"),
        ("WorldBegin TransformBegin AttributeEnd", "main.pbrt", Some((1, 27)), "cannot end `TransformBegin`"),
        ("Shape \"sphere\" \"float radius\" [ 1 ", "main.pbrt", Some((1, 16)), "has no end"),
        ("Rotate 1 0 0", "main.pbrt", Some((1, 1)), "needs 4 numbers"),
        ("\"Shape\"", "main.pbrt", Some((1, 1)), "a directive belongs here"),
        ("Camera \"perspective\" Scale 0 1 1 Camera \"perspective\"", "main.pbrt", Some((1, 34)), "cannot be inverted"),
    ] {
        let error = files(main).expect_err(main);
        assert_eq!((error.file.file_name().unwrap().to_str(), error.place), (Some(file), place), "{main}: {error}");
        assert!(error.message.contains(what), "{main}: {error}");
    }
}

#[test]
fn unknown_names_are_warnings_with_the_nearest_known_one() {
    let text = "WorldBegin Shpe \"sphere\" \"float radius\" 1 Shape \"shpere\"
        Material \"difuse\" Material \"diffuse\" \"rgb reflectence\" [ 1 0 0 ] ObjectInstance \"x\" NamedMaterial \"y\"
        LightSource \"pont\" Texture \"t\" \"spectrum\" \"imagmap\" Material \"conductor\" \"spectrum eta\" \"metal-Au-et\"
        Material \"conductor\" \"spectrum eta\" \"metal-Au-et\"";
    let warnings = scene(text).warnings.join("\n");
    for part in [
        "`Shpe` is no known directive; did you mean `Shape`?",
        "`shpere` is no known shape",
        "`difuse` is no known material; did you mean `diffuse`?",
        "main.pbrt:2:46: `reflectence` is not a parameter of material `diffuse`, and is left out; did you mean `reflectance`?",
        "no object `x` was defined before",
        "main.pbrt:2:93: no `MakeNamedMaterial` defines `y`",
        "`pont` is no known light; did you mean `point`?",
        "`imagmap` is no known texture; did you mean `imagemap`?",
        "did you mean `metal-Au-eta`?: 0.5 is used (2 times)",
    ] {
        assert!(warnings.contains(part), "{part}:\n{warnings}");
    }
}

#[test]
fn materials_of_both_versions_have_the_same_form() {
    let scene = scene(
        "WorldBegin Texture \"t\" \"spectrum\" \"imagemap\" \"string filename\" \"a.png\" \"float uscale\" 2
        MakeNamedMaterial \"m\" \"string type\" \"matte\" \"texture Kd\" \"t\" NamedMaterial \"m\" Shape \"sphere\"
        Material \"diffusetransmission\" \"rgb reflectance\" [ 0.2 0.2 0.2 ] \"rgb transmittance\" [ 0.6 0.6 0.6 ] Shape \"sphere\"
        MakeNamedMaterial \"g\" \"string type\" \"dielectric\" \"spectrum eta\" \"glass-BK7\"
        MakeNamedMaterial \"x\" \"string type\" \"mix\" \"string materials\" [ \"m\" \"g\" ] \"float amount\" 0.25
        NamedMaterial \"x\" Shape \"sphere\" \"float alpha\" 0.5 NamedMaterial \"later\" Shape \"sphere\"
        MakeNamedMaterial \"later\" \"string type\" \"interface\"",
    );
    let kinds: Vec<&MaterialKind> =
        scene.groups[0].items.iter().map(|item| &scene.materials[item.material as usize].kind).collect();
    let MaterialKind::Layered(matte) = kinds[0] else { panic!("{:?}", kinds[0]) };
    assert_eq!((matte.color, matte.specular), (Color::Texture(0), 0.0));
    assert!(matches!(&scene.textures[0].kind, TextureKind::Picture(picture) if picture.uv.scale == [2.0, 1.0]));
    let MaterialKind::Layered(thin) = kinds[1] else { panic!("{:?}", kinds[1]) };
    let (share, passed) = thin.diffuse_transmission.unwrap();
    let (Color::Constant(reflected), Color::Constant(passed)) = (thin.color, passed) else { panic!() };
    assert!((share - 0.75).abs() < 1e-6 && (reflected[0] - 0.8).abs() < 1e-6 && (passed[0] - 0.8).abs() < 1e-6);
    assert!(
        matches!(kinds[2], MaterialKind::Mix { amount: Number::Constant(0.25), materials: [1, 3] }),
        "{:?}",
        kinds[2]
    );
    assert_eq!(scene.groups[0].items[2].alpha, Number::Constant(0.5));
    assert_eq!(kinds[3], &MaterialKind::Interface);
    assert_eq!(scene.warnings, [""; 0]);
}

#[test]
fn parameters_of_a_shape_replace_those_of_its_material_in_version_3() {
    let scene = scene(
        "WorldBegin MakeNamedMaterial \"m\" \"string type\" \"matte\" \"color Kd\" [ 1 0 0 ] NamedMaterial \"m\"
        Shape \"sphere\" \"color Kd\" [ 0 1 0 ] \"float radius\" 2 Shape \"sphere\"
        Material \"plastic\" \"color Kd\" [ 0 0 1 ] \"float roughness\" 0.5 Shape \"disk\" \"float roughness\" 0 \"float Kx\" 1",
    );
    let of = |item: usize| match &scene.materials[scene.groups[0].items[item].material as usize].kind {
        MaterialKind::Layered(layered) => layered,
        other => panic!("{other:?}"),
    };
    assert_eq!((of(0).color, of(1).color), (Color::Constant([0.0, 1.0, 0.0]), Color::Constant([1.0, 0.0, 0.0])));
    assert_eq!((of(2).color, of(2).roughness.values), (Color::Constant([0.0, 0.0, 1.0]), [Number::Constant(0.0); 2]));
    let [unknown] = &scene.warnings[..] else { panic!("{:?}", scene.warnings) };
    assert!(unknown.contains("`Kx` is not a parameter of material `plastic`"), "{unknown}");
}

#[test]
fn a_colour_of_light_is_multiplied_by_its_power() {
    let scene = scene(
        "WorldBegin LightSource \"point\" \"rgb I\" [ 2 2 2 ] \"float power\" 12.566371
        LightSource \"distant\" \"rgb L\" [ 0 2 0 ] \"float illuminance\" 3",
    );
    assert!(matches!(scene.lights[0].kind, LightKind::Point { intensity: [r, ..], .. } if (r - 2.0).abs() < 1e-3));
    assert!(matches!(scene.lights[1].kind, LightKind::Distant { irradiance: [0.0, 6.0, 0.0], .. }));
}

#[test]
fn parameters_after_an_included_file_are_left_out_with_a_warning() {
    let main = "WorldBegin Include \"part.pbrt\" \"float radius\" 2 Shape \"disk\"";
    let scene = read_files(&[("main.pbrt", main), ("part.pbrt", "Shape \"sphere\"")]).unwrap();
    assert_eq!(scene.shapes.len(), 2);
    assert!(scene.warnings[0].contains("main.pbrt:1:32: parameters after an included file"), "{:?}", scene.warnings);
}

#[test]
fn defaults_of_attributes_hold_in_their_block() {
    let scene = scene(
        "WorldBegin AttributeBegin Attribute \"shape\" \"float radius\" 3 Shape \"sphere\" Shape \"sphere\" \"float radius\" 2
        AttributeEnd Shape \"sphere\"",
    );
    let radius = |kind: &ShapeKind| match kind {
        ShapeKind::Sphere { radius, .. } => *radius,
        _ => panic!("{kind:?}"),
    };
    assert_eq!(scene.shapes.iter().map(|shape| radius(&shape.kind)).collect::<Vec<_>>(), [3.0, 2.0, 1.0]);
}

#[test]
fn consecutive_curves_are_one_shape() {
    let curve = "Shape \"curve\" \"point3 P\" [ 0 0 0 0 0 1 0 0 2 0 0 3 ] \"float width0\" 0.1 ";
    let quadratic = "Shape \"curve\" \"integer degree\" 2 \"point3 P\" [ 0 0 0 3 0 0 6 0 0 ]";
    let scene = scene(&format!("WorldBegin {curve}{curve} Translate 1 0 0 {curve} {quadratic}"));
    let ShapeKind::Curves(first) = &scene.shapes[0].kind else { panic!() };
    assert_eq!((scene.shapes.len(), first.counts.clone(), first.widths[1]), (2, vec![4, 4], [0.1, 1.0]));
    let ShapeKind::Curves(last) = &scene.shapes[1].kind else { panic!() };
    assert_eq!(last.points[4..], [[0.0; 3], [2.0, 0.0, 0.0], [4.0, 0.0, 0.0], [6.0, 0.0, 0.0]]);
}

#[test]
fn lights_cameras_and_media_are_read() {
    let scene = scene(
        "Film \"rgb\" \"float xresolution\" 200 \"integer yresolution\" 100 \"float iso\" 200
        MakeNamedMedium \"fog\" \"string type\" \"homogeneous\" \"rgb sigma_a\" [ 1 2 3 ] \"rgb sigma_s\" [ 0 0 0 ] \"float scale\" 2
        MediumInterface \"\" \"fog\" LookAt 0 0 5 0 0 0 0 1 0 Camera \"perspective\" \"float fov\" 40 Integrator \"path\" \"integer maxdepth\" 7
        WorldBegin LightSource \"infinite\" \"blackbody L\" 6500 \"float scale\" 2
        LightSource \"spot\" \"rgb I\" [ 4 4 4 ] \"point3 to\" [ 0 -1 0 ] LightSource \"point\" \"float power\" 12.566371
        AreaLightSource \"diffuse\" \"rgb L\" [ 1 2 3 ] \"bool twosided\" true Shape \"sphere\"",
    );
    let camera = scene.camera.as_ref().unwrap();
    assert_eq!((camera.kind, camera.screen, camera.medium), (CameraKind::Perspective(40.0), [-2.0, 2.0, -1.0, 1.0], 0));
    assert_eq!(camera.world_from_camera.start.translation, DVec3::Z * 5.0);
    assert_eq!((scene.film.exposure, scene.max_depth, scene.media[0].absorption), (2.0, 7, [2.0, 4.0, 6.0]));
    let LightKind::Infinite { radiance, .. } = scene.lights[0].kind else { panic!() };
    assert!((radiance[1] - 2.0).abs() < 0.1, "{radiance:?}");
    assert!(matches!(scene.lights[1].kind, LightKind::Spot { angles: [25.0, 30.0], intensity: [4.0, ..], .. }));
    assert!(matches!(scene.lights[2].kind, LightKind::Point { intensity: [r, ..], .. } if (r - 1.0).abs() < 1e-3));
    let item = scene.groups[0].items[0];
    assert_ne!(item.emission, NONE);
    assert!(scene.emissions[item.emission as usize].two_sided);
    assert_eq!(scene.warnings, [""; 0]);
}

/// A file of the public scenes; None without them.
fn public(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("THRONG_DATA").map(|data| Path::new(&data).join("scenes/pbrt").join(name));
    let found = path.filter(|path| path.is_file());
    if found.is_none() {
        println!("skipped: THRONG_DATA has no scenes/pbrt/{name}");
    }
    found
}

#[test]
fn the_menger_sponge_takes_the_memory_of_its_levels() {
    let Some(path) = public("menger/scene.pbrt") else { return };
    let begin = Instant::now();
    let scene = read(&path).unwrap();
    println!("read in {:?}", begin.elapsed());
    assert_eq!(copies(&scene), 64_000_000);
    assert_eq!(scene.groups.iter().map(|group| group.items.len()).sum::<usize>(), 20);
    assert_eq!(scene.warnings, [""; 0]);
}

#[test]
fn public_scenes_are_read_without_warnings() {
    if let Some(path) = public("veach-ajar/scene-v4.pbrt") {
        let scene = read(&path).unwrap();
        assert_eq!((scene.groups[0].items.len(), scene.materials.len()), (22, 14));
        assert_eq!(scene.warnings, [""; 0]);
    }
    if let Some(path) = public("killeroo-v3/killeroo-simple.pbrt") {
        let scene = read(&path).unwrap();
        assert_eq!((scene.shapes.len(), scene.lights.len()), (5, 0));
        assert!(matches!(&scene.shapes[3].kind, ShapeKind::Loop { levels: 1, .. }));
        assert_eq!(scene.warnings, [""; 0]);
    }
}
