//! From files to a [`Stage`], through `openusd`.

mod cameras;
mod census;
mod convert;
mod curves;
mod duplicates;
mod files;
mod groups;
mod inherit;
mod instancer;
mod kinds;
mod lights;
mod materials;
mod mesh;
mod mtlx;
mod open;
mod options;
mod over_time;
mod pictures;
mod places;
mod primvars;
mod prototypes;
mod settings;
mod shapes;
mod skeleton;
#[cfg(test)]
mod test_stage;
mod text;
mod transforms;
mod values;
mod walk;
mod warnings;

use crate::{Library, Material, Stage, StageError, StageOptions};
use materials::Materials;
use open::Opened;
use openusd::sdf;
use pictures::Pictures;
use std::{
    path::{Path, PathBuf},
    rc::Rc,
};
use values::Values;
use walk::Walk;
use warnings::Warnings;

/// Reads a stage; see [`crate::read`].
///
/// # Errors
/// As [`crate::read`].
pub fn read(path: &Path, options: &StageOptions) -> Result<Stage, StageError> {
    // A damaged file must not end the program: `openusd` decodes lazily, so its panics may come from any read.
    throng_base::guard::guarded(
        || read_stage(path, options),
        |words| StageError::new(path, format!("a layer is damaged ({words}); export it again")),
    )
}

/// Reads the materials of a document; see [`crate::read_materials`].
///
/// # Errors
/// As [`crate::read_materials`].
pub fn read_materials(path: &Path, allow: &[PathBuf]) -> Result<Library, StageError> {
    throng_base::guard::guarded(
        || read_library(path, allow),
        |words| StageError::new(path, format!("the document is damaged ({words}); export it again")),
    )
}

fn read_library(path: &Path, allow: &[PathBuf]) -> Result<Library, StageError> {
    let options = StageOptions { allow: allow.to_vec(), ..StageOptions::default() };
    let opened = open::open(path, &options)?;
    let warnings = Rc::new(Warnings::default());
    let values = Rc::new(Values::new(&opened, opened.times(&warnings), warnings.clone()));
    let pictures = Pictures::default();
    let mut materials = Materials::new(&values, &pictures);
    let all = sdf::Path::new(mtlx::MATERIALS).ok().and_then(|path| values.prim(&path));
    let names = all.map_or_else(Vec::new, |prim| prim.children().unwrap_or_default());
    let mut found: Vec<Material> = names.iter().map(|prim| materials.read(prim)).collect();
    materials.finish();
    opened.check_composition(&warnings)?;
    let pictures = pictures::keep_used(pictures.finish().0, &mut found, &mut []);
    Ok(Library { materials: found, pictures, warnings: warnings.take() })
}

fn read_stage(path: &Path, options: &StageOptions) -> Result<Stage, StageError> {
    let opened = open::open(path, options)?;
    let warnings = Rc::new(Warnings::default());
    let times = opened.times(&warnings);
    let values = Rc::new(Values::new(&opened, times, warnings.clone()));
    let pictures = Pictures::default();
    let root = options.prim.as_ref().map(|prim| options::find_prim(path, &opened.stage, prim)).transpose()?;
    let mut walk = Walk::new(&values, &pictures, options.purposes);
    walk.run(path, root.as_ref())?;
    let mut stage = gather(&opened, walk, &values, &warnings);
    // Composition is lazy: its complaints are complete only now.
    stage.census.unresolved.extend(opened.check_composition(&warnings)?);
    stage.layers = opened.layers();
    stage.warnings = warnings.take().iter().map(|line| prototypes::with_stage_paths(&values, line)).collect();
    Ok(stage)
}

/// The stage, from what the walk found.
fn gather(opened: &Opened, walk: Walk, values: &Values, warnings: &Warnings) -> Stage {
    let Walk { materials, skeletons, pictures, shapes, groups, mut inner, mut census, .. } = walk;
    let (groups, order) = groups.finish(warnings);
    let inner = order.iter().enumerate().filter_map(|(index, before)| Some((index, inner.remove(before)?))).collect();
    let (mut lights, cameras) = places::all(values, &pictures, &groups, &inner);
    let times = values.times();
    census.point_instances = census::point_instances(&groups, times.range.map(|(start, _)| start));
    let mut groups = groups::prune(groups);
    duplicates::remove(&mut groups, times, warnings);
    let mut materials = materials.finish();
    let (pictures, unresolved) = pictures.finish();
    let pictures = pictures::keep_used(pictures, &mut materials, &mut lights);
    census.unresolved = unresolved;
    Stage {
        layers: Vec::new(),
        up: opened.up_axis(warnings),
        meters_per_unit: opened.meters_per_unit(warnings),
        times,
        groups: groups::prune(groups),
        shapes: shapes.finish(),
        materials,
        pictures,
        lights,
        cameras,
        skeletons: skeletons.finish(),
        render: settings::read(values),
        census,
        warnings: Vec::new(),
    }
}
