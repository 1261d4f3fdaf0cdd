//! The field `displacement` of a mesh's entry.

use crate::{
    LoadError,
    displacement::{self, Channels, HeightMap, HeightPicture, MeshDisplacement},
    image,
    meshes::MeshSource,
    ron::{checked::Fields, file::Source, source::Place},
};
use throng_base::math::LARGEST_COORDINATE;
use throng_scene::desc::DisplacementDesc;

/// The displacement that the field at `place` describes.
///
/// # Errors
/// If a number is out of range, or if the picture is missing or damaged.
pub fn read(source: &Source, desc: &DisplacementDesc, place: &Place) -> Result<MeshDisplacement, LoadError> {
    let fields = Fields { source, place };
    let range = (-LARGEST_COORDINATE, LARGEST_COORDINATE);
    let scale = fields.within(desc.scale, "scale", range)?;
    let midlevel = fields.within(desc.midlevel, "midlevel", range)?;
    let wrap = [desc.wrap; 2];
    let picture = match source.pictures.get(&desc.texture) {
        Some(picture) => {
            fields.check("texture", image::check(picture))?;
            HeightPicture::of_picture(picture, wrap)
        }
        None => {
            let path = fields.existing(&desc.texture, "the texture", "texture")?;
            HeightPicture::read((&path, None), Channels::Brightness, false, wrap)?
        }
    };
    Ok(MeshDisplacement::of(HeightMap::of_picture(picture, scale, midlevel)))
}

/// Displaces a mesh, or prepares its displacement if it is refined later.
///
/// # Errors
/// As [`read`]. Also if the mesh has no texture coordinates.
pub fn apply(
    source: &Source,
    desc: &DisplacementDesc,
    mesh: &mut MeshSource,
    place: &Place,
) -> Result<Option<displacement::Displaced>, LoadError> {
    let place = &place.key("displacement");
    if mesh.mesh.triangles().is_none_or(|triangles| triangles.uvs.is_empty()) {
        let message = format!(
            "`{}` has no texture coordinates, over which heights are read: export it with them",
            mesh.mesh.name
        );
        return Err(source.error(place, message));
    }
    let displacement = read(source, desc, place)?;
    if mesh.cage.is_some() {
        mesh.displacement = Some(Box::new(displacement));
        return Ok(None);
    }
    Ok(displacement::displace(mesh, &displacement))
}
