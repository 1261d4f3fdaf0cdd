//! Lights (UsdLux).

mod blackbody;

#[cfg(test)]
mod tests;

use super::{
    kinds::Kind,
    over_time::{at, over_time},
    pictures::Pictures,
    values::Values,
};
use crate::{Light, LightKind, NONE, OwnSky, Sampled, Shaping};
use glam::DAffine3;
use openusd::{sdf::Value, usd::Prim};

/// Types of lights that are left out.
const LEFT_OUT: [&str; 4] = ["PortalLight", "PluginLight", "VolumeLight", "LightPortal"];
/// Schemas that make a light of a shape.
const SHAPE_SCHEMAS: [&str; 2] = ["MeshLightAPI", "LightAPI"];

/// Whether the prim is a light, by its type or by an applied schema.
pub fn is_light(_: &Values, prim: &Prim, type_name: &str) -> bool {
    type_name.ends_with("Light")
        || type_name == "DomeLight_1"
        || LEFT_OUT.contains(&type_name)
        || (Kind::of(type_name) == Kind::Shape && has_schema(prim, &SHAPE_SCHEMAS))
}

fn has_schema(prim: &Prim, names: &[&str]) -> bool {
    prim.authored_api_schemas().unwrap_or_default().iter().any(|name| names.contains(&name.as_str()))
}

/// The light of a prim. `None` after a warning if its kind is not supported.
pub fn read(
    values: &Values,
    pictures: &Pictures,
    prim: &Prim,
    world: Sampled<DAffine3>,
    shown: Sampled<bool>,
) -> Option<Light> {
    let type_name = values.type_name(prim);
    let light = Inputs { values, prim, type_name: type_name.as_str() };
    let kind = light.kind(pictures)?;
    light.warn_about_the_rest();
    let shaping = match kind {
        LightKind::Dome { .. } | LightKind::Distant { .. } => None,
        _ => light.shaping(),
    };
    Some(Light {
        name: light.name(),
        kind,
        world_from_light: world,
        shown,
        radiance: light.radiance(),
        normalize: values.bool(prim, light.attribute("normalize"), false),
        shaping,
        sky: sky(values, prim),
    })
}

/// What throng keeps of a sky.
fn sky(values: &Values, prim: &Prim) -> OwnSky {
    let read = |name: &str| {
        let known = values.has(prim, name).then(|| values.get::<Vec<[f32; 3]>>(prim, name)).flatten();
        known.filter(|all| all.iter().flatten().all(|x| x.is_finite() && *x >= 0.0))
    };
    OwnSky {
        gradient: read(OwnSky::GRADIENT).and_then(|colors| colors.try_into().ok()),
        stars: read(OwnSky::STARS).and_then(|stars| stars.first().copied()),
    }
}

/// The inputs of one light.
struct Inputs<'a> {
    values: &'a Values,
    prim: &'a Prim,
    type_name: &'a str,
}

impl Inputs<'_> {
    /// The name of an attribute: with `inputs:`, or without it in files older than USD 21.02.
    fn attribute<'n>(&self, name: &'n str) -> &'n str {
        match NAMES.iter().find(|new| new.strip_prefix("inputs:") == Some(name)) {
            Some(new) if !self.values.has(self.prim, name) || self.values.has(self.prim, new) => new,
            _ => name,
        }
    }

    fn number(&self, name: &str, fallback: f64) -> f64 {
        self.values.f64(self.prim, self.attribute(name), fallback)
    }

    fn flag(&self, name: &str) -> bool {
        self.values.bool(self.prim, name, false)
    }

    fn picture(&self, pictures: &Pictures) -> u32 {
        pictures.add(self.values, self.prim, self.attribute("texture:file"))
    }

    /// Path of the prim, or of the shape that emits.
    fn name(&self) -> String {
        let targets = if self.type_name == "GeometryLight" { self.geometry() } else { Vec::new() };
        targets.first().unwrap_or(self.prim.path()).to_string()
    }

    fn geometry(&self) -> Vec<openusd::sdf::Path> {
        self.values.targets(self.prim, "geometry")
    }

    fn kind(&self, pictures: &Pictures) -> Option<LightKind> {
        Some(match self.type_name {
            "DomeLight" => LightKind::Dome { picture: self.dome_picture(pictures), pole_is_z: false },
            "DomeLight_1" => LightKind::Dome { picture: self.dome_picture(pictures), pole_is_z: self.pole_is_z() },
            "DistantLight" => LightKind::Distant { angle: self.number("angle", 0.53) },
            "SphereLight" if self.flag("treatAsPoint") => LightKind::Sphere { radius: 0.0 },
            "SphereLight" => LightKind::Sphere { radius: self.number("radius", 0.5) },
            "DiskLight" => LightKind::Disk { radius: self.number("radius", 0.5) },
            "RectLight" => {
                let size = [self.number("width", 1.0), self.number("height", 1.0)];
                LightKind::Rect { size, picture: self.picture(pictures) }
            }
            "CylinderLight" => {
                let radius = if self.flag("treatAsLine") { 0.0 } else { self.number("radius", 0.5) };
                LightKind::Cylinder { radius, length: self.number("length", 1.0) }
            }
            "GeometryLight" => match self.geometry().len() {
                0 => {
                    self.warn("the light has no geometry; it is left out");
                    return None;
                }
                1 => LightKind::Geometry,
                _ => {
                    self.warn("the light has several shapes; only the first one emits");
                    LightKind::Geometry
                }
            },
            shape if Kind::of(shape) == Kind::Shape => LightKind::Geometry,
            other => {
                self.warn(&format!("lights of type {other} are not supported; it is left out"));
                return None;
            }
        })
    }

    fn dome_picture(&self, pictures: &Pictures) -> u32 {
        let format = self.values.token(self.prim, self.attribute("texture:format"));
        match format.as_deref() {
            None | Some("automatic" | "latlong") => self.picture(pictures),
            Some(format) => {
                self.warn(&format!("the picture's format {format} is not supported; it is left out"));
                NONE
            }
        }
    }

    /// Whether the pole of a dome is +Z. By default it is the stage's upward axis.
    fn pole_is_z(&self) -> bool {
        match self.values.token(self.prim, "poleAxis").as_deref() {
            Some("Y") => false,
            Some("Z") => true,
            _ => {
                let up = self.values.stage().stage_metadata("upAxis").ok().flatten();
                matches!(up, Some(Value::Token(up)) if up == "Z")
            }
        }
    }

    fn radiance(&self) -> Sampled<[f32; 3]> {
        let [intensity, exposure, color] = ["intensity", "exposure", "color"].map(|name| self.attribute(name));
        let [enabled, kelvin] = ["enableColorTemperature", "colorTemperature"].map(|name| self.attribute(name));
        let (values, prim) = (self.values, self.prim);
        let usual = if self.type_name == "DistantLight" { 50_000.0 } else { 1.0 };
        over_time(values, prim, &[intensity, exposure, color, enabled, kelvin], |time| {
            let stops = at(values, prim, exposure, time, 0.0f32);
            let scale = at(values, prim, intensity, time, usual) * stops.exp2();
            let mut radiance = at(values, prim, color, time, [1.0f32; 3]).map(|value| value * scale);
            if at(values, prim, enabled, time, false) {
                let body = blackbody::color(at(values, prim, kelvin, time, 6500.0));
                radiance = std::array::from_fn(|i| radiance[i] * body[i]);
            }
            if radiance.iter().any(|value| !value.is_finite()) {
                self.warn("its intensity and exposure are too large; the light is off");
                return [0.0; 3];
            }
            radiance
        })
    }

    fn shaping(&self) -> Option<Shaping> {
        let [angle, softness, focus] = ["shaping:cone:angle", "shaping:cone:softness", "shaping:focus"];
        let authored = [angle, softness, focus].iter().any(|name| self.values.has(self.prim, self.attribute(name)));
        if !authored && !has_schema(self.prim, &["ShapingAPI"]) {
            return None;
        }
        let shaping = Shaping {
            angle: self.number(angle, 90.0) as f32,
            softness: self.number(softness, 0.0) as f32,
            focus: self.number(focus, 0.0) as f32,
        };
        (shaping.angle < 180.0 || shaping.focus > 0.0).then_some(shaping)
    }

    /// Parts that have an effect but are left out.
    fn warn_about_the_rest(&self) {
        let (values, prim) = (self.values, self.prim);
        if self.number("diffuse", 1.0) != 1.0 || self.number("specular", 1.0) != 1.0 {
            self.warn("factors for diffuse and specular reflections are not supported; the light acts in full");
        }
        if values.asset(prim, self.attribute("shaping:ies:file")).is_some() {
            self.warn("profiles (IES) are not supported; the light shines evenly");
        }
        if !values.bool(prim, self.attribute("shadow:enable"), true) {
            self.warn("lights without shadows are not supported; it casts them");
        }
        if !values.targets(prim, "light:filters").is_empty() {
            self.warn("filters of lights are not supported; it shines without them");
        }
        if ["lightLink", "shadowLink"].iter().any(|name| self.is_linked(name)) {
            values.warn("links of lights to objects are not supported; all lights shine on all objects");
        }
    }

    fn is_linked(&self, collection: &str) -> bool {
        let name = |part: &str| format!("collection:{collection}:{part}");
        ["includes", "excludes"].iter().any(|part| !self.values.targets(self.prim, &name(part)).is_empty())
            || !self.values.bool(self.prim, &name("includeRoot"), true)
            || self.values.has(self.prim, &name("membershipExpression"))
    }

    fn warn(&self, line: &str) {
        self.values.warn(format!("{}: {line}", self.prim.path()));
    }
}

/// Names of attributes since USD 21.02.
const NAMES: [&str; 23] = [
    "inputs:angle",
    "inputs:color",
    "inputs:colorTemperature",
    "inputs:diffuse",
    "inputs:enableColorTemperature",
    "inputs:exposure",
    "inputs:height",
    "inputs:intensity",
    "inputs:length",
    "inputs:normalize",
    "inputs:radius",
    "inputs:shadow:enable",
    "inputs:shaping:cone:angle",
    "inputs:shaping:cone:softness",
    "inputs:shaping:focus",
    "inputs:shaping:ies:file",
    "inputs:specular",
    "inputs:texture:file",
    "inputs:texture:format",
    "inputs:width",
    "inputs:shadow:color",
    "inputs:shadow:distance",
    "inputs:shaping:focusTint",
];
