//! Files that a stage names: which of them may be read, and their content.
//!
//! A stage may only read files in the folder of its root layer or below, or below a folder that the user allows. [`Resolver`] applies this
//! rule to layers; [`Files`] tells it to readers of pictures.

use super::{mtlx, text};
use openusd::ar::{self, DefaultResolver, ResolvedPath};
use std::{
    cell::RefCell,
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    rc::Rc,
    sync::Arc,
};
use throng_base::files::record;

/// What resolved names of MaterialX documents end with, so that `openusd` reads the layers that are made of them as text.
const AS_LAYER: &str = ".as-layer.usda";

/// Name of the layer that holds the variants of the options. No file has it.
pub const OPTIONS_LAYER: &str = "/throng-options.usda";

/// The folders that files may be in, and the files that were refused.
pub struct Files {
    folders: Vec<PathBuf>,
    refused: RefCell<Vec<PathBuf>>,
    /// What layers that were made of documents lack.
    remarks: RefCell<Vec<String>>,
    canonical: RefCell<HashMap<PathBuf, PathBuf>>,
    resolver: DefaultResolver,
}

impl Files {
    /// Allows the folder of the root layer, and `allow`. Folders that do not exist allow nothing.
    pub fn new(root: &Path, allow: &[PathBuf]) -> Self {
        let canonical = |path: &Path| path.canonicalize().ok();
        let own = canonical(root).and_then(|path| path.parent().map(Path::to_path_buf));
        let folders = own.into_iter().chain(allow.iter().filter_map(|path| canonical(path))).collect();
        Self {
            folders,
            refused: RefCell::default(),
            remarks: RefCell::default(),
            canonical: RefCell::default(),
            resolver: DefaultResolver::new(),
        }
    }

    /// Whether the file may be read. If not and it is a layer, it is remembered for the error that ends the reading; pictures are left out
    /// with a warning.
    pub fn allows(&self, file: &Path) -> bool {
        let Some(real) = self.canonical(file) else { return true };
        let allowed = self.folders.iter().any(|folder| real.starts_with(folder));
        if !allowed && is_layer(&real) && !self.refused.borrow().contains(&real) {
            self.refused.borrow_mut().push(real);
        }
        allowed
    }

    /// Files that were refused, in order.
    pub fn refused(&self) -> Vec<PathBuf> {
        self.refused.borrow().clone()
    }

    /// Takes the remarks about MaterialX documents.
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.take()
    }

    /// Content of a file in a package, `package.usdz[file]`. `None` if there is no such file or its package may not be read.
    pub fn packaged(&self, path: &str) -> Option<Arc<[u8]>> {
        let (package, _) = path.split_once('[')?;
        if !self.allows(Path::new(package)) {
            return None;
        }
        let mut asset = ar::Resolver::open_asset(&self.resolver, &ResolvedPath::new(path)).ok()?;
        asset.read_all().ok().map(Arc::from)
    }

    /// The path without links. Remembered, because each layer names the same files again. `None` if there is no such file.
    fn canonical(&self, file: &Path) -> Option<PathBuf> {
        if let Some(known) = self.canonical.borrow().get(file) {
            return Some(known.clone());
        }
        let real = file.canonicalize().ok()?;
        self.canonical.borrow_mut().insert(file.into(), real.clone());
        Some(real)
    }
}

/// Resolves asset paths as USD does by default, but only to allowed files. Remembers its results: composition asks for the same paths very
/// often, and each answer of the default resolver costs several calls of the system per folder.
pub struct Resolver {
    inner: DefaultResolver,
    files: Rc<Files>,
    options: String,
    identifiers: RefCell<HashMap<Option<ResolvedPath>, HashMap<String, String>>>,
    found: RefCell<HashMap<String, Option<ResolvedPath>>>,
}

impl Resolver {
    /// A resolver that also has the text of [`OPTIONS_LAYER`].
    pub fn new(files: Rc<Files>, options: String) -> Self {
        Self {
            inner: DefaultResolver::new(),
            files,
            options,
            identifiers: RefCell::default(),
            found: RefCell::default(),
        }
    }

    fn look_up(&self, path: &str) -> Option<ResolvedPath> {
        let found = ar::Resolver::resolve(&self.inner, path)?;
        if !self.files.allows(outer(&found)) {
            return None;
        }
        Some(match found.to_str() {
            Some(name) if is_document(name) => ResolvedPath::new(format!("{name}{AS_LAYER}")),
            _ => found,
        })
    }

    /// The layer of the MaterialX document at a path.
    fn document(&self, path: &str) -> io::Result<Vec<u8>> {
        let content = ar::Resolver::open_asset(&self.inner, &ResolvedPath::new(path))?.into_buffer()?;
        let mut include = |from: &str, name: &str| {
            let beside = anchor(from, name);
            let Some(found) = ar::Resolver::resolve(&self.inner, &beside) else { return Ok(None) };
            if !self.files.allows(outer(&found)) {
                return Err(io::Error::other(
                    "it is outside of the stage's folder; permit its folder with `--allow-dir`",
                ));
            }
            let content = ar::Resolver::open_asset(&self.inner, &found)?.into_buffer()?;
            Ok(Some((found.to_string(), content.to_vec())))
        };
        let layer = mtlx::layer(path, &content, &mut include).map_err(|fault| io::Error::other(fault.to_string()))?;
        self.files.remarks.borrow_mut().extend(layer.remarks);
        Ok(layer.text.into_bytes())
    }
}

/// Whether a resolved name is that of a MaterialX document, which may be in a package.
pub fn is_document(name: &str) -> bool {
    let name = name.strip_suffix(']').unwrap_or(name);
    name.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("mtlx"))
}

/// The file on disk that holds the resolved asset.
fn outer(path: &Path) -> &Path {
    match path.to_str().and_then(|text| text.split_once(".usdz[")) {
        Some((package, _)) => Path::new(&path.to_str().unwrap_or_default()[..package.len() + ".usdz".len()]),
        None => path,
    }
}

/// Whether the file is a layer, by its extension.
fn is_layer(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    ["usd", "usda", "usdc", "usdz", "mtlx"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// The file on disk that holds the layer with this identifier.
pub fn file_of(identifier: &str) -> PathBuf {
    let name = identifier.strip_suffix(AS_LAYER).unwrap_or(identifier);
    outer(Path::new(name)).to_path_buf()
}

impl ar::Resolver for Resolver {
    fn create_identifier(&self, path: &str, anchor: Option<&ResolvedPath>) -> String {
        if path == OPTIONS_LAYER {
            return path.to_owned();
        }
        let anchor = anchor.cloned();
        if let Some(known) = self.identifiers.borrow().get(&anchor).and_then(|known| known.get(path)) {
            return known.clone();
        }
        let identifier = self.inner.create_identifier(path, anchor.as_ref());
        if let Some(layer) = anchor.as_ref().and_then(|layer| layer.to_str()) {
            record_missing(layer, path);
        }
        self.identifiers.borrow_mut().entry(anchor).or_default().insert(path.to_owned(), identifier.clone());
        identifier
    }

    fn resolve(&self, path: &str) -> Option<ResolvedPath> {
        if path == OPTIONS_LAYER {
            return Some(ResolvedPath::new(path));
        }
        if let Some(known) = self.found.borrow().get(path) {
            return known.clone();
        }
        let found = self.look_up(path);
        self.found.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }

    fn resolve_for_new_asset(&self, _: &str) -> Option<ResolvedPath> {
        None
    }

    fn open_asset(&self, path: &ResolvedPath) -> io::Result<Box<dyn ar::Asset>> {
        if path.as_os_str() == OPTIONS_LAYER {
            return Ok(Box::new(io::Cursor::new(self.options.clone().into_bytes())));
        }
        let document = path.to_str().and_then(|name| name.strip_suffix(AS_LAYER));
        // Also files that cannot be read: who watches the files of a scene waits for them to be mended.
        let file = document.map_or_else(|| outer(path), Path::new);
        record(file, file.metadata().ok().map(|metadata| metadata.len()));
        if let Some(document) = document {
            return Ok(Box::new(io::Cursor::new(self.document(document)?)));
        }
        let asset = self.inner.open_asset(path)?;
        let content = asset.into_buffer()?;
        let content = text::repaired(&content)?.map_or(content, ar::AssetBuffer::from);
        Ok(Box::new(io::Cursor::new(content)))
    }

    fn get_extension<'a>(&self, path: &'a str) -> &'a str {
        self.inner.get_extension(path)
    }

    fn is_context_dependent_path(&self, path: &str) -> bool {
        self.inner.is_context_dependent_path(path)
    }

    fn identity(&self) -> String {
        self.inner.identity()
    }

    fn cache_id(&self) -> Option<u64> {
        self.inner.cache_id()
    }
}

/// Records a file that is not there, for who watches the files of a scene.
fn record_missing(layer: &str, path: &str) {
    let file = self::anchor(layer, path);
    if !file.contains('[') && !Path::new(&file).exists() {
        record(Path::new(&file), None);
    }
}

/// The path that an asset path has in the layer with this identifier.
pub fn anchor(layer: &str, path: &str) -> String {
    let resolver = DefaultResolver::new();
    // A path such as `textures/<UDIM>.png` would be searched for, and is not there; USD then means the layer's folder.
    let here =
        if path.starts_with(['/', '.', '\\']) || path.contains(':') { path.to_owned() } else { format!("./{path}") };
    ar::Resolver::create_identifier(&resolver, &here, Some(&ResolvedPath::new(layer)))
}
