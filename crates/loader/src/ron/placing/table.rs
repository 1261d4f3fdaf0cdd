//! Placements whose transforms over time are in a file.

use super::{
    patterns::{TablePattern, affine_of},
    placements::Resolver,
};
use crate::{
    LoadError,
    ron::{
        checked::{Fields, above_zero},
        source::Place,
    },
    tables::{self, LoadedTable, TableOptions},
};
use glam::Affine3;
use throng_scene::{FrameRate, RenderDefaults, desc};

/// Reads the table of a placement.
///
/// # Errors
/// If a field is out of range, or if the file is faulty.
pub fn resolve(resolver: &Resolver, placement: &desc::Table, place: &Place) -> Result<TablePattern, LoadError> {
    let Resolver { source, file, budget, .. } = resolver;
    let fields = Fields { source, place };
    if placement.drop.is_some() {
        return fields.fail("drop", "the file sets the positions of the copies: remove `drop`");
    }
    let scene_fps = file.render.fps.map_or(RenderDefaults::default().fps, |fps| fps.0);
    let fps = placement.fps.map(|fps| fields.check("fps", above_zero(fps.0, "fps"))).transpose()?;
    let options = TableOptions {
        fps: fps.map(|fps| FrameRate::of(fps).fps()),
        scene_fps: FrameRate::of(scene_fps).fps(),
        start: placement.start.0,
        ends: placement.ends,
        order: placement.quaternion,
        up: placement.up,
    };
    let path = fields.existing(&placement.file, "the table", "file")?;
    let LoadedTable { table, first } = tables::load(&path, &options, budget)?;
    resolver.check_count(first.len() as u64, &place.key("file"))?;
    let upright = tables::upright(placement.up);
    let each = upright.inverse() * affine_of(&placement.each);
    Ok(TablePattern { table, upright, each, first: tables::places(&first, &upright, &each) })
}

/// The table of a placement whose transforms are in memory.
///
/// # Errors
/// If transforms or times are faulty.
pub fn of_matrices(resolver: &Resolver, placement: &desc::Matrices, place: &Place) -> Result<TablePattern, LoadError> {
    let loaded = tables::of_transforms(&placement.transforms, &placement.times);
    let LoadedTable { table, first } = resolver.source.check(place, loaded)?;
    let upright = Affine3::IDENTITY;
    Ok(TablePattern { table, upright, each: upright, first: tables::places(&first, &upright, &upright) })
}
