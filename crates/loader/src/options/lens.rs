//! Projection and lens from the command line, which override a scene's camera.

#[cfg(feature = "cli")]
use super::flags;
use super::parse_triple;
use crate::{LoadError, framing, subjects};
use glam::{Vec2, Vec3};
use throng_base::{choice::choice, math::LARGEST_COORDINATE};
use throng_scene::anim::{self, Moment};
use throng_scene::{Aperture, CameraPath, Focus, Iris, Lens, Projection, Scene, sensor_height};

/// Optics that replace the optics of the file's camera. At most one of `projection` and `orthographic` is given, one of `f_stop` and
/// `radius`, and one of `focus` and `focus_on`. An aperture of 0 is a pinhole. `blade_rotation` is in degrees.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "View"))]
pub struct LensOptions {
    /// Camera projection
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_parser = flags::choice::<Projecting>()))]
    pub projection: Option<Projecting>,
    /// Short for --projection orthographic; an optional number sets the height of the picture in scene units
    #[cfg_attr(feature = "cli", arg(long, value_name = "HEIGHT", num_args = 0..=1, require_equals = true, value_parser = flags::height, conflicts_with = "projection"))]
    pub orthographic: Option<Option<f32>>,
    /// Lens shift, as a share of the picture's longer side, as in Blender; positive values shift the view to the right and up
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = flags::shift))]
    pub shift: Option<Vec2>,
    /// Depth of field by f-stop, such as 2.8. The sensor is 36 mm along the longer side, Blender's default, and a scene unit is a metre. 0
    /// turns depth of field off
    #[cfg_attr(feature = "cli", arg(id = "aperture", long, value_name = "F-STOP", value_parser = flags::f_stop))]
    pub f_stop: Option<f32>,
    /// Depth of field by aperture radius in scene units, for scenes that are not in metres
    #[cfg_attr(feature = "cli", arg(id = "aperture-radius", long, value_name = "UNITS", value_parser = flags::radius, conflicts_with = "aperture"))]
    pub radius: Option<f32>,
    /// Focus distance, or a point to focus on [default: the point that the camera looks at]
    #[cfg_attr(feature = "cli", arg(long, value_name = "DISTANCE|X,Y,Z", allow_hyphen_values = true))]
    pub focus: Option<Focusing>,
    /// Focus on an object while it moves: the name of a mesh or group (`dragon:4` is the fifth instance of a mesh), of a glTF node, or of
    /// an instance as in mattes (`beast/dragon.4`)
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", conflicts_with = "focus"))]
    pub focus_on: Option<String>,
    /// Number of aperture blades, which shapes out-of-focus highlights; 0 means a round aperture
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = flags::blades))]
    pub blades: Option<u32>,
    /// Rotation of the aperture blades
    #[cfg_attr(feature = "cli", arg(long, value_name = "DEGREES", allow_negative_numbers = true, value_parser = flags::number))]
    pub blade_rotation: Option<f32>,
}

/// Focus of the lens.
#[derive(Clone, Debug, PartialEq)]
pub enum Focusing {
    /// A distance along the camera's axis, in scene units.
    Distance(f32),
    /// A point in world space.
    Point(Vec3),
}

impl std::str::FromStr for Focusing {
    type Err = String;

    /// Parses a distance above 0, or `x,y,z`.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(point) = parse_triple(text) {
            return Ok(Self::Point(point));
        }
        let distance = text.parse().ok().filter(|x: &f32| *x > 0.0 && *x <= 1e18);
        let distance = distance.map(Self::Distance);
        distance.ok_or_else(|| "write a distance above 0 like 3.5, or a point like 1,2,3".to_owned())
    }
}

choice! {
    /// Camera projections.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Projecting {
        /// Distant objects appear smaller.
        Perspective = "perspective",
        /// Parallel rays: sizes do not depend on distance.
        Orthographic = "orthographic",
        /// The whole surroundings, 360 by 180 degrees; for sizes like 2048x1024.
        Equirectangular = "equirectangular",
    }
}

impl LensOptions {
    /// The projection, from either option.
    pub(super) fn projecting(&self) -> Option<Projecting> {
        self.projection.or(self.orthographic.map(|_| Projecting::Orthographic))
    }
}

/// Vertical field of view, in degrees, of a camera that has none.
const DEFAULT_FOV: f32 = 40.0;

/// Replaces the optics of `scene`'s camera that `options` specify. `aspect` is the pictures' width divided by their height.
///
/// # Errors
/// If nothing in the scene has the given name, or if a flag does not apply to the camera.
pub fn apply(scene: &mut Scene, options: &LensOptions, aspect: f32) -> Result<(), LoadError> {
    if let Some(projection) = options.projecting() {
        project(scene, projection);
    }
    if let Some(shift) = options.shift {
        if scene.camera.projection == Projection::Equirectangular && shift != Vec2::ZERO {
            return Err(LoadError::flag("--shift", "an equirectangular camera has no lens to shift"));
        }
        scene.camera.shift = shift;
    }
    if let (Some(height), Projection::Orthographic { .. }) = (options.orthographic.flatten(), scene.camera.projection) {
        scene.camera.projection = Projection::Orthographic { height };
        scene.camera.driver = None;
        scene.camera.tracks.span.clear();
    }
    let Some(mut lens) = chosen(scene, options, aspect)? else {
        scene.camera.lens = None;
        return Ok(());
    };
    if let Some(focus) = focus_of(scene, options)? {
        lens.focus = focus;
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
                ("--focus", options.focus.is_some() || options.focus_on.is_some()),
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

fn focus_of(scene: &Scene, options: &LensOptions) -> Result<Option<Focus>, LoadError> {
    Ok(match (&options.focus, &options.focus_on) {
        (Some(Focusing::Distance(distance)), _) => Some(Focus::Distance(*distance)),
        (Some(Focusing::Point(point)), _) => Some(Focus::Point(*point)),
        (None, Some(name)) => {
            let found = subjects::find(scene, name);
            Some(Focus::On(found.map_err(|m| LoadError::flag("--focus-on", m))?.into()))
        }
        (None, None) => None,
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
