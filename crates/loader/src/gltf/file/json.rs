//! The JSON of a file in the data model of the `gltf` crate. Optional members that the crate requires are added. Faulty parts are replaced
//! where possible.

use super::{extensions::ANIMATION_POINTER, numbers};
use crate::budget::Budget;
use crate::gltf::fault::{Fault, fault};
use gltf::json::{Index, Root, animation::Target};
use serde_json::{Value, json};
use serde_path_to_error::{Path, Segment};
use throng_base::guard::guarded;

/// Index of a missing node. The crate requires a node in every animation channel.
const NO_NODE: u32 = u32::MAX;

/// Whether an index was added by [`parse`].
pub fn is_absent<T>(index: Index<T>) -> bool {
    index.value() == NO_NODE as usize
}

/// The pointer of a channel without a node (KHR_animation_pointer), if it has one.
pub fn pointer_of(target: &Target) -> Option<String> {
    let kept = target.extras.as_ref()?;
    serde_json::from_str(kept.get()).ok()
}

/// A parsed file, and the faults of parts that were replaced by empty ones.
pub struct Parsed {
    pub root: Root,
    pub replaced: Vec<Fault>,
}

/// Parses the text. `serde_json` limits nesting to 128 levels.
///
/// # Errors
/// If the text is not JSON (with line and column), is not glTF (with a JSON pointer), has an unsupported version, or exceeds the memory
/// budget.
pub fn parse(text: &[u8], budget: &Budget) -> Result<Parsed, Fault> {
    budget.take(estimate(text)).map_err(|lack| fault("", format!("the JSON text {lack}")))?;
    let text = &numbers::integers_as_such(text);
    let parsed = guarded(
        || match serde_json::from_slice(text) {
            Ok(root) => Ok(Parsed { root, replaced: Vec::new() }),
            Err(_) => parse_again(text),
        },
        |words| fault("", format!("the JSON text is damaged: {words}")),
    )?;
    check_version(&parsed.root)?;
    Ok(parsed)
}

/// Upper bound of the memory of the parsed text: at most 1024 bytes per object and 96 per list element.
fn estimate(text: &[u8]) -> u64 {
    let cost = |&b: &u8| match b {
        b'{' => 1025,
        b',' => 97,
        _ => 1u64,
    };
    text.iter().map(cost).sum()
}

/// Parses the text with repairs. This is slower, and most files do not need it.
fn parse_again(text: &[u8]) -> Result<Parsed, Fault> {
    let mut value: Value =
        serde_json::from_slice(text).map_err(|e| fault("", format!("not valid JSON: {e}: export the file again")))?;
    for scene in objects(&mut value, "scenes") {
        default(scene, "nodes", json!([]));
    }
    for animation in objects(&mut value, "animations") {
        default(animation, "samplers", json!([]));
        default(animation, "channels", json!([]));
        for channel in objects(animation, "channels") {
            if let Some(target) = channel.get_mut("target") {
                repair_target(target);
            }
        }
    }
    let mut replaced = Vec::new();
    loop {
        let fault = match serde_path_to_error::deserialize(&value) {
            Ok(root) => return Ok(Parsed { root, replaced }),
            Err(e) => fault(pointer(e.path()), e.inner().to_string()),
        };
        if replaced.len() >= MOST_REPLACED || !replace(&mut value, &fault.path) {
            return Err(fault);
        }
        replaced.push(fault);
    }
}

/// Maximum number of replaced parts; a file with more is rejected as damaged. Each replacement parses the whole file again.
const MOST_REPLACED: usize = 16;

/// Removes the part at `path` if it is only a description or can be replaced. Returns false if it is needed.
fn replace(value: &mut Value, path: &str) -> bool {
    if let Some((parent, "name" | "copyright" | "generator")) = path.rsplit_once('/') {
        let parent = value.pointer_mut(parent).and_then(Value::as_object_mut);
        let member = path.rsplit('/').next().unwrap_or_default();
        return parent.is_some_and(|parent| parent.remove(member).is_some());
    }
    let mut segments = path.split('/').skip(1);
    let (Some(list), Some(index)) = (segments.next(), segments.next()) else {
        return false;
    };
    let empty = match list {
        "animations" => json!({"samplers": [], "channels": []}),
        "cameras" => json!({"type": ""}),
        "images" | "materials" | "samplers" | "textures" => json!({}),
        _ => return false,
    };
    let part = value.pointer_mut(&format!("/{list}/{index}"));
    part.is_some_and(|part| std::mem::replace(part, empty.clone()) != empty)
}

fn objects<'a>(value: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    value.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

fn default(value: &mut Value, key: &str, content: Value) {
    if let Some(object) = value.as_object_mut() {
        object.entry(key).or_insert(content);
    }
}

/// Repairs the target of a channel. It may lack its node, in which case the channel has no effect, or have a pointer instead
/// (KHR_animation_pointer). Pointers to properties that a channel can address are converted to these. Other pointers are kept in `extras`,
/// because the crate drops unknown members.
fn repair_target(target: &mut Value) {
    if !target.is_object() {
        return;
    }
    let pointer =
        target.pointer(&format!("/extensions/{ANIMATION_POINTER}/pointer")).and_then(Value::as_str).map(str::to_owned);
    target["extras"] = json!(pointer);
    if let Some((node, path)) = pointer.as_deref().and_then(node_property) {
        target["node"] = json!(node);
        target["path"] = json!(path);
    }
    default(target, "node", json!(NO_NODE));
}

fn node_property(pointer: &str) -> Option<(u32, String)> {
    let (node, path) = pointer.strip_prefix("/nodes/")?.split_once('/')?;
    ["translation", "rotation", "scale", "weights"].contains(&path).then_some((node.parse().ok()?, path.to_owned()))
}

fn pointer(path: &Path) -> String {
    path.iter()
        .map(|segment| match segment {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } => format!("/{key}"),
            Segment::Enum { variant } => format!("/{variant}"),
            Segment::Unknown => "/?".to_owned(),
        })
        .collect()
}

fn check_version(root: &Root) -> Result<(), Fault> {
    let asset = &root.asset;
    let (wanted, path) = match &asset.min_version {
        Some(version) => (version, "/asset/minVersion"),
        None => (&asset.version, "/asset/version"),
    };
    let fits = match asset.min_version {
        Some(_) => wanted == "2.0" || wanted == "2.1",
        None => wanted == "2" || wanted.starts_with("2."),
    };
    if fits {
        return Ok(());
    }
    let message = format!("glTF {wanted} is not supported: export the file as glTF 2.0");
    Err(fault(path, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Root, String> {
        parse(text.as_bytes(), &Budget::new(Some(1 << 30))).map(|parsed| parsed.root).map_err(|f| f.line())
    }

    #[test]
    fn faulty_parts_that_something_else_can_stand_for_are_replaced() {
        let text = r#"{"asset": {"version": "2.0", "generator": 5}, "nodes": [{"name": 7, "mesh": 0}],
            "cameras": [{"type": "perspective", "perspective": {"znear": 1}}], "materials": [{"doubleSided": 3}],
            "samplers": [{"wrapS": "no"}], "animations": [{"samplers": 1, "channels": []}]}"#;
        let parsed = parse(text.as_bytes(), &Budget::new(None)).unwrap_or_else(|f| panic!("{}", f.line()));
        let paths: Vec<&str> = parsed.replaced.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(paths.len(), 6, "{paths:?}");
        for part in ["/asset/generator", "/nodes/0/name", "/cameras/0", "/materials/0", "/samplers/0", "/animations/0"]
        {
            assert!(paths.iter().any(|path| path.starts_with(part)), "{part}: {paths:?}");
        }
        assert_eq!(parsed.root.nodes[0].mesh.map(|mesh| mesh.value()), Some(0));
        let many = format!(r#"{{"asset": {{"version": "2.0"}}, "cameras": [{}1]}}"#, "1,".repeat(30));
        assert!(parsed_error(&many).starts_with("/cameras/16"), "a file of nothing but faults is damaged");
    }

    fn parsed_error(text: &str) -> String {
        parsed(text).err().unwrap_or_default()
    }

    #[test]
    fn what_is_missing_is_named_with_its_place() {
        let e = parsed(r#"{"asset": {"version": "2.0"}, "meshes": [{"primitives": [{}]}]}"#).err();
        assert_eq!(e.as_deref(), Some("/meshes/0/primitives/0: missing field `attributes`"));
        let e = parsed("{\"asset\": \n !").err().unwrap_or_default();
        assert!(e.contains("line 2 column 2"), "{e}");
    }

    #[test]
    fn optional_members_that_the_crate_demands_are_made_up() {
        let root = parsed(
            r#"{"asset": {"version": "2.0"}, "scenes": [{}], "animations": [{"samplers": [], "channels": [
                {"sampler": 0, "target": {"path": "scale"}},
                {"sampler": 0, "target": {"path": "pointer", "extensions": {"KHR_animation_pointer":
                    {"pointer": "/nodes/7/rotation"}}}}]}, {}]}"#,
        )
        .unwrap_or_else(|e| panic!("{e}"));
        assert!(root.scenes[0].nodes.is_empty());
        let channels = &root.animations[0].channels;
        assert!(is_absent(channels[0].target.node));
        assert_eq!(channels[1].target.node.value(), 7);
        assert!(root.animations[1].channels.is_empty());
    }

    #[test]
    fn other_versions_are_refused() {
        assert!(parsed(r#"{"asset": {"version": "1.0"}}"#).is_err_and(|e| e.contains("glTF 1.0")));
        let later = r#"{"asset": {"version": "2.2", "minVersion": "2.2"}}"#;
        assert!(parsed(later).is_err_and(|e| e.starts_with("/asset/minVersion")));
        for draft in [r#"{"asset": {"version": "2.1"}}"#, r#"{"asset": {"version": "2.1", "minVersion": "2.1"}}"#] {
            assert!(parsed(draft).is_ok(), "{draft}");
        }
    }

    #[test]
    fn deep_nesting_and_masses_of_objects_are_refused() {
        let deep = format!(r#"{{"asset": {}"#, r#"{"extras":"#.repeat(100_000));
        assert!(parsed(&deep).is_err());
        let deep = format!(
            r#"{{"asset": {{"version": "2.0"}}, "extensions": {{"A": {}1{}}}}}"#,
            "[".repeat(5000),
            "]".repeat(5000)
        );
        assert!(parsed(&deep).is_err_and(|e| e.contains("recursion limit")));
        let text = format!(r#"{{"nodes": [{}{{}}]"#, "{},".repeat(1_000_000));
        assert!(parsed(&text).is_err_and(|e| e.contains("needs")));
    }
}
