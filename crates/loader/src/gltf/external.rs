//! Files that contain other files: the external assets of the draft of glTF 2.1 (`files`, `externalAssets` and a node's `externalAsset`).
//!
//! The root nodes of the other file's scene become children of the node. Meshes, materials and textures are read once, even if several
//! nodes place the file. Its animations and its image-based light are ignored, with a warning.

use super::{
    GltfOptions, Input, Model,
    fault::{Fault, fault},
    file::{
        bytes::Bytes,
        document::{Document, out_of_range},
        numbers, uri,
    },
    load,
    nodes::Hierarchy,
};
use crate::{budget, files};
use gltf::json::{Index, buffer};
use serde::Deserialize;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};
use throng_scene::{
    NONE,
    rig::{RigNode, Skin},
};

/// Maximum depth of nested files.
const MOST_DEEP: usize = 16;
/// Bytes per node of the rig, with its name and pose.
const NODE: u64 = 512;

/// The members of a file that the `gltf` crate does not support.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct External {
    files: Vec<File>,
    external_assets: Vec<Asset>,
    nodes: Vec<Placed>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct File {
    uri: Option<String>,
    buffer_view: Option<u32>,
    aliases: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Asset {
    file: usize,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Placed {
    external_asset: Option<usize>,
}

impl External {
    /// Reads the members; None if the text has none.
    ///
    /// # Errors
    /// If a member has the wrong type.
    pub fn read(json: &[u8]) -> Result<Option<Self>, Fault> {
        const NAME: &[u8] = b"\"externalAssets\"";
        if !json.windows(NAME.len()).any(|bytes| bytes == NAME) {
            return Ok(None);
        }
        serde_json::from_slice(&numbers::integers_as_such(json))
            .map(Some)
            .map_err(|e| fault("/externalAssets", e.to_string()))
    }
}

/// Adds the external files of visible nodes to the model.
///
/// # Errors
/// If a file does not exist, is faulty, contains itself, or exceeds the memory budget.
pub fn attach(
    document: &Document,
    hierarchy: &Hierarchy,
    options: &GltfOptions,
    model: &mut Model,
) -> Result<(), Fault> {
    let Some(external) = &document.external else { return Ok(()) };
    let mut guests: HashMap<usize, Option<Guest>> = HashMap::new();
    for &(node, index) in &hierarchy.visible {
        let Some(asset) = external.nodes.get(index as usize).and_then(|node| node.external_asset) else { continue };
        let guest = match guests.remove(&asset) {
            Some(known) => known,
            None => {
                let at = format!("/nodes/{index}/externalAsset");
                let read = external.model(document, options, asset, &at).map(|read| Guest::new(read, model));
                document.faults.keep(read)?
            }
        };
        if let Some(guest) = &guest {
            let room = document.budget.take(guest.bytes());
            room.map_err(|lack| fault(format!("/nodes/{index}/externalAsset"), format!("placing it {lack}")))?;
            guest.place(node, model);
        }
        guests.insert(asset, guest);
    }
    if !guests.is_empty() {
        let doubt = "/externalAssets: files in files are of a draft of glTF 2.1, which may change";
        model.doubts.push(doubt.to_owned());
    }
    Ok(())
}

impl External {
    /// The model of external asset `asset`, to which the node at `at` refers.
    fn model(&self, document: &Document, options: &GltfOptions, asset: usize, at: &str) -> Result<Model, Fault> {
        let count = self.external_assets.len();
        let missing = || fault(at, out_of_range("external asset", asset, count));
        let index = self.external_assets.get(asset).ok_or_else(missing)?.file;
        let path = format!("/files/{index}");
        let file = self.files.get(index).ok_or_else(|| {
            fault(format!("/externalAssets/{asset}/file"), out_of_range("file", index, self.files.len()))
        })?;
        if !file.aliases.is_empty() {
            document.warnings.add(&format!("{path}/aliases"), "names of files within it are taken as they are");
        }
        let model = match (&file.uri, file.buffer_view) {
            (Some(name), _) if !uri::is_data(name) => {
                let found = uri::find(&document.folders, name).map_err(|m| fault(format!("{path}/uri"), m))?;
                read_file(document, options, found, &path)?
            }
            (Some(data), _) => {
                let bytes = uri::read(&document.folders, data, document.budget);
                let bytes = bytes.map_err(|m| fault(format!("{path}/uri"), m))?;
                read_bytes(document, options, Bytes::Memory(&bytes), &path)?
            }
            (None, Some(view)) => {
                let view: Index<buffer::View> = Index::new(view);
                let bytes = document.view(view, &format!("{path}/bufferView"))?.bytes;
                read_bytes(document, options, bytes, &path)?
            }
            (None, None) => return Err(fault(path, "a file needs a uri or a bufferView")),
        };
        if !model.rig.clips.is_empty() {
            document.warnings.add(&path, "the animations of a file within the file are left out");
        }
        model.warnings.iter().for_each(|line| document.warnings.add(&path, line));
        Ok(model)
    }
}

fn read_file(document: &Document, options: &GltfOptions, file: PathBuf, path: &str) -> Result<Model, Fault> {
    if options.within.contains(&file) {
        return Err(fault(path, "the file contains itself: take it out of one of the files"));
    }
    let (opened, length) = files::open(&file).map_err(|e| fault(path, e.message()))?;
    let home = file.parent().map(Path::to_owned);
    let options = nested(document, options, Some(file.clone()), path)?;
    let input = Input { bytes: Bytes::File { file: &opened, start: 0, length }, path: &file, home: home.as_deref() };
    load(&input, &options, document.budget).map_err(|inner| fault(path, inner.line()))
}

/// Files that the inner file refers to are searched in the folders of the outer one.
fn read_bytes(document: &Document, options: &GltfOptions, bytes: Bytes, path: &str) -> Result<Model, Fault> {
    let options = nested(document, options, None, path)?;
    let input = Input { bytes, path: Path::new(""), home: document.folders.home() };
    load(&input, &options, document.budget).map_err(|inner| fault(path, inner.line()))
}

/// The options for a file inside this one.
fn nested(document: &Document, outer: &GltfOptions, file: Option<PathBuf>, path: &str) -> Result<GltfOptions, Fault> {
    if outer.within.len() >= MOST_DEEP {
        return Err(fault(path, format!("files within files are more than {MOST_DEEP} deep")));
    }
    let mut options = GltfOptions {
        skip_environment: true,
        skip_tangents: outer.skip_tangents,
        line_width: outer.line_width,
        ..GltfOptions::default()
    };
    options.allow_dirs = outer.allow_dirs.iter().cloned().chain(document.folders.home().map(Path::to_owned)).collect();
    options.within = outer.within.iter().cloned().chain([file.unwrap_or_default()]).collect();
    Ok(options)
}

/// An external file whose meshes, materials and textures were moved to the outer model.
struct Guest {
    model: Model,
    first_mesh: u32,
}

impl Guest {
    fn new(mut model: Model, host: &mut Model) -> Self {
        let first_mesh = host.meshes.len() as u32;
        let (first_texture, first_material) = (host.textures.len() as u32, host.materials.len() as u32);
        host.textures.append(&mut model.textures);
        for mut material in model.materials.drain(..) {
            material.base.material += first_material;
            material.textures.iter_mut().for_each(|map| map.texture += first_texture);
            host.materials.push(material);
        }
        for mut mesh in model.meshes.drain(..) {
            mesh.variants.clear();
            if mesh.material != NONE {
                mesh.material += first_material;
            }
            host.meshes.push(mesh);
        }
        host.mesh_count += model.mesh_count;
        host.doubts.append(&mut model.doubts);
        Self { model, first_mesh }
    }

    /// Bytes of another placement.
    fn bytes(&self) -> u64 {
        let instances: usize = self.model.parts.iter().map(|part| part.placements.len()).sum();
        let joints: usize = self.model.rig.skins.iter().map(|skin| skin.joints.len()).sum();
        budget::INSTANCE * instances as u64 + NODE * self.model.rig.nodes.len() as u64 + 64 * joints as u64
    }

    /// Adds a copy of the hierarchy below a node of the outer rig.
    fn place(&self, node: u32, host: &mut Model) {
        let (first_node, first_skin) = (host.rig.nodes.len() as u32, host.rig.skins.len() as u32);
        let parent = |own: u32| if own == NONE { node } else { first_node + own };
        let nodes = self.model.rig.nodes.iter();
        host.rig.nodes.extend(nodes.map(|own| RigNode { parent: parent(own.parent), ..own.clone() }));
        let joints = |skin: &Skin| skin.joints.iter().map(|joint| first_node + joint).collect();
        let skins = self.model.rig.skins.iter();
        host.rig.skins.extend(skins.map(|skin| Skin { joints: joints(skin), ..skin.clone() }));
        for part in &self.model.parts {
            let mut part = part.clone();
            part.node += first_node;
            part.mesh += self.first_mesh;
            if part.skin != NONE {
                part.skin += first_skin;
            }
            host.parts.push(part);
        }
        // The outer file's animations refer to its own lights and cameras by index.
        for light in &self.model.lights {
            host.lights.push(super::ModelLight { node: first_node + light.node, light: NONE, ..light.clone() });
        }
        for camera in &self.model.cameras {
            host.cameras.push(super::ModelCamera { node: first_node + camera.node, camera: NONE, ..camera.clone() });
        }
    }
}
