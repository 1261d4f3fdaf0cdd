//! The sample files to be damaged: files of the repository, files written by the program, and small files from the folder in THRONG_DATA.

use super::{
    built::built,
    roles::{Role, makers, roles},
};
use crate::linux::{campaign::Campaign, process::End, promise::copy_files, random::Random, scene};
use anyhow::{Context, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use std::{fs, path::Path};
use tempfile::TempDir;

/// Greatest size of a sample, in bytes.
const LARGEST: u64 = 600_000;

/// A scene with a picture as the floor's texture.
const TEXTURED: &str = r#"(
    environment: Constant(radiance: (1, 1, 1)),
    materials: { "m": Diffuse(texture: "FILE") },
    meshes: { "floor": Quad() },
    instances: [Single(of: "floor", material: "m")],
    camera: LookAt(eye: (0, 2, 3), target: (0, 0, 0)),
)"#;
const LIT: &str = r#"(
    environment: Image(file: "m.hdr"),
    meshes: { "ball": Sphere },
    instances: [Single(of: "ball")],
    camera: LookAt(eye: (0, 2, 3), target: (0, 0, 0)),
)"#;
/// Placements whose transforms are in a file.
const TABLE: &str = r#"(
    render: (frames: 2, fps: 2),
    environment: Constant(radiance: (1, 1, 1)),
    meshes: { "ball": Sphere },
    instances: [Table(of: "ball", file: "FILE")],
    camera: LookAt(eye: (0, 2, 9), target: (0, 0, 0)),
)"#;

const STAGE: &str = r#"(meshes: {"a": Usd(file: "stage.usda", fit: 1)}, instances: [Grid(of: "a", count: (2, 1, 2), spacing: (1, 1, 1))])"#;
/// A material of a MaterialX document, and a stage that refers to it.
const DOCUMENT: &str = r#"(
    environment: Constant(radiance: (1, 1, 1)),
    materials: { "m": MaterialX(file: "m.mtlx", material: "M") },
    meshes: { "a": Quad() },
    instances: [Single(of: "a", material: "m")],
    camera: LookAt(eye: (0, 2, 3), target: (0, 0, 0)),
)"#;
const BOUND: &str = r#"#usda 1.0
def Cube "A" { rel material:binding = </Looks/M> }
def "Looks" (references = @m.mtlx@</MaterialX/Materials>) {}
"#;
const ACTOR: &str = r#"(
    environment: Constant(radiance: (1, 1, 1)),
    meshes: { "crowd": Gltf(file: "actor.gltf", clip: "0", poses: 4), "actor": Gltf(file: "actor.gltf") },
    motions: { "walk": (parts: [Clip()]) },
    instances: [Single(of: "crowd", motion: "walk"), Single(of: "actor")],
    camera: LookAt(eye: (0, 2, 8), target: (0, 0, 0)),
)"#;

pub struct Sample {
    pub name: String,
    pub bytes: Vec<u8>,
}

pub struct Corpus {
    /// Folder with the files that damaged files refer to.
    pub folder: TempDir,
    samples: Vec<Sample>,
    /// Roles, each with the indices of its samples.
    roles: Vec<(Role, Vec<usize>)>,
}

impl Corpus {
    pub fn make(campaign: &Campaign) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path();
        write_companions(campaign, path)?;
        for line in makers() {
            let ended = campaign.run(path, &line)?;
            ensure!(ended.end == End::Code(0), "{line}: {}", ended.stderr);
        }
        let mut samples = built();
        for of in ["assets", "tests/golden/scenes", "scenes"] {
            collect(&campaign.repository.join(of), &mut samples)?;
        }
        for of in ["made", "trees"] {
            collect(&path.join(of), &mut samples)?;
        }
        if let Some(data) = std::env::var_os("THRONG_DATA") {
            collect(Path::new(&data), &mut samples)?;
        }
        let tree = fs::read_dir(path.join("trees"))?.next();
        let tree = tree.context("nothing is kept in the cache")??.file_name();
        let with_samples = |role: Role| {
            let ending = format!(".{}", role.ending);
            let fits = |&index: &usize| samples[index].name.ends_with(&ending);
            let own: Vec<usize> = (0..samples.len()).filter(fits).collect();
            ensure!(!own.is_empty(), "there are no samples of {}", role.name);
            Ok((role, own))
        };
        let mut roles = roles(&format!("trees/{}", tree.display()))?;
        let unknown = campaign.roles.iter().find(|name| roles.iter().all(|role| role.name != **name));
        ensure!(unknown.is_none(), "there is no role `{}`", unknown.map_or("", |name| name));
        roles.retain(|role| campaign.roles.is_empty() || campaign.roles.iter().any(|name| name == role.name));
        let roles = roles.into_iter().map(with_samples).collect::<Result<_, _>>()?;
        Ok(Self { folder, samples, roles })
    }

    pub fn pick(&self, random: &mut Random) -> (&Role, &Sample) {
        let mut at = random.below(self.roles.iter().map(|(role, _)| role.share).sum());
        let found = self.roles.iter().find(|(role, _)| {
            let found = at < role.share;
            at = at.saturating_sub(role.share);
            found
        });
        let (role, own) = found.unwrap_or(&self.roles[0]);
        let mut sample = || &self.samples[*random.pick(own)];
        // The smaller of two samples: quick attempts are made more often.
        let (a, b) = (sample(), sample());
        (role, if a.bytes.len() < b.bytes.len() { a } else { b })
    }
}

fn write_companions(campaign: &Campaign, folder: &Path) -> anyhow::Result<()> {
    let golden = campaign.repository.join("tests/golden/scenes");
    copy_files(&golden, folder)?;
    scene::write(folder)?;
    fs::create_dir(folder.join("kept"))?;
    let house = fs::read_to_string(golden.join("house.obj"))?;
    fs::write(folder.join("mtl.obj"), house.replace("house.mtl", "m.mtl"))?;
    fs::write(folder.join("few.ray"), scene::rays(100))?;
    fs::write(folder.join("hdr.ron"), LIT)?;
    fs::write(folder.join("actor.ron"), ACTOR)?;
    fs::write(folder.join("stage.ron"), STAGE)?;
    fs::write(folder.join("mtlx.ron"), DOCUMENT)?;
    fs::write(folder.join("mtlx.usda"), BOUND)?;
    for ending in ["png", "jpg", "webp", "gif", "tga", "bmp", "tiff", "exr", "dds", "ktx2"] {
        let text = TEXTURED.replace("FILE", &format!("m.{ending}"));
        fs::write(folder.join(format!("{ending}.ron")), text)?;
    }
    for ending in ["npy", "csv", "jsonl"] {
        fs::write(folder.join(format!("{ending}.ron")), TABLE.replace("FILE", &format!("m.{ending}")))?;
    }
    Ok(())
}

/// Collects files of up to `LARGEST` bytes that need nothing from other folders.
fn collect(folder: &Path, samples: &mut Vec<Sample>) -> anyhow::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            collect(&path, samples)?;
        } else if kind.is_file() && entry.metadata()?.len() <= LARGEST {
            let bytes = fs::read(&path)?;
            let bytes = standalone(&path, bytes);
            let elsewhere =
                path.extension().is_some_and(|e| e == "ron") && String::from_utf8_lossy(&bytes).contains("../");
            if !elsewhere {
                samples.push(Sample { name: path.display().to_string(), bytes });
            }
        }
    }
    Ok(())
}

/// Embeds the small files to which a glTF file refers. Other files are returned unchanged.
fn standalone(path: &Path, bytes: Vec<u8>) -> Vec<u8> {
    let json = (path.extension().is_some_and(|e| e == "gltf")).then(|| serde_json::from_slice(&bytes).ok());
    let Some(Some(Value::Object(mut json))) = json else {
        return bytes;
    };
    for list in ["buffers", "images"] {
        for item in json.get_mut(list).and_then(|l| l.as_array_mut()).into_iter().flatten() {
            let file = item["uri"].as_str().map(|uri| path.with_file_name(uri));
            let small = file.filter(|file| fs::metadata(file).is_ok_and(|found| found.len() <= LARGEST));
            if let Some(data) = small.and_then(|file| fs::read(file).ok()) {
                item["uri"] = json!(format!("data:application/octet-stream;base64,{}", BASE64_STANDARD.encode(data)));
            }
        }
    }
    Value::Object(json).to_string().into_bytes()
}
