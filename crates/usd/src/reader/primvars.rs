//! Primvars of geometry: values per face, point or corner.

use super::values::{FromUsd, Values};
use crate::{Interpolation, Primvar};
use openusd::usd::Prim;

/// Numbers of elements of a shape, which its primvars have values for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Elements {
    /// Faces.
    pub faces: usize,
    /// Points.
    pub points: usize,
    /// Corners of faces; of curves, the ends of segments.
    pub corners: usize,
    /// Whether the faces are curves.
    pub are_curves: bool,
}

impl Elements {
    fn count(&self, interpolation: Interpolation) -> usize {
        match interpolation {
            Interpolation::Constant => 1,
            Interpolation::Uniform => self.faces,
            Interpolation::Vertex => self.points,
            Interpolation::FaceVarying => self.corners,
        }
    }
}

/// The primvar in an attribute. `None` if there is none, or after a warning if numbers do not match.
pub fn read<T>(
    values: &Values,
    prim: &Prim,
    name: &str,
    otherwise: Interpolation,
    elements: Elements,
) -> Option<Primvar<T>>
where
    Vec<T>: FromUsd,
{
    let found: Vec<T> = values.get(prim, name)?;
    // An empty array is no value, as exporters write it for meshes without.
    if found.is_empty() {
        return None;
    }
    let refuse = |cause: String| {
        values.warn(format!("{}.{name}: {cause}; it is left out", prim.path()));
        None
    };
    let interpolation = match values.metadata(prim, name, "interpolation").as_deref() {
        Some("constant") => Interpolation::Constant,
        Some("uniform") => Interpolation::Uniform,
        Some("varying") if elements.are_curves => Interpolation::FaceVarying,
        Some("vertex" | "varying") => Interpolation::Vertex,
        Some("faceVarying") => Interpolation::FaceVarying,
        Some(other) => return refuse(format!("interpolation `{other}` is unknown")),
        None => otherwise,
    };
    let indices: Vec<i32> = values.get(prim, &format!("{name}:indices")).unwrap_or_default();
    let count = if indices.is_empty() { found.len() } else { indices.len() };
    let wanted = elements.count(interpolation);
    // Constant primvars are arrays that may have more values; the first one counts.
    if count < wanted || (count > wanted && interpolation != Interpolation::Constant) {
        return refuse(format!("has {count} values for {wanted} elements"));
    }
    let limit = found.len();
    let valid = |index: &i32| usize::try_from(*index).is_ok_and(|index| index < limit);
    if !indices.iter().all(valid) {
        return refuse(format!("has indices outside of its {limit} values"));
    }
    let mut primvar =
        Primvar { interpolation, values: found, indices: indices.into_iter().map(|index| index as u32).collect() };
    if interpolation == Interpolation::Constant {
        let first = primvar.indices.first().map_or(0, |&index| index as usize);
        primvar = Primvar {
            interpolation,
            values: primvar.values.into_iter().skip(first).take(1).collect(),
            indices: Vec::new(),
        };
    }
    Some(primvar)
}

/// All sets of texture coordinates: arrays of pairs, by the names of their primvars without `primvars:`.
pub fn texture_coordinates(values: &Values, prim: &Prim, elements: Elements) -> Vec<(String, Primvar<[f32; 2]>)> {
    const TYPES: [&str; 9] = [
        "texCoord2f[]",
        "texCoord2h[]",
        "texCoord2d[]",
        "float2[]",
        "half2[]",
        "double2[]",
        "texCoord3f[]",
        "texCoord3h[]",
        "texCoord3d[]",
    ];
    let mut sets = Vec::new();
    for property in values.names(prim) {
        let property = property.as_str();
        let Some(name) = property.strip_prefix("primvars:") else { continue };
        if property.ends_with(":indices") || !TYPES.contains(&values.attribute_type(prim, property).as_str()) {
            continue;
        }
        if let Some(set) = read(values, prim, property, Interpolation::Constant, elements) {
            sets.push((name.to_owned(), set));
        }
    }
    // USD's usual name comes first: it is the set of materials that name none.
    sets.sort_by_key(|(name, _)| name != "st");
    sets
}
