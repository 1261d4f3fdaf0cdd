//! Attack: OpenEXR files with arbitrary windows, parts, channels and values, as other programs may write them. Every command that reads
//! pictures must end properly.

use crate::linux::{campaign::Campaign, process::End, promise::Promise, random::Random, scene};
use anyhow::Context;
use exr::prelude::{f16, *};
use std::{fs, path::Path};

const NAMES: [&str; 21] = [
    "R",
    "G",
    "B",
    "A",
    "Y",
    "Z",
    "r",
    "red",
    ".",
    "..",
    "layer.R",
    "layer.G",
    "layer.B",
    "albedo.R",
    "albedo.G",
    "albedo.B",
    "normal.X",
    "normal.Y",
    "normal.Z",
    "ViewLayer.Combined.R",
    "ä\u{7f}",
];
/// Channels that the denoiser needs.
const WHOLE: [&str; 9] = ["R", "G", "B", "albedo.R", "albedo.G", "albedo.B", "normal.X", "normal.Y", "normal.Z"];
const VALUES: [f32; 10] = [0.0, 0.5, 1.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e38, -3e-39, 65504.0];
const LINES: [&str; 9] = [
    "diff a.exr a.exr",
    "diff a.exr a.exr --json",
    "diff a.exr b.exr --limit 1 --map map.png",
    "diff --sequence #.exr #.exr",
    "denoise a.exr -q -o out.exr",
    "denoise a.exr -q -o out.png --exposure 0",
    "render hills.obj -q -f 1 --size 16x9 --samples 1 --environment a.exr -o out.png",
    "render scene.ron -q -f 1 --size 16x9 --samples 1 --background a.exr -o out.png",
    "merge a.exr -o out.exr",
];

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let promise = campaign.promise("pictures of other programs are read or refused", "pictures");
    campaign.each(22, campaign.kills, |_, random| {
        let folder = tempfile::tempdir()?;
        scene::write(folder.path())?;
        for name in ["a.exr", "b.exr"] {
            write(&folder.path().join(name), random)?;
        }
        fs::copy(folder.path().join("a.exr"), folder.path().join("1.exr"))?;
        let line = *random.pick(&LINES);
        let ended = campaign.run(folder.path(), line)?;
        let equal = ended.end == End::Code(1) && ended.stderr.is_empty() && !line.contains("b.exr");
        let out = folder.path().join("out.exr");
        let moved =
            line.starts_with("denoise") && out.exists() && windows(&out)? != windows(&folder.path().join("a.exr"))?;
        let fault = campaign.bounds.fault(&ended);
        let fault = fault.or_else(|| equal.then(|| "a picture differs from itself".to_owned()));
        let fault = fault.or_else(|| moved.then(|| "pixels have moved".to_owned()));
        promise.tried(fault, &ended, Some(folder.path()))
    })?;
    Ok(vec![promise])
}

type Windows = (Vec2<i32>, Vec2<usize>, IntegerBounds);

fn windows(path: &Path) -> anyhow::Result<Windows> {
    let meta = MetaData::read_from_file(path, false)?;
    let header = meta.headers.first().context("no part")?;
    Ok((header.own_attributes.layer_position, header.layer_size, header.shared_attributes.display_window))
}

/// Writes a random file of one to three parts.
fn write(path: &Path, random: &mut Random) -> anyhow::Result<()> {
    let size = Vec2(1 + random.below(40), 1 + random.below(30));
    let parts = 1 + random.below(3);
    let place = |random: &mut Random| Vec2(random.below(300) as i32 - 150, random.below(300) as i32 - 150);
    let layers = (0..parts).map(|part| {
        let own = if random.once_in(3) { Vec2(1 + random.below(40), 1 + random.below(30)) } else { size };
        let mut names: Vec<&str> = if random.once_in(2) { WHOLE.to_vec() } else { Vec::new() };
        names.extend((0..1 + random.below(4)).map(|_| *random.pick(&NAMES)));
        names.sort_unstable();
        names.dedup();
        let channels = names.iter().map(|name| AnyChannel::new(Text::from(*name), samples(own, random))).collect();
        let mut attributes = LayerAttributes::named(&*format!("part{part}"));
        if random.once_in(2) {
            attributes.layer_position = place(random);
        }
        Layer::new(own, attributes, Encoding::UNCOMPRESSED, AnyChannels::sort(channels))
    });
    let layers: Layers<_> = layers.collect();
    let display = IntegerBounds::new(place(random), Vec2(1 + random.below(400), 1 + random.below(400)));
    Image::from_layers(ImageAttributes::new(display), layers).write().to_file(path)?;
    Ok(())
}

fn samples(size: Vec2<usize>, random: &mut Random) -> FlatSamples {
    let wild = random.once_in(2);
    let values =
        (0..size.area()).map(|_| if wild && random.once_in(9) { *random.pick(&VALUES) } else { random.share() as f32 });
    let values: Vec<f32> = values.collect();
    match random.below(4) {
        0 => FlatSamples::F16(values.into_iter().map(f16::from_f32).collect()),
        1 => FlatSamples::U32(values.into_iter().map(f32::to_bits).collect()),
        _ => FlatSamples::F32(values),
    }
}
