//! The environment and colours, as users write them.

use glam::Vec3;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};
use throng_base::css;
use throng_scene::desc::SunSky;

/// The environment that lights a model.
#[derive(Clone, Debug, PartialEq)]
pub enum EnvironmentChoice {
    /// A clear sky with a sun.
    Sky,
    /// Soft studio light.
    Studio,
    /// Uniform radiance from all directions.
    Color(Vec3),
    /// A panorama by longitude and latitude.
    File(PathBuf),
}

impl EnvironmentChoice {
    /// Parses `sky`, `studio` or a colour (see [`parse_color`]); other text is the path of a file.
    ///
    /// # Errors
    /// A sentence about valid values, if the text is none.
    pub fn parse(text: OsString) -> Result<Self, String> {
        let Some(text) = text.to_str() else {
            return Ok(Self::File(text.into()));
        };
        match text {
            "sky" => return Ok(Self::Sky),
            "studio" => return Ok(Self::Studio),
            "transparent" => {
                return Err("--transparent leaves the environment out of pictures and keeps its light".into());
            }
            _ => {}
        }
        match parse_color(text)? {
            Some(color) => Ok(Self::Color(color)),
            None if Path::new(text).extension().is_some() => Ok(Self::File(text.into())),
            None => Err(format!(
                "`{text}` is no environment: write sky, studio, a colour like white, #c8b090 or 0.5,0.5,0.5, or the name of \
                 a picture with its extension"
            )),
        }
    }
}

impl EnvironmentChoice {
    /// The environment as a scene file writes it, rotated by `rotation` degrees about +Y.
    ///
    /// # Errors
    /// A sentence about an alternative, if scene files have no equivalent.
    pub(crate) fn in_scene_file(&self, rotation: f32) -> Result<String, String> {
        Ok(match self {
            // Azimuths increase from +X to +Z, opposite to rotations about +Y.
            Self::Sky => format!("SunSky(azimuth: {:?})", SunSky::default().azimuth.0 - rotation),
            Self::Studio => return Err("scene files have no studio: write sky, a colour or a picture".to_owned()),
            Self::Color(Vec3 { x, y, z }) => format!("Constant(radiance: ({x:?}, {y:?}, {z:?}))"),
            Self::File(path) => {
                let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                let name = absolute.to_str().ok_or("this name is not UTF-8: rename the picture")?;
                format!("Image(file: {name:?}, rotation: {rotation:?})")
            }
        })
    }
}

/// Parses a CSS colour, such as `white` or `#c8b090`, or a linear `r,g,b`. None if the text does not look like a colour.
///
/// # Errors
/// A sentence about valid colours, if the colour is invalid.
pub fn parse_color(text: &str) -> Result<Option<Vec3>, String> {
    match (css::parse(text), parse_triple(text)) {
        (Some((color, u8::MAX)), _) => Ok(Some(color)),
        (Some(_), _) => Err("this colour must have no alpha".to_owned()),
        (None, Some(color)) if color.min_element() < 0.0 => Err("a colour must not be negative".to_owned()),
        (None, None) if text.starts_with('#') => Err("write a colour like #c8b090".to_owned()),
        (None, color) => Ok(color),
    }
}

/// Parses a flag that only takes a colour.
#[doc(hidden)]
pub fn parse_only_color(text: &str) -> Result<Vec3, String> {
    let wrong = || format!("`{text}` is no colour: write one like white, #c8b090 or 0.5,0.5,0.5");
    parse_color(text)?.ok_or_else(wrong)
}

/// Parses three finite, comma-separated numbers, with or without parentheses.
pub fn parse_triple(text: &str) -> Option<Vec3> {
    let text = text.trim();
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    let number = |part: &str| part.trim().parse::<f32>().ok().filter(|x| x.is_finite());
    let numbers: Option<Vec<f32>> = inner.unwrap_or(text).split(',').map(number).collect();
    <[f32; 3]>::try_from(numbers?).ok().map(Vec3::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_are_words_colours_or_files() {
        let parse = |text: &str| EnvironmentChoice::parse(text.into());
        assert_eq!(parse("sky"), Ok(EnvironmentChoice::Sky));
        assert_eq!(parse("studio"), Ok(EnvironmentChoice::Studio));
        assert_eq!(parse("#ffffff"), Ok(EnvironmentChoice::Color(Vec3::ONE)));
        let grey = EnvironmentChoice::Color(Vec3::new(0.5, 0.25, 1.0));
        assert_eq!(parse("(0.5, 0.25, 1)"), Ok(grey.clone()));
        assert_eq!(parse("0.5,0.25,1"), Ok(grey));
        let file = EnvironmentChoice::File("beach.hdr".into());
        assert_eq!(parse("beach.hdr"), Ok(file));
        assert_eq!(parse("white"), parse("#fff"));
        for wrong in ["#ff", "#+fffff", "#ffffff80", "transparent", "-1,0,0", "stduio"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
