//! The camera's pose at a time.

use super::{
    Moment,
    anchors::{anchor_world, middle},
    lens::{PosedLens, lens_at, within_keys},
    motion::{GRAVITY, bank_angle},
    tables::projection_at,
    transforms::node_world,
};
use crate::{Camera, CameraPath, Flight, Follow, Intrinsics, Noise, Projection, Scene, View};
use glam::{Mat3A, Quat, Vec2, Vec3, Vec3A};
use std::f32::consts::{FRAC_PI_2, PI, TAU};

/// A camera in world space, or relative to a moment's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraPose {
    pub eye: Vec3,
    /// The point at the centre of the picture.
    pub target: Vec3,
    /// Unit vector that points up in the picture. It need not be orthogonal to the viewing direction.
    pub up: Vec3,
    /// Unit vector along the rows of the picture, if rows, columns and viewing direction are not orthogonal. The columns are then along
    /// `up`.
    pub skewed: Option<Vec3>,
    pub projection: Projection,
    /// As [`Camera::shift`].
    pub shift: Vec2,
    /// As [`Camera::intrinsics`].
    pub intrinsics: Option<Intrinsics>,
    /// None for a pinhole camera.
    pub lens: Option<PosedLens>,
}

impl CameraPose {
    /// The camera translated by `by`.
    pub fn moved(&self, by: Vec3) -> Self {
        Self { eye: self.eye + by, target: self.target + by, ..*self }
    }

    /// Unit vectors that point forward, right and up in the picture. If the camera looks along `up`, the right vector is arbitrary.
    pub fn basis(&self) -> (Vec3, Vec3, Vec3) {
        let forward = (self.target - self.eye).normalize_or(Vec3::NEG_Z);
        let right = forward.cross(self.up).try_normalize().unwrap_or_else(|| forward.any_orthonormal_vector());
        (forward, right, right.cross(forward))
    }

    /// Unit vectors along the rows (to the right) and columns (upwards) of the picture.
    pub fn rows_and_columns(&self) -> (Vec3, Vec3) {
        match (self.skewed, self.projection) {
            (Some(rows), Projection::Perspective { .. }) => (rows, self.up),
            _ => {
                let (_, right, up) = self.basis();
                (right, up)
            }
        }
    }

    /// Offset from the optical axis to the centre of a picture, in halves of its width and height. `aspect` is its width divided by its
    /// height.
    pub fn half_shift(&self, aspect: f32) -> Vec2 {
        match (self.projection, &self.intrinsics) {
            (Projection::Equirectangular, _) => Vec2::ZERO,
            (_, Some(own)) => Vec2::new(1.0 - 2.0 * own.center.x, 2.0 * own.center.y - 1.0),
            _ => 2.0 * self.shift * Vec2::new((1.0 / aspect).max(1.0), aspect.max(1.0)),
        }
    }

    /// Origin and unit direction of the ray through the centre of the lens and a point of a picture. x is from -1 (left) to 1, y from -1
    /// (bottom) to 1; `aspect` is the picture's width divided by its height.
    pub fn ray(&self, x: f32, y: f32, aspect: f32) -> (Vec3, Vec3) {
        let forward = self.basis().0;
        let (right, up) = self.rows_and_columns();
        if let Some(intrinsics) = &self.intrinsics {
            let place = [0.5 + 0.5 * x, 0.5 - 0.5 * y].map(f64::from);
            let direction = intrinsics.direction(place).map_or(Vec3::Z, |direction| direction.map(|v| v as f32).into());
            return (self.eye, (right * direction.x - up * direction.y + forward * direction.z).normalize());
        }
        let shift = self.half_shift(aspect);
        let (x, y) = (x + shift.x, y + shift.y);
        let across = |half_height: f32| right * (x * half_height * aspect) + up * (y * half_height);
        match self.projection {
            Projection::Perspective { fov_y } => {
                let direction = forward + across((0.5 * fov_y).tan());
                (self.eye, direction.normalize())
            }
            Projection::Orthographic { height } => (self.eye + across(0.5 * height), forward),
            Projection::Equirectangular => {
                let (sine, cosine) = (PI * x).sin_cos();
                let (height, level) = (FRAC_PI_2 * y).sin_cos();
                let direction = (forward * cosine + right * sine) * level + up * height;
                (self.eye, direction)
            }
        }
    }
}

/// Number of samples in the mean position of a camera with a lag.
const LAG_SAMPLES: u32 = 16;

/// The pose of `scene`'s camera at `moment`. At cuts, the camera of the frame to which the moment belongs is used.
///
/// An orbit starts at the first frame and returns to its start one frame after the last, so that a looped video orbits evenly.
pub fn camera_at(scene: &Scene, moment: &Moment) -> CameraPose {
    let (camera, number) = scene.camera_of(moment.frame_time());
    let timeline = scene.timeline.as_ref().filter(|_| scene.camera_has_keys);
    match timeline.and_then(|timeline| timeline.camera(number, moment.time())) {
        Some(keyed) => camera_pose(scene, &keyed, moment),
        None => camera_pose(scene, camera, moment),
    }
}

/// The pose of a view in `scene` at `moment`.
pub fn view_pose(scene: &Scene, view: &View, moment: &Moment) -> CameraPose {
    let (camera, _) = scene.camera_of(moment.frame_time());
    camera_pose(scene, &view.of(camera), moment)
}

/// The pose of the camera in frame `number` of `scene`: of its view, or of the camera at the frame's time.
pub fn camera_of_frame(scene: &Scene, number: u32) -> CameraPose {
    let moment = Moment::of(scene, scene.time_of(number));
    match &scene.views {
        Some(views) => view_pose(scene, views.of_frame(&scene.settings, number), &moment),
        None => camera_at(scene, &moment),
    }
}

/// The pose of any camera in `scene` at `moment`.
pub fn camera_pose(scene: &Scene, camera: &Camera, moment: &Moment) -> CameraPose {
    let (time, origin) = (moment.time(), moment.origin());
    let (mut up, mut skewed) = (camera.up, None);
    let (mut eye, mut target) = match &camera.path {
        CameraPath::Still { eye, target } => (eye - origin, target - origin),
        CameraPath::Orbit { target, radius, height, start, turns } => {
            let target = target - origin;
            let loop_seconds = f64::from(scene.settings.frames) / scene.settings.fps;
            let passed = time - scene.settings.start;
            // Whole turns are dropped, so that the angle keeps its precision.
            let turned = (f64::from(*turns) * passed / loop_seconds).fract() as f32;
            let angle = start + TAU * turned;
            (target + on_circle(camera.up, *radius, *height, angle), target)
        }
        CameraPath::Spline(flight) => {
            up = leaning(flight, time) * up;
            flight.at(time, origin, camera.up)
        }
        CameraPath::Node { node } => {
            let view;
            (view, up, skewed) = along_node(scene, moment, *node);
            view
        }
    };
    if let Some(follow) = &camera.target {
        let followed = followed(scene, moment, follow);
        if let CameraPath::Orbit { .. } = camera.path {
            eye += followed - target;
        }
        target = followed;
    }
    if let Some(follow) = &camera.eye {
        eye = followed(scene, moment, follow);
    }
    if let Some(shake) = &camera.shake {
        [eye, target, up] = shaken(shake, time, [eye, target, up]);
    }
    let roll = match &camera.path {
        CameraPath::Spline(flight) => within_keys(&flight.rolls, time).unwrap_or(camera.roll),
        _ => camera.roll,
    };
    if roll != 0.0 {
        let forward = (target - eye).normalize_or(Vec3::NEG_Z);
        up = Quat::from_axis_angle(forward, roll) * up;
    }
    let mut projection = projection_at(scene, camera, moment);
    if let Some(span) = within_keys(&camera.tracks.span, time) {
        projection = projection.with_span(span);
    }
    let mut pose = CameraPose {
        eye,
        target,
        up,
        skewed,
        projection,
        shift: camera.shift,
        intrinsics: camera.intrinsics,
        lens: None,
    };
    pose.lens = lens_at(scene, camera, moment, &pose);
    pose
}

/// The eye, target and up vector of a camera that shakes.
fn shaken(shake: &Noise, time: f64, [eye, target, up]: [Vec3; 3]) -> [Vec3; 3] {
    let forward = (target - eye).normalize_or(Vec3::NEG_Z);
    let right = forward.cross(up).normalize_or_zero();
    let axes = Mat3A::from_cols(right.into(), right.cross(forward).into(), (-forward).into());
    let shaken = shake.at(time);
    let moved = Vec3::from(axes * shaken.translation);
    let turned = Vec3::from(axes * shaken.transform_vector3a(Vec3A::NEG_Z)) * eye.distance(target);
    let eye = eye + moved;
    [eye, eye + turned, Vec3::from(axes * shaken.transform_vector3a(Vec3A::Y))]
}

/// Maximum time step for measuring the curvature of a flight, in seconds: about the time a plane needs to bank. The curvature itself jumps
/// at keys; its average over this time does not.
const BANK_SECONDS: f64 = 0.5;

/// The banking rotation of a flight, about its direction of motion.
fn leaning(flight: &Flight, time: f64) -> Quat {
    let (first, last) = flight.span();
    let step = BANK_SECONDS.min((last - first) / 8.0);
    if flight.bank == 0.0 || step <= 0.0 {
        return Quat::IDENTITY;
    }
    // Beyond its ends the flight stands still, without curvature.
    let time = time.clamp(first + 2.0 * step, last - 2.0 * step);
    let origin = flight.at(time, Vec3::ZERO, Vec3::Y).0;
    let eye = |steps: f64| flight.at(time + steps * step, origin, Vec3::Y).0;
    let bend = |steps: f64| eye(steps + 1.0) + eye(steps - 1.0) - 2.0 * eye(steps);
    let bend = (bend(-0.5) + bend(0.0) * 2.0 + bend(0.5)) / 4.0;
    let Some(ahead) = (eye(1.0) - eye(-1.0)).try_normalize() else { return Quat::IDENTITY };
    let right = ahead.cross(Vec3::Y).normalize_or_zero();
    let pull = bend.dot(right) / (step * step) as f32 / GRAVITY;
    Quat::from_axis_angle(ahead, bank_angle(flight.bank * pull))
}

/// The position that `follow` gives at `moment`. With a lag, it is an exponentially weighted mean of earlier positions.
fn followed(scene: &Scene, moment: &Moment, follow: &Follow) -> Vec3 {
    if follow.lag <= 0.0 {
        return kept(scene, moment, follow);
    }
    let at = |sample: u32| {
        let quantile = (sample as f32 + 0.5) / LAG_SAMPLES as f32;
        let time = moment.time() + f64::from(follow.lag * (1.0 - quantile).ln());
        let before = if scene.actors.is_empty() { Moment::without_actors(time) } else { Moment::of(scene, time) };
        kept(scene, &before.relative_to(moment.origin()), follow)
    };
    (0..LAG_SAMPLES).map(at).sum::<Vec3>() / LAG_SAMPLES as f32
}

fn kept(scene: &Scene, moment: &Moment, follow: &Follow) -> Vec3 {
    let middle = middle(scene, moment, &follow.anchors);
    match follow.anchors.first().filter(|_| follow.turns) {
        None => middle + follow.offset,
        Some(anchor) => {
            let world = anchor_world(scene, moment, anchor);
            let axis = |column: Vec3A| column.normalize_or_zero();
            let m = world.matrix3;
            let axes = Mat3A::from_cols(axis(m.x_axis), axis(m.y_axis), axis(m.z_axis));
            middle + Vec3::from(axes * Vec3A::from(follow.offset))
        }
    }
}

/// Cosine above which two axes do not count as orthogonal.
const SKEWED: f32 = 1e-4;

/// Eye and target of a camera on a node, its up vector, and the direction of its rows if the node is skewed. Axes that the node collapses,
/// or whose length overflows, are replaced by world axes. Scale is ignored, except that a parent with non-uniform scale skews the picture,
/// as in Cycles.
fn along_node(scene: &Scene, moment: &Moment, node: u32) -> ((Vec3, Vec3), Vec3, Option<Vec3>) {
    let world = node_world(scene, moment, node);
    let eye = Vec3::from(world.translation);
    let eye = if eye.is_finite() { eye } else { Vec3::ZERO };
    let axis = |local: Vec3| world.transform_vector3(local).normalize_or(local);
    // The target is far enough away that the direction survives rounding.
    let distance = eye.abs().max_element().max(1.0);
    let [right, up, back] = [Vec3::X, Vec3::Y, Vec3::Z].map(axis);
    let target = eye - back * distance;
    let cosines = [right.dot(up), up.dot(back), back.dot(right)];
    // Mirrored axes do not count as skewed; the picture is not flipped.
    let is_skewed = cosines.iter().any(|cosine| cosine.abs() > SKEWED) && right.cross(up).dot(back) > SKEWED;
    ((eye, target), up, is_skewed.then_some(right))
}

/// A point on a circle around the axis `up`. For Y up, angle 0 is at +Z and a quarter turn at +X.
fn on_circle(up: Vec3, radius: f32, height: f32, angle: f32) -> Vec3 {
    let (s, c) = angle.sin_cos();
    Quat::from_rotation_arc(Vec3::Y, up) * Vec3::new(s * radius, height, c * radius)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Camera, NONE, Node};
    use glam::Affine3;

    fn pose(scene: &Scene, time: f64) -> CameraPose {
        camera_at(scene, &Moment::of(scene, time))
    }

    fn orbiting(up: Vec3) -> Scene {
        let path = CameraPath::Orbit { target: Vec3::ONE, radius: 2.0, height: 0.5, start: 0.0, turns: 1.0 };
        let mut scene = Scene { camera: Camera { path, up, ..Camera::default() }, ..Scene::default() };
        scene.settings.frames = 4;
        scene.settings.fps = 2.0;
        scene
    }

    #[test]
    fn an_orbit_goes_from_z_to_x_and_closes_after_the_last_frame() {
        let scene = orbiting(Vec3::Y);
        let eyes = [0.0, 0.5, 2.0].map(|t| pose(&scene, t).eye);
        assert!(eyes[0].distance(Vec3::new(1.0, 1.5, 3.0)) < 1e-5);
        assert!(eyes[1].distance(Vec3::new(3.0, 1.5, 1.0)) < 1e-5);
        assert!(eyes[2].distance(eyes[0]) < 1e-5);
    }

    #[test]
    fn an_orbit_stays_around_its_axis() {
        let scene = orbiting(Vec3::Z);
        for t in [0.0, 0.3, 1.1] {
            assert!((pose(&scene, t).eye.z - 1.5).abs() < 1e-5);
        }
    }

    #[test]
    fn an_orbit_starts_at_the_first_frame_whenever_that_is() {
        let mut scene = orbiting(Vec3::Y);
        let first = pose(&scene, 0.0);
        scene.settings.start = 7.3;
        assert_eq!(pose(&scene, scene.time_of(1)), first);
    }

    #[test]
    fn a_camera_on_a_node_looks_along_its_negative_z_axis_however_far_away_it_is() {
        let mut scene = orbiting(Vec3::Y);
        let far = Vec3::new(5e6, 0.0, 0.0);
        let turned = Quat::from_rotation_y(0.5) * Quat::from_rotation_z(0.3);
        scene.nodes = vec![
            Node { local: Affine3::from_translation(far), parent: NONE, motion: NONE, follows: None },
            Node {
                local: Affine3::from_quat(turned) * Affine3::from_scale(Vec3::splat(3.0)),
                parent: 0,
                motion: NONE,
                follows: None,
            },
        ];
        scene.camera.path = CameraPath::Node { node: 1 };
        let pose = pose(&scene, 0.0);
        let (forward, _, up) = pose.basis();
        assert_eq!(pose.eye, far);
        assert!(forward.distance(turned * Vec3::NEG_Z) < 1e-6, "{forward}");
        assert!(up.distance(turned * Vec3::Y) < 1e-6, "{up}");
    }

    #[test]
    fn a_camera_below_an_uneven_scale_has_the_rows_and_columns_of_its_node() {
        let mut scene = orbiting(Vec3::Y);
        let scale = Vec3::new(1.0, 1.5, 2.0);
        let turned = Quat::from_rotation_z(0.4) * Quat::from_rotation_x(-0.3);
        scene.nodes = vec![
            Node { local: Affine3::from_scale(scale), parent: NONE, motion: NONE, follows: None },
            Node { local: Affine3::from_quat(turned), parent: 0, motion: NONE, follows: None },
        ];
        scene.camera.path = CameraPath::Node { node: 1 };
        let pose = pose(&scene, 0.0);
        let axis = |local: Vec3| (scale * (turned * local)).normalize();
        let (rows, columns) = pose.rows_and_columns();
        assert!(rows.distance(axis(Vec3::X)) < 1e-6 && columns.distance(axis(Vec3::Y)) < 1e-6);
        assert!(rows.dot(columns).abs() > 0.05);
        // A uniform scale skews nothing.
        scene.nodes[0].local = Affine3::from_scale(Vec3::splat(3.0));
        assert_eq!(self::pose(&scene, 0.0).skewed, None);
    }

    #[test]
    fn parallel_rays_start_across_the_picture() {
        let mut scene = orbiting(Vec3::Y);
        scene.camera.projection = Projection::Orthographic { height: 4.0 };
        let pose = pose(&scene, 0.0);
        let (forward, right, up) = pose.basis();
        let (origin, direction) = pose.ray(1.0, -0.5, 2.0);
        assert!(origin.distance(pose.eye + 4.0 * right - up) < 1e-5);
        assert_eq!(direction, forward);
    }
}
