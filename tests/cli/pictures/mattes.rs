//! Cryptomatte from scene file to OpenEXR file: objects are cut out by name, as compositors do.

use crate::common::Place;
use exr::prelude::{self as reference, FlatSamples, ReadChannels, ReadLayers};
use std::{collections::HashMap, fs, path::Path};
use throng_picture::aov::cryptomatte;

const WIDTH: usize = 24;
const HEIGHT: usize = 16;
/// Size of a pixel in scene units. The picture's centre is the origin.
const PIXEL: f32 = 0.5;
/// Points per pixel and axis that are used to compute expected coverage.
const POINTS: usize = 64;
/// Tolerance of coverage with 256 samples.
const TOLERANCE: f32 = 0.03;

/// Crates and a ball in front of a wall, seen along -Z with parallel rays.
const SCENE: &str = r#"(
    render: (size: (24, 16), samples: 256, integrator: whitted, frames: 1),
    environment: Constant(radiance: (1, 1, 1)),
    materials: {
        "wood": Diffuse(color: (0.6, 0.4, 0.2)),
        "\"Türkis\", matt": Diffuse(color: (0.1, 0.6, 0.6)),
        "rubber": Diffuse(color: (0.1, 0.1, 0.1)),
    },
    meshes: { "crate": Box(), "wall": Box(), "ball": Sphere },
    groups: {
        "cart": [
            Single(of: "crate", scale: (1.7, 1.3, 1), material: "\"Türkis\", matt"),
            Single(of: "ball", translate: (0.35, 1.35, 1), scale: 0.9, material: "rubber"),
        ],
    },
    instances: [
        Single(of: "wall", translate: (-0.3, 0.1, -5), scale: (9, 6.5, 0.1), material: "\"Türkis\", matt"),
        Single(of: "crate", translate: (-2.1, 0.6, 0), scale: 2.3, material: "wood"),
        Single(of: "crate", translate: (-1.2, -0.9, -3), scale: 2.5, material: "wood"),
        Single(of: "cart", translate: (2.2, -0.7, 0)),
    ],
    camera: LookAt(eye: (0, 0, 10), target: (0, 0, 0), projection: orthographic(height: 8)),
)
"#;

struct Thing {
    name: &'static str,
    material: &'static str,
    /// Whether the object covers a point of the picture, in scene units.
    covers: fn(f32, f32) -> bool,
}

/// The scene as coverage functions, from front to back.
const THINGS: [Thing; 5] = [
    Thing { name: "cart/ball", material: "rubber", covers: |x, y| (x - 2.55).hypot(y - 0.65) < 0.9 },
    Thing {
        name: "cart/crate",
        material: "\"Türkis\", matt",
        covers: |x, y| (x - 2.2).abs() < 0.85 && (y + 0.7).abs() < 0.65,
    },
    Thing { name: "crate.0", material: "wood", covers: |x, y| (x + 2.1).abs() < 1.15 && (y - 0.6).abs() < 1.15 },
    Thing { name: "crate.1", material: "wood", covers: |x, y| (x + 1.2).abs() < 1.25 && (y + 0.9).abs() < 1.25 },
    Thing {
        name: "wall",
        material: "\"Türkis\", matt",
        covers: |x, y| (x + 0.3).abs() < 4.5 && (y - 0.1).abs() < 3.25,
    },
];

/// Expected coverage of each pixel by objects that are `wanted`.
fn expected(wanted: impl Fn(&Thing) -> bool) -> Vec<f32> {
    let seen = |column: f32, row: f32| {
        let x = (column - 0.5 * WIDTH as f32) * PIXEL;
        let y = (0.5 * HEIGHT as f32 - row) * PIXEL;
        let front = THINGS.iter().find(|thing| (thing.covers)(x, y));
        front.is_some_and(&wanted)
    };
    let share = |pixel: usize| {
        let (column, row) = ((pixel % WIDTH) as f32, (pixel / WIDTH) as f32);
        let within = |i: usize| (i as f32 + 0.5) / POINTS as f32;
        let hits = (0..POINTS * POINTS).filter(|i| seen(column + within(i % POINTS), row + within(i / POINTS)));
        hits.count() as f32 / (POINTS * POINTS) as f32
    };
    (0..WIDTH * HEIGHT).map(share).collect()
}

/// The parts of a file that compositors use: float channels and text attributes.
struct File {
    channels: HashMap<String, Vec<f32>>,
    texts: HashMap<String, String>,
}

impl File {
    fn read(path: &Path) -> Self {
        let image = reference::read()
            .no_deep_data()
            .largest_resolution_level()
            .all_channels()
            .first_valid_layer()
            .all_attributes()
            .from_file(path)
            .unwrap();
        let aov = image.layer_data;
        let channels = aov.channel_data.list.into_iter();
        let floats = channels.filter_map(|channel| match channel.sample_data {
            FlatSamples::F32(values) => Some((channel.name.to_string(), values)),
            _ => None,
        });
        let texts = aov.attributes.other.iter();
        let texts = texts.filter_map(|(name, value)| match value {
            reference::AttributeValue::Text(text) => {
                let text = String::from_utf8(text.bytes().to_vec()).unwrap();
                Some((name.to_string(), text))
            }
            _ => None,
        });
        Self { channels: floats.collect(), texts: texts.collect() }
    }

    /// The manifest of `aov`: names, with their ids in hexadecimal.
    fn manifest(&self, aov: &str) -> HashMap<String, String> {
        let mut names = self.texts.iter();
        let (entry, _) = names.find(|(entry, text)| entry.starts_with("cryptomatte/") && *text == aov).unwrap();
        let key = entry.strip_suffix("/name").unwrap();
        let text = |entry: &str| &self.texts[&format!("{key}/{entry}")][..];
        assert_eq!(text("hash"), "MurmurHash3_32");
        assert_eq!(text("conversion"), "uint32_to_float32");
        serde_json::from_str(text("manifest")).unwrap()
    }

    /// The matte of an id: its coverage summed over all ranks.
    fn matte(&self, aov: &str, id: u32) -> Vec<f32> {
        let mut matte = vec![0.0; WIDTH * HEIGHT];
        for (name, ids) in &self.channels {
            let Some(rank) = name.strip_prefix(aov) else {
                continue;
            };
            let shares = match rank.split_once('.') {
                Some((rank, "r")) => &self.channels[&format!("{aov}{rank}.g")],
                Some((rank, "b")) => &self.channels[&format!("{aov}{rank}.a")],
                _ => continue,
            };
            for (pixel, sum) in matte.iter_mut().enumerate() {
                if ids[pixel].to_bits() == id {
                    *sum += shares[pixel];
                }
            }
        }
        matte
    }

    /// Cuts out the object `name` of the manifest and compares it with the expected coverage.
    #[track_caller]
    fn assert_cut(&self, aov: &str, name: &str, expected: &[f32]) {
        let id = u32::from_str_radix(&self.manifest(aov)[name], 16).unwrap();
        assert_eq!(id, cryptomatte::id(name), "{name}");
        let (mut inside, mut outside, mut edge) = (0, 0, 0);
        for (pixel, (&found, &share)) in self.matte(aov, id).iter().zip(expected).enumerate() {
            let (count, tolerance) = match share {
                0.0 => (&mut outside, 0.0),
                1.0 => (&mut inside, 1e-6),
                _ => (&mut edge, TOLERANCE),
            };
            *count += 1;
            let (x, y) = (pixel % WIDTH, pixel / WIDTH);
            assert!((found - share).abs() <= tolerance, "{aov} {name} at {x}, {y}: {found} instead of {share}");
        }
        assert!(inside > 0 && outside > 0 && edge > 0, "{name}");
    }
}

fn rendered(place: &Place, more: &[&str]) -> File {
    fs::write(place.path("scene.ron"), SCENE).unwrap();
    let args = ["render", "scene.ron", "--filter", "box", "-o", "mattes.exr"];
    place.ok(&[&args[..], more].concat());
    File::read(&place.path("mattes.exr"))
}

#[test]
fn names_in_the_file_cut_out_what_they_stand_for() {
    let place = Place::new(1);
    let file = rendered(&place, &["--layers", "all"]);
    assert_eq!(file.manifest("CryptoObject").len(), THINGS.len());
    for Thing { name, material, .. } in &THINGS {
        let instance = expected(|thing| thing.name == *name);
        file.assert_cut("CryptoObject", name, &instance);
        let material_of = expected(|thing| thing.material == *material);
        file.assert_cut("CryptoMaterial", material, &material_of);
    }
}

/// A convoy of carts with crates and a ball, placed once or several times, nested or not. All numbers are exact as floats.
fn convoy(nest: bool, count: u32) -> String {
    format!(
        r#"(
    render: (size: (24, 16), samples: 64, integrator: whitted, frames: 1),
    environment: Constant(radiance: (1, 1, 1)),
    meshes: {{ "crate": Box(), "ball": Sphere }},
    groups: {{
        "cart": [
            Single(of: "crate", translate: (-0.5, 0, 0)),
            Single(of: "crate", translate: (1, 0, 0), scale: 0.5),
            Single(of: "ball", translate: (0, 1.5, 0), scale: 0.5),
        ],
        "convoy": [
            Single(of: "cart", translate: (0, 0.5, 0), nest: {nest}),
            Single(of: "ball", translate: (0, -2, 0)),
        ],
    }},
    instances: [
        Single(of: "crate", translate: (-4, 0, 0)),
        Grid(of: "convoy", count: ({count}, 1, 1), spacing: (4, 0, 0), nest: {nest}),
    ],
    camera: LookAt(eye: (0, 0, 10), target: (0, 0, 0), projection: orthographic(height: 8)),
)
"#
    )
}

fn rendered_convoy(place: &Place, nest: bool, count: u32) -> File {
    fs::write(place.path("convoy.ron"), convoy(nest, count)).unwrap();
    place.ok(&["render", "convoy.ron", "--filter", "box", "--layers", "instance", "-o", "convoy.exr"]);
    File::read(&place.path("convoy.exr"))
}

#[test]
fn what_is_nested_once_has_the_mattes_of_what_is_copied() {
    let place = Place::new(1);
    let [nested, copied] = [true, false].map(|nest| rendered_convoy(&place, nest, 1));
    let manifest = nested.manifest("CryptoObject");
    let mut names: Vec<&str> = manifest.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["convoy/ball", "convoy/cart/ball", "convoy/cart/crate.0", "convoy/cart/crate.1", "crate"]);
    assert_eq!(manifest, copied.manifest("CryptoObject"));
    for (name, values) in &nested.channels {
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(values), bits(&copied.channels[name]), "{name}");
    }
}

#[test]
fn every_copy_of_an_assembly_has_mattes_of_its_own() {
    let place = Place::new(1);
    let file = rendered_convoy(&place, true, 2);
    let manifest = file.manifest("CryptoObject");
    assert_eq!(manifest.len(), 9);
    for (name, id) in &manifest {
        assert_eq!(*id, format!("{:08x}", cryptomatte::id(name)));
        let matte = file.matte("CryptoObject", cryptomatte::id(name));
        assert!(matte.iter().sum::<f32>() > 0.5, "{name}");
    }
    let id = &manifest["convoy.1/cart/crate.0"];
    let float = format!("<{:e}>", f32::from_bits(u32::from_str_radix(id, 16).unwrap()));
    for id in [id, &float] {
        let told = place.ok(&["info", "convoy.ron", "--matte-id", id]).stdout;
        assert_eq!(told.trim_end(), format!("{} convoy.1/cart/crate.0", manifest["convoy.1/cart/crate.0"]));
    }
    place.fails(&["info", "convoy.ron", "--matte-id", "00800000"], 1, "nothing in convoy.ron has the id 00800000");
    place.fails(&["info", "convoy.ron", "--matte-id", "crate"], 2, "an id is eight hexadecimal digits");
}

#[test]
fn millions_of_paths_are_not_listed_but_found() {
    let place = Place::new(1);
    let text = convoy(true, 250_000);
    fs::write(place.path("convoy.ron"), text).unwrap();
    let args = ["render", "convoy.ron", "--layers", "instance", "--size", "8x8", "--samples", "1", "-o", "convoy.exr"];
    let told = place.run(&args);
    assert!(told.stderr.contains("note: the layer `instance` has more than a million names"), "{}", told.stderr);
    assert!(File::read(&place.path("convoy.exr")).manifest("CryptoObject").is_empty());
    let id = format!("{:08x}", cryptomatte::id("convoy.249999/cart/crate.1"));
    let found = place.ok(&["info", "convoy.ron", "--matte-id", &id]).stdout;
    assert!(found.contains("convoy.249999/cart/crate.1"), "{found}");
}

#[test]
fn mattes_stay_whole_beside_half_floats_and_in_any_compression() {
    let place = Place::new(1);
    let plain = rendered(&place, &["--layers", "all", "--color-depth", "32", "--exr-compression", "none"]);
    for compression in ["rle", "zips", "zip"] {
        let file = rendered(&place, &["--layers", "instance,material", "--exr-compression", compression]);
        for (name, values) in &file.channels {
            let same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
            let pairs = values.iter().zip(&plain.channels[name]);
            assert!(pairs.clone().all(same), "{name} {compression}");
        }
        assert_eq!(file.channels.len(), 24, "{compression}");
    }
}
