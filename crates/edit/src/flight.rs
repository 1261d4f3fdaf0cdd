//! The flight of a camera in the form that scene files store.

use super::EditError;
use glam::Vec3;

/// A camera position on a flight, in the file's terms: if the camera keeps `above` a ground, heights are relative to it. `None` for optics means the
/// whole camera's value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waypoint {
    /// Camera position in world space.
    pub eye: Vec3,
    /// Point at the centre of the picture.
    pub target: Vec3,
    /// Time in seconds. Either all waypoints have a time or none; without times they are spread evenly over the animation.
    pub time: Option<f64>,
    /// Clockwise rotation of the camera about its axis, in degrees.
    pub roll: Option<f32>,
    /// Vertical field of view in degrees; for perspective cameras.
    pub fov: Option<f32>,
    /// Height of the view in scene units; for orthographic cameras.
    pub height: Option<f32>,
    /// F-number: focal length divided by the aperture's diameter.
    pub f_stop: Option<f32>,
    /// Radius of the aperture in scene units.
    pub radius: Option<f32>,
    /// Focus distance in scene units.
    pub focus: Option<f32>,
}

/// Optics of the whole camera. `None` keeps the file's value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Optics {
    /// Vertical field of view in degrees.
    pub fov: Option<f32>,
    /// Height of the view in scene units; makes the camera orthographic.
    pub height: Option<f32>,
    /// The up direction of the picture. It also replaces the file's `roll`.
    pub up: Option<Vec3>,
    /// F-number; 0 for a pinhole.
    pub f_stop: Option<f32>,
    /// Radius of the aperture in scene units; 0 for a pinhole.
    pub radius: Option<f32>,
    /// Focus distance in scene units.
    pub focus: Option<f32>,
}

/// Speed of a flight along its path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum PaceChoice {
    /// Keeps the file's pace.
    #[default]
    Keep,
    /// The times of the waypoints set the speed.
    ByTimes,
    /// Constant speed.
    Constant,
    /// Accelerates at the start and slows down at the end.
    Smooth,
    /// x1, y1, x2 and y2 of the CSS curve (`cubic-bezier`) of distance over time.
    Bezier([f32; 4]),
}

/// The flight of a camera: one waypoint for a still camera, several for a camera on a spline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flight {
    /// The positions on the path, at least one.
    pub waypoints: Vec<Waypoint>,
    /// Optics of the whole flight.
    pub optics: Optics,
    /// Speed along the path.
    pub pace: PaceChoice,
}

impl Flight {
    /// Rejects flights that no camera can have; `up` is the default up direction.
    pub(super) fn check(&self, up: Vec3) -> Result<(), EditError> {
        let fail = |message: String| Err(EditError::Flight(message));
        if self.waypoints.is_empty() {
            return fail("it has no waypoint: set one".to_owned());
        }
        let up = self.optics.up.unwrap_or(up).as_dvec3().normalize_or_zero();
        let mut before: Option<f64> = None;
        for (number, waypoint) in (1..).zip(&self.waypoints) {
            if !waypoint.is_finite() {
                return fail(format!("a number of waypoint {number} is not finite"));
            }
            let forward = (waypoint.target.as_dvec3() - waypoint.eye.as_dvec3()).normalize_or_zero();
            if forward.length() < 0.5 {
                return fail(format!("waypoint {number} looks at itself: move its eye or its target"));
            }
            if forward.cross(up).length() < 1e-5 {
                return fail(format!("waypoint {number} looks along `up`: turn it a little"));
            }
            if waypoint.time.is_some() != self.waypoints[0].time.is_some() {
                return fail(format!("give all waypoints a time, or none: waypoint {number} is not like the first"));
            }
            if before.zip(waypoint.time).is_some_and(|(before, time)| time <= before) {
                return fail(format!("times must increase: waypoint {number} is not later than the one before"));
            }
            before = waypoint.time;
        }
        if self.optics.is_finite() && self.pace.is_possible() {
            Ok(())
        } else {
            fail("a number of its camera or its pace is out of range".to_owned())
        }
    }
}

impl Waypoint {
    fn is_finite(&self) -> bool {
        let Self { eye, target, time, roll, fov, height, f_stop, radius, focus } = *self;
        eye.is_finite()
            && target.is_finite()
            && time.is_none_or(f64::is_finite)
            && all_finite(&[roll, fov, height, f_stop, radius, focus])
    }
}

impl Optics {
    fn is_finite(&self) -> bool {
        let Self { fov, height, up, f_stop, radius, focus } = *self;
        up.is_none_or(Vec3::is_finite) && all_finite(&[fov, height, f_stop, radius, focus])
    }
}

impl PaceChoice {
    fn is_possible(self) -> bool {
        match self {
            Self::Bezier([x1, y1, x2, y2]) => [x1, x2].iter().all(|x| (0.0..=1.0).contains(x)) && (y1 + y2).is_finite(),
            _ => true,
        }
    }
}

fn all_finite(numbers: &[Option<f32>]) -> bool {
    numbers.iter().flatten().all(|x| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f32, time: Option<f64>) -> Waypoint {
        Waypoint { eye: Vec3::new(x, 0.0, 5.0), time, ..Waypoint::default() }
    }

    #[test]
    fn flights_that_no_camera_can_have_say_why() {
        let itself = Waypoint { target: Vec3::ONE, eye: Vec3::ONE, ..Waypoint::default() };
        let down = Waypoint { eye: Vec3::Y, ..Waypoint::default() };
        let nan = Waypoint { fov: Some(f32::NAN), ..at(0.0, None) };
        for (waypoints, words) in [
            (vec![], "has no waypoint"),
            (vec![itself], "looks at itself"),
            (vec![at(0.0, None), down], "waypoint 2 looks along `up`"),
            (vec![nan], "not finite"),
            (vec![at(0.0, Some(1.0)), at(1.0, None)], "all waypoints a time, or none"),
            (vec![at(0.0, Some(1.0)), at(1.0, Some(1.0))], "times must increase: waypoint 2"),
        ] {
            let error = Flight { waypoints, ..Flight::default() }.check(Vec3::Y).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let fine = Flight { waypoints: vec![at(0.0, Some(1.0)), at(1.0, Some(2.0))], ..Flight::default() };
        assert!(fine.check(Vec3::Y).is_ok());
        let pace = PaceChoice::Bezier([2.0, 0.0, 1.0, 1.0]);
        assert!(Flight { pace, ..fine }.check(Vec3::Y).is_err());
    }
}
