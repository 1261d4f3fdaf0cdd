//! Materials of throng that a file keeps whole.

use super::Convert;
use throng_scene::{
    Material,
    animated::MapUse,
    properties::{self, MaterialNumber},
};
use throng_usd::{OwnSurface, Source};

/// Whether shading needs the tangents of vertices, even if nothing is read.
pub fn uses_tangents(own: &OwnSurface) -> bool {
    plain(own).uses_tangents()
}

/// The material without its maps.
fn plain(own: &OwnSurface) -> Material {
    let mut material = properties::blank();
    own.texts.iter().for_each(|(name, text)| properties::choose(&mut material, name, text));
    for (name, [x, y, z, _]) in &own.numbers {
        if let Some(number) = MaterialNumber::named(name) {
            number.set(&mut material, [*x, *y, *z]);
        }
    }
    material
}

impl Convert<'_> {
    /// The material of throng's own shader.
    pub fn own(&mut self, own: &OwnSurface) -> Material {
        let mut material = plain(own);
        material.lobes.extinction = material.lobes.extinction.map(|x| x / self.scale);
        for (name, source) in &own.maps {
            let (Source::Picture(read), Some(map)) = (source, MapUse::named(name)) else { continue };
            let picture = self.picture(read, map.holds_colors());
            let texture = self.table.picture(picture);
            *map.of(&mut material) = self.map_of(read, texture);
        }
        material
    }
}
