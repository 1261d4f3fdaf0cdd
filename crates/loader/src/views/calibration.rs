//! Focal lengths, principal points and distortion as files have them.

use glam::Vec2;
use std::f64::consts::PI;
use throng_scene::{Distortion, Intrinsics, Optics, Projection, ranges::SIDE, ranges::describe};

/// Width and height in pixels.
pub type Size = [u32; 2];

/// How a camera of a file projects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OwnOptics {
    /// As the scene's camera.
    Scene,
    /// As a pinhole with this horizontal field of view in radians.
    Across(f64),
    /// By itself.
    Given(Optics),
}

/// A focal length, in pixels or as a field of view in radians.
#[derive(Clone, Copy, Debug)]
pub enum Focal {
    Pixels(f64),
    Angle(f64),
}

/// The calibration of a camera. Arrays have the entries of x and of y; one focal length counts for both.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    pub focal: [Option<Focal>; 2],
    /// Principal point in pixels. None: the middle of the picture.
    pub center: [Option<f64>; 2],
    pub size: Option<Size>,
    pub distortion: Distortion,
}

impl Calibration {
    /// The optics of this camera. A pinhole that is known by an angle only does not depend on the size of a picture.
    ///
    /// # Errors
    /// If a number is out of range or missing. The text is a sentence.
    pub fn optics(&self) -> Result<OwnOptics, String> {
        let plain = self.center == [None; 2] && self.distortion == Distortion::None;
        match self.focal {
            [None, None] => Ok(OwnOptics::Scene),
            [Some(Focal::Angle(angle)), None] if plain => Ok(OwnOptics::Across(field(angle)?)),
            [None, Some(Focal::Angle(angle))] if plain => {
                Ok(OwnOptics::Given(Optics::Plain(Projection::Perspective { fov_y: field(angle)? as f32 })))
            }
            _ => Ok(OwnOptics::Given(Optics::Calibrated(self.intrinsics()?))),
        }
    }

    fn intrinsics(&self) -> Result<Intrinsics, String> {
        let [x, y] = [self.relative_focal(0)?, self.relative_focal(1)?];
        let [x, y] = match (x, y) {
            (Some(x), Some(y)) => [x, y],
            // Pixels are square.
            (Some(x), None) => [x, x * self.aspect()?],
            (None, y) => {
                let y = y.unwrap_or(1.0);
                [y / self.aspect()?, y]
            }
        };
        let [across, down] = [self.relative_center(0)?, self.relative_center(1)?];
        let (focal, center) = (Vec2::new(x as f32, y as f32), Vec2::new(across as f32, down as f32));
        if !(focal.is_finite() && focal.min_element() > 0.0 && center.is_finite()) {
            return Err("its focal length or principal point is out of range: check its calibration".to_owned());
        }
        Ok(Intrinsics { focal, center, distortion: self.distortion })
    }

    fn relative_focal(&self, axis: usize) -> Result<Option<f64>, String> {
        Ok(match self.focal[axis] {
            None => None,
            Some(Focal::Angle(angle)) => Some(0.5 / (0.5 * field(angle)?).tan()),
            Some(Focal::Pixels(pixels)) if pixels.is_finite() && pixels > 0.0 => Some(pixels / self.side(axis)?),
            Some(Focal::Pixels(pixels)) => {
                return Err(format!("its focal length is {pixels} pixels: write one above 0"));
            }
        })
    }

    fn relative_center(&self, axis: usize) -> Result<f64, String> {
        match self.center[axis] {
            None => Ok(0.5),
            Some(pixels) if pixels.is_finite() => Ok(pixels / self.side(axis)?),
            Some(pixels) => Err(format!("its principal point is at {pixels}: write a finite number of pixels")),
        }
    }

    fn side(&self, axis: usize) -> Result<f64, String> {
        let size =
            self.size.ok_or("it has numbers in pixels, but no size: add the width and the height of its picture")?;
        Ok(f64::from(size[axis]))
    }

    fn aspect(&self) -> Result<f64, String> {
        Ok(self.side(0)? / self.side(1)?)
    }
}

/// A field of view in radians.
fn field(angle: f64) -> Result<f64, String> {
    if angle > 0.0 && angle < PI {
        Ok(angle)
    } else {
        Err(format!("its field of view is {angle}: write an angle in radians above 0 and below π"))
    }
}

/// The size of a picture.
///
/// # Errors
/// If a side is no whole number or out of range. The text is a sentence.
pub fn size(sides: [f64; 2]) -> Result<Size, String> {
    let is_side =
        |side: f64| side.fract() == 0.0 && (f64::from(*SIDE.start())..=f64::from(*SIDE.end())).contains(&side);
    if sides.into_iter().all(is_side) {
        Ok(sides.map(|side| side as u32))
    } else {
        let [width, height] = sides;
        Err(format!("its picture has {width}x{height} pixels: write whole numbers from {}", describe(&SIDE)))
    }
}

/// OpenCV's rational model; without coefficients, a pinhole.
pub fn rational(k: [f64; 6], p: [f64; 2]) -> Distortion {
    if k == [0.0; 6] && p == [0.0; 2] {
        Distortion::None
    } else {
        Distortion::Rational { k: k.map(|k| k as f32), p: p.map(|p| p as f32) }
    }
}

/// The fisheye model of Kannala and Brandt.
pub fn fisheye(k: [f64; 4]) -> Distortion {
    Distortion::Fisheye { k: k.map(|k| k as f32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_focal_length_is_that_of_square_pixels() {
        let pixels = |x, y| Calibration { focal: [x, y], size: Some([800, 400]), ..Calibration::default() };
        for calibration in [
            pixels(Some(Focal::Pixels(600.0)), None),
            pixels(None, Some(Focal::Pixels(600.0))),
            pixels(Some(Focal::Pixels(600.0)), Some(Focal::Pixels(600.0))),
        ] {
            let intrinsics = calibration.intrinsics().unwrap();
            assert_eq!((intrinsics.focal, intrinsics.center), (Vec2::new(0.75, 1.5), Vec2::splat(0.5)));
        }
    }

    #[test]
    fn angles_alone_need_no_size() {
        let focal = [Some(Focal::Angle(0.7)), None];
        assert_eq!(Calibration { focal, ..Calibration::default() }.optics(), Ok(OwnOptics::Across(0.7)));
        let focal = [Some(Focal::Pixels(70.0)), None];
        let error = Calibration { focal, ..Calibration::default() }.optics().unwrap_err();
        assert!(error.contains("no size"), "{error}");
        assert_eq!(Calibration::default().optics(), Ok(OwnOptics::Scene));
    }

    #[test]
    fn lengths_and_angles_out_of_range_are_refused() {
        for focal in
            [Focal::Pixels(-1.0), Focal::Pixels(0.0), Focal::Pixels(f64::NAN), Focal::Angle(0.0), Focal::Angle(3.2)]
        {
            let calibration = Calibration {
                focal: [Some(focal), None],
                size: Some([8, 8]),
                center: [Some(4.0), None],
                ..Calibration::default()
            };
            assert!(calibration.optics().is_err(), "{focal:?}");
        }
        assert!(size([0.0, 4.0]).is_err() && size([4.5, 4.0]).is_err() && size([1e9, 4.0]).is_err());
        assert_eq!(size([1920.0, 1080.0]), Ok([1920, 1080]));
    }
}
