//! Materials of both versions.

use super::{
    directives::text,
    shapes::is_black,
    values::{LIQUID, Of},
    *,
};
use crate::{
    scene::{Color, Hair, Layered, Medium, Number, Pigment, Remap, Roughness, Texture, TextureKind},
    spectra,
};

const KINDS: &str = "diffuse coateddiffuse conductor coatedconductor dielectric thindielectric diffusetransmission measured hair \
    subsurface mix interface matte plastic metal glass mirror uber substrate translucent disney fourier \
    kdsubsurface none";

/// Those that only version 3 has.
const VERSION_3: &str = "matte plastic metal glass mirror uber substrate translucent disney fourier kdsubsurface";

/// Parameters that change nothing here.
const WITHOUT_EFFECT: [&str; 14] = [
    "type",
    "thickness",
    "albedo",
    "g",
    "maxdepth",
    "nsamples",
    "sigma",
    "interface.thickness",
    "seed",
    "flatness",
    "scatterdistance",
    "filename",
    "bsdffile",
    "remaproughness",
];

impl Builder {
    /// `MakeNamedMaterial "name" "string type" "diffuse" ..`
    pub fn make_named_material(&mut self, lexer: &mut Lexer, place: LineColumn) -> Result<(), Fault> {
        let name = text(lexer, "MakeNamedMaterial", place)?;
        let mut params = Params::read(lexer)?;
        if let Some(defaults) = self.state.defaults.clone().get("material") {
            params.add_defaults(defaults);
        }
        let kind = params.text("type").unwrap_or_default().to_owned();
        let material = self.material(&kind, &params, place)?;
        let material = Material { name: name.clone(), ..material };
        let index = self.named.define_material(&name, material, &mut self.scene.materials);
        self.keep_source(index, kind, params);
        Ok(())
    }

    /// Keeps what a material of version 3 was made from.
    pub fn keep_source(&mut self, index: u32, kind: String, params: Params) {
        if is_in(VERSION_3, &kind) {
            self.sources.insert(index, (kind, params.into_list()));
        }
    }

    /// The material of a shape. In version 3, parameters of the shape replace those of its material.
    ///
    /// # Errors
    /// As [`Self::material`].
    pub fn own_material(&mut self, params: &Params, place: LineColumn) -> Result<u32, Fault> {
        let index = self.state.material;
        let Some((kind, others)) = self.sources.get(&index) else { return Ok(index) };
        let Some(own) = params.take_unused(others) else { return Ok(index) };
        let kind = kind.clone();
        let material = self.material(&kind, &own, place)?;
        self.scene.materials.push(material);
        Ok(self.scene.materials.len() as u32 - 1)
    }

    /// `Material "diffuse" ..`
    pub fn material(&mut self, kind: &str, params: &Params, place: LineColumn) -> Result<Material, Fault> {
        self.take(512, place)?;
        let made = match kind {
            "mix" => self.mix(params, place),
            "hair" => MaterialKind::Hair(self.hair(params)?),
            "interface" | "none" | "" => MaterialKind::Interface,
            _ => MaterialKind::Layered(Box::new(self.layered(kind, params, place)?)),
        };
        let normal_map = params.text("normalmap").map(str::to_owned).map(|file| self.path(&file));
        if params.has("displacement") || params.has("bumpmap") {
            params.ignore(&["displacement", "bumpmap"]);
            self.warn(place, "bumps of materials are left out");
        }
        params.ignore(&WITHOUT_EFFECT);
        self.warn_of_unused(params, &format!("material `{kind}`"));
        Ok(Material { name: self.name_at(kind, place), kind: made, normal_map })
    }

    fn layered(&mut self, kind: &str, params: &Params, place: LineColumn) -> Result<Layered, Fault> {
        self.is_version_3 |= is_in(VERSION_3, kind);
        Ok(match kind {
            "diffuse" => Layered { color: self.color_or(params, "reflectance", [0.5; 3])?, ..Layered::default() },
            "coateddiffuse" => Layered {
                color: self.color_or(params, "reflectance", [0.5; 3])?,
                specular: 1.0,
                roughness: self.roughness(params, ["roughness", "uroughness", "vroughness"], 0.0),
                eta: self.eta(params, &["eta"], 1.5)?,
                ..Layered::default()
            },
            "conductor" | "metal" => self.conductor(params, ["eta", "k", "reflectance"])?,
            "coatedconductor" => self.coated_conductor(params)?,
            "dielectric" | "thindielectric" | "glass" => self.dielectric(kind, params)?,
            "diffusetransmission" => self.diffuse_transmission(params)?,
            "subsurface" | "kdsubsurface" => self.subsurface(params, place)?,
            "measured" | "fourier" => {
                self.warn(place, format!("the measured reflection of `{kind}` is shown as a usual one"));
                let values = [Number::Constant(0.2); 2];
                Layered { specular: 1.0, roughness: Roughness { values, remap: Remap::None }, ..Layered::default() }
            }
            _ => self.of_version_3(kind, params, place)?,
        })
    }

    fn of_version_3(&mut self, kind: &str, params: &Params, place: LineColumn) -> Result<Layered, Fault> {
        if !is_in(KINDS, kind) {
            self.warn_of_unknown(place, ("material", kind), KINDS, "it is drawn grey");
            return Ok(Layered::default());
        }
        let rough = ["roughness", "uroughness", "vroughness"];
        Ok(match kind {
            "matte" => Layered { color: self.color_or(params, "Kd", [0.5; 3])?, ..Layered::default() },
            "mirror" => Layered { color: self.color_or(params, "Kr", [0.9; 3])?, metallic: 1.0, ..Layered::default() },
            "plastic" | "substrate" => {
                let usual = if kind == "plastic" { [0.25; 3] } else { [0.5; 3] };
                let (specular, specular_color) = self.weight(params, "Ks", usual)?;
                let color = self.color_or(params, "Kd", usual)?;
                let roughness = self.roughness(params, rough, 0.1);
                Layered { color, specular, specular_color, roughness, ..Layered::default() }
            }
            "uber" => self.uber(params)?,
            "translucent" => self.translucent(params)?,
            _ => self.disney(params)?,
        })
    }

    fn uber(&mut self, params: &Params) -> Result<Layered, Fault> {
        let color = self.color_or(params, "Kd", [0.25; 3])?;
        let mut roughness = self.roughness(params, ["roughness", "uroughness", "vroughness"], 0.1);
        let (mut specular, mut specular_color) = self.weight(params, "Ks", [0.25; 3])?;
        let mirror = self.weight(params, "Kr", [0.0; 3])?;
        if mirror.0 > specular {
            (specular, specular_color) = mirror;
            roughness = Roughness::smooth();
        }
        let (passing, tint) = self.weight(params, "Kt", [0.0; 3])?;
        let diffuse = mean(&color);
        let transmission = if passing > 0.0 { passing / (passing + diffuse) } else { 0.0 };
        let opacity = match self.color(params, "opacity")? {
            Some(Color::Texture(texture)) => Number::Texture(texture),
            Some(Color::Constant(opacity)) => Number::Constant(opacity.iter().sum::<f32>() / 3.0),
            None => Number::Constant(1.0),
        };
        let color = if transmission > 0.5 { tint } else { color };
        let eta = self.eta(params, &["eta", "index"], 1.5)?;
        Ok(Layered { color, specular, specular_color, roughness, eta, transmission, opacity, ..Layered::default() })
    }

    fn translucent(&mut self, params: &Params) -> Result<Layered, Fault> {
        let color = self.color_or(params, "Kd", [0.25; 3])?;
        let (specular, specular_color) = self.weight(params, "Ks", [0.25; 3])?;
        let reflect = self.spectrum(params, "reflect", Of::Surface)?.unwrap_or([0.5; 3]);
        let transmit = self.spectrum(params, "transmit", Of::Surface)?.unwrap_or([0.5; 3]);
        let (reflected, passed) = (self.times(color, reflect), self.times(color, transmit));
        let both = self.both(reflected, passed);
        let roughness = self.roughness(params, ["roughness", "uroughness", "vroughness"], 0.1);
        let specular = specular * reflect.iter().sum::<f32>() / 3.0;
        Ok(Layered { specular, specular_color, roughness, ..both })
    }

    fn disney(&mut self, params: &Params) -> Result<Layered, Fault> {
        let of = |name, usual: f32| params.float(name).unwrap_or(usual);
        let color = self.color_or(params, "color", [0.5; 3])?;
        let square = |x: f32| (x * x).clamp(0.0, 1.0);
        let alpha = self.number(params, "roughness").unwrap_or(Number::Constant(0.5));
        let roughness = match alpha {
            Number::Constant(x) => Roughness { values: [Number::Constant(square(x)); 2], remap: Remap::None },
            // Alpha is the square, but textures have the root of a root in version 4.
            Number::Texture(_) => Roughness { values: [alpha; 2], remap: Remap::None },
        };
        let coat = of("clearcoat", 0.0);
        let gloss = of("clearcoatgloss", 1.0);
        params.ignore(&["anisotropic", "speculartint", "sheentint", "thin", "difftrans"]);
        Ok(Layered {
            color,
            metallic: of("metallic", 0.0).clamp(0.0, 1.0),
            specular: 1.0,
            roughness,
            eta: self.eta(params, &["eta"], 1.5)?,
            transmission: of("spectrans", 0.0).clamp(0.0, 1.0),
            coat: (coat > 0.0).then_some([0.25 * coat.min(1.0), 0.1 + (0.001 - 0.1) * gloss]),
            sheen: [of("sheen", 0.0).clamp(0.0, 1.0); 3],
            ..Layered::default()
        })
    }

    fn conductor(&mut self, params: &Params, [eta, k, reflectance]: [&'static str; 3]) -> Result<Layered, Fault> {
        let copper = |name| spectra::named(name).unwrap_or([1.0; 3]);
        let own = self.color(params, reflectance)?;
        let index = self.spectrum(params, eta, Of::Surface)?.unwrap_or_else(|| copper("metal-Cu-eta"));
        let absorption = self.spectrum(params, k, Of::Surface)?.unwrap_or_else(|| copper("metal-Cu-k"));
        let color = own.unwrap_or(Color::Constant(spectra::metal(index, absorption)));
        // Version 3's metals are a little rough.
        let usual = if self.is_version_3 { 0.01 } else { 0.0 };
        let roughness = self.roughness(params, ["roughness", "uroughness", "vroughness"], usual);
        Ok(Layered { color, metallic: 1.0, roughness, ..Layered::default() })
    }

    fn coated_conductor(&mut self, params: &Params) -> Result<Layered, Fault> {
        let metal = self.conductor(params, ["conductor.eta", "conductor.k", "reflectance"])?;
        let of_metal = ["conductor.roughness", "conductor.uroughness", "conductor.vroughness"];
        let of_coat = ["interface.roughness", "interface.uroughness", "interface.vroughness"];
        let roughness = self.roughness(params, of_metal, 0.0);
        let coat = self.roughness(params, of_coat, 0.0);
        let alpha = match coat.values {
            [Number::Constant(u), Number::Constant(v)] => coat.remap.alpha(0.5 * (u + v)),
            _ => 0.1,
        };
        params.ignore(&["interface.eta"]);
        Ok(Layered { roughness, coat: Some([1.0, alpha]), ..metal })
    }

    fn dielectric(&mut self, kind: &str, params: &Params) -> Result<Layered, Fault> {
        let eta = self.eta(params, &["eta", "index"], 1.5)?;
        let roughness = self.roughness(params, ["roughness", "uroughness", "vroughness"], 0.0);
        let (mut color, mut weight) = (Color::Constant([1.0; 3]), (1.0, Color::Constant([1.0; 3])));
        if kind == "glass" {
            color = self.color_or(params, "Kt", [1.0; 3])?;
            weight = self.weight(params, "Kr", [1.0; 3])?;
        }
        Ok(Layered {
            color,
            specular: weight.0,
            specular_color: weight.1,
            roughness,
            eta,
            transmission: 1.0,
            thin: kind == "thindielectric",
            ..Layered::default()
        })
    }

    fn diffuse_transmission(&mut self, params: &Params) -> Result<Layered, Fault> {
        let scale = params.float("scale").unwrap_or(1.0);
        let reflected = self.color_or(params, "reflectance", [0.25; 3])?;
        let passed = self.color_or(params, "transmittance", [0.25; 3])?;
        let (reflected, passed) = (self.times(reflected, [scale; 3]), self.times(passed, [scale; 3]));
        Ok(self.both(reflected, passed))
    }

    /// A diffuse surface that reflects and lets pass light of these colours.
    fn both(&mut self, reflected: Color, passed: Color) -> Layered {
        let (a, b) = (mean(&reflected), mean(&passed));
        if is_black(&passed) || b <= 0.0 {
            return Layered { color: reflected, ..Layered::default() };
        }
        let share = (b / (a + b)).clamp(0.01, 1.0);
        let color = if share < 1.0 { self.times(reflected, [1.0 / (1.0 - share); 3]) } else { reflected };
        let passed = self.times(passed, [1.0 / share; 3]);
        Layered { color, diffuse_transmission: Some((share, passed)), ..Layered::default() }
    }

    fn subsurface(&mut self, params: &Params, place: LineColumn) -> Result<Layered, Fault> {
        let eta = self.eta(params, &["eta"], 1.33)?;
        let roughness = self.roughness(params, ["roughness", "uroughness", "vroughness"], 0.0);
        let reflectance = self.color(params, "reflectance")?.or(self.color(params, "Kd")?);
        let path = self.spectrum(params, "mfp", Of::Surface)?.unwrap_or([1.0; 3]);
        params.ignore(&["Kr", "Kt"]);
        let volume = match reflectance {
            Some(color) => {
                // The albedo of single scattering for a colour of many scatterings (Kulla and Conty 2017).
                let albedo = typical(&color).map(|c| {
                    let s = 4.097_12 + 4.208_63 * c - (9.592_17 + 41.680_8 * c + 17.712_6 * c * c).sqrt();
                    1.0 - s.clamp(0.0, 1.0).powi(2)
                });
                let extinction = path.map(|path| 1.0 / path.max(1e-6));
                let scattering = [0, 1, 2].map(|i| albedo[i] * extinction[i]);
                let absorption = [0, 1, 2].map(|i| extinction[i] - scattering[i]);
                Medium { absorption, scattering, anisotropy: params.float("g").unwrap_or(0.0).clamp(-0.99, 0.99) }
            }
            None => self.coefficients(params, LIQUID, place)?,
        };
        let color = Color::Constant([1.0; 3]);
        let base = Layered { color, specular: 1.0, roughness, eta, transmission: 1.0, ..Layered::default() };
        Ok(Layered { volume: Some(volume), ..base })
    }

    fn mix(&mut self, params: &Params, place: LineColumn) -> MaterialKind {
        let amount = match self.number(params, "amount") {
            Some(amount) => amount,
            None => match self.spectrum(params, "amount", Of::Surface) {
                Ok(Some([r, g, b])) => Number::Constant((r + g + b) / 3.0),
                _ => Number::Constant(0.5),
            },
        };
        // Version 3's amount is the share of the first material.
        let names = match params.texts("materials") {
            Some([a, b, ..]) => [a.clone(), b.clone()],
            _ => match (params.text("namedmaterial1"), params.text("namedmaterial2")) {
                (Some(a), Some(b)) => [b.to_owned(), a.to_owned()],
                _ => {
                    self.warn(place, "`mix` names no two materials: it is drawn grey");
                    return MaterialKind::Layered(Box::default());
                }
            },
        };
        let materials = names.map(|name| self.named.material(&name, &mut self.scene.materials, (&self.open, place)));
        MaterialKind::Mix { materials, amount }
    }

    fn hair(&mut self, params: &Params) -> Result<Hair, Fault> {
        let of = |name, usual| params.float(name).unwrap_or(usual);
        let color = self.color(params, "color")?.or(self.color(params, "reflectance")?);
        let pigment = match (self.spectrum(params, "sigma_a", Of::Surface)?, color) {
            (Some(absorption), _) => Pigment::Absorption(absorption),
            (None, Some(color)) => Pigment::Color(color),
            (None, None) => {
                let usual = if params.has("pheomelanin") { 0.0 } else { 1.3 };
                let (dark, red) = (of("eumelanin", usual), of("pheomelanin", 0.0));
                Pigment::Absorption([0.419 * dark + 0.187 * red, 0.697 * dark + 0.4 * red, 1.37 * dark + 1.05 * red])
            }
        };
        Ok(Hair {
            pigment,
            longitudinal: of("beta_m", 0.3).clamp(0.0, 1.0),
            azimuthal: of("beta_n", 0.3).clamp(0.0, 1.0),
            tilt: of("alpha", 2.0),
            eta: of("eta", 1.55),
        })
    }

    fn color_or(&mut self, params: &Params, name: &'static str, usual: [f32; 3]) -> Result<Color, Fault> {
        Ok(self.color(params, name)?.unwrap_or(Color::Constant(usual)))
    }

    /// A colour as the largest of its numbers and a tint.
    fn weight(&mut self, params: &Params, name: &'static str, usual: [f32; 3]) -> Result<(f32, Color), Fault> {
        Ok(match self.color_or(params, name, usual)? {
            Color::Constant(color) => {
                let most = color.into_iter().fold(0.0, f32::max);
                let tint = if most > 0.0 { color.map(|x| (x / most).max(0.0)) } else { [1.0; 3] };
                (most.min(1.0), Color::Constant(tint))
            }
            texture => (1.0, texture),
        })
    }

    /// An index of refraction, by the first of these names.
    fn eta(&mut self, params: &Params, names: &[&'static str], usual: f32) -> Result<f32, Fault> {
        for name in names {
            if let Some([_, green, _]) = self.spectrum(params, name, Of::Surface)? {
                return Ok(green.clamp(1.0, 10.0));
            }
        }
        Ok(usual)
    }

    fn roughness(&mut self, params: &Params, [both, u, v]: [&'static str; 3], usual: f32) -> Roughness {
        let both = self.number(params, both).unwrap_or(Number::Constant(usual));
        let values = [self.number(params, u).unwrap_or(both), self.number(params, v).unwrap_or(both)];
        let remap = match params.bool("remaproughness") {
            Some(false) => Remap::None,
            _ if self.is_version_3 => Remap::Logarithm,
            _ => Remap::SquareRoot,
        };
        // No roughness stays none.
        let is_smooth = values == [Number::Constant(0.0); 2];
        if is_smooth { Roughness::smooth() } else { Roughness { values, remap } }
    }

    /// The product of a colour and a factor.
    fn times(&mut self, color: Color, factor: [f32; 3]) -> Color {
        match color {
            Color::Constant(own) => Color::Constant([0, 1, 2].map(|i| own[i] * factor[i])),
            texture if factor == [1.0; 3] => texture,
            texture => {
                let kind = TextureKind::Scale([texture, Color::Constant(factor)]);
                self.scene.textures.push(Texture { name: "scaled".to_owned(), kind });
                Color::Texture(self.scene.textures.len() as u32 - 1)
            }
        }
    }
}

/// A colour; grey for a texture.
fn typical(color: &Color) -> [f32; 3] {
    match color {
        Color::Constant(color) => *color,
        Color::Texture(_) => [0.5; 3],
    }
}

fn mean(color: &Color) -> f32 {
    typical(color).iter().sum::<f32>() / 3.0
}
