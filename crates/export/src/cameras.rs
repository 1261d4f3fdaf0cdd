//! Cameras with their flights.

use crate::{convert::WORLD, times::Times};
use glam::{DAffine3, DMat3, Vec3};
use throng_scene::{
    Camera, Projection, Scene,
    anim::{CameraPose, camera_at, camera_pose, view_pose},
};
use throng_usd::{LayerValue, Prim, names::Names};

/// A number of a camera's optics.
type Number = fn(&Optics) -> f32;

/// Path of the camera of the pictures.
pub const MAIN: &str = "/World/Cameras/Camera";

/// Longer side of the sensor, in tenths of a metre: 36 mm.
const SENSOR: f32 = 0.36;
/// Focal length of a camera without one, in tenths of a metre.
const FOCAL_LENGTH: f32 = 0.5;
/// Distances that other programs draw, as factors of the least and the greatest distance from the camera to its target.
const CLIPPING: [f32; 2] = [0.01, 1e4];

/// The camera of each frame, and the other cameras of the scene.
pub fn prims(scene: &Scene, times: &Times, warnings: &mut Vec<String>) -> Prim {
    let mut names = Names::default();
    let main = MAIN.trim_start_matches(WORLD).trim_start_matches("/Cameras/");
    let poses = poses(times, |index| {
        let sample = &times.samples[index];
        let moment = sample.moment(scene);
        match &scene.views {
            Some(views) => view_pose(scene, views.of_frame(&scene.settings, sample.frame), &moment),
            None => camera_at(scene, &moment),
        }
    });
    let mut children = vec![prim((scene, times), names.unique(main), &poses, warnings)];
    // A single one is the camera of the pictures.
    for (name, camera) in scene.viewpoints.iter().filter(|_| scene.viewpoints.len() > 1) {
        let poses = self::poses(times, |index| pose_of(scene, camera, times, index));
        children.push(prim((scene, times), names.unique(name), &poses, &mut Vec::new()));
    }
    Prim { children, ..Prim::new("Cameras", "Scope") }
}

/// Time codes with poses.
type Poses = Vec<(f64, CameraPose)>;

fn poses(times: &Times, pose: impl Fn(usize) -> CameraPose) -> Poses {
    (0..times.samples.len()).map(|index| (times.samples[index].code, pose(index))).collect()
}

fn pose_of(scene: &Scene, camera: &Camera, times: &Times, index: usize) -> CameraPose {
    camera_pose(scene, camera, &times.samples[index].moment(scene))
}

fn prim((scene, times): (&Scene, &Times), name: String, poses: &Poses, warnings: &mut Vec<String>) -> Prim {
    warnings.extend(lacks(poses).map(str::to_owned));
    let aspect = scene.settings.width as f32 / scene.settings.height.max(1) as f32;
    let mut camera = Prim::new(name, "Camera");
    let over_time =
        |of: &dyn Fn(&CameraPose) -> LayerValue| poses.iter().map(|(code, pose)| (*code, of(pose))).collect();
    camera.set_over_time("xformOp:transform", "matrix4d", over_time(&|pose| LayerValue::Matrix(place(pose))));
    camera.set_uniform("xformOpOrder", "token[]", LayerValue::Tokens(vec!["xformOp:transform".to_owned()]));
    let is_parallel = |(_, pose): &(f64, CameraPose)| matches!(pose.projection, Projection::Orthographic { .. });
    let projection = if poses.first().is_some_and(is_parallel) { "orthographic" } else { "perspective" };
    camera.set("projection", "token", LayerValue::token(projection));
    let numbers: [(&str, Number); 7] = [
        ("horizontalAperture", |optics| optics.aperture[0]),
        ("verticalAperture", |optics| optics.aperture[1]),
        ("horizontalApertureOffset", |optics| optics.offset[0]),
        ("verticalApertureOffset", |optics| optics.offset[1]),
        ("focalLength", |optics| optics.focal_length),
        ("fStop", |optics| optics.f_stop),
        ("focusDistance", |optics| optics.focus),
    ];
    for (name, of) in numbers {
        camera.set_over_time(name, "float", over_time(&|pose| LayerValue::Float(of(&Optics::of(pose, aspect)))));
    }
    let exposures = times.exposures.iter().map(|&(code, stops)| (code, LayerValue::Float(stops)));
    camera.set_over_time("exposure", "float", exposures.collect());
    camera.set("clippingRange", "float2", LayerValue::Float2(clipping(poses)));
    if let Some(shutter) = &scene.settings.shutter {
        let [open, close] = shutter.span().map(|time| LayerValue::Double(time.into()));
        camera.set("shutter:open", "double", open);
        camera.set("shutter:close", "double", close);
    }
    camera
}

/// What USD has nothing for.
fn lacks(poses: &Poses) -> impl Iterator<Item = &'static str> {
    let any = |is_so: &dyn Fn(&CameraPose) -> bool| poses.iter().any(|(_, pose)| is_so(pose));
    let has_iris = |pose: &CameraPose| pose.lens.is_some_and(|lens| lens.iris.blades >= 3 || lens.iris.ratio != 1.0);
    [
        (
            any(&|pose| matches!(pose.projection, Projection::Equirectangular)),
            "the panorama is written as a perspective camera: USD has no panoramas",
        ),
        (
            any(&|pose| pose.intrinsics.is_some_and(|own| own.distortion != throng_scene::Distortion::None)),
            "the distortion of the lens is left out: USD has none",
        ),
        (any(&|pose| pose.skewed.is_some()), "the camera's rows and columns are made orthogonal"),
        (any(&has_iris), "the shape of the aperture is left out: USD has round ones"),
    ]
    .into_iter()
    .filter(|(is_so, _)| *is_so)
    .map(|(_, line)| line)
}

/// `world_from_camera`: x to the right, y up, z back.
fn place(pose: &CameraPose) -> DAffine3 {
    let (eye, target) = (pose.eye.as_dvec3(), pose.target.as_dvec3());
    let back = (eye - target).normalize_or(glam::DVec3::Z);
    let up = pose.up.as_dvec3();
    let right = up.cross(back).try_normalize().unwrap_or_else(|| pose.basis().1.as_dvec3());
    DAffine3::from_mat3_translation(DMat3::from_cols(right, back.cross(right), back), eye)
}

fn clipping(poses: &Poses) -> [f32; 2] {
    let distance = |(_, pose): &(f64, CameraPose)| Vec3::distance(pose.eye, pose.target);
    let finite = || poses.iter().map(distance).filter(|distance| distance.is_finite() && *distance > 0.0);
    let (least, most) = (finite().fold(f32::INFINITY, f32::min), finite().fold(0.0, f32::max));
    if least.is_finite() { [CLIPPING[0] * least, (CLIPPING[1] * most).max(1e5)] } else { [0.01, 1e5] }
}

/// The numbers of a camera of USD. Lengths are in tenths of a metre, but for the focus.
struct Optics {
    aperture: [f32; 2],
    offset: [f32; 2],
    focal_length: f32,
    f_stop: f32,
    focus: f32,
}

impl Optics {
    fn of(pose: &CameraPose, aspect: f32) -> Self {
        let (width, height) = if aspect >= 1.0 { (SENSOR, SENSOR / aspect) } else { (SENSOR * aspect, SENSOR) };
        let (aperture, focal_length) = match pose.projection {
            Projection::Perspective { fov_y } => ([width, height], 0.5 * height / (0.5 * fov_y).tan()),
            Projection::Orthographic { height } => ([10.0 * height * aspect, 10.0 * height], FOCAL_LENGTH),
            Projection::Equirectangular => ([width, height], FOCAL_LENGTH),
        };
        let shift = pose.half_shift(aspect) * 0.5;
        // The diameter is the focal length over the f-stop.
        let f_stop = pose.lens.map_or(0.0, |lens| 0.05 * focal_length / lens.radius);
        Self {
            aperture,
            offset: [shift.x * aperture[0], shift.y * aperture[1]],
            focal_length,
            f_stop,
            focus: pose.lens.map_or(pose.eye.distance(pose.target), |lens| lens.focus),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;
    use throng_scene::{Iris, anim::PosedLens};

    fn pose() -> CameraPose {
        CameraPose {
            eye: Vec3::new(1.0, 2.0, 8.0),
            target: Vec3::new(1.0, 2.0, 3.0),
            up: Vec3::Y,
            skewed: None,
            projection: Projection::Perspective { fov_y: 1.0 },
            shift: Vec2::new(0.25, 0.0),
            intrinsics: None,
            lens: None,
        }
    }

    #[test]
    fn a_camera_has_the_view_of_its_sensor() {
        let optics = Optics::of(&pose(), 2.0);
        assert_eq!((optics.aperture, optics.f_stop, optics.focus), ([SENSOR, 0.5 * SENSOR], 0.0, 5.0));
        assert!((2.0 * (0.5 * optics.aperture[1] / optics.focal_length).atan() - 1.0).abs() < 1e-6);
        // A shift is relative to the longer side.
        assert!((optics.offset[0] - 0.25 * SENSOR).abs() < 1e-7 && optics.offset[1] == 0.0);
        let tall = Optics::of(&pose(), 0.5);
        assert!((tall.offset[0] - 0.25 * SENSOR).abs() < 1e-7 && tall.aperture == [0.5 * SENSOR, SENSOR]);
        assert_eq!(place(&pose()), DAffine3::from_translation(glam::dvec3(1.0, 2.0, 8.0)));
        let lens = PosedLens { radius: 0.01, focus: 2.0, iris: Iris::default() };
        let opened = CameraPose { lens: Some(lens), ..pose() };
        let optics = Optics::of(&opened, 2.0);
        // Half of the focal length in metres over the f-stop is the radius.
        assert!((0.5 * 0.1 * optics.focal_length / optics.f_stop - 0.01).abs() < 1e-8 && optics.focus == 2.0);
    }
}
