//! Entries of `meshes` that are simple shapes.

use super::{file::Source, source::Place};
use crate::{LoadError, shapes};
use throng_scene::{
    TriangleMesh,
    desc::{Finite, MeshDesc},
};

/// Maximum number of segments around a shape.
const MOST_SEGMENTS: u32 = 4096;

/// The triangles of an entry that is a round shape; None for other entries.
///
/// # Errors
/// If a size or number is out of range.
pub fn round(source: &Source, desc: &MeshDesc, place: &Place) -> Result<Option<TriangleMesh>, LoadError> {
    let fields = Fields { source, place };
    Ok(Some(match desc {
        MeshDesc::Cylinder(c) => {
            let [radius, height] = [fields.above_0(c.radius, "radius")?, fields.above_0(c.height, "height")?];
            shapes::cylinder(radius, height, fields.segments(c.segments)?, c.caps)
        }
        MeshDesc::Cone(c) => {
            let [radius, height] = [fields.above_0(c.radius, "radius")?, fields.above_0(c.height, "height")?];
            shapes::cone(radius, height, fields.segments(c.segments)?, c.caps)
        }
        MeshDesc::Disc(d) => shapes::disc(fields.above_0(d.radius, "radius")?, fields.segments(d.segments)?),
        MeshDesc::Torus(t) => {
            let [radius, tube] = [fields.above_0(t.radius, "radius")?, fields.above_0(t.tube, "tube")?];
            if tube > radius {
                let message = "the tube is larger than the ring: make `tube` at most `radius`";
                return Err(source.error(&place.key("tube"), message));
            }
            shapes::torus(radius, tube, fields.segments(t.segments)?)
        }
        _ => return Ok(None),
    }))
}

/// Checks of fields, whose names appear in errors.
pub struct Fields<'a> {
    pub source: &'a Source,
    pub place: &'a Place<'a>,
}

impl Fields<'_> {
    /// A positive number.
    pub fn above_0(&self, x: Finite, field: &str) -> Result<f32, LoadError> {
        if x.0 > 0.0 {
            Ok(x.0)
        } else {
            Err(self.source.error(&self.place.key(field), format!("`{field}` must be above 0")))
        }
    }

    /// A non-negative number.
    pub fn not_below_0(&self, x: Finite, field: &str) -> Result<f32, LoadError> {
        if x.0 >= 0.0 {
            Ok(x.0)
        } else {
            Err(self.source.error(&self.place.key(field), format!("`{field}` must not be negative")))
        }
    }

    fn segments(&self, segments: u32) -> Result<u32, LoadError> {
        self.within(segments, 3, MOST_SEGMENTS, "segments")
    }

    /// An integer in a range, both ends included.
    pub fn within(&self, x: u32, least: u32, most: u32, field: &str) -> Result<u32, LoadError> {
        if (least..=most).contains(&x) {
            Ok(x)
        } else {
            let message = format!("`{field}` is {x}: write {least} to {most}");
            Err(self.source.error(&self.place.key(field), message))
        }
    }

    /// The part of a curve with this length that the fields `from` and `to` select.
    pub fn range(&self, from: Finite, to: Option<Finite>, length: f32) -> Result<[f32; 2], LoadError> {
        let from = self.not_below_0(from, "from")?;
        let to = to.map_or(length, |to| to.0);
        // The tolerance allows for a rounded length.
        if to > length * 1.0001 {
            let message = format!("`to` is {to}, but the curve is only {length} long");
            return Err(self.source.error(&self.place.key("to"), message));
        }
        if from >= to {
            let message = format!("`from` is {from}, which is not before the end at {to}");
            return Err(self.source.error(&self.place.key("from"), message));
        }
        Ok([from, to.min(length)])
    }
}
