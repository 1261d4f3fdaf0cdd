//! Error messages for unknown names.

use crate::suggest;
use std::{collections::HashMap, ops::Range};
use throng_scene::{LostPath, NONE, Placed, Scene};

/// A sentence about an unknown name, with a suggestion.
pub fn sentence(scene: &Scene, name: &str, lost: &LostPath) -> String {
    let Some(&last) = lost.way.last() else {
        let known = names(scene);
        let hint = match suggest::nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => example(scene, name)
                .or_else(|| Labels::of(scene, scene.world()).near(name))
                .unwrap_or_else(|| suggest::list(known, "things there")),
        };
        return format!("nothing that is placed is called `{name}`: {hint}");
    };
    let around = scene.name_of_way(&lost.way);
    match scene.placed_by(&scene.instances[last as usize]) {
        Placed::Mesh(_) => format!("nothing is called `{name}`: `{around}` is a mesh, in which nothing has a name"),
        Placed::Assembly(inner) => {
            let labels = Labels::of(scene, scene.assemblies[inner].range());
            let hint = labels.near(lost.rest).unwrap_or_else(|| labels.list());
            format!("nothing in `{around}` is called `{}`: {hint}", lost.rest)
        }
    }
}

/// The names of subjects and of the meshes and assemblies that the world places.
fn names(scene: &Scene) -> Vec<&str> {
    let mut placed: Vec<u32> = scene.instances[scene.world()].iter().map(|i| i.mesh).collect();
    placed.sort_unstable();
    placed.dedup();
    let name = |index: u32| match scene.meshes.get(index as usize) {
        Some(mesh) => Some(mesh.name.as_str()),
        None => scene.assemblies.get(index as usize - scene.meshes.len()).map(|assembly| assembly.name.as_str()),
    };
    let mut names: Vec<&str> = scene.subjects.iter().map(|s| s.name.as_str()).collect();
    names.extend(placed.into_iter().filter_map(name));
    names.dedup();
    names
}

/// The path of an object with that name in an assembly.
fn example(scene: &Scene, name: &str) -> Option<String> {
    let inner = scene.world().end..scene.instances.len();
    let is_named = |&index: &usize| scene.name_parts(index).0 == name;
    let mut index = inner.into_iter().find(is_named)?;
    let mut way = vec![index];
    // An assembly only places later assemblies, so this ends.
    while let Some(assembly) = scene.assemblies.iter().position(|assembly| assembly.range().contains(&index)) {
        let placing = |instance: &_| scene.placed_by(instance) == Placed::Assembly(assembly);
        index = scene.instances.iter().position(placing)?;
        way.push(index);
    }
    let way: Vec<u32> = way.into_iter().rev().map(|index| index as u32).collect();
    Some(format!("it is in a group that is kept once; write its path, such as `{}`", scene.name_of_way(&way)))
}

/// The names in a level: their stems, with the least and greatest numbers.
struct Labels<'a>(Vec<(&'a str, u32, u32)>);

impl<'a> Labels<'a> {
    fn of(scene: &'a Scene, level: Range<usize>) -> Self {
        let mut labels: Vec<(&str, u32, u32)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for index in level {
            let (stem, number) = scene.name_parts(index);
            let place = *places.entry(stem).or_insert(labels.len());
            match labels.get_mut(place) {
                Some((_, least, most)) => (*least, *most) = ((*least).min(number), (*most).max(number)),
                None => labels.push((stem, number, number)),
            }
        }
        Self(labels)
    }

    /// A suggestion of the closest name for the start of a path.
    fn near(&self, path: &str) -> Option<String> {
        let name = path.split('/').next()?;
        let wanted = match name.rsplit_once('.') {
            Some((stem, digits)) if digits.parse::<u32>().is_ok() => stem,
            _ => name,
        };
        let near = suggest::nearest(wanted, self.0.iter().map(|label| label.0))?;
        let label = self.0.iter().find(|label| label.0 == near)?;
        Some(format!("did you mean {}?", Self::text(label)))
    }

    fn list(&self) -> String {
        let labels: Vec<String> = self.0.iter().map(Self::text).collect();
        suggest::list(labels.iter().map(String::as_str), "things there")
    }

    fn text(&(stem, least, most): &(&str, u32, u32)) -> String {
        match (least, most) {
            (NONE, _) => format!("`{stem}`"),
            (least, most) if least == most => format!("`{stem}.{least}`"),
            (least, most) => format!("`{stem}.{least}` to `{stem}.{most}`"),
        }
    }
}
