//! Backgrounds of finished frames, which replace the environment behind the scene.

use glam::Vec3;
use image::{
    Rgb32FImage,
    imageops::{self, FilterType},
};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};
use throng_loader::{LoadError, load_radiance, options::parse_color};
use throng_output::Backdrop;
use throng_render::Background;

/// A background as chosen by the user.
#[derive(Clone, Debug, PartialEq)]
pub enum BackgroundChoice {
    /// No background: pictures get an alpha channel, as with [`transparent`](field@super::AovOptions::transparent).
    Transparent,
    /// A linear colour.
    Color(Vec3),
    /// Path of a picture of any size.
    File(PathBuf),
}

impl BackgroundChoice {
    /// Parses `transparent`, a colour (see [`parse_color`]) or the path of a file with an extension.
    ///
    /// # Errors
    /// If the text is none of these: a sentence that lists the valid forms.
    pub fn parse(text: OsString) -> Result<Self, String> {
        if text == "transparent" {
            return Ok(Self::Transparent);
        }
        let color = text.to_str().map_or(Ok(None), parse_color)?;
        match (color, Path::new(&text).extension()) {
            (Some(color), _) => Ok(Self::Color(color)),
            (None, Some(_)) => Ok(Self::File(text.into())),
            (None, None) => Err(
                "write transparent, a colour like white, #c8b090 or 0.5,0.5,0.5, or the name of a picture with its \
                         extension"
                    .to_owned(),
            ),
        }
    }

    /// Loads the background for frames of `size` pixels. A picture is scaled to cover the frame and cropped around its centre. None for
    /// [`Self::Transparent`].
    ///
    /// # Errors
    /// If the picture is missing, damaged or too large.
    #[doc(hidden)]
    pub fn open(&self, size: (u32, u32)) -> Result<Option<Background>, LoadError> {
        Ok(match self {
            Self::Transparent => None,
            Self::Color(color) => {
                let color = color.to_array();
                Some(Background { backdrop: Backdrop::of_color(color), name: format!("{color:?}") })
            }
            Self::File(path) => Some(Background { backdrop: covering(path, size)?, name: path.display().to_string() }),
        })
    }
}

fn covering(path: &Path, (width, height): (u32, u32)) -> Result<Backdrop, LoadError> {
    let picture = load_radiance(path, 1.0)?;
    if (picture.width, picture.height) == (width, height) {
        return Ok(Backdrop::of_pixels(picture.data));
    }
    // The largest centred part with the frame's aspect ratio.
    let scale = f64::max(f64::from(width) / f64::from(picture.width), f64::from(height) / f64::from(picture.height));
    let side = |frame: u32, own: u32| ((f64::from(frame) / scale).round() as u32).clamp(1, own);
    let part = (side(width, picture.width), side(height, picture.height));
    let corner = ((picture.width - part.0) / 2, (picture.height - part.1) / 2);
    let values = picture.data.into_flattened();
    let image = Rgb32FImage::from_raw(picture.width, picture.height, values);
    let image = image.ok_or_else(|| LoadError::file(path, "the picture is damaged"))?;
    let part = imageops::crop_imm(&image, corner.0, corner.1, part.0, part.1);
    let scaled = imageops::resize(&*part, width, height, FilterType::Triangle);
    Ok(Backdrop::of_pixels(scaled.pixels().map(|pixel| pixel.0).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_output::Pixels;

    fn shown(file: &Path, size: (u32, u32)) -> Vec<u8> {
        let background = BackgroundChoice::File(file.to_owned()).open(size).unwrap().unwrap();
        let count = (size.0 * size.1) as usize;
        let mut pixels = Pixels::U8(vec![9; 3 * count].into());
        background.backdrop.lay_under(&mut pixels, &vec![0.0; count]);
        pixels.bytes().unwrap().into_owned()
    }

    #[test]
    fn backgrounds_are_nothing_colours_or_files() {
        let parse = |text: &str| BackgroundChoice::parse(text.into());
        assert_eq!(parse("transparent"), Ok(BackgroundChoice::Transparent));
        assert_eq!(parse("white"), Ok(BackgroundChoice::Color(Vec3::ONE)));
        assert_eq!(parse("0,1,0"), Ok(BackgroundChoice::Color(Vec3::Y)));
        assert_eq!(parse("white.jpg"), Ok(BackgroundChoice::File("white.jpg".into())));
        for wrong in ["whit", "#ffffff80", "-1,0,0", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pictures_cover_frames_from_their_middle() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.png");
        // Four blue columns between two red ones.
        let picture = image::RgbImage::from_fn(6, 4, |x, _| {
            image::Rgb([[250, 0, 0], [0, 0, 77]][usize::from((1..5).contains(&x))])
        });
        picture.save(&file).unwrap();
        assert_eq!(shown(&file, (6, 4)), picture.as_raw()[..]);
        assert_eq!(shown(&file, (8, 8)), [0, 0, 77].repeat(64));
        assert_eq!(shown(&file, (1, 1)), [0, 0, 77]);
        assert!(BackgroundChoice::File(dir.path().join("none.png")).open((1, 1)).is_err());
    }
}
