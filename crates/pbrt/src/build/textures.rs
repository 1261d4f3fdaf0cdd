//! Textures.

use super::{directives::text, *};
use crate::scene::{Color, Mapping, Picture, Texture, TextureKind, Wrap};

const KINDS: &str =
    "constant scale mix directionmix bilerp imagemap checkerboard dots fbm wrinkled windy marble ptex uv";

impl Builder {
    /// `Texture "name" "spectrum" "imagemap" ..`
    pub fn texture(&mut self, lexer: &mut Lexer, place: LineColumn) -> Result<(), Fault> {
        let [name, of, kind] = [(); 3].map(|()| text(lexer, "Texture", place));
        let (name, of, kind) = (name?, of?, kind?);
        let mut params = Params::read(lexer)?;
        if let Some(defaults) = self.state.defaults.clone().get("texture") {
            params.add_defaults(defaults);
        }
        let is_number = match of.as_str() {
            "float" => true,
            "spectrum" | "color" => false,
            _ => {
                self.warn_of_unknown(place, ("type of values", &of), "float spectrum", "colours are taken");
                false
            }
        };
        self.take(256, place)?;
        let kind = self.texture_kind(&kind, is_number, &params, place)?;
        self.warn_of_unused(&params, "this texture");
        let table = if is_number { &mut self.named.numbers } else { &mut self.named.colors };
        table.insert(name.clone(), self.scene.textures.len() as u32);
        self.scene.textures.push(Texture { name, kind });
        Ok(())
    }

    fn texture_kind(
        &mut self,
        kind: &str,
        is_number: bool,
        params: &Params,
        place: LineColumn,
    ) -> Result<TextureKind, Fault> {
        let white = [1.0; 3];
        Ok(match kind {
            "constant" => TextureKind::Constant(self.constant(params, "value", white)?),
            "scale" => {
                let a = self.operand(params, "tex", white)?.or(self.operand(params, "tex1", white)?);
                let b = self.operand(params, "scale", white)?.or(self.operand(params, "tex2", white)?);
                TextureKind::Scale([a, b].map(|value| value.unwrap_or(Color::Constant(white))))
            }
            "mix" | "directionmix" => {
                if kind == "directionmix" {
                    self.warn(place, "a mix by direction is shown as an even mix");
                }
                let values = [self.value(params, "tex1", [0.0; 3])?, self.value(params, "tex2", white)?];
                TextureKind::Mix { values, amount: self.value(params, "amount", [0.5; 3])? }
            }
            "imagemap" => TextureKind::Picture(self.picture(params, is_number, place)),
            "checkerboard" => {
                let values = [self.value(params, "tex1", white)?, self.value(params, "tex2", [0.0; 3])?];
                if params.integer("dimension") == Some(3) {
                    self.warn(place, "a checkerboard in space is shown as a mean");
                    return Ok(TextureKind::Mix { values, amount: Color::Constant([0.5; 3]) });
                }
                params.ignore(&["aamode"]);
                TextureKind::Checkerboard { values, uv: self.mapping(params, place) }
            }
            "dots" => {
                let inside = self.value(params, "inside", white)?;
                let outside = self.value(params, "outside", [0.0; 3])?;
                TextureKind::Dots { inside, outside, uv: self.mapping(params, place) }
            }
            "bilerp" => {
                let mut corner = |name, usual: f32| self.value(params, name, [usual; 3]);
                let corners = [corner("v00", 0.0)?, corner("v01", 1.0)?, corner("v10", 0.0)?, corner("v11", 1.0)?];
                TextureKind::Bilinear { corners, uv: self.mapping(params, place) }
            }
            "uv" => TextureKind::Coordinates(self.mapping(params, place)),
            _ => self.mean_of_noise(kind, params, place),
        })
    }

    /// A texture in space, which is shown as a constant.
    fn mean_of_noise(&mut self, kind: &str, params: &Params, place: LineColumn) -> TextureKind {
        params.ignore(&["octaves", "roughness", "scale", "variation", "filename", "encoding", "gamma"]);
        if !is_in(KINDS, kind) {
            self.warn_of_unknown(place, ("texture", kind), KINDS, "0.5 is used");
            return TextureKind::Constant([0.5; 3]);
        }
        self.warn(place, format!("a texture `{kind}` is shown as its mean"));
        // Means over many points of pbrt's functions with their default parameters.
        TextureKind::Constant(match kind {
            "fbm" => [0.0; 3],
            "wrinkled" => [0.35; 3],
            "windy" => [0.4; 3],
            "marble" => [0.36, 0.36, 0.4],
            _ => [0.5; 3],
        })
    }

    fn picture(&mut self, params: &Params, is_number: bool, place: LineColumn) -> Picture {
        let file = params.text("filename").unwrap_or_default().to_owned();
        // Version 3 has `gamma`, which is true for files with 8 bits. Pictures of numbers there are linear only if it is false.
        let encoding = params.text("encoding").map(str::to_owned);
        let linear = match (encoding.as_deref(), params.bool("gamma")) {
            (Some("sRGB"), _) | (None, Some(true) | None) => false,
            (Some("linear"), _) | (None, Some(false)) => true,
            (Some(other), _) => {
                let other = other.to_owned();
                self.warn(place, format!("the encoding `{other}` is shown as sRGB"));
                false
            }
        };
        let wrap = match params.text("wrap") {
            Some("clamp") => Wrap::Clamp,
            Some("black") => Wrap::Black,
            _ => Wrap::Repeat,
        };
        params.ignore(&["filter", "maxanisotropy", "trilinear"]);
        Picture {
            file: self.path(&file),
            linear: linear && (is_number || encoding.is_some() || params.has("gamma")),
            wrap,
            scale: params.float("scale").unwrap_or(1.0),
            invert: params.bool("invert").unwrap_or(false),
            uv: self.mapping(params, place),
        }
    }

    fn mapping(&mut self, params: &Params, place: LineColumn) -> Mapping {
        let kind = params.text("mapping").unwrap_or("uv").to_owned();
        if kind != "uv" {
            params.ignore(&["v1", "v2"]);
            self.warn(place, format!("the mapping `{kind}` is replaced by texture coordinates"));
        }
        let of = |name, usual| params.float(name).unwrap_or(usual);
        Mapping { scale: [of("uscale", 1.0), of("vscale", 1.0)], offset: [of("udelta", 0.0), of("vdelta", 0.0)] }
    }

    /// A number or colour, which may be a texture.
    fn value(&mut self, params: &Params, name: &'static str, usual: [f32; 3]) -> Result<Color, Fault> {
        Ok(self.operand(params, name, usual)?.unwrap_or(Color::Constant(usual)))
    }

    /// As [`Self::value`]; None if there is no such parameter.
    fn operand(&mut self, params: &Params, name: &'static str, usual: [f32; 3]) -> Result<Option<Color>, Fault> {
        let is_given = params.has(name);
        let value = self.color(params, name)?;
        Ok(value.or(is_given.then_some(Color::Constant(usual))))
    }

    fn constant(&mut self, params: &Params, name: &'static str, usual: [f32; 3]) -> Result<[f32; 3], Fault> {
        match self.value(params, name, usual)? {
            Color::Constant(value) => Ok(value),
            Color::Texture(_) => Ok(usual),
        }
    }
}
