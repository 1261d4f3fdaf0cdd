//! Validation and conversion of the `lights` section. Lights with an extent are emissive instances, placed after all others.

use crate::{
    LoadError,
    geometry::shapes,
    ron::{checked::Fields, file::Source, source::Place},
};
use glam::{Affine3, Mat3, Vec3};
use std::{
    collections::{HashMap, HashSet},
    f32::consts::{PI, TAU},
};
use throng_scene::{
    Instance, Light, Material, Mesh, NONE, Scene, Shape, TriangleMesh, cut,
    desc::{Color, DiscLight, Finite, LightDesc, Point, PointLight, RectangleLight, SpotLight, SunLight, UNIT},
};

/// The least size of a visible light, and the greatest size of any light.
const SIZES: (f32, f32) = (1e-6, 1e6);

/// A visible light.
#[derive(Clone)]
pub struct Lamp {
    name: String,
    form: Form,
    /// Transform of the form, whose size is 1.
    world_from_object: Affine3,
    radiance: Vec3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    Sphere,
    Square,
    Disc,
}

/// Converts `lights:`. Visible lights are also returned as lamps.
///
/// # Errors
/// If a light has no direction or an invalid size, or if names are empty or not unique.
pub fn convert(source: &Source, lights: &[LightDesc]) -> Result<(Vec<Light>, Vec<Lamp>), LoadError> {
    let all = Place::ROOT.key("lights");
    check_names(source, lights, &all)?;
    let mut lamps = Vec::new();
    let light = |(index, desc): (usize, &LightDesc)| {
        let place = all.index(index);
        let at = Fields { source, place: &place };
        let name = desc.name().map_or_else(|| format!("light.{index}"), |name| cut(name).to_owned());
        let (light, lamp) = match desc {
            LightDesc::Point(l) => at.point(l, name)?,
            LightDesc::Sun(l) => (at.sun(l)?, None),
            LightDesc::Spot(l) => (at.spot(l)?, None),
            LightDesc::Rectangle(l) => at.rectangle(l, name)?,
            LightDesc::Disc(l) => at.disc(l, name)?,
        };
        lamps.extend(lamp);
        Ok(light)
    };
    let lights = lights.iter().enumerate().map(light).collect::<Result<_, _>>()?;
    Ok((lights, lamps))
}

fn check_names(source: &Source, lights: &[LightDesc], all: &Place) -> Result<(), LoadError> {
    let mut known = HashSet::new();
    for (index, light) in lights.iter().enumerate() {
        let Some(name) = light.name() else { continue };
        let fault = match name {
            "" => "the name is empty: write one, or leave it out".to_owned(),
            _ if !known.insert(name) => format!("two lights are named `{name}`: names must be unique"),
            _ => continue,
        };
        return Err(source.error(&all.index(index).key("name"), fault));
    }
    Ok(())
}

/// A light, and its lamp if it is visible.
type Converted = Result<(Light, Option<Lamp>), LoadError>;

impl Fields<'_> {
    fn point(&self, l: &PointLight, name: String) -> Converted {
        let (position, intensity) = (l.position.0, l.intensity.0);
        if l.radius.0 == 0.0 {
            return Ok((Light::Point { position, intensity, range: self.range(l.range)? }, None));
        }
        if l.range.is_some() {
            let message = "a light with a radius is visible and has no range: remove one of them";
            return self.fail("range", message);
        }
        let radius = self.size(l.radius, "radius")?;
        let lamp = Lamp {
            name,
            form: Form::Sphere,
            world_from_object: Affine3 { matrix3: Mat3::from_diagonal(Vec3::splat(radius)), translation: position },
            radiance: self.radiance(l.intensity, PI * radius * radius)?,
        };
        Ok((Light::Lamp { position, direction: None, intensity, radius }, Some(lamp)))
    }

    fn sun(&self, l: &SunLight) -> Result<Light, LoadError> {
        let angular_radius = self.within(l.size, "size", (0.0, 90.0))?.to_radians() * 0.5;
        Ok(Light::Sun {
            direction: self.direction(l.direction, "direction")?,
            irradiance: l.irradiance.0,
            angular_radius,
        })
    }

    fn spot(&self, l: &SpotLight) -> Result<Light, LoadError> {
        let outer = self.within(l.angle, "angle", (0.01, 180.0))?.to_radians() * 0.5;
        let blend = self.within(l.blend, "blend", UNIT)?;
        let radius = self.within(l.radius, "radius", (0.0, SIZES.1))?;
        Ok(Light::Spot {
            position: l.position.0,
            direction: self.direction(l.direction, "direction")?,
            intensity: l.intensity.0,
            inner: outer * (1.0 - blend),
            outer,
            radius,
            range: self.range(l.range)?,
        })
    }

    fn range(&self, range: Option<Finite>) -> Result<Option<f32>, LoadError> {
        range.map(|range| self.size(range, "range")).transpose()
    }

    fn rectangle(&self, l: &RectangleLight, name: String) -> Converted {
        let direction = self.direction(l.direction, "direction")?;
        let (width, height) = (self.size(l.size.0, "size")?, self.size(l.size.1, "size")?);
        let up = match l.up {
            Some(up) => self.up(up, direction)?,
            None => upright(direction, Vec3::Y).or_else(|| upright(direction, Vec3::NEG_Z)).unwrap_or(Vec3::X),
        };
        let area = width * height;
        // A square's height is along its -Z axis.
        let matrix3 = Mat3::from_cols(up.cross(direction) * width, direction * area.sqrt(), up * -height);
        let (position, intensity) = (l.position.0, l.intensity.0);
        let lamp = Lamp {
            name,
            form: Form::Square,
            world_from_object: Affine3 { matrix3, translation: position },
            radiance: self.radiance(l.intensity, area)?,
        };
        let radius = (area / PI).sqrt();
        Ok((Light::Lamp { position, direction: Some(direction), intensity, radius }, Some(lamp)))
    }

    fn disc(&self, l: &DiscLight, name: String) -> Converted {
        let direction = self.direction(l.direction, "direction")?;
        let radius = self.size(l.radius, "radius")?;
        let side = direction.any_orthonormal_vector();
        let (position, intensity) = (l.position.0, l.intensity.0);
        let lamp = Lamp {
            name,
            form: Form::Disc,
            world_from_object: Affine3 {
                matrix3: Mat3::from_cols(side, direction, side.cross(direction)) * radius,
                translation: position,
            },
            radiance: self.radiance(l.intensity, PI * radius * radius)?,
        };
        Ok((Light::Lamp { position, direction: Some(direction), intensity, radius }, Some(lamp)))
    }

    /// The unit vector orthogonal to `direction` that is closest to `up`.
    fn up(&self, up: Point, direction: Vec3) -> Result<Vec3, LoadError> {
        let fault = "`up` is (0, 0, 0) or along the direction: write one that crosses it";
        self.check("up", upright(direction, up.0).ok_or(fault))
    }

    fn size(&self, size: Finite, field: &str) -> Result<f32, LoadError> {
        self.within(size, field, SIZES)
    }

    fn radiance(&self, intensity: Color, area: f32) -> Result<Vec3, LoadError> {
        let radiance = intensity.0 / area;
        let fault = "the light is too bright for its size: make it larger or darker";
        self.check("intensity", radiance.is_finite().then_some(radiance).ok_or(fault))
    }
}

/// The unit vector orthogonal to `direction` that is closest to `up`; none if they are parallel.
fn upright(direction: Vec3, up: Vec3) -> Option<Vec3> {
    let up = up.try_normalize()?;
    let across = up - direction * up.dot(direction);
    (across.length() > 1e-4).then(|| across.normalize())
}

impl Lamp {
    /// The emission of its material.
    pub fn radiance(&self) -> Vec3 {
        self.radiance
    }

    /// Whether the other lamp has an equal form and transform.
    pub fn stands_like(&self, other: &Self) -> bool {
        (self.form, self.world_from_object) == (other.form, other.world_from_object)
    }
}

/// Adds `lamps` to the instances of an otherwise complete scene. Each lamp gets the next row of the material table.
pub fn place(scene: &mut Scene, lamps: Vec<Lamp>) {
    let mut meshes = HashMap::new();
    for lamp in lamps {
        let mesh = *meshes.entry(lamp.form).or_insert_with(|| scene.add_mesh(lamp.form.mesh()));
        let slot_base = scene.material_slots.len() as u32;
        scene.material_slots.push(scene.materials.len() as u32);
        scene.materials.push(Material {
            color: Vec3::ZERO,
            emission: lamp.radiance,
            one_sided: lamp.form != Form::Sphere,
            ..Material::default()
        });
        scene.names.materials.push(lamp.name.clone());
        let stem = scene.names.add_stem(lamp.name);
        let local = lamp.world_from_object;
        scene.add_to_world(Instance { local, node: NONE, mesh, slot_base, motion: NONE }, stem, NONE);
    }
}

/// A polygon that faces +Y and has the area of a unit disc.
fn disc() -> TriangleMesh {
    const CORNERS: u32 = 64;
    let turn = TAU / CORNERS as f32;
    shapes::disc((turn / turn.sin()).sqrt(), CORNERS)
}

impl Form {
    fn mesh(self) -> Mesh {
        let (name, shape) = match self {
            Self::Sphere => ("ball light", Shape::Sphere),
            Self::Square => ("rectangle light", Shape::Triangles(shapes::quad(1.0))),
            Self::Disc => ("disc light", Shape::Triangles(disc())),
        };
        Mesh { name: name.into(), shape, slot_count: 1 }
    }
}
