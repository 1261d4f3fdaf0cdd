//! Lights.

use super::{values::Of, *};
use crate::scene::{Emission, Light, LightKind};
use std::f32::consts::PI;

const KINDS: &str = "infinite distant point spot goniometric projection";

impl Builder {
    /// `LightSource "point" ..`
    pub fn light(&mut self, kind: &str, params: &Params, place: LineColumn) -> Result<(), Fault> {
        self.take(512, place)?;
        let scale = self.scale(params)?;
        let from = params.triple("from")?.unwrap_or_default();
        let made = match kind {
            "infinite" => self.infinite(params, scale, place)?,
            "distant" => {
                let radiance = self.emitted(params, "L", scale)?;
                let to = params.triple("to")?.unwrap_or([0.0, 0.0, 1.0]);
                let irradiance = match params.float("illuminance") {
                    Some(lux) => times(radiance, lux),
                    None => radiance,
                };
                LightKind::Distant { irradiance, direction: [0, 1, 2].map(|i| from[i] - to[i]) }
            }
            "point" | "goniometric" => {
                if kind != "point" {
                    params.ignore(&["filename", "mapname"]);
                    self.warn(place, "a goniometric light is shown as a point light");
                }
                let own = self.emitted(params, "I", scale)?;
                let intensity = match params.float("power") {
                    Some(power) => times(own, power / (4.0 * PI)),
                    None => own,
                };
                LightKind::Point { intensity, position: from }
            }
            "spot" | "projection" => self.spot(kind, params, (scale, from), place)?,
            _ => {
                self.warn_of_unknown(place, ("light", kind), KINDS, "it is left out");
                return Ok(());
            }
        };
        params.ignore(&["samples", "nsamples"]);
        self.warn_of_unused(params, &format!("light `{kind}`"));
        let name = self.name_at(kind, place);
        self.scene.lights.push(Light { name, kind: made, world_from_light: self.state.ctm.start });
        Ok(())
    }

    fn infinite(&mut self, params: &Params, scale: [f32; 3], place: LineColumn) -> Result<LightKind, Fault> {
        let picture = params.text("filename").or_else(|| params.text("mapname")).map(str::to_owned);
        if params.groups::<3>("portal")?.is_some() {
            self.warn(place, "the portal of an infinite light is left out: its light comes from everywhere");
        }
        Ok(LightKind::Infinite {
            radiance: self.emitted(params, "L", scale)?,
            picture: picture.map(|file| self.path(&file)),
            illuminance: params.float("illuminance"),
        })
    }

    fn spot(
        &mut self,
        kind: &str,
        params: &Params,
        (scale, from): ([f32; 3], [f32; 3]),
        place: LineColumn,
    ) -> Result<LightKind, Fault> {
        let own = self.emitted(params, "I", scale)?;
        let target = params.triple("to")?.unwrap_or([0.0, 0.0, 1.0]);
        if kind == "projection" {
            params.ignore(&["filename", "mapname"]);
            self.warn(place, "a projected picture is shown as a spot light");
            let outer = 0.5 * params.float("fov").unwrap_or(90.0).clamp(1.0, 179.0);
            return Ok(LightKind::Spot { intensity: own, position: from, target, angles: [outer; 2] });
        }
        let outer = params.float("coneangle").unwrap_or(30.0).clamp(0.1, 179.0);
        let inner = outer - params.float("conedeltaangle").unwrap_or(5.0);
        let angles = [inner.clamp(0.0, outer), outer];
        let intensity = match params.float("power") {
            Some(power) => {
                let [inner, outer] = angles.map(|angle| angle.to_radians().cos());
                times(own, power / (2.0 * PI * ((1.0 - inner) + 0.5 * (inner - outer))))
            }
            None => own,
        };
        Ok(LightKind::Spot { intensity, position: from, target, angles })
    }

    /// `AreaLightSource "diffuse" ..`
    pub fn area_light(&mut self, kind: &str, params: &Params, place: LineColumn) -> Result<(), Fault> {
        if !["diffuse", "area"].contains(&kind) {
            self.warn_of_unknown(place, ("area light", kind), "diffuse", "it is taken as diffuse");
        }
        self.take(256, place)?;
        let scale = self.scale(params)?;
        let picture = params.text("filename").map(str::to_owned).map(|file| self.path(&file));
        let emission = Emission {
            radiance: self.emitted(params, "L", scale)?,
            power: params.float("power"),
            two_sided: params.bool("twosided").unwrap_or(false),
            picture,
        };
        params.ignore(&["samples", "nsamples"]);
        self.warn_of_unused(params, &format!("area light `{kind}`"));
        self.state.emission = self.scene.emissions.len() as u32;
        self.scene.emissions.push(emission);
        Ok(())
    }

    /// `scale`, which is a number or, in version 3, a colour.
    fn scale(&mut self, params: &Params) -> Result<[f32; 3], Fault> {
        Ok(self.spectrum(params, "scale", Of::Surface)?.unwrap_or([1.0; 3]))
    }

    /// The product of a spectrum of light and the scale.
    fn emitted(&mut self, params: &Params, name: &'static str, scale: [f32; 3]) -> Result<[f32; 3], Fault> {
        let own = self.spectrum(params, name, Of::Light)?.unwrap_or([1.0; 3]);
        Ok([0, 1, 2].map(|i| (own[i] * scale[i]).clamp(0.0, 1e30)))
    }
}

/// The product of a colour of light and a number. pbrt multiplies by power and illuminance, so colours with a luminance of 1 have these.
fn times(color: [f32; 3], factor: f32) -> [f32; 3] {
    color.map(|x| (x * factor).clamp(0.0, 1e30))
}
