//! Patterns of views around a scene, as users write them, and the up axis of files of cameras.

use glam::Vec3;
use std::str::FromStr;
use throng_base::{choice::choice, math::LARGEST_COORDINATE};
use throng_scene::ranges::{FRAMES, describe};

choice! {
    /// The axis that points up in a file of cameras.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WorldUp = Y {
        /// +Y, as in glTF.
        Y = "y",
        /// +Z, as in Blender.
        Z = "z",
    }
}

/// Views around a scene: `orbit:36,elevation=20`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewPattern {
    /// Arrangement of the views.
    pub shape: PatternShape,
    /// Number of views, at least 1.
    pub count: u32,
    /// Distance from the target in scene units. None: the whole subject just fits.
    pub radius: Option<f32>,
    /// Seed of the points on a sphere or hemisphere. None: a regular spiral.
    pub seed: Option<u32>,
    /// Elevation of an orbit above the horizon, in degrees.
    pub elevation: f32,
    /// Vertical field of view in degrees. None: that of the scene's camera.
    pub fov: Option<f32>,
    /// Point in the middle of the pictures. None: the middle of the subject.
    pub target: Option<Vec3>,
}

/// Arrangement of views around a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternShape {
    /// All directions.
    Sphere,
    /// All directions from above the horizon.
    Hemisphere,
    /// One circle at a constant elevation.
    Orbit,
}

/// Elevation of an orbit in degrees, unless the user gives another: that of turntables.
const ELEVATION: f32 = 18.0;

const FORM: &str = "write sphere:150, hemisphere:24 or orbit:36, then options like ,radius=2.5,fov=40";

impl FromStr for ViewPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',').map(str::trim);
        let (name, count) = parts.next().and_then(|first| first.split_once(':')).ok_or(FORM)?;
        let shape = match name {
            "sphere" => PatternShape::Sphere,
            "hemisphere" => PatternShape::Hemisphere,
            "orbit" => PatternShape::Orbit,
            _ => return Err(format!("there is no pattern `{name}`: {FORM}")),
        };
        let count = count.parse().ok().filter(|count| FRAMES.contains(count));
        let count = count.ok_or_else(|| format!("write a number of views from {}", describe(&FRAMES)))?;
        let (radius, seed, fov, target) = (None, None, None, None);
        let mut pattern = Self { shape, count, radius, seed, elevation: ELEVATION, fov, target };
        parts.try_for_each(|part| pattern.set(part))?;
        Ok(pattern)
    }
}

impl ViewPattern {
    /// Sets one option, such as `radius=2.5`.
    fn set(&mut self, part: &str) -> Result<(), String> {
        let (key, value) = part.split_once('=').ok_or_else(|| format!("`{part}` has no value: {FORM}"))?;
        let number = |fits: fn(f32) -> bool| value.parse().ok().filter(|&x: &f32| fits(x));
        let is_orbit = self.shape == PatternShape::Orbit;
        match key {
            "radius" => {
                self.radius = Some(
                    number(|x| x > 0.0 && x <= LARGEST_COORDINATE).ok_or("write a radius above 0, like radius=2.5")?,
                )
            }
            "fov" => {
                self.fov = Some(
                    number(|x| x > 0.0 && x < 180.0)
                        .ok_or("write a field of view above 0 and below 180 degrees, like fov=40")?,
                )
            }
            "elevation" if is_orbit => {
                self.elevation = number(|x| x.abs() <= 90.0)
                    .ok_or("write an elevation from -90 to 90 degrees, like elevation=20")?;
            }
            "elevation" => return Err("only an orbit has an elevation: write orbit:N,elevation=DEGREES".into()),
            "seed" if is_orbit => return Err("an orbit has no seed: its views are at equal angles".into()),
            "seed" => self.seed = Some(value.parse().map_err(|_| "write a whole number from 0, like seed=7")?),
            "target" => self.target = Some(point(value).ok_or("write a target as x:y:z, like target=0:1.5:0")?),
            _ => {
                return Err(format!(
                    "there is no option `{key}`: the options are radius, seed, elevation, fov and target"
                ));
            }
        }
        Ok(())
    }
}

/// Three numbers with colons between them, as commas separate the options.
fn point(text: &str) -> Option<Vec3> {
    let number = |part: &str| part.parse::<f32>().ok().filter(|x| x.abs() <= LARGEST_COORDINATE);
    let numbers: Option<Vec<f32>> = text.split(':').map(number).collect();
    <[f32; 3]>::try_from(numbers?).ok().map(Vec3::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_a_shape_a_number_and_options() {
        let pattern: ViewPattern = "orbit:36".parse().unwrap();
        assert_eq!((pattern.shape, pattern.count, pattern.elevation), (PatternShape::Orbit, 36, 18.0));
        let pattern: ViewPattern = "sphere:150,radius=2.5,seed=7,fov=40,target=0:-1.5:2e1".parse().unwrap();
        assert_eq!((pattern.shape, pattern.radius, pattern.seed), (PatternShape::Sphere, Some(2.5), Some(7)));
        assert_eq!((pattern.fov, pattern.target), (Some(40.0), Some(Vec3::new(0.0, -1.5, 20.0))));
        assert_eq!("orbit:2,elevation=-90".parse().map(|pattern: ViewPattern| pattern.elevation), Ok(-90.0));
    }

    #[test]
    fn wrong_patterns_are_refused_with_the_right_form() {
        for (wrong, told) in [
            ("", "write sphere:150"),
            ("sphere", "write sphere:150"),
            ("cube:3", "no pattern `cube`"),
            ("sphere:0", "1 to 1000000"),
            ("sphere:-1", "1 to 1000000"),
            ("sphere:3,", "has no value"),
            ("sphere:3,radius=0", "radius=2.5"),
            ("sphere:3,radius=nan", "radius=2.5"),
            ("sphere:3,fov=180", "below 180"),
            ("sphere:3,elevation=3", "only an orbit"),
            ("orbit:3,elevation=91", "-90 to 90"),
            ("orbit:3,seed=1", "no seed"),
            ("sphere:3,seed=-1", "seed=7"),
            ("sphere:3,target=1:2", "x:y:z"),
            ("sphere:3,distance=1", "no option `distance`"),
        ] {
            let error = wrong.parse::<ViewPattern>().unwrap_err();
            assert!(error.contains(told), "{wrong}: {error}");
        }
    }
}
