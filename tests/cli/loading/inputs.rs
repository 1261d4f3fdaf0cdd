//! Inputs other than `.ron` files, scenes with millions of instances, and inputs that are too large.

use crate::common::{Place, decode};
use std::fs;

/// A tetrahedron of ordinary size.
const MODEL: &str = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 1 0\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n";

/// A scene of boxes only, because `.scn` files cannot contain spheres.
const BOXES: &str = r#"(
    meshes: { "box": Box() },
    instances: [ Grid(of: "box", count: (3, 2, 3), spacing: (2, 2, 2), rotate: (10, 20, 30)) ],
    camera: LookAt(eye: (0, 4, 14), target: (0, 0, 0)),
)"#;

/// A `.scn` file with one triangle and `instances` instances of it in a row.
fn triangles(instances: u32) -> Vec<u8> {
    let mut bytes = b"SCN1\0\0\0\0".to_vec();
    let mut words = |values: &[u32]| bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    words(&[1, instances, 3, 1]);
    words(&[0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].map(f32::to_bits));
    words(&[0, 1, 2]);
    words(&vec![0; instances as usize]);
    for i in 0..instances {
        let (x, z) = ((i % 2000) as f32, (i / 2000) as f32);
        words(&[1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, z].map(f32::to_bits));
    }
    bytes
}

fn put(bytes: &mut [u8], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
}

#[test]
fn a_bare_model_turns_under_a_sky() {
    let place = Place::new(1);
    fs::write(place.path("model.obj"), MODEL).unwrap();
    let json = place.ok(&["info", "model.obj", "--json"]).json();
    assert_eq!(json["frames"], 72);
    assert!(json["camera"].as_str().unwrap().contains("orbit"), "{json}");
    place.ok(&["render", "model.obj", "--frames", "1,37", "--size", "32x18", "--samples", "1"]);
    let frames = place.frames("frames/model");
    assert_eq!(frames.len(), 2);
    assert!(frames["0001.png"] != frames["0037.png"]);
    place.fails(
        &["check", "model.obj", "--set", "instances=[]"],
        2,
        "render.*, environment.* and materials.NAME can be",
    );
}

#[test]
fn a_broken_model_is_an_error_with_its_line() {
    let place = Place::new(1);
    fs::write(place.path("model.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n").unwrap();
    place.fails(&["render", "model.obj"], 1, "model.obj:4: ");
    fs::write(place.path("model.obj"), "v 0 0 0\n").unwrap();
    place.fails(&["check", "model.obj"], 1, "model.obj: ");
}

#[test]
fn what_is_no_scene_is_told_apart() {
    let place = Place::new(1);
    for (name, text) in [
        (
            "model.fbx",
            ".fbx files are not supported: use .ron (scene), .gltf, .glb, .usd, .usda, .usdc, .usdz, .pbrt, .obj, .ply, .stl (model) or .scn (raw scene)",
        ),
        ("notes.txt", ".txt files are not supported"),
        ("scene", "the file has no extension"),
    ] {
        fs::write(place.path(name), "").unwrap();
        place.fails(&["check", name], 1, text);
    }
    fs::create_dir(place.path("folder.ron")).unwrap();
    for name in [".", "folder.ron"] {
        place.fails(&["info", name], 1, "this is a directory");
    }
    place.fails(&["render", "folder.ron"], 1, "no scene or model is in this folder: use .ron (scene)");
    fs::write(place.path("latin1.ron"), b"( // \xe9\n)").unwrap();
    place.fails(&["check", "latin1.ron"], 1, "latin1.ron");
}

#[test]
fn a_dumped_scene_and_its_rays_give_the_same_hits_again() {
    let place = Place::new(1);
    fs::write(place.path("boxes.ron"), BOXES).unwrap();
    place.ok(&["bench", "boxes.ron", "--repeat", "1", "--dump", "dump"]);
    for (rays, kind) in [("primary", "closest"), ("bounce", "closest"), ("shadow", "any")] {
        let file = format!("dump/boxes.{rays}.ray");
        let run = place.ok(&["trace", "dump/boxes.scn", &file, "--kind", kind, "--hits", "again.hit", "--json"]);
        assert_eq!(run.json()["kind"], kind);
        assert!(run.json()["hits"].as_u64().unwrap() > 0, "{rays}");
        let dumped = fs::read(place.path(&format!("dump/boxes.{rays}.hit"))).unwrap();
        assert!(fs::read(place.path("again.hit")).unwrap() == dumped, "{rays}");
    }
    for args in
        [&["info", "dump/boxes.scn"][..], &["check", "dump/boxes.scn"], &["bench", "dump/boxes.scn", "--repeat", "1"]]
    {
        place.ok(args);
    }
    place.ok(&["render", "dump/boxes.scn", "-f", "1", "-o", "a.png", "--size", "32x18", "--samples", "1"]);
    assert_eq!(decode(&place.path("a.png")).len(), 32 * 18 * 3);
}

#[test]
fn a_dump_says_which_spheres_it_lacks() {
    let place = Place::new(1);
    let run = place.ok(&["bench", "scene.ron", "--repeat", "1", "--dump", "dump"]);
    assert!(run.stdout.contains("the dumped scene lacks 9 spheres"), "{}", run.stdout);
}

type Edit = dyn Fn(&mut Vec<u8>);

#[test]
fn damaged_raw_scenes_are_one_clear_error() {
    let place = Place::new(1);
    let whole = triangles(2);
    let damaged = |edit: &Edit| {
        let mut bytes = whole.clone();
        edit(&mut bytes);
        fs::write(place.path("bad.scn"), bytes).unwrap();
    };
    let cases: [(&Edit, &str); 8] = [
        (&|b| b.clear(), "bad.scn: not an SCN1 file"),
        (&|b| b[3] = b'2', "not an SCN1 file"),
        (&|b| b.truncate(b.len() - 1), "the file ends too early: the instances' transforms take 96 bytes, 95 are left"),
        (&|b| b.push(0), "1 bytes are left over at the end: the counts are wrong"),
        (&|b| put(b, 8, u32::MAX), "mesh 1 has no triangles"),
        (&|b| put(b, 24, f32::NAN.to_bits()), "vertex 0 of mesh 0 is not finite"),
        (&|b| put(b, 60, 3), "triangle 0 of mesh 0 uses a vertex beyond the 3 there are"),
        (&|b| put(b, 76, 1), "instance 1 uses mesh 1, but there are 1"),
    ];
    for (edit, text) in cases {
        damaged(edit);
        place.fails(&["check", "bad.scn"], 1, text);
        place.fails(&["bench", "bad.scn"], 1, text);
        place.fails(&["trace", "bad.scn", "no.ray"], 1, text);
    }
}

#[test]
fn two_million_instances_load_from_a_raw_scene() {
    let place = Place::new(1);
    fs::write(place.path("many.scn"), triangles(2_000_000)).unwrap();
    assert_eq!(place.ok(&["check", "many.scn", "--json"]).json()["instances"], 2_000_000);
}

#[test]
fn two_million_instances_load_from_a_line_of_text() {
    let place = Place::new(1);
    let many = "instances=[Grid(of: \"ball\", count: (2000, 1, 1000), spacing: (3, 3, 3))]";
    let json = place.ok(&["check", "scene.ron", "--json", "--set", many]).json();
    assert_eq!(json["instances"], 2_000_000);
}

#[test]
fn scenes_beyond_the_limits_are_refused_with_their_size() {
    let place = Place::new(1);
    // The amount of memory depends on the machine.
    for (count, code, text) in [
        ("(100000, 1, 21475)", 2, "2147500000 instances are too many"),
        ("(4000000000, 4000000000, 1)", 2, "16000000000000000000 instances are too many"),
        ("(40000, 1, 40000)", 1, "GiB of memory, but only"),
    ] {
        let many = format!("instances.0.count={count}");
        let run = place.fails(&["check", "scene.ron", "--set", &many], code, text);
        assert!(run.stderr.contains("scene.ron"), "{}", run.stderr);
    }
}

#[test]
fn hdr_textures_keep_their_brightness() {
    let place = Place::new(1);
    image::Rgb32FImage::from_pixel(2, 2, image::Rgb([0.0, 4.0, 0.0])).save(place.path("lamp.hdr")).unwrap();
    let glowing = "materials.red=Emissive(radiance: (0.25, 0.25, 0.25), texture: \"lamp.hdr\")";
    place.ok(&["render", "scene.ron", "-o", "a.png", "--tone-map", "none", "--set", glowing]);
    // 0.25 times 4 is 1. If the texture were clipped at 1, the result would be 0.25.
    let green = decode(&place.path("a.png")).chunks(3).filter(|p| *p == [0, 255, 0]).count();
    assert!(green > 50, "{green}");
}

#[test]
fn damaged_and_unknown_pictures_are_named() {
    let place = Place::new(1);
    let textured = "materials.red=Diffuse(texture: \"picture\")";
    for (bytes, text) in [
        (&b""[..], "picture: not a PNG, JPEG, WebP, GIF, TGA"),
        (b"GIF89a", "picture: the picture is damaged"),
        (b"\x89PNG\r\n\x1a\n", "picture: the picture is damaged"),
        (b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 9 +X 9\nabc", "picture: the picture is damaged"),
        (b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 99999 +X 9\nabc", "9x99999 pixels are too many"),
    ] {
        fs::write(place.path("picture"), bytes).unwrap();
        place.fails(&["check", "scene.ron", "--set", textured], 1, text);
    }
}
