//! Entries of `meshes` that are simple shapes.

use crate::{
    LoadError,
    geometry::shapes,
    ron::{checked::Fields, file::Source, source::Place},
};
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
            let [radius, height] = [fields.above_zero(c.radius, "radius")?, fields.above_zero(c.height, "height")?];
            shapes::cylinder(radius, height, fields.segments(c.segments)?, c.caps)
        }
        MeshDesc::Cone(c) => {
            let [radius, height] = [fields.above_zero(c.radius, "radius")?, fields.above_zero(c.height, "height")?];
            shapes::cone(radius, height, fields.segments(c.segments)?, c.caps)
        }
        MeshDesc::Disc(d) => shapes::disc(fields.above_zero(d.radius, "radius")?, fields.segments(d.segments)?),
        MeshDesc::Torus(t) => {
            let [radius, tube] = [fields.above_zero(t.radius, "radius")?, fields.above_zero(t.tube, "tube")?];
            if tube > radius {
                let message = "the tube is larger than the ring: make `tube` at most `radius`";
                return fields.fail("tube", message);
            }
            shapes::torus(radius, tube, fields.segments(t.segments)?)
        }
        _ => return Ok(None),
    }))
}

impl Fields<'_> {
    fn segments(&self, segments: u32) -> Result<u32, LoadError> {
        self.whole(segments, "segments", 3..=MOST_SEGMENTS)
    }

    /// The part of a curve with this length that the fields `from` and `to` select.
    pub fn part(&self, from: Finite, to: Option<Finite>, length: f32) -> Result<[f32; 2], LoadError> {
        let from = self.not_negative(from, "from")?;
        let to = to.map_or(length, |to| to.0);
        // The tolerance allows for a rounded length.
        if to > length * 1.0001 {
            let message = format!("`to` is {to}, but the curve is only {length} long");
            return self.fail("to", message);
        }
        if from >= to {
            let message = format!("`from` is {from}, which is not before the end at {to}");
            return self.fail("from", message);
        }
        Ok([from, to.min(length)])
    }
}
