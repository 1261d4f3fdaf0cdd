//! Lookup of files that a model refers to, including files that moved when the model was copied from another machine.

use crate::folders::{Folders, Refusal};
use std::{
    cell::RefCell,
    collections::HashMap,
    fs,
    path::{Component, Path, PathBuf},
};

/// Finds the files of a model in the folders from which it may read.
#[derive(Debug, Default)]
pub struct Lookup {
    folders: Folders,
    /// Content of each searched folder: names by their lower-case form.
    listings: RefCell<HashMap<PathBuf, HashMap<String, String>>>,
}

/// A file that was found.
pub struct Found {
    /// Path without links.
    pub path: PathBuf,
    /// The path that was found, if it differs from the path in the model.
    pub instead: Option<PathBuf>,
}

impl Lookup {
    pub fn new(folders: Folders) -> Self {
        Self { folders, ..Self::default() }
    }

    /// Finds the file `name` of a model in `folder`. If it is missing or not allowed, a file whose name differs only in case is used, or
    /// else a file with this name in the model's own folder.
    ///
    /// # Errors
    /// If there is no such file: the reason why the named file is not read.
    pub fn find(&self, folder: &Path, name: &str) -> Result<Found, Refusal> {
        let name = name.replace('\\', "/");
        let refusal = match self.folders.find(&folder.join(&name)) {
            Ok(path) if path.is_file() => return Ok(Found { path, instead: None }),
            Ok(_) => Refusal::Missing,
            Err(refusal) => refusal,
        };
        let last = name.rsplit('/').next().unwrap_or_default();
        let others = [name.as_str(), last].into_iter().filter_map(|name| self.in_any_case(folder, name));
        let mut found = others.filter_map(|other| Some((self.folders.find(&other).ok()?, other)));
        let found = found.find(|(path, _)| path.is_file());
        found.map(|(path, other)| Found { path, instead: Some(other) }).ok_or(refusal)
    }

    /// The path whose components match `name` if case is ignored.
    fn in_any_case(&self, folder: &Path, name: &str) -> Option<PathBuf> {
        let mut path = folder.to_owned();
        for part in Path::new(name).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => path.push(".."),
                Component::Normal(name) => {
                    let like = self.like(&path, &name.to_string_lossy())?;
                    path.push(like);
                }
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(path)
    }

    /// The entry of a folder called `name`, or else the first one that differs only in case.
    fn like(&self, folder: &Path, name: &str) -> Option<String> {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let real = self.folders.find(here).ok()?;
        if real.join(name).exists() {
            return Some(name.to_owned());
        }
        let mut listings = self.listings.borrow_mut();
        let listing = listings.entry(real).or_insert_with_key(|folder| listing(folder));
        listing.get(&name.to_lowercase()).cloned()
    }
}

fn listing(folder: &Path) -> HashMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    // Of several names that differ only in case, the first one is kept.
    names.sort_by(|a, b| b.cmp(a));
    names.into_iter().map(|name| (name.to_lowercase(), name)).collect()
}
