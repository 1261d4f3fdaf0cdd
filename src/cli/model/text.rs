//! The contents of a glTF model as text.

use super::{
    info::{CameraKind, ModelInfo, NodeInfo},
    tree,
};
use crate::cli::console::plural;
use std::fmt::{self, Formatter};
use throng_base::memory::describe;

/// Maximum number of lines of a tree or list without `--full`.
const SHORT_TREE: usize = 40;
const SHORT_LIST: usize = 20;

/// A model's report. With `full`, nothing is left out.
pub struct ModelText<'a> {
    pub info: &'a ModelInfo,
    pub full: bool,
}

/// A name from a file, made safe for printing: it cannot break the line, move the cursor or fill the screen.
pub fn shown(name: &str) -> String {
    const LONGEST: usize = 60;
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut text: String = name.chars().take(LONGEST).map(clean).collect();
    if name.chars().nth(LONGEST).is_some() {
        text.push('…');
    }
    text
}

impl fmt::Display for ModelText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.contents(f)?;
        self.looks(f)?;
        self.movement(f)?;
        self.views(f)?;
        self.file(f)
    }
}

impl ModelText<'_> {
    fn contents(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (info, c) = (self.info, &self.info.counts);
        if let Some(scene) = info.scene.and_then(|s| info.scenes.get(s as usize)) {
            let others = match info.scenes.len() - 1 {
                0 => String::new(),
                n => format!(", one of {}", n + 1),
            };
            writeln!(f, "  scene        {}{others}", shown(scene))?;
        }
        writeln!(f, "  nodes        {}", c.nodes)?;
        let limit = (!self.full).then_some(SHORT_TREE);
        for line in tree::lines(&info.nodes, limit, |node| self.at_node(node)) {
            writeln!(f, "    {line}")?;
        }
        writeln!(
            f,
            "  geometry     {} of {}, {}, {} vertices, {}",
            plural(c.primitives, "primitive"),
            match c.meshes {
                1 => "1 mesh".to_owned(),
                n => format!("{n} meshes"),
            },
            plural(c.triangles, "triangle"),
            c.vertices,
            plural(c.instances, "instance"),
        )?;
        if c.morph_targets > 0 {
            writeln!(f, "  morphing     {}", plural(c.morph_targets, "target"))?;
        }
        self.list(f, "skins", &info.skins, |skin| format!("{}: {}", shown(&skin.name), plural(skin.joints, "joint")))
    }

    /// The attachments of a node, in brackets.
    fn at_node(&self, node: &NodeInfo) -> String {
        let info = self.info;
        let mut parts = Vec::new();
        let meshes = node.meshes.iter().map(|&m| &info.meshes[m as usize]);
        let triangles: usize = meshes.clone().map(|m| m.triangles).sum();
        let triangles = plural(triangles, "triangle");
        let names: Vec<&str> = meshes.map(|m| m.name.as_str()).collect();
        match names[..] {
            [] => {}
            [name] => parts.push(format!("mesh {}: {triangles}", shown(name))),
            // The loader adds "part 0" to the name of the mesh.
            [first, ..] => {
                let name = shown(first.rsplit_once(" part ").map_or(first, |(name, _)| name));
                let primitives = names.len();
                parts.push(format!("mesh {name}: {triangles} in {primitives} primitives"));
            }
        }
        if node.instances > 1 {
            parts.push(format!("{} instances", node.instances));
        }
        if let Some(skin) = node.skin {
            parts.push(format!("skin {}", shown(&info.skins[skin as usize].name)));
        }
        if let Some(camera) = node.camera {
            let name = shown(&info.cameras[camera as usize].name);
            parts.push(format!("camera {name}"));
        }
        if let Some(light) = node.light {
            parts.push(format!("light {}", shown(&info.lights[light as usize].name)));
        }
        if parts.is_empty() { String::new() } else { format!("  [{}]", parts.join("; ")) }
    }

    fn looks(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let info = self.info;
        self.list(f, "materials", &info.materials, |m| {
            if m.features.is_empty() {
                shown(&m.name)
            } else {
                format!("{}: {}", shown(&m.name), m.features.join(", "))
            }
        })?;
        self.list(f, "textures", &info.textures, |texture| shown(&texture.to_string()))?;
        self.list(f, "variants", &info.variants, |name| shown(name))
    }

    fn movement(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.list(f, "clips", &self.info.clips, |clip| {
            let (channels, keys) = (plural(clip.channels, "channel"), plural(clip.keys, "key"));
            let (name, seconds) = (shown(&clip.name), clip.seconds);
            format!("{name}: {seconds:.3} s, {channels}, {keys}")
        })
    }

    fn views(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.list(f, "cameras", &self.info.cameras, |camera| {
            let name = shown(&camera.name);
            match camera.kind {
                CameraKind::Perspective { fov, .. } => {
                    format!("{name}: perspective, {fov:.1}° from top to bottom")
                }
                CameraKind::Orthographic { width, height } => {
                    format!("{name}: orthographic, {width} x {height}")
                }
            }
        })?;
        self.list(f, "lights", &self.info.lights, |light| {
            let unit = if light.kind == "directional" { "lx" } else { "cd" };
            let (name, [r, g, b]) = (shown(&light.name), light.color);
            format!("{name}: {}, {} {unit}, colour ({r}, {g}, {b})", light.kind, light.intensity)
        })
    }

    fn file(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let info = self.info;
        self.list(f, "extensions", &info.extensions_used, |name| {
            if info.extensions_unsupported.contains(name) {
                format!("{}: not supported", shown(name))
            } else {
                shown(name)
            }
        })?;
        let m = &info.memory;
        writeln!(
            f,
            "  memory       meshes {}, textures {}, trees {}",
            describe(m.mesh_bytes),
            describe(m.texture_bytes),
            describe(m.tree_bytes)
        )
    }

    /// Writes a count and one line per entry. Writes nothing for an empty list.
    fn list<T>(&self, f: &mut Formatter<'_>, title: &str, entries: &[T], line: impl Fn(&T) -> String) -> fmt::Result {
        if entries.is_empty() {
            return Ok(());
        }
        let shown = if self.full || entries.len() <= SHORT_LIST { entries.len() } else { SHORT_LIST - 1 };
        writeln!(f, "  {title:<12} {}", entries.len())?;
        for entry in &entries[..shown] {
            writeln!(f, "    {}", line(entry))?;
        }
        match entries.len() - shown {
            0 => Ok(()),
            more => writeln!(f, "    … {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_on_their_line() {
        assert_eq!(shown("a\n\u{1b}[2Jb"), "a  [2Jb");
        assert_eq!(shown(&"x".repeat(1000)).chars().count(), 61);
    }
}
