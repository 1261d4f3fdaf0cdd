//! The options of a stage: a layer that selects variants, and errors for names that the stage does not have.

use crate::{StageError, VariantChoice};
use openusd::{
    sdf::{self, ChildrenKey, Value},
    usd,
};
use std::{collections::BTreeSet, fmt::Write, path::Path};

/// Text of a layer, stronger than all others, that selects the variants.
///
/// # Errors
/// If a choice is not well-formed, or if two choices select a variant of the same set.
pub fn layer(root: &Path, choices: &[VariantChoice]) -> Result<String, StageError> {
    let mut tree = Over::default();
    for choice in choices {
        let VariantChoice { prim, set, variant } = choice;
        let well_formed = sdf::Path::new(prim).is_ok_and(|path| path.is_abs() && path.is_prim_path())
            && sdf::Path::is_valid_variant_identifier(set)
            && sdf::Path::is_valid_variant_identifier(variant);
        if !well_formed {
            let message = format!("variant `{prim}:{set}={variant}`: write it as /World/Car:color=red");
            return Err(StageError::new(root, message));
        }
        let over = prim.split('/').filter(|name| !name.is_empty()).fold(&mut tree, Over::child);
        if over.selected.iter().any(|(known, _)| known == set) {
            let message = format!("variant set `{set}` of {prim} is selected twice; keep one of the options");
            return Err(StageError::new(root, message));
        }
        over.selected.push((set.clone(), variant.clone()));
    }
    let mut text = "#usda 1.0\n".to_owned();
    tree.children.iter().for_each(|over| over.write(&mut text));
    Ok(text)
}

/// A prim of the layer.
#[derive(Default)]
struct Over {
    name: String,
    selected: Vec<(String, String)>,
    children: Vec<Self>,
}

impl Over {
    fn child(&mut self, name: &str) -> &mut Self {
        let known = self.children.iter().position(|child| child.name == name);
        let index = known.unwrap_or_else(|| {
            self.children.push(Self { name: name.to_owned(), ..Self::default() });
            self.children.len() - 1
        });
        &mut self.children[index]
    }

    fn write(&self, text: &mut String) {
        let _ = write!(text, "over \"{}\"", self.name);
        if !self.selected.is_empty() {
            text.push_str(" (variants = {\n");
            for (set, variant) in &self.selected {
                let _ = writeln!(text, "string {set} = \"{variant}\"");
            }
            text.push_str("})");
        }
        text.push_str("\n{\n");
        self.children.iter().for_each(|child| child.write(text));
        text.push_str("}\n");
    }
}

/// Checks that the stage has the prim, its set and the variant.
///
/// # Errors
/// If not, with the names that the stage has there.
pub fn check_variant(root: &Path, stage: &usd::Stage, choice: &VariantChoice) -> Result<(), StageError> {
    let fail = |message: String| Err(StageError::new(root, message));
    let VariantChoice { prim: name, set, variant } = choice;
    let prim = find_prim(root, stage, name)?;
    let sets = variant_sets(stage, &prim);
    if !sets.contains(set) {
        return fail(format!("variant `{set}={variant}`: {name} has {}", list("variant sets", sets)));
    }
    let variants = variants(stage, &prim, set);
    if !variants.contains(variant) {
        return fail(format!("variant `{set}={variant}`: set `{set}` of {name} has {}", list("variants", variants)));
    }
    Ok(())
}

/// The prim with this path.
///
/// # Errors
/// If there is none, with the names of prims where the path stops to exist.
pub fn find_prim(root: &Path, stage: &usd::Stage, path: &str) -> Result<usd::Prim, StageError> {
    let fail = |message: String| StageError::new(root, message);
    let parsed = sdf::Path::new(path).ok().filter(|path| path.is_abs() && path.is_prim_path());
    let parsed = parsed.ok_or_else(|| fail(format!("`{path}` is no path of a prim; write it as /World/Car")))?;
    let mut above = sdf::Path::abs_root();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        let here = above.append_path(name).map_err(|error| fail(error.to_string()))?;
        let prim = prim_at(root, stage, &here)?;
        if !is_of_files(&prim) {
            let names = prim_at(root, stage, &above)?.child_names().unwrap_or_default();
            let names = names.iter().map(|name| name.as_str().to_owned()).filter(|known| known != name);
            let place = if above.is_abs_root() { "the stage".to_owned() } else { above.to_string() };
            return Err(fail(format!("there is no prim {here}; {place} has {}", list("prims", names.collect()))));
        }
        above = here;
    }
    prim_at(root, stage, &parsed)
}

fn prim_at(root: &Path, stage: &usd::Stage, path: &sdf::Path) -> Result<usd::Prim, StageError> {
    stage.prim(path.clone()).map_err(|error| StageError::new(root, error.to_string()))
}

/// Whether a layer other than that of the options has the prim.
fn is_of_files(prim: &usd::Prim) -> bool {
    let stack = prim.prim_stack().unwrap_or_default();
    stack.iter().any(|site| site.layer != super::files::OPTIONS_LAYER)
}

fn variant_sets(stage: &usd::Stage, prim: &usd::Prim) -> BTreeSet<String> {
    children(stage, prim, |path| Some(path.clone()), ChildrenKey::VariantSetChildren)
}

fn variants(stage: &usd::Stage, prim: &usd::Prim, set: &str) -> BTreeSet<String> {
    children(stage, prim, |path| path.append_variant_selection(set, "").ok(), ChildrenKey::VariantChildren)
}

/// Names in a field of all specs of the prim.
fn children(
    stage: &usd::Stage,
    prim: &usd::Prim,
    place: impl Fn(&sdf::Path) -> Option<sdf::Path>,
    key: ChildrenKey,
) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for site in prim.prim_stack().unwrap_or_default() {
        let (Some(layer), Some(path)) = (stage.layer(&site.layer), place(&site.path)) else { continue };
        if let Ok(Some(value)) = layer.data().try_field(&path, key.as_str())
            && let Value::TokenVec(found) = &*value
        {
            names.extend(found.iter().map(|name| name.as_str().to_owned()));
        }
    }
    names
}

/// "the prims a, b", shortened.
fn list(what: &str, names: BTreeSet<String>) -> String {
    const SHOWN: usize = 20;
    if names.is_empty() {
        return format!("no {what}");
    }
    let more = names.len().saturating_sub(SHOWN);
    let shown = names.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("the {what} {shown} and {more} more") } else { format!("the {what} {shown}") }
}
