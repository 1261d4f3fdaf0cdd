//! Cameras as matrices and calibrations, for files that others read.

use glam::{DMat4, DVec2, DVec3, DVec4, Vec3};
use std::f64::consts::TAU;
use throng_device::FrameSettings;
use throng_output::{Calibration, CameraMatrices};
use throng_scene::{Distortion, Intrinsics, Projection, anim::CameraPose};

/// Number of corners of an outline.
pub const OUTLINE: usize = 12;
/// Radius at which these corners enclose the area of a circle: the root of pi / 12 / (sin 30° / 2).
const OUTWARDS: f64 = 1.023_326_707_946_488_5;

/// The calibration of a perspective camera in pixels of the rendered region.
pub struct Pixels {
    pub focal: DVec2,
    /// The principal point.
    pub center: DVec2,
    pub distortion: Distortion,
}

/// The calibration of a perspective camera. None for other projections, and for cameras whose axes are not orthogonal.
pub fn pixels(camera: &CameraPose, settings: &FrameSettings) -> Option<Pixels> {
    let Projection::Perspective { fov_y } = camera.projection else { return None };
    if camera.skewed.is_some() {
        return None;
    }
    let size = DVec2::new(f64::from(settings.width), f64::from(settings.height));
    let corner = settings.region.map_or(DVec2::ZERO, |region| DVec2::new(f64::from(region.x), f64::from(region.y)));
    let focal = match &camera.intrinsics {
        Some(own) => own.focal.as_dvec2() * size,
        // Pixels are square, without the rounding of relative lengths.
        None => DVec2::splat(0.5 * size.y / (0.5 * f64::from(fov_y)).tan()),
    };
    let center = match &camera.intrinsics {
        Some(own) => own.center.as_dvec2(),
        None => {
            let shift = camera.half_shift(settings.aspect()).as_dvec2();
            DVec2::new(0.5 - 0.5 * shift.x, 0.5 + 0.5 * shift.y)
        }
    };
    let distortion = camera.intrinsics.map_or(Distortion::None, |own| own.distortion);
    Some(Pixels { focal, center: center * size - corner, distortion })
}

/// The matrix from the camera's space to world space, with the axes x to the right, y up and z back.
pub fn world_from_camera(camera: &CameraPose) -> DMat4 {
    let (forward, right, up) = camera.basis();
    // Negative zeros become positive, which read better.
    let column = |axis: Vec3| (axis.as_dvec3() + DVec3::ZERO).extend(0.0);
    DMat4::from_cols(column(right), column(up), column(-forward), camera.eye.as_dvec3().extend(1.0))
}

/// The pose and the projection of a camera for pictures of the rendered region.
pub fn calibration(camera: &CameraPose, settings: &FrameSettings) -> Calibration {
    let opencv = DMat4::from_diagonal(DVec4::new(1.0, -1.0, -1.0, 1.0));
    let own = pixels(camera, settings);
    let matrix =
        |&Pixels { focal, center, .. }: &Pixels| [focal.x, 0.0, center.x, 0.0, focal.y, center.y, 0.0, 0.0, 1.0];
    let distortion = match own.as_ref().map(|own| own.distortion) {
        Some(Distortion::Rational { k: [k1, k2, k3, k4, k5, k6], p: [p1, p2] }) => vec![k1, k2, p1, p2, k3, k4, k5, k6],
        Some(Distortion::Fisheye { k }) => k.to_vec(),
        Some(Distortion::None) | None => Vec::new(),
    };
    Calibration {
        world_from_camera: (world_from_camera(camera) * opencv).transpose().to_cols_array(),
        k: own.as_ref().map(matrix),
        distortion: distortion.into_iter().map(f64::from).collect(),
    }
}

/// The matrices of OpenEXR's attributes for pictures of a camera. None for panoramas and for lenses with distortion.
pub fn matrices(camera: &CameraPose, settings: &FrameSettings) -> Option<CameraMatrices> {
    let camera_from_world = picture_axes(camera).inverse();
    let picture_from_camera = picture_from_camera(camera, settings)?;
    Some(CameraMatrices {
        world_to_camera: rows_of(camera_from_world),
        world_to_ndc: rows_of(picture_from_camera * camera_from_world),
    })
}

/// The matrix to world space from the camera's space with the picture's axes: x along its rows to the right, y along its columns up, z ahead.
fn picture_axes(camera: &CameraPose) -> DMat4 {
    let (forward, _, _) = camera.basis();
    let (rows, columns) = camera.rows_and_columns();
    let axis = |axis: Vec3| axis.as_dvec3().extend(0.0);
    DMat4::from_cols(axis(rows), axis(columns), axis(forward), camera.eye.as_dvec3().extend(1.0))
}

/// Projects points of world space to the picture.
pub struct Projector {
    camera_from_world: DMat4,
    lens: Lens,
    /// Size of the whole picture and the upper left corner of the rendered region, in pixels.
    size: DVec2,
    corner: DVec2,
}

enum Lens {
    /// The projection from the camera's space, as [`picture_from_camera`] returns it.
    Straight(DMat4),
    Distorted(Intrinsics),
}

impl Projector {
    /// None for panoramas.
    pub fn new(camera: &CameraPose, settings: &FrameSettings) -> Option<Self> {
        let lens = match (picture_from_camera(camera, settings), camera.intrinsics) {
            (Some(matrix), _) => Lens::Straight(matrix),
            (None, Some(own)) if !matches!(camera.projection, Projection::Equirectangular) => Lens::Distorted(own),
            _ => return None,
        };
        let corner = settings.region.map_or(DVec2::ZERO, |region| DVec2::new(region.x.into(), region.y.into()));
        Some(Self {
            camera_from_world: picture_axes(camera).inverse(),
            lens,
            size: DVec2::new(settings.width.into(), settings.height.into()),
            corner,
        })
    }

    /// The transform from world space to the camera's space: x to the right, y up, z ahead.
    pub fn camera_from_world(&self) -> DMat4 {
        self.camera_from_world
    }

    /// Whether straight lines stay straight in the picture.
    pub fn is_straight(&self) -> bool {
        matches!(self.lens, Lens::Straight(_))
    }

    /// Places around the outline of a sphere in the camera's space, as the corners of a polygon with the area of the outline. None if the sphere is
    /// behind the camera in part or around it, or if the lens does not show all of it.
    pub fn outline(&self, center: DVec3, radius: f64) -> Option<[DVec2; OUTLINE]> {
        // Rays to the outline touch the sphere in a circle, which lies a little before its centre.
        let distance = center.length();
        let (towards, nearer) = match &self.lens {
            Lens::Straight(matrix) if matrix.row(3).z == 0.0 => (DVec3::Z, 0.0),
            _ => (center.normalize_or(DVec3::Z), (radius / distance).powi(2)),
        };
        let across = if towards.x.abs() < 0.99 { DVec3::X } else { DVec3::Y };
        let right = across.reject_from_normalized(towards).normalize();
        let up = towards.cross(right);
        let circle = (nearer < 1.0).then(|| (center - center * nearer, radius * (1.0 - nearer).sqrt() * OUTWARDS))?;
        let mut places = [DVec2::ZERO; OUTLINE];
        for (place, turn) in places.iter_mut().zip(0..) {
            let (sine, cosine) = (TAU * f64::from(turn) / OUTLINE as f64).sin_cos();
            *place = self.place(circle.0 + circle.1 * (cosine * right + sine * up))?;
        }
        Some(places)
    }

    /// The place of a point of the camera's space, in pixels of the rendered region. None for a point behind the camera, or that its lens does not
    /// show.
    pub fn place(&self, local: DVec3) -> Option<DVec2> {
        let place = match &self.lens {
            Lens::Straight(matrix) => {
                let place = *matrix * local.extend(1.0);
                (place.w > 0.0).then(|| DVec2::new(place.x, place.y) / place.w)?
            }
            Lens::Distorted(own) => own.project([local.x, -local.y, local.z])?.into(),
        };
        Some(place * self.size - self.corner)
    }
}

/// The projection from the camera's space (x to the right, y up, z ahead) to the picture, whose corners are (0, 0) at the upper left and (1, 1).
/// The third coordinate has no meaning.
fn picture_from_camera(camera: &CameraPose, settings: &FrameSettings) -> Option<DMat4> {
    let aspect = settings.aspect();
    let shift = camera.half_shift(aspect).as_dvec2();
    let middle = DVec3::new(0.5 - 0.5 * shift.x, 0.5 + 0.5 * shift.y, 0.0);
    let row = |x: f64, y: f64, z: f64, w: f64| DVec4::new(x, y, z, w);
    let rows = match camera.projection {
        Projection::Perspective { fov_y } => {
            let own = camera.intrinsics.unwrap_or_else(|| Intrinsics::of_fov(fov_y, aspect));
            if own.distortion != Distortion::None {
                return None;
            }
            let focal = own.focal.as_dvec2();
            [
                row(focal.x, 0.0, middle.x, 0.0),
                row(0.0, -focal.y, middle.y, 0.0),
                row(0.0, 0.0, 0.0, 1.0),
                row(0.0, 0.0, 1.0, 0.0),
            ]
        }
        Projection::Orthographic { height } => {
            let (width, height) = (f64::from(height * aspect), f64::from(height));
            [
                row(1.0 / width, 0.0, 0.0, middle.x),
                row(0.0, -1.0 / height, 0.0, middle.y),
                row(0.0, 0.0, 1.0, 0.0),
                row(0.0, 0.0, 0.0, 1.0),
            ]
        }
        Projection::Equirectangular => return None,
    };
    Some(DMat4::from_cols(rows[0], rows[1], rows[2], rows[3]).transpose())
}

/// A matrix for row vectors, row by row: the columns of the matrix for column vectors.
fn rows_of(matrix: DMat4) -> [f32; 16] {
    matrix.as_mat4().to_cols_array()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Mat4, Vec2};
    use throng_device::fake;

    fn camera(projection: Projection, shift: Vec2, intrinsics: Option<Intrinsics>) -> CameraPose {
        CameraPose {
            eye: Vec3::new(1.0, 2.0, 5.0),
            target: Vec3::new(0.3, 0.1, -1.0),
            up: Vec3::new(0.1, 1.0, 0.0).normalize(),
            skewed: None,
            projection,
            shift,
            intrinsics,
            lens: None,
        }
    }

    #[test]
    fn matrices_project_points_to_the_places_of_their_rays() {
        let settings = FrameSettings { width: 640, height: 360, ..fake::settings() };
        let calibrated =
            Intrinsics { focal: Vec2::new(0.7, 1.3), center: Vec2::new(0.45, 0.56), distortion: Distortion::None };
        let perspective = Projection::Perspective { fov_y: 0.8 };
        for camera in [
            camera(perspective, Vec2::new(0.1, -0.2), None),
            camera(perspective, Vec2::ZERO, Some(calibrated)),
            camera(Projection::Orthographic { height: 3.0 }, Vec2::new(0.3, 0.1), None),
        ] {
            let matrices = matrices(&camera, &settings).unwrap();
            let [to_camera, to_ndc] =
                [matrices.world_to_camera, matrices.world_to_ndc].map(|m| Mat4::from_cols_array(&m));
            for (x, y) in [(0.0, 0.0), (0.25, 0.75), (1.0, 0.5)] {
                let (origin, direction) = camera.ray(2.0 * x - 1.0, 1.0 - 2.0 * y, 640.0 / 360.0);
                let place = to_ndc.project_point3(origin + 3.0 * direction);
                assert!((place.x - x).abs() < 1e-5 && (place.y - y).abs() < 1e-5, "{camera:?}: {x} {y} {place}");
                assert!(to_camera.transform_point3(origin + 3.0 * direction).z > 0.0);
            }
            assert!(to_camera.transform_point3(camera.eye).length() < 1e-5);
        }
    }

    #[test]
    fn lenses_that_bend_lines_have_no_matrices() {
        let settings = fake::settings();
        assert!(matrices(&camera(Projection::Equirectangular, Vec2::ZERO, None), &settings).is_none());
        let fisheye = Intrinsics { distortion: Distortion::Fisheye { k: [0.0; 4] }, ..Intrinsics::of_fov(1.0, 1.0) };
        let projection = Projection::Perspective { fov_y: 1.0 };
        assert!(matrices(&camera(projection, Vec2::ZERO, Some(fisheye)), &settings).is_none());
    }
}
