//! Paths in prototypes of native instances, `/__Prototype_N/…`, which `openusd` makes up.

use super::values::Values;
use openusd::sdf;

/// Instances in instances that a path may go through.
const MAX_NESTING: usize = 32;

/// The root of the prototype that a path is in.
pub fn prototype_root(path: &sdf::Path) -> Option<sdf::Path> {
    let name = path.as_str().strip_prefix('/')?.split(['/', '.']).next()?;
    if name.starts_with("__Prototype_") { sdf::Path::new(&format!("/{name}")).ok() } else { None }
}

/// Whether the path is the root of a prototype. Its properties are those of the instance, which may override them.
pub fn is_prototype_root(path: &sdf::Path) -> bool {
    prototype_root(path).is_some_and(|root| root == *path)
}

/// The path of a prim as users know it: for a prim in a prototype, its path in the first instance.
pub fn stage_path(values: &Values, path: &sdf::Path) -> String {
    let mut path = path.clone();
    for _ in 0..MAX_NESTING {
        let Some(root) = prototype_root(&path) else { break };
        let instances = values.prim(&root).and_then(|prim| prim.instances().ok()).unwrap_or_default();
        match instances.first().and_then(|instance| path.replace_prefix(&root, instance)) {
            Some(outer) => path = outer,
            None => break,
        }
    }
    path.to_string()
}

/// A line of text with the paths that users know in place of paths in prototypes.
pub fn with_stage_paths(values: &Values, line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find("/__Prototype_") {
        let (before, path) = rest.split_at(start);
        let end = path[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(path.len(), |end| end + 1);
        text.push_str(before);
        let root = sdf::Path::new(&path[..end]).map(|root| stage_path(values, &root));
        text.push_str(root.as_deref().unwrap_or(&path[..end]));
        rest = &path[end..];
    }
    text.push_str(rest);
    text
}
