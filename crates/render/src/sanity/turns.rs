//! Detects cameras that turn abruptly within a frame: if a target passes the eye, or if a flight leads straight over its target.

use rayon::prelude::*;
use throng_scene::anim::{self, CameraPose, Moment};
use throng_scene::{Camera, CameraPath, Scene};

/// Maximum numbers of frames that are tested: in general, if keys change the camera in each frame, and if rigs have to be posed.
const MOST_FRAMES: usize = 20_000;
const MOST_KEYED: usize = 1_000;
const MOST_POSED: usize = 64;
/// Angle between the cameras of two frames above which the time between them is examined, in radians.
const SUSPECT: f32 = 1.0;
/// Number of moments into which the time between two frames is divided.
const PARTS: u32 = 16;
/// Share of the turn between two frames above which the turn within one part counts as a jump.
const JUMP: f32 = 0.25;

/// A warning about the first two consecutive frames between which the camera jumps from one direction to another.
pub fn warning(scene: &Scene, frames: &[u32]) -> Option<String> {
    let cameras = std::iter::once(&scene.camera).chain(scene.cuts.iter().map(|cut| &cut.camera));
    let follows = |camera: &Camera| camera.eye.is_some() || camera.target.is_some();
    let flies = |camera: &Camera| matches!(camera.path, CameraPath::Spline(_)) || follows(camera);
    if !scene.camera_has_keys && !cameras.clone().any(flies) {
        return None;
    }
    let most = match (scene.actors.is_empty(), scene.camera_has_keys) {
        (true, false) => MOST_FRAMES,
        (true, true) => MOST_KEYED,
        (false, _) => MOST_POSED,
    };
    let looked = &frames[..frames.len().min(most)];
    let (frame, turn) = looked.par_windows(2).find_map_first(|pair| match pair {
        &[frame, next] if next == frame + 1 => Some((frame, jump(scene, frame)?)),
        _ => None,
    })?;
    let why = if turn.passes_eye {
        "its target passes the eye; move one around the other, or add a key to the flight"
    } else {
        "it looks straight up or down; move it to the side of its target, or set another `up`"
    };
    Some(format!(
        "between frames {frame} and {} the camera turns by {:.0} degrees, because {why}",
        frame + 1,
        turn.degrees
    ))
}

struct Jump {
    degrees: f32,
    /// Whether the viewing direction jumps; otherwise the camera only rolls.
    passes_eye: bool,
}

/// The jump between a frame and the next one; none if the camera turns steadily.
fn jump(scene: &Scene, frame: u32) -> Option<Jump> {
    let (start, length) = (scene.time_of(frame), 1.0 / scene.settings.fps);
    let pose = |part: u32| {
        let time = start + length * f64::from(part) / f64::from(PARTS);
        anim::camera_at(scene, &Moment::of(scene, time).in_frame(start))
    };
    let (from, to) = (pose(0), pose(PARTS));
    let turned = angle(&from, &to);
    if turned < SUSPECT {
        return None;
    }
    let poses: Vec<CameraPose> = (0..=PARTS).map(pose).collect();
    let steps = poses.windows(2).map(|pair| (angle(&pair[0], &pair[1]), pair));
    let (most, pair) = steps.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let passes_eye = pair[0].basis().0.angle_between(pair[1].basis().0) > 0.5 * most;
    (most > JUMP * turned).then_some(Jump { degrees: turned.to_degrees(), passes_eye })
}

/// Angle of the rotation between two cameras, in radians.
fn angle(a: &CameraPose, b: &CameraPose) -> f32 {
    let (a, b) = (a.basis(), b.basis());
    let trace = a.0.dot(b.0) + a.1.dot(b.1) + a.2.dot(b.2);
    (0.5 * (trace - 1.0)).clamp(-1.0, 1.0).acos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use throng_scene::{CameraKey, Flight, Parametrisation};

    fn warned(keys: [(Vec3, Vec3); 2], parametrisation: Parametrisation, frames: u32) -> Option<String> {
        let key = |(i, (eye, target)): (usize, (Vec3, Vec3))| CameraKey { time: i as f64, eye, target };
        let flight = Flight::new(keys.into_iter().enumerate().map(key).collect(), parametrisation);
        let mut scene = Scene::default();
        scene.camera.path = CameraPath::Spline(flight);
        scene.settings.frames = frames;
        scene.settings.fps = f64::from(frames - 1);
        let all: Vec<u32> = (1..=frames).collect();
        warning(&scene, &all)
    }

    #[test]
    fn a_target_that_passes_the_eye_is_told_with_its_frames() {
        let eye = Vec3::splat(2.0);
        let keys = [(eye, Vec3::new(2.0, 2.0, -8.0)), (eye, Vec3::new(2.0, 2.0, 11.9))];
        let told = warned(keys, Parametrisation::Uniform, 9).unwrap();
        assert!(
            told.starts_with("between frames 5 and 6 the camera turns by 180 degrees, because its target passes"),
            "{told}"
        );
        // A centripetal flight turns steadily instead.
        assert_eq!(warned(keys, Parametrisation::Centripetal, 9), None);
    }

    #[test]
    fn a_flight_over_its_target_is_told() {
        let keys = [(Vec3::new(-5.1, 3.0, 0.0), Vec3::ZERO), (Vec3::new(5.0, 3.0, 0.0), Vec3::ZERO)];
        let told = warned(keys, Parametrisation::Centripetal, 9).unwrap();
        assert!(told.contains("straight up or down"), "{told}");
        let beside = keys.map(|(eye, target)| (eye + Vec3::Z * 4.0, target));
        assert_eq!(warned(beside, Parametrisation::Centripetal, 9), None);
    }

    #[test]
    fn a_sequence_of_few_frames_may_turn_far_from_one_to_the_next() {
        let eye = Vec3::ZERO;
        let keys = [(eye, Vec3::new(0.1, 0.0, -5.0)), (eye, Vec3::new(0.0, 0.0, 5.0))];
        assert_eq!(warned(keys, Parametrisation::Centripetal, 2), None);
    }
}
