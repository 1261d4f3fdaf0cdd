//! Projection and lens from the command line, which override a scene's camera.

use super::{Focusing, LensOptions, Projecting};
use crate::{LoadError, framing, subjects};
use glam::Vec2;
use throng_base::math::LARGEST_COORDINATE;
use throng_scene::anim::{self, Moment};
use throng_scene::{Aperture, CameraPath, Focus, Iris, Lens, Projection, Scene, sensor_height};

/// Vertical field of view, in degrees, of a camera that has none.
const DEFAULT_FOV: f32 = 40.0;

/// Replaces the optics of `scene`'s camera that `options` specify. `aspect` is the pictures' width divided by their height.
///
/// # Errors
/// If nothing in the scene has the given name, or if a flag does not apply to the camera.
pub fn apply(scene: &mut Scene, options: &LensOptions, aspect: f32) -> Result<(), LoadError> {
    if let Some(projection) = options.projection {
        project(scene, projection);
    }
    if let Some(shift) = options.shift {
        if scene.camera.projection == Projection::Equirectangular && shift != Vec2::ZERO {
            return Err(LoadError::flag("--shift", "an equirectangular camera has no lens to shift"));
        }
        scene.camera.shift = shift;
    }
    if let (Some(height), Projection::Orthographic { .. }) = (options.height, scene.camera.projection) {
        scene.camera.projection = Projection::Orthographic { height };
        scene.camera.driver = None;
        scene.camera.tracks.span.clear();
    }
    let Some(mut lens) = chosen(scene, options, aspect)? else {
        scene.camera.lens = None;
        return Ok(());
    };
    if let Some(focus) = &options.focus {
        lens.focus = focus_of(scene, focus)?;
        scene.camera.tracks.focus.clear();
    }
    if let (Focus::Target, CameraPath::Node { .. }) = (&lens.focus, &scene.camera.path) {
        // A camera on a node has no target.
        lens.focus = Focus::Point(framing::swept_bounds(scene).center());
    }
    lens.iris.blades = options.blades.unwrap_or(lens.iris.blades);
    if let Some(degrees) = options.blade_rotation {
        lens.iris.rotation = degrees.to_radians();
    }
    scene.camera.lens = Some(lens);
    Ok(())
}

/// The camera's own lens or a new one, with the requested aperture; none for a pinhole camera.
fn chosen(scene: &mut Scene, options: &LensOptions, aspect: f32) -> Result<Option<Lens>, LoadError> {
    let own = scene.camera.lens.take();
    let aperture = match (options.f_stop, options.radius) {
        (None, None) => {
            let shapes = [
                ("--focus", options.focus.is_some()),
                ("--blades", options.blades.is_some()),
                ("--blade-rotation", options.blade_rotation.is_some()),
            ];
            return match shapes.into_iter().find(|(_, given)| *given) {
                Some((flag, _)) if own.is_none() => Err(LoadError::flag(
                    flag,
                    "the camera is a pinhole, to which everything is sharp: give it an --aperture, such as 2.8",
                )),
                _ => Ok(own),
            };
        }
        (_, Some(radius)) => Aperture::Radius(radius),
        (Some(number), None) => match own.as_ref().map(|lens| lens.aperture) {
            Some(Aperture::FStop { sensor, .. }) => Aperture::FStop { number, sensor },
            _ => Aperture::FStop { number, sensor: sensor_height(aspect) },
        },
    };
    scene.camera.tracks.aperture.clear();
    let shut = match aperture {
        Aperture::FStop { number, .. } => number == 0.0,
        Aperture::Radius(radius) => radius == 0.0,
    };
    if shut {
        return Ok(None);
    }
    let lens = own.unwrap_or(Lens { aperture, focus: Focus::Target, iris: Iris::default() });
    Ok(Some(Lens { aperture, ..lens }))
}

fn focus_of(scene: &Scene, focus: &Focusing) -> Result<Focus, LoadError> {
    Ok(match focus {
        Focusing::Distance(distance) => Focus::Distance(*distance),
        Focusing::Point(point) => Focus::Point(*point),
        Focusing::On(name) => {
            let found = subjects::find(scene, name);
            Focus::On(found.map_err(|m| LoadError::flag("--focus-on", m))?.into())
        }
    })
}

fn project(scene: &mut Scene, wanted: Projecting) {
    let projection = match (wanted, scene.camera.projection) {
        (Projecting::Perspective, Projection::Perspective { .. })
        | (Projecting::Orthographic, Projection::Orthographic { .. }) => return,
        (Projecting::Perspective, _) => Projection::default(),
        (Projecting::Equirectangular, _) => Projection::Equirectangular,
        (Projecting::Orthographic, _) => Projection::Orthographic { height: seen_height(scene) },
    };
    scene.camera.projection = projection;
    if projection == Projection::Equirectangular {
        scene.camera.shift = Vec2::ZERO;
    }
    scene.camera.tracks.span.clear();
}

/// Height of the view at the target in the first frame, which the orthographic projection then also shows.
fn seen_height(scene: &Scene) -> f32 {
    let moment = Moment::of(scene, scene.settings.start);
    let pose = anim::camera_at(scene, &moment);
    let distance = match scene.camera.path {
        CameraPath::Node { .. } => {
            let middle = framing::swept_bounds(scene).center();
            (middle - pose.eye).dot(pose.basis().0).abs()
        }
        _ => pose.target.distance(pose.eye),
    };
    let fov_y = match pose.projection {
        Projection::Perspective { fov_y } => fov_y,
        _ => DEFAULT_FOV.to_radians(),
    };
    let height = 2.0 * distance * (0.5 * fov_y).tan();
    height.clamp(f32::MIN_POSITIVE, LARGEST_COORDINATE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use throng_scene::Camera;

    fn applied(options: LensOptions) -> Result<Scene, String> {
        let mut scene = Scene::default();
        scene.camera.path = CameraPath::Still { eye: Vec3::Z * 5.0, target: Vec3::ZERO };
        apply(&mut scene, &options, 1.5).map_err(|e| e.to_string())?;
        Ok(scene)
    }

    #[test]
    fn parallel_rays_show_what_was_seen_at_the_target() {
        let projection = Some(Projecting::Orthographic);
        let scene = applied(LensOptions { projection, ..LensOptions::default() });
        let Projection::Orthographic { height } = scene.unwrap().camera.projection else {
            panic!("perspective");
        };
        assert!((height - 10.0 * 20f32.to_radians().tan()).abs() < 1e-5);
    }

    #[test]
    fn an_aperture_of_ones_own_focuses_on_the_target_and_one_of_0_is_a_pinhole() {
        let f_stop = |number| LensOptions { f_stop: Some(number), ..LensOptions::default() };
        let lens = applied(f_stop(2.8)).unwrap().camera.lens;
        assert_eq!(lens.unwrap().focus, Focus::Target);
        assert_eq!(applied(f_stop(0.0)).unwrap().camera.lens, None);
    }

    #[test]
    fn a_lens_keeps_what_no_flag_names() {
        let mut scene = Scene {
            camera: Camera {
                lens: Some(Lens {
                    aperture: Aperture::Radius(0.1),
                    focus: Focus::Distance(3.0),
                    iris: Iris::default(),
                }),
                ..Camera::default()
            },
            ..Scene::default()
        };
        let options = LensOptions { blades: Some(6), ..LensOptions::default() };
        apply(&mut scene, &options, 1.5).unwrap();
        let lens = scene.camera.lens.unwrap();
        assert_eq!(lens.aperture, Aperture::Radius(0.1));
        assert_eq!(lens.focus, Focus::Distance(3.0));
        assert_eq!(lens.iris.blades, 6);
    }

    #[test]
    fn a_square_picture_has_the_lens_that_blender_gives_it() {
        let mut scene = Scene::default();
        scene.camera.path = CameraPath::Still { eye: Vec3::Z * 5.0, target: Vec3::ZERO };
        scene.camera.projection = Projection::Perspective { fov_y: 2.0 * (18f32 / 50.0).atan() };
        let options = LensOptions { f_stop: Some(0.1), ..LensOptions::default() };
        apply(&mut scene, &options, 1.0).unwrap();
        let radius = scene.camera.lens.unwrap().aperture.radius(scene.camera.projection);
        assert!((radius - 0.25).abs() < 1e-6, "{radius}");
    }

    #[test]
    fn a_shift_is_for_cameras_that_have_a_lens() {
        let shift =
            |projection| LensOptions { projection, shift: Some(Vec2::new(0.1, -0.2)), ..LensOptions::default() };
        assert_eq!(applied(shift(None)).unwrap().camera.shift, Vec2::new(0.1, -0.2));
        let error = applied(shift(Some(Projecting::Equirectangular))).unwrap_err();
        assert!(error.starts_with("--shift: "), "{error}");
    }

    #[test]
    fn a_pinhole_has_nothing_to_focus() {
        let error = applied(LensOptions { focus: Some(Focusing::Distance(2.0)), ..LensOptions::default() });
        assert!(error.unwrap_err().starts_with("--focus: "));
    }
}
