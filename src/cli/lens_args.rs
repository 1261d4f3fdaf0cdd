//! Flags for the camera's projection and lens.

use super::model_args::parse_number;
use glam::Vec2;
use throng_base::math::LARGEST_COORDINATE;
use throng_loader::options::{Focusing, LensOptions, Projecting};
use throng_scene::{MAX_BLADES, MOST_SHIFT};
use throng_settings::flags;

/// Overrides of the scene's own projection and lens.
#[derive(clap::Args)]
#[command(next_help_heading = "View")]
pub struct LensArgs {
    /// Camera projection
    #[arg(long, value_name = "NAME", value_parser = flags::choice::<Projecting>())]
    projection: Option<Projecting>,
    /// Short for --projection orthographic; an optional number sets the height of the picture in scene units
    #[arg(
        long,
        value_name = "HEIGHT",
        num_args = 0..=1,
        require_equals = true,
        value_parser = parse_height,
        conflicts_with = "projection"
    )]
    orthographic: Option<Option<f32>>,
    /// Lens shift, as a share of the picture's longer side, as in Blender; positive values shift the view to the right and up
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = parse_shift)]
    shift: Option<Vec2>,
    /// Depth of field by f-stop, such as 2.8. The sensor is 36 mm along the longer side, Blender's default, and a scene unit is a metre. 0
    /// turns depth of field off
    #[arg(long, value_name = "F-STOP", value_parser = parse_f_stop)]
    aperture: Option<f32>,
    /// Depth of field by aperture radius in scene units, for scenes that are not in metres
    #[arg(long, value_name = "UNITS", value_parser = parse_radius, conflicts_with = "aperture")]
    aperture_radius: Option<f32>,
    /// Focus distance, or a point to focus on [default: the point that the camera looks at]
    #[arg(long, value_name = "DISTANCE|X,Y,Z", allow_hyphen_values = true)]
    focus: Option<Focusing>,
    /// Focus on an object while it moves: the name of a mesh or group (`dragon:4` is the fifth instance of a mesh), of a glTF node, or of
    /// an instance as in mattes (`beast/dragon.4`)
    #[arg(long, value_name = "NAME", conflicts_with = "focus")]
    focus_on: Option<String>,
    /// Number of aperture blades, which shapes out-of-focus highlights; 0 means a round aperture
    #[arg(long, value_name = "N", value_parser = parse_blades)]
    blades: Option<u32>,
    /// Rotation of the aperture blades
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true, value_parser = parse_number)]
    blade_rotation: Option<f32>,
}

impl LensArgs {
    pub fn options(&self) -> LensOptions {
        let on = self.focus_on.clone().map(Focusing::On);
        LensOptions {
            projection: self.projection.or(self.orthographic.map(|_| Projecting::Orthographic)),
            shift: self.shift,
            height: self.orthographic.flatten(),
            f_stop: self.aperture,
            radius: self.aperture_radius,
            focus: self.focus.clone().or(on),
            blades: self.blades,
            blade_rotation: self.blade_rotation,
        }
    }
}

fn parse_shift(text: &str) -> Result<Vec2, String> {
    let number = |text: &str| text.trim().parse().ok().filter(|x: &f32| x.abs() <= MOST_SHIFT);
    let shift = text.split_once(',').and_then(|(x, y)| Some(Vec2::new(number(x)?, number(y)?)));
    shift.ok_or_else(|| format!("write two shares of the longer side like 0.1,-0.25, within {MOST_SHIFT}"))
}

/// Parses `2.8` or `f/2.8`.
fn parse_f_stop(text: &str) -> Result<f32, String> {
    let number = text.strip_prefix("f/").unwrap_or(text).parse().ok();
    let number = number.filter(|x: &f32| *x == 0.0 || (1e-3..=1e6).contains(x));
    number.ok_or_else(|| "write an f-stop like 2.8, from 0.001 to 1000000, or 0".to_owned())
}

fn parse_height(text: &str) -> Result<f32, String> {
    let height = text.parse().ok().filter(|x| *x > 0.0 && *x <= LARGEST_COORDINATE);
    height.ok_or_else(|| "write a height above 0 like 2.5".to_owned())
}

fn parse_radius(text: &str) -> Result<f32, String> {
    let radius = text.parse().ok().filter(|x| (0.0..=1e18).contains(x));
    radius.ok_or_else(|| "write a radius like 0.05, at least 0".to_owned())
}

fn parse_blades(text: &str) -> Result<u32, String> {
    let blades = text.parse().ok();
    let blades = blades.filter(|n| *n == 0 || (3..=MAX_BLADES).contains(n));
    blades.ok_or_else(|| format!("must be 3 to {MAX_BLADES}, or 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_stops_are_written_as_on_lenses() {
        assert_eq!(parse_f_stop("f/2.8"), Ok(2.8));
        assert_eq!(parse_f_stop("0"), Ok(0.0));
        for wrong in ["", "f/", "-1", "nan", "inf"] {
            assert!(parse_f_stop(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_shift("0.1, -0.25"), Ok(Vec2::new(0.1, -0.25)));
        for wrong in ["0.1", "nan,0", "0,1e9", "0,0,0"] {
            assert!(parse_shift(wrong).is_err(), "{wrong}");
        }
        assert!(parse_blades("2").is_err() && parse_blades("5").is_ok());
    }
}
