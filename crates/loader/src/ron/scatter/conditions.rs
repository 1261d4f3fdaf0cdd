//! Conditions of rules that need only the mesh, checked: for copies that are scattered on a mesh, and for strands that grow on it.

use super::rules::{Mask, Test};
use crate::{
    LoadError, image,
    meshes::MeshSource,
    ron::{
        checked::{existing, within},
        file::Source,
        source::Place,
    },
};
use glam::Vec3Swizzles;
use throng_scene::{
    Shape,
    desc::{ColorChannel, Finite},
};

/// The condition that the normal is this far from +Y, in degrees.
///
/// # Errors
/// If angles are out of range or swapped.
pub fn slope(source: &Source, degrees: (Finite, Finite), place: &Place) -> Result<Test, LoadError> {
    let [least, most] = range(source, degrees, place)?;
    for angle in [least, most] {
        source.check(place, within(angle, 0.0..=180.0, "angles"))?;
    }
    // The margin prevents rounding from excluding values exactly at the ends.
    let cosine = |degrees: f32| degrees.to_radians().cos();
    Ok(Test::Slope(cosine(most) - 1e-6..=cosine(least) + 1e-6))
}

/// The condition that y is in this range.
///
/// # Errors
/// If its ends are swapped.
pub fn height(source: &Source, ends: (Finite, Finite), place: &Place) -> Result<Test, LoadError> {
    let [least, most] = range(source, ends, place)?;
    Ok(Test::Height(least..=most))
}

/// The condition that holds for this share of the points, at random.
///
/// # Errors
/// If it is not above 0 and at most 1.
pub fn share(source: &Source, share: Finite, place: &Place) -> Result<Test, LoadError> {
    match share.0 {
        share if share > 0.0 && share <= 1.0 => Ok(Test::Share(share)),
        _ => Err(source.error(place, "`share` must be above 0 and at most 1")),
    }
}

/// The condition of a picture over a mesh.
///
/// # Errors
/// If the picture does not exist or is damaged.
pub fn mask(source: &Source, file: &str, mesh: &MeshSource, place: &Place) -> Result<Test, LoadError> {
    let path = existing(source, file, "the mask", place)?;
    let (columns, values) = image::load_brightness(&path)?;
    let bounds = mesh.mesh.bounds();
    Ok(Test::Mask(Mask { columns, values, bounds: [bounds.min, bounds.max].map(|p| p.xz()) }))
}

/// The condition of a channel of a mesh's vertex colours.
///
/// # Errors
/// If the mesh has none.
pub fn vertex_color(
    source: &Source,
    channel: ColorChannel,
    mesh: &MeshSource,
    place: &Place,
) -> Result<Test, LoadError> {
    match &mesh.mesh.shape {
        Shape::Triangles(triangles) if !triangles.colors.is_empty() => Ok(Test::Color(channel as usize)),
        _ => Err(source.error(place, format!("`{}` has no vertex colours: export some", mesh.mesh.name))),
    }
}

fn range(source: &Source, (least, most): (Finite, Finite), place: &Place) -> Result<[f32; 2], LoadError> {
    if least.0 <= most.0 {
        Ok([least.0, most.0])
    } else {
        Err(source.error(place, "the first number exceeds the second: swap them"))
    }
}
