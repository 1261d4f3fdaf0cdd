//! Stages that are written in tests.

use std::path::{Path, PathBuf};
use tempfile::TempDir;
use throng_usd::{Content, Item, Stage, StageError, StageOptions};

/// A folder with layers in text.
pub struct Layers {
    folder: TempDir,
}

impl Layers {
    /// Writes each file; layers with the first line that those in text have.
    pub fn new(layers: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in layers {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let first_line = if name.ends_with(".mtlx") { "" } else { "#usda 1.0\n" };
            std::fs::write(path, format!("{first_line}{text}")).unwrap();
        }
        Self { folder }
    }

    /// The path of a layer.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Reads a layer.
    pub fn read(&self, name: &str, options: &StageOptions) -> Result<Stage, StageError> {
        throng_usd::read(&self.path(name), options)
    }
}

/// Reads a stage of one layer.
pub fn read(text: &str) -> Stage {
    Layers::new(&[("a.usda", text)]).read("a.usda", &StageOptions::default()).unwrap()
}

/// The error of a stage of one layer, without the folder.
pub fn error(text: &str) -> StageError {
    let layers = Layers::new(&[("a.usda", text)]);
    let error = layers.read("a.usda", &StageOptions::default()).unwrap_err();
    StageError { file: error.file.file_name().map(Path::new).unwrap().into(), ..error }
}

/// Names of all shapes that are shown at some time, with those in groups under the name of the item.
pub fn names(stage: &Stage) -> Vec<String> {
    let mut names = Vec::new();
    let mut stack: Vec<(u32, String)> = vec![(0, String::new())];
    while let Some((group, prefix)) = stack.pop() {
        for item in &stage.groups[group as usize].items {
            let name = item.name.rsplit('/').next().unwrap_or_default();
            let name = format!("{prefix}{name}");
            match &item.content {
                Content::Shape { .. } => names.push(name),
                Content::Group(inner) => stack.push((*inner, format!("{name}/"))),
                Content::Copies(copies) => {
                    let inner = copies.of.iter().map(|&of| copies.prototypes[of as usize]);
                    stack.extend(inner.map(|inner| (inner, format!("{name}/"))));
                }
            }
        }
    }
    names.sort();
    names
}

/// The item of the world with this path.
pub fn item<'a>(stage: &'a Stage, name: &str) -> &'a Item {
    stage
        .groups
        .iter()
        .flat_map(|group| &group.items)
        .find(|item| item.name == name)
        .unwrap_or_else(|| panic!("{name} is not in {:?}", stage.groups))
}
