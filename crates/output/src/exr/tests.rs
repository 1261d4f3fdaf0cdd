use super::*;
use crate::{ColorDepth, Manifests, Metadata, Pixels, picture::testing::metadata};
use exr::prelude::{self as reference, FlatSamples, ReadChannels, ReadLayers, Text};
use std::{fs, io::Cursor};
use throng_picture::aov::{Aov, AovImage};

const SIZE: (u32, u32) = (61, 37);
const COMPRESSIONS: [ExrCompression; 4] =
    [ExrCompression::None, ExrCompression::Rle, ExrCompression::Zips, ExrCompression::Zip];

/// A frame with all AOVs: smooth, constant and noisy values, with a few misses.
struct Example {
    beauty: Vec<f32>,
    aovs: Vec<AovImage>,
    manifests: Manifests,
    metadata: Metadata,
}

impl Example {
    fn new() -> Self {
        let pixels = (SIZE.0 * SIZE.1) as usize;
        let aov = |aov: Aov| {
            let value = |i: usize| match aov {
                Aov::Depth if i.is_multiple_of(7) => f32::INFINITY,
                aov if aov.is_matte() && i % 12 > 5 => 0.0,
                aov if aov.is_matte() => f32::from_bits(((i / 300) as u32).wrapping_mul(0x1234_5679) & 0x3fff_ffff),
                Aov::Normal => (i as f32 * 0.01).sin(),
                _ => (i as u32).wrapping_mul(2_654_435_761) as f32 * 1e-7,
            };
            let values: Vec<f32> = (0..pixels * aov.channels()).map(value).collect();
            AovImage { aov, values: values.into() }
        };
        Self {
            beauty: (0..pixels * 3).map(|i| i as f32 * 0.37 - 20.0).collect(),
            aovs: Aov::ALL.map(aov).into(),
            manifests: Manifests {
                instances: r#"{"ball/1":"0badcafe"}"#.into(),
                materials: r#"{"red":"0badf00d"}"#.into(),
            },
            metadata: metadata(),
        }
    }

    fn encode(&self, encoding: &Encoding) -> Vec<u8> {
        self.encode_as(false, encoding)
    }

    fn encode_as(&self, transparent: bool, encoding: &Encoding) -> Vec<u8> {
        let picture = Picture {
            width: SIZE.0,
            height: SIZE.1,
            pixels: Pixels::F32(self.beauty[..].into()),
            aovs: &self.aovs,
            transparent,
            blocks: None,
            display: None,
            manifests: &self.manifests,
            metadata: &self.metadata,
        };
        encode(&picture, encoding).unwrap()
    }
}

type Channels = Vec<(String, FlatSamples)>;

/// Reads a file with another implementation. Returns channels by name, and text attributes.
fn read(file: Vec<u8>) -> (Channels, Vec<(String, String)>) {
    let image = reference::read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .all_layers()
        .all_attributes()
        .from_buffered(Cursor::new(file))
        .unwrap();
    let [aov] = &image.layer_data[..] else {
        panic!("{} parts", image.layer_data.len());
    };
    let channels = aov.channel_data.list.iter();
    let channels = channels.map(|c| (c.name.to_string(), c.sample_data.clone())).collect();
    let texts = aov.attributes.other.iter().filter_map(|(name, value)| match value {
        reference::AttributeValue::Text(text) => Some((name.to_string(), utf8(text))),
        _ => None,
    });
    let mut texts: Vec<_> = texts.collect();
    let software = aov.attributes.software_name.as_ref().map(utf8);
    texts.extend(software.map(|text| ("software".into(), text)));
    (channels, texts)
}

/// Decodes a text as UTF-8, as OpenEXR's own implementation does. The other implementation decodes texts as Latin-1.
fn utf8(text: &Text) -> String {
    String::from_utf8(text.bytes().to_vec()).unwrap()
}

#[test]
fn every_channel_survives_every_compression_to_the_bit() {
    let example = Example::new();
    for compression in COMPRESSIONS {
        let encoding = Encoding { depth: ColorDepth::Bits32, compression, ..Encoding::default() };
        let (channels, _) = read(example.encode(&encoding));
        assert_eq!(channels.len(), 3 + Aov::ALL.map(Aov::channels).iter().sum::<usize>());
        for (name, samples) in channels {
            let FlatSamples::F32(found) = samples else {
                panic!("{name} is not float");
            };
            let expected = expected_values(&example, &name);
            let same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
            assert!(found.iter().zip(&expected).all(same), "{name} with {compression:?}");
        }
    }
}

#[test]
fn alpha_is_the_picture_s_own_where_it_is_transparent_and_else_a_layer() {
    let example = Example::new();
    for (transparent, expected) in [(true, "A"), (false, "alpha.A")] {
        let (channels, _) = read(example.encode_as(transparent, &Encoding::default()));
        let names: Vec<&str> = channels.iter().map(|(name, _)| &name[..]).collect();
        assert_eq!(names.iter().filter(|name| ["A", "alpha.A"].contains(name)).collect::<Vec<_>>(), [&expected]);
    }
}

/// Computes the values of a channel from its name alone.
fn expected_values(example: &Example, name: &str) -> Vec<f32> {
    let (aov, letter) = name.rsplit_once('.').unwrap_or(("", name));
    let place = |letters: &str| letters.find(letter).unwrap();
    let of = |aov: Aov| &example.aovs.iter().find(|i| i.aov == aov).unwrap().values[..];
    let (values, offset, stride) = match aov {
        "" => (&example.beauty[..], place("RGB"), 3),
        "albedo" => (of(Aov::Albedo), place("RGB"), 3),
        "variance" => (of(Aov::Variance), place("RGB"), 3),
        "normal" => (of(Aov::Normal), place("XYZ"), 3),
        "position" => (of(Aov::Position), place("XYZ"), 3),
        "motion" => (of(Aov::Motion), place("XYZW"), 4),
        "depth" => (of(Aov::Depth), place("Z"), 1),
        "alpha" => (of(Aov::Alpha), place("A"), 1),
        "shadow" => (of(Aov::Shadow), place("RGB"), 3),
        "wireframe" => (of(Aov::Wireframe), place("A"), 1),
        "error" => (of(Aov::Error), place("V"), 1),
        "alpha_variance" => (of(Aov::AlphaVariance), place("V"), 1),
        matte => {
            let (base, rank) = matte.split_at(matte.len() - 2);
            let aov = if base == "CryptoObject" { Aov::Instance } else { Aov::Material };
            (of(aov), 4 * rank.parse::<usize>().unwrap() + place("rgba"), 12)
        }
    };
    let values = values.iter().skip(offset).step_by(stride);
    values.map(|v| if aov == "depth" { v.min(1e10) } else { *v }).collect()
}

#[test]
fn what_half_floats_are_enough_for_has_them_unless_more_is_asked_for() {
    let mut example = Example::new();
    example.beauty[0] = 1e6;
    example.beauty[1] = f32::NEG_INFINITY;
    let (channels, _) = read(example.encode(&Encoding::default()));
    for (name, samples) in channels {
        let aov = name.split('.').next().unwrap_or_default();
        let half = matches!(aov, "R" | "G" | "B" | "albedo" | "normal" | "motion" | "alpha" | "shadow" | "wireframe");
        assert_eq!(matches!(samples, FlatSamples::F16(_)), half, "{name}");
        if let ("R" | "G", FlatSamples::F16(values)) = (name.as_str(), samples) {
            let bound = if name == "R" { 65_504.0 } else { -65_504.0 };
            assert_eq!(values[0].to_f32(), bound, "no infinity");
        }
    }
}

#[test]
fn the_file_tells_where_it_comes_from_and_what_its_ids_mean() {
    let (_, texts) = read(Example::new().encode(&Encoding::default()));
    let has = |name: &str, value: &str| {
        let found = texts.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        assert_eq!(found, Some(value), "{name} in {texts:?}");
    };
    has("software", "throng 1.2.3");
    has("scene", "spheres ●");
    has("sceneHash", "0123456789abcdef");
    // The values in Psyop's and Blender's files for these names.
    has("cryptomatte/3ae39a5/name", "CryptoObject");
    has("cryptomatte/3ae39a5/hash", "MurmurHash3_32");
    has("cryptomatte/3ae39a5/conversion", "uint32_to_float32");
    has("cryptomatte/3ae39a5/manifest", r#"{"ball/1":"0badcafe"}"#);
}

#[test]
fn threads_do_not_change_the_file() {
    let example = Example::new();
    let with = |threads| example.encode(&Encoding { threads, ..Encoding::default() });
    assert!(with(1) == with(5));
}

#[test]
fn layers_of_the_wrong_size_are_refused() {
    let mut example = Example::new();
    example.aovs[2].values = vec![1.0].into();
    let picture = Picture {
        width: SIZE.0,
        height: SIZE.1,
        pixels: Pixels::F32(example.beauty[..].into()),
        aovs: &example.aovs,
        transparent: false,
        blocks: None,
        display: None,
        manifests: &example.manifests,
        metadata: &example.metadata,
    };
    assert!(encode(&picture, &Encoding::default()).is_err());
}

#[test]
fn only_a_whole_file_counts_as_complete() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.exr");
    assert!(!is_complete_exr(&path));
    let whole = Example::new().encode(&Encoding::default());
    fs::write(&path, &whole).unwrap();
    assert!(is_complete_exr(&path));
    let (size, told) = read_origin(&path).unwrap();
    assert_eq!(size, SIZE);
    assert_eq!(Example::new().metadata.difference(&told), None);
    assert!(["Settings", "Scene hash", "Frame", "Seconds"].iter().all(|name| told.contains_key(*name)));
    for len in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..len]).unwrap();
        assert!(!is_complete_exr(&path), "{len} bytes");
    }
    fs::write(&path, vec![0; whole.len()]).unwrap();
    assert!(!is_complete_exr(&path));
}
