//! Pictures that materials and lights read, each once.

use super::values::{AssetRef, Values};
use crate::{Asset, Light, LightKind, Material, NONE};
use openusd::usd::Prim;
use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    rc::Rc,
};

/// Stands for the number of a tile in the path of a picture in tiles.
const UDIM: &str = "<UDIM>";

/// The pictures of a stage. Clones share their content.
#[derive(Clone, Default)]
pub struct Pictures {
    inner: Rc<RefCell<Inner>>,
}

#[derive(Default)]
struct Inner {
    assets: Vec<Asset>,
    /// Index of each asset, or [`NONE`], by its path.
    known: HashMap<String, u32>,
    missing: BTreeSet<String>,
}

impl Pictures {
    /// Index of the picture that the attribute names, or [`NONE`]: without a warning if it names none, otherwise with one for each file that
    /// cannot be read.
    pub fn add(&self, values: &Values, prim: &Prim, name: &str) -> u32 {
        let Some(asset) = values.asset(prim, name) else { return NONE };
        if let Some(known) = self.inner.borrow().known.get(&asset.anchored) {
            return *known;
        }
        let found = open(values, &asset);
        let inner = &mut *self.inner.borrow_mut();
        let index = match found {
            Ok(found) => {
                inner.assets.push(found);
                inner.assets.len() as u32 - 1
            }
            Err(cause) => {
                values.warn(format!("{}.{name}: picture {} {cause}", prim.path(), asset.authored));
                inner.missing.insert(asset.authored.clone());
                NONE
            }
        };
        inner.known.insert(asset.anchored, index);
        index
    }

    /// All pictures, and the names of those that cannot be read.
    pub fn finish(&self) -> (Vec<Asset>, Vec<String>) {
        let Inner { assets, missing, .. } = std::mem::take(&mut *self.inner.borrow_mut());
        (assets, missing.into_iter().collect())
    }
}

/// The pictures that the materials and lights read, with their indices adapted. Materials that are bound but not shown have read others.
pub fn keep_used(pictures: Vec<Asset>, materials: &mut [Material], lights: &mut [Light]) -> Vec<Asset> {
    let mut pictures: Vec<Option<Asset>> = pictures.into_iter().map(Some).collect();
    let mut new = vec![NONE; pictures.len()];
    let mut kept = Vec::new();
    let mut adapt = |index: &mut u32| {
        let old = *index as usize;
        if let Some(picture) = pictures.get_mut(old).and_then(Option::take) {
            new[old] = kept.len() as u32;
            kept.push(picture);
        }
        *index = new.get(old).copied().unwrap_or(NONE);
    };
    materials.iter_mut().for_each(|material| material.surface.for_each_read(&mut |read| adapt(&mut read.picture)));
    lights.iter_mut().filter_map(picture_of_light).for_each(adapt);
    kept
}

fn picture_of_light(light: &mut Light) -> Option<&mut u32> {
    match &mut light.kind {
        LightKind::Dome { picture, .. } | LightKind::Rect { picture, .. } => {
            Some(picture).filter(|index| **index != NONE)
        }
        _ => None,
    }
}

/// The picture's file or files, or why it has none.
fn open(values: &Values, asset: &AssetRef) -> Result<Asset, String> {
    if asset.is_packaged() {
        if asset.anchored.contains(UDIM) {
            return Err("has tiles in a package; unpack the package".to_owned());
        }
        let bytes = values.packaged(asset).ok_or("does not exist in its package")?;
        return Ok(Asset { path: asset.path(), bytes: Some(bytes), tiles: Vec::new() });
    }
    let path = asset.path();
    if asset.anchored.contains(UDIM) {
        let tiles = tiles(&path);
        let first = tiles.first().ok_or("has no tiles")?;
        permitted(values, &first.1)?;
        return Ok(Asset { path, bytes: None, tiles });
    }
    if !path.is_file() {
        return Err("does not exist".to_owned());
    }
    permitted(values, &path)?;
    Ok(Asset { path, bytes: None, tiles: Vec::new() })
}

/// Applies the rule about folders.
fn permitted(values: &Values, file: &Path) -> Result<(), String> {
    if values.files().allows(file) {
        return Ok(());
    }
    let folder = file.parent().unwrap_or(file).display();
    Err(format!("is outside of the stage's folder and left out; permit it with `--allow-dir {folder}`"))
}

/// Tiles on disk with their numbers, 1001 to 9999, in ascending order.
fn tiles(path: &Path) -> Vec<(u32, PathBuf)> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let (Some((before, after)), Some(folder)) = (name.split_once(UDIM), path.parent()) else { return Vec::new() };
    let number = |name: &str| {
        let digits = name.strip_prefix(before)?.strip_suffix(after)?;
        let number: u32 = digits.parse().ok()?;
        (digits.len() == 4 && number > 1000).then_some(number)
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut tiles: Vec<_> =
        entries.filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry.path()))).collect();
    tiles.sort();
    tiles
}
