//! Properties of materials by name, for files that keep all of a material: throng's own surface shader in USD files.
//!
//! Maps are not in this list; see [`MapUse`](super::material_values::MapUse).

use super::material_values::VAST;
use crate::{Alpha, Material, MaterialKind, ToCamera};

/// A property whose value is one to three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaterialNumber(u8);

/// Name, number of components, clamping to valid values, and access.
struct Number(&'static str, usize, fn(f32) -> f32, fn(&mut Material) -> &mut [f32]);

#[rustfmt::skip]
const NUMBERS: &[Number] = &[
    Number("color", 3, vast, |m| AsMut::<[f32; 3]>::as_mut(&mut m.color)),
    Number("emission", 3, positive, |m| AsMut::<[f32; 3]>::as_mut(&mut m.emission)),
    Number("opacity", 1, unit, |m| std::slice::from_mut(&mut m.opacity)),
    Number("metallic", 1, unit, |m| std::slice::from_mut(&mut m.lobes.metallic)),
    Number("roughness", 1, unit, |m| std::slice::from_mut(&mut m.lobes.roughness)),
    Number("normalScale", 1, vast, |m| std::slice::from_mut(&mut m.lobes.normal_scale)),
    Number("ior", 1, positive, |m| std::slice::from_mut(&mut m.lobes.ior)),
    Number("specular", 1, unit, |m| std::slice::from_mut(&mut m.lobes.specular)),
    Number("specularColor", 3, positive, |m| &mut m.lobes.specular_color),
    Number("transmission", 1, unit, |m| std::slice::from_mut(&mut m.lobes.transmission)),
    Number("dispersion", 1, positive, |m| std::slice::from_mut(&mut m.lobes.dispersion)),
    Number("extinction", 3, positive, |m| &mut m.lobes.extinction),
    Number("scatterAlbedo", 3, unit, |m| &mut m.lobes.scatter_albedo),
    Number("scatterAnisotropy", 1, phase, |m| std::slice::from_mut(&mut m.lobes.scatter_anisotropy)),
    Number("diffuseTransmission", 1, unit, |m| std::slice::from_mut(&mut m.lobes.diffuse_transmission)),
    Number("diffuseTransmissionColor", 3, unit, |m| &mut m.lobes.diffuse_transmission_color),
    Number("clearcoat", 1, unit, |m| std::slice::from_mut(&mut m.lobes.clearcoat)),
    Number("clearcoatRoughness", 1, unit, |m| std::slice::from_mut(&mut m.lobes.clearcoat_roughness)),
    Number("clearcoatNormalScale", 1, vast, |m| std::slice::from_mut(&mut m.lobes.clearcoat_normal_scale)),
    Number("sheenColor", 3, unit, |m| &mut m.lobes.sheen_color),
    Number("sheenRoughness", 1, unit, |m| std::slice::from_mut(&mut m.lobes.sheen_roughness)),
    Number("iridescence", 1, unit, |m| std::slice::from_mut(&mut m.lobes.iridescence)),
    Number("iridescenceIor", 1, from_one, |m| std::slice::from_mut(&mut m.lobes.iridescence_ior)),
    Number("iridescenceThickness", 2, positive, |m| &mut m.lobes.iridescence_thickness),
    Number("anisotropy", 1, unit, |m| std::slice::from_mut(&mut m.lobes.anisotropy)),
    Number("anisotropyRotation", 1, vast, |m| std::slice::from_mut(&mut m.lobes.anisotropy_rotation)),
    Number("azimuthalRoughness", 1, unit, |m| std::slice::from_mut(&mut m.lobes.azimuthal_roughness)),
    Number("cuticleTilt", 1, tilt, |m| std::slice::from_mut(&mut m.lobes.cuticle_tilt)),
];

fn unit(x: f32) -> f32 {
    x.clamp(0.0, 1.0)
}

fn positive(x: f32) -> f32 {
    x.clamp(0.0, VAST)
}

fn from_one(x: f32) -> f32 {
    x.clamp(1.0, VAST)
}

fn phase(x: f32) -> f32 {
    x.clamp(-0.99, 0.99)
}

fn tilt(x: f32) -> f32 {
    x.clamp(-1.0, 1.0)
}

fn vast(x: f32) -> f32 {
    x.clamp(-VAST, VAST)
}

impl MaterialNumber {
    /// All properties.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..NUMBERS.len()).map(|row| Self(row as u8))
    }

    /// The property with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|number| number.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NUMBERS[self.0 as usize].0
    }

    /// Number of components, 1 to 3.
    pub fn components(self) -> usize {
        NUMBERS[self.0 as usize].1
    }

    /// The value; components that it does not have are 0.
    pub fn of(self, material: &Material) -> [f32; 3] {
        let mut own = *material;
        let mut value = [0.0; 3];
        let components = NUMBERS[self.0 as usize].3(&mut own);
        value[..components.len()].copy_from_slice(components);
        value
    }

    /// Sets the value, clamped to valid ones. Numbers that are not finite leave it as it is.
    pub fn set(self, material: &mut Material, value: [f32; 3]) {
        let Number(_, _, clamp, access) = &NUMBERS[self.0 as usize];
        for (own, new) in access(material).iter_mut().zip(value) {
            *own = if new.is_finite() { clamp(new) } else { *own };
        }
    }
}

/// Names of kinds, uses of opacity and visibilities.
const KINDS: [(&str, MaterialKind); 4] = [
    ("diffuse", MaterialKind::Diffuse),
    ("mirror", MaterialKind::Mirror),
    ("layered", MaterialKind::Layered),
    ("hair", MaterialKind::Hair),
];
const CAMERAS: [(&str, ToCamera); 3] =
    [("visible", ToCamera::Visible), ("holdout", ToCamera::Holdout), ("shadowCatcher", ToCamera::ShadowCatcher)];

fn name_of<T: PartialEq>(list: &'static [(&str, T)], wanted: &T) -> &'static str {
    list.iter().find(|(_, value)| value == wanted).map_or("", |(name, _)| name)
}

/// The material whose properties files leave out.
pub fn blank() -> Material {
    Material { kind: MaterialKind::Layered, ..Material::default() }
}

/// Properties that are neither numbers nor maps, as names and texts.
pub fn choices(material: &Material) -> Vec<(&'static str, String)> {
    let flag = |is_on: bool| if is_on { "on" } else { "off" }.to_owned();
    let alpha = match material.alpha {
        Alpha::Opaque => "opaque".to_owned(),
        Alpha::Blend => "blend".to_owned(),
        Alpha::Mask(cutoff) => format!("mask {cutoff:?}"),
    };
    vec![
        ("kind", name_of(&KINDS, &material.kind).to_owned()),
        ("alpha", alpha),
        ("toCamera", name_of(&CAMERAS, &material.to_camera).to_owned()),
        ("unlit", flag(material.unlit)),
        ("oneSidedEmission", flag(material.one_sided)),
        ("doubleSided", flag(material.double_sided)),
        ("thin", flag(material.lobes.thin != 0)),
    ]
}

/// Sets a property of [`choices`]. Unknown names and texts change nothing.
pub fn choose(material: &mut Material, name: &str, text: &str) {
    let is_on = text == "on";
    match name {
        "kind" => KINDS.iter().filter(|(name, _)| *name == text).for_each(|(_, kind)| material.kind = *kind),
        "toCamera" => CAMERAS.iter().filter(|(name, _)| *name == text).for_each(|(_, way)| material.to_camera = *way),
        "alpha" => set_alpha(material, text),
        "unlit" => material.unlit = is_on,
        "oneSidedEmission" => material.one_sided = is_on,
        "doubleSided" => material.double_sided = is_on,
        "thin" => material.lobes.thin = u32::from(is_on),
        _ => {}
    }
}

fn set_alpha(material: &mut Material, text: &str) {
    let cutoff = text.strip_prefix("mask ").and_then(|number| number.parse::<f32>().ok());
    match (text, cutoff.filter(|cutoff| cutoff.is_finite())) {
        ("opaque", _) => material.alpha = Alpha::Opaque,
        ("blend", _) => material.alpha = Alpha::Blend,
        (_, Some(cutoff)) => material.alpha = Alpha::Mask(positive(cutoff)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lobes;

    /// A material in which every property differs from its default.
    fn unusual() -> Material {
        let mut material = Material {
            kind: MaterialKind::Hair,
            alpha: Alpha::Mask(0.1),
            to_camera: ToCamera::Holdout,
            unlit: true,
            one_sided: true,
            double_sided: false,
            lobes: Lobes { thin: 0, ..Lobes::default() },
            ..Material::default()
        };
        for (index, number) in MaterialNumber::all().enumerate() {
            let value = 0.01 * index as f32 + 0.123;
            let value = if number.name() == "iridescenceIor" { value + 1.0 } else { value };
            number.set(&mut material, [value, value + 0.001, value + 0.002]);
        }
        material
    }

    #[test]
    fn a_material_is_the_same_after_all_its_properties_were_set() {
        let material = unusual();
        let mut again = Material::default();
        for number in MaterialNumber::all() {
            assert_eq!(MaterialNumber::named(number.name()), Some(number));
            number.set(&mut again, number.of(&material));
        }
        for (name, text) in choices(&material) {
            choose(&mut again, name, &text);
        }
        assert_eq!(again, material);
        // Every number of the lobes has a row, for the others would be as in the default.
        let text = format!("{:?}", again.lobes);
        let plain = format!("{:?}", Lobes::default());
        let (fields, defaults) = (text.split(", "), plain.split(", "));
        let same: Vec<&str> = fields.zip(defaults).filter(|(own, plain)| own == plain).map(|(own, _)| own).collect();
        assert!(same.iter().all(|field| field.contains("_map")), "{same:?}");
    }

    #[test]
    fn values_that_make_no_sense_are_clamped_or_ignored() {
        let mut material = Material::default();
        let roughness = MaterialNumber::named("roughness").unwrap_or_else(|| panic!("no roughness"));
        roughness.set(&mut material, [7.0, 0.0, 0.0]);
        assert_eq!(material.lobes.roughness, 1.0);
        roughness.set(&mut material, [f32::NAN, 0.0, 0.0]);
        assert_eq!(material.lobes.roughness, 1.0);
        choose(&mut material, "alpha", "mask inf");
        choose(&mut material, "kind", "marble");
        assert_eq!((material.alpha, material.kind), (Alpha::Opaque, MaterialKind::Diffuse));
    }
}
