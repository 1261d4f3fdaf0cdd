//! Conversion of viewers' cameras to flights that can be saved.

use crate::{View, Waypoint};
use throng_edit::{self as edit, Flight, Optics, PaceChoice};

/// A flight through a viewer's waypoints, or a flight with the single view `still` if there are none. `is_flat` states whether the scene's
/// camera is orthographic.
pub fn flight(keys: &[Waypoint], pace: Option<&str>, still: &View, is_flat: bool) -> Flight {
    if keys.is_empty() {
        let waypoint =
            edit::Waypoint { eye: still.eye.into(), target: still.target.into(), ..edit::Waypoint::default() };
        let optics = Optics {
            fov: still.fov,
            height: still.height,
            up: Some(still.up.into()),
            f_stop: still.f_stop.filter(|_| still.radius.is_none()),
            radius: still.radius,
            focus: still.focus,
        };
        return Flight { waypoints: vec![waypoint], optics, pace: PaceChoice::Keep };
    }
    let waypoint = |key: &Waypoint| edit::Waypoint {
        eye: key.eye.into(),
        target: key.target.into(),
        time: Some(key.time),
        roll: key.roll,
        fov: key.fov.filter(|_| !is_flat),
        height: key.fov.filter(|_| is_flat),
        f_stop: key.f_stop,
        radius: key.radius,
        focus: key.focus,
    };
    Flight { waypoints: keys.iter().map(waypoint).collect(), optics: Optics::default(), pace: pace_of(pace) }
}

fn pace_of(pace: Option<&str>) -> PaceChoice {
    let Some(text) = pace else { return PaceChoice::ByTimes };
    let bezier = |text: &str| {
        let numbers = text.strip_prefix("bezier(")?.strip_suffix(')')?.split(',');
        let numbers: Option<Vec<f32>> = numbers.map(|number| number.trim().parse().ok()).collect();
        <[f32; 4]>::try_from(numbers?).ok()
    };
    match text {
        "constant" => PaceChoice::Constant,
        "smooth" => PaceChoice::Smooth,
        _ => bezier(text).map_or(PaceChoice::ByTimes, PaceChoice::Bezier),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_still_is_saved_with_its_optics_and_waypoints_with_their_times() {
        let view = View { eye: [1.0; 3], target: [0.0; 3], up: [0.0, 1.0, 0.0], fov: Some(30.0), ..View::default() };
        let still = flight(&[], None, &view, false);
        assert_eq!((still.waypoints.len(), still.waypoints[0].time, still.optics.fov), (1, None, Some(30.0)));
        let key = Waypoint {
            eye: [1.0; 3],
            target: [0.0; 3],
            time: 2.0,
            roll: Some(7.0),
            fov: Some(5.0),
            focus: None,
            f_stop: None,
            radius: None,
        };
        let flown = flight(&[key.clone(), key], Some("bezier(0.4, 0, 0.2, 1)"), &view, true);
        assert_eq!((flown.waypoints[1].time, flown.waypoints[1].height), (Some(2.0), Some(5.0)));
        assert_eq!(flown.waypoints[1].roll, Some(7.0));
        assert_eq!(flown.pace, PaceChoice::Bezier([0.4, 0.0, 0.2, 1.0]));
    }
}
