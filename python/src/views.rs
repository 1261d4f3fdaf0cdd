//! Cameras from Python.

use pyo3::{FromPyObject, exceptions::PyValueError, prelude::*};
use std::sync::Arc;
use throng::{
    glam::{Mat3, Vec2, Vec3},
    scene::{Distortion, Intrinsics, Optics, Projection, View, Views},
};

/// A view as `throng._camera.Camera` describes it: everything checked but for what only the library can tell.
#[derive(FromPyObject)]
pub struct ViewFields {
    name: String,
    eye: [f32; 3],
    /// Unit vectors to the right, up and back.
    axes: [[f32; 3]; 3],
    /// (fx / width, fy / height, cx / width, cy / height), for calibrated cameras.
    intrinsics: Option<[f32; 4]>,
    /// Six k and two p, or four k of a fisheye; empty without distortion.
    distortion: Vec<f32>,
    /// Vertical field of view in radians.
    fov_y: Option<f32>,
    /// Height of an orthographic view.
    height: Option<f32>,
    panorama: bool,
    distance: f32,
    time: f64,
}

impl ViewFields {
    fn view(&self) -> PyResult<View> {
        let optics = match (self.intrinsics, self.fov_y, self.height, self.panorama) {
            (Some([fx, fy, cx, cy]), ..) => {
                let (focal, center) = (Vec2::new(fx, fy), Vec2::new(cx, cy));
                Some(Optics::Calibrated(Intrinsics { focal, center, distortion: self.lens()? }))
            }
            (_, Some(fov_y), ..) => Some(Optics::Plain(Projection::Perspective { fov_y })),
            (_, _, Some(height), _) => Some(Optics::Plain(Projection::Orthographic { height })),
            (.., true) => Some(Optics::Plain(Projection::Equirectangular)),
            _ => None,
        };
        let [right, up, back] = self.axes.map(Vec3::from);
        Ok(View {
            name: self.name.clone(),
            eye: Vec3::from(self.eye),
            axes: Mat3::from_cols(right, up, back),
            optics,
            distance: self.distance,
            time: self.time,
        })
    }

    fn lens(&self) -> PyResult<Distortion> {
        match self.distortion[..] {
            [] => Ok(Distortion::None),
            [k1, k2, k3, k4] => Ok(Distortion::Fisheye { k: [k1, k2, k3, k4] }),
            [k1, k2, k3, k4, k5, k6, p1, p2] => Ok(Distortion::Rational { k: [k1, k2, k3, k4, k5, k6], p: [p1, p2] }),
            _ => Err(PyValueError::new_err("a distortion has four coefficients, or eight")),
        }
    }
}

/// The views of a call; none for the scene's own cameras.
pub fn views(fields: &[ViewFields]) -> PyResult<Option<Arc<Views>>> {
    let list = fields.iter().map(ViewFields::view).collect::<PyResult<Vec<View>>>()?;
    Ok(Views::new(list).map(Arc::new))
}
