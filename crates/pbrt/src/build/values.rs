//! Values that are numbers, spectra or textures.

use super::*;
use crate::{
    params::{Param, Type, Values},
    scene::{Color, Medium, Number},
    spectra,
};
use std::io::Read;

/// Length in bytes of a file with a spectrum at most.
const LONGEST_SPECTRUM: u64 = 1 << 20;

/// Absorption and scattering of a usual liquid, per millimetre: pbrt's defaults, but for media of version 4.
pub const LIQUID: ([f32; 3], [f32; 3]) = ([0.0011, 0.0024, 0.014], [2.55, 3.21, 3.77]);

/// What a spectrum is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Reflection, or coefficients.
    Surface,
    /// Light.
    Light,
}

impl Builder {
    /// A number, which may be a texture.
    pub fn number(&mut self, params: &Params, name: &'static str) -> Option<Number> {
        if let Some((texture, place)) = params.texture(name) {
            let texture = texture.to_owned();
            return self.texture_named(&texture, place).map(Number::Texture);
        }
        params.float(name).map(Number::Constant)
    }

    /// A colour of a surface, which may be a texture.
    ///
    /// # Errors
    /// As [`Self::spectrum`].
    pub fn color(&mut self, params: &Params, name: &'static str) -> Result<Option<Color>, Fault> {
        if let Some((texture, place)) = params.texture(name) {
            let texture = texture.to_owned();
            return Ok(self.texture_named(&texture, place).map(Color::Texture));
        }
        Ok(self.spectrum(params, name, Of::Surface)?.map(Color::Constant))
    }

    /// The index of a texture of colours or numbers.
    fn texture_named(&mut self, name: &str, place: LineColumn) -> Option<u32> {
        let found = self.named.colors.get(name).or_else(|| self.named.numbers.get(name)).copied();
        if found.is_none() {
            let known: Vec<&str> =
                self.named.colors.keys().chain(self.named.numbers.keys()).map(String::as_str).collect();
            let hint = names::hint(name, known);
            self.warn(place, format!("no texture `{name}` was defined before{hint}: it is left out"));
        }
        found
    }

    /// A spectrum as linear sRGB, however it is given.
    ///
    /// # Errors
    /// If numbers are missing.
    pub fn spectrum(&mut self, params: &Params, name: &'static str, of: Of) -> Result<Option<[f32; 3]>, Fault> {
        let accepts = |param: &Param| !matches!(param.kind, Type::Texture | Type::Text | Type::Bool);
        let Some(param) = params.find(name, accepts) else { return Ok(None) };
        let lacks = |what: &str| Fault::at(param.place, format!("`{name}` needs {what}"));
        let values = match &param.values {
            Values::Floats(values) => values,
            Values::Integers(values) => return Ok(values.first().map(|&value| [value as f32; 3])),
            Values::Texts(texts) => {
                let text = texts.first().ok_or_else(|| lacks("a name"))?;
                return Ok(Some(self.named_spectrum(text, of, param.place)));
            }
            Values::Bools(_) => return Ok(None),
        };
        let triple = || match values[..] {
            [r, g, b, ..] => Ok([r, g, b]),
            [value] => Ok([value; 3]),
            _ => Err(lacks("three numbers")),
        };
        Ok(Some(match (param.kind, &values[..]) {
            (Type::Rgb, _) => spectra::from_space(self.state.space, triple()?),
            (Type::Xyz, _) => spectra::from_xyz(triple()?),
            (Type::Blackbody, [kelvin, rest @ ..]) => {
                let scale = rest.first().copied().unwrap_or(1.0);
                spectra::blackbody(*kelvin, !self.is_version_3).map(|x| x * scale)
            }
            (Type::Float, [value, ..]) | (Type::Spectrum, [value]) => [*value; 3],
            (Type::Spectrum, _) if values.len() >= 2 => self.of_pairs(values.as_chunks::<2>().0, of),
            _ => return Err(lacks("numbers")),
        }))
    }

    fn of_pairs(&self, pairs: &[[f32; 2]], of: Of) -> [f32; 3] {
        let mut pairs = pairs.to_vec();
        pairs.sort_by(|a, b| a[0].total_cmp(&b[0]));
        pairs.dedup_by_key(|pair| pair[0].to_bits());
        match of {
            Of::Surface => spectra::reflectance_of(&pairs),
            Of::Light => spectra::light_of(&pairs, !self.is_version_3),
        }
    }

    /// A spectrum by its name, or in a file of pairs of wavelength and value.
    fn named_spectrum(&mut self, name: &str, of: Of, place: LineColumn) -> [f32; 3] {
        if let Some(known) = spectra::named(name) {
            return known;
        }
        let path = self.path(name);
        let mut text = String::new();
        let opened = throng_base::files::open_regular(&path);
        let read = opened.and_then(|(file, _)| file.take(LONGEST_SPECTRUM).read_to_string(&mut text));
        if let Some(known) = spectra::of_file(name).filter(|_| read.is_err()) {
            return known;
        }
        if read.is_err() {
            self.warn_of_unknown(place, ("spectrum or file", name), &spectra::names().join(" "), "0.5 is used");
            return [0.5; 3];
        }
        self.hold(&path);
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let numbers: Vec<f32> = lines.flat_map(str::split_whitespace).filter_map(|word| word.parse().ok()).collect();
        let pairs = numbers.as_chunks::<2>().0;
        if pairs.is_empty() || numbers.iter().any(|number| !number.is_finite()) {
            self.warn(place, format!("{name} has no pairs of wavelength and value: 0.5 is used"));
            return [0.5; 3];
        }
        self.of_pairs(pairs, of)
    }

    /// Coefficients of a homogeneous medium. The usual ones are those of absorption and scattering.
    ///
    /// # Errors
    /// As [`Self::spectrum`].
    pub fn coefficients(
        &mut self,
        params: &Params,
        usual: ([f32; 3], [f32; 3]),
        place: LineColumn,
    ) -> Result<Medium, Fault> {
        if let Some(preset) = params.text("preset").or_else(|| params.text("name")) {
            let preset = preset.to_owned();
            self.warn(place, format!("the measured medium `{preset}` is shown as a usual one"));
        }
        let scale = params.float("scale").unwrap_or(1.0);
        let absorption = self.spectrum(params, "sigma_a", Of::Surface)?.unwrap_or(usual.0);
        let scattering = self.spectrum(params, "sigma_s", Of::Surface)?.unwrap_or(usual.1);
        let positive = |of: [f32; 3]| of.map(|x| (x * scale).clamp(0.0, 1e12));
        if self.spectrum(params, "Le", Of::Light)?.is_some_and(|light| light != [0.0; 3]) {
            self.warn(place, "light that a medium emits is left out");
        }
        params.ignore(&["type", "Lescale"]);
        let anisotropy = params.float("g").unwrap_or(0.0).clamp(-0.99, 0.99);
        Ok(Medium { absorption: positive(absorption), scattering: positive(scattering), anisotropy })
    }
}
