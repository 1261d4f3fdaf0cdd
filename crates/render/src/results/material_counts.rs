//! Counts of a scene's materials by kind, for `throng info`.

use std::fmt;
use throng_scene::{Alpha, Material, MaterialKind, NONE};

/// Numbers of materials by kind. Each material is counted in one field; `with_alpha` counts some of them a second time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct MaterialCounts {
    pub diffuse: usize,
    /// Perfect mirrors.
    pub mirror: usize,
    pub metal: usize,
    /// Layered materials that refract light.
    pub glass: usize,
    /// Other layered materials: dielectrics, cloth and leaves that light shines through, and materials whose metalness comes from a texture.
    pub layered: usize,
    pub hair: usize,
    /// Materials that emit light, of any kind.
    pub emissive: usize,
    /// Materials of any kind with an alpha mask or blending.
    pub with_alpha: usize,
}

impl MaterialCounts {
    pub fn of(materials: &[Material]) -> Self {
        let mut counts = Self::default();
        materials.iter().for_each(|m| counts.add(m));
        counts
    }

    fn add(&mut self, material: &Material) {
        let lobes = &material.lobes;
        let is_metal = lobes.metallic > 0.5 && lobes.metallic_roughness_map == NONE;
        let count = match material.kind {
            _ if material.emission.max_element() > 0.0 => &mut self.emissive,
            MaterialKind::Diffuse => &mut self.diffuse,
            MaterialKind::Mirror => &mut self.mirror,
            MaterialKind::Layered if lobes.transmission > 0.0 => &mut self.glass,
            MaterialKind::Layered if is_metal => &mut self.metal,
            MaterialKind::Layered => &mut self.layered,
            MaterialKind::Hair => &mut self.hair,
        };
        *count += 1;
        self.with_alpha += usize::from(material.alpha != Alpha::Opaque);
    }
}

impl fmt::Display for MaterialCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (self.diffuse, "diffuse"),
            (self.mirror, "mirror"),
            (self.metal, "metal"),
            (self.glass, "glass"),
            (self.layered, "layered"),
            (self.hair, "hair"),
            (self.emissive, "emissive"),
        ];
        let some = kinds.into_iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = some.map(|(count, kind)| format!("{count} {kind}")).collect();
        write!(f, "{}", words.join(", "))?;
        match self.with_alpha {
            0 => Ok(()),
            count => write!(f, "; {count} with alpha"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_scene::Lobes;

    #[test]
    fn materials_are_told_by_what_they_are() {
        let layered = |lobes: Lobes| Material { kind: MaterialKind::Layered, lobes, ..Material::default() };
        let metal = Lobes { metallic: 1.0, ..Lobes::default() };
        let textured = Lobes { metallic_roughness_map: 0, ..metal };
        let glass = Lobes { transmission: 1.0, ..Lobes::default() };
        let leaf = Material { alpha: Alpha::Mask(0.5), ..Material::default() };
        let hair = Material { kind: MaterialKind::Hair, ..layered(Lobes::default()) };
        let cloth = layered(Lobes { diffuse_transmission: 0.5, ..Lobes::default() });
        let counts = MaterialCounts::of(&[leaf, layered(metal), layered(textured), layered(glass), cloth, hair]);
        let told = "1 diffuse, 1 metal, 1 glass, 2 layered, 1 hair; 1 with alpha";
        assert_eq!(counts.to_string(), told);
    }
}
