//! Validation of the `materials` section, and conversion to rows of the table.

use super::{
    checked::{Fields, above_zero},
    file::Source,
    source::Place,
};
use crate::{LoadError, files, gltf::ColorSpace, image, materials::Materials, usd::Convert};
use glam::Vec3;
use std::path::PathBuf;
use throng_scene::{
    Alpha, Lobes, Material, MaterialKind, NONE, ToCamera, Wrap,
    desc::{
        AlphaDesc, Color, DEGREES, DISPERSION, Diffuse, Emissive, Finite, Glass, Glossy, Hair, IOR, MaterialDesc,
        MaterialXFile, Metal, Mirror, Pbr, UNIT,
    },
    hair_color, melanin_absorption, scatter_albedo,
};

/// Converts the entry at `place`, and adds its textures to `table`. Pictures of MaterialX documents may also be in folders of `allow`.
///
/// # Errors
/// If a number or colour is out of range, if fields exclude one another, or if a texture or document cannot be read.
pub fn convert(
    source: &Source,
    desc: &MaterialDesc,
    (table, allow): (&mut Materials, &[PathBuf]),
    place: &Place,
) -> Result<Material, LoadError> {
    let mut entry = Entry { fields: Fields { source, place }, table };
    match desc {
        MaterialDesc::Diffuse(d) => entry.diffuse(d),
        MaterialDesc::Mirror(d) => entry.mirror(d),
        MaterialDesc::Emissive(d) => entry.emissive(d),
        MaterialDesc::Metal(d) => entry.metal(d),
        MaterialDesc::Glossy(d) => entry.glossy(d),
        MaterialDesc::Glass(d) => entry.glass(d),
        MaterialDesc::Pbr(d) => entry.pbr(d),
        MaterialDesc::Hair(d) => entry.hair(d),
        MaterialDesc::MaterialX(d) => entry.of_document(d, allow),
        MaterialDesc::Holdout(d) => Ok(Material { to_camera: ToCamera::Holdout, ..entry.diffuse(d)? }),
        MaterialDesc::ShadowCatcher(d) => Ok(Material { to_camera: ToCamera::ShadowCatcher, ..entry.diffuse(d)? }),
    }
}

/// One entry of the section.
struct Entry<'a> {
    fields: Fields<'a>,
    table: &'a mut Materials,
}

impl Entry<'_> {
    fn diffuse(&mut self, d: &Diffuse) -> Result<Material, LoadError> {
        let color_map = self.color_map(&d.texture, "texture", d.wrap)?;
        Ok(Material { color_map, color: under(d.color, color_map, Material::default().color), ..Material::default() })
    }

    fn mirror(&mut self, d: &Mirror) -> Result<Material, LoadError> {
        let roughness = self.number(d.roughness, "roughness", UNIT)?;
        let plain = Material {
            kind: MaterialKind::Mirror,
            color_map: self.color_map(&d.texture, "texture", d.wrap)?,
            color: d.tint.0,
            ..Material::default()
        };
        Ok(if roughness > 0.0 {
            Material {
                kind: MaterialKind::Layered,
                color: self.color(d.tint, "tint")?,
                lobes: Lobes { metallic: 1.0, roughness, ..Lobes::default() },
                ..plain
            }
        } else {
            plain
        })
    }

    fn emissive(&mut self, d: &Emissive) -> Result<Material, LoadError> {
        let color = d.color.map(|color| self.color(color, "color")).transpose()?;
        Ok(Material {
            color: color.unwrap_or(Vec3::ZERO),
            emission: d.radiance.0,
            emission_map: self.color_map(&d.texture, "texture", d.wrap)?,
            ..Material::default()
        })
    }

    fn metal(&mut self, d: &Metal) -> Result<Material, LoadError> {
        let lobes = Lobes {
            metallic: 1.0,
            roughness: self.number(d.roughness, "roughness", UNIT)?,
            normal_map: self.data_map(&d.normal_texture, "normal_texture", d.wrap)?,
            anisotropy: self.number(d.anisotropy, "anisotropy", UNIT)?,
            anisotropy_rotation: self.number(d.rotation, "rotation", DEGREES)?.to_radians(),
            ..Lobes::default()
        };
        Ok(Material {
            color: self.color(d.color, "color")?,
            color_map: self.color_map(&d.texture, "texture", d.wrap)?,
            ..layered(lobes)
        })
    }

    fn glossy(&mut self, d: &Glossy) -> Result<Material, LoadError> {
        let lobes = Lobes {
            roughness: self.number(d.roughness, "roughness", UNIT)?,
            ior: self.number(d.ior, "ior", IOR)?,
            normal_map: self.data_map(&d.normal_texture, "normal_texture", d.wrap)?,
            clearcoat: self.number(d.clearcoat, "clearcoat", UNIT)?,
            clearcoat_roughness: self.number(d.clearcoat_roughness, "clearcoat_roughness", UNIT)?,
            ..Lobes::default()
        };
        self.colored(d.color, &d.texture, d.wrap, layered(lobes))
    }

    fn glass(&mut self, d: &Glass) -> Result<Material, LoadError> {
        let absorption = self.absorption(d.absorption, d.attenuation)?;
        if d.thin && absorption != Vec3::ZERO {
            let message = "a thin pane has no volume that absorbs: leave out `thin`";
            return self.fields.fail("thin", message);
        }
        let lobes = Lobes {
            roughness: self.number(d.roughness, "roughness", UNIT)?,
            ior: self.number(d.ior, "ior", IOR)?,
            dispersion: self.number(d.dispersion, "dispersion", DISPERSION)?,
            transmission: 1.0,
            thin: u32::from(d.thin),
            extinction: absorption.into(),
            ..Lobes::default()
        };
        let lobes = self.milky(lobes, d.scatter, d.scatter_anisotropy)?;
        Ok(Material { color: self.color(d.color, "color")?, ..layered(lobes) })
    }

    fn pbr(&mut self, d: &Pbr) -> Result<Material, LoadError> {
        let lobes = self.lobes(d)?;
        let emission_map = self.color_map(&d.emission_texture, "emission_texture", d.wrap)?;
        let material = Material {
            emission: under(d.emission, emission_map, Vec3::ZERO),
            emission_map,
            opacity: self.number(d.opacity, "opacity", UNIT)?,
            alpha: match d.alpha {
                AlphaDesc::Opaque => Alpha::Opaque,
                AlphaDesc::Mask(cutoff) => Alpha::Mask(self.number(cutoff, "alpha", UNIT)?),
                AlphaDesc::Blend => Alpha::Blend,
            },
            double_sided: d.double_sided,
            ..layered(lobes)
        };
        self.colored(d.color, &d.texture, d.wrap, material)
    }

    /// A material of a MaterialX document.
    fn of_document(&mut self, d: &MaterialXFile, allow: &[PathBuf]) -> Result<Material, LoadError> {
        let path = self.fields.source.resolve(&d.file);
        let name = path.display();
        let is_document = crate::extension(&path) == "mtlx";
        if !is_document || !files::exists(&path) {
            return self.fields.fail("file", format!("{name} is no MaterialX document that exists: check the path"));
        }
        let library = self.table.library(&path, allow)?;
        let all = || list(library.materials.iter().map(|material| material.name.as_str()));
        let material = match (&d.material, &library.materials[..]) {
            (_, []) => return self.fields.fail("file", format!("{name} has no materials")),
            (None, [only]) => only,
            (None, _) => {
                return self.fields.fail("file", format!("{name} has several materials: add `material`, {}", all()));
            }
            (Some(wanted), materials) => match materials.iter().find(|material| material.name == *wanted) {
                Some(material) => material,
                None => {
                    return self.fields.fail("material", format!("{name} has no material `{wanted}`, but {}", all()));
                }
            },
        };
        if material.surface.is_displaced() {
            let line =
                format!("{name}: the displacement of `{}` is left out: meshes have `displacement`", material.name);
            self.table.warn(line);
        }
        // Names of MaterialX for the second set are those of its nodes, and of common exporters.
        let uv_set = |name: &str| u32::from(["st1", "UV1", "UVMap1", "map2"].contains(&name));
        let mut convert = Convert {
            pictures: &library.pictures,
            file: &path,
            scale: 1.0,
            table: self.table,
            uv_set: &uv_set,
            tint: Vec3::ONE,
            fade: None,
            period: None,
        };
        Ok(convert.material(&material.surface))
    }

    fn lobes(&mut self, d: &Pbr) -> Result<Lobes, LoadError> {
        let mut lobes = Lobes::default();
        for (field, x, range, place) in d.numbers() {
            *place(&mut lobes) = self.number(x, field, range)?;
        }
        for (field, color, place) in d.colors() {
            *place(&mut lobes) = self.color(color, field)?.into();
        }
        let (file, field) = (&d.metallic_roughness_texture, "metallic_roughness_texture");
        let map = self.data_map(file, field, d.wrap)?;
        let either = |x: Option<Finite>, plain: f32| x.unwrap_or(Finite(if map == NONE { plain } else { 1.0 }));
        let normals = (&d.clearcoat_normal_texture, "clearcoat_normal_texture");
        let absorption = self.absorption(d.absorption, d.attenuation)?;
        let lobes = Lobes {
            metallic: self.number(either(d.metallic, 0.0), "metallic", UNIT)?,
            roughness: self.number(either(d.roughness, 0.5), "roughness", UNIT)?,
            metallic_roughness_map: map,
            normal_map: self.data_map(&d.normal_texture, "normal_texture", d.wrap)?,
            specular_color: d.specular_color.0.into(),
            thin: u32::from(d.thin.unwrap_or(absorption == Vec3::ZERO)),
            extinction: absorption.into(),
            anisotropy_rotation: lobes.anisotropy_rotation.to_radians(),
            clearcoat_normal_map: self.data_map(normals.0, normals.1, d.wrap)?,
            iridescence_thickness: [lobes.iridescence_thickness[1]; 2],
            ..lobes
        };
        self.milky(lobes, d.scatter, d.scatter_anisotropy)
    }

    fn hair(&mut self, d: &Hair) -> Result<Material, LoadError> {
        let azimuthal_roughness = self.number(d.azimuthal_roughness, "azimuthal_roughness", UNIT)?;
        let lobes = Lobes {
            roughness: self.number(d.roughness, "roughness", UNIT)?,
            azimuthal_roughness,
            ior: self.number(d.ior, "ior", (1.0, 3.0))?,
            cuticle_tilt: self.number(d.tilt, "tilt", (-45.0, 45.0))?.to_radians(),
            clearcoat: self.number(d.coat, "coat", UNIT)?,
            ..Lobes::default()
        };
        Ok(Material {
            kind: MaterialKind::Hair,
            color: self.hair_color(d, azimuthal_roughness)? * self.color(d.tint, "tint")?,
            color_map: self.color_map(&d.texture, "texture", d.wrap)?,
            lobes,
            ..Material::default()
        })
    }

    /// The colour of dense hair without a tint, from one of the fields that specify it.
    fn hair_color(&self, d: &Hair, azimuthal_roughness: f32) -> Result<Vec3, LoadError> {
        let given = [
            ("color", d.color.is_some()),
            ("absorption", d.absorption.is_some()),
            (if d.melanin.is_some() { "melanin" } else { "redness" }, d.melanin.or(d.redness).is_some()),
        ];
        let mut given = given.into_iter().filter(|(_, is_given)| *is_given);
        if let (Some((first, _)), Some((second, _))) = (given.next(), given.next()) {
            return self.fields.fail(first, format!("`{second}` is an alternative: remove one of them"));
        }
        if let Some(color) = d.color {
            return self.color(color, "color");
        }
        if let Some(absorption) = d.absorption {
            return Ok(hair_color(absorption.0, azimuthal_roughness));
        }
        let melanin = self.number(d.melanin.unwrap_or(Finite(0.6)), "melanin", UNIT)?;
        let redness = self.number(d.redness.unwrap_or(Finite(0.3)), "redness", UNIT)?;
        Ok(hair_color(melanin_absorption(melanin, redness), azimuthal_roughness))
    }

    /// Adds scattering to the volume of `lobes`, if a colour is given.
    fn milky(&self, lobes: Lobes, scatter: Option<Color>, anisotropy: Finite) -> Result<Lobes, LoadError> {
        let scatter_anisotropy = self.number(anisotropy, "scatter_anisotropy", (-0.99, 0.99))?;
        let Some(color) = scatter else { return Ok(lobes) };
        if lobes.extinction == [0.0; 3] || lobes.thin != 0 {
            let message = "only a body with `attenuation` or `absorption` scatters: add one of these";
            return self.fields.fail("scatter", message);
        }
        let scatter_albedo = scatter_albedo(self.color(color, "scatter")?, scatter_anisotropy).into();
        Ok(Lobes { scatter_albedo, scatter_anisotropy, ..lobes })
    }

    /// Gives `material` a colour; white if there is only a texture.
    fn colored(
        &mut self,
        color: Option<Color>,
        texture: &Option<String>,
        wrap: Wrap,
        material: Material,
    ) -> Result<Material, LoadError> {
        let color_map = self.color_map(texture, "texture", wrap)?;
        if let Some(color) = color {
            self.color(color, "color")?;
        }
        Ok(Material { color: under(color, color_map, Material::default().color), color_map, ..material })
    }

    /// Absorption coefficient, from one of the two fields that specify it.
    fn absorption(&self, absorption: Option<Color>, attenuation: Option<(Color, Finite)>) -> Result<Vec3, LoadError> {
        match (absorption, attenuation) {
            (Some(_), Some(_)) => self.fields.fail("attenuation", "`absorption` is an alternative: remove one of them"),
            (Some(coefficient), None) => Ok(coefficient.0),
            (None, None) => Ok(Vec3::ZERO),
            (None, Some((color, distance))) => {
                let color = self.color(color, "attenuation")?;
                let distance = self.fields.check("attenuation", above_zero(distance.0, "the distance"))?;
                Ok(throng_scene::absorption(color, distance))
            }
        }
    }

    fn number(&self, x: Finite, field: &str, range: (f32, f32)) -> Result<f32, LoadError> {
        self.fields.within(x, field, range)
    }

    fn color(&self, color: Color, field: &str) -> Result<Vec3, LoadError> {
        self.fields.reflectance(color, field)
    }

    fn color_map(&mut self, file: &Option<String>, field: &str, wrap: Wrap) -> Result<u32, LoadError> {
        self.map(file, field, wrap, ColorSpace::Srgb)
    }

    fn data_map(&mut self, file: &Option<String>, field: &str, wrap: Wrap) -> Result<u32, LoadError> {
        self.map(file, field, wrap, ColorSpace::Linear)
    }

    /// Index of a map that reads the picture `file` without a transform; [`NONE`] without a file.
    fn map(&mut self, file: &Option<String>, field: &str, wrap: Wrap, space: ColorSpace) -> Result<u32, LoadError> {
        let Some(file) = file else { return Ok(NONE) };
        let source = self.fields.source;
        let found = match source.pictures.get(file) {
            Some(picture) => image::check(picture).map(|()| self.table.given((file, picture), wrap, space)),
            None => self.table.texture(&source.resolve(file), wrap, space, &source.path),
        };
        let texture = self.fields.check(field, found)?;
        Ok(self.table.plain_map(texture))
    }
}

fn layered(lobes: Lobes) -> Material {
    Material { kind: MaterialKind::Layered, lobes, ..Material::default() }
}

/// Names, of which the first ones are listed.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 10;
    let mut names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    match more {
        0 => names.join(", "),
        _ => format!("{} and {more} others", names.join(", ")),
    }
}

/// The given colour; otherwise white if there is a texture, or else `plain`.
fn under(color: Option<Color>, map: u32, plain: Vec3) -> Vec3 {
    let default = if map == NONE { plain } else { Vec3::ONE };
    color.map_or(default, |color| color.0)
}
