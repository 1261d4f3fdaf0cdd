//! A view from the command line, which replaces a scene's own.

#[cfg(feature = "cli")]
use super::flags;
use super::{LensOptions, Projecting, ViewPattern, WorldUp, lens};
use crate::{LoadError, framing};
use glam::Vec3;
use std::path::PathBuf;
use throng_base::math::LARGEST_COORDINATE;
use throng_scene::{Camera, CameraPath, Projection, Scene};

/// A view that replaces the file's own. Applies to all kinds of scenes. `fov` is in degrees.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "View"))]
pub struct ViewOptions {
    /// Fixed camera position, instead of the scene's own camera
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = flags::point))]
    pub eye: Option<Vec3>,
    /// Point that the camera looks at [default: the middle of the scene]
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = flags::point, requires = "eye"))]
    pub target: Option<Vec3>,
    /// Up direction of the picture: an axis like z or -y, or a vector. Without --eye, a model is rotated so that this axis of its file
    /// points up [default: y]
    #[cfg_attr(feature = "cli", arg(long, value_name = "AXIS|X,Y,Z", allow_hyphen_values = true, value_parser = flags::up))]
    pub up: Option<Vec3>,
    /// Vertical field of view
    #[cfg_attr(feature = "cli", arg(long, value_name = "DEGREES", value_parser = flags::fov))]
    pub fov: Option<f32>,
    /// Optics of the camera.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub lens: LensOptions,
    /// Render the cameras of a file, one per frame: transforms.json, a folder of COLMAP, a .json list of matrices, or a .glb
    ///
    /// COLMAP's cameras.txt and images.txt are read as text. The size of the pictures is the file's, unless --size gives another. All cameras
    /// show the time of the first frame, unless the file has times. If the scene is animated and has as many frames as the file has cameras,
    /// camera N shows frame N
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", conflicts_with_all = ["views", "eye", "target", "camera", "margin", "turns", "zoom"]))]
    pub cameras: Option<PathBuf>,
    /// Render views around the scene, one per frame: sphere:150, hemisphere:24 or orbit:36.
    ///
    /// Options follow after commas: radius=2.5 [default: the whole scene fits], fov=40 (vertical, in degrees), target=X:Y:Z [default: the
    /// middle], elevation=20 for an orbit [default: 18], and seed=7 for other points on a sphere or hemisphere. All views show the time of the
    /// first frame
    #[cfg_attr(feature = "cli", arg(long, value_name = "PATTERN", conflicts_with_all = ["eye", "target", "camera", "margin", "turns", "zoom"]))]
    pub views: Option<ViewPattern>,
    /// Axis that points up in the world of --cameras [default: y]
    #[cfg_attr(feature = "cli", arg(long, value_name = "AXIS", requires = "cameras", value_parser = flags::choice::<WorldUp>()))]
    pub cameras_up: Option<WorldUp>,
}

/// Replaces the properties of `scene`'s cameras that `view` specifies. Cameras then have no keys. `size` is the size of the pictures, if it
/// differs from the scene's.
///
/// # Errors
/// If the view has no direction, or if a flag for the field of view or the lens does not apply to the camera.
pub fn apply(scene: &mut Scene, view: &ViewOptions, size: Option<(u32, u32)>) -> Result<(), LoadError> {
    let (width, height) = size.unwrap_or((scene.settings.width, scene.settings.height));
    let aspect = width as f32 / height as f32;
    scene.camera_has_keys &= *view == ViewOptions::default();
    if let Some(eye) = view.eye {
        let middle = || framing::swept_bounds(scene).center();
        let target = view.target.unwrap_or_else(middle);
        let up = checked(eye, target, view.up.unwrap_or(Vec3::Y))?;
        let Camera { projection, shift, driver, lens, .. } = scene.camera.clone();
        let projection = match projection {
            Projection::Orthographic { .. } => Projection::default(),
            other => other,
        };
        let path = CameraPath::Still { eye, target };
        scene.camera = Camera { path, up, projection, shift, driver, lens, ..Camera::default() };
        scene.cuts.clear();
    }
    let cuts = std::mem::take(&mut scene.cuts);
    apply_optics(scene, view, aspect)?;
    for mut cut in cuts {
        std::mem::swap(&mut scene.camera, &mut cut.camera);
        let applied = apply_optics(scene, view, aspect);
        std::mem::swap(&mut scene.camera, &mut cut.camera);
        applied?;
        scene.cuts.push(cut);
    }
    Ok(())
}

fn apply_optics(scene: &mut Scene, view: &ViewOptions, aspect: f32) -> Result<(), LoadError> {
    if let Some(degrees) = view.fov {
        field_of_view(scene, degrees, view.lens.projecting())?;
    }
    lens::apply(scene, &view.lens, aspect)
}

/// Sets the field of view of a camera that is perspective, or is converted to perspective. An orthographic view derived from it has the
/// corresponding height.
fn field_of_view(scene: &mut Scene, degrees: f32, wanted: Option<Projecting>) -> Result<(), LoadError> {
    let own = scene.camera.projection;
    let fits = matches!(own, Projection::Perspective { .. }) && wanted != Some(Projecting::Equirectangular);
    if !fits && wanted != Some(Projecting::Perspective) {
        return Err(LoadError::flag("--fov", "this camera is not perspective and has no field of view"));
    }
    let fov_y = degrees.to_radians();
    scene.camera.projection = Projection::Perspective { fov_y };
    scene.camera.driver = None;
    scene.camera.tracks.span.clear();
    Ok(())
}

/// Enlarges the picture by `factor`, like a longer focal length.
///
/// # Errors
/// If a camera is equirectangular or has keys.
pub fn zoom(scene: &mut Scene, factor: f32) -> Result<(), LoadError> {
    if scene.camera_has_keys {
        let message = "the camera of this scene has keys: change its `fov` in the file, or give --eye and --target";
        return Err(LoadError::flag("--zoom", message));
    }
    let (first, cuts) = (&mut scene.camera, &mut scene.cuts);
    for camera in [first].into_iter().chain(cuts.iter_mut().map(|cut| &mut cut.camera)) {
        let enlarged: fn(f32, f32) -> f32 = match camera.projection {
            Projection::Perspective { .. } => |fov_y, factor| 2.0 * ((0.5 * fov_y).tan() / factor).atan(),
            Projection::Orthographic { .. } => |height, factor| height / factor,
            Projection::Equirectangular => {
                return Err(LoadError::flag("--zoom", "an equirectangular camera cannot zoom: leave it out"));
            }
        };
        let (Projection::Perspective { fov_y: span } | Projection::Orthographic { height: span }) = camera.projection
        else {
            continue;
        };
        camera.projection = camera.projection.with_span(enlarged(span, factor));
        camera.tracks.span.iter_mut().for_each(|(_, span)| *span = enlarged(*span, factor));
        // The animated lens of a model would override the zoom.
        camera.driver = None;
    }
    Ok(())
}

/// Checks a view, and returns the unit vector along `up`.
fn checked(eye: Vec3, target: Vec3, up: Vec3) -> Result<Vec3, LoadError> {
    let reach = eye.abs().max(target.abs()).max_element();
    if reach.is_nan() || reach > LARGEST_COORDINATE {
        let message = format!("coordinates must stay within {LARGEST_COORDINATE:e}");
        return Err(LoadError::flag("--eye", message));
    }
    let forward = (target.as_dvec3() - eye.as_dvec3()).normalize_or_zero();
    if forward == glam::DVec3::ZERO {
        let message = "the camera looks at itself: give an --eye and a --target that differ";
        return Err(LoadError::flag("--target", message));
    }
    let up = up.as_dvec3().normalize_or_zero();
    if forward.cross(up).length() < 1e-5 {
        let message = "the camera looks along it: give another, such as 0,0,-1";
        return Err(LoadError::flag("--up", message));
    }
    Ok(up.as_vec3())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(view: ViewOptions) -> Result<Scene, String> {
        let mut scene = Scene::default();
        scene.camera.projection = Projection::Orthographic { height: 3.0 };
        apply(&mut scene, &view, None).map_err(|e| e.to_string())?;
        Ok(scene)
    }

    #[test]
    fn an_eye_of_ones_own_is_a_perspective_one() {
        let view = ViewOptions {
            eye: Some(Vec3::Z),
            target: Some(Vec3::ZERO),
            up: Some(Vec3::X * 4.0),
            fov: Some(90.0),
            ..ViewOptions::default()
        };
        let camera = applied(view).unwrap().camera;
        assert_eq!(camera.up, Vec3::X);
        let Projection::Perspective { fov_y } = camera.projection else { panic!("{camera:?}") };
        assert_eq!(fov_y, std::f32::consts::FRAC_PI_2);
    }

    #[test]
    fn views_without_a_direction_are_refused() {
        let view = |eye, target, fov| ViewOptions { eye, target, fov, ..ViewOptions::default() };
        for (view, flag) in [
            (view(Some(Vec3::ONE), Some(Vec3::ONE), None), "--target: "),
            (view(Some(Vec3::Y), Some(Vec3::ZERO), None), "--up: "),
            (view(Some(Vec3::X * 1e30), None, None), "--eye: "),
            (view(None, None, Some(40.0)), "--fov: "),
        ] {
            let error = applied(view).unwrap_err();
            assert!(error.starts_with(flag), "{error}");
        }
    }
}
