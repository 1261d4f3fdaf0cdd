//! Stages of a few lines, for tests.

use super::{open, values::Values, warnings::Warnings};
use crate::StageOptions;
use openusd::{sdf, usd::Prim};
use std::{
    path::{Path, PathBuf},
    rc::Rc,
};

/// A stage in a temporary folder, and its warnings.
pub struct TestStage {
    /// Reads its values.
    pub values: Rc<Values>,
    /// Its folder.
    pub folder: tempfile::TempDir,
    warnings: Rc<Warnings>,
}

impl TestStage {
    /// The stage of a text without its first line.
    pub fn new(text: &str) -> Self {
        Self::with_files(text, &[])
    }

    /// The stage of a text, with files beside it. Their names may have folders.
    pub fn with_files(text: &str, files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, content: &[u8]| {
            let path: PathBuf = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(&path, content).expect("a file");
            path
        };
        files.iter().for_each(|(name, content)| _ = write(name, content));
        let root = write("stage/root.usda", format!("#usda 1.0\n{text}").as_bytes());
        Self::open(folder, &root)
    }

    /// The stage of a text in a package (.usdz), with files in it.
    pub fn packaged(text: &str, files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("root.usdz");
        let mut package = openusd::usdz::ArchiveWriter::create(&path).expect("a package");
        package.add_layer("root.usda", format!("#usda 1.0\n{text}").as_bytes()).expect("a layer");
        files.iter().for_each(|(name, content)| package.add_layer(name, content).expect("a file"));
        package.finish().expect("a package");
        Self::open(folder, &path)
    }

    fn open(folder: tempfile::TempDir, root: &Path) -> Self {
        let opened = open::open(root, &StageOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        let warnings = Rc::new(Warnings::default());
        let times = opened.times(&warnings);
        Self { values: Rc::new(Values::new(&opened, times, warnings.clone())), folder, warnings }
    }

    /// The prim at a path.
    pub fn prim(&self, path: &str) -> Prim {
        self.values.prim(&sdf::Path::new(path).expect("a path")).unwrap_or_else(|| panic!("no prim {path}"))
    }

    /// The prims from the root to a path.
    pub fn line(&self, path: &str) -> Vec<Prim> {
        let names = path.match_indices('/').map(|(end, _)| end).skip(1).chain([path.len()]);
        names.map(|end| self.prim(&path[..end])).collect()
    }

    /// Takes all warnings.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    /// The only warning.
    pub fn warning(&self) -> String {
        let mut warnings = self.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:#?}");
        warnings.remove(0)
    }
}
